"""Faults that users of other card games and environments ran into, tried on ours. Each test carries the fault's id.

Others of the list are tried where they belong: B060 in `test_deck.py`, B073 in `test_observation.py`, B038, B042 and
B079 in `test_env.py`, B011 and B012 in `test_forfeit.py`, B071, B081 and B155 for pictures in `test_render.py`.
"""

import copy
import functools
import logging
import multiprocessing
import os
import pickle
import random
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pettingzoo
import pytest
from conftest import TABLE_SIZES, dealt, random_play
from gymnasium.spaces import Box, flatten, flatten_space
from pettingzoo.test import parallel_api_test
from pettingzoo.utils.conversions import aec_to_parallel, turn_based_aec_to_parallel
from positions import deck_dealing, text_of
from test_env import PASS, episode, in_mid_deal, some_action, state_of, trace

import bourre_env
from bourre_env import IllegalActionError, Rules, Tables, raw_env, shuffled_decks
from bourre_env.notation import parse

ALL_FIVE, STAND_PAT = 83, 52


def scripted(hands: list[str], *words: str, dealer: int = 3, rules: Rules | None = None, **options: Any) -> raw_env:
    """A deal of hand-made hands, played by words; the last card named for the dealer is the turn-up."""
    env = raw_env(rules=rules or Rules(num_players=len(hands)))
    deck = [text_of([one]) for one in deck_dealing(hands, dealer=dealer)]
    env.reset(seed=0, options={"deck": deck, "dealer": dealer} | options)
    return act(env, *words)


def act(env: raw_env, *words: str) -> raw_env:
    """Take decisions in words, one after the other."""
    for word in words:
        env.step(env.action_id(word))
    return env


def turned(values: list[Any], by: int) -> list[Any]:
    """What each seat has, when everybody moves some seats clockwise."""
    return [values[(seat - by) % len(values)] for seat in range(len(values))]


def legal_words(env: raw_env) -> set[str]:
    """Legal actions of the agent to act."""
    mask = env.observe(env.agent_selection)["action_mask"]
    return {env.action_text(int(action)) for action in np.flatnonzero(mask)}


def to_the_end(env: raw_env, seed: int = 1) -> raw_env:
    """Play at random until the episode has ended and every agent is about to leave."""
    rng = np.random.default_rng(seed)
    while not (env.terminations[env.agent_selection] or env.truncations[env.agent_selection]):
        env.step(some_action(env.observe(env.agent_selection)["action_mask"], rng))
    return env


# --- masks and observations


@pytest.mark.parametrize("make", [bourre_env.raw_env, bourre_env.env])
def test_b002_every_agent_can_be_observed_at_any_time(make: Any) -> None:
    env = make(4)
    env.reset(seed=1, options={"dealer": 3})
    for action in (STAND_PAT, PASS, STAND_PAT):
        env.step(action)
    env.step(PASS if env.observe(env.agent_selection)["action_mask"][PASS] else STAND_PAT)
    while env.agents:
        for agent in env.possible_agents:
            seen = env.observe(agent)
            assert env.observation_space(agent).contains(seen)
            over = env.terminations.get(env.agent_selection, True)
            assert seen["action_mask"].any() == (agent == env.agent_selection and not over)
        _, _, terminated, _, _ = env.last()
        env.step(None if terminated else int(env.observe(env.agent_selection)["action_mask"].argmax()))
    assert all(env.observe(agent)["observation"].any() for agent in env.possible_agents)


def test_b007_masks_can_be_sampled_from_as_they_are() -> None:
    env = raw_env(5)
    space = env.action_space("player_0")
    space.seed(1)
    for seed in range(60):
        env.reset(seed=seed)
        while not env.terminations[env.agent_selection]:
            mask = env.observe(env.agent_selection)["action_mask"]
            for sampled_with in (mask, pickle.loads(pickle.dumps(mask)), env.last()[0]["action_mask"]):
                assert (type(sampled_with), sampled_with.dtype, sampled_with.shape) == (np.ndarray, np.int8, (85,))
                action = space.sample(sampled_with)
                assert mask[action]
            env.step(action)


def test_b007_rows_of_many_tables_can_be_sampled_from_as_bytes() -> None:
    tables = dealt(Rules(num_players=5), 20, seed=1)
    space = raw_env(5).action_space("player_0")
    for _ in random_play(tables, seed=1):
        for row in np.flatnonzero(~tables.settled):
            mask = tables.legal_action_mask()[row]
            assert mask[space.sample(mask.view(np.int8))]


