"""Steps per CPU second of SB3-contrib's MaskablePPO on our Gymnasium environment; run by `benchmarks.training`.

Takes one JSON object as its only argument and prints one. It is a script, not a module, so that it runs in an
interpreter that has little more than `sb3_contrib` and `bourre_env`.
"""

import json
import sys
import time
from typing import Any

import gymnasium
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

from bourre_env.gym import ENV_ID

NUM_ENVS, STEPS = 8, 512


class Watch(BaseCallback):  # type: ignore[misc]
    """Counts the steps and CPU seconds of whole iterations, the first left out, and stops after some time."""

    def __init__(self, seconds: float) -> None:
        """Stop at the end of the first iteration after so many CPU seconds."""
        super().__init__()
        self.allowed = seconds
        self.choices = 0  # steps at which more than one action was legal
        self.marks: list[tuple[int, int, float]] = []

    def _on_rollout_start(self) -> None:
        """Everything before this iteration is learned from."""
        self.marks.append((self.num_timesteps, self.choices, time.process_time()))

    def _on_step(self) -> bool:
        """Whether to go on."""
        self.choices += int((self.locals["action_masks"].sum(axis=1) > 1).sum())
        return len(self.marks) < 3 or self.marks[-1][2] - self.marks[1][2] < self.allowed

    def rates(self) -> dict[str, float]:
        """Steps per CPU second: all, and those with a choice."""
        (steps, choices, began), (all_steps, all_choices, ended) = self.marks[1], self.marks[-1]
        seconds = ended - began
        return {"steps": (all_steps - steps) / seconds, "samples": (all_choices - choices) / seconds}


def main(asked: dict[str, Any]) -> None:
    """Train and print the rates."""
    torch.set_num_threads(1)

    def one_table() -> gymnasium.Env[Any, Any]:
        return gymnasium.make(ENV_ID, num_players=asked["num_players"], rules=asked["rules"], opponents="random")

    model = MaskablePPO(
        "MlpPolicy",
        DummyVecEnv([one_table] * NUM_ENVS),
        n_steps=STEPS,
        batch_size=asked["minibatch"],
        n_epochs=asked["epochs"],
        gamma=1.0,
        seed=1,
        policy_kwargs={"net_arch": {"pi": asked["actor"], "vf": asked["critic"]}, "activation_fn": torch.nn.ReLU},
        device="cpu",
    )
    watch = Watch(asked["seconds"])
    model.learn(total_timesteps=10**9, callback=watch)
    print(json.dumps(watch.rates()))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
