"""The loops over many tables that are Euchre's own; the others are in `bourre_env.table_loops`.

Shapes: B tables, k chosen rows, C cards of the pack.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.euchre import turn
from bourre_env.euchre.actions import reference_suit
from bourre_env.euchre.cards import EMPTY, relative_cards
from bourre_env.euchre.dealing import deal
from bourre_env.euchre.rules import NUM_SEATS
from bourre_env.euchre.table import SETTLED
from bourre_env.euchre.worlds import reshuffle_unseen
from bourre_env.jit import njit_entry

Records = NDArray[Any]


@njit_entry
def deal_rows(
    tables: Records,
    rules: Records,
    rows: NDArray[np.int64],
    decks: NDArray[np.int8],
    dealers: NDArray[np.int8],
    scores: NDArray[np.int8],
) -> None:
    """Begin hands at the tables `rows` [k]: decks [k, C], dealers [k], scores [k, 2]."""
    for place in range(len(rows)):
        deal(tables[rows[place]], decks[place], dealers[place], scores[place])
        turn.find_legal(tables[rows[place]], rules[0])


@njit_entry
def copy_hands(tables: Records, rules: Records, out: NDArray[np.uint64]) -> None:
    """Hands from the seat to act clockwise into `out` [B, 4], ids as in the observation; zeros once settled."""
    for row in range(len(tables)):
        table = tables[row]
        reference = reference_suit(table, rules[0])
        for place in range(NUM_SEATS):
            hand = table.hands[(table.to_act + place) & (NUM_SEATS - 1)]
            out[row, place] = EMPTY if table.phase == SETTLED else relative_cards(hand, reference)


@njit_entry
def reshuffle_rows(
    tables: Records, rules: Records, seats: NDArray[np.int8], keys: NDArray[np.uint64], world: Records
) -> None:
    """Redraw what the seats [B] have not seen, with the keys [B]; `world` is room to work in."""
    for row in range(len(tables)):
        reshuffle_unseen(tables[row], rules[0], seats[row], keys[row], world[0])
