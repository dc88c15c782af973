"""Worlds the player cannot tell apart: the cards not seen yet, drawn anew (`BureauTables.reshuffle_unseen`).

What may be done never depends on a card that has not been seen, so every order of those cards is equally likely.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.bureau.cards import NUM_CARDS
from bourre_env.bureau.rules import NUM_COLUMNS
from bourre_env.bureau.table import is_face_down
from bourre_env.deck import shuffle
from bourre_env.draws import begin_stream, random_word
from bourre_env.jit import njit

HIDDEN_PLACES = (0, 2)  # of a column, where cards are dealt face down (B1.3)

WORLD = np.dtype([("key", np.uint64), ("words_drawn", np.uint64), ("line", np.int8, NUM_CARDS)], align=True)
"""The stream of random words, and room for the cards."""


def new_scratch() -> NDArray[Any]:
    """[1] of dtype `WORLD`, room to work in."""
    return np.zeros(1, WORLD).view(np.recarray).view(np.ndarray)


@njit
def reshuffle_unseen(table: np.record, key: np.uint64, world: np.record) -> None:
    """Redraw the face-down cards and, in the first pass, the stock, every order alike.

    Args:
        table: a record of dtype `TABLE`, changed in place.
        key: names the stream of random words.
        world: a record of dtype `WORLD` to work in.
    """
    begin_stream(world, key)
    shuffle(world.line, _collect(table, world), random_word(world))
    place = 0
    for column in range(NUM_COLUMNS):
        for row in HIDDEN_PLACES:
            if is_face_down(table, column, row):
                table.columns[column, row] = world.line[place]
                place += 1
    for row in range(_first_unknown(table), table.line_length):
        table.line[row] = world.line[place]
        place += 1


@njit
def _first_unknown(table: np.record) -> int:
    """The first place of the line whose card has not been seen; its length when all have."""
    return table.waste_size if table.redeals_used == 0 else table.line_length


@njit
def _collect(table: np.record, world: np.record) -> int:
    """Line up the cards that have not been seen in ascending order, so that nothing depends on where they were."""
    number = 0
    for card in range(len(table.unseen)):
        for _ in range(table.unseen[card]):
            world.line[number] = card
            number += 1
    return number
