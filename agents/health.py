"""Whether a run still learns anything: what has gone wrong beyond repair, and where to look."""

from collections.abc import Mapping

import torch

from agents.descent import DivergedError
from agents.learners import AnyLearner

EXPLODED = {"ppo/kl": 10.0, "critic/value_loss": 100.0, "dmc/loss": 100.0}
"""A hundred times beyond what a bad run shows on its way: healthy are 0.03 nats and less than one pot."""

ADVICE = (
    "try a lower learn.learning_rate or learn.gradient_norm, and look at ppo/kl, ppo/gradient_norm and, with a critic, "
    "critic/value_loss, or with DMC dmc/loss, in its logs"
)


def check_health(learner: AnyLearner, values: Mapping[str, float]) -> None:
    """Refuse networks that are of no use any more, before anybody saves them.

    Args:
        learner: the networks after an update.
        values: numbers of the update by tag.

    Raises:
        DivergedError: says what has exploded.
    """
    for tag, limit in EXPLODED.items():
        if not values.get(tag, 0.0) <= limit:
            raise DivergedError(f"the networks have diverged: {tag} is {values[tag]:.3g}, far above {limit:g}")
    for name, network in (("actor", learner.actor), ("critic", learner.critic)):
        if network is not None and not all(bool(torch.isfinite(weights).all()) for weights in network.parameters()):
            raise DivergedError(f"the weights of the {name} are not finite")
