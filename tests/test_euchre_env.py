"""Euchre as a PettingZoo environment: PettingZoo's own tests, a thousand hands, games, options, copies, forfeits."""

import copy
import pickle
from typing import Any

import numpy as np
import pettingzoo
import pytest
from pettingzoo.test import api_test, render_test, seed_test
from test_env import warned

import bourre_env
from bourre_env import (
    DeckError,
    EuchreRules,
    IllegalActionError,
    ResetNeededError,
    RulesError,
    UnknownAgentError,
    euchre_env,
    raw_euchre_env,
    shuffled_decks,
)
from bourre_env.euchre.cards import card_text
from bourre_env.euchre.observation import layout
from bourre_env.euchre.render import HIDDEN

PASS, WITH_PARTNER = 25, 32


def some_action(mask: np.ndarray[Any, Any], rng: np.random.Generator) -> int:
    """A legal action; passing and keeping the partner are likelier than others."""
    legal = np.flatnonzero(mask)
    quiet = [action for action in (PASS, WITH_PARTNER) if action in legal]
    return int(quiet[0] if quiet and rng.random() < 0.7 else legal[rng.integers(len(legal))])


def played_out(env: Any, seed: int, **reset: Any) -> list[tuple[Any, ...]]:
    """Everything PettingZoo's loop shows in one episode."""
    rng, seen_by_all = np.random.default_rng(seed), []
    env.reset(seed=seed, **reset)
    for agent in env.agent_iter():
        seen, reward, terminated, truncated, info = env.last()
        action = None if terminated or truncated else some_action(seen["action_mask"], rng)
        seen_by_all.append((agent, seen["observation"].tobytes(), reward, terminated, truncated, dict(info), action))
        env.step(action)
    return seen_by_all


# --- PettingZoo's own tests -------------------------------------------------------------------------------------------


@warned
@pytest.mark.parametrize("arguments", [{}, {"episode": "game"}, {"rules": "openspiel", "illegal": "forfeit"}], ids=str)
def test_pettingzoos_api_test_passes(arguments: dict[str, Any]) -> None:
    api_test(euchre_env(**arguments), num_cycles=300)


@warned
def test_pettingzoos_seed_and_render_tests_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    seed_test(euchre_env, num_cycles=100)
    render_test(euchre_env, custom_tests={"ansi": lambda text: "up-card" in text})


def test_environment_can_be_made_by_name() -> None:
    env = pettingzoo.make("aec", "bourre/euchre-v0", episode="game")
    env.reset(seed=1)
    assert (env.unwrapped.episode, str(env.unwrapped)) == ("game", "euchre_v0")
    assert env.action_space("player_0").n == 33
    assert env.observation_space("player_3")["observation"].shape == (576,)


# --- hands and games --------------------------------------------------------------------------------------------------


def test_a_thousand_hands_pay_what_the_tables_say_and_sum_to_zero() -> None:
    env, rng = raw_euchre_env(), np.random.default_rng(1)
    env.reset(seed=3)
    dealers = set()
    for number in range(1000):
        assert env.deal_id == number
        dealers.add(env.snapshot().dealer)
        totals = dict.fromkeys(env.possible_agents, 0.0)
        decisions = 0
        while env.agents:
            seen, reward, terminated, _, _ = env.last()
            totals[env.agent_selection] += reward
            assert (seen["action_mask"].sum() > 0) == (not terminated)
            env.step(None if terminated else some_action(seen["action_mask"], rng))
            decisions += not terminated
        assert decisions <= env.rules.max_decisions
        assert list(totals.values()) == list(env.snapshot().returns)
        assert sum(totals.values()) == 0
        env.reset()
    assert dealers == {0, 1, 2, 3}


def test_game_goes_on_until_a_side_has_the_target_and_the_dealer_moves_on() -> None:
    env = raw_euchre_env(rules=EuchreRules(target=5), episode="game")
    rng = np.random.default_rng(2)
    for seed in range(5):
        env.reset(seed=seed, options={"dealer": 2})
        totals = np.zeros(4)
        last, hands, scores = -1, [], [(0, 0)]
        while env.agents:
            now = env.snapshot()
            if now.hand_index != last:
                last = now.hand_index
                hands.append((now.dealer, now.up_card))
                scores.append(now.score)
            seen, reward, terminated, _, _ = env.last()
            totals[int(env.agent_selection[-1])] += reward
            env.step(None if terminated else some_action(seen["action_mask"], rng))
        assert [dealer for dealer, _ in hands] == [(2 + number) % 4 for number in range(len(hands))]
        packs = shuffled_decks(seed, np.arange(len(hands)), pack=env.rules.pack)
        assert [up for _, up in hands] == [card_text(int(card)) for card in packs[:, 20]]
        end = env.snapshot().score
        assert max(end) >= 5 > max(scores[-1])
        assert totals.tolist() == [end[0] - end[1], end[1] - end[0]] * 2


