"""What playing and measuring need of Pinochle (`agents.games`)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.blocks import Blocks
from agents.games import Rate
from agents.pinochle.counts import PinochleBlocks, counted
from agents.pinochle.tags import HISTOGRAMS, PANELS, TAGS
from agents.pinochle.words import action_text
from bourre_env.cards import cards_in
from bourre_env.pinochle.render import ansi
from bourre_env.pinochle.rules import PinochleRules
from bourre_env.pinochle.tables import PinochleTables


class PinochlePart:
    """Pinochle's part of playing and measuring."""

    blocks: type[Blocks] = PinochleBlocks
    rates = (
        Rate("bid_mean", "bid", "bid a deal", "Points bid and won, a deal", percent=False),
        Rate("declared_rate", "declared", "declared %", "Declared"),
        Rate("set_rate", "set_back", "set %", "Bids not made"),
        Rate("made_rate", "made", "made %", "Bids made"),
    )
    baselines: Mapping[str, str] = {"heuristic": "agents.pinochle.heuristic:HEURISTIC"}
    own_keys: tuple[str, ...] = ("learn.stay_or_pass_entropy",)  # of bids and passes
    tags: Mapping[str, str] = TAGS
    histograms: Mapping[str, str] = HISTOGRAMS
    panels = PANELS
    healthy_play = (
        "Somebody must go on bidding (not every hand at the lowest bid), and more and more bids must be made."
    )
    has_report = False

    def begin(
        self,
        tables: PinochleTables,
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
            raise ValueError(f"a buy-in of {buy_in} means nothing in Pinochle, which is not played for stakes")
        tables.deal(decks, dealer)

    def check_session(self, session: int, rules: Any) -> None:
        """Hands leave nothing for the next one, so sessions would be nothing but longer hands.

        Raises:
            ValueError: more than one hand, or fewer.
        """
        if session != 1:
            raise ValueError(f"a session of {session} hands; hands of Pinochle are measured one by one")

    def left(self, tables: PinochleTables) -> NDArray[np.int64]:
        """[T] int64: nothing."""
        return np.zeros(tables.num_tables, np.int64)

    def counted(self, tables: PinochleTables) -> dict[str, NDArray[Any]]:
        """[T, N] counts of `PinochleBlocks`."""
        return counted(tables)

    def luck(self, blocks: Blocks, seed: int) -> None:
        """No control variates are known."""

    def action_text(self, rules: PinochleRules, row: NDArray[np.uint64], action: int) -> str:
        """An action in words."""
        return action_text(rules, row, action)

    def table_text(self, tables: PinochleTables) -> str:
        """The first table as text."""
        return ansi(tables.snapshot(0))

    def legal_texts(self, rules: PinochleRules, row: NDArray[np.uint64], legal: int) -> str:
        """Legal actions in words."""
        return ", ".join(action_text(rules, row, action) for action in cards_in(legal))


PART = PinochlePart()
