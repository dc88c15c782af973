"""One step of all tables in one compiled call: act, and write what policies see. Shapes: B tables, W words."""

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from bourre_env.bits import unpack_action_row, unpack_row
from bourre_env.bureau.batch import first_illegal, take_action, write_views
from bourre_env.bureau.table import SETTLED
from bourre_env.jit import njit, njit_entry, njit_parallel, on_all_threads

Records = NDArray[Any]


class Buffers(NamedTuple):
    """Arrays that `BureauTables.step` fills, made once and used for every step (`BureauTables.buffers`).

    `BureauTables.deal` does not fill them: whoever deals again writes `view_rows` of those tables into them.

    Attributes:
        legal: [B, 4] uint64, as `BureauTables.legal_packed`.
        observation: [B, W] uint64, as `BureauTables.observe_packed`.
        mask: [B, A] bool, as `BureauTables.legal_action_mask`; [0, A] when not wanted.
        features: [B, O] float32, as `BureauTables.observe`; [0, O] when not wanted.
        settled: [B] bool, whether the table is settled.
        ended: [B] bool, whether this step settled it.
        returns: [B, 1] int32, what the deal brought if this step settled it; zero elsewhere.
    """

    legal: NDArray[np.uint64]
    observation: NDArray[np.uint64]
    mask: NDArray[np.bool_]
    features: NDArray[np.float32]
    settled: NDArray[np.bool_]
    ended: NDArray[np.bool_]
    returns: NDArray[np.int32]


@njit_entry
def advance(
    tables: Records,
    rules: Records,
    seen: NDArray[np.uint64],
    actions: NDArray[np.int64],
    play_forced: bool,
    out: Buffers,
) -> int:
    """Step every table and fill the buffers; the first row with an illegal action (nothing is done then), else -1."""
    illegal = first_illegal(tables, actions)
    if illegal >= 0:
        return illegal
    legal, words, mask, features, settled, ended, returns = out
    for row in range(len(tables)):
        ended[row] = _act(tables[row], rules[0], actions[row], play_forced, seen[row], returns[row])
        settled[row] = tables[row].phase == SETTLED
        write_views(tables[row], rules[0], legal[row], words[row])
        if len(mask):
            unpack_action_row(legal[row], mask[row])
        if len(features):
            unpack_row(words[row], features[row])
    return -1


@njit_parallel
def _advance_in_parallel(
    tables: Records,
    rules: Records,
    seen: NDArray[np.uint64],
    actions: NDArray[np.int64],
    play_forced: bool,
    out: Buffers,
) -> int:
    """`advance` on several threads."""
    illegal = first_illegal(tables, actions)
    if illegal >= 0:
        return illegal
    legal, words, mask, features, settled, ended, returns = out
    for row in prange(len(tables)):
        ended[row] = _act(tables[row], rules[0], actions[row], play_forced, seen[row], returns[row])
        settled[row] = tables[row].phase == SETTLED
        write_views(tables[row], rules[0], legal[row], words[row])
        if len(mask):
            unpack_action_row(legal[row], mask[row])
        if len(features):
            unpack_row(words[row], features[row])
    return -1


@njit
def _act(
    table: np.record,
    rules: np.record,
    action: int,
    play_forced: bool,
    seen: NDArray[np.uint64],
    returns: NDArray[np.int32],
) -> bool:
    """Take a decision and write what a deal that it settled brought; whether it settled one."""
    was_on = table.phase != SETTLED
    take_action(table, rules, action, play_forced, seen)
    has_ended = was_on and table.phase == SETTLED
    returns[0] = table.returns[0] if has_ended else 0
    return has_ended


def advance_in_parallel(*arguments: Any) -> int:
    """`advance` on all of Numba's threads (`bourre_env.jit.on_all_threads`)."""
    return on_all_threads(_advance_in_parallel, advance, *arguments)
