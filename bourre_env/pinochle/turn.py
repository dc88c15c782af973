"""One decision at one table: what is legal, and what an action does. The batch is a loop over these functions."""

import numpy as np

from bourre_env import table_rules
from bourre_env.cards import single
from bourre_env.jit import njit
from bourre_env.pinochle import actions, scoring
from bourre_env.pinochle.auction import apply_bid, apply_pass, levels_to_bid
from bourre_env.pinochle.cards import EMPTY, kinds_of, relative_kinds
from bourre_env.pinochle.exchange import apply_send, begin_exchange
from bourre_env.pinochle.observation import encode
from bourre_env.pinochle.playing import apply_play, kinds_to_play
from bourre_env.pinochle.table import BID, EXCHANGE, PLAY, TABLE, TRUMP
from bourre_env.pinochle.trump import suits_to_name

_BELOW_NAMES = np.uint64(actions.NAME - actions.WORD)
_IN_FIRST_WORD = np.uint64(actions.WORD - actions.BID)


@njit
def find_legal(table: np.record, rules: np.record) -> None:
    """Write the legal actions of the seat to act into the record; none once the hand is settled."""
    table.legal[0] = EMPTY
    table.legal[1] = EMPTY
    if table.phase == PLAY:
        table.legal[0] = relative_kinds(kinds_to_play(table, rules, table.to_act), actions.reference_suit(table, rules))
    elif table.phase == EXCHANGE:
        hand = kinds_of(table.hands[table.to_act])
        table.legal[0] = relative_kinds(hand, actions.reference_suit(table, rules))
    elif table.phase == BID:
        levels = levels_to_bid(table)
        table.legal[0] = single(actions.PASS) | levels << np.uint64(actions.BID)
        table.legal[1] = levels >> _IN_FIRST_WORD
    elif table.phase == TRUMP:
        table.legal[1] = suits_to_name(table.hands[table.to_act], rules) << _BELOW_NAMES


@njit
def act(table: np.record, rules: np.record, action: int) -> None:
    """Apply a legal action and find what is legal next."""
    real = actions.real_action(action, actions.reference_suit(table, rules))
    if table.phase == PLAY:
        apply_play(table, rules, real)
    elif table.phase == EXCHANGE:
        apply_send(table, rules, real)
    elif table.phase == TRUMP:
        table.trump_suit = real - actions.NAME
        begin_exchange(table, rules)
    elif real == actions.PASS:
        apply_pass(table, rules)
    else:
        apply_bid(table, real - actions.BID)
    find_legal(table, rules)


@njit
def forfeit(table: np.record, rules: np.record) -> None:
    """Rule P7.3: the seat to act forfeits the hand."""
    scoring.forfeit(table, rules)
    find_legal(table, rules)


table_rules.add_game(TABLE, table_rules.TableRules(act, encode, forfeit))
