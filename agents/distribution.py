"""The one masked distribution over actions: acting, the loss, evaluation and play all use it.

Illegal actions have probability exactly 0 and no gradient, whatever the logits are; everything is computed in float32
and stays finite.

Shapes: D rows (decisions), A actions, G groups of actions.
"""

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable

from bourre_env.jit import njit, njit_entry

ILLEGAL = -1e9
"""Log-probability of an illegal action: `exp` makes it exactly 0, and 0 times it is 0 where -inf would give NaN."""

LEAST = -80.0
"""Legal logits end this far below the best one, so that every legal action keeps a positive float32 probability."""

_NO_UNDERFLOW = -87.0  # below every legal log-probability; `exp` is ten times slower where it underflows
_LARGEST = 1e30  # logits beyond it, infinities among them, count as this much
_TINY = 1e-30


class MaskedDistribution:
    """A distribution over the legal actions of each row.

    Attributes:
        legal: [D, A] bool, True where allowed.
        log_probs: [D, A] float32; illegal entries are about `ILLEGAL`.
        probs: [D, A] float32, exactly 0 for illegal actions.
    """

    def __init__(self, logits: Tensor, legal: Tensor) -> None:
        """Normalise the logits over the legal actions.

        Args:
            logits: [D, A] of any floating type; those of illegal actions are never looked at.
            legal: [D, A] bool.

        Raises:
            ValueError: the shapes differ, the mask is not bool, or a row allows nothing.
            FloatingPointError: a legal action has a logit that is not a number.
        """
        if logits.ndim != 2 or logits.shape != legal.shape:
            raise ValueError(f"logits {tuple(logits.shape)} and mask {tuple(legal.shape)} must have one shape [D, A]")
        if legal.dtype != torch.bool:
            raise ValueError(f"the legal action mask must be bool (True = allowed), not {legal.dtype}")
        _refuse_rows(~legal.any(dim=1), "has no legal action; a seat that is not to act needs no distribution")
        self.legal = legal
        self.log_probs, self.probs = masked_log_softmax(logits, legal)
        broken = self.log_probs[:, 0].isnan()  # one logit that is no number spoils its row
        if bool(broken.any()):
            row = int(broken.nonzero()[0])
            raise FloatingPointError(f"row {row}: the network's logits are not numbers; its weights have diverged")

    def log_prob(self, actions: Tensor) -> Tensor:
        """[D] float32: log-probabilities of the actions [D] int64."""
        return self.log_probs.gather(1, actions.unsqueeze(1)).squeeze(1)

    def entropy(self) -> Tensor:
        """[D] float32: entropy over the legal actions, in nats."""
        return -(self.probs * self.log_probs).sum(dim=1)

    def entropy_in_two_steps(self, groups: Tensor) -> tuple[Tensor, Tensor]:
        """The entropy as that of the group chosen plus that of the action inside the group; their sum is `entropy`.

        The second part takes the probabilities of the groups as given, so raising it never moves probability
        towards the group that has more actions.

        Args:
            groups: [A] int64, the group of each action, numbered from 0.

        Returns:
            Two tensors [D] float32, in nats.
        """
        member = torch.nn.functional.one_hot(groups).to(self.log_probs.dtype)
        group_probs = (self.probs @ member).clamp_min(_TINY)
        log_group_probs = group_probs.log()
        # entropy inside a group: minus the mean of the log-probabilities of its actions, given the group
        means = (self.probs * self.log_probs) @ member / group_probs
        between = -(group_probs * log_group_probs).sum(dim=1)
        inside = (group_probs.detach() * (log_group_probs - means)).sum(dim=1)
        return between, inside

    def surprises(self, actions: Tensor, groups: Tensor) -> tuple[Tensor, Tensor]:
        """The two parts of `entropy_in_two_steps` as they come down to single actions.

        Over actions drawn from the policy the mean of each is minus that part, and so is the mean of its product with
        the gradient of the action's log-probability.

        Args:
            actions: [D, K] int64, K of each row.
            groups: [A] int64, the group of each action, numbered from 0.

        Returns:
            Two tensors [D, K] float32 in nats, without gradients: the log-probability of the action's group; and that
            of the action inside its group less what it is there on average.
        """
        member = torch.nn.functional.one_hot(groups).to(self.log_probs.dtype)
        group = groups[actions]
        probs, log_probs = self.probs.detach(), self.log_probs.detach()
        group_probs = (probs @ member).clamp_min(_TINY)
        means = (probs * log_probs) @ member / group_probs
        between = group_probs.log().gather(1, group)
        inside = log_probs.gather(1, actions) - means.gather(1, group)
        return between, inside

    def sample(self, uniforms: Tensor) -> Tensor:
        """[D] int64: for each row the action at which the summed probabilities pass its uniform number.

        Args:
            uniforms: [D] in [0, 1), one a row, so that a row's action does not depend on the other rows.
        """
        summed = self.probs.detach().cumsum(dim=1)
        total = summed[:, -1]
        # below the total even if rounding says otherwise: the sums rise past it at a legal action only
        below_total = torch.nextafter(total, torch.zeros_like(total))
        threshold = torch.minimum(uniforms.to(total.dtype) * total, below_total)
        return (summed <= threshold.unsqueeze(1)).sum(dim=1)

    def greedy(self) -> Tensor:
        """[D] int64: the likeliest action of each row, the first of equals."""
        return self.log_probs.argmax(dim=1)

    def kl_from(self, older: "MaskedDistribution") -> Tensor:
        """[D] float32: KL(older || self) over the same legal actions, finite and in nats."""
        return (older.probs * (older.log_probs - self.log_probs)).sum(dim=1)


