"""Worlds a seat cannot tell apart: what it has not seen, drawn anew (`Tables.reshuffle_unseen`).

A world is a dealt pack, a choice of discards for every seat, and an order for every reshuffle. A priori all worlds with
the same public numbers (who stayed, how many cards each threw away, whether the turn-up was among them) are equally
likely: any discards are legal, and in how many ways so many can be chosen does not depend on the cards. What an
observer has seen and the legality of the play leave some of these worlds, still equally likely. One is drawn, exactly.

Most of a world is exchangeable. What matters is which cards the other active seats hold. `worlds_view` tells which of
these the observer can name, and what *strays* are. The number of worlds with given hands is the product, up to a factor
that is the same for all hands, of

    s (s - 1) ... (s - k + 1)   for each seat and stock: ways to serve a seat k named cards among s from that stock,
    s (s - 1) ... (s - k + 1)   for the cards not served yet: the same for k strays among the s cards of the stock,
    u!                          for each seat: orders of its other cards, the dealer's turn-up left out,
    r!                          orders of the cards of the pool that are in no hand.

`place_strays` and `draw_hands` propose hands and accept them so often that their chance is proportional to this
product. A world in which some card was illegal after all is refused last: the cinch depends on several cards at once.
"""

import math

import numpy as np

from bourre_env.bourre.playing import apply_play, cards_to_play
from bourre_env.bourre.rules import MAX_HAND
from bourre_env.bourre.table import NO_SEAT
from bourre_env.bourre.turn import find_legal
from bourre_env.bourre.worlds_record import write_world
from bourre_env.bourre.worlds_view import begin_replay, forget, learn, next_card_played, rule_out_cards
from bourre_env.cards import EMPTY, NO_CARD, NUM_CARDS, count_cards, holds, single
from bourre_env.draws import begin_stream, random_cards, random_unit
from bourre_env.jit import njit

MAX_TRIES = 100_000_000  # thousands are rare; a world that fits exists, the true one

ORDERED_CHOICES = np.array(
    [[math.perm(cards, number) for number in range(MAX_HAND + 1)] for cards in range(NUM_CARDS + 1)], np.float64
)
"""[53, 6] float64: ways to draw so many cards, one after the other, out of that many."""

FACTORIAL = np.array([math.factorial(number) for number in range(NUM_CARDS + 1)], np.float64)
"""[53] float64: orders of that many cards."""


@njit
def reshuffle_unseen(
    table: np.record,
    rules: np.record,
    lax_rules: np.record,
    seat: int,
    key: np.uint64,
    world: np.record,
    replay: np.record,
) -> None:
    """Redraw all that `seat` has not seen, uniformly over the worlds that fit; what it has seen stays.

    Args:
        table: a record of dtype `TABLE`, changed in place; one at which nothing was ever dealt stays as it is.
        rules: the rules.
        lax_rules: the same rules without the cinch.
        seat: the observer; -1 changes nothing.
        key: names the stream of random words.
        world: a record of dtype `WORLD` to work in.
        replay: a record of dtype `TABLE` to work in.
    """
    if seat == NO_SEAT or table.dealt[seat] == EMPTY:
        return
    forget(table, rules, seat)
    begin_stream(world, key)
    learn(table, rules, seat, world)
    rule_out_cards(table, lax_rules, world, replay)
    plan(table, rules, world)
    for _ in range(MAX_TRIES):
        if place_strays(table, rules, world) and draw_hands(world) and play_is_legal(table, rules, world, replay):
            write_world(table, rules, world)
            find_legal(table, rules)
            return
    raise AssertionError("no world fits what the seat has seen; the record is not one that play can lead to")


# --- the plan ---------------------------------------------------------------------------------------------------------


@njit
def plan(table: np.record, rules: np.record, world: np.record) -> None:
    """Order the seats and find the bounds that rejection needs."""
    order_seats(rules, world)
    bound_ways(table, world)
    take_back(rules, world)
    for number in range(world.num_strays):
        world.most_room[number] = room_for_stray(table, rules, world, number)


@njit
def order_seats(rules: np.record, world: np.record) -> None:
    """Hands that may hold fewest cards of the pool are drawn first: then later ones seldom find them taken."""
    world.num_seats = 0
    for seat in range(rules.num_players):
        if world.unknown[seat] == 0:
            continue
        place = world.num_seats
        while place > 0 and num_choices(world, world.seats[place - 1]) > num_choices(world, seat):
            world.seats[place] = world.seats[place - 1]
            place -= 1
        world.seats[place] = seat
        world.num_seats += 1


@njit
def num_choices(world: np.record, seat: int) -> int:
    """How many cards of the pool a seat may hold."""
    return count_cards(world.may_hold[seat] & world.pool)


@njit
def bound_ways(table: np.record, world: np.record) -> None:
    """A bound for the weight of `draw_hands`, whatever strays lie in the hands.

    `ways[k]` bounds the weight of the hands so far when k strays lie in them. Hands that together drew n cards of the
    pool, of which at most `spare` are no choice of the next seat, have taken at least n - spare of its choices.
    """
    world.ways[:] = 0.0
    world.ways[0] = 1.0
    asked = 0
    earlier = EMPTY
    for place in range(world.num_seats):
        seat = world.seats[place]
        cards = world.may_hold[seat] & world.pool
        spare = count_cards(earlier & ~cards)
        most_here = most_strays(table, world, seat)
        for strays in range(world.num_strays, -1, -1):
            world.ways[strays] = _best_split(world, seat, min(strays, most_here), strays, asked - spare)
        asked += world.unknown[seat]
        earlier |= cards
    world.most_ways = 0.0
    for strays in range(world.num_strays + 1):
        rest = count_cards(world.pool) - asked + strays
        if rest >= 0:
            world.most_ways = max(world.most_ways, world.ways[strays] * FACTORIAL[rest])


