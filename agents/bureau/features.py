"""What an action of Bureau does, in numbers: small compiled functions over packed observations.

The rule bot weighs them and the network learns from them. Shapes: D decisions, W words of a packed observation, L = 4
words of a legal set, P legal actions of all decisions, F features of an action.
"""

# Elements of arrays have no static type, and returning one is what these functions do.
# mypy: disable-error-code="no-any-return"

import numpy as np
from numpy.typing import NDArray

from bourre_env.bureau import observation as at
from bourre_env.bureau.actions import COLUMN_UP, DRAW, MOVE, REDEAL, RESIGN, WASTE_DOWN, WASTE_UP
from bourre_env.bureau.cards import COPIES, KING, NUM_RANKS, NUM_TYPES
from bourre_env.bureau.rules import NUM_COLUMNS
from bourre_env.bureau.table import LEGAL_WORDS
from bourre_env.cards import EMPTY, count_cards, highest_card, lowest_card, single
from bourre_env.jit import njit, njit_entry

CARDS = np.uint64((1 << NUM_TYPES) - 1)
WORD = 64

NAMES = (
    "draws",
    "redeals",
    "resigns",
    "goes_up",  # a card of a column goes up
    "waste_goes_up",
    "waste_goes_down",  # the card of the waste is laid on a column
    "moves_run",  # a whole run moves to another column
    "moves_part",
    "rank",  # of the card that goes up or is laid on another, ace 0
    "still_wanted",  # copies of the next lower card that are not up and could be laid on a card that goes up
    "cards",  # that move together
    "turns_up",  # a face-down card is turned up
    "empties",  # a column gets empty
    "frees_up",  # the card then exposed goes up
    "frees_run",  # the run then exposed can be moved as a whole
    "frees_king",  # the card then exposed is a king
    "cards_left",  # in the column that cards leave, below what moves
    "face_down_left",  # of them face down
    "covers",  # the card that is covered could go up
    "base_wanted",  # copies of the card that moves, besides it, that are not up and could be laid there
    "base_exposed",  # other exposed cards like the one that is covered
    "target_cards",  # in the column that cards are laid on
    "target_face_down",
    "next_is_known",  # the next card of the waste, or of the stock, that becomes available
    "next_goes_up",
    "next_goes_down",
)
NUM_FEATURES = len(NAMES)
(
    DRAWS, REDEALS, RESIGNS, GOES_UP, WASTE_GOES_UP, WASTE_GOES_DOWN, MOVES_RUN, MOVES_PART, RANK, STILL_WANTED,
    CARDS_MOVED, TURNS_UP, EMPTIES, FREES_UP, FREES_RUN, FREES_KING, CARDS_LEFT, FACE_DOWN_LEFT, COVERS, BASE_WANTED,
    BASE_EXPOSED, TARGET_CARDS, TARGET_FACE_DOWN, NEXT_IS_KNOWN, NEXT_GOES_UP, NEXT_GOES_DOWN,
) = range(NUM_FEATURES)  # fmt: skip

LARGEST = np.ones(NUM_FEATURES, np.float32)
"""[F] float32: how large each feature gets, or nearly."""
LARGEST[[RANK, CARDS_MOVED, CARDS_LEFT, TARGET_CARDS]] = NUM_RANKS
LARGEST[[STILL_WANTED, BASE_WANTED, BASE_EXPOSED]] = COPIES
LARGEST[[FACE_DOWN_LEFT, TARGET_FACE_DOWN]] = 2

NOWHERE = NUM_COLUMNS


@njit_entry
def describe_legal(
    packed: NDArray[np.uint64],
    rows: NDArray[np.int64],
    actions: NDArray[np.int64],
    features: NDArray[np.float32],
) -> int:
    """Describe the legal actions of observations [D, W], one after the other; returns P.

    Args:
        packed: [D, W].
        rows: [P or more] the decision of each action, to fill.
        actions: [P or more] to fill.
        features: [P or more, F] to fill.
    """
    number = 0
    for row in range(len(packed)):
        for word in range(LEGAL_WORDS):
            waiting = packed[row, at.LEGAL + word]
            while waiting != EMPTY:
                rows[number] = row
                actions[number] = WORD * word + lowest_card(waiting)
                describe(packed[row], actions[number], features[number])
                number += 1
                waiting &= waiting - np.uint64(1)
    return number


