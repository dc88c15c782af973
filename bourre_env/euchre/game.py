"""Euchre as a game of the family (`bourre_env.family`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.errors import RulesError
from bourre_env.euchre.observation import layout
from bourre_env.euchre.rules import NUM_SEATS, PRESETS, EuchreRules
from bourre_env.euchre.tables import EuchreTables
from bourre_env.family import Game


def preset(name: str, /, *, num_players: int = NUM_SEATS, **changes: Any) -> EuchreRules:
    """The rules of a named preset; always for four.

    Raises:
        RulesError: another number of seats, no such preset or field, or a value that is not allowed.
    """
    if num_players != NUM_SEATS:
        raise RulesError(f"Euchre is for {NUM_SEATS} players, not {num_players}")
    return EuchreRules.preset(name, **changes)


def pad(words: NDArray[np.uint64], rules: EuchreRules, seats: int) -> NDArray[np.uint64]:
    """[D, W] observations; there is no room for other numbers of seats.

    Raises:
        ValueError: another number of seats.
    """
    if seats != NUM_SEATS:
        raise ValueError(f"cannot show {seats} seats of a table of {NUM_SEATS}")
    return words


def _point(rules: EuchreRules) -> int:
    """Results are counted in points."""
    return 1


GAME = Game(
    name=EuchreRules.game,
    title="Euchre",
    unit="points",
    presets=tuple(PRESETS),
    table_sizes=(NUM_SEATS,),
    usual_size=NUM_SEATS,
    preset=preset,
    from_plain=EuchreRules.from_plain,
    tables=EuchreTables,
    joined=EuchreTables.joined,
    layout=layout,
    pad=pad,
    unit_of=_point,
)
