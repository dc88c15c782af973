"""Engine equals oracle at Bureau: the same packs and actions give the same table at every decision."""

import random
from collections import Counter

import numpy as np
import pytest
from bureau_play import STATE, Comparison, id_of, preset_rules, random_rules
from reference_bureau import Action, ReferenceBureau

from agents.policy import Decision, load_policy
from bourre_env.bureau.rules import BureauRules

DECISIONS = 800  # by preset


@pytest.mark.parametrize("rules", preset_rules(), ids=lambda rules: rules.fingerprint[:4])
def test_engine_equals_oracle(rules: BureauRules) -> None:
    comparison = Comparison(rules, 4, random.Random(1))
    while comparison.decisions < DECISIONS:
        comparison.step()


def test_engine_equals_oracle_under_any_rules_and_meets_every_kind_of_move() -> None:
    counts: Counter[str] = Counter()
    rng = random.Random(2)
    drawn = [random_rules(rng) for _ in range(12)]
    for rules in [*drawn, BureauRules(max_passes=1, forbid_repeat=True, max_steps=1000)]:
        comparison = Comparison(rules, 2, rng, counts)
        while comparison.decisions < 500:
            comparison.step()
    assert {"draw", "redeal", "up", "up waste", "down", "down waste", "stopped", "lost"} <= set(counts)


class BotsPlay(Comparison):
    """The rule bot plays, since random play never wins."""

    def chosen(self, row: int, table: ReferenceBureau) -> Action:
        decision = Decision.from_packed(
            self.tables.observe_packed()[[row]],
            self.tables.legal_packed()[[row]],
            self.tables.to_act[[row]],
            self.rules,
            np.zeros(1, np.uint64),
        )
        number = int(load_policy("heuristic").act(decision, np.random.default_rng(0))[0])
        (action,) = (action for action in table.legal() if id_of(action) == number)
        return action


def test_engine_equals_oracle_where_deals_are_won() -> None:
    comparison = BotsPlay(BureauRules(), 1, random.Random(1))
    while not comparison.counts["won"]:
        comparison.step()
        assert comparison.decisions < 5000
    assert comparison.counts["up"] >= 52


def test_snapshot_says_what_the_oracle_says() -> None:
    comparison = Comparison(BureauRules(), 6, random.Random(3))
    for step in range(240):
        comparison.step()
        row = step % 6
        now, table = comparison.tables.snapshot(row), comparison.references[row]
        assert now.columns == tuple(
            tuple(("" if is_up else "#") + str(card) for card, is_up in pile) for pile in table.columns
        )
        assert now.foundations == tuple(pile[-1] for pile in table.foundations)
        assert (now.stock, now.waste) == (tuple(table.stock), tuple(table.waste))
        assert (now.redeals_used, now.redeals_left) == (table.redeals_used, 1 - table.redeals_used)
        assert (now.cards_up, now.steps, now.returns) == (table.cards_up, table.steps, (table.returns,))
        assert (now.ending, now.seat) == (table.ending, -1 if table.ending else 0)
        assert now.stock_is_known == (table.redeals_used > 0)


def test_comparison_notices_a_difference() -> None:
    comparison = Comparison(BureauRules(), 1, random.Random(8))
    record = comparison.tables.records
    for name in STATE:
        kept = record[name].copy()
        record[name].flat[0] ^= 1
        with pytest.raises(AssertionError, match=name):
            comparison.check()
        record[name] = kept
    comparison.check()
