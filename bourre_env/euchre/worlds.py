"""Worlds a seat cannot tell apart: what it has not seen, drawn anew (`EuchreTables.reshuffle_unseen`).

A world is a dealt pack and, where a seat took the up-card, the card it laid away. A priori all are equally likely: any
card may be laid away. What an observer has seen, and that every card played was legal, leave some of them, still
equally likely: those in which no seat holds a card of a suit that it did not follow. One is drawn, exactly.

The seats draw their hidden cards one after the other from the cards they may hold, those with the least choice first. A
draw is accepted in proportion to the number of choices the seats had, so that each world comes out equally often. The
up-card, when another seat took it and has not played it, lies in that seat's hand or is the card laid away: two cases,
chosen in proportion to bounds of their numbers of worlds.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.cards import count_cards, single
from bourre_env.draws import begin_stream, line_up, random_cards, random_unit
from bourre_env.euchre.cards import BENNY, EMPTY, NUM_CARDS, NUM_SUITS, SUIT_CARDS, SUIT_OF
from bourre_env.euchre.dealing import UP_CARD_PLACE
from bourre_env.euchre.observation import visible_hand
from bourre_env.euchre.rules import HAND_SIZE, NUM_SEATS
from bourre_env.euchre.table import DISCARD, NO_SEAT, in_mask, left_of
from bourre_env.euchre.turn import find_legal
from bourre_env.jit import njit

MAX_TRIES = 100_000_000  # dozens are rare; a world that fits exists, the true one

IN_HAND, LAID_AWAY = 0, 1  # where an up-card lies that the observer has lost sight of

CHOICES = np.array(
    [[math.comb(cards, number) for number in range(HAND_SIZE + 2)] for cards in range(NUM_CARDS + 1)], np.float64
)
"""[26, 7] float64: ways to choose so many cards out of that many."""

WORLD = np.dtype(
    [
        ("key", np.uint64),
        ("words_drawn", np.uint64),
        ("pool", np.uint64),  # cards that may be anywhere, the up-card left out
        ("lost_up_card", np.uint64),  # the up-card, when it lies in its taker's hand or was laid away
        ("may_hold", np.uint64, NUM_SEATS),
        ("drawn", np.uint64, NUM_SEATS),
        ("bound", np.float64, 2),  # by place of the up-card
        ("needed", np.int8, NUM_SEATS),  # cards of the pool that a seat holds if the up-card was laid away
        ("order", np.int8, NUM_SEATS),  # the seats that draw
        ("num_drawing", np.int8),
        ("shed_is_hidden", np.uint8),
        ("line", np.int8, NUM_CARDS),
    ],
    align=True,
)
"""What a seat knows, and room for the draw."""


def new_scratch() -> NDArray[Any]:
    """[1] of dtype `WORLD`, room to work in."""
    return np.zeros(1, WORLD).view(np.recarray).view(np.ndarray)


@njit
def reshuffle_unseen(table: np.record, rules: np.record, seat: int, key: np.uint64, world: np.record) -> None:
    """Redraw all that `seat` has not seen, uniformly over the worlds that fit; what it has seen stays.

    Args:
        table: a record of dtype `TABLE`, changed in place; one at which nothing was ever dealt stays as it is.
        rules: the rules.
        seat: the observer; -1 changes nothing.
        key: names the stream of random words.
        world: a record of dtype `WORLD` to work in.
    """
    if seat == NO_SEAT or table.deck[0] == table.deck[1]:
        return
    begin_stream(world, key)
    learn(table, rules, seat, world)
    place_seats(world)
    world.bound[IN_HAND] = _bound(table, world, IN_HAND) if may_be_in_hand(table, rules, world) else 0.0
    world.bound[LAID_AWAY] = _bound(table, world, LAID_AWAY) if may_be_laid_away(table, rules, world) else 0.0
    for _ in range(MAX_TRIES):
        where = IN_HAND if random_unit(world) * (world.bound[0] + world.bound[1]) < world.bound[0] else LAID_AWAY
        if draw_hands(table, world, where):
            write_world(table, rules, world, seat, where)
            find_legal(table, rules)
            return
    raise AssertionError("no world fits what the seat has seen; the record is not one that play can lead to")


# --- what is known ----------------------------------------------------------------------------------------------------


@njit
def learn(table: np.record, rules: np.record, seat: int, world: np.record) -> None:
    """What the observer knows: which cards may be anywhere, and how many and which each other seat may hold."""
    seen = visible_hand(table, seat) | single(table.up_card)
    if table.taker == seat:
        seen |= table.shed
    for other in range(NUM_SEATS):
        seen |= table.played[other]
    pack = single(BENNY + 1) - np.uint64(1) if rules.benny else single(BENNY) - np.uint64(1)
    world.pool = pack & ~seen
    world.shed_is_hidden = table.shed != EMPTY and table.taker != seat
    world.lost_up_card = EMPTY
    if table.taker != NO_SEAT and table.taker != seat and table.played[table.taker] & single(table.up_card) == EMPTY:
        world.lost_up_card = single(table.up_card)
    for other in range(NUM_SEATS):
        is_seen = other == seat and visible_hand(table, seat) != EMPTY
        world.needed[other] = 0 if is_seen else count_cards(table.hands[other])
        world.may_hold[other] = world.pool & ~void_cards(table, other)


@njit
def void_cards(table: np.record, seat: int) -> np.uint64:
    """The cards a seat cannot hold: those of suits that it did not follow (E4.2)."""
    cards = EMPTY
    for suit in range(NUM_SUITS):
        if in_mask(table.voids[seat], suit):
            cards |= SUIT_CARDS[table.trump_suit, suit]
    return cards


@njit
def may_be_in_hand(table: np.record, rules: np.record, world: np.record) -> bool:
    """Whether the up-card that the observer lost sight of may lie in its taker's hand."""
    if world.lost_up_card == EMPTY or world.needed[table.taker] == 0:
        return False
    return not in_mask(table.voids[table.taker], SUIT_OF[table.trump_suit, table.up_card])


