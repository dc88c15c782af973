"""One update: the loss against numbers worked out by hand, and what must hold whatever the data."""

import math

import numpy as np
import pytest
import torch
from learning import ONE_THREAD, deals_of, tiny_learner

from agents.checkpoint import parameter_hash
from agents.config import LearnConfig
from agents.descent import DivergedError
from agents.distribution import MaskedDistribution
from agents.ppo import (
    Measures,
    Minibatch,
    Weights,
    actor_loss,
    clipped_policy_loss,
    critic_loss,
    explained_variance,
    lambda_returns,
)
from agents.rollout import Rollout
from agents.threads import Threads

NO_BONUS = Weights(learning_rate=1e-3, entropy=0.0, stay_or_pass_entropy=0.0)
GROUPS = torch.tensor([0, 1, 2])
FEW = torch.tensor([[True, True, False], [True, True, True]])


def batch_by_hand(*, old: float = math.log(0.5), advantages: tuple[float, float] = (1.0, -2.0)) -> Minibatch:
    """Two decisions: action 0 of two legal ones, action 2 of three."""
    return Minibatch(
        observation=torch.zeros((2, 1)),
        legal=FEW,
        actions=torch.tensor([0, 2]),
        log_probs=torch.tensor([old, math.log(1 / 3)]),
        advantages=torch.tensor(advantages),
    )


def gradient_of(batch: Minibatch, weights: Weights, **learn: float) -> torch.Tensor:
    """Gradient of the actor's loss at logits of zero."""
    logits = torch.zeros((2, 3), requires_grad=True)
    loss = actor_loss(MaskedDistribution(logits, batch.legal), batch, GROUPS, weights, LearnConfig(**learn), Measures())
    loss.backward()
    assert logits.grad is not None
    return logits.grad


def test_the_policy_gradient_by_hand() -> None:
    """Ratio 1: a row's gradient is -A/2 * (1[a] - p), p = (1/2, 1/2, 0) with A = 1, (1/3, 1/3, 1/3) with A = -2."""
    expected = [[-0.25, 0.25, 0.0], [-1 / 3, -1 / 3, 2 / 3]]
    assert gradient_of(batch_by_hand(), NO_BONUS) == pytest.approx(np.array(expected), abs=1e-6)


def test_a_gradient_step_by_hand() -> None:
    """Adam's first step moves every weight by the learning rate against the sign of its gradient."""
    logits = torch.nn.Parameter(torch.zeros((2, 3)))
    optimizer = torch.optim.Adam([logits], lr=0.01, eps=1e-5)
    batch = batch_by_hand()
    actor_loss(MaskedDistribution(logits, FEW), batch, GROUPS, NO_BONUS, LearnConfig(), Measures()).backward()
    optimizer.step()
    expected = [[0.01, -0.01, 0.0], [0.01, 0.01, -0.01]]
    assert logits.detach() == pytest.approx(np.array(expected), abs=1e-5)
    moved = MaskedDistribution(logits, FEW)
    assert moved.log_prob(batch.actions)[0] > batch.log_probs[0]  # good actions gain
    assert moved.log_prob(batch.actions)[1] < batch.log_probs[1]  # bad ones lose


def test_a_ratio_beyond_the_clip_stops_counting_in_the_direction_of_its_advantage() -> None:
    ratio, advantages = torch.tensor([1.5, 1.5, 0.5, 0.5]), torch.tensor([1.0, -1.0, 1.0, -1.0])
    # min(r A, clip(r) A): 1.2, -1.5, 0.5, -0.8
    assert clipped_policy_loss(ratio, advantages, 0.2).item() == pytest.approx(-(1.2 - 1.5 + 0.5 - 0.8) / 4)
    clipped = gradient_of(batch_by_hand(old=math.log(0.5 / 1.5), advantages=(1.0, 0.0)), NO_BONUS)
    assert clipped[0].tolist() == [0.0, 0.0, 0.0]


