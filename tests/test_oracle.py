"""Engine equals oracle: the same rules, packs and actions give the same table at every decision.

`reference.py` is the oracle, a table in plain Python that shares no code with the engine.
"""

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from positions import text_of
from random_play import Comparison, any_rules, assert_same_state, random_action, states_of_engine

from bourre_env import PRESETS, Rules
from bourre_env.bourre.rules import PRESET_PLAYERS

DECISIONS = 2_500  # by preset and table size; more than a hundred thousand in all

PRESETS_AND_SIZES = [
    (preset, num_players)
    for preset in PRESETS
    for num_players in range(PRESET_PLAYERS.get(preset, (2, 8))[0], PRESET_PLAYERS.get(preset, (2, 8))[1] + 1)
]


@pytest.mark.parametrize(("preset", "num_players"), PRESETS_AND_SIZES)
def test_engine_equals_oracle(preset: str, num_players: int) -> None:
    comparison = Comparison(Rules.preset(preset, num_players=num_players), 50, random.Random(num_players))
    while comparison.decisions < DECISIONS:
        comparison.step()


def test_comparisons_add_up_to_a_hundred_thousand_decisions() -> None:
    assert DECISIONS * len(PRESETS_AND_SIZES) >= 100_000


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(rules=any_rules(), seed=st.integers(0, 2**32))
def test_engine_equals_oracle_under_any_rules(rules: Rules, seed: int) -> None:
    comparison = Comparison(rules, 4, random.Random(seed))
    for _ in range(60):
        comparison.step()


@pytest.mark.parametrize("num_players", [2, 4, 8])
def test_engine_that_plays_forced_decisions_stays_equal(num_players: int) -> None:
    """What the engine plays by itself are the decisions at which the oracle has one legal action."""
    comparison = Comparison(Rules.preset("pagat", num_players=num_players), 100, random.Random(5))
    rng = random.Random(6)
    while not comparison.tables.settled.all():
        actions = np.zeros(100, np.int64)
        for row, reference in comparison.references.items():
            legal = sorted(reference.table.legal_actions())
            if legal:
                actions[row] = random_action(legal, reference.table.pass_action, rng)
                reference.table.step(int(actions[row]))
            while len(reference.table.legal_actions()) == 1:
                reference.table.step(*reference.table.legal_actions())
        comparison.tables.step(actions, play_forced=True)
        comparison.check()


@pytest.mark.parametrize("num_players", [2, 5, 8])
def test_snapshot_shows_the_oracles_cards(num_players: int) -> None:
    comparison = Comparison(Rules.preset("pagat", num_players=num_players), 20, random.Random(7))
    for row in [row for row in range(20) for _ in range(3)]:
        comparison.step()
        now, table = comparison.tables.snapshot(row), comparison.references[row].table
        assert (now.phase, now.seat, now.dealer, now.deal_index) == (table.phase, table.seat, table.dealer, 0)
        assert [" ".join(hand) for hand in now.hands] == [text_of(hand) for hand in table.hands]
        assert [(seat, text) for seat, text in now.trick] == [(seat, text_of([one])) for seat, one in table.trick]
        assert (now.turn_up, now.trump_suit) == (text_of([table.turn_up]), "CDHS"[table.trump_suit])
        assert (now.stayed, now.passed) == (tuple(table.stayed), tuple(table.passed))
        assert (now.num_discards, now.tricks_won) == (tuple(table.num_discards), tuple(table.tricks_won))
        assert (now.pot, now.carry, now.chips) == (table.pot, table.carry, tuple(table.returns))
        assert now.exempt == tuple(table.exempt)


def test_comparison_notices_a_difference() -> None:
    """The comparison is not blind: a chip more in the pot, a card elsewhere or another legal set is reported."""
    comparison = Comparison(Rules.preset("pagat"), 1, random.Random(8))
    expected = comparison.check()[0]
    record = comparison.tables.records
    for field, name in [("pot", "pot"), ("hands", "hands"), ("legal", "legal"), ("exempt", "exempt")]:
        kept = record[field].copy()
        record[field].flat[0] ^= 1
        with pytest.raises(AssertionError, match=name):
            assert_same_state(states_of_engine(comparison.tables)[0], expected, "here")
        record[field] = kept
    comparison.check()
