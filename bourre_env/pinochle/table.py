"""One table as one record, and the questions everyone asks of it.

Cards and suits in the record are the printed ones. Sets of cards and of kinds are as in `bourre_env.pinochle.cards`;
sets of seats are masks with bit `seat` set.
"""

import numpy as np

from bourre_env.jit import njit
from bourre_env.pinochle.cards import NUM_CARDS
from bourre_env.pinochle.rules import HAND_SIZE, NUM_SEATS

BID, TRUMP, EXCHANGE, PLAY, SETTLED = range(5)
PHASE_NAMES = ("bid", "trump", "exchange", "play", "settled")

NO_SEAT = -1
NO_BID = -1

TABLE = np.dtype(
    [
        ("hands", np.uint64, NUM_SEATS),  # cards held
        ("played", np.uint64, NUM_SEATS),  # bit k: the copy of kind k that was played first; bit 24 + k: the other one
        ("tricks", np.uint64, HAND_SIZE + 1),  # kinds in each trick; the last entry stays empty
        ("legal", np.uint64, 2),  # bit a of 128: action a is legal for the seat to act
        ("bids", np.uint64, NUM_SEATS),  # bit k: the seat has bid level k
        ("sent", np.uint64, NUM_SEATS),  # cards given to the partner in the exchange
        ("melded", np.uint64, NUM_SEATS),  # cards shown in melds (P4.1)
        ("shown", np.uint64, NUM_SEATS),  # cards that everybody knows the hand held when the play began
        ("exposed", np.uint64, NUM_SEATS),  # kinds played against the rules and taken back (P7.2)
        ("ruled_out", np.uint64, NUM_SEATS),  # kinds that a seat cannot hold, its plays having been legal
        ("piles", np.uint64, 2),  # cards that each side has won in tricks
        ("returns", np.int32, NUM_SEATS),  # change of the own side's score less that of the other's (P6.3)
        ("score", np.int32, 2),  # points of the sides in the game; from settlement on with this hand's
        ("points", np.int32, 2),  # what this hand changed in them
        ("meld_points", np.int32, NUM_SEATS),
        ("trick_points", np.int32, 2),  # of each side
        ("deck", np.int8, NUM_CARDS),  # kinds of the dealt pack
        ("tricks_won", np.int8, NUM_SEATS),
        ("on_table", np.int8, NUM_SEATS),  # the kind each seat has played to the current trick, else NO_CARD
        ("phase", np.int8),
        ("dealer", np.int8),
        ("to_act", np.int8),
        ("high_bid", np.int8),  # level; NO_BID
        ("high_bidder", np.int8),  # the declarer, once the auction is over
        ("passed", np.uint8),
        ("trump_suit", np.int8),  # NO_SUIT until named
        ("tricks_done", np.int8),
        ("leader", np.int8),  # of the current trick
        ("led_suit", np.int8),  # NO_SUIT while the seat to act leads
        ("best_card", np.int8),  # NO_CARD on lead
        ("best_seat", np.int8),
        ("best_in_suit", np.int8),  # the best card of the suit led; NO_CARD on lead
        ("taken_back", np.int8),  # the card that the seat to act has just had to take back (P7.2), else NO_CARD
        ("forfeited", np.int8),  # the seat that ended the hand so (P7.3)
        ("unused", np.uint8, 1),  # no gap is left undefined: equal tables are equal bytes
    ],
    align=True,
)
"""The state of one table."""


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
    """The seat opposite (P1.1)."""
    return seat ^ 2


@njit
def side_of(seat: int) -> int:
    """Side 0 or 1 (P1.1)."""
    return seat & 1


@njit
def left_of(seat: int) -> int:
    """The next seat clockwise."""
    return (seat + 1) & 3


@njit
def tricks_of_side(table: np.record, side: int) -> int:
    """Tricks both partners have won."""
    return table.tricks_won[side] + table.tricks_won[partner_of(side)]


@njit
def melds_of_side(table: np.record, side: int) -> int:
    """Points of both partners' melds, whether they count or not."""
    return table.meld_points[side] + table.meld_points[partner_of(side)]
