"""Plackett-Luce strengths, the usual ones, beside those in units; they look at who came out ahead and not by how much.

Shapes: E entrants, R draws.
"""

from collections.abc import Sequence

import choix
import numpy as np
from numpy.typing import NDArray

from agents.comparisons import Comparisons, compare
from agents.lineups import entrants_of, pooled
from agents.outcomes import Outcomes
from agents.ratings import check_connected
from agents.scores import Scores
from agents.statistics import LEVEL

DRAWS = 400  # each is a fit of its own; the ends of a 95 % interval are good to a twelfth of its width
PRIOR_WINS = 0.5  # blocks that each of a pair that met is thought to have won before: no strength is infinite
LARGEST_STEPS = 100_000


def fit_plackett_luce(outcomes: Sequence[Outcomes], *, seed: int, draws: int = DRAWS, level: float = LEVEL) -> Scores:
    """Log-strengths with mean 0: the odds that a comes out ahead of b are e to their difference.

    Maximum likelihood over all pairs won (choix; Maystre and Grossglauser, 2015), which estimates Plackett-Luce
    consistently when rankings are broken into all their pairs.

    Args:
        outcomes: results in any order and in any number of parts.
        seed: of the bootstrap over deals, 0 to 2^64 - 1.
        draws: R.
        level: probability that an interval should cover the truth.

    Raises:
        OutcomesError: results that contradict themselves, or entrants that no chain of line-ups connects.
    """
    line_ups = pooled(outcomes)
    check_connected(line_ups, entrants_of(line_ups))
    return strengths_of(compare(outcomes, seed=seed, draws=draws), level=level)


def strengths_of(compared: Comparisons, *, level: float = LEVEL) -> Scores:
    """Log-strengths from pairs won."""
    values = _fit(compared.wins, None)
    drawn = np.array([_fit(wins, values) for wins in compared.draws])
    return Scores(compared.names, values, drawn.reshape(len(compared.draws), len(values)), level)


def _fit(wins: NDArray[np.float64], start: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """[E] log-strengths from wins [E, E]."""
    met = wins + wins.T > 0
    found = choix.ilsr_pairwise_dense(wins + PRIOR_WINS * met, initial_params=start, max_iter=LARGEST_STEPS)
    centred: NDArray[np.float64] = found - found.mean()
    return centred
