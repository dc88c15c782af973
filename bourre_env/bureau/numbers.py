"""What the player may know as 323 small integers, for the Gymnasium environment (B6.5).

Cards are printed: 0 no card, 1 face down or not known, 2 + id otherwise. In this order: 13 x 16 places of the columns,
bottom first; 8 foundation tops; 52 cards of the waste, the one that may be moved last; 52 of the stock, the next one
first, known once a pass has shown them; the sizes of stock and waste; redeals left.
"""

import numpy as np
from numpy.typing import NDArray

from bourre_env.bureau.cards import NO_CARD, NUM_TYPES, OTHER_NAME
from bourre_env.bureau.rules import MAX_FOUNDATIONS, MOST_IN_COLUMN, NUM_COLUMNS, STOCK_SIZE
from bourre_env.bureau.table import is_face_down, stock_size
from bourre_env.jit import njit

NOTHING, FACE_DOWN, FIRST_CARD = 0, 1, 2
NUM_CODES = FIRST_CARD + NUM_TYPES

TOPS = NUM_COLUMNS * MOST_IN_COLUMN
WASTE = TOPS + MAX_FOUNDATIONS
STOCK = WASTE + STOCK_SIZE
SIZES = STOCK + STOCK_SIZE
REDEALS_LEFT = SIZES + 2
LENGTH = REDEALS_LEFT + 1


@njit
def code(card: int) -> int:
    """The number of a card with a serial id, or of none."""
    return NOTHING if card == NO_CARD else FIRST_CARD + OTHER_NAME[card]


@njit
def write_numbers(table: np.record, rules: np.record, out: NDArray[np.int8]) -> None:
    """Write what the player may know into `out` [323] int8."""
    for column in range(NUM_COLUMNS):
        for place in range(MOST_IN_COLUMN):
            hidden = is_face_down(table, column, place)
            out[MOST_IN_COLUMN * column + place] = FACE_DOWN if hidden else code(table.columns[column, place])
    for slot in range(MAX_FOUNDATIONS):
        out[TOPS + slot] = code(table.tops[slot])
    is_known = table.redeals_used > 0
    for place in range(STOCK_SIZE):
        in_waste, in_stock = place < table.waste_size, place < stock_size(table)
        out[WASTE + place] = code(table.line[place]) if in_waste else NOTHING
        shown = code(table.line[(table.waste_size + place) % STOCK_SIZE]) if is_known else FACE_DOWN
        out[STOCK + place] = shown if in_stock else NOTHING
    out[SIZES] = stock_size(table)
    out[SIZES + 1] = table.waste_size
    out[REDEALS_LEFT] = rules.max_passes - 1 - table.redeals_used
