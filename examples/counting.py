"""A wrapper that the examples share: it counts decisions, deals and illegal actions, and keeps the actions taken."""

from typing import Any

import numpy as np
from pettingzoo.utils.wrappers import BaseWrapper


class CountingEnv(BaseWrapper):
    """Passes everything on to an AEC environment and counts what goes by.

    An illegal action is counted and then passed on, so that `raw_env` refuses it: a wrong mask must not look like weak
    play.

    Attributes:
        decisions: actions of agents that were to act.
        illegal: those that the agent's mask forbids.
        deals: episodes begun and played at least in part.
        actions: the actions of the episode going on, or of the last one.
        options: what every `reset` hands to the environment.
    """

    def __init__(self, env: Any, options: dict[str, Any] | None = None) -> None:
        """Wrap `env`; nothing is counted yet."""
        super().__init__(env)
        self.decisions = self.illegal = self.deals = 0
        self.actions: list[int] = []
        self.options = options

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode."""
        super().reset(seed=seed, options=self.options if options is None else options)
        self.actions = []

    def step(self, action: Any) -> None:
        """Count an action and pass it on."""
        if action is not None and not self.env.terminations[self.env.agent_selection]:
            mask = self.env.observe(self.env.agent_selection)["action_mask"]
            is_number = np.ndim(action) == 0 and 0 <= int(action) < len(mask)
            self.deals += not self.actions
            self.decisions += 1
            self.illegal += not (is_number and bool(mask[int(action)]))
            self.actions.append(int(action))
        super().step(action)

    def summary(self) -> str:
        """The counts as one line."""
        return f"{self.deals} deals, {self.decisions} decisions, illegal actions: {self.illegal}"
