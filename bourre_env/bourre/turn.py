"""One decision at one table: what is legal, and what an action does. The batch is a loop over these functions."""

import numpy as np

from bourre_env.bourre import settling
from bourre_env.bourre.actions import actions_of_cards, card_of_action, first_stay, pass_action
from bourre_env.bourre.declaring import apply_pass, apply_stay, may_pass, stay_masks
from bourre_env.bourre.observation import encode
from bourre_env.bourre.playing import apply_play, cards_to_play
from bourre_env.bourre.table import DECLARE, PLAY, SETTLED, TABLE
from bourre_env.cards import EMPTY
from bourre_env.jit import njit
from bourre_env.table_rules import WORD, TableRules, add_game


@njit
def find_legal(table: np.record, rules: np.record) -> None:
    """Write the legal actions of the seat to act into the record; none once the deal is settled."""
    table.legal[0] = EMPTY
    table.legal[1] = EMPTY
    if table.phase == SETTLED:
        return
    if table.phase == PLAY:
        table.legal[0] = actions_of_cards(rules, cards_to_play(table, rules))
        return
    _add_actions(table, first_stay(rules), stay_masks(table, rules))
    if table.phase == DECLARE and may_pass(table, rules):
        _add_actions(table, pass_action(rules), np.uint64(1))


@njit
def _add_actions(table: np.record, first: int, bits: np.uint64) -> None:
    """Mark the actions `first` + i for the bits i."""
    if first < WORD:
        table.legal[0] |= bits << np.uint64(first)
        if first > 0:
            table.legal[1] |= bits >> np.uint64(WORD - first)
    else:
        table.legal[1] |= bits << np.uint64(first - WORD)


@njit
def act(table: np.record, rules: np.record, action: int) -> None:
    """Apply a legal action and find what is legal next."""
    if table.phase == PLAY:
        apply_play(table, rules, card_of_action(rules, action))
    elif action == pass_action(rules):
        apply_pass(table, rules)
    else:
        apply_stay(table, rules, action - first_stay(rules))
    find_legal(table, rules)


@njit
def forfeit(table: np.record, rules: np.record) -> None:
    """Rule 7.2: the seat to act forfeits the deal."""
    settling.forfeit(table, rules)
    find_legal(table, rules)


add_game(TABLE, TableRules(act, encode, forfeit))
