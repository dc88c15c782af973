"""Proximal policy optimisation (Schulman et al., 2017) on finished deals.

Read from top to bottom: what one update does, then the loss. Every decision of a seat is credited with what the deal
brought that seat, less what the critic, who may see all hands, expected. Nothing is discounted and no trajectory is
cut. With `gae_lambda` below 1 part of the credit is what the critic expected at the seat's later decisions of the deal.

That is `learn.advantages = "critic"`. The default, `agents.pair_learner`, has the same objective and optimiser and no
critic.

Several ranks learn what one would have learned from the deals of all: minibatches, advantages and losses are those of
all decisions, each rank works on its own ones, and the gradients are added up.

Shapes: D decisions, A actions, W words of an observation, K words of hidden hands.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.config import LearnConfig
from agents.device import CPU, device_of, legal_mask, packed_rows, rows_at_a_time, sent
from agents.distribution import MaskedDistribution
from agents.minibatches import Numbering
from agents.network import PASS, STAY, Actor, Critic, NetworkSpec
from agents.ranks import ALONE, Ranks, lost_ranks_named
from agents.rollout import Rollout
from agents.threads import Threads

ADAM_EPSILON = 1e-5
_NO_SPREAD = 1e-6  # added to the standard deviation of advantages

Minibatches: TypeAlias = Iterator[Iterator[tuple[NDArray[np.int64], int]]]
"""The minibatches of each epoch: rows, and the decisions of all ranks that are in it."""


class DivergedError(RuntimeError):
    """The loss or the weights are no longer finite."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Coefficients of an update, as the schedule has them at this point of the run.

    Attributes:
        learning_rate: step size of Adam.
        entropy: weight of the entropy over the legal actions.
        stay_or_pass_entropy: additional weight of the entropy of staying or passing.
        epsilon: with DMC, the share of decisions that are drawn evenly.
        temperature: with DMC, how far below the best an action is still taken.
    """

    learning_rate: float
    entropy: float
    stay_or_pass_entropy: float
    epsilon: float = 0.0
    temperature: float = 0.0

    @staticmethod
    def at(config: LearnConfig, progress: float) -> "Weights":
        """The coefficients after a share of the run: geometric from start to end.

        Args:
            config: starts and ends.
            progress: 0 to 1.
        """
        return Weights(
            learning_rate=_between(config.learning_rate, config.learning_rate_end, progress),
            entropy=_between(config.entropy, config.entropy_end, progress),
            stay_or_pass_entropy=_between(config.stay_or_pass_entropy, config.stay_or_pass_entropy_end, progress),
            epsilon=_between(config.epsilon, config.epsilon_end, progress),
            temperature=_between(config.temperature, config.temperature_end, progress),
        )


class Learner:
    """The two networks, which share nothing, each with its optimiser.

    Attributes:
        actor: plays.
        critic: only learns.
    """

    def __init__(
        self,
        spec: NetworkSpec,
        config: LearnConfig,
        *,
        seed: int,
        device: torch.device = CPU,
        ranks: Ranks = ALONE,
    ) -> None:
        """Draw the networks' weights.

        Args:
            spec: sizes of the networks.
            config: the hyper-parameters.
            seed: decides the weights; 0 to 2^64 - 1.
            device: where the networks live.
            ranks: who learns together; all make their learner at the same time.
        """
        generator = torch.Generator().manual_seed(seed)
        self.config, self._ranks = config, ranks
        self.actor = Actor(spec, generator).to(device)
        self.critic = Critic(spec, generator).to(device)
        self._actor_optimizer = adam(self.actor)
        self._critic_optimizer = adam(self.critic)
        self._loss_of_actor = ranks.share(_ActorLoss(self.actor, config))
        self._loss_of_critic = ranks.share(_CriticLoss(self.critic, config))

    def update(self, rollout: Rollout, weights: Weights, *, seed: int, threads: Threads) -> dict[str, float]:
        """Learn from finished deals, `epochs` times over.

        Args:
            rollout: deals just played by the actor; those of this rank.
            weights: coefficients of this update.
            seed: decides the minibatches.
            threads: actor and critic learn side by side on two of them.

        Returns:
            Values by tag; those of the losses are means over the last epoch, the explained variance is this rank's.

        Raises:
            DivergedError: a loss or an output is not finite; that step is not taken, by any rank.
            LostRankError: another rank has died.
        """
        values = self._values(rollout, threads)
        targets = lambda_returns(rollout, values, self.config.gae_lambda)
        raw = targets - values
        mean, deviation = self._ranks.mean_and_deviation(raw)
        advantages = (raw - mean) / (deviation + _NO_SPREAD)
        numbering = Numbering.of(rollout.step, self._ranks)
        pieces: list[Callable[[], Measures]] = [
            lambda: self._learn_actor(rollout, advantages, weights, self._drawn(numbering, seed)),
            lambda: self._learn_critic(rollout, targets, weights, self._drawn(numbering, seed)),
        ]
        # NCCL wants its messages in one order on all ranks, whichever network they belong to
        side_by_side = self._ranks.count == 1 or device_of(self.actor).type == "cpu"
        of_actor, of_critic = threads.map(_call, pieces) if side_by_side else [piece() for piece in pieces]
        return {
            **of_actor.means(self._ranks),
            **of_critic.means(self._ranks),
            "critic/explained_variance": explained_variance(rollout.rewards, values),
            "critic/advantage_std": float(deviation),
        }

    def _drawn(self, numbering: Numbering, seed: int) -> Minibatches:
        """The minibatches of all epochs."""
        order = np.random.default_rng(seed)
        for _ in range(self.config.epochs):
            yield numbering.minibatches(self.config.minibatch, order)

    def _values(self, rollout: Rollout, threads: Threads) -> NDArray[np.float32]:
        """[D] float32: what the critic expected before this update."""
        size = rows_at_a_time(device_of(self.critic))
        starts = range(0, len(rollout), size)
        parts = threads.map(lambda start: expect(self.critic, rollout.words[start : start + size]), starts)
        return np.concatenate(parts or [np.empty(0, np.float32)])

    def _learn_actor(
        self, rollout: Rollout, advantages: NDArray[np.float32], weights: Weights, epochs: Minibatches
    ) -> "Measures":
        """All epochs of the actor."""
        for epoch, minibatches in enumerate(epochs, start=1):
            measures = Measures(idle=epoch < self.config.epochs)
            for rows, number in minibatches:
                batch = Minibatch.of(rollout, advantages, rows, self.actor.spec, device_of(self.actor))
                loss = self._loss_of_actor(batch, weights, number / self._ranks.count, measures)
                norm = descend(
                    self.actor, self._actor_optimizer, loss, weights.learning_rate, self.config.gradient_norm
                )
                measures.add("ppo/gradient_norm", norm)
        return measures

    def _learn_critic(
        self, rollout: Rollout, targets: NDArray[np.float32], weights: Weights, epochs: Minibatches
    ) -> "Measures":
        """All epochs of the critic."""
        for minibatches in epochs:
            measures = Measures()
            for rows, number in minibatches:
                words = packed_rows(rollout.words[rows], device_of(self.critic))
                loss = self._loss_of_critic(words, sent(targets[rows], words.device), number / self._ranks.count)
                descend(self.critic, self._critic_optimizer, loss, weights.learning_rate, self.config.gradient_norm)
                measures.add("critic/value_loss", loss.item())
        return measures

    def start_from(self, actor: Actor) -> None:
        """Take another actor's weights, which has the same sizes, and forget its steps; the critic stays."""
        self.actor.load_state_dict(actor.state_dict())
        self._actor_optimizer.state.clear()

    def state(self) -> dict[str, dict[str, Any]]:
        """Everything that changes by learning, as tensors and plain values."""
        return {
            "actor": self.actor.state_dict(),
            "critic": self.critic.state_dict(),
            "actor_optimizer": self._actor_optimizer.state_dict(),
            "critic_optimizer": self._critic_optimizer.state_dict(),
        }

    def load_state(self, state: dict[str, dict[str, Any]]) -> None:
        """The inverse of `state`.

        Raises:
            KeyError, ValueError, RuntimeError: it is the state of other networks.
        """
        self.actor.load_state_dict(state["actor"])
        self.critic.load_state_dict(state["critic"])
        self._actor_optimizer.load_state_dict(state["actor_optimizer"])
        self._critic_optimizer.load_state_dict(state["critic_optimizer"])


