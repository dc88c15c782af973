"""Results pooled, deals resampled, strengths fitted, and what they leave unexplained."""

import itertools
import json

import numpy as np
import pytest
from scipy import stats

from agents.comparisons import compare, margins
from agents.lineups import OutcomesError, pooled
from agents.outcomes import Outcomes
from agents.plackett_luce import fit_plackett_luce
from agents.ratings import fit_ratings, fit_strengths
from agents.resampling import means_over_resampled_deals
from agents.scores import Scores
from agents.selfcheck import shuffled
from agents.simulated import error_of_a_difference, normal, simulated_outcomes
from agents.tournament import pairs

NAMES = ("ann", "bob", "cid", "dot")
STRENGTHS = np.array([0.6, 0.2, -0.1, -0.7])


def outcome(line_up, antes, units=None):
    """Results of one line-up; the last place has what the others leave."""
    given = np.atleast_2d(np.asarray(antes, float))
    units = np.arange(len(given)) if units is None else units
    whole = np.column_stack([given, -given.sum(axis=1)])
    return Outcomes(tuple(line_up), np.asarray(units, np.uint64), whole)


def cell(focal, field, means, units=None, seats=4):
    """Results of one seat of `focal` against a table of `field`."""
    means = np.asarray(means, float)[:, None]
    return outcome(
        (focal, *[field] * (seats - 1)),
        np.repeat(means, seats - 1, 1) * ([1] + [-1 / (seats - 1)] * (seats - 2)),
        units,
    )


def exact(line_ups, blocks=3):
    """Results that STRENGTHS explain to the last chip."""
    return simulated_outcomes(NAMES, STRENGTHS, line_ups, blocks=blocks, deviation=0, rng=np.random.default_rng(0))


def noisy(blocks=40, seed=0, line_ups=None, **settings):
    """Results that STRENGTHS explain up to chance."""
    rng = np.random.default_rng(seed)
    line_ups = [*pairs(NAMES, 4), NAMES, NAMES[:2] * 2] if line_ups is None else line_ups
    return simulated_outcomes(NAMES, STRENGTHS, line_ups, blocks=blocks, deviation=1, rng=rng, **settings)


# --- pooling ---


def test_a_line_up_is_the_same_wherever_one_begins_to_count():
    rotated = Outcomes(("b", "b", "a"), np.array([7], np.uint64), np.array([[-1.0, -2.0, 3.0]]))
    (line_up,) = pooled([rotated])
    assert (line_up.places, line_up.names, line_up.seats.tolist()) == (("a", "b", "b"), ("a", "b"), [1, 2])
    assert line_up.earned.tolist() == [[3.0, -1.5]]
    both = pooled([outcome(("a", "b", "c"), [[1, 2]]), outcome(("a", "c", "b"), [[1, 2]])])
    assert [line_up.places for line_up in both] == [("a", "b", "c"), ("a", "c", "b")]


def test_at_two_seats_both_cells_of_a_pair_are_the_same_blocks():
    both = [outcome(("a", "b"), [[1.0], [3.0]]), outcome(("b", "a"), [[-1.0], [-2.0]])]
    (line_up,) = pooled(both)
    assert line_up.units.tolist() == [0, 1]
    assert line_up.earned.tolist() == [[1.0, -1.0], [2.5, -2.5]]


@pytest.mark.parametrize(
    ("outcomes", "complaint"),
    [
        ([], "no blocks"),
        ([outcome(("a", "b"), np.empty((0, 1)))], "no blocks"),
        ([Outcomes(("a",), np.zeros(1, np.uint64), np.zeros((1, 1)))], "two seats or more"),
        ([Outcomes(("a", "b"), np.zeros(2, np.uint64), np.zeros((1, 2)))], r"results of shape \(1, 2\); \(2, 2\)"),
        ([outcome(("a", "b"), [[np.nan]])], "not finite"),
        ([Outcomes(("a", "b"), np.zeros(1, np.uint64), np.ones((1, 2)))], r"block 0 adds up to \+2; 0 is"),
        ([outcome(("a", "b"), [[1.0], [2.0]], units=[5, 5])], "a, b holds a block twice"),
        ([outcome(("a", "b"), [[1.0]]), outcome(("a", "b"), [[1.0]])], "holds a block twice"),
    ],
)
def test_results_that_make_no_sense_are_refused(outcomes, complaint):
    with pytest.raises(OutcomesError, match=complaint):
        fit_ratings(outcomes, seed=0)


