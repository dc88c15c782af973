"""What a tournament's report shows of each table size, made of its summary and its blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.charts import Chart, Scored, Series, bars, lines, strips, whiskers
from agents.habits import Habits, habits_of
from agents.results import Results
from agents.verdicts import ABOVE, BELOW

Plain = Mapping[str, Any]
"""A part of `summary.json`."""

RATE_TITLES = {"pots_won": "Pots taken", "bourre_rate": "Bourrés", "pass_rate": "Passes"}
SCORES = {
    "strength": ("Strength by least squares", "antes a deal above the mean entrant", "value"),
    "plackett_luce": ("Strength by Plackett-Luce", "log strength above the mean entrant", "value"),
    "alpha_rank": ("Share by alpha-Rank", "share, mean over resampled deals", "average"),
    "maximal_lottery": ("Share in a maximal lottery", "share, mean over resampled deals", "average"),
}
"""Kinds of ratings by their key in the summary: title, unit, and which of their numbers is the answer to read."""

BY_HOLM = "Verdicts: t-tests at 5 %, adjusted for their number (Holm)."
BY_SEQUENTIAL = (
    "Verdicts: a sequential test of all cells (summary.json); after an early stop intervals are too hopeful."
)
FEWEST_HANDS = 20  # that a share of passes is drawn from
CELL_HEADER = ("focal", "field", "antes", "95 %", "Student's t", "pots %", "bourré %", "passed %", "blocks", "forfeits")
_DARKEST = 0.62  # of the heat map


@dataclass(frozen=True, slots=True)
class Square:
    """One cell of the heat map.

    Attributes:
        mean: antes a deal.
        low: lower end of its interval.
        high: its upper end.
        verdict: whether that is more than chance.
        kind: "above" or "below", the colour; "" for none.
        shade: how strong the colour is, 0 to 1.
    """

    mean: float
    low: float
    high: float
    verdict: str
    kind: str
    shade: float


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the heat map.

    Attributes:
        name: of the focal entrant.
        cells: by field; None where there is no cell.
        mean: over the fields.
    """

    name: str
    cells: tuple[Square | None, ...]
    mean: float


@dataclass(frozen=True, slots=True)
class Player:
    """Charts of one entrant.

    Attributes:
        name: of the entrant.
        charts: how it plays.
    """

    name: str
    charts: tuple[Chart, ...]


@dataclass(frozen=True, slots=True)
class TableView:
    """One table size.

    Attributes:
        seats: N.
        names: entrants with cells, the one with the highest mean first.
        grid: rows of the heat map, in the same order.
        verdicts_by: what the verdicts mean.
        ratings: charts.
        ratings_say: how far to trust them.
        rates: charts.
        cell_header: columns of `cells`.
        cells: every cell as text.
        seatings: every place of other line-ups as text.
        players: charts of each entrant.
    """

    seats: int
    names: tuple[str, ...]
    grid: tuple[Row, ...]
    verdicts_by: str
    ratings: tuple[Chart, ...]
    ratings_say: str
    rates: tuple[Chart, ...]
    cell_header: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    seatings: tuple[tuple[str, ...], ...]
    players: tuple[Player, ...]


def sizes_of(summary: Plain) -> list[int]:
    """The table sizes of a summary, in its order."""
    return [int(table["seats"]) for table in summary["rules"]["tables"]]


def cells_at(summary: Plain, seats: int) -> list[Plain]:
    """The cells of one table size."""
    return [cell for cell in summary["cells"] if cell["seats"] == seats]


