"""How an entrant plays single deals: when it passes, and how many cards it exchanges.

Counted in its cells as the focal entrant, or, where it has none, in every place it has at any table.

Shapes: D blocks, N seats, H cards of a hand.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.bourre.counts import BourreBlocks
from agents.cells import is_cell
from agents.results import Results


@dataclass(frozen=True, slots=True)
class Habits:
    """Counts of deals.

    Attributes:
        dealt: [N, H + 1] int64, deals by position, the eldest first and the dealer last, and by trumps first dealt.
        passed: [N, H + 1] int64, those of them in which the entrant passed.
        drawn: [H + 1] int64, deals in which it did not pass, by cards exchanged. Those in which it was left alone
            before it could draw count as none.
    """

    dealt: NDArray[np.int64]
    passed: NDArray[np.int64]
    drawn: NDArray[np.int64]


def habits_of(results: Results, name: str) -> Habits | None:
    """The habits of an entrant; None where it has played no single deals.

    Args:
        results: the blocks.
        name: of the entrant.
    """
    if results.terms.session != 1:
        return None
    size, most = results.terms.rules.num_players, results.terms.rules.hand_size + 1
    dealt, passed = np.zeros((size, most), np.int64), np.zeros((size, most), np.int64)
    drawn = np.zeros(most, np.int64)
    for blocks, place in _seats_of(results, name):
        positions = positions_of(blocks, place)
        trumps, passes = blocks.trumps[:, :, place], blocks.passed[:, :, place]
        np.add.at(dealt, (positions, trumps), 1)
        np.add.at(passed, (positions, trumps), passes)
        drawn += np.bincount(blocks.drawn[:, :, place][passes == 0], minlength=most)
    return Habits(dealt, passed, drawn) if dealt.any() else None


def _seats_of(results: Results, name: str) -> Iterator[tuple[BourreBlocks, int]]:
    """Blocks and the places in them that tell how an entrant plays."""
    mine = [
        (line_up, blocks)
        for (_, line_up), blocks in results.blocks.items()
        if name in line_up and isinstance(blocks, BourreBlocks)
    ]
    cells = [(line_up, blocks) for line_up, blocks in mine if is_cell(line_up) and line_up[0] == name]
    for line_up, blocks in cells or mine:
        for place in [0] if cells else [place for place, other in enumerate(line_up) if other == name]:
            yield blocks, place


def positions_of(blocks: BourreBlocks, place: int) -> NDArray[np.int64]:
    """[D, N] int64: the position of a place by block and rotation; 0 the eldest, N - 1 the dealer."""
    size = blocks.rules.num_players
    positions: NDArray[np.int64] = (place + np.arange(size) - blocks.deal_ids[:, None] - 1) % size
    return positions
