"""`evaluate.py analyse`: what each decision of a recorded deal was worth, and what would have been better."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE
from rich.table import Table

from agents.analysis import Alternative, Choice, DealAnalysis, analyse_deal, as_json
from agents.commands.options import BadInputError, Commands, check_folder, command_line, console, integer
from agents.files import replace_file
from agents.policy import load_policy
from agents.progress import Progress
from agents.replaying import read_record
from agents.search import Effort, SearchPolicy
from agents.search_spec import check_prior
from bourre_env.notation import DealRecord

WORLDS = 512
PROPOSALS, ROUNDS = 4096, 8
OTHERS_SHOWN = 3


def add_to(commands: Commands) -> None:
    """Add the command."""
    analyse = commands.add_parser(
        "analyse",
        help="what each decision of a recorded deal was worth",
        description="For each decision of a hand record: what every alternative is worth from the seat's own view, by "
        "a search over worlds it could not tell from the true one, and, once cards are played, what it comes to with "
        "all cards open; the loss, and the best line of play. Values are antes of the deal.",
        allow_abbrev=False,
    )
    analyse.add_argument("file", type=Path, metavar="RECORD", help="a hand record, as bourre_env.notation writes it")
    analyse.add_argument("--deal", type=integer(1, None), metavar="N", help="only this deal of the record")
    analyse.add_argument("--seat", type=integer(0, None), metavar="N", help="print only the decisions of this seat")
    text = "how the others are taken to play, and how all play on: a policy (%(default)s)"
    analyse.add_argument("--policy", default="heuristic", metavar="SPEC", help=text)
    text = "most worlds an action is tried in (%(default)s)"
    analyse.add_argument("--worlds", type=integer(4, None), default=WORLDS, metavar="N", help=text)
    analyse.add_argument("--json", type=Path, metavar="FILE", help="write every alternative of every decision there")
    analyse.set_defaults(run=run)


def run(options: argparse.Namespace, words: Sequence[str]) -> None:
    """Analyse a hand record, print a table for each deal and, when asked to, write everything as JSON."""
    check_prior(options.policy)
    policy = SearchPolicy(
        "analysis", load_policy(options.policy), Effort(worlds=options.worlds, proposals=PROPOSALS, rounds=ROUNDS)
    )
    deals = _chosen_deals(read_record(options.file), options)
    if options.json is not None:
        check_folder(options.json.parent, [options.json.name], "--json")
    with Progress(sum(len(record.actions) for record in deals.values()), "actions", sys.stderr) as progress:
        found = {number: analyse_deal(record, policy, report=progress.add) for number, record in deals.items()}
    for number, analysis in found.items():
        print_analysis(number, analysis, options.seat)
    print_legend(options.policy, options.worlds)
    if options.json is not None:
        rules = next(iter(deals.values())).rules
        content = {
            "fingerprint": rules.fingerprint,
            "policy": options.policy,
            "worlds": options.worlds,
            "command": command_line(words),
            "deals": [{"deal": number, **as_json(analysis)} for number, analysis in found.items()],
        }
        replace_file(options.json, (json.dumps(content, indent=1) + "\n").encode())


def _chosen_deals(records: list[DealRecord], options: argparse.Namespace) -> dict[int, DealRecord]:
    """The deals to look at, by number.

    Raises:
        BadInputError: the record has no such deal or seat.
    """
    seats = records[0].rules.num_players
    if options.seat is not None and options.seat >= seats:
        raise BadInputError(f"--seat {options.seat}: the record has seats 0 to {seats - 1}")
    if options.deal is not None and options.deal > len(records):
        raise BadInputError(f"--deal {options.deal}: the record has deals 1 to {len(records)}")
    numbered = dict(enumerate(records, 1))
    return numbered if options.deal is None else {options.deal: numbered[options.deal]}


# --- tables -----------------------------------------------------------------------------------------------------------


def print_analysis(number: int, analysis: DealAnalysis, seat: int | None) -> None:
    """Print a line for each decision of a deal, or of one seat in it, and what was given away."""
    out = console()
    table = Table(title=f"deal {number}", title_justify="left", box=SIMPLE, show_edge=False, pad_edge=False)
    for heading in ("", "seat", "did", "worth", "loss", "best", "others"):
        table.add_column(heading, overflow="fold", justify="right" if heading in ("", "worth", "loss") else "left")
    for heading in ("open", "loss open"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("best line, all cards open", overflow="fold")
    for choice in analysis.choices:
        if seat in (None, choice.seat) and not choice.is_forced:
            table.add_row(*_row(choice))
    out.print(table)
    if analysis.forfeit is not None:
        out.print(f"seat {analysis.forfeit} forfeited the deal")
    seats = range(analysis.record.rules.num_players) if seat is None else [seat]
    given = ", ".join(f"seat {other} {analysis.losses(other):.2f}" for other in seats)
    out.print(f"Given away by what is marked !: {given} antes.\n")


def _row(choice: Choice) -> list[str]:
    """The cells of one decision."""
    rest = [other for other in choice.alternatives[1:] if other is not choice.played]
    mark = "" if choice.likely else "?"
    best = "" if choice.played is choice.best else _told(choice.best)
    has_erred = choice.open_loss is not None and choice.open_loss > 0
    return [
        str(choice.number),
        str(choice.seat),
        choice.taken,
        _number(choice.played.seen) + mark,
        _loss(choice),
        best,
        ", ".join(_told(other) for other in rest[:OTHERS_SHOWN]),
        _number(choice.played.opened),
        f"{choice.open_loss:.2f}" if has_erred else "",
        " ".join(f"{seat}:{card}" for seat, card in choice.line) if has_erred else "",
    ]


def _loss(choice: Choice) -> str:
    """The loss with its standard error, marked when it stands out; nothing when the best was done."""
    if not choice.loss:
        return ""
    error = "" if choice.best.error is None else f"±{choice.best.error:.2f}"
    return f"{choice.loss:.2f}{error}" + " !" * choice.is_mistake


def _told(alternative: Alternative) -> str:
    """An alternative and its value."""
    return f"{alternative.action} {_number(alternative.seen)}"


def _number(value: float | None) -> str:
    """Antes with their sign."""
    return "" if value is None else f"{value:+.2f}"


def print_legend(policy: str, worlds: int) -> None:
    """What the columns mean."""
    console().print(
        f"worth: mean antes of the deal in up to {worlds} worlds that the seat could not tell from the true one, where "
        f"all others are taken to play, and all play on, as {policy} does; ? where they did not, and any worlds that "
        "fit had to do. loss: what the best alternative is worth more, with the standard error of the difference; "
        "! where it is more than two of these, which is no noise. open: with all cards open, everybody playing without "
        "fault from there; the best line is shown where the card played came to less. Forced decisions are left out."
    )
