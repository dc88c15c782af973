"""Strategies as tables: what any policy does at every information set of a small game, and a table as a policy.

Shapes: I information sets, D decisions, A actions.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from agents.arena import stream_seed
from agents.best_response import Vector, flat
from agents.game_tree import GameTree
from agents.policy import (
    Decision,
    Policy,
    PolicyError,
    PolicyFailedError,
    ask_probs,
    check_rules,
    one_hot,
    tells_probs,
    uniform_numbers,
)
from agents.referee import strict_answer
from agents.tree_walk import UNKNOWN
from bourre_env.bourre.actions import num_actions
from bourre_env.bourre.rules import Rules
from bourre_env.deck import stream_keys

ACTION_STREAM = "exact: choices of policies"
GENERATOR_STREAM = "exact: generators of policies"

SAMPLES = 256
"""How often a policy that cannot tell its probabilities is asked for each decision."""

ROWS = 8192
"""Decisions asked together."""


def strategy_of(
    policy: Policy,
    tree: GameTree,
    *,
    seed: int = 0,
    samples: int = SAMPLES,
    report: Callable[[int], None] | None = None,
) -> Vector:
    """What a policy does at every information set of a game.

    It is asked as at a real table: the rules, the seat, the packed observation and the legal actions that a table would
    show. A policy that `tells_probs` is asked once for each decision. Of any other the probabilities are estimated:
    it is asked `samples` times, each time with another key. A best response also exploits the noise of the estimate, so
    that NashConv comes out too high on average, the less so the more samples there are.

    Args:
        policy: it has to play by the rules of the tree.
        tree: the game.
        seed: of the keys, 0 to 2^64 - 1.
        samples: how often to ask a policy that cannot tell its probabilities.
        report: told the decisions asked since it was last told, `num_questions` in all.

    Returns:
        [I, A] float64 probabilities.

    Raises:
        PolicyError: the policy cannot play by these rules.
        PolicyFailedError: it raised, or did not answer with legal actions or with probabilities.
    """
    check_rules(policy, tree.rules)
    strategy = np.zeros((tree.num_sets, num_actions(tree.rules)))
    tells = tells_probs(policy)
    generator = np.random.default_rng(stream_seed(seed, GENERATOR_STREAM))
    for sample in range(1 if tells else samples):
        for rows, decision in _decisions(tree, seed, sample):
            strategy[rows] += ask_probs(policy, decision) if tells else _choice(policy, decision, generator)
            if report is not None:
                report(len(decision))
    return strategy if tells else strategy / samples


def num_questions(policy: Policy, tree: GameTree, samples: int = SAMPLES) -> int:
    """How many decisions `strategy_of` asks about."""
    return tree.num_sets * (1 if tells_probs(policy) else samples)


def _decisions(tree: GameTree, seed: int, sample: int) -> Iterator[tuple[slice, Decision]]:
    """The decisions of all information sets, `ROWS` at a time, with keys that differ from sample to sample."""
    numbers = np.arange(tree.num_sets) + sample * tree.num_sets
    keys = stream_keys(stream_seed(seed, ACTION_STREAM), numbers)
    for start in range(0, tree.num_sets, ROWS):
        rows = slice(start, min(start + ROWS, tree.num_sets))
        # Copies, so that a policy may write into what it is asked without changing the game.
        seen, legal, seats = tree.packed[rows].copy(), tree.legal_packed[rows].copy(), tree.seat[rows].copy()
        yield rows, Decision.from_packed(seen, legal, seats, tree.rules, keys[rows])


def _choice(policy: Policy, decision: Decision, generator: np.random.Generator) -> Vector:
    """[D, A] float64: 1 for the actions that a policy chose this time."""
    return one_hot(strict_answer(policy, decision, generator), decision)


class TabularPolicy:
    """Plays a table of probabilities, one row for each information set of a game.

    Attributes:
        name: what reports call it.
        tree: the game; deals by other rules, or with chips carried in, are not in the table.
        strategy: [I, A] float64 probabilities.
    """

    def __init__(self, tree: GameTree, strategy: Vector, *, name: str) -> None:
        """Wrap a table.

        Raises:
            ValueError: rows that are no probabilities over the legal actions.
        """
        flat(tree, strategy)
        self.tree = tree
        self.strategy = strategy
        self.name = name

    def check_rules(self, rules: Rules) -> None:
        """Refuse all rules but those of the game.

        Raises:
            PolicyError: names the rules it plays by.
        """
        if rules != self.tree.rules:
            raise PolicyError(
                f"{self.name} is a table for the rules {self.tree.rules.fingerprint} alone, not for {rules.fingerprint}"
            )

    def probs(self, decision: Decision) -> Vector:
        """How likely `act` takes each action.

        Returns:
            [D, A] float64.

        Raises:
            PolicyFailedError: a decision that the game does not have.
        """
        legal = decision.legal_action_mask
        rows = self.tree.find(decision.showing(self.tree.rules.num_players).packed)
        is_forced = legal.sum(axis=1) == 1  # these belong to no information set
        missing = (rows == UNKNOWN) & ~is_forced
        if missing.any():
            raise PolicyFailedError(
                f"{self.name} has no entry for row {int(np.argmax(missing))}, seat {int(decision.seat[missing][0])}: "
                "its game is a single deal with nothing in the pot but the antes"
            )
        return np.where(is_forced[:, None], legal, self.strategy[rows])

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.int64]:
        """[D] actions, drawn with `decision.key`; errors as in `probs`."""
        summed = self.probs(decision).cumsum(axis=1)
        total = summed[:, -1]
        # Below the total even if rounding says otherwise, since the sums rise past it at a possible action only.
        threshold = np.minimum(uniform_numbers(decision.key) * total, np.nextafter(total, 0))
        actions: NDArray[np.int64] = (summed <= threshold[:, None]).sum(axis=1)
        return actions
