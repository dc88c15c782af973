"""One table as one record, and the questions everyone asks of it.

Cards in the record have relative ids (trumps are suit 0, `cards.to_relative`); `trump_suit` remembers the real suit.
Sets of seats are 8-bit masks with bit `seat` set. Fields that hold one entry a seat have room for eight seats.
"""

import numpy as np

from bourre_env.bourre.rules import MAX_HAND, MAX_PLAYERS
from bourre_env.cards import NUM_CARDS
from bourre_env.jit import njit

DECLARE, DRAW, PLAY, SETTLED = 0, 1, 2, 3
PHASE_NAMES = ("declare", "draw", "play", "settled")

NO_SEAT = -1
NO_SUIT = 4

TABLE = np.dtype(
    [
        ("hands", np.uint64, MAX_PLAYERS),  # cards held
        ("dealt", np.uint64, MAX_PLAYERS),  # cards first dealt
        ("played", np.uint64, MAX_PLAYERS),  # cards played, all tricks
        ("tricks", np.uint64, MAX_HAND + 1),  # cards of each trick; the last entry stays empty
        ("legal", np.uint64, 2),  # bit a of 128: action a is legal for the seat to act
        ("pile", np.uint64),  # discards that may be dealt again (3.10)
        ("passed_pile", np.uint64),  # hands of seats that passed, where they are kept apart
        ("face_up", np.uint64),  # the turn-up, once it is out of play (2.2, 3.6)
        ("pot", np.int64),
        ("carry", np.int64),  # before settlement what the deal began with, after it what stays (6.6)
        ("returns", np.int32, MAX_PLAYERS),  # chips won or lost in this deal
        ("stacks", np.int64, MAX_PLAYERS),  # chips each seat can still pay, with table stakes (6.7)
        ("deck", np.int8, NUM_CARDS),  # the dealt pack
        ("stock", np.int8, NUM_CARDS),  # the pack, and after a reshuffle the cards served from then on
        ("num_discards", np.int8, MAX_PLAYERS),
        ("tricks_won", np.int8, MAX_PLAYERS),
        ("stayed", np.uint8),
        ("passed", np.uint8),
        ("out", np.uint8),  # table stakes: seats without chips, which must pass (6.7)
        ("exempt", np.uint8),  # before settlement from this deal's ante, after it from the next
        ("phase", np.int8),
        ("dealer", np.int8),
        ("to_act", np.int8),
        ("trump_suit", np.int8),  # real suit
        ("turn_up", np.int8),
        ("stock_next", np.int8),  # place in `stock` of the next card served
        ("stock_end", np.int8),
        ("num_reshuffles", np.int8),
        ("tricks_done", np.int8),
        ("leader", np.int8),  # of the current trick
        ("led_suit", np.int8),  # NO_SUIT while the seat to act leads
        ("best_card", np.int8),  # NO_CARD on lead
        ("best_seat", np.int8),
        ("forfeited", np.int8),  # the seat that ended the deal so (7.2); NO_SEAT otherwise
        ("unused", np.uint8, 6),  # no gap is left undefined: equal tables are equal bytes
    ],
    align=True,
)
"""The state of one table."""

RAW_TABLE = np.dtype((np.void, TABLE.itemsize))
"""The same as plain bytes: NumPy copies a record of many fields field by field, about a hundred times slower."""


def _next_in_mask(mask: int, seat: int) -> int:
    """First seat of a mask met clockwise after `seat`; the seat itself comes last."""
    clockwise = [(seat + step) % MAX_PLAYERS for step in range(1, MAX_PLAYERS + 1)]
    return next((other for other in clockwise if mask >> other & 1), NO_SEAT)


NEXT_IN_MASK = np.array(
    [[_next_in_mask(mask, seat) for seat in range(MAX_PLAYERS)] for mask in range(1 << MAX_PLAYERS)], np.int8
)
"""[256, 8] int8: `_next_in_mask` for every mask and seat."""

SEATS_IN_MASK = np.array([mask.bit_count() for mask in range(1 << MAX_PLAYERS)], np.int8)
"""[256] int8: number of seats in a mask."""


@njit
def seat_bit(seat: int) -> np.uint8:
    """The mask of one seat."""
    return np.uint8(1 << seat)


@njit
def in_mask(mask: np.uint8, seat: int) -> bool:
    """Whether a seat is in a mask."""
    return (mask >> seat) & 1 != 0


@njit
def num_active(table: np.record) -> int:
    """Number of seats that have stayed."""
    return SEATS_IN_MASK[table.stayed]


@njit
def next_active(table: np.record, seat: int) -> int:
    """The next seat clockwise that has stayed."""
    return NEXT_IN_MASK[table.stayed, seat]


@njit
def is_last_to_play(table: np.record, seat: int) -> bool:
    """Whether no active seat plays after this one in the current trick (5.5)."""
    return next_active(table, seat) == table.leader


@njit
def stock_left(table: np.record) -> int:
    """Cards that can be served before a reshuffle."""
    return table.stock_end - table.stock_next


@njit
def pay_into_pot(table: np.record, rules: np.record, seat: int, chips: int) -> None:
    """Move chips from a seat to the pot; with table stakes no more than the seat has (6.7)."""
    if rules.table_stakes:
        chips = min(chips, table.stacks[seat])
        table.stacks[seat] -= chips
    table.returns[seat] -= chips
    table.pot += chips


@njit
def take_from_pot(table: np.record, rules: np.record, seat: int, chips: int) -> None:
    """Move chips from the pot to a seat."""
    table.returns[seat] += chips
    table.pot -= chips
    if rules.table_stakes:
        table.stacks[seat] += chips
