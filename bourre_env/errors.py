"""What can go wrong, each with its own class. Every message says what, where, what was allowed and what to do."""

import difflib
import operator
from collections.abc import Iterable


class BourreError(Exception):
    """The parent of every error this package raises on purpose."""


class RulesError(BourreError, ValueError):
    """A field of `Rules`, or a combination of fields, that makes no game."""


class DeckError(BourreError, ValueError):
    """A deck that is not a permutation of the pack the rules name."""


class IllegalActionError(BourreError, ValueError):
    """An action the rules forbid at this point (rule 7.1). The state is unchanged, to the byte."""


class ResetNeededError(BourreError, RuntimeError):
    """A call that needs a running deal, before `reset` or after its end."""


class ChipsError(BourreError, OverflowError):
    """A pot too large to be counted (rule 1.5)."""


class NotationError(BourreError, ValueError):
    """A written record that is no record, breaks the rules, or contradicts itself."""


class UnknownAgentError(BourreError, ValueError, KeyError):
    """A name that no agent of the environment has."""

    __str__ = Exception.__str__  # KeyError shows the repr of its message


class MissingPackageError(BourreError, ImportError):
    """Something asked for needs a package that is not installed; the message names the extra that brings it."""


class OpponentError(BourreError, ValueError):
    """An opponent that is no policy, cannot be found, or answered with something that is no action."""


def action_number(action: object) -> int:
    """An action as a number.

    Raises:
        IllegalActionError: it is no integer.
    """
    try:
        return operator.index(action)  # type: ignore[arg-type]
    except TypeError:
        raise IllegalActionError(f"{action!r} is no action: actions are integers from 0") from None


def nearest(name: object, known: Iterable[str]) -> str:
    """A suggestion for a message, when some known name is close; else nothing."""
    near = difflib.get_close_matches(str(name), list(known), 1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def listed(names: Iterable[object]) -> str:
    """Names as a list to choose from, for a message."""
    return ", ".join(repr(name) for name in names)
