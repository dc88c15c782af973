"""Pinochle as a game of the family (`bourre_env.family`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.errors import RulesError
from bourre_env.family import Game
from bourre_env.pinochle.observation import layout
from bourre_env.pinochle.rules import NUM_SEATS, PRESETS, PinochleRules
from bourre_env.pinochle.tables import PinochleTables


def preset(name: str, /, *, num_players: int = NUM_SEATS, **changes: Any) -> PinochleRules:
    """The rules of a named preset; always for four.

    Raises:
        RulesError: another number of seats, no such preset or field, or a value that is not allowed.
    """
    if num_players != NUM_SEATS:
        raise RulesError(f"Pinochle is for {NUM_SEATS} players, not {num_players}")
    return PinochleRules.preset(name, **changes)


def pad(words: NDArray[np.uint64], rules: PinochleRules, seats: int) -> NDArray[np.uint64]:
    """[D, W] observations; there is no room for other numbers of seats.

    Raises:
        ValueError: another number of seats.
    """
    if seats != NUM_SEATS:
        raise ValueError(f"cannot show {seats} seats of a table of {NUM_SEATS}")
    return words


def _unit(rules: PinochleRules) -> int:
    """Results are counted in points of the modern scale (P1.4), which are tens on the others."""
    return rules.unit


GAME = Game(
    name=PinochleRules.game,
    title="Pinochle",
    unit="points",
    presets=tuple(PRESETS),
    table_sizes=(NUM_SEATS,),
    usual_size=NUM_SEATS,
    preset=preset,
    from_plain=PinochleRules.from_plain,
    tables=PinochleTables,
    joined=PinochleTables.joined,
    layout=layout,
    pad=pad,
    unit_of=_unit,
)
