"""A closer look at one iteration, too dear for every one: how values and ratios are spread, and what the game adds.

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
from agents.trainings import training_of
from bourre_env.family import GameRules

SAMPLE = 4096
"""Decisions looked at, spread evenly over the iteration."""


def histograms_and_entropies(
    learner: AnyLearner, rollout: Rollout, rules: GameRules
) -> tuple[dict[str, NDArray[np.generic]], dict[str, float]]:
    """What `metrics.HISTOGRAMS` lists, and the numbers that the game adds.

    Args:
        learner: the networks, after they learned from the rollout.
        rollout: the deals of the iteration.
        rules: of its deals.

    Returns:
        Values [S] by tag, and numbers by tag; what did not occur, or does not exist with DMC, is left out.
    """
    rows = np.arange(0, len(rollout), -(-len(rollout) // SAMPLE))
    words, results, actions = rollout.words[rows], rollout.rewards[rows], rollout.actions[rows]
    spec, details = learner.actor.spec, training_of(rules).details
    if isinstance(learner, MonteCarloLearner):
        of_game, _ = details(spec, rollout, rows, None)
        values_of_actions = values_of(learner.actor, words[:, : rollout.num_words], actions)
        return {"critic/results": results, **of_game, "dmc/values": values_of_actions}, {}
    log_probs, entropies = _ask(learner, words[:, : rollout.num_words], rollout.legal[rows], actions)
    of_game, numbers = details(spec, rollout, rows, entropies)
    histograms = {"critic/results": results, "ppo/log_ratio": log_probs - rollout.log_probs[rows], **of_game}
    if learner.critic is not None:
        values = expect(learner.critic, words)
        histograms |= {"critic/values": values, "critic/advantages": results - values}
    if rollout.pairs is not None and len(rollout.pairs):
        histograms["pairs/gains"] = rollout.pairs.gains
    return histograms, numbers


@torch.inference_mode()
def _ask(
    learner: AnyLearner, words: NDArray[np.uint64], legal: NDArray[np.uint64], actions: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Log-probabilities [S] of actions, and entropies [S]."""
    actor, device = learner.actor, device_of(learner.actor)
    distribution = actor(packed_rows(words, device), legal_mask(legal, actor.spec.num_actions, device))
    chosen = distribution.log_prob(torch.from_numpy(actions).to(device))
    return chosen.cpu().numpy(), distribution.entropy().cpu().numpy()
