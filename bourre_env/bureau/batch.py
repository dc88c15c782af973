"""The loops over many tables: all that Python calls in compiled form.

Shapes: B tables, S positions that a table has room for, k chosen rows, W words, K words of hidden cards.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.bits import unpack_action_row, unpack_row
from bourre_env.bureau import turn
from bourre_env.bureau.cards import COPIES, NUM_CARDS, NUM_TYPES
from bourre_env.bureau.dealing import deal
from bourre_env.bureau.ending import forfeit
from bourre_env.bureau.numbers import write_numbers
from bourre_env.bureau.observation import encode, encode_hidden
from bourre_env.bureau.table import LEGAL_WORDS, SETTLED
from bourre_env.bureau.worlds import reshuffle_unseen
from bourre_env.cards import EMPTY
from bourre_env.jit import njit, njit_entry

Records = NDArray[Any]
Positions = NDArray[np.uint64]


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
def deal_rows(
    tables: Records, rules: Records, seen: Positions, rows: NDArray[np.int64], decks: NDArray[np.int8]
) -> None:
    """Begin deals at the tables `rows` [k]: decks [k, 104]."""
    for place in range(len(rows)):
        row = rows[place]
        deal(tables[row], rules[0], decks[place], seen[row])
        turn.find_legal(tables[row], rules[0], seen[row])


@njit_entry
def step_rows(
    tables: Records,
    rules: Records,
    seen: Positions,
    rows: NDArray[np.int64],
    actions: NDArray[np.int64],
    play_forced: bool,
) -> int:
    """Take the actions [k] at the tables `rows` [k]; if one is illegal take none and return its place, else -1."""
    for place in range(len(rows)):
        table = tables[rows[place]]
        if not turn.is_legal(table, actions[place]) and table.phase != SETTLED:
            return place
    for place in range(len(rows)):
        row = rows[place]
        take_action(tables[row], rules[0], actions[place], play_forced, seen[row])
    return -1


@njit
def first_illegal(tables: Records, actions: NDArray[np.int64]) -> int:
    """The first row whose action is illegal, -1 when there is none; actions of settled tables do not count."""
    for row in range(len(tables)):
        if not turn.is_legal(tables[row], actions[row]) and tables[row].phase != SETTLED:
            return row
    return -1


@njit
def take_action(table: np.record, rules: np.record, action: int, play_forced: bool, seen: NDArray[np.uint64]) -> None:
    """Take a legal action unless the table is settled, and then perhaps those that leave no choice."""
    goes_on = table.phase != SETTLED
    while goes_on:
        turn.act(table, rules, action, seen)
        goes_on = play_forced and turn.is_forced(table)
        if goes_on:
            action = turn.only_action(table)


@njit_entry
def play_forced_rows(tables: Records, rules: Records, seen: Positions) -> None:
    """Play every decision that leaves no choice."""
    for row in range(len(tables)):
        turn.play_forced(tables[row], rules[0], seen[row])


@njit
def write_legal(table: np.record, out: NDArray[np.uint64]) -> None:
    """Legal actions into `out` [4]."""
    for word in range(LEGAL_WORDS):
        out[word] = table.legal[word]


@njit_entry
def copy_legal(tables: Records, out: NDArray[np.uint64]) -> None:
    """Legal sets into `out` [B, 4]."""
    for row in range(len(tables)):
        write_legal(tables[row], out[row])


@njit_entry
def write_masks(tables: Records, out: NDArray[np.bool_]) -> None:
    """Legal actions as flags into `out` [B, A]."""
    for row in range(len(tables)):
        unpack_action_row(tables[row].legal, out[row])


@njit_entry
def write_features(tables: Records, rules: Records, words: NDArray[np.uint64], out: NDArray[np.float32]) -> None:
    """Observations into `out` [B, O]; `words` [W] is room to work in."""
    for row in range(len(tables)):
        encode_turn(tables[row], rules[0], words)
        unpack_row(words, out[row])


@njit_entry
def encode_to_act(tables: Records, rules: Records, out: NDArray[np.uint64]) -> None:
    """Observations into `out` [B, W]; zeros at tables that are settled."""
    for row in range(len(tables)):
        encode_turn(tables[row], rules[0], out[row])


@njit
def encode_turn(table: np.record, rules: np.record, words: NDArray[np.uint64]) -> None:
    """The observation into `words` [W]; zeros once the deal is settled."""
    if table.phase == SETTLED:
        words[:] = EMPTY
    else:
        encode(table, rules, words)


@njit_entry
def encode_seats(tables: Records, rules: Records, seats: NDArray[np.int8], out: NDArray[np.uint64]) -> None:
    """Observations of the seats [B] into `out` [B, W], of settled tables, too; zeros for seat -1."""
    for row in range(len(tables)):
        if seats[row] < 0:
            out[row, :] = EMPTY
        else:
            encode(tables[row], rules[0], out[row])


@njit_entry
def write_numbers_rows(tables: Records, rules: Records, out: NDArray[np.int8]) -> None:
    """What the player may know as integers into `out` [B, 323], of settled tables, too."""
    for row in range(len(tables)):
        write_numbers(tables[row], rules[0], out[row])


@njit_entry
def view_rows(
    tables: Records, rules: Records, rows: NDArray[np.int64], words: NDArray[np.uint64], legal: NDArray[np.uint64]
) -> None:
    """What players at the tables `rows` [k] see and may do, into `words` [k, W] and `legal` [k, 4]."""
    for place in range(len(rows)):
        write_views(tables[rows[place]], rules[0], legal[place], words[place])


@njit
def write_views(table: np.record, rules: np.record, legal: NDArray[np.uint64], words: NDArray[np.uint64]) -> None:
    """What the player may do, into `legal` [4], and sees, into `words` [W]."""
    write_legal(table, legal)
    encode_turn(table, rules, words)


@njit_entry
def copy_hidden(tables: Records, out: NDArray[np.uint64]) -> None:
    """What players do not know into `out` [B, K]; zeros once settled."""
    for row in range(len(tables)):
        if tables[row].phase == SETTLED:
            out[row, :] = EMPTY
        else:
            encode_hidden(tables[row], out[row])


@njit_entry
def reshuffle_rows(tables: Records, seats: NDArray[np.int8], keys: NDArray[np.uint64], world: Records) -> None:
    """Redraw what has not been seen where a seat [B] is not -1, with the keys [B]; `world` is room to work in."""
    for row in range(len(tables)):
        if seats[row] >= 0:
            reshuffle_unseen(tables[row], keys[row], world[0])


@njit_entry
def forfeit_rows(tables: Records, rows: NDArray[np.int64]) -> None:
    """End the deals at the tables `rows` [k], none of them settled, with nothing (B6.2)."""
    for row in rows:
        forfeit(tables[row])
