"""The family of games: what policies, trainer and arena may ask of any of them, and where each is found.

A game is a package with the same file names as `bourre_env.bourre`. Its rules are a frozen value that names the game,
so whoever holds rules finds everything else here.

Shapes: B tables, N seats, D decisions, W words of an observation, A actions, L words of a packed legal set, C cards of
the pack, k chosen tables.
"""

import contextlib
import dataclasses
import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bourre_env.bits import Layout
from bourre_env.errors import RulesError

FIRST = "bourre"
"""The game that is meant where none is named; files from before there were others name none."""

MOST_SEATS = 8
"""No table of any game has more."""


class GameRules(Protocol):
    """The rules of one table: frozen, hashable, a dataclass whose fields are the options.

    Attributes:
        game: name of the game.
    """

    game: ClassVar[str]

    def __hash__(self) -> int:
        """Equal rules have equal hashes."""

    @property
    def num_players(self) -> int:
        """N."""

    @property
    def num_actions(self) -> int:
        """A."""

    @property
    def hand_size(self) -> int:
        """Cards a seat plays, which are the tricks of a deal."""

    @property
    def pack(self) -> tuple[int, ...]:
        """Real ids of the cards, ascending: what `shuffled_decks` shuffles."""

    @property
    def sides(self) -> tuple[tuple[int, ...], ...]:
        """Seats that win and lose together. Partners sit across from each other: of S sides seat s is on side s mod S.

        In a game without partners every seat is a side.
        """

    @property
    def max_decisions(self) -> int:
        """No deal has more decisions than this."""

    @property
    def fingerprint(self) -> str:
        """Hex digits that differ between any two rule sets."""


class GameTables(Protocol):
    """B tables under the same rules, stepped at once; `bourre_env.Tables` explains the methods."""

    rules: Any
    num_tables: int
    layout: Layout

    @property
    def to_act(self) -> NDArray[np.int8]:
        """[B] int8: the seat to act; -1 in settled rows."""

    @property
    def settled(self) -> NDArray[np.bool_]:
        """[B] bool: whether the deal is over."""

    @property
    def returns(self) -> NDArray[np.int32]:
        """[B, N] int32: what each seat has won or lost in this deal; partners alike."""

    @property
    def dealer(self) -> NDArray[np.int8]:
        """[B] int8: the dealer's seat."""

    def observe_packed(self, out: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
        """[B, W] uint64: what the seat to act may know."""

    def legal_packed(self, out: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
        """[B, L] uint64: bit a of each row's bits is set when action a is legal; L is `legal_words(num_actions)`."""

    def hidden_packed(self) -> NDArray[np.uint64]:
        """[B, N or more] uint64: every seat's hand, the seat to act first and the others clockwise."""

    def step(self, actions: ArrayLike, play_forced: bool = False, *, out: Any = None, parallel: bool = False) -> None:
        """Take one decision at every table that is not settled."""

    def buffers(self) -> Any:
        """Arrays for `step(out=...)`, with `legal` and `observation` among them."""

    def play_forced(self) -> None:
        """Play decisions with a single legal action until every table waits at a choice or is settled."""

    def forfeit(self, rows: ArrayLike) -> None:
        """End the deal at some tables: the seat to act forfeits."""

    def take(self, rows: ArrayLike) -> Self:
        """Copies of some tables."""

    def action_text(self, row: int, action: int) -> str:
        """An action of a table in words, of real cards."""


@dataclass(frozen=True, slots=True)
class Game:
    """A game of the family.

    Attributes:
        name: what rules, files and commands call it.
        title: what people call it.
        unit: what results are counted in, in the plural.
        presets: names of its house rules; the first are the usual ones.
        table_sizes: numbers of seats it is played by; `usual_size` is among them.
        usual_size: seats where nothing else is said.
        preset: makes rules from a preset's name and changed fields.
        from_plain: makes rules from their JSON form and the fingerprint they had.
        tables: makes B tables at which no deal has begun, from rules, B, and the seats shown (None: as many as there
            are).
        joined: copies of the tables of several.
        layout: the observation under some rules, by seats shown.
        pad: [D, W] observations to some with room for another number of seats.
        unit_of: what a unit is in returns, under some rules.
    """

    name: str
    title: str
    unit: str
    presets: tuple[str, ...]
    table_sizes: tuple[int, ...]
    usual_size: int
    preset: Callable[..., GameRules]
    from_plain: Callable[[Mapping[str, Any], str], GameRules]
    tables: Callable[[Any, int, int | None], GameTables]
    joined: Callable[[Sequence[Any]], GameTables]
    layout: Callable[[Any, int | None], Layout]
    pad: Callable[[NDArray[np.uint64], Any, int], NDArray[np.uint64]]
    unit_of: Callable[[Any], int]


_MODULES = {
    FIRST: "bourre_env.bourre.game",
    "euchre": "bourre_env.euchre.game",
    "pinochle": "bourre_env.pinochle.game",
    "bureau": "bourre_env.bureau.game",
}
"""Where each game's `GAME` is; loaded when it is first asked for."""

GAMES = tuple(_MODULES)
"""Names of the games."""


@functools.cache
def game_named(name: str) -> Game:
    """The game of that name.

    Raises:
        RulesError: there is none.
    """
    if name not in _MODULES:
        raise RulesError(f"no game is called {name!r}; choose {', '.join(GAMES)}")
    game: Game = importlib.import_module(_MODULES[name]).GAME
    return game


def game_of(rules: GameRules) -> Game:
    """The game that some rules are of."""
    return game_named(rules.game)


def sides_of(rules: GameRules) -> int:
    """S, the number of sides: seat s plays for side s mod S."""
    return len(rules.sides)


def rules_text(rules: GameRules) -> str:
    """Rules in words: the preset that they are, or else their fingerprint."""
    game = game_of(rules)
    for name in game.presets:
        with contextlib.suppress(RulesError):  # not every preset is for every table size
            if game.preset(name, num_players=rules.num_players) == rules:
                return name
    return rules.fingerprint


def rules_difference(one: GameRules, other: GameRules) -> str:
    """The options in which two rule sets of a game differ, in words, such as "card_ids relative and printed"."""
    here, there = plain_rules(one), plain_rules(other)
    return ", ".join(f"{key} {here[key]} and {there[key]}" for key in here if here[key] != there[key])


def plain_rules(rules: GameRules) -> dict[str, Any]:
    """The options of some rules by name, as JSON can hold them."""
    options: Any = rules
    return dataclasses.asdict(options)
