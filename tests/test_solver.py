"""The solver against trying everything: with the engine's tables in bulk, and with the oracle under any rules."""

import random

import numpy as np
import pytest
from conftest import EVERY_TABLE, TABLE_SIZES
from endings import (
    PARTS_OF_A_CHIP,
    first_leads,
    fitting_rows,
    oracle_endings,
    oracle_values,
    random_credit,
    random_endings,
    tried_values,
)
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from positions import OneTable
from random_play import any_rules

from agents.solver import Solver, solve, solve_actions
from bourre_env import Rules, Tables
from bourre_env.bourre.actions import action_id

STAKES = {f"stakes-{size}": Rules(num_players=size, stacks="table_stakes", play_fee=1) for size in TABLE_SIZES}
LAX = {
    f"lax-{size}": Rules(
        num_players=size, must_beat=False, must_trump=bool(size % 2), must_overtrump=False, must_undertrump=False
    )
    for size in TABLE_SIZES
}
SOLVED_TABLES = EVERY_TABLE | STAKES | LAX
MOST_ORDERS = 3000


def assert_solved(tables: Tables, seed: int, exempt_chips: float = 0.0) -> None:
    """Values and values of all cards are those of trying everything, whatever the solver is told to leave out."""
    credit = random_credit(tables.rules, np.random.default_rng(seed))
    values, by_card = tried_values(tables, credit, exempt_chips)
    for merge_equal, null_windows in ((True, True), (False, True), (True, False), (False, False)):
        solver = Solver(tables.rules, merge_equal=merge_equal, null_windows=null_windows)
        found = solver.solve(tables, credit=credit, exempt_chips=exempt_chips)
        assert_allclose(found, values, rtol=0, atol=1e-6)
        found = solver.solve_actions(tables, credit=credit, exempt_chips=exempt_chips)
        assert_allclose(found, by_card, rtol=0, atol=1e-6)


# --- against trying everything


@pytest.mark.parametrize("name", SOLVED_TABLES)
def test_values_are_those_of_trying_everything(name: str) -> None:
    endings = random_endings(SOLVED_TABLES[name], 250, seed=len(name), most_orders=MOST_ORDERS)
    assert endings.num_tables > 60
    assert_solved(endings, seed=len(name))


@pytest.mark.parametrize("name", ["pagat-2", "pagat-4", "stakes-2", "stakes-3"])
def test_credit_for_skipping_the_next_ante_is_part_of_the_value(name: str) -> None:
    """With enough of it a bourré is better off than with a trick: two players are no longer strictly opposed."""
    endings = random_endings(SOLVED_TABLES[name], 60, seed=5, most_orders=MOST_ORDERS)
    for exempt_chips in (1.0, 40.0):
        assert_solved(endings, seed=6, exempt_chips=exempt_chips)


@settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(rules=any_rules(), seed=st.integers(0, 2**32))
def test_values_are_those_of_the_oracle_under_any_rules(rules: Rules, seed: int) -> None:
    comparison = oracle_endings(rules, 4, random.Random(seed), most_orders=150)
    rows = fitting_rows(comparison.tables, 150)
    credit = random_credit(rules, np.random.default_rng(seed))
    found = Solver(rules).solve(comparison.tables, rows, credit)
    for row, values in zip(rows, found.tolist(), strict=True):
        expected = oracle_values(comparison.references[row].table, credit.tolist())
        assert values == pytest.approx(expected, rel=0, abs=1e-6), rules


@pytest.mark.slow
@pytest.mark.parametrize("size", TABLE_SIZES)
def test_values_of_ten_thousand_endings_are_those_of_trying_everything(size: int) -> None:
    admitted = [rules for rules in SOLVED_TABLES.values() if rules.num_players == size]
    done = 0
    for seed in range(10_000):
        rules = admitted[seed % len(admitted)]
        endings = random_endings(rules, 250, seed, most_orders=(400, 3000, 15_000)[seed % 3])
        assert_solved(endings, seed)
        done += endings.num_tables
        if done >= 10_000:
            break
    assert done >= 10_000


