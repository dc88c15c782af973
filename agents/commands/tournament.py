"""`evaluate.py tournament`: every entrant against a table of every other, and any other line-up."""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agents.arena import check_session
from agents.blocks import places_of, same_blocks
from agents.cells import is_cell
from agents.commands.options import (
    BadInputError,
    Commands,
    FailedError,
    add_game,
    add_rules,
    add_seed,
    add_workers,
    check_folder,
    command_line,
    console,
    folder,
    integer,
    number,
    positive,
    preset_of,
    versions,
    workers_of,
)
from agents.commands.report import NO_REPORT, has_report, make_report
from agents.commands.tournament_tables import print_summary
from agents.deal_lines import LINES, DealLine, play_again, to_bytes
from agents.entrants import Entrant, check_entrants, parse_entrants
from agents.executors import Workers, WorkersLostError
from agents.files import replace_file
from agents.games import part_named
from agents.progress import Progress
from agents.referee import DEFAULT_TIME_LIMIT
from agents.report_files import HTML, MARKDOWN, SUMMARY
from agents.results import LineUp, Results, ResultsError, Terms
from agents.sequential import EFFECT, SequentialTest
from agents.stopping import FixedBlocks, Precision, Separated, StoppingRule
from agents.summary import TableSummary, plain_summary, summarise
from agents.tournament import MOST_LINE_UPS, Plan, mixed, pairs, play_tournament
from bourre_env.family import GameRules, game_named, sides_of

DEFAULT_BLOCKS = 5000
MOST_BLOCKS = 50_000  # of a line-up that goes on until it has shown enough
LARGEST_BLOCKS = 10_000_000  # their resampling fills 20 GB
LARGEST_EFFECT = 100.0  # deviations; larger ones say nothing and overflow
LARGEST_BUY_IN = 2**31 - 1  # antes, and chips
LONGEST_LIMIT = 86_400.0  # seconds a decision


def add_to(commands: Commands) -> None:
    """Add the command."""
    tournament = commands.add_parser(
        "tournament",
        help="every entrant against a table of every other",
        description="Play each entrant, in one seat, or as a pair of partners, against a table full of each other one; "
        "print antes, points or cards a deal.",
        allow_abbrev=False,
    )
    tournament.add_argument(
        "specs",
        nargs="+",
        metavar="SPEC",
        help="random, heuristic, always_stay, always_pass, search or search:OPTIONS, a checkpoint or run folder, a "
        "folder of these, or module:attribute; NAME=SPEC gives it a name",
    )
    add = tournament.add_argument
    seats = integer(None, None)
    add("--seats", type=seats, nargs="+", default=[], metavar="N", help="players at the table, 2 to 8 in Bourré (4)")
    add_game(tournament)
    add_rules(tournament)
    add(
        "--table-stakes",
        type=integer(1, LARGEST_BUY_IN),
        metavar="ANTES",
        help="nobody pays more than it has: so many antes at the start of each deal (else seats play on credit)",
    )
    add(
        "--session-deals",
        type=integer(1, None),
        default=1,
        metavar="N",
        help="play sessions of so many deals, pots carried on, instead of single deals; needs rules with a limit",
    )
    add(
        "--tables",
        choices=["pairs", "mixed", "both", "none"],
        default="pairs",
        help="pairs: one of each against a field of each other; mixed: different ones at each table (%(default)s)",
    )
    add("--line-up", action="append", default=[], metavar="A,B,B,C", help="another line-up, by names; may be repeated")
    _add_stopping(tournament)
    limit = number(0, LONGEST_LIMIT)
    add("--time-limit", type=limit, default=DEFAULT_TIME_LIMIT, metavar="S", help="seconds a decision (%(default)s)")
    add_workers(tournament)
    add_seed(tournament)
    add("--out", type=folder, metavar="DIR", help="folder for results; what is there already is gone on with")
    add("--fresh", action="store_true", help="forget what is in the folder")
    text = "write the first N deals of every line-up to deals-*.jsonl, a line each, which `replay` steps through"
    add("--deal-lines", type=integer(1, None), metavar="N", help=text)
    add("--no-report", action="store_true", help="write no report.html and report.md beside the results")
    tournament.set_defaults(run=run)


def _add_stopping(tournament: argparse.ArgumentParser) -> None:
    """The options that say how much is played."""
    add = tournament.add_argument
    add(
        "--blocks",
        type=integer(2, LARGEST_BLOCKS, "an interval needs at least 2"),
        metavar="N",
        help=f"deals a pair, each played from every seat ({DEFAULT_BLOCKS}; else at most, {MOST_BLOCKS})",
    )
    until = tournament.add_mutually_exclusive_group()
    until.add_argument("--precision", type=positive, metavar="UNITS", help="play until each interval is ± this narrow")
    until.add_argument(
        "--until-separated", action="store_true", help="play until a sequential test (GSPRT) has decided each pair"
    )
    add(
        "--effect",
        type=number(0, LARGEST_EFFECT, exclusive=True),
        default=EFFECT,
        metavar="X",
        help="smallest difference that test is to find, in deviations of a block (%(default)s)",
    )