def test_b064_spaces_stay_the_same_objects_with_the_same_text() -> None:
    env = raw_env(3)
    spaces = [(env.observation_space(agent), env.action_space(agent)) for agent in env.possible_agents]
    before = repr(spaces), repr(env.observation_spaces), repr(env.action_spaces)
    for seed in range(30):
        env.reset(seed=seed)
        trace(env, np.random.default_rng(seed))
    for agent, (observations, actions) in zip(env.possible_agents, spaces, strict=True):
        assert env.observation_space(agent) is observations
        assert env.action_space(agent) is actions
    assert (repr(spaces), repr(env.observation_spaces), repr(env.action_spaces)) == before


def test_b064_every_seat_has_a_space_of_its_own_to_seed() -> None:
    env = raw_env(3)
    assert len({id(env.action_space(agent)) for agent in env.possible_agents}) == 3
    assert len({id(env.observation_space(agent)) for agent in env.possible_agents}) == 3


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_b069_every_seat_sees_rows_of_one_structure_in_every_phase(num_players: int) -> None:
    env = raw_env(num_players)
    env.reset(seed=2)
    structures = set()
    rng = np.random.default_rng(2)
    while True:
        for agent in env.possible_agents:
            seen = env.observe(agent)
            structures.add(tuple((name, part.dtype.str, part.shape) for name, part in seen.items()))
        if env.terminations[env.agent_selection]:
            break
        env.step(some_action(env.observe(env.agent_selection)["action_mask"], rng))
    assert structures == {
        (("observation", "<f4", env.observation_space("player_0")["observation"].shape), ("action_mask", "|i1", (85,)))
    }


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_b070_moving_the_table_by_some_seats_moves_every_observation(num_players: int) -> None:
    deck = [text_of([one]) for one in shuffled_decks(4, [num_players])[0]]
    envs = [raw_env(num_players) for _ in range(num_players)]
    for by, env in enumerate(envs):
        env.reset(seed=1, options={"deck": deck, "dealer": by, "carry": 5, "exempt": [by]})
    rng = np.random.default_rng(1)
    while not envs[0].terminations[envs[0].agent_selection]:
        seen = [envs[0].observe(agent)["observation"] for agent in envs[0].possible_agents]
        action = some_action(envs[0].observe(envs[0].agent_selection)["action_mask"], rng)
        for by, env in enumerate(envs):
            for seat, agent in enumerate(env.possible_agents):
                assert (env.observe(agent)["observation"] == seen[(seat - by) % num_players]).all()
            env.step(action)
    for by, env in enumerate(envs):
        assert list(env.rewards.values()) == turned(list(envs[0].rewards.values()), by)


def test_b071_observation_mask_and_infos_do_not_depend_on_hidden_cards() -> None:
    """The eldest of three keeps its five cards and the turn-up its place; all else is dealt otherwise."""
    rng = random.Random(3)
    for seed in range(50):
        deck = [text_of([one]) for one in shuffled_decks(seed, [0])[0]]
        fixed = {0, 3, 6, 9, 12, 14}
        free = [place for place in range(52) if place not in fixed]
        moved = dict(zip(free, rng.sample(free, len(free)), strict=True))
        other_deck = [deck[moved.get(place, place)] for place in range(52)]
        one, other = raw_env(3), raw_env(3)
        one.reset(seed=1, options={"deck": deck, "dealer": 2})
        other.reset(seed=2, options={"deck": other_deck, "dealer": 2})
        assert one.snapshot().hands[1:] != other.snapshot().hands[1:]
        for name in ("observation", "action_mask"):
            assert (one.observe("player_0")[name] == other.observe("player_0")[name]).all()
        assert (one.infos, one.rewards) == (other.infos, other.rewards)
        assert one.agent_selection == other.agent_selection


def test_b075_deals_do_not_depend_on_how_they_are_played_and_infos_tell_nothing() -> None:
    hands = set()
    for policy_seed in range(6):
        env, rng = raw_env(4, "pagat_limit", num_deals=6), np.random.default_rng(policy_seed)
        env.reset(seed=11)
        dealt_hands, deal_index = [env.snapshot().hands], 0
        while not env.truncations[env.agent_selection]:
            assert all(info == {} for info in env.infos.values())
            env.step(some_action(env.observe(env.agent_selection)["action_mask"], rng))
            if env.deal_index > deal_index:
                deal_index = env.deal_index
                dealt_hands.append(env.snapshot().hands)
        hands.add(tuple(dealt_hands))
    assert len(hands) == 1
    assert len(set(next(iter(hands)))) == 6


