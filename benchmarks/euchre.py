"""Decisions a second of the engine of Euchre, part of `make bench`.

As in `benchmarks.engine`: CPU time of this thread, dealing included and choosing an action not, after a warm-up.
"""

from benchmarks.hands import rate
from bourre_env import EuchreRules, EuchreTables


def lines() -> list[str]:
    """What `benchmarks.engine` prints."""
    found = []
    for num_tables in (1, 4096):
        for ids in ("printed", "relative"):
            decisions = rate(EuchreTables, EuchreRules(card_ids=ids), num_tables)
            found.append(f"Euchre, {num_tables} tables, {ids} ids: {decisions / 1e6:.3f} million decisions/s")
    return found


if __name__ == "__main__":
    print(*lines(), sep="\n")
