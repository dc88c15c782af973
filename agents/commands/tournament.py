"""`evaluate.py tournament`: every entrant against a table of every other."""

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE
from rich.table import Table

from agents.commands.options import (
    Commands,
    add_rules,
    add_seed,
    check_folder,
    command_line,
    console,
    folder,
    integer,
    interval,
    versions,
)
from agents.executors import usable_cores
from agents.files import replace_file
from agents.progress import Progress
from agents.statistics import Estimate
from agents.tournament import (
    Cell,
    Plan,
    block_file,
    cells_of,
    check_entrants,
    parse_entrants,
    plain_cell,
    play_tournament,
)
from bourre_env.bourre.rules import MAX_CHIPS, Rules

DEFAULT_BLOCKS = 5000
FILES = ("blocks.npz", "summary.json")
WIDTH_WITH_T = 110  # narrower terminals leave the second interval to summary.json


def add_to(commands: Commands) -> None:
    """Add the command."""
    tournament = commands.add_parser(
        "tournament",
        help="every entrant against a table of every other",
        description="Play each entrant, in one seat, against a table full of each other one; print antes a deal.",
        allow_abbrev=False,
    )
    tournament.add_argument(
        "specs",
        nargs="+",
        metavar="SPEC",
        help="random, heuristic, always_stay, always_pass, a checkpoint or run folder, or module:attribute; "
        "NAME=SPEC gives it a name",
    )
    add = tournament.add_argument
    blocks = integer(2, None, "an interval needs at least 2")
    add(
        "--blocks",
        type=blocks,
        default=DEFAULT_BLOCKS,
        metavar="N",
        help="deals a pair, each played from every seat (%(default)s)",
    )
    add("--seats", type=integer(None, None), default=4, metavar="N", help="players at the table, 2 to 8 (%(default)s)")
    add_rules(tournament)
    add(
        "--table-stakes",
        type=integer(1, MAX_CHIPS),
        metavar="ANTES",
        help="nobody pays more than it has: so many antes at the start of each deal (else seats play on credit)",
    )
    add("--workers", type=integer(1, None), default=usable_cores(), metavar="N", help="processes (%(default)s)")
    add_seed(tournament)
    add("--out", type=folder, metavar="DIR", help="folder for summary.json and blocks.npz")
    tournament.set_defaults(run=run)


def run(options: argparse.Namespace, words: Sequence[str]) -> None:
    """Play a tournament, print it and, when asked to, write its files."""
    stacks = "credit" if options.table_stakes is None else "table_stakes"
    rules = Rules.preset(options.rules, num_players=options.seats, stacks=stacks)
    plan = Plan(parse_entrants(options.specs), rules, options.blocks, options.seed, options.table_stakes)
    if options.out is not None:
        check_folder(options.out, FILES)
    check_entrants(plan)
    with Progress(plan.num_deals, "deals", sys.stderr) as progress:
        results = play_tournament(plan, workers=options.workers, report=progress.add)
    cells = cells_of(plan, results)
    print_cells(plan, cells, preset=options.rules)
    if options.out is not None:
        summary = summary_of(plan, cells, preset=options.rules, command=command_line(words))
        options.out.mkdir(parents=True, exist_ok=True)
        replace_file(options.out / "blocks.npz", block_file(plan, results))
        replace_file(options.out / "summary.json", (json.dumps(summary, indent=1) + "\n").encode())


def print_cells(plan: Plan, cells: Sequence[Cell], *, preset: str) -> None:
    """Print one line a cell: antes a deal and shares of deals, each with its interval."""
    out = console()
    is_wide = out.width >= WIDTH_WITH_T
    table = Table(box=SIMPLE, show_edge=False, pad_edge=False)
    for heading in ("focal", "against"):
        table.add_column(heading, overflow="fold")
    for heading in ("antes a deal, 95 %", *["Student's t"] * is_wide, "pots %", "bourré %", "passed %"):
        table.add_column(heading, justify="right", no_wrap=True)
    for cell in cells:
        antes = f"{cell.antes.mean:+.3f} ({interval(cell.antes.low, cell.antes.high)})"
        beside = [interval(cell.antes.t_low, cell.antes.t_high)] * is_wide
        shares = (_percent(share) for share in (cell.pots_won, cell.bourre_rate, cell.pass_rate))
        table.add_row(cell.focal, cell.field, antes, *beside, *shares)
    out.print(table)
    seats, deals = plan.rules.num_players, plan.blocks * plan.rules.num_players
    stakes = "" if plan.buy_in is None else f" at table stakes of {plan.buy_in} antes"
    out.print(
        f"One focal seat against {seats - 1} of the other; rules {preset}{stakes}, {seats} seats, seed {plan.seed}. "
        f"Each line: {plan.blocks:,} deals played from every seat, {deals:,} in all. "
        "Intervals: 95 % bootstrap over deals."
    )


def summary_of(plan: Plan, cells: Sequence[Cell], *, preset: str, command: str) -> dict[str, Any]:
    """Everything `summary.json` holds."""
    return {
        "cells": [plain_cell(cell, plan.rules.num_players) for cell in cells],
        "rules": {
            "preset": preset,
            "fingerprint": plan.rules.fingerprint,
            "fields": dataclasses.asdict(plan.rules),
        },
        "seed": plan.seed,
        "blocks": plan.blocks,
        "buy_in": plan.buy_in,
        "entrants": [dataclasses.asdict(entrant) for entrant in plan.entrants],
        "command": command,
        "versions": versions(),
    }


def _percent(share: Estimate) -> str:
    """A share in percent, with half the width of its interval."""
    return f"{100 * share.mean:.1f}±{50 * (share.high - share.low):.1f}"
