"""A rule bot for Bourré: what sensible people do, as small compiled functions over packed observations.

A bot declares by thresholds (`agents.thresholds`) on a linear value of its hand, keeps trumps and side aces, leads
masters and follows with the lowest card that wins. A master is a card above all that others may hold of its suit.

Shapes: D decisions, W words of a packed observation.
"""

# Elements of arrays and fields of records have no static type, and returning one is what these functions do.
# mypy: disable-error-code="no-any-return"

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.bits import BITS
from bourre_env.bourre import observation as at
from bourre_env.bourre.actions import actions_of_cards, first_stay, pass_action
from bourre_env.bourre.cinch import sure_tricks
from bourre_env.bourre.declaring import mask_of_cards
from bourre_env.bourre.table import PLAY
from bourre_env.cards import (
    ALL_CARDS,
    BEATING,
    EMPTY,
    NO_CARD,
    NUM_RANKS,
    NUM_SUITS,
    SUIT_CARDS,
    TRUMPS,
    TRUMPS_IN_PACK,
    count_cards,
    highest_card,
    holds,
    lowest_card,
    rank_of,
    single,
    suit_of,
)
from bourre_env.jit import njit, njit_entry
from bourre_env.tricks import MUST_TRUMP, MUST_UNDERTRUMP, beats, has_duty

BY_VALUE, NEVER_PASSES, ALWAYS_PASSES, BY_TRUMPS = 0, 1, 2, 3  # how a bot declares

ACE = NUM_RANKS - 1
ACES = np.uint64(sum(1 << (NUM_RANKS * suit + ACE) for suit in range(NUM_SUITS)))
KINGS = ACES >> np.uint64(1)

# --- what a hand is worth ---------------------------------------------------------------------------------------------

TRUMP_VALUES = np.array([0.10] * 6 + [0.16] * 3 + [0.24, 0.30, 0.42, 0.53])
"""[13] pots: what a trump of each rank adds to the value of a hand, two to ace."""

TRUMPS_TOGETHER = np.array([0.0, 0.0, 0.04, 0.11, 0.19, 0.19])
"""[6] pots: what holding that many trumps adds."""

SIDE_ACE_VALUE = 0.04  # pots

# --- one decision -----------------------------------------------------------------------------------------------------


@njit_entry
def choose_rows(
    packed: NDArray[np.uint64],
    legal: NDArray[np.uint64],
    rules: np.recarray[Any, Any],
    thresholds: NDArray[np.float64],
    declaring: int,
    actions: NDArray[np.int64],
) -> None:
    """Fill `actions` [D] from observations [D, W] and legal sets [D, 2]."""
    for row in range(len(packed)):
        actions[row] = choose(packed[row], legal[row], rules[0], thresholds, declaring)


@njit
def choose(
    row: NDArray[np.uint64],
    legal: NDArray[np.uint64],
    rules: np.record,
    thresholds: NDArray[np.float64],
    declaring: int,
) -> int:
    """The action for one decision."""
    if holds(row[at.OWN_HAND], at.PHASE + PLAY):
        return action_of_card(rules, choose_card(row, legal, rules))
    if not is_legal(legal, first_stay(rules)):  # a seat without chips (6.7)
        return pass_action(rules)
    may_pass = is_legal(legal, pass_action(rules))
    if may_pass and not stays(row, rules, thresholds, declaring):
        return pass_action(rules)
    return first_stay(rules) + choose_discards(row, legal, rules)


@njit
def stays(row: NDArray[np.uint64], rules: np.record, thresholds: NDArray[np.float64], declaring: int) -> bool:
    """Whether a bot that may pass stays."""
    if declaring == BY_VALUE:
        return is_worth_staying(row, rules, thresholds)
    if declaring == BY_TRUMPS:
        return has_two_trumps_or_a_high_one(row[at.OWN_HAND])
    return declaring == NEVER_PASSES


@njit
def has_two_trumps_or_a_high_one(hand: np.uint64) -> bool:
    """What beginners are told to stay with: two trumps, or the ace or king."""
    trumps = hand & TRUMPS
    return count_cards(trumps) >= 2 or trumps & (ACES | KINGS) != EMPTY