def run(options: argparse.Namespace, words: Sequence[str]) -> None:
    """Play a tournament, print it and, when asked to, write its files."""
    plans = _plans(options)
    if options.deal_lines is not None and (options.out is None or options.session_deals > 1):
        raise BadInputError(f"--deal-lines {options.deal_lines}: it needs --out DIR and single deals")
    files = [None if options.out is None else options.out / blocks_file(plan.terms.rules) for plan in plans]
    if options.out is not None:
        reports = [HTML, MARKDOWN] if has_report(options.game) and not options.no_report else []
        check_folder(options.out, [SUMMARY, *reports, *(file.name for file in files if file is not None)])
    for plan in plans:
        check_entrants(plan.entrants, plan.terms.rules)
    if options.out is not None:
        _check_game(options.out, options.game)
    begun = [_begun(plan, file, fresh=options.fresh) for plan, file in zip(plans, files, strict=True)]
    with Progress(None, "deals", sys.stderr) as progress:
        for plan, results, file in zip(plans, begun, files, strict=True):
            _play(plan, results, file, workers_of(options), progress)
    tables = [
        summarise(results, plan.line_ups, seed=plan.seed, stop=plan.stop)
        for plan, results in zip(plans, begun, strict=True)
    ]
    summary = None  # written before anything is printed: whoever reads the output may stop reading
    if options.out is not None:
        summary = write_summary(options.out, tables, preset=preset_of(options), command=command_line(words))
        for plan, results in zip(plans, begun, strict=True) if options.deal_lines else ():
            _write_deals(plan, results, options)
    print_summary(console(), tables, preset=preset_of(options))
    if summary is None or options.no_report:
        return
    if has_report(options.game):
        make_report(summary, begun, options.out / HTML)
    else:
        print(f"results: {options.out / SUMMARY}; {NO_REPORT}")


def _write_deals(plan: Plan, results: Results, options: argparse.Namespace) -> None:
    """Write the first deals of every line-up, a line each.

    Raises:
        FailedError: a policy now plays in another way than in the tournament.
    """
    policies = {entrant.name: entrant.load() for entrant in plan.entrants}
    silenced = [name for name, faults in results.faults.items() if faults.overtime]
    lines: list[DealLine] = []
    for line_up in plan.line_ups:
        known = results.blocks[plan.seed, line_up]
        first = known.take(known.deal_ids < options.deal_lines)
        settings = {"seed": plan.seed, "deal_ids": first.deal_ids.tolist(), "time_limit": plan.time_limit}
        again, played = play_again(plan.terms, policies, line_up, silenced=silenced, **settings)
        if not same_blocks(first, again):
            raise FailedError(
                f"{', '.join(line_up)}: deals end in another way than in the tournament; a policy has changed, or does "
                "not draw its random numbers from decision.key"
            )
        lines += played
    file = options.out / f"deals-{plan.terms.rules.num_players}{LINES}"
    replace_file(file, to_bytes(plan.terms, lines))
    print(f"deals: {file}", file=sys.stderr)


def _check_game(folder: Path, game: str) -> None:
    """Refuse a folder with results of another game, whose summary would be written over.

    Raises:
        BadInputError: names both games.
    """
    for file in sorted(folder.glob(blocks_pattern())) if folder.is_dir() else []:
        if (there := Results.read(file).terms.rules.game) != game:
            raise BadInputError(f"--out {folder} holds results of {there}, not of {game}; name another folder")


def blocks_file(rules: GameRules) -> str:
    """Name of the file that holds the blocks of a table size."""
    return blocks_pattern(str(rules.num_players))


def blocks_pattern(seats: str = "*") -> str:
    """Pattern of the names of all of them."""
    return f"blocks-{seats}.parquet"


def write_summary(out: Path, tables: Sequence[TableSummary], *, preset: str, command: str) -> dict[str, Any]:
    """Write `summary.json`; what it holds."""
    summary = plain_summary(tables, preset=preset, command=command, versions=versions())
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(summary, indent=1, ensure_ascii=False) + "\n"
    replace_file(out / SUMMARY, text.encode(errors="backslashreplace"))  # names of files may be no Unicode
    return summary


