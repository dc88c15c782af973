"""One table as one record, and the questions everyone asks of it.

Cards in the record have serial ids (`bourre_env.bureau.cards`). A place of a column counts from its bottom, which was
dealt first; the card at the highest place is exposed.
"""

from typing import Any

import numpy as np

from bourre_env.bureau.cards import NO_CARD, NUM_CARDS, NUM_TYPES, rank_of, run_of
from bourre_env.bureau.rules import MAX_FOUNDATIONS, MAX_STEPS, MOST_IN_COLUMN, NUM_COLUMNS, STOCK_SIZE
from bourre_env.cards import EMPTY, single
from bourre_env.jit import njit

PLAY, SETTLED = range(2)
PHASE_NAMES = ("play", "settled")

GOING_ON, WON, LOST, STOPPED, RESIGNED, FORFEITED = range(6)
ENDING_NAMES = ("", "won", "lost", "stopped", "resigned", "forfeited")

NO_SEAT = -1
LEGAL_WORDS = 4
UNUSED = 4  # bytes that bring what follows to its place


def _table(positions: int) -> np.dtype[Any]:
    """The state of one table with room for so many positions that must not come back (B6.3)."""
    return np.dtype(
        [
            ("legal", np.uint64, LEGAL_WORDS),  # bit a of 256: action a is legal
            ("runs", np.uint64, NUM_COLUMNS),  # the cards at the end of each column that may move together (B3.3)
            ("accepted", np.uint64),  # cards that a foundation takes (B2.1, B2.2)
            ("position", np.uint64),  # a hash of the columns; 0 unless repeats are forbidden
            ("returns", np.int32, (1,)),  # what the deal brought (B5.5)
            ("steps", np.int32),  # decisions taken
            ("num_seen", np.int32),  # positions since the last move that cannot be taken back (B6.3)
            ("columns", np.int8, (NUM_COLUMNS, MOST_IN_COLUMN)),  # NO_CARD above the exposed card
            ("heights", np.int8, NUM_COLUMNS),
            ("face_down", np.uint8, NUM_COLUMNS),  # bit p: the card at place p lies face down
            ("line", np.int8, STOCK_SIZE),  # waste, then stock, in the order they are drawn; NO_CARD after them
            ("tops", np.int8, MAX_FOUNDATIONS),  # of the foundations; NO_CARD for none
            ("unseen", np.int8, NUM_TYPES),  # copies of each card that the player has not seen
            ("line_length", np.int8),
            ("waste_size", np.int8),
            ("redeals_used", np.int8),
            ("cards_up", np.int8),
            ("phase", np.int8),
            ("ending", np.int8),
            ("to_act", np.int8),
            ("dealer", np.int8),  # always 0
            ("unused", np.uint8, UNUSED),  # no gap is left undefined: equal tables are equal bytes
            ("seen", np.uint64, (positions,)),  # their hashes
        ],
        align=True,
    )


TABLE = _table(1)
"""The state of one table."""

TABLE_WITH_POSITIONS = _table(MAX_STEPS + 1)
"""The same where repeats are forbidden."""

ALL_UP = NUM_CARDS


@njit
def exposed_card(table: np.record, column: int) -> int:
    """The card of a column that nothing lies on; `NO_CARD` when it is empty."""
    height = table.heights[column]
    return table.columns[column, height - 1] if height > 0 else NO_CARD


@njit
def waste_card(table: np.record) -> int:
    """Rule B4.2: the card of the waste that may be moved; `NO_CARD` when there is none."""
    return table.line[table.waste_size - 1] if table.waste_size > 0 else NO_CARD


@njit
def is_face_down(table: np.record, column: int, place: int) -> bool:
    """Whether the card at a place of a column lies face down."""
    return place < 8 and (table.face_down[column] >> place) & 1 != 0


@njit
def stock_size(table: np.record) -> int:
    """Cards still to be drawn in this pass."""
    return table.line_length - table.waste_size


@njit
def next_down(card: int) -> np.uint64:
    """Rule B3.2: the set of the cards that may be laid on `card` in a column; none on an ace or where no card is."""
    return EMPTY if card == NO_CARD or rank_of(card) == 0 else single(card - 1)


@njit
def length_of_run(table: np.record, column: int) -> int:
    """Rules B3.3 and B3.6: how many cards at the end of a column may move together; 0 when it is empty."""
    place = table.heights[column] - 1
    if place < 0:
        return 0
    length = 1
    while place > 0 and not is_face_down(table, column, place - 1):
        upper, lower = table.columns[column, place], table.columns[column, place - 1]
        if lower != upper + 1 or rank_of(lower) == 0:
            break
        place -= 1
        length += 1
    return length


@njit
def find_run(table: np.record, column: int) -> None:
    """Write down which cards of a column may move together."""
    length = length_of_run(table, column)
    table.runs[column] = run_of(exposed_card(table, column), length) if length > 0 else EMPTY
