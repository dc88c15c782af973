"""How training deals of Bourré start and what they bring: pots, stacks, and results in pots.

Everything is drawn from streams numbered by deal.

Shapes: B deals, N seats, C cards of the pack, k tables.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena import stream_seed
from agents.bourre.counts import seats_in
from agents.pot_credit import Credit
from agents.starts import number_of
from bourre_env.bourre.rules import BUY_IN, Rules
from bourre_env.bourre.tables import Tables
from bourre_env.deck import stream_keys

POT_STREAM = "training: pots at the start"
STACK_STREAM = "training: stacks at the start"


@dataclass(frozen=True, slots=True)
class StartingPots:
    """How the pots of training deals begin.

    Deals are single, so a pot that only self-play itself could build up is drawn instead: untrained players would let
    it grow without bound.

    Attributes:
        carry_share: share of deals that begin with a carry; in the others everybody antes into an empty pot.
        largest_carry: largest carry, in antes; the logarithm of the carry is uniform.
        exempt_share: chance of each seat to be exempt from the ante of a deal with a carry.
    """

    carry_share: float = 0.0
    largest_carry: int = 1
    exempt_share: float = 0.0

    def draw(self, rules: Rules, seed: int, deal_ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Carry and exemptions of each deal.

        Returns:
            carry: [B] int64, whole antes in chips.
            exempt: [B, N] bool.
        """
        keys = stream_keys(stream_seed(seed, POT_STREAM), deal_ids)
        carries = number_of(keys, 0) < self.carry_share
        antes = np.floor((self.largest_carry + 1.0) ** number_of(keys, 1)).astype(np.int64)
        exempt = np.stack([number_of(keys, 2 + seat) for seat in range(rules.num_players)], axis=1) < self.exempt_share
        return np.where(carries, antes * rules.ante, 0), exempt & carries[:, None]


@dataclass(frozen=True, slots=True)
class StartingStacks:
    """What each seat has at the start of a training deal at table stakes (6.7): drawn uniformly, each seat on its own.

    Attributes:
        smallest: fewest antes, at least 1.
        largest: most antes.
    """

    smallest: int = 1
    largest: int = BUY_IN

    def draw(self, rules: Rules, seed: int, deal_ids: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """[B, N] int64 chips; None on credit."""
        if rules.stacks == "credit":
            return None
        keys = stream_keys(stream_seed(seed, STACK_STREAM), deal_ids)
        numbers = np.stack([number_of(keys, seat) for seat in range(rules.num_players)], axis=1)
        fewest, most = self.smallest * rules.ante, self.largest * rules.ante
        return fewest + np.floor(numbers * (most - fewest + 1)).astype(np.int64)


_EMPTY_POTS, _USUAL_STACKS = StartingPots(), StartingStacks()


@dataclass(frozen=True, slots=True)
class PotLedger:
    """What B deals were played for.

    Attributes:
        pot: [B] int64, chips in the pot once the antes were in.
        antes: [B, N] int64, chips paid.
    """

    pot: NDArray[np.int64]
    antes: NDArray[np.int64]

    def results(self, tables: Tables, deals: NDArray[np.int64], credit: Credit | None) -> NDArray[np.float32]:
        """[k, N] float32: what settled deals brought each seat, in pots."""
        return self._results(tables, deals, credit)[0]

    def columns(self, tables: Tables, credit: Credit | None) -> dict[str, NDArray[Any]]:
        """The columns of `BourreRollout`."""
        num_players = tables.rules.num_players
        stayed = seats_in(tables.records["stayed"], num_players)
        no_trick = tables.records["tricks_won"][:, :num_players] == 0
        played_out = tables.records["tricks_done"] == tables.rules.hand_size  # a lone player needs no trick (3.8)
        dealer = tables.records["dealer"].astype(np.int64)
        _, of_pot = self._results(tables, np.arange(len(self.pot)), credit)
        by_distance = (dealer[:, None] + np.arange(num_players)) % num_players
        earned = (tables.returns + self.antes + of_pot) / self.pot[:, None]
        return {
            "pot": self.pot,
            "carry": tables.carry,
            "stayed": stayed,
            "bourre": stayed & no_trick & played_out[:, None],
            "earned": np.take_along_axis(earned, by_distance, axis=1),
        }

    def _results(
        self, tables: Tables, deals: NDArray[np.int64], credit: Credit | None
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """What deals brought each seat [k, N], in pots; and of that the chips that stay in the pot [k, N]."""
        dealer = tables.records["dealer"].astype(np.int64)
        credit = credit or Credit.equal(tables.rules.num_players)
        of_pot, credited = credit.chips(tables.carry, tables.exempt, dealer, tables.rules.ante)
        return ((tables.returns + credited) / self.pot[deals][:, None]).astype(np.float32), of_pot


@dataclass(frozen=True, slots=True)
class PotsAndStacks:
    """How deals start.

    Attributes:
        pots: what is in the pot.
        stacks: what the seats have, at table stakes.
    """

    pots: StartingPots = _EMPTY_POTS
    stacks: StartingStacks = _USUAL_STACKS

    def begin(self, tables: Tables, decks: NDArray[np.int8], seed: int, deal_ids: NDArray[np.int64]) -> PotLedger:
        """Deal with drawn pots and stacks."""
        rules = tables.rules
        carry, exempt = self.pots.draw(rules, seed, deal_ids)
        stacks = self.stacks.draw(rules, seed, deal_ids)
        tables.deal(decks, deal_ids % rules.num_players, carry, exempt, stacks=stacks)
        antes = np.where(exempt, 0, rules.ante)
        return PotLedger(tables.pot, antes if stacks is None else np.minimum(antes, stacks))
