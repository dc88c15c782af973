"""A closer look at one iteration, too dear for every one: how values, ratios and hands are spread, entropy by trick.

Shapes: D decisions, S decisions of the sample.
"""

import numpy as np
import torch
from numpy.typing import NDArray

from agents.device import device_of, legal_mask, packed_rows
from agents.dmc import MonteCarloLearner, values_of
from agents.learners import AnyLearner
from agents.ppo import expect
from agents.rollout import Rollout
from bourre_env.bourre.observation import (
    OWN_HAND,
    PHASE,
    TRICKS_DONE,
    TRICKS_DONE_BITS,
)
from bourre_env.bourre.table import DECLARE, PLAY
from bourre_env.cards import TRUMPS

SAMPLE = 4096
"""Decisions looked at, spread evenly over the iteration."""


def histograms_and_entropies(
    learner: AnyLearner, rollout: Rollout, hand_size: int
) -> tuple[dict[str, NDArray[np.generic]], dict[str, float]]:
    """What `metrics.HISTOGRAMS` lists, and the entropy of each trick.

    Args:
        learner: the networks, after they learned from the rollout.
        rollout: the deals of the iteration.
        hand_size: tricks of a deal.

    Returns:
        Values [S] by tag, and numbers by tag; what did not occur, or does not exist with DMC, is left out.
    """
    rows = np.arange(0, len(rollout), -(-len(rollout) // SAMPLE))
    words, results, actions = rollout.words[rows], rollout.rewards[rows], rollout.actions[rows]
    trumps = np.bitwise_count(words[:, OWN_HAND] & TRUMPS)
    declares = _flag(words, PHASE + DECLARE)
    passes = declares & (actions == learner.actor.spec.num_actions - 1)
    histograms = {
        "critic/results": results,
        "hands/trumps_of_stays": trumps[declares & ~passes],
        "hands/trumps_of_passes": trumps[passes],
    }
    if isinstance(learner, MonteCarloLearner):
        return histograms | {"dmc/values": values_of(learner.actor, words[:, : rollout.num_words], actions)}, {}
    log_probs, entropies = _ask(learner, words[:, : rollout.num_words], rollout.legal[rows], actions)
    histograms["ppo/log_ratio"] = log_probs - rollout.log_probs[rows]
    if learner.critic is not None:
        values = expect(learner.critic, words)
        histograms |= {"critic/values": values, "critic/advantages": results - values}
    if rollout.pairs is not None and len(rollout.pairs):
        histograms["pairs/gains"] = rollout.pairs.gains
    return histograms, _entropy_by_trick(words, entropies, hand_size)


@torch.inference_mode()
def _ask(
    learner: AnyLearner, words: NDArray[np.uint64], legal: NDArray[np.uint64], actions: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Log-probabilities [S] of actions, and entropies [S]."""
    actor, device = learner.actor, device_of(learner.actor)
    distribution = actor(packed_rows(words, device), legal_mask(legal, actor.spec.num_actions, device))
    chosen = distribution.log_prob(torch.from_numpy(actions).to(device))
    return chosen.cpu().numpy(), distribution.entropy().cpu().numpy()


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
