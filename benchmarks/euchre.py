"""Decisions a second of the engine of Euchre, part of `make bench`.

As in `benchmarks.engine`: CPU time of this thread, dealing included and choosing an action not, after a warm-up.
"""

from benchmarks.hands import lines_of
from bourre_env import EuchreRules, EuchreTables


def lines() -> list[str]:
    """What `benchmarks.engine` prints."""
    return lines_of(
        "Euchre", EuchreTables, {f"{ids} ids": EuchreRules(card_ids=ids) for ids in ("printed", "relative")}
    )


if __name__ == "__main__":
    print(*lines(), sep="\n")
