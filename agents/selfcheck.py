"""Controls of the measuring itself: results that are known beforehand, played and simulated.

Where chance decides, the limit is set so that a correct program passes it nearly always, and each control says how
often a correct program would fail on fresh seeds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr as normal_distribution
from scipy.stats import binom

from agents.arena import play_blocks, stream_seed
from agents.baselines import ALWAYS_PASS, ALWAYS_STAY, HEURISTIC, Random
from agents.comparisons import compare
from agents.outcomes import Outcomes
from agents.plackett_luce import fit_plackett_luce
from agents.policy import Decision, Policy
from agents.population import NotAvailable, maximal_lottery
from agents.ratings import fit_ratings, fit_strengths
from agents.sequential import SequentialTest
from agents.simulated import error_of_a_difference, simulated_error_rates, simulated_outcomes
from agents.statistics import LEVEL
from agents.tournament import pairs
from agents.verdicts import ABOVE, BELOW, NOT_SEPARATED, cell_verdicts
from bourre_env.bourre.rules import Rules
from bourre_env.deck import mix_array, stream_keys

NUM_PLAYERS = 4
COPIES = ("first", "second", "third", "fourth")
COPY_BLOCKS = 100
REPEATS, REPEAT_BLOCKS, MOST_FLAGGED = 20, 250, 2
SIGN_BLOCKS = 1000
RUNS, RUN_BLOCKS, RUN_ENTRANTS, FEWEST_RECOVERED = 100, 400, 6, 95
DEVIATION, GAP_IN_ERRORS = 1.0, 3.0
COVERAGE = (0.91, 0.985)
SEQUENCES = 1000
RARELY = 1e-3  # how often a correct program may fail a control whose limit is set here
RATING_DRAWS = 1000

Report = Callable[[int], None]
STEPS = 1 + REPEATS + 1 + RUNS + 3
"""How often `run_controls` reports."""


@dataclass(frozen=True, slots=True)
class Control:
    """One control and how it came out.

    Attributes:
        name: what is checked.
        expected: what has to come out.
        found: what came out.
        passed: whether it is what was expected.
        false_alarm: probability that a correct program fails it on fresh seeds; 0 where nothing is left to chance.
    """

    name: str
    expected: str
    found: str
    passed: bool
    false_alarm: float


@dataclass(frozen=True, slots=True)
class Salted:
    """A policy under another name with random streams of its own.

    Attributes:
        name: what it plays as; it decides the streams.
        policy: what it plays like.
    """

    name: str
    policy: Policy

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.integer[Any]]:
        """[D] actions."""
        key = mix_array(decision.key ^ np.uint64(stream_seed(0, self.name)))
        salted = Decision.from_packed(decision.packed, decision.legal_packed, decision.seat, decision.rules, key)
        return self.policy.act(salted, rng)


def run_controls(*, seed: int = 0, report: Report = lambda _: None) -> list[Control]:
    """Play and simulate all controls; less than a minute on one core.

    Args:
        seed: of everything.
        report: called with 1 after each of `STEPS` steps.
    """
    known = played_cells(
        {policy.name: policy for policy in (HEURISTIC, Random(), ALWAYS_STAY, ALWAYS_PASS)}, SIGN_BLOCKS, seed
    )
    report(1)
    return [
        same_streams(seed, report),
        *independent_streams(seed, report),
        known_signs(known),
        shuffled_logs(known, seed),
        *known_strengths(seed, report),
        *sequential_errors(seed, report),
    ]


def played_cells(policies: dict[str, Policy], blocks: int, seed: int) -> list[Outcomes]:
    """Every cell of some policies, all on the same deals, at four seats with the usual rules."""
    rules, deals = Rules.preset("pagat", num_players=NUM_PLAYERS), np.arange(blocks)
    units = stream_keys(seed, deals)
    outcomes = []
    for line_up in pairs(list(policies), NUM_PLAYERS):
        focal, field = policies[line_up[0]], policies[line_up[1]]
        means = play_blocks(rules, focal, field, seed=seed, deal_ids=deals).block_means
        others = np.repeat(-means[:, None] / (NUM_PLAYERS - 1), NUM_PLAYERS - 1, axis=1)
        outcomes.append(Outcomes(line_up, units, np.column_stack([means, others])))
    return outcomes


def same_streams(seed: int, report: Report) -> Control:
    """One policy under four names with the same random numbers: nobody gains anything, in any block."""
    outcomes = played_cells({name: Random() for name in COPIES}, COPY_BLOCKS, seed)
    largest = max(float(np.abs(part.earned).max()) for part in outcomes)
    strength = fit_strengths(outcomes, seed=seed, draws=RATING_DRAWS)
    ratings = float(np.abs([strength.values, strength.low, strength.high]).max())
    report(1)
    return Control(
        "identical policies, same streams",
        "every block and every end of a rating's interval exactly 0",
        f"largest block {largest:g}, largest end {ratings:g}",
        largest == 0 and ratings == 0,
        0.0,
    )


def independent_streams(seed: int, report: Report) -> list[Control]:
    """One policy under four names with random numbers of its own: differences are chance, and must look like it."""
    flagged = outside = 0
    for repeat in range(REPEATS):
        policies: dict[str, Policy] = {name: Salted(name, Random()) for name in COPIES}
        outcomes = played_cells(policies, REPEAT_BLOCKS, stream_seed(seed, f"selfcheck: repeat {repeat}"))
        flagged += any(verdict.verdict != NOT_SEPARATED for verdict in cell_verdicts(outcomes))
        low, high = fit_strengths(outcomes, seed=seed, draws=RATING_DRAWS).band
        outside += not bool(((low <= 0) & (high >= 0)).all())
        report(1)
    expected = f"at most {MOST_FLAGGED} of {REPEATS} repeats"
    false_alarm = float(binom.sf(MOST_FLAGGED, REPEATS, 1 - LEVEL))
    return [
        Control(
            f"identical policies, independent streams: {what}", expected, str(count), count <= MOST_FLAGGED, false_alarm
        )
        for what, count in [("a cell separated (Holm)", flagged), ("a rating's band without 0", outside)]
    ]


def known_signs(outcomes: Sequence[Outcomes]) -> Control:
    """Policies whose order nobody doubts."""
    expected = {
        ("heuristic", "random"): ABOVE,
        ("random", "heuristic"): BELOW,
        ("heuristic", "always_stay"): ABOVE,
        ("always_stay", "heuristic"): BELOW,
        ("always_pass", "heuristic"): BELOW,
    }
    verdicts = {(verdict.first, verdict.second): verdict for verdict in cell_verdicts(outcomes)}
    wrong = [pair for pair, side in expected.items() if verdicts[pair].verdict != side]
    shown = verdicts["always_stay", "heuristic"].mean
    return Control(
        "weak policies lose to the heuristic",
        f"{len(expected)} cells with the right sign (Holm)",
        f"{len(expected) - len(wrong)}; always_stay {shown:+.2f} antes a deal",
        not wrong,
        RARELY,
    )


def shuffled_logs(outcomes: Sequence[Outcomes], seed: int) -> Control:
    """The same results in another order, cut into parts and begun at another place: the same tables, bit for bit."""
    rng = np.random.default_rng([seed, 1])
    before, after = (tables_as_bytes(given, seed) for given in (outcomes, shuffled(outcomes, rng)))
    return Control(
        "shuffled logs",
        "ratings, Plackett-Luce, lottery and verdicts the same to the last bit",
        "the same" if before == after else "different",
        before == after,
        0.0,
    )


def shuffled(outcomes: Sequence[Outcomes], rng: np.random.Generator) -> list[Outcomes]:
    """The same results with rows permuted, line-ups cut in three and begun at other places, all in another order."""
    parts = []
    for outcome in outcomes:
        for rows in np.array_split(rng.permutation(len(outcome.units)), 3):
            turn = int(rng.integers(len(outcome.line_up)))
            line_up = outcome.line_up[turn:] + outcome.line_up[:turn]
            parts.append(Outcomes(line_up, outcome.units[rows], np.roll(outcome.earned[rows], -turn, axis=1)))
    return [parts[number] for number in rng.permutation(len(parts))]


def tables_as_bytes(outcomes: Sequence[Outcomes], seed: int) -> bytes:
    """Everything that is computed from results, in one string of bytes."""
    ratings = fit_ratings(outcomes, seed=seed, draws=RATING_DRAWS)
    lottery = maximal_lottery(outcomes, seed=seed, draws=50)
    assert not isinstance(lottery, NotAvailable)
    scores = [ratings.strength, fit_plackett_luce(outcomes, seed=seed, draws=20), lottery]
    arrays = [array for score in scores for array in (score.values, score.draws)]
    arrays += [ratings.fit.residuals, ratings.fit.errors, compare(outcomes, seed=seed, draws=1).wins]
    texts = repr([ratings.fit.chi_square, ratings.fit.p, cell_verdicts(outcomes)])
    return b"".join([array.tobytes() for array in arrays]) + texts.encode()


def known_strengths(seed: int, report: Report) -> list[Control]:
    """Simulated tournaments of six entrants, neighbours `GAP_IN_ERRORS` standard errors of their difference apart.

    Whether an interval that covers in 95 of 100 cases does so in at least 95 of 100 runs is decided by a coin. So the
    runs are asked for the whole order of strengths, which such a gap leaves to chance in less than one run of a
    hundred, and the coverage of the intervals is held, from both sides, to what a correct one reaches.
    """
    names = [f"entrant {number}" for number in range(RUN_ENTRANTS)]
    error = error_of_a_difference(RUN_ENTRANTS, NUM_PLAYERS, blocks=RUN_BLOCKS, deviation=DEVIATION)
    gap = GAP_IN_ERRORS * error
    true = gap * (np.arange(RUN_ENTRANTS)[::-1] - (RUN_ENTRANTS - 1) / 2)
    recovered = covered_at_once = covered = 0
    for run in range(RUNS):
        rng = np.random.default_rng([seed, 2, run])
        line_ups = pairs(names, NUM_PLAYERS)
        outcomes = simulated_outcomes(names, true, line_ups, blocks=RUN_BLOCKS, deviation=DEVIATION, rng=rng)
        strength = fit_strengths(outcomes, seed=run, draws=RATING_DRAWS)
        low, high = strength.band
        recovered += strength.ranking == tuple(range(RUN_ENTRANTS))
        covered_at_once += bool(((low <= true) & (true <= high)).all())
        covered += int(((strength.low <= true) & (true <= strength.high)).sum())
        report(1)
    fewest = int(binom.ppf(RARELY, RUNS, LEVEL))
    share = covered / (RUNS * RUN_ENTRANTS)
    missed = (RUN_ENTRANTS - 1) * float(normal_distribution(-GAP_IN_ERRORS))  # a pair of neighbours changes places
    return [
        Control(
            f"known strengths, {GAP_IN_ERRORS:g} standard errors apart: whole order recovered",
            f"at least {FEWEST_RECOVERED} of {RUNS} runs",
            str(recovered),
            recovered >= FEWEST_RECOVERED,
            float(binom.cdf(FEWEST_RECOVERED - 1, RUNS, 1 - missed)),
        ),
        Control(
            "known strengths: 95 % band covers all at once",
            f"at least {fewest} of {RUNS} runs",
            str(covered_at_once),
            covered_at_once >= fewest,
            RARELY,
        ),
        Control(
            "known strengths: single 95 % intervals cover",
            f"{COVERAGE[0]:.1%} to {COVERAGE[1]:.1%} of {RUNS * RUN_ENTRANTS}",
            f"{share:.1%}",
            COVERAGE[0] <= share <= COVERAGE[1],
            RARELY,
        ),
    ]


def sequential_errors(seed: int, report: Report) -> list[Control]:
    """Simulated cells under the sequential test: how often it is wrong, and how many blocks it takes."""
    test = SequentialTest()
    controls = []
    cases = [(0.0, test.alpha, "false alarms"), (test.effect, test.beta, "misses"), (-test.effect, test.beta, "misses")]
    for number, (t, rate, what) in enumerate(cases):
        rates = simulated_error_rates(test, t, runs=SEQUENCES, rng=np.random.default_rng([seed, 3, number]))
        right = {0: rates.not_separated, 1: rates.above, -1: rates.below}[int(np.sign(t))]
        wrong = round((1 - right) * SEQUENCES)
        most = int(binom.ppf(1 - RARELY, SEQUENCES, rate))
        found = f"{wrong}; {rates.blocks:,.0f} blocks on average"
        name = f"sequential test, mean {t:+.2f} deviations: {what}"
        controls.append(Control(name, f"at most {most} of {SEQUENCES} cells", found, wrong <= most, RARELY))
        report(1)
    return controls
