"""A network as a policy."""

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from agents.checkpoint import CheckpointError, Header, load_checkpoint
from agents.network import Actor
from agents.policy import GREEDY, Decision
from bourre_env.bourre.observation import unpack
from bourre_env.bourre.rules import Rules

CHUNK = 256
"""Rows the network is asked at a time, always as many: matrix products may round differently for another number of
rows, and a choice must not depend on which decisions are asked together."""

_TO_UNIT = 2.0**-53


class NetworkPolicy:
    """Plays what a network says: drawn from its distribution, or its likeliest action.

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
        self.greedy = greedy

    def check_rules(self, rules: Rules) -> None:
        """Refuse rules the network was not made for.

        Raises:
            CheckpointError: names the rules it may play by.
        """
        known = [allowed for allowed in self.header.rules if allowed.fingerprint == rules.fingerprint]
        if not known:
            listed = "; ".join(
                f"{allowed.num_players} seats, rules {allowed.fingerprint}" for allowed in self.header.rules
            )
            raise CheckpointError(
                f"{self.name} was not trained for {rules.num_players} seats under the rules {rules.fingerprint}; "
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
        words = decision.showing(self.header.seats_shown).packed
        legal = decision.legal_action_mask
        uniforms = uniform_numbers(decision.key)
        actions = np.empty(len(decision), np.int64)
        for start in range(0, len(decision), CHUNK):
            rows = slice(start, start + CHUNK)
            actions[rows] = self._act_on_chunk(words[rows], legal[rows], uniforms[rows])
        return actions

    @torch.inference_mode()
    def _act_on_chunk(
        self, words: NDArray[np.uint64], legal: NDArray[np.bool_], uniforms: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Actions of at most `CHUNK` rows, filled up to exactly `CHUNK` with copies of the first."""
        filled = np.zeros(CHUNK, np.int64)
        filled[: len(words)] = np.arange(len(words))
        observation = torch.from_numpy(unpack(words[filled]))
        distribution = self.actor(observation, torch.from_numpy(legal[filled]))
        chosen = distribution.greedy() if self.greedy else distribution.sample(torch.from_numpy(uniforms[filled]))
        actions: NDArray[np.int64] = chosen.numpy()[: len(words)]
        return actions


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


def uniform_numbers(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """[D] float64 in [0, 1), one from each key [D]."""
    return (keys >> np.uint64(11)).astype(np.float64) * _TO_UNIT
