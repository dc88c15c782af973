"""alpha-Rank and maximal lotteries: circles, dominated entrants, winners of all pairs."""

import itertools
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from test_ratings import cell, circle

from agents.population import NotAvailable, alpha_rank, lottery_of, maximal_lottery, payoffs

CIRCLE = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])


def cells(table, blocks=200, seed=0, deviation=1.0):
    """Every cell of a table of means, named a, b, c, …."""
    rng = np.random.default_rng(seed)
    names = "abcdefgh"[: len(table)]
    return [
        cell(names[focal], names[field], table[focal][field] + deviation * rng.normal(size=blocks))
        for focal, field in itertools.permutations(range(len(table)), 2)
    ]


def value_of(margin):
    """The largest margin that some mixture is sure of, by linear programming."""
    size = len(margin)
    answer = linprog(
        np.append(np.zeros(size), -1),
        A_ub=np.column_stack([-margin.T, np.ones(size)]),
        b_ub=np.zeros(size),
        A_eq=[[1] * size + [0]],
        b_eq=[1],
        bounds=[(0, 1)] * size + [(None, None)],
    )
    return -answer.fun


# --- payoffs ---


def test_payoffs_are_the_means_of_cells():
    names, table = payoffs([cell("a", "b", [0.5, 0.7]), cell("b", "a", [-0.4, -0.2]), cell("a", "c", [1.0, 1.0])])
    assert names == ("a", "b", "c")
    np.testing.assert_allclose(table, [[0, 0.6, 1], [-0.3, 0, np.nan], [np.nan, np.nan, 0]])
    assert payoffs([cell("a", "b", [0.5], seats=2)])[1].tolist() == [[0, 0.5], [-0.5, 0]]


# --- alpha-Rank ---

needs_open_spiel = pytest.mark.skipif(find_spec("open_spiel") is None, reason="an extra")


@needs_open_spiel
def test_alpha_rank_of_a_circle_is_even_and_of_a_dominated_entrant_nothing():
    scores = alpha_rank(cells(0.5 * CIRCLE), seed=0, draws=50)
    np.testing.assert_allclose(scores.values, 1 / 3, atol=1e-9)
    table = np.full((4, 4), -1.0)
    table[:3, :3], table[:3, 3] = 0.5 * CIRCLE, 1.0
    scores = alpha_rank(cells(table), seed=0, draws=50)
    np.testing.assert_allclose(scores.values, [1 / 3] * 3 + [0], atol=1e-3)
    np.testing.assert_allclose(scores.draws.sum(axis=1), 1)


@needs_open_spiel
def test_alpha_rank_looks_at_both_cells_of_a_pair():
    """One seat of a loses 0.1 among b, one seat of b loses 0.5 among a: a does better against b than b against a."""
    scores = alpha_rank(cells([[0, -0.1], [-0.5, 0]], deviation=0.01), seed=0, draws=20)
    np.testing.assert_allclose(scores.values, [1, 0], atol=1e-3)


@needs_open_spiel
def test_alpha_rank_of_equals_is_undecided_and_its_average_says_so():
    scores = alpha_rank(cells(np.zeros((2, 2))), seed=0, draws=400)
    assert scores.values.max() > 0.99  # a single distribution takes the side that chance took
    assert scores.average.min() > 0.05
    assert scores.low.min() < 0.01
    assert scores.high.min() > 0.99
    np.testing.assert_allclose(alpha_rank(cells(np.zeros((2, 2)), deviation=0), seed=0, draws=5).draws, 0.5)


def test_alpha_rank_needs_every_cell():
    answer = alpha_rank(cells(CIRCLE)[:-1], seed=0)
    assert answer == NotAvailable("alpha-Rank needs every cell, and c against a table of b was not played")


def test_alpha_rank_is_not_available_without_open_spiel(monkeypatch):
    monkeypatch.setitem(sys.modules, "open_spiel.python.egt", None)
    answer = alpha_rank(cells(CIRCLE), seed=0)
    assert isinstance(answer, NotAvailable)
    assert "extra openspiel" in answer.reason
    assert not isinstance(maximal_lottery(cells(CIRCLE), seed=0, draws=5), NotAvailable)


