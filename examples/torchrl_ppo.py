"""TorchRL: self-play PPO with one network for all seats, through `PettingZooWrapper(use_mask=True)`.

    pip install "bourre-env[torchrl]"
    python examples/torchrl_ppo.py --deals 300

All seats are one group, so each step has a row for every seat. Two masks go with it and mean different things:
`mask` says which seat acts, `action_mask` which actions it has. Rows of seats that wait carry an action mask full of
ones: they must be left out of the loss. A deal pays at its end, so every decision is credited with what its seat won.
"""

import argparse
import warnings
from collections.abc import Sequence

import torch
from counting import CountingEnv
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss

import bourre_env

GROUP = "players"


def make_env(num_players: int) -> tuple[PettingZooWrapper, CountingEnv]:
    """The environment for TorchRL, and the counter inside it."""
    counter = CountingEnv(bourre_env.raw_env(num_players=num_players))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PettingZoo in TorchRL is tested")
        env = PettingZooWrapper(counter, use_mask=True, group_map={GROUP: counter.possible_agents})
    return env, counter


def actor_of(network: nn.Module, *prefix: str) -> ProbabilisticActor:
    """The policy; `prefix` is where the rows of the seats lie."""
    logits = TensorDictModule(
        network, in_keys=[(*prefix, "observation", "observation")], out_keys=[(*prefix, "logits")]
    )
    return ProbabilisticActor(
        logits,
        in_keys={"logits": (*prefix, "logits"), "mask": (*prefix, "action_mask")},
        out_keys=[(*prefix, "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=(*prefix, "action_log_prob"),
    )


def play_deal(
    env: PettingZooWrapper, actor: ProbabilisticActor, seed: int | None = None
) -> tuple[TensorDict, torch.Tensor]:
    """Play one deal.

    Returns:
        The decisions, one row for each, with the chips their seat won as `value_target` [D, 1]; and the chips [N] of
        the seats.
    """
    start = env.reset() if seed is None else env.reset(seed=seed)
    with torch.no_grad():
        deal = env.rollout(1000, actor, auto_reset=False, tensordict=start)
    chips = deal["next", GROUP, "reward"].sum(0)  # [N, 1]
    seats = deal[GROUP].select("observation", "action_mask", "action", "action_log_prob", "mask")
    seats["value_target"] = chips.expand(len(deal), *chips.shape)
    return seats[deal[GROUP, "mask"]], chips[:, 0]


def learn(loss: ClipPPOLoss, optimiser: torch.optim.Optimizer, decisions: TensorDict, epochs: int = 4) -> None:
    """Some epochs of clipped PPO; the advantage is the chips won less the value predicted."""
    with torch.no_grad():
        value = loss.critic_network(decisions.clone())["state_value"]
    advantage = decisions["value_target"] - value
    decisions["advantage"] = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
    for _ in range(epochs):
        for rows in torch.randperm(len(decisions)).split(256):
            losses = loss(decisions[rows])
            optimiser.zero_grad()
            (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
            nn.utils.clip_grad_norm_(loss.parameters(), 1.0)
            optimiser.step()


def main(arguments: Sequence[str] | None = None) -> CountingEnv:
    """Run the example; returns the counter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=300)
    parser.add_argument("--deals-per-update", type=int, default=50)
    parser.add_argument("--num-players", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    torch.manual_seed(chosen.seed)
    torch.set_num_threads(1)
    env, counter = make_env(chosen.num_players)
    size = env.observation_spec[GROUP, "observation", "observation"].shape[-1]
    num_actions = env.observation_spec[GROUP, "action_mask"].shape[-1]
    network = MLP(size, num_actions, num_cells=[128, 128])
    critic = ValueOperator(MLP(size, 1, num_cells=[128, 128]), in_keys=[("observation", "observation")])
    loss = ClipPPOLoss(actor_of(network), critic, entropy_coeff=0.01)
    loss.set_keys(sample_log_prob="action_log_prob")
    optimiser = torch.optim.Adam(loss.parameters(), lr=1e-3)
    actor = actor_of(network, GROUP)
    env.set_seed(chosen.seed)
    for first in range(0, chosen.deals, chosen.deals_per_update):
        number = min(chosen.deals_per_update, chosen.deals - first)
        deals = [play_deal(env, actor)[0] for _ in range(number)]
        learn(loss, optimiser, torch.cat(deals))
    print(counter.summary())
    return counter


if __name__ == "__main__":
    main()
