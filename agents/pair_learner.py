"""Policy gradients from decisions played on in two ways (`agents.pairs`): proximal, clipped, and without a critic.

The objective is that of `agents.ppo`; only where the advantages come from is another. Entropy is part of what a
decision gains: the rarer of two actions is credited with being rare, which in the mean over all pairs is the gradient
of the entropy at every decision, also of those that gave no pair.

Shapes: P pairs, A actions, W words of an observation.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.config import ConfigError, LearnConfig
from agents.descent import Descent
from agents.device import CPU, device_of, legal_mask, packed_rows, sent
from agents.distribution import MaskedDistribution
from agents.minibatches import Numbering
from agents.network import Actor, Foreteller, NetworkSpec
from agents.pairs import Pairs
from agents.ppo import (
    Measures,
    Weights,
    clipped_policy_loss,
    critic_loss,
    mean,
    measure_entropies,
    no_number,
)
from agents.ranks import ALONE, Ranks
from agents.rollout import Rollout
from agents.threads import Threads

SAMPLE = 1024  # decisions whose entropies are measured after an update
_FORETELLER = "foreteller"  # in the state of a run
_NO_SPREAD = 1e-6  # added to the root mean square of gains


def check_foretelling(spec: NetworkSpec, config: LearnConfig) -> None:
    """Refuse a second task for hidden layers that there are not.

    Raises:
        ConfigError: hidden layers are to foretell, and the network has none that its scores come from.
    """
    if config.foretelling and spec.is_own:
        raise ConfigError(
            f"learn.foretelling = {config.foretelling:g}: this game's own networks score actions one by one, without a "
            "last hidden layer to foretell from; set it to 0"
        )


class PairLearner:
    """The actor with its optimiser.

    Attributes:
        actor: plays.
        critic: there is none.
    """

    critic = None

    def __init__(
        self,
        spec: NetworkSpec,
        config: LearnConfig,
        *,
        seed: int,
        device: torch.device = CPU,
        ranks: Ranks = ALONE,
    ) -> None:
        """Draw the network's weights; arguments as for `agents.ppo.Learner`.

        Raises:
            ConfigError: hidden layers are to foretell, and the network has none that its scores come from.
        """
        check_foretelling(spec, config)
        self.config, self._ranks = config, ranks
        self.actor = Actor(spec, torch.Generator().manual_seed(seed)).to(device)
        self._foreteller = Foreteller(spec).to(device) if config.foretelling else None
        loss = _PairLoss(self.actor, self._foreteller, config)
        self._descent = Descent(loss)
        self._loss = ranks.share(loss)

    def update(self, rollout: Rollout, weights: Weights, *, seed: int, threads: Threads) -> dict[str, float]:
        """Learn from the pairs of finished deals, `epochs` times over.

        Args:
            rollout: deals just played by the actor, with pairs; those of this rank.
            weights: coefficients of this update.
            seed: decides the minibatches.
            threads: not needed, there is one network.

        Returns:
            Values by tag; those of the loss are means over the last epoch.

        Raises:
            DivergedError: a loss or an output is not finite; that step is not taken, by any rank.
            FloatingPointError: after the last step the network gives no numbers any more, here or on another rank.
            LostRankError: another rank has died.
        """
        pairs = rollout.pairs
        if pairs is None:
            raise ValueError("the rollout has no pairs; play it with pairs=True")
        squares = float((pairs.gains.astype(np.float64) ** 2).sum())
        equal = int((pairs.gains == 0).sum())
        sums = np.sum(self._ranks.gather((squares, equal, len(pairs), len(rollout))), axis=0)
        num_pairs = max(sums[2], 1)
        deviation = np.sqrt(sums[0] / num_pairs)
        gains = (pairs.gains / (deviation + _NO_SPREAD)).astype(np.float32)
        results = rollout.results[pairs.deal, pairs.seat]
        measures = self._learn(pairs, gains, results, weights, np.random.default_rng(seed))
        problem = None
        try:
            self._measure_entropies(rollout, measures)
        except FloatingPointError as error:
            problem = str(error)
        problems = [problem for problem in self._ranks.gather(problem) if problem is not None]
        if problems:  # the rows of one rank alone may show it
            raise FloatingPointError(problems[0])
        return {
            "ppo/kl": 0.0,  # where no decision gave a pair nothing was learned
            **measures.means(self._ranks),
            "pairs/share": sums[2] / max(sums[3] * self.config.pair_share, 1),
            "pairs/gain_std": float(deviation),
            "pairs/equal": sums[1] / num_pairs,
        }

    def _learn(
        self,
        pairs: Pairs,
        gains: NDArray[np.float32],
        results: NDArray[np.float32],
        weights: Weights,
        order: np.random.Generator,
    ) -> Measures:
        """All epochs."""
        numbering = Numbering.of(pairs.step, self._ranks)
        measures = Measures()
        for epoch in range(1, self.config.epochs + 1):
            measures = Measures(idle=epoch < self.config.epochs)
            for rows, number in numbering.minibatches(self.config.minibatch, order):
                batch = PairBatch.of(pairs, gains, rows, self.actor.spec, device_of(self.actor))
                brought = sent(results[rows], device_of(self.actor))
                loss = self._loss(batch, brought, weights, number / self._ranks.count, measures)
                norm = self._descent.step(loss, weights.learning_rate, self.config.gradient_norm)
                measures.add("ppo/gradient_norm", norm)
        return measures

    @torch.inference_mode()
    def _measure_entropies(self, rollout: Rollout, measures: Measures) -> None:
        """Entropies of decisions spread evenly over the rollout: pairs alone would show the undecided ones only."""
        rows = np.arange(0, len(rollout), -(-len(rollout) // SAMPLE)) if len(rollout) else np.empty(0, np.int64)
        device = device_of(self.actor)
        legal = legal_mask(rollout.legal[rows], self.actor.spec.num_actions, device)
        distribution = self.actor(packed_rows(rollout.words[rows, : self.actor.spec.num_words], device), legal)
        choice, inside = distribution.entropy_in_two_steps(self.actor.groups)
        measure_entropies(choice, inside, legal, self.actor.groups, measures)

    def start_from(self, actor: Actor) -> None:
        """Take another network's weights, which has the same sizes, and forget all steps taken."""
        self.actor.load_state_dict(actor.state_dict())
        self._descent.forget()

    def state(self) -> dict[str, dict[str, Any]]:
        """Everything that changes by learning, as tensors and plain values."""
        foreteller = {} if self._foreteller is None else {_FORETELLER: self._foreteller.state_dict()}
        return {"actor": self.actor.state_dict(), "actor_optimizer": self._descent.state(), **foreteller}

    def load_state(self, state: dict[str, dict[str, Any]]) -> None:
        """The inverse of `state`.

        Raises:
            KeyError, ValueError, RuntimeError: it is the state of other networks, or was learned with a critic.
        """
        if "critic" in state:
            raise ValueError('it was learned with a critic; write advantages = "critic" under [learn] in config.toml')
        if (_FORETELLER in state) != (self._foreteller is not None):
            raise ValueError(
                "learn.foretelling is 0 in one run and more in the other; keep it in config.toml as it was"
            )
        self.actor.load_state_dict(state["actor"])
        if self._foreteller is not None:
            self._foreteller.load_state_dict(state[_FORETELLER])
        self._descent.load_state(state["actor_optimizer"])


