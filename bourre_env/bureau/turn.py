"""One decision at one table: what is legal, and what an action does. The batch is a loop over these functions.

Actions that are not legal are refused before anything is done (B6.1): by the loops, with the words of `BureauTables`.
"""

import numpy as np
from numpy.typing import NDArray

from bourre_env.bureau.actions import COLUMN_UP, DRAW, MOVE, REDEAL, RESIGN, WASTE_DOWN, WASTE_UP
from bourre_env.bureau.columns import apply_column_up, apply_move, would_repeat
from bourre_env.bureau.ending import forfeit, resign, settle_if_over
from bourre_env.bureau.foundations import is_accepted
from bourre_env.bureau.observation import encode as write_observation
from bourre_env.bureau.rules import NUM_COLUMNS
from bourre_env.bureau.stock import apply_draw, apply_redeal, apply_waste_down, apply_waste_up, may_draw, may_redeal
from bourre_env.bureau.table import LEGAL_WORDS, SETTLED, TABLE, exposed_card, next_down, waste_card
from bourre_env.cards import EMPTY, holds, single
from bourre_env.jit import njit
from bourre_env.table_rules import WORD, TableRules, add_game


@njit
def find_legal(table: np.record, rules: np.record) -> None:
    """Write the legal actions into the record, and settle the deal where there is none or it is over."""
    for word in range(LEGAL_WORDS):
        table.legal[word] = EMPTY
    if may_draw(table):
        _allow(table, DRAW)
    if may_redeal(table, rules):
        _allow(table, REDEAL)
    _find_moves_of_waste(table)
    _find_moves_of_columns(table, rules)
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
def _find_moves_of_columns(table: np.record, rules: np.record) -> None:
    """Rules B3.1 to B3.4: where cards of the columns may go."""
    for source in range(NUM_COLUMNS):
        if table.runs[source] & table.accepted != EMPTY and is_accepted(table, exposed_card(table, source)):
            _allow(table, COLUMN_UP + source)
    for target in range(NUM_COLUMNS):
        wanted = next_down(exposed_card(table, target))
        if wanted == EMPTY:
            continue
        for source in range(NUM_COLUMNS):
            if table.runs[source] & wanted != EMPTY and not would_repeat(table, rules, source, target):
                _allow(table, MOVE + NUM_COLUMNS * source + target)


@njit
def act(table: np.record, rules: np.record, action: int) -> None:
    """Apply a legal action and find what is legal next.

    Args:
        table: one record of dtype `TABLE`, not settled.
        rules: the rules.
        action: a legal action.
    """
    table.steps += 1
    if action == RESIGN:
        resign(table, rules)
        return
    if action == DRAW:
        apply_draw(table, rules)
    elif action == REDEAL:
        apply_redeal(table, rules)
    elif action == WASTE_UP:
        apply_waste_up(table, rules)
    elif action < COLUMN_UP:
        apply_waste_down(table, rules, action - WASTE_DOWN)
    elif action < MOVE:
        apply_column_up(table, rules, action - COLUMN_UP)
    else:
        apply_move(table, rules, (action - MOVE) // NUM_COLUMNS, (action - MOVE) % NUM_COLUMNS)
    find_legal(table, rules)


@njit
def encode(table: np.record, rules: np.record, seat: int, words: NDArray[np.uint64]) -> None:
    """What the only seat may know into `words` [W]."""
    write_observation(table, rules, words)


add_game(TABLE, TableRules(act, encode, forfeit))
