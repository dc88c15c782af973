"""OpenSpiel: its own API tests, the same returns as the environment, and nothing hidden shown."""

import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bourre_env
from bourre_env import Rules
from bourre_env.cards import card_text

pyspiel = pytest.importorskip("pyspiel")
import openspiel_cfr  # noqa: E402

import bourre_env.openspiel  # noqa: E402

GAMES = [
    "python_bourre",
    "python_bourre(players=2,rules=pagat)",
    "python_bourre(carry=13,dealer=3,players=8,rules=pagat_limit)",
    "python_bourre(players=7,rules=wiki)",
    "python_bourre(players=3,rules=hoyle)",
    "python_bourre(players=2,rules=french3)",
    "python_bourre(rules=reduced_2p2c)",
    "python_bourre(dealer=0,play_forced=True,rules=reduced_2p3c)",
    "python_bourre(carry=2,rules=reduced_3p2c)",
]
SMALL = "python_bourre(rules=reduced_2p2c)"


@pytest.mark.parametrize("name", GAMES)
def test_openspiels_own_tests_pass(name: str) -> None:
    pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=5, serialize=True, verbose=False)
    games_sim_test = pytest.importorskip("open_spiel.python.tests.games_sim_test")
    games_sim_test.GamesSimTest().sim_game(pyspiel.load_game(name))


@pytest.mark.parametrize("name", GAMES)
def test_the_tree_keeps_to_the_numbers_the_game_states(name: str) -> None:
    game = pyspiel.load_game(name)
    for state in random_states(game, seed=3, deals=20):
        assert len(state.history()) <= game.max_history_length()
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            assert len(outcomes) <= game.max_chance_outcomes()
            assert sum(chance for _, chance in outcomes) == pytest.approx(1)
        if state.is_terminal():
            assert sum(state.returns()) == pytest.approx(game.utility_sum())


def random_states(game: Any, seed: int, deals: int) -> Iterator[Any]:
    """Every state of some random deals, passing seldom."""
    rng = np.random.default_rng(seed)
    for _ in range(deals):
        state = game.new_initial_state()
        yield state
        while not state.is_terminal():
            actions = (
                [action for action, _ in state.chance_outcomes()] if state.is_chance_node() else state.legal_actions()
            )
            state.apply_action(int(rng.choice(actions)))
            yield state


@pytest.mark.parametrize(("players", "number"), [(2, 0), (4, 3), (5, 259), (8, 70_000)])
def test_same_seed_and_actions_give_the_environments_returns(players: int, number: int) -> None:
    game = pyspiel.load_game("python_bourre", {"players": players, "seed": 5})
    env = bourre_env.raw_env(num_players=players)
    pack = bourre_env.shuffled_decks(5, [number])[0]
    env.reset(options={"deck": [card_text(int(card)) for card in pack], "dealer": players - 1})
    state = game.new_initial_state()
    for digit in number.to_bytes(4):
        state.apply_action(digit)
    rng = np.random.default_rng(number)
    while not state.is_terminal():
        seen = env.observe(env.agent_selection)
        assert f"player_{state.current_player()}" == env.agent_selection
        assert state.legal_actions() == list(np.flatnonzero(seen["action_mask"]))
        assert [state.action_to_string(a) for a in state.legal_actions()] == [
            env.action_text(a) for a in state.legal_actions()
        ]
        action = int(rng.choice(state.legal_actions()))
        state.apply_action(action)
        env.step(action)
    assert state.returns() == list(env.rewards.values())


@pytest.mark.parametrize("name", ["reduced_2p2c", "reduced_2p3c", "reduced_3p2c"])
def test_a_small_deal_whose_cards_chance_brings_pays_like_the_environment(name: str) -> None:
    game = pyspiel.load_game("python_bourre", {"rules": name})
    rules = Rules.preset(name)
    env = bourre_env.raw_env(rules=rules, num_players=rules.num_players)
    for state in random_states(game, seed=11, deals=60):
        if not state.is_terminal():
            continue
        history = [(item.player, item.action) for item in state.full_history()]
        pack = game.chance.completed(state._deck)
        options = {"deck": [card_text(card) for card in pack], "dealer": rules.num_players - 1}
        env.reset(options=options)
        for player, action in history:
            if player >= 0:
                assert env.agent_selection == f"player_{player}"
                env.step(action)
        assert state.returns() == list(env.rewards.values())


