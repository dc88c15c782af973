"""When a line-up has been played often enough.

A rule looks at a line-up's blocks at fixed numbers of them, and at nothing else, so that what is played does not depend
on the number of workers or on interruptions.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from agents.sequential import UNDECIDED, Look, SequentialTest
from agents.statistics import half_width

BLOCKS_IN_A_TASK = 512  # fixed, so that no result can depend on the number of workers
GROWTH = 4  # an undecided line-up grows by a quarter of its blocks, at least by one task


class StoppingRule(Protocol):
    """Says how many blocks of a line-up are wanted."""

    @property
    def most(self) -> int:
        """Blocks that no line-up goes beyond."""

    def first(self) -> int:
        """Blocks to play before the first look."""

    def next(self, means: NDArray[np.float64]) -> int:
        """Blocks wanted in all after a look at D blocks [D, E], units a deal of each entrant; D when that is enough."""


@dataclass(frozen=True, slots=True)
class FixedBlocks:
    """So many blocks, whatever they show."""

    most: int

    def first(self) -> int:
        """All."""
        return self.most

    def next(self, means: NDArray[np.float64]) -> int:
        """No more."""
        return len(means)


@dataclass(frozen=True, slots=True)
class Precision:
    """Until the 95 % t interval of every entrant reaches no further than so many units (Chow and Robbins, 1965).

    Attributes:
        reach: half the width of an interval.
        most: blocks at which it ends anyway.
    """

    reach: float
    most: int

    def first(self) -> int:
        """Enough for a first idea of the spread."""
        return min(2 * BLOCKS_IN_A_TASK, self.most)

    def next(self, means: NDArray[np.float64]) -> int:
        """As many as the spread seems to ask for, but no leap beyond twice the blocks there are."""
        done = len(means)
        widest = max(half_width(column) for column in means.T)
        if widest <= self.reach:
            return done
        needed = int(done * min(min(widest / self.reach, 2.0) ** 2, 2.0))  # cut first: a square may overflow
        return min(whole_tasks(max(needed, done + 1)), self.most)


@dataclass(frozen=True, slots=True)
class Separated:
    """Until a sequential test has told the focal entrant of a cell from the field, or found them alike.

    Attributes:
        test: the test, which knows how many cells it is for.
        most: blocks at which an undecided cell ends.
    """

    test: SequentialTest
    most: int

    def first(self) -> int:
        """One task."""
        return min(BLOCKS_IN_A_TASK, self.most)

    def next(self, means: NDArray[np.float64]) -> int:
        """A quarter more blocks, as long as the test is undecided."""
        done = len(means)
        return done if self.look(means).state != UNDECIDED else more_blocks(done, self.most)

    def outcome(self, means: NDArray[np.float64]) -> Look:
        """The look that decided, or else the last one, of D blocks [D, 2]; more may have been played since."""
        looked_at = min(self.first(), len(means))
        while (look := self.look(means[:looked_at])).state == UNDECIDED and looked_at < len(means):
            looked_at = min(more_blocks(looked_at, self.most), len(means))
            if looked_at >= self.most:
                return self.look(means[:looked_at])
        return look

    def look(self, means: NDArray[np.float64]) -> Look:
        """What the test says of D blocks [D, 2], the focal entrant's first."""
        focal = means[:, 0]
        return self.test.look(len(focal), float(focal.sum()), float((focal**2).sum()))


def more_blocks(done: int, most: int) -> int:
    """The next look of a line-up that is undecided after `done` blocks."""
    return min(whole_tasks(done + max(done // GROWTH, 1)), most)


def whole_tasks(blocks: int) -> int:
    """A number of blocks rounded up to whole tasks."""
    return -(-blocks // BLOCKS_IN_A_TASK) * BLOCKS_IN_A_TASK
