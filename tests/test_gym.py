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
    """A legal action, each as likely as the others."""
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


def played(env: BourreEnv, seed: int) -> None:
    """A whole episode, in which the learner takes the first legal action."""
    _, info = env.reset(seed=seed)
    over = False
    while not over:
        _, _, terminated, truncated, info = env.step(info["action_mask"].argmax())
        over = terminated or truncated


def test_opponents_sit_on_the_left_in_order() -> None:
    left, others = Recorder(), Recorder()
    env = BourreEnv(opponents=[left, others, others])
    for seed in range(12):
        played(env, seed)
        assert {int(decision.seat[0]) for decision in left.asked} == {(env.seat + 1) % 4}
        assert {int(decision.seat[0]) for decision in others.asked} == {(env.seat + 2) % 4, (env.seat + 3) % 4}
        left.asked.clear()
        others.asked.clear()


def test_opponents_see_what_the_environment_shows_their_seats() -> None:
    for seed in range(4):
        recorder = Recorder()
        env = BourreEnv(opponents=recorder)
        played(env, seed)
        aec = bourre_env.raw_env()
        aec.reset(seed=seed)
        waiting = list(recorder.asked)
        while not aec.terminations["player_0"]:
            seen = aec.observe(aec.agent_selection)
            if aec.agent_selection != f"player_{env.seat}":
                decision = waiting.pop(0)
                np.testing.assert_array_equal(decision.observation[0], seen["observation"])
            aec.step(int(seen["action_mask"].argmax()))
        assert not waiting


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


class FailsOnce(Recorder):
    """Answers once with what it is given, and otherwise with the first legal action."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer
        self.is_due = False

    def act(self, decision: Decision, rng: np.random.Generator) -> Any:
        if not self.is_due:
            return super().act(decision, rng)
        self.is_due = False
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize("illegal", ["ignore", "raise"])
@pytest.mark.parametrize(
    "answer", [[3], None, [[1, 2], [3]], [1.5], RuntimeError("no idea"), np.array([2**63], np.uint64)]
)
def test_an_opponent_that_fails_ends_the_episode_and_nobody_plays_in_its_seat(answer: Any, illegal: str) -> None:
    expected = RuntimeError if isinstance(answer, RuntimeError) else OpponentError
    opponent = FailsOnce(answer)
    one = BourreEnv(opponents=opponent, seat=0, illegal=illegal)
    _, info = one.reset(seed=2)
    opponent.is_due = True
    with pytest.raises(expected):
        one.step(info["action_mask"].argmax())
    with pytest.raises(ResetNeededError):
        one.step(84)
    many = BourreVectorEnv(1, opponents=opponent, seat=0, illegal=illegal)
    _, infos = many.reset(seed=2)
    opponent.is_due = True
    with pytest.raises(expected):
        many.step(infos["action_mask"].argmax(axis=1))
    with pytest.raises(ResetNeededError):
        many.step(np.array([84]))
    for env in (one, many):
        _, again = env.reset(seed=2)
        np.testing.assert_array_equal(np.ravel(again["action_mask"]), np.ravel(info["action_mask"]))


def test_an_illegal_opponent_is_named_with_what_was_legal() -> None:
    opponent = FailsOnce([3])
    env = BourreEnv(opponents=opponent, seat=0)
    _, info = env.reset(seed=2)
    opponent.is_due = True
    with pytest.raises(OpponentError, match=r"'recorder' in seat \d chose action 3, which is not legal; legal: \d+"):
        env.step(info["action_mask"].argmax())


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


def test_a_session_ends_before_its_pot_outgrows_its_count() -> None:
    env = BourreVectorEnv(64, num_players=8, num_deals=25)
    _, infos = env.reset(seed=0)
    rng, early = np.random.default_rng(0), 0
    for _ in range(120):
        actions = np.array([chosen(row, rng) for row in infos["action_mask"]])
        deals = env._deals_played.copy()
        _, _, _, truncations, infos = env.step(actions)
        early += int((truncations & (deals < 23)).sum())
    assert early > 0


def test_reset_takes_the_options_it_knows_and_no_others() -> None:
    env = BourreVectorEnv(5)
    _, infos = env.reset(seed=1, options={"seat": 3})
    assert infos["seat"].tolist() == [3] * 5
    for options in ({"dealer": 1}, "x", {"seat": 9}):
        with pytest.raises(ValueError, match=r"options"):
            env.reset(options=options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"options\['seat'\] is 9"):
        BourreEnv().reset(options={"seat": 9})
    with pytest.raises(ValueError, match="seat is 9"):
        BourreEnv(seat=9)


def test_tables_that_were_never_reset_do_not_start_by_themselves() -> None:
    env = BourreVectorEnv(2, autoreset_mode="NextStep")
    env.reset(seed=5, options={"reset_mask": np.array([True, False])})
    with pytest.raises(ResetNeededError):
        env.step(env.action_masks().argmax(axis=1))


def test_seeds_of_none_go_on_with_every_stream() -> None:
    one, other = BourreVectorEnv(3), BourreVectorEnv(3)
    one.reset(seed=4)
    other.reset(seed=4)
    same(one.reset()[0], other.reset(seed=[None] * 3)[0])
    assert one._generator().random() == other._generator().random()


def test_numpy_seeds_are_seeds() -> None:
    same(BourreEnv().reset(seed=np.int64(3))[0], BourreEnv().reset(seed=3)[0])  # type: ignore[arg-type]
    same(BourreVectorEnv(2).reset(seed=np.int64(3))[0], BourreVectorEnv(2).reset(seed=3)[0])
    for seed in (1.5, True, -1):
        with pytest.raises(ValueError, match="seed is"):
            BourreVectorEnv(2).reset(seed=seed)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="seed is"):
            BourreEnv().reset(seed=seed)  # type: ignore[arg-type]
