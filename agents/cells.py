"""What a tournament's blocks say: means with intervals for every cell of the cross table and every other line-up."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena import stream_seed
from agents.blocks import Blocks
from agents.games import part_of
from agents.results import LineUp, Results
from agents.statistics import Estimate, estimates, half_width
from agents.variates import without_luck

BOOTSTRAP_STREAM = "tournament: bootstrap"


@dataclass(frozen=True, slots=True)
class Position:
    """How the focal seat fares in one position at the table.

    Attributes:
        mean: units a deal.
        low: lower end of the t interval.
        high: its upper end.
        rate: share of these deals that the game's last rate counts.
    """

    mean: float
    low: float
    high: float
    rate: float


@dataclass(frozen=True, slots=True)
class Adjusted:
    """A result with the luck of the cards taken out (`agents.luck`).

    Attributes:
        mean: units a deal; its expectation is that of the plain mean.
        low: lower end of the t interval.
        high: its upper end.
        variance_ratio: variance of a block beside that of the plain result; 0.75 saves a quarter of the deals.
    """

    mean: float
    low: float
    high: float
    variance_ratio: float


@dataclass(frozen=True, slots=True)
class Cell:
    """How one focal seat fares against a table of the field; for one seat, what it makes more of the same packs.

    Attributes:
        focal: name of the focal entrant.
        field: name of the entrant in all other seats.
        seats: at the table.
        places: in the line-up.
        earned: units a deal.
        rates: shares of its deals, or means over them, by name: the rates of the game (`agents.games`).
        positions: by position, the eldest first, the dealer last.
        adjusted: units a deal with the luck of the cards taken out; None where that cannot be known.
        deals: deals it has played in all.
        forfeits: deals that the focal entrant has forfeited (7.2).
    """

    focal: str
    field: str
    seats: int
    places: int
    earned: Estimate
    rates: Mapping[str, Estimate]
    positions: tuple[Position, ...]
    adjusted: Adjusted | None
    deals: int
    forfeits: int

    @property
    def field_mean(self) -> float:
        """Units a deal of each seat of the field: what the focal seat wins, they lose together."""
        return -self.earned.mean / (self.places - 1)


@dataclass(frozen=True, slots=True)
class Seating:
    """How the places of any other line-up fare.

    Attributes:
        line_up: names by place.
        seats: at the table.
        earned: units a deal, by place.
    """

    line_up: LineUp
    seats: int
    earned: tuple[Estimate, ...]


def is_cell(line_up: LineUp) -> bool:
    """Whether a line-up is one entrant against a field of another one."""
    return line_up[0] != line_up[1] and len(set(line_up[1:])) == 1


def cells_of(results: Results, line_ups: Sequence[LineUp] | None = None, *, seed: int) -> list[Cell]:
    """The cells of the cross table.

    Args:
        results: the blocks.
        line_ups: which, in what order; all there are when left out.
        seed: of the resampling. Cells with equally many blocks are resampled alike.
    """
    chosen = [line_up for line_up in (line_ups or results.line_ups) if is_cell(line_up)]
    blocks = {line_up: found for line_up in chosen if (found := results.of(line_up)) is not None}
    columns = {line_up: _columns_of_cell(found) for line_up, found in blocks.items()}
    estimated = _estimated(columns, seed)
    return [
        _cell(line_up, blocks[line_up], estimated[line_up], _adjusted(results, line_up, blocks[line_up].block_means))
        for line_up in blocks
    ]


def seatings_of(results: Results, line_ups: Sequence[LineUp] | None = None, *, seed: int) -> list[Seating]:
    """All line-ups that are no cells; arguments as in `cells_of`."""
    chosen = [line_up for line_up in (line_ups or results.line_ups) if not is_cell(line_up)]
    blocks = {line_up: found for line_up in chosen if (found := results.of(line_up)) is not None}
    columns = {
        line_up: (found.place_totals, np.full(len(line_up), found.whole_unit)) for line_up, found in blocks.items()
    }
    estimated = _estimated(columns, seed)
    seats = results.terms.rules.num_players
    return [Seating(line_up, seats, tuple(estimated[line_up])) for line_up in blocks]


Columns = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]
"""Whole numbers by block [D, K] and what to divide each column by [K]."""


def _columns_of_cell(blocks: Blocks) -> Columns:
    """Result of the focal place and its rates."""
    counts = [blocks.totals(rate.count) for rate in part_of(blocks.rules).rates]
    totals = np.stack([blocks.place_totals[:, 0], *counts], axis=1)
    return totals, np.array([blocks.whole_unit, *[blocks.deals_a_place] * len(counts)])


def _estimated(columns: dict[LineUp, Columns], seed: int) -> dict[LineUp, list[Estimate]]:
    """Estimates of every column; line-ups with equally many blocks are resampled together."""
    stream = stream_seed(seed, BOOTSTRAP_STREAM)
    by_length: dict[int, list[LineUp]] = {}
    for line_up, (totals, _) in columns.items():
        by_length.setdefault(len(totals), []).append(line_up)
    estimated = {}
    for line_ups in by_length.values():
        together = np.concatenate([columns[line_up][0] for line_up in line_ups], axis=1)
        divisors = np.concatenate([columns[line_up][1] for line_up in line_ups])
        found = iter(estimates(together, divisors, seed=stream))
        for line_up in line_ups:
            estimated[line_up] = [next(found) for _ in columns[line_up][1]]
    return estimated


def _adjusted(results: Results, line_up: LineUp, plain: NDArray[np.float64]) -> Adjusted | None:
    """Results [D] with the luck taken out; None for sessions, too few blocks, and where every block is the same."""
    if results.terms.session > 1 or not plain.var():
        return None
    luck = part_of(results.terms.rules).luck
    controls = [known for seed, blocks in results.by_seed(line_up) if (known := luck(blocks, seed)) is not None]
    if not controls:
        return None
    try:
        adjusted = without_luck(plain, np.concatenate(controls))
    except ValueError:
        return None
    mean, reach = float(adjusted.mean()), half_width(adjusted)
    return Adjusted(mean, mean - reach, mean + reach, float(adjusted.var(ddof=1) / plain.var(ddof=1)))


def _cell(line_up: LineUp, blocks: Blocks, estimated: list[Estimate], adjusted: Adjusted | None) -> Cell:
    """One cell from its estimates."""
    earned, *rates = estimated
    return Cell(
        focal=line_up[0],
        field=line_up[1],
        seats=blocks.rules.num_players,
        places=blocks.num_places,
        earned=earned,
        rates={rate.name: share for rate, share in zip(part_of(blocks.rules).rates, rates, strict=True)},
        positions=_positions(blocks),
        adjusted=adjusted,
        deals=len(blocks) * blocks.deals_a_place,
        forfeits=int(blocks.totals("forfeited").sum()),
    )


def _positions(blocks: Blocks) -> tuple[Position, ...]:
    """The focal place by position."""
    means = blocks.position_means
    counts = blocks.count(part_of(blocks.rules).rates[-1].count)[:, :, 0]
    counted = np.take_along_axis(counts, blocks.rotations_by_position(), axis=1) / blocks.session
    positions = []
    for column, shares in zip(means.T, counted.T, strict=True):
        mean, reach = float(column.mean()), half_width(column)
        positions.append(Position(mean, mean - reach, mean + reach, float(shares.mean())))
    return tuple(positions)


def plain_cell(cell: Cell) -> dict[str, Any]:
    """A cell as JSON writes it: units a deal under plain names, every share with its interval."""
    plain: dict[str, Any] = {
        "focal": cell.focal,
        "field": cell.field,
        "seats": cell.seats,
        **plain_estimate(cell.earned),
        "deals": cell.deals,
        "field_mean": cell.field_mean,
        "forfeits": cell.forfeits,
    }
    for name, share in cell.rates.items():
        plain |= {name: share.mean, f"{name}_low": share.low, f"{name}_high": share.high}
    plain["adjusted"] = None if cell.adjusted is None else asdict(cell.adjusted)
    return {**plain, "by_position": [_plain_position(position, list(cell.rates)[-1]) for position in cell.positions]}


def _plain_position(position: Position, rate: str) -> dict[str, float]:
    """A position as JSON writes it, its rate under the name that it has."""
    return {"mean": position.mean, "low": position.low, "high": position.high, rate: position.rate}


def plain_seating(seating: Seating) -> dict[str, Any]:
    """A line-up as JSON writes it."""
    places = [
        {"name": name, **plain_estimate(found)} for name, found in zip(seating.line_up, seating.earned, strict=True)
    ]
    return {"seats": seating.seats, "places": places}


def plain_estimate(found: Estimate) -> dict[str, Any]:
    """Mean and intervals under plain names."""
    return {
        "mean": found.mean,
        "low": found.low,
        "high": found.high,
        "t_low": found.t_low,
        "t_high": found.t_high,
        "blocks": found.blocks,
    }
