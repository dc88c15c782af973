"""Where a policy loses: what a single change at each kind of its decisions would bring against given opponents.

The policy plays each seat of a deal in turn. At every decision of its own, worlds that it could not tell from the true
one are imagined, in which the others play as they do (`likely_worlds`); each card, passing, and one way to discard each
number of cards are tried in all of them, the policy playing on. Half of the worlds name a better action, the other half
say what it is worth, so that the best of many noisy means does not pass for a gain.

The sum over a deal is, to first order, what the policy would gain by those changes (Kakade and Langford, 2002). It is a
lower bound, in expectation, on what the best single changes would bring: noise may name the wrong ones. Single changes
that bring nothing do not make a best response, for only the decisions that the policy itself comes to are looked at,
and it plays on as before.

Shapes: D deals, N seats, R tables, A decisions, C candidates a decision, W worlds, K kinds.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from agents.arena import ActionStreams, begin_deals, stream_seed
from agents.bourre.decision_kinds import EVERY, decided, kinds_of, kinds_of_changes
from agents.executors import Workers, map_unordered
from agents.lookahead import better_of
from agents.policy import Decision, check_rules, load_policy
from agents.referee import strict_answer
from agents.search import KINDS as SEARCHED
from agents.search import Effort, SearchPolicy, part_of
from agents.search_spec import check_prior
from bourre_env.bourre.rules import Rules
from bourre_env.bourre.tables import Tables

PROPOSALS, PROPOSALS_A_WORLD = 2048, 32  # drawn at once, and in all
DEALS_IN_A_TASK = 8  # fixed, so that no result can depend on the number of workers
ASKED_AT_ONCE = 32  # decisions; bounds the memory and changes nothing else

_Number = TypeVar("_Number", np.float64, np.int64)

_DEAL_STREAM = "leaks: deals"
_BOOTSTRAP_STREAM = "leaks: bootstrap"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured.

    Attributes:
        spec: the policy that is looked over.
        others: the policy of all other seats.
        preset: name of the rules.
        seats: players at the table.
        deals: how many, each played from every seat.
        worlds: most worlds a decision; half of them choose, half judge.
        seed: of the experiment.
    """

    spec: str
    others: str
    preset: str
    seats: int
    deals: int
    worlds: int
    seed: int

    def rules(self) -> Rules:
        """The rules played by.

        Raises:
            RulesError: there are none of that name, or not for so many seats.
        """
        return Rules.preset(self.preset, num_players=self.seats)

    def kinds(self) -> tuple[str, ...]:
        """[K] the names of the kinds of decisions that are told apart."""
        return kinds_of(self.rules())

    def searcher(self) -> SearchPolicy:
        """Who looks for better actions.

        Raises:
            PolicyError: a policy cannot be loaded, or not be asked thousands of times a decision.
        """
        for spec in (self.spec, self.others):
            check_prior(spec, "be looked over for leaks")
        rounds = math.ceil(PROPOSALS_A_WORLD * self.worlds / PROPOSALS)
        effort = Effort(self.worlds, PROPOSALS, rounds, fewest=16, kinds=frozenset(SEARCHED))
        own = load_policy(self.spec)
        return SearchPolicy("leaks", own, effort, None if self.others == self.spec else load_policy(self.others))

    @property
    def bootstrap_seed(self) -> int:
        """The seed of the intervals."""
        return stream_seed(self.seed, _BOOTSTRAP_STREAM)


@dataclass(frozen=True, slots=True)
class Leaks:
    """What was found in some deals, summed over the seats that the policy took in each.

    Attributes:
        gains: [D, K] float64, antes that changes would bring.
        decisions: [D, K] int64, decisions with a choice; one of staying may be of two kinds, and of `EVERY`, too.
        judged: [D, K] int64, those for which enough worlds were found.
        changed: [D, K] int64, those at which another action seemed better.
        earned: [D] float64, antes that the policy earned as it is, an equal share of the carry included.
    """

    gains: NDArray[np.float64]
    decisions: NDArray[np.int64]
    judged: NDArray[np.int64]
    changed: NDArray[np.int64]
    earned: NDArray[np.float64]


def check_plan(plan: Plan) -> None:
    """Load both policies and ask whether they can play.

    Raises:
        PolicyError: one cannot be loaded, or cannot play under these rules.
        RulesError: there are no such rules.
    """
    rules, searcher = plan.rules(), plan.searcher()
    for policy in (searcher.prior, searcher.model):
        check_rules(policy, rules)


def find_leaks(plan: Plan, *, workers: int | Workers = 1, report: Callable[[int], None] = lambda _: None) -> Leaks:
    """Look a policy over.

    Args:
        plan: what is measured.
        workers: processes, or who else; the results do not depend on it.
        report: called with the number of deals played since the last call.

    Raises:
        PolicyError: a policy cannot be loaded, or cannot play under the rules.
        PolicyFailedError: a policy raised, or did not answer with legal actions.
    """
    starts = range(0, plan.deals, DEALS_IN_A_TASK)
    tasks = [_Task(plan, start, min(start + DEALS_IN_A_TASK, plan.deals)) for start in starts]
    parts: dict[int, Leaks] = {}
    for number, part in map_unordered(play_task, tasks, workers=workers):
        parts[number] = part
        report(len(part.earned) * plan.seats)
    ordered = [parts[number] for number in range(len(tasks))]
    return Leaks(*(np.concatenate([getattr(part, field.name) for part in ordered]) for field in fields(Leaks)))


