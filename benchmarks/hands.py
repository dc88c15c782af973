"""Random play at many tables of a game whose hands are dealt by the caller: decisions a second of its engine.

CPU time of this thread, dealing included and choosing an action not, after a warm-up.
"""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.play import choose_any
from bourre_env import shuffled_decks
from bourre_env.deck import stream_keys

SEED = 20260101
WARM_UP_STEPS = 64
BLOCK_STEPS = 100


class Driver:
    """Random play at some tables; settled tables are dealt again at once."""

    def __init__(self, tables: Any, rules: Any, num_tables: int) -> None:
        """Deal every table.

        Args:
            tables: the game's class of tables.
            rules: its rules.
            num_tables: how many tables.
        """
        self.rules = rules
        self.tables = tables(rules, num_tables)
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
            choose_any(self.out.legal, stream_keys(SEED, [self.steps])[0], self.actions)
            self.steps += 1
            start = time.thread_time()
            self.tables.step(self.actions, out=self.out)
            rows = np.flatnonzero(self.out.settled)
            if len(rows):
                self.tables.deal(*self._deals(len(rows)), rows=rows)
                self.out.observation[rows], self.out.legal[rows] = self.tables.view_rows(rows)
            seconds += time.thread_time() - start
        return seconds


def rate(tables: Any, rules: Any, num_tables: int = 4096, seconds: float = 1.0) -> float:
    """Decisions a second with packed rows.

    Args:
        tables: the game's class of tables.
        rules: its rules.
        num_tables: how many tables.
        seconds: of CPU time to spend at least.
    """
    driver = Driver(tables, rules, num_tables)
    driver.play(WARM_UP_STEPS)
    spent, steps = 0.0, driver.steps
    while spent < seconds:
        spent += driver.play(BLOCK_STEPS)
    return (driver.steps - steps) * num_tables / spent


def lines_of(game: str, tables: Any, variants: Mapping[str, Any]) -> list[str]:
    """What `benchmarks.engine` prints of a game: its speed at one table and at many, by rules.

    Args:
        game: its name in words.
        tables: its class of tables.
        variants: rules by what they are called.
    """
    found = []
    for num_tables in (1, 4096):
        for name, rules in variants.items():
            decisions = rate(tables, rules, num_tables)
            found.append(f"{game}, {num_tables} tables, {name}: {decisions / 1e6:.3f} million decisions/s")
    return found
