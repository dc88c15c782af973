"""Play duties and the winner of a trick, for any trick-taking game.

Nothing here knows a game. A game hands in sets of cards (64-bit, one bit a card) and says which duties it has; a deck
with other suits or ranks, or with cards that change their suit when trumps are named, hands in other sets. Following
the suit led is the one duty all have. In a pack with twins a hand is the set of the kinds of cards it holds.
"""

import numpy as np

from bourre_env.cards import EMPTY, highest_card, single
from bourre_env.jit import njit

MUST_BEAT = 1  # holding the suit led: head the trick if possible
MUST_TRUMP = 2  # void: play a trump
MUST_OVERTRUMP = 4  # void: beat the best trump on the table if possible
MUST_UNDERTRUMP = 8  # void, unable to overtrump: a trump all the same
TRUMP_WITH_HIGHEST = 16  # void: of the trumps that may be played, only the highest
BEAT_ONLY_TRUMPS = 32  # the duty to head a trick holds only where trumps were led
BEAT_BEST_OF_SUIT = 64  # a trick that was ruffed must be headed as if it were not: the best card of the suit led counts
ALL_DUTIES = MUST_BEAT | MUST_TRUMP | MUST_OVERTRUMP | MUST_UNDERTRUMP


@njit
def has_duty(duties: int, duty: int) -> bool:
    """Whether the flag `duty` is among `duties`."""
    return duties & duty != 0


@njit
def cards_to_follow(
    hand: np.uint64, led_suit: np.uint64, trumps: np.uint64, beating: np.uint64, duties: int
) -> np.uint64:
    """The cards of `hand` that may be played to a trick already led to (rules 4.2 to 4.5).

    Args:
        hand: the cards held.
        led_suit: all cards that count as the suit led.
        trumps: all cards that count as trumps.
        beating: all cards that would beat the best card on the table; `cards_to_head` gives those for a game with
            `BEAT_BEST_OF_SUIT`.
        duties: flags of this module.
    """
    in_suit = hand & led_suit
    if in_suit != EMPTY:
        if has_duty(duties, BEAT_ONLY_TRUMPS) and led_suit != trumps:
            return in_suit
        return cards_in_suit_led(in_suit, beating, duties)
    return cards_when_void(hand, hand & trumps, beating, duties)


@njit
def cards_in_suit_led(in_suit: np.uint64, beating: np.uint64, duties: int) -> np.uint64:
    """Rule 4.2: the cards of the suit led that may be played, given those held."""
    heading = in_suit & beating
    if has_duty(duties, MUST_BEAT) and heading != EMPTY:
        return heading
    return in_suit


@njit
def cards_when_void(hand: np.uint64, trumps_held: np.uint64, beating: np.uint64, duties: int) -> np.uint64:
    """Rules 4.3 to 4.5: the cards that may be played by a seat without the suit led."""
    if trumps_held == EMPTY or not has_duty(duties, MUST_TRUMP):
        return hand
    over = trumps_held & beating
    if over == EMPTY and not has_duty(duties, MUST_UNDERTRUMP):
        return hand
    choice = over if over != EMPTY and has_duty(duties, MUST_OVERTRUMP) else trumps_held
    return single(highest_card(choice)) if has_duty(duties, TRUMP_WITH_HIGHEST) else choice


@njit
def cards_to_head(led_suit: np.uint64, beating: np.uint64, beating_in_suit: np.uint64, duties: int) -> np.uint64:
    """The cards that head the trick, for `cards_to_follow`.

    Args:
        led_suit: all cards that count as the suit led.
        beating: all cards that would beat the best card on the table.
        beating_in_suit: all cards that would beat the best card of the suit led.
        duties: flags of this module.
    """
    if has_duty(duties, BEAT_BEST_OF_SUIT):  # whoever has none of the suit must beat the best card all the same
        return beating | (beating_in_suit & led_suit)
    return beating


@njit
def beats(card: int, beating: np.uint64) -> bool:
    """Rule 4.6: whether `card` is among the cards that beat the best one so far; of twins the earlier wins."""
    return single(card) & beating != EMPTY
