"""Ray RLlib, new API stack: self-play PPO with one action-masking module for all seats.

    pip install "bourre-env[rllib]"
    python examples/rllib_ppo.py --deals 60

RLlib's own `ActionMaskingTorchRLModule` wants the observation under the key "observations", and `PettingZooEnv` wants
an AEC environment: a small wrapper renames the key. Everything runs in this process; for more, raise
`num_env_runners` and count in a callback instead.
"""

import argparse
import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import ray
from counting import CountingEnv
from gymnasium import spaces
from pettingzoo.utils.wrappers import BaseWrapper
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

import bourre_env

MODULE = "every_seat"


class RenamedObservation(BaseWrapper):
    """Gives the observation the key that RLlib's action-masking module looks for, and the mask its dtype."""

    def __init__(self, env: Any) -> None:
        """Wrap an AEC environment."""
        super().__init__(env)
        self._spaces = {agent: self._renamed(env.observation_space(agent)) for agent in env.possible_agents}

    @staticmethod
    def _renamed(space: spaces.Dict) -> spaces.Dict:
        """The space with the names and dtypes RLlib wants."""
        mask = spaces.Box(0.0, 1.0, space["action_mask"].shape, np.float32)
        return spaces.Dict({"action_mask": mask, "observations": space["observation"]})

    def observation_space(self, agent: str) -> spaces.Dict:
        """The same object at each call."""
        return self._spaces[agent]

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """`observations` float32 [O] and `action_mask` float32 [A]."""
        seen = self.env.observe(agent)
        return {"action_mask": seen["action_mask"].astype(np.float32), "observations": seen["observation"]}


class BourreEnv(PettingZooEnv):
    """The environment for RLlib, which makes it from a class and a configuration.

    Attributes:
        counter: counts what goes by.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        """Make the table; `config` holds the arguments of `raw_env`."""
        self.counter = CountingEnv(bourre_env.raw_env(**config))
        super().__init__(RenamedObservation(self.counter))


def make_algorithm(num_players: int, seed: int, batch_size: int) -> PPO:
    """PPO with one module that plays every seat."""
    config = (
        PPOConfig()
        .environment(BourreEnv, env_config={"num_players": num_players}, disable_env_checking=True)
        .env_runners(num_env_runners=0, batch_mode="complete_episodes")
        .multi_agent(policies={MODULE}, policy_mapping_fn=lambda *_, **__: MODULE)
        .rl_module(
            rl_module_spec=MultiRLModuleSpec(
                rl_module_specs={
                    MODULE: RLModuleSpec(
                        module_class=ActionMaskingTorchRLModule, model_config={"fcnet_hiddens": [128, 128]}
                    )
                }
            )
        )
        .training(
            gamma=1.0,
            lambda_=1.0,
            lr=5e-4,
            train_batch_size_per_learner=batch_size,
            minibatch_size=min(256, batch_size),
            num_epochs=4,
            entropy_coeff=0.01,
        )
        .debugging(seed=seed, log_level="ERROR")
    )
    return config.build_algo()


def main(arguments: Sequence[str] | None = None) -> CountingEnv:
    """Run the example; returns the counter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=60, help="train until this many deals have been played")
    parser.add_argument("--batch-size", type=int, default=512, help="decisions an update")
    parser.add_argument("--num-players", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    ray.init(num_cpus=1, include_dashboard=False, logging_level=logging.ERROR, log_to_driver=False)
    algorithm = make_algorithm(chosen.num_players, chosen.seed, chosen.batch_size)
    counter: CountingEnv = algorithm.env_runner.env.envs[0].unwrapped.counter
    while counter.deals < chosen.deals:
        algorithm.train()
    algorithm.stop()
    ray.shutdown()
    print(counter.summary())
    return counter


if __name__ == "__main__":
    main()
