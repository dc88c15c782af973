"""Adam down the loss of one network: its steps, and what it remembers between them.

PyTorch's fused Adam wants memory that lies in order. `agents.packed_linear` stores its weight feature by feature, the
other way round than its shape says, and Adam would copy weight and moments there and back at every step, which takes
longer than the step itself. So Adam is given the same memory in the order it lies in.
"""

from typing import Any

import torch
from torch import Tensor, nn

from agents.ranks import lost_ranks_named

ADAM_EPSILON = 1e-5


class DivergedError(RuntimeError):
    """The loss or the weights are no longer finite."""


class Descent:
    """Adam for one network, whose step size is set at every step."""

    def __init__(self, network: nn.Module) -> None:
        """Take a network that is on its device already; weights may later be changed in place only."""
        self._weights = list(network.parameters())
        self._is_turned = [not weight.is_contiguous() for weight in self._weights]
        self._in_order = [
            nn.Parameter(_turned(weight.detach(), is_turned))
            for weight, is_turned in zip(self._weights, self._is_turned, strict=True)
        ]
        self._adam = torch.optim.Adam(self._in_order, eps=ADAM_EPSILON, fused=True)

    def step(self, loss: Tensor, learning_rate: float, longest: float) -> float:
        """One step down a loss; returns the length of the gradient, which is shortened to the longest.

        A loss that is no number makes the gradient none, which is how the other ranks learn of it.

        Raises:
            DivergedError: the loss or its gradient is not finite; no step is taken.
            LostRankError: another rank has died.
        """
        is_broken = not bool(torch.isfinite(loss))
        for weight in self._weights:
            weight.grad = None
        with lost_ranks_named():
            (loss * torch.nan if is_broken else loss).backward()  # type: ignore[no-untyped-call]
        norm = nn.utils.clip_grad_norm_(self._weights, longest)
        if is_broken or not bool(torch.isfinite(norm)):
            raise DivergedError(f"the {'loss' if is_broken else 'gradient'} is not finite")
        for weight, ordered, is_turned in zip(self._weights, self._in_order, self._is_turned, strict=True):
            ordered.grad = None if weight.grad is None else _turned(weight.grad, is_turned)
        self._adam.param_groups[0]["lr"] = learning_rate
        self._adam.step()
        return norm.item()

    def forget(self) -> None:
        """Remember no step that was taken."""
        self._adam.state.clear()

    def state(self) -> dict[str, Any]:
        """What Adam remembers, moments in the shapes of the weights."""
        return self._with_turned_moments(self._adam.state_dict())

    def load_state(self, state: dict[str, Any]) -> None:
        """The inverse of `state`.

        Raises:
            KeyError, ValueError: it is the state of another network.
        """
        self._adam.load_state_dict(self._with_turned_moments(state))

    def _with_turned_moments(self, state: dict[str, Any]) -> dict[str, Any]:
        """A state in the order of memory for one in the shapes of the weights, and the other way round."""
        moments = {
            place: {name: _turned(value, value.ndim == 2 and self._is_turned[place]) for name, value in kept.items()}
            for place, kept in state["state"].items()
        }
        return {**state, "state": moments}


def _turned(tensor: Tensor, is_turned: bool) -> Tensor:
    """The same memory; rows for columns where that is asked for."""
    return tensor.t() if is_turned else tensor