# --- resampling ---


def test_the_means_vary_as_those_of_independent_blocks_do():
    values = np.random.default_rng(1).exponential(size=(400, 2))
    (means,) = means_over_resampled_deals([(np.arange(400, dtype=np.uint64), values)], seed=3, draws=4000)
    np.testing.assert_allclose(means.std(axis=0), values.std(axis=0) / 20, rtol=0.05)
    np.testing.assert_allclose(means.mean(axis=0), values.mean(axis=0), atol=0.004)
    classic = stats.bootstrap((values[:, 0],), np.mean, n_resamples=4000, rng=np.random.default_rng(0))
    np.testing.assert_allclose(np.quantile(means[:, 0], [0.025, 0.975]), classic.confidence_interval, atol=0.012)


def test_the_weights_are_independent_exponentials():
    """Samples of two deals of which one counts 1: the mean is w1 / (w1 + w2), which is uniform."""
    samples = [(np.array([2 * pair, 2 * pair + 1], np.uint64), np.array([[1.0], [0.0]])) for pair in range(20)]
    shares = np.concatenate(means_over_resampled_deals(samples, seed=5, draws=200), axis=1)
    assert stats.kstest(shares.ravel(), "uniform").pvalue > 0.01
    correlations = np.corrcoef(np.concatenate([shares.T, shares.T[:, ::-1]]))
    assert np.abs(correlations[np.triu_indices(40, 1)]).max() < 0.35  # 780 of them, deviation 0.07


def test_a_deal_has_one_weight_in_all_samples_and_in_any_order():
    rng = np.random.default_rng(2)
    units, values = rng.integers(0, 2**63, 50).astype(np.uint64), rng.normal(size=(50, 1))
    order = rng.permutation(50)
    others = np.arange(9, dtype=np.uint64), np.ones((9, 1))
    alone = means_over_resampled_deals([(units, values)], seed=9, draws=21)[0]
    _, again, turned = means_over_resampled_deals(
        [others, (units, values), (units[order], -values[order])], seed=9, draws=21
    )
    assert again.tobytes() == alone.tobytes()
    np.testing.assert_allclose(turned, -alone, rtol=1e-12)
    longer = means_over_resampled_deals([(units, values)], seed=9, draws=30)[0]
    assert longer[:21].tobytes() == alone.tobytes()
    other_seed = means_over_resampled_deals([(units, values)], seed=10, draws=21)[0]
    assert not np.isclose(other_seed, alone).any()


# --- strengths ---


@pytest.mark.parametrize(
    "line_ups",
    [
        pairs(NAMES, 4),
        pairs(NAMES, 2),
        [NAMES],
        [("ann", "bob", "bob"), ("cid", "bob", "dot", "dot", "dot"), ("ann", "ann", "ann")],
        [("ann", "bob"), ("bob", "cid"), ("cid", "dot")],
    ],
)
def test_strengths_without_chance_are_found_exactly(line_ups):
    ratings = fit_ratings(exact(line_ups), seed=0, draws=20)
    assert ratings.strength.names == NAMES
    for found in (ratings.strength.values, ratings.strength.low, ratings.strength.high):
        np.testing.assert_allclose(found, STRENGTHS, atol=1e-12)
    np.testing.assert_allclose(ratings.fit.residuals, 0, atol=1e-12)
    assert ratings.fit.share_explained == pytest.approx(1)


def test_a_cell_is_the_difference_of_two_strengths():
    ratings = fit_ratings([cell("a", "b", [0.5, 0.7])], seed=0, draws=10)
    np.testing.assert_allclose(ratings.strength.values, [0.3, -0.3])
    three = fit_ratings([cell("a", "b", [0.5, 0.7], seats=3)], seed=0, draws=10)
    np.testing.assert_allclose(three.strength.values, [0.3, -0.3])


