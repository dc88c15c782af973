"""Positions of Bureau laid by hand at the engine, for tests of single rules."""

from typing import Any

import numpy as np
from bureau_play import RANKS, laid_table, state_of_oracle

from bourre_env.bureau.actions import action_id, action_text
from bourre_env.bureau.foundations import find_accepted
from bourre_env.bureau.repeats import forget_positions
from bourre_env.bureau.rules import BureauRules
from bourre_env.bureau.snapshot import BureauSnapshot
from bourre_env.bureau.table import find_run
from bourre_env.bureau.tables import BureauTables
from bourre_env.bureau.turn import find_legal

LAID = 0  # decisions that a position laid by hand has had


class Position:
    """One table whose cards lie where a test wants them.

    Attributes:
        rules: the rules played by.
        tables: the table.
    """

    def __init__(
        self,
        columns: list[list[str]],
        *,
        foundations: list[str] | None = None,
        waste: list[str] | None = None,
        stock: list[str] | None = None,
        redeals_used: int | None = None,
        **options: Any,
    ) -> None:
        """Lay the cards.

        Args:
            columns: cards of the first columns, bottom first, "#" before those face down; the others are empty.
            foundations: top cards.
            waste: its cards, the one that may be moved last.
            stock: its cards, the next one first.
            redeals_used: left out, 0 where there is a stock and otherwise all of them.
            **options: fields of the rules.
        """
        self.rules = BureauRules(**options)
        used = redeals_used if redeals_used is not None else 0 if stock else self.rules.max_passes - 1
        given = {
            "tableau": columns + [[] for _ in range(13 - len(columns))],
            "foundations": foundations or [],
            "waste": waste or [],
            "stock": stock or [],
            "redeals_used": used,
            "n_foundations": self.rules.n_foundations,
        }
        self.tables = tables_at(given, self.rules)

    def do(self, *words: str) -> "Position":
        """Take actions."""
        for word in words:
            self.tables.step([action_id(self.rules, word)])
        return self

    @property
    def now(self) -> BureauSnapshot:
        """The table in words."""
        return self.tables.snapshot(0)

    @property
    def legal(self) -> set[str]:
        """The legal actions in words."""
        return {action_text(self.rules, int(action)) for action in np.flatnonzero(self.tables.legal_action_mask()[0])}


def tables_at(given: dict[str, Any], rules: BureauRules) -> BureauTables:
    """A table of the engine in the position of a golden case."""
    tables = BureauTables(rules, 1)
    record, options = tables.records[0], rules.record()[0]
    for name, value in state_of_oracle(laid_table(given)).items():
        if name != "legal":
            tables.records[name][0] = value
    for column in range(13):
        find_run(record, column)
    find_accepted(record, options)
    forget_positions(record, options)
    find_legal(record, options)
    return tables


def easy_deck() -> list[str]:
    """A deal in which cards go up one after the other as they are drawn or uncovered."""
    up = [rank + colour for rank in RANKS for colour in "SH" for _ in range(4)]
    return [*reversed(up[52:]), *up[:52]]


def dealt_columns(deck: list[str]) -> list[int]:
    """A deck of texts as ids."""
    return [13 * "SH".index(card[1]) + RANKS.index(card[0]) for card in deck]
