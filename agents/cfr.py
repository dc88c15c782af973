"""CFR+ on a small game: counterfactual regret minimisation that comes as close to an equilibrium as one likes.

Tammelin, 2014; Bowling, Burch, Johanson and Tammelin, 2015: regrets never fall below zero, the seats take turns, and
the average strategy gives iteration t the weight t. With two seats NashConv goes to 0; with more there is no such
promise, which is why `solve` measures it.

Averages are kept for sequences, not for positions: how likely a seat plays a sequence is up to that seat alone, so no
branch that the opponents never take can be forgotten.

Shapes: I information sets, Q sequences, A actions.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.best_response import Vector, flat, nash_conv, payoffs_of_sequences, realization_of, spread, uniform
from agents.game_tree import GameTree
from bourre_env.jit import njit_entry

FIRST_LOOK = 16
"""Iterations before NashConv is measured for the first time; then it is each time an eighth more have been done."""

LOOKS = 8


class CfrPlus:
    """The state of CFR+.

    Attributes:
        tree: the game.
        iterations: done so far, each one turn of every seat.
    """

    def __init__(self, tree: GameTree) -> None:
        """Begin with uniform play and without regrets."""
        self.tree = tree
        self.iterations = 0
        self._probabilities = flat(tree, uniform(tree))
        self._realization = realization_of(tree, self._probabilities)
        self._regrets = np.zeros(tree.num_sequences)
        self._average = np.zeros(tree.num_sequences)  # of realizations, not divided by the sum of the weights
        self._payoffs = np.empty(tree.num_sequences)

    def run(self, iterations: int) -> None:
        """Do some more iterations."""
        for _ in range(iterations):
            self.iterations += 1
            for seat in range(self.tree.rules.num_players):
                self._take_turn(seat)

    def _take_turn(self, seat: int) -> None:
        """Update the regrets, the strategy and the average of one seat."""
        tree = self.tree
        payoffs_of_sequences(tree, self._realization, seat, self._payoffs)
        _match_regrets(tree.seat, tree.parent, tree.first, seat, self._payoffs, self._regrets, self._probabilities)
        _average_in(
            tree.seat,
            tree.parent,
            tree.first,
            seat,
            float(self.iterations),
            self._probabilities,
            self._realization,
            self._average,
        )

    def average_strategy(self) -> Vector:
        """[I, A] float64: the average strategy; uniform where no iteration has played to."""
        tree = self.tree
        average = self._average[tree.rules.num_players :]
        starts = tree.first[:-1] - tree.rules.num_players
        sums = np.repeat(np.add.reduceat(average, starts), np.diff(tree.first))
        numbers = flat(tree, uniform(tree))
        numbers[tree.rules.num_players :][sums > 0] = average[sums > 0] / sums[sums > 0]
        return spread(tree, numbers)


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """What CFR+ found.

    Attributes:
        strategy: [I, A] float64, the average strategy.
        nash_conv: of it, in antes.
        iterations: it took.
    """

    strategy: Vector
    nash_conv: float
    iterations: int


def solve(
    tree: GameTree, *, target: float, most_iterations: int, report: Callable[[int], None] | None = None
) -> Solution:
    """Run CFR+ until NashConv is below a target, or for as many iterations as are allowed.

    Args:
        tree: the game.
        target: antes.
        most_iterations: at least 1.
        report: told the iterations done since it was last told.
    """
    solver = CfrPlus(tree)
    while True:
        number = max(FIRST_LOOK if solver.iterations == 0 else 1, solver.iterations // LOOKS)
        number = min(number, most_iterations - solver.iterations)
        solver.run(number)
        if report is not None:
            report(number)
        strategy = solver.average_strategy()
        reached = nash_conv(tree, strategy)
        if reached < target or solver.iterations == most_iterations:
            return Solution(strategy, reached, solver.iterations)


@njit_entry
def _match_regrets(
    seats: NDArray[np.int8],
    parent: NDArray[np.int64],
    first: NDArray[np.int64],
    seat: int,
    payoffs: Vector,
    regrets: Vector,
    probabilities: Vector,
) -> None:
    """Add the regrets of one seat's strategy, then play in proportion to them; `payoffs` [Q] is worked in."""
    for row in range(len(seats) - 1, -1, -1):
        if seats[row] != seat:
            continue
        value = 0.0
        for sequence in range(first[row], first[row + 1]):
            value += probabilities[sequence] * payoffs[sequence]
        total = 0.0
        for sequence in range(first[row], first[row + 1]):
            regrets[sequence] = max(0.0, regrets[sequence] + payoffs[sequence] - value)
            total += regrets[sequence]
        for sequence in range(first[row], first[row + 1]):
            probabilities[sequence] = regrets[sequence] / total if total > 0 else 1 / (first[row + 1] - first[row])
        payoffs[parent[row]] += value


@njit_entry
def _average_in(
    seats: NDArray[np.int8],
    parent: NDArray[np.int64],
    first: NDArray[np.int64],
    seat: int,
    weight: float,
    probabilities: Vector,
    realization: Vector,
    average: Vector,
) -> None:
    """Work out how likely one seat now plays each sequence, and add that to the average with a weight."""
    for row in range(len(seats)):
        if seats[row] != seat:
            continue
        for sequence in range(first[row], first[row + 1]):
            realization[sequence] = realization[parent[row]] * probabilities[sequence]
            average[sequence] += weight * realization[sequence]