@njit
def may_be_laid_away(table: np.record, rules: np.record, world: np.record) -> bool:
    """Whether it may have been laid away; true, too, when there is no such card and nothing to be decided."""
    if world.lost_up_card == EMPTY:
        return True
    return table.phase != DISCARD and rules.may_shed_upcard != 0


# --- the draw ---------------------------------------------------------------------------------------------------------


@njit
def place_seats(world: np.record) -> None:
    """Let the seats that hold hidden cards draw in the order of how many cards they may hold."""
    world.num_drawing = 0
    for seat in range(NUM_SEATS):
        if world.needed[seat] == 0:
            continue
        place = world.num_drawing
        while place > 0 and _choices(world, world.order[place - 1]) > _choices(world, seat):
            world.order[place] = world.order[place - 1]
            place -= 1
        world.order[place] = seat
        world.num_drawing += 1


@njit
def _choices(world: np.record, seat: int) -> int:
    """How many cards of the pool a seat may hold."""
    return count_cards(world.may_hold[seat])


@njit
def cards_to_draw(table: np.record, world: np.record, seat: int, where: int) -> int:
    """How many cards of the pool a seat holds."""
    return world.needed[seat] - (where == IN_HAND and seat == table.taker)


@njit
def ways_to_lay_away(table: np.record, world: np.record, where: int) -> float:
    """How many cards may be the one laid away, once the hands are drawn."""
    if not world.shed_is_hidden or (where == LAID_AWAY and world.lost_up_card != EMPTY):
        return 1.0
    rest = count_cards(world.pool)
    for place in range(world.num_drawing):
        rest -= cards_to_draw(table, world, world.order[place], where)
    return float(rest)


@njit
def _bound(table: np.record, world: np.record, where: int) -> float:
    """At least the weight of any draw: a seat has fewer choices by the cards others have surely taken from them."""
    bound = ways_to_lay_away(table, world, where)
    for place in range(world.num_drawing):
        seat = world.order[place]
        left = _choices(world, seat)
        for before in range(place):
            other = world.order[before]
            elsewhere = count_cards(world.may_hold[other] & ~world.may_hold[seat])
            left -= max(0, cards_to_draw(table, world, other, where) - elsewhere)
        bound *= CHOICES[max(0, left), cards_to_draw(table, world, seat, where)]
    return bound


@njit
def draw_hands(table: np.record, world: np.record, where: int) -> bool:
    """Draw the hidden cards of each hand from the pool; whether the draw is accepted."""
    free = world.pool
    weight = ways_to_lay_away(table, world, where)
    for place in range(world.num_drawing):
        seat = world.order[place]
        cards = world.may_hold[seat] & free
        number = cards_to_draw(table, world, seat, where)
        weight *= CHOICES[count_cards(cards), number]
        if weight == 0.0:
            return False
        world.drawn[seat] = random_cards(world, cards, number)
        free &= ~world.drawn[seat]
    return random_unit(world) * world.bound[where] < weight


# --- the record -------------------------------------------------------------------------------------------------------


@njit
def write_world(table: np.record, rules: np.record, world: np.record, seat: int, where: int) -> None:
    """Put the cards drawn into the record: hands, the card laid away, and a pack that deals them."""
    rest = world.pool
    for place in range(world.num_drawing):
        other = world.order[place]
        rest &= ~world.drawn[other]
        table.hands[other] = world.drawn[other]
    if world.lost_up_card != EMPTY and where == IN_HAND:
        table.hands[table.taker] |= world.lost_up_card
    if world.shed_is_hidden:
        is_up_card = world.lost_up_card != EMPTY and where == LAID_AWAY
        table.shed = world.lost_up_card if is_up_card else random_cards(world, rest, 1)
        rest &= ~table.shed
    _write_deck(table, world, rest)


@njit
def _write_deck(table: np.record, world: np.record, rest: np.uint64) -> None:
    """Rule E1.5: a pack that deals these hands and leaves the `rest`, in any order."""
    other = table.dealer
    for first in range(NUM_SEATS):
        other = left_of(other)
        cards = table.hands[other] | table.played[other]
        if other == table.taker:
            cards = (cards | table.shed) & ~single(table.up_card)
        for turn in range(line_up(world, cards)):
            table.deck[first + NUM_SEATS * turn] = world.line[turn]
    for place in range(line_up(world, rest)):
        table.deck[UP_CARD_PLACE + 1 + place] = world.line[place]
