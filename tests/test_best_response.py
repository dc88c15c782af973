"""Values, best responses and NashConv, against trying everything and against dealing cards."""

import itertools

import numpy as np
import pytest
from small_games import REDUCED, SMALL, random_strategy, tiny_tree, tree_of

from agents.arena import play_line_ups
from agents.baselines import Random
from agents.best_response import (
    best_response,
    best_response_values,
    flat,
    nash_conv,
    realization_of,
    spread,
    uniform,
    values,
)
from agents.exact import UNIFORM_NASH_CONV
from agents.game_tree import GameTree
from agents.tabular import TabularPolicy
from bourre_env import Rules


@pytest.mark.parametrize("name", REDUCED)
def test_uniform_play_has_the_nash_conv_that_plain_python_finds_over_openspiels_tree(name: str) -> None:
    tree = tree_of(name)
    assert nash_conv(tree, uniform(tree)) == pytest.approx(UNIFORM_NASH_CONV[name], abs=1e-11)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_pure_strategy_beats_the_best_response(seat: int, seed: int) -> None:
    """By brute force: every pure strategy of one seat, thousands of them, against a random strategy of the other."""
    tree = tiny_tree()
    strategy = random_strategy(tree, seed)
    rows = np.flatnonzero(tree.seat == seat)
    choices = [tree.action[tree.first[row] : tree.first[row + 1]] for row in rows]
    best = -np.inf
    for actions in itertools.product(*choices):
        pure = strategy.copy()
        pure[rows] = 0
        pure[rows, list(actions)] = 1
        best = max(best, values(tree, pure)[seat])
    assert best_response_values(tree, strategy)[seat] == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("name", [SMALL, "reduced_3p2c"])
def test_playing_the_best_response_earns_its_value(name: str) -> None:
    tree = tree_of(name)
    strategy = random_strategy(tree, 4)
    promised = best_response_values(tree, strategy)
    for seat in range(tree.rules.num_players):
        response = best_response(tree, strategy, seat)
        assert (response[tree.seat != seat] == strategy[tree.seat != seat]).all()
        assert set(np.unique(response[tree.seat == seat])) == {0.0, 1.0}
        assert values(tree, response)[seat] == pytest.approx(promised[seat], abs=1e-12)
    assert (promised > values(tree, strategy)).all()


@pytest.mark.parametrize("name", REDUCED)
def test_values_are_those_of_deals_at_real_tables(name: str) -> None:
    rules = Rules.preset(name)
    deals = np.arange(0, 60_000 * rules.num_players, rules.num_players) + rules.num_players - 1  # the last seat deals
    line_ups = np.zeros((len(deals), rules.num_players), np.int64)
    results = play_line_ups(rules, [Random()], line_ups, seed=8, deal_ids=deals)
    antes = results.returns + results.carry[:, None] / rules.num_players
    error = antes.std(axis=0) / np.sqrt(len(deals))
    tree = tree_of(name)
    assert (np.abs(antes.mean(axis=0) - values(tree, uniform(tree))) < 4 * error).all()
    assert (error < 0.01).all()


def test_a_best_response_against_random_play_gains_at_real_tables_what_it_should() -> None:
    tree = tree_of(SMALL)
    response = TabularPolicy(tree, best_response(tree, uniform(tree), 0), name="response")
    deals = np.arange(0, 40_000, 2) + 1
    line_ups = np.tile([0, 1], (len(deals), 1))
    results = play_line_ups(tree.rules, [response, Random()], line_ups, seed=9, deal_ids=deals)
    antes = results.returns[:, 0] + results.carry / 2
    error = antes.std() / np.sqrt(len(deals))
    assert abs(antes.mean() - best_response_values(tree, uniform(tree))[0]) < 4 * error


def test_every_strategy_leaves_something_to_gain_and_values_add_up_to_nothing() -> None:
    tree = tree_of(SMALL)
    for seed in range(5):
        strategy = random_strategy(tree, seed)
        assert nash_conv(tree, strategy) > 0.1
        assert abs(values(tree, strategy).sum()) < 1e-12


def test_a_number_for_each_sequence_and_a_table_say_the_same() -> None:
    tree = tree_of(SMALL)
    strategy = random_strategy(tree, 6)
    assert (spread(tree, flat(tree, strategy)) == strategy).all()
    realization = realization_of(tree, flat(tree, strategy))
    behind = np.add.reduceat(realization, tree.first[:-1])
    assert np.allclose(behind, realization[tree.parent], atol=1e-12)


def _with_row(tree: GameTree, row: list[float]) -> np.ndarray:
    strategy = uniform(tree)
    strategy[3, : len(row)] = row
    return strategy


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ([0.5], "row 3 of the strategy"),
        ([np.nan], "row 3 of the strategy"),
        ([-0.5, 0.5], "must be probabilities of the actions"),
    ],
)
def test_rows_that_are_no_probabilities_are_refused(row: list[float], words: str) -> None:
    tree = tree_of(SMALL)
    with pytest.raises(ValueError, match=words):
        nash_conv(tree, _with_row(tree, row))
    with pytest.raises(ValueError, match=r"has shape \(3, 2\)"):
        nash_conv(tree, np.ones((3, 2)))
