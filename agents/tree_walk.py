"""The walk through a game tree: compiled loops over positions, choices and draws, and a table of information sets.

Positions are records of the engine, and its compiled functions move them. All that a walk finds lies in arrays of a
fixed size; when one is full it stops, and goes on where it was once `agents.game_tree` has made more room.

Shapes: I information sets, T ends, N seats, W words of a packed observation, k deals, D observations, S positions.
"""

# Elements of arrays and fields of records have no static type, and returning one is what these functions do.
# mypy: disable-error-code="no-any-return"

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bourre_env.bourre import turn
from bourre_env.bourre.actions import first_stay, pass_action
from bourre_env.bourre.observation import encode
from bourre_env.bourre.table import SETTLED
from bourre_env.cards import EMPTY, count_cards, lowest_card
from bourre_env.deck import GOLDEN, mix
from bourre_env.jit import njit, njit_entry
from bourre_env.table_loops import take_forced
from bourre_env.table_rules import num_legal

UNKNOWN = -1
"""Where an information set is looked for and there is none."""

HEIGHT, DEAL, SETS, ENDS, DECISIONS, DRAWS, NUM_COUNTS = 0, 1, 2, 3, 4, 5, 6
"""Places in the counts of a walk: rows on the stack, deals begun, information sets, ends, decisions, draws."""

_WORD_BITS = 64


class Stack(NamedTuple):
    """Positions that wait to be looked at; the last row is that of the position being looked at.

    Attributes:
        tables: [S] of dtype `TABLE`.
        sequences: [S, N] int64, what each seat has played so far.
        probability: [S] float64, of the cards.
    """

    tables: NDArray[Any]
    sequences: NDArray[np.int64]
    probability: NDArray[np.float64]


class Sets(NamedTuple):
    """The information sets found, in arrays with room for more; attributes as in `GameTree`."""

    seat: NDArray[np.int8]
    packed: NDArray[np.uint64]
    legal_packed: NDArray[np.uint64]
    parent: NDArray[np.int64]
    first: NDArray[np.int64]


class Ends(NamedTuple):
    """The ends found: sequences [T, N] and payoffs [T, N], in arrays with room for more."""

    sequences: NDArray[np.int64]
    payoffs: NDArray[np.float64]


