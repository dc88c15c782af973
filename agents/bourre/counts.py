"""What is counted in deals of Bourré played to measure.

Shapes: T tables, D blocks, N seats.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.blocks import Blocks
from bourre_env.bourre.rules import Rules
from bourre_env.bourre.tables import Tables
from bourre_env.cards import TRUMPS


@dataclass(frozen=True, slots=True)
class BourreBlocks(Blocks):
    """D blocks of one line-up.

    Attributes:
        passed: [D, N, N] int32, deals the place gave up.
        bourre: [D, N, N] int32, deals it played without taking a trick.
        took_pot: [D, N, N] int32, deals in which it took the pot, alone or as one of several who divided it.
        forfeited: [D, N, N] int32, deals it forfeited (7.2).
        drawn: [D, N, N] int32, cards it exchanged.
        trumps: [D, N, N] int32, trumps among the cards it was first dealt, over all deals.
    """

    rules: Rules
    passed: NDArray[np.int32]
    bourre: NDArray[np.int32]
    took_pot: NDArray[np.int32]
    forfeited: NDArray[np.int32]
    drawn: NDArray[np.int32]
    trumps: NDArray[np.int32]


def counted(tables: Tables) -> dict[str, NDArray[Any]]:
    """[T, N] each: the counts of settled deals, by name."""
    num_players = tables.rules.num_players
    records = tables.records
    stayed = seats_in(records["stayed"], num_players)
    was_played = (records["tricks_done"] == tables.rules.hand_size)[:, None]
    return {
        "passed": seats_in(records["passed"], num_players),
        "bourre": stayed & (records["tricks_won"][:, :num_players] == 0) & was_played,
        "took_pot": tables.returns > -_chips_staked(tables, stayed),
        "forfeited": records["forfeited"][:, None] == np.arange(num_players),
        "drawn": records["num_discards"][:, :num_players],
        "trumps": np.bitwise_count(records["dealt"][:, :num_players] & TRUMPS),
    }


def seats_in(masks: NDArray[np.uint8], num_players: int) -> NDArray[np.bool_]:
    """[T, N] bool from one mask of seats a row."""
    return np.unpackbits(masks[:, None], axis=1, bitorder="little")[:, :num_players].astype(np.bool_)


def _chips_staked(tables: Tables, stayed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """[T, N] int64: ante and fees of each seat (1.3, 3.9); whoever has more back in the end was paid from the pot.

    At table stakes nobody pays more than it had at the start (6.7).
    """
    rules = tables.rules
    drawn = tables.records["num_discards"][:, : rules.num_players].astype(np.int64)
    draw_fees = rules.draw_fee * (drawn if rules.draw_fee_per == "card" else (drawn > 0))
    staked = rules.ante + rules.play_fee * stayed + draw_fees
    return staked if tables.stacks is None else np.minimum(staked, tables.stacks - tables.returns)
