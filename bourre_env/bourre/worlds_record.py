"""Writing a world into the record of a table: everything a true deal would have left there.

The hands are drawn (`worlds`). What remains is exchangeable, so every choice here is uniform: which cards of a hand its
seat was dealt and which it drew, what lies in the stock and what on the piles, whose discards a reshuffled card once
was, and all orders. Whoever plays on from the record sees a whole past.
"""

import numpy as np

from bourre_env.bourre.table import in_mask
from bourre_env.bourre.worlds_view import cards_laid_down, dealer_keeps_turn_up, num_laid_down, turn_up_is_thrown
from bourre_env.cards import EMPTY, count_cards, single
from bourre_env.draws import line_up, random_cards
from bourre_env.jit import njit


@njit
def write_world(table: np.record, rules: np.record, world: np.record) -> None:
    """Complete a record after `forget` and `learn` with the hands drawn and all that goes with them."""
    for stock in range(world.stock_number + 1):
        world.stock_sizes[stock] = 0
    rest = world.pool
    seat = table.dealer
    for _ in range(rules.num_players):
        seat = seat + 1 if seat + 1 < rules.num_players else 0
        rest &= ~world.hidden[seat]
        table.hands[seat] |= world.hidden[seat]
        if not in_mask(table.passed, seat):
            _split_hand(table, world, rules, seat)
    rest &= ~_fill_stock(world, rest)
    _write_piles(table, rules, world, rest)
    _write_deck(table, rules, world)
    _write_stock(table, rules, world)


# --- cards served -----------------------------------------------------------------------------------------------------


@njit
def _split_hand(table: np.record, world: np.record, rules: np.record, seat: int) -> None:
    """Choose which cards of a hand were served, from which stock; a seat other than the observer was dealt the others.

    Cards named in a reshuffle came from that stock, the dealer's turn-up and what the observer was dealt did not.
    """
    hand = table.hands[seat] | table.played[seat]
    unnamed = hand
    for stock in range(world.stock_number + 1):
        unnamed &= ~world.named_in_stock[stock]
    if seat == world.observer:
        unnamed &= ~table.dealt[seat]
    elif seat == table.dealer and dealer_keeps_turn_up(table, rules):
        unnamed &= ~single(table.turn_up)
    drawn = EMPTY
    for stock in range(world.stock_number + 1):
        if world.served[stock, seat] > 0:
            cards = hand & world.named_in_stock[stock]
            cards |= random_cards(world, unnamed, world.served[stock, seat] - count_cards(cards))
            unnamed &= ~cards
            drawn |= cards
            _append(world, stock, cards)
    if seat != world.observer:
        table.dealt[seat] = hand & ~drawn


@njit
def _append(world: np.record, stock: int, cards: np.uint64) -> None:
    """Cards served next from a stock, in any order."""
    for place in range(line_up(world, cards)):
        world.stocks[stock, world.stock_sizes[stock]] = world.line[place]
        world.stock_sizes[stock] += 1


@njit
def _fill_stock(world: np.record, rest: np.uint64) -> np.uint64:
    """Lay the stock that can still be served: the strays in it, and cards from the `rest` of the pool."""
    cards = random_cards(world, rest, world.stock_left - count_cards(world.strays_in_stock))
    cards |= world.strays_in_stock
    _append(world, world.stock_number, cards)
    return cards


# --- cards thrown away ------------------------------------------------------------------------------------------------


@njit
def _write_piles(table: np.record, rules: np.record, world: np.record, rest: np.uint64) -> None:
    """Say whose discards or passed hands the cards of each reshuffle were, and the `rest` of the pool are."""
    source = rest
    for stock in range(world.stock_number + 1):
        if stock > 0:
            source = _cards_of_stock(world, stock) & ~world.named_in_stock[stock]
        for seat in range(rules.num_players):
            if world.reshuffled_into[seat] == stock:
                source &= ~_lay_down_some(table, rules, world, seat, source)


@njit
def _cards_of_stock(world: np.record, stock: int) -> np.uint64:
    """All cards of a stock."""
    cards = EMPTY
    for place in range(world.stock_sizes[stock]):
        cards |= single(world.stocks[stock, place])
    return cards


@njit
def _lay_down_some(table: np.record, rules: np.record, world: np.record, seat: int, source: np.uint64) -> np.uint64:
    """Choose what a seat threw away or passed from `source`, unless that is known; put it on the pile it lies on."""
    if seat == world.observer:
        cards = cards_laid_down(table, seat)
    else:
        named = EMPTY
        if seat == table.dealer and not rules.turn_up_on_table and in_mask(table.passed, seat):
            named = single(table.turn_up)
        cards = named | random_cards(world, source, num_laid_down(table, rules, seat) - count_cards(named))
        table.dealt[seat] |= cards
        if seat == table.dealer and turn_up_is_thrown(table, rules):
            table.dealt[seat] |= single(table.turn_up)
    if in_mask(world.on_pile, seat):
        table.pile |= cards
    elif in_mask(world.on_passed_pile, seat):
        table.passed_pile |= cards
    return cards


# --- the pack ---------------------------------------------------------------------------------------------------------


@njit
def _write_deck(table: np.record, rules: np.record, world: np.record) -> None:
    """Rules 2.1 to 2.3: a pack that deals these hands, turns this card up and leaves this stock."""
    seat = table.dealer
    for first in range(rules.num_players):
        seat = seat + 1 if seat + 1 < rules.num_players else 0
        cards = table.dealt[seat]
        if not rules.turn_up_on_table:
            cards &= ~single(table.turn_up)
        for turn in range(line_up(world, cards)):
            table.deck[first + rules.num_players * turn] = world.line[turn]
    place = rules.num_players * rules.hand_size
    if not rules.turn_up_on_table:
        place -= 1
    table.deck[place] = table.turn_up
    for card in world.stocks[0, : world.stock_sizes[0]]:
        place += 1
        table.deck[place] = card


@njit
def _write_stock(table: np.record, rules: np.record, world: np.record) -> None:
    """Rules 2.3 and 3.10: the pack, over whose front each reshuffle was laid."""
    for place in range(rules.ranks * rules.suits):
        table.stock[place] = table.deck[place]
    for stock in range(1, world.stock_number + 1):
        for place in range(world.stock_sizes[stock]):
            table.stock[place] = world.stocks[stock, place]
