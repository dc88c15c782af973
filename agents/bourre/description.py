"""How a network plays Bourré: passing by strength of hand, draws, bourrés and carries.

Shapes: B deals, N seats, D decisions, S decisions of a sample.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.bourre.tags import MOST_TRUMPS
from agents.metrics import mean_or_nan
from agents.network import NetworkSpec
from agents.rollout import Rollout
from bourre_env.bits import BITS
from bourre_env.bourre.observation import DEALER, OWN_DEALT, OWN_HAND, PHASE, TRICKS_DONE, TRICKS_DONE_BITS
from bourre_env.bourre.rules import MAX_PLAYERS
from bourre_env.bourre.table import DECLARE, PLAY
from bourre_env.cards import EMPTY, TRUMPS


@dataclass(frozen=True, slots=True, kw_only=True)
class BourreRollout(Rollout):
    """Finished deals of Bourré.

    Attributes:
        pot: [B] int64, chips in the pot once the antes were in.
        carry: [B] int64, chips left for the next deal.
        stayed: [B, N] bool, seats that stayed.
        bourre: [B, N] bool, seats that stayed and took no trick.
        earned: [B, N] float64, what each distance from the dealer, who has 0, got out of the pot, its part of the carry
            included, in pots; sums to 1.
    """

    pot: NDArray[np.int64]
    carry: NDArray[np.int64]
    stayed: NDArray[np.bool_]
    bourre: NDArray[np.bool_]
    earned: NDArray[np.float64]


def described(rollout: BourreRollout, spec: NetworkSpec) -> dict[str, float]:
    """How the network played: passing by strength of hand, draws, bourrés and carries.

    Args:
        rollout: finished deals.
        spec: numbers the actions.

    Returns:
        Values by tag; what did not occur is left out.
    """
    own = rollout.self_play  # what other policies do at the table is no news
    actions, first_stay, pass_action = rollout.actions, len(spec.cards), spec.num_actions - 1
    may_pass = rollout.legal[:, pass_action // BITS] >> np.uint64(pass_action % BITS) & np.uint64(1) != EMPTY
    passes = actions == pass_action
    stays = actions[(actions >= first_stay) & ~passes]
    trumps = np.bitwise_count(rollout.words[:, 0] & TRUMPS)
    positions = positions_of(rollout)
    draws = np.bitwise_count((stays - first_stay).astype(np.uint64))
    by_trumps = {
        f"pass_rate/trumps_{count}": mean_or_nan(passes[may_pass & (trumps == count)])
        for count in range(MOST_TRUMPS + 1)
    }
    values = {
        **by_trumps,
        **{
            f"pass_rate/position_{position}": mean_or_nan(passes[may_pass & (positions == position)])
            for position in range(1, rollout.returns.shape[1] + 1)
        },
        "pass_rate/all": mean_or_nan(passes[may_pass]),
        "game/discards": mean_or_nan(draws),
        **{f"game/draws_{cards}": mean_or_nan(draws == cards) for cards in range(spec.hand_size + 1)},
        "game/seats_in": mean_or_nan(rollout.stayed[own].sum(axis=1)),
        "game/bourre_rate": mean_or_nan(rollout.bourre[own][rollout.stayed[own]]),
        "game/carry_rate": mean_or_nan(rollout.carry[own] > 0),
        "game/carry_ratio": mean_or_nan(rollout.carry[own] / rollout.pot[own]),
        "game/decisions_per_deal": len(rollout) / rollout.num_deals,
    }
    return {tag: value for tag, value in values.items() if not math.isnan(value)}


def positions_of(rollout: BourreRollout) -> NDArray[np.int64]:
    """[D] int64: how many seats after the dealer each decision's seat sits; 1 for the eldest, last the dealer."""
    flags = rollout.words[:, OWN_DEALT] >> np.uint64(DEALER) & np.uint64((1 << MAX_PLAYERS) - 1)
    dealer = np.bitwise_count(flags - np.uint64(1)).astype(np.int64)  # one flag is set; seats to the left of one's own
    positions: NDArray[np.int64] = rollout.num_players[rollout.deal].astype(np.int64) - dealer
    return positions


def details(
    rollout: BourreRollout, rows: NDArray[np.int64], entropies: NDArray[np.float32] | None, spec: NetworkSpec
) -> tuple[dict[str, NDArray[np.generic]], dict[str, float]]:
    """Histograms of the hands that stay and pass, and the entropy of each trick.

    Args:
        rollout: the deals of an iteration.
        rows: [S] decisions that are looked at.
        entropies: [S] of their distributions; None where the network has none.
        spec: numbers the actions.

    Returns:
        Values by tag, and numbers by tag; what did not occur is left out.
    """
    words, actions = rollout.words[rows], rollout.actions[rows]
    trumps = np.bitwise_count(words[:, OWN_HAND] & TRUMPS)
    declares = _flag(words, PHASE + DECLARE)
    passes = declares & (actions == spec.num_actions - 1)
    histograms: dict[str, NDArray[np.generic]] = {
        "hands/trumps_of_stays": trumps[declares & ~passes],
        "hands/trumps_of_passes": trumps[passes],
    }
    return histograms, {} if entropies is None else _entropy_by_trick(words, entropies, spec.hand_size)


def _entropy_by_trick(words: NDArray[np.uint64], entropies: NDArray[np.float32], hand_size: int) -> dict[str, float]:
    """Mean entropy of the card plays of each trick but the last, which leaves no choice."""
    plays = _flag(words, PHASE + PLAY)
    done = np.bitwise_count(words[:, OWN_HAND] >> np.uint64(TRICKS_DONE) & np.uint64((1 << TRICKS_DONE_BITS) - 1))
    by_trick = {trick: entropies[plays & (done == trick - 1)] for trick in range(1, hand_size)}
    return {f"policy/entropy_trick_{trick}": float(found.mean()) for trick, found in by_trick.items() if len(found)}


def _flag(words: NDArray[np.uint64], bit: int) -> NDArray[np.bool_]:
    """[S] bool: whether a bit of the first word is set."""
    flags: NDArray[np.bool_] = words[:, OWN_HAND] >> np.uint64(bit) & np.uint64(1) != 0
    return flags
