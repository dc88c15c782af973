"""The exact lab: games small enough to know everything about, and how far a policy is from an equilibrium in them.

Each game comes with its own controls, which have nothing to do with the policy: NashConv of uniform play is a known
number, and CFR+ reaches an equilibrium. A game whose control is off measures nothing.

Shapes: I information sets, N seats, A actions.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.best_response import Vector, best_response_values, nash_conv, uniform, values
from agents.cfr import Solution, solve
from agents.controls import ControlError
from agents.game_tree import GameTree, build_tree
from agents.policy import Decision, Policy, PolicyError, check_rules
from agents.tabular import SAMPLES, TabularPolicy, strategy_of
from bourre_env.bourre.rules import Rules

UNIFORM_NASH_CONV = {"reduced_2p2c": 1.743005952381, "reduced_2p3c": 1.651550099206, "reduced_3p2c": 3.573644179894}
"""Antes, of uniform play: worked out over the trees of `bourre_env.openspiel` by a best response in plain Python."""

GAMES = tuple(UNIFORM_NASH_CONV)
"""Presets of the games."""

UNIFORM_TOLERANCE = 1e-9
EQUILIBRIUM = 1e-4
"""CFR+ stops when NashConv is below so many antes, and has failed when it is not there in time."""

MOST_ITERATIONS = 2000
"""Three to twelve times as many as the games need."""


@dataclass(frozen=True, slots=True, eq=False)
class Game:
    """A game that has passed its controls.

    Attributes:
        name: of the preset.
        tree: all of it.
        equilibrium: what CFR+ found.
    """

    name: str
    tree: GameTree
    equilibrium: Solution


@dataclass(frozen=True, slots=True)
class Exploitability:
    """How a policy does in a game, exactly but for what `strategy_of` had to estimate.

    Attributes:
        values: [N] float64, antes a deal of each seat when the policy sits in all of them.
        gains: [N] float64, antes a deal that each seat, alone, could gain by a best response.
    """

    values: NDArray[np.float64]
    gains: NDArray[np.float64]

    @property
    def nash_conv(self) -> float:
        """All gains together, in antes."""
        return float(self.gains.sum())


@functools.cache
def game(name: str) -> Game:
    """A game of `GAMES`, enumerated, checked and solved: a second for the two-player games, five for the other.

    Raises:
        ControlError: uniform play or CFR+ is not where it has to be.
    """
    tree = build_tree(Rules.preset(name))
    check_uniform(name, nash_conv(tree, uniform(tree)))
    solution = solve(tree, target=EQUILIBRIUM, most_iterations=MOST_ITERATIONS)
    check_equilibrium(name, solution)
    return Game(name, tree, solution)


def check_uniform(name: str, found: float) -> None:
    """Refuse a game in which uniform play does not have the known NashConv.

    Raises:
        ControlError: found and known value.
    """
    known = UNIFORM_NASH_CONV[name]
    if not abs(found - known) <= UNIFORM_TOLERANCE:
        raise ControlError(f"control of {name} is off: NashConv of uniform play is {found:.9f}, not {known:.9f} antes")


def check_equilibrium(name: str, solution: Solution) -> None:
    """Refuse a game that CFR+ has not solved.

    Raises:
        ControlError: how far it came.
    """
    if not -UNIFORM_TOLERANCE <= solution.nash_conv < EQUILIBRIUM:
        raise ControlError(
            f"control of {name} is off: NashConv of CFR+ is {solution.nash_conv:.6f} antes after "
            f"{solution.iterations} iterations; it must be below {EQUILIBRIUM:g} and not negative"
        )


def exploitability(tree: GameTree, strategy: Vector) -> Exploitability:
    """Values and gains of a strategy [I, A]."""
    got = values(tree, strategy)
    return Exploitability(got, best_response_values(tree, strategy) - got)


def measure(
    policy: Policy,
    name: str,
    *,
    seed: int = 0,
    samples: int = SAMPLES,
    report: Callable[[int], None] | None = None,
) -> Exploitability:
    """How a policy does in a game of `GAMES`; arguments and errors as in `strategy_of`, and `ControlError`."""
    tree = game(name).tree
    return exploitability(tree, strategy_of(policy, tree, seed=seed, samples=samples, report=report))


def obstacles(policy: Policy, names: tuple[str, ...]) -> dict[str, str]:
    """Games that a policy cannot play, with what it says of each."""
    found = {}
    for name in names:
        try:
            check_rules(policy, Rules.preset(name))
        except PolicyError as error:
            found[name] = str(error)
    return found


class Equilibrium:
    """Plays what CFR+ found, in single deals of the games of `GAMES`: `agents.exact:Equilibrium` is its spec."""

    name = "equilibrium"

    def check_rules(self, rules: Rules) -> None:
        """Refuse rules of other games.

        Raises:
            PolicyError: names the games.
        """
        if not any(rules == Rules.preset(name) for name in GAMES):
            raise PolicyError(f"{self.name} knows the games {', '.join(GAMES)}, not the rules {rules.fingerprint}")

    def probs(self, decision: Decision) -> NDArray[np.float64]:
        """[D, A] probabilities; errors as in `TabularPolicy.probs`."""
        return _equilibrium(decision.rules).probs(decision)

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.int64]:
        """[D] actions; errors as in `TabularPolicy.probs`."""
        return _equilibrium(decision.rules).act(decision, rng)


@functools.cache
def _equilibrium(rules: Rules) -> TabularPolicy:
    """The solution of the game with these rules."""
    solved = game(next(name for name in GAMES if Rules.preset(name) == rules))
    return TabularPolicy(solved.tree, solved.equilibrium.strategy, name=Equilibrium.name)