def test_b077_kept_observations_never_change() -> None:
    env = raw_env(4, num_deals=3)
    env.reset(seed=3)
    kept = []
    rng = np.random.default_rng(3)
    while not env.truncations[env.agent_selection]:
        seen = env.last()[0]
        kept.append((seen, copy.deepcopy(seen)))
        env.step(some_action(seen["action_mask"], rng))
    env.reset(seed=4)
    for seen, copied in kept:
        assert all((seen[name] == copied[name]).all() for name in copied)


def test_b077_writing_into_an_observation_touches_nothing() -> None:
    env, other = in_mid_deal(), in_mid_deal()
    seen = env.observe(env.agent_selection)
    seen["observation"][:] = 7
    seen["action_mask"][:] = 1
    assert state_of(env) == state_of(other)
    assert trace(env, np.random.default_rng(1)) == trace(other, np.random.default_rng(1))


# --- illegal actions


def with_pot_of_twelve(env: Any) -> Any:
    """A deal of a pot of 12 in its third trick, everybody in."""
    env.reset(seed=1, options={"dealer": 3, "carry": 8})
    while env.unwrapped.snapshot().phase == "declare":
        env.step(STAND_PAT)
    while sum(env.unwrapped.snapshot().tricks_won) < 2:
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    assert env.unwrapped.snapshot().pot == 12
    return env


def test_b010_illegal_card_is_refused_and_moves_no_chips() -> None:
    env = with_pot_of_twelve(bourre_env.env())
    before = state_of(env.unwrapped)
    illegal = int(env.observe(env.agent_selection)["action_mask"].argmin())
    for _ in range(3):
        with pytest.raises(IllegalActionError):
            env.step(illegal)
    assert state_of(env.unwrapped) == before
    played = trace(env, np.random.default_rng(1))
    assert played == trace(with_pot_of_twelve(bourre_env.env()), np.random.default_rng(1))


def test_b010_terminating_wrapper_does_to_a_chip_game_what_the_documentation_says() -> None:
    env = with_pot_of_twelve(bourre_env.env(illegal="terminate"))
    offender = env.agent_selection
    env.step(int(env.observe(offender)["action_mask"].argmin()))
    assert env.rewards == {agent: -1.0 if agent == offender else 0 for agent in env.possible_agents}
    read = trace(env, np.random.default_rng(1))
    assert [step[0] for step in read] == env.possible_agents
    assert sum(step[3] for step in read) == -1
    text = " ".join((sys.modules["bourre_env.env"].__doc__ or "").split())
    assert "ends the episode with -1 for the offender and nothing for the others" in text
    assert "rewards no longer sum to zero" in text


# --- rules as seen through the environment

TESTED = "KC 4C AS 9H TH"
LEADER = "9C 9D 2H 3H 4H"
RUFFER = "2S 5H 6H 7H 8H"
OTHER = "JH QH KH AH 3S"


@pytest.mark.parametrize("by", range(4))
def test_b016_follow_suit_looks_at_the_card_led_from_each_seat(by: int) -> None:
    dealer = (3 + by) % 4
    after_leader = turned([LEADER, TESTED, RUFFER, OTHER], by)
    assert legal_words(scripted(after_leader, *["stay"] * 4, "9C", dealer=dealer)) == {"KC"}
    assert legal_words(scripted(after_leader, *["stay"] * 4, "9D", dealer=dealer)) == {"AS"}
    after_ruff = turned([LEADER, RUFFER, TESTED, OTHER], by)
    assert legal_words(scripted(after_ruff, *["stay"] * 4, "9C", "2S", dealer=dealer)) == {"KC", "4C"}


