"""Deals solved a second, all cards open: `make bench-solver`.

Full packs, everybody in with the five cards first dealt, solved from the first lead under the `pagat` rules; CPU time
of one thread, the best of several short runs because machines are shared.
"""

import sys
import time

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from agents.solver import Solver
from bourre_env import Rules, Tables, shuffled_decks

SEED = 20260101
RUNS = 5
DEALS = {2: 20_000, 3: 4_000, 4: 800, 5: 150, 6: 15}
"""Deals a run, by the number of players."""


def first_leads(num_players: int, num_deals: int) -> Tables:
    """Random deals in which everybody stays and throws nothing away."""
    rules = Rules.preset("pagat", num_players=num_players)
    tables = Tables(rules, num_deals)
    deal_ids = np.arange(num_deals)
    tables.deal(shuffled_decks(SEED, deal_ids), deal_ids % num_players)
    stay = np.full(num_deals, len(rules.pack))
    for _ in range(num_players):
        tables.step(stay)
    return tables


def least_seconds(solver: Solver, tables: Tables, rows: NDArray[np.int64], *, actions: bool) -> float:
    """CPU time of the fastest of several runs, after one that is not counted."""
    call = solver.solve_actions if actions else solver.solve
    times = []
    for _ in range(RUNS + 1):
        start = time.thread_time()
        call(tables, rows)
        times.append(time.thread_time() - start)
    return min(times[1:])


def main() -> int:
    """Measure and print."""
    table = Table("players", "solves/s", "cards tried a solve", "million cards/s", "solves of every card/s")
    for num_players, num_deals in DEALS.items():
        tables, rows = first_leads(num_players, num_deals), np.arange(num_deals)
        solver = Solver(tables.rules)
        solver.solve(tables)
        cards = solver.cards_tried / num_deals
        rate = num_deals / least_seconds(solver, tables, rows, actions=False)
        some = rows[: max(1, num_deals // 4)]
        every_card = len(some) / least_seconds(solver, tables, some, actions=True)
        table.add_row(
            str(num_players), f"{rate:,.0f}", f"{cards:,.0f}", f"{rate * cards / 1e6:.0f}", f"{every_card:,.0f}"
        )
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
