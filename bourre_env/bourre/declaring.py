"""Passing, staying and drawing: section 3."""

import numpy as np

from bourre_env.bourre.playing import begin_play
from bourre_env.bourre.rules import DEALER_COLLECTS, MAX_HAND, RECYCLE_NONE, RECYCLE_PASSED_FIRST
from bourre_env.bourre.settling import collect_pot, leave_pot
from bourre_env.bourre.table import (
    DECLARE,
    DRAW,
    in_mask,
    next_active,
    num_active,
    pay_into_pot,
    seat_bit,
    stock_left,
)
from bourre_env.cards import (
    EMPTY,
    NUM_RANKS,
    NUM_SUITS,
    count_cards,
    holds,
    lowest_card,
    rank_of,
    single,
    suit_of,
)
from bourre_env.deck import GOLDEN, mix, shuffle
from bourre_env.jit import njit

STAND_PAT = np.uint64(1)  # the set of discard masks that holds only "throw nothing away"

MASKS_UP_TO = np.array(
    [sum(1 << mask for mask in range(1 << MAX_HAND) if mask.bit_count() <= most) for most in range(MAX_HAND + 1)],
    np.uint64,
)
"""[6] uint64: bit m set when the discard mask m throws away at most that many cards."""

MASKS_KEEPING = np.array(
    [sum(1 << mask for mask in range(1 << MAX_HAND) if not mask >> place & 1) for place in range(MAX_HAND)], np.uint64
)
"""[5] uint64: bit m set when the discard mask m keeps the card in that place of the sorted hand."""


@njit
def begin_declaring(table: np.record, rules: np.record) -> None:
    """Rule 3.1: the eldest speaks first."""
    table.phase = DECLARE
    table.to_act = table.dealer + 1 if table.dealer + 1 < rules.num_players else 0


@njit
def may_pass(table: np.record, rules: np.record) -> bool:
    """Rules 3.2, 3.4, 3.5, 6.7: whether the seat to declare may pass."""
    if table.to_act != table.dealer or in_mask(table.out, table.to_act):
        return True
    if rules.dealer_always_stays:
        return False
    ace_up = rank_of(table.turn_up) == rules.ace and not rules.turn_up_on_table
    return not (ace_up and rules.ace_up_dealer_must_stay)


@njit
def most_discards(table: np.record, rules: np.record) -> int:
    """Rules 3.3 and 3.10: how many cards the seat to act may throw away, so that it can be served."""
    available = stock_left(table)
    if rules.recycle != RECYCLE_NONE:
        available += count_cards(table.pile) + count_cards(table.passed_pile)
    return min(rules.max_discards, available, rules.hand_size)


@njit
def discard_masks(table: np.record, rules: np.record) -> np.uint64:
    """The discard masks the seat to act may choose: bit m of the result for mask m over its sorted hand."""
    masks = MASKS_UP_TO[most_discards(table, rules)]
    if rules.hand_size < MAX_HAND:
        masks &= single(1 << rules.hand_size) - np.uint64(1)
    hand = table.hands[table.to_act]
    if not rules.dealer_may_discard_turn_up and holds(hand, table.turn_up):
        place = count_cards(hand & (single(table.turn_up) - np.uint64(1)))
        masks &= MASKS_KEEPING[place]
    return masks


@njit
def stay_masks(table: np.record, rules: np.record) -> np.uint64:
    """The discard masks with which the seat to act may stay or draw (3.1); in a declaring round only standing pat."""
    if in_mask(table.out, table.to_act):
        return EMPTY
    if table.phase == DECLARE and rules.two_rounds:
        return STAND_PAT
    return discard_masks(table, rules)


@njit
def apply_pass(table: np.record, rules: np.record) -> None:
    """Rule 3.2: the seat to act lays its hand on the pile."""
    seat = table.to_act
    table.passed |= seat_bit(seat)
    if rules.recycle == RECYCLE_PASSED_FIRST:
        table.passed_pile |= table.hands[seat]
    else:
        table.pile |= table.hands[seat]
    table.hands[seat] = EMPTY
    _next_declaration(table, rules)


@njit
def apply_stay(table: np.record, rules: np.record, discard_mask: int) -> None:
    """Rule 3.1: the seat to act stays and, unless the draw comes in a round of its own, draws."""
    seat = table.to_act
    if table.phase == DRAW:
        draw(table, rules, seat, discard_mask)
        _next_draw(table, rules)
        return
    table.stayed |= seat_bit(seat)
    pay_into_pot(table, rules, seat, rules.play_fee)
    if not rules.two_rounds:
        draw(table, rules, seat, discard_mask)
    _next_declaration(table, rules)


