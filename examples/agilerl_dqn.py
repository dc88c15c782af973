"""AgileRL: self-play with its DQN, one network for all seats, driven by hand over the AEC loop.

    pip install "bourre-env[agilerl]"
    python examples/agilerl_dqn.py --deals 400

AgileRL's multi-agent learners and its wrappers want parallel environments, in which everybody acts at once; its
single-agent DQN takes one observation and one mask at a time, which is what a game of turns needs. The target of its
update takes the best next action without asking whether it is legal. Here every decision is stored as the last of its
seat, rewarded with what the seat won in the deal, so that no next action is asked for.
"""

import argparse
from collections.abc import Sequence

import numpy as np
import torch
from agilerl.algorithms.dqn import DQN
from agilerl.components.replay_buffer import ReplayBuffer
from counting import CountingEnv
from numpy.typing import NDArray
from tensordict import TensorDict

import bourre_env


def make_learner(env: CountingEnv) -> DQN:
    """A DQN for every seat."""
    agent = env.possible_agents[0]
    return DQN(
        env.observation_space(agent)["observation"],
        env.action_space(agent),
        net_config={"encoder_config": {"hidden_size": [128, 128]}},
        batch_size=256,
        lr=1e-3,
    )


def play_deal(env: CountingEnv, learner: DQN, epsilon: float) -> tuple[TensorDict, NDArray[np.float64]]:
    """Play one deal; the environment must have been reset.

    Returns:
        The decisions [D], each with the chips its seat won as `reward` [D, 1] and `done` [D, 1] set; and the chips [N]
        of the seats.
    """
    seats, observations, actions = [], [], []
    chips = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        seen, reward, termination, truncation, _ = env.last()
        chips[agent] += reward
        if termination or truncation:
            env.step(None)
            continue
        action = learner.get_action(seen["observation"], epsilon, seen["action_mask"][None])[0]
        seats.append(agent)
        observations.append(seen["observation"])
        actions.append(action)
        env.step(action)
    obs = torch.as_tensor(np.stack(observations))
    decisions = {
        "obs": obs,
        "next_obs": obs,  # never looked at: each decision is its seat's last
        "action": torch.as_tensor(np.array(actions))[:, None],
        "reward": torch.tensor([[chips[agent]] for agent in seats]),
        "done": torch.ones(len(seats), 1),
    }
    return TensorDict(decisions, batch_size=[len(seats)]), np.array(list(chips.values()))


def main(arguments: Sequence[str] | None = None) -> CountingEnv:
    """Run the example; returns the counter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=400)
    parser.add_argument("--num-players", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    torch.manual_seed(chosen.seed)
    torch.set_num_threads(1)
    env = CountingEnv(bourre_env.raw_env(num_players=chosen.num_players))
    learner = make_learner(env)
    memory = ReplayBuffer(20_000)
    env.reset(seed=chosen.seed)
    for deal in range(chosen.deals):
        if deal:
            env.reset()
        decisions, _ = play_deal(env, learner, epsilon=0.2)
        memory.add(decisions)
        if len(memory) >= learner.batch_size:
            learner.learn(memory.sample(learner.batch_size))
    print(env.summary())
    return env


if __name__ == "__main__":
    main()
