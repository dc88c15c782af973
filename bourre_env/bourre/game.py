"""Bourré as a game of the family (`bourre_env.family`)."""

import numpy as np
from numpy.typing import NDArray

from bourre_env.bourre.observation import layout
from bourre_env.bourre.rules import MAX_PLAYERS, MIN_PLAYERS, PRESETS, Rules
from bourre_env.bourre.tables import Tables
from bourre_env.family import FIRST, Game


def pad(words: NDArray[np.uint64], rules: Rules, seats: int) -> NDArray[np.uint64]:
    """[D, W] packed observations with room for another number of seats; those beyond the table's are empty.

    Args:
        words: [D, W'] uint64, with room for any number of seats.
        rules: of the table.
        seats: from the number of players to 8.

    Raises:
        ValueError: a number outside that range.
    """
    if not rules.num_players <= seats <= MAX_PLAYERS:
        raise ValueError(f"cannot show {seats} seats of a table of {rules.num_players}; at most {MAX_PLAYERS}")
    padded = np.zeros((len(words), layout(rules, seats).num_words), np.uint64)
    stacks = int(rules.stacks == "table_stakes")  # the word that tells them stays the last
    kept = min(padded.shape[1], words.shape[1]) - stacks
    padded[:, :kept] = words[:, :kept]
    padded[:, padded.shape[1] - stacks :] = words[:, words.shape[1] - stacks :]
    return padded


def _ante(rules: Rules) -> int:
    """Chips in an ante."""
    return rules.ante


GAME = Game(
    name=FIRST,
    title="Bourré",
    unit="antes",
    presets=tuple(PRESETS),
    table_sizes=tuple(range(MIN_PLAYERS, MAX_PLAYERS + 1)),
    usual_size=4,
    preset=Rules.preset,
    from_plain=Rules.from_plain,
    tables=Tables,
    joined=Tables.joined,
    layout=layout,
    pad=pad,
    unit_of=_ante,
)
