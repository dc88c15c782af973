"""A rule bot for Bureau: what a thoughtful player does.

Each legal action gets points for what it does (`agents.bureau.features`), and the one with the most is taken, the first
of equals. Cards go up, but high ones not before those that could be laid on them; face-down cards are turned up; cards
are laid aside where that frees one to go up; the card of the waste finds a place in a column; and only then is the next
one drawn. A run is not moved for nothing, least of all so that a column gets empty.

Shapes: D decisions, W words of a packed observation, L = 4 words of a legal set, F features of an action.
"""

# Elements of arrays have no static type, and returning one is what these functions do.
# mypy: disable-error-code="no-any-return"

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from agents.bureau import features as of
from agents.policy import Decision, PolicyError, one_hot
from bourre_env.bureau.rules import BureauRules
from bourre_env.cards import EMPTY, lowest_card
from bourre_env.family import GameRules
from bourre_env.jit import njit, njit_entry

POINTS = {
    "draw": 30.0,
    "redeal": 24.0,
    "column up": 100.0,
    "waste up": 120.0,
    "rank that goes up": -2.5,
    "card still wanted": -6.0,
    "turn up": 20.0,
    "free a card to go up": 18.0,
    "empty a column": -40.0,
    "move a run": 15.0,
    "move a part that frees a card to go up": 44.0,
    "waste to column": 53.0,
    "rank laid down": 2.5,
    "cover a card that goes up": -35.0,
    "card left in the column": 4.0,
    "free a king": -7.0,
}
"""What each thing is worth that an action may do. Found by changing them one or two at a time and playing."""

(
    DRAW, REDEAL, COLUMN_UP, WASTE_UP, RANK_UP, STILL_WANTED, TURN_UP, FREE, EMPTY_COLUMN, MOVE_RUN, MOVE_PART,
    WASTE_DOWN, RANK_DOWN, COVER, CARD_LEFT, FREE_KING,
) = range(len(POINTS))  # fmt: skip


RESIGNING = -100.0  # points, for those that add them to something


@dataclass(frozen=True, slots=True)
class BureauBot:
    """The rule bot.

    Attributes:
        name: what reports call it.
        points: as `POINTS`, in their order.
    """

    name: str
    points: NDArray[np.float64] = field(
        default_factory=lambda: np.array(list(POINTS.values())), repr=False, compare=False
    )

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
        choose_rows(decision.packed, decision.legal_packed, self.points, actions)
        return actions

    def probs(self, decision: Decision) -> NDArray[np.float64]:
        """[D, A] probabilities, all of them 0 or 1: the bot draws no lots."""
        return one_hot(self.act(decision, np.random.default_rng(0)), decision)


HEURISTIC = BureauBot("heuristic")


@njit_entry
def choose_rows(
    packed: NDArray[np.uint64],
    legal: NDArray[np.uint64],
    points: NDArray[np.float64],
    actions: NDArray[np.int64],
) -> None:
    """Fill `actions` [D] from observations [D, W] and legal sets [D, L]."""
    features = np.empty(of.NUM_FEATURES, np.float32)
    for row in range(len(packed)):
        most = -np.inf
        for word in range(legal.shape[1]):
            waiting = legal[row, word]
            while waiting != EMPTY:
                action = of.WORD * word + lowest_card(waiting)
                waiting &= waiting - np.uint64(1)
                of.describe(packed[row], action, features)
                found = worth(features, points)
                if found > most:
                    most = found
                    actions[row] = action


@njit_entry
def worth_rows(features: NDArray[np.float32], points: NDArray[np.float64], out: NDArray[np.float32]) -> None:
    """`worth` of the actions with the features [P, F] into `out` [P], to resign as little as `RESIGNING`."""
    for row in range(len(features)):
        out[row] = max(worth(features[row], points), RESIGNING)


@njit
def worth(features: NDArray[np.float32], points: NDArray[np.float64]) -> float:
    """The points of an action with these features [F]; to resign is worth nothing, and less than all else."""
    if features[of.RESIGNS] > 0:
        return -1e9
    if features[of.DRAWS] > 0 or features[of.REDEALS] > 0:
        return points[DRAW] if features[of.DRAWS] > 0 else points[REDEAL]
    if features[of.WASTE_GOES_UP] > 0:
        return points[WASTE_UP] + of_going_up(features[of.RANK], features[of.STILL_WANTED], points)
    if features[of.WASTE_GOES_DOWN] > 0:
        return points[WASTE_DOWN] + points[RANK_DOWN] * features[of.RANK] + points[COVER] * features[of.COVERS]
    if features[of.MOVES_PART] > 0:
        return points[MOVE_PART] if frees(features) else 0.0
    found = points[TURN_UP] * features[of.TURNS_UP] + points[EMPTY_COLUMN] * features[of.EMPTIES]
    found += points[CARD_LEFT] * features[of.CARDS_LEFT] + points[FREE_KING] * features[of.FREES_KING]
    if features[of.GOES_UP] > 0:
        return found + points[COLUMN_UP] + of_going_up(features[of.RANK], features[of.STILL_WANTED], points)
    found += points[MOVE_RUN] + (points[FREE] if frees(features) else 0.0)
    return found + points[COVER] * features[of.COVERS]


@njit
def frees(features: NDArray[np.float32]) -> bool:
    """Whether a move lays a card open that should go up next; not one that would leave its column empty."""
    return features[of.FREES_UP] > 0 and features[of.CARDS_LEFT] != 1


@njit
def of_going_up(rank: float, still_wanted: float, points: NDArray[np.float64]) -> float:
    """What it costs that a card is no longer there to lay others on."""
    return points[RANK_UP] * rank + points[STILL_WANTED] * still_wanted
