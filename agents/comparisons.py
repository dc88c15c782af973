"""Who came out ahead of whom, block by block: what is left when amounts are forgotten.

Shapes: D blocks, G distinct entrants of a line-up, P pairs of them, E entrants, R draws.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.lineups import LineUp, entrants_of, pooled
from agents.outcomes import Outcomes
from agents.resampling import means_over_resampled_deals

SAME = 1e-9  # units: means closer than this are equal


@dataclass(frozen=True, slots=True)
class Comparisons:
    """Pairs won.

    In a block each pair of entrants is compared by units a deal of one of their seats; equal ones share the pair. In a
    cell that is one pair, won by the focal entrant when its block mean is above 0. In mixed line-ups it is the full
    breaking of the block's ranking into pairs (Azari Soufiani and others, 2013).

    Attributes:
        names: E entrants, sorted.
        wins: [E, E] float64, blocks in which the row came out ahead of the column.
        draws: [R, E, E] float64, the same from resampled deals.
    """

    names: tuple[str, ...]
    wins: NDArray[np.float64]
    draws: NDArray[np.float64]


def compare(outcomes: Sequence[Outcomes], *, seed: int, draws: int) -> Comparisons:
    """Count pairs won over all line-ups.

    Args:
        outcomes: results in any order and in any number of parts.
        seed: of the bootstrap over deals, 0 to 2^64 - 1.
        draws: R.

    Raises:
        OutcomesError: results that contradict themselves.
    """
    line_ups = pooled(outcomes)
    names = entrants_of(line_ups)
    signs = [_signs(line_up) for line_up in line_ups]
    samples = [(line_up.units, of_line_up) for line_up, of_line_up in zip(line_ups, signs, strict=True)]
    resampled = means_over_resampled_deals(samples, seed=seed, draws=draws)
    wins, drawn = np.zeros((1, len(names), len(names))), np.zeros((draws, len(names), len(names)))
    for line_up, of_line_up, means in zip(line_ups, signs, resampled, strict=True):
        _add_wins(line_up, names, of_line_up.mean(axis=0, keepdims=True), wins)
        _add_wins(line_up, names, means, drawn)
    return Comparisons(names, wins[0], drawn)


def margins(wins: NDArray[np.float64]) -> NDArray[np.float64]:
    """[…, E, E] share of the blocks won minus share lost, from wins of the same shape; 0 for pairs that never met."""
    lost = np.swapaxes(wins, -1, -2)
    return (wins - lost) / np.maximum(wins + lost, np.finfo(np.float64).tiny)


def _pairs(line_up: LineUp) -> list[tuple[int, int]]:
    """The P pairs of its entrants."""
    return list(itertools.combinations(range(len(line_up.names)), 2))


def _signs(line_up: LineUp) -> NDArray[np.float64]:
    """[D, P] 1 where the first of a pair came out ahead, -1 where the second did, 0 where neither."""
    ahead = [line_up.earned[:, first] - line_up.earned[:, second] for first, second in _pairs(line_up)]
    signs = [np.sign(np.where(np.abs(difference) < SAME, 0, difference)) for difference in ahead]
    return np.stack(signs, axis=1) if signs else np.zeros((len(line_up.units), 0))


def _add_wins(line_up: LineUp, names: Sequence[str], means: NDArray[np.float64], wins: NDArray[np.float64]) -> None:
    """Add to `wins` [R, E, E] what the mean signs [R, P] of one line-up say."""
    blocks = len(line_up.units)
    for number, (first, second) in enumerate(_pairs(line_up)):
        here, there = names.index(line_up.names[first]), names.index(line_up.names[second])
        wins[:, here, there] += blocks * (1 + means[:, number]) / 2
        wins[:, there, here] += blocks * (1 - means[:, number]) / 2
