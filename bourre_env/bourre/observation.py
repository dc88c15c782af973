"""What a seat may know, as bits: named segments over a row of 64-bit words.

The low 52 bits of each word are a set of cards (relative ids), the high 12 are flags. Words 0 to 3 tell of the seat
itself and of the pot; then comes one word for each trick, the current one first, then one for each seat, the observer
first and the others clockwise; under table stakes a last word tells the stacks. Every feature is 0 or 1; counts and
chips are thermometers (bit k set when the count is above k). The row is complete: who played which card in which trick
can be read from it, and what the seat was dealt, threw away and drew.

Shapes: B tables, D decisions, W words, O = 64*W features, A actions.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from bourre_env.bits import BITS as BITS
from bourre_env.bits import Layout as Layout
from bourre_env.bits import Segment as Segment
from bourre_env.bits import bit_if, thermometer
from bourre_env.bits import flags_set as flags_set
from bourre_env.bits import pack as pack
from bourre_env.bits import unpack as unpack
from bourre_env.bits import unpack_action_row as unpack_action_row
from bourre_env.bits import unpack_actions as unpack_actions
from bourre_env.bits import unpack_row as unpack_row
from bourre_env.bourre.rules import MAX_CHIPS, MAX_HAND, MAX_PLAYERS, Rules
from bourre_env.bourre.table import DECLARE, PLAY, in_mask, is_last_to_play
from bourre_env.cards import EMPTY, NUM_CARDS, NUM_SUITS, holds, single
from bourre_env.jit import njit

FLAGS = NUM_CARDS  # first bit after the cards of a word

# Words
OWN_HAND, OWN_DEALT, OWN_DISCARDS, TURN_UP, FIRST_TRICK = 0, 1, 2, 3, 4

# Flags: first bit and length
PHASE, PHASE_BITS = FLAGS, 3  # in OWN_HAND: declare, draw, play
LED_SUIT = PHASE + PHASE_BITS
TRICKS_DONE, TRICKS_DONE_BITS = LED_SUIT + NUM_SUITS, 5
DEALER = FLAGS  # in OWN_DEALT
LAST_TO_PLAY = DEALER + MAX_PLAYERS
POT_OVER_LIMIT, POT_OVER_LIMIT_BITS = LAST_TO_PLAY + 1, 3
EXEMPT = FLAGS  # in OWN_DISCARDS
TURN_UP_GONE = EXEMPT + MAX_PLAYERS
POT, POT_BITS = FLAGS, 12  # in TURN_UP
LEADER = FLAGS  # in the word of the current trick
SEAT_EXISTS = FLAGS  # in the word of the trick before
STAYED = FLAGS  # in the word of each seat
PASSED = STAYED + 1
DISCARDS, DISCARDS_BITS = PASSED + 1, 5
TRICKS, TRICKS_BITS = DISCARDS + DISCARDS_BITS, 5

STACK_BITS = 8  # in a word of its own, for each seat: the stack as a thermometer, and last whether it sits out
SITS_OUT = STACK_BITS - 1

POT_STEPS = np.array([1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128], np.int64)
"""[12] int64: the pot flag k is set when the pot is at least this many halves of one ante a seat."""

LIMIT_STEPS = np.array([1, 2, 4], np.int64)
"""[3] int64: the limit flag k is set when the pot is at least this many halves of the limit."""

STACK_STEPS = np.array([1, 2, 4, 8, 16, 32, 64], np.int64)
"""[7] int64: a seat's stack flag k is set when it has at least this many antes (table stakes only)."""


def first_seat_word(hand_size: int) -> int:
    """The word of the observer's own seat; the other seats' words follow."""
    return FIRST_TRICK + hand_size


def layout(rules: Rules, seats_shown: int | None = None) -> Layout:
    """The layout of the observation under some rules.

    Args:
        rules: only `num_players`, `hand_size` and `stacks` matter.
        seats_shown: seats with a word of their own; `num_players` when left out, 8 for one layout at every table size.

    Raises:
        ValueError: fewer seats shown than there are, or more than eight.
    """
    seats = rules.num_players if seats_shown is None else seats_shown
    if not rules.num_players <= seats <= MAX_PLAYERS:
        raise ValueError(
            f"seats_shown is {seats}; it must be from {rules.num_players} (the seats there are) to {MAX_PLAYERS}"
        )
    return _layout(rules.hand_size, seats, rules.stacks == "table_stakes")


