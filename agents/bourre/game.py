"""What playing and measuring need of Bourré (`agents.games`)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.blocks import LONGEST_SESSION, Blocks
from agents.bourre.counts import BourreBlocks, counted
from agents.bourre.tags import HISTOGRAMS, PANELS, TAGS
from agents.games import Rate
from agents.wording import action_text, legal_texts
from bourre_env.bourre.options import stacks_bought
from bourre_env.bourre.rules import Rules
from bourre_env.bourre.tables import Tables
from bourre_env.render import ansi


class BourrePart:
    """Bourré's part of playing and measuring."""

    blocks: type[Blocks] = BourreBlocks
    rates = (
        Rate("pots_won", "took_pot", "pots %", "Pots taken"),
        Rate("bourre_rate", "bourre", "bourré %", "Bourrés"),
        Rate("pass_rate", "passed", "passed %", "Passes"),
    )
    baselines: Mapping[str, str] = {"heuristic": "agents.baselines:HEURISTIC"}
    own_keys = (
        "rules.stacks",
        "network.seats_shown",
        "network.head",
        "rollout.carry_share",
        "rollout.largest_carry",
        "rollout.exempt_share",
        "rollout.carry_credit",
        "rollout.ante_credit",
        "rollout.smallest_stack",
        "rollout.largest_stack",
        "learn.stay_or_pass_entropy",
        "evaluation.buy_in",
    )
    tags: Mapping[str, str] = TAGS
    histograms: Mapping[str, str] = HISTOGRAMS
    panels = PANELS
    healthy_play = "Passing must fall with the trumps held, and not die out."
    has_report = True

    def begin(
        self, tables: Tables, decks: NDArray[np.int8], dealer: NDArray[np.int64], *, buy_in: int | None, number: int
    ) -> None:
        """Deal with a base pot of one ante a seat, or with the pots and exemptions that the last deal left."""
        carry, exempt = (tables.carry, tables.exempt) if number else (0, None)
        tables.deal(decks, dealer, carry, exempt, stacks=stacks_bought(buy_in, tables.rules, len(decks)))

    def check_session(self, session: int, rules: Any) -> None:
        """Refuse sessions whose pots grow without bound, so that a handful of deals decides.

        Raises:
            ValueError: fewer than one deal or too many, no limit, or table stakes.
        """
        if not 1 <= session <= LONGEST_SESSION:
            raise ValueError(f"a session of {session} deals; 1 to {LONGEST_SESSION} are possible")
        if session > 1 and rules.stacks == "table_stakes":
            raise ValueError("sessions at table stakes cannot be measured in blocks: seats would run out of chips")
        if session > 1 and rules.limit is None:
            raise ValueError("sessions need rules with a limit, such as pagat_limit: else a few huge pots decide them")

    def left(self, tables: Tables) -> NDArray[np.int64]:
        """[T] int64: chips that stay in the pots."""
        return tables.carry

    def counted(self, tables: Tables) -> dict[str, NDArray[Any]]:
        """[T, N] counts of `BourreBlocks`."""
        return counted(tables)

    def luck(self, blocks: Blocks, seed: int) -> NDArray[np.float64]:
        """[D, K] control variates: the luck of the cards."""
        from agents.luck import luck

        assert isinstance(blocks, BourreBlocks), "blocks are of the class that the game names"
        return luck(blocks, seed)

    def action_text(self, rules: Rules, row: NDArray[np.uint64], action: int) -> str:
        """An action in words."""
        return action_text(rules, int(row[0]), action)

    def table_text(self, tables: Tables) -> str:
        """The first table as text."""
        return ansi(tables.snapshot(0))

    def legal_texts(self, rules: Rules, row: NDArray[np.uint64], legal: int) -> str:
        """Legal actions in words."""
        return legal_texts(rules, int(row[0]), legal)


PART = BourrePart()
