"""Bureau as a game of the family (`bourre_env.family`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.bureau.observation import layout
from bourre_env.bureau.rules import PRESETS, BureauRules
from bourre_env.bureau.tables import BureauTables
from bourre_env.errors import RulesError
from bourre_env.family import Game


def preset(name: str, /, *, num_players: int = 1, **changes: Any) -> BureauRules:
    """The rules of a named preset; always for one.

    Raises:
        RulesError: another number of seats, no such preset or field, or a value that is not allowed.
    """
    if num_players != 1:
        raise RulesError(f"Bureau is for one player, not {num_players}")
    return BureauRules.preset(name, **changes)


def pad(words: NDArray[np.uint64], rules: BureauRules, seats: int) -> NDArray[np.uint64]:
    """[D, W] observations; there is no room for other numbers of seats.

    Raises:
        ValueError: another number of seats.
    """
    if seats != 1:
        raise ValueError(f"cannot show {seats} seats of a game for one")
    return words


def _card(rules: BureauRules) -> int:
    """Results are counted in cards."""
    return 1


GAME = Game(
    name=BureauRules.game,
    title="Bureau",
    unit="cards",
    presets=tuple(PRESETS),
    table_sizes=(1,),
    usual_size=1,
    preset=preset,
    from_plain=BureauRules.from_plain,
    tables=BureauTables,
    joined=BureauTables.joined,
    layout=layout,
    pad=pad,
    unit_of=_card,
)
