"""SB3-contrib: one seat's view pays what the environment pays, and the example takes legal actions only."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import bourre_env
from bourre_env import Decision

pytest.importorskip("sb3_contrib")
import sb3_maskable_ppo
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import DummyVecEnv


class LastLegal:
    """Plays the last legal action, but passes only in every other seat."""

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.integer[Any]]:
        return np.array([last_legal(decision.legal_action_mask[0], int(decision.seat[0]))])


def last_legal(mask: NDArray[Any], seat: int) -> int:
    legal = np.flatnonzero(mask)
    return int(legal[-2] if legal[-1] == 84 and seat % 2 else legal[-1])


@pytest.mark.parametrize(("num_players", "seat"), [(2, 1), (4, 1), (8, 5)])
def test_same_seed_and_actions_give_the_environments_returns(num_players: int, seat: int) -> None:
    env = sb3_maskable_ppo.one_seat(num_players, LastLegal(), seat)
    raw = bourre_env.raw_env(num_players=num_players)
    for seed in range(20):
        seen, _ = env.reset(seed=seed)
        raw.reset(seed=seed)
        done, reward, met = False, 0.0, False
        while not (met and raw.terminations["player_0"]):
            if raw.terminations["player_0"]:  # a deal in which the learner had nothing to decide
                raw.reset()
            mask = raw.observe(raw.agent_selection)["action_mask"]
            action = last_legal(mask, int(raw.agent_selection[-1]))
            if raw.agent_selection == f"player_{seat}":
                met = True
                assert (seen == raw.observe(raw.agent_selection)["observation"]).all()
                assert (env.action_masks() == mask).all()
                seen, reward, done, _, _ = env.step(np.int64(action))
            raw.step(action)
        assert done
        assert reward == raw.rewards[f"player_{seat}"]
    assert env.illegal == 0


def test_masks_are_found_through_the_vector_environment() -> None:
    env = DummyVecEnv([lambda: sb3_maskable_ppo.one_seat(4, LastLegal())])
    env.reset()
    assert is_masking_supported(env)
    assert get_action_masks(env).shape == (1, 85)


def test_a_frozen_copy_does_not_learn_and_acts_legally() -> None:
    env = sb3_maskable_ppo.one_seat(4, LastLegal())
    model = sb3_maskable_ppo.MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=64, n_epochs=2, seed=3)
    frozen = sb3_maskable_ppo.FrozenCopy(model)
    env = sb3_maskable_ppo.one_seat(4, frozen)
    model.set_env(env)
    before = [weights.clone() for weights in frozen._policy.parameters()]
    model.learn(128)
    assert all((one == other).all() for one, other in zip(before, frozen._policy.parameters(), strict=True))
    assert (env.decisions, env.illegal) == (128, 0)
    assert any((one != other).any() for one, other in zip(before, model.policy.parameters(), strict=True))


def test_the_example_counts_no_illegal_action() -> None:
    played = sb3_maskable_ppo.main(["--deals", "40", "--num-players", "3"])
    assert [env.deals for env in played] == [14, 13, 13]
    assert sum(env.illegal for env in played) == 0
    assert sum(env.decisions for env in played) > 100