@pytest.mark.slow
@pytest.mark.parametrize(("size", "num_tables"), [(2, 300), (3, 20)])
def test_values_from_the_first_lead_are_those_of_trying_everything(size: int, num_tables: int) -> None:
    for preset in ("pagat", "hoyle", "bicycle"):
        tables = first_leads(Rules.preset(preset, num_players=size), num_tables, seed=size)
        for row in range(0, num_tables, 10):
            assert_solved(tables.take(range(row, min(row + 10, num_tables))), seed=row)


@pytest.mark.slow
@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rules=any_rules(), seed=st.integers(0, 2**32))
def test_values_of_many_endings_are_those_of_trying_everything_under_any_rules(rules: Rules, seed: int) -> None:
    endings = random_endings(rules, 20, seed % 2**31, most_orders=1500) if rules.num_players > 1 else None
    if endings is not None and endings.num_tables:
        assert_solved(endings, seed)


# --- whole deals: what is left out of the tree changes nothing


@pytest.mark.parametrize(("size", "num_tables"), [(2, 8000), (3, 800), (4, 40)])
def test_nothing_that_keeps_the_tree_small_changes_a_value(size: int, num_tables: int) -> None:
    for preset in ("pagat", "hoyle", "bicycle"):
        tables = first_leads(Rules.preset(preset, num_players=size), num_tables, seed=size)
        values = Solver(tables.rules).solve_actions(tables)
        for options in ({"merge_equal": False}, {"null_windows": False}, {"memo_entries": 1}, {"memo_entries": 8}):
            assert_array_equal(Solver(tables.rules, **options).solve_actions(tables), values, str(options))


def test_equal_cards_are_tried_once() -> None:
    tables = first_leads(Rules.preset("pagat", num_players=4), 20, seed=3)
    merged, plain = Solver(tables.rules), Solver(tables.rules, merge_equal=False)
    merged.solve(tables)
    plain.solve(tables)
    assert 0 < 3 * merged.cards_tried < plain.cards_tried


def test_two_players_are_solved_with_fewer_cards_by_null_windows() -> None:
    tables = first_leads(Rules.preset("pagat", num_players=2), 200, seed=3)
    windows, plain = Solver(tables.rules), Solver(tables.rules, null_windows=False)
    windows.solve(tables)
    plain.solve(tables)
    assert 0 < windows.cards_tried < plain.cards_tried


# --- what values are like


@pytest.mark.parametrize("size", TABLE_SIZES)
def test_no_chips_come_or_go(size: int) -> None:
    tables = random_endings(Rules.preset("pagat", num_players=size), 100, seed=size, most_orders=10**5)
    total = tables.returns.sum(axis=1) + tables.pot
    assert_allclose(solve(tables).sum(axis=1), total, rtol=0, atol=1e-6)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_highest_of_the_best_cards_is_played_and_the_best_line_keeps_the_value(size: int) -> None:
    tables = first_leads(Rules.preset("pagat", num_players=size), 40, seed=size)
    solver, rows, kingmakers = Solver(tables.rules), np.arange(tables.num_tables), 0
    values = solver.solve(tables)
    while len(rows):
        by_card = solver.solve_actions(tables, rows)
        own = np.rint(by_card[np.arange(len(rows)), :, tables.to_act[rows]] * PARTS_OF_A_CHIP)
        assert_array_equal(np.isnan(own), ~tables.legal_action_mask()[rows, : own.shape[1]])
        is_best = own == np.nanmax(own, axis=1)[:, None]
        highest = own.shape[1] - 1 - is_best[:, ::-1].argmax(axis=1)
        assert_allclose(by_card[np.arange(len(rows)), highest], values[rows], rtol=0, atol=1e-6)
        kingmakers += sum(
            len(np.unique(one[best].round(6), axis=0)) > 1 for one, best in zip(by_card, is_best, strict=True)
        )
        tables.step(highest, rows=rows)
        rows = rows[~tables.settled[rows]]
    assert_allclose(values, tables.returns + tables.carry[:, None] / size, rtol=0, atol=1e-6)
    assert (kingmakers > 0) == (size > 2)  # which of its equally good cards a seat plays matters to the others only


