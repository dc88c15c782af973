"""The masked distribution: illegal actions never happen, whatever the network says."""

import math

import numpy as np
import pytest
import torch

from agents.distribution import (
    LEAST,
    MaskedDistribution,
    _normalise,
    derive_in_steps,
    masked_log_softmax,
    normalise_in_steps,
)

NUM_ACTIONS = 85


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def random_masks(rows: int, seed: int) -> torch.Tensor:
    """Masks with 1 to A legal actions."""
    share = torch.rand((rows, 1), generator=generator(seed))
    legal = torch.rand((rows, NUM_ACTIONS), generator=generator(seed + 1)) < share
    legal[torch.arange(rows), torch.arange(rows) % NUM_ACTIONS] = True
    return legal


def one_huge_illegal(logits: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """Every illegal action gets the largest logit there is."""
    return torch.where(legal, logits, torch.finfo(logits.dtype).max)


HOSTILE = {
    "equal": lambda normal, legal: torch.zeros_like(normal),
    "small": lambda normal, legal: normal,
    "ten_thousand": lambda normal, legal: normal.sign() * 1e4,
    "plus_and_minus_1e30": lambda normal, legal: normal.sign() * 1e30,
    "all_minus_1e30": lambda normal, legal: torch.full_like(normal, -1e30),
    "infinite": lambda normal, legal: torch.where(normal > 0, torch.inf, -torch.inf),
    "huge_illegal": one_huge_illegal,
    "infinite_illegal": lambda normal, legal: torch.where(legal, -1e30, torch.inf),
    "nan_illegal": lambda normal, legal: torch.where(legal, normal, torch.nan),
    "float16": lambda normal, legal: one_huge_illegal((normal * 1e4).half(), legal),
    "bfloat16": lambda normal, legal: one_huge_illegal((normal * 1e30).bfloat16(), legal),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_b006_b106_no_illegal_action_in_a_hundred_thousand_samples_of_hostile_logits(kind: str) -> None:
    rows, draws = 10_000, 10
    legal = random_masks(rows, seed=3)
    logits = HOSTILE[kind](torch.randn((rows, NUM_ACTIONS), generator=generator(5)), legal)
    distribution = MaskedDistribution(logits, legal)
    uniforms = torch.rand((draws, rows), generator=generator(7), dtype=torch.float64)
    uniforms[:3] = torch.tensor([[0.0], [1 - 2.0**-53], [1 - 2.0**-24]])
    for actions in (*map(distribution.sample, uniforms), distribution.greedy()):
        assert legal.gather(1, actions.unsqueeze(1)).all()
    probabilities = distribution.log_probs.exp()
    assert (probabilities[~legal] == 0).all()
    assert (probabilities[legal] > 0).all()
    assert torch.allclose(probabilities.sum(dim=1), torch.ones(rows), atol=1e-5)
    assert torch.isfinite(distribution.log_probs).all()
    assert torch.isfinite(distribution.entropy()).all()
    assert torch.isfinite(distribution.log_prob(distribution.greedy())).all()


def test_b003_a_row_without_legal_actions_is_named() -> None:
    legal = torch.ones((4, NUM_ACTIONS), dtype=torch.bool)
    legal[3] = False
    with pytest.raises(ValueError, match="row 3 has no legal action"):
        MaskedDistribution(torch.zeros((4, NUM_ACTIONS)), legal)


def test_a_mask_that_is_not_bool_or_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="must be bool"):
        MaskedDistribution(torch.zeros((2, 3)), torch.ones((2, 3)))
    with pytest.raises(ValueError, match="one shape"):
        MaskedDistribution(torch.zeros((2, 3)), torch.ones((3, 2), dtype=torch.bool))


def test_diverged_logits_are_reported_and_not_sampled() -> None:
    logits = torch.zeros((3, 4))
    logits[1, 2] = torch.nan
    with pytest.raises(FloatingPointError, match="row 1"):
        MaskedDistribution(logits, torch.ones((3, 4), dtype=torch.bool))


def test_the_sample_of_a_uniform_number_is_the_inverse_of_the_summed_probabilities() -> None:
    logits = torch.tensor([[0.2, 0.3, 9.0, 0.5]]).log().expand(6, 4)
    legal = torch.tensor([[True, True, False, True]]).expand(6, 4)
    uniforms = torch.tensor([0.0, 0.199, 0.201, 0.499, 0.501, 0.999])
    assert MaskedDistribution(logits, legal).sample(uniforms).tolist() == [0, 0, 1, 1, 3, 3]


def test_samples_follow_the_probabilities() -> None:
    logits = torch.tensor([[1.0, 2.0, 3.0, 4.0]]).log().expand(30_000, 4)
    legal = torch.tensor([[True, True, True, False]]).expand(30_000, 4)
    actions = MaskedDistribution(logits, legal).sample(torch.rand(30_000, generator=generator(1)))
    shares = torch.bincount(actions, minlength=4) / 30_000
    assert shares.tolist() == pytest.approx([1 / 6, 2 / 6, 3 / 6, 0.0], abs=0.01)


def test_a_row_is_sampled_as_if_it_were_alone() -> None:
    legal = random_masks(64, seed=11)
    logits = torch.randn((64, NUM_ACTIONS), generator=generator(12))
    uniforms = torch.rand(64, generator=generator(13), dtype=torch.float64)
    together = MaskedDistribution(logits, legal).sample(uniforms)
    order = torch.randperm(64, generator=generator(14))
    shuffled = MaskedDistribution(logits[order], legal[order]).sample(uniforms[order])
    alone = [int(MaskedDistribution(logits[[row]], legal[[row]]).sample(uniforms[[row]])) for row in range(64)]
    assert together.tolist() == alone
    assert together[order].tolist() == shuffled.tolist()


def test_illegal_actions_get_no_gradient() -> None:
    logits = torch.randn((50, NUM_ACTIONS), generator=generator(2), requires_grad=True)
    legal = random_masks(50, seed=4)
    distribution = MaskedDistribution(logits, legal)
    choice, inside = distribution.entropy_in_two_steps(torch.arange(NUM_ACTIONS) % 3)
    actions = distribution.greedy()
    (distribution.log_prob(actions) + distribution.entropy() + choice + inside).sum().backward()
    assert logits.grad is not None
    assert (logits.grad[~legal] == 0).all()
    assert (logits.grad[legal] != 0).any()
    assert torch.isfinite(logits.grad).all()


def test_entropy_of_k_equal_legal_actions_is_log_k() -> None:
    legal = torch.zeros((3, 10), dtype=torch.bool)
    legal[0, :1], legal[1, :4], legal[2, :] = True, True, True
    entropy = MaskedDistribution(torch.zeros((3, 10)), legal).entropy()
    assert entropy.tolist() == pytest.approx([0.0, math.log(4), math.log(10)], abs=1e-6)


def test_the_entropy_of_two_steps_adds_up_to_the_entropy() -> None:
    distribution = MaskedDistribution(torch.randn((40, NUM_ACTIONS), generator=generator(8)), random_masks(40, seed=9))
    choice, inside = distribution.entropy_in_two_steps(torch.arange(NUM_ACTIONS) % 4)
    assert torch.allclose(choice + inside, distribution.entropy(), atol=1e-5)
    assert (choice >= 0).all()
    assert (inside >= 0).all()


def test_the_second_step_of_the_entropy_does_not_favour_the_larger_group() -> None:
    """One action against four: raising the entropy inside the groups must not move probability between them."""
    logits = torch.zeros((1, 5), requires_grad=True)
    groups = torch.tensor([0, 1, 1, 1, 1])
    distribution = MaskedDistribution(logits, torch.ones((1, 5), dtype=torch.bool))
    distribution.entropy_in_two_steps(groups)[1].sum().backward()
    assert logits.grad is not None
    assert logits.grad.abs().max() < 1e-6

    plain = torch.zeros((1, 5), requires_grad=True)
    skewed = plain + torch.tensor([[math.log(4.0), 0, 0, 0, 0]])  # even between the groups
    MaskedDistribution(skewed, torch.ones((1, 5), dtype=torch.bool)).entropy().sum().backward()
    assert plain.grad is not None
    assert plain.grad[0, 0] < -0.1  # the plain entropy pushes the lone action down: what is avoided above


@pytest.mark.parametrize("weight", [0.0, 0.2])
def test_b101_the_divergence_is_finite_where_a_probability_underflows(weight: float) -> None:
    legal = torch.tensor([[True, True, True, False]])
    older = MaskedDistribution(torch.tensor([[200.0, 0.0, -1e30, 5.0]]), legal)
    logits = torch.tensor([[0.0, 200.0, 1e30, -5.0]], requires_grad=True)
    loss = weight * MaskedDistribution(logits, legal).kl_from(older).sum()
    loss.backward()
    assert torch.isfinite(loss)
    assert logits.grad is not None
    assert torch.isfinite(logits.grad).all()


def test_the_divergence_from_itself_is_zero_and_by_hand_elsewhere() -> None:
    legal = torch.tensor([[True, True, False]])
    older = MaskedDistribution(torch.tensor([[0.5, 0.5, 9.0]]).log(), legal)
    newer = MaskedDistribution(torch.tensor([[0.25, 0.75, 9.0]]).log(), legal)
    assert older.kl_from(older).item() == 0
    assert newer.kl_from(older).item() == pytest.approx(0.5 * math.log(2) + 0.5 * math.log(2 / 3), abs=1e-6)


def test_a_log_softmax_of_nothing_is_finite_and_has_no_gradient() -> None:
    logits = torch.randn((2, 4), generator=generator(1), requires_grad=True)
    log_probs, _ = masked_log_softmax(logits, torch.zeros((2, 4), dtype=torch.bool))
    log_probs.sum().backward()
    assert torch.isfinite(log_probs).all()
    assert logits.grad is not None
    assert (logits.grad == 0).all()


def test_without_compiling_a_row_of_nothing_is_left_alone_too() -> None:
    written = [np.full((1, 3), filler, np.float32) for filler in (-1e9, 0.0, 1.0)]
    before = [array.copy() for array in written]
    _normalise.py_func(np.ones((1, 3), np.float32), np.zeros((1, 3), np.bool_), *written)
    assert all((array == old).all() for array, old in zip(written, before, strict=True))


def test_gradients_are_those_of_the_plain_formula() -> None:
    """Masking, normalising and taking probabilities, worked out by torch's own derivatives over the legal actions."""
    legal = torch.rand((40, 6), generator=generator(3)) < 0.6
    legal[:, 0] = True
    weights = torch.randn((2, 40, 6), generator=generator(4)) * legal
    gradients = []
    for plain in (True, False):
        logits = torch.randn((40, 6), generator=generator(5)).mul(3).requires_grad_()
        if plain:
            log_probs = logits.masked_fill(~legal, -torch.inf).log_softmax(dim=1).masked_fill(~legal, 0)
            probs = log_probs.exp() * legal
        else:
            log_probs, probs = masked_log_softmax(logits, legal)
        (weights[0] * log_probs + weights[1] * probs * log_probs).sum().backward()
        assert logits.grad is not None
        gradients.append(logits.grad)
    assert torch.allclose(*gradients, atol=1e-5)
    assert (gradients[1][~legal] == 0).all()


@pytest.mark.parametrize("kind", HOSTILE)
def test_the_loop_does_what_a_gpu_does(kind: str) -> None:
    legal = random_masks(60, 7)
    legal[-1] = False
    logits = HOSTILE[kind](torch.randn((60, NUM_ACTIONS), generator=generator(8)), legal).float().requires_grad_()
    log_probs, probs = masked_log_softmax(logits, legal)
    expected_log_probs, expected_probs, is_constant = normalise_in_steps(logits.detach(), legal)
    torch.testing.assert_close(log_probs[legal], expected_log_probs[legal], rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(probs, expected_probs, rtol=1e-5, atol=1e-7)
    given = torch.randn((2, 60, NUM_ACTIONS), generator=generator(9))
    gradient = torch.autograd.grad((given[0] * log_probs + given[1] * probs).sum(), logits)[0]
    torch.testing.assert_close(
        gradient.float(), derive_in_steps(*given, expected_probs, is_constant), rtol=1e-4, atol=1e-5
    )


def test_the_loop_cuts_off_where_a_gpu_does() -> None:
    logits = torch.tensor([[0.0, LEAST, LEAST - 1, LEAST / 2, torch.nan]])
    legal = torch.tensor([[True, True, True, True, False]])
    log_probs, probs = masked_log_softmax(logits, legal)
    expected_log_probs, expected_probs, _ = normalise_in_steps(logits, legal)
    torch.testing.assert_close(log_probs[legal], expected_log_probs[legal])
    torch.testing.assert_close(probs, expected_probs)
    broken, _ = masked_log_softmax(torch.tensor([[0.0, torch.nan]]), torch.ones((1, 2), dtype=torch.bool))
    assert broken.isnan().all()


def test_a_logit_far_below_the_best_keeps_a_probability_and_gets_no_gradient() -> None:
    logits = torch.tensor([[0.0, 1.0, -200.0]], requires_grad=True)
    _, probs = masked_log_softmax(logits, torch.ones((1, 3), dtype=torch.bool))
    assert 0 < probs[0, 2].item() < 1e-30
    (probs[0, 2] * 1e35).backward()
    assert logits.grad is not None
    assert logits.grad[0, 2] == 0