def table_view(summary: Plain, results: Results) -> TableView:
    """What there is to show of one table size.

    Args:
        summary: of the tournament.
        results: the blocks of this table size.
    """
    seats = results.terms.rules.num_players
    cells = cells_at(summary, seats)
    names = ranked(cells)
    return TableView(
        seats=seats,
        names=names,
        grid=grid_of(cells, names),
        verdicts_by=verdicts_by(cells),
        ratings=tuple(_ratings_chart(key, scores) for key, scores in ratings_at(summary, seats).items()),
        ratings_say=ratings_say(summary, seats),
        rates=tuple(_rates_charts(cells, names)),
        cell_header=CELL_HEADER,
        cells=tuple(_cell_row(cell) for cell in cells),
        seatings=tuple(_seating_rows(summary, seats)),
        players=tuple(_players(cells, names, [entrant["name"] for entrant in summary["entrants"]], results)),
    )


# --- the cross table ---


def ranked(cells: Sequence[Plain]) -> tuple[str, ...]:
    """The entrants of some cells, the one with the highest mean as focal first; equals as they come."""
    names = list(dict.fromkeys(name for cell in cells for name in (cell["focal"], cell["field"])))
    means = {name: _mean_of_row(cells, name) for name in names}
    return tuple(sorted(names, key=lambda name: -means[name]))


def _mean_of_row(cells: Sequence[Plain], name: str) -> float:
    """Mean over the cells of a focal entrant; far below all others when it has none."""
    means = [float(cell["mean"]) for cell in cells if cell["focal"] == name]
    return sum(means) / len(means) if means else float("-inf")


def verdict_of(cell: Plain) -> str:
    """Whether a mean is more than chance: as the sequential test says, where there was one."""
    return str(cell["sequential"]["state"] if "sequential" in cell else cell["verdict"])


def grid_of(cells: Sequence[Plain], names: Sequence[str]) -> tuple[Row, ...]:
    """The rows of the heat map."""
    by_pair = {(cell["focal"], cell["field"]): cell for cell in cells}
    largest = max((abs(cell["mean"]) for cell in cells), default=0.0) or 1.0
    focal = [name for name in names if any(cell["focal"] == name for cell in cells)]
    return tuple(
        Row(
            name,
            tuple(_square(by_pair[name, field], largest) if (name, field) in by_pair else None for field in names),
            _mean_of_row(cells, name),
        )
        for name in focal
    )


def _square(cell: Plain, largest: float) -> Square:
    """A cell with its colour: none where it is not separated from 0, and by the root of the mean elsewhere."""
    verdict, mean = verdict_of(cell), cell["mean"]
    kind = verdict if verdict in (ABOVE, BELOW) else ""
    shade = round(_DARKEST * (abs(mean) / largest) ** 0.5, 2)
    return Square(mean, cell["low"], cell["high"], verdict, kind, shade)


def _cell_row(cell: Plain) -> tuple[str, ...]:
    """A cell as text."""
    shares = (f"{100 * cell[name]:.1f}±{50 * (cell[f'{name}_high'] - cell[f'{name}_low']):.1f}" for name in RATE_TITLES)
    return (cell["focal"], cell["field"], *_estimate(cell), *shares, f"{cell['blocks']:,}", f"{cell['forfeits']:,}")


def _estimate(plain: Plain) -> tuple[str, str, str]:
    """Mean, bootstrap and t interval as text."""
    return (
        f"{plain['mean']:+.3f}",
        f"{plain['low']:+.3f} to {plain['high']:+.3f}",
        f"{plain['t_low']:+.3f} to {plain['t_high']:+.3f}",
    )


def _seating_rows(summary: Plain, seats: int) -> list[tuple[str, ...]]:
    """Places of the other line-ups as text."""
    rows: list[tuple[str, ...]] = []
    for seating in summary["line_ups"]:
        line_up = ", ".join(place["name"] for place in seating["places"])
        for place in seating["places"] if seating["seats"] == seats else ():
            rows.append((line_up, place["name"], *_estimate(place), f"{place['blocks']:,}"))
    return rows


# --- ratings ---


def ratings_at(summary: Plain, seats: int) -> dict[str, list[Scored]]:
    """Every kind of rating that a summary has for a table size, the best entrant first."""
    found = {}
    for table in summary["ratings"]:
        for key, (_, _, number) in SCORES.items():
            rows = table.get(key, ())
            if table["seats"] == seats and rows and not isinstance(rows, dict):  # a dict says why there are none
                scores = [Scored(row["name"], row[number], row["low"], row["high"]) for row in rows]
                found[key] = sorted(scores, key=lambda score: -score.value)
    return found


