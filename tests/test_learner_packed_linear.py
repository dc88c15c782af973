"""The first layer: the same numbers as a matrix product over unpacked bits, row by row."""

import io

import numpy as np
import pytest
import torch
from torch import nn

from agents.packed_linear import PackedLinear, as_tensor, unpacked
from bourre_env.bits import unpack

WORDS, UNITS = 3, 24


def layer(seed: int = 1) -> PackedLinear:
    made = PackedLinear(WORDS, UNITS)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        made.weight.normal_(generator=generator)
        made.bias.normal_(generator=generator)
    return made


def rows(number: int = 50) -> np.ndarray:
    """Rows with no, few, many and all bits set."""
    rng = np.random.default_rng(3)
    words = rng.integers(0, 2**64, (number, WORDS), np.uint64, endpoint=False)
    words &= rng.integers(0, 2**64, (number, WORDS), np.uint64, endpoint=False)
    words[:3] = 0
    words[3] = np.iinfo(np.uint64).max
    words[4, 1] = np.uint64(1) << np.uint64(63)
    return words


def test_unpacked_bits_are_those_of_the_engine() -> None:
    assert (unpacked(as_tensor(rows())).numpy() == unpack(rows())).all()


def test_output_and_gradients_are_those_of_a_dense_layer() -> None:
    packed, features = layer(), torch.from_numpy(unpack(rows()))
    dense = nn.Linear(64 * WORDS, UNITS)
    dense.load_state_dict(packed.state_dict())
    weights = torch.from_numpy(np.random.default_rng(5).standard_normal((50, UNITS)).astype(np.float32))
    outputs = [packed(as_tensor(rows())), dense(features)]
    assert torch.allclose(outputs[0], outputs[1], atol=1e-4)
    for output in outputs:
        (output * weights).sum().backward()
    for ours, theirs in ((packed.weight.grad, dense.weight.grad), (packed.bias.grad, dense.bias.grad)):
        assert ours is not None
        assert theirs is not None
        assert torch.allclose(ours, theirs, atol=1e-4)


def test_steps_of_adam_are_those_of_a_dense_layer() -> None:
    """The weight is stored feature by feature, and the fused step works on storage."""
    packed, dense = layer(), nn.Linear(64 * WORDS, UNITS)
    dense.load_state_dict(packed.state_dict())
    optimizers = [torch.optim.Adam(net.parameters(), 1e-2, eps=1e-5, fused=True) for net in (packed, dense)]
    for step in range(3):
        words = rows()[10 * step : 10 * step + 10]
        for optimizer, output in zip(
            optimizers, (packed(as_tensor(words)), dense(torch.from_numpy(unpack(words)))), strict=True
        ):
            optimizer.zero_grad()
            output.square().mean().backward()
            optimizer.step()
    assert torch.allclose(packed.weight, dense.weight, atol=1e-4)


def test_a_resumed_optimizer_takes_the_same_step() -> None:
    networks = [layer(), layer(seed=2)]
    optimizers = [torch.optim.Adam(network.parameters(), 1e-2, eps=1e-5, fused=True) for network in networks]

    def step(number: int) -> None:
        optimizers[number].zero_grad()
        networks[number](as_tensor(rows())).square().mean().backward()
        optimizers[number].step()

    step(0)
    kept = io.BytesIO()
    torch.save([networks[0].state_dict(), optimizers[0].state_dict()], kept)
    kept.seek(0)
    weights, moments = torch.load(kept, weights_only=True)
    networks[1].load_state_dict(weights)
    optimizers[1].load_state_dict(moments)
    for number in range(2):
        step(number)
    assert torch.equal(networks[0].weight, networks[1].weight)


def test_a_row_does_not_depend_on_the_rows_beside_it_to_the_last_bit() -> None:
    packed, words = layer(), rows()
    together = packed(as_tensor(words))
    for row in range(len(words)):
        assert torch.equal(packed(as_tensor(words[row : row + 1]))[0], together[row])


def test_values_loaded_into_the_layer_keep_their_order_in_storage() -> None:
    packed, other = layer(), layer(seed=2)
    packed.load_state_dict(other.state_dict())
    assert packed.weight.t().is_contiguous()
    assert torch.equal(packed(as_tensor(rows())), other(as_tensor(rows())))


@pytest.mark.parametrize(
    "wrong", [torch.zeros((2, WORDS)), torch.zeros((2, WORDS + 1), dtype=torch.int64), torch.zeros(3).long()]
)
def test_other_rows_are_refused(wrong: torch.Tensor) -> None:
    with pytest.raises(ValueError, match="packed rows are int64"):
        layer()(wrong)
