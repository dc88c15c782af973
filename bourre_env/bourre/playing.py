"""Playing to tricks: section 4."""

import numpy as np

from bourre_env.bourre.cinch import cinch_follow, cinch_lead
from bourre_env.bourre.rules import FREE_LEAD, TOP_HONOUR
from bourre_env.bourre.settling import settle
from bourre_env.bourre.table import NO_SEAT, NO_SUIT, PLAY, next_active
from bourre_env.cards import BEATING, EMPTY, NO_CARD, SUIT_CARDS, TRUMPS, highest_card, single, suit_of
from bourre_env.jit import njit
from bourre_env.tricks import beats, cards_to_follow


@njit
def begin_play(table: np.record) -> None:
    """Rule 4.1: the first active seat on the dealer's left leads."""
    table.phase = PLAY
    table.leader = next_active(table, table.dealer)
    table.to_act = table.leader


@njit
def cards_to_play(table: np.record, rules: np.record) -> np.uint64:
    """The cards the seat to act may play."""
    if table.led_suit == NO_SUIT:
        return cards_to_lead(table, rules)
    hand = table.hands[table.to_act]
    allowed = cards_to_follow(hand, SUIT_CARDS[table.led_suit], TRUMPS, BEATING[table.best_card], rules.duties)
    if cinch_follow(table, rules, table.to_act, allowed):
        return single(highest_card(hand & TRUMPS))
    return allowed


@njit
def cards_to_lead(table: np.record, rules: np.record) -> np.uint64:
    """Rules 4.7, 4.8 and 5.3: the cards the leader may lead."""
    hand = table.hands[table.to_act]
    if cinch_lead(table, rules, table.to_act):
        return single(highest_card(hand & TRUMPS))
    honours = hand & rules.honours
    if rules.lead_rule == FREE_LEAD or honours == EMPTY:
        return hand
    if rules.lead_rule == TOP_HONOUR or table.tricks_done == 0:
        return single(highest_card(hand & TRUMPS))
    return honours


@njit
def apply_play(table: np.record, rules: np.record, card: int) -> None:
    """Rules 4.1 and 4.6: the seat to act plays a card; after the last trick the deal is settled."""
    put_on_table(table, card)
    if table.tricks_done == rules.hand_size:
        settle(table, rules)


@njit
def put_on_table(table: np.record, card: int) -> None:
    """Rules 4.1 and 4.6: a card of the seat to act joins the trick; the last one ends the trick."""
    seat = table.to_act
    bit = single(card)
    table.hands[seat] &= ~bit
    table.played[seat] |= bit
    table.tricks[table.tricks_done] |= bit
    if table.led_suit == NO_SUIT:
        table.led_suit = suit_of(card)
    if beats(card, BEATING[table.best_card]):
        table.best_card = card
        table.best_seat = seat
    following = next_active(table, seat)
    if following == table.leader:
        _end_trick(table)
    else:
        table.to_act = following


@njit
def _end_trick(table: np.record) -> None:
    """Rule 4.1: the winner leads to the next trick."""
    table.tricks_won[table.best_seat] += 1
    table.tricks_done += 1
    table.leader = table.best_seat
    table.to_act = table.best_seat
    table.led_suit = NO_SUIT
    table.best_card = NO_CARD
    table.best_seat = NO_SEAT
