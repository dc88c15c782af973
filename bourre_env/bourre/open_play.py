"""Play with all cards open: a line of play that can be taken back, the cards worth trying, the tricks already certain.

A *ply* is one card played; the line of play is a stack of plies. Every array is a field of one record, because a whole
array handed on to a function costs counting references.
"""

import numpy as np

from bourre_env.bourre.cinch import cards_gone
from bourre_env.bourre.endings import OPEN
from bourre_env.bourre.playing import cards_to_play, put_on_table
from bourre_env.bourre.rules import CINCH_OFF, FREE_LEAD, MAX_HAND, MAX_PLAYERS
from bourre_env.bourre.table import NO_SUIT
from bourre_env.cards import (
    EMPTY,
    NO_CARD,
    NUM_CARDS,
    SUIT_CARDS,
    TRUMPS,
    highest_card,
    holds,
    lowest_card,
    single,
    suit_of,
)
from bourre_env.jit import njit

MOST_PLIES = MAX_PLAYERS * MAX_HAND + 1

POSITION = np.dtype(
    [
        # As in `TABLE`, for the rule functions
        ("hands", np.uint64, MAX_PLAYERS),
        ("played", np.uint64, MAX_PLAYERS),
        ("tricks", np.uint64, MAX_HAND + 1),
        ("face_up", np.uint64),
        ("tricks_won", np.int8, MAX_PLAYERS),
        ("stayed", np.uint8),
        ("to_act", np.int8),
        ("tricks_done", np.int8),
        ("leader", np.int8),
        ("led_suit", np.int8),
        ("best_card", np.int8),
        ("best_seat", np.int8),
        # For the search
        ("held", np.uint64),  # cards in all hands
        ("unseen", np.uint64),  # trumps in no hand that cinch duties reckon with (5.1)
        ("share", np.int16),  # how the tricks since the root have fallen
        ("owner", np.int8, NUM_CARDS),  # place of the seat that held each card at the root
    ],
    align=True,
)
"""A table in play, with what the rest of the deal depends on."""

SEARCH = np.dtype(
    [
        ("choices", np.uint64, MOST_PLIES),  # cards not tried yet
        ("tried", np.int8, MOST_PLIES),  # the card tried last, NO_CARD before the first
        ("seat", np.int8, MOST_PLIES),
        ("leader", np.int8, MOST_PLIES),
        ("led_suit", np.int8, MOST_PLIES),
        ("best_card", np.int8, MOST_PLIES),
        ("best_seat", np.int8, MOST_PLIES),
        ("share", np.int16, MOST_PLIES),
        ("sure", np.int16, MOST_PLIES),  # the share, and the tricks that seats are sure of
        ("best", np.int16, MOST_PLIES),  # the best ending found, OPEN before the first
        ("matched", np.int8, MAX_PLAYERS),  # trumps of each place met so far that a higher one can beat
        ("met", np.int8, MAX_PLAYERS),  # trumps of each place met so far
        ("of_card", np.int16, NUM_CARDS),  # the ending that each card of the root leads to
        ("nodes", np.int64),
        ("stamp", np.int64),
    ],
    align=True,
)
"""The stack of the search, one entry a ply."""


@njit
def set_position(position: np.record, table: np.record, rules: np.record, endings: np.record) -> None:
    """Copy what matters of a table in play."""
    position.held = EMPTY
    for seat in range(rules.num_players):
        position.hands[seat] = table.hands[seat]
        position.played[seat] = table.played[seat]
        position.tricks_won[seat] = table.tricks_won[seat]
    for place in range(endings.num_places):
        hand = table.hands[endings.seats[place]]
        position.held |= hand
        while hand != EMPTY:
            position.owner[lowest_card(hand)] = place
            hand &= hand - np.uint64(1)
    for trick in range(len(table.tricks)):
        position.tricks[trick] = table.tricks[trick]
    position.face_up = table.face_up
    position.stayed = table.stayed
    position.to_act = table.to_act
    position.tricks_done = table.tricks_done
    position.leader = table.leader
    position.led_suit = table.led_suit
    position.best_card = table.best_card
    position.best_seat = table.best_seat
    position.share = 0
    position.unseen = unseen_trumps(position, rules)


