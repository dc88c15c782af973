"""The Gymnasium environments of Bureau: one table and many, against each other and against the tables."""

import copy
import pickle
from typing import Any

import gymnasium
import numpy as np
import pytest
from bureau_play import text_of
from bureau_positions import easy_deck
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from test_gym import same

from bourre_env import BureauRules, DeckError, IllegalActionError, ResetNeededError, RulesError, shuffled_decks
from bourre_env.bureau.env import BureauEnv
from bourre_env.bureau.vector_env import BureauVectorEnv

ENV_ID = "bourre_env/Bureau-v0"


def chosen(mask: np.ndarray[Any, Any], rng: np.random.Generator) -> int:
    """A legal action; the next card as often as all the others together."""
    legal = np.flatnonzero(mask)
    return int(legal[0] if rng.random() < 0.5 else rng.choice(legal))


@pytest.mark.parametrize("changes", [{}, {"mask_in_observation": True, "resign": True}])
def test_gymnasiums_own_checker_finds_nothing(changes: dict[str, Any]) -> None:
    env = gymnasium.make(ENV_ID, **changes)
    check_env(env.unwrapped)


def test_views_fit_the_space_rewards_add_up_and_the_mask_is_told() -> None:
    env = BureauEnv()
    rng = np.random.default_rng(1)
    view, info = env.reset(seed=3)
    total, over = 0.0, False
    while not over:
        assert view in env.observation_space
        np.testing.assert_array_equal(info["action_mask"], env.action_masks())
        view, reward, terminated, truncated, info = env.step(chosen(info["action_mask"], rng))
        total, over = total + reward, terminated or truncated
    assert not info["action_mask"].any()
    assert total == pytest.approx(env.snapshot().cards_up / 104)
    assert info["cards_up"] == env.snapshot().cards_up > 0


def test_limit_of_decisions_truncates_and_the_last_moves_terminate() -> None:
    env = BureauEnv(max_steps=3)
    env.reset(seed=1)
    outcomes = [env.step(0)[2:4] for _ in range(3)]
    assert outcomes == [(False, False), (False, False), (False, True)]
    with pytest.raises(ResetNeededError, match="after the end"):
        env.step(0)
    resigning = BureauEnv(resign=True)
    resigning.reset(seed=1)
    assert resigning.step(198)[1:4] == (0.0, True, False)


def test_a_win_pays_one_in_all_and_loses_nothing_on_the_way() -> None:
    """A pack in which everything lies ready: every card goes up as it is drawn or uncovered."""
    ready = []
    for reward in ("cards", "win"):
        env = BureauEnv(reward=reward)
        env.reset(options={"deck": easy_deck()})
        total, over = 0.0, False
        while not over:
            legal = np.flatnonzero(env.action_masks())
            up = [action for action in legal if action == 2 or 16 <= action < 29]
            _, paid, over, truncated, _ = env.step(up[0] if up else 0)
            assert not truncated
            total += paid
        assert env.snapshot().ending == "won"
        ready.append(round(total, 9))
    assert ready == [1.0, 1.0]


def test_packs_and_seeds_decide_the_deal() -> None:
    env = BureauEnv()
    deck = [text_of(int(card)) for card in shuffled_decks(5, [0], pack=BureauRules().pack)[0]]
    same(env.reset(seed=5)[0], BureauEnv().reset(options={"deck": deck})[0])
    first, second = env.reset(seed=7)[0], env.reset()[0]
    assert not np.array_equal(first, second)
    env.reset(seed=7)
    same(env.reset()[0], second)
    for wrong, words in (
        (deck[:-1], "shape"),
        (["XX", *deck[1:]], "'XX' is not a card"),
        ([deck[1], *deck[1:]], "four"),
    ):
        with pytest.raises(DeckError, match=words):
            env.reset(options={"deck": wrong})
    with pytest.raises(ValueError, match="did you mean 'deck'"):
        env.reset(options={"dek": deck})


@pytest.mark.parametrize("action", [-1, 198, 1, 29, 10**9, 3.0, "0", None, [0], True])
def test_illegal_actions_change_nothing_pay_nothing_and_are_told(action: Any) -> None:
    env = BureauEnv()
    view, _ = env.reset(seed=1)
    before = env.snapshot()
    again, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated, info["illegal_action"]) == (0.0, False, False, True)
    assert env.snapshot() == before
    same(view, again)
    strict = BureauEnv(illegal="raise")
    strict.reset(seed=1)
    with pytest.raises(IllegalActionError, match="not legal; legal: draw"):
        strict.step(action)
    assert strict.snapshot() == before


