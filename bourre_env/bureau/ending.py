"""The end of a deal and what it brought: section B5, and what a forfeit costs (B6.2)."""

import numpy as np

from bourre_env.bureau.table import (
    ALL_UP,
    FORFEITED,
    LEGAL_WORDS,
    LOST,
    NO_SEAT,
    RESIGNED,
    SETTLED,
    STOPPED,
    WON,
)
from bourre_env.cards import EMPTY
from bourre_env.jit import njit


@njit
def settle_if_over(table: np.record, rules: np.record) -> None:
    """Rules B5.1 to B5.3: end a deal that is won, lost or has had all its decisions; legal actions must be known."""
    if table.cards_up == ALL_UP:
        settle(table, rules, WON)
    elif not has_legal_action(table):
        settle(table, rules, LOST)
    elif table.steps >= rules.max_steps:
        settle(table, rules, STOPPED)


@njit
def has_legal_action(table: np.record) -> bool:
    """Whether any action is legal."""
    found = EMPTY
    for word in range(LEGAL_WORDS):
        found |= table.legal[word]
    return found != EMPTY


@njit
def settle(table: np.record, rules: np.record, ending: int) -> None:
    """Rule B5.5: the deal is over and brings the cards that are up, or, where wins alone count, all or nothing."""
    table.returns[0] = 0 if rules.pays_wins_only and ending != WON else table.cards_up
    close(table, ending)


@njit
def resign(table: np.record, rules: np.record) -> None:
    """Rule B5.4: the player gives up; the cards that are up count."""
    settle(table, rules, RESIGNED)


@njit
def forfeit(table: np.record, rules: np.record) -> None:
    """Rule B6.2: the deal is over and brings nothing."""
    table.returns[0] = 0
    close(table, FORFEITED)


@njit
def close(table: np.record, ending: int) -> None:
    """Nobody is to act any more."""
    table.ending = ending
    table.phase = SETTLED
    table.to_act = NO_SEAT
    for word in range(LEGAL_WORDS):
        table.legal[word] = EMPTY
