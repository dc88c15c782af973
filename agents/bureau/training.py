"""What training needs of Bureau (`agents.trainings`).

Shapes: B deals, D decisions, k tables.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.config import Config
from agents.network import FLAT, OWN, PLAIN, NetworkSpec
from agents.rollout import Rollout
from agents.trainings import NoCredit
from bourre_env.bureau.cards import NUM_CARDS
from bourre_env.bureau.observation import HIDDEN_WORDS, layout
from bourre_env.bureau.rules import BureauRules
from bourre_env.bureau.tables import BureauTables

WIN = 1.0
"""What a win is learned to be worth beyond its cards, which are 1 together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BureauRollout(Rollout):
    """Finished deals of Bureau.

    Attributes:
        won: [B] bool, every card is up.
        cards_up: [B] int8, cards on the foundations.
        stopped: [B] bool, stopped by the limit of decisions.
    """

    won: NDArray[np.bool_]
    cards_up: NDArray[np.int8]
    stopped: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Deals:
    """Deals begin alike and leave nothing behind, so there is nothing to remember of their starts."""

    def begin(self, tables: BureauTables, decks: NDArray[np.int8], seed: int, deal_ids: NDArray[np.int64]) -> "Deals":
        """Deal."""
        tables.deal(decks)
        return self

    def results(self, tables: BureauTables, deals: NDArray[np.int64], credit: object) -> NDArray[np.float32]:
        """[k, 1] float32: the share of cards that are up, and `WIN` more for a win."""
        return (tables.returns / NUM_CARDS + WIN * tables.won[:, None]).astype(np.float32)

    def columns(self, tables: BureauTables, credit: object) -> dict[str, Any]:
        """The columns of `BureauRollout`."""
        return {"won": tables.won, "cards_up": tables.cards_up, "stopped": tables.stopped}


class BureauTraining:
    """Bureau's part of training."""

    rollout: type[Rollout] = BureauRollout

    def decisions_a_seat(self, rules: BureauRules) -> int:
        """A deal has one seat."""
        return rules.max_decisions

    def network_spec(self, rules: BureauRules, *, seats_shown: int, privileged: bool, **sizes: Any) -> NetworkSpec:
        """Networks that look at every column alike, or plain ones."""
        return NetworkSpec(
            num_words=layout(rules, seats_shown).num_words,
            hidden_words=HIDDEN_WORDS - 1 if privileged else 0,
            own_hand=0,
            cards=(),
            hand_size=rules.hand_size,
            actions=rules.num_actions,
            **{**sizes, "head": FLAT if sizes["head"] == PLAIN else OWN + rules.game},
        )

    def usual_starts(self) -> Deals:
        """Single deals."""
        return Deals()

    def starts(self, config: Config) -> Deals:
        """Single deals, whatever the settings."""
        return Deals()

    def credits(self, config: Config) -> NoCredit:
        """There are none."""
        return NoCredit()

    def describe(self, rollout: BureauRollout, spec: NetworkSpec) -> dict[str, float]:
        """How the deals went."""
        return {
            "bureau/won_rate": float(rollout.won.mean()),
            "bureau/cards_up": float(rollout.cards_up.mean()),
            "bureau/stopped_rate": float(rollout.stopped.mean()),
            "game/decisions_per_deal": len(rollout) / rollout.num_deals,
        }

    def details(
        self, spec: NetworkSpec, rollout: BureauRollout, rows: NDArray[np.int64], entropies: NDArray[np.float32] | None
    ) -> tuple[dict[str, NDArray[np.generic]], dict[str, float]]:
        """Nothing beyond what every game has."""
        return {}, {}


TRAINING = BureauTraining()