@njit
def draw(table: np.record, rules: np.record, seat: int, discard_mask: int) -> None:
    """Rules 3.3, 3.6, 3.9, 3.10: throw away the cards of the mask and be served as many."""
    discards = cards_of_mask(table.hands[seat], discard_mask)
    number = count_cards(discards)
    if number == 0:
        return
    table.num_discards[seat] = number
    table.hands[seat] &= ~discards
    pay_into_pot(table, rules, seat, rules.draw_fee * (number if rules.draw_fee_each_card else 1))
    for _ in range(number):
        table.hands[seat] |= single(serve_card(table, rules))
    turn_up = single(table.turn_up)
    table.face_up |= discards & turn_up
    table.pile |= discards & ~turn_up


@njit
def cards_of_mask(hand: np.uint64, discard_mask: int) -> np.uint64:
    """The cards a discard mask names: bit i is the i-th lowest card of the hand."""
    chosen = EMPTY
    while discard_mask != 0:
        card = single(lowest_card(hand))
        if discard_mask & 1:
            chosen |= card
        hand &= ~card
        discard_mask >>= 1
    return chosen


@njit
def mask_of_cards(hand: np.uint64, cards: np.uint64) -> int:
    """The discard mask that throws `cards` away: bit i is the i-th lowest card of the hand."""
    mask = 0
    place = 0
    while hand != EMPTY:
        card = lowest_card(hand)
        if holds(cards, card):
            mask |= 1 << place
        hand &= ~single(card)
        place += 1
    return mask


@njit
def serve_card(table: np.record, rules: np.record) -> int:
    """The next card of the stock, which is refilled first when it has run out (3.10)."""
    if stock_left(table) == 0:
        if table.passed_pile != EMPTY:
            reshuffle(table, rules, table.passed_pile)
            table.passed_pile = EMPTY
        else:
            reshuffle(table, rules, table.pile)
            table.pile = EMPTY
    card = table.stock[table.stock_next]
    table.stock_next += 1
    return card


@njit
def reshuffle(table: np.record, rules: np.record, cards: np.uint64) -> None:
    """Rules 3.11 and 8.4: `cards` become the stock, in an order that the dealt pack decides."""
    reshuffles = table.num_reshuffles + 1
    table.num_reshuffles = reshuffles
    number = 0
    for place in range(rules.ranks * rules.suits):
        if holds(cards, table.deck[place]):
            table.stock[number] = table.deck[place]
            number += 1
    shuffle(table.stock, number, mix(deck_hash(table, rules) + GOLDEN * np.uint64(reshuffles)))
    table.stock_next = 0
    table.stock_end = number


@njit
def deck_hash(table: np.record, rules: np.record) -> np.uint64:
    """Rule 8.4: a hash of the dealt pack that does not depend on the names of the suits."""
    suit_numbers = np.full(NUM_SUITS, -1, np.int64)
    suits_met = 0
    word = np.uint64(0)
    for place in range(rules.ranks * rules.suits):
        card = int(table.deck[place])
        suit = suit_of(card)
        if suit_numbers[suit] < 0:
            suit_numbers[suit] = suits_met
            suits_met += 1
        word = mix(word ^ np.uint64(NUM_RANKS * suit_numbers[suit] + rank_of(card) + 1))
    return word


@njit
def _next_declaration(table: np.record, rules: np.record) -> None:
    """Rules 3.1, 3.7: the next seat declares, or the declarations are over."""
    if table.to_act == table.dealer:
        _end_declaring(table, rules)
        return
    table.to_act = table.to_act + 1 if table.to_act + 1 < rules.num_players else 0
    if table.to_act == table.dealer and table.stayed == 0 and _dealer_collects(table, rules):
        collect_pot(table, rules, table.dealer)


@njit
def _dealer_collects(table: np.record, rules: np.record) -> bool:
    """Rules 3.7 and 6.7: whether the dealer, now to speak with all others passed, takes the pot without a decision."""
    if in_mask(table.out, table.dealer):
        return False
    return rules.all_pass == DEALER_COLLECTS or not may_pass(table, rules)


@njit
def _end_declaring(table: np.record, rules: np.record) -> None:
    """Rules 3.7, 3.8: nobody stayed, one seat stayed, or the deal goes on."""
    active = num_active(table)
    if active == 0:
        leave_pot(table)
    elif active == 1:
        collect_pot(table, rules, next_active(table, table.dealer))
    elif rules.two_rounds:
        table.phase = DRAW
        table.to_act = next_active(table, table.dealer)
    else:
        begin_play(table)


@njit
def _next_draw(table: np.record, rules: np.record) -> None:
    """Rule 3.1 with two rounds: the active seats draw in turn, then play begins."""
    following = next_active(table, table.to_act)
    if following == next_active(table, table.dealer):
        begin_play(table)
    else:
        table.to_act = following
