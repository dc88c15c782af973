"""Intervals for means of independent blocks: a percentile bootstrap, with a t interval beside it.

Shapes: D blocks, R resamples.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit as quantile_of_t

from bourre_env.deck import GOLDEN, mix, stream_keys
from bourre_env.jit import njit_entry

LEVEL = 0.95
RESAMPLES = 10_000
_DRAWS_AT_ONCE = 250  # resamples whose counts are in memory together


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of independent blocks with its intervals, in the unit of the blocks.

    Attributes:
        mean: mean over the blocks.
        low: lower end of the percentile bootstrap interval.
        high: its upper end.
        t_low: lower end of the t interval.
        t_high: its upper end.
        blocks: how many blocks there were.
    """

    mean: float
    low: float
    high: float
    t_low: float
    t_high: float
    blocks: int


def estimate(block_means: ArrayLike, *, seed: int, level: float = LEVEL, resamples: int = RESAMPLES) -> Estimate:
    """Mean of independent blocks and its two intervals.

    Args:
        block_means: [D] one number a block, D of at least 2.
        seed: 0 to 2^64 - 1; the same seed resamples equally many blocks in the same way, so that the
            intervals of cells played on the same deals belong together.
        level: probability that an interval should cover the true mean.
        resamples: number of bootstrap draws.

    Raises:
        ValueError: fewer than two blocks, a number that is not finite, or a level outside (0, 1).
    """
    values = _checked(block_means)
    _check_level(level)
    return _summary(values, resampled_means(values, seed=seed, resamples=resamples), level)


def estimates(
    totals: NDArray[np.int64], divisors: ArrayLike, *, seed: int, level: float = LEVEL, resamples: int = RESAMPLES
) -> list[Estimate]:
    """`estimate` for many quantities of the same blocks at once, for a fraction of the work.

    Args:
        totals: [D, K] whole numbers, so that sums are exact and no column depends on the others.
        divisors: [K] or one number: what to divide each column by.
        seed: 0 to 2^64 - 1; equals `estimate` on each column with the same seed, but for rounding.
        level: probability that an interval should cover the true mean.
        resamples: number of bootstrap draws.

    Returns:
        K estimates.

    Raises:
        ValueError: fewer than two blocks, or a level outside (0, 1).
    """
    _check_level(level)
    whole = np.asarray(totals)
    if whole.ndim != 2 or whole.dtype.kind not in "iu":
        raise ValueError(f"totals are {whole.dtype} {whole.shape}; give whole numbers, a row for each block")
    if len(whole) < 2:
        raise ValueError(f"{len(whole)} block has no interval; play at least 2")
    columns = whole.astype(np.float64)
    scale = np.broadcast_to(np.asarray(divisors, np.float64), columns.shape[1])
    means = np.empty((resamples, columns.shape[1]))
    for start in range(0, resamples, _DRAWS_AT_ONCE):
        keys = stream_keys(seed, np.arange(start, min(start + _DRAWS_AT_ONCE, resamples)))
        times = np.zeros((len(keys), len(columns)))
        _count_draws(keys, times)
        means[start : start + len(keys)] = times @ columns
    means /= len(columns) * scale
    return [_summary(columns[:, k] / scale[k], means[:, k], level) for k in range(columns.shape[1])]


def _summary(values: NDArray[np.float64], resampled: NDArray[np.float64], level: float) -> Estimate:
    """Mean and intervals of blocks [D], from the means of resamples [R]."""
    tails = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(resampled, tails)
    mean, reach = float(values.mean()), half_width(values, level)
    return Estimate(mean, float(low), float(high), mean - reach, mean + reach, len(values))


def half_width(block_means: NDArray[np.float64], level: float = LEVEL) -> float:
    """Half the width of the t interval of blocks [D]."""
    standard_error = float(block_means.std(ddof=1) / np.sqrt(len(block_means)))
    return float(quantile_of_t(len(block_means) - 1, (1 + level) / 2)) * standard_error


def _check_level(level: float) -> None:
    """Refuse a probability that is none."""
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; it must lie between 0 and 1")


def resampled_means(block_means: ArrayLike, *, seed: int, resamples: int = RESAMPLES) -> NDArray[np.float64]:
    """Means of samples of D blocks drawn with replacement from the D blocks (Efron's bootstrap, 1979).

    Args:
        block_means: [D] one number a block.
        seed: 0 to 2^64 - 1.
        resamples: R.

    Returns:
        [R] float64.

    Raises:
        ValueError: fewer than two blocks, or a number that is not finite.
    """
    values = _checked(block_means)
    means = np.empty(resamples, np.float64)
    _resample(values, stream_keys(seed, np.arange(resamples)), means)
    return means


def _checked(block_means: ArrayLike) -> NDArray[np.float64]:
    """The blocks as a float64 vector."""
    values = np.ascontiguousarray(block_means, np.float64)
    if values.ndim != 1:
        raise ValueError(f"block means have shape {values.shape}; give one number a block")
    if len(values) < 2:
        raise ValueError(f"{len(values)} block has no interval; play at least 2")
    if not np.isfinite(values).all():
        raise ValueError(f"block {int(np.argmin(np.isfinite(values)))} is not a finite number")
    return values


@njit_entry
def _resample(values: NDArray[np.float64], keys: NDArray[np.uint64], means: NDArray[np.float64]) -> None:
    """Fill `means` [R], each with the mean of D draws that its key decides."""
    num_blocks = np.uint64(len(values))
    for draw in range(len(keys)):
        total = 0.0
        for step in range(1, len(values) + 1):
            word = mix(keys[draw] + GOLDEN * np.uint64(step)) >> np.uint64(32)
            total += values[(word * num_blocks) >> np.uint64(32)]
        means[draw] = total / len(values)


@njit_entry
def _count_draws(keys: NDArray[np.uint64], times: NDArray[np.float64]) -> None:
    """Fill `times` [R, D] with how often each of D blocks is drawn, D times, by the same draws as `_resample`."""
    num_blocks = np.uint64(times.shape[1])
    for draw in range(len(keys)):
        for step in range(1, times.shape[1] + 1):
            word = mix(keys[draw] + GOLDEN * np.uint64(step)) >> np.uint64(32)
            times[draw, (word * num_blocks) >> np.uint64(32)] += 1.0
