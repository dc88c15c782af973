"""The one list of action ids, and their text.

With the full pack, 85 actions: 0-51 play that card (relative id); 52-83 stay and throw away the cards that the bits of
(action - 52) name, bit i being the i-th lowest card of the hand; 84 pass. In a declaring round without a draw staying
is 52. A pack of c cards and hands of h cards give c + 2^h + 1 actions by the same list, cards counted within the pack.
"""

import numpy as np

from bourre_env.bourre.rules import Rules
from bourre_env.bourre.snapshot import real_cards
from bourre_env.bourre.table import DECLARE
from bourre_env.cards import EMPTY, NUM_RANKS, card_id, card_text, cards_in, to_real, to_relative
from bourre_env.errors import IllegalActionError, action_number
from bourre_env.jit import njit

PASS_TEXT, STAY_TEXT = "pass", "stay"


@njit
def first_stay(rules: np.record) -> int:
    """The action that stays and throws nothing away."""
    return rules.ranks * rules.suits


@njit
def pass_action(rules: np.record) -> int:
    """The action that passes; the last one."""
    return first_stay(rules) + (1 << rules.hand_size)


@njit
def card_of_action(rules: np.record, action: int) -> int:
    """Relative id of the card that a play action plays."""
    if rules.ranks == NUM_RANKS:
        return action
    return NUM_RANKS * (action // rules.ranks) + (NUM_RANKS - rules.ranks) + action % rules.ranks


@njit
def actions_of_cards(rules: np.record, cards: np.uint64) -> np.uint64:
    """The play actions of a set of cards, as bits."""
    if rules.ranks == NUM_RANKS:
        return cards
    actions = EMPTY
    in_suit = (np.uint64(1) << np.uint64(rules.ranks)) - np.uint64(1)
    for suit in range(rules.suits):
        lowest = NUM_RANKS * suit + NUM_RANKS - rules.ranks
        actions |= ((cards >> np.uint64(lowest)) & in_suit) << np.uint64(rules.ranks * suit)
    return actions


def num_actions(rules: Rules) -> int:
    """Size of the action space."""
    return rules.num_actions


def action_text(rules: Rules, table: np.record, action: int) -> str:
    """An action in words: "pass", "stay", "stay 2C 4D" (the cards thrown away) or "QS".

    Args:
        rules: the rules of the table.
        table: the record the action belongs to; the discards are named from the hand of the seat to act.
        action: an action id.

    Raises:
        IllegalActionError: the action is no integer.
    """
    record = rules.record()[0]
    action = action_number(action)
    if not 0 <= action < num_actions(rules):
        return f"no action at all (ids are 0..{num_actions(rules) - 1})"
    if action == pass_action(record):
        return PASS_TEXT
    if action < first_stay(record):
        return card_text(int(to_real(card_of_action(record, action), table.trump_suit)), rules.rank_names)
    hand = _hand_to_act(table)
    mask = action - first_stay(record)
    if mask and rules.blind_declaring and table.phase == DECLARE:  # its words would tell an unseen hand (3.12)
        return "a discard from a hand that has not been seen"
    if mask >> len(hand):
        return "a discard of more cards than the seat holds"
    chosen = sum(1 << card for place, card in enumerate(hand) if mask >> place & 1)
    return " ".join([STAY_TEXT, *real_cards(rules, table, chosen)])


def action_id(rules: Rules, table: np.record, text: str) -> int:
    """The id of an action written in words; the inverse of `action_text`.

    Raises:
        IllegalActionError: the words name no action of the seat to act, such as a discard it does not hold.
    """
    if not isinstance(text, str):
        raise IllegalActionError(f"{text!r} is no action in words; write a card such as QS, 'pass', or 'stay'")
    record = rules.record()[0]
    words = text.split()
    if words == [PASS_TEXT]:
        return int(pass_action(record))
    try:
        real = [card_id(word, rules.rank_names) for word in words[words[:1] == [STAY_TEXT] :]]
    except ValueError as error:
        raise IllegalActionError(f"{text!r} is no action: {error}") from None
    cards = [int(to_relative(card, table.trump_suit)) for card in real]
    if words[:1] == [STAY_TEXT]:
        return int(first_stay(record)) + _discard_mask(rules, table, text, cards)
    if len(cards) != 1 or real[0] not in rules.pack:
        raise IllegalActionError(f"{text!r} is no action; write a card such as QS, 'pass', or 'stay' with the discards")
    return int(actions_of_cards(record, np.uint64(1 << cards[0]))).bit_length() - 1


def _hand_to_act(table: np.record) -> list[int]:
    """Relative cards of the seat to act, ascending; none when nobody is to act."""
    return cards_in(table.hands[table.to_act]) if table.to_act >= 0 else []


def _discard_mask(rules: Rules, table: np.record, text: str, cards: list[int]) -> int:
    """The discard mask that throws away the given relative cards."""
    hand = _hand_to_act(table)
    if len(set(cards)) != len(cards) or not set(cards) <= set(hand):
        held = " ".join(real_cards(rules, table, sum(1 << card for card in hand)))
        raise IllegalActionError(f"{text!r} throws away a card the seat does not hold once; it holds {held}")
    return sum(1 << place for place, card in enumerate(hand) if card in cards)


def legal_texts(rules: Rules, table: np.record) -> str:
    """The legal actions of the seat to act in words; draws are summed up as their number."""
    bits = int(table.legal[0]) | int(table.legal[1]) << 64
    legal = [action for action in range(num_actions(rules)) if bits >> action & 1]
    stays = [action for action in legal if len(rules.pack) <= action < num_actions(rules) - 1]
    if len(stays) > 1:
        most = max((action - len(rules.pack)).bit_count() for action in stays)
        held = action_text(rules, table, len(rules.pack) + (1 << rules.hand_size) - 1).removeprefix(STAY_TEXT)
        ways = f"stay with up to {most} discards out of{held} ({len(stays)} ways)"
        may_pass = [PASS_TEXT] if legal[-1] == num_actions(rules) - 1 else []
        return ", ".join([*may_pass, ways])
    return ", ".join(action_text(rules, table, action) for action in legal)
