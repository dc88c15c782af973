"""Why an action is refused, in the words of the card room."""

import numpy as np

from bourre_env.bourre.actions import PASS_TEXT, STAY_TEXT, action_id, card_of_action, first_stay, legal_texts
from bourre_env.bourre.rules import Rules
from bourre_env.bourre.table import NO_SUIT, PLAY
from bourre_env.cards import NUM_RANKS, SUIT_CARDS, SUIT_NAMES, card_text, to_real
from bourre_env.errors import BourreError

SUIT_WORDS = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
LONGEST_ACTION = 40  # characters; "stay" and five cards need 19
_SIGNS = str.maketrans({"♣": "C", "♦": "D", "♥": "H", "♠": "S", ",": " "})
_OTHER_WORDS = {"fold": PASS_TEXT, "draw": STAY_TEXT, "play": STAY_TEXT}


class RefusedError(BourreError, ValueError):
    """An action that is refused; the message tells the person why, and nothing has changed."""


def read_action(rules: Rules, table: np.record, text: str) -> int:
    """The action id that a person's words mean: "pass", "stay 2c 4d", "10s", "q♠".

    Args:
        rules: the house rules.
        table: the record of dtype `TABLE`.
        text: what was typed.

    Raises:
        RefusedError: the words name no action of the seat to act.
    """
    if len(text) > LONGEST_ACTION:
        raise RefusedError("that is too long for an action; write a card such as QS, 'pass', or 'stay' with discards")
    words = text.translate(_SIGNS).split()
    first = words[0].lower() if words else ""
    first = _OTHER_WORDS.get(first, first)
    cards = [word.upper().replace("10", "T") for word in words]
    tidy = " ".join([first, *cards[1:]] if first in (PASS_TEXT, STAY_TEXT) else cards)
    try:
        return action_id(rules, table, tidy)
    except BourreError as error:
        raise RefusedError(str(error)) from None


def refusal(rules: Rules, table: np.record, action: int) -> RefusedError:
    """The error for an illegal action of the seat to act: the duty it breaks, where there is one, and what is legal."""
    reason = _broken_duty(rules, table, action) if table.phase == PLAY else "the rules do not allow that now"
    return RefusedError(f"{reason}. You may: {legal_texts(rules, table)}")


def _broken_duty(rules: Rules, table: np.record, action: int) -> str:
    """Which rule of play a card would break (RULES.md, sections 4 and 5)."""
    record = rules.record()[0]
    if not 0 <= action < first_stay(record):
        return "the deal is in play: it takes a card"
    card = int(card_of_action(record, action))
    name = card_text(int(to_real(card, table.trump_suit)), rules.rank_names)
    hand = int(table.hands[table.to_act])
    if not hand >> card & 1:
        return f"you do not hold {name}"
    if table.led_suit == NO_SUIT:
        return f"{name} may not be led: trumps must be led first here (4.8, 5.3)"
    led = int(table.led_suit)
    held = hand & int(SUIT_CARDS[led])
    if held:
        return _broken_in_suit(rules, table, card, led)
    if card // NUM_RANKS != 0:
        return "you are void in the suit led and hold trumps: trump it (4.3, 4.4)"
    return "you must overtrump, or play your highest trump, if you can (4.3, 5.4)"


def _broken_in_suit(rules: Rules, table: np.record, card: int, led: int) -> str:
    """The duty broken by a seat that holds the suit led."""
    suit = SUIT_WORDS[SUIT_NAMES[int(to_real(NUM_RANKS * led, table.trump_suit)) // NUM_RANKS]]
    if card // NUM_RANKS != led:
        return f"{suit} were led and you hold {suit}: follow suit (4.2)"
    best = card_text(int(to_real(int(table.best_card), table.trump_suit)), rules.rank_names)
    return f"{best} is the best card so far and you can beat it: head the trick, and with a cinch play high (4.2, 5.4)"