def _plans(options: argparse.Namespace) -> list[Plan]:
    """One plan for each table size."""
    entrants = parse_entrants(options.specs)
    game = game_named(options.game)
    if options.table_stakes is not None and "rules.stacks" not in part_named(game.name).own_keys:
        raise BadInputError(f"--table-stakes: {game.name} is not played for stakes")
    if len(set(options.seats)) < len(options.seats):
        raise BadInputError(f"--seats {' '.join(map(str, options.seats))}: a table size stands there twice")
    stakes = {} if options.table_stakes is None else {"stacks": "table_stakes"}
    plans = []
    for seats in options.seats or [game.usual_size]:
        rules = game.preset(preset_of(options), num_players=seats, **stakes)
        try:
            check_session(options.session_deals, rules)
        except ValueError as error:
            raise BadInputError(f"--session-deals {options.session_deals}: {error}") from None
        terms = Terms(rules, options.session_deals, options.table_stakes)
        line_ups = _line_ups(options, entrants, rules)
        stop = _stopping_rule(options, line_ups)
        plans.append(Plan(entrants, terms, line_ups, options.seed, stop, options.time_limit))
    return plans


def _line_ups(options: argparse.Namespace, entrants: Sequence[Entrant], rules: GameRules) -> tuple[LineUp, ...]:
    """The line-ups of one table size; partners are one place of them."""
    places = places_of(rules)
    names = [entrant.name for entrant in entrants]
    size = len(names)
    number = (options.tables in ("pairs", "both")) * size * (size - 1)
    number += (options.tables in ("mixed", "both")) * math.comb(size, min(size, places))
    if number > MOST_LINE_UPS:
        raise BadInputError(
            f"{size} entrants make {number:,} line-ups of {places} places; {MOST_LINE_UPS:,} are possible"
        )
    chosen = pairs(names, places) if options.tables in ("pairs", "both") else []
    chosen += mixed(names, places) if options.tables in ("mixed", "both") else []
    chosen += [_named_line_up(text, names, rules) for text in options.line_up]
    if not chosen:
        raise BadInputError("--tables none: give at least one --line-up, or nothing is played")
    return tuple(dict.fromkeys(chosen))


def _named_line_up(text: str, names: Sequence[str], rules: GameRules) -> LineUp:
    """A line-up from the names of a word."""
    line_up = tuple(name.strip() for name in text.split(","))
    unknown = [name for name in line_up if name not in names]
    if unknown:
        raise BadInputError(f"--line-up {text}: nobody is called {unknown[0]!r}; there are {', '.join(names)}")
    places = places_of(rules)
    if len(line_up) != places:
        kind = "seats" if places == rules.num_players else "sides" if sides_of(rules) > 1 else "places"
        raise BadInputError(f"--line-up {text}: {len(line_up)} names for {places} {kind}")
    return line_up


def _stopping_rule(options: argparse.Namespace, line_ups: Sequence[LineUp]) -> StoppingRule:
    """When a line-up has played enough."""
    if options.precision is not None:
        return Precision(options.precision, options.blocks or MOST_BLOCKS)
    if options.until_separated:
        if not all(is_cell(line_up) for line_up in line_ups):
            raise BadInputError("--until-separated: it compares pairs; leave out --line-up and --tables")
        hypotheses = len({frozenset(line_up) if len(line_up) == 2 else line_up for line_up in line_ups})
        return Separated(SequentialTest(effect=options.effect, cells=hypotheses), options.blocks or MOST_BLOCKS)
    return FixedBlocks(options.blocks or DEFAULT_BLOCKS)


def _begun(plan: Plan, file: Path | None, *, fresh: bool) -> Results:
    """The results to go on with: those in the file, when it holds what this plan would have played."""
    if file is None or fresh or not file.exists():
        return plan.results()
    results = Results.read(file)
    try:
        if results.terms != plan.terms or {seed for seed, _ in results.blocks} - {plan.seed}:
            raise ResultsError("it holds a tournament under other rules, terms or seeds")
        results.merge(new := plan.results())
    except ResultsError as error:
        raise ResultsError(f"{file} cannot be gone on with: {error}; choose another --out, or --fresh") from None
    results.entrants = new.entrants | results.entrants  # in the order of the command line
    return results


def _play(plan: Plan, results: Results, file: Path | None, workers: Workers, progress: Progress) -> None:
    """Play one table size; on Ctrl-C what is there is written first."""

    def save(results: Results) -> None:
        if file is not None and results.blocks:
            file.parent.mkdir(parents=True, exist_ok=True)
            replace_file(file, results.to_bytes())

    try:
        play_tournament(plan, results, workers=workers, report=progress.add, save=save)
    except WorkersLostError as error:
        save(results)
        kept = "" if file is None or not results.blocks else f"; {file} keeps what was played"
        raise FailedError(f"{error}{kept}") from None
    except KeyboardInterrupt:
        if file is None or not results.blocks:
            raise
        save(results)
        blocks = sum(len(blocks) for blocks in results.blocks.values())
        raise KeyboardInterrupt(f"interrupted; {file} holds {blocks:,} blocks, the same command goes on") from None
