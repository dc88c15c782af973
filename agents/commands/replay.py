"""`evaluate.py replay`: step through a hand record in the terminal, or write a page that does."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from agents import deal_lines
from agents.analysis import analyse_deal, judge
from agents.commands.options import BadInputError, Commands, check_folder
from agents.commands.record_options import add_deal_and_seat, add_judge, chosen_deals
from agents.deal_lines import LINES, DealLine
from agents.files import replace_file
from agents.frames_analysis import Judged, explained, judged_actions
from agents.progress import Progress
from agents.replaying import read_record, step_through, step_through_views
from agents.results import Terms
from bourre_env.notation import DealRecord


def add_to(commands: Commands) -> None:
    """Add the command."""
    replay = commands.add_parser(
        "replay",
        help="step through a hand record",
        description="Show a hand record step by step; on a terminal Enter goes on. Or write it as a single HTML file.",
        allow_abbrev=False,
    )
    replay.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="a hand record, as bourre_env.notation writes it, or "
        "deals of any game, as tournament --deal-lines writes them (.jsonl)",
    )
    add_deal_and_seat(replay, "show only what this seat sees; a page holds nothing else")
    replay.add_argument("--html", type=Path, metavar="OUT", help="write a page that needs nothing else")
    text = "with --html: what every decision was worth, as analyse says; some seconds a deal"
    replay.add_argument("--analyse", action="store_true", help=text)
    add_judge(replay)
    replay.set_defaults(run=run)


def run(options: argparse.Namespace, words: Sequence[str]) -> None:
    """Step through a hand record, or write its page and say where it is."""
    if options.analyse and options.html is None:
        raise BadInputError("--analyse needs --html OUT; in the terminal `evaluate.py analyse FILE` prints the values")
    if options.file.suffix == LINES:
        _step_through_lines(options)
        return
    records = read_record(options.file)
    deals = chosen_deals(records, options)
    if options.html is None:
        step_through(records, options.seat, options.deal)
    else:
        _write_page(deals, options)


def _step_through_lines(options: argparse.Namespace) -> None:
    """Step through deals of any game, as a tournament writes them."""
    if options.seat is not None or options.html is not None:
        raise BadInputError(f"{options.file}: deals of {LINES} files are shown in the terminal, with every card open")
    terms, lines = deal_lines.read(options.file)
    if options.deal is not None and options.deal > len(lines):
        raise BadInputError(f"--deal {options.deal}: the file has deals 1 to {len(lines)}")
    step_through_views(_views(terms, lines, options.deal))


def _views(terms: Terms, lines: Sequence[DealLine], chosen: int | None) -> Iterator[str]:
    """Each deal, or the chosen one, step by step."""
    for number, line in enumerate(lines, 1):
        if chosen in (None, number):
            yield f"deal {number} of {len(lines)}: {', '.join(line.seats)}"
            yield from deal_lines.steps(terms, line)
            yield f"returns: {', '.join(f'{value:+}' for value in line.returns)}"


def _write_page(deals: dict[int, DealRecord], options: argparse.Namespace) -> None:
    """Write the page of some deals."""
    from agents.replay_page import replay_page  # Jinja takes a while to load

    out: Path = options.html
    check_folder(out.parent, [out.name], "--html")
    if out.exists() and out.samefile(options.file):
        raise BadInputError(f"--html {out} is the record itself; name another file")
    judged = _judged(deals, options) if options.analyse else None
    html = replay_page(
        deals,
        options.file.name,
        seat=options.seat,
        judged=judged,
        judged_says=explained(options.policy, options.worlds, is_open=options.seat is None) if judged else None,
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    replace_file(out, html.encode("utf-8", "replace"))
    print(f"replay: {out}")


def _judged(deals: dict[int, DealRecord], options: argparse.Namespace) -> dict[int, list[Judged | None]]:
    """What every decision was worth, by deal."""
    policy = judge(options.policy, options.worlds)
    judged = {}
    with Progress(sum(len(record.actions) for record in deals.values()), "actions", sys.stderr) as progress:
        for number, record in deals.items():
            judged[number] = judged_actions(analyse_deal(record, policy, report=progress.add), options.seat)
    return judged
