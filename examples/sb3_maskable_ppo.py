"""SB3-contrib: MaskablePPO in one seat against frozen copies of itself in the others.

    pip install "bourre-env[sb3]"
    python examples/sb3_maskable_ppo.py --deals 600

Stable-Baselines3 learns for one seat; the others are part of the environment, which has `action_masks()` where
MaskablePPO looks for it. After each generation the opponents become copies of the learner.
"""

import argparse
import copy
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import StopTrainingOnMaxEpisodes

from bourre_env import Decision
from bourre_env.gym import ENV_ID


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


def one_seat(num_players: int, opponents: Any, seat: int | None = None) -> CountingSeat:
    """The environment of one seat; an illegal action raises."""
    return CountingSeat(
        gymnasium.make(ENV_ID, num_players=num_players, opponents=opponents, seat=seat, illegal="raise")
    )


def main(arguments: Sequence[str] | None = None) -> list[CountingSeat]:
    """Run the example; returns the environment of each generation with its counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=600)
    parser.add_argument("--generations", type=int, default=3, help="opponents: the heuristic, then frozen copies")
    parser.add_argument("--num-players", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)
    played = [one_seat(chosen.num_players, "heuristic")]
    model = MaskablePPO("MlpPolicy", played[0], n_steps=128, batch_size=128, n_epochs=4, gamma=1.0, seed=chosen.seed)
    for generation in range(chosen.generations):
        if generation:
            played.append(one_seat(chosen.num_players, FrozenCopy(model)))
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
