"""What a seat may know, as bits: named segments over a row of nine 64-bit words.

Words 0 to 7 hold two sets of cards each (bits 0-24 and 25-49) and flags (bits 50-63); word 8 tells the score. Seats are
counted clockwise from the observer. Every feature is 0 or 1; counts are thermometers (bit k set when the count is above
k). The row is complete: all calls and answers, and who played which card in which trick, can be read from it.

Shapes: B tables, D decisions, W words, O = 64*W features, A actions.
"""

import numpy as np
from numpy.typing import NDArray

from bourre_env.bits import BITS as BITS
from bourre_env.bits import Layout as Layout
from bourre_env.bits import Segment as Segment
from bourre_env.bits import bit_if, thermometer
from bourre_env.bits import pack as pack
from bourre_env.bits import unpack as unpack
from bourre_env.bits import unpack_actions as unpack_actions
from bourre_env.cards import single
from bourre_env.euchre.actions import reference_suit
from bourre_env.euchre.cards import EMPTY, NUM_CARDS, NUM_SUITS, relative_cards, relative_suit
from bourre_env.euchre.rules import HAND_SIZE, MAX_TARGET, NUM_SEATS, EuchreRules
from bourre_env.euchre.table import (
    BLIND,
    CALL_BITS,
    CALL_SUIT,
    MAX_CALLS,
    NO_SEAT,
    PHASE_NAMES,
    PLAY,
    in_mask,
    is_last_to_play,
    side_of,
    tricks_of_side,
)
from bourre_env.jit import njit

SECOND = NUM_CARDS  # first bit of the second set of cards in a word
FLAGS = 2 * NUM_CARDS  # first bit after the cards

# Words
HAND, TABLE_CARDS, LAST_TRICKS, FIRST_TRICKS, ON_TABLE, PLAYED, SCORE = 0, 1, 2, 3, 4, 6, 8
NUM_WORDS = 9

# Flags: first bit and length
NUM_PHASES = len(PHASE_NAMES) - 1
PHASE = FLAGS  # in HAND
DEALER = PHASE + NUM_PHASES
LED_SUIT = DEALER + NUM_SEATS
TRUMP_SUIT = FLAGS  # in TABLE_CARDS
MAKER = TRUMP_SUIT + NUM_SUITS
LEADER = MAKER + NUM_SEATS
LAST_TO_PLAY = LEADER + NUM_SEATS
OUR_TRICKS = FLAGS  # in LAST_TRICKS
THEIR_TRICKS = OUR_TRICKS + HAND_SIZE
LONE = FLAGS  # in FIRST_TRICKS
OUT = LONE + NUM_SEATS
WITH_PARTNER = OUT + NUM_SEATS
CALLS = FLAGS  # two calls in each word from ON_TABLE on
CALLS_A_WORD = 2
SCORE_BITS = MAX_TARGET - 1
OUR_SCORE, THEIR_SCORE = 0, SCORE_BITS  # in SCORE


