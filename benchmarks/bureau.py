"""Decisions a second of the engine of Bureau, part of `make bench`.

As in `benchmarks.engine`: CPU time of this thread, dealing included and choosing an action not, after a warm-up.
"""

from benchmarks.hands import rate
from bourre_env import BureauRules, BureauTables

PRESETS = ("standard", "no_repeats")


def lines() -> list[str]:
    """What `benchmarks.engine` prints."""
    found = []
    for num_tables in (1, 4096):
        for preset in PRESETS:
            decisions = rate(BureauTables, BureauRules.preset(preset), num_tables)
            found.append(f"Bureau, {num_tables} tables, {preset}: {decisions / 1e6:.3f} million decisions/s")
    return found


if __name__ == "__main__":
    print(*lines(), sep="\n")
