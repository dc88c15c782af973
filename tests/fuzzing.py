"""What the long runs of engines beside their oracles share: presets first, then random house rules, then a table."""

import argparse
import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from tqdm import tqdm

TABLES = 40
DECISIONS_BY_RULES = 2500  # of random ones


def run(
    comparison_of: Callable[..., Any],
    fixed: Sequence[Any],
    random_rules: Callable[[random.Random], Any],
    decisions: int,
    seed: int,
    num_tables: int,
    decisions_by_rules: int,
) -> Counter[str]:
    """Compare until the number of decisions is reached; returns how often each situation occurred."""
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    drawn = [random_rules(rng) for _ in range(max(20, decisions // (2 * decisions_by_rules)))]
    budgets = [(rules, decisions / 2 / len(group)) for group in (fixed, drawn) for rules in group]
    with tqdm(total=decisions, unit="decision", unit_scale=True, disable=None) as bar:
        for rules, budget in budgets:
            comparison = comparison_of(rules, num_tables, rng, counts)
            while comparison.decisions < budget:
                comparison.step()
                bar.update(num_tables)
            counts["decisions"] += comparison.decisions
    return counts


def main(
    description: str | None,
    comparison_of: Callable[..., Any],
    fixed: Sequence[Any],
    random_rules: Callable[[random.Random], Any],
    *,
    num_tables: int = TABLES,
    decisions_by_rules: int = DECISIONS_BY_RULES,
) -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(description or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--decisions", type=int, default=300_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    counts = run(
        comparison_of, fixed, random_rules, arguments.decisions, arguments.seed, num_tables, decisions_by_rules
    )
    table = Table("situation", "times")
    for name, times in sorted(counts.items()):
        table.add_row(name, f"{times:,}")
    Console().print(table)
    print(f"{counts['decisions']:,} decisions, 0 disagreements with the oracle")
    return 0