class _ActorLoss(nn.Module):
    """The actor with its loss: one function from a minibatch to a scalar, whose gradients ranks can share."""

    def __init__(self, actor: Actor, config: LearnConfig) -> None:
        """Take the actor's weights as its own."""
        super().__init__()
        self.actor, self._config = actor, config

    def forward(self, batch: "Minibatch", weights: Weights, rows: float, measures: "Measures") -> Tensor:
        """A scalar (`actor_loss`); not a number where the weights have diverged."""
        try:
            distribution = self.actor(batch.observation, batch.legal)
        except FloatingPointError:
            return no_number(self.actor)
        return actor_loss(distribution, batch, self.actor.groups, weights, self._config, measures, rows=rows)


def no_number(network: nn.Module) -> Tensor:
    """A scalar that is not a number, and whose gradients are none, for every weight of a network."""
    return torch.stack([weight.sum() * torch.nan for weight in network.parameters()]).sum()


class _CriticLoss(nn.Module):
    """The critic with its loss."""

    def __init__(self, critic: Critic, config: LearnConfig) -> None:
        """Take the critic's weights as its own."""
        super().__init__()
        self.critic, self._huber = critic, config.huber

    def forward(self, words: Tensor, results: Tensor, rows: float) -> Tensor:
        """A scalar (`critic_loss`)."""
        return critic_loss(self.critic(words), results, self._huber, rows=rows)


