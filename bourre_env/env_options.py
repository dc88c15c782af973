"""What users hand to the environment of any game, checked: actions, seats and seeds as integers, names of options."""

import difflib
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bourre_env.deck import stream_keys

ILLEGAL = ("ignore", "raise")  # what Gymnasium environments do about illegal actions
_DEALER_STREAM = np.uint64(0x6465616C6572)  # keeps the draw of the dealer apart from the packs
_LARGEST_SEED = 2**64 - 1


def integer(action: object) -> int | None:
    """An action as an integer: Python and NumPy integers and arrays without axes are accepted, nothing else."""
    if isinstance(action, np.ndarray) and action.ndim == 0:
        action = action[()]
    if isinstance(action, (bool, np.bool_)) or not isinstance(action, (int, np.integer)):
        return None
    return operator.index(action)


def checked_seed(seed: object) -> int:
    """A seed as an integer from 0 to 2^64 - 1."""
    number = integer(seed)
    if number is None or not 0 <= number <= _LARGEST_SEED:
        raise ValueError(f"seed is {seed!r}; it must be an integer from 0 to 2^64 - 1")
    return number


def checked_num_deals(num_deals: object) -> int:
    """The deals in an episode, at least one."""
    deals = integer(num_deals)
    if deals is None or deals < 1:
        raise ValueError(f"num_deals is {num_deals!r}; it must be an integer of at least 1")
    return deals


def checked_seat(seat: object, num_players: int, name: str) -> int | None:
    """A seat of the table, or None, handed in as the argument `name`."""
    number = integer(seat)
    if seat is not None and (number is None or not 0 <= number < num_players):
        raise ValueError(f"{name} is {seat!r}; it must be None or a seat from 0 to {num_players - 1}")
    return number


def drawn_dealers(seed: ArrayLike, deal_ids: ArrayLike, num_players: int) -> NDArray[np.int8]:
    """[D] int8: the dealers of episodes that begin with the deals `deal_ids` [D], drawn from one seed or from [D]."""
    keys = stream_keys(np.asarray(seed, np.uint64) ^ _DEALER_STREAM, deal_ids)
    return (keys % np.uint64(num_players)).astype(np.int8)


def checked_illegal(illegal: object) -> bool:
    """Whether illegal actions are ignored."""
    if illegal not in ILLEGAL:
        raise ValueError(f"illegal is {illegal!r}; choose one of {', '.join(map(repr, ILLEGAL))}")
    return illegal == "ignore"


def named_options(options: object, names: Sequence[str]) -> dict[str, Any]:
    """The options of `reset`, none of them a slip; wrappers may pass options of their own.

    Raises:
        ValueError: no dict, or a name close to one of `names`.
    """
    if not isinstance(options, (dict, type(None))):
        raise ValueError(f"options is {options!r}; it must be a dict with some of {', '.join(names)}")
    for name in sorted(set(map(str, options or {})) - set(names)):
        if near := difflib.get_close_matches(name, names, 1):
            raise ValueError(
                f"reset has no option {name!r} (did you mean {near[0]!r}?); choose among {', '.join(names)}"
            )
    return dict(options or {})
