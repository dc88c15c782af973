"""`evaluate.py merge`: put the results of several tournaments together."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from agents.commands.options import BadInputError, Commands, check_folder, command_line, console, folder
from agents.commands.report import has_report, make_report
from agents.commands.tournament import blocks_file, write_summary
from agents.commands.tournament_tables import print_summary
from agents.files import replace_file
from agents.report_files import HTML, MARKDOWN, SUMMARY
from agents.results import Results, ResultsError
from agents.summary import summarise

PATTERN = "blocks-*.parquet"


def add_to(commands: Commands) -> None:
    """Add the command."""
    merge = commands.add_parser(
        "merge",
        help="put the results of several tournaments together",
        description="Write the blocks of several results folders into a new one; the order of the folders is of no "
        "account. Rules, terms and what stands behind a name must be the same.",
        allow_abbrev=False,
    )
    merge.add_argument("folders", nargs="+", type=folder, metavar="DIR", help="folders that a tournament wrote")
    merge.add_argument("--out", type=folder, required=True, metavar="DIR", help="folder for the results")
    merge.add_argument("--no-report", action="store_true", help="write no report.html and report.md")
    merge.set_defaults(run=run)


def run(options: argparse.Namespace, words: Sequence[str]) -> None:
    """Merge results, print what they say together and write them."""
    merged: dict[int, Results] = {}
    games: set[str] = set()
    for source in options.folders:
        for results in read_folder(source):
            games.add(results.terms.rules.game)
            if len(games) > 1:
                raise ResultsError(
                    f"{source}: results of different games cannot be mixed: {' and '.join(sorted(games))}"
                )
            seats = results.terms.rules.num_players
            known = merged.setdefault(seats, Results(results.terms))
            try:
                known.merge(results)
            except ResultsError as error:
                raise ResultsError(f"{source}: {error}") from None
    sizes = [merged[seats] for seats in sorted(merged)]
    wants_report = not options.no_report and all(has_report(game) for game in games)
    reports = [HTML, MARKDOWN] if wants_report else []
    check_folder(options.out, [SUMMARY, *reports, *(blocks_file(results.terms.rules) for results in sizes)])
    preset = preset_of(options.folders)
    for results in sizes:
        results.entrants = {name: results.entrants[name] for name in sorted(results.entrants)}
    tables = [summarise(results, sorted(results.line_ups), seed=0) for results in sizes]
    options.out.mkdir(parents=True, exist_ok=True)
    for results in sizes:
        replace_file(options.out / blocks_file(results.terms.rules), results.to_bytes())
    summary = write_summary(options.out, tables, preset=preset, command=command_line(words))
    print_summary(console(), tables, preset=preset)  # after all is written: perhaps nobody reads
    if wants_report:
        make_report(summary, sizes, options.out / HTML)


def read_folder(source: Path) -> list[Results]:
    """The results in a folder, one for each table size.

    Raises:
        BadInputError: there are none.
        ResultsError: a file is damaged.
    """
    files = sorted(source.glob(PATTERN))
    if not files:
        raise BadInputError(f"{source} holds no results ({PATTERN}); name a folder that a tournament wrote")
    return [Results.read(file) for file in files]


def preset_of(folders: Sequence[Path]) -> str:
    """The name the house rules go by in the first summary that tells; "unnamed" where none does."""
    for source in folders:
        try:
            return str(json.loads((source / SUMMARY).read_text(encoding="utf-8"))["rules"]["preset"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return "unnamed"
