"""The learners a run may have: from the settings to the one they ask for."""

from typing import TypeAlias

from agents.action_values import Exploration
from agents.config import Config
from agents.dmc import MonteCarloLearner
from agents.network import Actor
from agents.pair_learner import PairLearner
from agents.ppo import Learner, Weights

AnyLearner: TypeAlias = Learner | PairLearner | MonteCarloLearner


def learner_of(config: Config) -> type[Learner] | type[PairLearner] | type[MonteCarloLearner]:
    """The learner that some settings ask for."""
    if config.learn.method == "dmc":
        return MonteCarloLearner
    return PairLearner if config.learns_from_pairs else Learner


def player_of(learner: AnyLearner, weights: Weights) -> Actor:
    """Who plays the training deals: the network itself, or with DMC the network as it explores now."""
    if isinstance(learner, MonteCarloLearner):
        return learner.actor.exploring(Exploration(weights.epsilon, weights.temperature))
    return learner.actor