@pytest.mark.parametrize("by", range(5))
def test_b017_trump_beats_the_suit_led_and_a_higher_trump_beats_it(by: int) -> None:
    four = turned(["9H 2C 3C 4C 5C", "AH 2D 3D 4D 5D", "2S 6D 7D 8D 9D", "KH 6C 7C 8C 4S"], by % 4)
    env = scripted(four, *["stay"] * 4, "9H", "AH", "2S", "KH", dealer=(3 + by) % 4)
    assert list(env.snapshot().tricks_won) == turned([0, 0, 1, 0], by % 4)
    assert env.agent_selection == f"player_{(2 + by) % 4}"
    five = turned(["9H 2C 3C 4C 5C", "AH 2D 3D 4D 5D", "2S 6D 7D 8D 9D", "KH 6C 7C 8C TC", "TD JD QD KD 7S"], by)
    env = scripted(five, *["stay"] * 5, "9H", "AH", "2S", "KH", "7S", dealer=(4 + by) % 5)
    assert list(env.snapshot().tricks_won) == turned([0, 0, 0, 0, 1], by)


@pytest.mark.parametrize("by", range(3))
def test_b018_winner_depends_on_the_lead_and_not_on_seat_numbers(by: int) -> None:
    hands = turned(["JC TS 2H 3H 4H", "KD 9S 5H 6H 7H", "2C 8S 8H 9H 3D"], by)
    env = scripted(hands, *["stay"] * 3, "JC", "KD", "2C", dealer=(2 + by) % 3)
    assert env.snapshot().trump_suit == "D"
    assert list(env.snapshot().tricks_won) == turned([0, 1, 0], by)
    without_trumps = turned(["JC TS 2H 3H 4H", "KH 9S 5H 6H 7H", "2C 8S 8H 9H 3D"], by)
    env = scripted(without_trumps, *["stay"] * 3, "JC", "KH", "2C", "TS", "9S", "8S", dealer=(2 + by) % 3)
    assert list(env.snapshot().tricks_won) == turned([2, 0, 0], by)


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_b021_seat_that_passed_never_leads_and_is_never_asked_again(num_players: int) -> None:
    env, rng = raw_env(num_players), np.random.default_rng(1)
    for seed in range(10):
        env.reset(seed=seed)
        dealer = env.snapshot().dealer
        first_lead = True
        while not env.terminations[env.agent_selection]:
            now = env.snapshot()
            if now.phase == "play":
                assert now.stayed[now.seat]
                assert not now.passed[now.seat]
                if first_lead:
                    clockwise = [(dealer + 1 + step) % num_players for step in range(num_players)]
                    assert now.seat == next(seat for seat in clockwise if now.stayed[seat])
                first_lead = False
            env.step(some_action(env.observe(env.agent_selection)["action_mask"], rng))


def test_b024_cards_just_thrown_away_do_not_come_back_when_the_pile_is_reshuffled() -> None:
    env = raw_env(8)
    for seed in range(30):
        env.reset(seed=seed, options={"dealer": 7})
        for seat in range(8):
            before = env.snapshot().hands
            env.step(ALL_FIVE)
            after = env.snapshot().hands
            assert not set(before[seat]) & set(after[seat])
            held = [card for hand in after for card in hand]
            assert len(set(held)) == len(held) == 40


@pytest.mark.parametrize(("most", "ways"), [(0, 1), (1, 6), (4, 31), (5, 32)])
def test_b025_limit_of_discards_binds_mask_and_step_alike(most: int, ways: int) -> None:
    env = raw_env(rules=Rules(max_discards=most))
    env.reset(seed=1)
    mask = env.observe(env.agent_selection)["action_mask"]
    assert mask[52:84].sum() == ways
    for discards in range(32):
        assert mask[52 + discards] == (discards.bit_count() <= most)
        if discards.bit_count() > most:
            with pytest.raises(IllegalActionError, match=f"up to {most} discards" if most else "legal: stay, pass"):
                env.step(52 + discards)


FOUR_FATES = ["AS KS QS AC 2D", "AD 2C 3H 4H 5H", "6H 7H 8H 9H TH", "3C 4C 5C 6C 2S"]
FOUR_PLAYS = ["AS", "3H", "6H", "KS", "4H", "7H", "QS", "5H", "8H", "2D", "AD", "9H", "2C", "TH", "AC"]


