"""SB3-contrib: MaskablePPO in one seat against frozen copies of itself in the others.

    pip install "bourre-env[sb3]"
    python examples/sb3_maskable_ppo.py --deals 600

Stable-Baselines3 learns for one seat; the others are part of its environment. `OneSeat` is that environment, with
`action_masks()` where MaskablePPO looks for it. After each generation the opponents become copies of the learner.
"""

import argparse
import copy
from collections.abc import Sequence
from typing import Any, Protocol

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import StopTrainingOnMaxEpisodes

import bourre_env
from agents.policy import Decision, load_policy


class Opponent(Protocol):
    """A policy as `agents.policy.load_policy` gives it."""

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.integer[Any]]:
        """[D] one legal action for each decision."""


class OneSeat(gymnasium.Env[NDArray[np.float32], np.int64]):
    """A deal from one seat: an observation is a decision of that seat, an episode one deal, the reward chips."""

    def __init__(self, opponents: Sequence[Opponent], seat: int = 0) -> None:
        """Seat the learner at `seat` and the opponents at the others, clockwise."""
        self.table = bourre_env.raw_env(num_players=len(opponents) + 1)
        self.opponents = list(opponents)
        self._agent = self.table.possible_agents[seat]
        self.observation_space = self.table.observation_space(self._agent)["observation"]
        self.action_space = self.table.action_space(self._agent)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Deal until the learner has something to decide: a dealer whom all others leave alone has not."""
        super().reset(seed=seed)
        self.table.reset(seed=seed, options=options)
        self._let_others_act()
        while self._is_over():
            self.table.reset(options=options)
            self._let_others_act()
        return self._observation(), {}

    def step(self, action: np.int64) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Act and let the others act; an illegal action raises."""
        self.table.step(action)
        self._let_others_act()
        over = self._is_over()
        return self._observation(), self.table.rewards[self._agent] if over else 0.0, over, False, {}

    def action_masks(self) -> NDArray[np.bool_]:
        """[A] bool: True for each legal action of the learner."""
        return np.asarray(self.table.observe(self._agent)["action_mask"] == 1)

    def _observation(self) -> NDArray[np.float32]:
        """[O] what the learner may know."""
        seen: NDArray[np.float32] = self.table.observe(self._agent)["observation"]
        return seen

    def _is_over(self) -> bool:
        """Whether the deal is settled."""
        return bool(self.table.terminations[self._agent])

    def _let_others_act(self) -> None:
        """Play until the learner is to act or the deal is over."""
        while not self._is_over() and self.table.agent_selection != self._agent:
            self.table.step(self._choice_of_opponent())

    def _choice_of_opponent(self) -> np.integer[Any]:
        """The action of the opponent to act, who sees its own observation."""
        agent = self.table.agent_selection
        seat = self.table.possible_agents.index(agent)
        own = self.table.possible_agents.index(self._agent)
        seen = self.table.observe(agent)
        decision = Decision(
            seen["observation"][None],
            seen["action_mask"][None] == 1,
            np.array([seat], np.int8),
            self.table.rules,
            self.np_random.integers(2**64, size=1, dtype=np.uint64),
        )
        opponent = self.opponents[(seat - own) % self.table.rules.num_players - 1]
        choice: np.integer[Any] = opponent.act(decision, self.np_random)[0]
        return choice


class CountingSeat(gymnasium.Wrapper[NDArray[np.float32], np.int64, NDArray[np.float32], np.int64]):
    """Counts the learner's actions and passes them on.

    Attributes:
        decisions: actions of the learner.
        illegal: those its mask forbids.
        deals: episodes played to their end.
    """

    decisions = illegal = deals = 0

    def action_masks(self) -> NDArray[np.bool_]:
        """[A] bool: True for each legal action of the learner."""
        masks: NDArray[np.bool_] = self.env.get_wrapper_attr("action_masks")()
        return masks

    def step(self, action: np.int64) -> tuple[NDArray[np.float32], Any, bool, bool, dict[str, Any]]:
        """Count an action and pass it on."""
        self.decisions += 1
        self.illegal += not self.action_masks()[action]
        seen, reward, terminated, truncated, info = self.env.step(action)
        self.deals += terminated or truncated
        return seen, reward, terminated, truncated, info


class FrozenCopy:
    """What a learner would play now, whatever it learns later."""

    name = "frozen"

    def __init__(self, model: MaskablePPO) -> None:
        """Copy the policy of `model`."""
        self._policy = copy.deepcopy(model.policy)

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.integer[Any]]:
        """[D] actions drawn from the policy."""
        actions, _ = self._policy.predict(decision.observation, action_masks=decision.legal_action_mask)
        chosen: NDArray[np.integer[Any]] = actions
        return chosen


def main(arguments: Sequence[str] | None = None) -> list[CountingSeat]:
    """Run the example; returns the environment of each generation with its counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=600)
    parser.add_argument("--generations", type=int, default=3, help="opponents: the heuristic, then frozen copies")
    parser.add_argument("--num-players", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)
    num_opponents = chosen.num_players - 1
    played = [CountingSeat(OneSeat([load_policy("heuristic")] * num_opponents))]
    model = MaskablePPO("MlpPolicy", played[0], n_steps=128, batch_size=128, n_epochs=4, gamma=1.0, seed=chosen.seed)
    for generation in range(chosen.generations):
        if generation:
            played.append(CountingSeat(OneSeat([FrozenCopy(model)] * num_opponents)))
            model.set_env(played[-1])
        deals = chosen.deals // chosen.generations + (generation < chosen.deals % chosen.generations)
        model.learn(total_timesteps=10**9, callback=StopTrainingOnMaxEpisodes(max_episodes=deals))
    deals, decisions, illegal = (
        sum(getattr(env, name) for env in played) for name in ("deals", "decisions", "illegal")
    )
    print(f"{deals} deals, {decisions} decisions of the learner, illegal actions: {illegal}")
    return played


if __name__ == "__main__":
    main()
