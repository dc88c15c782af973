"""Worlds a seat cannot tell apart: what it has not seen, drawn anew (`PinochleTables.reshuffle_unseen`).

A world is a pack, twins told apart, and the cards that others have sent each other, as if chosen blindly. A priori all
are equally likely. What an observer has seen leaves some of them, still equally likely: those with its own hand and the
cards it sent and received, in which every card played and the suit named were legal, in which each seat shows just the
melds that it has shown, and has held the cards that it had to take back. Bids say nothing. One world is drawn, exactly.

Each card that a seat surely holds is given to it. The kinds that it may hold besides are known (`may_hold`), so the
free cards fall into groups by the seats that may have them, and how many of each group a seat gets is drawn in
proportion to the number of ways. The draw is rejected where melds differ from those shown (two cards may make a meld
that neither makes alone), and half the time for each kind of which a seat gets a second copy after a known first one:
two packs deal twins to different seats, only one deals both to the same.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.cards import count_cards, holds, single
from bourre_env.draws import begin_stream, line_up, random_cards, random_unit, random_word
from bourre_env.jit import njit
from bourre_env.pinochle.cards import (
    EMPTY,
    KINDS,
    NO_CARD,
    NO_SUIT,
    NUM_CARDS,
    NUM_KINDS,
    add,
    copies,
    kinds_of,
    settled_planes,
    together,
)
from bourre_env.pinochle.melds import meld_cards
from bourre_env.pinochle.playing import kinds_to_play
from bourre_env.pinochle.rules import HAND_SIZE, NUM_SEATS
from bourre_env.pinochle.table import NO_SEAT, left_of, partner_of, side_of
from bourre_env.pinochle.trump import suits_to_name
from bourre_env.pinochle.turn import find_legal

MAX_TRIES = 100_000_000  # hundreds are rare; a world that fits exists, the true one
NUM_OTHERS = NUM_SEATS - 1
NUM_GROUPS = 1 << NUM_OTHERS
_FIRST, _SECOND, _THIRD, _ANY = 1, 2, 4, NUM_GROUPS - 1  # groups: bit i for the i-th seat after the observer

CHOICES = np.array([[math.comb(cards, number) for number in range(NUM_CARDS + 1)] for cards in range(NUM_CARDS + 1)])
CHOICES = CHOICES.astype(np.float64)
"""[49, 49] float64: ways to choose so many cards out of that many."""

WORLD = np.dtype(
    [
        ("key", np.uint64),
        ("words_drawn", np.uint64),
        ("total", np.float64),  # ways to share the free cards out
        ("sure", np.uint64, NUM_SEATS),  # cards that the seat surely holds
        ("held", np.uint64, NUM_SEATS),  # those, and what it has played since the exchange
        ("drawn", np.uint64, NUM_SEATS),  # free cards that it gets: bits kind and 24 + kind are a copy each
        ("second", np.uint64, NUM_SEATS),  # kinds of which it would get the second copy after a known first one
        ("group", np.uint64, NUM_GROUPS),  # free cards by the seats that may have them, written as `drawn`
        ("may_hold", np.uint64, NUM_SEATS),  # kinds
        ("needed", np.int64, NUM_SEATS),  # free cards that the seat gets
        ("taken", np.int64, (NUM_GROUPS, NUM_OTHERS)),  # free cards of each group that each other seat gets
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
    if seat == NO_SEAT or table.hands[0] | table.played[0] == EMPTY:
        return
    begin_stream(world, key)
    learn(table, seat, world)
    count_ways(world, seat)
    for _ in range(MAX_TRIES):
        share_out(world, seat)
        if twins_fit(world, seat) and melds_fit(table, world, seat) and draw_fits(table, rules, world, seat):
            write_deck(table, world)
            find_legal(table, rules)
            return
    raise AssertionError("no world fits what the seat has seen; the record is not one that play can lead to")


# --- what is known ----------------------------------------------------------------------------------------------------


@njit
def learn(table: np.record, seat: int, world: np.record) -> None:
    """What the observer knows: cards that others surely hold, and which free cards each of them may hold."""
    for other in range(NUM_SEATS):
        sure = EMPTY
        if other == seat:
            sure = table.hands[seat]
        else:
            for kind in range(NUM_KINDS):
                for _ in range(copies_surely_held(table, seat, other, kind)):
                    sure = add(sure, kind)
        world.sure[other] = sure
        world.held[other] = together(sure, settled_planes(table.played[other]))
        world.needed[other] = count_cards(table.hands[other]) - count_cards(sure)
    find_free_cards(table, seat, world)


@njit
def sent_between(table: np.record, giver: int, taker: int) -> np.uint64:
    """The cards that one seat has sent the other; none between seats that are no partners."""
    return table.sent[giver] if taker == partner_of(giver) else EMPTY


@njit
def copies_surely_held(table: np.record, seat: int, other: int, kind: int) -> int:
    """How many copies of a kind the observer knows to be in another seat's hand.

    They are those it has shown when the play began or, if that is more, those that the observer sent it and has not got
    back; what it has played since is gone.
    """
    shown = copies(table.shown[other], kind)
    given, got = copies(sent_between(table, seat, other), kind), copies(sent_between(table, other, seat), kind)
    is_last_giver = seat == table.high_bidder  # what the declarer sent back stays with its partner
    if not is_last_giver:
        given -= got
    return max(0, max(shown, given) - copies(table.played[other], kind))


@njit
def copies_dealt(table: np.record, world: np.record, seat: int, other: int, kind: int) -> int:
    """How many of the copies whose place the observer knows were dealt to another seat, as far as it can tell.

    For an observer that took no part in an exchange, what a seat holds after it counts as dealt: as many worlds lead to
    any hands that the partners may then have.
    """
    got, given = sent_between(table, other, seat), sent_between(table, seat, other)
    return copies(world.held[other], kind) + copies(got, kind) - copies(given, kind)


@njit
def find_free_cards(table: np.record, seat: int, world: np.record) -> None:
    """Put the cards whose place the observer does not know into groups, by the seats that may have them."""
    for group in range(NUM_GROUPS):
        world.group[group] = EMPTY
    for other in range(NUM_SEATS):
        world.second[other] = EMPTY
        world.may_hold[other] = kinds_possible(table, world, other)
    for kind in range(NUM_KINDS):
        free, group = 2, 0
        for other in range(NUM_SEATS):
            free -= copies(world.held[other], kind)
        for place in range(NUM_OTHERS):
            other = (seat + place + 1) & (NUM_SEATS - 1)
            if holds(world.may_hold[other], kind):
                group |= 1 << place
            if free == 1 and copies_dealt(table, world, seat, other, kind) == 1:
                world.second[other] |= single(kind)
        if free >= 1:
            world.group[group] |= single(kind)
        if free == 2:
            world.group[group] |= single(NUM_KINDS + kind)


@njit
def kinds_possible(table: np.record, world: np.record, other: int) -> np.uint64:
    """The kinds a seat may hold one more copy of: not ruled out by its plays, nor by the melds it has shown (P4.1)."""
    possible = KINDS & ~table.ruled_out[other]
    if table.leader == NO_SEAT:
        return possible
    both = world.held[other] >> np.uint64(NUM_KINDS)
    for kind in range(NUM_KINDS):
        if holds(possible, kind) and not holds(both, kind):
            melds = meld_cards(add(world.held[other], kind), table.trump_suit)
            if melds & ~table.melded[other] != EMPTY:
                possible &= ~single(kind)
    return possible


# --- the draw ---------------------------------------------------------------------------------------------------------


@njit
def needed_by(world: np.record, seat: int, place: int) -> int:
    """Free cards that the seat `place` + 1 after the observer gets, besides those that nobody else may have."""
    return world.needed[(seat + place + 1) & (NUM_SEATS - 1)] - count_cards(world.group[1 << place])


@njit
def ways(world: np.record, seat: int, first: int, second: int, third: int) -> float:
    """Ways to share the free cards out, when of those that two seats may have so many go to the former of the two.

    Args:
        world: what the observer knows; how many cards each seat gets of each group is noted there.
        seat: the observer.
        first: cards that go to the first seat of those that it or the second may have.
        second: to the first, of those that it or the third may have.
        third: to the second, of those that it or the third may have.
    """
    in_a, in_b, in_c = (
        count_cards(world.group[_FIRST | _SECOND]),
        count_cards(world.group[_FIRST | _THIRD]),
        count_cards(world.group[_SECOND | _THIRD]),
    )
    of_all = count_cards(world.group[_ANY])
    to_first = needed_by(world, seat, 0) - first - second
    to_second = needed_by(world, seat, 1) - (in_a - first) - third
    to_third = of_all - to_first - to_second
    if to_first < 0 or to_second < 0 or to_third < 0:
        return 0.0
    world.taken[_FIRST | _SECOND, 0], world.taken[_FIRST | _SECOND, 1] = first, in_a - first
    world.taken[_FIRST | _THIRD, 0], world.taken[_FIRST | _THIRD, 2] = second, in_b - second
    world.taken[_SECOND | _THIRD, 1], world.taken[_SECOND | _THIRD, 2] = third, in_c - third
    world.taken[_ANY, 0], world.taken[_ANY, 1], world.taken[_ANY, 2] = to_first, to_second, to_third
    number = CHOICES[in_a, first] * CHOICES[in_b, second] * CHOICES[in_c, third]
    return number * CHOICES[of_all, to_first] * CHOICES[of_all - to_first, to_second]


@njit
def scan(world: np.record, seat: int, mark: float) -> float:
    """Add up the ways of all divisions of the groups, and stop at the one that brings the sum above `mark`."""
    total = 0.0
    for first in range(count_cards(world.group[_FIRST | _SECOND]) + 1):
        for second in range(count_cards(world.group[_FIRST | _THIRD]) + 1):
            for third in range(count_cards(world.group[_SECOND | _THIRD]) + 1):
                total += ways(world, seat, first, second, third)
                if total > mark:
                    return total
    return total


@njit
def count_ways(world: np.record, seat: int) -> None:
    """Ways to share the free cards out among the other seats."""
    for place in range(NUM_OTHERS):
        world.taken[1 << place, place] = count_cards(world.group[1 << place])
    world.total = scan(world, seat, np.inf)


@njit
def share_out(world: np.record, seat: int) -> None:
    """Give each other seat its free cards, every way to do so alike."""
    scan(world, seat, random_unit(world) * world.total)
    for other in range(NUM_SEATS):
        world.drawn[other] = EMPTY
    for group in range(1, NUM_GROUPS):
        left = world.group[group]
        for place in range(NUM_OTHERS):
            other = (seat + place + 1) & (NUM_SEATS - 1)
            if group >> place & 1:
                cards = random_cards(world, left, world.taken[group, place])
                world.drawn[other] |= cards
                left &= ~cards


@njit
def twins_fit(world: np.record, seat: int) -> bool:
    """Whether the draw is kept, which one in two is for each known first copy that a second one has joined."""
    joined = 0
    for other in range(NUM_SEATS):
        joined += count_cards(kinds_of(world.drawn[other]) & world.second[other])
    return random_word(world) & (single(joined) - np.uint64(1)) == EMPTY


@njit
def final_hand(world: np.record, other: int) -> np.uint64:
    """What a seat holds in the world drawn, with the cards that it has played: its hand when the play began."""
    return together(world.held[other], settled_planes(world.drawn[other]))


@njit
def melds_fit(table: np.record, world: np.record, seat: int) -> bool:
    """Rule P4.1: whether the other seats show the melds in the world drawn that they have shown."""
    if table.leader == NO_SEAT:
        return True
    for other in range(NUM_SEATS):
        if other != seat and meld_cards(final_hand(world, other), table.trump_suit) != table.melded[other]:
            return False
    return True


@njit
def draw_fits(table: np.record, rules: np.record, world: np.record, seat: int) -> bool:
    """Write hands and cards sent into the record; whether the suit named and a card taken back fit them."""
    for other in range(NUM_SEATS):
        table.hands[other] = together(world.sure[other], settled_planes(world.drawn[other]))
    if table.high_bidder != NO_SEAT and side_of(seat) != side_of(table.high_bidder):
        draw_cards_sent(table, world)
    if table.taken_back != NO_CARD and not is_illegal_again(table, rules):
        return False
    if table.trump_suit == NO_SUIT:
        return True
    return holds(suits_to_name(dealt_hand(table, world, table.high_bidder), rules), table.trump_suit)


@njit
def is_illegal_again(table: np.record, rules: np.record) -> bool:
    """Rule P7.2: whether the card that has just been taken back breaks a duty in the world drawn."""
    seat = table.to_act if table.to_act != NO_SEAT else table.forfeited
    return not holds(kinds_to_play(table, rules, seat), table.taken_back)


@njit
def draw_cards_sent(table: np.record, world: np.record) -> None:
    """Rule P3.2: which cards the declarer and the partner have sent each other, as if chosen blindly."""
    declarer, partner = table.high_bidder, partner_of(table.high_bidder)
    returned = random_cards(world, final_hand(world, partner), count_cards(table.sent[declarer]))
    table.sent[declarer] = settled_planes(returned)
    before = together(final_hand(world, declarer), table.sent[declarer])
    table.sent[partner] = settled_planes(random_cards(world, before, count_cards(table.sent[partner])))


@njit
def dealt_hand(table: np.record, world: np.record, other: int) -> np.uint64:
    """The cards a seat was dealt in the world drawn."""
    return before_exchange(final_hand(world, other), table.sent[other], table.sent[partner_of(other)])


@njit
def before_exchange(hand: np.uint64, sent: np.uint64, received: np.uint64) -> np.uint64:
    """The cards a seat had before it sent and received some, which may be the same ones."""
    cards = EMPTY
    for kind in range(NUM_KINDS):
        for _ in range(copies(hand, kind) + copies(sent, kind) - copies(received, kind)):
            cards = add(cards, kind)
    return cards


# --- the record -------------------------------------------------------------------------------------------------------


@njit
def write_deck(table: np.record, world: np.record) -> None:
    """Rule P1.5: a pack that deals these hands."""
    other = table.dealer
    for first in range(NUM_SEATS):
        other = left_of(other)
        line_up(world, dealt_hand(table, world, other))
        for turn in range(HAND_SIZE):
            table.deck[first + NUM_SEATS * turn] = world.line[turn] % NUM_KINDS