@njit_entry
def count_legal(packed: NDArray[np.uint64]) -> int:
    """P: how many actions are legal in observations [D, W]."""
    number = 0
    for row in range(len(packed)):
        for word in range(LEGAL_WORDS):
            number += count_cards(packed[row, at.LEGAL + word])
    return number


@njit
def describe(row: NDArray[np.uint64], action: int, features: NDArray[np.float32]) -> None:
    """What a legal action does, into `features` [F]."""
    features[:] = 0.0
    if action == DRAW:
        features[DRAWS] = 1.0
        describe_next(row, stock_card(row), features)
    elif action == REDEAL:
        features[REDEALS] = 1.0
    elif action == RESIGN:
        features[RESIGNS] = 1.0
    elif action == WASTE_UP:
        features[WASTE_GOES_UP] = 1.0
        describe_card_up(row, waste_card(row), features)
        describe_next(row, next_waste_card(row), features)
    elif action < COLUMN_UP:
        features[WASTE_GOES_DOWN] = 1.0
        describe_base(row, action - WASTE_DOWN, features)
        describe_next(row, next_waste_card(row), features)
    elif action < MOVE:
        describe_column_up(row, action - COLUMN_UP, features)
    else:
        describe_move(row, (action - MOVE) // NUM_COLUMNS, (action - MOVE) % NUM_COLUMNS, features)


@njit
def describe_column_up(row: NDArray[np.uint64], column: int, features: NDArray[np.float32]) -> None:
    """What it does to put a column's exposed card up."""
    card = exposed(row, column)
    features[GOES_UP] = 1.0
    features[CARDS_MOVED] = 1.0
    describe_card_up(row, card, features)
    if run(row, column) == card:
        describe_leaving(row, column, card << np.uint64(1), features)
    else:
        features[FREES_UP] = 1.0  # the run goes on with the next card of the foundation


@njit
def describe_move(row: NDArray[np.uint64], source: int, target: int, features: NDArray[np.float32]) -> None:
    """What a move between columns does."""
    base = exposed(row, target)
    moved = base >> np.uint64(1)
    describe_base(row, target, features)
    features[CARDS_MOVED] = lowest_card(moved) - lowest_card(exposed(row, source)) + 1
    if moved == single(highest_card(run(row, source))):
        features[MOVES_RUN] = 1.0
        describe_leaving(row, source, EMPTY, features)
    else:
        features[MOVES_PART] = 1.0
        features[CARDS_LEFT] = height(row, source) - features[CARDS_MOVED]
        features[FREES_UP] = features[COVERS]  # the card that is then exposed is like the one that is covered
        features[COVERS] = 0.0


@njit
def describe_card_up(row: NDArray[np.uint64], card: np.uint64, features: NDArray[np.float32]) -> None:
    """What it is to put a card up."""
    features[RANK] = lowest_card(card) % NUM_RANKS
    features[STILL_WANTED] = not_up(row, card >> np.uint64(1)) if features[RANK] > 0 else 0


@njit
def describe_base(row: NDArray[np.uint64], target: int, features: NDArray[np.float32]) -> None:
    """What it is to lay a card on the exposed card of a column."""
    base = exposed(row, target)
    features[RANK] = lowest_card(base) % NUM_RANKS - 1
    features[BASE_WANTED] = not_up(row, base >> np.uint64(1)) - 1
    features[COVERS] = goes_up(row, base)
    for column in range(NUM_COLUMNS):
        if column != target and exposed(row, column) == base:
            features[BASE_EXPOSED] += 1.0
    features[TARGET_CARDS] = height(row, target)
    features[TARGET_FACE_DOWN] = num_face_down(row, target)


@njit
def describe_next(row: NDArray[np.uint64], card: np.uint64, features: NDArray[np.float32]) -> None:
    """What can be done with the card that becomes available, as far as it is known."""
    if card == EMPTY:
        return
    features[NEXT_IS_KNOWN] = 1.0
    features[NEXT_GOES_UP] = goes_up(row, card)
    for column in range(NUM_COLUMNS):
        if exposed(row, column) == card << np.uint64(1) and not is_king(card):
            features[NEXT_GOES_DOWN] = 1.0


@njit
def describe_leaving(
    row: NDArray[np.uint64], column: int, accepted_too: np.uint64, features: NDArray[np.float32]
) -> None:
    """What happens to a column whose whole run leaves it; `accepted_too` goes up after that."""
    flags = row[at.COLUMN_WORDS * column]
    features[TURNS_UP] = np.float32((flags >> np.uint64(at.ON_FACE_DOWN)) & np.uint64(1))
    features[EMPTIES] = np.float32((flags >> np.uint64(at.AT_BOTTOM)) & np.uint64(1))
    place = height(row, column) - count_cards(run(row, column)) - 1
    features[CARDS_LEFT] = place + 1
    features[FACE_DOWN_LEFT] = num_face_down(row, column) - features[TURNS_UP]
    if place < 0 or features[TURNS_UP] == 1.0:
        return
    below = card_at(row, column, place)
    features[FREES_UP] = 1.0 if (accepted(row) | accepted_too) & below != EMPTY else 0.0
    features[FREES_KING] = 1.0 if is_king(below) else 0.0
    features[FREES_RUN] = can_move_run(row, column, place)


@njit
def can_move_run(row: NDArray[np.uint64], column: int, place: int) -> float:
    """1 when the run whose exposed card would be at a place can be moved as a whole."""
    head = card_at(row, column, place)
    while place > 0 and card_at(row, column, place - 1) == head << np.uint64(1) and not is_king(head):
        head <<= np.uint64(1)
        place -= 1
    found = 0.0
    for other in range(NUM_COLUMNS):
        if other != column and exposed(row, other) == head << np.uint64(1) and not is_king(head):
            found = 1.0
    return found


# --- what the observation says ---


@njit
def height(row: NDArray[np.uint64], column: int) -> int:
    """Cards in a column: those above its fourth place follow on the fourth."""
    cards = count_cards((row[at.COLUMN_WORDS * column] >> np.uint64(at.HEIGHT)) & np.uint64(15))
    if cards == 4:
        cards += highest_card(card_at(row, column, 3)) - highest_card(exposed(row, column))
    return cards


@njit
def num_face_down(row: NDArray[np.uint64], column: int) -> int:
    """Cards of a column that lie face down."""
    return count_cards((row[at.COLUMN_WORDS * column] >> np.uint64(at.FACE_DOWN)) & np.uint64(3))


@njit
def exposed(row: NDArray[np.uint64], column: int) -> np.uint64:
    """The set of a column's exposed card."""
    return row[at.COLUMN_WORDS * column] & CARDS


@njit
def run(row: NDArray[np.uint64], column: int) -> np.uint64:
    """The set of the cards of a column that may move together."""
    return (row[at.COLUMN_WORDS * column] >> np.uint64(at.SECOND)) & CARDS


@njit
def card_at(row: NDArray[np.uint64], column: int, place: int) -> np.uint64:
    """The set of the card that lies face up at one of the four lowest places of a column."""
    return (row[at.COLUMN_WORDS * column + 1 + place // 2] >> np.uint64(at.SECOND * (place % 2))) & CARDS


@njit
def accepted(row: NDArray[np.uint64]) -> np.uint64:
    """The cards that foundations take."""
    return row[at.NOW] & CARDS


@njit
def waste_card(row: NDArray[np.uint64]) -> np.uint64:
    """The set of the card of the waste that may be moved."""
    return (row[at.NOW] >> np.uint64(at.SECOND)) & CARDS


@njit
def next_waste_card(row: NDArray[np.uint64]) -> np.uint64:
    """The set of the card under it."""
    return (row[at.WASTE_CARDS] >> np.uint64(at.SECOND)) & CARDS


@njit
def stock_card(row: NDArray[np.uint64]) -> np.uint64:
    """The set of the next card of the stock, if it is known."""
    return row[at.STOCK_CARDS] & CARDS


@njit
def not_up(row: NDArray[np.uint64], card: np.uint64) -> int:
    """Copies of a card that are not up."""
    place = lowest_card(card)
    bits = row[at.UP + place // NUM_RANKS] >> np.uint64(COPIES * (place % NUM_RANKS))
    return COPIES - count_cards(bits & np.uint64((1 << COPIES) - 1))


@njit
def is_king(card: np.uint64) -> bool:
    """Whether a card is a king."""
    return highest_card(card) % NUM_RANKS == KING


@njit
def goes_up(row: NDArray[np.uint64], card: np.uint64) -> float:
    """1 when a foundation takes a card."""
    return 1.0 if accepted(row) & card != EMPTY else 0.0
