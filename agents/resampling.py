"""A bootstrap over deals that all results share.

Every deal has one weight a draw, whichever line-ups played it and in whatever order they are listed: results on the
same deals stay as correlated as they are, and nothing depends on how a log was cut or sorted.

Shapes: R draws, D blocks, K numbers a block, U deals of all samples together, L draws made side by side.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bourre_env.deck import GOLDEN, mix, stream_keys
from bourre_env.jit import njit_entry

LANES = 8  # L: as many float64 as one or two vector registers hold
_UNIT_INTERVAL = 2.0**-53

Sample = tuple[NDArray[np.uint64], NDArray[np.float64]]
"""The deals [D] of some blocks, each once, and K numbers of each block [D, K]."""


def means_over_resampled_deals(samples: Sequence[Sample], *, seed: int, draws: int) -> list[NDArray[np.float64]]:
    """Means of every sample, in each draw with other weights of the deals.

    The Bayesian bootstrap (Rubin, 1981): weights are independent exponentials, the same for a deal in all samples. A
    weight is a hash of the seed, the draw and the deal. Unlike counts, such weights never leave a small sample empty.

    Args:
        samples: deals [D] uint64 and numbers [D, K] float64, each sample with its own D and K.
        seed: 0 to 2^64 - 1.
        draws: R.

    Returns:
        [R, K] float64 for each sample.
    """
    units = np.unique(np.concatenate([units for units, _ in samples]))
    places = [np.searchsorted(units, of_sample) for of_sample, _ in samples]
    columns = [np.ascontiguousarray(np.column_stack([values, np.ones(len(values))])) for _, values in samples]
    means = [np.empty((draws, values.shape[1])) for _, values in samples]
    weights = np.empty((len(units), LANES))
    for first in range(0, draws, LANES):
        _fill_weights(stream_keys(seed, np.arange(first, first + LANES)), units, weights)
        lanes = min(LANES, draws - first)
        for sample, numbers in enumerate(columns):
            totals = np.zeros((numbers.shape[1], LANES))
            _add_weighted(weights, places[sample], numbers, totals)
            means[sample][first : first + lanes] = (totals[:-1] / totals[-1]).T[:lanes]
    return means


@njit_entry
def _fill_weights(keys: NDArray[np.uint64], units: NDArray[np.uint64], weights: NDArray[np.float64]) -> None:
    """Fill `weights` [U, L] with exponential weights of the deals [U] in the draws that `keys` [L] belong to."""
    for place in range(len(units)):
        for lane in range(len(keys)):
            word = mix(keys[lane] + GOLDEN * (units[place] + np.uint64(1))) >> np.uint64(11)
            weights[place, lane] = -np.log((np.float64(word) + 0.5) * _UNIT_INTERVAL)


@njit_entry
def _add_weighted(
    weights: NDArray[np.float64],
    places: NDArray[np.int64],
    numbers: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> None:
    """Add each row of `numbers` [D, K], times the weights of its deal, to `totals` [K, L]."""
    for row in range(len(places)):
        place = places[row]
        for column in range(numbers.shape[1]):
            number = numbers[row, column]
            for lane in range(LANES):
                totals[column, lane] += weights[place, lane] * number
