"""Making trumps: section E2. Once they are made, and a card is shed where one was taken, the phase is `ALONE`."""

import numpy as np

from bourre_env.cards import single
from bourre_env.euchre.alone import play_alone
from bourre_env.euchre.cards import EMPTY, NO_SUIT, NUM_RANKS
from bourre_env.euchre.rules import NUM_SEATS
from bourre_env.euchre.scoring import throw_in
from bourre_env.euchre.table import (
    ALONE,
    BID1,
    BID2,
    BLIND,
    CALL_BITS,
    CALL_PASS,
    CALL_SUIT,
    CALL_TURN_DOWN,
    DISCARD,
    MAX_CALLS,
    left_of,
    partner_of,
)
from bourre_env.jit import njit


@njit
def up_suit(table: np.record) -> int:
    """The suit of the up-card; `NO_SUIT` for the Benny."""
    return table.up_card // NUM_RANKS


@njit
def may_name(table: np.record, rules: np.record, suit: int) -> bool:
    """Rules E2.1 to E2.4 and E2.6: whether the seat to act may make a suit trumps."""
    if table.phase == BLIND:
        return True
    if table.phase == BID2:
        return suit != up_suit(table)
    return suit == up_suit(table) and not must_turn_down(table, rules)


@njit
def must_turn_down(table: np.record, rules: np.record) -> bool:
    """Rule E2.3: whether "I turn it down" is the only way for the seat to act to accept the up-card's suit."""
    is_partner = table.to_act == partner_of(table.dealer)
    return table.phase == BID1 and is_partner and rules.partner_alone_only != 0


@njit
def may_pass(table: np.record, rules: np.record) -> bool:
    """Rules E2.1 and E2.7: whether the seat to act may pass."""
    is_stuck = table.num_calls == MAX_CALLS - 1 and rules.stick_the_dealer != 0
    return table.phase != BLIND and not is_stuck


@njit
def cards_to_shed(table: np.record, rules: np.record) -> np.uint64:
    """Rule E2.5: the cards that the seat with six cards may lay away."""
    hand = table.hands[table.to_act]
    return hand if rules.may_shed_upcard else hand & ~single(table.up_card)


@njit
def _note_call(table: np.record, call: int) -> None:
    """Remember what the seat to act said."""
    table.calls |= single(CALL_BITS * table.num_calls + call)
    table.num_calls += 1


@njit
def apply_pass(table: np.record) -> None:
    """Rules E2.2, E2.6 and E2.7: after four passes comes the second round, after eight the hand is thrown in."""
    _note_call(table, CALL_PASS)
    if table.num_calls == MAX_CALLS:
        throw_in(table)
        return
    if table.num_calls == NUM_SEATS:
        table.phase = BID2
    table.to_act = left_of(table.to_act)


@njit
def apply_name(table: np.record, rules: np.record, suit: int) -> None:
    """Rules E2.1, E2.2, E2.4 and E2.6: the seat to act makes a suit trumps."""
    was_second_round = table.phase == BID2
    if table.phase != BLIND:
        _note_call(table, CALL_SUIT + suit)
    _make_trumps(table, suit)
    if not was_second_round:
        take_up_card(table, table.dealer)
        return
    if rules.partner_round2_alone_only and table.maker == partner_of(table.dealer):
        play_alone(table, table.maker)
    table.phase = ALONE


@njit
def apply_turn_down(table: np.record, rules: np.record) -> None:
    """Rule E2.3: the dealer's partner plays alone in the up-card's suit."""
    _note_call(table, CALL_TURN_DOWN)
    _make_trumps(table, up_suit(table))
    play_alone(table, table.maker)
    if rules.turn_down_card_to_partner:
        take_up_card(table, table.maker)
    else:
        table.phase = ALONE


@njit
def _make_trumps(table: np.record, suit: int) -> None:
    """The seat to act has made a suit trumps."""
    table.trump_suit = suit
    table.maker = table.to_act


@njit
def take_up_card(table: np.record, seat: int) -> None:
    """Rule E2.5: a seat takes the up-card and is to lay a card away."""
    table.hands[seat] |= single(table.up_card)
    table.taker = seat
    table.to_act = seat
    table.phase = DISCARD


@njit
def apply_discard(table: np.record, card: int) -> None:
    """Rule E2.5: the seat to act lays a card away, face down."""
    table.hands[table.to_act] &= ~single(card)
    table.shed = single(card)
    table.phase = ALONE


@njit
def suits_to_name(table: np.record, rules: np.record) -> np.uint64:
    """The suits that the seat to act may name, as bits."""
    suits = EMPTY
    for suit in range(NO_SUIT):
        if may_name(table, rules, suit):
            suits |= single(suit)
    return suits
