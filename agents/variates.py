"""Control variates: results with what is known to be luck regressed out.

Shapes: D blocks, K control variates.
"""

import numpy as np
from numpy.typing import NDArray

FOLDS = 2


def without_luck(block_means: NDArray[np.float64], controls: NDArray[np.float64]) -> NDArray[np.float64]:
    """[D] float64: results with control variates regressed out, each half by the coefficients of the other.

    Args:
        block_means: [D] results.
        controls: [D, K] numbers of mean 0.

    Raises:
        ValueError: too few blocks to fit the coefficients of either half.
    """
    folds = np.arange(len(block_means)) % FOLDS
    if np.bincount(folds, minlength=FOLDS).min() <= controls.shape[1]:
        raise ValueError(f"{len(block_means)} blocks are too few for {controls.shape[1]} control variates")
    adjusted = np.empty_like(block_means)
    for fold in range(FOLDS):
        fitted = folds != fold
        design = np.column_stack([np.ones(fitted.sum()), controls[fitted]])
        coefficients = np.linalg.lstsq(design, block_means[fitted], rcond=None)[0][1:]
        adjusted[~fitted] = block_means[~fitted] - controls[~fitted] @ coefficients
    return adjusted
