"""`evaluate.py selfcheck`: controls of the measuring itself."""

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.box import SIMPLE
from rich.table import Table

from agents.commands.options import (
    BadInputError,
    Commands,
    add_seed,
    check_folder,
    command_line,
    console,
    versions,
)
from agents.controls import ControlError
from agents.files import replace_file
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
        if not options.out.name:
            raise BadInputError("--out: the name of the file is empty")
        check_folder(options.out.parent, [options.out.name])
    from agents.selfcheck import STEPS, run_controls  # half a second of statistics that no other command needs

    with Progress(STEPS, "steps", sys.stderr) as progress:
        controls = run_controls(seed=options.seed, report=progress.add)
    print_controls(controls)
    failed = [control.name for control in controls if not control.passed]
    if options.out is not None:
        plain = {
            "passed": not failed,
            "controls": [dataclasses.asdict(control) for control in controls],
            "seed": options.seed,
            "command": command_line(words),
            "versions": versions(),
        }
        options.out.parent.mkdir(parents=True, exist_ok=True)
        replace_file(options.out, (json.dumps(plain, indent=1) + "\n").encode())
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
