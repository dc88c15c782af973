"""Decisions a second of the engine and of the PettingZoo environment: `make bench`.

Times are CPU time of this thread, dealing included and choosing an action not, after a warm-up in which the tables
spread over the deal. Beside each figure stands its ratio to a fixed piece of work in the same run, writing 2 KiB rows
of memory, because machines differ and are shared. Where there is a C compiler, the rates of a plain C program of the
same game that writes the same rows (`c_engine.c`) are measured in turn with ours.
"""

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import bureau, c_baseline, euchre, pinochle
from benchmarks.c_baseline import VIEWS, CTables
from benchmarks.play import choose_randomly
from bourre_env import DealQueue, Rules, Tables, env, raw_env, shuffled_decks
from bourre_env.deck import stream_keys
from bourre_env.gym_vector import BourreVectorEnv

SEED = 20260101
WARM_UP_STEPS = 256  # the first deals of all tables begin together; with fewer, large batches look faster than they are
BLOCK_STEPS = 100
ROW_BYTES = 2048
SEPARATE = "separate calls"


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
    """Random play at some tables through `Tables.step` with buffers and a queue of deals."""

    def __init__(self, num_players: int, num_tables: int, view: str = "packed", parallel: bool = False) -> None:
        """Deal every table once; `view` names the rows that are written at each step."""
        self.rules = Rules.preset("pagat", num_players=num_players)
        self.tables = Tables(self.rules, num_tables)
        self.parallel = parallel
        self.queue = DealQueue(self.rules)
        self.out = self.tables.buffers(mask=view != "packed", features=view == "float32")
        self.actions = np.zeros(num_tables, np.int64)
        self.queued = 0
        self.steps = 0
        self.advance()

    @property
    def deals(self) -> int:
        """Deals begun so far."""
        return self.queue.num_taken

    def advance(self) -> None:
        """Take the actions, deal, and fill the rows."""
        if len(self.queue) < self.tables.num_tables:
            deal_ids = np.arange(self.queued, self.queued + max(256, 4 * self.tables.num_tables))
            self.queue.add_shuffled(SEED, deal_ids, deal_ids % self.rules.num_players)
            self.queued += len(deal_ids)
        self.tables.step(self.actions, out=self.out, queue=self.queue, parallel=self.parallel)

    def choose(self) -> None:
        """Choose the next actions."""
        choose_randomly(self.out.legal, stream_keys(SEED, [self.steps])[0], self.actions)
        self.steps += 1

    def play(self, steps: int) -> float:
        """That many steps of random play; seconds of CPU time, the choosing left out."""
        seconds = 0.0
        for _ in range(steps):
            self.choose()
            start = time.thread_time()
            self.advance()
            seconds += time.thread_time() - start
        return seconds


class CallByCall(Driver):
    """The same in separate calls: step, find the settled tables, deal them, ask for the packed rows."""

    def advance(self) -> None:
        """Take the actions, deal, and fill the packed rows."""
        tables = self.tables
        tables.step(self.actions)
        rows = np.flatnonzero(tables.settled)
        if len(rows):
            deal_ids = np.arange(self.queued, self.queued + len(rows))
            tables.deal(shuffled_decks(SEED, deal_ids), deal_ids % self.rules.num_players, rows=rows)
            self.queued += len(rows)
        tables.legal_packed(self.out.legal)
        tables.observe_packed(self.out.observation)


def rate(driver: Driver, seconds: float = 0.5) -> float:
    """Decisions a second, after a warm-up."""
    driver.play(WARM_UP_STEPS)
    spent, steps = 0.0, driver.steps
    while spent < seconds:
        spent += driver.play(BLOCK_STEPS)
    return (driver.steps - steps) * driver.tables.num_tables / spent


def engine_speed(num_players: int, num_tables: int) -> Speed:
    """Rates of `Tables` at one size; each view on its own, because wide rows push the tables out of the cache."""
    decisions = {view: rate(Driver(num_players, num_tables, view)) for view in VIEWS}
    separate = CallByCall(num_players, num_tables)
    decisions[SEPARATE] = rate(separate)
    deals = separate.queued / (separate.steps * num_tables) * decisions["packed"]
    return Speed(decisions, deals)


def compare_with_c(view: str, num_players: int = 4, num_tables: int = 1024, pairs: int = 15) -> Comparison:
    """`Tables` and the C program at the same deals, measured in turn because a shared machine changes its pace."""
    driver, c_tables = Driver(num_players, num_tables, view), CTables(num_players, num_tables, SEED)
    driver.play(WARM_UP_STEPS)
    c_tables.play(WARM_UP_STEPS, view)
    decisions = BLOCK_STEPS * num_tables
    ours, c_loop = [], []
    for _ in range(pairs):
        ours.append(decisions / driver.play(BLOCK_STEPS))
        c_loop.append(decisions / c_tables.play(BLOCK_STEPS, view))
    ratio = statistics.median(mine / its for mine, its in zip(ours, c_loop, strict=True))
    return Comparison(statistics.median(ours), statistics.median(c_loop), ratio)


