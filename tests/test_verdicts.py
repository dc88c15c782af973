"""t-tests with Holm's correction, and the test that plays until it is clear."""

import itertools

import numpy as np
import pytest
from scipy import optimize, stats
from test_ratings import cell

from agents.lineups import OutcomesError
from agents.sequential import UNDECIDED, SequentialTest, log_likelihood_ratio
from agents.simulated import normal, simulated_error_rates, skewed
from agents.verdicts import ABOVE, BELOW, NOT_SEPARATED, cell_verdicts, holm, judge, pair_verdicts

# --- Holm ---


def test_holm_on_a_textbook_example():
    """Four hypotheses with p = 0.01, 0.04, 0.03, 0.005; R's p.adjust(..., "holm") gives these numbers, too."""
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.6]).tolist() == [1, 1]
    assert holm([0.2]).tolist() == [0.2]


def test_holm_keeps_the_chance_of_any_false_rejection():
    """Eight true hypotheses beside two false ones: some true one is rejected in less than 5 % of the families."""
    rng = np.random.default_rng(0)
    rejected = [(holm(np.append(rng.uniform(size=8), [1e-9, 1e-9]))[:8] < 0.05).any() for _ in range(4000)]
    assert np.mean(rejected) == pytest.approx(1 - (1 - 0.05 / 8) ** 8, abs=0.012)


# --- verdicts ---


def test_verdicts_agree_with_scipy():
    rng = np.random.default_rng(1)
    samples = {(name, "x"): rng.normal(mean, 1, 200) for name, mean in zip("abcd", [0.4, -0.4, 0.0, 0.15], strict=True)}
    verdicts = judge(samples)
    expected = [stats.ttest_1samp(blocks, 0) for blocks in samples.values()]
    np.testing.assert_allclose([verdict.t for verdict in verdicts], [test.statistic for test in expected])
    np.testing.assert_allclose([verdict.p for verdict in verdicts], [test.pvalue for test in expected])
    np.testing.assert_allclose([verdict.p_adjusted for verdict in verdicts], holm([test.pvalue for test in expected]))
    assert [verdict.verdict for verdict in verdicts[:3]] == [ABOVE, BELOW, NOT_SEPARATED]
    assert [(verdict.first, verdict.second, verdict.blocks) for verdict in verdicts] == [
        (*pair, 200) for pair in samples
    ]


def test_more_cells_ask_for_more_evidence():
    blocks = np.random.default_rng(2).normal(0, 1, 100)
    blocks += 2.4 * blocks.std(ddof=1) / 10 - blocks.mean()  # t = 2.4: p = 0.018
    alone = judge({("a", "b"): blocks})
    among = judge({("a", "b"): blocks, **{("c", str(number)): blocks - blocks.mean() for number in range(5)}})
    assert (alone[0].verdict, among[0].verdict) == (ABOVE, NOT_SEPARATED)
    assert among[0].p_adjusted == pytest.approx(6 * among[0].p)
    assert judge({("a", "b"): blocks}, level=0.99)[0].verdict == NOT_SEPARATED


def test_blocks_that_never_differ():
    zero, one = judge({("a", "b"): np.zeros(5), ("a", "c"): np.full(5, -0.1)})
    assert (zero.t, zero.p, zero.verdict) == (0, 1, NOT_SEPARATED)
    assert (one.t, one.p, one.verdict) == (-np.inf, 0, BELOW)


def test_cells_have_verdicts_and_other_line_ups_have_none():
    rng = np.random.default_rng(3)
    outcomes = [cell(*pair, rng.normal(0, 1, 30)) for pair in itertools.permutations("ab", 2)]
    mixed = cell("a", "b", rng.normal(size=30))
    mixed = type(mixed)(("a", "b", "a", "b"), mixed.units, mixed.earned)
    verdicts = cell_verdicts([*outcomes, mixed])
    assert [(verdict.first, verdict.second) for verdict in verdicts] == [("a", "b"), ("b", "a")]
    assert verdicts[1].mean == pytest.approx(outcomes[1].earned[:, 0].mean())
    two_seats = [cell("b", "a", [1.0, 2.0, 1.5], seats=2), cell("a", "b", [-1.0, -2.0, -1.5], seats=2)]
    assert [(verdict.first, verdict.blocks, verdict.mean) for verdict in cell_verdicts(two_seats)] == [("a", 3, -1.5)]


def test_a_pair_is_judged_by_both_its_cells_on_the_deals_they_share():
    outcomes = [cell("a", "b", [1.0, 2.0, 9.0], units=[5, 6, 7]), cell("b", "a", [0.4, 0.0, 8.0], units=[6, 5, 8])]
    (verdict,) = pair_verdicts(outcomes)
    assert (verdict.first, verdict.second, verdict.blocks) == ("a", "b", 2)
    assert verdict.mean == pytest.approx(((1.0 - 0.0) + (2.0 - 0.4)) / 4)
    with pytest.raises(OutcomesError, match="nothing to judge"):
        pair_verdicts(outcomes[:1])


def test_no_verdict_is_made_up():
    with pytest.raises(OutcomesError, match="a against b: 1 block cannot be tested"):
        cell_verdicts([cell("a", "b", [1.0])])
    with pytest.raises(ValueError, match="level is 1"):
        judge({("a", "b"): np.zeros(3)}, level=1)


# --- the sequential test ---


