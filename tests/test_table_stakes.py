"""Rule 6.7 beyond a single deal: sessions at table stakes in the environment, their copies, records and options."""

import copy
import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from conftest import TABLE_SIZES
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pettingzoo.test import api_test, seed_test
from random_play import any_rules
from reference import ReferenceTable
from test_env import PASS, some_action, state_of, trace, warned

import bourre_env
from bourre_env import Rules, RulesError, Tables, raw_env, shuffled_decks
from bourre_env.bourre.rules import BUY_IN, MAX_CHIPS
from bourre_env.errors import NotationError
from bourre_env.notation import parse, write
from bourre_env.render import ansi

STAKES = Rules(stacks="table_stakes")
REPRODUCIBLE = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow],
)


def random_stacks(rules: Rules, rng: np.random.Generator) -> list[int] | None:
    """Chips for each seat, some of them none; None on credit."""
    return rng.integers(0, 13, rules.num_players).tolist() if rules.stacks == "table_stakes" else None


def next_action(env: raw_env, rng: np.random.Generator) -> int:
    """A legal action; passing is as likely as people make it."""
    legal = np.flatnonzero(env.observe(env.agent_selection)["action_mask"])
    pass_action = env.action_space(env.agent_selection).n - 1
    return int(legal[-1] if legal[-1] == pass_action and rng.random() < 0.3 else rng.choice(legal))


def is_over(env: raw_env) -> bool:
    """Whether the episode has ended."""
    return env.truncations[env.agent_selection] or env.terminations[env.agent_selection]


# --- chips


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_6_7_session_conserves_every_chip_and_ends_when_fewer_than_two_seats_can_play(num_players: int) -> None:
    env = raw_env(num_players, Rules(num_players=num_players, ante=2, stacks="table_stakes"), 60, buy_in=3)
    rng, early = np.random.default_rng(num_players), 0
    for seed in range(12):
        env.reset(seed=seed)
        total = np.zeros(num_players)
        while not is_over(env):
            now = env.snapshot()
            assert min(now.stacks) >= 0
            assert sum(now.stacks) + now.pot == 6 * num_players
            assert [stack - 6 for stack in now.stacks] == list(now.chips)
            env.step(next_action(env, rng))
            total += list(env.rewards.values())
        end = env.snapshot()
        assert sum(end.stacks) + end.carry == 6 * num_players
        assert total.tolist() == pytest.approx([chips + end.carry / num_players for chips in end.chips])
        assert sum(total) == pytest.approx(0, abs=1e-9)
        assert all(env.truncations.values())
        can_play = sum(stack > 0 or skips for stack, skips in zip(end.stacks, end.exempt, strict=True))
        assert (can_play < 2) or env.deal_index == 59
        early += can_play < 2
    assert early > 3


def broke_after_first_deal(exempt: list[int], stacks: list[int], num_deals: int = 9) -> raw_env:
    """A session of two seats, after a deal in which the dealer, seat 1, collected because seat 0 passed."""
    env = raw_env(2, Rules(num_players=2, stacks="table_stakes"), num_deals)
    env.reset(seed=1, options={"stacks": stacks, "dealer": 1, "exempt": exempt})
    env.step(PASS)
    return env


def test_6_7_the_last_seat_with_chips_is_the_end() -> None:
    env = broke_after_first_deal([], [1, 7])
    assert (env.snapshot().stacks, env.deal_index) == ((0, 8), 0)
    assert env.truncations == {"player_0": True, "player_1": True}
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}
    assert broke_after_first_deal([], [2, 7]).snapshot().stacks == (0, 7)  # the next antes are paid
    assert broke_after_first_deal([], [1, 7], num_deals=1).terminations["player_0"]


def test_6_7_seat_that_went_bourre_with_its_last_chip_plays_on_for_the_pot_it_paid() -> None:
    env = raw_env(2, Rules(num_players=2, stacks="table_stakes"), 9)
    env.reset(seed=1, options={"stacks": [2, 7], "dealer": 1})
    env.forfeit()  # of the pot of two that seat 0 owes it has one chip left
    now = env.snapshot()
    assert (env.deal_index, now.stacks, now.carry, now.pot, now.exempt) == (1, (0, 7), 1, 2, (True, False))
    env.step(env.action_id("stay"))
    assert len(np.flatnonzero(env.observe("player_0")["action_mask"])) > 1


def test_6_7_seat_without_chips_is_dealt_in_and_must_pass() -> None:
    env = raw_env(3, Rules(num_players=3, stacks="table_stakes"), 4)
    env.reset(seed=2, options={"stacks": [0, 9, 9], "dealer": 2})
    assert np.flatnonzero(env.observe("player_0")["action_mask"]).tolist() == [PASS]
    assert env.snapshot().stacks == (0, 8, 8)


# --- the oracle


