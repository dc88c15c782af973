"""A network as a policy."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from agents.checkpoint import DMC, CheckpointError, Header, load_checkpoint
from agents.device import device_of, packed_rows
from agents.distribution import MaskedDistribution
from agents.network import Actor
from agents.policy import GREEDY, Decision, uniform_numbers
from bourre_env.family import GameRules, rules_difference, rules_text

CHUNK = 256
"""Rows the network is asked at a time, always as many: matrix products may round differently for another number of
rows, and a choice must not depend on which decisions are asked together."""


class NetworkPolicy:
    """Plays what a network says: drawn from its distribution, or its likeliest action.

    A network of action values has no distribution to draw from; it is always greedy.

    Attributes:
        name: what reports call it.
        header: what the checkpoint says about itself.
        greedy: take the likeliest action instead of drawing one.
    """

    def __init__(self, actor: Actor, header: Header, *, name: str, greedy: bool = False) -> None:
        """Wrap a network.

        Args:
            actor: the network; it is not copied, so the policy follows its training.
            header: names the rules it may play by and the seats its observations show.
            name: what reports call it.
            greedy: take the likeliest action.
        """
        self.actor = actor
        self.header = header
        self.name = name
        self.greedy = greedy or header.learner == DMC

    def check_rules(self, rules: GameRules) -> None:
        """Refuse rules the network was not made for.

        Raises:
            CheckpointError: names the rules it may play by.
        """
        known = [allowed for allowed in self.header.rules if allowed.fingerprint == rules.fingerprint]
        if not known:
            if rules.game != self.header.game:
                raise CheckpointError(f"{self.name} was trained for {self.header.game}; it does not play {rules.game}")
            listed = "; ".join(
                f"{allowed.num_players} seats, rules {rules_text(allowed)} (not alike: "
                f"{rules_difference(allowed, rules)})"
                for allowed in self.header.rules
            )
            raise CheckpointError(
                f"{self.name} was not trained for {rules.num_players} seats under the rules {rules_text(rules)}; "
                f"it plays: {listed}"
            )

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.int64]:
        """One legal action a row; `decision.key` decides what is drawn.

        Args:
            decision: D decisions.
            rng: not used.

        Returns:
            [D] int64.
        """
        uniforms = uniform_numbers(decision.key)
        actions = np.empty(len(decision), np.int64)
        for rows, distribution in self._distributions(decision):
            actions[rows] = self._chosen(distribution, uniforms[rows])
        return actions

    def probs(self, decision: Decision) -> NDArray[np.float64]:
        """How likely `act` takes each action; 0 and 1 for a greedy policy.

        Args:
            decision: D decisions.

        Returns:
            [D, A] float64.
        """
        probs = np.zeros(decision.legal_action_mask.shape)
        for rows, distribution in self._distributions(decision):
            if self.greedy:
                chosen = distribution.greedy().cpu().numpy()[: len(probs[rows])]
                probs[rows][np.arange(len(chosen)), chosen] = 1
            else:
                probs[rows] = distribution.probs.cpu().numpy()[: len(probs[rows])]
        return probs

    def _chosen(self, distribution: MaskedDistribution, uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
        """Actions of the rows that uniform numbers were given for."""
        filled = np.zeros(CHUNK)
        filled[: len(uniforms)] = uniforms
        uniform = torch.from_numpy(filled).to(device_of(self.actor))
        chosen = distribution.greedy() if self.greedy else distribution.sample(uniform)
        actions: NDArray[np.int64] = chosen.cpu().numpy()[: len(uniforms)]
        return actions

    def _distributions(self, decision: Decision) -> Iterator[tuple[slice, MaskedDistribution]]:
        """What the network says, `CHUNK` rows at a time, the last ones filled up with copies of their first."""
        words = decision.showing(self.header.seats_shown).packed
        legal = decision.legal_action_mask
        for start in range(0, len(decision), CHUNK):
            rows = slice(start, min(start + CHUNK, len(decision)))
            filled = np.full(CHUNK, start)
            filled[: rows.stop - start] = np.arange(start, rows.stop)
            yield rows, self._distribution(words[filled], legal[filled])

    @torch.inference_mode()
    def _distribution(self, words: NDArray[np.uint64], legal: NDArray[np.bool_]) -> MaskedDistribution:
        """What the network says to packed observations [CHUNK, W] and legal actions [CHUNK, A]."""
        device = device_of(self.actor)
        said: MaskedDistribution = self.actor(packed_rows(words, device), torch.from_numpy(legal).to(device))
        return said


def load_network_policy(path: str | Path) -> NetworkPolicy:
    """The policy of a checkpoint file.

    Args:
        path: a `.safetensors` file; with `:greedy` behind it the policy takes its likeliest action.

    Raises:
        CheckpointError: the file is missing, damaged or of another kind.
    """
    text = str(path)
    greedy = text.endswith(GREEDY)
    file = Path(text.removesuffix(GREEDY))
    header, actor = load_checkpoint(file)
    name = f"{file.parent.name}/{file.stem}" if file.parent.name else file.stem
    return NetworkPolicy(actor, header, name=name + GREEDY * greedy, greedy=greedy)
