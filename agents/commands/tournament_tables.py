"""A tournament as tables in the terminal."""

from collections.abc import Sequence

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from agents.blocks import places_of
from agents.cells import Cell, Seating
from agents.commands.options import interval
from agents.games import Rate, part_of
from agents.population import NotAvailable
from agents.scores import Scores
from agents.standing import Standing
from agents.statistics import Estimate
from agents.summary import SequentialSummary, TableSummary
from bourre_env.family import game_of, sides_of

DOUBT = (
    "One number for each entrant does not describe these results: chance alone would seldom leave so much unexplained. "
    "Trust the cross table, not the strengths."
)
WIDTH_WITH_T = 110  # narrower terminals leave the second interval to summary.json


def print_summary(out: Console, tables: Sequence[TableSummary], *, preset: str) -> None:
    """Print what a tournament has found, one table size after the other, then who broke the rules."""
    for table in tables:
        if table.cells:
            _print_cells(out, table)
        if table.seatings:
            _print_seatings(out, table.seatings, table.unit)
        out.print(_legend(table, preset), soft_wrap=True)
        if table.sequential is not None:
            out.print(_sequential_legend(table.sequential), soft_wrap=True)
        if table.standing is not None:
            _print_standing(out, table.standing, table.unit)
    _print_faults(out, tables)


def _print_cells(out: Console, summary: TableSummary) -> None:
    """Print one line a cell: units a deal and shares of deals, each with its interval, and whether it is separated."""
    is_wide = out.width >= WIDTH_WITH_T
    rules = summary.results.terms.rules
    rates = part_of(rules).rates
    headings = [rate.heading for rate in rates]
    more = "" if sides_of(rules) > 1 else " more"
    numbers = [f"{game_of(rules).unit} a deal{more}, 95 %", *["Student's t"] * is_wide, *headings]
    table = _table(["focal", "against"], numbers, ["verdict"])
    for cell in summary.cells:
        beside = [interval(cell.earned.t_low, cell.earned.t_high)] * is_wide
        shares = (_rate(rate, cell.rates[rate.name]) for rate in rates)
        table.add_row(cell.focal, cell.field, _mean(cell.earned), *beside, *shares, _verdict(summary, cell))
    out.print(table)


def _verdict(summary: TableSummary, cell: Cell) -> str:
    """Whether a cell is separated, by the test that ended it, or else by Holm."""
    if summary.sequential is None:
        return summary.verdicts[cell.focal, cell.field].verdict
    look = summary.sequential.looks[cell.focal, cell.field]
    return f"{look.state} ({look.above:+.1f}, {look.below:+.1f})"


def _sequential_legend(sequential: SequentialSummary) -> str:
    """The terms of a sequential test."""
    test = sequential.test
    low, high = test.bounds
    return (
        f"Sequential test: mean over deviation of a block, 0 against {test.effect:g} and against -{test.effect:g}; "
        f"alpha {test.alpha:g} over {test.cells} cells, beta {test.beta:g}. In brackets both log-likelihood ratios: "
        f"from {high:.2f} on separated, from {low:.2f} down alike. After an early stop intervals are too hopeful."
    )


def _print_standing(out: Console, standing: Standing, unit: str) -> None:
    """Print the ratings, best first."""
    table = _table(["entrant"], [f"strength in {unit} a deal, 95 %", "Plackett-Luce", "alpha-Rank %", "lottery %"])
    strength = standing.ratings.strength
    for entrant in strength.ranking:
        name = strength.names[entrant]
        table.add_row(
            name,
            _score(strength, name),
            _score(standing.plackett_luce, name),
            _share(standing.alpha_rank, name),
            _share(standing.lottery, name),
        )
    out.print(table)
    fit = standing.ratings.fit
    doubt = "" if not fit.p < 0.05 else f" {DOUBT}"
    out.print(f"Strengths explain {100 * fit.share_explained:.0f} % of the cross table.{doubt}", soft_wrap=True)


def _score(scores: Scores, name: str) -> str:
    """A score with its interval."""
    entrant = scores.names.index(name)
    return f"{scores.values[entrant]:+.3f} ({interval(scores.low[entrant], scores.high[entrant])})"


def _share(scores: Scores | NotAvailable, name: str) -> str:
    """Mean over the resampled deals of a share, in percent."""
    if isinstance(scores, NotAvailable):
        return "-"
    return f"{100 * scores.average[scores.names.index(name)]:.0f}"


