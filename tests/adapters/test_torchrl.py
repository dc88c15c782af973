"""TorchRL: the wrapper's rows are the environment's, and the example learns from legal actions only."""

import numpy as np
import pytest

import bourre_env

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")
pytest.importorskip("torchrl.envs.libs.pettingzoo")
import torchrl_ppo  # noqa: E402
from torchrl.modules import MLP  # noqa: E402


@pytest.mark.parametrize("num_players", [2, 4, 8])
def test_same_seed_and_actions_give_the_environments_returns(num_players: int) -> None:
    env, counter = torchrl_ppo.make_env(num_players)
    torch.manual_seed(num_players)
    size = env.observation_spec["players", "observation", "observation"].shape[-1]
    actor = torchrl_ppo.actor_of(MLP(size, 85, num_cells=[8]), "players")
    raw = bourre_env.raw_env(num_players=num_players)
    for seed in (7, 8, 9):
        decisions, chips = torchrl_ppo.play_deal(env, actor, seed)
        raw.reset(seed=seed)
        for row, action in enumerate(counter.actions):
            seen = raw.observe(raw.agent_selection)
            assert (decisions["observation", "observation"][row].numpy() == seen["observation"]).all()
            assert (decisions["action_mask"][row].numpy() == seen["action_mask"]).all()
            assert decisions["value_target"][row] == chips[int(raw.agent_selection[-1])]
            raw.step(action)
        assert chips.tolist() == list(raw.rewards.values())
        assert len(decisions) == len(counter.actions)
    assert counter.illegal == 0


def test_b002_a_rollout_completes_when_seats_have_passed() -> None:
    env, counter = torchrl_ppo.make_env(4)
    rows = env.reset(seed=3)
    eldest = int(counter.agent_selection[-1])
    rewards = torch.zeros(4)
    while not rows["done"]:
        acting = int(np.flatnonzero(rows["players", "mask"].numpy())[0])
        legal = rows["players", "action_mask"]
        passes = acting in (eldest, (eldest + 2) % 4) and bool(legal[acting, 84])
        rows["players", "action"] = torch.full((4,), 84) if passes else legal.int().argmax(-1)
        stepped = env.step(rows)
        rewards += stepped["next", "players", "reward"][:, 0]
        rows = env.step_mdp(stepped)
    assert counter.actions.count(84) == 2
    assert rewards.sum() == 0


def test_the_example_counts_no_illegal_action() -> None:
    counter = torchrl_ppo.main(["--deals", "30", "--deals-per-update", "10", "--num-players", "3"])
    assert (counter.deals, counter.illegal) == (30, 0)
    assert counter.decisions > 100
