"""Policies that do not learn: the yardsticks.

Shapes: D decisions, A actions, L words of a packed legal set.
"""

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.bourre.rules import bourre_rules
from agents.heuristic import ALWAYS_PASSES, BY_TRUMPS, BY_VALUE, NEVER_PASSES, choose_rows
from agents.policy import Decision, one_hot
from agents.thresholds import THRESHOLDS
from bourre_env.bits import BITS
from bourre_env.bourre.rules import Rules
from bourre_env.cards import count_cards, lowest_card
from bourre_env.deck import GOLDEN, mix
from bourre_env.family import GameRules
from bourre_env.jit import njit, njit_entry


class Random:
    """Any legal action, each as likely as the next; decided by the key of the decision alone."""

    name = "random"

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.int64]:
        """[D] actions."""
        actions = np.empty(len(decision), np.int64)
        _choose_any(decision.legal_packed, decision.key, actions)
        return actions

    def probs(self, decision: Decision) -> NDArray[np.float64]:
        """[D, A] probabilities."""
        legal = decision.legal_action_mask
        probs: NDArray[np.float64] = legal / legal.sum(axis=1, keepdims=True)
        return probs


_NO_LOTS = np.random.default_rng(0)  # `act` wants a generator, and a rule bot never uses it


@dataclass(frozen=True, slots=True)
class RuleBot:
    """The rule bot of `agents.heuristic`, with one of four ways to declare.

    Attributes:
        name: what reports call it.
        declaring: `BY_VALUE`, `BY_TRUMPS`, `NEVER_PASSES` or `ALWAYS_PASSES` (whenever it may). Drawing and card play
            are the same.
        thresholds: [9, 8, 8, 2] of `BY_VALUE`, as in `agents.thresholds`.
    """

    name: str
    declaring: int
    thresholds: NDArray[np.float64] = field(default_factory=lambda: THRESHOLDS, repr=False, compare=False)

    def check_rules(self, rules: GameRules) -> None:
        """Refuse other games.

        Raises:
            PolicyError: names both.
        """
        bourre_rules(rules, self.name)

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.int64]:
        """[D] actions."""
        actions = np.empty(len(decision), np.int64)
        rules = _record(bourre_rules(decision.rules, self.name))
        choose_rows(decision.packed, decision.legal_packed, rules, self.thresholds, self.declaring, actions)
        return actions

    def probs(self, decision: Decision) -> NDArray[np.float64]:
        """[D, A] probabilities, all of them 0 or 1: the bot draws no lots."""
        return one_hot(self.act(decision, _NO_LOTS), decision)


HEURISTIC = RuleBot("heuristic", BY_VALUE)
TWO_TRUMPS = RuleBot("two_trumps", BY_TRUMPS)
ALWAYS_STAY = RuleBot("always_stay", NEVER_PASSES)
ALWAYS_PASS = RuleBot("always_pass", ALWAYS_PASSES)


@functools.lru_cache(maxsize=64)
def _record(rules: Rules) -> np.recarray[Any, Any]:
    """The rules as compiled code reads them."""
    return rules.record()


@njit_entry
def _choose_any(legal: NDArray[np.uint64], keys: NDArray[np.uint64], actions: NDArray[np.int64]) -> None:
    """Fill `actions` [D], each drawn evenly from a legal set [L] with its own key."""
    for row in range(len(legal)):
        num_legal = 0
        for word in range(legal.shape[1]):
            num_legal += count_cards(legal[row, word])
        chosen = ((mix(keys[row] + GOLDEN) >> np.uint64(32)) * np.uint64(num_legal)) >> np.uint64(32)
        word = 0
        while chosen >= np.uint64(count_cards(legal[row, word])):
            chosen -= np.uint64(count_cards(legal[row, word]))
            word += 1
        actions[row] = BITS * word + _place_of_bit(legal[row, word], chosen)


@njit
def _place_of_bit(bits: np.uint64, number: np.uint64) -> int:
    """Place of the bit that has `number` set bits below it."""
    for _ in range(number):
        bits &= bits - np.uint64(1)
    return lowest_card(bits)