def test_same_seed_same_episode_and_reset_goes_on_with_the_next_hand() -> None:
    env, other = euchre_env(), euchre_env()
    assert played_out(env, 5) == played_out(other, 5)
    assert played_out(env, 5) != played_out(env, 6)
    env.reset(seed=5)
    first = env.unwrapped.snapshot()
    env.reset()
    assert env.unwrapped.snapshot() != first
    assert env.unwrapped.deal_id == 1


def test_seat_whose_partner_plays_alone_stays_and_is_never_asked() -> None:
    env = raw_euchre_env()
    env.reset(seed=1, options={"dealer": 3})
    assert env.action_text(PASS) == "pass"
    with pytest.raises(IllegalActionError, match="None is no action: actions are integers from 0"):
        env.action_text(None)
    env.step(env.action_id("pass"))
    env.step(env.action_id("turn_down"))
    assert env.snapshot().out == (3,)
    asked = set()
    while not env.terminations["player_0"]:
        asked.add(env.agent_selection)
        env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[-1]))
        assert len(env.agents) == 4
    assert "player_3" not in asked
    assert env.rewards["player_3"] == env.rewards["player_1"] != 0


# --- what is handed in ------------------------------------------------------------------------------------------------


def test_options_set_up_the_first_hand() -> None:
    env = raw_euchre_env()
    pack = [card_text(card) for card in env.rules.pack]
    env.reset(seed=0, options={"deck": pack, "dealer": 1, "score": (7, 10)})
    now = env.snapshot()
    assert (now.dealer, now.seat, now.up_card, now.score) == (1, 2, pack[20], (7, 10))
    assert now.hands[2] == tuple(pack[:20:4])
    names = layout(env.rules).segments
    assert env.observe("player_0")["observation"][names["our_score"].slice].sum() == 7
    assert env.observe("player_1")["observation"][names["our_score"].slice].sum() == 10


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"deck": ["9C"] * 25}, DeckError, "not a permutation"),
        ({"deck": ["1C"]}, DeckError, "'1C' is not a card"),
        ({"deck": 5}, DeckError, "deck"),
        ({"dealer": 4}, ValueError, "dealer.* is 4"),
        ({"dealers": 1}, ValueError, "did you mean 'dealer'"),
        ({"score": (11, 0)}, ValueError, "two integers from 0 to 10"),
        ({"score": (0, -1)}, ValueError, "two integers from 0 to 10"),
        ({"score": (2**70, 0)}, ValueError, "two integers from 0 to 10"),
        ({"score": 3}, ValueError, "two integers"),
        ("deck", ValueError, "must be a dict"),
    ],
)
def test_options_that_make_no_hand_are_refused_and_change_nothing(options: Any, error: type, words: str) -> None:
    env = raw_euchre_env()
    env.reset(seed=1)
    before = env.snapshot()
    with pytest.raises(error, match=words):
        env.reset(seed=2, options=options)
    assert env.snapshot() == before


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"rules": "cornisch"}, RulesError, "did you mean 'cornish'"),
        ({"rules": 3}, RulesError, "EuchreRules"),
        ({"episode": "match"}, ValueError, "choose one of 'hand', 'game'"),
        ({"render_mode": "svg"}, ValueError, "render_mode"),
        ({"render_seat": 4}, ValueError, "render_seat is 4"),
        ({"illegal": "ignore"}, ValueError, "illegal is 'ignore'"),
    ],
)
def test_arguments_that_make_no_environment_are_refused(arguments: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        euchre_env(**arguments)


def test_e6_1_illegal_action_is_refused_in_words_and_changes_nothing() -> None:
    env = raw_euchre_env()
    with pytest.raises(ResetNeededError, match="reset"):
        env.last()
    env.reset(seed=1)
    before = env._tables.records.tobytes()
    for action in (30, 33, -1, 2.0, None, "pass", True):
        with pytest.raises(
            IllegalActionError,
            match="seat . phase bid1: action .* is not legal; legal: pass, name_.".replace(". p", "., p"),
        ):
            env.step(action)
        assert env._tables.records.tobytes() == before
    with pytest.raises(IllegalActionError, match="'1C' is not a card"):
        env.action_id("1C")
    with pytest.raises(UnknownAgentError, match="player_4"):
        env.observe("player_4")


def test_e6_2_forfeit_ends_the_hand_and_costs_four_points() -> None:
    env = euchre_env(episode="game", illegal="forfeit")
    env.reset(seed=4)
    offender = env.agent_selection
    env.step(31)
    assert env.infos[offender]["forfeited_deal"] == 0
    assert env.infos[offender]["illegal_action"] == 31
    side = int(offender[-1]) % 2
    assert env.unwrapped.snapshot().score[1 - side] == 4
    assert env.unwrapped.snapshot().hand_index == 1
    assert env.rewards[offender] == -4


# --- looking and copying ----------------------------------------------------------------------------------------------


def test_text_of_every_legal_action_leads_back_to_it() -> None:
    rng = np.random.default_rng(8)
    for rules in (EuchreRules(), EuchreRules(card_ids="relative"), EuchreRules.preset("openspiel")):
        env = raw_euchre_env(rules=rules)
        for seed in range(10):
            env.reset(seed=seed)
            while env.agents and not env.terminations["player_0"]:
                mask = env.observe(env.agent_selection)["action_mask"]
                for action in np.flatnonzero(mask):
                    assert env.action_id(env.action_text(int(action))) == action
                env.step(some_action(mask, rng))


def test_render_shows_one_seat_only_what_it_may_see() -> None:
    env = raw_euchre_env(render_mode="ansi", render_seat=1)
    rng = np.random.default_rng(9)
    for seed in range(30):
        env.reset(seed=seed)
        while env.agents and not env.terminations["player_0"]:
            now, text = env.snapshot(), env.render()
            hidden = {card for seat, hand in enumerate(now.hands) if seat != 1 for card in hand} | set(now.unused)
            hidden |= {now.shed} if now.taker != 1 and now.shed else set()
            assert not (hidden - {now.up_card}) & set(text.replace(":", " ").replace(",", " ").split())
            others = [card for seat, hand in enumerate(now.hands) if seat != 1 for card in hand]
            assert text.count(HIDDEN) == len(others) + (now.shed != "" and now.taker != 1)
            env.step(some_action(env.observe(env.agent_selection)["action_mask"], rng))
        assert "settled; points" in env.render()


def test_picture_shows_what_one_seat_may_see_and_changes_nothing() -> None:
    env, rng = raw_euchre_env(render_mode="rgb_array", render_seat=2), np.random.default_rng(4)
    env.reset(seed=1)
    while not env.terminations["player_0"]:
        env.step(some_action(env.observe(env.agent_selection)["action_mask"], rng))
        if env.snapshot().seat == 2:
            before = env._tables.records.tobytes()
            image = env.render()
            assert (image.shape, image.dtype) == ((704, 1024, 3), np.uint8)
            assert env._tables.records.tobytes() == before
            world = env.clone()
            world._tables = world._tables.reshuffle_unseen(2, seed=5)
            assert (world.render() == image).all()


def test_blind_dealer_is_shown_no_card_of_its_own() -> None:
    env = raw_euchre_env(render_mode="ansi", render_seat=0)
    pack = [card_text(card) for card in env.rules.pack]
    deck = [*pack[:20], "BN", *pack[20:24]]
    env.reset(seed=1, options={"deck": deck, "dealer": 0})
    assert env.snapshot().phase == "blind"
    assert not set(env.snapshot().hands[0]) & set(env.render().split())
    env.step(env.action_id("name_H"))
    assert set(env.snapshot().hands[0]) <= set(env.render().split())


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env)), lambda env: env.clone()]
)
def test_copy_in_mid_hand_goes_on_alike(copied: Any) -> None:
    env, rng = raw_euchre_env(episode="game"), np.random.default_rng(3)
    env.reset(seed=3)
    for _ in range(12):
        env.step(some_action(env.observe(env.agent_selection)["action_mask"], rng))
    twin = copied(env)
    before = twin.snapshot()
    while env.agents:
        done = env.terminations[env.agent_selection]
        env.step(None if done else some_action(env.observe(env.agent_selection)["action_mask"], rng))
    assert twin.snapshot() == before
    assert twin._table["phase"] == twin._tables.records[0].phase


def test_specification_names_every_piece_of_the_observation() -> None:
    page = bourre_env.euchre.env.__doc__
    for name, segment in layout(EuchreRules()).segments.items():
        assert f"| `{name}` | {segment.start} | {segment.length} |" in page
