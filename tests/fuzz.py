"""A long run of the engine beside the oracle: `make fuzz`.

Every preset at each of its table sizes, then random house rules, until the decisions asked for are reached. Any
disagreement stops the run with the table, the rules and the first field that differs. At the end stands how often each
special situation occurred: a run that never met one has not tested it.
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator

import hypothesis
from hypothesis import strategies as st
from random_play import Comparison, ReferenceState, any_rules
from reference import ReferenceTable
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from bourre_env import PRESETS, Rules
from bourre_env.bourre.rules import PRESET_PLAYERS

TABLES = 50
SHARE_OF_RANDOM_RULES = 0.2

SITUATIONS = (
    "deals",
    "all pass",
    "lone player",
    "dealer collects",
    "outright win",
    "tie",
    "one bourré",
    "several bourrés",
    "ace up",
    "cinch bound",
    "reshuffle",
    "double reshuffle",
    "turn-up thrown away",
    "pot above the limit",
    "pot with a carry",
    "seat without chips",
)


class CountingComparison(Comparison):
    """The comparison, and what happened in its deals."""

    def __init__(self, rules: Rules, seed: int, counts: Counter[str]) -> None:
        """Compare under some rules, adding to `counts`."""
        self.counts = counts
        super().__init__(rules, TABLES, random.Random(seed))

    def deal(self, rows: list[int]) -> None:
        """Count what happened in the deals that are over, then begin new ones."""
        for row in rows:
            if row in self.references:
                self.counts.update(situations(self.rules, self.references[row].table))
        super().deal(rows)

    def _begin(self, row: int) -> ReferenceTable:
        """Count what a deal begins with."""
        table = super()._begin(row)
        self.counts["pot above the limit"] += self.rules.limit is not None and table.pot > self.rules.limit
        self.counts["pot with a carry"] += table.carry > 0
        self.counts["seat without chips"] += any(table.sits_out)
        return table

    def check(self) -> list[tuple[object, ...]]:
        """Compare, and count the decisions a cinch decides."""
        self.counts["cinch bound"] += sum(is_bound_by_cinch(self.rules, state) for state in self.references.values())
        return super().check()


def is_bound_by_cinch(rules: Rules, state: ReferenceState) -> bool:
    """Whether a leader is bound by a cinch to one of several cards (5.3)."""
    table = state.table
    if rules.cinch == "off" or table.phase != "play" or table.sure_tricks(table.seat) <= rules.hand_size // 2:
        return False
    return not table.trick and len(table.hands[table.seat]) > len(table.legal_actions()) == 1


def situations(rules: Rules, table: ReferenceTable) -> Iterator[str]:
    """The names in `SITUATIONS` that fit a deal that is over."""
    yield "deals"
    active = sum(table.stayed)
    played_out = sum(table.tricks_won) == rules.hand_size
    if active == 0:
        yield "dealer collects" if sum(table.passed) < rules.num_players else "all pass"
    if active == 1:
        yield "lone player"
    if played_out:
        best = max(table.tricks_won)
        yield "tie" if table.tricks_won.count(best) > 1 else "outright win"
    bourres = played_out * sum(stayed and not won for stayed, won in zip(table.stayed, table.tricks_won, strict=True))
    if bourres:
        yield "one bourré" if bourres == 1 else "several bourrés"
    if rules.turn_up_owner == "dealer" and rules.rank_names[table.turn_up % 13] == "A":
        yield "ace up"
    if table.num_reshuffles:
        yield "reshuffle" if table.num_reshuffles == 1 else "double reshuffle"
    if rules.turn_up_owner == "dealer" and table.face_up:
        yield "turn-up thrown away"


def preset_rules() -> list[Rules]:
    """Every preset at each of its table sizes."""
    return [
        Rules.preset(preset, num_players=num_players)
        for preset in PRESETS
        for num_players in range(PRESET_PLAYERS.get(preset, (2, 8))[0], PRESET_PLAYERS.get(preset, (2, 8))[1] + 1)
    ]


def random_rules(number: int, seed: int) -> list[Rules]:
    """Random house rules, the same for the same seed."""
    drawn: list[Rules] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(max_examples=number, deadline=None, database=None, phases=[hypothesis.Phase.generate])
    @hypothesis.given(rules=any_rules(), _=st.none())
    def draw(rules: Rules, _: None) -> None:
        drawn.append(rules)

    draw()
    return drawn


def run(decisions: int, seed: int) -> Counter[str]:
    """Compare until the number of decisions is reached; returns how often each situation occurred."""
    counts: Counter[str] = Counter()
    fixed = preset_rules()
    drawn = random_rules(max(20, decisions // 5000), seed)
    budgets = [(rules, decisions * (1 - SHARE_OF_RANDOM_RULES) / len(fixed)) for rules in fixed]
    budgets += [(rules, decisions * SHARE_OF_RANDOM_RULES / len(drawn)) for rules in drawn]
    with tqdm(total=decisions, unit="decision", unit_scale=True, disable=None) as bar:
        for number, (rules, budget) in enumerate(budgets):
            comparison = CountingComparison(rules, seed + number, counts)
            while comparison.decisions < budget:
                before = comparison.decisions
                comparison.step()
                bar.update(comparison.decisions - before)
            counts["decisions"] += comparison.decisions
    return counts


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--decisions", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    counts = run(arguments.decisions, arguments.seed)
    table = Table("situation", "times")
    for name in SITUATIONS:
        table.add_row(name, f"{counts[name]:,}")
    Console().print(table)
    print(f"{counts['decisions']:,} decisions, 0 disagreements with the oracle")
    return 0


if __name__ == "__main__":
    sys.exit(main())