def test_every_seat_of_every_block_counts_the_same():
    """Two results of one pair: 3 blocks of 1 ante and 1 block of -1 ante are 0.5 antes on the average."""
    results = [cell("a", "b", [1.0] * 3), cell("b", "a", [1.0])]
    assert fit_ratings(results, seed=0, draws=10).strength.values.tolist() == pytest.approx([0.25, -0.25])
    outcomes = noisy(30)
    ratings = fit_ratings([*outcomes[:5], *(_without(part, 20) for part in outcomes[5:])], seed=0, draws=10)
    seats, antes = [], []
    for part in [*outcomes[:5], *(_without(part, 20) for part in outcomes[5:])]:
        present = np.array([[name == other for other in NAMES] for name in part.line_up], float)
        equations = (present - present.mean(axis=0)) * len(present) / (len(present) - 1)
        seats.append(np.tile(equations, (len(part.units), 1)))
        antes.append(part.earned.ravel())
    by_seat = np.linalg.lstsq(np.concatenate(seats), np.concatenate(antes), rcond=None)[0]
    np.testing.assert_allclose(ratings.strength.values, by_seat, atol=1e-12)


def _without(part, blocks):
    return Outcomes(part.line_up, part.units[:-blocks], part.earned[:-blocks])


def test_order_of_rows_and_cuts_change_no_bit():
    outcomes = noisy()
    ratings = fit_ratings(outcomes, seed=4, draws=50)
    for seed in range(3):
        again = fit_ratings(shuffled(outcomes, np.random.default_rng(seed)), seed=4, draws=50)
        assert again.strength.draws.tobytes() == ratings.strength.draws.tobytes()
        assert again.strength.values.tobytes() == ratings.strength.values.tobytes()
        assert again.fit.residuals.tobytes() == ratings.fit.residuals.tobytes()
        assert (again.fit.chi_square, again.fit.p) == (ratings.fit.chi_square, ratings.fit.p)


def test_names_are_only_names():
    """Ratings of renamed entrants are the ratings renamed, although everything is sorted by name inside."""
    outcomes, other = noisy(), dict(zip(NAMES, ("z", "m", "k", "b"), strict=True))
    renamed = [Outcomes(tuple(other[name] for name in part.line_up), part.units, part.earned) for part in outcomes]
    before, after = (fit_ratings(given, seed=4, draws=20).strength for given in (outcomes, renamed))
    places = [after.names.index(other[name]) for name in before.names]
    np.testing.assert_allclose(after.values[places], before.values, atol=1e-12)
    np.testing.assert_allclose(after.draws[:, places], before.draws, atol=1e-12)


def test_entrants_that_never_met_cannot_be_compared():
    apart = [cell("a", "b", [1.0, 2.0]), cell("c", "d", [1.0, 2.0])]
    for fit in (fit_ratings, fit_plackett_luce):
        with pytest.raises(OutcomesError, match="no chain of line-ups connects a, b with c, d; let some"):
            fit(apart, seed=0, draws=10)
        with pytest.raises(OutcomesError, match="connects a, b with c;"):
            fit([cell("a", "b", [1.0]), cell("c", "c", [0.0])], seed=0, draws=10)
        assert fit([*apart, cell("b", "c", [0.5, 0.1])], seed=0, draws=10) is not None


def test_copies_are_exactly_equal():
    ratings = fit_ratings([cell(*pair, np.zeros(50)) for pair in itertools.permutations("abcd", 2)], seed=0, draws=30)
    assert not ratings.strength.draws.any()
    assert ratings.strength.band[0].tolist() == ratings.strength.band[1].tolist() == [0] * 4
    assert (ratings.fit.share_explained, ratings.fit.p) == (1, 1)
    assert not fit_plackett_luce([cell("a", "b", np.zeros(9))], seed=0, draws=3).draws.round(12).any()


def test_nobody_is_rated_alone_or_without_draws():
    for fit in (fit_ratings, fit_plackett_luce):
        with pytest.raises(OutcomesError, match="a has played nobody else"):
            fit([cell("a", "a", [0.0])], seed=0, draws=5)
        with pytest.raises(ValueError, match="draws is 0"):
            fit(noisy(5), seed=0, draws=0)


