"""The rule bot's card play in Pinochle; see `agents.pinochle.heuristic`.

Shapes: D decisions, W words of a packed observation.
"""

# Elements of arrays have no static type, and returning one is what these functions do.
# mypy: disable-error-code="no-any-return"

import numpy as np
from numpy.typing import NDArray

from bourre_env.bits import flagged, is_set
from bourre_env.cards import count_cards, lowest_card
from bourre_env.jit import njit, njit_entry
from bourre_env.pinochle import observation as at
from bourre_env.pinochle.cards import (
    ACE,
    BEATING,
    EMPTY,
    HIGHER,
    KINDS,
    KING,
    NO_CARD,
    NUM_RANKS,
    NUM_SUITS,
    PACK,
    SUIT_KINDS,
    TEN,
    kinds_of,
    pairs_of,
    settled_planes,
    together,
    without,
)
from bourre_env.pinochle.melds import AROUND
from bourre_env.pinochle.rules import HAND_SIZE, NUM_SEATS

PARTNER = 2  # seats are counted from the observer


@njit_entry
def play_rows(
    packed: NDArray[np.uint64], legal: NDArray[np.uint64], is_relative: bool, actions: NDArray[np.int64]
) -> None:
    """Fill `actions` [D] from observations [D, W] and legal sets [D, 2] of the play; cards have printed ids or not."""
    for row in range(len(packed)):
        trump = 0 if is_relative else flagged(packed[row, at.HAND], at.TRUMP_SUIT, NUM_SUITS)
        actions[row] = card_to_play(packed[row], legal[row, 0] & KINDS, trump)


@njit
def card_to_play(row: NDArray[np.uint64], kinds: np.uint64, trump: int) -> int:
    """The card to play, of the legal kinds."""
    if kinds & (kinds - np.uint64(1)) == EMPTY:
        return lowest_card(kinds)
    unseen = unseen_cards(row)
    if flagged(row[at.AUCTION], at.LED_SUIT, NUM_SUITS) == NUM_SUITS:
        return card_to_lead(row, kinds, trump, unseen)
    return card_to_follow_with(row, kinds, trump, unseen)


@njit
def unseen_cards(row: NDArray[np.uint64]) -> np.uint64:
    """Cards that others may hold: neither held nor played. Where earlier tricks are not told, all not held."""
    seen = row[at.HAND] & PACK
    if len(row) <= at.PLAYED:
        return without(PACK, seen)
    loose = EMPTY  # of every kind one flag for each copy played
    for seat in range(NUM_SEATS):
        loose |= row[at.PLAYED + seat] & PACK
    return without(PACK, together(seen, settled_planes(loose)))


@njit
def count_of(cards: np.uint64, suit: int) -> int:
    """How many cards of a suit a set of cards has, both copies counted."""
    return count_cards(kinds_of(cards) & SUIT_KINDS[suit]) + count_cards(pairs_of(cards) & SUIT_KINDS[suit])


@njit
def is_master(kind: int, unseen: np.uint64) -> bool:
    """Whether nothing unseen of its suit is above a card; of twins the earlier wins, and that is the one led."""
    return HIGHER[kind] & kinds_of(unseen) == EMPTY


@njit
def cost(kind: int) -> int:
    """The order in which cards are given to the other side: low ones first, counters last."""
    rank = kind % NUM_RANKS
    return rank + (NUM_RANKS if rank >= KING else 0)


# --- leading ----------------------------------------------------------------------------------------------------------


