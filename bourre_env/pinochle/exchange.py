"""Cards sent between the declarer and the partner: rule P3.2."""

import numpy as np

from bourre_env.cards import count_cards
from bourre_env.jit import njit
from bourre_env.pinochle.cards import add, remove
from bourre_env.pinochle.playing import begin_play
from bourre_env.pinochle.table import EXCHANGE, partner_of


@njit
def begin_exchange(table: np.record, rules: np.record) -> None:
    """Rule P3.2: the declarer's partner sends first; where nothing is exchanged, the play begins."""
    if rules.exchange == 0:
        begin_play(table, rules)
        return
    table.phase = EXCHANGE
    table.to_act = partner_of(table.high_bidder)


@njit
def apply_send(table: np.record, rules: np.record, kind: int) -> None:
    """Rule P3.2: the seat to act gives its partner a card; both see it, nobody else does."""
    seat, partner = table.to_act, partner_of(table.to_act)
    table.hands[seat] = remove(table.hands[seat], kind)
    table.hands[partner] = add(table.hands[partner], kind)
    table.sent[seat] = add(table.sent[seat], kind)
    if count_cards(table.sent[seat]) < rules.exchange:
        return
    if seat == table.high_bidder:
        begin_play(table, rules)
    else:
        table.to_act = table.high_bidder