@njit
def is_legal(legal: NDArray[np.uint64], action: int) -> bool:
    """Whether an action is in a legal set [2]."""
    return (legal[action // BITS] >> np.uint64(action % BITS)) & np.uint64(1) != EMPTY


@njit
def action_of_card(rules: np.record, card: int) -> int:
    """The action that plays a card."""
    return lowest_card(actions_of_cards(rules, single(card)))


# --- declaring and drawing --------------------------------------------------------------------------------------------


@njit
def is_worth_staying(row: NDArray[np.uint64], rules: np.record, thresholds: NDArray[np.float64]) -> bool:
    """Whether to stay: a sure trick cannot go bourré, otherwise the hand must reach its threshold."""
    trumps_held = row[at.OWN_HAND] & TRUMPS
    outstanding = TRUMPS_IN_PACK[rules.ranks] & ~trumps_held & ~turn_up_out_of_play(row, rules)
    if sure_tricks(0, trumps_held, outstanding) > 0:
        return True
    threshold = thresholds[rules.num_players, dealer_of(row), players_in(row, rules)]
    turn_up_rank = rank_of(lowest_card(row[at.TURN_UP] & ALL_CARDS))
    return hand_value(row[at.OWN_HAND]) >= threshold[0] + threshold[1] * turn_up_rank / ACE


@njit
def hand_value(hand: np.uint64) -> float:
    """Linear value of a hand in pots, before the draw."""
    value = SIDE_ACE_VALUE * count_cards(hand & ACES & ~TRUMPS)
    trumps = hand & TRUMPS
    value += TRUMPS_TOGETHER[count_cards(trumps)]
    while trumps != EMPTY:
        card = lowest_card(trumps)
        value += TRUMP_VALUES[rank_of(card)]
        trumps &= ~single(card)
    return value


@njit
def dealer_of(row: NDArray[np.uint64]) -> int:
    """The dealer's seat counted clockwise from the observer, which is also the number of seats that speak later."""
    return lowest_card(row[at.OWN_DEALT] >> np.uint64(at.DEALER))


@njit
def seat_word(row: NDArray[np.uint64], rules: np.record, seat: int) -> np.uint64:
    """The word of a seat, counted clockwise from the observer."""
    return row[at.FIRST_TRICK + rules.hand_size + seat]


@njit
def players_in(row: NDArray[np.uint64], rules: np.record) -> int:
    """Number of other seats that have stayed."""
    number = 0
    for seat in range(1, rules.num_players):
        number += holds(seat_word(row, rules, seat), at.STAYED)
    return number


@njit
def choose_discards(row: NDArray[np.uint64], legal: NDArray[np.uint64], rules: np.record) -> int:
    """Throw away all but trumps and side aces, with three trumps all but side kings too; less when less is allowed."""
    hand = row[at.OWN_HAND] & ALL_CARDS
    keep = TRUMPS | ACES
    if count_cards(hand & TRUMPS) >= 3:
        keep |= KINGS
    discards = hand & ~keep
    while discards != EMPTY and not is_legal(legal, first_stay(rules) + mask_of_cards(hand, discards)):
        discards &= ~single(highest_side_card(discards))
    return mask_of_cards(hand, discards)


# --- playing ----------------------------------------------------------------------------------------------------------


@njit
def choose_card(row: NDArray[np.uint64], legal: NDArray[np.uint64], rules: np.record) -> int:
    """The card to play, among those the rules allow; the cinch duties are in the legal set already."""
    allowed = legal_cards(row[at.OWN_HAND] & ALL_CARDS, legal, rules)
    if count_cards(allowed) == 1:
        return lowest_card(allowed)
    trick = row[at.FIRST_TRICK] & ALL_CARDS
    if trick == EMPTY:
        return choose_lead(row, rules, allowed)
    led_suit = lowest_card(row[at.OWN_HAND] >> np.uint64(at.LED_SUIT))
    return choose_follow(trick, led_suit, allowed)


@njit
def legal_cards(hand: np.uint64, legal: NDArray[np.uint64], rules: np.record) -> np.uint64:
    """The cards of a hand that may be played."""
    if rules.ranks == NUM_RANKS:
        return hand & legal[0]
    cards = EMPTY
    while hand != EMPTY:
        card = single(lowest_card(hand))
        if actions_of_cards(rules, card) & legal[0] != EMPTY:
            cards |= card
        hand &= ~card
    return cards


@njit
def choose_follow(trick: np.uint64, led_suit: int, allowed: np.uint64) -> int:
    """The lowest card that wins so far, else the lowest card."""
    best_card = highest_card(trick & TRUMPS if trick & TRUMPS != EMPTY else trick & SUIT_CARDS[led_suit])
    winning = allowed & BEATING[best_card]
    return cheapest_card(winning if winning != EMPTY else allowed)


@njit
def choose_lead(row: NDArray[np.uint64], rules: np.record, allowed: np.uint64) -> int:
    """Masters first, then the highest side card, then the lowest trump.

    A master trump goes first with a trick won or three trumps, unless nobody else can hold a trump: then a side master
    cannot lose, and the trump is worth keeping.
    """
    unseen = unseen_cards(row, rules)
    trumps = allowed & TRUMPS
    trumps_are_out = others_have_no_trump(row, rules, unseen)
    side_master = side_master_of_shortest_suit(allowed, unseen)
    if trumps_are_out and side_master != NO_CARD:
        return side_master
    if has_master_trump(trumps, unseen, trumps_are_out) and (tricks_won(row, rules) > 0 or count_cards(trumps) >= 3):
        return highest_card(trumps)
    if side_master != NO_CARD:
        return side_master
    if allowed & ~TRUMPS != EMPTY:
        return highest_side_card(allowed)
    return lowest_card(trumps)


@njit
def has_master_trump(trumps: np.uint64, unseen: np.uint64, trumps_are_out: bool) -> bool:
    """Whether the highest of these trumps cannot be beaten."""
    return trumps != EMPTY and (trumps_are_out or trumps > unseen & TRUMPS)


@njit
def tricks_won(row: NDArray[np.uint64], rules: np.record) -> int:
    """Tricks the observer has won."""
    return at.flags_set(seat_word(row, rules, 0), at.TRICKS, at.TRICKS_BITS)


@njit
def side_master_of_shortest_suit(allowed: np.uint64, unseen: np.uint64) -> int:
    """The highest card of the shortest side suit that is headed by a master; `NO_CARD` when there is none."""
    chosen, shortest = NO_CARD, NUM_RANKS + 1
    for suit in range(1, NUM_SUITS):
        in_suit = allowed & SUIT_CARDS[suit]
        if in_suit != EMPTY and in_suit > unseen & SUIT_CARDS[suit] and count_cards(in_suit) < shortest:
            chosen, shortest = highest_card(in_suit), count_cards(in_suit)
    return chosen


@njit
def highest_side_card(cards: np.uint64) -> int:
    """The side card of highest rank, from the shortest suit among equals; `NO_CARD` when there is none."""
    chosen, length = NO_CARD, 0
    for suit in range(1, NUM_SUITS):
        in_suit = cards & SUIT_CARDS[suit]
        if in_suit == EMPTY:
            continue
        card, held = highest_card(in_suit), count_cards(in_suit)
        if chosen == NO_CARD or rank_of(card) > rank_of(chosen) or (rank_of(card) == rank_of(chosen) and held < length):
            chosen, length = card, held
    return chosen


@njit
def cheapest_card(cards: np.uint64) -> int:
    """The side card of lowest rank, else the lowest trump."""
    chosen = NO_CARD
    for suit in range(1, NUM_SUITS):
        in_suit = cards & SUIT_CARDS[suit]
        if in_suit != EMPTY and (chosen == NO_CARD or rank_of(lowest_card(in_suit)) < rank_of(chosen)):
            chosen = lowest_card(in_suit)
    return chosen if chosen != NO_CARD else lowest_card(cards & TRUMPS)


# --- what the observer can infer --------------------------------------------------------------------------------------


@njit
def unseen_cards(row: NDArray[np.uint64], rules: np.record) -> np.uint64:
    """Cards that another player may hold."""
    seen = (row[at.OWN_HAND] & ALL_CARDS) | turn_up_out_of_play(row, rules)
    for seat in range(rules.num_players):
        seen |= seat_word(row, rules, seat) & ALL_CARDS
    if not was_reshuffled(row, rules):
        seen |= row[at.OWN_DISCARDS] & ALL_CARDS
    return cards_of_pack(rules) & ~seen


@njit
def cards_of_pack(rules: np.record) -> np.uint64:
    """Every card of the pack (1.2)."""
    cards = EMPTY
    for suit in range(rules.suits):
        cards |= TRUMPS_IN_PACK[rules.ranks] << np.uint64(NUM_RANKS * suit)
    return cards


@njit
def turn_up_out_of_play(row: NDArray[np.uint64], rules: np.record) -> np.uint64:
    """The turn-up as a set when nobody can hold it: it lies face up, or it lies in the pile with the dealer's hand."""
    dealer_passed = holds(seat_word(row, rules, dealer_of(row)), at.PASSED)
    if (
        rules.turn_up_on_table
        or holds(row[at.OWN_DISCARDS], at.TURN_UP_GONE)
        or (dealer_passed and not was_reshuffled(row, rules))
    ):
        return row[at.TURN_UP] & ALL_CARDS
    return EMPTY


@njit
def was_reshuffled(row: NDArray[np.uint64], rules: np.record) -> bool:
    """Whether so many cards were drawn that cards thrown away may have come back (3.10)."""
    drawn = 0
    for seat in range(rules.num_players):
        drawn += at.flags_set(seat_word(row, rules, seat), at.DISCARDS, at.DISCARDS_BITS)
    return drawn > rules.ranks * rules.suits - rules.num_players * rules.hand_size - rules.turn_up_on_table


@njit
def others_have_no_trump(row: NDArray[np.uint64], rules: np.record, unseen: np.uint64) -> bool:
    """Whether no other active seat can hold a trump: all were seen, or all seats have shown that they have none."""
    if unseen & TRUMPS == EMPTY:
        return True
    without_trumps = seats_without_trumps(row, rules)
    for seat in range(1, rules.num_players):
        if holds(seat_word(row, rules, seat), at.STAYED) and not holds(without_trumps, seat):
            return False
    return True


@njit
def seats_without_trumps(row: NDArray[np.uint64], rules: np.record) -> np.uint64:
    """Seats, counted clockwise from the observer, that have shown in a finished trick that they hold no trump."""
    without_trumps = EMPTY
    leader = first_leader(row, rules)
    for ago in range(at.flags_set(row[at.OWN_HAND], at.TRICKS_DONE, at.TRICKS_DONE_BITS), 0, -1):
        trick = row[at.FIRST_TRICK + ago] & ALL_CARDS
        led_suit = suit_of(card_of_seat(row, rules, trick, leader))
        winner, best_card = leader, NO_CARD
        for step in range(rules.num_players):
            seat = (leader + step) % rules.num_players
            card = card_of_seat(row, rules, trick, seat)
            if card == NO_CARD:
                continue
            if shows_no_trump(rules, led_suit, suit_of(card)):
                without_trumps |= single(seat)
            if beats(card, BEATING[best_card]):
                winner, best_card = seat, card
        leader = winner
    return without_trumps


@njit
def shows_no_trump(rules: np.record, led_suit: int, played_suit: int) -> bool:
    """Whether a card tells that its player holds no trump (4.2 to 4.4).

    That is a plain card on a trump lead, and on a plain lead of another suit where a void seat must trump, high or low.
    """
    must_always_trump = has_duty(rules.duties, MUST_TRUMP) and has_duty(rules.duties, MUST_UNDERTRUMP)
    return played_suit != 0 and played_suit != led_suit and (led_suit == 0 or must_always_trump)


@njit
def card_of_seat(row: NDArray[np.uint64], rules: np.record, trick: np.uint64, seat: int) -> int:
    """The card a seat played to a trick; `NO_CARD` when it takes no part in the play."""
    played = trick & seat_word(row, rules, seat)
    return lowest_card(played) if played != EMPTY else NO_CARD


@njit
def first_leader(row: NDArray[np.uint64], rules: np.record) -> int:
    """The first active seat after the dealer, counted clockwise from the observer (4.1)."""
    seat = (dealer_of(row) + 1) % rules.num_players
    while not holds(seat_word(row, rules, seat), at.STAYED):
        seat = (seat + 1) % rules.num_players
    return seat
