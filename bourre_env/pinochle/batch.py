"""The loops over many tables that are Pinochle's own; the others are in `bourre_env.table_loops`.

Shapes: B tables, k chosen rows.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.jit import njit_entry
from bourre_env.pinochle import turn
from bourre_env.pinochle.actions import reference_suit
from bourre_env.pinochle.audit import take_back
from bourre_env.pinochle.cards import EMPTY, relative_cards
from bourre_env.pinochle.dealing import deal
from bourre_env.pinochle.rules import NUM_SEATS
from bourre_env.pinochle.table import NO_SEAT
from bourre_env.pinochle.worlds import reshuffle_unseen

Records = NDArray[Any]


@njit_entry
def deal_rows(
    tables: Records,
    rules: Records,
    rows: NDArray[np.int64],
    decks: NDArray[np.int8],
    dealers: NDArray[np.int8],
    scores: NDArray[np.int32],
) -> None:
    """Begin hands at the tables `rows` [k]: decks [k, 48], dealers [k], scores [k, 2]."""
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
            out[row, place] = EMPTY if table.to_act == NO_SEAT else relative_cards(hand, reference)


@njit_entry
def reshuffle_rows(
    tables: Records, rules: Records, seats: NDArray[np.int8], keys: NDArray[np.uint64], world: Records
) -> None:
    """Redraw what the seats [B] have not seen, with the keys [B]; `world` is room to work in."""
    for row in range(len(tables)):
        reshuffle_unseen(tables[row], rules[0], seats[row], keys[row], world[0])


@njit_entry
def take_back_rows(tables: Records, rows: NDArray[np.int64], kinds: NDArray[np.int64]) -> None:
    """The seats to act at the tables `rows` [k] take the kinds [k] back (P7.2)."""
    for place in range(len(rows)):
        take_back(tables[rows[place]], kinds[place])
