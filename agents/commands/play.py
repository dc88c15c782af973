"""`evaluate.py play`: people and policies at one table in the terminal."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agents.commands.options import (
    LARGEST_SEED,
    BadInputError,
    Commands,
    FailedError,
    add_game,
    add_rules,
    check_folder,
    console,
    integer,
    number,
    preset_of,
)
from agents.policy import Policy, check_rules, load_policy
from bourre_env.bourre.rules import MAX_PLAYERS, Rules
from bourre_env.family import FIRST

if TYPE_CHECKING:
    from agents.sitting import Seat
    from agents.terminal_table import TerminalTable

PERSON = "human"
NOBODY = "none"
PACE = 0.5  # seconds, where people look on
DEALS = 10  # of policies alone, which would never stop


def add_to(commands: Commands) -> None:
    """Add the command."""
    play = commands.add_parser(
        "play",
        help="play, or watch policies play, in the terminal",
        description="Sit people and policies down at one table, the first in seat 0. Policies alone just play on.",
        allow_abbrev=False,
    )
    text = "who sits there: human or a policy, with NAME= in front to give it a name; two to eight"
    play.add_argument("specs", nargs="+", metavar="SPEC", help=text)
    add_game(play, serves=[FIRST])
    add_rules(play, games=[FIRST])
    text = f"play so many deals (until everybody has left; {DEALS} of policies alone)"
    play.add_argument("--deals", type=integer(1, None), metavar="N", help=text)
    read = integer(0, LARGEST_SEED)
    play.add_argument("--seed", type=read, metavar="N", help="of the packs (another one each time)")
    play.add_argument("--dealer", type=integer(0, None), metavar="S", help="seat of the first dealer (drawn)")
    text = "each seat brings so many antes, and pays no more than it has (credit without limit)"
    play.add_argument("--table-stakes", type=integer(1, None), metavar="ANTES", help=text)
    text = "whom ? asks (a search or a checkpoint at the table, else heuristic; none for nobody)"
    play.add_argument("--hints", metavar="SPEC", help=text)
    play.add_argument("--record", type=Path, metavar="FILE", help="write the finished deals there; it must be new")
    text = f"before each action of a policy ({PACE:g} on a terminal, else 0)"
    play.add_argument("--pace", type=number(0), metavar="SECONDS", help=text)
    play.set_defaults(run=run)


def run(options: argparse.Namespace, words: Sequence[str]) -> None:
    """Play until the session is over or the people have left."""
    from agents.keyboard import LeftError, standard_keyboard
    from agents.sitting import Sitting, seats_of
    from agents.terminal_table import Terminal, TerminalTable
    from agents.terminal_text import lettering_for

    rules = _rules(options)
    if options.dealer is not None and options.dealer >= rules.num_players:
        raise BadInputError(f"--dealer {options.dealer}: the table has seats 0 to {rules.num_players - 1}")
    _check_record(options.record)
    seats = seats_of(_named(options.specs), rules)
    adviser = _adviser(options, seats, rules)
    seed = int.from_bytes(os.urandom(8)) if options.seed is None else options.seed
    has_people = any(seat.policy is None for seat in seats)
    deals = options.deals if options.deals or has_people else DEALS
    sitting = Sitting(rules, seats, seed=seed, deals=deals, dealer=options.dealer, buy_in=options.table_stakes)
    pace = PACE if sys.stdout.isatty() else 0.0
    table = TerminalTable(
        sitting,
        Terminal(standard_keyboard(), console(), lettering_for(sys.stdout.encoding)),
        adviser=adviser,
        record=options.record,
        pace=pace if options.pace is None else options.pace,
    )
    try:
        table.play()
    except LeftError:
        print("You have left the table.")
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"left the table; {_kept(table, options.record)}") from None
    print(f"{_kept(table, options.record)}. The same packs again: --seed {seed}")
    if table.failed_to_save:
        raise FailedError(table.failed_to_save)


def _rules(options: argparse.Namespace) -> Rules:
    """The house rules of a table with a seat for each spec.

    Raises:
        BadInputError: too many or too few.
        RulesError: no such preset, or not for so many.
    """
    if not 2 <= len(options.specs) <= MAX_PLAYERS:
        raise BadInputError(f"{len(options.specs)} at the table will not do; name two to {MAX_PLAYERS}")
    stakes = {} if options.table_stakes is None else {"stacks": "table_stakes"}
    return Rules.preset(preset_of(options), num_players=len(options.specs), **stakes)


def _named(specs: Sequence[str]) -> list[str]:
    """The specs; where several people come without a name, each is called by its seat."""
    if specs.count(PERSON) < 2:
        return list(specs)
    return [f"Player {seat}={spec}" if spec == PERSON else spec for seat, spec in enumerate(specs)]


def _check_record(file: Path | None) -> None:
    """Refuse a record that cannot be written, or that would take the place of something."""
    if file is None:
        return
    check_folder(file.parent, [file.name], "--record")
    if file.exists():
        raise BadInputError(f"--record {file} is there already; name a new file")


def _adviser(options: argparse.Namespace, seats: "Sequence[Seat]", rules: Rules) -> Policy | None:
    """Whom people may ask; None for nobody.

    Raises:
        BadInputError: the spec is that of a person.
        PolicyError: the policy cannot be loaded, or cannot play by the rules.
    """
    from agents.advice import adviser_spec

    if options.hints == NOBODY or all(seat.policy is not None for seat in seats):
        return None
    spec = options.hints or adviser_spec([seat.spec for seat in seats])
    if spec == PERSON:
        raise BadInputError("--hints human: whoever asks is the human here; name a policy, or none")
    policy = load_policy(spec)
    check_rules(policy, rules)
    return policy


def _kept(table: "TerminalTable", file: Path | None) -> str:
    """What became of the deals."""
    played = len(table.sitting.finished)
    deals = f"{played} deal{'s' * (played != 1)} played"
    if file is None or not played:
        return f"{deals}, nothing was written"
    return f"{deals}, not all are in {file}" if table.failed_to_save else f"{deals}, written to {file}"
