"""AgileRL: decisions are credited with the environment's returns, and the example takes legal actions only."""

import pytest

import bourre_env

torch = pytest.importorskip("torch")
pytest.importorskip("agilerl.algorithms.dqn")
import agilerl_dqn  # noqa: E402
from counting import CountingEnv  # noqa: E402


@pytest.mark.parametrize("num_players", [2, 4, 8])
def test_same_seed_and_actions_give_the_environments_returns(num_players: int) -> None:
    env = CountingEnv(bourre_env.raw_env(num_players=num_players))
    learner = agilerl_dqn.make_learner(env)
    torch.manual_seed(num_players)
    raw = bourre_env.raw_env(num_players=num_players)
    for seed in (7, 8, 9):
        env.reset(seed=seed)
        decisions, chips = agilerl_dqn.play_deal(env, learner, epsilon=0.5)
        raw.reset(seed=seed)
        for row, action in enumerate(env.actions):
            seat = int(raw.agent_selection[-1])
            assert (decisions["obs"][row].numpy() == raw.observe(raw.agent_selection)["observation"]).all()
            assert (decisions["action"][row], decisions["reward"][row]) == (action, chips[seat])
            raw.step(action)
        assert chips.tolist() == list(raw.rewards.values())
        assert len(decisions) == len(env.actions)
    assert env.illegal == 0


def test_b104_the_target_of_a_decision_is_what_its_seat_won() -> None:
    env = CountingEnv(bourre_env.raw_env())
    learner = agilerl_dqn.make_learner(env)
    env.reset(seed=2)
    decisions, _ = agilerl_dqn.play_deal(env, learner, epsilon=1.0)
    with torch.no_grad():
        value = learner.actor(decisions["obs"]).gather(1, decisions["action"])
        expected = torch.nn.functional.mse_loss(value, decisions["reward"])
    assert learner.learn(decisions) == pytest.approx(float(expected), rel=1e-5)


def test_the_example_counts_no_illegal_action() -> None:
    env = agilerl_dqn.main(["--deals", "40", "--num-players", "3"])
    assert (env.deals, env.illegal) == (40, 0)
    assert env.decisions > 100