@pytest.mark.parametrize("by", range(4))
def test_b028_b046_passing_bourre_a_trick_and_the_win_pay_differently_whoever_sits_where(by: int) -> None:
    """Four antes: the winner takes four chips, one seat takes a trick, one is bourré and owes four, one passed."""
    hands = turned(FOUR_FATES, by)
    env = scripted(hands, "stay", "stay", "stay", "pass", *FOUR_PLAYS, dealer=(3 + by) % 4)
    assert list(env.snapshot().tricks_won) == turned([4, 1, 0, 0], by)
    assert list(env.snapshot().chips) == turned([3, -1, -5, -1], by)
    assert env.snapshot().carry == 4
    assert list(env.rewards.values()) == turned([4.0, 0.0, -4.0, 0.0], by)  # with a share of the carry each


def test_b028_bourre_debt_is_capped_by_the_limit() -> None:
    rules = Rules(num_players=4, limit=3)
    env = scripted(FOUR_FATES, "stay", "stay", "stay", "pass", *FOUR_PLAYS, rules=rules)
    assert env.snapshot().chips == (2, -1, -4, -1)
    assert env.snapshot().carry == 4


@pytest.mark.parametrize(
    ("pattern", "num_deals"), [([2, 2, 1], 2_000), ([2, 2, 1, 0, 0], 4_000), ([1, 1, 1, 1, 1], 20_000)]
)
def test_b030_tie_leaves_the_pot_and_debts_for_the_next_deal(pattern: list[int], num_deals: int) -> None:
    """Looked up among deals played at random; the seats that took no trick passed or are bourré."""
    num_players = len(pattern)
    begin = dealt(Rules(num_players=num_players), num_deals, seed=num_players)
    tables = begin.take(np.arange(num_deals))
    for _ in random_play(tables, seed=num_players):
        pass
    won = tables.records["tricks_won"][:, :num_players].astype(int)
    rows = np.flatnonzero((-np.sort(-won, axis=1) == pattern).all(axis=1))
    assert len(rows) >= 10
    stayed = np.array([tables.snapshot(row).stayed for row in rows])
    tied, bourre = won[rows] == max(pattern), stayed & (won[rows] == 0)
    pot = begin.pot[rows]
    assert (tables.returns[rows] == begin.returns[rows] - bourre * pot[:, None]).all()
    assert (tables.carry[rows] == pot * (1 + bourre.sum(axis=1))).all()
    assert (tables.exempt[rows] == tied | bourre).all()


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_b031_b052_lone_stayer_wins_outright_without_a_trick(num_players: int) -> None:
    for stayer in range(num_players - 1):
        env = raw_env(num_players)
        env.reset(seed=3, options={"deck": deck_with_low_turn_up(num_players), "dealer": num_players - 1})
        for seat in range(num_players):
            assert not env.terminations[env.agent_selection]
            env.step(STAND_PAT if seat == stayer else PASS)
        expected = [num_players - 1.0 if seat == stayer else -1.0 for seat in range(num_players)]
        assert list(env.rewards.values()) == expected
        assert env.snapshot().tricks_won == (0,) * num_players
        assert not any(env.snapshot().exempt)
        assert all(env.terminations.values())


def deck_with_low_turn_up(num_players: int) -> list[str]:
    """A pack that lets the dealer pass: no ace is turned up. The last seat deals."""
    hands = [""] * (num_players - 1) + ["7S"]
    return [text_of([one]) for one in deck_dealing(hands, dealer=num_players - 1)]


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_b031_b052_when_all_others_pass_the_dealer_collects_without_a_decision(num_players: int) -> None:
    """At two seats this is a deal of one decision."""
    env = raw_env(num_players)
    env.reset(seed=3, options={"dealer": num_players - 1})
    for _ in range(num_players - 1):
        env.step(PASS)
    assert list(env.rewards.values()) == [-1.0] * (num_players - 1) + [num_players - 1.0]
    assert all(env.terminations.values())
    assert [env.last()[1], env.last()[2]] == [-1.0, True]


def test_b031_pot_stays_when_all_pass_by_house_rule() -> None:
    env = raw_env(rules=Rules(all_pass="pot_stays", ace_up_dealer_must_stay=False), num_deals=2)
    env.reset(seed=3)
    for _ in range(4):
        env.step(PASS)
    assert env.deal_index == 1
    assert (env.snapshot().pot, env.snapshot().carry, env.snapshot().chips) == (8, 4, (-2, -2, -2, -2))


# --- the life of an episode


def test_b033_last_step_of_an_agent_takes_none_and_nothing_else() -> None:
    env = to_the_end(in_mid_deal())
    before = state_of(env)
    for action in (0, PASS, 3.0, "None", False):
        with pytest.raises(ValueError, match="pass None"):
            env.step(action)
        assert state_of(env) == before
    for _ in range(4):
        env.step(None)
    assert env.agents == []


