"""Melds: section P4. They are laid down by the rules, not chosen."""

import numpy as np
from numpy.typing import NDArray

from bourre_env.cards import single
from bourre_env.jit import njit, njit_entry
from bourre_env.pinochle.cards import (
    ACE,
    JACK,
    KING,
    NINE,
    NUM_RANKS,
    NUM_SUITS,
    QUEEN,
    SUIT_NAMES,
    TEN,
    copies,
    kinds_of,
    pairs_of,
    planes,
)
from bourre_env.pinochle.rules import NUM_SEATS
from bourre_env.pinochle.trump import MARRIAGE

RUN = np.array(
    [sum(1 << NUM_RANKS * suit + rank for rank in (ACE, TEN, KING, QUEEN, JACK)) for suit in range(NUM_SUITS)],
    np.uint64,
)
"""[4] uint64: the kinds of a run in each suit."""

AROUND = np.array(
    [sum(1 << NUM_RANKS * suit + rank for suit in range(NUM_SUITS)) for rank in range(NUM_RANKS)], np.uint64
)
"""[6] uint64: the kinds of each rank."""

_QUEEN_OF_SPADES = NUM_RANKS * SUIT_NAMES.index("S") + QUEEN
_JACK_OF_DIAMONDS = NUM_RANKS * SUIT_NAMES.index("D") + JACK
PINOCHLE = np.uint64((1 << _QUEEN_OF_SPADES) | (1 << _JACK_OF_DIAMONDS))
"""Queen of spades and jack of diamonds."""

AROUND_POINTS = np.array([0, 4, 6, 8, 0, 10], np.int64)
"""[6] int64: by rank, four of it in different suits; all eight are worth ten times as much."""

RUN_POINTS, DOUBLE_RUN_POINTS = 15, 150
ROYAL_MARRIAGE_POINTS, MARRIAGE_POINTS, DIX_POINTS = 4, 2, 1
PINOCHLE_POINTS, DOUBLE_PINOCHLE_POINTS = 4, 30
DOUBLE_AROUND = 10


@njit
def number_of(hand: np.uint64, meld: np.uint64) -> int:
    """How often, 0 to 2, a hand has every card of a meld."""
    if kinds_of(hand) & meld != meld:
        return 0
    return 2 if pairs_of(hand) & meld == meld else 1


@njit
def run_points(hand: np.uint64, trump_suit: int) -> int:
    """Rule P4.2: ace, ten, king, queen and jack of trumps."""
    runs = number_of(hand, RUN[trump_suit])
    return DOUBLE_RUN_POINTS if runs == 2 else RUN_POINTS * runs


@njit
def royal_marriage_points(hand: np.uint64, trump_suit: int, double: int) -> int:
    """Rule P4.3: king and queen of trumps that no run has used up; `double` points for two of them without a run."""
    marriages = number_of(hand, MARRIAGE[trump_suit])
    runs = number_of(hand, RUN[trump_suit])
    return double if marriages - runs == 2 else ROYAL_MARRIAGE_POINTS * (marriages - runs)


@njit
def marriage_points(hand: np.uint64, trump_suit: int) -> int:
    """Rule P4.4: king and queen of another suit."""
    marriages = -number_of(hand, MARRIAGE[trump_suit])
    for suit in range(NUM_SUITS):
        marriages += number_of(hand, MARRIAGE[suit])
    return MARRIAGE_POINTS * marriages


@njit
def dix_points(hand: np.uint64, trump_suit: int) -> int:
    """Rule P4.5: the nine of trumps."""
    return DIX_POINTS * copies(hand, NUM_RANKS * trump_suit + NINE)


@njit
def pinochle_points(hand: np.uint64) -> int:
    """Rule P4.6: queen of spades with jack of diamonds."""
    pinochles = number_of(hand, PINOCHLE)
    return DOUBLE_PINOCHLE_POINTS if pinochles == 2 else PINOCHLE_POINTS * pinochles


@njit
def around_points(hand: np.uint64, rank: int) -> int:
    """Rule P4.7: a rank in every suit; nothing for tens and nines."""
    times = number_of(hand, AROUND[rank])
    return AROUND_POINTS[rank] * (DOUBLE_AROUND if times == 2 else times)


