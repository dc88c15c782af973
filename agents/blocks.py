"""Blocks: what a line-up earned when one deal, or one session of deals, was played from every seat.

A line-up gives each of its N places a policy. A block plays the same pack N times: in rotation r the policy of place p
sits in seat (p + r) mod N, so that each place has sat in each seat once.

Shapes: D blocks, N seats; the axes of results are block, rotation and place.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.bourre.rules import Rules

COUNT = np.int32
LONGEST_SESSION = 1000  # deals; every count of a session fits `COUNT`


@dataclass(frozen=True, slots=True)
class Rows:
    """How deals or sessions ended, one row for each of R tables; the columns of R x N are by seat.

    Attributes:
        deal_ids: [R] int64, the deal or session played.
        returns: [R, N] int64, chips won or lost.
        carry: [R] int64, chips that stay for the next pot.
        passed: [R, N] int32, deals the seat gave up.
        bourre: [R, N] int32, deals it played without taking a trick.
        took_pot: [R, N] int32, deals in which it took the pot, alone or as one of several who divided it.
        forfeited: [R, N] int32, deals it forfeited (7.2).
        drawn: [R, N] int32, cards it exchanged.
        trumps: [R, N] int32, trumps among the cards it was first dealt, over all deals.
    """

    deal_ids: NDArray[np.int64]
    returns: NDArray[np.int64]
    carry: NDArray[np.int64]
    passed: NDArray[np.int32]
    bourre: NDArray[np.int32]
    took_pot: NDArray[np.int32]
    forfeited: NDArray[np.int32]
    drawn: NDArray[np.int32]
    trumps: NDArray[np.int32]


COLUMNS = tuple(field.name for field in fields(Rows))
BY_SEAT = tuple(name for name in COLUMNS if name not in ("deal_ids", "carry"))
COUNTS = tuple(name for name in BY_SEAT if name != "returns")


@dataclass(frozen=True, slots=True)
class Blocks:
    """D blocks of one line-up.

    Attributes:
        rules: the rules played by.
        session: deals in a row; 1 for single deals.
        deal_ids: [D] int64, the deal or session of each block.
        returns: [D, N, N] int64, chips won or lost in each rotation by the policy of each place.
        carry: [D, N] int64, chips that stay for the next pot.
        passed: [D, N, N] int32; this and what follows are counts of deals, or of cards, as in `Rows`.
        bourre: [D, N, N] int32.
        took_pot: [D, N, N] int32.
        forfeited: [D, N, N] int32.
        drawn: [D, N, N] int32.
        trumps: [D, N, N] int32.
    """

    rules: Rules
    session: int
    deal_ids: NDArray[np.int64]
    returns: NDArray[np.int64]
    carry: NDArray[np.int64]
    passed: NDArray[np.int32]
    bourre: NDArray[np.int32]
    took_pot: NDArray[np.int32]
    forfeited: NDArray[np.int32]
    drawn: NDArray[np.int32]
    trumps: NDArray[np.int32]

    @classmethod
    def of_rows(cls, rules: Rules, session: int, rows: Rows) -> "Blocks":
        """Blocks of rows [D * N] in which the rotations of each block follow each other."""
        size = rules.num_players
        places = seats_of_places(size)
        blocks = {name: getattr(rows, name).reshape(-1, size, size) for name in BY_SEAT}
        by_place = {name: np.take_along_axis(values, places[None], axis=2) for name, values in blocks.items()}
        carry = rows.carry.reshape(-1, size)
        return cls(rules=rules, session=session, deal_ids=rows.deal_ids[::size], carry=carry, **by_place)

    def __len__(self) -> int:
        """D."""
        return len(self.deal_ids)

    @property
    def antes(self) -> NDArray[np.float64]:
        """[D, N, N] float64: antes a deal by rotation and place; the pot left over is everybody's in equal shares."""
        antes: NDArray[np.float64] = self._shares() / (self.chips_in_an_ante / self.rules.num_players)
        return antes

    @property
    def chips_in_an_ante(self) -> int:
        """What `place_totals` counts for one ante a deal."""
        return self.rules.num_players**2 * self.rules.ante * self.session

    @property
    def place_totals(self) -> NDArray[np.int64]:
        """[D, N] int64: results of each place in whole numbers, so that sums of them are exact."""
        totals: NDArray[np.int64] = self._shares().sum(axis=1)
        return totals

    @property
    def place_means(self) -> NDArray[np.float64]:
        """[D, N] float64: antes a deal of each place."""
        means: NDArray[np.float64] = self.place_totals / self.chips_in_an_ante
        return means

    @property
    def block_means(self) -> NDArray[np.float64]:
        """[D] float64: antes a deal of the first place, the focal policy's."""
        return self.place_means[:, 0]

    @property
    def position_means(self) -> NDArray[np.float64]:
        """[D, N] float64: antes a deal of the first place by position, the eldest first and the dealer last.

        In a session the dealer goes round, so that a position is where the seat sat in the first deal.
        """
        return np.take_along_axis(self.antes[:, :, 0], self.rotations_by_position(), axis=1)

    def rotations_by_position(self) -> NDArray[np.int64]:
        """[D, N] int64: the rotation in which the first place sits in each position, the eldest first."""
        size = self.rules.num_players
        rotations: NDArray[np.int64] = (self.deal_ids[:, None] + 1 + np.arange(size)) % size
        return rotations

    def totals(self, name: str) -> NDArray[np.int64]:
        """[D] int64: what the first place has of a count in all rotations.

        Args:
            name: one of `COUNTS`.
        """
        counted: NDArray[np.int64] = getattr(self, name)[:, :, 0].sum(axis=1, dtype=np.int64)
        return counted

    @property
    def deals_a_place(self) -> int:
        """Deals that each place plays in a block."""
        return self.rules.num_players * self.session

    def take(self, chosen: NDArray[Any]) -> "Blocks":
        """Some of the blocks, in the order given.

        Args:
            chosen: indices or flags of the blocks.
        """
        columns = {name: getattr(self, name)[chosen] for name in COLUMNS}
        return Blocks(rules=self.rules, session=self.session, **columns)

    def _shares(self) -> NDArray[np.int64]:
        """[D, N, N] int64: results in chips times the number of players."""
        return self.rules.num_players * self.returns + self.carry[:, :, None]


def seats_of_places(num_players: int) -> NDArray[np.int64]:
    """[N, N] int64: the seat in which each place sits, by rotation."""
    rotation, place = np.indices((num_players, num_players))
    seats: NDArray[np.int64] = (place + rotation) % num_players
    return seats


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
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in COLUMNS}
    return Blocks(rules=parts[0].rules, session=parts[0].session, **columns)
