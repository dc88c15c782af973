"""Decisions a second of the engine and of the PettingZoo environment: `make bench`.

Times are CPU time of this thread, dealing included and choosing an action not, after a warm-up in which the tables
spread over the deal. Beside each figure stands its ratio to a fixed piece of work in the same run, writing 2 KiB rows
of memory, because machines differ and are shared. Where there is a C compiler, the rates of a plain C program of the
same game that writes the same rows (`c_engine.c`) are measured in turn with ours.
"""

import statistics
import sys
import time
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import c_baseline
from benchmarks.c_baseline import VIEWS, CTables
from benchmarks.play import choose_randomly
from bourre_env import Rules, Tables, raw_env, shuffled_decks
from bourre_env.deck import stream_keys

SEED = 20260101
WARM_UP_STEPS = 256  # the first deals of all tables begin together; with fewer, large batches look faster than they are
BLOCK_STEPS = 100
ROW_BYTES = 2048


@dataclass(frozen=True)
class Speed:
    """Rates of one configuration, in decisions and deals a second."""

    decisions: dict[str, float]
    deals: float


@dataclass(frozen=True)
class Comparison:
    """Decisions a second of `Tables` and of the C program, and the median of the ratios measured in turn."""

    ours: float
    c_loop: float
    ratio: float


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

    def read(self, view: str) -> None:
        """Fill the rows of one view."""
        if view == "packed":
            self.tables.legal_packed(self.legal)
            self.tables.observe_packed(self.words)
            return
        self.tables.legal_action_mask(self.mask)
        if view == "float32":
            self.tables.observe(self.features)

    def play(self, steps: int, view: str) -> float:
        """That many steps of random play with the rows of one view; CPU seconds, the choosing left out."""
        seconds = 0.0
        for _ in range(steps):
            self.tables.legal_packed(self.legal)  # for the player, which wants them packed whatever the view
            choose_randomly(self.legal, stream_keys(SEED, [self.steps])[0], self.actions)
            start = time.thread_time()
            self.tables.step(self.actions)
            self.deal_settled()
            self.read(view)
            seconds += time.thread_time() - start
            self.steps += 1
        return seconds


def engine_speed(num_players: int, num_tables: int, seconds: float = 0.5) -> Speed:
    """Rates of `Tables` at one size; each view on its own, because wide rows push the tables out of the cache."""
    decisions, deals = {}, {}
    for view in VIEWS:
        driver = Driver(num_players, num_tables)
        driver.play(WARM_UP_STEPS, view)
        spent, steps, dealt = 0.0, driver.steps, driver.deals
        while spent < seconds:
            spent += driver.play(BLOCK_STEPS, view)
        decisions[view] = (driver.steps - steps) * num_tables / spent
        deals[view] = (driver.deals - dealt) / spent
    return Speed(decisions, deals["packed"])


def compare_with_c(view: str, num_players: int = 4, num_tables: int = 1024, pairs: int = 15) -> Comparison:
    """`Tables` and the C program at the same deals, measured in turn because a shared machine changes its pace."""
    driver, c_tables = Driver(num_players, num_tables), CTables(num_players, num_tables, SEED)
    driver.play(WARM_UP_STEPS, view)
    c_tables.play(WARM_UP_STEPS, view)
    decisions = BLOCK_STEPS * num_tables
    ours, c_loop = [], []
    for _ in range(pairs):
        ours.append(decisions / driver.play(BLOCK_STEPS, view))
        c_loop.append(decisions / c_tables.play(BLOCK_STEPS, view))
    ratio = statistics.median(mine / its for mine, its in zip(ours, c_loop, strict=True))
    return Comparison(statistics.median(ours), statistics.median(c_loop), ratio)


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
                if observation is None or terminated or truncated:
                    env.step(None)
                    continue
                legal = np.flatnonzero(observation["action_mask"])
                env.step(int(legal[rng.integers(len(legal))]))
                decisions += 1
        return decisions

    play(50)
    start = time.thread_time()
    return play(deals) / (time.thread_time() - start)


def speed_table(yardstick: float) -> Table:
    """Rates of `Tables` at every size."""
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
    return table


def comparison_table() -> Table:
    """`Tables` against the C program, 1024 tables of four seats."""
    table = Table("4 players, 1024 tables", "Tables M/s", "C loop M/s", "ratio")
    for view in VIEWS:
        found = compare_with_c(view)
        table.add_row(view, f"{found.ours / 1e6:.3f}", f"{found.c_loop / 1e6:.3f}", f"{found.ratio:.2f}")
    return table


def main() -> int:
    """Measure and print."""
    console = Console()
    yardstick = written_rows_per_second()
    console.print(f"yardstick: {yardstick / 1e6:.2f} million rows of {ROW_BYTES} bytes written a second")
    console.print(speed_table(yardstick))
    console.print("packed: step, packed observation and packed legal set. mask: step and boolean mask.")
    console.print("float32: step, boolean mask and float32 observation. Dealing is part of every figure.")
    console.print("deals: dealt and played out a second, with packed rows.")
    if c_baseline.compiler() is None:
        console.print("no C compiler (gcc or cc) is on PATH: no comparison with a C program")
    else:
        console.print(comparison_table())
    console.print(f"raw_env, 4 players, whole AEC loop: {environment_speed():,.0f} decisions/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
