"""One decision at one table: what is legal, and what an action does. The batch is a loop over these functions."""

import numpy as np

from bourre_env.cards import count_cards, lowest_card, single
from bourre_env.euchre.actions import (
    GO_ALONE,
    NAME,
    NUM_ACTIONS,
    PASS,
    TURN_DOWN,
    WITH_PARTNER,
    real_action,
    reference_suit,
    relative_actions,
)
from bourre_env.euchre.alone import apply_answer, ask_next
from bourre_env.euchre.bidding import (
    apply_discard,
    apply_name,
    apply_pass,
    apply_turn_down,
    cards_to_shed,
    may_pass,
    must_turn_down,
    suits_to_name,
)
from bourre_env.euchre.cards import EMPTY
from bourre_env.euchre.playing import apply_play, cards_to_play
from bourre_env.euchre.table import ALONE, DISCARD, PLAY, SETTLED
from bourre_env.jit import njit


@njit
def find_legal(table: np.record, rules: np.record) -> None:
    """Write the legal actions of the seat to act into the record; none once the hand is settled."""
    table.legal[0] = relative_actions(_legal(table, rules), reference_suit(table, rules))
    table.legal[1] = EMPTY


@njit
def _legal(table: np.record, rules: np.record) -> np.uint64:
    """The legal actions of the seat to act, with printed ids."""
    if table.phase == PLAY:
        return cards_to_play(table)
    if table.phase == SETTLED:
        return EMPTY
    if table.phase == DISCARD:
        return cards_to_shed(table, rules)
    if table.phase == ALONE:
        return single(GO_ALONE) | single(WITH_PARTNER)
    calls = suits_to_name(table, rules) << np.uint64(NAME)
    if may_pass(table, rules):
        calls |= single(PASS)
    if must_turn_down(table, rules):
        calls |= single(TURN_DOWN)
    return calls


@njit
def is_legal(table: np.record, action: int) -> bool:
    """Whether the seat to act may take an action; any integer may be asked about."""
    if action < 0 or action >= NUM_ACTIONS:
        return False
    return table.legal[0] & single(action) != EMPTY


@njit
def act(table: np.record, rules: np.record, action: int) -> None:
    """Apply a legal action and find what is legal next."""
    real = real_action(action, reference_suit(table, rules))
    if table.phase == PLAY:
        apply_play(table, rules, real)
    elif table.phase == DISCARD:
        apply_discard(table, real)
    elif table.phase == ALONE:
        apply_answer(table, real == GO_ALONE)
    elif real == PASS:
        apply_pass(table)
    elif real == TURN_DOWN:
        apply_turn_down(table, rules)
    else:
        apply_name(table, rules, real - NAME)
    if table.phase == ALONE:
        ask_next(table, rules)
    find_legal(table, rules)


@njit
def is_forced(table: np.record) -> bool:
    """Whether the seat to act has a single legal action."""
    return count_cards(table.legal[0]) == 1


@njit
def only_action(table: np.record) -> int:
    """The legal action, when there is just one."""
    return lowest_card(table.legal[0])


@njit
def play_forced(table: np.record, rules: np.record) -> None:
    """Act for whoever has a single legal action, until someone has a choice or the hand is settled."""
    while is_forced(table):
        act(table, rules, only_action(table))
