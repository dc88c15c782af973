"""One step of all tables in one compiled call: act, hand out deals, write what policies see.

Each table is stepped, dealt and written while it lies in the cache, and nothing is allocated. The tables can be shared
out among threads: a row is worked out from itself and from the number of its deal, so the result is the same.

Shapes: B tables, N seats, W words, O features, A actions.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from bourre_env.bourre import turn
from bourre_env.bourre.dealing import deal, set_stacks
from bourre_env.bourre.deals import Deals
from bourre_env.bourre.observation import unpack_action_row, unpack_row
from bourre_env.bourre.table import SETTLED, in_mask
from bourre_env.jit import njit, njit_entry, njit_parallel, on_all_threads
from bourre_env.table_loops import first_illegal, take_action, take_forced, write_views

Records = NDArray[Any]

NO_DEAL = -1


class Buffers(NamedTuple):
    """Arrays that `Tables.step` fills, made once and used for every step (`Tables.buffers`).

    Use one for the life of the tables: `deal` is read at the next step. After `Tables.deal` make a new one.

    Attributes:
        legal: [B, 2] uint64, as `Tables.legal_packed`.
        observation: [B, W] uint64, as `Tables.observe_packed`.
        mask: [B, A] bool, as `Tables.legal_action_mask`; [0, A] when not wanted.
        features: [B, O] float32, as `Tables.observe`; [0, O] when not wanted.
        settled: [B] bool, whether the table is settled: the queue had no deal for it, or one without any choice.
        ended: [B] bool, whether this step ended the table's deal; the next three are of that deal, zero elsewhere.
        returns: [B, N] int32, chips won or lost.
        carry: [B] int64, what the deal left in the pot.
        exempt: [B, N] bool, who skips the next ante.
        deal: [B] int64, the number in the queue of the deal that is on; -1 where none has come from the queue, and
            after the end.
    """

    legal: NDArray[np.uint64]
    observation: NDArray[np.uint64]
    mask: NDArray[np.bool_]
    features: NDArray[np.float32]
    settled: NDArray[np.bool_]
    ended: NDArray[np.bool_]
    returns: NDArray[np.int32]
    carry: NDArray[np.int64]
    exempt: NDArray[np.bool_]
    deal: NDArray[np.int64]


@njit_entry
def advance(
    tables: Records,
    rules: Records,
    actions: NDArray[np.int64],
    play_forced: bool,
    deals: Deals,
    next_place: int,
    end_place: int,
    next_number: int,
    out: Buffers,
) -> int:
    """Step every table, deal those that are settled, fill the buffers.

    Args:
        tables: [B] of dtype `TABLE`.
        rules: [1] of dtype `RULES`.
        actions: [B], ignored where a table is settled.
        play_forced: play decisions with a single legal action, too.
        deals: the queue.
        next_place: place in `deals` of the deal that comes next.
        end_place: the place behind the last deal of the queue.
        next_number: the number of the next deal.
        out: filled; nothing is written when an action is illegal.

    Returns:
        The number of deals taken from the queue, or -1 - row for the first row with an illegal action.
    """
    illegal = first_illegal(tables, actions)
    if illegal >= 0:
        return -1 - illegal
    # Functions get rows of the arrays: a whole array, or a tuple of them, would be counted as referred to at each call.
    decks, dealers, carries, exemptions, stacks = deals
    legal, words, mask, features, settled, ended, returns, carry, exempt, numbers = out
    place = next_place
    for row in range(len(tables)):
        table = tables[row]
        ended[row] = _act(table, rules[0], actions[row], play_forced, numbers[row])
        carry[row] = table.carry if ended[row] else 0
        _write_result(table, rules[0], ended[row], returns[row], exempt[row])
        numbers[row] = NO_DEAL if ended[row] else numbers[row]
        if table.phase == SETTLED and place < end_place:
            numbers[row] = next_number + place - next_place
            set_stacks(table, rules[0], stacks[place])
            _deal(table, rules[0], decks[place], dealers[place], carries[place], exemptions[place], play_forced)
            place += 1
        settled[row] = table.phase == SETTLED
        write_views(table, rules[0], legal[row], words[row])
        if len(mask):
            unpack_action_row(legal[row], mask[row])
        if len(features):
            unpack_row(words[row], features[row])
    return place - next_place


@njit_parallel
def _advance_in_parallel(
    tables: Records,
    rules: Records,
    actions: NDArray[np.int64],
    play_forced: bool,
    deals: Deals,
    next_place: int,
    end_place: int,
    next_number: int,
    out: Buffers,
) -> int:
    """`advance` on several threads: all tables act, then deals are given out in order, then the rest is done."""
    illegal = first_illegal(tables, actions)
    if illegal >= 0:
        return -1 - illegal
    decks, dealers, carries, exemptions, stacks = deals
    legal, words, mask, features, settled, ended, returns, carry, exempt, numbers = out
    for row in prange(len(tables)):
        ended[row] = _act(tables[row], rules[0], actions[row], play_forced, numbers[row])
        carry[row] = tables[row].carry if ended[row] else 0
        _write_result(tables[row], rules[0], ended[row], returns[row], exempt[row])
        settled[row] = tables[row].phase == SETTLED
    number = next_number
    for row in range(len(tables)):
        numbers[row] = NO_DEAL if ended[row] else numbers[row]
        if settled[row] and number < next_number + end_place - next_place:
            numbers[row] = number
            number += 1
    for row in prange(len(tables)):
        if settled[row] and numbers[row] >= next_number:
            place = next_place + numbers[row] - next_number
            set_stacks(tables[row], rules[0], stacks[place])
            _deal(tables[row], rules[0], decks[place], dealers[place], carries[place], exemptions[place], play_forced)
            settled[row] = tables[row].phase == SETTLED
        write_views(tables[row], rules[0], legal[row], words[row])
        if len(mask):
            unpack_action_row(legal[row], mask[row])
        if len(features):
            unpack_row(words[row], features[row])
    return number - next_number


@njit
def _act(table: np.record, rules: np.record, action: int, play_forced: bool, number: int) -> bool:
    """Take a decision; whether the deal `number` has ended, perhaps without any, and has not been reported yet."""
    was_on = table.phase != SETTLED or number != NO_DEAL
    take_action(table, rules, action, play_forced)
    return table.phase == SETTLED and was_on


@njit
def _write_result(
    table: np.record, rules: np.record, has_ended: bool, returns: NDArray[np.int32], exempt: NDArray[np.bool_]
) -> None:
    """What the deal brought each seat, and who skips the next ante; zeros while it is going on."""
    for seat in range(rules.num_players):
        returns[seat] = table.returns[seat] if has_ended else 0
        exempt[seat] = has_ended and in_mask(table.exempt, seat)


@njit
def _deal(
    table: np.record,
    rules: np.record,
    deck: NDArray[np.int8],
    dealer: int,
    carry: int,
    exempt: np.uint8,
    play_forced: bool,
) -> None:
    """Begin a deal, and play it up to the first choice if that is wanted."""
    deal(table, rules, deck, dealer, carry, exempt)
    turn.find_legal(table, rules)
    if play_forced:
        take_forced(table, rules)


def advance_in_parallel(*arguments: Any) -> int:
    """`advance` on all of Numba's threads (`bourre_env.jit.on_all_threads`)."""
    return on_all_threads(_advance_in_parallel, advance, *arguments)
