"""What playing and measuring need of one game beyond `bourre_env.family`, and where it is found.

Each game has a package of its own here, `agents.NAME`, whose module `game` has a value `PART` with these members. What
only training needs is in its module `training` (`agents.trainings`), which loads torch; nothing here does.

Shapes: T tables, D blocks, N seats, W words of an observation, K control variates.
"""

import functools
import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bourre_env.family import GAMES, GameRules

if TYPE_CHECKING:
    from agents.blocks import Blocks


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of deals, or another mean over them, that tells how an entrant plays.

    Attributes:
        name: its key in summaries.
        count: the count of blocks it is made of.
        heading: of its column.
        title: of its chart.
        percent: whether it is a share; else it is so much a deal.
    """

    name: str
    count: str
    heading: str
    title: str
    percent: bool = True


@dataclass(frozen=True, slots=True)
class Panel:
    """One chart to draw.

    Attributes:
        title: above it.
        y_label: at its side.
        tags: names in the legend by tag.
        scale: what values are multiplied with, such as 100 for percent.
    """

    title: str
    y_label: str
    tags: Mapping[str, str]
    scale: float = 1.0


class Part(Protocol):
    """What one game adds.

    Attributes:
        blocks: the class of its blocks, whose own fields are the counts of each place.
        rates: what cross tables show besides results; the last one also by position.
        baselines: where the policies are that play it, by the names they share with those of other games.
        own_keys: dotted names of settings that mean something in this game alone.
        tags: what is logged of it alone in training, with its meaning.
        histograms: the same of histograms.
        panels: charts of how a network plays, for the report of a training run.
        healthy_play: what to look for in them.
        has_report: whether tournaments of it can be told as a page.
    """

    blocks: "type[Blocks]"
    rates: tuple[Rate, ...]
    baselines: Mapping[str, str]
    own_keys: tuple[str, ...]
    tags: Mapping[str, str]
    histograms: Mapping[str, str]
    panels: tuple[Panel, ...]
    healthy_play: str
    has_report: bool

    def begin(
        self, tables: Any, decks: NDArray[np.int8], dealer: NDArray[np.int64], *, buy_in: int | None, number: int
    ) -> None:
        """Deal to T tables.

        Args:
            tables: of this game.
            decks: [T, C] packs.
            dealer: [T] seats.
            buy_in: units each seat begins with, where that means something.
            number: of the deal in its session, from 0; later ones go on from what the last one left.

        Raises:
            ValueError: a buy-in that means nothing.
        """

    def check_session(self, session: int, rules: GameRules) -> None:
        """Refuse sessions of so many deals that a mean says nothing about.

        Raises:
            ValueError: says why.
        """

    def left(self, tables: Any) -> NDArray[np.int64]:
        """[T] int64: what settled tables leave for the next deal, which is everybody's in equal shares."""

    def counted(self, tables: Any) -> dict[str, NDArray[Any]]:
        """[T, N] numbers or flags of settled tables by the names of the blocks' counts."""

    def luck(self, blocks: "Blocks", seed: int) -> NDArray[np.float64] | None:
        """[D, K] control variates of mean 0 for the first place of single deals; None where none are known."""

    def action_text(self, rules: Any, row: NDArray[np.uint64], action: int) -> str:
        """An action in words, for someone who sees the observation `row` [W] alone."""

    def table_text(self, tables: Any) -> str:
        """The first of some tables as text, every card shown."""

    def legal_texts(self, rules: Any, row: NDArray[np.uint64], legal: int) -> str:
        """Legal actions in words; bit a of `legal` is set when action a is one."""


@functools.cache
def part_named(game: str) -> Part:
    """What a game of the family adds."""
    part: Part = importlib.import_module(f"{__package__}.{game}.game").PART
    return part


def part_of(rules: GameRules) -> Part:
    """What the game of some rules adds."""
    return part_named(rules.game)


def keys_of_others(game: str) -> tuple[str, ...]:
    """Settings that mean something in other games alone."""
    mine = part_named(game).own_keys
    return tuple(key for other in GAMES for key in part_named(other).own_keys if key not in mine)
