"""Exact values of a strategy in a small game: what each seat gets, what a best response gets, NashConv.

A *strategy* is probabilities [I, A] for every information set of a `GameTree`. NashConv (Lanctot et al., 2017) is what
the seats could gain in all if each alone switched to a best response; it is 0 in an equilibrium, with any number of
seats. It is exact here: information sets are worked off from the last to the first (Burch, 2017, chapter 2), and no
branch is left out, however unlikely.

Shapes: I information sets, Q sequences, T ends, N seats, A actions.
"""

import numpy as np
from numpy.typing import NDArray

from agents.game_tree import GameTree
from bourre_env.bourre.actions import num_actions
from bourre_env.jit import njit_entry

TOLERANCE = 1e-6
"""How far the probabilities of an information set may be from adding up to 1."""

Vector = NDArray[np.float64]


def nash_conv(tree: GameTree, strategy: Vector) -> float:
    """What the seats could gain by a best response of each alone, added up, in antes.

    Args:
        tree: the game.
        strategy: [I, A] float64 probabilities.

    Raises:
        ValueError: rows that are no probabilities over the legal actions.
    """
    return float((best_response_values(tree, strategy) - values(tree, strategy)).sum())


def values(tree: GameTree, strategy: Vector) -> Vector:
    """[N] float64: antes a deal of each seat when all follow a strategy [I, A]; errors as in `nash_conv`."""
    realization = realization_of(tree, flat(tree, strategy))
    got: Vector = (tree.payoffs * np.prod(realization[tree.sequences], axis=0)).sum(axis=1)
    return got


def best_response_values(tree: GameTree, strategy: Vector) -> Vector:
    """[N] float64: the most each seat can get while the others follow a strategy [I, A]; errors as in `nash_conv`."""
    realization = realization_of(tree, flat(tree, strategy))
    responses = (_respond(tree, realization, seat)[0] for seat in range(tree.rules.num_players))
    return np.fromiter(responses, np.float64)


def best_response(tree: GameTree, strategy: Vector, seat: int) -> Vector:
    """A strategy [I, A] in which one seat plays its best response and the others go on as before.

    Of actions worth the same the first is taken. Errors as in `nash_conv`.
    """
    _, is_best = _respond(tree, realization_of(tree, flat(tree, strategy)), seat)
    response = strategy.copy()
    response[tree.seat == seat] = spread(tree, is_best)[tree.seat == seat]
    return response


def uniform(tree: GameTree) -> Vector:
    """[I, A] float64: every legal action as likely as the next."""
    choices = np.diff(tree.first)
    return spread(tree, np.concatenate([np.ones(tree.rules.num_players), np.repeat(1 / choices, choices)]))


# --- one number for each sequence -------------------------------------------------------------------------------------


def flat(tree: GameTree, strategy: Vector) -> Vector:
    """[Q] float64: the probability of each sequence's last action, 1 for empty sequences.

    Raises:
        ValueError: the strategy has another shape, or rows that are no probabilities over the legal actions.
    """
    shape = (tree.num_sets, num_actions(tree.rules))
    if strategy.shape != shape:
        raise ValueError(f"the strategy has shape {strategy.shape}; this game needs {shape}")
    seats = tree.rules.num_players
    probabilities = np.ones(tree.num_sequences)
    probabilities[seats:] = strategy[tree.set_of_sequence, tree.action[seats:]]
    sums = np.add.reduceat(probabilities, tree.first[:-1])
    is_wrong = ~(np.abs(sums - 1) <= TOLERANCE) | ~(np.abs(strategy).sum(axis=1) <= 1 + TOLERANCE)
    if is_wrong.any():
        row = int(np.argmax(is_wrong))
        legal = tree.action[tree.first[row] : tree.first[row + 1]].tolist()
        raise ValueError(
            f"row {row} of the strategy is {strategy[row].tolist()}; it must be probabilities of the actions {legal}"
        )
    return probabilities


def spread(tree: GameTree, numbers: Vector) -> Vector:
    """[I, A] float64: one number for each sequence [Q], zero for actions that are not legal; the inverse of `flat`."""
    seats = tree.rules.num_players
    table = np.zeros((tree.num_sets, num_actions(tree.rules)))
    table[tree.set_of_sequence, tree.action[seats:]] = numbers[seats:]
    return table


def realization_of(tree: GameTree, probabilities: Vector) -> Vector:
    """[Q] float64: how likely each seat plays each of its sequences, as far as it is up to that seat."""
    realization = np.ones(tree.num_sequences)
    _realize(tree.parent, tree.first, probabilities, realization)
    return realization


def payoffs_of_sequences(tree: GameTree, realization: Vector, seat: int, out: Vector) -> None:
    """Fill `out` [Q] with what ends right behind each sequence of a seat pay it, if it plays there and others as given.

    Ends behind a longer sequence are counted there alone.
    """
    _collect(tree.sequences, tree.payoffs[seat], realization, seat, out)


def _respond(tree: GameTree, realization: Vector, seat: int) -> tuple[float, Vector]:
    """The value of a seat's best response, and [Q] 1.0 for the actions it takes."""
    payoffs = np.empty(tree.num_sequences)
    payoffs_of_sequences(tree, realization, seat, payoffs)
    is_best = np.zeros(tree.num_sequences)
    _take_best(tree.seat, tree.parent, tree.first, seat, payoffs, is_best)
    return float(payoffs[seat]), is_best


@njit_entry
def _realize(parent: NDArray[np.int64], first: NDArray[np.int64], probabilities: Vector, realization: Vector) -> None:
    """Multiply probabilities along each seat's path; `realization` [Q] holds ones for empty sequences."""
    for row in range(len(parent)):
        for sequence in range(first[row], first[row + 1]):
            realization[sequence] = realization[parent[row]] * probabilities[sequence]


@njit_entry
def _collect(sequences: NDArray[np.int64], payoffs: Vector, realization: Vector, seat: int, out: Vector) -> None:
    """Add up the payoffs [T] of ends behind each sequence of a seat, times how likely the others play theirs."""
    out[:] = 0
    for end in range(len(payoffs)):
        payoff = payoffs[end]
        for other in range(len(sequences)):
            if other != seat:
                payoff *= realization[sequences[other, end]]
        out[sequences[seat, end]] += payoff


@njit_entry
def _take_best(
    seats: NDArray[np.int8],
    parent: NDArray[np.int64],
    first: NDArray[np.int64],
    seat: int,
    payoffs: Vector,
    is_best: Vector,
) -> None:
    """From the last information set to the first, hand the payoff of the best action on to where it is led from."""
    for row in range(len(seats) - 1, -1, -1):
        if seats[row] != seat:
            continue
        best = first[row]
        for sequence in range(first[row] + 1, first[row + 1]):
            if payoffs[sequence] > payoffs[best]:
                best = sequence
        is_best[best] = 1
        payoffs[parent[row]] += payoffs[best]
