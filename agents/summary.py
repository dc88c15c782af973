"""Everything a tournament's blocks say, as one JSON-able value: what is printed, drawn and written down."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents.arena import stream_seed
from agents.cells import Cell, Seating, cells_of, plain_cell, plain_seating, seatings_of
from agents.lineups import OutcomesError
from agents.outcomes import Outcomes
from agents.results import LineUp, Results, means_by_name
from agents.sequential import Look, SequentialTest
from agents.standing import Standing, standing_of
from agents.stopping import Separated, StoppingRule
from agents.verdicts import ABOVE, BELOW, NOT_SEPARATED, Verdict, cell_verdicts
from bourre_env.family import FIRST, GameRules, game_of, plain_rules

RATING_STREAM = "tournament: ratings"
_OTHER_SIDE = {ABOVE: BELOW, BELOW: ABOVE, NOT_SEPARATED: NOT_SEPARATED}


@dataclass(frozen=True, slots=True)
class TableSummary:
    """What was found at one table size.

    Attributes:
        results: the blocks.
        cells: of the cross table.
        seatings: the other line-ups.
        verdicts: of cells, adjusted for their number; by names of focal entrant and field.
        standing: ratings of all entrants; None when no chain of line-ups connects them.
        sequential: what the sequential test said of each cell, when there was one.
    """

    results: Results
    cells: list[Cell]
    seatings: list[Seating]
    verdicts: dict[tuple[str, str], Verdict]
    standing: Standing | None
    sequential: "SequentialSummary | None"

    @property
    def num_players(self) -> int:
        """N."""
        return self.results.terms.rules.num_players

    @property
    def unit(self) -> str:
        """What results are counted in, in the plural."""
        return game_of(self.results.terms.rules).unit


@dataclass(frozen=True, slots=True)
class SequentialSummary:
    """A sequential test of all cells.

    Attributes:
        test: the test.
        looks: the last look at each cell, by names of focal entrant and field.
    """

    test: SequentialTest
    looks: dict[tuple[str, str], Look]


def summarise(
    results: Results,
    line_ups: Sequence[LineUp] | None = None,
    *,
    seed: int,
    stop: StoppingRule | None = None,
) -> TableSummary:
    """What the blocks of one table size say.

    Args:
        results: the blocks.
        line_ups: which, in what order; all there are when left out.
        seed: of all resampling.
        stop: the rule that ended the tournament; a sequential test is reported.

    Raises:
        OutcomesError: results that contradict themselves.
    """
    for line_up in line_ups or results.line_ups:
        blocks = results.of(line_up)
        if blocks is not None and len(blocks) < 2:
            raise OutcomesError(f"{', '.join(line_up)}: 1 block has no interval; play at least 2")
    outcomes = results.outcomes(line_ups)
    cells = cells_of(results, line_ups, seed=seed)
    return TableSummary(
        results=results,
        cells=cells,
        seatings=seatings_of(results, line_ups, seed=seed),
        verdicts=_verdicts(outcomes) if cells else {},
        standing=standing_of(outcomes, seed=stream_seed(seed, RATING_STREAM)),
        sequential=_sequential(results, cells, stop) if isinstance(stop, Separated) else None,
    )


def _verdicts(outcomes: Sequence[Outcomes]) -> dict[tuple[str, str], Verdict]:
    """Verdicts by names; at two seats one verdict serves both cells of a pair."""
    verdicts = {(verdict.first, verdict.second): verdict for verdict in cell_verdicts(outcomes)}
    mirrored = {
        (second, first): replace(
            verdict, first=second, second=first, mean=-verdict.mean, t=-verdict.t, verdict=_OTHER_SIDE[verdict.verdict]
        )
        for (first, second), verdict in verdicts.items()
        if (second, first) not in verdicts
    }
    return verdicts | mirrored


def _sequential(results: Results, cells: Sequence[Cell], stop: Separated) -> SequentialSummary:
    """The look that decided each cell."""
    looks = {}
    for cell in cells:
        line_up = (cell.focal,) + (cell.field,) * (cell.places - 1)
        blocks = results.of(line_up)
        assert blocks is not None, "a cell has blocks"
        looks[cell.focal, cell.field] = stop.outcome(means_by_name(blocks.place_means, line_up))
    return SequentialSummary(stop.test, looks)


def plain_summary(
    tables: Sequence[TableSummary], *, preset: str, command: str, versions: dict[str, str]
) -> dict[str, Any]:
    """What `summary.json` holds.

    Args:
        tables: one for each table size.
        preset: name of the house rules.
        command: what to type to get it again.
        versions: of the libraries it depends on.
    """
    terms = tables[0].results.terms
    return {
        "cells": [_plain_cell(table, cell) for table in tables for cell in table.cells],
        "line_ups": [plain_seating(seating) for table in tables for seating in table.seatings],
        "ratings": [{"seats": table.num_players, **_plain_standing(table.standing)} for table in tables],
        "sequential": [_plain_sequential(table) for table in tables if table.sequential is not None],
        "rules": {
            **_plain_game(terms.rules),
            "preset": preset,
            "session": terms.session,
            "buy_in": terms.buy_in,
            "tables": [_plain_rules(table.results) for table in tables],
        },
        "seeds": sorted({seed for table in tables for seed, _ in table.results.blocks}),
        "entrants": _plain_entrants(tables),
        "command": command,
        "versions": versions,
    }


def _plain_game(rules: GameRules) -> dict[str, str]:
    """The game and the unit of its results; nothing for the first one, whose summaries are older than the others."""
    return {} if rules.game == FIRST else {"game": rules.game, "unit": game_of(rules).unit}


def _plain_cell(table: TableSummary, cell: Cell) -> dict[str, Any]:
    """A cell with its verdicts."""
    names = cell.focal, cell.field
    verdict = table.verdicts[names]
    if table.sequential is None:
        return {**plain_cell(cell), "verdict": verdict.verdict, "p": verdict.p, "p_holm": verdict.p_adjusted}
    look = table.sequential.looks[names]  # tests of a fixed number of blocks mean nothing after a look decided
    sequential = dataclasses.asdict(look)
    return {**plain_cell(cell), "verdict": look.state, "p": None, "p_holm": None, "sequential": sequential}


def _plain_standing(standing: Standing | None) -> dict[str, Any]:
    """Ratings as JSON writes them."""
    return {"available": False} if standing is None else {"available": True, **standing.plain()}


def _plain_sequential(table: TableSummary) -> dict[str, Any]:
    """The terms of a sequential test."""
    assert table.sequential is not None, "asked only where there was one"
    test = table.sequential.test
    return {"seats": table.num_players, **dataclasses.asdict(test), "bounds": list(test.bounds)}


def _plain_rules(results: Results) -> dict[str, Any]:
    """The rules of one table size."""
    rules = results.terms.rules
    return {"seats": rules.num_players, "fingerprint": rules.fingerprint, "fields": plain_rules(rules)}


def _plain_entrants(tables: Sequence[TableSummary]) -> list[dict[str, Any]]:
    """Who played, and what went wrong with it at all tables together."""
    plain = []
    for name, (spec, identity) in tables[0].results.entrants.items():
        faults = [table.results.faults[name] for table in tables if name in table.results.faults]
        plain.append(
            {
                "name": name,
                "spec": spec,
                "digest": identity,
                "forfeits": sum(table.results.forfeits(name) for table in tables),
                "illegal_actions": sum(fault.illegal for fault in faults),
                "failed_answers": sum(fault.failed for fault in faults),
                "overtime": any(fault.overtime for fault in faults),
                "fault": next((fault.example for fault in faults), None),
            }
        )
    return plain
