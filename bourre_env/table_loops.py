"""The loops over many tables, for every game: what Python calls in compiled form.

Dealing and redrawing hidden cards are each game's own (`batch.py` of its package). One step of all tables, with the
arrays that it fills, is in `bourre_env.table_steps`; Bourré, whose tables deal again by themselves, has its own
(`bourre_env.bourre.stepping`). Shapes: B tables, N seats, k chosen rows, W words, O features, A actions, L words of a
packed legal set.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.bits import BITS, unpack_action_row, unpack_row
from bourre_env.cards import EMPTY
from bourre_env.jit import njit, njit_entry
from bourre_env.table_rules import act, encode, forfeit, is_forced, is_legal, is_settled, only_action

Records = NDArray[Any]


@njit_entry
def step_rows(
    tables: Records, rules: Records, rows: NDArray[np.int64], actions: NDArray[np.int64], play_forced: bool
) -> int:
    """Take the actions [k] at the tables `rows` [k]; if one is illegal take none and return its place, else -1."""
    for place in range(len(rows)):
        table = tables[rows[place]]
        if not is_legal(table, actions[place]) and not is_settled(table):
            return place
    for place in range(len(rows)):
        take_action(tables[rows[place]], rules[0], actions[place], play_forced)
    return -1


@njit
def first_illegal(tables: Records, actions: NDArray[np.int64]) -> int:
    """The first row whose action is illegal, -1 when there is none; actions of settled tables do not count."""
    for row in range(len(tables)):
        if not is_legal(tables[row], actions[row]) and not is_settled(tables[row]):
            return row
    return -1


@njit
def take_action(table: np.record, rules: np.record, action: int, play_forced: bool) -> None:
    """Take a legal action unless the table is settled, and then perhaps those that leave no choice."""
    goes_on = not is_settled(table)
    while goes_on:
        act(table, rules, action)
        goes_on = play_forced and is_forced(table)
        if goes_on:
            action = only_action(table)


@njit
def take_forced(table: np.record, rules: np.record) -> None:
    """Act for whoever has a single legal action, until someone has a choice or the deal is settled."""
    while is_forced(table):
        act(table, rules, only_action(table))


@njit_entry
def play_forced_rows(tables: Records, rules: Records) -> None:
    """Play every decision that leaves no choice."""
    for row in range(len(tables)):
        take_forced(tables[row], rules[0])


@njit_entry
def forfeit_rows(tables: Records, rules: Records, rows: NDArray[np.int64]) -> None:
    """End the deals at the tables `rows` [k], none of them settled: the seat to act forfeits."""
    for row in rows:
        forfeit(tables[row], rules[0])


# --- what policies see ---


@njit_entry
def copy_legal(tables: Records, out: NDArray[np.uint64]) -> None:
    """Legal sets into `out` [B, L]."""
    for row in range(len(tables)):
        write_legal(tables[row], out[row])


@njit
def write_legal(table: np.record, out: NDArray[np.uint64]) -> None:
    """The legal set of one table into `out` [L]."""
    for word in range(len(out)):
        out[word] = table.legal[word]


@njit_entry
def write_masks(tables: Records, out: NDArray[np.bool_]) -> None:
    """Legal actions as flags into `out` [B, A]."""
    for row in range(len(tables)):
        unpack_action_row(tables[row].legal, out[row])


@njit
def encode_turn(table: np.record, rules: np.record, words: NDArray[np.uint64]) -> None:
    """The observation of the seat to act into `words` [W]; zeros once the deal is settled."""
    if is_settled(table):
        words[:] = EMPTY
    else:
        encode(table, rules, table.to_act, words)


@njit
def write_views(table: np.record, rules: np.record, legal: NDArray[np.uint64], words: NDArray[np.uint64]) -> None:
    """What the seat to act may do, into `legal` [L], and see, into `words` [W]."""
    write_legal(table, legal)
    encode_turn(table, rules, words)


@njit_entry
def write_features(tables: Records, rules: Records, words: NDArray[np.uint64], out: NDArray[np.float32]) -> None:
    """Observations of the seats to act into `out` [B, O]; `words` [W] is room to work in."""
    for row in range(len(tables)):
        encode_turn(tables[row], rules[0], words)
        unpack_row(words, out[row])


@njit_entry
def encode_to_act(tables: Records, rules: Records, out: NDArray[np.uint64]) -> None:
    """Observations of the seats to act into `out` [B, W]."""
    for row in range(len(tables)):
        encode_turn(tables[row], rules[0], out[row])


@njit_entry
def encode_seats(tables: Records, rules: Records, seats: NDArray[np.int8], out: NDArray[np.uint64]) -> None:
    """Observations of the seats [B] into `out` [B, W]; zeros for seat -1."""
    for row in range(len(tables)):
        if seats[row] < 0:
            out[row, :] = EMPTY
        else:
            encode(tables[row], rules[0], seats[row], out[row])


@njit_entry
def view_rows(
    tables: Records, rules: Records, rows: NDArray[np.int64], words: NDArray[np.uint64], legal: NDArray[np.uint64]
) -> None:
    """What the seats to act at the tables `rows` [k] see and may do, into `words` [k, W] and `legal` [k, L]."""
    for place in range(len(rows)):
        write_views(tables[rows[place]], rules[0], legal[place], words[place])


@njit_entry
def view_one(tables: Records, rules: Records, seat: int, features: NDArray[np.float32], mask: NDArray[np.int8]) -> None:
    """One seat's view of the first table: `features` [O] and `mask` [A], ones only for the seat to act."""
    words = np.empty(len(features) // BITS, np.uint64)
    encode(tables[0], rules[0], seat, words)
    unpack_row(words, features)
    is_to_act = tables[0].to_act == seat
    for action in range(len(mask)):
        mask[action] = is_to_act and is_legal(tables[0], action)
