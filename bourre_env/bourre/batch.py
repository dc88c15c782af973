"""The loops over many tables that are Bourré's own; the others are in `bourre_env.table_loops`.

Shapes: B tables, k chosen rows, S seats shown, C cards of the pack.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.bourre import turn
from bourre_env.bourre.dealing import deal, set_stacks
from bourre_env.bourre.deals import Deals
from bourre_env.bourre.worlds import reshuffle_unseen
from bourre_env.cards import EMPTY
from bourre_env.jit import njit_entry

Records = NDArray[Any]


@njit_entry
def deal_rows(tables: Records, rules: Records, rows: NDArray[np.int64], deals: Deals) -> None:
    """Begin the deals [k] at the tables `rows` [k]."""
    decks, dealers, carries, exempt, stacks = deals
    for place in range(len(rows)):
        table = tables[rows[place]]
        set_stacks(table, rules[0], stacks[place])
        deal(table, rules[0], decks[place], dealers[place], carries[place], exempt[place])
        turn.find_legal(table, rules[0])


@njit_entry
def copy_hands(tables: Records, rules: Records, out: NDArray[np.uint64]) -> None:
    """Hands from the seat to act clockwise into `out` [B, S]."""
    for row in range(len(tables)):
        out[row, :] = EMPTY
        seat = tables[row].to_act
        if seat < 0:
            continue
        for place in range(rules[0].num_players):
            out[row, place] = tables[row].hands[seat]
            seat = seat + 1 if seat + 1 < rules[0].num_players else 0


@njit_entry
def reshuffle_rows(
    tables: Records,
    rules: Records,
    lax_rules: Records,
    seats: NDArray[np.int8],
    keys: NDArray[np.uint64],
    world: Records,
    replay: Records,
) -> None:
    """Redraw what the seats [B] have not seen, with the keys [B]; `world` and `replay` are room to work in."""
    for row in range(len(tables)):
        reshuffle_unseen(tables[row], rules[0], lax_rules[0], seats[row], keys[row], world[0], replay[0])