@njit
def unseen_trumps(position: np.record, rules: np.record) -> np.uint64:
    """The trumps in no hand that nobody has seen leave the game, where cinch duties reckon with them (5.1)."""
    if rules.cinch == CINCH_OFF:
        return EMPTY
    return TRUMPS & ~(cards_gone(position) | position.held)


@njit
def play(position: np.record, search: np.record, endings: np.record, depth: int, card: int) -> None:
    """The seat to act plays a card; what is needed to take it back goes on the stack."""
    search.nodes += 1
    search.tried[depth] = card
    search.leader[depth] = position.leader
    search.led_suit[depth] = position.led_suit
    search.best_card[depth] = position.best_card
    search.best_seat[depth] = position.best_seat
    search.share[depth] = position.share
    put_on_table(position, card)
    position.held &= ~single(card)
    if position.led_suit == NO_SUIT:
        position.share = endings.after[endings.num_places, position.share, endings.places[position.leader]]


@njit
def take_back(position: np.record, search: np.record, depth: int) -> None:
    """Undo `play`."""
    if position.led_suit == NO_SUIT:
        position.tricks_won[position.leader] -= 1
        position.tricks_done -= 1
    seat = search.seat[depth]
    bit = single(search.tried[depth])
    position.hands[seat] |= bit
    position.played[seat] &= ~bit
    position.tricks[position.tricks_done] &= ~bit
    position.held |= bit
    position.to_act = seat
    position.leader = search.leader[depth]
    position.led_suit = search.led_suit[depth]
    position.best_card = search.best_card[depth]
    position.best_seat = search.best_seat[depth]
    position.share = search.share[depth]


@njit
def are_equal(position: np.record, rules: np.record, high: int, low: int) -> bool:
    """Whether two cards of the seat to act lead to the same rest of the deal, with their names exchanged.

    Between them may lie no card in another hand, nor the best card on the table, nor, for a cinch, a trump that nobody
    has seen leave the game. Honours (4.8) equal honours alone.
    """
    if SUIT_CARDS[suit_of(high)] & single(low) == EMPTY:
        return False
    if rules.lead_rule != FREE_LEAD and holds(rules.honours, high) != holds(rules.honours, low):
        return False
    others = position.held & ~position.hands[position.to_act] | position.unseen | single(position.best_card)
    return others & (single(high) - single(low)) == EMPTY


@njit
def next_choice(position: np.record, search: np.record, rules: np.record, depth: int, merge_equal: bool) -> int:
    """The highest card not tried yet that is not equal to the one before; NO_CARD when there is none."""
    choices = search.choices[depth]
    last = search.tried[depth]
    card = NO_CARD
    while card == NO_CARD and choices != EMPTY:
        card = highest_card(choices)
        choices &= ~single(card)
        if merge_equal and last != NO_CARD and are_equal(position, rules, last, card):
            if depth == 0:
                search.of_card[card] = search.of_card[last]
            last = card
            card = NO_CARD
    search.choices[depth] = choices
    return card


@njit
def open_ply(position: np.record, search: np.record, rules: np.record, depth: int) -> None:
    """Begin with the choices of the seat to act."""
    search.choices[depth] = cards_to_play(position, rules)
    search.tried[depth] = NO_CARD
    search.seat[depth] = position.to_act
    search.best[depth] = OPEN


@njit
def with_sure_tricks(position: np.record, search: np.record, endings: np.record) -> int:
    """Between tricks: the share in which every seat also has the tricks it will win whatever is played."""
    places = endings.num_places
    for place in range(places):
        search.met[place] = 0
        search.matched[place] = 0
    share = position.share
    trumps = position.held & TRUMPS
    met = 0
    while trumps != EMPTY:
        card = highest_card(trumps)
        trumps &= ~single(card)
        place = position.owner[card]
        if met - search.met[place] > search.matched[place]:
            search.matched[place] += 1
        else:
            share = endings.after[places, share, place]
        search.met[place] += 1
        met += 1
    return share


@njit
def last_trick(position: np.record, endings: np.record) -> int:
    """The ending when every seat holds one card and none is a trump."""
    leader = position.leader
    in_suit = position.held & SUIT_CARDS[suit_of(lowest_card(position.hands[leader]))]
    return endings.after[endings.num_places, position.share, position.owner[highest_card(in_suit)]]
