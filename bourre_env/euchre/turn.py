"""One decision at one table: what is legal, and what an action does. The batch is a loop over these functions."""

import numpy as np

from bourre_env.cards import single
from bourre_env.euchre import scoring
from bourre_env.euchre.actions import (
    GO_ALONE,
    NAME,
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
from bourre_env.euchre.observation import encode
from bourre_env.euchre.playing import apply_play, cards_to_play
from bourre_env.euchre.table import ALONE, DISCARD, PLAY, SETTLED, TABLE
from bourre_env.jit import njit
from bourre_env.table_rules import TableRules, add_game


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
def forfeit(table: np.record, rules: np.record) -> None:
    """Rule E6.2: the seat to act forfeits the hand."""
    scoring.forfeit(table)
    find_legal(table, rules)


add_game(TABLE, TableRules(act, encode, forfeit))
