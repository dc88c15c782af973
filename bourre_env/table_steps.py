"""One step of all tables in one compiled call, for games whose tables are dealt by the caller.

Each table is stepped and written while it lies in the cache, and nothing is allocated. Shapes: B tables, N seats, W
words, O features, A actions.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from bourre_env.bits import unpack_action_row, unpack_row
from bourre_env.jit import njit, njit_entry, njit_parallel, on_all_threads
from bourre_env.table_loops import first_illegal, take_action, write_views
from bourre_env.table_rules import is_settled

Records = NDArray[Any]


class Buffers(NamedTuple):
    """Arrays that a step of all tables fills, made once and used for every step (`buffers` of the tables).

    Dealing does not fill them: whoever deals again writes `view_rows` of those tables into them.

    Attributes:
        legal: [B, L] uint64, as `legal_packed`.
        observation: [B, W] uint64, as `observe_packed`.
        mask: [B, A] bool, as `legal_action_mask`; [0, A] when not wanted.
        features: [B, O] float32, as `observe`; [0, O] when not wanted.
        settled: [B] bool, whether the table is settled.
        ended: [B] bool, whether this step settled it.
        returns: [B, N] int32, what the deal brought each seat if this step settled it; zero elsewhere.
    """

    legal: NDArray[np.uint64]
    observation: NDArray[np.uint64]
    mask: NDArray[np.bool_]
    features: NDArray[np.float32]
    settled: NDArray[np.bool_]
    ended: NDArray[np.bool_]
    returns: NDArray[np.int32]


@njit_entry
def advance(tables: Records, rules: Records, actions: NDArray[np.int64], play_forced: bool, out: Buffers) -> int:
    """Step every table and fill the buffers; the first row with an illegal action (nothing is done then), else -1."""
    illegal = first_illegal(tables, actions)
    if illegal >= 0:
        return illegal
    legal, words, mask, features, settled, ended, returns = out
    for row in range(len(tables)):
        ended[row] = _act(tables[row], rules[0], actions[row], play_forced, returns[row])
        settled[row] = is_settled(tables[row])
        write_views(tables[row], rules[0], legal[row], words[row])
        if len(mask):
            unpack_action_row(legal[row], mask[row])
        if len(features):
            unpack_row(words[row], features[row])
    return -1


@njit_parallel
def _advance_in_parallel(
    tables: Records, rules: Records, actions: NDArray[np.int64], play_forced: bool, out: Buffers
) -> int:
    """`advance` on several threads."""
    illegal = first_illegal(tables, actions)
    if illegal >= 0:
        return illegal
    legal, words, mask, features, settled, ended, returns = out
    for row in prange(len(tables)):
        ended[row] = _act(tables[row], rules[0], actions[row], play_forced, returns[row])
        settled[row] = is_settled(tables[row])
        write_views(tables[row], rules[0], legal[row], words[row])
        if len(mask):
            unpack_action_row(legal[row], mask[row])
        if len(features):
            unpack_row(words[row], features[row])
    return -1


@njit
def _act(table: np.record, rules: np.record, action: int, play_forced: bool, returns: NDArray[np.int32]) -> bool:
    """Take a decision and write what a deal that it settled brought; whether it settled one."""
    was_on = not is_settled(table)
    take_action(table, rules, action, play_forced)
    has_ended = was_on and is_settled(table)
    for seat in range(len(returns)):
        returns[seat] = table.returns[seat] if has_ended else 0
    return has_ended


def advance_in_parallel(*arguments: Any) -> int:
    """`advance` on all of Numba's threads (`bourre_env.jit.on_all_threads`)."""
    return on_all_threads(_advance_in_parallel, advance, *arguments)
