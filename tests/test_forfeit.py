"""Rule 7.2: an illegal action that ends the deal, at many tables, in the environment, in records and in the oracle."""

import random
from typing import Any

import numpy as np
import pytest
from conftest import TABLE_SIZES, dealt, random_actions, random_play, same_tables
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from random_play import Comparison, any_rules
from test_env import PASS, episode, in_mid_deal, some_action, trace
from test_env_pitfalls import FOUR_FATES, FOUR_PLAYS, STAND_PAT, scripted, with_pot_of_twelve

import bourre_env
from agents.replaying import views
from bourre_env import IllegalActionError, ResetNeededError, Rules, Tables, raw_env
from bourre_env.errors import NotationError
from bourre_env.notation import parse, write


def forfeited(env: raw_env) -> raw_env:
    """The environment after the agent to act has forfeited the deal."""
    env.forfeit()
    return env


# --- what it costs and who gains


@pytest.mark.parametrize("by", range(4))
def test_7_2_offender_pays_like_a_bourre_and_the_others_still_in_share_the_pot(by: int) -> None:
    """A pot of four; seat 3 passed, so that three are in: the offender owes four, the other two get two each."""
    hands = FOUR_FATES[-by:] + FOUR_FATES[:-by] if by else FOUR_FATES
    for plays in range(3):  # the seat on lead, the second, the last to play
        env = forfeited(scripted(hands, "stay", "stay", "stay", "pass", *FOUR_PLAYS[:plays], dealer=(3 + by) % 4))
        expected = [1, 1, 1, -1]
        expected[plays] = -5
        assert list(env.snapshot().chips) == expected[-by:] + expected[:-by]
        assert env.snapshot().carry == 4
        assert [seat for seat, flag in enumerate(env.snapshot().exempt) if flag] == [(plays + by) % 4]
        assert sum(env.rewards.values()) == pytest.approx(0)


def test_7_2_forfeit_in_the_draw_is_the_same_and_odd_chips_go_to_the_offenders_left() -> None:
    env = scripted(FOUR_FATES, "stay", carry=4)  # a pot of eight among seats 2, 3 and 0
    assert env.agent_selection == "player_1"
    assert forfeited(env).snapshot().chips == (1, -9, 2, 2)
    assert env.snapshot().carry == 8


@pytest.mark.parametrize(
    ("fields", "chips", "carry"),
    [
        ({"limit": 3}, (1, 0, -4, -1), 4),  # the odd chip goes to seat 0: seat 3, nearer on the left, has passed
        ({"bourre_penalty": "capped", "penalty_chips": 2}, (1, 1, -3, -1), 2),
        ({"bourre_penalty": "fixed", "penalty_chips": 7}, (1, 1, -8, -1), 7),
    ],
)
def test_7_2_limit_and_penalty_are_those_of_a_bourre(
    fields: dict[str, Any], chips: tuple[int, ...], carry: int
) -> None:
    rules = Rules(num_players=4, **fields)
    env = scripted(FOUR_FATES, "stay", "stay", "stay", "pass", *FOUR_PLAYS[:2], rules=rules)
    now = forfeited(env).snapshot()
    assert (now.chips, now.carry) == (chips, carry)


def test_7_2_pot_stays_when_nobody_else_is_in() -> None:
    env = raw_env(rules=Rules(all_pass="pot_stays", ace_up_dealer_must_stay=False))
    env.reset(seed=3, options={"dealer": 3})
    for _ in range(3):
        env.step(PASS)
    now = forfeited(env).snapshot()
    assert (now.chips, now.carry) == ((-1, -1, -1, -5), 8)


def test_7_2_bourre_that_antes_again_by_house_rule_antes_again_after_a_forfeit() -> None:
    assert not any(forfeited(in_mid_deal(rules=Rules(bourre_skips_ante=False))).snapshot().exempt)


HOUSES: list[dict[str, Any]] = [
    {},
    {"limit": 5},
    {"tie_rule": "divide", "win_condition": "majority"},
    {"bourre_penalty": "capped", "penalty_chips": 3},
    {"bourre_penalty": "fixed", "penalty_chips": 9},
]


@pytest.mark.parametrize("house", HOUSES, ids=repr)
@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_7_2_in_play_nobody_can_gain_by_forfeiting(num_players: int, house: dict[str, Any]) -> None:
    """Whatever the cards, playing on at random is worth at least as much: result and share of the carry."""
    rules = Rules(num_players=num_players, **house)
    tables = dealt(rules, 300, seed=num_players)
    compared = 0
    for actions in random_play(tables, seed=1):
        playing = np.flatnonzero(tables.records["phase"] == 2)
        if len(playing) and actions[0] % 3 == 0:
            compared += len(playing)
            seats, now, later = tables.to_act[playing], tables.take(playing), tables.take(playing)
            now.forfeit(np.arange(len(playing)))
            for _ in random_play(later, seed=2):
                pass
            here = np.arange(len(playing))
            shares = [(one.returns[here, seats] * num_players + one.carry).astype(int) for one in (now, later)]
            assert (shares[0] <= shares[1]).all()
    assert compared > 100