@dataclass(frozen=True, slots=True)
class _Task:
    """Deals `first` up to, not including, `end`."""

    plan: Plan
    first: int
    end: int


def play_task(task: _Task) -> Leaks:
    """Look a policy over in some deals, with freshly loaded policies."""
    plan, rules = task.plan, task.plan.rules()
    searcher = plan.searcher()
    seed = stream_seed(plan.seed, _DEAL_STREAM)
    deals = np.repeat(np.arange(task.first, task.end), rules.num_players)
    tables = Tables(rules, len(deals))
    begin_deals(tables, seed=seed, deals=deals)
    streams = ActionStreams(seed, deals, rules.num_players)
    found = Findings(rules, len(deals))
    while (waiting := np.flatnonzero(tables.to_act >= 0)).size:
        packed, legal = tables.view_rows(waiting)
        seats = tables.to_act[waiting]
        decision = Decision.from_packed(packed, legal, seats, rules, streams.next(waiting, seats))
        actions = np.empty(len(waiting), np.int64)
        is_own = seats == waiting % rules.num_players
        for policy, rows in ((searcher.prior, np.flatnonzero(is_own)), (searcher.model, np.flatnonzero(~is_own))):
            if rows.size:
                actions[rows] = strict_answer(policy, part_of(decision, rows), streams.generator)
        own = np.flatnonzero(is_own)
        found.look_over(searcher, waiting[own], part_of(decision, own), actions[own], streams.generator)
        tables.step(actions, rows=waiting, play_forced=True)
    own_seats = np.arange(len(deals)) % rules.num_players
    earned = (tables.returns[np.arange(len(deals)), own_seats] + tables.carry / rules.num_players) / rules.ante
    return found.by_deal(earned)


class Findings:
    """What has been found at some tables so far."""

    def __init__(self, rules: Rules, num_tables: int) -> None:
        """Nothing yet, at R tables."""
        self._rules = rules
        shape = num_tables, len(kinds_of(rules))
        self._gains = np.zeros(shape)
        self._decisions, self._judged, self._changed = (np.zeros(shape, np.int64) for _ in range(3))

    def look_over(
        self,
        searcher: SearchPolicy,
        tables: NDArray[np.int64],
        decision: Decision,
        own: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> None:
        """Look for better actions at decisions of the policy.

        Args:
            searcher: who looks.
            tables: [A] the table of each.
            decision: the decisions.
            own: [A] what the policy did.
            rng: for policies that draw without regard to the key of a decision.
        """
        rows = np.flatnonzero(np.bitwise_count(decision.legal_packed).sum(axis=1) > 1)
        for start in range(0, len(rows), ASKED_AT_ONCE):
            some = rows[start : start + ASKED_AT_ONCE]
            self._judge(searcher, tables[some], part_of(decision, some), own[some], rng)

    def _judge(
        self,
        searcher: SearchPolicy,
        tables: NDArray[np.int64],
        decision: Decision,
        own: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> None:
        """Look for better actions at a few decisions."""
        candidates = searcher.candidates(decision, own, rng)
        values = searcher.values(searcher.imagined(decision), candidates)
        best, gains = better_actions(candidates, values, searcher.effort)
        is_judged = (~np.isnan(values[:, 0])).sum(axis=1) >= searcher.effort.fewest
        best, gains = np.where(is_judged, best, own), np.where(is_judged, gains, 0.0)
        counted = decided(self._rules, decision, own)
        np.add.at(self._decisions, tables, counted)
        np.add.at(self._judged, tables, counted & is_judged[:, None])
        kinds = kinds_of_changes(self._rules, decision, own, best)
        for column in (kinds, np.full(len(own), EVERY)):
            np.add.at(self._changed, (tables, column), best != own)
            np.add.at(self._gains, (tables, column), gains)

    def by_deal(self, earned: NDArray[np.float64]) -> Leaks:
        """The sums over the seats of each deal, and what was earned [R] likewise."""
        size = self._rules.num_players
        return Leaks(
            gains=_by_deal(self._gains, size),
            decisions=_by_deal(self._decisions, size),
            judged=_by_deal(self._judged, size),
            changed=_by_deal(self._changed, size),
            earned=_by_deal(earned, size),
        )


def _by_deal(values: NDArray[_Number], seats: int) -> NDArray[_Number]:
    """Sums over the tables [R, ...] at which the same deal was played, [D, ...]."""
    return np.asarray(values.reshape(-1, seats, *values.shape[1:]).sum(axis=1))


def better_actions(
    candidates: NDArray[np.int64], values: NDArray[np.float64], effort: Effort
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Actions that one half of the worlds prefers, and what the other half says of them.

    Args:
        candidates: [A, C] actions, the policy's own first.
        values: [A, C, W] what they brought in each world, NaN where they were not tried.
        effort: how many standard errors a gain must exceed in the half that chooses.

    Returns:
        [A] actions, and [A] antes that they bring beyond the policy's own; 0 where they are the same.
    """
    choosing, judging = values[:, :, 0::2], values[:, :, 1::2]
    rows, own = np.arange(len(candidates)), candidates[:, 0]
    chosen = better_of(candidates, choosing, effort.caution)
    columns = (candidates == chosen[:, None]).argmax(axis=1)
    beyond = judging[rows, columns] - judging[:, 0]
    there = ~np.isnan(beyond)
    means = np.where(there, beyond, 0.0).sum(axis=1) / np.maximum(there.sum(axis=1), 1)
    return chosen, np.where(chosen == own, 0.0, means)
