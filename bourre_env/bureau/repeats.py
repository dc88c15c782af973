"""Positions that must not come back: rule B6.3.

A position is the columns with every card in its place; between two moves that cannot be taken back nothing else
changes, and no card is turned up, so that those face down need not be told apart. Each has a 64-bit hash, the exclusive
or of one word for each card at its place; the chance that two of the at most 1000 positions of a deal share one is one
in 10^13.
"""

import numpy as np

from bourre_env.bureau.cards import NUM_TYPES
from bourre_env.bureau.rules import MOST_IN_COLUMN, NUM_COLUMNS
from bourre_env.bureau.table import is_face_down
from bourre_env.cards import EMPTY
from bourre_env.deck import GOLDEN, mix
from bourre_env.jit import njit


@njit
def _word(column: int, place: int, card: int) -> np.uint64:
    """The word of one card at one place."""
    number = (np.int64(column) * MOST_IN_COLUMN + np.int64(place)) * NUM_TYPES + np.int64(card)
    return mix(GOLDEN * np.uint64(number + 1))


@njit
def forget_positions(table: np.record, rules: np.record) -> None:
    """After a move that cannot be taken back: only the present position may be repeated."""
    if rules.forbid_repeat == 0:
        return
    table.position = EMPTY
    for column in range(NUM_COLUMNS):
        for place in range(table.heights[column]):
            if is_face_down(table, column, place):
                continue
            table.position ^= _word(column, place, table.columns[column, place])
    table.seen[0] = table.position
    table.num_seen = 1


@njit
def note_position(table: np.record) -> None:
    """After a move between columns that can be taken back."""
    table.seen[table.num_seen] = table.position
    table.num_seen += 1


@njit
def position_after(table: np.record, source: int, target: int, number: int) -> np.uint64:
    """The hash of the position after `number` cards have moved from one column to another."""
    position = table.position
    from_place, to_place = table.heights[source] - number, table.heights[target]
    for step in range(number):
        card = table.columns[source, from_place + step]
        position ^= _word(source, from_place + step, card) ^ _word(target, to_place + step, card)
    return position


@njit
def is_repeat(table: np.record, position: np.uint64) -> bool:
    """Whether a position has been there since the last move that cannot be taken back."""
    found = False
    for place in range(table.num_seen):
        found |= table.seen[place] == position
    return found
