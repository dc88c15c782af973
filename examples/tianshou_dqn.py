"""Tianshou 2: self-play DQN with one network for all seats, through `PettingZooEnv`.

    pip install "bourre-env[tianshou]"
    python examples/tianshou_dqn.py --deals 300

A deal pays at its end, on the transition of whoever acts last. Returns over a single step, or advantages over one
seat's own transitions, would therefore never see what most seats won. The horizon of the n-step return is as long as
the longest deal, so that every decision is credited with what its own seat won, and nothing is bootstrapped.
"""

import argparse
import logging
from collections.abc import Sequence

import numpy as np
import torch
from counting import CountingEnv
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, CollectStats, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.utils.net.common import Net
from tianshou.utils.torch_utils import policy_within_training_step

import bourre_env


def make_env(num_players: int) -> tuple[PettingZooEnv, CountingEnv]:
    """The environment for Tianshou, and the counter inside it."""
    counter = CountingEnv(bourre_env.raw_env(num_players=num_players))
    return PettingZooEnv(counter), counter


def make_learner(env: PettingZooEnv, longest_deal: int) -> MultiAgentOffPolicyAlgorithm:
    """One DQN that plays and learns for every seat."""
    size = env.observation_space["observation"].shape
    policy = DiscreteQLearningPolicy(
        model=Net(state_shape=size, action_shape=env.action_space.n, hidden_sizes=[128, 128]),
        action_space=env.action_space,
        observation_space=env.observation_space,
        eps_training=0.2,
    )
    learner = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-3),
        gamma=1.0,
        n_step_return_horizon=longest_deal,
    )
    return MultiAgentOffPolicyAlgorithm(algorithms=[learner] * len(env.agent_idx), env=env)


def play_deals(collector: Collector, number: int) -> CollectStats:
    """Collect some deals with exploration; `stats.returns` is [deals, N], the chips of every seat."""
    stats: CollectStats = collector.collect(n_episode=number)
    return stats


def main(arguments: Sequence[str] | None = None) -> CountingEnv:
    """Run the example; returns the counter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=300)
    parser.add_argument("--deals-per-update", type=int, default=20)
    parser.add_argument("--num-players", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    torch.manual_seed(chosen.seed)
    torch.set_num_threads(1)
    np.random.seed(chosen.seed)  # noqa: NPY002 - Tianshou explores with NumPy's global generator
    logging.getLogger("tianshou.data.stats").setLevel(logging.ERROR)  # it warns of several returns an episode
    env, counter = make_env(chosen.num_players)
    learner = make_learner(env, counter.unwrapped.rules.max_decisions)
    buffer = VectorReplayBuffer(20_000, 1)
    collector = Collector(learner, DummyVectorEnv([lambda: env]), buffer, exploration_noise=True)
    collector.reset(gym_reset_kwargs={"seed": chosen.seed})
    for first in range(0, chosen.deals, chosen.deals_per_update):
        with policy_within_training_step(learner.policy):
            play_deals(collector, min(chosen.deals_per_update, chosen.deals - first))
            for _ in range(20):
                learner.update(buffer, 256)
    print(counter.summary())
    return counter


if __name__ == "__main__":
    main()
