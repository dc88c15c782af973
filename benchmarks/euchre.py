"""Decisions a second of the engine of Euchre, part of `make bench`.

As in `benchmarks.engine`: CPU time of this thread, dealing included and choosing an action not, after a warm-up.
"""

import time

import numpy as np
from numpy.typing import NDArray

from benchmarks.play import choose_randomly
from bourre_env import EuchreRules, EuchreTables, shuffled_decks
from bourre_env.deck import stream_keys

SEED = 20260101
WARM_UP_STEPS = 64
BLOCK_STEPS = 100


class Driver:
    """Random play at some tables; settled tables are dealt again at once."""

    def __init__(self, rules: EuchreRules, num_tables: int) -> None:
        """Deal every table."""
        self.rules = rules
        self.tables = EuchreTables(rules, num_tables)
        self.dealt = 0
        self.steps = 0
        self.tables.deal(*self._deals(num_tables))
        self.out = self.tables.buffers()
        self.actions = np.zeros(num_tables, np.int64)

    def _deals(self, number: int) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
        """Packs and dealers of the next hands."""
        deal_ids = np.arange(self.dealt, self.dealt + number)
        self.dealt += number
        return shuffled_decks(SEED, deal_ids, pack=self.rules.pack), deal_ids % self.rules.num_players

    def play(self, steps: int) -> float:
        """That many steps of random play; seconds of CPU time, the choosing left out."""
        seconds = 0.0
        for _ in range(steps):
            choose_randomly(self.out.legal, stream_keys(SEED, [self.steps])[0], self.actions)
            self.steps += 1
            start = time.thread_time()
            self.tables.step(self.actions, out=self.out)
            rows = np.flatnonzero(self.out.settled)
            if len(rows):
                self.tables.deal(*self._deals(len(rows)), rows=rows)
                self.out.observation[rows], self.out.legal[rows] = self.tables.view_rows(rows)
            seconds += time.thread_time() - start
        return seconds


def rate(rules: EuchreRules, num_tables: int = 4096, seconds: float = 1.0) -> float:
    """Decisions a second with packed rows."""
    driver = Driver(rules, num_tables)
    driver.play(WARM_UP_STEPS)
    spent, steps = 0.0, driver.steps
    while spent < seconds:
        spent += driver.play(BLOCK_STEPS)
    return (driver.steps - steps) * num_tables / spent


def lines() -> list[str]:
    """What `benchmarks.engine` prints."""
    found = []
    for num_tables in (1, 4096):
        for ids in ("printed", "relative"):
            decisions = rate(EuchreRules(card_ids=ids), num_tables)
            found.append(f"Euchre, {num_tables} tables, {ids} ids: {decisions / 1e6:.3f} million decisions/s")
    return found


if __name__ == "__main__":
    print(*lines(), sep="\n")
