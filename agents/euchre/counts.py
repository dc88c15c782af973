"""What is counted in hands of Euchre played to measure.

Shapes: T tables, D blocks, S = 2 sides, N = 4 seats.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.blocks import Blocks
from bourre_env.euchre.rules import HAND_SIZE, NUM_SEATS
from bourre_env.euchre.tables import EuchreTables


@dataclass(frozen=True, slots=True)
class EuchreBlocks(Blocks):
    """D blocks of one line-up.

    Attributes:
        made: [D, S, S] int32, hands in which a seat of the place made trumps.
        euchred: [D, S, S] int32, those of them that were played out and lost.
        alone: [D, S, S] int32, seats that played alone.
        forfeited: [D, S, S] int32, hands forfeited (E6.2).
    """

    made: NDArray[np.int32]
    euchred: NDArray[np.int32]
    alone: NDArray[np.int32]
    forfeited: NDArray[np.int32]


def counted(tables: EuchreTables) -> dict[str, NDArray[Any]]:
    """[T, N] each: the counts of settled hands, by name."""
    records, seats = tables.records, np.arange(NUM_SEATS)
    made = records["maker"][:, None] == seats
    was_played = (records["tricks_done"] == HAND_SIZE)[:, None]
    return {
        "made": made,
        "euchred": made & was_played & (tables.returns < 0),
        "alone": records["alone"][:, None] >> seats & 1,
        "forfeited": records["forfeited"][:, None] == seats,
    }
