"""Engine equals oracle at Euchre: the same packs and actions give the same table at every decision."""

import random
from collections import Counter

import numpy as np
import pytest
from euchre_play import STATE, Comparison, preset_rules, random_rules, states_of_engine

from bourre_env import EuchreRules

DECISIONS = 1500  # by preset and kind of ids


@pytest.mark.parametrize("rules", preset_rules(), ids=lambda rules: f"{rules.fingerprint[:4]}-{rules.card_ids}")
def test_engine_equals_oracle(rules: EuchreRules) -> None:
    comparison = Comparison(rules, 30, random.Random(1))
    while comparison.decisions < DECISIONS:
        comparison.step()


def test_engine_equals_oracle_under_any_rules_and_meets_every_kind_of_hand() -> None:
    counts: Counter[str] = Counter()
    rng = random.Random(2)
    for _ in range(40):
        comparison = Comparison(random_rules(rng), 12, rng, counts)
        for _ in range(40):
            comparison.step()
    wanted = {"blind", "turned down", "second round", "thrown in", "up-card shed", "1 alone", "2 alone"}
    wanted |= {f"{points} points for {side}" for points, side in [(1, "makers"), (2, "makers"), (2, "defenders")]}
    wanted |= {"4 points for defenders", "discard", "alone", "play"}
    assert wanted <= set(counts)


def test_snapshot_says_what_the_oracle_says() -> None:
    comparison = Comparison(EuchreRules(), 20, random.Random(3))
    for row in [row for row in range(20) for _ in range(4)]:
        comparison.step()
        now, table = comparison.tables.snapshot(row), comparison.references[row]
        assert (now.phase, now.seat, now.dealer, now.up_card) == (table.phase, table.seat, table.dealer, table.up_card)
        assert [set(hand) for hand in now.hands] == [set(hand) for hand in table.hands]
        assert now.calls == tuple(((table.dealer + 1 + n) % 4, call) for n, call in enumerate(table.calls))
        assert (now.trump_suit, now.maker, now.taker, now.shed) == (table.trump, table.maker, table.taker, table.shed)
        assert set(now.unused) == set(table.unused)
        assert (set(now.alone), set(now.out)) == (set(table.alone), set(table.out))
        assert set(now.with_partner) == {seat for seat, words in table.answers.items() if words == "with_partner"}
        assert (now.leader, list(now.trick)) == (table.leader, table.trick)
        assert now.tricks_won == tuple(table.winners.count(seat) for seat in range(4))
        assert (list(now.points), list(now.returns)) == (table.points, table.returns)
        assert now.forfeited == -1


def test_engine_that_plays_forced_decisions_stays_equal() -> None:
    """What the engine plays by itself are the decisions at which the oracle has one legal action."""
    comparison = Comparison(EuchreRules(), 60, random.Random(5))
    rng = random.Random(6)
    tables = comparison.tables
    while not tables.settled.all():
        actions = np.zeros(60, np.int64)
        for row, table in enumerate(comparison.references):
            if table.phase == "settled":
                continue
            word = rng.choice(sorted(table.legal()))
            actions[row] = comparison.id_of(row, word)
            table.step(word)
            while len(table.legal()) == 1:
                table.step(*table.legal())
        tables.step(actions, play_forced=True)
        comparison.check()


def test_comparison_notices_a_difference() -> None:
    comparison = Comparison(EuchreRules(), 1, random.Random(8))
    record = comparison.tables.records
    for name in STATE:
        kept = record[name].copy()
        record[name].flat[0] ^= 1
        with pytest.raises(AssertionError, match=name):
            comparison.check()
        record[name] = kept
    comparison.check()
    assert set(states_of_engine(comparison.tables)[0]) == set(STATE)