def test_tables_are_told_as_json_best_first():
    ratings = fit_ratings(noisy(), seed=0, draws=50)
    told = json.loads(json.dumps(ratings.strength.plain(), allow_nan=False))
    assert [record["name"] for record in told] == list(NAMES)
    for record, entrant in zip(told, ratings.strength.ranking, strict=True):
        assert record["value"] == ratings.strength.values[entrant]
        assert record["band_low"] < record["low"] < record["average"] < record["high"] < record["band_high"]
    fit = json.loads(json.dumps(ratings.fit.plain(), allow_nan=False))
    assert fit["rows"][1]["observed"] - fit["rows"][1]["fitted"] == pytest.approx(ratings.fit.residuals[1])
    assert (len(fit["rows"]), fit["degrees"]) == (len(ratings.fit.names), ratings.fit.degrees)
    assert fit_ratings(circle(blocks=4), seed=0, draws=10).fit.plain()["p"] is None


# --- intervals ---


def test_intervals_cover_about_as_often_as_they_say_and_deals_in_common_are_reckoned_with():
    """Half of the variance is the deal's; intervals that took cells for independent would be far too short."""
    covered, at_once, differences, errors = [], [], [], []
    for seed in range(150):
        strength = fit_strengths(noisy(150, seed, pairs(NAMES, 4)), seed=seed, draws=300)
        covered.append((strength.low <= STRENGTHS) & (strength.high >= STRENGTHS))
        at_once.append(((strength.band[0] <= STRENGTHS) & (strength.band[1] >= STRENGTHS)).all())
        mean, low, high = strength.differences()
        differences.append(low[0, 1] <= 0.4 <= high[0, 1])
        errors.append(mean[0, 1] - 0.4)
    assert 0.91 < np.mean(covered) < 0.98
    assert 0.89 < np.mean(at_once) <= 0.995
    assert 0.89 < np.mean(differences) <= 0.995
    assert np.std(errors) == pytest.approx(error_of_a_difference(4, 4, blocks=150, deviation=1), rel=0.15)


def test_a_band_is_wider_than_its_intervals():
    strength = fit_strengths(noisy(100), seed=0, draws=2000)
    assert strength.draws.tobytes() == fit_ratings(noisy(100), seed=0, draws=2000).strength.draws.tobytes()
    low, high = strength.band
    assert ((low < strength.low) & (strength.high < high)).all()
    errors = strength.draws.std(axis=0)
    reach = ((high - low) / 2 / errors).tolist()
    assert reach == pytest.approx([reach[0]] * 4)
    assert 2.2 < reach[0] < 2.7  # four equally correlated normal numbers: about 2.5; one: 1.96


def test_what_the_draws_say_about_pairs():
    draws = np.array([[0.0, 1.0], [2.0, 1.0], [3.0, 1.0], [1.0, 1.0]])
    scores = Scores(("a", "b"), np.array([1.5, 1.0]), draws, 0.5)
    assert scores.probability_of_more().tolist() == [[0.5, 0.625], [0.375, 0.5]]
    mean, low, high = scores.differences()
    assert (mean[0, 1], low[0, 1], high[0, 1]) == (0.5, -0.25, 1.25)
    assert scores.average.tolist() == [1.5, 1.0]
    assert scores.ranking == (0, 1)
    assert Scores(("a", "b"), np.zeros(2), draws, 0.5).ranking == (0, 1)
    assert Scores(("a", "b"), np.array([0.0, 0.1]), draws, 0.5).ranking == (1, 0)
    with pytest.raises(ValueError, match="level is 95"):
        _ = Scores(("a", "b"), np.zeros(2), draws, 95).low


# --- lack of fit ---


def circle(blocks=200, seed=0, gain=0.5):
    """Rock, paper and scissors: each beats one other and loses to the third."""
    rng = np.random.default_rng(seed)
    signs = {("paper", "rock"): 1, ("rock", "scissors"): 1, ("scissors", "paper"): 1}
    return [
        cell(*pair, gain * signs.get(pair, -1) + rng.normal(size=blocks))
        for pair in itertools.permutations(("rock", "paper", "scissors"), 2)
    ]


