"""Decisions a second of the engine of Pinochle, part of `make bench`.

As in `benchmarks.engine`: CPU time of this thread, dealing included and choosing an action not, after a warm-up.
"""

from benchmarks.hands import rate
from bourre_env import PinochleRules, PinochleTables

PRESETS = ("modern", "modern_relative")


def lines() -> list[str]:
    """What `benchmarks.engine` prints."""
    found = []
    for num_tables in (1, 4096):
        for preset in PRESETS:
            decisions = rate(PinochleTables, PinochleRules.preset(preset), num_tables)
            found.append(f"Pinochle, {num_tables} tables, {preset}: {decisions / 1e6:.3f} million decisions/s")
    return found


if __name__ == "__main__":
    print(*lines(), sep="\n")
