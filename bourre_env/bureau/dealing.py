"""The deal: rules B1.3 and B1.4. Nothing else is ever drawn (B6.6)."""

import numpy as np
from numpy.typing import NDArray

from bourre_env.bureau.cards import COPIES, NO_CARD, NUM_RANKS, OTHER_NAME
from bourre_env.bureau.repeats import forget_positions
from bourre_env.bureau.rules import DEALT_ROWS, NUM_COLUMNS, STOCK_SIZE
from bourre_env.bureau.table import GOING_ON, PLAY, find_run
from bourre_env.cards import EMPTY, single
from bourre_env.jit import njit

FACE_DOWN = 0b0101  # the rows dealt face down, as bits (B1.3)


@njit
def deal(table: np.record, rules: np.record, deck: NDArray[np.int8]) -> None:
    """Start a deal: clear the table and lay the cards out.

    Args:
        table: one record of dtype `TABLE`.
        rules: the rules.
        deck: [104] int8 printed ids in dealing order.
    """
    _clear(table)
    table.unseen[:] = COPIES
    for column in range(NUM_COLUMNS):
        for row in range(DEALT_ROWS):
            card = OTHER_NAME[deck[NUM_COLUMNS * row + column]]
            table.columns[column, row] = card
            if (FACE_DOWN >> row) & 1 == 0:
                table.unseen[card] -= 1
        table.heights[column] = DEALT_ROWS
        table.face_down[column] = FACE_DOWN
        find_run(table, column)
    for place in range(STOCK_SIZE):
        table.line[place] = OTHER_NAME[deck[NUM_COLUMNS * DEALT_ROWS + place]]
    table.line_length = STOCK_SIZE
    forget_positions(table, rules)


@njit
def _clear(table: np.record) -> None:
    """Nothing of the last deal is left."""
    table.columns[:] = NO_CARD
    table.tops[:] = NO_CARD
    table.accepted = single(0) | single(NUM_RANKS)  # B2.1: an ace of either series
    table.position = EMPTY
    table.returns[0] = 0
    table.steps = 0
    table.num_seen = 0
    table.waste_size = 0
    table.redeals_used = 0
    table.cards_up = 0
    table.phase = PLAY
    table.ending = GOING_ON
    table.to_act = 0
    table.dealer = 0
