"""The command line of `evaluate.py`.

Exit codes: 0 done, 1 a policy or the machine failed, 2 the input was wrong (one line on standard error, nothing
written), 130 interrupted.
"""

import argparse
import dataclasses
import json
import os
import platform
import shlex
import sys
from collections.abc import Callable, Sequence
from concurrent.futures.process import BrokenProcessPool
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from agents.executors import usable_cores
from agents.files import obstacle, replace_file
from agents.policy import PolicyError, PolicyFailedError
from agents.progress import Progress
from agents.replaying import read_record, step_through
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
from bourre_env.bourre.rules import MAX_CHIPS, PRESETS, Rules
from bourre_env.errors import NotationError, RulesError

DONE, FAILED, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130
DEFAULT_BLOCKS = 5000
LARGEST_SEED = 2**64 - 1
LIBRARIES = ("numpy", "numba", "scipy")
PIPED_WIDTH = 200  # columns of a table that no terminal narrows
WIDTH_WITH_T = 110  # narrower terminals leave the second interval to summary.json


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: the words behind the program's name; those of this process when left out.

    Returns:
        The exit code.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser().parse_args(words)
    # One thread of linear algebra a process: workers would fight for cores, and sums may depend on the threads.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        options.run(options, words)
    except (PolicyError, RulesError, NotationError, _BadInputError) as error:
        return _complain(error, WRONG_INPUT)
    except (PolicyFailedError, BrokenProcessPool, OSError) as error:
        return _complain(error, FAILED)
    except KeyboardInterrupt:
        return _complain("interrupted; nothing was written", INTERRUPTED)
    return DONE


def run_tournament(options: argparse.Namespace, words: Sequence[str]) -> None:
    """Play a tournament, print it and, when asked to, write its files."""
    stacks = "credit" if options.table_stakes is None else "table_stakes"
    rules = Rules.preset(options.rules, num_players=options.seats, stacks=stacks)
    plan = Plan(parse_entrants(options.specs), rules, options.blocks, options.seed, options.table_stakes)
    if options.out is not None:
        _check_folder(options.out)
    check_entrants(plan)
    with Progress(plan.num_deals, "deals", sys.stderr) as progress:
        results = play_tournament(plan, workers=options.workers, report=progress.add)
    cells = cells_of(plan, results)
    print_cells(plan, cells, preset=options.rules)
    if options.out is not None:
        summary = summary_of(plan, cells, preset=options.rules, command=shlex.join(["python", "evaluate.py", *words]))
        options.out.mkdir(parents=True, exist_ok=True)
        replace_file(options.out / "blocks.npz", block_file(plan, results))
        replace_file(options.out / "summary.json", (json.dumps(summary, indent=1) + "\n").encode())


def run_replay(options: argparse.Namespace, words: Sequence[str]) -> None:
    """Step through a hand record."""
    deals = read_record(options.file)
    seats = deals[0].rules.num_players
    if options.seat is not None and options.seat >= seats:
        raise _BadInputError(f"--seat {options.seat}: the record has seats 0 to {seats - 1}")
    step_through(deals, options.seat)


def print_cells(plan: Plan, cells: Sequence[Cell], *, preset: str) -> None:
    """Print one line a cell: antes a deal and shares of deals, each with its interval."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=PIPED_WIDTH)
    is_wide = console.width >= WIDTH_WITH_T
    table = Table(box=SIMPLE, show_edge=False, pad_edge=False)
    for heading in ("focal", "against"):
        table.add_column(heading, overflow="fold")
    for heading in ("antes a deal, 95 %", *["Student's t"] * is_wide, "pots %", "bourré %", "passed %"):
        table.add_column(heading, justify="right", no_wrap=True)
    for cell in cells:
        antes = f"{cell.antes.mean:+.3f} ({_interval(cell.antes.low, cell.antes.high)})"
        beside = [_interval(cell.antes.t_low, cell.antes.t_high)] * is_wide
        shares = (_percent(share) for share in (cell.pots_won, cell.bourre_rate, cell.pass_rate))
        table.add_row(cell.focal, cell.field, antes, *beside, *shares)
    console.print(table)
    seats, deals = plan.rules.num_players, plan.blocks * plan.rules.num_players
    stakes = "" if plan.buy_in is None else f" at table stakes of {plan.buy_in} antes"
    console.print(
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
        "versions": {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
    }


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what was wrong and leave with exit code 2."""
        self.exit(WRONG_INPUT, f"{self.prog}: {message}\n")


