"""Cards played against the duties: what becomes of them (P7.2), and which duty it was (P7.7)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bourre_env.cards import holds, single
from bourre_env.jit import njit, njit_entry
from bourre_env.pinochle.cards import (
    BEATING,
    EMPTY,
    HIGHER,
    NO_CARD,
    NUM_RANKS,
    SUIT_KINDS,
    SUIT_NAMES,
    add,
    card_set,
    copies,
    kind_id,
    kinds_of,
)
from bourre_env.pinochle.rules import PinochleRules
from bourre_env.tricks import beats, cards_to_follow, cards_to_head

VERDICTS = ("legal", "must_follow", "must_beat", "must_trump", "must_overtrump")
LEGAL, MUST_FOLLOW, MUST_BEAT, MUST_TRUMP, MUST_OVERTRUMP = range(len(VERDICTS))


@njit
def take_back(table: np.record, kind: int) -> None:
    """Rule P7.2: the seat to act has played a card against the duties; it goes back, and all have seen it."""
    seat = table.to_act
    table.exposed[seat] |= single(kind)
    table.taken_back = kind
    if copies(table.shown[seat], kind) <= copies(table.played[seat], kind):
        table.shown[seat] = add(table.shown[seat], kind)


def audit_play(
    hand: Sequence[str], trick: Sequence[str], card: str, *, trump_suit: str, rules: PinochleRules | None = None
) -> str:
    """Rule P7.7: whether a card was played by the rules, and if not which duty it broke.

    Args:
        hand: cards held before, the one played among them.
        trick: cards on the table, in the order played; empty for a lead.
        card: the one that was played.
        trump_suit: C, D, H or S.
        rules: the house rules; the usual ones when left out.

    Returns:
        "legal", "must_follow", "must_beat", "must_trump" or "must_overtrump".

    Raises:
        ValueError: a text is no card or no suit, or the card is not in the hand.
    """
    if trump_suit not in tuple(SUIT_NAMES):
        raise ValueError(f"trump_suit is {trump_suit!r}; choose one of {', '.join(SUIT_NAMES)}")
    if card not in hand:
        raise ValueError(f"{card} is not in the hand {' '.join(hand)}; the hand is the one before the play")
    on_table = np.array([kind_id(text) for text in trick], np.int64)
    duties = (rules or PinochleRules()).duties
    return VERDICTS[duty_broken(card_set(hand), on_table, kind_id(card), SUIT_NAMES.index(trump_suit), duties)]


@njit_entry
def duty_broken(hand: np.uint64, trick: NDArray[np.int64], kind: int, trump_suit: int, duties: int) -> int:
    """Rule P7.7: which duty a card breaks, as a place in `VERDICTS`.

    Args:
        hand: cards held before.
        trick: [k] int64, the kinds on the table, in the order played.
        kind: of the card that was played.
        trump_suit: 0 to 3.
        duties: flags of `bourre_env.tricks`.
    """
    if len(trick) == 0:
        return LEGAL
    led, trumps = SUIT_KINDS[trick[0] // NUM_RANKS], SUIT_KINDS[trump_suit]
    best, best_in_suit = NO_CARD, NO_CARD
    for other in trick:
        best = other if beats(other, BEATING[trump_suit, best]) else best
        if holds(led, other) and beats(other, HIGHER[best_in_suit]):
            best_in_suit = other
    heading = cards_to_head(led, BEATING[trump_suit, best], HIGHER[best_in_suit], duties)
    held = kinds_of(hand)
    if holds(cards_to_follow(held, led, trumps, heading, duties), kind):
        return LEGAL
    if held & led != EMPTY:
        return MUST_BEAT if holds(led, kind) else MUST_FOLLOW
    return MUST_OVERTRUMP if holds(trumps, kind) else MUST_TRUMP
