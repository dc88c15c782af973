"""A rule bot for Bureau: what a thoughtful player does, as small compiled functions over packed observations.

Each legal action gets points for what it does, and the one with the most is taken, the first of equals. Cards go up,
face-down cards are turned up, cards are laid aside where that frees one that goes up, cards of the waste find a place in
a column, and only then is the next card drawn. A run is not moved for nothing, and never so that a column gets empty.

Shapes: D decisions, W words of a packed observation, L = 4 words of a legal set, F features of an action.
"""

# Elements of arrays have no static type, and returning one is what these functions do.
# mypy: disable-error-code="no-any-return"

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from agents.policy import Decision, PolicyError, one_hot
from bourre_env.bureau import observation as at
from bourre_env.bureau.actions import COLUMN_UP, DRAW, MOVE, REDEAL, RESIGN, WASTE_DOWN, WASTE_UP
from bourre_env.bureau.cards import COPIES, KING, NUM_RANKS, NUM_TYPES
from bourre_env.bureau.rules import NUM_COLUMNS, BureauRules
from bourre_env.cards import EMPTY, count_cards, highest_card, lowest_card, single
from bourre_env.family import GameRules
from bourre_env.jit import njit, njit_entry

CARDS = np.uint64((1 << NUM_TYPES) - 1)

# What an action may do, one feature each
(
    GOES_UP,  # a card of a column goes up
    WASTE_GOES_UP,
    RANK_UP,  # of a card that goes up, ace 0
    STILL_WANTED,  # copies of the next lower card that are not up yet and could be laid on a card that goes up
    TURNS_UP,  # a face-down card is turned up
    FREES_UP,  # the card then exposed goes up
    FREES_RUN,  # the run then exposed can be moved as a whole
    EMPTIES,  # a column gets empty
    MOVES_ALL,  # a whole run moves to another column
    MOVES_PART,
    WASTE_FINDS_PLACE,
    WASTE_RANK,  # of the card of the waste that is laid on a column
    COVERS,  # a card that could go up is covered
    DRAWS,
    REDEALS,
    RESIGNS,
    CARDS_LEFT,  # cards that remain in the column that cards leave
    KING_BELOW,  # the card then exposed is a king
) = range(18)
NUM_FEATURES = KING_BELOW + 1

WEIGHTS = np.zeros(NUM_FEATURES)


@dataclass(frozen=True, slots=True)
class BureauBot:
    """The rule bot.

    Attributes:
        name: what reports call it.
        weights: [F] points, as `WEIGHTS`.
    """

    name: str
    weights: NDArray[np.float64] = field(default_factory=lambda: WEIGHTS, repr=False, compare=False)

    def check_rules(self, rules: GameRules) -> None:
        """Refuse other games.

        Raises:
            PolicyError: names both.
        """
        if not isinstance(rules, BureauRules):
            raise PolicyError(f"{self.name} plays {BureauRules.game} only, not {rules.game}")

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.int64]:
        """[D] actions."""
        self.check_rules(decision.rules)
        actions = np.empty(len(decision), np.int64)
        choose_rows(decision.packed, decision.legal_packed, self.weights, actions)
        return actions

    def probs(self, decision: Decision) -> NDArray[np.float64]:
        """[D, A] probabilities, all of them 0 or 1: the bot draws no lots."""
        return one_hot(self.act(decision, np.random.default_rng(0)), decision)


HEURISTIC = BureauBot("heuristic")


@njit_entry
def choose_rows(
    packed: NDArray[np.uint64],
    legal: NDArray[np.uint64],
    weights: NDArray[np.float64],
    actions: NDArray[np.int64],
) -> None:
    """Fill `actions` [D] from observations [D, W] and legal sets [D, L]."""
    features = np.empty(NUM_FEATURES)
    for row in range(len(packed)):
        most = -np.inf
        for word in range(legal.shape[1]):
            waiting = legal[row, word]
            while waiting != EMPTY:
                action = 64 * word + lowest_card(waiting)
                waiting &= waiting - np.uint64(1)
                describe(packed[row], action, features)
                points = (features * weights).sum()
                if points > most:
                    most = points
                    actions[row] = action