@dataclass(frozen=True, slots=True)
class PairBatch:
    """Some pairs as tensors.

    Attributes:
        observation: [P, W] int64, packed.
        legal: [P, A] bool.
        actions: [P, 2] int64, the action taken and the other one.
        log_probs: [P, 2] float32, of both when they were drawn.
        gains: [P] float32 of the first over the second, with a root mean square of 1.
    """

    observation: Tensor
    legal: Tensor
    actions: Tensor
    log_probs: Tensor
    gains: Tensor

    @staticmethod
    def of(
        pairs: Pairs,
        gains: NDArray[np.float32],
        rows: NDArray[np.int64],
        spec: NetworkSpec,
        device: torch.device = CPU,
    ) -> "PairBatch":
        """The pairs `rows` on a device."""
        return PairBatch(
            packed_rows(pairs.words[rows], device),
            legal_mask(pairs.legal[rows], spec.num_actions, device),
            sent(np.stack([pairs.actions[rows], pairs.others[rows]], axis=1), device),
            sent(np.stack([pairs.log_probs[rows], pairs.other_log_probs[rows]], axis=1), device),
            sent(gains[rows], device),
        )


class _PairLoss(nn.Module):
    """The actor with its loss: one function from a minibatch to a scalar, whose gradients ranks can share."""

    def __init__(self, actor: Actor, foreteller: Foreteller | None, config: LearnConfig) -> None:
        """Take the weights of the actor, and of what foretells from its hidden layer, as its own."""
        super().__init__()
        self.actor, self.foreteller, self._config = actor, foreteller, config

    def forward(self, batch: PairBatch, results: Tensor, weights: Weights, rows: float, measures: Measures) -> Tensor:
        """A scalar (`pair_loss`); not a number where the weights have diverged.

        Args:
            batch: P pairs.
            results: [P] float32, what the deal brought the seat after the first action of each.
            weights: coefficients of this update.
            rows: what sums over pairs are divided by.
            measures: is told what it looked like.
        """
        hidden = self.actor.body(batch.observation)
        try:
            distribution = self.actor.distribution(hidden, batch.observation, batch.legal)
        except FloatingPointError:
            return no_number(self)
        loss = pair_loss(distribution, batch, self.actor.groups, weights, self._config, measures, rows=rows)
        if self.foreteller is None:
            return loss
        error = critic_loss(self.foreteller(hidden), results, self._config.huber, rows=rows)
        measures.add("pairs/foretelling_loss", error.item())
        return loss + self._config.foretelling * error


