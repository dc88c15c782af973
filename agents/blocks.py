"""Blocks: what a line-up earned when one deal, or one session of deals, was played from every seat.

A line-up gives each of its P places a policy; there are as many places as sides, which in a game without partners are
the N seats. A block plays the same pack P times: in rotation r the policy of place p has side (p + r) mod P, so that
each place has had each side once.

In a game of one side, for one seat, nobody meets anybody. There a line-up has two places all the same: a block is one
pack that each place plays by itself, in a single rotation, and a place has won what it made more than the other one.

Shapes: D blocks, N seats, P places, R rotations (P of them, or 1 for one seat); the axes of results are block, rotation
and place.
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
    """How deals or sessions ended, one row for each of T tables; the columns of T x N are by seat.

    Attributes:
        deal_ids: [T] int64, the deal or session played.
        returns: [T, N] int64, won or lost.
        carry: [T] int64, what stays for the next deal.
        counts: [T, N] int32 by name, as the blocks of the game have them.
    """

    deal_ids: NDArray[np.int64]
    returns: NDArray[np.int64]
    carry: NDArray[np.int64]
    counts: Mapping[str, NDArray[np.int32]]


@dataclass(frozen=True, slots=True)
class Blocks:
    """D blocks of one line-up. Games add their counts [D, R, P] int32: of deals, or of cards, over a place's seats.

    Attributes:
        rules: the rules played by.
        session: deals in a row; 1 for single deals.
        deal_ids: [D] int64, the deal or session of each block.
        returns: [D, R, P] int64, won or lost in each rotation by a seat of each place.
        carry: [D, R] int64, what stays for the next deal.
    """

    rules: GameRules
    session: int
    deal_ids: NDArray[np.int64]
    returns: NDArray[np.int64]
    carry: NDArray[np.int64]

    @staticmethod
    def of_rows(rules: GameRules, session: int, rows: Rows) -> "Blocks":
        """Blocks of rows [D * P] in which the rotations of each block, or its places, follow each other."""
        places, rotations = places_of(rules), rotations_of(rules)
        returns = rows.returns[:, : sides_of(rules)]  # partners, as many seats on as there are sides, have the same
        by_side = {name: _by_side(values, sides_of(rules)) for name, values in rows.counts.items()}
        return part_of(rules).blocks(
            rules=rules,
            session=session,
            deal_ids=rows.deal_ids[::places],
            returns=_by_place(returns, places),
            carry=rows.carry.reshape(-1, places)[:, :rotations],
            **{name: _by_place(values, places) for name, values in by_side.items()},
        )

    def __len__(self) -> int:
        """D."""
        return len(self.deal_ids)

    @property
    def num_places(self) -> int:
        """P."""
        return places_of(self.rules)

    @property
    def num_rotations(self) -> int:
        """R."""
        return rotations_of(self.rules)

    @property
    def earned(self) -> NDArray[np.float64]:
        """[D, R, P] float64: units a deal by rotation and place; a pot left over is everybody's in equal shares."""
        earned: NDArray[np.float64] = self._shares() / (self.whole_unit / self.num_rotations)
        return earned

    @property
    def whole_unit(self) -> int:
        """What `place_totals` counts for one unit (an ante, a point) a deal."""
        return self.num_rotations**2 * game_of(self.rules).unit_of(self.rules) * self.session

    @property
    def place_totals(self) -> NDArray[np.int64]:
        """[D, P] int64: results of each place in whole numbers, so that sums of them are exact."""
        totals: NDArray[np.int64] = self._shares().sum(axis=1)
        return totals

    @property
    def place_means(self) -> NDArray[np.float64]:
        """[D, P] float64: units a deal of each place."""
        means: NDArray[np.float64] = self.place_totals / self.whole_unit
        return means

    @property
    def block_means(self) -> NDArray[np.float64]:
        """[D] float64: units a deal of the first place, the focal policy's."""
        return self.place_means[:, 0]

    @property
    def position_means(self) -> NDArray[np.float64]:
        """[D, R] float64: units a deal of the first place by position, the eldest first and the dealer last.

        In a session the dealer goes round, so that a position is where the seat sat in the first deal.
        """
        return np.take_along_axis(self.earned[:, :, 0], self.rotations_by_position(), axis=1)

    def rotations_by_position(self) -> NDArray[np.int64]:
        """[D, R] int64: the rotation in which the first place sits in each position, the eldest first."""
        size = self.num_rotations
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
        """[D, R, P]: the returns or one of the counts, by name (`by_place`)."""
        found: NDArray[Any] = getattr(self, name)
        return found

    @property
    def deals_a_place(self) -> int:
        """Deals that each place plays in a block."""
        return self.num_rotations * self.session

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
        """[D, R, P] int64: results times the number of rotations; for one seat, those beyond the other place's."""
        if sides_of(self.rules) == 1:
            return self.returns - self.returns[:, :, ::-1]
        return self.num_rotations * self.returns + self.carry[:, :, None]


def places_of(rules: GameRules) -> int:
    """P, the places of a line-up, which are also the tables of a block: the sides, or two where there is one side."""
    return max(sides_of(rules), 2)


def rotations_of(rules: GameRules) -> int:
    """R: each place has each side once."""
    return sides_of(rules)


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
    """[P, P] int64: the side that each place has, by rotation."""
    rotation, place = np.indices((size, size))
    sides: NDArray[np.int64] = (place + rotation) % size
    return sides


def _by_place(values: NDArray[Any], places: int) -> NDArray[Any]:
    """[D, R, P]: numbers [D * P, S] by side, of rows in which the rotations of each block follow each other."""
    if values.shape[1] == 1:  # one side: each row is a place's own
        return values.reshape(-1, 1, places)
    return np.take_along_axis(values.reshape(-1, places, places), sides_of_places(places)[None], axis=2)


def _by_side(values: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """[T, S] int32: counts [T, N] added up over the seats of each of S sides."""
    sums: NDArray[np.int32] = values.reshape(len(values), -1, size).sum(axis=1, dtype=COUNT)
    return sums


def same_blocks(one: Blocks, other: Blocks) -> bool:
    """Whether two results hold the same blocks with the same numbers, in the same order."""
    theirs = other.columns()
    return all(np.array_equal(values, theirs[name]) for name, values in one.columns().items())


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
