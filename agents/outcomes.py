"""What blocks brought the entrants at a table: all that ratings, verdicts and charts need to know of a tournament.

Shapes: D blocks, N seats.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The blocks that one line-up has played.

    A block is one deal played N times, the line-up moving one seat each time, so that each of its places has sat in
    every seat. The line-up of a cell, one focal seat against a field, is (focal, field, field, …).

    Attributes:
        line_up: N names of entrants, by place; a name may stand in several places.
        units: [D] uint64, which deal of which experiment each block is; the same number in several line-ups is the
            same deal.
        earned: [D, N] float64, units a deal of each place, a pot left over being everybody's in equal shares. The
            places of a block add up to 0.
    """

    line_up: tuple[str, ...]
    units: NDArray[np.uint64]
    earned: NDArray[np.float64]
