"""What the vector environments of all games share: which tables are reset, with which seeds, and infos of last views.

Shapes: B tables.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.env_options import checked_seed, integer
from bourre_env.errors import IllegalActionError

Infos = dict[str, Any]


def checked_num_envs(num_envs: object) -> int:
    """B, at least one."""
    number = integer(num_envs)
    if number is None or number < 1:
        raise ValueError(f"num_envs is {num_envs!r}; it must be an integer of at least 1")
    return number


def rows_to_reset(mask: object, num_envs: int) -> NDArray[np.int64]:
    """Indices of the tables that `options["reset_mask"]` asks for; all without one."""
    if mask is None:
        return np.arange(num_envs)
    fits = isinstance(mask, np.ndarray) and mask.shape == (num_envs,) and mask.dtype == np.bool_
    if not isinstance(mask, np.ndarray) or not fits or not mask.any():
        raise ValueError(f"options['reset_mask'] must be a bool array of shape ({num_envs},), not all False")
    return np.flatnonzero(mask)


def seeds_of(seed: int | Sequence[int | None] | None, rows: NDArray[np.int64], num_envs: int) -> list[int | None]:
    """The seed of each of the tables `rows`, None where none is given: s gives table i the seed s + i."""
    if seed is None:
        return [None] * len(rows)
    number = integer(seed)
    if number is not None:
        return [checked_seed(number + int(row)) for row in rows]
    if not isinstance(seed, (Sequence, np.ndarray)) or isinstance(seed, str):
        raise ValueError(f"seed is {seed!r}; it must be None, an integer, or a list of them, one for each table")
    given = list(seed)
    if len(given) != num_envs:
        raise ValueError(f"seed has {len(given)} entries; {num_envs} tables need one each")
    return [None if given[row] is None else checked_seed(given[row]) for row in rows]


def checked_actions(actions: Any, num_envs: int) -> NDArray[np.int64]:
    """[B] the actions, which must be integers.

    Raises:
        IllegalActionError: another shape or dtype.
    """
    chosen = np.asarray(actions)
    if chosen.shape != (num_envs,) or chosen.dtype.kind not in "iu":
        raise IllegalActionError(
            f"actions are {chosen.dtype} {chosen.shape}; they must be integers of shape ({num_envs},)"
        )
    return chosen.astype(np.int64)


def final_infos(over: NDArray[np.bool_], views: Sequence[Any], details: Infos) -> Infos:
    """Last views of the episodes that are over, in the form of Gymnasium's own vector environments.

    Args:
        over: [B] which are.
        views: the last view of each of them.
        details: arrays [B, ...] of their last infos.
    """
    final = np.full(len(over), None, object)
    for row, view in zip(np.flatnonzero(over), views, strict=True):
        final[row] = view
    final_info = details | {f"_{name}": over.copy() for name in details}
    return {"final_obs": final, "_final_obs": over.copy(), "final_info": final_info, "_final_info": over.copy()}