def _print_seatings(out: Console, seatings: Sequence[Seating], unit: str) -> None:
    """Print one line a place of every other line-up."""
    table = _table(["line-up", "place"], [f"{unit} a deal, 95 %", "Student's t"])
    for seating in seatings:
        for number, (name, found) in enumerate(zip(seating.line_up, seating.earned, strict=True)):
            first = ", ".join(seating.line_up) if number == 0 else ""
            table.add_row(first, name, _mean(found), interval(found.t_low, found.t_high))
    out.print(table)


def _legend(table: TableSummary, preset: str) -> str:
    """What the numbers of a table size mean."""
    terms = table.results.terms
    seats = table.num_players
    stakes = "" if terms.buy_in is None else f" at table stakes of {terms.buy_in} antes"
    seeds = sorted({seed for seed, _ in table.results.blocks})
    numbers = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {', '.join(map(str, seeds))}"
    unit = "deals" if terms.session == 1 else f"sessions of {terms.session} deals"
    lengths = sorted(
        {cell.earned.blocks for cell in table.cells}
        | {found.blocks for seating in table.seatings for found in seating.earned}
    )
    blocks = f"{lengths[0]:,}" if len(lengths) == 1 else f"{lengths[0]:,} to {lengths[-1]:,}"
    sides = sides_of(terms.rules)
    each = f", {lengths[0] * places_of(terms.rules):,} in all" if len(lengths) == 1 else ""
    if sides == 1:
        return (
            f"Each deal is played once by both, and what the first makes more counts; rules {preset}, one seat, "
            f"{numbers}. Each line: {blocks} {unit}{each}. Intervals: 95 % bootstrap over {unit}."
            f"{_verdict_legend(table)}"
        )
    if sides == seats:
        who, turns = f"One focal seat against {seats - 1} of the other", "seat"
    else:
        who, turns = "One focal pair of partners against a pair of the other", "side"
    return (
        f"{who}; rules {preset}{stakes}, {seats} seats, {numbers}. "
        f"Each line: {blocks} {unit} played from every {turns}{each}. Intervals: 95 % bootstrap over {unit}."
        f"{_verdict_legend(table)}" + _saved(table.cells)
    )


def _verdict_legend(table: TableSummary) -> str:
    """How verdicts were found, where no sequential test is explained anyway."""
    if not table.cells or table.sequential is not None:
        return ""
    return " Verdicts: t-tests at 5 %, adjusted for their number (Holm)."


def _saved(cells: Sequence[Cell]) -> str:
    """How much narrower intervals get when the luck of the cards is taken out."""
    ratios = sorted(cell.adjusted.variance_ratio for cell in cells if cell.adjusted is not None)
    if not ratios or ratios[-1] >= 1:  # so few blocks that the coefficients are noise
        return ""
    least, most = (round(100 * (1 - ratio)) for ratio in (ratios[-1], ratios[0]))
    share = f"{least}" if least == most else f"{least} to {most}"
    return f" With the luck of the cards taken out they need {share} % fewer deals (summary.json: adjusted)."


def _print_faults(out: Console, tables: Sequence[TableSummary]) -> None:
    """Say who forfeited deals, and why."""
    for name in tables[0].results.entrants:
        forfeits = sum(table.results.forfeits(name) for table in tables)
        faults = [table.results.faults[name] for table in tables if name in table.results.faults]
        if not forfeits and not faults:
            continue
        counts = [f"{forfeits:,} deals forfeited (rule 7.2)"]
        counts += [f"{sum(fault.illegal for fault in faults):,} illegal actions"]
        counts += [f"{sum(fault.failed for fault in faults):,} decisions without an answer"]
        counts += ["too slow, so not asked any more"] * any(fault.overtime for fault in faults)
        example = next((fault.example for fault in faults), "")
        out.print(f"{name}: {', '.join(counts)}. First: {example}", soft_wrap=True, markup=False)


def _table(words: Sequence[str], numbers: Sequence[str], last: Sequence[str] = ()) -> Table:
    """A table with columns of words, then of numbers, then of words again."""
    table = Table(box=SIMPLE, show_edge=False, pad_edge=False)
    for heading in words:
        table.add_column(heading, overflow="fold")
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in last:
        table.add_column(heading, no_wrap=True)
    return table


def _mean(found: Estimate) -> str:
    """Units a deal with the bootstrap interval."""
    return f"{found.mean:+.3f} ({interval(found.low, found.high)})"


def _rate(rate: Rate, found: Estimate) -> str:
    """A share in percent, or a mean, with half the width of its interval."""
    scale = 100 if rate.percent else 1
    return f"{scale * found.mean:.1f}±{scale * (found.high - found.low) / 2:.1f}"
