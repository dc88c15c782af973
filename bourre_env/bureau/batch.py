"""The loops over many tables that are Bureau's own; the others are in `bourre_env.table_loops`.

Shapes: B tables, k chosen rows, K words of hidden cards.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.bureau import turn
from bourre_env.bureau.cards import COPIES, NUM_CARDS, NUM_TYPES
from bourre_env.bureau.dealing import deal
from bourre_env.bureau.numbers import write_numbers
from bourre_env.bureau.observation import encode_hidden
from bourre_env.bureau.worlds import reshuffle_unseen
from bourre_env.cards import EMPTY
from bourre_env.jit import njit_entry
from bourre_env.table_rules import is_settled

Records = NDArray[Any]


@njit_entry
def first_wrong_deck(decks: NDArray[np.int8]) -> int:
    """Rule B1.1: the first row of `decks` [k, 104] that does not hold each of 26 types four times; -1 when all do."""
    for row in range(len(decks)):
        copies = np.zeros(NUM_TYPES, np.int64)
        for place in range(NUM_CARDS):
            card = decks[row, place]
            if not 0 <= card < NUM_TYPES or copies[card] == COPIES:
                return row
            copies[card] += 1
    return -1


@njit_entry
def deal_rows(tables: Records, rules: Records, rows: NDArray[np.int64], decks: NDArray[np.int8]) -> None:
    """Begin deals at the tables `rows` [k]: decks [k, 104]."""
    for place in range(len(rows)):
        row = rows[place]
        deal(tables[row], rules[0], decks[place])
        turn.find_legal(tables[row], rules[0])


@njit_entry
def write_numbers_rows(tables: Records, rules: Records, out: NDArray[np.int8]) -> None:
    """What the player may know as integers into `out` [B, 323], of settled tables, too."""
    for row in range(len(tables)):
        write_numbers(tables[row], rules[0], out[row])


@njit_entry
def copy_hidden(tables: Records, out: NDArray[np.uint64]) -> None:
    """What players do not know into `out` [B, K]; zeros once settled."""
    for row in range(len(tables)):
        if is_settled(tables[row]):
            out[row, :] = EMPTY
        else:
            encode_hidden(tables[row], out[row])


@njit_entry
def reshuffle_rows(tables: Records, seats: NDArray[np.int8], keys: NDArray[np.uint64], world: Records) -> None:
    """Redraw what has not been seen where a seat [B] is not -1, with the keys [B]; `world` is room to work in."""
    for row in range(len(tables)):
        if seats[row] >= 0:
            reshuffle_unseen(tables[row], keys[row], world[0])
