"""What a seat may know, as bits: named segments over a row of 64-bit words.

Seats are counted clockwise from the observer. Every feature is 0 or 1; counts are thermometers (bit k set when the
count is above k). A set of cards takes 48 bits: a copy of each kind, then both. The row is complete but for three
numbers: points of melds and scores are told in steps, points in tricks rounded up to whole ones of the modern scale.
All calls, the cards sent and received, the cards shown, and who played which card in which trick can be read from it.
With `history = False` the last words, which tell of earlier tricks, are left out (P7.5).

Shapes: B tables, D decisions, W words, O = 64*W features, A actions.
"""

import functools

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
from bourre_env.jit import njit
from bourre_env.pinochle.actions import reference_suit
from bourre_env.pinochle.cards import (
    EMPTY,
    NO_CARD,
    NO_SUIT,
    NUM_CARDS,
    NUM_KINDS,
    NUM_SUITS,
    relative_cards,
    relative_kind,
    relative_kinds,
    relative_suit,
)
from bourre_env.pinochle.rules import HAND_SIZE, NUM_LEVELS, NUM_SEATS, PinochleRules
from bourre_env.pinochle.table import NO_SEAT, PHASE_NAMES, PLAY, left_of, partner_of, side_of, tricks_of_side

# Words
HAND, AUCTION, SEATS, SENT, RECEIVED, MELDED, EXPOSED, OURS, THEIRS = 0, 1, 2, 6, 7, 8, 12, 14, 15
NUM_WORDS_NOW = 16
PLAYED, EARLIER = 16, 20  # of the history
NUM_WORDS = 26

# First bits of flags and their lengths
NUM_PHASES = len(PHASE_NAMES) - 1
PHASE = NUM_CARDS  # in HAND
DEALER = PHASE + NUM_PHASES
PASSED = DEALER + NUM_SEATS
TRUMP_SUIT = PASSED + NUM_SEATS
HIGH_BIDDER = NUM_LEVELS  # in AUCTION
LEADER = HIGH_BIDDER + NUM_SEATS
LED_SUIT = LEADER + NUM_SEATS
LAST_TO_PLAY = LED_SUIT + NUM_SUITS
TAKEN_BACK = LAST_TO_PLAY + 1
ON_TABLE = NUM_LEVELS  # in SEATS
TRICKS = NUM_CARDS  # in SENT and RECEIVED
MELD_POINTS = NUM_CARDS  # in MELDED
TRICK_POINTS, SCORE = 0, 24  # in OURS and THEIRS

TRICK_POINT_STEPS = SCORE - TRICK_POINTS
MELD_STEPS = np.array([0, 1, 2, 3, 4, 5, 7, 9, 11, 14, 17, 20, 27, 35, 50, 100], np.int64)
"""[16] int64: bit k of a seat's meld points is set when they are above step k, on the modern scale."""

SCORE_STEPS = np.array([-64, -48, -32, -24, -16, -12, -8, -4, *range(32)], np.int64)
"""[40] int64: bit k of a side's score is set when it is above so many 32nds of the target."""

_SCORE_PART = 32


