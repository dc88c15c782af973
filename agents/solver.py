"""What the cards left to play come to when all of them lie open: exact values in chips.

Every seat takes what leaves itself most chips and knows that the others do the same (max^n). Where several cards leave
it the same, it plays the one with the highest relative id (`cards.to_relative`); with more than two active seats the
values of the others depend on that choice. Values are compared in steps of 2^-20 chip.

A value is what the deal brings a seat by its settlement, with ties, bourrés, limits, fees and table stakes as the rules
have them, and its credit of the pot that is carried on.

Shapes: B tables, k chosen rows, N seats, C cards of the pack.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents import solver_kernel as kernel
from bourre_env import Rules, Tables
from bourre_env.bourre.endings import new_endings
from bourre_env.bourre.open_play import POSITION, SEARCH
from bourre_env.bourre.table import PHASE_NAMES, PLAY

MEMO_ENTRIES = 65536  # 1.5 MiB; a larger memo helps from seven active seats on, and leaves the cache


class Solver:
    """Solves tables under the same rules; holds the room to work in. Use one for each thread.

    Attributes:
        rules: the rules of every table that is solved.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        memo_entries: int = MEMO_ENTRIES,
        merge_equal: bool = True,
        null_windows: bool = True,
    ) -> None:
        """Make room.

        Args:
            rules: the rules of every table.
            memo_entries: positions remembered at most, a power of two.
            merge_equal: try one of several cards that lead to the same rest of the deal. Changes no value.
            null_windows: ask about numbers of tricks where two players' interests are strictly opposed. Changes no
                value.

        Raises:
            ValueError: `memo_entries` is no power of two.
        """
        if isinstance(memo_entries, bool) or not isinstance(memo_entries, int) or memo_entries.bit_count() != 1:
            raise ValueError(f"memo_entries is {memo_entries!r}; it must be a power of two, such as {MEMO_ENTRIES}")
        self.rules = rules
        self._rules: NDArray[Any] = rules.record().view(np.ndarray)
        endings, scratch = new_endings()
        self._search = _records(1, SEARCH)
        self._room = (
            self._search,
            _records(1, POSITION),
            endings,
            scratch,
            _records(memo_entries, kernel.MEMO),
        )
        self._options = (merge_equal, null_windows)

    @property
    def cards_tried(self) -> int:
        """Cards the search has played since this solver was made: the size of all trees so far."""
        return int(self._search["nodes"][0])

    def solve(
        self,
        tables: Tables,
        rows: ArrayLike | None = None,
        credit: ArrayLike | None = None,
        *,
        exempt_chips: float = 0.0,
    ) -> NDArray[np.float64]:
        """[k, N] float64: the chips that the deal brings each seat when it is played on in this way.

        Args:
            tables: tables in their phase of play, also in the middle of a trick; they are not changed.
            rows: [k] indices of tables, in any order and as often as wanted; all tables when left out.
            credit: [N] the part of the carry that each seat is credited with; 1/N each when left out.
            exempt_chips: what a seat is credited with when it skips the next ante (6.5).

        Raises:
            ValueError: a table is not in its phase of play, the rules are others, or an argument is out of range.
        """
        chosen = self._checked_rows(tables, rows)
        values = np.empty((len(chosen), self.rules.num_players))
        kernel.solve_rows(*self._arguments(tables, chosen, credit, exempt_chips, values))
        return values

    def solve_actions(
        self,
        tables: Tables,
        rows: ArrayLike | None = None,
        credit: ArrayLike | None = None,
        *,
        exempt_chips: float = 0.0,
    ) -> NDArray[np.float64]:
        """[k, C, N] float64: `solve` after each card that the seat to act may play, and NaN where it may not.

        Cards stand at their action ids. Arguments and errors are those of `solve`.
        """
        chosen = self._checked_rows(tables, rows)
        values = np.full((len(chosen), len(self.rules.pack), self.rules.num_players), np.nan)
        kernel.solve_actions_of_rows(*self._arguments(tables, chosen, credit, exempt_chips, values))
        return values

    def _checked_rows(self, tables: Tables, rows: ArrayLike | None) -> NDArray[np.int64]:
        """Indices of the chosen tables, all of which are in play under these rules."""
        if tables.rules != self.rules:
            raise ValueError("the tables play by other rules than those the solver was made for")
        chosen = np.arange(tables.num_tables) if rows is None else np.asarray(rows)
        if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
            raise ValueError(f"rows must be a list of table indices, not {chosen.dtype} of shape {chosen.shape}")
        if chosen.size and not 0 <= chosen.min() <= chosen.max() < tables.num_tables:
            raise ValueError(f"rows reach from {chosen.min()} to {chosen.max()}; tables are 0..{tables.num_tables - 1}")
        chosen = chosen.astype(np.int64)
        phases = tables.records["phase"][chosen]
        for place in np.flatnonzero(phases != PLAY)[:1]:
            raise ValueError(
                f"table {chosen[place]} is in phase {PHASE_NAMES[phases[place]].upper()}; only play can be solved"
            )
        return chosen

    def _arguments(
        self,
        tables: Tables,
        rows: NDArray[np.int64],
        credit: ArrayLike | None,
        exempt_chips: float,
        out: NDArray[np.float64],
    ) -> tuple[Any, ...]:
        """What the compiled loops take."""
        seats = self.rules.num_players
        shares = np.full(seats, 1 / seats) if credit is None else np.array(credit, np.float64)
        if shares.shape != (seats,) or not np.isfinite(shares).all():
            raise ValueError(f"credit is {credit!r}; it must be {seats} finite numbers, one for each seat")
        if not np.isfinite(exempt_chips):
            raise ValueError(f"exempt_chips is {exempt_chips!r}; it must be a finite number")
        records = tables.records.view(np.ndarray)
        return records, self._rules, rows, shares, float(exempt_chips), self._room, *self._options, out


def _records(number: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Records of zeros whose fields are attributes, compiled or not."""
    return np.zeros(number, dtype).view(np.recarray).view(np.ndarray)


def solve(tables: Tables, rows: ArrayLike | None = None, credit: ArrayLike | None = None) -> NDArray[np.float64]:
    """[k, N] float64: `Solver.solve` with a solver made for this call (which takes about a millisecond)."""
    return Solver(tables.rules).solve(tables, rows, credit)


def solve_actions(
    tables: Tables, rows: ArrayLike | None = None, credit: ArrayLike | None = None
) -> NDArray[np.float64]:
    """[k, C, N] float64: `Solver.solve_actions` with a solver made for this call."""
    return Solver(tables.rules).solve_actions(tables, rows, credit)
