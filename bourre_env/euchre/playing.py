"""Playing to tricks: section E4."""

import numpy as np

from bourre_env.cards import single
from bourre_env.euchre.cards import BEATING, NO_CARD, NO_SUIT, SUIT_CARDS, SUIT_OF
from bourre_env.euchre.rules import HAND_SIZE
from bourre_env.euchre.scoring import settle
from bourre_env.euchre.table import NO_SEAT, PLAY, next_active
from bourre_env.jit import njit
from bourre_env.tricks import beats, cards_to_follow

DUTIES = 0  # of `tricks`: to follow the suit led is the only one


@njit
def begin_play(table: np.record) -> None:
    """Rule E4.1: the first seat on the dealer's left that is not out leads."""
    table.phase = PLAY
    table.leader = next_active(table, table.dealer)
    table.to_act = table.leader


@njit
def cards_to_play(table: np.record) -> np.uint64:
    """Rules E4.1 and E4.2: the cards the seat to act may play."""
    hand = table.hands[table.to_act]
    if table.led_suit == NO_SUIT:
        return hand
    suits = SUIT_CARDS[table.trump_suit]
    beating = BEATING[table.trump_suit, table.best_card]
    return cards_to_follow(hand, suits[table.led_suit], suits[table.trump_suit], beating, DUTIES)


@njit
def apply_play(table: np.record, rules: np.record, card: int) -> None:
    """Rules E4.1 and E4.3: a card of the seat to act joins the trick; after the last trick the hand is settled."""
    seat = table.to_act
    bit = single(card)
    suit = SUIT_OF[table.trump_suit, card]
    table.hands[seat] &= ~bit
    table.played[seat] |= bit
    table.tricks[table.tricks_done] |= bit
    if table.led_suit == NO_SUIT:
        table.led_suit = suit
    elif suit != table.led_suit:
        table.voids[seat] |= np.uint8(1 << table.led_suit)
    if beats(card, BEATING[table.trump_suit, table.best_card]):
        table.best_card = card
        table.best_seat = seat
    following = next_active(table, seat)
    if following != table.leader:
        table.to_act = following
        return
    _end_trick(table)
    if table.tricks_done == HAND_SIZE:
        settle(table, rules)


@njit
def _end_trick(table: np.record) -> None:
    """Rule E4.3: the winner leads to the next trick."""
    table.tricks_won[table.best_seat] += 1
    table.tricks_done += 1
    table.leader = table.best_seat
    table.to_act = table.best_seat
    table.led_suit = NO_SUIT
    table.best_card = NO_CARD
    table.best_seat = NO_SEAT
