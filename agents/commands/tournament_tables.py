"""A tournament as tables in the terminal."""

from collections.abc import Sequence

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from agents.cells import Cell, Seating
from agents.commands.options import interval
from agents.statistics import Estimate
from agents.summary import TableSummary

WIDTH_WITH_T = 110  # narrower terminals leave the second interval to summary.json


def print_summary(out: Console, tables: Sequence[TableSummary], *, preset: str) -> None:
    """Print what a tournament has found, one table size after the other, then who broke the rules."""
    for table in tables:
        if table.cells:
            print_cells(out, table.cells)
        if table.seatings:
            _print_seatings(out, table.seatings)
        out.print(_legend(table, preset), soft_wrap=True)
    _print_faults(out, tables)


def print_cells(out: Console, cells: Sequence[Cell]) -> None:
    """Print one line a cell: antes a deal and shares of deals, each with its interval."""
    is_wide = out.width >= WIDTH_WITH_T
    table = _table(
        ["focal", "against"], ["antes a deal, 95 %", *["Student's t"] * is_wide, "pots %", "bourré %", "passed %"]
    )
    for cell in cells:
        beside = [interval(cell.antes.t_low, cell.antes.t_high)] * is_wide
        shares = (_percent(share) for share in (cell.pots_won, cell.bourre_rate, cell.pass_rate))
        table.add_row(cell.focal, cell.field, _antes(cell.antes), *beside, *shares)
    out.print(table)


def _print_seatings(out: Console, seatings: Sequence[Seating]) -> None:
    """Print one line a place of every other line-up."""
    table = _table(["line-up", "place"], ["antes a deal, 95 %", "Student's t"])
    for seating in seatings:
        for number, (name, antes) in enumerate(zip(seating.line_up, seating.antes, strict=True)):
            first = ", ".join(seating.line_up) if number == 0 else ""
            table.add_row(first, name, _antes(antes), interval(antes.t_low, antes.t_high))
    out.print(table)


def _legend(table: TableSummary, preset: str) -> str:
    """What the numbers of a table size mean."""
    terms = table.results.terms
    seats = table.num_players
    stakes = "" if terms.buy_in is None else f" at table stakes of {terms.buy_in} antes"
    seeds = sorted({seed for seed, _ in table.results.blocks})
    numbers = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {', '.join(map(str, seeds))}"
    unit = "deals" if terms.session == 1 else f"sessions of {terms.session} deals"
    lengths = sorted({cell.antes.blocks for cell in table.cells} | {a.blocks for s in table.seatings for a in s.antes})
    blocks = f"{lengths[0]:,}" if len(lengths) == 1 else f"{lengths[0]:,} to {lengths[-1]:,}"
    each = f", {lengths[0] * seats:,} in all" if len(lengths) == 1 else ""
    return (
        f"One focal seat against {seats - 1} of the other; rules {preset}{stakes}, {seats} seats, {numbers}. "
        f"Each line: {blocks} {unit} played from every seat{each}. Intervals: 95 % bootstrap over {unit}."
        + _saved(table.cells)
    )


def _saved(cells: Sequence[Cell]) -> str:
    """How much narrower intervals get when the luck of the cards is taken out."""
    ratios = sorted(cell.adjusted.variance_ratio for cell in cells if cell.adjusted is not None)
    if not ratios:
        return ""
    least, most = (round(100 * (1 - ratio)) for ratio in (ratios[-1], ratios[0]))
    return f" With the luck of the cards taken out they need {least} to {most} % fewer deals (summary.json: adjusted)."


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


def _table(words: Sequence[str], numbers: Sequence[str]) -> Table:
    """A table with columns of words, then of numbers."""
    table = Table(box=SIMPLE, show_edge=False, pad_edge=False)
    for heading in words:
        table.add_column(heading, overflow="fold")
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _antes(antes: Estimate) -> str:
    """Antes a deal with the bootstrap interval."""
    return f"{antes.mean:+.3f} ({interval(antes.low, antes.high)})"


def _percent(share: Estimate) -> str:
    """A share in percent, with half the width of its interval."""
    return f"{100 * share.mean:.1f}±{50 * (share.high - share.low):.1f}"