# --- maximal lotteries ---


def test_a_condorcet_winner_gets_everything():
    """It comes out ahead of each other one in most blocks, though it loses more antes than it wins."""
    winner = [cell("a", other, [0.1] * 6 + [-1.0] * 4) for other in "bc"]
    others = [cell("b", "c", [0.5] * 7 + [-0.5] * 3)]
    lottery = maximal_lottery([*winner, *others], seed=0, draws=100)
    np.testing.assert_allclose(lottery.values, [1, 0, 0], atol=1e-9)
    assert lottery.average[0] == lottery.average.max()
    assert 0.5 < lottery.average[0] < 0.95  # six of ten blocks might have been four


def test_a_circle_is_mixed_by_the_margins_of_the_others():
    """Margins 0.2, 0.4 and 0.6 round a circle: each entrant has the margin of the pair without it, over their sum."""
    blocks = 10
    margins = {("a", "b"): 0.2, ("b", "c"): 0.4, ("c", "a"): 0.6}
    won = [cell(*pair, [1.0] * round(5 + 5 * share) + [-1.0] * round(5 - 5 * share)) for pair, share in margins.items()]
    assert all(len(part.units) == blocks for part in won)
    lottery = maximal_lottery(won, seed=0, draws=10)
    np.testing.assert_allclose(lottery.values, np.array([0.4, 0.6, 0.2]) / 1.2, atol=1e-9)
    even = maximal_lottery(circle(400), seed=0, draws=50)
    np.testing.assert_allclose(even.values, 1 / 3, atol=0.15)


def test_copies_share_what_they_win():
    """b and c are one policy under two names, and both beat a."""
    results = [cell("b", "a", [1.0, 1.0]), cell("c", "a", [1.0, 1.0]), cell("b", "c", [0.0, 0.0])]
    lottery = maximal_lottery(results, seed=0, draws=5)
    np.testing.assert_allclose(lottery.draws, [[0, 0.5, 0.5]] * 5, atol=1e-9)


def test_a_maximal_lottery_needs_every_pair():
    answer = maximal_lottery([cell("a", "b", [1.0]), cell("b", "c", [1.0])], seed=0)
    assert answer == NotAvailable("a maximal lottery needs every pair to meet, and a and c did not")


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 8), st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2, 12]))
def test_no_entrant_beats_a_maximal_lottery(size, seed, decimals):
    """Rounded margins bring ties, many of them whole circles of ties."""
    entries = np.triu(np.random.default_rng(seed).uniform(-1, 1, (size, size)).round(decimals), 1)
    margin = entries - entries.T
    lottery = lottery_of(margin)
    assert lottery.min() >= 0
    assert lottery.sum() == pytest.approx(1)
    assert (lottery @ margin).min() > -1e-8
    assert value_of(margin) == pytest.approx(0, abs=1e-8)
    order = np.random.default_rng(seed).permutation(size)
    np.testing.assert_allclose(lottery_of(margin[np.ix_(order, order)]), lottery[order], atol=1e-6)


def test_a_maximal_lottery_of_a_real_tournament_whose_margins_differ_widely():
    """Sequential quadratic programming gives up here ("positive directional derivative"); it once ended a command."""
    margin = np.array([[0, 0.0040038429611098155, 0.822465702482598], [0, 0, 0.7866124561894946], [0, 0, 0]])
    np.testing.assert_allclose(lottery_of(margin - margin.T), [1, 0, 0], atol=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_no_entrant_beats_a_maximal_lottery_of_margins_of_many_sizes(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 12))
    margin = np.triu(rng.uniform(-1, 1, (size, size)) * rng.choice([1e-3, 0.1, 1], (size, size)), 1)
    margin -= margin.T
    assert (lottery_of(margin) @ margin).min() > -1e-8
