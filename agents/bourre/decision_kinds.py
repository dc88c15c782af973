"""Kinds of decisions in Bourré, by which a report of leaks tells them apart; the last kind is all of them.

Shapes: A decisions, K kinds.
"""

import numpy as np
from numpy.typing import NDArray

from agents.lookahead import pass_action_of
from agents.policy import Decision
from agents.search import is_in_play, is_to_lead
from bourre_env.bourre import observation as at
from bourre_env.bourre.rules import Rules
from bourre_env.cards import ALL_CARDS
from bourre_env.decision import are_legal

PASSED, STAYED, DISCARDED, EVERY = 0, 1, 2, -1


def kinds_of(rules: Rules) -> tuple[str, ...]:
    """[K] names: declarations, discards, and cards by whether they are led and by the cards in the hand."""
    left = range(rules.hand_size, 1, -1)
    return (
        *("passed, should it have stayed?", "stayed, should it have passed?", "discards"),
        *(f"{what}, {number} cards in hand" for what in ("leads", "follows") for number in left),
        "all",
    )


def decided(rules: Rules, decision: Decision, own: NDArray[np.int64]) -> NDArray[np.bool_]:
    """[A, K] of which kinds decisions are at which a policy did `own` [A]; staying may be of two."""
    may_pass = are_legal(np.full(len(own), pass_action_of(rules)), decision.legal_packed)
    choices = np.bitwise_count(decision.legal_packed).sum(axis=1) - may_pass
    is_play, passed = is_in_play(decision), own == pass_action_of(rules)
    counted = np.zeros((len(own), len(kinds_of(rules))), np.bool_)
    counted[:, EVERY] = True
    counted[:, PASSED] = ~is_play & passed
    counted[:, STAYED] = ~is_play & ~passed & may_pass
    counted[:, DISCARDED] = ~is_play & ~passed & (choices > 1)
    rows = np.flatnonzero(is_play)
    counted[rows, _kinds_of_cards(rules, decision)[rows]] = True
    return counted


def kinds_of_changes(
    rules: Rules, decision: Decision, own: NDArray[np.int64], better: NDArray[np.int64]
) -> NDArray[np.int64]:
    """[A] of which kind it is to do `better` [A] instead of `own` [A]."""
    pass_action = pass_action_of(rules)
    declared = np.where(own == pass_action, PASSED, np.where(better == pass_action, STAYED, DISCARDED))
    return np.where(is_in_play(decision), _kinds_of_cards(rules, decision), declared)


def _kinds_of_cards(rules: Rules, decision: Decision) -> NDArray[np.int64]:
    """[A] the kinds of decisions in the play."""
    cards = np.bitwise_count(decision.packed[:, at.OWN_HAND] & np.uint64(ALL_CARDS)).astype(np.int64)
    first = DISCARDED + 1 + np.where(is_to_lead(decision), 0, rules.hand_size - 1)
    return np.asarray(first + rules.hand_size - cards)
