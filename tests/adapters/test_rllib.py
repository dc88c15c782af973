"""RLlib: the wrapper's rows and returns are the environment's, and the example learns from legal actions only."""

from collections.abc import Iterator

import numpy as np
import pytest

import bourre_env

ray = pytest.importorskip("ray")
pytest.importorskip("ray.rllib")
import rllib_ppo  # noqa: E402


@pytest.mark.parametrize("num_players", [2, 4, 8])
def test_same_seed_and_actions_give_the_environments_returns(num_players: int) -> None:
    env = rllib_ppo.BourreEnv({"num_players": num_players})
    raw = bourre_env.raw_env(num_players=num_players)
    rng = np.random.default_rng(num_players)
    for seed in (7, 8, 9):
        seen, _ = env.reset(seed=seed)
        raw.reset(seed=seed)
        done, total = False, dict.fromkeys(raw.possible_agents, 0.0)
        while not done:
            agent = raw.agent_selection
            expected = raw.observe(agent)
            assert list(seen) == [agent]
            assert env.observation_spaces[agent].contains(seen[agent])
            assert (seen[agent]["observations"] == expected["observation"]).all()
            assert (seen[agent]["action_mask"] == expected["action_mask"]).all()
            action = int(rng.choice(np.flatnonzero(expected["action_mask"])))
            seen, rewards, terminated, _, _ = env.step({agent: action})
            raw.step(action)
            for rewarded, chips in rewards.items():
                total[rewarded] += chips
            done = terminated["__all__"]
        assert set(seen) == set(raw.possible_agents)  # every seat sees the end, those that passed too
        assert total == raw.rewards
    assert env.counter.illegal == 0


@pytest.fixture
def algorithm() -> Iterator[rllib_ppo.PPO]:
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    made = rllib_ppo.make_algorithm(num_players=4, seed=3, batch_size=64)
    yield made
    made.stop()
    ray.shutdown()


def test_every_seat_that_decided_is_paid_in_the_learners_own_episodes(algorithm: rllib_ppo.PPO) -> None:
    counter = algorithm.env_runner.env.envs[0].unwrapped.counter
    for _ in range(15):
        (episode,) = algorithm.env_runner.sample(num_episodes=1)
        paid = {agent: part.get_return() for agent, part in episode.agent_episodes.items()}
        decided = {agent for agent, part in episode.agent_episodes.items() if len(part)}
        won = counter.unwrapped.rewards
        assert decided
        assert all(paid[agent] == won_chips for agent, won_chips in won.items() if agent in decided)
    assert counter.illegal == 0


def test_the_example_counts_no_illegal_action() -> None:
    counter = rllib_ppo.main(["--deals", "12", "--batch-size", "96", "--num-players", "3"])
    assert counter.deals >= 12
    assert counter.illegal == 0