def test_seat_with_all_the_trumps_takes_the_pot_and_the_debt_of_a_bourre_is_shared() -> None:
    one = OneTable(["2S 3S 4S 5S 6S", "AH KH QH JH TH"], dealer=1).act("stay", "stay")
    assert_array_equal(solve(one.tables), [[-1 - 2 + 1, -1 + 2 + 1]])
    assert_array_equal(solve(one.tables, credit=[0, 0]), [[-1 - 2, -1 + 2]])


def test_card_led_decides_between_a_tie_and_a_bourre() -> None:
    """Spades are trumps. Behind the ace falls the king, and the trump makes it a tie; the queen loses to both."""
    one = OneTable(["AD QD", "KD 2S"], dealer=1, rules=Rules(num_players=2, hand_size=2, cinch="off"))
    one.act("stay", "stay")
    values = solve_actions(one.tables)[0]
    ace, queen = (action_id(one.rules, one.tables.records[0], text) for text in ("AD", "QD"))
    assert_array_equal(values[ace], [-1 + 1, -1 + 1])
    assert_array_equal(values[queen], [-1 - 2 + 1, -1 + 2 + 1])
    assert np.isnan(values).all(axis=1).sum() == 50
    assert_array_equal(solve(one.tables), [values[ace]])


# --- batches


def test_row_depends_on_no_other_row_and_on_nothing_solved_before() -> None:
    tables = random_endings(Rules.preset("pagat", num_players=5), 60, seed=8, most_orders=10**4)
    before = tables.records.tobytes()
    solver = Solver(tables.rules)
    values, by_card = solver.solve(tables), solver.solve_actions(tables)
    rows = [*reversed(range(tables.num_tables)), 0, 0]
    assert_array_equal(solver.solve(tables, rows), values[rows])
    assert_array_equal(solver.solve_actions(tables, rows), by_card[rows])
    for row in range(0, tables.num_tables, 7):
        assert_array_equal(solve(tables.take([row])), values[[row]])
        assert_array_equal(solve_actions(tables, [row]), by_card[[row]])
    assert tables.records.tobytes() == before
    assert solver.solve(tables, []).shape == (0, 5)
    assert solver.solve_actions(tables, []).shape == (0, 52, 5)


def test_shares_of_the_carry_are_equal_when_none_are_given() -> None:
    tables = random_endings(Rules.preset("pagat", num_players=4), 60, seed=8, most_orders=10**4)
    assert_array_equal(solve(tables), solve(tables, credit=[0.25] * 4))
    assert not np.array_equal(solve(tables), solve(tables, credit=[1, 0, 0, 0]))


# --- mistakes


def test_wrong_arguments_are_refused_in_words() -> None:
    rules = Rules.preset("pagat", num_players=3)
    tables = first_leads(rules, 3, seed=1)
    solver = Solver(rules)
    for rows in ([3], [-1], [0.5], [[0]], [True]):
        with pytest.raises(ValueError, match="rows"):
            solver.solve(tables, rows)
    for credit in ([1, 0], 1.0, [np.nan, 0, 0]):
        with pytest.raises(ValueError, match="credit"):
            solver.solve(tables, credit=credit)
    with pytest.raises(ValueError, match="exempt_chips"):
        solver.solve(tables, exempt_chips=np.inf)
    with pytest.raises(ValueError, match="other rules"):
        Solver(Rules.preset("pagat", num_players=4)).solve(tables)
    for entries in (0, 3, True, 2.0):
        with pytest.raises(ValueError, match="power of two"):
            Solver(rules, memo_entries=entries)


def test_tables_that_are_not_in_play_are_refused() -> None:
    tables = Tables(Rules(num_players=2), 3)
    with pytest.raises(ValueError, match="table 0 is in phase SETTLED"):
        solve(tables)
    one = OneTable(["AS KS 2D 3D 4D", "AH KH 2C 3C 4C"], dealer=1)
    with pytest.raises(ValueError, match="table 0 is in phase DECLARE"):
        solve_actions(one.tables)
