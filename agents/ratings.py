"""Strength in units (antes, points) a deal from all results at once, by least squares.

Model: a seat earns what its entrant's strength is above the mean strength of the N seats at its table, times
N / (N - 1), so that one seat against a table of another entrant earns the difference of their strengths. Strengths add
up to 0.

Every seat of every block counts the same: a line-up's equation for an entrant, its mean over the blocks, has the weight
blocks times seats. Then ratings cannot depend on how results were cut; a line-up of a few blocks does not weigh as much
as one of thousands; and a sequential test that stopped early at an extreme mean weighs little. Where the model does not
fit (see `Fit`) the ratings are the summary of these line-ups in these numbers, and others would give others.

Shapes: L line-ups, K equations (the distinct entrants of all line-ups), E entrants, R draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from agents.lack_of_fit import Fit, fit_of
from agents.lineups import LineUp, OutcomesError, entrants_of, pooled
from agents.outcomes import Outcomes
from agents.resampling import means_over_resampled_deals
from agents.scores import Scores
from agents.statistics import LEVEL

DRAWS = 4000


@dataclass(frozen=True, slots=True)
class Ratings:
    """Strengths and how far they explain the results.

    Attributes:
        strength: units a deal, adding up to 0.
        fit: what the strengths leave unexplained.
    """

    strength: Scores
    fit: Fit


def fit_ratings(outcomes: Sequence[Outcomes], *, seed: int, draws: int = DRAWS, level: float = LEVEL) -> Ratings:
    """Strengths of all entrants, with intervals from a bootstrap over deals that all line-ups share.

    Args:
        outcomes: results in any order and in any number of parts; an entrant need not sit in every line-up.
        seed: of the bootstrap, 0 to 2^64 - 1.
        draws: R.
        level: probability that an interval should cover the truth.

    Raises:
        OutcomesError: results that contradict themselves, or entrants that no chain of line-ups connects.
    """
    system = _system(outcomes)
    projection = system.equations @ system.solution
    fit = fit_of(system.line_ups, system.means, projection, system.weights, len(system.names))
    return Ratings(_strength(system, seed, draws, level), fit)


def fit_strengths(outcomes: Sequence[Outcomes], *, seed: int, draws: int = DRAWS, level: float = LEVEL) -> Scores:
    """The strengths of `fit_ratings` alone."""
    return _strength(_system(outcomes), seed, draws, level)


@dataclass(frozen=True, slots=True)
class _System:
    """The least squares of some results.

    Attributes:
        line_ups: L, sorted.
        names: E entrants, sorted.
        equations: [K, E] what each strength adds to each mean.
        weights: [K] of the equations.
        solution: [E, K] the strengths as a linear function of the means.
    """

    line_ups: tuple[LineUp, ...]
    names: tuple[str, ...]
    equations: NDArray[np.float64]
    weights: NDArray[np.float64]
    solution: NDArray[np.float64]

    @property
    def means(self) -> NDArray[np.float64]:
        """[K] units a deal."""
        return np.concatenate([line_up.means for line_up in self.line_ups])


def _system(outcomes: Sequence[Outcomes]) -> _System:
    """The least squares of some results."""
    line_ups = pooled(outcomes)
    names = entrants_of(line_ups)
    check_connected(line_ups, names)
    equations, weights = _equations(line_ups, names)
    return _System(line_ups, names, equations, weights, _solution(equations, weights))


def _strength(system: _System, seed: int, draws: int, level: float) -> Scores:
    """Strengths with their draws."""
    resampled = _resampled_means(system.line_ups, seed, draws)
    return Scores(system.names, system.solution @ system.means, resampled @ system.solution.T, level)


def check_connected(line_ups: Sequence[LineUp], names: Sequence[str]) -> None:
    """Make sure that there are entrants to compare, and that every two can be, if only by way of others.

    Raises:
        OutcomesError: they cannot; the message names those on either side of the gap.
    """
    if len(names) < 2:
        raise OutcomesError(f"{names[0]} has played nobody else; a rating needs at least two entrants")
    met = np.zeros((len(names), len(names)), np.bool_)
    for line_up in line_ups:
        present = [names.index(name) for name in line_up.names]
        met[np.ix_(present, present)] = True
    count, group = connected_components(csr_array(met), directed=False)
    if count > 1:
        here = ", ".join(name for name, number in zip(names, group, strict=True) if number == group[0])
        others = ", ".join(name for name, number in zip(names, group, strict=True) if number != group[0])
        raise OutcomesError(f"no chain of line-ups connects {here} with {others}; let some of them play each other")


def _equations(line_ups: Sequence[LineUp], names: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """[K, E] what each strength adds to each mean, and [K] the weights of the means."""
    equations, weights = [], []
    for line_up in line_ups:
        num_seats = len(line_up.places)
        table = np.zeros(len(names))
        present = [names.index(name) for name in line_up.names]
        table[present] = line_up.seats / num_seats
        equations.append((np.eye(len(names))[present] - table) * num_seats / (num_seats - 1))
        weights.append(line_up.seats * len(line_up.units))
    return np.concatenate(equations), np.concatenate(weights).astype(np.float64)


def _solution(equations: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """[E, K] strengths as a linear function of the means: the normal equations, with the sum held at 0."""
    weighted = equations.T * weights
    normal = weighted @ equations
    scale = np.trace(normal) / normal.size
    solution: NDArray[np.float64] = np.linalg.solve(normal + scale, weighted)
    solution -= solution.mean(axis=0)
    return solution


def _resampled_means(line_ups: Sequence[LineUp], seed: int, draws: int) -> NDArray[np.float64]:
    """[R, K] means of all equations in every draw; the last entrant of a line-up has what the others leave."""
    samples = [(line_up.units, line_up.earned[:, :-1]) for line_up in line_ups]
    columns = []
    for line_up, means in zip(line_ups, means_over_resampled_deals(samples, seed=seed, draws=draws), strict=True):
        rest = -(means * line_up.seats[:-1]).sum(axis=1) / line_up.seats[-1]
        columns += [means, rest[:, None]]
    return np.concatenate(columns, axis=1)
