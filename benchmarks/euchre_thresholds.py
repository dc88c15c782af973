"""Where the thresholds of Euchre's rule bot come from: `python -m benchmarks.euchre_thresholds` (a minute on one core).

One threshold after the other is moved up and down, in smaller and smaller steps; a move is kept when a pair that plays
by it beats the pair that does not, by more than its standard error. Prints the thresholds, and what they bring against
those the search began with on deals that it has not seen.
"""

import numpy as np
from numpy.typing import NDArray

from agents.arena import play_blocks
from agents.euchre.heuristic import EuchreBot
from agents.statistics import estimate
from bourre_env.euchre.rules import EuchreRules

START = (1.9, 1.75, 1.95, 3.4, 3.6, 0.3)
ROUNDS = ((-0.6, -0.3, 0.3, 0.6), (-0.3, -0.15, 0.15, 0.3), (-0.15, 0.15))
BLOCKS, FINAL_BLOCKS = 12_000, 40_000
FIRST_SEED, FINAL_SEED = 10, 99


def block_means(first: NDArray[np.float64], second: NDArray[np.float64], blocks: int, seed: int) -> NDArray[np.float64]:
    """[D] float64: points a hand of a pair by some thresholds against a pair by others."""
    rules = EuchreRules.preset("cornish")
    bots = EuchreBot("first", first), EuchreBot("second", second)
    return play_blocks(rules, *bots, seed=seed, deal_ids=np.arange(blocks)).block_means


def improved(thresholds: NDArray[np.float64], place: int, steps: tuple[float, ...], seed: int) -> NDArray[np.float64]:
    """The thresholds with one of them moved by the step that brings most, if any brings enough."""
    best, most = thresholds, 0.0
    for step in steps:
        moved = thresholds.copy()
        moved[place] += step
        means = block_means(moved, thresholds, BLOCKS, seed)
        if means.mean() > max(most, means.std() / len(means) ** 0.5):
            best, most = moved, float(means.mean())
    return best


def main() -> None:
    """Search, and print what was found."""
    thresholds = np.array(START)
    for number, steps in enumerate(ROUNDS):
        for place in range(len(START)):
            thresholds = improved(thresholds, place, steps, FIRST_SEED + number)
    found = estimate(block_means(thresholds, np.array(START), FINAL_BLOCKS, FINAL_SEED), seed=FINAL_SEED)
    print(", ".join(f"{threshold:g}" for threshold in thresholds.round(6)))
    print(f"against the first ones: {found.mean:+.3f} points a hand ({found.low:+.3f} to {found.high:+.3f})")


if __name__ == "__main__":
    main()