@njit
def meld_points(hand: np.uint64, trump_suit: int, rules: np.record) -> int:
    """Rule P4.1: points of all melds of a hand."""
    points = run_points(hand, trump_suit) + marriage_points(hand, trump_suit) + dix_points(hand, trump_suit)
    points += pinochle_points(hand)
    for rank in range(NUM_RANKS):
        points += around_points(hand, rank)
    double = rules.double_royal_marriage // rules.unit
    return rules.unit * (points + royal_marriage_points(hand, trump_suit, double))


@njit
def _kinds_in_melds(kinds: np.uint64, trump_suit: int) -> np.uint64:
    """The kinds of a set that belong to melds of its cards."""
    shown = kinds & single(NUM_RANKS * trump_suit + NINE)
    if kinds & RUN[trump_suit] == RUN[trump_suit]:
        shown |= RUN[trump_suit]
    for suit in range(NUM_SUITS):
        if kinds & MARRIAGE[suit] == MARRIAGE[suit]:
            shown |= MARRIAGE[suit]
    if kinds & PINOCHLE == PINOCHLE:
        shown |= PINOCHLE
    for rank in range(NUM_RANKS):
        if AROUND_POINTS[rank] and kinds & AROUND[rank] == AROUND[rank]:
            shown |= AROUND[rank]
    return shown


@njit
def meld_cards(hand: np.uint64, trump_suit: int) -> np.uint64:
    """Rule P4.1: the cards of a hand that are shown in its melds."""
    return planes(_kinds_in_melds(kinds_of(hand), trump_suit), _kinds_in_melds(pairs_of(hand), trump_suit))


@njit
def lay_down_melds(table: np.record, rules: np.record) -> None:
    """Rule P4.1: every seat shows its melds and takes the cards back."""
    for seat in range(NUM_SEATS):
        hand = table.hands[seat]
        table.melded[seat] = meld_cards(hand, table.trump_suit)
        table.shown[seat] = table.melded[seat]
        table.meld_points[seat] = meld_points(hand, table.trump_suit, rules)


# --- in words ---

MELDS = (
    *("run", "royal_marriage", "marriage", "dix", "pinochle"),
    *("aces_around", "kings_around", "queens_around", "jacks_around"),
)
"""Names of melds; of a run, a pinochle and those around there are doubles."""

_RANKS_AROUND = np.array([ACE, KING, QUEEN, JACK], np.int64)


@njit_entry
def _points_and_times(hand: np.uint64, trump_suit: int, double: int, out: NDArray[np.int64]) -> None:
    """Points of each of `MELDS` into the first column of `out` [9, 2], how often it is there whole into the second."""
    out[0] = run_points(hand, trump_suit), number_of(hand, RUN[trump_suit])
    out[1] = royal_marriage_points(hand, trump_suit, double), 0
    out[2] = marriage_points(hand, trump_suit), 0
    out[3] = dix_points(hand, trump_suit), 0
    out[4] = pinochle_points(hand), number_of(hand, PINOCHLE)
    for place in range(len(_RANKS_AROUND)):
        rank = _RANKS_AROUND[place]
        out[5 + place] = around_points(hand, rank), number_of(hand, AROUND[rank])


def melds_in_words(hand: int | np.uint64, trump_suit: int, double_royal_marriage: int, unit: int) -> dict[str, int]:
    """The melds of a hand and their points, by name.

    Args:
        hand: a set of cards.
        trump_suit: 0 to 3.
        double_royal_marriage: points of two royal marriages without a run, on the modern scale.
        unit: what a point of the modern scale is on this one.
    """
    found = np.zeros((len(MELDS), 2), np.int64)
    _points_and_times(np.uint64(hand), trump_suit, double_royal_marriage, found)
    named = [
        (f"double_{name}" if times == 2 else name, points)
        for name, (points, times) in zip(MELDS, found.tolist(), strict=True)
    ]
    return {name: unit * points for name, points in named if points}