def test_what_makes_no_environment_is_refused() -> None:
    with pytest.raises(RulesError, match="did you mean 'max_steps'"):
        BureauEnv(max_step=5)
    with pytest.raises(RulesError, match="no Bureau preset"):
        BureauEnv("standart")
    with pytest.raises(RulesError, match="in the value itself"):
        BureauEnv(BureauRules(), max_steps=5)
    with pytest.raises(ValueError, match="render_mode is 'human'"):
        BureauEnv(render_mode="human")
    with pytest.raises(ValueError, match="illegal is 'punish'"):
        BureauVectorEnv(illegal="punish")
    with pytest.raises(ValueError, match="num_envs is 0"):
        BureauVectorEnv(0)
    with pytest.raises(ResetNeededError, match=r"before reset\(\)"):
        BureauEnv().step(0)


def test_pictures_and_text_show_no_card_that_lies_face_down() -> None:
    env = gymnasium.make(ENV_ID, render_mode="ansi")
    env.reset(seed=1)
    table = env.unwrapped.snapshot()
    text = env.render()
    rows = text.splitlines()[-4:]
    assert rows[0].split() == ["--"] * 13
    assert rows[1].split() == [column[1] for column in table.columns]
    assert "52 cards" in text
    first = gymnasium.make(ENV_ID, render_mode="rgb_array")
    first.reset(seed=1)
    picture = first.render()
    assert (picture.shape, picture.dtype) == ((704, 1024, 3), np.uint8)
    tables = first.unwrapped._tables
    other = tables.reshuffle_unseen(0, seed=2)
    assert other.snapshot(0).columns != tables.snapshot(0).columns
    first.unwrapped._tables = other
    np.testing.assert_array_equal(first.render(), picture)
    first.unwrapped.step(0)
    assert not np.array_equal(first.render(), picture)


def test_copies_and_pickles_go_on_alike() -> None:
    env = BureauEnv()
    env.reset(seed=1)
    env.step(0)
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        one, rng = copy.deepcopy(env), np.random.default_rng(2)
        for _ in range(12):
            action = chosen(one.action_masks(), rng)
            mine, its = one.step(action), other.step(action)
            same(mine[0], its[0])
            assert mine[1:4] == its[1:4]


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize(
    "changes", [{"max_steps": 25}, {"mask_in_observation": True, "reward": "win", "max_steps": 40, "resign": True}]
)
def test_many_tables_play_the_episodes_of_single_ones(changes: dict[str, Any], mode: AutoresetMode) -> None:
    many = 5
    batched = gymnasium.make_vec(ENV_ID, num_envs=many, autoreset_mode=mode, **changes)
    assert isinstance(batched, BureauVectorEnv)
    single = SyncVectorEnv([lambda: BureauEnv(**changes)] * many, autoreset_mode=mode)
    assert batched.metadata["autoreset_mode"] == single.metadata["autoreset_mode"] == mode
    assert batched.observation_space == single.observation_space
    assert batched.action_space == single.action_space
    rng = np.random.default_rng(1)
    (view, infos), (its_view, its_infos) = batched.reset(seed=11), single.reset(seed=11)
    for _ in range(120):
        same(view, its_view)
        actions = np.array([chosen(row, rng) if row.any() else 0 for row in infos["action_mask"]])
        illegal = rng.random(many) < 0.1
        actions[illegal] = rng.integers(0, 198, illegal.sum())
        (view, *outcome, infos), (its_view, *its_outcome, its_infos) = batched.step(actions), single.step(actions)
        for mine, its in zip(outcome, its_outcome, strict=True):
            same(mine, its)
        keys = ("final_obs", "_final_obs", "final_info", "_final_info", "cards_up", "action_mask", "illegal_action")
        for key in keys:
            assert (key in infos) == (key in its_infos), key
            if key in infos:
                same(infos[key], its_infos[key])
        over = outcome[1] | outcome[2]
        if mode is AutoresetMode.DISABLED and over.any():
            view, infos = batched.reset(options={"reset_mask": over})
            its_view, _ = single.reset(options={"reset_mask": over})
            infos["action_mask"] = batched.action_masks().astype(np.int8)


def test_many_tables_refuse_what_they_cannot_do() -> None:
    env = BureauVectorEnv(3, illegal="raise")
    with pytest.raises(ResetNeededError):
        env.step(np.zeros(3, np.int64))
    env.reset(seed=1)
    with pytest.raises(IllegalActionError, match="table 1, seat 0, phase play: action 1"):
        env.step(np.array([0, 1, 0]))
    with pytest.raises(IllegalActionError, match="integers of shape"):
        env.step(np.zeros(2, np.int64))
    with pytest.raises(ValueError, match="reset_mask"):
        env.reset(options={"reset_mask": np.zeros(3, np.bool_)})
    with pytest.raises(ValueError, match="options"):
        env.reset(options={"deck": []})
