"""Adam on memory as it lies: the same steps as on the weights themselves, and a state in the weights' shapes."""

import copy

import pytest
import torch
from learning import tiny_spec
from torch import Tensor, nn

from agents.descent import ADAM_EPSILON, Descent, DivergedError
from agents.network import Critic, NetworkSpec


@pytest.fixture
def network() -> Critic:
    return Critic(tiny_spec(), torch.Generator().manual_seed(1))


def loss_of(network: nn.Module, seed: int) -> Tensor:
    spec: NetworkSpec = network.spec  # type: ignore[assignment]
    words = torch.randint(
        0, 1 << 62, (5, spec.num_words + spec.hidden_words), generator=torch.Generator().manual_seed(seed)
    )
    values: Tensor = network(words)
    return (values - 1).square().mean()


def assert_same_state(one: dict[str, Tensor], other: dict[str, Tensor]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert value.shape == other[name].shape
        assert torch.equal(value, other[name]), name


def test_steps_are_those_of_adam_on_the_weights(network: Critic):
    plain = copy.deepcopy(network)
    adam = torch.optim.Adam(plain.parameters(), eps=ADAM_EPSILON, lr=0.01)
    descent = Descent(network)
    assert any(not weight.is_contiguous() for weight in network.parameters()), "or there is nothing to turn"
    for seed in range(4):
        norm = descent.step(loss_of(network, seed), 0.01, 0.5)
        adam.zero_grad()
        loss_of(plain, seed).backward()  # type: ignore[no-untyped-call]
        assert norm == pytest.approx(nn.utils.clip_grad_norm_(plain.parameters(), 0.5).item(), rel=1e-5)
        adam.step()
    for weight, expected in zip(network.parameters(), plain.parameters(), strict=True):
        torch.testing.assert_close(weight, expected, rtol=1e-5, atol=1e-7)
    for place, expected in adam.state_dict()["state"].items():
        kept = descent.state()["state"][place]
        assert kept["exp_avg"].shape == expected["exp_avg"].shape
        torch.testing.assert_close(kept["exp_avg"], expected["exp_avg"], rtol=1e-4, atol=1e-7)


def test_a_state_goes_on_where_it_was(network: Critic):
    descent = Descent(network)
    descent.step(loss_of(network, 0), 0.01, 0.5)
    twin = copy.deepcopy(network)
    again = Descent(twin)
    again.load_state(copy.deepcopy(descent.state()))
    for one, other in ((descent, network), (again, twin)):
        one.step(loss_of(other, 1), 0.01, 0.5)
    for weight, expected in zip(twin.parameters(), network.parameters(), strict=True):
        assert torch.equal(weight, expected)
    for place, kept in descent.state()["state"].items():
        assert_same_state(again.state()["state"][place], kept)


def test_what_was_forgotten_moves_nothing(network: Critic):
    fresh = copy.deepcopy(network)
    descent = Descent(network)
    descent.step(loss_of(network, 0), 0.01, 0.5)
    descent.forget()
    network.load_state_dict(fresh.state_dict())
    descent.step(loss_of(network, 1), 0.01, 0.5)
    Descent(fresh).step(loss_of(fresh, 1), 0.01, 0.5)
    for weight, expected in zip(network.parameters(), fresh.parameters(), strict=True):
        assert torch.equal(weight, expected)


def test_a_loss_that_is_no_number_leaves_the_weights(network: Critic):
    before = copy.deepcopy(network.state_dict())
    descent = Descent(network)
    with pytest.raises(DivergedError, match="loss"):
        descent.step(loss_of(network, 0) * torch.nan, 0.01, 0.5)
    with pytest.raises(DivergedError, match="gradient"):
        descent.step((loss_of(network, 0) * 0).sqrt(), 0.01, 0.5)
    assert_same_state(before, network.state_dict())
