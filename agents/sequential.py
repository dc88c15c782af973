"""Playing until it is clear: a sequential test of block means, in units of their own deviation.

The hypotheses are about t = mean / deviation of a block, so that they mean the same whatever the stakes, and so that
the number of blocks it takes is known beforehand. The test is the generalised sequential probability ratio test for a
normal mean with unknown variance, as fishtest uses it for chess engines (Van den Bergh, *Comments on normalized Elo*):
both hypotheses are given the deviation that suits them best.

Everything is a function of the number of blocks, their sum and their sum of squares, all of which can be added to.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.verdicts import ABOVE, BELOW, NOT_SEPARATED

UNDECIDED = "undecided"
EFFECT = 0.05  # about 0.02 antes between related policies at four seats
ALPHA = BETA = 0.05

Statistic = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Look:
    """What a test says after some blocks.

    Attributes:
        state: `ABOVE`, `BELOW`, `NOT_SEPARATED` or `UNDECIDED`.
        above: log-likelihood ratio of t = effect against t = 0.
        below: that of t = -effect against t = 0.
    """

    state: str
    above: float
    below: float


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """Two one-sided tests of a cell at once: t <= 0 against t >= effect, and its mirror image.

    Attributes:
        effect: smallest |t| that is to be found.
        alpha: probability that any of the cells is called above or below where all means are 0, in Wald's approximation
            and for many blocks; were the deviation known, it would surely stay below alpha / (1 - beta).
        beta: probability that a cell with |t| = effect is called not separated, in the same approximation.
        cells: number of cells tested together; each of their 2 tests a cell gets an equal share of alpha (Bonferroni).
    """

    effect: float = EFFECT
    alpha: float = ALPHA
    beta: float = BETA
    cells: int = 1

    def __post_init__(self) -> None:
        """Refuse numbers that make no test.

        Raises:
            ValueError: an effect that is not positive, an error rate outside (0, 1/2), or no cells.
        """
        if not self.effect > 0:
            raise ValueError(f"effect is {self.effect}; it must be above 0")
        for name in ("alpha", "beta"):
            if not 0 < getattr(self, name) < 0.5:
                raise ValueError(f"{name} is {getattr(self, name)}; it must lie between 0 and 1/2")
        if self.cells < 1:
            raise ValueError(f"cells is {self.cells}; at least 1 is needed")

    @property
    def bounds(self) -> tuple[float, float]:
        """Where a test ends (Wald, 1945): at or below the first it accepts t = 0, at or above the second t = effect."""
        alpha = self.alpha / (2 * self.cells)
        return float(np.log(self.beta / (1 - alpha))), float(np.log((1 - self.beta) / alpha))

    def look(self, blocks: int, total: float, squares: float) -> Look:
        """What the blocks so far say.

        Args:
            blocks: their number.
            total: sum of the block means.
            squares: sum of their squares.

        Raises:
            ValueError: numbers that no blocks have.
        """
        if blocks < 0 or squares < 0 or total**2 > blocks * squares * (1 + 1e-9):
            raise ValueError(f"no {blocks} numbers have sum {total} and sum of squares {squares}")
        above, below = self.statistics(blocks, total, squares)
        low, high = self.bounds
        return Look(_state(float(above), float(below), low, high), float(above), float(below))

    def statistics(self, blocks: ArrayLike, total: ArrayLike, squares: ArrayLike) -> tuple[Statistic, Statistic]:
        """Both log-likelihood ratios, for arrays of any one shape."""
        shape = np.broadcast_arrays(blocks, total, squares)
        return (
            log_likelihood_ratio(*shape, null=0.0, alternative=self.effect),
            log_likelihood_ratio(*shape, null=0.0, alternative=-self.effect),
        )


def log_likelihood_ratio(
    blocks: ArrayLike, total: ArrayLike, squares: ArrayLike, *, null: float, alternative: float
) -> Statistic:
    """Log of the ratio of the largest likelihoods of normal blocks with mean / deviation = alternative, and = null.

    With n blocks of sum B and sum of squares A, mean t / v and deviation 1 / v, the log-likelihood is

        n log v - A v^2 / 2 + t B v - n t^2 / 2,

    and largest at v = (t B + sqrt(t^2 B^2 + 4 n A)) / (2 A). Where the blocks are near their mean it is about
    n / 2 log((1 + (m - null)^2) / (1 + (m - alternative)^2)), m being their mean over their deviation. Blocks that are
    all 0 say t = 0 as much as any with sum 0.

    Args:
        blocks: numbers of blocks n, of any shape.
        total: their sums B.
        squares: their sums of squares A.
        null: t under the null hypothesis.
        alternative: t under the other one.
    """
    number, added, squared = (np.asarray(given, np.float64) for given in (blocks, total, squares))
    likelihoods = [_largest_likelihood(number, added, squared, t) for t in (alternative, null)]
    return likelihoods[0] - likelihoods[1]


def _largest_likelihood(blocks: Statistic, total: Statistic, squares: Statistic, t: float) -> Statistic:
    """The largest log-likelihood over all deviations, up to a term that t has no part in.

    With r = B / sqrt(n A), from -1 to 1, and v = x sqrt(n / A), x is (t r + sqrt(t^2 r^2 + 4)) / 2 and units cancel.
    """
    scale = np.sqrt(blocks * squares)
    r = np.clip(np.divide(total, scale, out=np.zeros_like(scale), where=scale > 0), -1, 1)
    x = (t * r + np.sqrt(t**2 * r**2 + 4)) / 2
    found: Statistic = blocks * (np.log(x) - x**2 / 2 + t * r * x - t**2 / 2)
    return found


def _state(above: float, below: float, low: float, high: float) -> str:
    """What both tests say together."""
    if above >= high:
        return ABOVE
    if below >= high:
        return BELOW
    return NOT_SEPARATED if max(above, below) <= low else UNDECIDED