@njit
def describe(row: NDArray[np.uint64], action: int, features: NDArray[np.float64]) -> None:
    """What a legal action does, into `features` [F]."""
    features[:] = 0.0
    if action == DRAW:
        features[DRAWS] = 1.0
    elif action == REDEAL:
        features[REDEALS] = 1.0
    elif action == RESIGN:
        features[RESIGNS] = 1.0
    elif action == WASTE_UP:
        features[WASTE_GOES_UP] = 1.0
        describe_card(row, waste_card(row), features)
    elif action < COLUMN_UP:
        features[WASTE_FINDS_PLACE] = 1.0
        features[WASTE_RANK] = lowest_card(waste_card(row)) % NUM_RANKS
        features[COVERS] = goes_up(row, exposed(row, action - WASTE_DOWN))
    elif action < MOVE:
        column = action - COLUMN_UP
        card = exposed(row, column)
        features[GOES_UP] = 1.0
        describe_card(row, card, features)
        if run(row, column) == card:
            describe_leaving(row, column, card << np.uint64(1), features)
    else:
        describe_move(row, (action - MOVE) // NUM_COLUMNS, (action - MOVE) % NUM_COLUMNS, features)


@njit
def describe_card(row: NDArray[np.uint64], card: np.uint64, features: NDArray[np.float64]) -> None:
    """What it is to put a card up."""
    series, rank = lowest_card(card) // NUM_RANKS, lowest_card(card) % NUM_RANKS
    features[RANK_UP] = rank
    if rank > 0:
        lower_up = count_cards((row[at.UP + series] >> np.uint64(COPIES * (rank - 1))) & np.uint64(15))
        features[STILL_WANTED] = COPIES - lower_up


@njit
def describe_move(row: NDArray[np.uint64], source: int, target: int, features: NDArray[np.float64]) -> None:
    """What a move between columns does."""
    base = exposed(row, target)
    moved = base >> np.uint64(1)
    features[COVERS] = goes_up(row, base)
    if moved == single(highest_card(run(row, source))):
        features[MOVES_ALL] = 1.0
        describe_leaving(row, source, EMPTY, features)
    else:
        features[MOVES_PART] = 1.0
        features[FREES_UP] = goes_up(row, base)  # the card that is left alone is like the one that is covered
        features[COVERS] = 0.0


@njit
def describe_leaving(
    row: NDArray[np.uint64], column: int, accepted_too: np.uint64, features: NDArray[np.float64]
) -> None:
    """What happens to a column whose whole run leaves it; `accepted_too` goes up after that."""
    flags = row[at.COLUMN_WORDS * column]
    features[TURNS_UP] = (flags >> np.uint64(at.ON_FACE_DOWN)) & np.uint64(1)
    features[EMPTIES] = (flags >> np.uint64(at.AT_BOTTOM)) & np.uint64(1)
    place = place_under_run(row, column)
    features[CARDS_LEFT] = place + 1
    if place < 0 or features[TURNS_UP] == 1.0:
        return
    below = card_at(row, column, place)
    features[FREES_UP] = 1.0 if (accepted(row) | accepted_too) & below != EMPTY else 0.0
    features[KING_BELOW] = 1.0 if is_king(below) else 0.0
    head = below
    while place > 0 and card_at(row, column, place - 1) == head << np.uint64(1):
        head <<= np.uint64(1)
        place -= 1
    for other in range(NUM_COLUMNS):
        if other != column and exposed(row, other) == head << np.uint64(1) and not is_king(head):
            features[FREES_RUN] = 1.0


@njit
def place_under_run(row: NDArray[np.uint64], column: int) -> int:
    """The place of the card that a column's run lies on; -1 where it is at the bottom."""
    height = count_cards((row[at.COLUMN_WORDS * column] >> np.uint64(at.HEIGHT)) & np.uint64(15))
    cards = count_cards(run(row, column))
    if height == 4:
        above = highest_card(card_at(row, column, 3)) - highest_card(exposed(row, column))
        height += above
    return height - cards - 1


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
def is_king(card: np.uint64) -> bool:
    """Whether a card is a king."""
    return highest_card(card) % NUM_RANKS == KING


@njit
def goes_up(row: NDArray[np.uint64], card: np.uint64) -> float:
    """1 when a foundation takes a card."""
    return 1.0 if accepted(row) & card != EMPTY else 0.0
