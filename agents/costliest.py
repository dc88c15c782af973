"""The deals that cost an entrant most, by what others made of the very same cards.

An entrant's loss in a deal is mostly luck. So each deal in which it was the focal entrant of a cell is compared with
the mean of what the other entrants earned as focal in that seat, with that pack, against that field: what they made
of it better is what the deal cost. They too were lucky or not with the cards they drew, so a deal near the top of the
list is worth a look and no proof of a mistake.

Where nobody else was focal against that field, as in a tournament of two, and in line-ups that are no cells, the loss
itself is the cost. Deals that can be compared come before those: an entrant that has any is judged by them alone.

Shapes: D blocks, N seats.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.cells import is_cell
from agents.results import LineUp, Results


@dataclass(frozen=True, slots=True)
class CostlyDeal:
    """One deal, or one session, from one seat.

    Attributes:
        seed: of the experiment.
        line_up: names by place.
        deal_id: the deal or session.
        rotation: which of the block's N.
        place: the entrant's place in the line-up; 0 in a cell.
        antes: what it earned, in antes a deal, the pot left over shared by all.
        others: what the other entrants earned in its place, mean; None when there are none.
    """

    seed: int
    line_up: LineUp
    deal_id: int
    rotation: int
    place: int
    antes: float
    others: float | None

    @property
    def cost(self) -> float:
        """Antes a deal that the entrant has less than the others, or than nothing."""
        return (self.others or 0.0) - self.antes

    @property
    def seat(self) -> int:
        """Where the entrant sat."""
        return (self.place + self.rotation) % len(self.line_up)


def costliest_deals(results: Results, name: str, number: int) -> list[CostlyDeal]:
    """The deals that cost an entrant most, each pack once, the costliest first; equals in the order of their deals.

    Args:
        results: the blocks.
        name: of the entrant.
        number: how many at most.
    """
    candidates = [deal for deals in _compared(results, name, number) for deal in deals]
    if not candidates:
        candidates = [deal for deals in _alone(results, name, number) for deal in deals]
    candidates.sort(key=lambda deal: (-deal.cost, deal.seed, deal.deal_id, deal.line_up, deal.rotation, deal.place))
    by_pack: dict[tuple[int, int], CostlyDeal] = {}
    for deal in candidates:
        by_pack.setdefault((deal.seed, deal.deal_id), deal)
    return list(by_pack.values())[:number]


def _compared(results: Results, name: str, number: int) -> Iterator[list[CostlyDeal]]:
    """For each cell of the entrant its costliest deals by comparison."""
    for (seed, line_up), blocks in sorted(results.blocks.items()):
        if not is_cell(line_up) or line_up[0] != name:
            continue
        own = blocks.earned[:, :, 0]
        others = _mean_of_others(results, seed, line_up, blocks.deal_ids)
        yield _top(seed, line_up, 0, blocks.deal_ids, own, others, number)


def _mean_of_others(results: Results, seed: int, line_up: LineUp, deal_ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """[D, N]: what other focal entrants earned in the same deals and seats against the same field; NaN for nobody."""
    size = len(line_up)
    total, count = np.zeros((len(deal_ids), size)), np.zeros((len(deal_ids), 1))
    for (other_seed, other), blocks in results.blocks.items():
        if other_seed != seed or not is_cell(other) or other[1:] != line_up[1:] or other == line_up:
            continue
        _, here, there = np.intersect1d(deal_ids, blocks.deal_ids, assume_unique=True, return_indices=True)
        total[here] += blocks.earned[there, :, 0]
        count[here] += 1
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


def _alone(results: Results, name: str, number: int) -> Iterator[list[CostlyDeal]]:
    """For each place of the entrant, in its cells as focal or else in any line-up, the deals in which it lost most."""
    mine = {key: blocks for key, blocks in sorted(results.blocks.items()) if name in key[1]}
    cells = {key: blocks for key, blocks in mine.items() if is_cell(key[1]) and key[1][0] == name}
    for (seed, line_up), blocks in (cells or mine).items():
        places = [0] if cells else [place for place, other in enumerate(line_up) if other == name]
        for place in places:
            own = blocks.earned[:, :, place]
            yield _top(seed, line_up, place, blocks.deal_ids, own, None, number)


def _top(
    seed: int,
    line_up: LineUp,
    place: int,
    deal_ids: NDArray[np.int64],
    own: NDArray[np.float64],
    others: NDArray[np.float64] | None,
    number: int,
) -> list[CostlyDeal]:
    """The costliest rotation of each deal of one line-up, as many deals as wanted.

    Args:
        seed: of the experiment.
        line_up: names by place.
        place: the entrant's.
        deal_ids: [D].
        own: [D, N] antes by rotation.
        others: [D, N], NaN where there is nothing to compare with; None to count plain losses.
        number: of deals.
    """
    cost = -own if others is None else np.where(np.isnan(others), -np.inf, others - own)
    rotation = cost.argmax(axis=1)
    worst = cost[np.arange(len(cost)), rotation]
    rows = [row for row in np.argsort(-worst, kind="stable")[:number] if worst[row] > -np.inf]
    return [
        CostlyDeal(
            seed,
            line_up,
            int(deal_ids[row]),
            int(rotation[row]),
            place,
            float(own[row, rotation[row]]),
            None if others is None else float(others[row, rotation[row]]),
        )
        for row in rows
    ]