class OracleSession:
    """A session by the oracle alone, its stacks handed on by hand."""

    def __init__(self, rules: Rules, seed: int, *, dealer: int, stacks: list[int] | None) -> None:
        """The first deal."""
        self.rules, self.seed, self.deals = rules, seed, 0
        self.table = self._deal(dealer, stacks)

    def _deal(self, dealer: int, stacks: list[int] | None, carry: int = 0, exempt: Any = ()) -> ReferenceTable:
        deck = shuffled_decks(self.seed, [self.deals], pack=self.rules.pack)[0].tolist()
        self.deals += 1
        return ReferenceTable(self.rules, deck, dealer, carry=carry, exempt=exempt, stacks=stacks)

    @property
    def stacks(self) -> list[int] | None:
        """What each seat has now."""
        if self.table.stacks is None:
            return None
        return [before + won for before, won in zip(self.table.stacks, self.table.returns, strict=True)]

    def goes_on(self, num_deals: int) -> bool:
        """Deal again where a session of so many deals does."""
        last = self.table
        chips = self.stacks or [1] * self.rules.num_players
        can_play = [has > 0 or skips for has, skips in zip(chips, last.exempt, strict=True)]
        if self.deals == num_deals or sum(can_play) < 2:
            return False
        self.table = self._deal(last.next_dealer, self.stacks, last.carry, last.exempt)
        return True


@REPRODUCIBLE
@given(rules=any_rules(), seed=st.integers(0, 2**32))
def test_6_7_environment_plays_the_sessions_of_the_oracle_under_any_rules(rules: Rules, seed: int) -> None:
    rng = np.random.default_rng(seed)
    stacks = random_stacks(rules, rng)
    env = raw_env(rules=rules, num_deals=6)
    env.reset(seed=seed, options={"stacks": stacks})
    session = OracleSession(rules, seed, dealer=env.snapshot().dealer, stacks=stacks)
    while not is_over(env):
        now, table = env.snapshot(), session.table
        assert (now.seat, now.phase, now.pot, now.dealer) == (table.seat, table.phase, table.pot, table.dealer)
        assert list(now.stacks) == (session.stacks or [])
        assert set(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])) == table.legal_actions()
        action = next_action(env, rng)
        env.step(action)
        table.step(action)
        if table.phase != "settled":
            continue
        left = 0 if session.goes_on(6) else table.carry
        assert list(env.rewards.values()) == pytest.approx([won + left / rules.num_players for won in table.returns])
        assert is_over(env) == (session.table is table)


# --- copies and PettingZoo


