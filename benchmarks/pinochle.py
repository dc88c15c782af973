"""Decisions a second of the engine of Pinochle, part of `make bench`.

As in `benchmarks.engine`: CPU time of this thread, dealing included and choosing an action not, after a warm-up.
"""

from benchmarks.hands import lines_of
from bourre_env import PinochleRules, PinochleTables

PRESETS = ("modern", "modern_relative")


def lines() -> list[str]:
    """What `benchmarks.engine` prints."""
    return lines_of("Pinochle", PinochleTables, {preset: PinochleRules.preset(preset) for preset in PRESETS})


if __name__ == "__main__":
    print(*lines(), sep="\n")
