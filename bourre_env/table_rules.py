"""What the loops over tables ask of a game at one table, whichever game it is.

A game hands in its functions once, for its dtype of records (`add_game`). Compiled code that calls a function of this
module gets that of the game whose record it holds, chosen when it is compiled; uncompiled runs choose at each call.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bourre_env.cards import EMPTY, count_cards, lowest_card
from bourre_env.jit import in_place_of, njit

WORD = 64  # bits in a word of the legal set


class TableRules(NamedTuple):
    """One game's functions, all compiled by `bourre_env.jit.njit`.

    Attributes:
        act: (table, rules, action): apply a legal action and find what is legal next.
        encode: (table, rules, seat, words): what a seat may know into `words` [W].
        forfeit: (table, rules): the seat to act ends the deal; find that nothing is legal.
    """

    act: Callable[[np.record, np.record, int], None]
    encode: Callable[[np.record, np.record, int, NDArray[np.uint64]], None]
    forfeit: Callable[[np.record, np.record], None]


_GAMES: dict[tuple[str, ...], TableRules] = {}


def add_game(table: np.dtype[Any], functions: TableRules) -> None:
    """Make known the functions of the game whose records have the dtype `table`; its names of fields tell games apart.

    Raises:
        ValueError: another game has the same fields.
    """
    names = tuple(table.names or ())
    if names in _GAMES:
        raise ValueError(f"a game with the fields {', '.join(names)} is known already")
    _GAMES[names] = functions


def act(table: np.record, rules: np.record, action: int) -> None:
    """Apply a legal action of the seat to act and find what is legal next."""
    _of(table).act(table, rules, action)


def encode(table: np.record, rules: np.record, seat: int, words: NDArray[np.uint64]) -> None:
    """What a seat may know into `words` [W]."""
    _of(table).encode(table, rules, seat, words)


def forfeit(table: np.record, rules: np.record) -> None:
    """The seat to act ends the deal by a forfeit."""
    _of(table).forfeit(table, rules)


def _of(table: np.record) -> TableRules:
    """The functions of the game that a record belongs to."""
    return _GAMES[tuple(table.dtype.names or ())]


@in_place_of(act)
def _act(table: Any, rules: Any, action: Any) -> Callable[..., None]:
    """What is compiled in place of `act`."""
    chosen = _GAMES[tuple(table.fields)].act

    def apply(table: Any, rules: Any, action: Any) -> None:
        chosen(table, rules, action)

    return apply


@in_place_of(encode)
def _encode(table: Any, rules: Any, seat: Any, words: Any) -> Callable[..., None]:
    """What is compiled in place of `encode`."""
    chosen = _GAMES[tuple(table.fields)].encode

    def write(table: Any, rules: Any, seat: Any, words: Any) -> None:
        chosen(table, rules, seat, words)

    return write


@in_place_of(forfeit)
def _forfeit(table: Any, rules: Any) -> Callable[..., None]:
    """What is compiled in place of `forfeit`."""
    chosen = _GAMES[tuple(table.fields)].forfeit

    def end(table: Any, rules: Any) -> None:
        chosen(table, rules)

    return end


# --- what can be read from the fields that every record has ---


@njit
def is_settled(table: np.record) -> bool:
    """Whether the deal is over: nobody is to act."""
    return table.to_act < 0


@njit
def is_legal(table: np.record, action: int) -> bool:
    """Whether the seat to act may take an action; any integer may be asked about."""
    if action < 0 or action >= WORD * len(table.legal):
        return False
    return (table.legal[action // WORD] >> np.uint64(action % WORD)) & np.uint64(1) != EMPTY


@njit
def num_legal(table: np.record) -> int:
    """Number of legal actions."""
    number = 0
    for word in range(len(table.legal)):
        number += count_cards(table.legal[word])
    return number


@njit
def is_forced(table: np.record) -> bool:
    """Whether the seat to act has a single legal action."""
    return num_legal(table) == 1


@njit
def only_action(table: np.record) -> int:
    """The legal action, when there is just one."""
    word = 0
    while table.legal[word] == EMPTY:
        word += 1
    return WORD * word + lowest_card(table.legal[word])