def verdicts_by(cells: Sequence[Plain]) -> str:
    """By which test cells are separated, in words."""
    return BY_SEQUENTIAL if any("sequential" in cell for cell in cells) else BY_HOLM


def ratings_say(summary: Plain, seats: int) -> str:
    """How far the strengths of a table size explain its results; "" where there are none."""
    fits = [
        table["fit"]["share_explained"] for table in summary["ratings"] if table["seats"] == seats and "fit" in table
    ]
    return f"Strengths explain {100 * fits[0]:.0f} % of the cross table." if fits else ""


def _ratings_chart(key: str, scores: Sequence[Scored]) -> Chart:
    """A chart of one kind of rating."""
    title, unit, _ = SCORES[key]
    return whiskers(title, scores, label=unit)


# --- how they play ---


def _rates_charts(cells: Sequence[Plain], names: Sequence[str]) -> list[Chart]:
    """A chart for each share of deals."""
    focal = [name for name in names if any(cell["focal"] == name for cell in cells)]
    charts = []
    for rate, title in RATE_TITLES.items() if focal else ():
        values = {name: [cell[rate] for cell in cells if cell["focal"] == name] for name in focal}
        charts.append(strips(title, values, label="% of its deals"))
    return charts


def _players(
    cells: Sequence[Plain], ranked_names: Sequence[str], entrants: Sequence[str], results: Results
) -> list[Player]:
    """Charts of each entrant: in the order of the cross table, where there is one."""
    players = []
    for name in ranked_names or entrants:
        own = [cell for cell in cells if cell["focal"] == name]
        charts = [_by_position(own, entrants, results.terms.rules.num_players)] if own else []
        habits = habits_of(results, name)
        if habits is not None:
            charts += [_passes(habits), _draws(habits)]
        players += [Player(name, tuple(charts))] * bool(charts)
    return players


def positions_at(seats: int) -> list[str]:
    """Names of the positions at a table."""
    return ["eldest", *("2nd", "3rd", "4th", "5th", "6th", "7th")[: seats - 2], "dealer"]


def _by_position(cells: Sequence[Plain], entrants: Sequence[str], seats: int) -> Chart:
    """Antes by position, a line for each field, in the same colour wherever it is the field."""
    positions = positions_at(seats)
    series = []
    for cell in cells:
        mean, low, high = ([place[key] for place in cell["by_position"]] for key in ("mean", "low", "high"))
        color = entrants.index(cell["field"])
        series.append(Series(cell["field"], range(seats), mean, low, high, color))
    return lines(
        "Antes by position, against each field",
        series,
        x_label="position",
        y_label="antes a deal",
        ticks=positions,
        zero=True,
    )


def _passes(habits: Habits) -> Chart:
    """Passes by trumps dealt, a line for each position."""
    series = []
    for position, name in enumerate(positions_at(len(habits.dealt))):
        trumps = [count for count, hands in enumerate(habits.dealt[position]) if hands >= FEWEST_HANDS]
        shares = [100 * habits.passed[position, count] / habits.dealt[position, count] for count in trumps]
        series.append(Series(name, trumps, [float(share) for share in shares]))
    title = "Passes by trumps dealt and position"
    ticks = [str(count) for count in range(habits.dealt.shape[1])]
    return lines(title, series, x_label="trumps", y_label="% that pass", ticks=ticks, y_range=(-3, 103))


def _draws(habits: Habits) -> Chart:
    """Cards exchanged by those who stay."""
    stayed = max(int(habits.drawn.sum()), 1)
    heights = [float(100 * count / stayed) for count in habits.drawn]
    return bars("Cards exchanged when it stays", heights, x_label="cards", y_label="% of these deals")
