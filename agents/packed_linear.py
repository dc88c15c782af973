"""The first layer of a network, straight from packed observations.

A row has some forty bits set among a thousand, so on the CPU the layer adds up forty rows of weights instead of
multiplying by zeros, and nothing is unpacked. What a row gives does not depend on the rows beside it, to the last bit.

Shapes: D rows, W words, O = 64*W features, H units.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bourre_env.bits import BITS
from bourre_env.cards import EMPTY, lowest_card
from bourre_env.jit import njit_entry

_AT_ONCE = 4  # rows of weights added in one pass over the units


class PackedLinear(nn.Linear):
    """`nn.Linear` for packed rows: weight [H, O] and bias [H] as there, the weight stored feature by feature."""

    def __init__(self, num_words: int, units: int) -> None:
        """Leave weight and bias undefined.

        Args:
            num_words: W.
            units: H.
        """
        super().__init__(BITS * num_words, units, device="meta")
        by_feature = torch.empty(BITS * num_words, units)
        self.weight = nn.Parameter(by_feature.t())
        self.bias = nn.Parameter(torch.empty(units))

    def forward(self, words: Tensor) -> Tensor:
        """[D, H] float32.

        Args:
            words: [D, W] int64, the bits of packed observations.

        Raises:
            ValueError: another shape or dtype.
        """
        if words.dtype != torch.int64 or words.ndim != 2 or BITS * words.shape[1] != self.in_features:
            raise ValueError(
                f"packed rows are int64 [D, {self.in_features // BITS}], not {words.dtype} {tuple(words.shape)}"
            )
        if words.is_cuda:
            return nn.functional.linear(unpacked(words), self.weight, self.bias)
        rows: Tensor = _SumOfRows.apply(words, self.weight, self.bias)  # type: ignore[no-untyped-call]
        return rows


def as_signed(words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The bits of packed rows [D, W] as int64, which torch can do more with; not copied."""
    return np.ascontiguousarray(words).view(np.int64)


def as_tensor(words: NDArray[np.uint64]) -> Tensor:
    """The bits of packed rows [D, W] as an int64 tensor on the processor; not copied."""
    return torch.from_numpy(as_signed(words))


def unpacked(words: Tensor) -> Tensor:
    """[D, 64*W] float32 of zeros and ones from [D, W] int64, on the device of the words."""
    shifts = torch.arange(BITS, device=words.device)
    return (words.unsqueeze(2) >> shifts & 1).flatten(1).float()


class _SumOfRows(torch.autograd.Function):
    """The rows of weights of the bits that are set, added up."""

    @staticmethod
    def forward(context: Any, words: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """[D, H] from words [D, W], weight [H, O] and bias [H]."""
        context.save_for_backward(words)
        context.num_features = weight.shape[1]
        sums = torch.empty(len(words), len(bias))
        by_feature = weight.detach().t().contiguous()  # no copy: it is stored that way
        _add_rows(_bits(words), by_feature.numpy(), bias.detach().numpy(), sums.numpy())
        return sums

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[None, Tensor, Tensor]:
        """The gradients of weight and bias; words have none."""
        (words,) = context.saved_tensors
        by_feature = torch.zeros(context.num_features, gradient.shape[1])
        _add_to_rows(_bits(words), gradient.contiguous().numpy(), by_feature.numpy())
        return None, by_feature.t(), gradient.sum(dim=0)


def _bits(words: Tensor) -> NDArray[np.uint64]:
    """[D, W] uint64 of the same bits."""
    return words.contiguous().numpy().view(np.uint64)


@njit_entry
def _add_rows(
    words: NDArray[np.uint64], weight: NDArray[np.float32], bias: NDArray[np.float32], out: NDArray[np.float32]
) -> None:
    """Write to each row of `out` [D, H] the bias [H] and the rows of `weight` [O, H] whose bits `words` [D, W] have."""
    num_words, units = words.shape[1], out.shape[1]
    features = np.empty(BITS * num_words, np.int64)
    for row in range(words.shape[0]):
        count = 0
        for word in range(num_words):
            bits = words[row, word]
            while bits != EMPTY:
                features[count] = BITS * word + lowest_card(bits)
                count += 1
                bits &= bits - np.uint64(1)
        out[row] = bias
        together = count - count % _AT_ONCE
        for place in range(0, together, _AT_ONCE):
            first, second = features[place], features[place + 1]
            third, fourth = features[place + 2], features[place + 3]
            for unit in range(units):
                out[row, unit] += (weight[first, unit] + weight[second, unit]) + (
                    weight[third, unit] + weight[fourth, unit]
                )
        for place in range(together, count):
            feature = features[place]
            for unit in range(units):
                out[row, unit] += weight[feature, unit]


@njit_entry
def _add_to_rows(words: NDArray[np.uint64], gradient: NDArray[np.float32], out: NDArray[np.float32]) -> None:
    """Add each row of `gradient` [D, H] to the rows of `out` [O, H] whose bits are set in `words` [D, W]."""
    units = out.shape[1]
    for row in range(words.shape[0]):
        for word in range(words.shape[1]):
            bits = words[row, word]
            while bits != EMPTY:
                feature = BITS * word + lowest_card(bits)
                bits &= bits - np.uint64(1)
                for unit in range(units):
                    out[feature, unit] += gradient[row, unit]
