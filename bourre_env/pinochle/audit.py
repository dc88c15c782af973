"""Cards played against the duties: what becomes of them (P7.2), and which duty it was (P7.7)."""

from collections.abc import Sequence

import numpy as np

from bourre_env.cards import holds, single
from bourre_env.jit import njit
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
from bourre_env.tricks import cards_to_follow, cards_to_head

LEGAL, MUST_FOLLOW, MUST_BEAT, MUST_TRUMP, MUST_OVERTRUMP = (
    "legal",
    "must_follow",
    "must_beat",
    "must_trump",
    "must_overtrump",
)


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
    held, kind = kinds_of(card_set(hand)), kind_id(card)
    if not holds(held, kind):
        raise ValueError(f"{card} is not in the hand {' '.join(hand)}; the hand is the one before the play")
    if not trick:
        return LEGAL
    trump = SUIT_NAMES.index(trump_suit)
    led, trumps = SUIT_KINDS[kind_id(trick[0]) // NUM_RANKS], SUIT_KINDS[trump]
    allowed = _allowed(held, [kind_id(text) for text in trick], trump, (rules or PinochleRules()).duties)
    if holds(allowed, kind):
        return LEGAL
    if held & led != EMPTY:
        return MUST_BEAT if holds(led, kind) else MUST_FOLLOW
    return MUST_OVERTRUMP if holds(trumps, kind) else MUST_TRUMP


def _allowed(held: np.uint64, trick: list[int], trump: int, duties: int) -> np.uint64:
    """The kinds of a hand that may follow to a trick (P5.2 and P5.3)."""
    led, best, best_in_suit = trick[0] // NUM_RANKS, NO_CARD, NO_CARD
    for kind in trick:
        best = kind if holds(BEATING[trump, best], kind) else best
        best_in_suit = kind if kind // NUM_RANKS == led and holds(HIGHER[best_in_suit], kind) else best_in_suit
    heading = cards_to_head(SUIT_KINDS[led], BEATING[trump, best], HIGHER[best_in_suit], duties)
    return cards_to_follow(held, SUIT_KINDS[led], SUIT_KINDS[trump], heading, duties)