def gain_of_threads(num_tables: int = 16384, pairs: int = 7) -> float:
    """Wall-clock rate with all of Numba's threads, as a multiple of that of one; the median of several pairs."""
    drivers = [Driver(4, num_tables, "packed", parallel) for parallel in (False, True)]
    gains = []
    for _ in range(pairs):
        seconds = []
        for driver in drivers:
            spent = 0.0
            for _ in range(BLOCK_STEPS):
                driver.choose()
                start = time.perf_counter()
                driver.advance()
                spent += time.perf_counter() - start
            seconds.append(spent)
        gains.append(seconds[0] / seconds[1])
    return statistics.median(gains)


def environment_speed(env: Any, episodes: int) -> float:
    """Decisions a second of `reset`, `last` and `step` of a PettingZoo environment; choosing at random is left out."""
    rng, spent, decisions = np.random.default_rng(SEED), 0.0, 0

    def timed(call: Callable[..., Any], *arguments: Any) -> Any:
        nonlocal spent
        start = time.thread_time()
        result = call(*arguments)
        spent += time.thread_time() - start
        return result

    for episode in range(-50, episodes):
        if episode == 0:  # the warm-up is over
            spent, decisions = 0.0, 0
        timed(env.reset, SEED if episode == -50 else None)
        while env.agents:
            observation, _, terminated, truncated, _ = timed(env.last)
            action = None
            if not (terminated or truncated):
                legal = np.flatnonzero(observation["action_mask"])
                action, decisions = int(legal[rng.integers(len(legal))]), decisions + 1
            timed(env.step, action)
    return decisions / spent


def environment_lines() -> Iterator[str]:
    """The AEC loop of our environment and, where its packages are installed, of PettingZoo's smallest board game."""
    yield f"raw_env, 4 players: {environment_speed(raw_env(), 2000):,.0f} decisions/s"
    yield f"env, with wrappers: {environment_speed(env(), 2000):,.0f} decisions/s"
    try:
        from pettingzoo.classic.tictactoe import tictactoe
    except ImportError as error:
        yield f"no comparison with tictactoe_v3: {error}"
        return
    yield f"tictactoe_v3, raw: {environment_speed(tictactoe.raw_env(), 3000):,.0f} decisions/s"
    yield f"tictactoe_v3, with wrappers: {environment_speed(tictactoe.env(), 2000):,.0f} decisions/s"


def learner_speed(num_envs: int = 1024, steps: int = 200) -> float:
    """Decisions a second of random learners at the tables of `BourreVectorEnv`, random opponents' left out."""
    envs = BourreVectorEnv(num_envs)
    envs.reset(seed=SEED)
    actions, spent = np.zeros(num_envs, np.int64), 0.0
    for step in range(-50, steps):
        choose_randomly(envs.tables.legal_packed(), stream_keys(SEED, [step + 50])[0], actions)
        start = time.thread_time()
        envs.step(actions)
        spent += time.thread_time() - start if step >= 0 else 0.0
    return num_envs * steps / spent


def speed_table(yardstick: float) -> Table:
    """Rates of `Tables` at every size."""
    columns = (*VIEWS, SEPARATE)
    table = Table(
        "players", "tables", *(f"{name} M/s" for name in columns), *(f"{v} ratio" for v in VIEWS), "deals M/s"
    )
    for num_players in (2, 4, 7):
        for num_tables in (1, 64, 1024, 4096, 16384):
            speed = engine_speed(num_players, num_tables)
            table.add_row(
                str(num_players),
                str(num_tables),
                *(f"{speed.decisions[name] / 1e6:.3f}" for name in columns),
                *(f"{speed.decisions[view] / yardstick:.2f}" for view in VIEWS),
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
    console.print("float32: step, boolean mask and float32 observation. separate calls: packed, a call for each part.")
    console.print("Dealing is part of every figure; choosing the actions is not.")
    console.print("deals: dealt and played out a second, with packed rows.")
    if c_baseline.compiler() is None:
        console.print("no C compiler (gcc or cc) is on PATH: no comparison with a C program")
    else:
        console.print(comparison_table())
    console.print(f"all threads, 16,384 tables, against one: {gain_of_threads():.2f} times as fast (wall clock)")
    console.print(f"BourreVectorEnv, 1,024 tables, random opponents: {learner_speed():,.0f} learners' decisions/s")
    for line in (*environment_lines(), *euchre.lines(), *pinochle.lines(), *bureau.lines()):
        console.print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
