"""Tianshou: the wrapper's rows are the environment's, the learner is credited with what a seat won, nothing illegal."""

import numpy as np
import pytest

import bourre_env

pytest.importorskip("tianshou")
import tianshou_dqn
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv


@pytest.mark.parametrize("num_players", [2, 4, 8])
def test_b042_same_seed_and_actions_give_the_environments_returns(num_players: int) -> None:
    env, counter = tianshou_dqn.make_env(num_players)
    raw = bourre_env.raw_env(num_players=num_players)
    rng = np.random.default_rng(num_players)
    for seed in (7, 8, 9):
        seen, _ = env.reset(seed=seed)
        raw.reset(seed=seed)
        done, total = False, np.zeros(num_players)
        while not done:
            expected = raw.observe(raw.agent_selection)
            assert seen["agent_id"] == raw.agent_selection
            assert (seen["obs"] == expected["observation"]).all()
            assert seen["mask"] == list(expected["action_mask"] == 1)
            action = rng.choice(np.flatnonzero(seen["mask"]))
            seen, reward, terminated, truncated, _ = env.step(action)
            raw.step(action)
            total += reward
            done = terminated or truncated
        assert total.tolist() == list(raw.rewards.values())
    assert counter.illegal == 0


def test_every_decision_is_credited_with_what_its_seat_won() -> None:
    env, counter = tianshou_dqn.make_env(4)
    learner = tianshou_dqn.make_learner(env, counter.unwrapped.rules.max_decisions)
    buffer = VectorReplayBuffer(2_000, 1)
    collector = Collector(learner, DummyVectorEnv([lambda: env]), buffer, exploration_noise=True)
    collector.reset(gym_reset_kwargs={"seed": 3})
    stats = tianshou_dqn.play_deals(collector, 30)
    assert stats.returns.shape == (30, 4)
    assert np.abs(stats.returns.sum(axis=1)).max() < 1e-9
    batch, indices = buffer.sample(0)
    processed = learner._preprocess_batch(batch, buffer, indices)
    deals = np.cumsum([0, *batch.done[:-1]])
    for seat, agent in enumerate(env.agent_idx):
        won = stats.returns[deals[batch.obs.agent_id == agent], seat]
        assert np.allclose(np.asarray(processed[agent].returns).ravel(), won)


def test_the_example_counts_no_illegal_action() -> None:
    counter = tianshou_dqn.main(["--deals", "40", "--num-players", "3"])
    assert (counter.deals, counter.illegal) == (40, 0)
    assert counter.decisions > 100
