"""What training needs of Pinochle (`agents.trainings`).

Shapes: B hands, N seats, D decisions, k tables.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.config import Config
from agents.metrics import mean_or_nan
from agents.network import FLAT, NetworkSpec
from agents.pinochle.counts import bids_of
from agents.rollout import Rollout
from agents.trainings import NoCredit
from bourre_env.pinochle.actions import BID
from bourre_env.pinochle.observation import layout
from bourre_env.pinochle.rules import HAND_SIZE, NUM_LEVELS, NUM_SEATS, PinochleRules
from bourre_env.pinochle.table import NO_SEAT
from bourre_env.pinochle.tables import PinochleTables


@dataclass(frozen=True, slots=True, kw_only=True)
class PinochleRollout(Rollout):
    """Finished hands of Pinochle.

    Attributes:
        played: [B] bool, hands that had a declarer and were played out.
        made: [B] bool, those of them whose bid was made.
        lowest: [B] bool, those of them declared at the lowest bid.
        bid: [B] float32, points of the bid, on the modern scale as all that follows.
        meld: [B] float32, of the declaring side.
        tricks: [B] float32, points of the declaring side in tricks.
    """

    played: NDArray[np.bool_]
    made: NDArray[np.bool_]
    lowest: NDArray[np.bool_]
    bid: NDArray[np.float32]
    meld: NDArray[np.float32]
    tricks: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Hands:
    """Hands begin alike and leave nothing behind, so there is nothing to remember of their starts."""

    def begin(self, tables: PinochleTables, decks: NDArray[np.int8], seed: int, deal_ids: NDArray[np.int64]) -> "Hands":
        """Deal at a score of nothing all."""
        tables.deal(decks, deal_ids % NUM_SEATS)
        return self

    def results(self, tables: PinochleTables, deals: NDArray[np.int64], credit: object) -> NDArray[np.float32]:
        """[k, N] float32: the own side's points less the other's, in parts of what all tricks of a hand are worth.

        A hand moves tens of points; so scaled, results are of the size that the usual settings are made for.
        """
        return (tables.returns / tables.rules.hand_points).astype(np.float32)

    def columns(self, tables: PinochleTables, credit: object) -> dict[str, Any]:
        """The columns of `PinochleRollout`."""
        records, unit = tables.records, np.float32(tables.rules.unit)
        declarer = records["high_bidder"].astype(np.int64)
        side = np.maximum(declarer, 0) % 2
        played = (declarer != NO_SEAT) & (records["tricks_done"] == HAND_SIZE)
        rows = np.arange(len(declarer))
        return {
            "played": played,
            "made": played & (tables.points[rows, side] > 0),
            "lowest": played & (records["high_bid"] == 0),
            "bid": bids_of(tables) / unit,
            "meld": records["meld_points"].reshape(-1, 2, 2).sum(axis=1)[rows, side] / unit,
            "tricks": records["trick_points"][rows, side] / unit,
        }


class PinochleTraining:
    """Pinochle's part of training."""

    rollout: type[Rollout] = PinochleRollout

    def decisions_a_seat(self, rules: PinochleRules) -> int:
        """No seat has more than there are in a hand."""
        return rules.max_decisions

    def network_spec(self, rules: PinochleRules, *, seats_shown: int, privileged: bool, **sizes: Any) -> NetworkSpec:
        """Networks with an output for each action; bids start out half as likely with every level.

        Were all alike, random bids of sixty points would teach the first networks never to bid at all.
        """
        return NetworkSpec(
            num_words=layout(rules, seats_shown).num_words,
            hidden_words=NUM_SEATS - 1 if privileged else 0,
            own_hand=0,
            cards=(),
            hand_size=rules.hand_size,
            actions=rules.num_actions,
            shy=tuple(range(BID, BID + NUM_LEVELS)),
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

    def describe(self, rollout: PinochleRollout, spec: NetworkSpec) -> dict[str, float]:
        """What was bid in self-play, and how it went."""
        played = rollout.self_play & rollout.played
        values = {
            "pinochle/bid": mean_or_nan(rollout.bid[played]),
            "pinochle/lowest_rate": mean_or_nan(rollout.lowest[played]),
            "pinochle/made_rate": mean_or_nan(rollout.made[played]),
            "pinochle/meld": mean_or_nan(rollout.meld[played]),
            "pinochle/tricks": mean_or_nan(rollout.tricks[played]),
            "game/decisions_per_deal": len(rollout) / rollout.num_deals,
        }
        return {tag: value for tag, value in values.items() if not np.isnan(value)}

    def details(
        self,
        spec: NetworkSpec,
        rollout: PinochleRollout,
        rows: NDArray[np.int64],
        entropies: NDArray[np.float32] | None,
    ) -> tuple[dict[str, NDArray[np.generic]], dict[str, float]]:
        """Nothing beyond what every game has."""
        return {}, {}


TRAINING = PinochleTraining()
