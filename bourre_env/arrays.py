"""Checks of arrays that callers hand in."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def plain(values: NDArray[Any], dtype: type[np.generic]) -> NDArray[Any]:
    """The values as a contiguous array that may be written to: the one form compiled code knows; copied if need be."""
    array = np.ascontiguousarray(values, dtype)
    return array if array.flags.behaved else array.copy()


def buffer(out: NDArray[Any] | None, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The caller's output array after a check, or a fresh one.

    Raises:
        ValueError: `out` has another shape or dtype, is not contiguous, or may not be written to.
    """
    if out is None:
        return np.empty(shape, dtype)
    if out.shape != shape or out.dtype != dtype or not out.flags.carray:
        raise ValueError(
            f"out is {out.dtype} {out.shape}; it must be a contiguous, writable {dtype} array of shape {shape}"
        )
    return out