def test_a_circle_is_not_explained_by_strengths():
    ratings = fit_ratings(circle(), seed=0, draws=200)
    assert ratings.fit.share_explained < 0.1
    assert ratings.fit.p < 1e-6
    assert ratings.fit.degrees == 6 - 2
    table = ratings.fit.cross_table(("rock", "paper", "scissors"))
    assert np.isnan(np.diag(table)).all()
    np.testing.assert_allclose(table[[1, 0, 2], [0, 2, 1]], 0.5, atol=0.25)
    assert (np.abs(ratings.fit.residuals) > 3 * ratings.fit.errors).any()


def test_results_that_strengths_explain_look_like_it():
    """The p-value is uniform, on deals that cells share, with noise that is normal."""
    fits = [fit_ratings(noisy(60, seed, noise=normal), seed=seed, draws=8).fit for seed in range(200)]
    assert stats.kstest([fit.p for fit in fits], "uniform").pvalue > 0.01
    assert {fit.degrees for fit in fits} == {12 + 3 + 1 - 3}
    scaled = np.concatenate([fit.residuals / fit.errors for fit in fits])
    assert scaled.std() == pytest.approx(1, abs=0.1)
    assert np.mean([fit.share_explained for fit in fits]) > 0.9


def test_lack_of_fit_is_told_only_where_it_can_be_known():
    nothing_left = fit_ratings([cell("a", "b", [0.5, 0.7])], seed=0, draws=10).fit
    assert (nothing_left.degrees, nothing_left.chi_square, nothing_left.p) == (0, 0, 1)
    too_few = fit_ratings(circle(blocks=4), seed=0, draws=10).fit
    assert np.isnan(too_few.chi_square)
    assert np.isnan(too_few.p)


# --- Plackett-Luce ---


def test_pairs_are_won_block_by_block():
    outcomes = [cell("a", "b", [5.0, -0.1, -0.1, 0.0]), outcome(("a", "b", "c"), [[1.0, 1.0], [2.0, -3.0]])]
    compared = compare(outcomes, seed=0, draws=7)
    assert compared.names == ("a", "b", "c")
    assert compared.wins.tolist() == [[0, 1.5 + 0.5 + 1, 2], [2.5 + 0.5, 0, 1], [0, 1, 0]]
    np.testing.assert_allclose(
        compared.draws + compared.draws.transpose(0, 2, 1), (compared.wins + compared.wins.T)[None].repeat(7, 0)
    )
    assert margins(compared.wins).tolist() == [[0, 0, 1], [0, 0, 0], [-1, 0, 0]]


def test_log_strengths_are_log_odds_of_coming_out_ahead():
    """Two entrants, 30 blocks against 10: the odds are 3, but for half a block on either side."""
    scores = fit_plackett_luce([cell("a", "b", [1.0] * 30 + [-0.2] * 10)], seed=0, draws=400)
    assert scores.values[0] - scores.values[1] == pytest.approx(np.log(30.5 / 10.5), abs=1e-6)
    assert scores.values.sum() == pytest.approx(0)
    _, low, high = scores.differences()
    expected = 1.96 * np.sqrt(1 / 30 + 1 / 10)
    assert (high - low)[0, 1] / 2 == pytest.approx(expected, rel=0.2)


def test_known_plackett_luce_strengths_come_back_from_mixed_tables():
    """Ranks of exponential arrival times with rates e^s are Plackett-Luce's."""
    rng = np.random.default_rng(5)
    true = np.array([0.8, 0.1, -0.2, -0.7])
    arrivals = rng.exponential(size=(6000, 4)) / np.exp(true)
    antes = 1.5 - arrivals.argsort(axis=1).argsort(axis=1)
    scores = fit_plackett_luce([Outcomes(NAMES, np.arange(6000, dtype=np.uint64), antes)], seed=0, draws=60)
    np.testing.assert_allclose(scores.values, true, atol=0.06)
    low, high = scores.band
    assert ((low < true) & (true < high)).all()


def test_whoever_wins_every_block_has_a_finite_strength():
    scores = fit_plackett_luce([cell("a", "b", [1.0] * 20), cell("b", "c", [1.0] * 20)], seed=0, draws=5)
    assert np.isfinite(scores.draws).all()
    assert scores.ranking == (0, 1, 2)
