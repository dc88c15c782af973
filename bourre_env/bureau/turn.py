"""One decision at one table: what is legal, and what an action does. The batch is a loop over these functions."""

import numpy as np
from numpy.typing import NDArray

from bourre_env.bureau.actions import COLUMN_UP, DRAW, MOVE, REDEAL, RESIGN, WASTE_DOWN, WASTE_UP
from bourre_env.bureau.columns import apply_column_up, apply_move, would_repeat
from bourre_env.bureau.ending import resign, settle_if_over
from bourre_env.bureau.foundations import is_accepted
from bourre_env.bureau.rules import NUM_COLUMNS
from bourre_env.bureau.stock import apply_draw, apply_redeal, apply_waste_down, apply_waste_up, may_draw, may_redeal
from bourre_env.bureau.table import LEGAL_WORDS, SETTLED, exposed_card, next_down, waste_card
from bourre_env.cards import EMPTY, count_cards, holds, lowest_card, single
from bourre_env.jit import njit

WORD = 64


@njit
def find_legal(table: np.record, rules: np.record, seen: NDArray[np.uint64]) -> None:
    """Write the legal actions into the record, and settle the deal where there is none or it is over."""
    for word in range(LEGAL_WORDS):
        table.legal[word] = EMPTY
    if may_draw(table):
        _allow(table, DRAW)
    if may_redeal(table, rules):
        _allow(table, REDEAL)
    _find_moves_of_waste(table)
    _find_moves_of_columns(table, rules, seen)
    settle_if_over(table, rules)
    if rules.resign and table.phase != SETTLED:  # to give up is no move: without another the deal is lost (B5.2)
        _allow(table, RESIGN)


@njit
def _allow(table: np.record, action: int) -> None:
    """An action is legal."""
    table.legal[action // WORD] |= single(action % WORD)


@njit
def _find_moves_of_waste(table: np.record) -> None:
    """Rule B4.2: where the card of the waste may go."""
    card = waste_card(table)
    if card < 0:
        return
    if is_accepted(table, card):
        _allow(table, WASTE_UP)
    for column in range(NUM_COLUMNS):
        if holds(next_down(exposed_card(table, column)), card):
            _allow(table, WASTE_DOWN + column)


@njit
def _find_moves_of_columns(table: np.record, rules: np.record, seen: NDArray[np.uint64]) -> None:
    """Rules B3.1 to B3.4: where cards of the columns may go."""
    for source in range(NUM_COLUMNS):
        if table.runs[source] & table.accepted != EMPTY and is_accepted(table, exposed_card(table, source)):
            _allow(table, COLUMN_UP + source)
    for target in range(NUM_COLUMNS):
        wanted = next_down(exposed_card(table, target))
        if wanted == EMPTY:
            continue
        for source in range(NUM_COLUMNS):
            if table.runs[source] & wanted != EMPTY and not would_repeat(table, rules, source, target, seen):
                _allow(table, MOVE + NUM_COLUMNS * source + target)


@njit
def is_legal(table: np.record, action: int) -> bool:
    """Whether an action may be taken; any integer may be asked about."""
    if action < 0 or action > RESIGN:
        return False
    return holds(table.legal[action // WORD], action % WORD)


@njit
def act(table: np.record, rules: np.record, action: int, seen: NDArray[np.uint64]) -> None:
    """Apply a legal action and find what is legal next.

    Args:
        table: one record of dtype `TABLE`, not settled.
        rules: the rules.
        action: a legal action.
        seen: the table's positions (B6.3).
    """
    table.steps += 1
    if action == RESIGN:
        resign(table, rules)
        return
    if action == DRAW:
        apply_draw(table, rules, seen)
    elif action == REDEAL:
        apply_redeal(table, rules, seen)
    elif action == WASTE_UP:
        apply_waste_up(table, rules, seen)
    elif action < COLUMN_UP:
        apply_waste_down(table, rules, action - WASTE_DOWN, seen)
    elif action < MOVE:
        apply_column_up(table, rules, action - COLUMN_UP, seen)
    else:
        apply_move(table, rules, (action - MOVE) // NUM_COLUMNS, (action - MOVE) % NUM_COLUMNS, seen)
    find_legal(table, rules, seen)


@njit
def is_forced(table: np.record) -> bool:
    """Whether there is a single legal action."""
    number = 0
    for word in range(LEGAL_WORDS):
        number += count_cards(table.legal[word])
    return number == 1


@njit
def only_action(table: np.record) -> int:
    """The lowest legal action; the legal action, when there is just one."""
    for word in range(LEGAL_WORDS):
        if table.legal[word] != EMPTY:
            return WORD * word + lowest_card(table.legal[word])
    return -1


@njit
def play_forced(table: np.record, rules: np.record, seen: NDArray[np.uint64]) -> None:
    """Act while there is a single legal action."""
    while is_forced(table):
        act(table, rules, only_action(table), seen)
