"""Playing to tricks: section P5."""

import numpy as np

from bourre_env.cards import EMPTY, single
from bourre_env.jit import njit
from bourre_env.pinochle.cards import (
    BEATING,
    HIGHER,
    NO_CARD,
    NO_SUIT,
    NUM_KINDS,
    NUM_RANKS,
    SUIT_KINDS,
    add,
    kinds_of,
    remove,
)
from bourre_env.pinochle.melds import lay_down_melds
from bourre_env.pinochle.rules import HAND_SIZE, NUM_SEATS
from bourre_env.pinochle.scoring import settle
from bourre_env.pinochle.table import NO_SEAT, PLAY, left_of, side_of
from bourre_env.tricks import BEAT_ONLY_TRUMPS, beats, cards_to_follow, cards_to_head, has_duty


@njit
def begin_play(table: np.record, rules: np.record) -> None:
    """Rules P4.1 and P5.1: melds are shown; the declarer or the eldest leads."""
    lay_down_melds(table, rules)
    table.phase = PLAY
    table.leader = left_of(table.dealer) if rules.eldest_leads else table.high_bidder
    table.to_act = table.leader


@njit
def kinds_that_head(table: np.record, rules: np.record) -> np.uint64:
    """Rule P5.2: the kinds that head the trick as the duty to head it asks."""
    beating = BEATING[table.trump_suit, table.best_card]
    return cards_to_head(SUIT_KINDS[table.led_suit], beating, HIGHER[table.best_in_suit], rules.duties)


@njit
def kinds_to_play(table: np.record, rules: np.record, seat: int) -> np.uint64:
    """Rules P5.1 to P5.3: the kinds of cards a seat may play next to the current trick."""
    hand = kinds_of(table.hands[seat])
    if table.led_suit == NO_SUIT:
        return hand
    heading = kinds_that_head(table, rules)
    return cards_to_follow(hand, SUIT_KINDS[table.led_suit], SUIT_KINDS[table.trump_suit], heading, rules.duties)


@njit
def kinds_ruled_out(table: np.record, rules: np.record, kind: int) -> np.uint64:
    """The kinds that the seat to act cannot hold if it may play `kind` to a trick already led to (P5.2 and P5.3).

    Nothing else is learned from the play: a hand with `kind` and none of these may play it.
    """
    card, led, trumps = single(kind), SUIT_KINDS[table.led_suit], SUIT_KINDS[table.trump_suit]
    heading = kinds_that_head(table, rules)
    if card & led != EMPTY:
        is_free = has_duty(rules.duties, BEAT_ONLY_TRUMPS) and led != trumps
        return EMPTY if is_free or card & heading != EMPTY else led & heading
    if card & trumps == EMPTY:
        return led | trumps
    return led if card & heading != EMPTY else led | (trumps & heading)


@njit
def apply_play(table: np.record, rules: np.record, kind: int) -> None:
    """Rules P5.1 and P5.4: a card of the seat to act joins the trick; after the last trick the hand is settled."""
    seat = table.to_act
    if table.led_suit == NO_SUIT:
        table.led_suit = kind // NUM_RANKS
    else:
        table.ruled_out[seat] |= kinds_ruled_out(table, rules, kind)
    _lay_on_table(table, seat, kind)
    if beats(kind, BEATING[table.trump_suit, table.best_card]):
        table.best_card = kind
        table.best_seat = seat
    if kind // NUM_RANKS == table.led_suit and beats(kind, HIGHER[table.best_in_suit]):
        table.best_in_suit = kind
    table.to_act = left_of(seat)
    if table.to_act == table.leader:
        end_trick(table, rules)
        if table.tricks_done == HAND_SIZE:
            settle(table, rules)


@njit
def _lay_on_table(table: np.record, seat: int, kind: int) -> None:
    """A card leaves the hand; which copy of its kind it is counts from now on by who played first."""
    table.hands[seat] = remove(table.hands[seat], kind)
    before = table.played[0] | table.played[1] | table.played[2] | table.played[3]
    is_second = before & single(kind) != EMPTY
    table.played[seat] |= single(NUM_KINDS + kind) if is_second else single(kind)
    table.tricks[table.tricks_done] |= single(kind)
    table.on_table[seat] = kind
    table.taken_back = NO_CARD


@njit
def end_trick(table: np.record, rules: np.record) -> None:
    """Rules P5.4 and P5.5: the winner takes the trick, counts its points and leads to the next."""
    side = side_of(table.best_seat)
    for seat in range(NUM_SEATS):
        table.piles[side] = add(table.piles[side], table.on_table[seat])
        table.trick_points[side] += rules.card_points[table.on_table[seat] % NUM_RANKS]
        table.on_table[seat] = NO_CARD
    table.tricks_won[table.best_seat] += 1
    table.tricks_done += 1
    if table.tricks_done == HAND_SIZE:
        table.trick_points[side] += rules.last_trick
    table.leader = table.best_seat
    table.to_act = table.best_seat
    table.led_suit = NO_SUIT
    table.best_card = NO_CARD
    table.best_seat = NO_SEAT
    table.best_in_suit = NO_CARD
