"""Antes and the deal: rules 1.3, 1.4 and section 2."""

import numpy as np
from numpy.typing import NDArray

from bourre_env.bourre.declaring import begin_declaring
from bourre_env.bourre.table import NO_SEAT, NO_SUIT, in_mask, pay_into_pot, seat_bit
from bourre_env.cards import EMPTY, NO_CARD, NUM_RANKS, single, suit_of
from bourre_env.jit import njit


@njit
def deal(table: np.record, rules: np.record, deck: NDArray[np.int8], dealer: int, carry: int, exempt: np.uint8) -> None:
    """Start a deal: clear the table, take the antes, deal and turn up; the eldest is to declare.

    Args:
        table: one record of dtype `TABLE`; `stacks` must be set beforehand when the rules play table stakes.
        rules: one record of dtype `RULES`.
        deck: [C] int8 real card ids in dealing order.
        dealer: the dealer's seat.
        carry: chips that lie in the pot.
        exempt: mask of the seats that pay no ante.
    """
    _clear(table)
    table.dealer = dealer
    table.exempt = exempt
    table.carry = carry
    table.pot = carry
    take_antes(table, rules)
    turn_up_and_stock(table, rules, deck)
    deal_hands(table, rules)
    begin_declaring(table, rules)


@njit
def set_stacks(table: np.record, rules: np.record, stacks: NDArray[np.int64]) -> None:
    """Rule 6.7: what each seat can pay in the deal to come, `stacks` [N]; nothing to set on credit."""
    if rules.table_stakes:
        for seat in range(rules.num_players):
            table.stacks[seat] = stacks[seat]


@njit
def _clear(table: np.record) -> None:
    """Nothing of the last deal is left."""
    for seat in range(len(table.hands)):
        table.hands[seat] = EMPTY
        table.played[seat] = EMPTY
        table.returns[seat] = 0
        table.num_discards[seat] = 0
        table.tricks_won[seat] = 0
    for trick in range(len(table.tricks)):
        table.tricks[trick] = EMPTY
    table.pile = EMPTY
    table.passed_pile = EMPTY
    table.face_up = EMPTY
    table.stayed = 0
    table.passed = 0
    table.out = 0
    table.num_reshuffles = 0
    table.tricks_done = 0
    table.leader = NO_SEAT
    table.led_suit = NO_SUIT
    table.best_card = NO_CARD
    table.best_seat = NO_SEAT
    table.forfeited = NO_SEAT


@njit
def take_antes(table: np.record, rules: np.record) -> None:
    """Rules 1.3 and 6.7: every seat that is not exempt puts in one ante; one without chips sits out."""
    for seat in range(rules.num_players):
        if in_mask(table.exempt, seat):
            continue
        if rules.table_stakes and table.stacks[seat] == 0:
            table.out |= seat_bit(seat)
        else:
            pay_into_pot(table, rules, seat, rules.ante)


@njit
def turn_up_and_stock(table: np.record, rules: np.record, deck: NDArray[np.int8]) -> None:
    """Rules 2.2 and 2.3: the turn-up names trumps; what follows the cards dealt is the stock."""
    cards_dealt = rules.num_players * rules.hand_size
    turn_up_place = cards_dealt if rules.turn_up_on_table else cards_dealt - 1
    table.trump_suit = suit_of(deck[turn_up_place])
    lowest_trump = np.int8(NUM_RANKS * table.trump_suit)
    for place in range(len(deck)):
        card = relabelled(deck[place], lowest_trump)
        table.deck[place] = card
        table.stock[place] = card
    turn_up = table.deck[turn_up_place]
    table.turn_up = turn_up
    table.stock_next = turn_up_place + 1
    table.stock_end = len(deck)
    if rules.turn_up_on_table:
        table.face_up = single(turn_up)


@njit
def relabelled(card: np.int8, lowest_trump: np.int8) -> np.int8:
    """`cards.to_relative` of one card in eight-bit arithmetic without branches, many cards at a time."""
    above_lowest = np.int8(card - lowest_trump)
    suit_further = np.int8(card + np.int8(NUM_RANKS)) if card < lowest_trump else card
    return above_lowest if np.uint8(above_lowest) < np.uint8(NUM_RANKS) else suit_further


@njit
def deal_hands(table: np.record, rules: np.record) -> None:
    """Rule 2.1: cards go round one at a time, the eldest first."""
    seat = table.dealer
    for place in range(rules.num_players * rules.hand_size):
        seat = seat + 1 if seat + 1 < rules.num_players else 0
        table.hands[seat] |= single(int(table.deck[place]))
    for seat in range(rules.num_players):
        table.dealt[seat] = table.hands[seat]