def test_the_entropy_terms_by_hand() -> None:
    """Two groups of one action each, probabilities 3/4 and 1/4: both entropy terms are the same H."""
    logits = torch.tensor([[math.log(3.0), 0.0, 0.0]] * 2, requires_grad=True)
    batch = Minibatch(
        observation=torch.zeros((2, 1)),
        legal=torch.tensor([[True, True, False]] * 2),
        actions=torch.tensor([0, 0]),
        log_probs=torch.tensor([math.log(0.75)] * 2),
        advantages=torch.zeros(2),
    )
    weights = Weights(learning_rate=1e-3, entropy=0.3, stay_or_pass_entropy=0.1)
    loss = actor_loss(MaskedDistribution(logits, batch.legal), batch, GROUPS, weights, LearnConfig(), Measures())
    entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    assert loss.item() == pytest.approx(-0.4 * entropy, abs=1e-6)
    loss.backward()
    # dH/dx0 = -p0 p1 log(p0/p1) = -3/16 log 3, and each row is half of the mean
    assert logits.grad is not None
    assert logits.grad[0, 0].item() == pytest.approx(0.4 * 3 / 16 * math.log(3) / 2, abs=1e-6)


def test_the_pull_to_the_policy_that_played() -> None:
    """At ratio r the estimator is r - 1 - log r, with gradient (r - 1) (1[a] - p) in the logits."""
    batch = batch_by_hand(old=math.log(0.25), advantages=(0.0, 0.0))
    pulled = gradient_of(batch, NO_BONUS, proximal_kl=0.2)
    assert pulled[0].tolist() == pytest.approx([0.2 * (2 - 1) * 0.5 / 2, -0.2 * (2 - 1) * 0.5 / 2, 0.0], abs=1e-6)
    assert gradient_of(batch, NO_BONUS).abs().max().item() == 0


@pytest.mark.parametrize("weight", [0.0, 0.2])
def test_b101_the_loss_is_finite_where_the_old_policy_gave_next_to_nothing(weight: float) -> None:
    batch = batch_by_hand(old=-80.0, advantages=(1.0, -1.0))
    gradient = gradient_of(batch, NO_BONUS, proximal_kl=weight)
    assert torch.isfinite(gradient).all()


def test_the_critics_loss_by_hand() -> None:
    """Huber with delta 1: half the square up to 1, linear beyond."""
    values, rewards = torch.tensor([0.0, 0.0]), torch.tensor([0.5, -3.0])
    assert critic_loss(values, rewards, 1.0).item() == pytest.approx((0.5 * 0.25 + (3.0 - 0.5)) / 2)


def test_explained_variance_by_hand() -> None:
    results = np.array([0.0, 2.0, 4.0], np.float32)
    assert explained_variance(results, results) == 1
    assert explained_variance(results, np.full(3, 7.0, np.float32)) == pytest.approx(0)
    assert explained_variance(results, 4 - results) == pytest.approx(-3)
    assert math.isnan(explained_variance(np.zeros(3, np.float32), results))


def test_coefficients_go_geometrically_from_start_to_end() -> None:
    config = LearnConfig(learning_rate=1e-2, learning_rate_end=1e-4, entropy=0.2, entropy_end=0.0)
    assert Weights.at(config, 0.0).learning_rate == pytest.approx(1e-2)
    assert Weights.at(config, 0.5).learning_rate == pytest.approx(1e-3)
    assert Weights.at(config, 1.0).learning_rate == pytest.approx(1e-4)
    assert Weights.at(config, 0.5).entropy == pytest.approx(0.1)  # linear where an end is 0


# --- credit ----------------------------------------------------------------------------------------------------------


def plain_trajectories(rollout: Rollout) -> dict[tuple[int, int], list[int]]:
    """The rows of each seat of each deal, in the order of time."""
    rows: dict[tuple[int, int], list[int]] = {}
    for row, key in enumerate(zip(rollout.deal.tolist(), rollout.seat.tolist(), strict=True)):
        rows.setdefault(key, []).append(row)
    return rows


def test_trajectories_are_joined_across_the_turns_of_other_seats() -> None:
    rollout = deals_of(tiny_learner().actor)
    following = rollout.following()
    trajectories = plain_trajectories(rollout)
    assert max(len(rows) for rows in trajectories.values()) >= 4
    for rows in trajectories.values():
        assert following[rows].tolist() == [*rows[1:], -1]