@cache
def _layout(hand_size: int, seats: int, with_stacks: bool) -> Layout:
    """The layout for a number of tricks and of seats shown."""
    stacks = first_seat_word(hand_size) + seats
    pieces = {
        "own_hand": Segment(OWN_HAND, 0, NUM_CARDS),
        "phase": Segment(OWN_HAND, PHASE, PHASE_BITS),
        "led_suit": Segment(OWN_HAND, LED_SUIT, NUM_SUITS),
        "tricks_done": Segment(OWN_HAND, TRICKS_DONE, TRICKS_DONE_BITS),
        "own_dealt": Segment(OWN_DEALT, 0, NUM_CARDS),
        "dealer": Segment(OWN_DEALT, DEALER, MAX_PLAYERS),
        "last_to_play": Segment(OWN_DEALT, LAST_TO_PLAY, 1),
        "pot_over_limit": Segment(OWN_DEALT, POT_OVER_LIMIT, POT_OVER_LIMIT_BITS),
        "own_discards": Segment(OWN_DISCARDS, 0, NUM_CARDS),
        "exempt": Segment(OWN_DISCARDS, EXEMPT, MAX_PLAYERS),
        "turn_up_gone": Segment(OWN_DISCARDS, TURN_UP_GONE, 1),
        "turn_up": Segment(TURN_UP, 0, NUM_CARDS),
        "pot": Segment(TURN_UP, POT, POT_BITS),
        "table_cards": Segment(FIRST_TRICK, 0, NUM_CARDS),
        "leader": Segment(FIRST_TRICK, LEADER, MAX_PLAYERS),
        "seat_exists": Segment(FIRST_TRICK + 1, SEAT_EXISTS, MAX_PLAYERS),
    }
    for ago in range(1, hand_size):
        pieces[f"trick_{ago}_ago"] = Segment(FIRST_TRICK + ago, 0, NUM_CARDS)
    for seat in range(seats):
        word = first_seat_word(hand_size) + seat
        pieces[f"seat_{seat}_played"] = Segment(word, 0, NUM_CARDS)
        pieces[f"seat_{seat}_stayed"] = Segment(word, STAYED, 1)
        pieces[f"seat_{seat}_passed"] = Segment(word, PASSED, 1)
        pieces[f"seat_{seat}_discards"] = Segment(word, DISCARDS, DISCARDS_BITS)
        pieces[f"seat_{seat}_tricks"] = Segment(word, TRICKS, TRICKS_BITS)
        if with_stacks:
            pieces[f"seat_{seat}_stack"] = Segment(stacks, STACK_BITS * seat, SITS_OUT)
            pieces[f"seat_{seat}_sits_out"] = Segment(stacks, STACK_BITS * seat + SITS_OUT, 1)
    return Layout(stacks + with_stacks, pieces)


# --- encoding ---

_POT_FLAGS = np.array(
    [sum(1 << (POT + k) for k in range(POT_BITS) if halves >= POT_STEPS[k]) for halves in range(POT_STEPS[-1] + 1)],
    np.uint64,
)
"""[129] uint64: the flags of a pot of that many halves of one ante a seat; the last are those of every higher pot."""

_PHASE_FLAGS = np.array([*(1 << (PHASE + phase) for phase in range(PHASE_BITS)), 0], np.uint64)
"""[4] uint64: the flag of each phase; none once settled."""

_LED_FLAGS = np.array([*(1 << (LED_SUIT + suit) for suit in range(NUM_SUITS)), 0], np.uint64)
"""[5] uint64: the flag of each suit led; none on lead."""


@njit
def encode(table: np.record, rules: np.record, seat: int, row: NDArray[np.uint64]) -> None:
    """Write what `seat` may know into `row` [W] uint64, every word of it."""
    # Words are worked out before they are stored, without branches: after a store everything is read again, and
    # nobody can predict which branch a random table takes.
    own_hand, own_dealt, own_discards = _own_words(table, rules, seat)
    own_dealt |= _limit_flags(table, rules)
    row[TURN_UP] = _turn_up_word(table, rules)
    row[OWN_HAND] = own_hand
    row[OWN_DEALT] = own_dealt
    row[OWN_DISCARDS] = own_discards
    _encode_tricks(table, rules, seat, row)
    _encode_seats(table, rules, seat, row)
    if rules.table_stakes:
        _encode_stacks(table, rules, seat, row)


