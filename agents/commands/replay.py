"""`evaluate.py replay`: step through a hand record."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from agents.commands.options import BadInputError, Commands, integer
from agents.replaying import read_record, step_through


def add_to(commands: Commands) -> None:
    """Add the command."""
    replay = commands.add_parser(
        "replay",
        help="step through a hand record",
        description="Show a hand record step by step; on a terminal Enter goes on.",
        allow_abbrev=False,
    )
    replay.add_argument("file", type=Path, metavar="FILE", help="a hand record, as bourre_env.notation writes it")
    replay.add_argument("--seat", type=integer(0, None), metavar="N", help="show only what this seat sees")
    replay.set_defaults(run=run)


def run(options: argparse.Namespace, words: Sequence[str]) -> None:
    """Step through a hand record."""
    deals = read_record(options.file)
    seats = deals[0].rules.num_players
    if options.seat is not None and options.seat >= seats:
        raise BadInputError(f"--seat {options.seat}: the record has seats 0 to {seats - 1}")
    step_through(deals, options.seat)