def test_b033_none_from_a_live_agent_is_refused() -> None:
    env = in_mid_deal()
    before = state_of(env)
    with pytest.raises(IllegalActionError, match="None is not legal"):
        env.step(None)
    assert state_of(env) == before


@pytest.mark.parametrize("num_deals", [1, 2])
@pytest.mark.parametrize("make", [bourre_env.raw_env, bourre_env.env])
def test_b034_after_the_last_card_every_agent_leaves_once_in_seat_order(make: Any, num_deals: int) -> None:
    env = make(5, num_deals=num_deals)
    for seed in range(60):
        leaving = [step[0] for step in episode(env, seed) if step[-1] is None]
        assert leaving == env.possible_agents


def test_b040_passing_ends_nothing_and_the_next_deal_has_everybody_back() -> None:
    env = raw_env(4, num_deals=3)
    env.reset(seed=1, options={"dealer": 3})
    asked = []
    for _ in range(3 * 3):
        assert env.agents == env.possible_agents
        assert not any(env.terminations.values())
        asked.append(env.agent_selection)
        env.step(PASS)
    assert asked == [f"player_{seat}" for seat in (0, 1, 2, 1, 2, 3, 2, 3, 0)]
    assert all(env.truncations.values())


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_b051_a_deal_ends_by_termination_and_a_session_by_truncation(num_players: int) -> None:
    single = to_the_end(in_mid_deal(num_players, steps=0))
    assert (set(single.terminations.values()), set(single.truncations.values())) == ({True}, {False})
    session = to_the_end(in_mid_deal(num_players, steps=0, num_deals=2))
    assert (set(session.terminations.values()), set(session.truncations.values())) == ({False}, {True})
    text = " ".join((sys.modules["bourre_env.env"].__doc__ or "").split())
    assert "A single deal ends by termination; an episode of several deals ends by truncation" in text


def test_b095_plain_parallel_conversion_is_refused_and_the_turn_based_one_plays_the_same_deal() -> None:
    with pytest.raises(AssertionError, match="is_parallelizable"):
        aec_to_parallel(raw_env())
    parallel, env, rng = turn_based_aec_to_parallel(raw_env(4)), raw_env(4), np.random.default_rng(1)
    seen, _ = parallel.reset(seed=5)
    env.reset(seed=5)
    while parallel.agents:
        agent = env.agent_selection
        assert [name for name, row in seen.items() if row["action_mask"].any()] == [agent]
        assert (seen[agent]["observation"] == env.observe(agent)["observation"]).all()
        action = some_action(seen[agent]["action_mask"], rng)
        seen, rewards, terminations, _, _ = parallel.step(dict.fromkeys(parallel.agents, action))
        env.step(action)
        assert rewards == env.rewards
        assert terminations == env.terminations


@pytest.mark.parametrize("num_players", [2, 4, 8])
def test_b098_pettingzoos_parallel_test_passes_on_the_turn_based_conversion(num_players: int) -> None:
    for make in (bourre_env.raw_env, bourre_env.env):
        parallel_api_test(turn_based_aec_to_parallel(make(num_players)), num_cycles=200)
        parallel_api_test(turn_based_aec_to_parallel(make(num_players, "pagat_limit", 3)), num_cycles=200)


@pytest.mark.parametrize("num_players", [2, 4, 8])
def test_b042_returns_read_in_any_way_are_the_same(num_players: int) -> None:
    """Summed from `last()` seat by seat, from every agent's `rewards`, and through the parallel conversion."""
    for seed in range(20):
        env, rng = raw_env(num_players, "pagat_limit", 2), np.random.default_rng(seed)
        env.reset(seed=seed)
        parallel = turn_based_aec_to_parallel(raw_env(num_players, "pagat_limit", 2))
        parallel.reset(seed=seed)
        read, shown, converted = (dict.fromkeys(env.possible_agents, 0.0) for _ in range(3))
        for agent in env.agent_iter():
            observation, reward, _, over, _ = env.last()
            read[agent] += reward
            action = None if over else some_action(observation["action_mask"], rng)
            env.step(action)
            if over:
                continue
            for other in env.agents:
                shown[other] += env.rewards[other]
            _, rewards, *_ = parallel.step(dict.fromkeys(parallel.agents, action))
            for other, chips in rewards.items():
                converted[other] += chips
        assert read == shown == converted
        now = env.snapshot()
        share = now.carry / num_players
        assert list(read.values()) == pytest.approx([chips + share for chips in now.chips])


