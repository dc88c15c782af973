"""Why solving imagined worlds may mislead, measured on this game: `python -m benchmarks.fusion [DEALS]`.

Who solves each imagined world with open cards plays a different strategy in each of them, which the seat, seeing them
all alike, cannot (strategy fusion). Long et al. (2010) tell from three properties whether that costs much; two of them
and the cost itself are measured here, at the choices of cards that come up when four rule bots play.

    alike       leaf correlation: choices at which every legal card comes to the same with all cards open
    narrowing   disambiguation: share of the worlds possible now that are still possible at the seat's next decision
    clairvoyant what a seat gains at one choice if it is told the world first: mean of the best less best of the means
    gain        what the best card brings beyond the rule bot's, tried in other worlds: chosen by rollouts or by solving

Values are antes. Worlds are those to which the rule bots lead; both judges share them.
"""

import math
import sys
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from agents.analysis import blind_worlds
from agents.arena import ActionStreams, begin_deals
from agents.baselines import HEURISTIC
from agents.likely_worlds import Worlds
from agents.lookahead import best_means
from agents.policy import Decision
from agents.search import KINDS, Effort, SearchPolicy, is_in_play, part_of
from agents.solver import Solver
from bourre_env import Rules, Tables
from bourre_env.bourre.table import NO_SUIT
from bourre_env.decision import are_legal

SEATS = 4
SEED = 20260501
DEALS = 60
WORLDS = 128
BLIND = 1024  # worlds of which the share that stays possible is counted
FEWEST = 32  # worlds; choices for which fewer are found are left out
AGAIN = np.uint64(0x9E37)  # names the worlds in which choices are tried
SEARCH = SearchPolicy("search", HEURISTIC, Effort(worlds=WORLDS, proposals=2048, rounds=4, kinds=frozenset(KINDS)))


HEADINGS = ("tricks left", "to", "choices", "alike %", "narrowing", "clairvoyant", "by rollouts", "by solving")


def main() -> int:
    """Measure and print."""
    deals = int(sys.argv[1]) if len(sys.argv) > 1 else DEALS
    found: dict[tuple[int, str], list[list[float]]] = defaultdict(list)
    for place, numbers in choices(Rules.preset("pagat", num_players=SEATS), deals):
        found[place].append(numbers)
    table = Table(*HEADINGS)
    for (left, kind), rows in sorted(found.items(), reverse=True):
        alike, narrows, clairvoyant, *gains = np.array(rows).T
        told = (f"{gain.mean():+.3f}±{gain.std() / math.sqrt(len(gain)):.3f}" for gain in gains)
        shares = (f"{100 * alike.mean():.0f}", f"{np.nanmean(narrows):.3f}", f"{clairvoyant.mean():.3f}")
        table.add_row(str(left), kind, str(len(rows)), *shares, *told)
    whole = np.array([row for rows in found.values() for row in rows])
    each = (f"{total:+.4f}" for total in whole[:, 3:].sum(axis=0) / (SEATS * deals))
    table.add_row("a seat and deal", "", f"{len(whole) / (SEATS * deals):.1f}", "", "", "", *each)
    Console(width=120).print(table)
    return 0


def choices(rules: Rules, deals: int) -> Iterator[tuple[tuple[int, str], list[float]]]:
    """Choices of cards in deals between rule bots: where they come up, and what was measured."""
    solver = Solver(rules)
    numbers = np.arange(deals)
    tables = Tables(rules, deals)
    begin_deals(tables, seed=SEED, deals=numbers)
    streams = ActionStreams(SEED, numbers, rules.num_players)
    rng = np.random.default_rng(SEED)
    while (waiting := np.flatnonzero(tables.to_act >= 0)).size:
        packed, legal = tables.view_rows(waiting)
        seats = tables.to_act[waiting]
        decision = Decision.from_packed(packed, legal, seats, rules, streams.next(waiting, seats))
        own = HEURISTIC.act(decision, rng)
        for place in np.flatnonzero(is_in_play(decision)):
            here = tables.take([waiting[place]])
            measured = measure(here, part_of(decision, np.array([place])), int(own[place]), solver)
            if measured is not None:
                record = here.records[0]
                kind = "lead" if record.led_suit == NO_SUIT else "follow"
                left = rules.hand_size - int(record.tricks_done)
                yield (left, kind), measured
        tables.step(own, rows=waiting, play_forced=True)


def measure(here: Tables, decision: Decision, own: int, solver: Solver) -> list[float] | None:
    """The five numbers of one choice; None where too few worlds are found."""
    legal = np.flatnonzero(decision.legal_action_mask[0])
    candidates = np.array([[own, *legal[legal != own]]])
    seat = int(decision.seat[0])
    groups = SEARCH.imagined(decision)
    if sum(len(worlds.rows) for worlds in groups) < FEWEST:
        return None
    solved = solved_values(groups, candidates[0], seat, solver)
    rolled = SEARCH.values(groups, candidates)
    again = Decision.from_packed(
        decision.packed, decision.legal_packed, decision.seat, decision.rules, decision.key ^ AGAIN
    )
    tried = SEARCH.values(SEARCH.imagined(again), candidates)[0]
    means = np.nanmean(tried, axis=1) - np.nanmean(tried[0])
    opened = solver.solve_actions(here)[0, candidates[0], seat]
    by_rollouts = means[column_of(candidates, best_means(candidates, rolled))]
    by_solving = means[column_of(candidates, best_means(candidates, solved[None]))]
    clairvoyant = solved.max(axis=0).mean() - solved.mean(axis=1).max()
    alike = float(np.ptp(opened) < 2.0**-20)
    return [alike, narrowing(here, decision, own), float(clairvoyant), float(by_rollouts), float(by_solving)]


def column_of(candidates: NDArray[np.int64], action: NDArray[np.int64]) -> int:
    """Where an action stands among the candidates [1, C]."""
    return int(np.flatnonzero(candidates[0] == action[0])[0])


def solved_values(groups: list[Worlds], actions: NDArray[np.int64], seat: int, solver: Solver) -> NDArray[np.float64]:
    """[C, W] antes that each card comes to in each world with all cards open."""
    values = [
        solver.solve_actions(worlds.tables, worlds.rows)[:, actions, seat] for worlds in groups if len(worlds.rows)
    ]
    solved: NDArray[np.float64] = np.concatenate(values).T / solver.rules.ante
    return solved


def narrowing(here: Tables, decision: Decision, own: int) -> float:
    """Share of the worlds that fit which still fit at the seat's next decision; NaN when the deal ends before it."""
    seat = int(decision.seat[0])
    worlds, ahead, action = blind_worlds(decision, BLIND).tables, here.take([0]), own
    while True:
        fits = np.flatnonzero(are_legal(np.full(worlds.num_tables, action), worlds.legal_packed()))
        if not fits.size:
            return 0.0
        worlds = worlds.take(fits)
        worlds.step(np.full(len(fits), action))
        ahead.step(np.array([action]))
        if ahead.settled[0]:
            return float("nan")
        if ahead.to_act[0] == seat:
            return worlds.num_tables / BLIND
        packed, legal = ahead.view_rows([0])
        seen = Decision.from_packed(packed, legal, ahead.to_act, ahead.rules, decision.key)
        action = int(HEURISTIC.act(seen, np.random.default_rng(0))[0])


if __name__ == "__main__":
    sys.exit(main())