@pytest.mark.parametrize("copied", [raw_env.clone, copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_6_7_copy_in_mid_session_is_exact_and_plays_on_alike(copied: Any) -> None:
    env, rng = raw_env(rules=STAKES, num_deals=20, buy_in=8), np.random.default_rng(3)
    env.reset(seed=3)
    while env.deal_index < 4:
        env.step(next_action(env, rng))
    other = copied(env)
    assert (state_of(other), other.record()) == (state_of(env), env.record())
    assert trace(other, np.random.default_rng(7)) == trace(env, np.random.default_rng(7))
    env.reset()
    other.reset()
    assert state_of(other) == state_of(env)
    assert env.snapshot().stacks == (7, 7, 7, 7)


@pytest.mark.parametrize("make", [bourre_env.raw_env, bourre_env.env])
@warned
def test_6_7_pettingzoo_tests_pass(make: Any) -> None:
    api_test(make(rules=STAKES, num_deals=3, buy_in=4), num_cycles=60)
    seed_test(lambda: make(rules=STAKES, num_deals=3, buy_in=4), num_cycles=60)


def test_6_7_observation_tells_the_stacks_and_who_sits_out_in_its_last_word() -> None:
    env = raw_env(rules=STAKES, buy_in=5)
    env.reset(seed=1, options={"exempt": [0], "dealer": 3, "stacks": [130, 0, 3, 9]})
    seen = env.observe("player_0")["observation"]
    assert seen.shape == (832 + 64,)
    assert seen[832:].reshape(8, 8)[:, :7].sum(axis=1).tolist() == [7, 0, 2, 4, 0, 0, 0, 0]
    assert seen[832:].reshape(8, 8)[:, 7].tolist() == [0, 1, 0, 0, 0, 0, 0, 0]


def test_6_7_text_view_shows_the_stacks() -> None:
    env = raw_env(rules=STAKES, buy_in=5, render_mode="ansi")
    env.reset(seed=1)
    assert str(env.render()).count("chips -1  stack 4") == 4
    assert "stack" not in ansi(in_credit().snapshot())


def in_credit() -> raw_env:
    """A deal on credit that has begun."""
    env = raw_env()
    env.reset(seed=1)
    return env


# --- arguments and options


def test_6_7_buy_in_and_stacks_set_what_each_seat_has() -> None:
    for buy_in, chips in ((None, BUY_IN), (3, 3)):
        env = raw_env(rules=Rules(ante=5, stacks="table_stakes"), buy_in=buy_in)
        env.reset(seed=1)
        assert env.snapshot().stacks == (5 * chips - 5,) * 4
    env.reset(options={"stacks": np.array([5, 6, 7, 8])})
    assert env.snapshot().stacks == (0, 1, 2, 3)
    env.reset(options={"stacks": None})
    assert env.snapshot().stacks == (10,) * 4
    assert in_credit().snapshot().stacks == ()


@pytest.mark.parametrize("buy_in", [0, -1, 1.0, True, "9", MAX_CHIPS + 1], ids=repr)
def test_6_7_bad_buy_in_is_refused_in_words(buy_in: Any) -> None:
    with pytest.raises(ValueError, match=r"buy_in is .* from 1 to 2147483647: antes"):
        bourre_env.env(rules=STAKES, buy_in=buy_in)


def test_6_7_credit_knows_no_stacks() -> None:
    with pytest.raises(RulesError, match=r"buy_in=3 has no meaning .*credit"):
        raw_env(buy_in=3)
    with pytest.raises(ValueError, match=r"options\['stacks'\] has no meaning .*credit"):
        raw_env().reset(options={"stacks": [1, 2, 3, 4]})
    assert Tables(Rules(), 2).stacks is None


@pytest.mark.parametrize(
    "stacks", [[1, 2, 3], [1, 2, 3, -4], [1, 2, 3, 4.0], [1, 2, 3, True], "1234", 7, [1, 2, 3, 2**31]], ids=repr
)
def test_6_7_bad_stacks_are_refused_in_words_and_change_nothing(stacks: Any) -> None:
    env = raw_env(rules=STAKES)
    env.reset(seed=1)
    before = state_of(env)
    with pytest.raises(ValueError, match=r"options\['stacks'\] is .*one number for each of the 4 seats"):
        env.reset(seed=2, options={"stacks": stacks})
    assert state_of(env) == before


def test_1_5_session_ends_before_a_stack_outgrows_its_count() -> None:
    env = raw_env(2, Rules(num_players=2, stacks="table_stakes"), 3)
    env.reset(seed=1, options={"stacks": [MAX_CHIPS, MAX_CHIPS], "dealer": 1})
    env.step(PASS)  # the dealer collects
    assert env.truncations == {"player_0": True, "player_1": True}
    assert env.snapshot().stacks == (MAX_CHIPS - 1, MAX_CHIPS + 1)
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}


# --- hand records


@REPRODUCIBLE
@given(rules=any_rules(), seed=st.integers(0, 2**32), unfinished=st.booleans())
def test_9_record_of_a_session_under_any_rules_makes_the_round_trip(rules: Rules, seed: int, unfinished: bool) -> None:
    rng = np.random.default_rng(seed)
    env = raw_env(rules=rules, num_deals=4)
    env.reset(seed=seed, options={"stacks": random_stacks(rules, rng)})
    while not is_over(env) and not (unfinished and rng.random() < 0.02):
        env.step(next_action(env, rng))
    text = env.record()
    deals = parse(text)
    assert write(deals) == text
    *_, end = deals[-1].replay()
    assert (end.stacks, end.pot, end.hands) == (env.snapshot().stacks, env.snapshot().pot, env.snapshot().hands)
    for before, after in itertools.pairwise(deals):
        assert list(before.replay())[-1].stacks == after.stacks


def session_text() -> str:
    """A session of two deals at table stakes."""
    env, rng = raw_env(rules=STAKES, num_deals=2, buy_in=6), np.random.default_rng(0)
    env.reset(seed=5)
    while not is_over(env):
        env.step(some_action(env.observe(env.agent_selection)["action_mask"], rng))
    return env.record()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  stacks 6 6 6 6", "", r"line 6: .*stacks are needed under rules with stacks='table_stakes' \(rule 6.7\)"),
        ("  stacks 6 6 6 6", "  stacks 6 6 6", "line 6: this is no deal: stacks must be chips .* of shape"),
        ("  stacks 6 6 6 6", "  stacks 6 6 6 2147483648", "line 6: this is no deal: stacks must be chips"),
        ("  stacks 6 6 6 6", f"  stacks 6 6 6 {10**30}", "line 6: this is no deal: stacks must be chips"),
        ("  stacks 6 6 6 6", "  stacks 6 6 6 -6", "line 6: expected 'dealer SEAT .* stacks CHIPS …'"),
        ("  stacks 6 6 6 6", "  stacks 6,6,6,6", "line 6: expected 'dealer SEAT .* stacks CHIPS …'"),
        (' stacks="table_stakes"', "", "line 6: .*stacks have no meaning under rules with stacks='credit'"),
        ("  stacks 6 6 6 6", "  stacks 6 6 6 0", "is not legal|by the rules it is"),
    ],
)
def test_9_record_with_wrong_stacks_is_refused_with_its_line(old: str, new: str, message: str) -> None:
    text = session_text()
    assert text.count(old) == 1
    with pytest.raises(NotationError, match=message):
        parse(text.replace(old, new))
