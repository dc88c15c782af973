"""The tables of a tournament's report as Markdown, to be pasted anywhere."""

import re
from collections.abc import Iterator, Sequence

from agents.charts import Scored
from agents.report_views import (
    SCORES,
    Plain,
    Row,
    Square,
    cells_at,
    grid_of,
    ranked,
    ratings_at,
    ratings_say,
    sizes_of,
    verdicts_by,
)

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def tournament_markdown(summary: Plain) -> str:
    """Cross tables, ratings, forfeits, the command and the versions.

    Args:
        summary: what `summary.json` holds.
    """
    names = ", ".join(escaped(entrant["name"]) for entrant in summary["entrants"])
    lines = [f"# Bourré tournament: {names}", ""]
    for seats in sizes_of(summary):
        lines += [*_table_size(summary, seats)]
    lines += ["## Forfeits", "", *_faults(summary)]
    versions = ", ".join(f"{name} {number}" for name, number in summary["versions"].items())
    rules = "; ".join(f"{table['seats']} seats {table['fingerprint']}" for table in summary["rules"]["tables"])
    lines += ["", "## How it was measured", "", *_fenced(summary["command"]), ""]
    lines += [f"Rules {escaped(summary['rules']['preset'])} ({rules}), seeds {summary['seeds']}, {versions}."]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _table_size(summary: Plain, seats: int) -> Iterator[str]:
    """Cross table, ratings and other line-ups of a table size."""
    cells = cells_at(summary, seats)
    names = ranked(cells)
    if cells:
        yield f"## {seats} seats: antes a deal of one of the row against {seats - 1} of the column"
        yield ""
        header = ("focal \\ field", *(escaped(name) for name in names), "mean")
        yield from _table(header, [_row(row) for row in grid_of(cells, names)])
        yield ""
        yield f"Bold is separated. {verdicts_by(cells)}"
        yield ""
        if said := ratings_say(summary, seats):
            yield said
            yield ""
    for key, scores in ratings_at(summary, seats).items():
        title, unit, _ = SCORES[key]
        yield f"### {title}, {seats} seats"
        yield ""
        yield from _table(("entrant", unit, "95 %"), [_score(score) for score in scores])
        yield ""
    seatings = [seating for seating in summary["line_ups"] if seating["seats"] == seats]
    if seatings:
        yield f"### Other line-ups, {seats} seats"
        yield ""
        rows = [
            (_line_up(seating), escaped(place["name"]), *_numbers(place))
            for seating in seatings
            for place in seating["places"]
        ]
        yield from _table(("line-up", "place", "antes", "95 %"), rows)
        yield ""


def _row(row: Row) -> tuple[str, ...]:
    """A row of the cross table."""
    return (escaped(row.name), *(_square(square) for square in row.cells), f"{row.mean:+.3f}")


def _square(square: Square | None) -> str:
    """A cell of the cross table, bold where it is separated from 0."""
    if square is None:
        return "-"
    mean = f"{square.mean:+.3f}"
    return f"{f'**{mean}**' if square.kind else mean} ({square.low:+.3f} to {square.high:+.3f})"


def _score(score: Scored) -> tuple[str, ...]:
    """A rating."""
    return escaped(score.name), f"{score.value:+.3f}", f"{score.low:+.3f} to {score.high:+.3f}"


def _line_up(seating: Plain) -> str:
    """Who sits at a table."""
    return escaped(", ".join(place["name"] for place in seating["places"]))


def _numbers(place: Plain) -> tuple[str, str]:
    """Antes of a place with their interval."""
    return f"{place['mean']:+.3f}", f"{place['low']:+.3f} to {place['high']:+.3f}"


def _faults(summary: Plain) -> list[str]:
    """Who forfeited deals."""
    rows = [
        (escaped(entrant["name"]), f"{entrant['forfeits']:,}", escaped(entrant["fault"] or ""))
        for entrant in summary["entrants"]
        if entrant["forfeits"] or entrant["fault"]
    ]
    return list(_table(("entrant", "deals forfeited", "first fault"), rows)) if rows else ["None."]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table."""
    yield f"| {' | '.join(header)} |"
    yield f"|{' --- |' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _fenced(text: str) -> list[str]:
    """Text in a code block that no run of backticks inside can end."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence, text, fence]
