"""What is counted in deals of Bureau played to measure.

Shapes: T tables, D blocks, P = 2 places.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.blocks import Blocks
from bourre_env.bureau.table import FORFEITED
from bourre_env.bureau.tables import BureauTables


@dataclass(frozen=True, slots=True)
class BureauBlocks(Blocks):
    """D blocks: one pack, played by each of two places.

    Attributes:
        won: [D, 1, P] int32, deals won.
        cards: [D, 1, P] int32, cards up at their ends.
        stopped: [D, 1, P] int32, deals stopped by the limit of decisions.
        forfeited: [D, 1, P] int32, deals forfeited (B6.2).
    """

    won: NDArray[np.int32]
    cards: NDArray[np.int32]
    stopped: NDArray[np.int32]
    forfeited: NDArray[np.int32]


def counted(tables: BureauTables) -> dict[str, NDArray[Any]]:
    """[T, 1] each: the counts of settled deals, by name."""
    flags = {
        "won": tables.won,
        "cards": tables.cards_up,
        "stopped": tables.stopped,
        "forfeited": tables.records["ending"] == FORFEITED,
    }
    return {name: values[:, None] for name, values in flags.items()}
