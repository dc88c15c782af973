"""What a seat knows of a table: the record with all else erased, and what follows from it by the rules.

Nothing that runs after `forget` can leak a hidden card, since no hidden card is left in the record.

The stocks of a deal are numbered: stock 0 is what the deal leaves of the pack, stock r comes of reshuffle r. A *stray*
is a card the observer can name that went into a reshuffle (from its own discards or passed hand, or the turn-up of a
dealer who passed) and has not been seen since: it lies in that stock or in a hand that was served from it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.bourre.playing import apply_play, begin_play, cards_to_play
from bourre_env.bourre.rules import CINCH_OFF, MAX_HAND, MAX_PLAYERS, RECYCLE_PASSED_FIRST
from bourre_env.bourre.table import DECLARE, NO_SEAT, NO_SUIT, PLAY, TABLE, in_mask, seat_bit
from bourre_env.cards import (
    EMPTY,
    NO_CARD,
    NUM_CARDS,
    NUM_RANKS,
    TRUMPS_IN_PACK,
    count_cards,
    holds,
    lowest_card,
    single,
)
from bourre_env.jit import njit

MAX_STOCKS = MAX_PLAYERS + 1  # a reshuffle takes in some seat's cards, and no seat's cards are taken in twice
MAX_STRAYS = MAX_HAND + 1

WORLD = np.dtype(
    [
        # The stream of random words
        ("key", np.uint64),
        ("words_drawn", np.uint64),
        # What the observer knows
        ("observer", np.int8),  # NO_SEAT when it has not seen its own cards either (3.12)
        ("served", np.int8, (MAX_STOCKS, MAX_PLAYERS)),  # cards each seat was served from each stock
        ("reshuffled_into", np.int8, MAX_PLAYERS),  # the stock that a seat's cards on the pile became; 0: none
        ("on_pile", np.uint8),  # seats whose discards or passed hands lie there
        ("on_passed_pile", np.uint8),
        ("stock_number", np.int8),  # the last one
        ("stock_left", np.int8),  # cards of that stock not served yet
        ("named_in_stock", np.uint64, MAX_STOCKS),  # the cards in each reshuffle that the observer can name
        ("strays", np.uint64),
        ("num_strays", np.int8),
        ("stray_cards", np.int8, MAX_STRAYS),
        ("stray_stocks", np.int8, MAX_STRAYS),
        ("pool", np.uint64),  # the cards the observer has never seen
        ("unknown", np.int8, MAX_PLAYERS),  # cards each seat holds that the observer cannot name
        ("open", np.int8, MAX_PLAYERS),  # these, and the cards the seat has played from the pool
        ("may_hold", np.uint64, MAX_PLAYERS),  # cards with which the seat's play was legal
        # How to draw worlds: the order of the seats, and bounds for rejection
        ("num_seats", np.int8),
        ("seats", np.int8, MAX_PLAYERS),
        ("most_room", np.float64, MAX_STRAYS),
        ("most_ways", np.float64),
        ("ways", np.float64, MAX_STRAYS + 1),
        # The world drawn
        ("hidden", np.uint64, MAX_PLAYERS),  # the cards each seat holds that the observer cannot name
        ("strays_in_stock", np.uint64),
        ("stocks", np.int8, (MAX_STOCKS, NUM_CARDS)),  # each stock in the order served
        ("stock_sizes", np.int8, MAX_STOCKS),
        ("line", np.int8, NUM_CARDS),  # some cards in random order
    ],
    align=True,
)
"""What one seat knows of a table, and one world that fits it."""


def new_scratch() -> tuple[NDArray[Any], NDArray[Any]]:
    """Room to work in: [1] of dtype `WORLD`, and [1] of dtype `TABLE` on which play is repeated."""
    world, replay = (np.zeros(1, dtype).view(np.recarray).view(np.ndarray) for dtype in (WORLD, TABLE))
    return world, replay


def without_cinch(rules: NDArray[Any]) -> NDArray[Any]:
    """The same rules without section 5, for `rule_out_cards`."""
    lax_rules = rules.copy()
    lax_rules["cinch"] = CINCH_OFF
    return lax_rules


@njit
def forget(table: np.record, rules: np.record, seat: int) -> None:
    """Erase from the record all cards that `seat` has not seen; under rule 3.12 even its own."""
    blind = rules.blind_declaring and table.phase == DECLARE
    for other in range(rules.num_players):
        if other != seat or blind:
            table.hands[other] = EMPTY
            table.dealt[other] = EMPTY
    table.pile = EMPTY
    table.passed_pile = EMPTY
    table.legal[0] = EMPTY
    table.legal[1] = EMPTY
    for place in range(len(table.deck)):
        table.deck[place] = 0
        table.stock[place] = 0


@njit
def learn(table: np.record, rules: np.record, seat: int, world: np.record) -> None:
    """Work out from a record after `forget` what `seat` knows of each place a card can be.

    Args:
        table: a record of dtype `TABLE`; the turn-up is put into the dealer's hand if it is known to be there.
        rules: the rules.
        seat: the observer.
        world: a record of dtype `WORLD` to fill.
    """
    world.observer = seat if table.dealt[seat] != EMPTY else NO_SEAT
    recall_service(table, rules, world)
    recall_turn_up(table, rules)
    name_reshuffled_cards(table, rules, world)
    count_unknown(table, rules, world)


# --- what everyone saw of the draw ------------------------------------------------------------------------------------


@njit
def recall_service(table: np.record, rules: np.record, world: np.record) -> None:
    """Rules 3.1, 3.2, 3.10: which stock served whom, and where each seat's cards on the pile went.

    Numbers of discards, passes and their order are public, so this is the same in every world.
    """
    world.on_pile = 0
    world.on_passed_pile = 0
    world.stock_number = 0
    world.stock_left = rules.ranks * rules.suits - rules.num_players * rules.hand_size - rules.turn_up_on_table
    for seat in range(rules.num_players):
        world.reshuffled_into[seat] = 0
        for stock in range(table.num_reshuffles + 1):
            world.served[stock, seat] = 0
        if rules.two_rounds and in_mask(table.passed, seat):
            _lay_down(rules, world, seat, True)
    seat = table.dealer
    for _ in range(rules.num_players):
        seat = seat + 1 if seat + 1 < rules.num_players else 0
        if not in_mask(table.passed, seat):
            _serve(table, rules, world, seat)
        elif not rules.two_rounds:
            _lay_down(rules, world, seat, True)


@njit
def _lay_down(rules: np.record, world: np.record, seat: int, passes: bool) -> None:
    """The cards of a seat join the pile, or the pile of passed hands where there is one."""
    if passes and rules.recycle == RECYCLE_PASSED_FIRST:
        world.on_passed_pile |= seat_bit(seat)
    else:
        world.on_pile |= seat_bit(seat)


@njit
def _serve(table: np.record, rules: np.record, world: np.record, seat: int) -> None:
    """Rule 3.10: a seat is served as many cards as it threw away; then its discards join the pile."""
    for _ in range(table.num_discards[seat]):
        if world.stock_left == 0:
            _reshuffle(table, rules, world)
        world.stock_left -= 1
        world.served[world.stock_number, seat] += 1
    if num_laid_down(table, rules, seat) > 0:
        _lay_down(rules, world, seat, False)


@njit
def _reshuffle(table: np.record, rules: np.record, world: np.record) -> None:
    """Rule 3.10: the passed hands where they are kept apart, else the pile, become the next stock."""
    seats = world.on_passed_pile
    if seats != 0:
        world.on_passed_pile = 0
    else:
        seats = world.on_pile
        world.on_pile = 0
    world.stock_number += 1
    for seat in range(rules.num_players):
        if in_mask(seats, seat):
            world.reshuffled_into[seat] = world.stock_number
            world.stock_left += num_laid_down(table, rules, seat)


@njit
def num_laid_down(table: np.record, rules: np.record, seat: int) -> int:
    """How many cards of a seat went onto a pile: its hand or its discards, but not a turn-up (3.6)."""
    if in_mask(table.passed, seat):
        return rules.hand_size
    return table.num_discards[seat] - (seat == table.dealer and turn_up_is_thrown(table, rules))


@njit
def turn_up_is_thrown(table: np.record, rules: np.record) -> bool:
    """Rule 3.6: whether the dealer threw the turn-up away."""
    return not rules.turn_up_on_table and holds(table.face_up, table.turn_up)


@njit
def dealer_keeps_turn_up(table: np.record, rules: np.record) -> bool:
    """Rule 2.2: whether the turn-up belongs to the hand the dealer holds or played."""
    return not rules.turn_up_on_table and table.face_up == EMPTY and not in_mask(table.passed, table.dealer)


@njit
def recall_turn_up(table: np.record, rules: np.record) -> None:
    """Rule 2.2: everyone knows that the dealer holds the turn-up, unless it was thrown away, passed or played."""
    if dealer_keeps_turn_up(table, rules):
        table.hands[table.dealer] |= single(table.turn_up) & ~table.played[table.dealer]


# --- which cards the observer can name --------------------------------------------------------------------------------


@njit
def name_reshuffled_cards(table: np.record, rules: np.record, world: np.record) -> None:
    """Which cards the observer knows to have been reshuffled, and which of them are strays."""
    for stock in range(table.num_reshuffles + 1):
        world.named_in_stock[stock] = EMPTY
    world.strays = EMPTY
    world.num_strays = 0
    observer = world.observer
    if observer != NO_SEAT:
        _name_reshuffled(table, rules, world, observer, cards_laid_down(table, observer))
    if not rules.turn_up_on_table and table.dealer != observer and in_mask(table.passed, table.dealer):
        _name_reshuffled(table, rules, world, table.dealer, single(table.turn_up))


@njit
def cards_laid_down(table: np.record, seat: int) -> np.uint64:
    """The cards that a seat whose cards are known laid on the pile."""
    return table.dealt[seat] & ~(table.hands[seat] | table.played[seat] | table.face_up)


@njit
def _name_reshuffled(table: np.record, rules: np.record, world: np.record, seat: int, cards: np.uint64) -> None:
    """Take note of known `cards` of a seat, if its cards on the pile were reshuffled."""
    stock = world.reshuffled_into[seat]
    if stock == 0:
        return
    world.named_in_stock[stock] |= cards
    strays = cards & ~seen_cards(table, rules)
    world.strays |= strays
    while strays != EMPTY:
        card = lowest_card(strays)
        strays &= ~single(card)
        world.stray_cards[world.num_strays] = card
        world.stray_stocks[world.num_strays] = stock
        world.num_strays += 1


@njit
def seen_cards(table: np.record, rules: np.record) -> np.uint64:
    """The cards the observer sees: its own hand, all cards played, cards face up, a turn-up the dealer holds."""
    cards = table.face_up
    for seat in range(rules.num_players):
        cards |= table.hands[seat] | table.played[seat]
    return cards


@njit
def count_unknown(table: np.record, rules: np.record, world: np.record) -> None:
    """For each seat the number of cards the observer cannot name; and the pool these may come from."""
    named = seen_cards(table, rules) | single(table.turn_up)
    reshuffled = EMPTY
    for stock in range(table.num_reshuffles + 1):
        reshuffled |= world.named_in_stock[stock]
    if world.observer != NO_SEAT:
        named |= table.dealt[world.observer]
    world.pool = whole_pack(rules) & ~named
    for seat in range(rules.num_players):
        cards = table.hands[seat] | table.played[seat]
        is_hidden = seat != world.observer and not in_mask(table.passed, seat)
        world.unknown[seat] = rules.hand_size - count_cards(cards) if is_hidden else 0
        world.open[seat] = world.unknown[seat] + count_cards(cards & ~reshuffled)
        if seat == table.dealer and dealer_keeps_turn_up(table, rules):
            world.open[seat] -= 1
        world.may_hold[seat] = world.pool | world.strays if is_hidden else EMPTY


@njit
def whole_pack(rules: np.record) -> np.uint64:
    """All cards of the pack (1.2)."""
    in_suit = TRUMPS_IN_PACK[rules.ranks]
    cards = EMPTY
    for suit in range(rules.suits):
        cards |= in_suit << np.uint64(NUM_RANKS * suit)
    return cards


# --- what the play tells ----------------------------------------------------------------------------------------------


@njit
def rule_out_cards(table: np.record, lax_rules: np.record, world: np.record, replay: np.record) -> None:
    """Section 4: strike from `may_hold` each card with which some card the seat has played would have been illegal.

    A card that was illegal to play from the cards a seat is known to have held, and one more, was illegal from any
    larger hand: without the cinch a duty, once it binds, is only narrowed by more cards. So no possible hand is lost.
    """
    for seat in range(lax_rules.num_players):
        replay.hands[seat] = table.hands[seat] | table.played[seat]
    begin_replay(table, replay)
    while True:
        card = next_card_played(table, replay)
        if card == NO_CARD:
            return
        seat = replay.to_act
        if world.unknown[seat] > 0:
            _rule_out(lax_rules, world, replay, card)
        apply_play(replay, lax_rules, card)


@njit
def _rule_out(lax_rules: np.record, world: np.record, replay: np.record, card: int) -> None:
    """Strike the cards with which the seat to act could not have played `card`."""
    seat = replay.to_act
    held = replay.hands[seat]
    candidates = world.may_hold[seat]
    while candidates != EMPTY:
        candidate = single(lowest_card(candidates))
        candidates &= ~candidate
        replay.hands[seat] = held | candidate
        if not holds(cards_to_play(replay, lax_rules), card):
            world.may_hold[seat] &= ~candidate
    replay.hands[seat] = held


@njit
def begin_replay(table: np.record, replay: np.record) -> None:
    """Put `replay` to the first lead of the deal at `table`; its hands are set by the caller."""
    replay.dealer = table.dealer
    replay.stayed = table.stayed
    replay.face_up = table.face_up
    replay.tricks_done = 0
    replay.led_suit = NO_SUIT
    replay.best_card = NO_CARD
    replay.best_seat = NO_SEAT
    for seat in range(len(replay.played)):
        replay.played[seat] = EMPTY
        replay.tricks_won[seat] = 0
    for trick in range(len(replay.tricks)):
        replay.tricks[trick] = EMPTY
    begin_play(replay)


@njit
def next_card_played(table: np.record, replay: np.record) -> int:
    """The card that the seat to act in `replay` played at this point; NO_CARD when the play has come to its end."""
    if replay.phase != PLAY or table.tricks[replay.tricks_done] == EMPTY:
        return NO_CARD
    card = table.played[replay.to_act] & table.tricks[replay.tricks_done]
    return lowest_card(card) if card != EMPTY else NO_CARD