def _segments() -> dict[str, Segment]:
    """Where each piece lies."""
    pieces = {
        "own_hand": Segment(HAND, 0, NUM_CARDS),
        "phase": Segment(HAND, PHASE, NUM_PHASES),
        "dealer": Segment(HAND, DEALER, NUM_SEATS),
        "passed": Segment(HAND, PASSED, NUM_SEATS),
        "trump_suit": Segment(HAND, TRUMP_SUIT, NUM_SUITS),
        "high_bid": Segment(AUCTION, 0, NUM_LEVELS),
        "high_bidder": Segment(AUCTION, HIGH_BIDDER, NUM_SEATS),
        "leader": Segment(AUCTION, LEADER, NUM_SEATS),
        "led_suit": Segment(AUCTION, LED_SUIT, NUM_SUITS),
        "last_to_play": Segment(AUCTION, LAST_TO_PLAY, 1),
        "taken_back": Segment(AUCTION, TAKEN_BACK, 1),
    }
    for seat in range(NUM_SEATS):
        pieces[f"seat_{seat}_bids"] = Segment(SEATS + seat, 0, NUM_LEVELS)
        pieces[f"seat_{seat}_on_table"] = Segment(SEATS + seat, ON_TABLE, NUM_KINDS)
    pieces["sent"] = Segment(SENT, 0, NUM_CARDS)
    pieces["our_tricks"] = Segment(SENT, TRICKS, HAND_SIZE)
    pieces["received"] = Segment(RECEIVED, 0, NUM_CARDS)
    pieces["their_tricks"] = Segment(RECEIVED, TRICKS, HAND_SIZE)
    for seat in range(NUM_SEATS):
        pieces[f"seat_{seat}_melded"] = Segment(MELDED + seat, 0, NUM_CARDS)
        pieces[f"seat_{seat}_meld_points"] = Segment(MELDED + seat, MELD_POINTS, len(MELD_STEPS))
    for seat in range(NUM_SEATS):
        pieces[f"seat_{seat}_exposed"] = Segment(EXPOSED + seat // 2, NUM_KINDS * (seat % 2), NUM_KINDS)
    for name, word in (("our", OURS), ("their", THEIRS)):
        pieces[f"{name}_trick_points"] = Segment(word, TRICK_POINTS, TRICK_POINT_STEPS)
        pieces[f"{name}_score"] = Segment(word, SCORE, len(SCORE_STEPS))
    return pieces


def _history_segments() -> dict[str, Segment]:
    """Where each piece that tells of earlier tricks lies."""
    pieces = {f"seat_{seat}_played": Segment(PLAYED + seat, 0, NUM_CARDS) for seat in range(NUM_SEATS)}
    for ago in range(1, HAND_SIZE):
        place = ago - 1
        pieces[f"trick_{ago}_ago"] = Segment(EARLIER + place // 2, NUM_KINDS * (place % 2), NUM_KINDS)
    return pieces


@functools.cache
def _layout(with_history: bool) -> Layout:
    """The layout with or without earlier tricks."""
    if with_history:
        return Layout(NUM_WORDS, _segments() | _history_segments())
    return Layout(NUM_WORDS_NOW, _segments())


def layout(rules: PinochleRules, seats_shown: int | None = None) -> Layout:
    """The layout of the observation; it hangs on `rules.history` alone.

    Args:
        rules: the rules of the table.
        seats_shown: 4, which is what there is when left out.

    Raises:
        ValueError: another number of seats.
    """
    if seats_shown not in (None, rules.num_players):
        raise ValueError(f"seats_shown is {seats_shown}; Pinochle shows its {rules.num_players} seats")
    return _layout(rules.history)


# --- encoding ---


@njit
def encode(table: np.record, rules: np.record, seat: int, row: NDArray[np.uint64]) -> None:
    """Write what `seat` may know into `row` [W] uint64, every word of it."""
    reference = reference_suit(table, rules)
    row[HAND] = _hand_word(table, seat, reference)
    row[AUCTION] = _auction_word(table, seat, reference)
    _encode_seats(table, rules, seat, reference, row)
    _encode_own(table, seat, reference, row)
    row[OURS] = _side_word(table, rules, side_of(seat))
    row[THEIRS] = _side_word(table, rules, 1 - side_of(seat))
    if rules.history:
        _encode_history(table, seat, reference, row)


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
def _seat_flag(seat: int, observer: int, first: int) -> np.uint64:
    """The flag of a seat; nothing for no seat."""
    return bit_if(seat != NO_SEAT, first + relative_seat(seat, observer))


@njit
def _hand_word(table: np.record, seat: int, reference: int) -> np.uint64:
    """Own hand, phase, dealer, who has passed, trumps (always as printed: P7.4)."""
    word = relative_cards(table.hands[seat], reference)
    word |= bit_if(table.phase < NUM_PHASES, PHASE + table.phase)
    word |= _seat_flag(table.dealer, seat, DEALER)
    word |= relative_mask(table.passed, seat) << np.uint64(PASSED)
    return word | bit_if(table.trump_suit != NO_SUIT, TRUMP_SUIT + table.trump_suit)


@njit
def _auction_word(table: np.record, seat: int, reference: int) -> np.uint64:
    """High bid, whose it is, and where the trick stands."""
    word = thermometer(table.high_bid + 1, 0)
    word |= _seat_flag(table.high_bidder, seat, HIGH_BIDDER)
    word |= _seat_flag(table.leader, seat, LEADER)
    word |= bit_if(table.led_suit != NO_SUIT, LED_SUIT + relative_suit(table.led_suit, reference))
    word |= bit_if(table.phase == PLAY and left_of(seat) == table.leader, LAST_TO_PLAY)
    return word | bit_if(table.taken_back != NO_CARD, TAKEN_BACK)


@njit
def steps_below(number: int, steps: NDArray[np.int64]) -> np.uint64:
    """The steps that a number is above, as bits."""
    bits = EMPTY
    for step in range(len(steps)):
        bits |= bit_if(number > steps[step], step)
    return bits


@njit
def _encode_seats(table: np.record, rules: np.record, seat: int, reference: int, row: NDArray[np.uint64]) -> None:
    """What everybody knows of each seat, the observer first."""
    row[EXPOSED] = EMPTY
    row[EXPOSED + 1] = EMPTY
    for place in range(NUM_SEATS):
        other = (seat + place) & (NUM_SEATS - 1)
        kind = table.on_table[other]
        word = table.bids[other]
        if kind != NO_CARD:
            word |= single(ON_TABLE + relative_kind(kind, reference))
        row[SEATS + place] = word
        word = relative_cards(table.melded[other], reference)
        row[MELDED + place] = word | steps_below(table.meld_points[other] // rules.unit, MELD_STEPS) << np.uint64(
            MELD_POINTS
        )
        exposed = relative_kinds(table.exposed[other], reference)
        row[EXPOSED + place // 2] |= exposed << np.uint64(NUM_KINDS * (place % 2))


@njit
def _encode_own(table: np.record, seat: int, reference: int, row: NDArray[np.uint64]) -> None:
    """Cards sent and received, and tricks of both sides."""
    side = side_of(seat)
    word = relative_cards(table.sent[seat], reference)
    row[SENT] = word | thermometer(tricks_of_side(table, side), TRICKS)
    word = relative_cards(table.sent[partner_of(seat)], reference)
    row[RECEIVED] = word | thermometer(tricks_of_side(table, 1 - side), TRICKS)


@njit
def _side_word(table: np.record, rules: np.record, side: int) -> np.uint64:
    """A side's points in tricks, on the modern scale, and its score."""
    points = -(-table.trick_points[side] // rules.unit)
    word = thermometer(min(points, TRICK_POINT_STEPS), TRICK_POINTS)
    score = steps_below(-(-_SCORE_PART * table.score[side] // rules.target), SCORE_STEPS)
    return word | score << np.uint64(SCORE)


@njit
def _encode_history(table: np.record, seat: int, reference: int, row: NDArray[np.uint64]) -> None:
    """Cards that each seat has played, the observer first, and kinds in each earlier trick, the latest first."""
    for place in range(NUM_SEATS):
        row[PLAYED + place] = relative_cards(table.played[(seat + place) & (NUM_SEATS - 1)], reference)
    for word in range(EARLIER, NUM_WORDS):
        first = relative_kinds(trick_ago(table, 2 * (word - EARLIER) + 1), reference)
        second = relative_kinds(trick_ago(table, 2 * (word - EARLIER) + 2), reference)
        row[word] = first | second << np.uint64(NUM_KINDS)


@njit
def trick_ago(table: np.record, ago: int) -> np.uint64:
    """The kinds in an earlier trick; none when there was none."""
    return table.tricks[table.tricks_done - ago if table.tricks_done >= ago else HAND_SIZE]
