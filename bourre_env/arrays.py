"""Checks of arrays that callers hand in."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bourre_env.cards import EMPTY, single
from bourre_env.jit import njit_entry


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


def spread(values: ArrayLike, number: int, name: str, low: int, high: int, dtype: Any) -> NDArray[Any]:
    """One integer for each row, from one number or [number] of them, checked against a range."""
    given = np.asarray(values)
    if given.dtype.kind not in "iu" or given.shape not in ((), (number,)):
        raise ValueError(f"{name} is {given.dtype} {given.shape}; it must be one integer or {number} of them")
    lowest, highest = (given.min(), given.max()) if given.size else (low, high)
    if not low <= lowest <= highest <= high:
        raise ValueError(f"{name} is {lowest if lowest < low else highest}; it must be from {low} to {high}")
    rows = np.empty(number, dtype)
    rows[:] = given
    return rows


@njit_entry
def is_named_twice(rows: NDArray[np.int64], num_tables: int) -> bool:
    """Whether some table of `rows` [k] comes twice."""
    met = np.zeros(num_tables, np.bool_)
    for row in rows:
        if met[row]:
            return True
        met[row] = True
    return False


def checked_rows(rows: ArrayLike, num_tables: int) -> NDArray[np.int64]:
    """[k] int64: indices of tables that a caller names.

    Raises:
        ValueError: no list of integers, an index out of range, or one named twice.
    """
    chosen = np.asarray(rows)
    if chosen.dtype == np.bool_ or (chosen.size and chosen.dtype.kind not in "iu") or chosen.ndim != 1:
        raise ValueError(f"rows must be a list of table indices, not {chosen.dtype} of shape {chosen.shape}")
    if chosen.size and not 0 <= chosen.min() <= chosen.max() < num_tables:
        raise ValueError(f"rows reach from {chosen.min()} to {chosen.max()}; tables are 0..{num_tables - 1}")
    chosen = chosen.astype(np.int64)
    if is_named_twice(chosen, num_tables):
        raise ValueError("rows names a table twice")
    return chosen


_BITS = 64  # of a set of cards


@njit_entry
def first_wrong_deck(decks: NDArray[np.int8], pack: np.uint64) -> int:
    """The first row of `decks` [k, C] that is not a permutation of the set `pack`; -1 when all are."""
    for row in range(len(decks)):
        met, all_bits = EMPTY, 0
        for place in range(decks.shape[1]):
            met |= single(decks[row, place] & (_BITS - 1))
            all_bits |= decks[row, place]
        if met != pack or not 0 <= all_bits < _BITS:
            return row
    return -1


def check_buffers(out: object, like: Any, *, optional: tuple[str, ...] = ()) -> None:
    """Refuse anything but buffers of the shapes and types of `like`.

    Args:
        out: what a caller wants filled.
        like: a named tuple of arrays.
        optional: names of arrays that may have no rows.

    Raises:
        ValueError: what is wrong, and with which array.
    """
    if not isinstance(out, type(like)):
        raise ValueError(f"out is a {type(out).__name__}; it must be what buffers() makes")
    arrays: list[tuple[str, Any, NDArray[Any]]] = list(zip(like._fields, tuple(out), like, strict=True))
    for name, array, expected in arrays:
        shapes = {expected.shape, (0, *expected.shape[1:])} if name in optional else {expected.shape}
        fits = isinstance(array, np.ndarray) and array.shape in shapes and array.dtype == expected.dtype
        if not fits or not array.flags.carray:
            wanted = f"a contiguous, writable {expected.dtype} array of shape {expected.shape}"
            found = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
            raise ValueError(
                f"out.{name} is {found}; it must be {wanted}: make the buffers with this table's buffers()"
            )
