"""What playing and measuring need of Euchre (`agents.games`)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.blocks import Blocks
from agents.euchre.counts import EuchreBlocks, counted
from agents.euchre.tags import HISTOGRAMS, PANELS, TAGS
from agents.euchre.words import action_text
from agents.games import Rate
from bourre_env.cards import cards_in
from bourre_env.euchre.render import ansi
from bourre_env.euchre.rules import EuchreRules
from bourre_env.euchre.tables import EuchreTables


class EuchrePart:
    """Euchre's part of playing and measuring."""

    blocks: type[Blocks] = EuchreBlocks
    rates = (
        Rate("euchred_rate", "euchred", "euchred %", "Euchred"),
        Rate("alone_rate", "alone", "alone %", "Alone"),
        Rate("made_rate", "made", "made %", "Made trumps"),
    )
    baselines: Mapping[str, str] = {"heuristic": "agents.euchre.heuristic:HEURISTIC"}
    own_keys: tuple[str, ...] = ()
    tags: Mapping[str, str] = TAGS
    histograms: Mapping[str, str] = HISTOGRAMS
    panels = PANELS
    healthy_play = "Makers must seldom be euchred, and nobody play alone without the hand for it."
    has_report = False

    def begin(
        self,
        tables: EuchreTables,
        decks: NDArray[np.int8],
        dealer: NDArray[np.int64],
        *,
        buy_in: int | None,
        number: int,
    ) -> None:
        """Deal hands at a score of nothing all.

        Raises:
            ValueError: a buy-in.
        """
        if buy_in is not None:
            raise ValueError(f"a buy-in of {buy_in} means nothing in Euchre, which is not played for stakes")
        tables.deal(decks, dealer)

    def check_session(self, session: int, rules: Any) -> None:
        """Hands leave nothing for the next one, so sessions would be nothing but longer hands.

        Raises:
            ValueError: more than one hand, or fewer.
        """
        if session != 1:
            raise ValueError(f"a session of {session} hands; hands of Euchre are measured one by one")

    def left(self, tables: EuchreTables) -> NDArray[np.int64]:
        """[T] int64: nothing."""
        return np.zeros(tables.num_tables, np.int64)

    def counted(self, tables: EuchreTables) -> dict[str, NDArray[Any]]:
        """[T, N] counts of `EuchreBlocks`."""
        return counted(tables)

    def luck(self, blocks: Blocks, seed: int) -> None:
        """No control variates are known."""

    def action_text(self, rules: EuchreRules, row: NDArray[np.uint64], action: int) -> str:
        """An action in words."""
        return action_text(rules, action)

    def table_text(self, tables: EuchreTables) -> str:
        """The first table as text."""
        return ansi(tables.snapshot(0))

    def legal_texts(self, rules: EuchreRules, row: NDArray[np.uint64], legal: int) -> str:
        """Legal actions in words."""
        return ", ".join(action_text(rules, action) for action in cards_in(legal))


PART = EuchrePart()
