"""Search policies by their spec: `search`, or `search:` and options such as `worlds=64,policy=runs/mine,time=0.05`."""

import dataclasses
import difflib
import math
from collections.abc import Callable
from typing import Any

from agents.policy import PolicyError, load_policy
from agents.search import KINDS, Effort, SearchPolicy

NAME = "search"
PRIOR = "policy"
OTHERS = "others"
DEFAULT_PRIOR = "heuristic"
MOST = 1_000_000  # of anything that is counted


def is_search(spec: str) -> bool:
    """Whether a spec means a search policy."""
    return spec == NAME or spec.startswith(f"{NAME}:")


def load_search(spec: str) -> SearchPolicy:
    """The search policy that a spec names.

    Args:
        spec: `search`, or `search:NAME=VALUE,…` with `policy`, the spec of the prior, `others`, that of the model of
            the other seats (neither holds a comma), and the fields of `Effort`, whose several kinds are joined by `+`.

    Raises:
        PolicyError: the options make no sense, or the prior cannot be loaded.
    """
    policies = policies_of(spec)
    for policy in policies:
        check_prior(policy)
    given = options_of(spec).items()
    changes: dict[str, Any] = {name: READERS[name](spec, name, value) for name, value in given if name in READERS}
    prior, *others = map(load_policy, policies)
    return SearchPolicy(spec, prior, dataclasses.replace(Effort(), **changes), *others)


def check_prior(spec: str, what: str = "tell a search how others play") -> None:
    """Refuse priors that nobody can ask thousands of times a decision.

    Args:
        spec: of the policy.
        what: it is wanted for, in words behind "cannot".

    Raises:
        PolicyError: the spec is that of a search or a person.
    """
    if is_search(spec) or spec == "human":
        raise PolicyError(f"{spec!r} cannot {what}: it is asked thousands of times a decision")


def policies_of(spec: str) -> list[str]:
    """The specs of the prior of a search policy, and of its model of the others where that is another one.

    Raises:
        PolicyError: the options make no sense.
    """
    given = options_of(spec)
    prior = given.get(PRIOR, DEFAULT_PRIOR)
    return list(dict.fromkeys((prior, given.get(OTHERS, prior))))


def options_of(spec: str) -> dict[str, str]:
    """The options of a spec as texts.

    Raises:
        PolicyError: an option without a value, one that does not exist, or one given twice.
    """
    found: dict[str, str] = {}
    text = spec.removeprefix(NAME).removeprefix(":")
    for word in text.split(",") if text or spec != NAME else ():
        name, equals, value = word.partition("=")
        if name in NAMES and not value:
            raise PolicyError(f"{spec!r}: {name} has no value; write {name}=VALUE")
        if not equals or not value:
            raise PolicyError(
                f"{spec!r}: {word!r} is no option; write NAME=VALUE, such as worlds=64 or {PRIOR}=heuristic"
            )
        if name not in NAMES:
            near = difflib.get_close_matches(name, NAMES, 1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise PolicyError(f"{spec!r}: no option is called {name!r}{hint}; there are {', '.join(NAMES)}")
        if name in found:
            raise PolicyError(f"{spec!r}: {name} is given twice")
        found[name] = value
    return found


def _integer(low: int) -> Callable[[str, str, str], int]:
    """A reader of integers from `low` on."""

    def read(spec: str, name: str, value: str) -> int:
        if not value.isascii() or not value.isdigit() or not low <= int(value) <= MOST:
            raise PolicyError(f"{spec!r}: {name}={value} will not do; an integer from {low} to {MOST} is needed")
        return int(value)

    return read


def _number(spec: str, name: str, value: str) -> float:
    """A reader of numbers from 0 on."""
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if math.isnan(number) or number < 0:
        raise PolicyError(f"{spec!r}: {name}={value} will not do; a number from 0 on is needed")
    return number


def _kinds(spec: str, name: str, value: str) -> frozenset[str]:
    """A reader of kinds of decisions."""
    chosen = frozenset(value.split("+"))
    if not chosen <= set(KINDS):
        raise PolicyError(f"{spec!r}: {name}={value} will not do; join some of {', '.join(KINDS)} by +")
    return chosen


READERS: dict[str, Callable[[str, str, str], object]] = {
    "worlds": _integer(4),
    "proposals": _integer(1),
    "rounds": _integer(1),
    "fewest": _integer(1),
    "caution": _number,
    "time": _number,
    "kinds": _kinds,
}
"""How each field of `Effort` is read."""

NAMES = (PRIOR, OTHERS, *READERS)
"""Of all options."""
