"""Charts as inline SVG: no file of their own, the page's text colour, the same bytes for the same numbers.

Every chart carries a sentence that says what it shows and the numbers behind it, for those who cannot see it.
"""

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

COLORS = ("#4c7fd9", "#e0793a", "#3aa35a", "#c9506e", "#8d6cd1", "#ad8b2c", "#2f9fb0", "#8a8a8a")
"""Readable on white and on black."""

WIDTH, HEIGHT = 3.9, 2.7  # inches
MOST_LETTERS = 26  # of a name in a chart
ROW_HEIGHT = 0.26
_INK = "#123456"  # becomes the page's own text colour
_SETTINGS = {
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "grid.alpha": 0.18,
    "grid.color": _INK,
    "axes.grid": True,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "svg.fonttype": "none",
    "svg.hashsalt": "bourre",
    "text.color": _INK,
    "text.parse_math": False,  # a name may hold dollar signs
    "xtick.color": _INK,
    "ytick.color": _INK,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
}
_NO_METADATA = dict.fromkeys(("Creator", "Date", "Format", "Type"))


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart.

    Attributes:
        name: in the legend.
        x: places.
        y: values; as many.
        low: lower ends of intervals; none when empty.
        high: their upper ends.
        color: number of its colour, for a name that comes in several charts; its place among the lines when left out.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    color: int | None = None


@dataclass(frozen=True, slots=True)
class Scored:
    """A value with its interval.

    Attributes:
        name: whose it is.
        value: of it.
        low: lower end.
        high: upper end.
    """

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart and what it says in other words.

    Attributes:
        title: above it.
        says: what can be seen, in a sentence.
        svg: the drawing, an `<svg>` element; see `numbered`.
        header: names of the columns of the numbers behind it.
        rows: the numbers, as text.
    """

    title: str
    says: str
    svg: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def lines(
    title: str,
    series: Sequence[Series],
    *,
    x_label: str,
    y_label: str,
    ticks: Sequence[str] = (),
    y_range: tuple[float, float] | None = None,
    zero: bool = False,
) -> Chart:
    """Lines over numbers, or over named places.

    Args:
        title: above the chart.
        series: the lines; intervals become bands, or whiskers over named places.
        x_label: below.
        y_label: at the side.
        ticks: names of the places 0, 1, … on the x axis.
        y_range: of the y axis; as the values need it when left out.
        zero: draw a line at 0.
    """
    with _axes(HEIGHT) as (figure, axes):
        for number, line in enumerate(series):
            color = COLORS[(number if line.color is None else line.color) % len(COLORS)]
            _draw_line(axes, line, color, shift=(number - (len(series) - 1) / 2) * 0.04, ticks=ticks)
        if zero:
            axes.axhline(0, color=_INK, linewidth=0.8)
        if ticks:
            axes.set_xticks(range(len(ticks)), ticks)
        else:
            axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        if y_range is not None:
            axes.set_ylim(*y_range)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        if len(series) > 1:
            longest = max(len(short(line.name)) for line in series)
            columns = min(len(series), 6 if longest < 4 else 4 if longest < 8 else 3 if longest < 16 else 2)
            figure.legend(loc="outside lower center", ncols=columns, handlelength=1.4, columnspacing=1.0)
        svg = _svg(figure)
    names = ", ".join(line.name for line in series)
    says = f"{title}: {y_label} over {x_label}, {len(series)} {'line' if len(series) == 1 else 'lines'} ({names})."
    return Chart(title, says, svg, *_numbers(series, x_label, ticks))


def _draw_line(axes: Axes, line: Series, color: str, *, shift: float, ticks: Sequence[str]) -> None:
    """One line with its intervals."""
    places = [x + shift * bool(ticks) for x in line.x]
    marker = "o" if ticks or len(line.x) == 1 else ""
    axes.plot(places, line.y, color=color, marker=marker, markersize=3.2, label=short(line.name))
    if line.low and (ticks or len(line.x) == 1):
        axes.vlines(places, line.low, line.high, color=color, linewidth=1)
    elif line.low:
        axes.fill_between(places, line.low, line.high, color=color, alpha=0.22, linewidth=0)


def _numbers(
    series: Sequence[Series], x_label: str, ticks: Sequence[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Header and rows of the numbers behind some lines; a long run's are left to its log."""
    most = 60
    places = sorted({x for line in series for x in line.x})
    kept = places if len(places) <= most else [places[i * (len(places) - 1) // (most - 1)] for i in range(most)]
    found = [dict(zip(line.x, range(len(line.x)), strict=True)) for line in series]
    rows = []
    for x in kept:
        name = ticks[int(x)] if ticks else f"{x:,g}"
        row = [_with_interval(line, at.get(x)) for line, at in zip(series, found, strict=True)]
        rows.append((name, *row))
    return (x_label, *(line.name for line in series)), tuple(rows)


def _with_interval(line: Series, at: int | None) -> str:
    """One number of a line as text."""
    if at is None:
        return ""
    return f"{line.y[at]:.4g}" + (f" ({line.low[at]:.4g} to {line.high[at]:.4g})" if line.low else "")


def whiskers(title: str, scores: Sequence[Scored], *, label: str) -> Chart:
    """A dot with its interval for each name, the first on top."""
    with _axes(0.7 + ROW_HEIGHT * len(scores)) as (figure, axes):
        for row, score in enumerate(scores):
            axes.hlines(row, score.low, score.high, color=COLORS[0], linewidth=2)
            axes.plot(score.value, row, "o", color=COLORS[0], markersize=5)
        axes.axvline(0, color=_INK, linewidth=0.8)
        _name_rows(axes, [score.name for score in scores], label)
        svg = _svg(figure)
    rows = tuple((score.name, f"{score.value:+.4f}", f"{score.low:+.4f} to {score.high:+.4f}") for score in scores)
    best = f" {scores[0].name} is first with {scores[0].value:+.3f}." if scores else ""
    return Chart(title, f"{title}: {label} of {len(scores)} entrants with intervals.{best}", svg, ("", label, ""), rows)


def strips(title: str, values: dict[str, list[float]], *, label: str) -> Chart:
    """For each name a row of dots, one a value, and a bar at their mean; shares, in percent."""
    means = {name: sum(row) / len(row) for name, row in values.items()}
    with _axes(0.7 + ROW_HEIGHT * len(values)) as (figure, axes):
        for row, (name, shares) in enumerate(values.items()):
            axes.plot([100 * share for share in shares], [row] * len(shares), "o", color=COLORS[0], alpha=0.45, ms=4)
            axes.plot(100 * means[name], row, "|", color=_INK, markersize=11, markeredgewidth=1.6)
        axes.set_xlim(left=0)
        _name_rows(axes, list(values), label)
        svg = _svg(figure)
    rows = tuple((name, f"{100 * means[name]:.1f} %", *_range(row)) for name, row in values.items())
    says = f"{title}, {label}, for each of {len(values)} entrants against each field, and the mean."
    return Chart(title, says, svg, ("", "mean", "lowest", "highest"), rows)


def _range(shares: Sequence[float]) -> tuple[str, str]:
    """The lowest and the highest share."""
    return f"{100 * min(shares):.1f} %", f"{100 * max(shares):.1f} %"


def bars(title: str, heights: Sequence[float], *, x_label: str, y_label: str) -> Chart:
    """Bars at 0, 1, …; heights in percent."""
    with _axes(HEIGHT) as (figure, axes):
        axes.bar(range(len(heights)), heights, color=COLORS[0], width=0.72)
        axes.grid(visible=False, axis="x")
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        svg = _svg(figure)
    rows = tuple((str(place), f"{height:.1f} %") for place, height in enumerate(heights))
    return Chart(title, f"{title}: {y_label} by {x_label}.", svg, (x_label, y_label), rows)


def stacked(title: str, series: Sequence[Series], *, x_label: str, y_label: str) -> Chart:
    """Areas on top of each other, over the same places."""
    with _axes(HEIGHT) as (figure, axes):
        names = [short(line.name) for line in series]
        axes.stackplot(series[0].x, [line.y for line in series], labels=names, colors=COLORS[: len(series)], alpha=0.75)
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        figure.legend(loc="outside lower center", ncols=3, handlelength=1.4, columnspacing=1.0)
        svg = _svg(figure)
    says = f"{title}: {y_label} over {x_label}, stacked: {', '.join(line.name for line in series)}."
    return Chart(title, says, svg, *_numbers(series, x_label, ()))


def short(name: str) -> str:
    """A name that fits into a chart. The legend leaves out names that begin with an underscore, hence the space."""
    cut = name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 1]}…"
    return f" {cut}" if cut.startswith("_") else cut