def masked_log_softmax(logits: Tensor, legal: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probabilities and probabilities over the legal actions; a row without any is finite and meaningless.

    Args:
        logits: [D, A] of any floating type.
        legal: [D, A] bool.

    Returns:
        Two tensors [D, A] float32.
    """
    log_probs, probs = _MaskedLogSoftmax.apply(logits.float(), legal)  # type: ignore[no-untyped-call]
    return log_probs, probs


class _MaskedLogSoftmax(torch.autograd.Function):
    """Written out, because half of an update would go into the derivatives of masking, clamping and normalising.

    On the processor it is one loop, which skips what is illegal, nine tenths of a row; on a GPU the same in operations.
    """

    @staticmethod
    def forward(context: Any, logits: Tensor, legal: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities and probabilities [D, A]."""
        normalise = normalise_in_steps if logits.is_cuda else _normalise_in_a_loop
        log_probs, probs, is_constant = normalise(logits, legal)
        context.save_for_backward(probs, is_constant)
        return log_probs, probs

    @staticmethod
    @once_differentiable
    def backward(context: Any, of_log_probs: Tensor, of_probs: Tensor) -> tuple[Tensor, None]:
        """The gradient of the logits: none where an action is illegal or its logit was cut off."""
        probs, is_constant = context.saved_tensors
        derive = derive_in_steps if probs.is_cuda else _derive_in_a_loop
        return derive(of_log_probs, of_probs, probs, is_constant), None


def normalise_in_steps(logits: Tensor, legal: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Log-probabilities, probabilities, and where neither changes with the logit, all [D, A]."""
    illegal = ~legal
    from_best = logits.masked_fill(illegal, -_LARGEST).clamp_(-_LARGEST, _LARGEST)
    from_best.sub_(from_best.amax(dim=1, keepdim=True)).clamp_min_(LEAST).masked_fill_(illegal, ILLEGAL)
    log_probs = from_best.log_softmax(dim=1)
    probs = log_probs.clamp_min(_NO_UNDERFLOW).exp_().masked_fill_(illegal, 0)
    return log_probs, probs, from_best <= LEAST


def derive_in_steps(of_log_probs: Tensor, of_probs: Tensor, probs: Tensor, is_constant: Tensor) -> Tensor:
    """[D, A] gradient of the logits, from those of log-probabilities and probabilities."""
    gradient = of_log_probs + of_probs * probs
    gradient -= probs * gradient.sum(dim=1, keepdim=True)
    return gradient.masked_fill_(is_constant, 0)


def _normalise_in_a_loop(logits: Tensor, legal: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """As `normalise_in_steps`."""
    log_probs = torch.full(logits.shape, ILLEGAL)
    probs, is_constant = torch.zeros(logits.shape), torch.ones(logits.shape, dtype=torch.bool)
    _normalise(
        logits.contiguous().numpy(), legal.contiguous().numpy(), log_probs.numpy(), probs.numpy(), is_constant.numpy()
    )
    return log_probs, probs, is_constant


def _derive_in_a_loop(of_log_probs: Tensor, of_probs: Tensor, probs: Tensor, is_constant: Tensor) -> Tensor:
    """As `derive_in_steps`."""
    gradient = torch.zeros(probs.shape)
    given = (of_log_probs, of_probs, probs, is_constant, gradient)
    _derive(*(tensor.contiguous().numpy() for tensor in given))
    return gradient


@njit
def _bounded(logit: np.float32) -> float:
    """A logit that is a number, no larger or smaller than what can be computed with."""
    return min(max(np.float64(logit), -_LARGEST), _LARGEST)


@njit_entry
def _normalise(
    logits: NDArray[np.float32],
    legal: NDArray[np.bool_],
    log_probs: NDArray[np.float32],
    probs: NDArray[np.float32],
    is_constant: NDArray[np.bool_],
) -> None:
    """Write what belongs to legal actions into [D, A] that hold what belongs to illegal ones."""
    actions = np.empty(logits.shape[1], np.int64)
    for row in range(logits.shape[0]):
        count, best, is_number = 0, -_LARGEST, True
        for action in range(logits.shape[1]):
            if legal[row, action]:
                actions[count] = action
                count += 1
                is_number &= not np.isnan(logits[row, action])
                best = max(best, _bounded(logits[row, action]))
        if count == 0:
            continue
        if not is_number:
            log_probs[row] = np.nan
            probs[row, actions[:count]] = np.nan
            continue
        total = 0.0
        for action in actions[:count]:
            from_best = max(_bounded(logits[row, action]) - best, LEAST)
            is_constant[row, action] = from_best <= LEAST
            log_probs[row, action] = from_best
            total += math.exp(from_best)
        log_total = math.log(total)
        for action in actions[:count]:
            log_probs[row, action] -= log_total
            probs[row, action] = math.exp(max(log_probs[row, action], _NO_UNDERFLOW))


@njit_entry
def _derive(
    of_log_probs: NDArray[np.float32],
    of_probs: NDArray[np.float32],
    probs: NDArray[np.float32],
    is_constant: NDArray[np.bool_],
    gradient: NDArray[np.float32],
) -> None:
    """Write the gradient of legal actions into zeros [D, A]."""
    for row in range(probs.shape[0]):
        total = 0.0
        for action in range(probs.shape[1]):
            total += of_log_probs[row, action] + of_probs[row, action] * probs[row, action]
        for action in range(probs.shape[1]):
            if not is_constant[row, action]:
                prob = probs[row, action]
                gradient[row, action] = of_log_probs[row, action] + of_probs[row, action] * prob - prob * total


def _refuse_rows(bad: Tensor, why: str) -> None:
    """Raise for the first bad row, if any."""
    if bool(bad.any()):
        raise ValueError(f"row {int(bad.nonzero()[0])} {why}")
