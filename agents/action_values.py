"""A network of action values: what each action of a decision brings if the deal goes on as deals did.

It is the actor's network (`agents.network.Actor`) with its outputs read in another way: each action (in Bourré a card
to play, a way to discard, passing) has a value, in what the game is learned in (pots, or points), and nothing is
normalised. As a policy it takes the best action; in training it explores.

Shapes: D decisions, W words of an observation, A actions.
"""

import copy
from dataclasses import dataclass

import torch
from torch import Tensor

from agents.distribution import MaskedDistribution, masked_log_softmax
from agents.network import Actor, NetworkSpec

_NEVER = -1e9  # a logit so far below 0 that a distribution gives its action the least probability it has


@dataclass(frozen=True, slots=True)
class Exploration:
    """How training deals leave the best action.

    Attributes:
        epsilon: share of decisions drawn evenly, staying and passing alike where both may be.
        temperature: of the others, in units of the game: actions are as likely as exp(value / temperature); 0 takes the
            best one.
    """

    epsilon: float = 0.0
    temperature: float = 0.0


class ActionValues(Actor):
    """Observation -> the value of every action; and from these one distribution over the legal ones.

    Attributes:
        exploration: none, unless it is a player of training deals.
    """

    exploration = Exploration()

    def __init__(self, spec: NetworkSpec, generator: torch.Generator) -> None:
        """Build the network and draw its weights; arguments as for `agents.network.Actor`."""
        super().__init__(spec, generator)
        self._num_groups = int(self.groups.max()) + 1

    def exploring(self, exploration: Exploration) -> "ActionValues":
        """The same network, weights shared, as a player that explores."""
        player = copy.copy(self)
        player.exploration = exploration
        return player

    def values(self, observation: Tensor) -> Tensor:
        """[D, A] float32, in units of the game; those of illegal actions mean nothing.

        Args:
            observation: [D, W] int64, packed.
        """
        return torch.cat(self.scores(observation), dim=1)

    def forward(self, observation: Tensor, legal: Tensor) -> MaskedDistribution:
        """How likely each legal action of each row is taken; without exploration the best one always.

        Args:
            observation: [D, W] int64, packed.
            legal: [D, A] bool.

        Raises:
            ValueError: a row without a legal action.
            FloatingPointError: the weights have diverged.
        """
        values = self.values(observation)
        epsilon, temperature = self.exploration.epsilon, self.exploration.temperature
        logits = self._in_two_steps(values / temperature, legal) if temperature else _best_alone(values, legal)
        chosen = MaskedDistribution(logits, legal)
        if not epsilon:
            return chosen
        evenly = MaskedDistribution(self._in_two_steps(torch.zeros_like(values), legal), legal)
        return MaskedDistribution(torch.log((1 - epsilon) * chosen.probs + epsilon * evenly.probs), legal)

    def _in_two_steps(self, logits: Tensor, legal: Tensor) -> Tensor:
        """[D, A]: logits that make a group of actions as likely as its best one would be alone, however many it has.

        With one chance for each of 33 actions passing would hardly ever be tried, and its value never be learned.
        """
        grouped = torch.full_like(logits, _NEVER)
        for group in range(self._num_groups):
            among = legal & (self.groups == group)
            best = logits.masked_fill(~among, -torch.inf).amax(dim=1, keepdim=True)
            grouped = torch.where(among, best + masked_log_softmax(logits, among)[0], grouped)
        return grouped


def _best_alone(values: Tensor, legal: Tensor) -> Tensor:
    """[D, A]: logits of the best legal action of each row, the first of equals; not numbers where that is none."""
    best, action = values.masked_fill(~legal, -torch.inf).max(dim=1, keepdim=True)
    return torch.full_like(values, _NEVER).scatter(1, action, best - best)
