"""The decisions of a rollout in random order, in minibatches that are the same for any number of ranks.

Decisions of all ranks are numbered as one process that played all deals would have numbered them: table size by table
size, step by step, and within a step deal by deal. A minibatch is drawn from these numbers by every rank alike, and
each learns from those of its decisions that are in it.

Shapes: D decisions of this rank.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.ranks import Ranks

_NOT_MINE = -1


@dataclass(frozen=True, slots=True)
class Numbering:
    """Where the decisions of this rank stand among those of all.

    Attributes:
        mine: [D] int64, the number of each.
        total: decisions of all ranks.
    """

    mine: NDArray[np.int64]
    total: int

    @staticmethod
    def of(steps: NDArray[np.int64], ranks: Ranks) -> "Numbering":
        """Number decisions.

        Args:
            steps: [D] the step of each, rising; ranks have played their deals in the order of the ranks.
            ranks: who else has some.
        """
        counts = _together(ranks.gather(np.bincount(steps)))
        before = np.cumsum(counts) - counts.ravel(order="C")
        first = before.reshape(counts.shape)[:, ranks.index]
        places = np.arange(len(steps)) - np.searchsorted(steps, steps)
        return Numbering(first[steps] + places, int(counts.sum()))

    def minibatches(self, size: int, order: np.random.Generator) -> Iterator[tuple[NDArray[np.int64], int]]:
        """Every decision once, in random order, in parts of nearly equal length.

        Args:
            size: decisions of all ranks in a part, at most.
            order: decides the order; alike on all ranks.

        Yields:
            Those rows of this rank that are in the part, and the number of decisions of all ranks in it.
        """
        row_of = np.full(self.total, _NOT_MINE, np.int64)
        row_of[self.mine] = np.arange(len(self.mine))
        if not self.total:
            return
        for part in np.array_split(order.permutation(self.total), -(-self.total // size)):
            rows = row_of[part]
            yield rows[rows != _NOT_MINE], len(part)


def _together(counts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """[steps, ranks] decisions in each step of each rank."""
    steps = max(len(count) for count in counts)  # 0 where nobody has any
    return np.stack([np.pad(count, (0, steps - len(count))) for count in counts], axis=1)
