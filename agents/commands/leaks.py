"""`evaluate.py leaks`: at which kinds of decisions a policy loses against given opponents."""

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE
from rich.table import Table

from agents.commands.options import (
    Commands,
    add_game,
    add_rules,
    add_seed,
    add_workers,
    check_file,
    command_line,
    console,
    integer,
    interval,
    preset_of,
    versions,
    workers_of,
    write_json,
)
from agents.entrants import Entrant
from agents.leaks import Leaks, Plan, check_plan, find_leaks
from agents.progress import Progress
from agents.statistics import Estimate, estimate
from bourre_env.family import FIRST

DEALS, WORLDS, MOST_WORLDS = 100, 256, 100_000
FEW = 10  # deals with a change, of which no interval is made
Line: TypeAlias = dict[str, str | float | None]


def add_to(commands: Commands) -> None:
    """Add the command."""
    leaks = commands.add_parser(
        "leaks",
        help="at which kinds of decisions a policy loses",
        description="Play deals with a policy in one seat and look for a better action at each of its decisions, in "
        "worlds it could not tell from the true one; print what single changes would bring in antes a deal, by the "
        "kind of decision. Takes a quarter of a second of one core to one second for each seat of a deal.",
        allow_abbrev=False,
    )
    add = leaks.add_argument
    add("spec", metavar="SPEC", help="the policy: a name, a checkpoint or run folder, or module:attribute")
    add("--others", metavar="SPEC", help="the policy of all other seats (the same)")
    add("--seats", type=integer(None, None), default=4, metavar="N", help="players at the table, 2 to 8 (%(default)s)")
    add_game(leaks, serves=[FIRST])
    add_rules(leaks, games=[FIRST])
    deals = integer(2, None, "an interval needs at least 2")
    add("--deals", type=deals, default=DEALS, metavar="N", help="deals, each played from every seat (%(default)s)")
    worlds = integer(32, MOST_WORLDS, "half of them choose, half judge")
    add("--worlds", type=worlds, default=WORLDS, metavar="N", help="most worlds a decision (%(default)s)")
    add_workers(leaks)
    add_seed(leaks)
    add("--json", type=Path, metavar="FILE", help="write the figures there")
    leaks.set_defaults(run=run)


def run(options: argparse.Namespace, words: Sequence[str]) -> None:
    """Look a policy over, print what was found and, when asked to, write it as JSON."""
    others = options.spec if options.others is None else options.others
    plan = Plan(options.spec, others, preset_of(options), options.seats, options.deals, options.worlds, options.seed)
    check_plan(plan)
    if options.json is not None:
        check_file(options.json, "--json")
    with Progress(plan.deals * plan.seats, "deals", sys.stderr) as progress:
        leaks = find_leaks(plan, workers=workers_of(options), report=progress.add)
    lines, earned = lines_of(plan, leaks), _estimated(plan, leaks.earned / plan.seats)
    if options.json is not None:  # before anything is printed: perhaps nobody reads
        content = dataclasses.asdict(plan) | {
            "fingerprint": plan.rules().fingerprint,
            "digests": {spec: Entrant(spec, spec).identity() for spec in (plan.spec, plan.others)},
            "lines": lines,
            "earned": dataclasses.asdict(earned),
            "command": command_line(words),
            "versions": versions(),
        }
        write_json(options.json, content)
    print_lines(plan, lines, earned)


def lines_of(plan: Plan, leaks: Leaks) -> list[Line]:
    """A line for each kind of decision that came up: numbers a deal of one seat, gains in antes."""
    kinds = [kind for kind in range(len(plan.kinds())) if leaks.decisions[:, kind].any()]
    return [_line(plan, leaks, kind) for kind in kinds]


def _line(plan: Plan, leaks: Leaks, kind: int) -> Line:
    """The line of a kind; its interval is None where changes were found in hardly any deal."""
    seat_deals = plan.deals * plan.seats
    decisions, judged, changed = (
        int(counts[:, kind].sum()) for counts in (leaks.decisions, leaks.judged, leaks.changed)
    )
    gain = _estimated(plan, leaks.gains[:, kind] / plan.seats)
    is_sure = np.count_nonzero(leaks.changed[:, kind]) >= FEW
    return {
        "kind": plan.kinds()[kind],
        "decisions": decisions / seat_deals,
        "judged": judged / decisions,
        "changed": changed / seat_deals,
        "gain": gain.mean,
        "low": gain.low if is_sure else None,
        "high": gain.high if is_sure else None,
    }


def _estimated(plan: Plan, values: NDArray[np.float64]) -> Estimate:
    """The mean of one number a deal with its interval."""
    return estimate(values, seed=plan.bootstrap_seed)


def print_lines(plan: Plan, lines: Sequence[Line], earned: Estimate) -> None:
    """Print the table, and what it means."""
    out = console()
    table = Table(box=SIMPLE, show_edge=False, pad_edge=False)
    table.add_column("decision", overflow="fold")
    for heading in ("a deal", "judged", "seemed better", "would bring, antes a deal", "95 %"):
        table.add_column(heading, justify="right", no_wrap=True)
    for line in lines:
        judged = float(line["judged"] or 0)
        counts = f"{line['decisions']:.3f}", f"{100 * judged:.0f} %", f"{line['changed']:.3f}"
        is_sure = line["low"] is not None
        between = f"{line['low']:+.4f} to {line['high']:+.4f}" if is_sure else "found too seldom"
        table.add_row(str(line["kind"]), *counts, *((f"{line['gain']:+.4f}", between) if judged else ("-", "-")))
    out.print(table)
    out.print(
        f"One {plan.spec} among {plan.seats - 1} {plan.others}, which earns {earned.mean:+.3f} "
        f"({interval(earned.low, earned.high)}) as it is; rules {plan.preset}, {plan.seats} seats, {plan.deals:,} "
        f"deals from every seat, seed {plan.seed}. Up to {plan.worlds} worlds a decision: half name an action that "
        "seems better, half say what it brings if all play on as before. Not judged: decisions for which hardly any "
        "worlds were found. Of the ways to discard, one for each number of cards is tried. Staying is a decision about "
        "discards, too, and counts once in all. The sum is a lower bound on what single changes bring; 0 means that "
        "none was found to pay."
    )