@pytest.mark.parametrize("gae_lambda", [0.0, 0.6, 0.95])
def test_lambda_returns_are_generalised_advantages_worked_out_step_by_step(gae_lambda: float) -> None:
    """A slow reference: sums of temporal differences, the result being the last step's only reward."""
    rollout = deals_of(tiny_learner().actor)
    values = np.random.default_rng(1).standard_normal(len(rollout)).astype(np.float32)
    advantages = lambda_returns(rollout, values, gae_lambda) - values
    for rows in plain_trajectories(rollout).values():
        ahead = [*values[rows][1:], rollout.rewards[rows[-1]]]  # a last step has its reward and nothing after it
        differences = [after - now for now, after in zip(values[rows], ahead, strict=True)]
        for start, row in enumerate(rows):
            expected = sum(gae_lambda**step * difference for step, difference in enumerate(differences[start:]))
            assert advantages[row] == pytest.approx(expected, abs=1e-5)


def test_lambda_one_is_the_result_to_the_last_bit() -> None:
    rollout = deals_of(tiny_learner().actor)
    values = np.random.default_rng(1).standard_normal(len(rollout)).astype(np.float32)
    assert lambda_returns(rollout, values, 1.0).tobytes() == rollout.rewards.tobytes()


# --- whole updates ---------------------------------------------------------------------------------------------------


def test_b103_the_first_ratio_is_one_for_every_sample() -> None:
    learner = tiny_learner()
    rollout = deals_of(learner.actor)
    rows = np.arange(len(rollout))
    batch = Minibatch.of(rollout, np.zeros(len(rollout), np.float32), rows, learner.actor.spec)
    distribution = learner.actor(batch.observation, batch.legal)
    ratio = (distribution.log_prob(batch.actions) - batch.log_probs).exp()
    assert (ratio - 1).abs().max() <= 1e-6
    measures = Measures()
    actor_loss(distribution, batch, learner.actor.groups, NO_BONUS, LearnConfig(), measures)
    assert measures.means()["ppo/clip_fraction"] == 0
    assert measures.means()["ppo/kl"] == pytest.approx(0, abs=1e-6)


def test_an_update_learns_what_was_good() -> None:
    """With rewards set so that passing alone pays, passing must become likelier, and the critic must foresee them."""
    learner = tiny_learner(entropy=0.0, stay_or_pass_entropy=0.0)
    weights = Weights(3e-3, 0.0, 0.0)
    before = after = 0.0
    for iteration in range(6):
        rollout = deals_of(learner.actor, first=128 * iteration)
        passes = rollout.actions == 84
        rollout.rewards[:] = passes
        rate = passes[rollout.legal[:, 1] >> np.uint64(20) & np.uint64(1) == 1].mean()
        before, after = (rate, rate) if iteration == 0 else (before, rate)
        values = learner.update(rollout, weights, seed=iteration, threads=ONE_THREAD)
    assert after > before + 0.15
    assert values["ppo/gradient_norm"] > 0


def test_an_update_reports_what_it_did() -> None:
    learner = tiny_learner()
    values = learner.update(deals_of(learner.actor), NO_BONUS, seed=1, threads=ONE_THREAD)
    assert values["policy/entropy_stay_or_pass"] == pytest.approx(math.log(2), abs=0.01)
    assert 0 <= values["ppo/clip_fraction"] < 0.3
    assert values["critic/advantage_std"] > 0
    assert all(math.isfinite(value) for value in values.values())


def test_two_threads_learn_the_same_to_the_last_bit() -> None:
    hashes = []
    for count in (1, 2):
        threads, learner = Threads(count), tiny_learner()
        learner.update(deals_of(learner.actor), Weights(1e-2, 0.1, 0.1), seed=4, threads=threads)
        hashes.append((parameter_hash(learner.actor), parameter_hash(learner.critic)))
        threads.close()
    torch.set_num_threads(1)
    assert hashes[0] == hashes[1]


@pytest.mark.parametrize("part", ["actor", "critic"])
def test_a_network_that_is_no_number_stops_the_update_before_a_step(part: str) -> None:
    learner = tiny_learner()
    rollout = deals_of(learner.actor)
    network = getattr(learner, part)
    with torch.no_grad():
        network.head.bias[0] = torch.nan
    before = parameter_hash(network)
    with pytest.raises(DivergedError):
        learner.update(rollout, NO_BONUS, seed=1, threads=ONE_THREAD)
    assert parameter_hash(network) == before


def test_a_rollout_of_one_decision_can_be_learned_from() -> None:
    learner = tiny_learner()
    rollout = deals_of(learner.actor, number=1)
    values = learner.update(rollout, NO_BONUS, seed=1, threads=ONE_THREAD)
    assert math.isfinite(values["ppo/policy_loss"])
