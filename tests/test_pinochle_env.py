"""Pinochle as a PettingZoo environment: PettingZoo's own tests, whole hands and games, options, copies, corrections."""

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
    IllegalActionError,
    PinochleRules,
    ResetNeededError,
    RulesError,
    UnknownAgentError,
    pinochle_env,
    raw_pinochle_env,
    shuffled_decks,
)
from bourre_env.pinochle.cards import kind_text
from bourre_env.pinochle.observation import layout
from bourre_env.pinochle.render import HIDDEN

PASS, LOWEST_BID = 24, 25


def some_action(mask: np.ndarray[Any, Any], rng: np.random.Generator) -> int:
    """A legal action; passing is likelier than others, and the lowest bid than higher ones."""
    legal = np.flatnonzero(mask)
    if mask[PASS] and rng.random() < 0.7:
        return PASS
    bids = legal[(legal >= LOWEST_BID) & (legal < 65)]
    return int(bids[0] if len(bids) and rng.random() < 0.8 else legal[rng.integers(len(legal))])


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


def test_what_is_no_action_has_no_text() -> None:
    env = pinochle_env()
    env.reset(seed=1)
    assert env.action_text(PASS) == "pass"
    with pytest.raises(IllegalActionError, match="None is no action: actions are integers from 0"):
        env.action_text(None)


# --- PettingZoo's own tests -------------------------------------------------------------------------------------------


@warned
@pytest.mark.parametrize("arguments", [{}, {"episode": "game", "illegal": "correct"}, {"illegal": "forfeit"}], ids=str)
def test_pettingzoos_api_test_passes(arguments: dict[str, Any]) -> None:
    api_test(pinochle_env(**arguments), num_cycles=200)


@warned
def test_pettingzoos_seed_and_render_tests_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    seed_test(pinochle_env, num_cycles=60)
    render_test(pinochle_env, custom_tests={"ansi": lambda text: "trick points" in text})


def test_environment_can_be_made_by_name() -> None:
    env = pettingzoo.make("aec", "bourre/pinochle-v0", episode="game")
    env.reset(seed=1)
    assert (env.unwrapped.episode, str(env.unwrapped)) == ("game", "pinochle_v0")
    assert env.action_space("player_0").n == 69
    assert env.observation_space("player_3")["observation"].shape == (1664,)


# --- hands and games --------------------------------------------------------------------------------------------------


def test_hundreds_of_hands_pay_what_the_tables_say_and_sum_to_zero() -> None:
    env, rng = raw_pinochle_env(rules=PinochleRules(all_pass="redeal", exchange=3)), np.random.default_rng(1)
    env.reset(seed=3)
    dealers, thrown_in = set(), 0
    for number in range(200):
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
        end = env.snapshot()
        thrown_in += end.trump_suit == ""
        assert list(totals.values()) == list(end.returns)
        assert sum(totals.values()) == 0
        env.reset()
    assert dealers == {0, 1, 2, 3}
    assert 0 < thrown_in < 200


