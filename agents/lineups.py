"""Results of a tournament in one form, whatever order they came in and however they were cut.

Shapes: D blocks, N seats, G distinct entrants of a line-up, E entrants of all line-ups.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.outcomes import Outcomes
from bourre_env.errors import BourreError

LARGEST_SUM = 1e-6  # units: what rounding may leave of a block that adds up to 0


class OutcomesError(BourreError, ValueError):
    """Results that contradict themselves or each other, or that do not hold what was asked of them."""


@dataclass(frozen=True, slots=True)
class LineUp:
    """All blocks of the same entrants in the same order round the table.

    Attributes:
        places: N names; of all the ways to go round the table the alphabetically first.
        names: its G distinct entrants, sorted.
        seats: [G] int64, how many places each has.
        units: [D] uint64, ascending, each once.
        earned: [D, G] float64, units a deal of one seat of each entrant.
    """

    places: tuple[str, ...]
    names: tuple[str, ...]
    seats: NDArray[np.int64]
    units: NDArray[np.uint64]
    earned: NDArray[np.float64]

    @property
    def means(self) -> NDArray[np.float64]:
        """[G] float64, units a deal over all blocks."""
        means: NDArray[np.float64] = self.earned.mean(axis=0)
        return means


def pooled(outcomes: Sequence[Outcomes]) -> tuple[LineUp, ...]:
    """Every line-up once, sorted by name, with its blocks sorted by unit.

    A block shows each place in every seat, so line-ups that differ only in where one begins to count are one. Where
    several of them played the same deal (at two seats both cells of a pair do) the block is their mean.

    Args:
        outcomes: in any order; a line-up may come in several parts.

    Raises:
        OutcomesError: no blocks, arrays that do not fit, numbers that are not finite or do not add up to 0, or the same
            block twice.
    """
    parts: dict[tuple[str, ...], list[Outcomes]] = defaultdict(list)
    for part in outcomes:
        _check(part)
        parts[part.line_up].append(part)
    if not any(len(part.units) for part in outcomes):
        raise OutcomesError("there are no blocks to look at; play some first")
    rotations: dict[tuple[str, ...], list[tuple[NDArray[np.uint64], NDArray[np.float64]]]] = defaultdict(list)
    for line_up, of_line_up in parts.items():
        units = np.concatenate([part.units for part in of_line_up])
        if len(np.unique(units)) != len(units):
            raise OutcomesError(f"the line-up {', '.join(line_up)} holds a block twice; put each result in once")
        if len(units):
            earned = np.concatenate([part.earned for part in of_line_up])
            rotations[_first_rotation(line_up)].append((units, _by_entrant(line_up, earned)))
    return tuple(_line_up(places, rotations[places]) for places in sorted(rotations))


def entrants_of(line_ups: Sequence[LineUp]) -> tuple[str, ...]:
    """All E names, sorted."""
    return tuple(sorted({name for line_up in line_ups for name in line_up.names}))


def _check(part: Outcomes) -> None:
    """Refuse results that make no sense."""
    where = f"the line-up {', '.join(part.line_up)}"
    expected = (len(part.units), len(part.line_up))
    if len(part.line_up) < 2 or part.earned.shape != expected:
        raise OutcomesError(
            f"{where} has results of shape {part.earned.shape}; {expected} with two seats or more is needed"
        )
    if not np.isfinite(part.earned).all():
        raise OutcomesError(f"{where} has results that are not finite numbers")
    if len(part.units) and np.abs(part.earned.sum(axis=1)).max() > LARGEST_SUM:
        block = int(np.abs(part.earned.sum(axis=1)).argmax())
        raise OutcomesError(f"{where}: block {block} adds up to {part.earned[block].sum():+.4g}; 0 is needed")


def _first_rotation(line_up: tuple[str, ...]) -> tuple[str, ...]:
    """The alphabetically first way to go round the table."""
    return min(line_up[start:] + line_up[:start] for start in range(len(line_up)))


def _by_entrant(line_up: tuple[str, ...], earned: NDArray[np.float64]) -> NDArray[np.float64]:
    """[D, G]: mean over the places of each entrant; sorted first, so that no rounding depends on their order."""
    places = np.array(line_up)
    return np.stack([np.sort(earned[:, places == name], axis=1).mean(axis=1) for name in sorted(set(line_up))], axis=1)


def _line_up(places: tuple[str, ...], parts: Sequence[tuple[NDArray[np.uint64], NDArray[np.float64]]]) -> LineUp:
    """One line-up from its parts (units [d], results [d, G])."""
    all_units = np.concatenate([units for units, _ in parts])
    all_earned = np.concatenate([earned for _, earned in parts])
    order = np.lexsort((*all_earned.T[::-1], all_units))
    units, starts, counts = np.unique(all_units[order], return_index=True, return_counts=True)
    earned = np.add.reduceat(all_earned[order], starts, axis=0) / counts[:, None]
    names = tuple(sorted(set(places)))
    return LineUp(places, names, np.array([places.count(name) for name in names]), units, earned)
