"""How training deals start: what is in the pot, what the seats have, and who sits where.

Everything is drawn from streams numbered by deal.

Shapes: B deals, N seats.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.arena import stream_seed
from agents.policy import Policy, uniform_numbers
from bourre_env import Rules
from bourre_env.bourre.rules import BUY_IN
from bourre_env.deck import GOLDEN, mix_array, stream_keys

POT_STREAM = "training: pots at the start"
STACK_STREAM = "training: stacks at the start"
LINE_UP_STREAM = "training: who sits where"
NETWORK = -1  # in a line-up; other entries are indices of policies


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
        carries = _numbers(keys, 0) < self.carry_share
        antes = np.floor((self.largest_carry + 1.0) ** _numbers(keys, 1)).astype(np.int64)
        exempt = np.stack([_numbers(keys, 2 + seat) for seat in range(rules.num_players)], axis=1) < self.exempt_share
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
        numbers = np.stack([_numbers(keys, seat) for seat in range(rules.num_players)], axis=1)
        fewest, most = self.smallest * rules.ante, self.largest * rules.ante
        return fewest + np.floor(numbers * (most - fewest + 1)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Opponents:
    """Who sits at the tables besides the network.

    A network that only ever meets itself never sees three players stay with anything, and takes them for strong. So
    in a share of the deals one seat alone is the network's, and another policy has all the others; nothing is
    learned from what that policy does.

    Attributes:
        policies: the other policies.
        shares: for each of them the share of deals it sits in; the rest is pure self-play.
    """

    policies: tuple[Policy, ...] = ()
    shares: tuple[float, ...] = ()

    def line_ups(self, rules: Rules, seed: int, deal_ids: NDArray[np.int64]) -> NDArray[np.int8]:
        """[B, N] int8: `NETWORK`, or the index of a policy, in each seat of each deal."""
        keys = stream_keys(stream_seed(seed, LINE_UP_STREAM), deal_ids)
        # how many of the summed shares lie at or below the number: the first ones are the policies', the rest self-play
        policy = np.searchsorted(np.cumsum(self.shares), _numbers(keys, 0), side="right")
        policy[policy == len(self.policies)] = NETWORK
        line_ups = np.repeat(policy[:, None], rules.num_players, axis=1).astype(np.int8)
        seat = (_numbers(keys, 1) * rules.num_players).astype(np.int64)
        line_ups[np.arange(len(keys)), seat] = NETWORK
        return line_ups


def words_of(keys: NDArray[np.uint64], number: int | NDArray[np.int64]) -> NDArray[np.uint64]:
    """[B] uint64: the word `number`, one for all or [B], of each stream [B]."""
    with np.errstate(over="ignore"):
        return mix_array(keys + GOLDEN * (np.asarray(number).astype(np.uint64) + np.uint64(1)))


def _numbers(keys: NDArray[np.uint64], number: int) -> NDArray[np.float64]:
    """[B] float64 in [0, 1): the uniform number `number` of each stream [B]."""
    return uniform_numbers(words_of(keys, number))
