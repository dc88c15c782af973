"""Which differences are more than chance: two-sided t-tests, adjusted for how many there are.

Shapes: D blocks, H hypotheses.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr as distribution_of_t

from agents.lineups import LineUp, OutcomesError, entrants_of, pooled
from agents.outcomes import Outcomes
from agents.statistics import LEVEL

ABOVE, BELOW, NOT_SEPARATED = "above", "below", "not separated"

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a mean differs from 0.

    Attributes:
        first: the entrant whose mean it is.
        second: whom it is compared with.
        mean: units a deal.
        t: Student's t of the block means; infinite where none of them differs from the mean.
        p: two-sided.
        p_adjusted: by Holm, over all verdicts given together.
        blocks: D.
        verdict: `ABOVE` or `BELOW` where `p_adjusted` is below 1 minus the level, else `NOT_SEPARATED`.
    """

    first: str
    second: str
    mean: float
    t: float
    p: float
    p_adjusted: float
    blocks: int
    verdict: str


def cell_verdicts(outcomes: Sequence[Outcomes], *, level: float = LEVEL) -> list[Verdict]:
    """A verdict for every cell: does one seat of the first earn anything from a table of the second?

    At two seats both cells of a pair are one and the same, and there is one verdict for them.

    Args:
        outcomes: results in any order and in any number of parts; line-ups that are no cells are left out.
        level: 1 minus the probability that any verdict but `NOT_SEPARATED` is given where all means are 0.

    Raises:
        OutcomesError: results that contradict themselves, no cells, or a cell of one block.
    """
    cells = _cells(pooled(outcomes))
    tested = {pair: blocks for pair, (_, blocks, seats) in cells.items() if seats > 2 or pair[0] < pair[1]}
    return judge(tested, level=level)


def pair_verdicts(outcomes: Sequence[Outcomes], *, level: float = LEVEL) -> list[Verdict]:
    """A verdict for every pair: does a seat of the first earn more from a table of the second than the other way round?

    The mean is half the difference of the two cells, taken deal by deal over the deals that both have played.

    Args:
        outcomes: results in any order and in any number of parts; line-ups that are no cells are left out.
        level: 1 minus the probability that any verdict but `NOT_SEPARATED` is given where all means are 0.

    Raises:
        OutcomesError: results that contradict themselves, no pair with both cells, or one with a single deal in common.
    """
    line_ups = pooled(outcomes)
    cells = _cells(line_ups)
    differences = {}
    for first, second in itertools.combinations(entrants_of(line_ups), 2):
        if (first, second) in cells and (second, first) in cells:
            (units, blocks, _), (other_units, other_blocks, _) = cells[first, second], cells[second, first]
            _, here, there = np.intersect1d(units, other_units, assume_unique=True, return_indices=True)
            differences[first, second] = (blocks[here] - other_blocks[there]) / 2
    return judge(differences, level=level)


def judge(samples: Mapping[Pair, ArrayLike], *, level: float = LEVEL) -> list[Verdict]:
    """Verdicts for several means, in the order given.

    Args:
        samples: [D] block means by names.
        level: 1 minus the probability that any verdict but `NOT_SEPARATED` is given where all means are 0.

    Raises:
        OutcomesError: nothing to judge, or a sample of fewer than two blocks.
        ValueError: a level outside (0, 1).
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; it must lie between 0 and 1")
    if not samples:
        raise OutcomesError("there is nothing to judge: no pair has played the cells that are needed")
    tests = [_test(pair, np.asarray(blocks, np.float64)) for pair, blocks in samples.items()]
    adjusted = holm([p for _, _, p in tests])
    verdicts = []
    for (pair, blocks), (mean, t, p), corrected in zip(samples.items(), tests, adjusted.tolist(), strict=True):
        side = ABOVE if mean > 0 else BELOW
        verdict = side if corrected < 1 - level else NOT_SEPARATED
        verdicts.append(Verdict(*pair, mean, t, p, corrected, len(np.asarray(blocks)), verdict))
    return verdicts


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """[H] p-values adjusted so that the chance of any false rejection stays at the level (Holm, 1979)."""
    values = np.asarray(p_values, np.float64)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted


def _test(pair: Pair, blocks: NDArray[np.float64]) -> tuple[float, float, float]:
    """Mean, t and two-sided p of one sample."""
    if len(blocks) < 2:
        raise OutcomesError(f"{' against '.join(pair)}: {len(blocks)} block cannot be tested; play at least 2")
    mean, deviation = float(blocks.mean()), float(blocks.std(ddof=1))
    if deviation == 0:  # copies of one policy: every block is 0
        return mean, float(np.copysign(np.inf, mean)) if mean else 0.0, 0.0 if mean else 1.0
    t = mean / (deviation / np.sqrt(len(blocks)))
    return mean, float(t), float(2 * distribution_of_t(len(blocks) - 1, -abs(t)))


def _cells(line_ups: Sequence[LineUp]) -> dict[Pair, tuple[NDArray[np.uint64], NDArray[np.float64], int]]:
    """Units [D], block means [D] of the focal entrant, and seats, by names of focal entrant and field."""
    cells = {}
    for line_up in line_ups:
        if len(line_up.names) != 2:
            continue
        for focal in range(2):
            if line_up.seats[focal] == 1:
                pair = line_up.names[focal], line_up.names[1 - focal]
                cells[pair] = line_up.units, line_up.earned[:, focal], len(line_up.places)
    return dict(sorted(cells.items()))