def _segments() -> dict[str, Segment]:
    """Where each piece lies."""
    pieces = {
        "own_hand": Segment(HAND, 0, NUM_CARDS),
        "up_card": Segment(HAND, SECOND, NUM_CARDS),
        "phase": Segment(HAND, PHASE, NUM_PHASES),
        "dealer": Segment(HAND, DEALER, NUM_SEATS),
        "led_suit": Segment(HAND, LED_SUIT, NUM_SUITS),
        "own_shed": Segment(TABLE_CARDS, 0, NUM_CARDS),
        "table_cards": Segment(TABLE_CARDS, SECOND, NUM_CARDS),
        "trump_suit": Segment(TABLE_CARDS, TRUMP_SUIT, NUM_SUITS),
        "maker": Segment(TABLE_CARDS, MAKER, NUM_SEATS),
        "leader": Segment(TABLE_CARDS, LEADER, NUM_SEATS),
        "last_to_play": Segment(TABLE_CARDS, LAST_TO_PLAY, 1),
        "trick_1_ago": Segment(LAST_TRICKS, 0, NUM_CARDS),
        "trick_2_ago": Segment(LAST_TRICKS, SECOND, NUM_CARDS),
        "our_tricks": Segment(LAST_TRICKS, OUR_TRICKS, HAND_SIZE),
        "their_tricks": Segment(LAST_TRICKS, THEIR_TRICKS, HAND_SIZE),
        "trick_3_ago": Segment(FIRST_TRICKS, 0, NUM_CARDS),
        "trick_4_ago": Segment(FIRST_TRICKS, SECOND, NUM_CARDS),
        "alone": Segment(FIRST_TRICKS, LONE, NUM_SEATS),
        "out": Segment(FIRST_TRICKS, OUT, NUM_SEATS),
        "with_partner": Segment(FIRST_TRICKS, WITH_PARTNER, NUM_SEATS),
    }
    for seat in range(NUM_SEATS):
        first = SECOND * (seat % 2)
        pieces[f"seat_{seat}_on_table"] = Segment(ON_TABLE + seat // 2, first, NUM_CARDS)
        pieces[f"seat_{seat}_played"] = Segment(PLAYED + seat // 2, first, NUM_CARDS)
    for call in range(MAX_CALLS):
        word, place = ON_TABLE + call // CALLS_A_WORD, call % CALLS_A_WORD
        pieces[f"call_{call}"] = Segment(word, CALLS + CALL_BITS * place, CALL_BITS)
    pieces["our_score"] = Segment(SCORE, OUR_SCORE, SCORE_BITS)
    pieces["their_score"] = Segment(SCORE, THEIR_SCORE, SCORE_BITS)
    return pieces


_LAYOUT = Layout(NUM_WORDS, _segments())


def layout(rules: EuchreRules, seats_shown: int | None = None) -> Layout:
    """The layout of the observation, the same for all rules.

    Args:
        rules: the rules of the table.
        seats_shown: 4, which is what there is when left out.

    Raises:
        ValueError: another number of seats.
    """
    if seats_shown not in (None, rules.num_players):
        raise ValueError(f"seats_shown is {seats_shown}; Euchre shows its {rules.num_players} seats")
    return _LAYOUT


# --- encoding ---


@njit
def encode(table: np.record, rules: np.record, seat: int, row: NDArray[np.uint64]) -> None:
    """Write what `seat` may know into `row` [W] uint64, every word of it."""
    reference = reference_suit(table, rules)
    row[HAND] = _hand_word(table, seat, reference)
    row[TABLE_CARDS] = _table_word(table, seat, reference)
    _encode_tricks(table, seat, row)
    _encode_seats(table, seat, row)
    _encode_calls(table, reference, row)
    row[SCORE] = thermometer(table.score[side_of(seat)], OUR_SCORE)
    row[SCORE] |= thermometer(table.score[1 - side_of(seat)], THEIR_SCORE)
    if reference != 0:
        _rename_cards(reference, row)


@njit
def _rename_cards(reference: int, row: NDArray[np.uint64]) -> None:
    """Rule E6.3: count the suits of all cards in the row from the reference suit."""
    cards = (np.uint64(1) << np.uint64(NUM_CARDS)) - np.uint64(1)
    for word in range(SCORE):
        renamed = (row[word] >> np.uint64(FLAGS)) << np.uint64(FLAGS)
        for first in range(0, FLAGS, SECOND):
            printed = (row[word] >> np.uint64(first)) & cards
            renamed |= relative_cards(printed, reference) << np.uint64(first)
        row[word] = renamed


@njit
def relative_seat(seat: int, observer: int) -> int:
    """How many seats clockwise from the observer a seat is."""
    return (seat - observer) & (NUM_SEATS - 1)


@njit
def relative_mask(mask: np.uint8, observer: int) -> np.uint64:
    """A mask of seats with the observer as seat 0."""
    both = np.uint64(mask) | (np.uint64(mask) << np.uint64(NUM_SEATS))
    return (both >> np.uint64(observer)) & np.uint64((1 << NUM_SEATS) - 1)


@njit
def visible_hand(table: np.record, seat: int) -> np.uint64:
    """Rule E2.1: the cards a seat may look at; none while it has to name trumps unseen."""
    return EMPTY if table.phase == BLIND and seat == table.dealer else table.hands[seat]


@njit
def _pair(first: np.uint64, second: np.uint64) -> np.uint64:
    """Two sets of cards in one word."""
    return first | (second << np.uint64(SECOND))


@njit
def _suit_flag(suit: int, reference: int, first: int) -> np.uint64:
    """The flag of a suit; nothing for no suit."""
    return bit_if(suit < NUM_SUITS, first + relative_suit(suit, reference))


@njit
def _seat_flag(seat: int, observer: int, first: int) -> np.uint64:
    """The flag of a seat; nothing for no seat."""
    return bit_if(seat != NO_SEAT, first + relative_seat(seat, observer))


@njit
def _hand_word(table: np.record, seat: int, reference: int) -> np.uint64:
    """Own hand and up-card, phase, dealer, suit led."""
    word = _pair(visible_hand(table, seat), single(table.up_card))
    word |= bit_if(table.phase < NUM_PHASES, PHASE + table.phase)
    word |= _seat_flag(table.dealer, seat, DEALER)
    return word | _suit_flag(table.led_suit, reference, LED_SUIT)


@njit
def _table_word(table: np.record, seat: int, reference: int) -> np.uint64:
    """Own shed card and the current trick, trumps and makers."""
    shed = table.shed if table.taker == seat else EMPTY
    is_last = table.phase == PLAY and not in_mask(table.out, seat) and is_last_to_play(table, seat)
    word = _pair(shed, table.tricks[table.tricks_done])
    word |= _suit_flag(table.trump_suit, reference, TRUMP_SUIT)
    word |= _seat_flag(table.maker, seat, MAKER)
    word |= _seat_flag(table.leader, seat, LEADER)
    return word | bit_if(is_last, LAST_TO_PLAY)


@njit
def trick_ago(table: np.record, ago: int) -> np.uint64:
    """The cards of an earlier trick; none when there was none."""
    return table.tricks[table.tricks_done - ago if table.tricks_done >= ago else HAND_SIZE]


@njit
def _encode_tricks(table: np.record, seat: int, row: NDArray[np.uint64]) -> None:
    """Earlier tricks, how many each side won, and who plays alone."""
    side = side_of(seat)
    word = _pair(trick_ago(table, 1), trick_ago(table, 2))
    word |= thermometer(tricks_of_side(table, side), OUR_TRICKS)
    row[LAST_TRICKS] = word | thermometer(tricks_of_side(table, 1 - side), THEIR_TRICKS)
    word = _pair(trick_ago(table, 3), trick_ago(table, 4))
    word |= relative_mask(table.alone, seat) << np.uint64(LONE)
    word |= relative_mask(table.out, seat) << np.uint64(OUT)
    with_partner = table.asked & ~table.alone
    row[FIRST_TRICKS] = word | (relative_mask(with_partner, seat) << np.uint64(WITH_PARTNER))


@njit
def _encode_seats(table: np.record, seat: int, row: NDArray[np.uint64]) -> None:
    """What each seat has played, in the current trick and in all, the observer first."""
    trick = table.tricks[table.tricks_done]
    for pair in range(NUM_SEATS // 2):
        first = table.played[(seat + 2 * pair) & (NUM_SEATS - 1)]
        second = table.played[(seat + 2 * pair + 1) & (NUM_SEATS - 1)]
        row[ON_TABLE + pair] = _pair(trick & first, trick & second)
        row[PLAYED + pair] = _pair(first, second)


@njit
def _encode_calls(table: np.record, reference: int, row: NDArray[np.uint64]) -> None:
    """The calls in their order, two to a word."""
    calls = relative_calls(table, reference)
    two = np.uint64((1 << (CALLS_A_WORD * CALL_BITS)) - 1)
    for word in range(MAX_CALLS // CALLS_A_WORD):
        row[ON_TABLE + word] |= ((calls >> np.uint64(CALLS_A_WORD * CALL_BITS * word)) & two) << np.uint64(CALLS)


@njit
def relative_calls(table: np.record, reference: int) -> np.uint64:
    """All calls, their suits counted from the reference suit."""
    if reference == 0:
        return table.calls
    moved = EMPTY
    for call in range(table.num_calls):
        for said in range(CALL_BITS):
            is_suit = CALL_SUIT <= said < CALL_SUIT + NUM_SUITS
            shown = CALL_SUIT + relative_suit(said - CALL_SUIT, reference) if is_suit else said
            bit = (table.calls >> np.uint64(CALL_BITS * call + said)) & np.uint64(1)
            moved |= bit << np.uint64(CALL_BITS * call + shown)
    return moved
