"""Blocks: what a line-up earned when one deal, or one session of deals, was played from every seat.

A line-up gives each of its S places a policy; there are as many places as sides, which in a game without partners are
the N seats. A block plays the same pack S times: in rotation r the policy of place p has side (p + r) mod S, so that
each place has had each side once.

Shapes: D blocks, N seats, S sides; the axes of results are block, rotation and place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from agents.games import part_of
from bourre_env.family import GameRules, game_of, sides_of

COUNT = np.int32
LONGEST_SESSION = 1000  # deals; every count of a session fits `COUNT`


@dataclass(frozen=True, slots=True)
class Rows:
    """How deals or sessions ended, one row for each of R tables; the columns of R x N are by seat.

    Attributes:
        deal_ids: [R] int64, the deal or session played.
        returns: [R, N] int64, won or lost.
        carry: [R] int64, what stays for the next deal.
        counts: [R, N] int32 by name, as the blocks of the game have them.
    """

    deal_ids: NDArray[np.int64]
    returns: NDArray[np.int64]
    carry: NDArray[np.int64]
    counts: Mapping[str, NDArray[np.int32]]


@dataclass(frozen=True, slots=True)
class Blocks:
    """D blocks of one line-up. Games add their counts [D, S, S] int32: of deals, or of cards, over a place's seats.

    Attributes:
        rules: the rules played by.
        session: deals in a row; 1 for single deals.
        deal_ids: [D] int64, the deal or session of each block.
        returns: [D, S, S] int64, won or lost in each rotation by a seat of each place.
        carry: [D, S] int64, what stays for the next deal.
    """

    rules: GameRules
    session: int
    deal_ids: NDArray[np.int64]
    returns: NDArray[np.int64]
    carry: NDArray[np.int64]

    @staticmethod
    def of_rows(rules: GameRules, session: int, rows: Rows) -> "Blocks":
        """Blocks of rows [D * S] in which the rotations of each block follow each other."""
        size, seats = sides_of(rules), rules.num_players
        sides = sides_of_places(size)[None]
        returns = rows.returns.reshape(-1, size, seats)[:, :, :size]  # partners, S seats on, have the same
        by_side = {name: _by_side(values, size).reshape(-1, size, size) for name, values in rows.counts.items()}
        counts = {name: np.take_along_axis(values, sides, axis=2) for name, values in by_side.items()}
        return part_of(rules).blocks(
            rules=rules,
            session=session,
            deal_ids=rows.deal_ids[::size],
            returns=np.take_along_axis(returns, sides, axis=2),
            carry=rows.carry.reshape(-1, size),
            **counts,
        )

    def __len__(self) -> int:
        """D."""
        return len(self.deal_ids)

    @property
    def num_places(self) -> int:
        """S."""
        return sides_of(self.rules)

    @property
    def antes(self) -> NDArray[np.float64]:
        """[D, S, S] float64: antes a deal by rotation and place; the pot left over is everybody's in equal shares."""
        antes: NDArray[np.float64] = self._shares() / (self.chips_in_an_ante / self.num_places)
        return antes

    @property
    def chips_in_an_ante(self) -> int:
        """What `place_totals` counts for one ante a deal."""
        return self.num_places**2 * game_of(self.rules).unit_of(self.rules) * self.session

    @property
    def place_totals(self) -> NDArray[np.int64]:
        """[D, S] int64: results of each place in whole numbers, so that sums of them are exact."""
        totals: NDArray[np.int64] = self._shares().sum(axis=1)
        return totals

    @property
    def place_means(self) -> NDArray[np.float64]:
        """[D, S] float64: antes a deal of each place."""
        means: NDArray[np.float64] = self.place_totals / self.chips_in_an_ante
        return means

    @property
    def block_means(self) -> NDArray[np.float64]:
        """[D] float64: antes a deal of the first place, the focal policy's."""
        return self.place_means[:, 0]

    @property
    def position_means(self) -> NDArray[np.float64]:
        """[D, S] float64: antes a deal of the first place by position, the eldest first and the dealer last.

        In a session the dealer goes round, so that a position is where the seat sat in the first deal.
        """
        return np.take_along_axis(self.antes[:, :, 0], self.rotations_by_position(), axis=1)

    def rotations_by_position(self) -> NDArray[np.int64]:
        """[D, S] int64: the rotation in which the first place sits in each position, the eldest first."""
        size = self.num_places
        rotations: NDArray[np.int64] = (self.deal_ids[:, None] + 1 + np.arange(size)) % size
        return rotations

    def totals(self, name: str) -> NDArray[np.int64]:
        """[D] int64: what the first place has of a count in all rotations.

        Args:
            name: one of `counts_of(self.rules)`.
        """
        counted: NDArray[np.int64] = self.count(name)[:, :, 0].sum(axis=1, dtype=np.int64)
        return counted

    def count(self, name: str) -> NDArray[Any]:
        """[D, S, S]: the returns or one of the counts, by name (`by_place`)."""
        found: NDArray[Any] = getattr(self, name)
        return found

    @property
    def deals_a_place(self) -> int:
        """Deals that each place plays in a block."""
        return self.num_places * self.session

    def columns(self) -> dict[str, NDArray[Any]]:
        """Every array by name."""
        return {name: getattr(self, name) for name in columns_of(self.rules)}

    def take(self, chosen: NDArray[Any]) -> Self:
        """Some of the blocks, in the order given.

        Args:
            chosen: indices or flags of the blocks.
        """
        columns = {name: values[chosen] for name, values in self.columns().items()}
        return type(self)(rules=self.rules, session=self.session, **columns)

    def _shares(self) -> NDArray[np.int64]:
        """[D, S, S] int64: results times the number of places."""
        return self.num_places * self.returns + self.carry[:, :, None]


def columns_of(rules: GameRules) -> tuple[str, ...]:
    """Names of the arrays of a game's blocks."""
    names = [field.name for field in fields(part_of(rules).blocks)]
    return tuple(name for name in names if name not in ("rules", "session"))


def by_place(rules: GameRules) -> tuple[str, ...]:
    """Names of those that have an axis of places."""
    return tuple(name for name in columns_of(rules) if name not in ("deal_ids", "carry"))


def counts_of(rules: GameRules) -> tuple[str, ...]:
    """Names of a game's counts."""
    return tuple(name for name in by_place(rules) if name != "returns")


def sides_of_places(size: int) -> NDArray[np.int64]:
    """[S, S] int64: the side that each place has, by rotation."""
    rotation, place = np.indices((size, size))
    sides: NDArray[np.int64] = (place + rotation) % size
    return sides


def _by_side(values: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """[R, S] int32: counts [R, N] added up over the seats of each side."""
    sums: NDArray[np.int32] = values.reshape(len(values), -1, size).sum(axis=1, dtype=COUNT)
    return sums


def concatenated(parts: Sequence[Blocks]) -> Blocks:
    """The blocks of several results under the same rules, in the order given.

    Raises:
        ValueError: nothing to put together, or results of different rules or lengths of session.
    """
    if not parts:
        raise ValueError("there are no results to put together")
    for part in parts:
        if (part.rules, part.session) != (parts[0].rules, parts[0].session):
            raise ValueError(
                f"results of rules {parts[0].rules.fingerprint} in sessions of {parts[0].session} and of rules "
                f"{part.rules.fingerprint} in sessions of {part.session} cannot be mixed"
            )
    first = parts[0]
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in first.columns()}
    return type(first)(rules=first.rules, session=first.session, **columns)
