"""`evaluate.py report`: one page about a tournament or a training run."""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.commands.options import BadInputError, Commands, check_folder, folder, integer, versions
from agents.commands.record_options import add_judge
from agents.games import part_named
from agents.policy import PolicyError
from agents.progress import Progress
from agents.report_files import COSTLIEST, HTML, SUMMARY
from bourre_env.family import GAMES

if TYPE_CHECKING:
    from agents.report_deals import Judging
    from agents.results import Results

MOST_COSTLIEST = 1000
NO_REPORT = f"reports are of {', '.join(game for game in GAMES if part_named(game).has_report)} only so far"


def add_to(commands: Commands) -> None:
    """Add the command."""
    report = commands.add_parser(
        "report",
        help="one page about a tournament or a training run",
        description="Write one HTML file that needs nothing else: of a tournament's results, or of a run folder.",
        allow_abbrev=False,
    )
    report.add_argument("dir", type=folder, metavar="DIR", help="what tournament --out wrote to, or a run folder")
    report.add_argument("--out", type=Path, metavar="FILE", help=f"the page (DIR/{HTML})")
    report.add_argument(
        "--costliest",
        type=integer(0, MOST_COSTLIEST),
        default=COSTLIEST,
        metavar="N",
        help="deals to show of those that cost each entrant most (%(default)s)",
    )
    report.add_argument(
        "--analyse",
        type=integer(0, MOST_COSTLIEST),
        default=0,
        metavar="N",
        help="of these, look over the first N of each entrant as analyse does: some seconds a deal (%(default)s)",
    )
    add_judge(report)
    report.set_defaults(run=run)


def run(options: argparse.Namespace, words: Sequence[str]) -> None:
    """Write the report of a folder and say where it is."""
    from agents.config import CONFIG_FILE, ConfigError  # this and Matplotlib take a second to load

    here: Path = options.dir
    if not here.is_dir():
        raise BadInputError(f"there is no folder {here}")
    is_tournament = (here / SUMMARY).exists() or any(here.glob("blocks-*.parquet"))
    if not is_tournament and not (here / CONFIG_FILE).is_file():
        raise BadInputError(f"{here} holds neither results of a tournament ({SUMMARY}) nor a run ({CONFIG_FILE})")
    if options.analyse and not is_tournament:
        raise BadInputError(f"--analyse {options.analyse}: {here} is a run; only deals of a tournament are looked over")
    out: Path = options.out or here / HTML
    if out.suffix == ".md":
        raise BadInputError(f"--out {out}: name the page, such as {out.with_suffix('.html')}; report.md lies beside it")
    check_folder(out.parent, [out.name])
    if is_tournament:
        from agents.report import read_tournament
        from agents.report_deals import Judging

        summary, tables = read_tournament(here)
        if not has_report(game := tables[0].terms.rules.game):
            raise BadInputError(f"{here} holds results of {game}; {NO_REPORT}")
        judging = Judging(options.analyse, options.policy, options.worlds) if options.analyse else None
        try:
            make_report(summary, tables, out, costliest=options.costliest, judging=judging)
        except PolicyError as error:
            raise BadInputError(f"--policy {options.policy}: {error}") from None
        except (KeyError, TypeError, ValueError) as error:
            why = f"{type(error).__name__}: {error}"
            raise BadInputError(f"{here / SUMMARY} does not fit the blocks beside it ({why})") from None
    else:
        from agents.training_report import write_run_report

        try:
            print(f"report: {write_run_report(here, out, {**versions(), 'torch': version('torch')})}")
        except ConfigError as error:
            raise BadInputError(str(error)) from None


def has_report(game: str) -> bool:
    """Whether there are reports of tournaments of a game."""
    return part_named(game).has_report


def make_report(
    summary: dict[str, Any],
    tables: Sequence["Results"],
    out: Path,
    *,
    costliest: int = COSTLIEST,
    judging: "Judging | None" = None,
) -> None:
    """Write the report of a tournament and say where it is."""
    from agents.report import write_report

    each = costliest + (min(judging.deals, costliest) if judging else 0)
    unit = "deals recorded or looked over" if judging else "deals recorded"
    try:
        with Progress(each * len(summary["entrants"]), unit, sys.stderr) as progress:
            page, markdown = write_report(
                summary, tables, out, costliest=costliest, judging=judging, report=progress.add
            )
    except KeyboardInterrupt:
        raise KeyboardInterrupt("interrupted before the report was written; `evaluate.py report` makes it") from None
    print(f"report: {page}, {markdown}")
