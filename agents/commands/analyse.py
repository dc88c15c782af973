"""`evaluate.py analyse`: what each decision of a recorded deal was worth, and what would have been better."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE
from rich.table import Table

from agents.analysis import (
    LOSS_MEANS,
    OPEN_MEANS,
    Alternative,
    Choice,
    DealAnalysis,
    analyse_deal,
    as_json,
    assumptions,
    judge,
)
from agents.commands.options import Commands, check_file, command_line, console, write_json
from agents.commands.record_options import add_deal_and_seat, add_judge, chosen_deals
from agents.frames_analysis import antes_text, loss_text
from agents.progress import Progress
from agents.replaying import read_record

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
    add_deal_and_seat(analyse, "print only the decisions of this seat")
    add_judge(analyse)
    analyse.add_argument("--json", type=Path, metavar="FILE", help="write every alternative of every decision there")
    analyse.set_defaults(run=run)


def run(options: argparse.Namespace, words: Sequence[str]) -> None:
    """Analyse a hand record, print a table for each deal and, when asked to, write everything as JSON."""
    policy = judge(options.policy, options.worlds)
    deals = chosen_deals(read_record(options.file), options)
    if options.json is not None:
        check_file(options.json, "--json")
    with Progress(sum(len(record.actions) for record in deals.values()), "actions", sys.stderr) as progress:
        found = {number: analyse_deal(record, policy, report=progress.add) for number, record in deals.items()}
    if options.json is not None:
        rules = next(iter(deals.values())).rules
        content = {
            "fingerprint": rules.fingerprint,
            "policy": options.policy,
            "worlds": options.worlds,
            "command": command_line(words),
            "deals": [{"deal": number, **as_json(analysis)} for number, analysis in found.items()],
        }
        write_json(options.json, content)  # before anything is printed: perhaps nobody reads
    for number, analysis in found.items():
        print_analysis(number, analysis, options.seat)
    print_legend(options.policy, options.worlds)


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
        antes_text(choice.played.seen) + mark,
        loss_text(choice),
        best,
        ", ".join(_told(other) for other in rest[:OTHERS_SHOWN]),
        antes_text(choice.played.opened),
        f"{choice.open_loss:.2f}" if has_erred else "",
        " ".join(f"{seat}:{card}" for seat, card in choice.line) if has_erred else "",
    ]


def _told(alternative: Alternative) -> str:
    """An alternative and its value."""
    return f"{alternative.action} {antes_text(alternative.seen)}"


def print_legend(policy: str, worlds: int) -> None:
    """What the columns mean."""
    console().print(
        f"worth: {assumptions(policy, worlds)}. loss: {LOSS_MEANS}. open: {OPEN_MEANS}; the best line is shown where "
        "the card played came to less. Forced decisions are left out."
    )
