"""What the player may know, as bits: named segments over a row of 102 64-bit words.

Cards are serial ids, two sets of 26 to a word (bits 0-25 and 26-51), flags after them. Every feature is 0 or 1; counts
are thermometers (bit k set when the count is above k). Three words tell of each column, then come the foundations, the
cards not seen yet, stock and waste, every card of the waste, the top one first, and of the stock, the next one first,
once a pass has shown them. The legal actions stand last: where positions must not come back (B6.3) they tell what
nothing else does. Cards above the fourth place of a column follow on the fourth (B3.2), so that four places and the
exposed card tell it all.

Shapes: W words, O = 64*W features, K words of hidden cards.
"""

import numpy as np
from numpy.typing import NDArray

from bourre_env.bits import BITS, bit_if, thermometer
from bourre_env.bits import Layout as Layout
from bourre_env.bits import Segment as Segment
from bourre_env.bureau.actions import DRAW, REDEAL, WASTE_DOWN
from bourre_env.bureau.cards import COPIES, NO_CARD, NUM_RANKS, NUM_TYPES, rank_of
from bourre_env.bureau.foundations import is_accepted
from bourre_env.bureau.rules import DEALT_ROWS, MAX_PASSES, NUM_COLUMNS, STOCK_SIZE, BureauRules
from bourre_env.bureau.table import LEGAL_WORDS, exposed_card, is_face_down, next_down, stock_size, waste_card
from bourre_env.cards import EMPTY, count_cards, highest_card, holds, single
from bourre_env.jit import njit

SECOND = NUM_TYPES  # first bit of the second set of cards in a word
FLAGS = 2 * NUM_TYPES  # first bit after the cards
SERIES = 2

# Words
COLUMN_WORDS = 3
UP = COLUMN_WORDS * NUM_COLUMNS
UNSEEN = UP + SERIES
NOW = UNSEEN + SERIES
STOCK = NOW + 1
WASTE = STOCK + 1
WASTE_CARDS = WASTE + 1
LINE_WORDS = STOCK_SIZE // 2
STOCK_CARDS = WASTE_CARDS + LINE_WORDS
LEGAL = STOCK_CARDS + LINE_WORDS
NUM_WORDS = LEGAL + LEGAL_WORDS

# Flags of the first word of a column
FACE_DOWN = FLAGS
HEIGHT = FACE_DOWN + 2
GOES_UP = HEIGHT + DEALT_ROWS
CLEARS = GOES_UP + 1
TAKES_WASTE = CLEARS + 1
TAKES_CARDS = TAKES_WASTE + 1
ON_FACE_DOWN = TAKES_CARDS + 1
AT_BOTTOM = ON_FACE_DOWN + 1

# Flags of the word NOW
MAY_DRAW = FLAGS
MAY_REDEAL = FLAGS + 1
WASTE_GOES_UP = FLAGS + 2
WASTE_GOES_DOWN = FLAGS + 3

REDEALS_LEFT = STOCK_SIZE  # in STOCK
STEPS_LEFT = STOCK_SIZE  # in WASTE
STEP_BITS = 12  # bit k: at least 2^k decisions are left

HIDDEN_WORDS = 1 + NUM_COLUMNS + LINE_WORDS
"""K: the own hand, which is empty, the face-down cards of each column, the stock in the order it will be drawn."""


