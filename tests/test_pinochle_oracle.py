"""Engine equals oracle at Pinochle: the same packs and actions give the same table at every decision."""

import random
from collections import Counter

import numpy as np
import pytest
from pinochle_play import STATE, Comparison, id_of, preset_rules, random_rules, states_of_engine

from bourre_env import PinochleRules

DECISIONS = 1400  # by preset and kind of ids


@pytest.mark.parametrize("rules", preset_rules(), ids=lambda rules: f"{rules.fingerprint[:4]}-{rules.card_ids}")
def test_engine_equals_oracle(rules: PinochleRules) -> None:
    comparison = Comparison(rules, 14, random.Random(1))
    while comparison.decisions < DECISIONS:
        comparison.step()
    assert comparison.counts["hands"]


def test_engine_equals_oracle_under_any_rules_and_meets_every_kind_of_hand() -> None:
    counts: Counter[str] = Counter()
    rng = random.Random(2)
    for _ in range(30):
        comparison = Comparison(random_rules(rng), 8, rng, counts)
        for _ in range(80):
            comparison.step()
    wanted = {"thrown in", "stuck", "made", "set", "ruffed", "taken back", "exchange", "trump", "play"}
    wanted |= {"run", "royal_marriage", "marriage", "dix", "pinochle", "kings_around", "queens_around"}
    assert wanted <= set(counts)


def test_snapshot_says_what_the_oracle_says() -> None:
    rules = PinochleRules(exchange=3)
    comparison = Comparison(rules, 12, random.Random(3))
    for row in [row for row in range(12) for _ in range(7)]:
        comparison.step()
        now, table = comparison.tables.snapshot(row), comparison.references[row]
        assert (now.phase, now.seat, now.dealer, now.trump_suit) == (table.phase, table.seat, table.dealer, table.trump)
        assert [sorted(hand) for hand in now.hands] == [sorted(hand) for hand in table.hands]
        assert now.calls == tuple(table.calls)
        assert (now.high_bid, now.high_bidder) == (table.bid_points if table.bid >= 0 else 0, table.bidder)
        assert now.passed == tuple(sorted(table.passed))
        assert [sorted(given) for given in now.sent] == [sorted(given) for given in table.sent]
        assert [dict(shown) for shown in now.melds] == table.melds
        assert [sorted(shown) for shown in now.melded] == table.shown
        assert [set(kinds) for kinds in now.exposed] == table.exposed
        assert (now.taken_back, now.leader, list(now.trick)) == (table.taken_back, table.leader, table.trick)
        assert now.tricks_won == tuple(table.winners.count(seat) for seat in range(4))
        assert now.tricks == (now.tricks_won[0] + now.tricks_won[2], now.tricks_won[1] + now.tricks_won[3])
        assert [sorted(pile) for pile in now.piles] == [sorted(pile) for pile in table.piles]
        assert (list(now.trick_points), list(now.meld_points)) == (table.trick_points, table.meld_points)
        assert (list(now.points), list(now.returns)) == (table.points, table.returns)
        assert now.forfeited == -1


def test_engine_that_plays_forced_decisions_stays_equal() -> None:
    """What the engine plays by itself are the decisions at which the oracle has one legal action."""
    comparison = Comparison(PinochleRules(), 40, random.Random(5))
    rng = random.Random(6)
    tables = comparison.tables
    while not tables.settled.all():
        actions = np.zeros(40, np.int64)
        for row, table in enumerate(comparison.references):
            if table.phase == "settled":
                continue
            word = rng.choice(sorted(table.legal()))
            actions[row] = id_of(word, table, comparison.rules)
            table.step(word)
            while len(table.legal()) == 1:
                table.step(*table.legal())
        tables.step(actions, play_forced=True)
        comparison.check()


def test_comparison_notices_a_difference() -> None:
    comparison = Comparison(PinochleRules(), 1, random.Random(8))
    record = comparison.tables.records
    for name in STATE:
        kept = record[name].copy()
        record[name].flat[0] ^= 1
        with pytest.raises(AssertionError, match=name):
            comparison.check()
        record[name] = kept
    comparison.check()
    assert set(states_of_engine(comparison.tables)[0]) == set(STATE)
