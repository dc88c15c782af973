"""The deal: rules E1.5 and E2.1."""

import numpy as np
from numpy.typing import NDArray

from bourre_env.cards import single
from bourre_env.euchre.cards import BENNY, EMPTY, NO_CARD, NO_SUIT
from bourre_env.euchre.rules import HAND_SIZE, NUM_SEATS
from bourre_env.euchre.table import BID1, BLIND, NO_SEAT, left_of
from bourre_env.jit import njit

UP_CARD_PLACE = NUM_SEATS * HAND_SIZE


@njit
def deal(table: np.record, deck: NDArray[np.int8], dealer: int, score: NDArray[np.int8]) -> None:
    """Start a hand: clear the table, deal, turn a card up; somebody is to call.

    Args:
        table: one record of dtype `TABLE`.
        deck: [C] int8 card ids in dealing order.
        dealer: the dealer's seat.
        score: [2] int8, points of the sides in the game so far.
    """
    _clear(table)
    table.dealer = dealer
    table.score[0] = score[0]
    table.score[1] = score[1]
    deal_hands(table, deck)
    begin_calling(table)


@njit
def _clear(table: np.record) -> None:
    """Nothing of the last hand is left."""
    for seat in range(NUM_SEATS):
        table.hands[seat] = EMPTY
        table.played[seat] = EMPTY
        table.returns[seat] = 0
        table.tricks_won[seat] = 0
        table.voids[seat] = 0
    for trick in range(len(table.tricks)):
        table.tricks[trick] = EMPTY
    table.shed = EMPTY
    table.calls = EMPTY
    table.num_calls = 0
    table.points[0] = 0
    table.points[1] = 0
    table.trump_suit = NO_SUIT
    table.maker = NO_SEAT
    table.taker = NO_SEAT
    table.alone = 0
    table.out = 0
    table.asked = 0
    table.tricks_done = 0
    table.leader = NO_SEAT
    table.led_suit = NO_SUIT
    table.best_card = NO_CARD
    table.best_seat = NO_SEAT
    table.forfeited = NO_SEAT


@njit
def deal_hands(table: np.record, deck: NDArray[np.int8]) -> None:
    """Rule E1.5: cards go round one at a time, the eldest first; the next card is turned up."""
    seat = table.dealer
    for place in range(UP_CARD_PLACE):
        seat = left_of(seat)
        table.hands[seat] |= single(deck[place])
    for place in range(len(deck)):
        table.deck[place] = deck[place]
    for place in range(len(deck), len(table.deck)):
        table.deck[place] = NO_CARD
    table.up_card = deck[UP_CARD_PLACE]


@njit
def begin_calling(table: np.record) -> None:
    """Rules E2.1 and E2.2: the dealer names trumps unseen if the Benny is up; else the eldest calls first."""
    is_blind = table.up_card == BENNY
    table.phase = BLIND if is_blind else BID1
    table.to_act = table.dealer if is_blind else left_of(table.dealer)
