"""CFR+: that it gets to an equilibrium, and as fast as it should."""

import time

import numpy as np
import pytest
from small_games import SMALL, tiny_tree, tree_of

from agents.best_response import nash_conv, uniform, values
from agents.cfr import CfrPlus, solve


def nash_convs(name: str, iterations: list[int]) -> list[float]:
    solver, found = CfrPlus(tree_of(name)), []
    for number in iterations:
        solver.run(number - solver.iterations)
        found.append(nash_conv(solver.tree, solver.average_strategy()))
    return found


def test_nash_conv_falls_about_four_times_as_often_as_iterations_double() -> None:
    found = np.array(nash_convs(SMALL, [8, 16, 32, 64, 128]))
    ratios = found[:-1] / found[1:]
    assert (ratios > 2.5).all(), ratios
    assert 3 < (found[0] / found[-1]) ** (1 / len(ratios)) < 5, ratios


def test_the_smallest_game_is_solved() -> None:
    told: list[int] = []
    solution = solve(tree_of(SMALL), target=1e-4, most_iterations=400, report=told.append)
    assert 0 <= solution.nash_conv < 1e-4
    assert sum(told) == solution.iterations < 400
    assert solution.nash_conv == nash_conv(tree_of(SMALL), solution.strategy)
    assert values(tree_of(SMALL), solution.strategy)[1] == pytest.approx(0.303, abs=5e-4)  # by another solver


def test_a_tiny_game_is_solved_to_the_last_digits() -> None:
    assert nash_conv(tiny_tree(), uniform(tiny_tree())) > 1
    assert solve(tiny_tree(), target=1e-7, most_iterations=20_000).nash_conv < 1e-7


def test_more_iterations_at_once_or_one_by_one_are_the_same() -> None:
    together, alone = CfrPlus(tiny_tree()), CfrPlus(tiny_tree())
    together.run(20)
    for _ in range(20):
        alone.run(1)
    assert together.iterations == alone.iterations == 20
    assert (together.average_strategy() == alone.average_strategy()).all()


def test_it_stops_where_it_is_told_to() -> None:
    solution = solve(tiny_tree(), target=0, most_iterations=19)
    assert solution.iterations == 19
    assert solution.nash_conv > 0


def test_before_the_first_iteration_play_is_uniform() -> None:
    assert (CfrPlus(tiny_tree()).average_strategy() == uniform(tiny_tree())).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "seconds", "equilibrium"),
    [
        ("reduced_2p2c", 10, (-0.303, 0.303)),
        ("reduced_2p3c", 20, (-0.307, 0.307)),
        ("reduced_3p2c", 120, (-0.195, -0.275, 0.470)),
    ],
)
def test_the_reduced_games_are_solved_in_time(name: str, seconds: float, equilibrium: tuple[float, ...]) -> None:
    solve(tiny_tree(), target=1, most_iterations=1)  # compiled by now
    tree = tree_of(name)
    start = time.perf_counter()
    solution = solve(tree, target=1e-4, most_iterations=2000)
    assert time.perf_counter() - start < seconds
    assert solution.nash_conv < 1e-4
    assert values(tree, solution.strategy) == pytest.approx(equilibrium, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "least"), [("reduced_2p3c", 3.5), ("reduced_3p2c", 2.3)])
def test_nash_conv_goes_on_falling_in_the_larger_games(name: str, least: float) -> None:
    """With three seats there is no theorem; it falls more slowly, and does not stop."""
    found = np.array(nash_convs(name, [32, 128, 512]))
    assert (np.sqrt(found[:-1] / found[1:]) > least).all(), found
