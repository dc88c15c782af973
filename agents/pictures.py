"""Pictures of how a network plays, drawn from the numbers of an iteration."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from bourre_env.bourre.rules import MAX_HAND, MAX_PLAYERS

Bars = Sequence[tuple[str, str]]  # what to write below a bar, and the tag of its number

PASS_RATE_BY_TRUMPS = [(str(trumps), f"pass_rate/trumps_{trumps}") for trumps in range(MAX_HAND + 1)]
PASS_RATE_BY_POSITION = [(str(seat), f"pass_rate/position_{seat}") for seat in range(1, MAX_PLAYERS + 1)]
DRAWS = [(str(cards), f"game/draws_{cards}") for cards in range(MAX_HAND + 1)]
ENTROPY_BY_PHASE = [
    ("declare", "policy/entropy_declare"),
    *((f"trick {trick}", f"policy/entropy_trick_{trick}") for trick in range(1, MAX_HAND)),
]

_PICTURES: dict[str, tuple[Bars, str, str]] = {
    "pictures/pass_rate_by_trumps": (PASS_RATE_BY_TRUMPS, "trumps in the hand", "share that passes"),
    "pictures/pass_rate_by_position": (PASS_RATE_BY_POSITION, "seats after the dealer", "share that passes"),
    "pictures/draws": (DRAWS, "cards drawn", "share of the hands that stay"),
    "pictures/entropy_by_phase": (ENTROPY_BY_PHASE, "decision", "entropy in nats"),
}


def draw_pictures(values: Mapping[str, float]) -> dict[str, NDArray[np.uint8]]:
    """The pictures that there are numbers for.

    Args:
        values: numbers by tag.

    Returns:
        Pixels [height, width, 3] uint8 by tag.
    """
    found = {}
    for tag, (bars, across, up) in _PICTURES.items():
        there = [(label, values[number]) for label, number in bars if number in values]
        if there:
            found[tag] = draw_bars([label for label, _ in there], [value for _, value in there], across, up)
    return found


def draw_bars(labels: Sequence[str], values: Sequence[float], across: str, up: str) -> NDArray[np.uint8]:
    """A bar chart as pixels [height, width, 3]."""
    figure = Figure(figsize=(5, 3), dpi=80, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.bar_label(axes.bar(labels, values, color="tab:blue"), fmt="%.2f")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.spines[["top", "right"]].set_visible(False)
    if max(values) <= 1:
        axes.set_ylim(0, 1)
    canvas.draw()  # type: ignore[no-untyped-call]
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()  # type: ignore[no-untyped-call]
