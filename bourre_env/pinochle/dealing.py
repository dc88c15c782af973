"""The deal: rules P1.5 and P2.1."""

import numpy as np
from numpy.typing import NDArray

from bourre_env.jit import njit
from bourre_env.pinochle.cards import EMPTY, NO_CARD, NO_SUIT, NUM_CARDS, add
from bourre_env.pinochle.rules import NUM_SEATS
from bourre_env.pinochle.table import BID, NO_BID, NO_SEAT, left_of


@njit
def deal(table: np.record, deck: NDArray[np.int8], dealer: int, score: NDArray[np.int32]) -> None:
    """Start a hand: clear the table and deal; the eldest is to call.

    Args:
        table: one record of dtype `TABLE`.
        deck: [48] int8 card ids in dealing order.
        dealer: the dealer's seat.
        score: [2] int32, points of the sides in the game so far.
    """
    _clear_seats(table)
    _clear_hand(table)
    table.dealer = dealer
    table.score[0] = score[0]
    table.score[1] = score[1]
    deal_hands(table, deck)
    table.phase = BID
    table.to_act = left_of(dealer)


@njit
def _clear_seats(table: np.record) -> None:
    """Nothing that a seat had or did in the last hand is left."""
    for seat in range(NUM_SEATS):
        table.hands[seat] = EMPTY
        table.played[seat] = EMPTY
        table.bids[seat] = EMPTY
        table.sent[seat] = EMPTY
        table.melded[seat] = EMPTY
        table.shown[seat] = EMPTY
        table.exposed[seat] = EMPTY
        table.ruled_out[seat] = EMPTY
        table.returns[seat] = 0
        table.meld_points[seat] = 0
        table.tricks_won[seat] = 0
        table.on_table[seat] = NO_CARD


@njit
def _clear_hand(table: np.record) -> None:
    """Nothing else of the last hand is left."""
    for trick in range(len(table.tricks)):
        table.tricks[trick] = EMPTY
    for side in range(2):
        table.piles[side] = EMPTY
        table.points[side] = 0
        table.trick_points[side] = 0
    table.high_bid = NO_BID
    table.high_bidder = NO_SEAT
    table.passed = 0
    table.trump_suit = NO_SUIT
    table.tricks_done = 0
    table.leader = NO_SEAT
    table.led_suit = NO_SUIT
    table.best_card = NO_CARD
    table.best_seat = NO_SEAT
    table.best_in_suit = NO_CARD
    table.taken_back = NO_CARD
    table.forfeited = NO_SEAT


@njit
def deal_hands(table: np.record, deck: NDArray[np.int8]) -> None:
    """Rule P1.5: cards go round one at a time, the eldest first, until none is left."""
    seat = table.dealer
    for place in range(NUM_CARDS):
        seat = left_of(seat)
        kind = deck[place] >> 1
        table.deck[place] = kind
        table.hands[seat] = add(table.hands[seat], kind)
