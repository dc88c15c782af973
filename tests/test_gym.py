"""The Gymnasium views: one table and many, against each other and against the PettingZoo environment.

Shapes: B tables.
"""

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from conftest import TABLE_SIZES
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import bourre_env
from agents.policy import load_policy
from bourre_env import Decision, IllegalActionError, OpponentError, ResetNeededError, Rules
from bourre_env.gym import BourreEnv
from bourre_env.gym_vector import BourreVectorEnv

ENV_ID = "bourre_env/Bourre-v0"


def chosen(mask: np.ndarray[Any, Any], rng: np.random.Generator) -> int:
    """A legal action; passing less often than the mask would have it."""
    legal = np.flatnonzero(mask)
    return int(rng.choice(legal))


def same(one: Any, other: Any) -> None:
    """Two nested values of arrays are equal to the byte."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            same(one[key], other[key])
    elif isinstance(one, np.ndarray) and one.dtype == object:
        for mine, its in zip(one, other, strict=True):
            same(mine, its)
    elif one is None:
        assert other is None
    else:
        np.testing.assert_array_equal(one, other)
        assert np.asarray(one).dtype == np.asarray(other).dtype


# --- one table


@pytest.mark.parametrize("changes", [{}, {"num_deals": 3}, {"mask_in_observation": True}, {"rules": "wiki"}])
def test_gymnasiums_own_checker_finds_nothing(changes: dict[str, Any]) -> None:
    env = gymnasium.make(ENV_ID, num_players=4, opponents=["heuristic"] * 3, **changes)
    check_env(env.unwrapped)


def test_render_modes_pass_the_checker() -> None:
    env = gymnasium.make(ENV_ID, render_mode="rgb_array")
    env.reset(seed=1)
    picture = env.render()
    assert picture.dtype == np.uint8
    text = gymnasium.make(ENV_ID, render_mode="ansi", num_players=3)
    text.reset(seed=1)
    assert "seat" in text.render().lower()


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_every_size_makes_an_environment(num_players: int) -> None:
    env = gymnasium.make(ENV_ID, num_players=num_players)
    rng = np.random.default_rng(num_players)
    for episode in range(5):
        view, info = env.reset(seed=episode)
        over = False
        while not over:
            assert view in env.observation_space
            view, _, terminated, truncated, info = env.step(chosen(info["action_mask"], rng))
            over = terminated or truncated
        assert not info["action_mask"].any()


def test_chips_of_learner_and_opponents_add_up_over_a_session() -> None:
    """The learner's rewards are what the table says its seat has won, and the leftover pot is shared."""
    env = BourreEnv(num_deals=6, rules="pagat_limit")
    rng = np.random.default_rng(3)
    for seed in range(20):
        _, info = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            _, reward, terminated, truncated, info = env.step(chosen(info["action_mask"], rng))
            total, over = total + reward, terminated or truncated
            assert (terminated, type(reward)) == (False, float)
        left = env.table.snapshot().carry / 4
        assert total == pytest.approx(env.table.snapshot().chips[env.seat] + left)


@pytest.mark.parametrize("action", [-1, 85, 10**9, 3.0, "3", None, [3], True])
def test_illegal_actions_change_nothing_pay_nothing_and_are_told(action: Any) -> None:
    env = BourreEnv(opponents="heuristic")
    view, _ = env.reset(seed=1)
    before = env.table.record()
    again, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated, info["illegal_action"]) == (0.0, False, False, True)
    assert env.table.record() == before
    np.testing.assert_array_equal(view, again)
    strict = BourreEnv(illegal="raise")
    strict.reset(seed=1)
    before = strict.table.record()
    with pytest.raises(IllegalActionError):
        strict.step(action)
    assert strict.table.record() == before


def test_numpy_integers_are_actions() -> None:
    for form in (np.int8, np.array, np.uint64):
        env = BourreEnv(num_players=2)
        _, info = env.reset(seed=1)
        *_, info = env.step(form(np.flatnonzero(info["action_mask"])[0]))
        assert not info["illegal_action"]


