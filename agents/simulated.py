"""Made-up results with known answers, to check the statistics by.

Shapes: D blocks, N seats, E entrants.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.outcomes import Outcomes
from agents.sequential import SequentialTest
from agents.verdicts import ABOVE, BELOW, NOT_SEPARATED

Noise: TypeAlias = Callable[[np.random.Generator, tuple[int, ...]], NDArray[np.float64]]
"""Draws numbers of mean 0 and deviation 1 in a given shape."""


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Noise without skew."""
    return rng.standard_normal(shape)


def skewed(rng: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Noise with a long tail to one side, as chips have it."""
    return rng.standard_exponential(shape) - 1


def simulated_outcomes(
    names: Sequence[str],
    strengths: ArrayLike,
    line_ups: Sequence[tuple[str, ...]],
    *,
    blocks: int,
    deviation: float,
    rng: np.random.Generator,
    noise: Noise = skewed,
) -> list[Outcomes]:
    """Results of entrants with known strengths, which explain them up to chance.

    Half of the variance is the deal's, which suits some entrants better than others whatever the line-up; so line-ups
    vary together, as they do on real deals.

    Args:
        names: E entrants.
        strengths: [E] units a deal.
        line_ups: the line-ups to play, all on the same deals.
        blocks: D.
        deviation: of what an entrant's strength seems to be in one block.
        rng: for the noise.
        noise: its shape.
    """
    units = rng.integers(0, 2**63, blocks).astype(np.uint64)
    true, half = np.asarray(strengths, np.float64), deviation / np.sqrt(2)
    of_deal = true + half * noise(rng, (blocks, len(names)))
    outcomes = []
    for line_up in line_ups:
        seated = [list(names).index(name) for name in line_up]
        shown = of_deal[:, seated] + half * noise(rng, (blocks, len(line_up)))
        earned = (shown - shown.mean(axis=1, keepdims=True)) * len(line_up) / (len(line_up) - 1)
        outcomes.append(Outcomes(tuple(line_up), units, earned))
    return outcomes


def error_of_a_difference(num_entrants: int, num_players: int, *, blocks: int, deviation: float) -> float:
    """Standard error of the difference of two ratings from `simulated_outcomes` with every cell.

    The deal's half of the variance of each entrant stays whole, being the same in all cells. Of the other half, a cell
    has N / (N - 1) times as much, and least squares over both cells of every pair divide it by twice the entrants.
    """
    variance = deviation**2 / blocks
    return float(np.sqrt(variance * (1 + num_players / (num_players - 1) / (2 * num_entrants))))


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """How often a test came to each end in simulation.

    Attributes:
        above: share of the runs.
        below: share of the runs.
        not_separated: share of the runs.
        undecided: share of the runs that came to the last block without an answer.
        blocks: mean number of blocks until the end.
        runs: how many runs there were.
    """

    above: float
    below: float
    not_separated: float
    undecided: float
    blocks: float
    runs: int


def simulated_error_rates(
    test: SequentialTest,
    t: float,
    *,
    runs: int,
    rng: np.random.Generator,
    blocks_a_look: int = 64,
    longest: int = 40_000,
    noise: Noise = normal,
) -> ErrorRates:
    """Run a test on made-up cells.

    Args:
        test: the test.
        t: true mean / deviation of a block.
        runs: number of cells.
        rng: for the blocks.
        blocks_a_look: the test looks whenever so many more have been played.
        longest: blocks after which a run is given up.
        noise: how blocks vary.
    """
    low, high = test.bounds
    running = np.arange(runs)
    total, squares = np.zeros(runs), np.zeros(runs)
    ends = dict.fromkeys((ABOVE, BELOW, NOT_SEPARATED), 0)
    played = 0
    for blocks in range(blocks_a_look, longest + 1, blocks_a_look):
        shape = (len(running), blocks_a_look)
        fresh = t + noise(rng, shape)
        total[running] += fresh.sum(axis=1)
        squares[running] += (fresh**2).sum(axis=1)
        played += fresh.size
        for_above, for_below = test.statistics(blocks, total[running], squares[running])
        is_above, is_below = for_above >= high, for_below >= high
        is_neither = np.maximum(for_above, for_below) <= low
        for state, ended in zip(ends, (is_above, is_below, is_neither), strict=True):
            ends[state] += int(ended.sum())
        running = running[~(is_above | is_below | is_neither)]
        if not running.size:
            break
    above, below, not_separated = (ends[state] / runs for state in (ABOVE, BELOW, NOT_SEPARATED))
    return ErrorRates(above, below, not_separated, len(running) / runs, played / runs, runs)
