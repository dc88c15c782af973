"""Who sits where in training deals, and the random numbers that decide it.

Everything is drawn from streams numbered by deal.

Shapes: B deals, N seats.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.arena import stream_seed
from agents.policy import Policy, uniform_numbers
from bourre_env.deck import GOLDEN, mix_array, stream_keys
from bourre_env.family import GameRules, sides_of

LINE_UP_STREAM = "training: who sits where"
NETWORK = -1  # in a line-up; other entries are indices of policies


@dataclass(frozen=True, slots=True)
class Opponents:
    """Who sits at the tables besides the network.

    A network that only ever meets itself never sees three players stay with anything, and takes them for strong. So
    in a share of the deals one seat alone (or one pair of partners) is the network's, and another policy has all the
    others; nothing is learned from what that policy does.

    Attributes:
        policies: the other policies.
        shares: for each of them the share of deals it sits in; the rest is pure self-play.
    """

    policies: tuple[Policy, ...] = ()
    shares: tuple[float, ...] = ()

    def line_ups(self, rules: GameRules, seed: int, deal_ids: NDArray[np.int64]) -> NDArray[np.int8]:
        """[B, N] int8: `NETWORK`, or the index of a policy, in each seat; a single one is the network's."""
        keys = stream_keys(stream_seed(seed, LINE_UP_STREAM), deal_ids)
        # how many of the summed shares lie at or below the number: the first ones are the policies', the rest self-play
        policy = np.searchsorted(np.cumsum(self.shares), number_of(keys, 0), side="right")
        policy[policy == len(self.policies)] = NETWORK
        line_ups = np.repeat(policy[:, None], rules.num_players, axis=1).astype(np.int8)
        sides = sides_of(rules)
        side = (number_of(keys, 1) * sides).astype(np.int64)
        line_ups[np.arange(rules.num_players) % sides == side[:, None]] = NETWORK
        return line_ups


def words_of(keys: NDArray[np.uint64], number: int | NDArray[np.int64]) -> NDArray[np.uint64]:
    """[B] uint64: the word `number`, one for all or [B], of each stream [B]."""
    with np.errstate(over="ignore"):
        return mix_array(keys + GOLDEN * (np.asarray(number).astype(np.uint64) + np.uint64(1)))


def number_of(keys: NDArray[np.uint64], number: int) -> NDArray[np.float64]:
    """[B] float64 in [0, 1): the uniform number `number` of each stream [B]."""
    return uniform_numbers(words_of(keys, number))