def numeric_ratio(blocks, null, alternative):
    """The generalised likelihood ratio by brute force over the deviation."""

    def largest(t):
        def minus_log_likelihood(log_deviation):
            deviation = np.exp(log_deviation)
            return -stats.norm.logpdf(blocks, t * deviation, deviation).sum()

        return -optimize.minimize_scalar(
            minus_log_likelihood, bounds=(-8, 8), method="bounded", options={"xatol": 1e-9}
        ).fun

    return largest(alternative) - largest(null)


@pytest.mark.parametrize(("null", "alternative"), [(0, 0.05), (0, -0.4), (0.1, 0.3)])
def test_the_ratio_is_that_of_the_largest_likelihoods(null, alternative):
    rng = np.random.default_rng(4)
    for scale in (0.01, 1, 40):
        blocks = scale * rng.normal(0.1, 1, 50)
        ours = log_likelihood_ratio(50, blocks.sum(), (blocks**2).sum(), null=null, alternative=alternative)
        assert ours == pytest.approx(numeric_ratio(blocks, null, alternative), abs=1e-6)


def test_the_ratio_is_near_van_den_berghs_formula():
    """n / 2 log((1 + (m - t0)^2) / (1 + (m - t1)^2)) with m = mean / deviation."""
    blocks = np.random.default_rng(5).normal(0.03, 1, 4000)
    blocks += 0.03 * blocks.std() - blocks.mean()
    m = blocks.mean() / blocks.std()
    ours = log_likelihood_ratio(4000, blocks.sum(), (blocks**2).sum(), null=0, alternative=0.05)
    assert ours == pytest.approx(2000 * np.log((1 + m**2) / (1 + (m - 0.05) ** 2)), rel=0.02)


def test_units_and_direction_do_not_matter():
    blocks = np.random.default_rng(6).normal(0.2, 1, 300)
    one, other = (
        log_likelihood_ratio(300, given.sum(), (given**2).sum(), null=0, alternative=t)
        for given, t in [(blocks, 0.05), (-7 * blocks, -0.05)]
    )
    assert one == pytest.approx(other)
    look, mirrored = (SequentialTest().look(300, given.sum(), (given**2).sum()) for given in (blocks, -7 * blocks))
    assert (look.above, look.below) == pytest.approx((mirrored.below, mirrored.above))


def test_the_ends_of_a_test():
    test = SequentialTest(effect=0.05, alpha=0.05, beta=0.05)
    assert test.bounds == pytest.approx((np.log(0.05 / 0.975), np.log(0.95 / 0.025)))
    assert SequentialTest(cells=56).bounds[1] == pytest.approx(np.log(0.95 * 112 / 0.05))
    states = [
        test.look(blocks, total, squares).state
        for blocks, total, squares in [
            (0, 0.0, 0.0),
            (500, 0.0, 500.0),
            (2000, 200.0, 2000.0),
            (2000, -200.0, 2000.0),
            (3000, 0.0, 3000.0),
            (3000, 0.0, 0.0),
        ]
    ]
    assert states == [UNDECIDED, UNDECIDED, ABOVE, BELOW, NOT_SEPARATED, NOT_SEPARATED]
    copies, no_gain = test.look(3000, 0.0, 0.0), test.look(3000, 0.0, 3000.0)
    assert copies == no_gain
    assert copies.above == pytest.approx(-3000 * 0.05**2 / 2)


def test_a_few_lucky_blocks_decide_nothing():
    assert SequentialTest().look(60, 60.0, 60.0).state == UNDECIDED
    assert SequentialTest().look(100, 100.0, 100.0).state == ABOVE


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"effect": 0.0}, "effect is 0"),
        ({"alpha": 0.0}, "alpha is 0"),
        ({"beta": 0.5}, "beta is 0.5"),
        ({"cells": 0}, "cells is 0"),
    ],
)
def test_numbers_that_make_no_test_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        SequentialTest(**arguments)


@pytest.mark.parametrize("given", [(-1, 0.0, 0.0), (3, 0.0, -1.0), (3, 3.0, 2.0)])
def test_sums_that_no_blocks_have_are_refused(given):
    with pytest.raises(ValueError, match="have sum"):
        SequentialTest().look(*given)


def most(runs, rate):
    """As many as a correct test stays below in all but one of ten thousand tries."""
    return stats.binom.ppf(1 - 1e-4, runs, rate)


@pytest.mark.parametrize("noise", [normal, skewed])
@pytest.mark.parametrize("cells", [1, 56])
def test_the_sequential_test_errs_as_seldom_as_it_says(noise, cells):
    """Also with a long tail to one side, as chips have it; and its answers take about as many blocks as Wald says."""
    test, runs = SequentialTest(effect=0.1, cells=cells), 1500
    low, high = test.bounds
    none, above, below = (
        simulated_error_rates(test, t, runs=runs, rng=np.random.default_rng(number), noise=noise, blocks_a_look=16)
        for number, t in enumerate((0, 0.1, -0.1))
    )
    assert none.undecided == above.undecided == below.undecided == 0
    assert runs * (none.above + none.below) <= most(runs, test.alpha / cells)
    assert runs * (1 - above.above) <= most(runs, test.beta)
    assert runs * (1 - below.below) <= most(runs, test.beta)
    expected = (0.95 * high + 0.05 * low) / (0.1**2 / 2)
    assert above.blocks == pytest.approx(expected, rel=0.2)
    assert none.blocks > -low / (0.1**2 / 2)


def test_a_run_that_comes_to_no_end_is_counted():
    rates = simulated_error_rates(SequentialTest(), 0.0, runs=50, rng=np.random.default_rng(0), longest=640)
    assert rates.undecided > 0.9
    assert rates.above + rates.below + rates.not_separated + rates.undecided == pytest.approx(1)
    assert rates.blocks <= 640