def test_the_information_state_is_the_environments_observation_in_named_pieces() -> None:
    game = pyspiel.load_game("python_bourre", {"seed": 5})
    state = game.new_initial_state()
    for digit in (0, 0, 0, 0):
        state.apply_action(digit)
    env = bourre_env.raw_env()
    env.reset(seed=5, options={"dealer": 3})
    observer = game.make_py_observer(pyspiel.IIGObservationType(perfect_recall=True))
    for player in range(4):
        seen = env.observe(f"player_{player}")["observation"]
        observer.set_from(state, player)
        assert (observer.tensor == seen).all()
        assert observer.dict["own_hand"].sum() == 5
        named = np.concatenate(list(observer.dict.values()))
        assert state.information_state_tensor(player) == list(named)
        assert len(named) == game.information_state_tensor_size()


def test_the_public_view_shows_no_hand_and_the_private_one_nothing_else() -> None:
    game = pyspiel.load_game(SMALL)
    none, single = pyspiel.PrivateInfoType.NONE, pyspiel.PrivateInfoType.SINGLE_PLAYER
    public = game.make_py_observer(pyspiel.IIGObservationType(public_info=True, perfect_recall=True, private_info=none))
    private = game.make_py_observer(
        pyspiel.IIGObservationType(public_info=False, perfect_recall=True, private_info=single)
    )
    assert set(public.dict) & set(private.dict) == set()
    states = [state.clone() for state in random_states(game, seed=2, deals=30) if state.is_player_node()]
    for state in states:
        public.set_from(state, 0)
        private.set_from(state, 0)
        assert not public.tensor[:52].any()
        assert private.tensor[:52].sum() <= 2
        assert private.string_from(state, 0) != private.string_from(state, 1)


def test_a_seat_that_draws_shows_others_how_many_cards_and_not_which() -> None:
    game = pyspiel.load_game(SMALL)
    strings: dict[int, set[str]] = {0: set(), 1: set()}
    for action in (9, 10):  # the eldest throws away one card or the other
        state = game.new_initial_state()
        for outcome in (2, 3, 4):
            state.apply_action(outcome)
        for declaration in (8, 8, action):
            state.apply_action(declaration)
        assert state.is_chance_node()
        for player in (0, 1):
            strings[player].add(state.clone().information_state_string(player))
    assert len(strings[0]) == 2
    assert len(strings[1]) == 1
    assert strings[1].pop().endswith(":draws 1")


def test_copies_and_pickles_in_the_middle_of_a_draw_go_on_alike() -> None:
    game = pyspiel.load_game(SMALL)
    state = next(
        state.clone()
        for state in random_states(game, seed=4, deals=20)
        if state.is_chance_node() and state.move_number() > 3
    )
    copies = [
        state.clone(),
        pickle.loads(pickle.dumps(state)),
        pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))[1],
    ]
    while not state.is_terminal():
        action = state.legal_actions()[-1]
        for one in (state, *copies):
            one.apply_action(action)
        assert {str(one) for one in copies} == {str(state)}
    assert all(one.returns() == state.returns() for one in copies)


def test_a_state_outlives_the_name_of_its_game() -> None:
    state = pyspiel.load_game(SMALL).new_initial_state()
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    assert sum(state.returns()) == 0


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"rules": "pagatt"}, "did you mean 'pagat'"),
        ({"chance": "cards"}, "choose 'packs'"),
        ({"dealer": 7}, "dealer is 7"),
        ({"carry": -1}, "carry is -1"),
    ],
)
def test_parameters_that_make_no_game_are_refused(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        bourre_env.openspiel.BourreGame(parameters)


def test_two_iterations_of_cfr_come_close_to_the_equilibrium_on_a_tree_of_known_size() -> None:
    exploitability, values = openspiel_cfr.solve(openspiel_cfr.SMALL_GAME, iterations=4)
    assert 0 < exploitability < 0.2
    assert values[1] == pytest.approx(0.303, abs=0.05)  # the dealer's, by an independent solver


def test_the_example_counts_no_illegal_action() -> None:
    assert openspiel_cfr.play_beside_the_environment(deals=20, seed=3) == 0