# --- the engine and the oracle


def forfeit_beside_oracle(comparison: Comparison, rng: random.Random, steps: int) -> int:
    """Play both sides, with a forfeit now and then at some tables; returns how many there were."""
    number = 0
    for _ in range(steps):
        comparison.step()
        rows = [row for row in np.flatnonzero(~comparison.tables.settled).tolist() if rng.random() < 0.1]
        comparison.tables.forfeit(rows)
        for row in rows:
            comparison.references[row].table.forfeit()
        comparison.check()
        number += len(rows)
    return number


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_7_2_engine_equals_oracle_and_sessions_go_on(num_players: int) -> None:
    for preset in ("pagat", "pagat_limit", "hoyle" if num_players < 8 else "pagat_nocinch"):
        comparison = Comparison(Rules.preset(preset, num_players=num_players), 20, random.Random(1))
        assert forfeit_beside_oracle(comparison, random.Random(2), 40) > 30


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(rules=any_rules(), seed=st.integers(0, 2**32))
def test_7_2_engine_equals_oracle_under_any_rules(rules: Rules, seed: int) -> None:
    forfeit_beside_oracle(Comparison(rules, 4, random.Random(seed)), random.Random(seed), 30)


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_7_2_forfeit_conserves_chips_and_leaves_other_rows_alone(num_players: int) -> None:
    tables = dealt(Rules.preset("pagat", num_players=num_players), 200, seed=3)
    rng = np.random.default_rng(3)
    chips = tables.returns.sum(axis=1) + tables.pot
    for _ in range(num_players * 6):
        going = np.flatnonzero(~tables.settled)
        rows = going[rng.random(len(going)) < 0.08]
        before = tables.take(np.arange(200))
        tables.forfeit(rows)
        assert tables.settled[rows].all()
        assert not tables.legal_action_mask()[rows].any()
        others = np.setdiff1d(np.arange(200), rows)
        assert same_tables(tables.records[others], before.records[others])
        total = tables.returns.sum(axis=1) + np.where(tables.settled, tables.carry, tables.pot)
        assert (total == chips).all()
        tables.step(random_actions(tables.legal_action_mask(), rng))


def test_7_2_forfeit_of_a_settled_table_is_refused_and_changes_nothing() -> None:
    tables = dealt(Rules(), 3, seed=1)
    tables.forfeit([1])
    before = tables.take(np.arange(3))
    with pytest.raises(IllegalActionError, match="table 1 is settled"):
        tables.forfeit([0, 1])
    for rows in ([3], [-1], [0, 0], [True, False, False], [0.0]):
        with pytest.raises(ValueError, match="rows"):
            tables.forfeit(rows)
    assert same_tables(tables.records, before.records)


def test_7_2_what_a_seat_has_not_seen_can_be_redrawn_after_a_forfeit() -> None:
    tables = dealt(Rules(), 200, seed=4)
    rng = np.random.default_rng(4)
    for _ in range(12):
        going = np.flatnonzero(~tables.settled)
        tables.forfeit(going[rng.random(len(going)) < 0.1])
        tables.step(random_actions(tables.legal_action_mask(), rng))
    for seat in range(4):
        worlds = tables.reshuffle_unseen(seat, 5)
        seats = np.full(200, seat)
        assert (worlds.observe(seats=seats) == tables.observe(seats=seats)).all()
        assert (worlds.returns == tables.returns).all()


# --- the environment


def test_b010_illegal_card_costs_the_pot_and_loses_no_chip() -> None:
    env = with_pot_of_twelve(bourre_env.env(illegal="forfeit"))
    offender = env.agent_selection
    illegal = int(env.observe(offender)["action_mask"].argmin())
    env.step(illegal)
    assert env.unwrapped.snapshot().carry == 12
    expected = dict.fromkeys(env.possible_agents, 4 - 1 + 3.0) | {offender: -12 - 1 + 3.0}
    assert env.rewards == expected
    said = env.infos[offender]
    assert (said["forfeited_deal"], said["illegal_action"]) == (0, illegal)
    assert f"action {illegal}" in said["reason"]
    assert [info for agent, info in env.infos.items() if agent != offender] == [{}, {}, {}]
    read = trace(env, np.random.default_rng(1))
    assert [step[0] for step in read] == env.possible_agents
    assert sum(step[3] for step in read) == 8  # the carry handed in


