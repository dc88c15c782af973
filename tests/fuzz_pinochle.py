"""A long run of the engine of Pinochle beside the oracle, part of `make fuzz`.

Every preset, then random house rules, until the decisions asked for are reached. Any disagreement stops the run. At the
end stands how often each kind of hand occurred.
"""

import argparse
import random
import sys
from collections import Counter

from pinochle_play import Comparison, preset_rules, random_rules
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

TABLES = 12
SHARE_OF_RANDOM_RULES = 0.6


def run(decisions: int, seed: int) -> Counter[str]:
    """Compare until the number of decisions is reached; returns how often each situation occurred."""
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    fixed = preset_rules()
    drawn = [random_rules(rng) for _ in range(max(20, decisions // 4000))]
    budgets = [(rules, decisions * (1 - SHARE_OF_RANDOM_RULES) / len(fixed)) for rules in fixed]
    budgets += [(rules, decisions * SHARE_OF_RANDOM_RULES / len(drawn)) for rules in drawn]
    with tqdm(total=decisions, unit="decision", unit_scale=True, disable=None) as bar:
        for rules, budget in budgets:
            comparison = Comparison(rules, TABLES, rng, counts)
            while comparison.decisions < budget:
                comparison.step()
                bar.update(TABLES)
            counts["decisions"] += comparison.decisions
    return counts


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--decisions", type=int, default=300_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    counts = run(arguments.decisions, arguments.seed)
    table = Table("situation", "times")
    for name, times in sorted(counts.items()):
        table.add_row(name, f"{times:,}")
    Console().print(table)
    print(f"{counts['decisions']:,} decisions, 0 disagreements with the oracle")
    return 0


if __name__ == "__main__":
    sys.exit(main())
