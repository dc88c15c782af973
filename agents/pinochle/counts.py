"""What is counted in hands of Pinochle played to measure.

Shapes: T tables, D blocks, R rotations and P places (two of each), N = 4 seats.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.blocks import Blocks
from bourre_env.pinochle.rules import HAND_SIZE, NUM_SEATS
from bourre_env.pinochle.tables import PinochleTables


@dataclass(frozen=True, slots=True)
class PinochleBlocks(Blocks):
    """D blocks of one line-up.

    Attributes:
        declared: [D, R, P] int32, hands in which a seat of the place was the declarer.
        made: [D, R, P] int32, those of them that were played out and whose bid was made.
        set_back: [D, R, P] int32, those of them that were played out and whose bid was not.
        bid: [D, R, P] int32, points of these bids, on the modern scale.
        forfeited: [D, R, P] int32, hands forfeited (P7.3).
    """

    declared: NDArray[np.int32]
    made: NDArray[np.int32]
    set_back: NDArray[np.int32]
    bid: NDArray[np.int32]
    forfeited: NDArray[np.int32]


def counted(tables: PinochleTables) -> dict[str, NDArray[Any]]:
    """[T, N] each: the counts of settled hands, by name."""
    records, seats = tables.records, np.arange(NUM_SEATS)
    declared = records["high_bidder"][:, None] == seats
    played = declared & (records["tricks_done"] == HAND_SIZE)[:, None]
    gained = tables.points[:, seats % 2] > 0  # a bid that was not made is lost, whatever it was
    return {
        "declared": declared,
        "made": played & gained,
        "set_back": played & ~gained,
        "bid": declared * (bids_of(tables) // tables.rules.unit)[:, None],
        "forfeited": records["forfeited"][:, None] == seats,
    }


def bids_of(tables: PinochleTables) -> NDArray[np.int64]:
    """[T] int64: points of the high bids; where nobody has bid they mean nothing."""
    rules = tables.rules
    points: NDArray[np.int64] = rules.min_bid + tables.records["high_bid"].astype(np.int64) * rules.bid_step
    return points