@pytest.mark.parametrize("action", [-1, 85, 10**9, 3.0, "3", None, [3], True, np.array([1, 2])], ids=repr)
def test_7_2_every_value_that_is_no_action_forfeits(action: Any) -> None:
    env = bourre_env.env(illegal="forfeit")
    env.reset(seed=1)
    offender = env.agent_selection
    env.step(action)
    assert env.terminations == dict.fromkeys(env.possible_agents, True)
    assert env.rewards[offender] < 0
    assert sum(env.rewards.values()) == pytest.approx(0)
    for other in (0, "x"):
        with pytest.raises(IllegalActionError, match="pass None"):
            env.step(other)
    for _ in range(4):
        env.step(None)
    assert env.agents == []


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_b011_b012_seat_that_is_always_wrong_ends_every_deal_and_the_session(num_players: int) -> None:
    env = bourre_env.env(num_players, "pagat_limit", num_deals=12, illegal="forfeit")
    env.reset(seed=2)
    rng, total, told = np.random.default_rng(2), 0.0, []
    for decision, agent in enumerate(env.agent_iter()):
        seen, reward, _, over, info = env.last()
        total += reward
        if info and not over:
            told.append(info["forfeited_deal"])
        wrong = 84 - int(seen["action_mask"][::-1].argmin()) if agent == "player_1" else None
        env.step(None if over else wrong if wrong is not None else some_action(seen["action_mask"], rng))
        if agent == "player_1" and not over and env.agent_selection == "player_1" and not env.truncations[agent]:
            assert env.infos[agent]["illegal_action"] == wrong
        assert decision < 12 * env.unwrapped.rules.max_decisions + num_players
    assert total == pytest.approx(0, abs=1e-9)
    assert told
    assert told == sorted(set(told))


def test_7_2_infos_of_the_offender_last_until_its_next_action() -> None:
    env = bourre_env.env(4, num_deals=3, illegal="forfeit")
    env.reset(seed=1, options={"dealer": 3})
    env.step(-1)
    assert env.infos["player_0"]["forfeited_deal"] == 0
    for agent in ("player_1", "player_2", "player_3"):
        assert env.agent_selection == agent
        env.step(STAND_PAT)
        assert env.infos["player_0"]
    assert env.last()[4]["illegal_action"] == -1
    env.step(STAND_PAT)
    assert env.infos["player_0"] == {}


def test_7_2_legal_play_is_the_same_with_and_without() -> None:
    for seed in range(20):
        assert episode(bourre_env.env(5, num_deals=2, illegal="forfeit"), seed) == episode(
            bourre_env.env(5, num_deals=2), seed
        )


def test_7_2_forfeit_that_makes_the_pot_outgrow_its_count_ends_the_session() -> None:
    """Only a pot that stays can grow by a forfeit: the dealer, left alone, doubles it."""
    env = raw_env(2, Rules(num_players=2, all_pass="pot_stays", ace_up_dealer_must_stay=False), num_deals=2)
    env.reset(seed=1, options={"carry": 2**30})
    env.step(PASS)
    env.forfeit()
    assert env.truncations == {"player_0": True, "player_1": True}
    assert sum(env.rewards.values()) == 2**30  # the carry that came from outside


def test_7_2_forfeit_needs_a_deal() -> None:
    env = raw_env()
    with pytest.raises(ResetNeededError, match="forfeit"):
        env.forfeit()
    env.reset(seed=1)
    env.forfeit()
    with pytest.raises(ResetNeededError, match="forfeit"):
        env.forfeit()


# --- records


@pytest.mark.parametrize("steps", range(0, 16, 3))
def test_7_2_record_of_a_forfeited_deal_reads_back_and_replays(steps: int) -> None:
    env = in_mid_deal(4, num_deals=2, steps=steps)
    deal = env.deal_index
    env.forfeit()
    text = env.record()
    assert "\n" + next(line for line in text.splitlines() if line.endswith(" forfeits")) + "\nchips " in text
    records = parse(text)
    assert write(records) == text
    assert records[deal].actions[-1] == "forfeit"
    *_, end = records[deal].replay()
    assert end.phase == "settled"
    assert any(line.endswith(": forfeit") for view in views(records, 0) for line in view.splitlines())


def test_7_2_record_that_goes_on_after_a_forfeit_is_refused() -> None:
    env = in_mid_deal(4, steps=2)
    env.forfeit()
    lines = env.record().splitlines()
    place = next(number for number, line in enumerate(lines) if line.endswith(" forfeits"))
    for extra in ("2 passes", lines[place]):
        with pytest.raises(NotationError, match=r"settled|by the rules"):
            parse("\n".join([*lines[: place + 1], extra, *lines[place + 1 :]]))
    wrong = lines[place].replace(lines[place][0], str((int(lines[place][0]) + 1) % 4), 1)
    with pytest.raises(NotationError, match="by the rules it is"):
        parse("\n".join([*lines[:place], wrong, *lines[place + 1 :]]))


def test_7_2_tables_that_forfeit_deal_again() -> None:
    tables = Tables(Rules(), 2)
    tables.deal(bourre_env.shuffled_decks(1, [0, 1]), 0)
    tables.forfeit([0, 1])
    tables.deal(bourre_env.shuffled_decks(1, [2, 3]), 1, tables.carry, tables.exempt)
    assert (tables.pot == 4 + 3).all()  # the debt of four, and the antes of all but the offender
