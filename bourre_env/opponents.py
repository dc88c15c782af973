"""Who sits at the table besides the learner of a Gymnasium view.

An opponent is anything with `act(decision, rng)` (`agents.policy.Policy`). The environment knows no policy by name:
specs such as "heuristic" go to the loader that the installed package announces as an entry point.

Shapes: D decisions.
"""

import functools
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bourre_env.bits import unpack_actions
from bourre_env.bourre.rules import MAX_PLAYERS, Rules
from bourre_env.decision import Decision, are_legal
from bourre_env.deck import GOLDEN, mix_array, stream_keys
from bourre_env.errors import OpponentError

ENTRY_POINTS, LOADER = "bourre_env", "load_policy"
_CHOICE_STREAM = np.uint64(0x6F70706F6E656E74)  # keeps the opponents' choices apart from the packs


class Opponent(Protocol):
    """Something that picks actions, one for each decision."""

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.integer[Any]]:
        """[D] legal actions for D decisions."""


def load_opponents(given: object, rules: Rules) -> tuple[Opponent, ...]:
    """The opponents of a table, the first on the learner's left.

    Args:
        given: one spec or policy for every seat, or a list of as many as there are other seats.
        rules: what they will play by; a policy that cannot is refused.

    Raises:
        OpponentError: not the right number, or something that is no policy.
    """
    others = rules.num_players - 1
    is_list = isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, (str, bytes))
    seats = list(given) if is_list else [given] * others  # type: ignore[call-overload]
    if len(seats) != others:
        raise OpponentError(f"opponents has {len(seats)} entries; a table of {rules.num_players} has {others} others")
    loaded: dict[int, Opponent] = {}
    for one in seats:
        loaded.setdefault(id(one), _loaded(one))
    for opponent in loaded.values():
        if check := getattr(opponent, "check_rules", None):
            check(rules)
    return tuple(loaded[id(one)] for one in seats)


def _loaded(one: object) -> Opponent:
    """A policy as it is, or the one that a spec names."""
    opponent: Any = one
    if isinstance(one, str):
        try:
            opponent = _loader()(one)
        except ValueError as error:
            raise OpponentError(str(error)) from error
    if not callable(getattr(opponent, "act", None)):
        raise OpponentError(f"opponent {one!r} is no policy: it needs a method act(decision, rng)")
    return opponent


@functools.cache
def _loader() -> Callable[[str], Opponent]:
    """What turns specs into policies."""
    for entry in metadata.entry_points(group=ENTRY_POINTS, name=LOADER):
        loader: Callable[[str], Opponent] = entry.load()
        return loader
    raise OpponentError(
        f"no installed package announces an entry point {LOADER!r} in the group {ENTRY_POINTS!r}, so specs cannot be "
        "looked up; install bourre-env, or hand in policies instead of names"
    )


def choice_keys(seed: NDArray[np.uint64], deal: NDArray[np.int64]) -> NDArray[np.uint64]:
    """[D, 8] uint64: the stream of random numbers of each seat in the deals [D], each of its own seed [D]."""
    streams = deal[:, None] * MAX_PLAYERS + np.arange(MAX_PLAYERS)
    seeds = np.repeat(seed ^ _CHOICE_STREAM, MAX_PLAYERS)
    return stream_keys(seeds, streams.ravel()).reshape(streams.shape)


def choice_numbers(keys: NDArray[np.uint64], decisions: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """[D] uint64: the number for the decision number `decisions` [D], from 1, of the streams `keys` [D]."""
    return mix_array(keys + GOLDEN * decisions)


def ask(opponent: Opponent, decision: Decision, rng: np.random.Generator) -> NDArray[np.int64]:
    """[D] int64: what an opponent answers.

    Raises:
        OpponentError: it answered with anything but D integers, or with an action that is not legal.
    """
    legal = decision.legal_packed.copy()  # the opponent may write into what it is shown
    name = getattr(opponent, "name", type(opponent).__name__)
    try:
        actions = np.asarray(opponent.act(decision, rng))
    except ValueError as error:
        raise OpponentError(f"opponent {name!r} failed: {error}") from error
    if actions.shape != (len(decision),) or actions.dtype.kind not in "iu":
        raise OpponentError(
            f"opponent {name!r} returned {actions.dtype} {actions.shape}; {len(decision)} integers were asked for"
        )
    fits = are_legal(actions, legal)
    if not fits.all():
        row = int(np.argmin(fits))
        allowed = np.flatnonzero(unpack_actions(legal[row : row + 1], decision.rules.num_actions)[0])
        raise OpponentError(
            f"opponent {name!r} in seat {decision.seat[row]} chose action {actions[row]}, which is not legal; "
            f"legal: {', '.join(map(str, allowed))}"
        )
    return actions.astype(np.int64)