def test_b044_rewards_arrive_at_the_step_that_settles_a_deal_and_are_read_once() -> None:
    """There is one mode of rewards: no chip is shown before the settlement or at a second look, and none is lost."""
    env, rng = raw_env(4, "pagat_limit", num_deals=5), np.random.default_rng(3)
    env.reset(seed=3)
    waiting = dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        agent, deal = env.agent_selection, env.deal_index
        observation, reward, _, over, _ = env.last()
        assert reward == pytest.approx(waiting[agent])
        waiting[agent] = 0.0
        env.step(None if over else some_action(observation["action_mask"], rng))
        if over:
            continue
        settled = env.deal_index > deal or any(env.truncations.values())
        assert any(env.rewards.values()) == settled
        for other in env.possible_agents:
            waiting[other] += env.rewards[other]
    assert not any(waiting.values())


def test_b066_observation_flattens_to_one_vector_with_the_mask_first() -> None:
    env = in_mid_deal(3)
    space = env.observation_space("player_0")
    flat = flatten_space(space)
    assert isinstance(flat, Box)
    for agent in env.possible_agents:
        seen = env.observe(agent)
        vector = flatten(space, seen)
        assert flat.contains(vector)
        assert (vector[:85] == seen["action_mask"]).all()
        assert (vector[85:] == seen["observation"]).all()
    text = " ".join((sys.modules["bourre_env.env"].__doc__ or "").split())
    assert "`gymnasium.spaces.flatten(env.observation_space(agent), observation)`: the mask, then the observ" in text


# --- processes and threads


def played_in_worker(make: Any, seed: int) -> list[tuple[Any, ...]]:
    """An episode of an environment that is made where it is played."""
    return episode(make(), seed)


def test_b084_b085_environments_are_made_and_played_in_spawned_workers() -> None:
    makers = [functools.partial(bourre_env.env, 3, illegal="forfeit"), functools.partial(raw_env, 5, num_deals=2)]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as workers:
        played = list(workers.map(played_in_worker, makers, [4, 4], timeout=100))
    assert played == [played_in_worker(make, 4) for make in makers]


SPAWN_WITHOUT_A_GUARD = """
import multiprocessing
multiprocessing.set_start_method("spawn")
import bourre_env
env = bourre_env.env()
env.reset(seed=10)
for agent in env.agent_iter():
    observation, reward, termination, truncation, info = env.last()
    env.step(None if termination or truncation else int(observation["action_mask"].argmax()))
print(len(env.agents), multiprocessing.active_children())
"""


def test_b085_script_without_a_main_guard_finishes_under_spawn() -> None:
    command = [sys.executable, "-W", "error", "-c", SPAWN_WITHOUT_A_GUARD]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("0 []\n", "", 0)


def test_b087_environments_in_threads_play_what_they_play_alone() -> None:
    seeds = list(range(40))
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda seed: episode(raw_env(4, num_deals=2), seed), seeds))
    assert together == [episode(raw_env(4, num_deals=2), seed) for seed in seeds]


@pytest.mark.parametrize("illegal", ["raise", "terminate", "forfeit"])
def test_b092_record_words_and_snapshot_are_reached_through_every_wrapper(illegal: str) -> None:
    env = pettingzoo.utils.wrappers.AssertOutOfBoundsWrapper(bourre_env.env(3, illegal=illegal))
    env.reset(seed=4)
    env.step(env.unwrapped.action_id("stay"))
    for table in (env, env.unwrapped):
        assert parse(table.record())[0].actions == ("stay",)
        assert table.action_text(PASS) == "pass"
        assert table.snapshot().stayed.count(True) == 1
        assert (table.rules.num_players, table.num_deals, table.episode_seed) == (3, 1, 4)


# --- seeds