def _segments() -> dict[str, Segment]:
    """Where each piece lies."""
    pieces: dict[str, Segment] = {}
    for column in range(NUM_COLUMNS):
        first, name = COLUMN_WORDS * column, f"column_{column}"
        pieces |= {
            f"{name}_exposed": Segment(first, 0, NUM_TYPES),
            f"{name}_run": Segment(first, SECOND, NUM_TYPES),
            f"{name}_face_down": Segment(first, FACE_DOWN, 2),
            f"{name}_height": Segment(first, HEIGHT, DEALT_ROWS),
            f"{name}_goes_up": Segment(first, GOES_UP, 1),
            f"{name}_clears": Segment(first, CLEARS, 1),
            f"{name}_takes_waste": Segment(first, TAKES_WASTE, 1),
            f"{name}_takes_cards": Segment(first, TAKES_CARDS, 1),
            f"{name}_on_face_down": Segment(first, ON_FACE_DOWN, 1),
            f"{name}_at_bottom": Segment(first, AT_BOTTOM, 1),
        }
        for place in range(DEALT_ROWS):
            pieces[f"{name}_place_{place}"] = Segment(first + 1 + place // 2, SECOND * (place % 2), NUM_TYPES)
    for series in range(SERIES):
        pieces[f"up_{series}"] = Segment(UP + series, 0, COPIES * NUM_RANKS)
        pieces[f"unseen_{series}"] = Segment(UNSEEN + series, 0, COPIES * NUM_RANKS)
    pieces |= {
        "accepted": Segment(NOW, 0, NUM_TYPES),
        "waste_card": Segment(NOW, SECOND, NUM_TYPES),
        "may_draw": Segment(NOW, MAY_DRAW, 1),
        "may_redeal": Segment(NOW, MAY_REDEAL, 1),
        "waste_goes_up": Segment(NOW, WASTE_GOES_UP, 1),
        "waste_goes_down": Segment(NOW, WASTE_GOES_DOWN, 1),
        "stock_size": Segment(STOCK, 0, STOCK_SIZE),
        "redeals_left": Segment(STOCK, REDEALS_LEFT, MAX_PASSES - 1),
        "waste_size": Segment(WASTE, 0, STOCK_SIZE),
        "steps_left": Segment(WASTE, STEPS_LEFT, STEP_BITS),
    }
    for place in range(STOCK_SIZE):
        pieces[f"waste_{place}"] = Segment(WASTE_CARDS + place // 2, SECOND * (place % 2), NUM_TYPES)
        pieces[f"stock_{place}"] = Segment(STOCK_CARDS + place // 2, SECOND * (place % 2), NUM_TYPES)
    for word in range(LEGAL_WORDS):
        pieces[f"legal_{word}"] = Segment(LEGAL + word, 0, BITS)
    return pieces


_LAYOUT = Layout(NUM_WORDS, _segments())


def layout(rules: BureauRules, seats_shown: int | None = None) -> Layout:
    """The layout of the observation, the same for all rules.

    Args:
        rules: the rules of the table.
        seats_shown: 1, which is what there is when left out.

    Raises:
        ValueError: another number of seats.
    """
    if seats_shown not in (None, rules.num_players):
        raise ValueError(f"seats_shown is {seats_shown}; Bureau is for one player")
    return _LAYOUT


# --- encoding ---


@njit
def encode(table: np.record, rules: np.record, row: NDArray[np.uint64]) -> None:
    """Write what the player may know into `row` [W] uint64, every word of it."""
    movable = _movable(table)
    wanted = _wanted(table)
    for column in range(NUM_COLUMNS):
        _encode_column(table, column, movable, wanted, row)
    _encode_counts(table, row)
    card = waste_card(table)
    row[NOW] = table.accepted | (_set_of(card) << np.uint64(SECOND))
    row[NOW] |= bit_if(holds(table.legal[0], DRAW), MAY_DRAW) | bit_if(holds(table.legal[0], REDEAL), MAY_REDEAL)
    row[NOW] |= bit_if(is_accepted(table, card), WASTE_GOES_UP)
    row[NOW] |= bit_if(card != NO_CARD and wanted & _set_of(card) != EMPTY, WASTE_GOES_DOWN)
    row[STOCK] = thermometer(stock_size(table), 0)
    row[STOCK] |= thermometer(rules.max_passes - 1 - table.redeals_used, REDEALS_LEFT)
    row[WASTE] = thermometer(table.waste_size, 0)
    row[WASTE] |= thermometer(_binary_digits(rules.max_steps - table.steps), STEPS_LEFT)
    _encode_line(table, row)
    for word in range(LEGAL_WORDS):
        row[LEGAL + word] = table.legal[word]


@njit
def _set_of(card: int) -> np.uint64:
    """The set of one card; empty for `NO_CARD`."""
    return EMPTY if card == NO_CARD else single(card)


@njit
def _binary_digits(number: int) -> int:
    """How many binary digits a number has; 0 for nothing."""
    return highest_card(np.uint64(number)) + 1 if number > 0 else 0


@njit
def _wanted(table: np.record) -> np.uint64:
    """The cards that some column takes."""
    wanted = EMPTY
    for column in range(NUM_COLUMNS):
        wanted |= next_down(exposed_card(table, column))
    return wanted


@njit
def _movable(table: np.record) -> np.uint64:
    """The cards of the runs of all columns."""
    cards = EMPTY
    for column in range(NUM_COLUMNS):
        cards |= table.runs[column]
    return cards


@njit
def _encode_column(
    table: np.record, column: int, movable: np.uint64, wanted: np.uint64, row: NDArray[np.uint64]
) -> None:
    """The three words of one column."""
    first = COLUMN_WORDS * column
    exposed = exposed_card(table, column)
    height = table.heights[column]
    word = _set_of(exposed) | (table.runs[column] << np.uint64(SECOND))
    word |= bit_if(is_face_down(table, column, 0), FACE_DOWN) | bit_if(is_face_down(table, column, 2), FACE_DOWN + 1)
    word |= thermometer(min(height, DEALT_ROWS), HEIGHT)
    if exposed != NO_CARD:
        run = table.runs[column]
        whole_run = single(highest_card(run))
        below = height - count_cards(run) - 1  # the place under the run
        word |= bit_if(is_accepted(table, exposed), GOES_UP)
        word |= bit_if(whole_run & wanted != EMPTY, CLEARS)
        word |= bit_if(holds(table.legal[0], WASTE_DOWN + column), TAKES_WASTE)
        word |= bit_if(next_down(exposed) & movable != EMPTY, TAKES_CARDS)
        word |= bit_if(below >= 0 and is_face_down(table, column, below), ON_FACE_DOWN)
        word |= bit_if(below < 0, AT_BOTTOM)
    row[first] = word
    for pair in range(DEALT_ROWS // 2):
        lower, upper = _visible(table, column, 2 * pair), _visible(table, column, 2 * pair + 1)
        row[first + 1 + pair] = lower | (upper << np.uint64(SECOND))


@njit
def _visible(table: np.record, column: int, place: int) -> np.uint64:
    """The set of the card that lies face up at a place of a column; empty when none does."""
    return EMPTY if is_face_down(table, column, place) else _set_of(table.columns[column, place])


@njit
def _encode_counts(table: np.record, row: NDArray[np.uint64]) -> None:
    """How many copies of each card are up, and how many have not been seen."""
    for word in range(UP, NOW):
        row[word] = EMPTY
    for slot in range(len(table.tops)):
        top = table.tops[slot]
        if top == NO_CARD:
            continue
        series = top // NUM_RANKS
        for rank in range(rank_of(top) + 1):
            _count_one_more(row, UP + series, COPIES * rank)
    for card in range(NUM_TYPES):
        row[UNSEEN + card // NUM_RANKS] |= thermometer(table.unseen[card], COPIES * rank_of(card))


@njit
def _count_one_more(row: NDArray[np.uint64], word: int, first: int) -> None:
    """Raise the thermometer of up to four bits that begins at `first`."""
    count = (row[word] >> np.uint64(first)) & np.uint64(15)
    row[word] |= (count + np.uint64(1)) << np.uint64(first)


@njit
def _encode_line(table: np.record, row: NDArray[np.uint64]) -> None:
    """The cards of the waste, the top one first, and of the stock, if they are known, the next one first."""
    is_known = table.redeals_used > 0
    waste, length = table.waste_size, table.line_length
    for pair in range(LINE_WORDS):
        row[WASTE_CARDS + pair] = EMPTY
        row[STOCK_CARDS + pair] = EMPTY
    for place in range(waste):
        row[WASTE_CARDS + place // 2] |= single(table.line[waste - 1 - place] + SECOND * (place & 1))
    if is_known:
        for place in range(length - waste):
            row[STOCK_CARDS + place // 2] |= single(table.line[waste + place] + SECOND * (place & 1))


@njit
def encode_hidden(table: np.record, row: NDArray[np.uint64]) -> None:
    """Write what the player does not know into `row` [K] uint64: for critics that are thrown away after training."""
    row[0] = EMPTY
    for column in range(NUM_COLUMNS):
        lower, upper = _hidden(table, column, 0), _hidden(table, column, 2)
        row[1 + column] = lower | (upper << np.uint64(SECOND))
    for pair in range(LINE_WORDS):
        row[1 + NUM_COLUMNS + pair] = EMPTY
    if table.redeals_used == 0:
        for place in range(stock_size(table)):
            card = table.line[table.waste_size + place]
            row[1 + NUM_COLUMNS + place // 2] |= single(card + SECOND * (place & 1))


@njit
def _hidden(table: np.record, column: int, place: int) -> np.uint64:
    """The set of the card that lies face down at a place of a column; empty when none does."""
    return _set_of(table.columns[column, place]) if is_face_down(table, column, place) else EMPTY
