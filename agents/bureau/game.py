"""What playing and measuring need of Bureau (`agents.games`)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.blocks import Blocks
from agents.bureau.counts import BureauBlocks, counted
from agents.bureau.tags import HISTOGRAMS, PANELS, TAGS
from agents.games import Rate
from bourre_env.bureau.actions import action_text
from bourre_env.bureau.render import ansi
from bourre_env.bureau.rules import BureauRules
from bourre_env.bureau.tables import BureauTables
from bourre_env.cards import cards_in


class BureauPart:
    """Bureau's part of playing and measuring."""

    blocks: type[Blocks] = BureauBlocks
    rates = (
        Rate("stopped_rate", "stopped", "stopped %", "Stopped by the limit"),
        Rate("won_rate", "won", "won %", "Won"),
    )
    baselines: Mapping[str, str] = {"heuristic": "agents.bureau.heuristic:HEURISTIC"}
    own_keys: tuple[str, ...] = ()
    tags: Mapping[str, str] = TAGS
    histograms: Mapping[str, str] = HISTOGRAMS
    panels = PANELS
    healthy_play = (
        "Scores begin as the rule bot's points: some 93 cards up, one deal in five won. Both must rise from there, and "
        "few deals be stopped by the limit of decisions."
    )
    has_report = False

    def begin(
        self,
        tables: BureauTables,
        decks: NDArray[np.int8],
        dealer: NDArray[np.int64],
        *,
        buy_in: int | None,
        number: int,
    ) -> None:
        """Deal.

        Raises:
            ValueError: a buy-in.
        """
        if buy_in is not None:
            raise ValueError(f"a buy-in of {buy_in} means nothing in Bureau, which is not played for stakes")
        tables.deal(decks)

    def check_session(self, session: int, rules: Any) -> None:
        """Deals leave nothing for the next one, so sessions would be nothing but longer deals.

        Raises:
            ValueError: more than one deal, or fewer.
        """
        if session != 1:
            raise ValueError(f"a session of {session} deals; deals of Bureau are measured one by one")

    def left(self, tables: BureauTables) -> NDArray[np.int64]:
        """[T] int64: nothing."""
        return np.zeros(tables.num_tables, np.int64)

    def counted(self, tables: BureauTables) -> dict[str, NDArray[Any]]:
        """[T, 1] counts of `BureauBlocks`."""
        return counted(tables)

    def luck(self, blocks: Blocks, seed: int) -> None:
        """No control variates are known."""

    def action_text(self, rules: BureauRules, row: NDArray[np.uint64], action: int) -> str:
        """An action in words."""
        return action_text(rules, action)

    def table_text(self, tables: BureauTables) -> str:
        """The first table as text, every card shown."""
        return ansi(tables.snapshot(0), is_open=True)

    def legal_texts(self, rules: BureauRules, row: NDArray[np.uint64], legal: int) -> str:
        """Legal actions in words."""
        return ", ".join(action_text(rules, action) for action in cards_in(legal))


PART = BureauPart()
