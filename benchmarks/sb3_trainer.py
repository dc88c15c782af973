"""Samples per CPU second of SB3-contrib's MaskablePPO on our Gymnasium environment; run by `benchmarks.training`.

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

NUM_ENVS, STEPS = 8, 1024  # samples of an iteration as in our default: about 8,000


class Watch(BaseCallback):  # type: ignore[misc]
    """Counts the samples and CPU seconds of whole iterations, the first left out, and stops after some time."""

    def __init__(self, seconds: float) -> None:
        """Stop at the end of the first iteration after so many CPU seconds."""
        super().__init__()
        self.allowed = seconds
        self.marks: list[tuple[int, float]] = []

    def _on_rollout_start(self) -> None:
        """Everything before this iteration is learned from."""
        self.marks.append((self.num_timesteps, time.process_time()))

    def _on_step(self) -> bool:
        """Whether to go on."""
        return len(self.marks) < 3 or self.marks[-1][1] - self.marks[1][1] < self.allowed

    def rate(self) -> float:
        """Samples per CPU second."""
        (first, began), (last, ended) = self.marks[1], self.marks[-1]
        return (last - first) / (ended - began)


def main(asked: dict[str, Any]) -> None:
    """Train and print the rate."""
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
    print(json.dumps({"samples_per_cpu_second": watch.rate()}))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
