"""The PettingZoo environment: PettingZoo's own tests, a reference loop over many deals, sessions, options, copies.

Faults that users of other environments met are in `test_env_pitfalls.py`.
"""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from conftest import PASSES, TABLE_SIZES
from pettingzoo.test import api_test, seed_test
from positions import deck_dealing, text_of
from reference_shuffle import deck_of_deal

import bourre_env
from bourre_env import (
    ChipsError,
    DeckError,
    IllegalActionError,
    ResetNeededError,
    Rules,
    RulesError,
    Tables,
    UnknownAgentError,
    raw_env,
    shuffled_decks,
)
from bourre_env.bourre.table import TABLE
from bourre_env.env import ForfeitIllegalWrapper

PASS = 84
DEAD_STEP = -2  # in a trace, where an agent whose episode has ended takes its last step

# What PettingZoo's tests say of any environment outside PettingZoo whose observation is a dictionary with a mask.
known_warnings = [
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array$:UserWarning"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be gymnasium:UserWarning"),
    pytest.mark.filterwarnings(r"ignore:Action mask numpy array is all zeros \(no legal actions\):UserWarning"),
]


def warned(test: Callable[..., None]) -> Callable[..., None]:
    """Let the known warnings pass in a test; every other warning is an error."""
    for mark in known_warnings:
        test = mark(test)
    return test


def some_action(mask: np.ndarray[Any, Any], rng: np.random.Generator) -> int:
    """A legal action; passing is as likely as people make it."""
    legal = np.flatnonzero(mask)
    may_pass = legal[-1] == PASS
    if may_pass and (len(legal) == 1 or rng.random() < PASSES):
        return PASS
    return int(legal[rng.integers(len(legal) - may_pass)])


def trace(env: Any, rng: np.random.Generator) -> list[tuple[Any, ...]]:
    """Play an episode that has begun by PettingZoo's standard loop; every `last()` and action, comparable."""
    steps: list[tuple[Any, ...]] = []
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, info = env.last()
        action = None if terminated or truncated else some_action(seen["action_mask"], rng)
        observed = seen["observation"].tobytes(), seen["action_mask"].tobytes()
        steps.append((agent, *observed, reward, terminated, truncated, dict(info), action))
        env.step(action)
    return steps


