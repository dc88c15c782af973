"""`evaluate.py selfcheck`: controls of the measuring itself."""

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE
from rich.table import Table

from agents.commands.options import (
    Commands,
    add_seed,
    check_file,
    command_line,
    console,
    versions,
    write_json,
)
from agents.controls import ControlError
from agents.progress import Progress

if TYPE_CHECKING:
    from agents.selfcheck import Control


def add_to(commands: Commands) -> None:
    """Add the command."""
    selfcheck = commands.add_parser(
        "selfcheck",
        help="controls of the measuring itself",
        description="Play and simulate results that are known beforehand; exit code 1 when one comes out otherwise.",
        allow_abbrev=False,
    )
    add_seed(selfcheck)
    selfcheck.add_argument("--out", type=Path, metavar="FILE", help="a JSON file with the table")
    selfcheck.set_defaults(run=run)


def run(options: argparse.Namespace, words: Sequence[str]) -> None:
    """Run all controls, print them and, when asked to, write them.

    Raises:
        BadInputError: the file cannot be written.
        ControlError: a control failed.
    """
    if options.out is not None:
        check_file(options.out)
    from agents.selfcheck import STEPS, run_controls  # half a second of statistics that no other command needs

    with Progress(STEPS, "steps", sys.stderr) as progress:
        controls = run_controls(seed=options.seed, report=progress.add)
    failed = [control.name for control in controls if not control.passed]
    if options.out is not None:
        plain = {
            "passed": not failed,
            "controls": [dataclasses.asdict(control) for control in controls],
            "seed": options.seed,
            "command": command_line(words),
            "versions": versions(),
        }
        write_json(options.out, plain)  # before anything is printed: perhaps nobody reads
    print_controls(controls)
    if failed:
        raise ControlError(f"{len(failed)} of {len(controls)} controls failed: {'; '.join(failed)}")


def print_controls(controls: "Sequence[Control]") -> None:
    """Print one line a control."""
    table = Table(box=SIMPLE, show_edge=False, pad_edge=False)
    for heading in ("control", "expected", "found"):
        table.add_column(heading, overflow="fold")
    table.add_column("", no_wrap=True)
    table.add_column("false alarms", justify="right", no_wrap=True)
    for control in controls:
        verdict = "pass" if control.passed else "FAIL"
        table.add_row(control.name, control.expected, control.found, verdict, _percent(control.false_alarm))
    out = console()
    out.print(table)
    out.print("False alarms: how often a correct program fails the control when the seed is a fresh one.")


def _percent(probability: float) -> str:
    """A probability in percent."""
    if probability == 0:
        return "never"
    return f"{100 * probability:.1f} %" if probability >= 1e-3 else "below 0.1 %"
