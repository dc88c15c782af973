"""What a policy is asked, what it answers, and the one door through which policies are loaded.

A policy sees observations and legal actions, never the tables. Shapes: D decisions, O observation size, W words of a
packed observation, A actions, L words of a packed legal set.
"""

import difflib
import importlib
import sys
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from agents.games import part_of
from agents.shipped import SHIPPED, choices, path_of
from bourre_env.bits import legal_bits
from bourre_env.decision import Decision as Decision
from bourre_env.decision import are_legal
from bourre_env.errors import BourreError
from bourre_env.family import GameRules

GREEDY = ":greedy"  # behind the path of a checkpoint

NAMED = {
    "random": "agents.baselines:Random",
    "heuristic": "agents.rule_bots:HEURISTIC",
    "two_trumps": "agents.baselines:TWO_TRUMPS",
    "always_stay": "agents.baselines:ALWAYS_STAY",
    "always_pass": "agents.baselines:ALWAYS_PASS",
    "human": "agents.human:Human",
}
"""The policies that come with the package, and where each lives."""

SUM_TOLERANCE = 1e-4
"""How far the probabilities of a decision may be from adding up to 1; those of networks are float32."""

_TO_UNIT = 2.0**-53


class PolicyError(BourreError, ValueError):
    """A policy that cannot be loaded, or that cannot play under the rules asked for."""


class PolicyFailedError(BourreError, RuntimeError):
    """A policy that, when asked, raised or did not answer with legal actions."""


class Policy(Protocol):
    """Something that picks actions.

    A policy that cannot play under all rules also has a method `check_rules(rules) -> None` that raises `PolicyError`
    for the others; it is asked before the first deal.

    A policy that knows its own probabilities also has a method `probs(decision) -> [D, A]` of floats: how likely `act`
    takes each action, 0 for those that are not legal. Exact measurements then need not ask it over and over
    (`ask_probs`).
    """

    @property
    def name(self) -> str:
        """What reports call it."""

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.integer[Any]]:
        """Choose one legal action a decision.

        Args:
            decision: D decisions.
            rng: for randomness that has no need to be the same however decisions are batched; else `decision.key`.

        Returns:
            [D] integers.
        """


def check_rules(policy: Policy, rules: GameRules) -> None:
    """Ask a policy that is choosy about rules whether it can play under these.

    Raises:
        PolicyError: it cannot; the message says which rules it was made for.
    """
    check = getattr(policy, "check_rules", None)
    if check is None:
        return
    try:
        check(rules)
    except PolicyError:
        raise
    except (Exception, SystemExit) as error:  # a user's policy may raise anything
        raise PolicyError(f"policy {policy.name!r} failed to check the rules: {told(error)}") from error


def tells_probs(policy: Policy) -> bool:
    """Whether a policy knows its own probabilities."""
    return callable(getattr(policy, "probs", None))


def ask_probs(policy: Policy, decision: Decision) -> NDArray[np.float64]:
    """How likely a policy that `tells_probs` takes each action.

    Returns:
        [D, A] float64; rows add up to 1, and actions that are not legal have exactly 0.

    Raises:
        PolicyFailedError: it raised, or answered with anything but such probabilities, up to rounding in float32.
    """
    probs: Any = getattr(policy, "probs")  # noqa: B009 - not part of the protocol, since few policies have it
    legal = decision.legal_action_mask.copy()  # what the policy does to its own arrays changes nothing
    try:
        answer = np.asarray(probs(decision), np.float64)
    except PolicyFailedError:
        raise
    except (Exception, SystemExit) as error:  # a policy may be anybody's code
        raise PolicyFailedError(f"policy {policy.name!r} raised {told(error)}") from error
    if answer.shape != legal.shape:
        raise PolicyFailedError(f"policy {policy.name!r} gave probabilities {answer.shape}; {legal.shape} is needed")
    sums = answer.sum(axis=1, keepdims=True)
    fits = (answer >= 0) & (legal | (answer == 0)) & (np.abs(sums - 1) <= SUM_TOLERANCE)
    if not fits.all():
        row = int(np.argmin(fits.all(axis=1)))
        raise PolicyFailedError(
            f"policy {policy.name!r} gave {answer[row].tolist()} in row {row}; it must be probabilities of the legal "
            f"actions {np.flatnonzero(legal[row]).tolist()}"
        )
    scaled: NDArray[np.float64] = answer / sums
    return scaled


def one_hot(actions: NDArray[np.integer[Any]], decision: Decision) -> NDArray[np.float64]:
    """[D, A] float64: probability 1 for the actions [D], which is what a policy that never draws lots answers."""
    probs = np.zeros(decision.legal_action_mask.shape)
    probs[np.arange(len(actions)), actions] = 1
    return probs