def episode(env: Any, seed: int, options: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
    """The trace of one episode from a seed; the policy draws from a generator of its own."""
    env.reset(seed=seed, options=options)
    return trace(env, np.random.default_rng(int(seed)))


def in_mid_deal(num_players: int = 4, seed: int = 5, steps: int = 6, **arguments: Any) -> raw_env:
    """An environment in which some decisions have been taken."""
    env, rng = raw_env(num_players, **arguments), np.random.default_rng(seed)
    env.reset(seed=seed)
    for _ in range(steps):
        env.step(some_action(env.observe(env.agent_selection)["action_mask"], rng))
    assert env.snapshot().phase != "settled"
    return env


def state_of(env: raw_env) -> tuple[Any, ...]:
    """All that an environment holds, comparable; its table as the bytes of every field."""
    table = env._tables.records
    names = ("agents", "rewards", "terminations", "truncations", "infos", "agent_selection", "_cumulative_rewards")
    books = copy.deepcopy({name: getattr(env, name) for name in names})
    return (
        [table[name].tobytes() for name in TABLE.names or ()],
        books,
        env.snapshot(),
        env.deal_index,
        env.episode_seed,
    )


# --- PettingZoo's own tests


@pytest.mark.parametrize("num_deals", [1, 3])
@pytest.mark.parametrize("make", [bourre_env.raw_env, bourre_env.env])
@pytest.mark.parametrize("num_players", TABLE_SIZES)
@warned
def test_pettingzoo_api_test_passes(num_players: int, make: Any, num_deals: int) -> None:
    api_test(make(num_players, rules="pagat_limit", num_deals=num_deals), num_cycles=60)


@pytest.mark.parametrize("num_deals", [1, 3])
@pytest.mark.parametrize("make", [bourre_env.raw_env, bourre_env.env])
@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_pettingzoo_seed_test_passes(num_players: int, make: Any, num_deals: int) -> None:
    seed_test(lambda: make(num_players, num_deals=num_deals), num_cycles=60)


@warned
def test_pettingzoo_api_test_passes_with_terminating_wrapper_and_text_mode() -> None:
    api_test(bourre_env.env(illegal="terminate"), num_cycles=60)
    api_test(bourre_env.env(render_mode="ansi"), num_cycles=60)


def test_registered_id_makes_the_wrapped_environment() -> None:
    env = pettingzoo.make("aec", "bourre/bourre-v0", num_players=3, rules="pagat_nocinch")
    assert isinstance(env.unwrapped, raw_env)
    assert isinstance(env, pettingzoo.utils.wrappers.OrderEnforcingWrapper)
    assert (env.unwrapped.rules.num_players, env.unwrapped.rules.cinch) == (3, "off")
    assert episode(env, 7) == episode(bourre_env.env(3, "pagat_nocinch"), 7)


# --- the reference loop


def assert_in_order(env: raw_env, agent: str) -> None:
    """Everything PettingZoo promises about a moment in which `agent` is to act."""
    assert env.agents == env.possible_agents
    for books in (env.rewards, env.terminations, env.truncations, env.infos, env._cumulative_rewards):
        assert list(books) == env.agents
    assert {type(flag) for flag in [*env.terminations.values(), *env.truncations.values()]} == {bool}
    assert {type(reward) for reward in env._cumulative_rewards.values()} == {float}
    for other in env.agents:
        seen = env.observe(other)
        assert seen["action_mask"].any() == (other == agent)
        assert env.observation_space(other).contains(seen)
        assert (seen["action_mask"].dtype, seen["observation"].dtype) == (np.int8, np.float32)


def play_by_the_book(env: raw_env, rng: np.random.Generator) -> tuple[dict[str, float], list[int]]:
    """One episode by the standard loop, checked as it goes; the sum of the rewards read, and the actions."""
    total, actions, gone = dict.fromkeys(env.possible_agents, 0.0), [], []
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, info = env.last()
        total[agent] += reward
        assert (type(reward), type(terminated), type(truncated), info) == (float, bool, bool, {})
        if terminated or truncated:
            assert (terminated, truncated) == (env.num_deals == 1, env.num_deals > 1)
            assert not seen["action_mask"].any()
            assert env.observation_space(agent).contains(seen)
            gone.append(agent)
            env.step(None)
            assert env.agents == env.possible_agents[len(gone) :]
            continue
        assert gone == []
        if rng.random() < 0.15:
            assert_in_order(env, agent)
        actions.append(some_action(seen["action_mask"], rng))
        env.step(actions[-1])
    assert gone == env.possible_agents
    assert env.agents == []
    return total, actions


DEALS_IN_ALL = 10_000
DEALS_A_SIZE = -(-DEALS_IN_ALL // len(TABLE_SIZES))  # of the slow tests
DEALS = [pytest.param(120, id="quick"), pytest.param(DEALS_A_SIZE, id="slow", marks=pytest.mark.slow)]


@pytest.mark.parametrize("deals", DEALS)
@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_reference_loop_over_many_deals(num_players: int, deals: int) -> None:
    """Rewards sum to zero or to the carry handed in, and are the returns of the same deal at a bare table."""
    env, rng = raw_env(num_players, "pagat_limit"), np.random.default_rng(num_players)
    tables = Tables(env.rules, 1)
    for deal_id in range(deals):
        carry, dealer = int(rng.integers(0, 30)) * (deal_id % 2), int(rng.integers(0, num_players))
        exempt = np.flatnonzero(rng.random(num_players) < 0.2).tolist()
        options = {"carry": carry, "dealer": dealer, "exempt": exempt}
        env.reset(seed=3 if deal_id == 0 else None, options=options)
        total, actions = play_by_the_book(env, rng)
        assert sum(total.values()) == pytest.approx(carry, abs=1e-9)
        tables.deal(shuffled_decks(3, [deal_id]), dealer, carry, np.isin(range(num_players), exempt)[None])
        for action in actions:
            tables.step([action])
        assert tables.settled.all()
        expected = tables.returns[0] + tables.carry[0] / num_players
        assert list(total.values()) == pytest.approx(expected.tolist(), abs=1e-9)


@pytest.mark.parametrize("deals", [pytest.param(60, id="quick"), DEALS[1]])
@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_same_seeds_give_the_same_deals_over_and_over(num_players: int, deals: int) -> None:
    """PettingZoo's own test of seeds stops after one deal and never seeds an environment twice.

    Here one environment is seeded again for every eight deals, one is wrapped, and one is made anew each time; the
    second four of the eight are a session that goes on without a seed.
    """
    used, wrapped = raw_env(num_players, "pagat_limit", 4), bourre_env.env(num_players, "pagat_limit", 4)
    for seed in range(deals // 8):
        played = []
        for env in (used, wrapped, raw_env(num_players, "pagat_limit", 4)):
            env.reset(seed=seed)
            played.append(trace(env, np.random.default_rng(seed)))
            env.reset()
            played[-1] += trace(env, np.random.default_rng(seed + 1))
        assert played[0] == played[1] == played[2]


def test_rewards_are_plain_floats_at_every_step() -> None:
    env = raw_env()
    env.reset(seed=1)
    rng = np.random.default_rng(1)
    while True:
        assert {type(reward) for reward in env.rewards.values()} == {float}
        if env.terminations[env.agent_selection]:
            break
        env.step(some_action(env.observe(env.agent_selection)["action_mask"], rng))


# --- sessions


class Session:
    """What a session should do, worked out on a bare table: dealer, carry and exemptions are handed on by hand."""

    def __init__(self, env: raw_env, seed: int, dealer: int) -> None:
        """The first deal of the session."""
        self.rules, self.seed, self.deal_index = env.rules, seed, 0
        self.tables = Tables(env.rules, 1)
        self.tables.deal(shuffled_decks(seed, [0]), dealer)
        self.chips = np.zeros(env.rules.num_players, np.int64)

    def step(self, action: int) -> bool:
        """One decision; True when it settled the deal."""
        self.tables.step([action])
        if self.tables.settled[0]:
            self.chips += self.tables.returns[0]
        return bool(self.tables.settled[0])

    def next_deal(self) -> None:
        """Rules 1.6, 6.5 and 6.6."""
        self.deal_index += 1
        dealer = (self.tables.dealer + 1) % self.rules.num_players
        decks = shuffled_decks(self.seed, [self.deal_index])
        self.tables.deal(decks, dealer, self.tables.carry, self.tables.exempt)


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_1_6_6_5_6_6_session_hands_on_dealer_carry_and_exemptions(num_players: int) -> None:
    env, rng = raw_env(num_players, "pagat_limit", num_deals=8), np.random.default_rng(num_players)
    env.reset(seed=9)
    session = Session(env, 9, env.snapshot().dealer)
    carries, exemptions, shown = [], 0, np.zeros(num_players)
    while not env.truncations[env.agent_selection]:
        now, expected = env.snapshot(), session.tables.snapshot(0)
        assert (now.deal_index, now.chips) == (session.deal_index, chips_with(session, expected))
        for name in ("dealer", "seat", "hands", "pot", "carry", "exempt", "turn_up", "trick", "stayed", "passed"):
            assert getattr(now, name) == getattr(expected, name)
        action = some_action(env.observe(env.agent_selection)["action_mask"], rng)
        settled, agent = session.step(action), env.agent_selection
        env.step(action)
        shown += [env.rewards[name] for name in env.possible_agents]
        assert bool(any(env.rewards.values())) == settled, agent
        if settled and session.deal_index < 7:
            assert not any(env.terminations.values())
            carries.append(int(session.tables.carry[0]))
            exemptions += int(session.tables.exempt.sum())
            session.next_deal()
    assert not any(env.terminations.values())
    if num_players > 2:  # two seats cannot tie at five tricks, and seldom go bourré
        assert any(carries)
        assert exemptions > 0
    assert shown.tolist() == pytest.approx((session.chips + session.tables.carry[0] / num_players).tolist())
    assert env.snapshot().chips == tuple(session.chips.tolist())
    assert sum(shown) == pytest.approx(0, abs=1e-9)


def chips_with(session: Session, now: Any) -> tuple[int, ...]:
    """Chips of the deals before and of this one."""
    return tuple(int(before) + deal for before, deal in zip(session.chips, now.chips, strict=True))


@pytest.mark.parametrize("num_players", [2, 4, 8])
def test_rewards_read_through_last_sum_to_zero_over_a_session(num_players: int) -> None:
    env, rng, moved = raw_env(num_players, "pagat_limit", num_deals=7), np.random.default_rng(4), 0.0
    for seed in range(10):
        env.reset(seed=seed)
        total, _ = play_by_the_book(env, rng)
        assert sum(total.values()) == pytest.approx(0, abs=1e-9)
        moved += sum(abs(chips) for chips in total.values())
    assert moved > 20


def error_of(call: Callable[[], object]) -> Exception | None:
    """What a call raises, if it does."""
    try:
        call()
    except Exception as error:
        return error
    return None


def test_1_5_session_ends_before_its_pot_outgrows_its_count() -> None:
    env, rng = raw_env(8, num_deals=100), np.random.default_rng(2)
    env.reset(seed=2, options={"carry": 2**30})
    totals = np.zeros(8)
    while not env.truncations["player_0"]:
        env.step(some_action(env.observe(env.agent_selection)["action_mask"], rng))
        totals += [env.rewards[agent] for agent in env.possible_agents]
    assert env.deal_index < 99, "the pot of this session was to outgrow its count"
    assert env.snapshot().carry > 2**30
    assert totals.sum() == 2**30
    env.reset(seed=2)
    assert env.snapshot().pot == 8


# --- wrappers

WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "env": lambda env: pettingzoo.utils.wrappers.OrderEnforcingWrapper(env),
    "BaseWrapper": lambda env: pettingzoo.utils.wrappers.BaseWrapper(env),
    "AssertOutOfBounds": lambda env: pettingzoo.utils.wrappers.AssertOutOfBoundsWrapper(env),
    "ForfeitIllegal": ForfeitIllegalWrapper,
    "TerminateIllegal": lambda env: pettingzoo.utils.wrappers.TerminateIllegalWrapper(env, illegal_reward=-1),
    "MultiEpisode of one": lambda env: pettingzoo.utils.wrappers.MultiEpisodeEnv(env, num_episodes=1),
    "all of them": lambda env: pettingzoo.utils.wrappers.OrderEnforcingWrapper(
        pettingzoo.utils.wrappers.AssertOutOfBoundsWrapper(
            pettingzoo.utils.wrappers.TerminateIllegalWrapper(env, illegal_reward=-1)
        )
    ),
}


@pytest.mark.parametrize("name", WRAPPERS)
@pytest.mark.parametrize(("num_players", "num_deals", "seeds"), [(2, 1, 20), (4, 1, 20), (8, 1, 10), (5, 4, 6)])
def test_b038_b042_wrapped_environment_plays_the_same_deals(
    name: str, num_players: int, num_deals: int, seeds: int
) -> None:
    """More than fifty deals by each wrapper: the same observations, rewards, flags and infos at every step."""
    bare = raw_env(num_players, "pagat_limit", num_deals)
    wrapped = WRAPPERS[name](raw_env(num_players, "pagat_limit", num_deals))
    for seed in range(seeds):
        assert episode(wrapped, seed) == episode(bare, seed)
    assert str(wrapped.unwrapped) == "bourre_v0"


def test_b038_wrapper_of_several_episodes_plays_the_seeds_one_after_the_other() -> None:
    several = pettingzoo.utils.wrappers.MultiEpisodeEnv(raw_env(3), num_episodes=4)
    several.reset(seed=5)
    played = trace(several, np.random.default_rng(1))
    bare, rng, expected = raw_env(3), np.random.default_rng(1), []
    for seed in (5, 6, 7, 8):
        bare.reset(seed=seed)
        expected += trace(bare, rng)
    assert played == expected


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # from the refused wrapper's own end
def test_b038_wrapper_that_films_says_what_it_misses() -> None:
    with pytest.raises(ValueError, match="Render mode is ansi"):
        pettingzoo.utils.wrappers.RecordVideo(raw_env(render_mode="ansi"), "unused")


def test_snapshot_and_clone_are_reached_through_wrappers() -> None:
    env = bourre_env.env(illegal="terminate")
    env.reset(seed=1)
    assert env.unwrapped.snapshot().phase == "declare"
    assert env.unwrapped.clone().snapshot() == env.unwrapped.snapshot()
    assert env.snapshot() == env.unwrapped.snapshot()


# --- options of reset


def deck_for(num_players: int, dealer: int, turn_up: str) -> list[str]:
    """Texts of a pack that turns up a wanted card."""
    deck = deck_dealing([turn_up if seat == dealer else "" for seat in range(num_players)], dealer=dealer)
    return [text_of([one]) for one in deck]


def test_options_set_the_first_deal() -> None:
    env = raw_env(5)
    deck = deck_for(5, 3, "QH")
    env.reset(seed=1, options={"deck": deck, "dealer": 3, "carry": 11, "exempt": [0, 4]})
    now = env.snapshot()
    assert (now.dealer, now.turn_up, now.trump_suit, now.seat) == (3, "QH", "H", 4)
    assert (now.pot, now.carry, now.chips, now.exempt) == (
        14,
        11,
        (0, -1, -1, -1, 0),
        (True, False, False, False, True),
    )
    assert set(now.hands[4]) == set(deck[:25:5])
    assert env.agent_selection == "player_4"


def test_deck_option_is_for_the_first_deal_of_a_session_only() -> None:
    env = raw_env(2, num_deals=2)
    env.reset(seed=6, options={"deck": deck_for(2, 0, "7C"), "dealer": 0})
    env.step(PASS)
    assert (env.deal_index, env.snapshot().dealer) == (1, 1)
    assert [card for hand in env.snapshot().hands for card in hand] == hands_of_deal(6, 1, 2, dealer=1)


def hands_of_deal(seed: int, deal_id: int, num_players: int, dealer: int) -> list[str]:
    """All hands of a numbered deal, by rules 2.1 and 8.3, seat 0 first."""
    deck = deck_of_deal(seed, deal_id)[: 5 * num_players]
    first = {(dealer + 1 + place) % num_players: deck[place::num_players] for place in range(num_players)}
    return [card for seat in range(num_players) for card in text_of(first[seat]).split()]


def test_deals_of_a_seed_are_numbered_and_go_on_through_resets() -> None:
    env = raw_env(4)
    for deal_id in range(5):
        env.reset(seed=8 if deal_id == 0 else None)
        now = env.snapshot()
        assert [card for hand in now.hands for card in hand] == hands_of_deal(8, deal_id, 4, now.dealer)
        assert env.episode_seed == 8
    env.reset(seed=8)
    assert [card for hand in env.snapshot().hands for card in hand] == hands_of_deal(8, 0, 4, env.snapshot().dealer)


def test_dealer_is_drawn_from_the_seed_and_every_seat_deals_equally_often() -> None:
    env = raw_env(5)
    dealers = []
    for seed in range(1000):
        env.reset(seed=seed)
        dealers.append(env.snapshot().dealer)
    counts = np.bincount(dealers, minlength=5)
    assert ((counts - 200) ** 2 / 200).sum() < 23.5  # chi-square with 4 degrees of freedom, 99.99 %
    env.reset(seed=17)
    assert env.snapshot().dealer == dealers[17]


def test_options_that_are_none_and_empty_options_are_no_options() -> None:
    env, other = raw_env(), raw_env()
    env.reset(seed=3)
    for options in ({}, {"deck": None, "dealer": None, "carry": None, "exempt": None}, {"exempt": []}, {"carry": 0}):
        other.reset(seed=3, options=options)
        assert state_of(other) == state_of(env)


def test_options_are_left_as_they_were() -> None:
    options = {"deck": deck_for(4, 2, "5D"), "dealer": 2, "carry": 3, "exempt": [1]}
    kept = copy.deepcopy(options)
    raw_env().reset(seed=1, options=options)
    assert options == kept


def test_unknown_options_of_wrappers_are_ignored_and_slips_are_refused() -> None:
    env = raw_env()
    env.reset(seed=1, options={"options": 1, "render_quality": "high"})
    with pytest.raises(ValueError, match=r"no option 'dealr' \(did you mean 'dealer'\?\); choose among deck, dealer, "):
        env.reset(seed=1, options={"dealr": 2})


PACK = [text_of([one]) for one in range(52)]
BAD_OPTIONS: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "deck too short": ({"deck": PACK[:51]}, DeckError, "shape"),
    "deck too long": ({"deck": [*PACK, "2C"]}, DeckError, "shape"),
    "empty deck": ({"deck": []}, DeckError, "deck"),
    "doubled card": ({"deck": ["AS", *PACK[1:]]}, DeckError, "permutation"),
    "no card": ({"deck": [*PACK[:51], "1S"]}, DeckError, r"options\['deck'\]: '1S' is not a card"),
    "lower case": ({"deck": [text.lower() for text in PACK]}, DeckError, "is not a card"),
    "ids": ({"deck": list(range(52))}, DeckError, "is not a card"),
    "numpy ids": ({"deck": shuffled_decks(1, [0])[0]}, DeckError, "is not a card"),
    "one text": ({"deck": " ".join(PACK)}, DeckError, "is not a card"),
    "a number for a deck": ({"deck": 7}, DeckError, "deck"),
    "dealer too high": ({"dealer": 4}, ValueError, "dealer is 4; it must be from 0 to 3"),
    "negative dealer": ({"dealer": -1}, ValueError, "dealer is -1"),
    "dealer as text": ({"dealer": "1"}, ValueError, "dealer"),
    "dealer as agent": ({"dealer": "player_1"}, ValueError, "dealer"),
    "fractional dealer": ({"dealer": 1.0}, ValueError, "dealer"),
    "boolean dealer": ({"dealer": True}, ValueError, "dealer"),
    "negative carry": ({"carry": -1}, ValueError, "carry is -1"),
    "fractional carry": ({"carry": 2.5}, ValueError, "carry"),
    "carry as text": ({"carry": "3"}, ValueError, "carry"),
    "carry too large": ({"carry": 2**31}, ChipsError, "1.5"),
    "carry far too large": ({"carry": 2**70}, (ChipsError, ValueError), "carry"),  # type: ignore[dict-item]
    "exempt seat too high": ({"exempt": [4]}, ValueError, r"options\['exempt'\] names seat 4; seats are 0..3"),
    "exempt negative": ({"exempt": [-1]}, ValueError, "exempt"),
    "exempt as flags": ({"exempt": [True, False, False, False]}, ValueError, "exempt"),
    "exempt as agents": ({"exempt": ["player_1"]}, ValueError, "exempt"),
    "one exempt seat, not in a list": ({"exempt": 2}, ValueError, "exempt"),
}


@pytest.mark.parametrize("name", BAD_OPTIONS)
def test_bad_option_is_refused_in_words_and_changes_nothing(name: str) -> None:
    options, error, words = BAD_OPTIONS[name]
    env = in_mid_deal()
    before = state_of(env)
    with pytest.raises(error, match=words):
        env.reset(seed=99, options=options)
    assert state_of(env) == before
    env.reset()
    assert [card for hand in env.snapshot().hands for card in hand] == hands_of_deal(5, 1, 4, env.snapshot().dealer)


# --- arguments

BAD_ARGUMENTS: list[tuple[dict[str, Any], str]] = [
    ({"num_players": 1}, "players"),
    ({"num_players": 9}, "players"),
    ({"num_players": "4"}, "num_players"),
    ({"num_players": 4.0}, "num_players"),
    ({"rules": "pagatt"}, r"did you mean 'pagat'\?"),
    ({"rules": {"ante": 2}}, "rules"),
    ({"rules": None}, "rules"),
    ({"num_players": 5, "rules": Rules(num_players=6)}, "contradicts"),
    ({"num_deals": 0}, "num_deals"),
    ({"num_deals": -1}, "num_deals"),
    ({"num_deals": 1.0}, "num_deals"),
    ({"num_deals": True}, "num_deals"),
    ({"num_deals": None}, "num_deals"),
    ({"render_mode": "rgb_arrray"}, "render_mode"),
    ({"render_mode": 1}, "render_mode"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD_ARGUMENTS, ids=[str(case[0])[:40] for case in BAD_ARGUMENTS])
def test_bad_argument_is_refused_in_words(arguments: dict[str, Any], words: str) -> None:
    for make in (bourre_env.raw_env, bourre_env.env):
        with pytest.raises(ValueError, match=words):
            make(**arguments)


@pytest.mark.parametrize("illegal", ["", "Raise", None, "penalise"])
def test_unknown_way_to_treat_illegal_actions_is_refused(illegal: Any) -> None:
    with pytest.raises(ValueError, match=r"illegal is .*'raise'"):
        bourre_env.env(illegal=illegal)


@pytest.mark.parametrize("name", ["x", "player_4", "Player_1", 0, None, ["player_0"], ("player_0",)], ids=repr)
def test_name_that_no_agent_has_is_refused_with_the_names_there_are(name: Any) -> None:
    for env in (raw_env(), bourre_env.env()):
        env.reset(seed=1)
        for ask in (env.observe, env.observation_space, env.action_space):
            with pytest.raises(UnknownAgentError, match="agents are player_0, player_1, player_2, player_3") as refusal:
                ask(name)
            assert str(refusal.value).startswith(f"there is no agent {name!r}")
            assert isinstance(refusal.value, (ValueError, KeyError))


@pytest.mark.parametrize("name", [["a"], 3, None, {}, ("pagat",)], ids=repr)
def test_preset_that_is_no_name_is_refused_in_words(name: Any) -> None:
    with pytest.raises(RulesError, match=r"no rules preset is called .*; choose 'pagat', "):
        Rules.preset(name)


def test_rules_value_brings_its_table_size() -> None:
    env = raw_env(rules=Rules.preset("pagat_limit", num_players=6, ante=2))
    assert (len(env.possible_agents), env.rules.limit) == (6, 40)
    assert raw_env(6, Rules(num_players=6)).rules.num_players == 6
    with pytest.raises(RulesError):
        raw_env(3, Rules(num_players=6))


# --- before reset and after the end

BEFORE_RESET: dict[str, Callable[[Any], Any]] = {
    "step": lambda env: env.step(PASS),
    "step of a dead agent": lambda env: env.step(None),
    "observe": lambda env: env.observe("player_0"),
    "last": lambda env: env.last(),
    "render": lambda env: env.render(),
    "snapshot": lambda env: env.unwrapped.snapshot(),
    "record": lambda env: env.unwrapped.record(),
    "action_text": lambda env: env.unwrapped.action_text(PASS),
    "action_id": lambda env: env.unwrapped.action_id("QS"),
}


@pytest.mark.parametrize("name", BEFORE_RESET)
def test_call_before_reset_says_that_reset_is_needed(name: str) -> None:
    with pytest.raises(ResetNeededError, match=r"call reset\(\) first"):
        BEFORE_RESET[name](raw_env(render_mode="ansi"))
    with pytest.raises((ResetNeededError, AttributeError, AssertionError, gymnasium.error.ResetNeeded), match="reset"):
        BEFORE_RESET[name](bourre_env.env(render_mode="ansi"))


def test_step_after_the_end_says_that_reset_is_needed() -> None:
    env = raw_env()
    episode(env, 1)
    for action in (None, PASS, 0):
        with pytest.raises(ResetNeededError, match=r"call reset\(\)"):
            env.step(action)
    assert not any(env.observe(agent)["action_mask"].any() for agent in env.possible_agents)
    assert env.snapshot().phase == "settled"


def test_reset_in_mid_deal_and_among_the_last_steps_begins_anew() -> None:
    env, fresh = in_mid_deal(), raw_env()
    fresh.reset(seed=12)
    env.reset(seed=12)
    assert state_of(env) == state_of(fresh)
    rng = np.random.default_rng(1)
    while not env.terminations[env.agent_selection]:
        env.step(some_action(env.observe(env.agent_selection)["action_mask"], rng))
    env.step(None)
    env.step(None)
    env.reset(seed=12)
    assert state_of(env) == state_of(fresh)
    assert episode(env, 13) == episode(fresh, 13)


# --- actions

NO_ACTIONS = [
    -1,
    85,
    10**9,
    10**30,
    3.0,
    "3",
    None,
    [3],
    (3,),
    True,
    False,
    np.bool_(True),
    np.float32(3),
    np.array([3]),
]
NO_ACTIONS += [np.array(3.0), np.array(True), b"3", 3j, {"action": 3}, np.nan]


@pytest.mark.parametrize("phase_steps", [0, 8])
@pytest.mark.parametrize("action", NO_ACTIONS, ids=repr)
def test_7_1_value_that_is_no_action_is_refused_by_value_and_legal_actions(action: Any, phase_steps: int) -> None:
    env = in_mid_deal(steps=phase_steps)
    before = state_of(env)
    with pytest.raises(IllegalActionError) as refusal:
        env.step(action)
    assert state_of(env) == before
    words, now = str(refusal.value), env.snapshot()
    number = action.item() if isinstance(action, np.ndarray) and action.ndim == 0 else action
    assert repr(action) in words or repr(number) in words
    assert f"seat {now.seat}, phase {now.phase}" in words
    assert "legal: " in words
    assert isinstance(refusal.value, ValueError)


@pytest.mark.parametrize("num_players", [2, 5])
def test_7_1_every_illegal_action_is_refused_and_changes_nothing(num_players: int) -> None:
    env, rng = raw_env(num_players), np.random.default_rng(3)
    env.reset(seed=3)
    while not env.terminations[env.agent_selection]:
        mask, before = env.observe(env.agent_selection)["action_mask"], state_of(env)
        for action in rng.choice(np.flatnonzero(mask == 0), 3):
            with pytest.raises(IllegalActionError, match=f"action {action} "):
                env.step(int(action))
        assert state_of(env) == before
        env.step(some_action(mask, rng))


KINDS = [int, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, np.array]


@pytest.mark.parametrize("kind", KINDS, ids=[kind.__name__ for kind in KINDS])
def test_python_and_numpy_integers_are_the_same_action(kind: Any) -> None:
    expected = in_mid_deal()
    action = int(np.flatnonzero(expected.observe(expected.agent_selection)["action_mask"])[-1])
    env = expected.clone()
    expected.step(action)
    env.step(kind(action))
    assert state_of(env) == state_of(expected)


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_9_every_legal_action_has_words_that_name_it(num_players: int) -> None:
    env, rng = raw_env(num_players), np.random.default_rng(6)
    for seed in range(2):
        env.reset(seed=seed)
        while not env.terminations[env.agent_selection]:
            mask = env.observe(env.agent_selection)["action_mask"]
            before = env._tables.records.tobytes()
            legal = np.flatnonzero(mask).tolist()
            texts = [env.action_text(action) for action in legal]
            assert [env.action_id(text) for text in texts] == legal
            assert len(set(texts)) == len(legal)
            assert_words_fit_the_hand(env, texts)
            assert env._tables.records.tobytes() == before
            env.step(some_action(mask, rng))


def assert_words_fit_the_hand(env: raw_env, texts: list[str]) -> None:
    """Cards named are in the hand of the seat to act; passing and staying are declared, cards are played."""
    now = env.snapshot()
    for text in texts:
        kind, *cards = text.split()
        if now.phase == "play":
            assert cards == []
            assert kind in now.hands[now.seat]
        else:
            assert kind in ("pass", "stay")
            assert set(cards) <= set(now.hands[now.seat])
            assert cards == text_of([PACK.index(card) for card in cards]).split()


BAD_TEXTS = [
    "",
    "fold",
    "Pass",
    "pass 2C",
    "pass pass",
    "stay stay",
    "stay 1C",
    "QS QH",
    "play QS",
    "stay QS QS",
    "10S",
]


@pytest.mark.parametrize("text", BAD_TEXTS)
def test_words_that_name_no_action_are_refused(text: str) -> None:
    env = in_mid_deal(steps=0)
    with pytest.raises(IllegalActionError, match=repr(text)):
        env.action_id(text)


def test_words_that_throw_away_a_card_not_held_are_refused_with_the_hand() -> None:
    env = in_mid_deal(steps=0)
    hand = env.snapshot().hands[env.snapshot().seat]
    other = next(text for text in PACK if text not in hand)
    with pytest.raises(IllegalActionError, match=f"does not hold.*{hand[0]}"):
        env.action_id(f"stay {other}")


# --- looking and copying


def test_render_is_text_that_changes_nothing() -> None:
    env = in_mid_deal(render_mode="ansi", steps=9)
    while not env.terminations[env.agent_selection]:
        before, now = state_of(env), env.snapshot()
        text = env.render()
        assert isinstance(text, str)
        assert state_of(env) == before
        for fact in (now.trump_suit, now.turn_up, now.phase, *(card for hand in now.hands for card in hand)):
            assert fact in text
        env.step(some_action(env.observe(env.agent_selection)["action_mask"], np.random.default_rng(1)))
    assert "settled" in str(env.render())
    assert raw_env().render_mode is None


def test_rendering_does_not_change_the_play() -> None:
    shown, plain = raw_env(render_mode="ansi"), raw_env()
    shown.reset(seed=4)
    plain.reset(seed=4)
    rng, other_rng = np.random.default_rng(1), np.random.default_rng(1)
    while not plain.terminations[plain.agent_selection]:
        shown.render()
        seen = shown.observe(shown.agent_selection)["action_mask"]
        shown.step(some_action(seen, rng))
        plain.step(some_action(plain.observe(plain.agent_selection)["action_mask"], other_rng))
        assert state_of(shown) == state_of(plain)


COPIES: dict[str, Callable[[raw_env], raw_env]] = {
    "clone": lambda env: env.clone(),
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "copy of a copy": lambda env: copy.deepcopy(pickle.loads(pickle.dumps(env.clone()))),
}


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize(
    ("num_players", "num_deals", "steps"), [(2, 1, 1), (4, 1, 6), (8, 1, 3), (4, 5, 30), (8, 1, 0)]
)
def test_b079_copy_in_mid_deal_is_exact_and_plays_on_alike(
    name: str, num_players: int, num_deals: int, steps: int
) -> None:
    env = in_mid_deal(num_players, num_deals=num_deals, rules="pagat_limit", steps=steps)
    other = COPIES[name](env)
    assert (state_of(other), other.record()) == (state_of(env), env.record())
    untouched = state_of(env)
    played = trace(other, np.random.default_rng(7))
    assert state_of(env) == untouched, "playing the copy moved the original"
    assert trace(env, np.random.default_rng(7)) == played
    env.reset()
    other.reset()
    assert state_of(other) == state_of(env)


def test_b079_wrapped_environment_can_be_copied_and_pickled_too() -> None:
    for env in (bourre_env.env(), bourre_env.env(illegal="terminate")):
        env.reset(seed=3)
        env.step(52)
        for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            assert trace(other, np.random.default_rng(1)) == trace(copy.deepcopy(env), np.random.default_rng(1))


def test_copy_before_the_first_reset_is_a_fresh_environment() -> None:
    for copied in COPIES.values():
        assert episode(copied(raw_env(3)), 5) == episode(raw_env(3), 5)


def test_environments_do_not_share_anything() -> None:
    one, other = in_mid_deal(), in_mid_deal()
    before = state_of(other)
    trace(one, np.random.default_rng(1))
    assert state_of(other) == before
    one.infos["player_0"] = {"note": 1}
    one.possible_agents.append("player_9")
    assert len(other.possible_agents) == 4
    assert state_of(other) == before


def test_bare_table_replays_a_deal_of_the_environment() -> None:
    """`shuffled_decks(seed, [0])`, the dealer shown and the same actions give the same chips."""
    env = raw_env(6)
    env.reset(seed=21)
    tables = Tables(env.rules, 1)
    tables.deal(shuffled_decks(21, [0]), env.snapshot().dealer)
    rng = np.random.default_rng(2)
    while not env.terminations[env.agent_selection]:
        seat = env.snapshot().seat
        assert (env.observe(f"player_{seat}")["observation"] == tables.observe()[0]).all()
        action = some_action(env.observe(env.agent_selection)["action_mask"], rng)
        env.step(action)
        tables.step([action])
    assert env.snapshot().chips == tuple(tables.returns[0].tolist())


def test_3_12_no_error_tells_a_hand_that_has_not_been_seen() -> None:
    rules = Rules.preset("wiki", blind_declaring=True, num_players=4)
    env = raw_env(rules=rules)
    env.reset(seed=1)
    with pytest.raises(IllegalActionError, match="a discard from a hand that has not been seen"):
        env.step(len(rules.pack) + 31)
    assert not set(env.snapshot().hands[env.snapshot().seat]) & set(env.action_text(83).split())
