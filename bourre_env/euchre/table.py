"""One table as one record, and the questions everyone asks of it.

Cards and suits in the record are the printed ones. Sets of seats are masks with bit `seat` set.
"""

import numpy as np

from bourre_env.euchre.cards import NUM_CARDS, NUM_SUITS
from bourre_env.euchre.rules import HAND_SIZE, NUM_SEATS
from bourre_env.jit import njit

BLIND, BID1, DISCARD, BID2, ALONE, PLAY, SETTLED = range(7)
PHASE_NAMES = ("blind", "bid1", "discard", "bid2", "alone", "play", "settled")

NO_SEAT = -1

MAX_CALLS = 2 * NUM_SEATS
CALL_BITS = 2 + NUM_SUITS  # a call is one of: pass, the four suits, "I turn it down"
CALL_PASS, CALL_SUIT, CALL_TURN_DOWN = 0, 1, CALL_BITS - 1

TABLE = np.dtype(
    [
        ("hands", np.uint64, NUM_SEATS),  # cards held
        ("played", np.uint64, NUM_SEATS),  # cards played, all tricks
        ("tricks", np.uint64, HAND_SIZE + 1),  # cards of each trick; the last entry stays empty
        ("legal", np.uint64, 2),  # bit a of 128: action a is legal for the seat to act
        ("shed", np.uint64),  # the card laid away for the up-card (E2.5)
        ("calls", np.uint64),  # `CALL_BITS` bits for each call, one of them set
        ("returns", np.int32, NUM_SEATS),  # own side's points less the other's (E5.3)
        ("score", np.int8, 2),  # points of the sides in the game; from settlement on with this hand's
        ("points", np.int8, 2),  # points of the sides in this hand
        ("deck", np.int8, NUM_CARDS),  # the dealt pack
        ("tricks_won", np.int8, NUM_SEATS),
        ("voids", np.uint8, NUM_SEATS),  # bit s: the seat has not followed suit s
        ("num_calls", np.int8),
        ("phase", np.int8),
        ("dealer", np.int8),
        ("to_act", np.int8),
        ("up_card", np.int8),
        ("trump_suit", np.int8),  # NO_SUIT until named
        ("maker", np.int8),  # the seat that named trumps
        ("taker", np.int8),  # the seat that took the up-card
        ("alone", np.uint8),  # seats that play alone (E3.1)
        ("out", np.uint8),  # their partners (E3.2)
        ("asked", np.uint8),  # seats that have answered whether they play alone
        ("tricks_done", np.int8),
        ("leader", np.int8),  # of the current trick
        ("led_suit", np.int8),  # the suit the card led counts as; NO_SUIT while the seat to act leads
        ("best_card", np.int8),  # NO_CARD on lead
        ("best_seat", np.int8),
        ("forfeited", np.int8),  # the seat that ended the hand so (E6.2)
        ("unused", np.uint8, 2),  # no gap is left undefined: equal tables are equal bytes
    ],
    align=True,
)
"""The state of one table."""

_EVERYBODY = (1 << NUM_SEATS) - 1


def _next_active(out: int, seat: int) -> int:
    """The first seat clockwise after `seat` that is not out."""
    clockwise = [(seat + step) % NUM_SEATS for step in range(1, NUM_SEATS + 1)]
    return next((other for other in clockwise if not out >> other & 1), NO_SEAT)


NEXT_ACTIVE = np.array(
    [[_next_active(out, seat) for seat in range(NUM_SEATS)] for out in range(_EVERYBODY + 1)], np.int8
)
"""[16, 4] int8: `_next_active` for every mask and seat."""


@njit
def seat_bit(seat: int) -> np.uint8:
    """The mask of one seat."""
    return np.uint8(1 << seat)


@njit
def in_mask(mask: np.uint8, seat: int) -> bool:
    """Whether a seat is in a mask."""
    return (mask >> seat) & 1 != 0


@njit
def partner_of(seat: int) -> int:
    """The seat opposite (E1.1)."""
    return seat ^ 2


@njit
def side_of(seat: int) -> int:
    """Side 0 or 1 (E1.1)."""
    return seat & 1


@njit
def left_of(seat: int) -> int:
    """The next seat clockwise."""
    return (seat + 1) & 3


@njit
def next_active(table: np.record, seat: int) -> int:
    """The next seat clockwise that plays to tricks (E3.2)."""
    return NEXT_ACTIVE[table.out, seat]


@njit
def tricks_of_side(table: np.record, side: int) -> int:
    """Tricks both partners have won."""
    return table.tricks_won[side] + table.tricks_won[partner_of(side)]


@njit
def is_last_to_play(table: np.record, seat: int) -> bool:
    """Whether no seat plays after this one in the current trick."""
    return next_active(table, seat) == table.leader
