"""`evaluate.py leaks`: at which kinds of decisions a policy loses against given opponents."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE
from rich.table import Table

from agents.commands.options import (
    Commands,
    add_game,
    add_rules,
    add_seed,
    add_workers,
    check_folder,
    command_line,
    console,
    integer,
    interval,
    preset_of,
    versions,
    workers_of,
)
from agents.files import replace_file
from agents.leaks import Leaks, Plan, check_plan, find_leaks
from agents.progress import Progress
from agents.statistics import Estimate, estimate
from bourre_env.family import FIRST

DEALS, WORLDS = 100, 256


def add_to(commands: Commands) -> None:
    """Add the command."""
    leaks = commands.add_parser(
        "leaks",
        help="at which kinds of decisions a policy loses",
        description="Play deals with a policy in one seat and look for a better action at each of its decisions, in "
        "worlds it could not tell from the true one; print what single changes would bring in antes a deal, by the "
        "kind of decision. Takes a quarter of a second of one core or so for each seat of a deal.",
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
    worlds = integer(32, None, "half of them choose, half judge")
    add("--worlds", type=worlds, default=WORLDS, metavar="N", help="most worlds a decision (%(default)s)")
    add_workers(leaks)
    add_seed(leaks)
    add("--json", type=Path, metavar="FILE", help="write the figures there")
    leaks.set_defaults(run=run)


def run(options: argparse.Namespace, words: Sequence[str]) -> None:
    """Look a policy over, print what was found and, when asked to, write it as JSON."""
    others = options.others or options.spec
    plan = Plan(options.spec, others, preset_of(options), options.seats, options.deals, options.worlds, options.seed)
    check_plan(plan)
    if options.json is not None:
        check_folder(options.json.parent, [options.json.name], "--json")
    with Progress(plan.deals * plan.seats, "deals", sys.stderr) as progress:
        leaks = find_leaks(plan, workers=workers_of(options), report=progress.add)
    lines = lines_of(plan, leaks)
    print_lines(plan, leaks, lines)
    if options.json is not None:
        content = {"policy": plan.spec, "others": plan.others, "rules": plan.rules().fingerprint, "seed": plan.seed}
        content |= {"lines": lines, "command": command_line(words), "versions": versions()}
        replace_file(options.json, (json.dumps(content, indent=1) + "\n").encode())


def lines_of(plan: Plan, leaks: Leaks) -> list[dict[str, str | int | float]]:
    """A line for each kind of decision that came up, the sum last: numbers a deal of one seat, gains in antes."""
    lines = []
    for kind, name in enumerate(plan.kinds()):
        if leaks.decisions[:, kind].any():
            lines.append(_line(plan, name, leaks, slice(kind, kind + 1)))
    return [*lines, _line(plan, "all", leaks, slice(None))]


def _line(plan: Plan, name: str, leaks: Leaks, kinds: slice) -> dict[str, str | int | float]:
    """A line of some kinds."""
    seat_deals = plan.deals * plan.seats
    decisions, judged, changed = (
        int(counts[:, kinds].sum()) for counts in (leaks.decisions, leaks.judged, leaks.changed)
    )
    gain = _estimated(plan, leaks.gains[:, kinds].sum(axis=1) / plan.seats)
    return {
        "kind": name,
        "decisions": decisions / seat_deals,
        "judged": judged / decisions,
        "changed": changed / seat_deals,
        "gain": gain.mean,
        "low": gain.low,
        "high": gain.high,
    }


def _estimated(plan: Plan, values: object) -> Estimate:
    """The mean of one number a deal with its interval."""
    return estimate(values, seed=plan.bootstrap_seed)  # type: ignore[arg-type]


def print_lines(plan: Plan, leaks: Leaks, lines: Sequence[dict[str, str | int | float]]) -> None:
    """Print the table, and what it means."""
    out = console()
    table = Table(box=SIMPLE, show_edge=False, pad_edge=False)
    table.add_column("decision", overflow="fold")
    for heading in ("a deal", "judged", "changed a deal", "would bring, antes a deal, 95 %"):
        table.add_column(heading, justify="right", no_wrap=True)
    for line in lines:
        gain = f"{line['gain']:+.4f} ({interval(float(line['low']), float(line['high']))})"
        counts = f"{line['decisions']:.3f}", f"{100 * float(line['judged']):.0f} %", f"{line['changed']:.3f}"
        table.add_row(str(line["kind"]), *counts, gain)
    out.print(table)
    earned = _estimated(plan, leaks.earned / plan.seats)
    out.print(
        f"One {plan.spec} among {plan.seats - 1} {plan.others}, which earns {earned.mean:+.3f} "
        f"({interval(earned.low, earned.high)}) as it is; rules {plan.preset}, {plan.seats} seats, {plan.deals:,} "
        f"deals from every seat, seed {plan.seed}. Up to {plan.worlds} worlds a decision: half name a better action, "
        "half say what it brings if all play on as before. Not judged: decisions for which hardly any worlds were "
        "found. Changes are single ones, so all together may bring more or less than the sum; a sum of 0 means that "
        "none pays."
    )
