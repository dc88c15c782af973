"""Numbers for all entrants at once, with what the resampled deals say about each, and about each pair.

Shapes: E entrants, R draws.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scores:
    """One number an entrant.

    Attributes:
        names: E entrants, sorted.
        values: [E] float64, from all blocks.
        draws: [R, E] float64, the same from resampled deals.
        level: probability that an interval should cover the truth.
    """

    names: tuple[str, ...]
    values: Vector
    draws: NDArray[np.float64]
    level: float

    @property
    def low(self) -> Vector:
        """[E] lower ends of the percentile intervals, each by itself at the level."""
        return quantiles(self.draws, self.level)[0]

    @property
    def high(self) -> Vector:
        """[E] their upper ends."""
        return quantiles(self.draws, self.level)[1]

    @property
    def average(self) -> Vector:
        """[E] means over the draws; for a score that jumps, such as a stationary distribution, the steadier answer."""
        average: Vector = self.draws.mean(axis=0)
        return average

    @property
    def band(self) -> tuple[Vector, Vector]:
        """[E] lower and upper ends that at the level cover all entrants at once.

        The band is the value and so many standard errors as the largest studentised deviation of a draw stays within.
        """
        errors = self.draws.std(axis=0)
        deviations = np.abs(self.draws - self.values) / np.where(errors > 0, errors, 1)
        reach = float(np.quantile(deviations.max(axis=1), self.level)) * errors
        return self.values - reach, self.values + reach

    @property
    def ranking(self) -> tuple[int, ...]:
        """Indices of the entrants, best first; equals by name."""
        return tuple(sorted(range(len(self.names)), key=lambda entrant: (-self.values[entrant], entrant)))

    def plain(self) -> list[dict[str, str | float]]:
        """One record an entrant, best first, as JSON writes it."""
        columns = {"value": self.values, "low": self.low, "high": self.high, "average": self.average}
        columns |= dict(zip(("band_low", "band_high"), self.band, strict=True))
        return [
            {"name": self.names[entrant], **{name: float(column[entrant]) for name, column in columns.items()}}
            for entrant in self.ranking
        ]

    def differences(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """[E, E] value of the row minus that of the column, with lower and upper ends of its interval."""
        low, high = quantiles(self.draws[:, :, None] - self.draws[:, None, :], self.level)
        return self.values[:, None] - self.values[None, :], low, high

    def probability_of_more(self) -> NDArray[np.float64]:
        """[E, E] share of the draws in which the row's score is above the column's, ties half."""
        first, second = self.draws[:, :, None], self.draws[:, None, :]
        share: NDArray[np.float64] = ((first > second) + 0.5 * (first == second)).mean(axis=0)
        return share


def quantiles(draws: NDArray[np.float64], level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both ends of the percentile interval of each column of `draws` [R, …].

    Raises:
        ValueError: the level lies outside (0, 1).
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; it must lie between 0 and 1")
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high
