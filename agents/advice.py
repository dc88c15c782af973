"""What a person at the table is told on request: what a policy would do there, and what the actions are worth."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agents.analysis import values_seen
from agents.policy import GREEDY, Policy
from agents.search import SearchPolicy
from agents.search_spec import is_search
from agents.sitting import Sitting

DEFAULT = "heuristic"


@dataclass(frozen=True, slots=True)
class Advice:
    """One legal action.

    Attributes:
        action: in words.
        prob: how likely the policy takes it.
        value: antes of the deal it is worth; None unless the policy searches.
    """

    action: str
    prob: float
    value: float | None


def adviser_spec(specs: Sequence[str]) -> str:
    """Whom to ask when nobody was named: a search at the table, else a checkpoint there, else the rule bot."""
    searches = [spec for spec in specs if is_search(spec)]
    checkpoints = [spec for spec in specs if _is_checkpoint(spec)]
    return next(iter([*searches, *checkpoints]), DEFAULT)


def _is_checkpoint(spec: str) -> bool:
    """Whether a spec is a checkpoint file or a run folder."""
    path = Path(spec.removesuffix(GREEDY))
    return path.suffix == ".safetensors" or path.is_dir()


def advise(sitting: Sitting, policy: Policy) -> list[Advice]:
    """What a policy says of each legal action of the seat to act, the likeliest first; looking changes nothing.

    Raises:
        PolicyFailedError: it raised, or answered with anything but legal actions.
    """
    probs = sitting.hint(policy)
    values = _values(sitting, policy) if isinstance(policy, SearchPolicy) else {}
    said = [Advice(action, prob, values.get(action)) for action, prob in probs.items()]
    return sorted(said, key=lambda one: (-one.prob, -(one.value or 0.0)))


def _values(sitting: Sitting, policy: SearchPolicy) -> dict[str, float | None]:
    """Antes that each legal action is worth, in words."""
    actions = np.array(sitting.legal_ids(), np.int64)
    seen = values_seen(sitting.decision(), actions, policy)
    return {sitting.text_of(int(action)): seen.mean(column) for column, action in enumerate(actions)}