class _BadInputError(ValueError):
    """Options that do not fit what they are about, such as a folder that cannot be written to."""


def _parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    parser = _Parser(prog="evaluate.py", description="Measure policies for Bourré.", allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_tournament(commands)
    _add_replay(commands)
    return parser


def _add_replay(commands: "argparse._SubParsersAction[_Parser]") -> None:
    """The command that steps through a hand record."""
    replay = commands.add_parser(
        "replay",
        help="step through a hand record",
        description="Show a hand record step by step; on a terminal Enter goes on.",
        allow_abbrev=False,
    )
    replay.add_argument("file", type=Path, metavar="FILE", help="a hand record, as bourre_env.notation writes it")
    replay.add_argument("--seat", type=_integer(0, None), metavar="N", help="show only what this seat sees")
    replay.set_defaults(run=run_replay)


def _add_tournament(commands: "argparse._SubParsersAction[_Parser]") -> None:
    """The command that plays entrants against each other."""
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
    blocks = _integer(2, None, "an interval needs at least 2")
    add(
        "--blocks",
        type=blocks,
        default=DEFAULT_BLOCKS,
        metavar="N",
        help="deals a pair, each played from every seat (%(default)s)",
    )
    add("--seats", type=_integer(None, None), default=4, metavar="N", help="players at the table, 2 to 8 (%(default)s)")
    add("--rules", default="pagat", metavar="PRESET", help=f"{', '.join(PRESETS)} (%(default)s)")
    add(
        "--table-stakes",
        type=_integer(1, MAX_CHIPS),
        metavar="ANTES",
        help="nobody pays more than it has: so many antes at the start of each deal (else seats play on credit)",
    )
    add("--workers", type=_integer(1, None), default=usable_cores(), metavar="N", help="processes (%(default)s)")
    add("--seed", type=_integer(0, LARGEST_SEED), default=0, metavar="N", help="of the deals (%(default)s)")
    add("--out", type=_folder, metavar="DIR", help="folder for summary.json and blocks.npz")
    tournament.set_defaults(run=run_tournament)


def _integer(low: int | None, high: int | None, reason: str = "") -> Callable[[str], int]:
    """A reader of integers in a range."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not an integer") from None
        if low is not None and number < low:
            raise argparse.ArgumentTypeError(f"{number} is too small; {reason or f'at least {low} is needed'}")
        if high is not None and number > high:
            raise argparse.ArgumentTypeError(f"{number} is too large; at most {high} is allowed")
        return number

    return read


def _folder(text: str) -> Path:
    """A reader of folders; no folder has an empty name."""
    if not text:
        raise argparse.ArgumentTypeError("the name of the folder is empty")
    return Path(text)


def _check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be made or written to, before anything is played."""
    if problem := obstacle(folder):
        raise _BadInputError(f"--out {folder}: {problem}")
    for name in ("blocks.npz", "summary.json"):
        if (folder / name).is_dir():
            raise _BadInputError(f"--out {folder}: {folder / name} is a folder; remove it or name another")


def _interval(low: float, high: float) -> str:
    """Two ends of an interval."""
    return f"{low:+.3f} to {high:+.3f}"


def _percent(share: Estimate) -> str:
    """A share in percent, with half the width of its interval."""
    return f"{100 * share.mean:.1f}±{50 * (share.high - share.low):.1f}"


def _complain(error: object, code: int) -> int:
    """One line on standard error."""
    print(f"evaluate.py: {' '.join(str(error).split())}", file=sys.stderr)
    return code