@njit
def most_strays(table: np.record, world: np.record, seat: int) -> int:
    """How many strays a seat can hold at most: no more than it was served from the stocks they went into."""
    places = 0
    for stock in range(1, world.stock_number + 1):
        named = world.named_in_stock[stock]
        if named != EMPTY:
            places += world.served[stock, seat] - count_cards(named & table.played[seat])
    return min(places, world.unknown[seat], count_cards(world.strays & world.may_hold[seat]))


@njit
def _best_split(world: np.record, seat: int, most_here: int, strays: int, taken: int) -> float:
    """The highest bound over the ways to split `strays` between the next seat and those before it.

    Args:
        world: `ways` is that of the seats before.
        seat: the next seat.
        most_here: strays that its hand can take.
        strays: in the hands up to and including this seat's.
        taken: choices of this seat that the seats before have surely taken when they hold no stray.
    """
    best = 0.0
    for here in range(most_here + 1):
        before = strays - here
        left = num_choices(world, seat) - max(0, taken - before)
        drawn = world.unknown[seat] - here
        if left >= drawn:
            best = max(best, world.ways[before] * ORDERED_CHOICES[left, drawn])
    return best


# --- hands ------------------------------------------------------------------------------------------------------------


@njit
def take_back(rules: np.record, world: np.record) -> None:
    """No unknown card has a place yet."""
    world.strays_in_stock = EMPTY
    for seat in range(rules.num_players):
        world.hidden[seat] = EMPTY


@njit
def place_strays(table: np.record, rules: np.record, world: np.record) -> bool:
    """Draw where each stray lies; whether the draw is accepted.

    One after the other, each with weights (`room_in_hand`, `room_in_stock`) whose product over the strays is the factor
    of the module's formula that they change, up to constants. Rejection corrects for the sum of the weights.
    """
    take_back(rules, world)
    for number in range(world.num_strays):
        room = room_for_stray(table, rules, world, number)
        if random_unit(world) * world.most_room[number] >= room:
            return False
        _place_stray(table, rules, world, number, random_unit(world) * room)
    return True


@njit
def room_for_stray(table: np.record, rules: np.record, world: np.record, number: int) -> float:
    """Sum of the weights of all places for a stray, given where the strays before it lie."""
    room = room_in_stock(world, number)
    for seat in range(rules.num_players):
        room += room_in_hand(table, world, number, seat)
    return room


@njit
def room_in_stock(world: np.record, number: int) -> float:
    """Cards of the stock that are not strays, if this is the stock that the stray was shuffled into."""
    if world.stray_stocks[number] != world.stock_number:
        return 0.0
    return float(world.stock_left - count_cards(world.strays_in_stock))


@njit
def room_in_hand(table: np.record, world: np.record, number: int, seat: int) -> float:
    """Cards a seat was served from the stray's stock, named ones left out, times the share of its cards not yet shown.

    `draw_hands` draws u - p cards in order where the formula has the orders of all u, p of which were played. A stray
    more in the hand makes u!/(u - p)! smaller by this share, (u - p)/u.
    """
    placed = count_cards(world.hidden[seat])
    unknown = world.unknown[seat] - placed
    if unknown <= 0 or not holds(world.may_hold[seat], world.stray_cards[number]):
        return 0.0
    stock = world.stray_stocks[number]
    named = world.named_in_stock[stock] & (table.played[seat] | world.hidden[seat])
    return (world.served[stock, seat] - count_cards(named)) * unknown / (world.open[seat] - placed)


@njit
def _place_stray(table: np.record, rules: np.record, world: np.record, number: int, point: float) -> None:
    """Put a stray where `point` falls when the weights of its places are laid end to end."""
    card = single(world.stray_cards[number])
    point -= room_in_stock(world, number)
    if point < 0:
        world.strays_in_stock |= card
        return
    chosen = NO_SEAT
    for seat in range(rules.num_players):
        room = room_in_hand(table, world, number, seat)
        if room > 0:
            chosen = seat
            point -= room
            if point < 0:
                break
    if chosen == NO_SEAT:  # rounding: the point fell behind the stock
        world.strays_in_stock |= card
    else:
        world.hidden[chosen] |= card


@njit
def draw_hands(world: np.record) -> bool:
    """Draw the rest of the unknown cards of each hand from the pool; whether the draw is accepted.

    Each seat draws from the cards it may hold that are not taken yet. The weight corrects for how many these were: it
    is the number of ordered draws, times the orders of the cards that are left.
    """
    free = world.pool
    weight = 1.0
    for place in range(world.num_seats):
        seat = world.seats[place]
        cards = world.may_hold[seat] & free
        number = world.unknown[seat] - count_cards(world.hidden[seat])
        weight *= ORDERED_CHOICES[count_cards(cards), number]
        if weight == 0.0:
            return False
        drawn = random_cards(world, cards, number)
        world.hidden[seat] |= drawn
        free &= ~drawn
    weight *= FACTORIAL[count_cards(free)]
    return random_unit(world) * world.most_ways < weight


@njit
def play_is_legal(table: np.record, rules: np.record, world: np.record, replay: np.record) -> bool:
    """Whether every card played was legal from the hands drawn, cinch and all."""
    for seat in range(rules.num_players):
        replay.hands[seat] = table.hands[seat] | table.played[seat] | world.hidden[seat]
    begin_replay(table, replay)
    while True:
        card = next_card_played(table, replay)
        if card == NO_CARD:
            return True
        if world.unknown[replay.to_act] > 0 and not holds(cards_to_play(replay, rules), card):
            return False
        apply_play(replay, rules, card)