@njit_entry
def walk(
    roots: NDArray[Any],
    rules: NDArray[Any],
    stack: Stack,
    sets: Sets,
    ends: Ends,
    slots: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> int:
    """Look at the positions below the roots [k] until all is done or an array is full; call again for the rest.

    Returns:
        An information set that breaks perfect recall, or -1.
    """
    tables, sequences, probability = stack
    here = len(tables) - 1
    while counts[HEIGHT] > 0 or counts[DEAL] < len(roots):
        if counts[ENDS] == len(ends.payoffs) or counts[SETS] + 1 == len(sets.seat):
            return -1
        if counts[HEIGHT] == 0:
            tables[0] = roots[counts[DEAL]]
            for seat in range(sequences.shape[1]):
                sequences[0, seat] = seat
            probability[0] = 1 / len(roots)
            counts[DEAL] += 1
            counts[HEIGHT] = 1
        counts[HEIGHT] -= 1
        _copy_row(stack, counts[HEIGHT], here)
        if tables[here].phase == SETTLED:
            _add_end(tables[here], rules[0], sequences[here], probability[here], ends, counts)
            continue
        counts[DECISIONS] += 1
        found = _set_at(tables[here], rules[0], sequences[here], sets, slots, counts)
        if found < 0:
            return -1 - found
        _push_choices(rules[0], stack, sets.first[found], counts)
    return -1


@njit
def _copy_row(stack: Stack, source: int, target: int) -> None:
    """Copy a position within the stack."""
    stack.tables[target] = stack.tables[source]
    stack.sequences[target, :] = stack.sequences[source]
    stack.probability[target] = stack.probability[source]


@njit
def _add_end(
    table: np.record,
    rules: np.record,
    sequences: NDArray[np.int64],
    probability: float,
    ends: Ends,
    counts: NDArray[np.int64],
) -> None:
    """Note a settled deal."""
    end = counts[ENDS]
    counts[ENDS] += 1
    for seat in range(rules.num_players):
        antes = (table.returns[seat] + table.carry / rules.num_players) / rules.ante
        ends.sequences[end, seat] = sequences[seat]
        ends.payoffs[end, seat] = probability * antes


@njit
def _set_at(
    table: np.record,
    rules: np.record,
    sequences: NDArray[np.int64],
    sets: Sets,
    slots: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> int:
    """The information set of a position, entered when it is new; -1 - set when it cannot be one with the others."""
    new = counts[SETS]
    seat = table.to_act
    encode(table, rules, seat, sets.packed[new])
    slot = _slot_of(sets.packed[new], sets.packed, slots)
    found = slots[slot]
    if found >= 0:
        is_same = sets.parent[found] == sequences[seat] and sets.seat[found] == seat
        is_same &= sets.legal_packed[found, 0] == table.legal[0] and sets.legal_packed[found, 1] == table.legal[1]
        return found if is_same else -1 - found
    slots[slot] = new
    sets.seat[new] = seat
    sets.legal_packed[new, 0] = table.legal[0]
    sets.legal_packed[new, 1] = table.legal[1]
    sets.parent[new] = sequences[seat]
    sets.first[new + 1] = sets.first[new] + num_legal(table)
    counts[SETS] += 1
    return new


@njit
def _push_choices(rules: np.record, stack: Stack, sequence: int, counts: NDArray[np.int64]) -> None:
    """Put every position that follows on the stack; the first legal action makes the sequence given."""
    table = stack.tables[len(stack.tables) - 1]
    for word in range(len(table.legal)):
        actions = table.legal[word]
        while actions != EMPTY:
            _push_action(rules, stack, _WORD_BITS * word + lowest_card(actions), sequence, counts)
            actions &= actions - np.uint64(1)
            sequence += 1


@njit
def _push_action(rules: np.record, stack: Stack, action: int, sequence: int, counts: NDArray[np.int64]) -> None:
    """Put what follows an action on the stack: one position, or one for each set of cards that a draw can bring."""
    here = len(stack.tables) - 1
    seat = stack.tables[here].to_act
    drawn = _number_drawn(rules, action)
    counts[DRAWS] += drawn > 0
    stock = stack.tables[here].stock_end - stack.tables[here].stock_next
    chosen = np.uint64((1 << drawn) - 1)
    bottom = counts[HEIGHT]
    while counts[HEIGHT] == bottom or (drawn > 0 and chosen < np.uint64(1) << np.uint64(stock)):
        top = counts[HEIGHT]
        counts[HEIGHT] += 1
        _copy_row(stack, here, top)
        stack.sequences[top, seat] = sequence
        if drawn > 0:
            _bring_forward(stack.tables[here], stack.tables[top], chosen)
            chosen = _next_set(chosen)
        turn.act(stack.tables[top], rules, action)
        take_forced(stack.tables[top], rules)
    outcomes = counts[HEIGHT] - bottom
    for row in range(bottom, counts[HEIGHT]):
        stack.probability[row] /= outcomes


@njit
def _number_drawn(rules: np.record, action: int) -> int:
    """How many cards an action throws away, to be served as many."""
    if action < first_stay(rules) or action >= pass_action(rules):
        return 0
    return count_cards(np.uint64(action - first_stay(rules)))


@njit
def _next_set(chosen: np.uint64) -> np.uint64:
    """The next larger number with as many bits set, of which there is at least one (Gosper, HAKMEM 175)."""
    lowest = chosen & (~chosen + np.uint64(1))
    carried = chosen + lowest
    return carried | (((chosen ^ carried) >> np.uint64(2)) >> np.uint64(lowest_card(lowest)))


@njit
def _bring_forward(before: np.record, table: np.record, chosen: np.uint64) -> None:
    """Order the stock so that the cards chosen (bit i: the i-th from the top) are served next."""
    start, end = before.stock_next, before.stock_end
    place = start
    for is_served in (1, 0):
        for card in range(end - start):
            if (chosen >> np.uint64(card)) & np.uint64(1) == np.uint64(is_served):
                table.stock[place] = before.stock[start + card]
                place += 1


# --- finding information sets -----------------------------------------------------------------------------------------


@njit
def _slot_of(row: NDArray[np.uint64], packed: NDArray[np.uint64], slots: NDArray[np.int64]) -> int:
    """The slot that holds the information set of an observation [W], or the empty one where it belongs."""
    word = np.uint64(0)
    for place in range(len(row)):
        word = mix(word ^ (row[place] + GOLDEN))
    slot: int = np.int64(word & np.uint64(len(slots) - 1))  # type: ignore[assignment]
    while slots[slot] >= 0 and not _are_equal(row, packed[slots[slot]]):
        slot = slot + 1 if slot + 1 < len(slots) else 0
    return slot


@njit
def _are_equal(one: NDArray[np.uint64], other: NDArray[np.uint64]) -> bool:
    """Whether two observations [W] are the same."""
    are_equal = True
    for place in range(len(one)):
        are_equal &= one[place] == other[place]
    return are_equal


@njit_entry
def enter_all(packed: NDArray[np.uint64], number: int, slots: NDArray[np.int64]) -> None:
    """Enter the first `number` information sets into empty slots."""
    for row in range(number):
        slots[_slot_of(packed[row], packed, slots)] = row


@njit_entry
def find_rows(
    rows: NDArray[np.uint64], packed: NDArray[np.uint64], slots: NDArray[np.int64], found: NDArray[np.int64]
) -> None:
    """Fill `found` [D] with the information sets of observations [D, W]."""
    for row in range(len(rows)):
        found[row] = slots[_slot_of(rows[row], packed, slots)]
