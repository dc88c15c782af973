"""Linear layers whose weights are drawn from a generator that is handed in; torch's global one is left alone."""

import torch
from torch import nn


def undefined_linear(inputs: int, outputs: int) -> nn.Linear:
    """A linear layer without values."""
    linear: nn.Linear = nn.utils.skip_init(nn.Linear, inputs, outputs)  # type: ignore[no-untyped-call]
    return linear


def drawn(linear: nn.Linear, gain: float, generator: torch.Generator) -> nn.Linear:
    """The layer with orthogonal weights and no bias."""
    nn.init.orthogonal_(linear.weight, gain, generator=generator)
    nn.init.zeros_(linear.bias)
    return linear
