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

    Raises:
        ValueError: fewer than one draw.
    """
    if draws < 1:
        raise ValueError(f"draws is {draws}; at least 1 is needed")
    units = np.unique(np.concatenate([units for units, _ in samples]))
    places = np.concatenate([np.searchsorted(units, of_sample) for of_sample, _ in samples])
    widths = np.array([values.shape[1] + 1 for _, values in samples])
    ends = np.cumsum([len(of_sample) for of_sample, _ in samples])
    # Behind the numbers of each block comes a 1, so that the weights are added up like anything else.
    numbers = np.concatenate([np.column_stack([values, np.ones(len(values))]).ravel() for _, values in samples])
    weights, totals = np.empty((len(units), LANES)), np.empty((draws + LANES - 1, int(widths.sum())))
    for first in range(0, draws, LANES):
        _fill_weights(stream_keys(seed, np.arange(first, first + LANES)), units, weights)
        lanes = np.zeros((totals.shape[1], LANES))
        _add_weighted(weights, places, ends, widths, numbers, lanes)
        totals[first : first + LANES] = lanes.T[: len(totals) - first]
    of_samples = np.split(totals[:draws], np.cumsum(widths)[:-1], axis=1)
    return [total[:, :-1] / total[:, -1:] for total in of_samples]


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
    ends: NDArray[np.int64],
    widths: NDArray[np.int64],
    numbers: NDArray[np.float64],
    totals: NDArray[np.float64],
) -> None:
    """Add each number of each block, times the weights of its deal, to `totals` [sum of widths, L].

    `places` and `numbers` hold one sample after another; `ends` [S] is where each ends in `places`, and `widths` [S]
    how many numbers each of its blocks has.
    """
    first_row = next_number = first_column = 0
    for sample in range(len(ends)):
        width = widths[sample]
        for row in range(first_row, ends[sample]):
            place = places[row]
            for column in range(width):
                number = numbers[next_number + column]
                for lane in range(LANES):
                    totals[first_column + column, lane] += weights[place, lane] * number
            next_number += width
        first_row = ends[sample]
        first_column += width