def uniform_numbers(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """[D] float64 in [0, 1), one from each key [D]."""
    return (keys >> np.uint64(11)).astype(np.float64) * _TO_UNIT


def check_actions(
    actions: object, decision: Decision, name: str, legal: NDArray[np.uint64] | None = None
) -> NDArray[np.int64]:
    """The actions a policy answered with, once they are known to be legal.

    Args:
        actions: what `act` returned.
        decision: what it was asked.
        name: what messages call the policy.
        legal: [D, L] uint64, the legal sets to check by when the policy may have written into its own.

    Returns:
        [D] int64.

    Raises:
        PolicyFailedError: anything but D integers, each of them legal in its row.
    """
    chosen = as_actions(actions, decision, name)
    legal = decision.legal_packed if legal is None else legal
    fits = are_legal(chosen, legal)
    if not fits.all():
        row = int(np.argmin(fits))
        raise PolicyFailedError(illegal_message(int(chosen[row]), decision, name, row, legal))
    return chosen


def as_actions(actions: object, decision: Decision, name: str) -> NDArray[np.int64]:
    """[D] int64: what a policy answered with, legal or not.

    Raises:
        PolicyFailedError: anything but D integers.
    """
    if actions is None:
        raise PolicyFailedError(
            f"policy {name!r} returned None; it must return one action for each of {len(decision)} decisions"
        )
    try:
        chosen = np.asarray(actions)
    except (Exception, SystemExit) as error:  # such as a tensor with a gradient
        raise PolicyFailedError(f"policy {name!r} returned no array of actions: {told(error)}") from error
    if chosen.shape != (len(decision),):
        raise PolicyFailedError(f"policy {name!r} returned shape {chosen.shape}; {(len(decision),)} was asked for")
    if chosen.dtype.kind not in "iu":
        raise PolicyFailedError(f"policy {name!r} returned {chosen.dtype} values; actions are integers")
    return chosen.astype(np.int64)


def load_policy(spec: str) -> Policy:
    """The policy that a spec names.

    Args:
        spec: `random`, `heuristic`, `two_trumps`, `always_stay`, `always_pass`, `human`, the trained bot for a table
            size (`bourre:4`), the path of a checkpoint file (`.safetensors`) or of a run folder (its best checkpoint,
            else its last), `search` or `search:worlds=64,policy=SPEC` (`search_spec`), or `module:attribute`, where
            the attribute is a policy or something that makes one when called without arguments. With `:greedy` behind
            it a trained bot plays its likeliest action instead of a drawn one.

    Raises:
        PolicyError: no such policy, or one that cannot be loaded.
    """
    if spec in NAMED:
        return _imported(NAMED[spec], spec)
    if spec.partition(":")[0] == "search":
        from agents.search_spec import load_search  # which loads policies itself

        return load_search(spec)
    path = Path(path_of(spec).removesuffix(GREEDY))
    if path.suffix == ".safetensors" or (spec and path.is_dir()):
        return _checkpoint(path, greedy=spec.endswith(GREEDY))
    if spec.partition(":")[0] == SHIPPED:
        raise PolicyError(f"no bot is called {spec!r}; those that come with the package are {choices()}")
    if ":" in spec:
        return _imported(spec, spec)
    near = difflib.get_close_matches(spec, [*NAMED, "search"], 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise PolicyError(f"no policy is called {spec!r}{hint}; {_choices()}")


def _choices() -> str:
    """What a spec may be, for messages."""
    names = f"{', '.join(NAMED)}, {choices()}, search"
    return f"choose {names}, a checkpoint (a .safetensors file or a run folder) or module:attribute"


def checkpoint_of(path: Path) -> Path | None:
    """The file that a path means: itself, or a run folder's best checkpoint, else its last; None when there is none."""
    candidates = [path / "best.safetensors", path / "last.safetensors"] if path.is_dir() else [path]
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _checkpoint(path: Path, *, greedy: bool) -> Policy:
    """The network policy of a checkpoint file, or of the best checkpoint of a run folder."""
    found = checkpoint_of(path)
    if found is None:
        missing = f"{path} holds neither best.safetensors nor last.safetensors" if path.is_dir() else f"no file {path}"
        raise PolicyError(f"{missing}; give a checkpoint that exists")
    try:
        from agents.neural import load_network_policy  # torch is imported only when a checkpoint is played
    except ImportError as error:
        raise PolicyError(f"{found} cannot be played without the packages of the train extra: {error}") from error
    return load_network_policy(f"{found}{GREEDY}" if greedy else found)


def _imported(reference: str, spec: str) -> Policy:
    """The policy that `module:attribute` names."""
    module_name, _, attribute = reference.partition(":")
    if not module_name or not attribute:
        raise PolicyError(f"{spec!r} is no policy; write module:attribute")
    try:
        found = _attribute(module_name, attribute)
        policy: Policy = found() if isinstance(found, type) or not hasattr(found, "act") else found
        is_policy = callable(getattr(policy, "act", None)) and isinstance(getattr(policy, "name", None), str)
    except PolicyError:
        raise
    except (Exception, SystemExit) as error:  # a user's module may raise anything, and may try to leave
        raise PolicyError(f"policy {spec!r} cannot be loaded: {told(error)}") from error
    if not is_policy:
        raise PolicyError(f"{spec!r} is a {type(policy).__name__}, which is no policy: it needs `name` and `act`")
    return policy


def told(error: BaseException) -> str:
    """An error as class and text."""
    try:
        return f"{type(error).__name__}: {error}".rstrip(": ")
    except (Exception, SystemExit):  # a user's error may fail to say what it is
        return type(error).__name__


def _attribute(module_name: str, attribute: str) -> Any:
    """An attribute of a module that may lie in the working directory."""
    here = str(Path.cwd())
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    module = importlib.import_module(module_name)
    if not hasattr(module, attribute):
        near = difflib.get_close_matches(attribute, dir(module), 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise PolicyError(f"module {module_name} has no attribute {attribute!r}{hint}")
    return getattr(module, attribute)


def illegal_message(action: int, decision: Decision, name: str, row: int, legal_packed: NDArray[np.uint64]) -> str:
    """Who chose what where, and what was legal [D, L]."""
    rules, seen = decision.rules, decision.packed[row]
    legal, part = legal_bits(legal_packed[row]), part_of(rules)
    return (
        f"policy {name!r} chose action {action} ({part.action_text(rules, seen, action)}) in row {row}, seat "
        f"{int(decision.seat[row])}, which is not legal; legal were {part.legal_texts(rules, seen, legal)}"
    )
