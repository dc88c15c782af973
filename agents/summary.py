"""Everything a tournament's blocks say, as one JSON-able value: what is printed, drawn and written down."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents.cells import Cell, Seating, cells_of, plain_cell, plain_seating, seatings_of
from agents.results import LineUp, Results


@dataclass(frozen=True, slots=True)
class TableSummary:
    """What was found at one table size.

    Attributes:
        results: the blocks.
        cells: of the cross table.
        seatings: the other line-ups.
    """

    results: Results
    cells: list[Cell]
    seatings: list[Seating]

    @property
    def num_players(self) -> int:
        """N."""
        return self.results.terms.rules.num_players


def summarise(results: Results, line_ups: Sequence[LineUp] | None = None, *, seed: int) -> TableSummary:
    """What the blocks of one table size say.

    Args:
        results: the blocks.
        line_ups: which, in what order; all there are when left out.
        seed: of all resampling.
    """
    return TableSummary(
        results=results,
        cells=cells_of(results, line_ups, seed=seed),
        seatings=seatings_of(results, line_ups, seed=seed),
    )


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
        "cells": [plain_cell(cell) for table in tables for cell in table.cells],
        "line_ups": [plain_seating(seating) for table in tables for seating in table.seatings],
        "rules": {
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


def _plain_rules(results: Results) -> dict[str, Any]:
    """The rules of one table size."""
    rules = results.terms.rules
    return {"seats": rules.num_players, "fingerprint": rules.fingerprint, "fields": dataclasses.asdict(rules)}


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