@njit
def _own_words(table: np.record, rules: np.record, seat: int) -> tuple[np.uint64, np.uint64, np.uint64]:
    """The words of the hand, of the cards dealt and of the discards, all but the limit flags."""
    hand, dealt = table.hands[seat], table.dealt[seat]
    if rules.blind_declaring and table.phase == DECLARE:  # rule 3.12
        hand, dealt = EMPTY, EMPTY
    is_last = (table.phase == PLAY) & in_mask(table.stayed, seat) & is_last_to_play(table, seat)
    discards = dealt & ~hand & ~table.played[seat]
    hand |= _PHASE_FLAGS[table.phase] | _LED_FLAGS[table.led_suit] | thermometer(table.tricks_done, TRICKS_DONE)
    dealt |= single(DEALER + relative_seat(rules, table.dealer, seat)) | bit_if(is_last, LAST_TO_PLAY)
    discards |= relative_mask(rules, table.exempt, seat) << np.uint64(EXEMPT)
    discards |= bit_if(holds(table.face_up, table.turn_up), TURN_UP_GONE)
    return hand, dealt, discards


@njit
def relative_mask(rules: np.record, mask: np.uint8, observer: int) -> np.uint64:
    """A mask of seats with the observer as seat 0."""
    seats = np.uint64(rules.num_players)
    turned = (np.uint64(mask) | (np.uint64(mask) << seats)) >> np.uint64(observer)
    return turned & ((np.uint64(1) << seats) - np.uint64(1))


@njit
def _turn_up_word(table: np.record, rules: np.record) -> np.uint64:
    """The turn-up and the pot as a thermometer."""
    halves = np.uint64(2 * table.pot) // np.uint64(rules.ante * rules.num_players)
    return single(table.turn_up) | _POT_FLAGS[min(halves, np.uint64(POT_STEPS[-1]))]


@njit
def _limit_flags(table: np.record, rules: np.record) -> np.uint64:
    """The pot as parts of the limit, as a thermometer."""
    flags = EMPTY
    if rules.limit < MAX_CHIPS:
        for step in range(POT_OVER_LIMIT_BITS):
            flags |= bit_if(2 * table.pot >= LIMIT_STEPS[step] * rules.limit, POT_OVER_LIMIT + step)
    return flags


@njit
def _encode_tricks(table: np.record, rules: np.record, seat: int, row: NDArray[np.uint64]) -> None:
    """The cards of each trick, the current one first."""
    leader = bit_if(table.phase == PLAY, LEADER + relative_seat(rules, table.leader, seat))
    exists = thermometer(rules.num_players, SEAT_EXISTS)
    newest = np.int64(table.tricks_done)
    hand_size = np.int64(rules.hand_size)
    for ago in range(MAX_HAND):
        if ago >= hand_size:
            break
        row[FIRST_TRICK + ago] = table.tricks[np.uint64(newest - ago if newest >= ago else MAX_HAND)]
    row[FIRST_TRICK] |= leader
    row[FIRST_TRICK + 1] |= exists


@njit
def relative_seat(rules: np.record, seat: int, observer: int) -> int:
    """How many seats clockwise from the observer a seat is."""
    return seat - observer if seat >= observer else seat - observer + rules.num_players


@njit
def _encode_seats(table: np.record, rules: np.record, seat: int, row: NDArray[np.uint64]) -> None:
    """What each seat has shown, the observer first."""
    other, end = np.uint64(seat), np.uint64(rules.num_players)
    word = np.uint64(FIRST_TRICK) + np.uint64(rules.hand_size)
    stayed, passed = np.uint64(table.stayed), np.uint64(table.passed)
    for _ in range(rules.num_players):
        row[word] = (
            table.played[other]
            | thermometer(table.num_discards[other], DISCARDS)
            | thermometer(table.tricks_won[other], TRICKS)
            | (((stayed >> other) & np.uint64(1)) << np.uint64(STAYED))
            | (((passed >> other) & np.uint64(1)) << np.uint64(PASSED))
        )
        word += np.uint64(1)
        other = other + np.uint64(1) if other + np.uint64(1) < end else EMPTY
    while word < np.uint64(len(row)):
        row[word] = EMPTY
        word += np.uint64(1)


@njit
def _encode_stacks(table: np.record, rules: np.record, seat: int, row: NDArray[np.uint64]) -> None:
    """What each seat can still pay, and whether it sits out for want of an ante, in the last word (6.7)."""
    word = len(row) - 1
    for other in range(rules.num_players):
        first = STACK_BITS * relative_seat(rules, other, seat)
        row[word] |= bit_if(in_mask(table.out, other), first + SITS_OUT)
        for step in range(len(STACK_STEPS)):
            if table.stacks[other] >= STACK_STEPS[step] * rules.ante:
                row[word] |= single(first + step)
