"""What training needs of Euchre (`agents.trainings`).

Shapes: B hands, N seats, D decisions, k tables.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.config import Config
from agents.metrics import mean_or_nan
from agents.network import FLAT, NetworkSpec
from agents.rollout import Rollout
from agents.trainings import NoCredit
from bourre_env.euchre.observation import layout
from bourre_env.euchre.rules import HAND_SIZE, NUM_SEATS, EuchreRules
from bourre_env.euchre.table import NO_SEAT
from bourre_env.euchre.tables import EuchreTables


@dataclass(frozen=True, slots=True, kw_only=True)
class EuchreRollout(Rollout):
    """Finished hands of Euchre.

    Attributes:
        made: [B] bool, hands in which trumps were made.
        euchred: [B] bool, those of them that the makers lost.
        march: [B] bool, those of them in which the makers took every trick.
        alone: [B] bool, those of them in which somebody played alone.
    """

    made: NDArray[np.bool_]
    euchred: NDArray[np.bool_]
    march: NDArray[np.bool_]
    alone: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Hands:
    """Hands begin alike and leave nothing behind, so there is nothing to remember of their starts."""

    def begin(self, tables: EuchreTables, decks: NDArray[np.int8], seed: int, deal_ids: NDArray[np.int64]) -> "Hands":
        """Deal at a score of nothing all."""
        tables.deal(decks, deal_ids % NUM_SEATS)
        return self

    def results(self, tables: EuchreTables, deals: NDArray[np.int64], credit: object) -> NDArray[np.float32]:
        """[k, N] float32: points of the own side less those of the other."""
        return tables.returns.astype(np.float32)

    def columns(self, tables: EuchreTables, credit: object) -> dict[str, Any]:
        """The columns of `EuchreRollout`."""
        records = tables.records
        maker = records["maker"].astype(np.int64)
        made = maker != NO_SEAT
        won = tables.returns[np.arange(len(maker)), np.maximum(maker, 0)] > 0
        tricks = records["tricks_won"].reshape(-1, 2, 2).sum(axis=1)[np.arange(len(maker)), np.maximum(maker, 0) % 2]
        return {
            "made": made,
            "euchred": made & ~won,
            "march": made & (tricks == HAND_SIZE),
            "alone": made & (records["alone"] != 0),
        }


class EuchreTraining:
    """Euchre's part of training."""

    rollout: type[Rollout] = EuchreRollout

    def decisions_a_seat(self, rules: EuchreRules) -> int:
        """No seat has more than there are in a hand."""
        return rules.max_decisions

    def network_spec(self, rules: EuchreRules, *, seats_shown: int, privileged: bool, **sizes: Any) -> NetworkSpec:
        """Networks with an output for each action."""
        return NetworkSpec(
            num_words=layout(rules, seats_shown).num_words,
            hidden_words=NUM_SEATS - 1 if privileged else 0,
            own_hand=0,
            cards=(),
            hand_size=rules.hand_size,
            actions=rules.num_actions,
            **{**sizes, "head": FLAT},
        )

    def usual_starts(self) -> Hands:
        """Single hands."""
        return Hands()

    def starts(self, config: Config) -> Hands:
        """Single hands, whatever the settings."""
        return Hands()

    def credits(self, config: Config) -> NoCredit:
        """There are none."""
        return NoCredit()

    def describe(self, rollout: EuchreRollout, spec: NetworkSpec) -> dict[str, float]:
        """How often trumps were made in self-play, and how it went."""
        own = rollout.self_play
        made = own & rollout.made
        values = {
            "euchre/made_rate": mean_or_nan(rollout.made[own]),
            "euchre/euchred_rate": mean_or_nan(rollout.euchred[made]),
            "euchre/alone_rate": mean_or_nan(rollout.alone[made]),
            "euchre/march_rate": mean_or_nan(rollout.march[made]),
            "game/decisions_per_deal": len(rollout) / rollout.num_deals,
        }
        return {tag: value for tag, value in values.items() if not np.isnan(value)}

    def details(
        self, spec: NetworkSpec, rollout: EuchreRollout, rows: NDArray[np.int64], entropies: NDArray[np.float32] | None
    ) -> tuple[dict[str, NDArray[np.generic]], dict[str, float]]:
        """Nothing beyond what every game has."""
        return {}, {}


TRAINING = EuchreTraining()
