"""What a pot that stays is worth to each seat.

A carried pot is credited to the seats that will play for it. By their distance from the next dealer, who owns the next
turn-up, seats get unlike parts of pots, so equal shares hide what tying and going bourré really cost. What pots brought
each distance is averaged over self-play, exponentially, its own carries credited by the shares of the moment: at rest
the shares are a fixed point. It exists as long as a pot leaves less than a whole pot behind on average.

Shapes: B deals, N seats.
"""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from agents.ranks import ALONE, Ranks

if TYPE_CHECKING:
    from agents.bourre.description import BourreRollout

MEMORY = 20_000
"""Deals after which an observation counts e times less. A thousand tell a share to within 0.02, these to 0.003."""


@dataclass(frozen=True, slots=True)
class Credit:
    """How the chips of the next deal are credited to the seats of this one, at tables of one size.

    Attributes:
        shares: [N] float64, of a carried pot, by the distance from the next dealer, who has 0; they sum to 1.
        saved_antes: also credit who skips the next ante with what it saves, and all with their shares of what the next
            pot then lacks.
    """

    shares: NDArray[np.float64]
    saved_antes: bool = False

    @staticmethod
    def equal(num_players: int) -> "Credit":
        """The same share for everybody, and nothing else."""
        return Credit(np.full(num_players, 1 / num_players))

    def chips(
        self, carry: NDArray[np.int64], exempt: NDArray[np.bool_], dealer: NDArray[np.int64], ante: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What the seats are credited with once deals are over; either sums to the carry over the seats of a deal.

        Args:
            carry: [B] int64 chips left in the pots.
            exempt: [B, N] bool, who skips the next ante.
            dealer: [B] int64, who dealt.
            ante: chips.

        Returns:
            of_pot: [B, N] float64 chips, the parts of the carry.
            in_all: [B, N] float64 chips, the same with saved antes if they are credited.
        """
        num_players = len(self.shares)
        shares = self.shares[(np.arange(num_players) - dealer[:, None] - 1) % num_players]
        of_pot = carry[:, None] * shares
        if not self.saved_antes:
            return of_pot, of_pot
        return of_pot, of_pot + ante * (exempt - shares * exempt.sum(axis=1, keepdims=True))


@dataclass(slots=True)
class PotCredit:
    """Shares by table size, estimated as training goes on.

    Attributes:
        by_seat: estimate the shares; else they stay equal.
        saved_antes: see `Credit`.
        shares: [N] float64 by table size N; a size that is missing has equal shares.
    """

    by_seat: bool = False
    saved_antes: bool = False
    shares: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    def at(self, num_players: int) -> Credit:
        """The credit at tables of one size, as it is now."""
        return Credit(self.shares.get(num_players, Credit.equal(num_players).shares), self.saved_antes)

    def learn(self, rollout: "BourreRollout", ranks: Ranks = ALONE) -> None:
        """Move the shares towards what pots brought in self-play, of all ranks."""
        if not self.by_seat:
            return
        ours = {}
        for size in np.unique(rollout.num_players[rollout.self_play]).tolist():
            earned = rollout.earned[rollout.self_play & (rollout.num_players == size), :size]
            ours[size] = (earned.sum(axis=0), len(earned))
        everybodys = ranks.gather(ours)
        for size in sorted(set().union(*everybodys)):
            parts = [theirs[size] for theirs in everybodys if size in theirs]
            deals = sum(number for _, number in parts)
            rate = 1 - math.exp(-deals / MEMORY)
            moved = (1 - rate) * self.at(size).shares + rate * (sum(chips for chips, _ in parts) / deals)
            self.shares[size] = moved / moved.sum()

    def describe(self) -> dict[str, float]:
        """The estimated shares by tag."""
        return {
            f"credit/{size}_seats_{distance}_from_dealer": float(share)
            for size, shares in sorted(self.shares.items())
            for distance, share in enumerate(shares)
        }

    def state(self) -> dict[int, list[float]]:
        """The shares as plain values."""
        return {size: shares.tolist() for size, shares in self.shares.items()}

    def load_state(self, state: dict[int, list[float]]) -> None:
        """The inverse of `state`."""
        self.shares = {size: np.array(shares) for size, shares in state.items()}