def _name_rows(axes: Axes, names: Sequence[str], label: str) -> None:
    """Put names beside rows, the first on top."""
    axes.set_yticks(range(len(names)), [short(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel(label)


@contextmanager
def _axes(height: float) -> Iterator[tuple[Figure, Axes]]:
    """A figure with one pair of axes, and its settings as long as it is drawn."""
    with rc_context(_SETTINGS), warnings.catch_warnings():  # type: ignore[arg-type]
        # The browser's fonts draw what Matplotlib's cannot, such as a name in Chinese.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        axes: Any = figure.add_subplot()
        axes.set_axisbelow(True)
        yield figure, axes


# --- SVG ---

_TAG = re.compile(r"<[^>]*>")
_NO_TURN = re.compile(r' transform="rotate\(-0 [^"]*"')
_FAMILY = re.compile(r"font-family: [^;\"]*;? ?")
_LONG_NUMBER = re.compile(r"\d+\.\d{3,}")
_STYLE_SHEET = re.compile(r"\s*<defs>\s*<style type=\"text/css\">.*?</style>\s*</defs>", re.S)
_ID = re.compile(r' id="([^"]*)"')
_REFERENCE = re.compile(r'(?<=url\(#)[^)]+|(?<=xlink:href="#)[^"]+')
_SIZE = re.compile(r'<svg [^>]*?viewBox="([^"]*)"[^>]*>')


def _svg(figure: Figure) -> str:
    """A figure as an element that can stand in a page beside others."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata=_NO_METADATA)
    text = file.getvalue()
    text = _STYLE_SHEET.sub("", text[text.index("<svg") :], count=1)
    used = set(_REFERENCE.findall(text))
    text = _ID.sub(lambda match: match[0] if match[1] in used else "", text)
    text = _TAG.sub(_shortened, text)
    text = _SIZE.sub(r'<svg viewBox="\1" aria-hidden="true" focusable="false">', text, count=1)
    return re.sub(r"\n\s*", "\n", text).strip()


def numbered(svg: str, number: int) -> str:
    """A drawing whose ids differ from those of the others in a page, even where these look alike."""
    marked = _ID.sub(rf' id="c{number}\1"', svg)
    return _REFERENCE.sub(rf"c{number}\g<0>", marked)


def _shortened(tag: re.Match[str]) -> str:
    """A tag with coordinates to the hundredth and without what the page says anyway."""
    text = _FAMILY.sub("", _NO_TURN.sub("", tag[0])).replace(_INK, "currentColor")
    return _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), text)
