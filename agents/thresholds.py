"""How good a hand must be to stay: the numbers of the rule bot, found by simulating tables of five.

`FITTED` is the one place to put numbers for other table sizes. Compiled code gets the table as an argument.
"""

import numpy as np
from numpy.typing import NDArray

from bourre_env.bourre.rules import MAX_PLAYERS, MIN_PLAYERS

ALWAYS = (-1.0, 0.0)
Threshold = tuple[float, float]

FITTED: dict[int, dict[tuple[int, int], Threshold]] = {
    5: {
        (4, 0): (0.22, 0.07),
        (3, 0): (0.15, 0.07),
        (3, 1): (0.28, 0.09),
        (2, 0): (0.00, 0.16),
        (2, 1): (0.23, 0.10),
        (2, 2): (0.33, 0.12),
        (1, 0): (-0.19, 0.23),
        (1, 1): (0.09, 0.18),
        (1, 2): (0.30, 0.14),
        (1, 3): (0.42, 0.07),
        (0, 0): ALWAYS,
        (0, 1): ALWAYS,
        (0, 2): (0.23, 0.0),
        (0, 3): (0.29, 0.0),
    }
}
"""By table size, (seats after the speaker, players already in): a and b of the threshold a + b * u in pots, with u the
rank of the turn-up from 0 for a two to 1 for an ace."""

SOURCE_SIZE = 5  # whose numbers serve the sizes that have none of their own
PER_SEAT_AFTER = 0.05  # pots: one more seat after the speaker than the source size has
PER_PLAYER_IN = 0.08  # pots: one more player in than the source size lists
PER_SHARE = 0.75  # pots: what a tie keeps of the pot is about one share, 1/N, so small tables ask less of a hand


def thresholds() -> NDArray[np.float64]:
    """[9, 8, 8, 2]: a and b for each table size, seats after the speaker and players already in.

    A size without numbers of its own takes those of five seats with as many seats after the speaker and as many players
    in: who may still come in matters, not how many have passed. Beyond the five-seat table each further seat after
    and each further player in raises the threshold by a fixed step, and all of them move with the share 1/N of the pot
    that a tie keeps.
    """
    table = np.zeros((MAX_PLAYERS + 1, MAX_PLAYERS, MAX_PLAYERS, 2))
    for num_players in range(MIN_PLAYERS, MAX_PLAYERS + 1):
        source = num_players if num_players in FITTED else SOURCE_SIZE
        for after in range(MAX_PLAYERS):
            for players_in in range(MAX_PLAYERS):
                table[num_players, after, players_in] = _nearest(FITTED[source], after, players_in)
        table[num_players, :, :, 0] += PER_SHARE * (1 / source - 1 / num_players)
    return table


def _nearest(fitted: dict[tuple[int, int], Threshold], after: int, players_in: int) -> Threshold:
    """The threshold of the nearest listed situation, raised for what lies beyond it."""
    row = min(after, max(listed for listed, _ in fitted))
    column = min(players_in, max(listed for other, listed in fitted if other == row))
    base, slope = fitted[row, column]
    return base + PER_SEAT_AFTER * (after - row) + PER_PLAYER_IN * (players_in - column), slope


THRESHOLDS = thresholds()