def test_seat_is_drawn_fixed_or_given() -> None:
    env = BourreEnv()
    assert {env.reset(seed=seed)[1]["seat"] for seed in range(40)} == {0, 1, 2, 3}
    assert env.reset(seed=5, options={"seat": 2})[1]["seat"] == 2
    assert {BourreEnv(seat=1).reset(seed=seed)[1]["seat"] for seed in range(9)} == {1}
    with pytest.raises(ValueError, match="seat"):
        BourreEnv(seat=4)


def test_options_reach_the_table() -> None:
    env = BourreEnv(seat=0)
    env.reset(seed=5, options={"dealer": 3, "carry": 9})
    shown = env.table.snapshot()
    assert (shown.dealer, shown.carry, shown.pot) == (3, 9, 13)


def test_step_before_reset_and_after_the_end_says_what_to_do() -> None:
    env = BourreEnv()
    with pytest.raises(ResetNeededError, match="reset"):
        env.step(84)
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, over, _, info = env.step(np.flatnonzero(info["action_mask"])[0])
    with pytest.raises(ResetNeededError, match="reset"):
        env.step(84)


def test_copies_and_pickles_go_on_alike() -> None:
    env = BourreEnv(num_deals=4)
    _, info = env.reset(seed=1)
    env.step(chosen(info["action_mask"], np.random.default_rng(1)))
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        original, rng = copy.deepcopy(env), np.random.default_rng(2)
        for _ in range(12):
            action = chosen(original.action_masks(), rng)
            one, two = original.step(action), other.step(action)
            same(one[0], two[0])
            assert one[1:4] == two[1:4]


# --- opponents


class Recorder:
    """Plays the first legal action and remembers what it was asked."""

    name = "recorder"

    def __init__(self) -> None:
        self.asked: list[Decision] = []

    def act(self, decision: Decision, rng: np.random.Generator) -> np.ndarray[Any, Any]:
        self.asked.append(decision)
        return decision.legal_action_mask.argmax(axis=1)


def test_opponents_sit_on_the_left_in_order() -> None:
    left, others = Recorder(), Recorder()
    env = BourreEnv(opponents=[left, others, others])
    for seed in range(12):
        env.reset(seed=seed)
        expected = (env.seat + 1) % 4
        assert {int(decision.seat[0]) for decision in left.asked} <= {expected}
        assert {int(decision.seat[0]) for decision in others.asked} <= {(env.seat + 2) % 4, (env.seat + 3) % 4}
        left.asked.clear()
        others.asked.clear()


def test_opponents_never_see_another_hand() -> None:
    """An opponent's observation is what the PettingZoo environment shows its seat."""
    recorder = Recorder()
    env = BourreEnv(opponents=recorder)
    env.reset(seed=3)
    aec = bourre_env.raw_env()
    aec.reset(seed=3)
    for decision in recorder.asked:
        seen = aec.observe(aec.agent_selection)
        np.testing.assert_array_equal(decision.observation[0], seen["observation"])
        aec.step(int(seen["action_mask"].argmax()))


@pytest.mark.parametrize(
    ("opponents", "words"),
    [(["random"] * 2, "has 2 entries"), ([object()] * 3, "needs a method act"), ("nobody", "no policy is called")],
)
def test_what_is_no_opponent_is_refused(opponents: Any, words: str) -> None:
    for make in (BourreEnv, BourreVectorEnv):
        with pytest.raises(ValueError, match=words):
            make(opponents=opponents)


def test_an_opponent_that_answers_nonsense_is_named() -> None:
    class Nonsense:
        name = "nonsense"

        def act(self, decision: Decision, rng: np.random.Generator) -> Any:
            return ["no", "action"]

    with pytest.raises(OpponentError, match="'nonsense' returned"):
        BourreEnv(opponents=Nonsense(), seat=0).reset(seed=1, options={"dealer": 0})


# --- many tables