def test_b054_global_generators_neither_matter_nor_move() -> None:
    torch_states: list[Any] = []
    expected = [episode(raw_env(4, num_deals=2), seed) for seed in range(5)]
    random.seed(4)
    np.random.seed(4)  # noqa: NPY002 - the point is that nobody looks at it
    if "torch" in sys.modules:
        torch_states.append(sys.modules["torch"].get_rng_state().tolist())
    states = random.getstate(), repr(np.random.get_state())  # noqa: NPY002
    assert [episode(raw_env(4, num_deals=2), seed) for seed in range(5)] == expected
    env = raw_env()
    env.reset()
    to_the_end(env)
    assert (random.getstate(), repr(np.random.get_state())) == states  # noqa: NPY002
    if torch_states:
        assert sys.modules["torch"].get_rng_state().tolist() == torch_states[0]


def test_b055_tables_of_a_batch_play_different_deals_and_each_can_be_had_alone() -> None:
    rules = Rules()
    tables = Tables(rules, 64)
    tables.deal(shuffled_decks(1, np.arange(64)), 0)
    assert len({tables.snapshot(row).hands for row in range(64)}) == 64
    for row in (0, 17, 63):
        alone = Tables(rules, 1)
        alone.deal(shuffled_decks(1, [row]), 0)
        assert alone.snapshot(0) == tables.snapshot(row)


def test_b055_environments_without_a_seed_play_different_deals() -> None:
    hands, seeds = set(), set()
    for _ in range(5):
        env = raw_env()
        env.reset()
        hands.add(env.snapshot().hands)
        seeds.add(env.episode_seed)
        again = raw_env()
        again.reset(seed=env.episode_seed)
        assert again.snapshot() == env.snapshot()
    assert len(hands) == len(seeds) == 5


@pytest.mark.parametrize("seed", [np.int64(3), np.uint8(3), np.int8(3), np.array(3)], ids=repr)
def test_b062_numpy_integer_is_a_seed_like_any_other(seed: Any) -> None:
    for make in (bourre_env.raw_env, bourre_env.env):
        assert episode(make(), seed) == episode(make(), 3)


@pytest.mark.parametrize("seed", [0, 2**40, 2**63, 2**64 - 1])
def test_b062_every_64_bit_number_is_a_seed(seed: int) -> None:
    env = raw_env()
    env.reset(seed=seed)
    assert env.episode_seed == seed
    dealer = env.snapshot().dealer
    tables = Tables(env.rules, 1)
    tables.deal(shuffled_decks(seed, [0]), dealer)
    assert tables.snapshot(0).hands == env.snapshot().hands


@pytest.mark.parametrize("seed", [-1, "7", True, False, 1.5, 2.0, 2**64, [3], np.float64(3), np.bool_(True)], ids=repr)
def test_b062_what_is_no_seed_is_refused_in_words_and_changes_nothing(seed: Any) -> None:
    env = in_mid_deal()
    before = state_of(env)
    with pytest.raises(ValueError, match=r"seed is .*; it must be an integer from 0 to 2\^64 - 1"):
        env.reset(seed=seed)
    assert state_of(env) == before


# --- pickles and pictures


@pytest.mark.parametrize("render", [False, True])
def test_b081_environment_can_be_pickled_after_rendering_and_with_a_logger(render: bool) -> None:
    env = in_mid_deal(render_mode="ansi")
    env.logger = logging.getLogger("bourre")  # type: ignore[attr-defined]
    if render:
        env.render()
    other = pickle.loads(pickle.dumps(env))
    assert other.render() == env.render()
    assert trace(other, np.random.default_rng(1)) == trace(env, np.random.default_rng(1))


def test_b081_environment_can_be_sent_to_a_spawned_worker_and_back() -> None:
    env = in_mid_deal(render_mode="ansi")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as workers:
        text, back = workers.submit(raw_env.render, env).result(60), workers.submit(raw_env.clone, env).result(60)
    assert text == env.render()
    assert state_of(back) == state_of(env)
    assert trace(back, np.random.default_rng(1)) == trace(env, np.random.default_rng(1))


SHOW_A_TABLE = """
import sys
sys.modules["pygame"] = sys.modules["PIL"] = sys.modules["tkinter"] = None
import bourre_env
env = bourre_env.env(render_mode="ansi")
env.reset(seed=1)
print(type(env.render()).__name__, "trumps" in env.render(), len(env.render().splitlines()))
"""


def test_b155_text_mode_needs_no_display_and_no_drawing_library() -> None:
    variables = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    command = [sys.executable, "-W", "error", "-c", SHOW_A_TABLE]
    done = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=120, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("str True 5\n", "", 0)