def test_game_goes_on_until_a_side_has_the_target_and_the_dealer_moves_on() -> None:
    env = raw_pinochle_env(rules=PinochleRules(target=60), episode="game")
    rng = np.random.default_rng(2)
    for seed in range(3):
        env.reset(seed=seed, options={"dealer": 2})
        totals = np.zeros(4)
        last, hands, scores = -1, [], [(0, 0)]
        while env.agents:
            now = env.snapshot()
            if now.hand_index != last:
                last = now.hand_index
                hands.append((now.dealer, now.hands[(now.dealer + 1) % 4]))
                scores.append(now.score)
            seen, reward, terminated, _, _ = env.last()
            totals[int(env.agent_selection[-1])] += reward
            assert now.winner == -1 or terminated
            env.step(None if terminated else some_action(seen["action_mask"], rng))
        assert [dealer for dealer, _ in hands] == [(2 + number) % 4 for number in range(len(hands))]
        packs = shuffled_decks(seed, np.arange(len(hands)), pack=env.rules.pack)
        eldest = [sorted(kind_text(int(card) // 2) for card in pack[::4]) for pack in packs]
        assert [sorted(hand) for _, hand in hands] == eldest
        end = env.snapshot()
        assert max(end.score) >= 60 > max(scores[-1])
        assert end.winner in (0, 1)
        assert totals.tolist() == [end.score[0] - end.score[1], end.score[1] - end.score[0]] * 2


def test_same_seed_same_episode_and_reset_goes_on_with_the_next_hand() -> None:
    env, other = pinochle_env(), pinochle_env()
    assert played_out(env, 5) == played_out(other, 5)
    assert played_out(env, 5) != played_out(env, 6)
    env.reset(seed=5)
    first = env.unwrapped.snapshot()
    env.reset()
    assert env.unwrapped.snapshot() != first
    assert env.unwrapped.deal_id == 1


# --- what is handed in ------------------------------------------------------------------------------------------------


def test_options_set_up_the_first_hand() -> None:
    env = raw_pinochle_env()
    pack = [kind_text(card // 2) for card in env.rules.pack]
    env.reset(seed=0, options={"deck": pack, "dealer": 1, "score": (70, -25)})
    now = env.snapshot()
    assert (now.dealer, now.seat, now.score) == (1, 2, (70, -25))
    assert now.hands[2] == tuple(pack[::4])
    names = layout(env.rules).segments
    assert env.observe("player_0")["observation"][names["our_score"].slice].sum() == 8 + 15  # 70 is 14.9 32nds of 150
    assert env.observe("player_0")["observation"][names["their_score"].slice].sum() == 7  # above -8 32nds, not -4


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"deck": ["9C"] * 48}, DeckError, "not a permutation"),
        ({"deck": ["1C"]}, DeckError, "'1C' is not a card"),
        ({"deck": 5}, DeckError, "deck"),
        ({"dealer": 4}, ValueError, "dealer.* is 4"),
        ({"dealers": 1}, ValueError, "did you mean 'dealer'"),
        ({"score": (150, 0)}, ValueError, "two integers from -1000000 to 149"),
        ({"score": (2**70, 0)}, ValueError, "two integers from"),
        ({"score": 3}, ValueError, "two integers"),
        ("deck", ValueError, "must be a dict"),
    ],
)
def test_options_that_make_no_hand_are_refused_and_change_nothing(options: Any, error: type, words: str) -> None:
    env = raw_pinochle_env()
    env.reset(seed=1)
    before = env.snapshot()
    with pytest.raises(error, match=words):
        env.reset(seed=2, options=options)
    assert env.snapshot() == before


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"rules": "moderne"}, RulesError, "did you mean 'modern'"),
        ({"rules": 3}, RulesError, "PinochleRules"),
        ({"episode": "match"}, ValueError, "choose one of 'hand', 'game'"),
        ({"render_mode": "svg"}, ValueError, "render_mode"),
        ({"render_seat": 4}, ValueError, "render_seat is 4"),
        ({"illegal": "ignore"}, ValueError, "illegal is 'ignore'; choose one of .*'correct'"),
    ],
)
def test_arguments_that_make_no_environment_are_refused(arguments: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        pinochle_env(**arguments)


# --- illegal actions --------------------------------------------------------------------------------------------------


def test_p7_1_illegal_action_is_refused_in_words_and_changes_nothing() -> None:
    env = raw_pinochle_env()
    with pytest.raises(ResetNeededError, match="reset"):
        env.last()
    env.reset(seed=1)
    before = env._tables.records.tobytes()
    for action in (0, 65, 69, -1, 2.0, None, "pass", True):
        with pytest.raises(
            IllegalActionError, match=r"seat ., phase bid: action .* is not legal; legal: pass, bid_25, bid_26"
        ):
            env.step(action)
        assert env._tables.records.tobytes() == before
    with pytest.raises(IllegalActionError, match="'1C' is not a card"):
        env.action_id("1C")
    with pytest.raises(IllegalActionError, match="bids go from 25 to 64 in steps of 1"):
        env.action_id("bid_65")
    with pytest.raises(UnknownAgentError, match="player_4"):
        env.observe("player_4")


def at_a_duty(env: Any) -> tuple[str, int]:
    """Play on until the agent to act holds a card that it may not play; the agent, and that card's action."""
    rng = np.random.default_rng(5)
    while True:
        agent = env.agent_selection
        mask = env.observe(agent)["action_mask"]
        table = env.unwrapped.snapshot()
        held = {env.unwrapped.action_id(card) for card in table.hands[table.seat]}
        forbidden = sorted(held - set(np.flatnonzero(mask)))
        if table.phase == "play" and forbidden:
            return agent, int(forbidden[0])
        env.step(some_action(mask, rng))


def test_p7_2_card_against_the_duties_is_taken_back_and_stays_known() -> None:
    env = pinochle_env(illegal="correct", rules="modern_relative")
    env.reset(seed=4)
    offender, action = at_a_duty(env)
    before, card = env.unwrapped.snapshot(), env.unwrapped.action_text(action)
    env.step(action)
    after = env.unwrapped.snapshot()
    seat = int(offender[-1])
    assert env.agent_selection == offender
    assert (after.exposed[seat], after.taken_back) == ((card,), card)
    assert (after.hands, after.trick, after.seat) == (before.hands, before.trick, before.seat)
    assert env.infos[offender]["exposed"] == card
    assert "is not legal" in env.infos[offender]["reason"]
    names = layout(env.unwrapped.rules).segments
    for other in range(4):
        seen = env.observe(f"player_{other}")["observation"]
        assert np.flatnonzero(seen[names[f"seat_{(seat - other) % 4}_exposed"].slice]).tolist() == [action]
        assert seen[names["taken_back"].slice].all()
    env.step(int(np.flatnonzero(env.observe(offender)["action_mask"])[0]))
    assert env.infos[offender] == {}
    assert not any(env.truncations.values())
    assert env.unwrapped.snapshot().exposed[seat] == (card,)
    assert env.unwrapped.snapshot().taken_back == ""


def test_p7_2_second_illegal_action_at_a_decision_breaks_the_hand_off() -> None:
    env = pinochle_env(illegal="correct", episode="game")
    env.reset(seed=6)
    offender = env.agent_selection
    env.step(66)
    assert env.agent_selection == offender
    assert env.infos[offender]["exposed"] == ""
    env.step(PASS)
    offender, action = at_a_duty(env)
    env.step(action)
    env.step(2.5)
    assert all(env.truncations.values())
    assert not any(env.terminations.values())
    assert set(env.rewards.values()) == {0.0}
    assert env.infos[offender]["illegal_action"] == 2.5
    for _ in range(4):
        with pytest.raises(IllegalActionError, match="has finished its episode"):
            env.step(action)
        env.step(None)
    assert env.agents == []
    env.reset()
    assert env.infos[env.agent_selection] == {}


def test_p7_3_forfeit_ends_the_hand_and_costs_the_bid() -> None:
    env = pinochle_env(episode="game", illegal="forfeit")
    env.reset(seed=4)
    offender = env.agent_selection
    env.step(27)
    env.step(66)
    offender, other = (int(offender[-1]) + 1) % 4, int(offender[-1])
    now = env.unwrapped.snapshot()
    assert env.infos[f"player_{offender}"]["forfeited_deal"] == 0
    assert (now.score[offender % 2], now.score[other % 2]) == (-27, 25)
    assert now.hand_index == 1
    assert env.rewards[f"player_{offender}"] == -52


# --- looking and copying ----------------------------------------------------------------------------------------------


def test_text_of_every_legal_action_leads_back_to_it() -> None:
    rng = np.random.default_rng(8)
    for name in ("modern_relative", "exchange_four", "classic"):
        env = raw_pinochle_env(rules=name)
        for seed in range(3):
            env.reset(seed=seed)
            while env.agents and not env.terminations["player_0"]:
                mask = env.observe(env.agent_selection)["action_mask"]
                for action in np.flatnonzero(mask):
                    assert env.action_id(env.action_text(int(action))) == action
                env.step(some_action(mask, rng))


def test_render_shows_one_seat_only_what_it_may_see() -> None:
    env = raw_pinochle_env(rules="exchange_four", render_mode="ansi", render_seat=1)
    rng = np.random.default_rng(9)
    for seed in range(6):
        env.reset(seed=seed)
        while env.agents and not env.terminations["player_0"]:
            now, text = env.snapshot(), env.render()
            lines = text.splitlines()[1:5]
            assert all(card in lines[1] for card in now.hands[1])
            for seat in (0, 2, 3):
                shown = lines[seat].split("tricks")[0].split()
                assert shown[shown.index(str(seat)) + 1 :] == [HIDDEN] * len(now.hands[seat])
            for seat in (0, 2):
                assert f"sent {' '.join([HIDDEN] * len(now.sent[seat]))}" in lines[seat] or not now.sent[seat]
            env.step(some_action(env.observe(env.agent_selection)["action_mask"], rng))
        assert "settled; points" in env.render()


def test_picture_shows_what_one_seat_may_see_and_changes_nothing() -> None:
    env, rng = raw_pinochle_env(render_mode="rgb_array", render_seat=2), np.random.default_rng(4)
    env.reset(seed=1)
    while not env.terminations["player_0"]:
        env.step(some_action(env.observe(env.agent_selection)["action_mask"], rng))
        if env.snapshot().seat == 2 and rng.random() < 0.4:
            before = env._tables.records.tobytes()
            image = env.render()
            assert (image.shape, image.dtype) == ((704, 1024, 3), np.uint8)
            assert env._tables.records.tobytes() == before
            world = env.clone()
            world._tables = world._tables.reshuffle_unseen(2, seed=5)
            assert (world.render() == image).all()


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env)), lambda env: env.clone()]
)
def test_copy_in_mid_hand_goes_on_alike(copied: Any) -> None:
    env, rng = raw_pinochle_env(), np.random.default_rng(3)
    env.reset(seed=3)
    for _ in range(20):
        env.step(some_action(env.observe(env.agent_selection)["action_mask"], rng))
    twin = copied(env)
    before = twin.snapshot()
    while env.agents:
        done = env.terminations[env.agent_selection]
        env.step(None if done else some_action(env.observe(env.agent_selection)["action_mask"], rng))
    assert twin.snapshot() == before
    assert twin._table["phase"] == twin._tables.records[0].phase


def test_specification_names_every_piece_of_the_observation() -> None:
    page = bourre_env.pinochle.env.__doc__
    for name, segment in layout(PinochleRules()).segments.items():
        assert f"| `{name}` | {segment.start} | {segment.length} |" in page
