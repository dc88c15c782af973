"""How good a hand must be to stay: the numbers of the rule bot, fitted for each table size.

`python -m benchmarks.thresholds` finds and prints them: each is a best response to the others, under `pagat`. Compiled
code gets the table as an argument.
"""

import numpy as np
from numpy.typing import NDArray

from bourre_env.bourre.rules import MAX_PLAYERS

Threshold = tuple[float, float]

FITTED: dict[int, dict[tuple[int, int], Threshold]] = {
    2: {
        (1, 0): (-0.25, 0.23),
        (0, 1): (-0.37, -0.04),
    },
    3: {
        (2, 0): (0.00, 0.12),
        (1, 0): (-0.25, 0.30),
        (1, 1): (0.03, 0.13),
        (0, 1): (-0.32, -0.01),
        (0, 2): (0.03, -0.06),
    },
    4: {
        (3, 0): (0.15, 0.08),
        (2, 0): (0.02, 0.14),
        (2, 1): (0.23, 0.11),
        (1, 0): (-0.36, 0.43),
        (1, 1): (0.07, 0.20),
        (1, 2): (0.30, 0.14),
        (0, 1): (-0.27, -0.09),
        (0, 2): (0.14, 0.02),
        (0, 3): (0.38, 0.03),
    },
    5: {
        (4, 0): (0.22, 0.07),
        (3, 0): (0.17, 0.07),
        (3, 1): (0.31, 0.09),
        (2, 0): (0.04, 0.14),
        (2, 1): (0.25, 0.12),
        (2, 2): (0.39, 0.08),
        (1, 0): (-0.61, 0.57),
        (1, 1): (0.12, 0.20),
        (1, 2): (0.34, 0.13),
        (1, 3): (0.41, 0.07),
        (0, 1): (-0.30, -0.22),
        (0, 2): (0.23, 0.01),
        (0, 3): (0.42, 0.02),
    },
    6: {
        (5, 0): (0.27, 0.05),
        (4, 0): (0.24, 0.06),
        (4, 1): (0.35, 0.08),
        (3, 0): (0.18, 0.08),
        (3, 1): (0.32, 0.08),
        (3, 2): (0.39, 0.08),
        (2, 0): (0.04, 0.16),
        (2, 1): (0.26, 0.12),
        (2, 2): (0.39, 0.08),
        (2, 3): (0.42, 0.10),
        (1, 0): (-0.50, 0.53),
        (1, 1): (0.14, 0.21),
        (1, 2): (0.36, 0.09),
        (1, 3): (0.44, 0.02),
        (0, 1): (-0.20, -0.16),
        (0, 2): (0.28, 0.04),
        (0, 3): (0.45, 0.02),
    },
    7: {
        (6, 0): (0.32, 0.05),
        (5, 0): (0.30, 0.05),
        (5, 1): (0.39, 0.06),
        (4, 0): (0.26, 0.07),
        (4, 1): (0.37, 0.06),
        (4, 2): (0.45, 0.02),
        (3, 0): (0.19, 0.10),
        (3, 1): (0.34, 0.08),
        (3, 2): (0.43, 0.04),
        (2, 0): (0.07, 0.17),
        (2, 1): (0.28, 0.13),
        (2, 2): (0.41, 0.06),
        (2, 3): (0.50, -0.03),
        (1, 0): (-0.75, 0.56),
        (1, 1): (0.18, 0.22),
        (1, 2): (0.38, 0.09),
        (1, 3): (0.47, 0.01),
        (0, 1): (-0.29, -0.02),
        (0, 2): (0.33, 0.05),
        (0, 3): (0.48, 0.00),
    },
    8: {
        (7, 0): (0.36, 0.03),
        (6, 0): (0.35, 0.03),
        (6, 1): (0.42, 0.05),
        (5, 0): (0.33, 0.04),
        (5, 1): (0.41, 0.04),
        (5, 2): (0.46, 0.00),
        (4, 0): (0.29, 0.07),
        (4, 1): (0.40, 0.05),
        (4, 2): (0.45, 0.03),
        (3, 0): (0.25, 0.08),
        (3, 1): (0.37, 0.06),
        (3, 2): (0.44, 0.04),
        (3, 3): (0.51, -0.04),
        (2, 0): (0.12, 0.16),
        (2, 1): (0.33, 0.11),
        (2, 2): (0.43, 0.06),
        (2, 3): (0.47, 0.05),
        (1, 0): (-0.26, 0.36),
        (1, 1): (0.24, 0.19),
        (1, 2): (0.42, 0.06),
        (1, 3): (0.48, 0.02),
        (0, 1): (-0.10, -0.28),
        (0, 2): (0.37, 0.05),
        (0, 3): (0.51, -0.01),
        (0, 4): (0.51, -0.03),
    },
}
"""By table size, (seats after the speaker, players already in): a and b of the threshold a + b * u in pots, with u the
rank of the turn-up from 0 for a two to 1 for an ace. Situations that hardly ever come up are left out."""

PER_PLAYER_IN = 0.08  # pots: one more player in than is listed


def thresholds() -> NDArray[np.float64]:
    """[9, 8, 8, 2]: a and b for each table size, seats after the speaker and players already in.

    With more players in than are listed each further one raises the threshold by a fixed step.
    """
    table = np.zeros((MAX_PLAYERS + 1, MAX_PLAYERS, MAX_PLAYERS, 2))
    for num_players, fitted in FITTED.items():
        for after in range(num_players):
            listed = [players_in for seats_after, players_in in fitted if seats_after == after]
            for players_in in range(num_players):
                nearest = min(max(players_in, min(listed)), max(listed))
                base, slope = fitted[after, nearest]
                table[num_players, after, players_in] = base + PER_PLAYER_IN * (players_in - nearest), slope
    return table


THRESHOLDS = thresholds()
