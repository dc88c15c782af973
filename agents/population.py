"""What to make of entrants that beat each other in a circle: alpha-Rank and maximal lotteries.

Shapes: E entrants, R draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog, minimize

from agents.comparisons import compare, margins
from agents.lineups import LineUp, entrants_of, pooled
from agents.outcomes import Outcomes
from agents.resampling import means_over_resampled_deals
from agents.scores import Scores
from agents.statistics import LEVEL

DRAWS = 1000
LARGEST_STEPS = 200
PRECISION = 1e-9  # of half the squared length of a lottery; asked for 1e-12 the solver sometimes never ends
NOISE = 1e-4  # alpha-Rank: probability of a step to the worse of two entrants


@dataclass(frozen=True, slots=True)
class NotAvailable:
    """An answer that could not be given.

    Attributes:
        reason: why, in words.
    """

    reason: str


def payoffs(outcomes: Sequence[Outcomes]) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """The E entrants and [E, E] units a deal of one seat of the row's against a table of the column's.

    The diagonal is 0; cells that were not played are nan.

    Raises:
        OutcomesError: results that contradict themselves.
    """
    line_ups = pooled(outcomes)
    names = entrants_of(line_ups)
    return names, _payoffs(line_ups, names, [line_up.means[None] for line_up in line_ups])[0]


def alpha_rank(
    outcomes: Sequence[Outcomes], *, seed: int, draws: int = DRAWS, level: float = LEVEL
) -> Scores | NotAvailable:
    """Stationary distribution of alpha-Rank (Omidshafiei and others, 2019), computed by OpenSpiel.

    The meta-game is symmetric, between two: who chooses row i against column j earns what one seat of i earns against a
    table of j. A population of one entrant is taken over by another that earns more against it than it earns in
    turn. Selection is infinitely strong, so that there is no temperature to tune, with steps the other way at the
    rate `NOISE`. Such a distribution jumps when a cell changes its sign: with noisy cells read `Scores.average`.

    Args:
        outcomes: results in any order and in any number of parts; line-ups that are no cells are left out.
        seed: of the bootstrap over deals, 0 to 2^64 - 1.
        draws: R.
        level: probability that an interval should cover the truth.

    Returns:
        Shares of the time, adding up to 1; or why there are none.

    Raises:
        OutcomesError: results that contradict themselves.
    """
    names, table = payoffs(outcomes)
    missing = np.argwhere(np.isnan(table))
    if len(missing):
        focal, field = (names[entrant] for entrant in missing[0])
        return NotAvailable(f"alpha-Rank needs every cell, and {focal} against a table of {field} was not played")
    try:
        from open_spiel.python.egt import alpharank  # an extra, and half a second to import
    except ImportError as error:
        return NotAvailable(f"alpha-Rank needs the package open_spiel (extra openspiel): {error}")
    line_ups = pooled(outcomes)
    samples = [(line_up.units, line_up.earned) for line_up in line_ups]
    drawn = _payoffs(line_ups, names, means_over_resampled_deals(samples, seed=seed, draws=draws))
    # Under infinite selection only signs count, so the same few games come up again and again.
    signs = np.sign(np.concatenate([table[None], drawn]) - np.concatenate([table.T[None], drawn.transpose(0, 2, 1)]))
    games, which = np.unique(signs.reshape(len(signs), -1), axis=0, return_inverse=True)
    shares = [
        alpharank.compute([game.reshape(table.shape)], use_inf_alpha=True, inf_alpha_eps=NOISE)[2] for game in games
    ]
    found = np.array(shares)[which.ravel()]
    return Scores(names, found[0], found[1:], level)


def maximal_lottery(
    outcomes: Sequence[Outcomes], *, seed: int, draws: int = DRAWS, level: float = LEVEL
) -> Scores | NotAvailable:
    """The maximal lottery (Fishburn, 1984) with deals as voters.

    Each block votes on each pair it holds (`agents.comparisons`); the lottery is the mixture of entrants that no other
    entrant comes out ahead of in more than half of the votes. A Condorcet winner gets everything. Where several
    lotteries are maximal it is the evenest: equals share.

    Args:
        outcomes: results in any order and in any number of parts.
        seed: of the bootstrap over deals, 0 to 2^64 - 1.
        draws: R.
        level: probability that an interval should cover the truth.

    Returns:
        Probabilities, adding up to 1; or why there are none.

    Raises:
        OutcomesError: results that contradict themselves.
    """
    compared = compare(outcomes, seed=seed, draws=draws)
    never_met = np.argwhere(np.triu(compared.wins + compared.wins.T == 0, 1))
    if len(never_met):
        first, second = (compared.names[entrant] for entrant in never_met[0])
        return NotAvailable(f"a maximal lottery needs every pair to meet, and {first} and {second} did not")
    drawn = np.array([lottery_of(table) for table in margins(compared.draws)])
    return Scores(compared.names, lottery_of(margins(compared.wins)), drawn.reshape(draws, len(compared.names)), level)


def lottery_of(margin: NDArray[np.float64]) -> NDArray[np.float64]:
    """[E] the evenest maximal lottery of an antisymmetric matrix [E, E] of margins.

    That is the shortest p with p >= 0, sum p = 1 and p M >= 0, of which there is always one (the minimax theorem).
    Should the solver not find it, any maximal lottery is better than none: linear programming names one.
    """
    size = len(margin)
    found = minimize(
        lambda shares: shares @ shares / 2,
        np.full(size, 1 / size),
        jac=lambda shares: shares,
        method="SLSQP",
        bounds=[(0, 1)] * size,
        constraints=[
            {"type": "eq", "fun": lambda shares: shares.sum() - 1, "jac": np.ones_like},
            {"type": "ineq", "fun": lambda shares: shares @ margin, "jac": lambda _: margin.T},
        ],
        options={"ftol": PRECISION, "maxiter": LARGEST_STEPS},
    )
    if not found.success:
        found = linprog(np.zeros(size), A_ub=-margin.T, b_ub=np.zeros(size), A_eq=np.ones((1, size)), b_eq=[1])
    positive = np.maximum(found.x, 0)
    lottery: NDArray[np.float64] = positive / positive.sum()
    return lottery


def _payoffs(
    line_ups: Sequence[LineUp], names: Sequence[str], means: Sequence[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """[R, E, E] cross tables from the means [R, G] of every line-up."""
    tables = np.full((len(means[0]), len(names), len(names)), np.nan)
    tables[:, np.arange(len(names)), np.arange(len(names))] = 0
    for line_up, of_line_up in zip(line_ups, means, strict=True):
        if len(line_up.names) != 2:
            continue
        first, second = (names.index(name) for name in line_up.names)
        if line_up.seats[0] == 1:
            tables[:, first, second] = of_line_up[:, 0]
        if line_up.seats[1] == 1:
            tables[:, second, first] = of_line_up[:, 1]
    return tables
