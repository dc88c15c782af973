"""Baselines that every game of the family has, under one name.

Shapes: D decisions, A actions.
"""

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.games import part_named
from agents.policy import Decision, Policy, PolicyError, ask_probs, check_rules, load_policy
from bourre_env.family import GAMES, GameRules


@dataclass(frozen=True, slots=True)
class ByGame:
    """A baseline that plays whichever game it is asked about, each with the bot of that game.

    Attributes:
        name: what reports call it, and what games call their bots.
    """

    name: str

    def check_rules(self, rules: GameRules) -> None:
        """Refuse games without such a bot, and rules that it does not play.

        Raises:
            PolicyError: names the games that have one.
        """
        check_rules(_bot(self.name, rules.game), rules)

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.int64]:
        """[D] actions."""
        return np.asarray(_bot(self.name, decision.rules.game).act(decision, rng), np.int64)

    def probs(self, decision: Decision) -> NDArray[np.float64]:
        """[D, A] probabilities."""
        return ask_probs(_bot(self.name, decision.rules.game), decision)


HEURISTIC = ByGame("heuristic")


@functools.cache
def _bot(name: str, game: str) -> Policy:
    """The bot of a game that goes by a name."""
    baselines = part_named(game).baselines
    if name not in baselines:
        games = ", ".join(other for other in GAMES if name in part_named(other).baselines)
        raise PolicyError(f"{name} plays {games} only, not {game}")
    return load_policy(baselines[name])