GAMES: list[dict[str, Any]] = [
    {},
    {"num_players": 2, "opponents": "heuristic"},
    {"num_players": 7, "num_deals": 3, "rules": "pagat_limit"},
    {"mask_in_observation": True, "seat": 2, "opponents": ["random", "heuristic", "always_stay"]},
    {"num_players": 3, "rules": "hoyle", "num_deals": 2},
    {"rules": Rules.preset("pagat", stacks="table_stakes"), "num_deals": 9, "buy_in": 4},
]


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("changes", GAMES)
def test_many_tables_play_the_episodes_of_single_ones(changes: dict[str, Any], mode: AutoresetMode) -> None:
    many = 7
    batched = gymnasium.make_vec(ENV_ID, num_envs=many, autoreset_mode=mode, **changes)
    assert isinstance(batched, BourreVectorEnv)
    single = SyncVectorEnv([lambda: BourreEnv(**changes)] * many, autoreset_mode=mode)
    assert batched.metadata["autoreset_mode"] == single.metadata["autoreset_mode"] == mode
    assert batched.observation_space == single.observation_space
    assert batched.action_space == single.action_space
    rng = np.random.default_rng(1)
    (view, infos), (its_view, its_infos) = batched.reset(seed=11), single.reset(seed=11)
    for _ in range(120):
        same(view, its_view)
        mask = infos["action_mask"]
        actions = np.array([chosen(row, rng) if row.any() else 0 for row in mask])
        illegal = rng.random(many) < 0.1
        actions[illegal] = rng.integers(0, 85, illegal.sum())
        (view, *outcome, infos), (its_view, *its_outcome, its_infos) = batched.step(actions), single.step(actions)
        for mine, its in zip(outcome, its_outcome, strict=True):
            same(mine, its)
        for key in ("final_obs", "_final_obs", "final_info", "_final_info", "seat", "action_mask", "illegal_action"):
            assert (key in infos) == (key in its_infos), key
            if key in infos:
                same(infos[key], its_infos[key])
        over = outcome[1] | outcome[2]
        if mode is AutoresetMode.DISABLED and over.any():
            view, infos = batched.reset(options={"reset_mask": over})
            its_view, _ = single.reset(options={"reset_mask": over})
            infos["action_mask"] = batched.action_masks().astype(np.int8)


def test_views_handed_out_never_change() -> None:
    env = BourreVectorEnv(8)
    views, infos = env.reset(seed=1)
    kept, kept_mask = views.copy(), infos["action_mask"].copy()
    for _ in range(10):
        env.step(env.action_masks().argmax(axis=1))
    np.testing.assert_array_equal(views, kept)
    np.testing.assert_array_equal(infos["action_mask"], kept_mask)


def test_actions_that_are_no_integers_are_refused() -> None:
    env = BourreVectorEnv(3)
    with pytest.raises(ResetNeededError, match="reset"):
        env.step(np.zeros(3, np.int64))
    env.reset(seed=1)
    before = env.tables.records.tobytes()
    for actions in (np.zeros(3), np.zeros(2, np.int64), [True] * 3):
        with pytest.raises(IllegalActionError, match="integers of shape"):
            env.step(actions)
    strict = BourreVectorEnv(3, illegal="raise")
    strict.reset(seed=1)
    with pytest.raises(IllegalActionError, match="table 1, "):
        strict.step(np.where(np.arange(3) == 1, -1, strict.action_masks().argmax(axis=1)))
    assert strict.tables.records.tobytes() == before


def test_policies_of_the_package_are_opponents_as_they_are() -> None:
    env = BourreVectorEnv(16, opponents=load_policy("heuristic"))
    env.reset(seed=1)
    for _ in range(20):
        env.step(env.action_masks().argmax(axis=1))


@pytest.mark.parametrize(
    ("seed", "words"), [([1, 2], "has 2 entries"), (-1, "seed is -1"), ("x", "seed"), (2**64 - 1, "seed is")]
)
def test_wrong_seeds_are_refused(seed: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        BourreVectorEnv(3).reset(seed=seed)