def pair_loss(
    distribution: MaskedDistribution,
    batch: PairBatch,
    groups: Tensor,
    weights: Weights,
    config: LearnConfig,
    measures: Measures,
    *,
    rows: float | None = None,
) -> Tensor:
    """The loss of the actor: clipped policy gradient towards the better action of each pair, and a pull to what played.

    Args:
        distribution: of the network being learned, over the same legal actions as when the pairs were drawn.
        batch: the pairs.
        groups: [A] int64, the group of each action.
        weights: coefficients of the entropy terms.
        config: clip range and weight of the pull.
        measures: is told what it looked like.
        rows: what sums over rows are divided by; the number of rows when left out.

    Returns:
        A scalar.
    """
    log_ratio = distribution.log_probs.gather(1, batch.actions) - batch.log_probs
    ratio = log_ratio.exp()
    cost = _cost(distribution, batch.actions, groups, weights)
    first = batch.gains - (cost[:, 0] - cost[:, 1])
    gains = torch.stack([first, -first], dim=1)
    twice = None if rows is None else 2 * rows
    policy_loss = clipped_policy_loss(ratio.flatten(), gains.flatten(), config.clip, rows=twice)
    kl = mean((ratio - 1 - log_ratio).flatten(), twice)
    loss = policy_loss + config.proximal_kl * kl if config.proximal_kl else policy_loss
    if not measures.idle:
        with torch.no_grad():
            clipped = ((ratio - 1).abs() > config.clip).float().flatten()
            measures.add("ppo/policy_loss", policy_loss.item())
            measures.add("ppo/kl", kl.item())
            measures.add("ppo/clip_fraction", mean(clipped, twice).item())
    return loss


def _cost(distribution: MaskedDistribution, actions: Tensor, groups: Tensor, weights: Weights) -> Tensor:
    """[P, 2] float32: what each action is charged for being likely, its group and it inside its group."""
    between, inside = distribution.surprises(actions, groups)
    return (weights.entropy + weights.stay_or_pass_entropy) * between + weights.entropy * inside