def _call(piece: "Callable[[], Measures]") -> "Measures":
    """One network's learning."""
    return piece()


def adam(network: nn.Module) -> torch.optim.Adam:
    """Adam for one network; its step size is set at every step."""
    return torch.optim.Adam(network.parameters(), eps=ADAM_EPSILON, fused=True)


def descend(
    network: nn.Module, optimizer: torch.optim.Adam, loss: Tensor, learning_rate: float, longest: float
) -> float:
    """One step of an optimiser down a loss; returns the length of the gradient, which is shortened to the longest.

    A loss that is no number makes the gradient none, which is how the other ranks learn of it.
    """
    broken = not bool(torch.isfinite(loss))
    optimizer.zero_grad()
    with lost_ranks_named():
        (loss * torch.nan if broken else loss).backward()  # type: ignore[no-untyped-call]
    norm = torch.nn.utils.clip_grad_norm_(network.parameters(), longest)
    if broken or not bool(torch.isfinite(norm)):
        raise DivergedError(f"the {'loss' if broken else 'gradient'} is not finite")
    optimizer.param_groups[0]["lr"] = learning_rate
    optimizer.step()
    return norm.item()


@torch.inference_mode()
def expect(critic: Critic, words: NDArray[np.uint64]) -> NDArray[np.float32]:
    """[D] float32: the critic's values of packed rows [D, W + K]."""
    values: NDArray[np.float32] = critic(packed_rows(words, device_of(critic))).cpu().numpy()
    return values


def lambda_returns(rollout: Rollout, values: NDArray[np.float32], gae_lambda: float) -> NDArray[np.float32]:
    """What each decision is credited with: the result, or in part what was expected later (Schulman et al., 2016).

    A trajectory is what one seat decides in one deal; other seats act between its decisions. The only reward comes at
    its end, so at its last decision the credit is the result, and before it the mean, with weights 1 - lambda and
    lambda, of the value of its next decision and of the credit there. Less the values these are the advantages of
    generalised advantage estimation.

    Args:
        rollout: finished deals.
        values: [D] float32, the critic's.
        gae_lambda: 1 gives the results themselves, to the last bit.

    Returns:
        [D] float32.
    """
    returns = rollout.rewards.copy()
    following = rollout.following()
    rows = np.flatnonzero(following >= 0)
    preceding = np.full(len(rollout), -1, np.int64)
    preceding[following[rows]] = rows
    rows = preceding[following < 0]
    while (rows := rows[rows >= 0]).size:  # from the ends of all trajectories backwards
        later = following[rows]
        returns[rows] = (1 - gae_lambda) * values[later] + gae_lambda * returns[later]
        rows = preceding[rows]
    return returns


@dataclass(frozen=True, slots=True)
class Minibatch:
    """Some decisions of a rollout as tensors, for the actor.

    Attributes:
        observation: [D, W] int64, packed.
        legal: [D, A] bool.
        actions: [D] int64.
        log_probs: [D] float32, of the actions when they were taken.
        advantages: [D] float32, normalised.
    """

    observation: Tensor
    legal: Tensor
    actions: Tensor
    log_probs: Tensor
    advantages: Tensor

    @staticmethod
    def of(
        rollout: Rollout,
        advantages: NDArray[np.float32],
        rows: NDArray[np.int64],
        spec: NetworkSpec,
        device: torch.device = CPU,
    ) -> "Minibatch":
        """The decisions `rows` of a rollout on a device; hidden hands are left out."""
        return Minibatch(
            observation=packed_rows(rollout.words[rows, : spec.num_words], device),
            legal=legal_mask(rollout.legal[rows], spec.num_actions, device),
            actions=sent(rollout.actions[rows], device),
            log_probs=sent(rollout.log_probs[rows], device),
            advantages=sent(advantages[rows], device),
        )