@njit
def card_to_lead(row: NDArray[np.uint64], kinds: np.uint64, trump: int, unseen: np.uint64) -> int:
    """Lead: plain masters that are likely to go round, trumps for the declarer, other masters, else something low."""
    trumps_out = count_of(unseen, trump)
    master = plain_master(kinds, trump, unseen)
    suit_out = count_of(unseen, master // NUM_RANKS) if master != NO_CARD else 0
    if master != NO_CARD and (trumps_out == 0 or suit_out >= LIKELY_TO_GO_ROUND):
        return master
    hand, trumps = row[at.HAND] & PACK, kinds & SUIT_KINDS[trump]
    draws = trumps_out > 0 and flagged(row[at.AUCTION], at.HIGH_BIDDER, NUM_SEATS) in (0, PARTNER)
    if draws and trumps != EMPTY and is_master(highest(trumps), unseen):
        return highest(trumps)
    if master != NO_CARD:
        return master
    if draws and count_of(hand, trump) >= ENOUGH_TO_DRAW:
        return low_lead(trumps, hand)
    plain = kinds & ~SUIT_KINDS[trump]
    return low_lead(plain if plain != EMPTY else kinds, hand)


LIKELY_TO_GO_ROUND = 6  # unseen cards of a suit with which all others seldom fail to follow
ENOUGH_TO_DRAW = 3  # trumps with which the declarer's side leads low ones as well


@njit
def plain_master(kinds: np.uint64, trump: int, unseen: np.uint64) -> int:
    """Of the masters of plain suits the one whose suit has most cards out; `NO_CARD` when there is none."""
    best, most = NO_CARD, -1
    for suit in range(NUM_SUITS):
        top = highest(kinds & SUIT_KINDS[suit])
        if suit != trump and top != NO_CARD and is_master(top, unseen) and count_of(unseen, suit) > most:
            best, most = top, count_of(unseen, suit)
    return best


@njit
def low_lead(kinds: np.uint64, hand: np.uint64) -> int:
    """The card that costs least, of equals one from the shortest suit."""
    best, least = NO_CARD, 1 << 10
    rest = kinds
    while rest != EMPTY:
        kind = lowest_card(rest)
        rest &= rest - np.uint64(1)
        price = (HAND_SIZE + 1) * cost(kind) + count_of(hand, kind // NUM_RANKS)
        if price < least:
            best, least = kind, price
    return best


@njit
def highest(kinds: np.uint64) -> int:
    """The highest kind of one suit; `NO_CARD` of none."""
    best = NO_CARD
    rest = kinds
    while rest != EMPTY:
        best = lowest_card(rest)
        rest &= rest - np.uint64(1)
    return best


# --- following --------------------------------------------------------------------------------------------------------


@njit
def card_to_follow_with(row: NDArray[np.uint64], kinds: np.uint64, trump: int, unseen: np.uint64) -> int:
    """Follow: win with a card that holds or as cheaply as can be; give counters to the partner, low cards to others."""
    best, owner = winning_card(row, trump)
    is_last = is_set(row[at.AUCTION], at.LAST_TO_PLAY)
    winners = kinds & BEATING[trump, best]
    hand = row[at.HAND] & PACK
    if owner == PARTNER and (is_last or is_safe(best, trump, unseen)):
        losers = kinds & ~winners
        return counter_to_give(losers if losers != EMPTY else kinds)
    if winners == EMPTY:
        return low_lead(kinds, hand)
    if is_last:
        return counter_to_give(winners)
    master = highest_master(winners, trump, unseen)
    return master if master != NO_CARD else low_lead(winners, hand)


@njit
def winning_card(row: NDArray[np.uint64], trump: int) -> tuple[int, int]:
    """The best card on the table, and whose it is, counted from the observer."""
    leader = flagged(row[at.AUCTION], at.LEADER, NUM_SEATS)
    best, owner = NO_CARD, leader
    for step in range(NUM_SEATS):
        seat = (leader + step) % NUM_SEATS
        card = (row[at.SEATS + seat] >> np.uint64(at.ON_TABLE)) & KINDS & BEATING[trump, best]
        if card != EMPTY:
            best, owner = lowest_card(card), seat
    return best, owner


@njit
def is_safe(kind: int, trump: int, unseen: np.uint64) -> bool:
    """Whether nothing unseen of its suit beats a card, and a trump is not likely to."""
    suit = kind // NUM_RANKS
    if not is_master(kind, unseen):
        return False
    return suit == trump or count_of(unseen, trump) == 0 or count_of(unseen, suit) >= NUM_SEATS


@njit
def highest_master(winners: np.uint64, trump: int, unseen: np.uint64) -> int:
    """Of cards that win now the lowest above all unseen ones of its suit; `NO_CARD` when there is none."""
    rest = winners
    while rest != EMPTY:
        kind = lowest_card(rest)
        rest &= rest - np.uint64(1)
        if is_master(kind, unseen):
            return kind
    return NO_CARD


@njit
def counter_to_give(kinds: np.uint64) -> int:
    """A king if there is one, else a ten, else the lowest card; aces win tricks of their own."""
    for rank in (KING, TEN):
        counters = kinds & AROUND[rank]
        if counters != EMPTY:
            return lowest_card(counters)
    low = kinds & ~AROUND[ACE]
    return low_lead(low if low != EMPTY else kinds, EMPTY)
