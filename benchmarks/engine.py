"""Decisions a second of the engine and of the PettingZoo environment: `make bench`.

Times are CPU time of this thread, dealing included, after a warm-up in which the tables spread over the deal. Beside
each figure stands its ratio to a fixed piece of work in the same run, writing 2 KiB rows of memory, because
machines differ and are shared.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.play import choose_randomly
from bourre_env import Rules, Tables, raw_env, shuffled_decks
from bourre_env.deck import stream_keys

SEED = 20260101
WARM_UP_STEPS = 64
ROW_BYTES = 2048
VIEWS = ("packed", "mask", "float32")


@dataclass(frozen=True)
class Speed:
    """Rates of one configuration, in decisions and deals a second."""

    decisions: dict[str, float]
    deals: float


class Stopwatch:
    """CPU seconds of this thread, summed under names."""

    def __init__(self) -> None:
        """Start with nothing measured."""
        self.seconds: dict[str, float] = {}

    def __call__(self, name: str, work: Callable[[], object]) -> None:
        """Do some work and add its time."""
        start = time.thread_time()
        work()
        self.seconds[name] = self.seconds.get(name, 0.0) + time.thread_time() - start


def written_rows_per_second(seconds: float = 0.5) -> float:
    """The yardstick: rows of 2 KiB written a second, out of cache."""
    rows = np.zeros((16384, ROW_BYTES), np.uint8)
    written, start = 0, time.thread_time()
    while time.thread_time() - start < seconds:
        rows.fill(written & 255)
        written += len(rows)
    return written / (time.thread_time() - start)


class Driver:
    """Random play at some tables, dealt again as soon as they are settled."""

    def __init__(self, num_players: int, num_tables: int) -> None:
        """Deal every table once."""
        self.rules = Rules.preset("pagat", num_players=num_players)
        self.tables = Tables(self.rules, num_tables)
        self.deals = 0
        self.steps = 0
        self.actions = np.zeros(num_tables, np.int64)
        self.legal = np.zeros((num_tables, 2), np.uint64)
        self.words = np.zeros((num_tables, self.tables.layout.num_words), np.uint64)
        self.mask = np.zeros((num_tables, self.tables.num_actions), np.bool_)
        self.features = np.zeros((num_tables, self.tables.layout.size), np.float32)
        self.deal_settled()

    def deal_settled(self) -> None:
        """Deal the tables that are settled."""
        rows = np.flatnonzero(self.tables.records["phase"] == 3)
        if len(rows):
            deal_ids = np.arange(self.deals, self.deals + len(rows))
            self.tables.deal(shuffled_decks(SEED, deal_ids), deal_ids % self.rules.num_players, rows=rows)
            self.deals += len(rows)

    def step(self, watch: Stopwatch) -> None:
        """One decision at every table, each part timed."""
        watch("legal", lambda: self.tables.legal_packed(self.legal))
        watch("words", lambda: self.tables.observe_packed(self.words))
        watch("mask", lambda: self.tables.legal_action_mask(self.mask))
        watch("features", lambda: self.tables.observe(self.features))
        choose_randomly(self.legal, stream_keys(SEED, [self.steps])[0], self.actions)
        watch("step", lambda: self.tables.step(self.actions))
        watch("deal", self.deal_settled)
        self.steps += 1


def engine_speed(num_players: int, num_tables: int, seconds: float = 1.5) -> Speed:
    """Rates of `Tables` at one size."""
    driver = Driver(num_players, num_tables)
    unmeasured = Stopwatch()
    for _ in range(WARM_UP_STEPS):
        driver.step(unmeasured)
    watch, steps, deals = Stopwatch(), driver.steps, driver.deals
    while sum(watch.seconds.values()) < seconds:
        driver.step(watch)
    decisions = (driver.steps - steps) * num_tables
    spent = watch.seconds
    game = spent["step"] + spent["deal"]
    rates = {
        "packed": decisions / (game + spent["legal"] + spent["words"]),
        "mask": decisions / (game + spent["mask"]),
        "float32": decisions / (game + spent["mask"] + spent["features"]),
    }
    return Speed(rates, (driver.deals - deals) / game)


def environment_speed(deals: int = 2000) -> float:
    """Decisions a second of the whole AEC loop of `raw_env` with random play, four seats."""
    env = raw_env(num_players=4)
    rng = np.random.default_rng(SEED)

    def play(number: int) -> int:
        decisions = 0
        for deal in range(number):
            env.reset(seed=SEED if deal == 0 else None)
            for _ in env.agent_iter():
                observation, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                    continue
                legal = np.flatnonzero(observation["action_mask"])
                env.step(int(legal[rng.integers(len(legal))]))
                decisions += 1
        return decisions

    play(50)
    start = time.thread_time()
    return play(deals) / (time.thread_time() - start)


def main() -> int:
    """Measure and print."""
    console = Console()
    yardstick = written_rows_per_second()
    console.print(f"yardstick: {yardstick / 1e6:.2f} million rows of {ROW_BYTES} bytes written a second")
    table = Table("players", "tables", *(f"{view} M/s" for view in VIEWS), *(f"{v} ratio" for v in VIEWS), "deals M/s")
    for num_players in (2, 4, 7):
        for num_tables in (1, 64, 1024, 4096, 16384):
            speed = engine_speed(num_players, num_tables)
            rates = [speed.decisions[view] for view in VIEWS]
            table.add_row(
                str(num_players),
                str(num_tables),
                *(f"{rate / 1e6:.3f}" for rate in rates),
                *(f"{rate / yardstick:.2f}" for rate in rates),
                f"{speed.deals / 1e6:.3f}",
            )
    console.print(table)
    console.print("packed: step, packed observation and packed legal set. mask: step and boolean mask.")
    console.print("float32: step, boolean mask and float32 observation. Dealing is part of every figure.")
    console.print(f"raw_env, 4 players, whole AEC loop: {environment_speed():,.0f} decisions/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
