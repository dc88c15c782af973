"""Who plays: policies under names, from the words of a command line."""

import hashlib
import importlib
import importlib.util
import inspect
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents import baselines, heuristic, likely_worlds, lookahead, retracing, search, thresholds
from agents.games import part_named
from agents.policy import GREEDY, NAMED, Decision, Policy, PolicyError, check_rules, checkpoint_of, load_policy
from agents.search_spec import is_search, policies_of
from agents.shipped import path_of
from bourre_env.family import GAMES, GameRules

_NAMED_SPEC = re.compile(r"([A-Za-z0-9_.+-]+)=(.+)")
_BASELINES = (baselines, heuristic, thresholds)  # whose text decides how the policies of the package play
_SEARCH = (search, likely_worlds, lookahead, retracing)  # and what searches, whatever the prior
IDENTITY_LENGTH = 16


@dataclass(frozen=True, slots=True)
class Entrant:
    """A policy under the name it plays by.

    Attributes:
        name: what the tables call it.
        spec: what `load_policy` loads.
    """

    name: str
    spec: str

    def load(self) -> Policy:
        """The policy, playing under the entrant's name."""
        return _Entered(self.name, load_policy(self.spec))

    def is_ours(self) -> bool:
        """Whether it plays by code of this project alone: a named policy or a checkpoint."""
        return self.spec in NAMED or checkpoint_of(Path(path_of(self.spec).removesuffix(GREEDY))) is not None

    def identity(self) -> str:
        """A digest of what decides how it plays: the checkpoint and how it is read, or a module's source and attribute.

        Results may be put together only when what stands behind a name is the same, wherever its file lies. A module
        that imports others may change without its digest.
        """
        content = _content(self.spec)
        return _digest(content + _chosen_in(self.spec).encode()) if content else ""


@dataclass(frozen=True, slots=True)
class _Entered:
    """A policy whose messages carry the name it entered under."""

    name: str
    policy: Policy

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.integer[Any]]:
        """[D] actions."""
        return self.policy.act(decision, rng)

    def check_rules(self, rules: GameRules) -> None:
        """Whatever the policy says."""
        check_rules(self.policy, rules)


def parse_entrants(texts: Sequence[str], *, fewest: int = 2) -> tuple[Entrant, ...]:
    """Entrants from texts, each a spec or NAME=SPEC; an unnamed entrant is called by its spec.

    A folder of checkpoints, or of run folders, stands for all of them.

    Args:
        texts: the words.
        fewest: how many are needed.

    Raises:
        PolicyError: too few, two of one name, or a person.
    """
    entrants = tuple(entrant for text in texts for entrant in _entrants_of(text))
    if len(entrants) < fewest:
        raise PolicyError(f"a tournament needs at least two entrants; {len(entrants)} was given")
    name, count = Counter(entrant.name for entrant in entrants).most_common(1)[0]
    if count > 1:
        raise PolicyError(f"{count} entrants are called {name!r}; name them apart with NAME=SPEC, such as first={name}")
    if any(entrant.spec == "human" for entrant in entrants):
        raise PolicyError("'human' cannot enter a tournament: a block shows the same deal from every seat")
    return entrants


def _entrants_of(text: str) -> Iterator[Entrant]:
    """The entrants of one word."""
    match = _NAMED_SPEC.fullmatch(text)
    name, spec = (match[1], match[2]) if match else (text, text)
    folder = Path(spec.removesuffix(GREEDY))
    members = _members(folder) if spec not in NAMED and folder.is_dir() else []
    if not members:
        yield Entrant(name, spec)
    greedy = GREEDY * spec.endswith(GREEDY)
    for member in members:
        called = member.name.removesuffix(".safetensors")
        yield Entrant(f"{name.removesuffix(GREEDY)}/{called}{greedy}", f"{member}{greedy}")


def _members(folder: Path) -> list[Path]:
    """The checkpoints in a folder that is no run folder itself, or else the run folders in it."""
    if checkpoint_of(folder) is not None:
        return []
    return sorted(folder.glob("*.safetensors")) or sorted(
        inner for inner in folder.iterdir() if inner.is_dir() and checkpoint_of(inner) is not None
    )


def _content(spec: str) -> bytes:
    """What decides how a spec plays; empty when it cannot be found."""
    if spec in NAMED:
        return _text_of((*_BASELINES, *_shared_bots(spec)))
    if is_search(spec):
        return spec.encode() + _text_of(_SEARCH) + b"".join(_content(policy) for policy in policies_of(spec))
    file = checkpoint_of(Path(path_of(spec).removesuffix(GREEDY)))
    if file is not None:
        return file.read_bytes()
    found = importlib.util.find_spec(spec.partition(":")[0]) if ":" in spec else None
    source = Path(found.origin) if found is not None and found.origin else None
    return source.read_bytes() if source is not None and source.is_file() else b""


def _chosen_in(spec: str) -> str:
    """Which of the policies of its file a spec means: several may come from one."""
    if spec in NAMED:
        return f":{spec}"
    if checkpoint_of(Path(path_of(spec).removesuffix(GREEDY))) is not None:
        return GREEDY * spec.endswith(GREEDY)
    return f":{spec.partition(':')[2]}"


def _shared_bots(name: str) -> list[ModuleType]:
    """The modules of the bots that games have under a name."""
    references = [found for game in GAMES if (found := part_named(game).baselines.get(name)) is not None]
    return [importlib.import_module(reference.partition(":")[0]) for reference in references]


def _text_of(modules: Sequence[ModuleType]) -> bytes:
    """The source of some modules."""
    return b"".join(Path(inspect.getfile(module)).read_bytes() for module in modules)


def _digest(content: bytes) -> str:
    """The beginning of a SHA-256."""
    return hashlib.sha256(content).hexdigest()[:IDENTITY_LENGTH]


def check_entrants(entrants: Sequence[Entrant], rules: GameRules) -> None:
    """Load every entrant once and ask whether it can play under the rules.

    Raises:
        PolicyError: one cannot be loaded, or cannot play under these rules.
    """
    for entrant in entrants:
        check_rules(entrant.load(), rules)