def actor_loss(
    distribution: MaskedDistribution,
    batch: Minibatch,
    groups: Tensor,
    weights: Weights,
    config: LearnConfig,
    measures: "Measures",
    *,
    rows: float | None = None,
) -> Tensor:
    """The loss of the actor: clipped policy gradient, entropy bonus, and a pull to the policy that played.

    Args:
        distribution: of the network being learned, over the same legal actions as when the deals were played.
        batch: the decisions.
        groups: [A] int64, the group of each action.
        weights: coefficients of the entropy terms.
        config: clip range and weight of the pull.
        measures: is told what it looked like.
        rows: what sums over rows are divided by; the number of rows when left out.

    Returns:
        A scalar.
    """
    log_ratio = distribution.log_prob(batch.actions) - batch.log_probs
    ratio = log_ratio.exp()
    policy_loss = clipped_policy_loss(ratio, batch.advantages, config.clip, rows=rows)
    choice, inside = distribution.entropy_in_two_steps(groups)
    # Schulman's estimator of KL(played || learned): never negative, and small where the ratio is near 1
    kl = mean(ratio - 1 - log_ratio, rows)
    bonus = weights.entropy * mean(choice + inside, rows) + weights.stay_or_pass_entropy * mean(choice, rows)
    loss = policy_loss - bonus
    if config.proximal_kl:  # at weight 0 it must not matter what the divergence is
        loss = loss + config.proximal_kl * kl
    if not measures.idle:
        with torch.no_grad():
            measures.add("ppo/policy_loss", policy_loss.item())
            measures.add("ppo/kl", kl.item())
            measures.add("ppo/clip_fraction", mean(((ratio - 1).abs() > config.clip).float(), rows).item())
            measure_entropies(choice, inside, batch.legal, groups, measures)
    return loss


def clipped_policy_loss(ratio: Tensor, advantages: Tensor, clip: float, *, rows: float | None = None) -> Tensor:
    """A scalar: minus the mean of the smaller of the plain and the clipped objective (equation 7 of the paper)."""
    clipped = ratio.clamp(1 - clip, 1 + clip)
    return -mean(torch.minimum(ratio * advantages, clipped * advantages), rows)


def critic_loss(values: Tensor, rewards: Tensor, huber: float, *, rows: float | None = None) -> Tensor:
    """A scalar: Huber loss of the values [D] against the results [D]."""
    return mean(torch.nn.functional.huber_loss(values, rewards, delta=huber, reduction="none"), rows)


def mean(values: Tensor, rows: float | None = None) -> Tensor:
    """A scalar: the sum of the values [D] over `rows`, or over D when that is left out.

    Each of R ranks has some of the rows of a minibatch and divides by an R-th of them all: the mean over the ranks,
    which is what becomes of their gradients, is then the mean over all rows, and a rank may well have none.
    """
    return values.sum() / (len(values) if rows is None else rows)


def explained_variance(results: NDArray[np.float32], expected: NDArray[np.float32]) -> float:
    """Share of the variance of results that was foreseen: 1 is perfect, 0 no better than a constant."""
    spread = float(results.var()) if len(results) else 0.0
    return 1 - float((results - expected).var()) / spread if spread > 0 else float("nan")


def measure_entropies(choice: Tensor, inside: Tensor, legal: Tensor, groups: Tensor, measures: "Measures") -> None:
    """Mean entropies of declarations and of card plays."""
    may_stay = (legal & (groups == STAY)).any(dim=1)
    may_pass = (legal & (groups == PASS)).any(dim=1)
    declares = may_stay | may_pass
    total = choice + inside
    for tag, values in (
        ("policy/entropy_declare", total[declares]),
        ("policy/entropy_play", total[~declares]),
        ("policy/entropy_stay_or_pass", choice[may_stay & may_pass]),
    ):
        measures.add(tag, values.mean().item() if len(values) else 0.0, weight=len(values))


class Measures:
    """Means of numbers that come in one minibatch at a time, on every rank one for its own rows.

    Attributes:
        idle: nobody will ask for them, so there is no need to work them out.
    """

    def __init__(self, *, idle: bool = False) -> None:
        """Nothing has come in."""
        self.idle = idle
        self._values: dict[str, list[tuple[float, float]]] = {}

    def add(self, tag: str, value: float, *, weight: float = 1) -> None:
        """One more number; ranks' numbers of a minibatch count by their weights, and minibatches alike."""
        self._values.setdefault(tag, []).append((value, weight))

    def means(self, ranks: Ranks = ALONE) -> dict[str, float]:
        """The mean of each tag; what no minibatch had anything of is left out."""
        everybodys = ranks.gather(self._values)
        means = {}
        for tag in self._values:
            minibatches = zip(*(values[tag] for values in everybodys), strict=True)
            found = [_weighted(parts) for parts in minibatches if any(weight for _, weight in parts)]
            if found:
                means[tag] = sum(found) / len(found)
        return means


def _weighted(parts: Sequence[tuple[float, float]]) -> float:
    """The mean of (value, weight); of one part its very value."""
    total = sum(weight for _, weight in parts)
    return sum(value * (weight / total) for value, weight in parts)


def _between(start: float, end: float, progress: float) -> float:
    """Geometric interpolation; linear where an end is 0."""
    if start == 0 or end == 0:
        return start + (end - start) * progress
    return float(start * (end / start) ** progress)
