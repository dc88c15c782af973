"""The smallest game in OpenSpiel: the same information sets, the same values, the same NashConv."""

from typing import Any

import numpy as np
import pytest
from small_games import SMALL, random_strategy, tree_of

from agents.best_response import nash_conv, uniform, values
from agents.cfr import CfrPlus

pyspiel = pytest.importorskip("pyspiel")
import bourre_env.openspiel  # noqa: E402, F401 - makes the game known to OpenSpiel


@pytest.fixture(scope="module")
def game() -> Any:
    loaded = pyspiel.load_game(f"python_bourre(rules={SMALL},play_forced=True)")
    return pyspiel.convert_to_cached_tree(loaded)


def in_openspiel(strategy: np.ndarray) -> Any:
    """A strategy [I, A] under the strings by which OpenSpiel calls information sets."""
    tree = tree_of(SMALL)
    table = {}
    for row in range(tree.num_sets):
        name = f"{tree.seat[row]}:{tree.packed[row].tobytes().hex()}"
        actions = tree.action[tree.first[row] : tree.first[row + 1]].tolist()
        table[name] = [(action, float(strategy[row, action])) for action in actions]
    return pyspiel.TabularPolicy(table)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["uniform", "random", "cfr"])
def test_openspiel_finds_the_same_values_and_nash_conv(game: Any, kind: str) -> None:
    tree = tree_of(SMALL)
    solver = CfrPlus(tree)
    solver.run(100)
    strategies = {"uniform": uniform(tree), "random": random_strategy(tree, 3), "cfr": solver.average_strategy()}
    strategy = strategies[kind]
    policy = in_openspiel(strategy)
    known = pyspiel.expected_returns(game.new_initial_state(), policy, -1, False)
    assert values(tree, strategy) == pytest.approx(known, abs=1e-9)
    assert nash_conv(tree, strategy) == pytest.approx(pyspiel.nash_conv(game, policy, True), abs=1e-9)


@pytest.mark.slow
def test_openspiel_has_the_same_information_sets_and_choices(game: Any) -> None:
    tree = tree_of(SMALL)
    theirs = pyspiel.CFRPlusSolver(game).tabular_average_policy().policy_table()
    ours = in_openspiel(uniform(tree)).policy_table()
    assert len(theirs) == tree.num_sets
    assert {name: [action for action, _ in choices] for name, choices in theirs.items()} == {
        name: [action for action, _ in choices] for name, choices in ours.items()
    }
