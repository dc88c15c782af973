"""Deep Monte Carlo (Zha et al., 2021, "DouZero"): regression of what deals brought on the values of the actions taken.

The network (`agents.action_values`) says what each action is worth, in units of the game. Deals are played by taking
the best action and now and then another one; afterwards the value of every action taken is moved towards what the deal
brought the seat that took it. There is no critic, no bootstrap and no policy besides the best action.

Differences from the paper: one network says the values of all actions at once instead of being asked for each; it
learns from the deals it has just played, in the same process, with Adam and a schedule; staying and passing are
explored alike.

Shapes: D decisions, A actions, W words of an observation.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.action_values import ActionValues
from agents.config import LearnConfig
from agents.descent import Descent
from agents.device import CPU, device_of, legal_mask, packed_rows, sent
from agents.minibatches import Numbering
from agents.network import Actor, NetworkSpec
from agents.ppo import Measures, Weights, critic_loss, explained_variance, mean, no_number
from agents.ranks import ALONE, Ranks
from agents.rollout import Rollout
from agents.threads import Threads

_NETWORK, _OPTIMIZER = "action_values", "action_values_optimizer"  # in the state of a run


class MonteCarloLearner:
    """The network with its optimiser.

    Attributes:
        actor: says the values; as a policy it takes the best action.
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
        """Draw the network's weights; arguments as for `agents.ppo.Learner`."""
        self.config, self._ranks = config, ranks
        self.actor = ActionValues(spec, torch.Generator().manual_seed(seed)).to(device)
        self._descent = Descent(self.actor)
        self._loss = ranks.share(_ValueLoss(self.actor, config))

    def update(self, rollout: Rollout, weights: Weights, *, seed: int, threads: Threads) -> dict[str, float]:
        """Learn from finished deals, `epochs` times over.

        Args:
            rollout: deals just played; those of this rank.
            weights: learning rate of this update, and how the deals were explored.
            seed: decides the minibatches.
            threads: not needed, there is one network.

        Returns:
            Values by tag. The loss and the gradient are means over the last epoch; the rest is what the network said
            when it came upon a decision for the first time, the explained variance that of this rank's decisions.

        Raises:
            DivergedError: a loss or a value is not finite; that step is not taken, by any rank.
            LostRankError: another rank has died.
        """
        order = np.random.default_rng(seed)
        numbering = Numbering.of(rollout.step, self._ranks)
        expected = np.zeros(len(rollout), np.float32)
        first = self._epoch(rollout, numbering, weights, order, expected)
        last = first
        for _ in range(1, self.config.epochs):
            last = self._epoch(rollout, numbering, weights, order)
        return {
            **first.means(self._ranks),
            **last.means(self._ranks),
            "dmc/explained_variance": explained_variance(rollout.rewards, expected),
            "schedule/epsilon": weights.epsilon,
            "schedule/temperature": weights.temperature,
        }

    def _epoch(
        self,
        rollout: Rollout,
        numbering: Numbering,
        weights: Weights,
        order: np.random.Generator,
        expected: NDArray[np.float32] | None = None,
    ) -> Measures:
        """Every decision once; the values of the actions taken are written into `expected` [D] where it is given."""
        measures = Measures()
        for rows, number in numbering.minibatches(self.config.minibatch, order):
            batch = ValueBatch.of(rollout, rows, self.actor.spec, device_of(self.actor))
            count = number / self._ranks.count
            loss, values, greedy = self._loss(batch, count)
            norm = self._descent.step(loss, weights.learning_rate, self.config.gradient_norm)
            measures.add("dmc/loss", loss.item())
            measures.add("dmc/gradient_norm", norm)
            if expected is not None:
                expected[rows] = values.cpu().numpy()
                measures.add("dmc/value", mean(values, count).item())
                measures.add("dmc/greedy_share", mean(greedy, count).item())
        return measures

    def start_from(self, actor: Actor) -> None:
        """Take another network's weights, which has the same sizes, and forget all steps taken."""
        self.actor.load_state_dict(actor.state_dict())
        self._descent.forget()

    def state(self) -> dict[str, dict[str, Any]]:
        """Everything that changes by learning, as tensors and plain values."""
        return {_NETWORK: self.actor.state_dict(), _OPTIMIZER: self._descent.state()}

    def load_state(self, state: dict[str, dict[str, Any]]) -> None:
        """The inverse of `state`.

        Raises:
            KeyError, ValueError, RuntimeError: it is the state of other networks, or of another learner.
        """
        if _NETWORK not in state:
            raise ValueError('it was learned by PPO; write method = "ppo" under [learn] in config.toml')
        self.actor.load_state_dict(state[_NETWORK])
        self._descent.load_state(state[_OPTIMIZER])


@torch.inference_mode()
def values_of(network: ActionValues, words: NDArray[np.uint64], actions: NDArray[np.int64]) -> NDArray[np.float32]:
    """[D] float32: the values of actions [D] in packed observations [D, W]."""
    device = device_of(network)
    chosen = network.values(packed_rows(words, device)).gather(1, sent(actions, device).unsqueeze(1))
    values: NDArray[np.float32] = chosen.squeeze(1).cpu().numpy()
    return values


@dataclass(frozen=True, slots=True)
class ValueBatch:
    """Some decisions of a rollout as tensors.

    Attributes:
        observation: [D, W] int64, packed.
        legal: [D, A] bool.
        actions: [D] int64, those taken.
        results: [D] float32, what the deal brought the seat, in units of the game.
    """

    observation: Tensor
    legal: Tensor
    actions: Tensor
    results: Tensor

    @staticmethod
    def of(rollout: Rollout, rows: NDArray[np.int64], spec: NetworkSpec, device: torch.device = CPU) -> "ValueBatch":
        """The decisions `rows` of a rollout on a device."""
        return ValueBatch(
            observation=packed_rows(rollout.words[rows, : spec.num_words], device),
            legal=legal_mask(rollout.legal[rows], spec.num_actions, device),
            actions=sent(rollout.actions[rows], device),
            results=sent(rollout.rewards[rows], device),
        )


class _ValueLoss(nn.Module):
    """The network with its loss: one function from a minibatch to a scalar, whose gradients ranks can share."""

    def __init__(self, network: ActionValues, config: LearnConfig) -> None:
        """Take the network's weights as its own."""
        super().__init__()
        self.network, self._huber = network, config.huber

    def forward(self, batch: ValueBatch, rows: float) -> tuple[Tensor, Tensor, Tensor]:
        """The loss, a scalar; and without gradients [D] the values of the actions taken, and 1 where these were best.

        The loss is not a number where the weights have diverged.
        """
        values = self.network.values(batch.observation)
        best = values.detach().masked_fill(~batch.legal, -torch.inf).amax(dim=1)
        chosen = values.gather(1, batch.actions.unsqueeze(1)).squeeze(1)
        said = chosen.detach()
        is_broken = not bool(torch.isfinite(best).all())
        loss = no_number(self.network) if is_broken else critic_loss(chosen, batch.results, self._huber, rows=rows)
        return loss, said, (said >= best).float()
