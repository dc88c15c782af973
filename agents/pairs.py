"""Decisions played on in two ways: a deal against itself, as an evaluation plays duplicate deals.

At a decision two actions are drawn from the network, independently. Where they differ, the deal is played to its end
after each, with the same pack and the same random numbers behind every later action. What the first brought more than
the second is then due to the action and not to luck: the "vine" of Schulman et al. (2015, section 5.2), which needs an
engine that can be copied in mid-deal, and no critic. The mean of `gain * (grad log p(action) - grad log p(other)) / 2`
over all decisions, those with equal actions counting 0, is the policy gradient.

Shapes: P pairs, W words of an observation, L of a legal set.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Pairs:
    """Decisions of the network at which two different actions were drawn.

    Attributes:
        words: [P, W] uint64, the observation.
        legal: [P, L] uint64, the legal actions.
        actions: [P] int64, what the deal went on with.
        others: [P] int64, the other action.
        log_probs: [P] float32, of the actions when they were drawn.
        other_log_probs: [P] float32, of the others.
        gains: [P] float32, what the action brought the seat more than the other, in what the game is learned in.
        deal: [P] int64, index of the deal in its rollout.
        seat: [P] int8, the seat that decided.
        step: [P] int64, as in a rollout.
    """

    words: NDArray[np.uint64]
    legal: NDArray[np.uint64]
    actions: NDArray[np.int64]
    others: NDArray[np.int64]
    log_probs: NDArray[np.float32]
    other_log_probs: NDArray[np.float32]
    gains: NDArray[np.float32]
    deal: NDArray[np.int64]
    seat: NDArray[np.int8]
    step: NDArray[np.int64]

    def __len__(self) -> int:
        """P."""
        return len(self.actions)

    @staticmethod
    def none(num_words: int, legal_words: int) -> "Pairs":
        """No pairs, of observations of W words and legal sets of L."""
        numbers, scores = np.empty(0, np.int64), np.empty(0, np.float32)
        return Pairs(
            np.empty((0, num_words), np.uint64),
            np.empty((0, legal_words), np.uint64),
            *(numbers, numbers, scores, scores, scores, numbers),
            np.empty(0, np.int8),
            numbers,
        )


def joined_pairs(parts: Sequence[Pairs]) -> Pairs:
    """All of them, in their order; at least one part."""
    return Pairs(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Pairs)))
