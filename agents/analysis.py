"""A recorded deal looked over: what every decision was worth, and what the alternatives were.

Two judges. Where cards are played, the solver knows all hands and says what each card comes to when everybody plays on
without fault (`agents.solver`): the truth about the deal, not about the decision. And at every decision the search says
what each action is worth in worlds that the seat could not tell from the true one (`agents.search`): that is the one to
learn from. Values are antes of the deal, an equal share of the carry included.

Shapes: A actions, W worlds, N seats.
"""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from agents.bourre.rules import bourre_rules
from agents.likely_worlds import Worlds
from agents.policy import Decision, load_policy
from agents.search import Effort, SearchPolicy
from agents.search_spec import check_prior
from agents.solver import Solver
from bourre_env.bourre.actions import action_id, action_text
from bourre_env.bourre.recalled import tables_as_seen
from bourre_env.bourre.table import PHASE_NAMES, PLAY
from bourre_env.bourre.tables import Tables
from bourre_env.deck import stream_keys
from bourre_env.notation import FORFEIT_TEXT, DealRecord

SEED = 20260401  # of the worlds imagined
MISTAKE = 2.0  # standard errors
EQUAL = 2.0**-20  # chips; the solver takes no notice of less
WORLDS = 512  # most worlds an action is tried in, unless it is said otherwise
PROPOSALS, ROUNDS = 4096, 8

Line: TypeAlias = tuple[tuple[int, str], ...]
"""Seats and the cards they play, in order."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """An action that a seat had.

    Attributes:
        action: in words.
        seen: antes it is worth from the seat's own view; None when no world was found.
        error: standard error of what it is worth beyond the action taken.
        opened: antes it comes to with all cards open; None before the play.
    """

    action: str
    seen: float | None
    error: float | None
    opened: float | None


@dataclass(frozen=True, slots=True)
class Choice:
    """One decision of a deal.

    Attributes:
        number: of the action in the deal, from 1.
        seat: whose it was.
        phase: "declare", "draw" or "play".
        taken: what was done, in words.
        alternatives: everything that could have been done, best from the seat's view first; one when forced.
        worlds: in which they were tried.
        likely: whether these are worlds to which the policy asked leads; else the others acted in ways it would not,
            and the worlds are any that fit the rules.
        line: the best way to play on with all cards open, (seat, card) pairs; empty before the play.
    """

    number: int
    seat: int
    phase: str
    taken: str
    alternatives: tuple[Alternative, ...]
    worlds: int
    likely: bool
    line: Line

    @property
    def best(self) -> Alternative:
        """What the seat should have done, as far as it could know."""
        return self.alternatives[0]

    @property
    def played(self) -> Alternative:
        """What it did."""
        return next(other for other in self.alternatives if other.action == self.taken)

    @property
    def loss(self) -> float | None:
        """Antes by which the best alternative is worth more, from the seat's view; never below 0."""
        if self.best.seen is None or self.played.seen is None:
            return None
        return self.best.seen - self.played.seen

    @property
    def open_loss(self) -> float | None:
        """Antes by which the best card comes to more with all cards open."""
        values = [other.opened for other in self.alternatives if other.opened is not None]
        return None if self.played.opened is None else max(values) - self.played.opened

    @property
    def is_mistake(self) -> bool:
        """Whether the loss from the seat's view stands out from the noise of the worlds."""
        return self.loss is not None and self.best.error is not None and self.loss > MISTAKE * self.best.error

    @property
    def is_forced(self) -> bool:
        """Whether there was nothing to choose."""
        return len(self.alternatives) == 1


@dataclass(frozen=True, slots=True)
class DealAnalysis:
    """A deal, decision by decision.

    Attributes:
        record: the deal.
        choices: its decisions, forced ones included.
        forfeit: the seat that ended it by forfeiting (7.2), if one did.
    """

    record: DealRecord
    choices: tuple[Choice, ...]
    forfeit: int | None

    def losses(self, seat: int) -> float:
        """Antes that a seat gave away by its mistakes, from its own view."""
        return sum((choice.loss or 0.0 for choice in self.choices if choice.seat == seat and choice.is_mistake), 0.0)


def judge(spec: str, worlds: int) -> SearchPolicy:
    """Who looks a deal over: a search that takes all seats to play as a policy does.

    Raises:
        PolicyError: the spec is no policy, or one that search cannot imagine as others.
    """
    check_prior(spec)
    return SearchPolicy("analysis", load_policy(spec), Effort(worlds=worlds, proposals=PROPOSALS, rounds=ROUNDS))


def assumptions(spec: str, worlds: int) -> str:
    """What values from a seat's own view assume, in a sentence without its beginning."""
    return (
        f"mean antes of the deal in up to {worlds} worlds that the seat could not tell from the true one, where all "
        f"others are taken to play, and all play on, as {spec} does; ? where they did not, and any worlds that fit had "
        "to do"
    )


LOSS_MEANS = (
    "what the best alternative is worth more, with the standard error of the difference; ! where it is more than two "
    "of these, which is no noise"
)
OPEN_MEANS = "with all cards open, everybody playing without fault from there"


def analyse_deal(
    record: DealRecord, policy: SearchPolicy, *, report: Callable[[int], None] = lambda decided: None
) -> DealAnalysis:
    """Look at every decision of a deal.

    Args:
        record: the deal, perhaps unfinished.
        policy: says what the others do and how hard to think; all kinds of decisions are looked at.
        report: called with 1 after each action.

    Raises:
        PolicyError: the policy cannot play by the rules of the record.
        PolicyFailedError: it raised, or did not answer with legal actions.
        NotationError: an action breaks the rules.
    """
    policy.check_rules(record.rules)
    snapshots = record.replay()  # checks the record on the way
    next(snapshots)
    tables, solver = record.begin(), Solver(record.rules)
    choices: list[Choice] = []
    line: Line = ()
    for number, text in enumerate(record.actions, 1):
        if text == FORFEIT_TEXT:
            return DealAnalysis(record, tuple(choices), int(tables.to_act[0]))
        next(snapshots)
        if tables.records[0].phase == PLAY and not line:
            line = best_line(tables, solver)
        choices.append(_choice(tables, text, number, line, policy, solver))
        line = line[1:] if line and line[0][1] == text else ()
        tables.step(np.array([action_id(record.rules, tables.records[0], text)]))
        report(1)
    return DealAnalysis(record, tuple(choices), None)


def best_line(tables: Tables, solver: Solver) -> Line:
    """How the first table, in play, is played on when all cards lie open and nobody errs; the table stays as it is."""
    ahead = tables.take([0])
    line = []
    while (seat := int(ahead.to_act[0])) >= 0:
        values = solver.solve_actions(ahead)[0, :, seat]
        best = np.flatnonzero(values >= np.nanmax(values) - EQUAL)[-1]  # the solver's own choice among equals
        line.append((seat, action_text(ahead.rules, ahead.records[0], int(best))))
        ahead.step(np.array([best]))
    return tuple(line)


def _choice(tables: Tables, text: str, number: int, line: Line, policy: SearchPolicy, solver: Solver) -> Choice:
    """One decision, at the first table."""
    rules, state = tables.rules, tables.records[0]
    legal = np.flatnonzero(tables.legal_action_mask()[0])
    taken = action_id(rules, state, text)
    actions = np.array([taken, *legal[legal != taken]])
    opened = _opened(tables, solver, actions)
    key = stream_keys(SEED, [number])
    decision = Decision.from_packed(tables.observe_packed(), tables.legal_packed(), tables.to_act, rules, key)
    seen = values_seen(decision, actions, policy)
    alternatives = [
        Alternative(action_text(rules, state, int(action)), seen.mean(column), seen.error(column), opened[column])
        for column, action in enumerate(actions)
    ]
    return Choice(
        number,
        int(state.to_act),
        PHASE_NAMES[state.phase],
        alternatives[0].action,
        tuple(sorted(alternatives, key=_rank)),
        seen.worlds,
        seen.likely,
        line,
    )


def _rank(alternative: Alternative) -> tuple[float, float]:
    """Best from the seat's view first, then best with all cards open."""
    values = (alternative.seen, alternative.opened)
    seen, opened = (-math.inf if value is None else value for value in values)
    return -seen, -opened


def _opened(tables: Tables, solver: Solver, actions: NDArray[np.int64]) -> list[float | None]:
    """What each action comes to with all cards open, in antes; None before the play."""
    if tables.records[0].phase != PLAY:
        return [None] * len(actions)
    values = solver.solve_actions(tables)[0, actions, tables.to_act[0]] / tables.rules.ante
    return [float(value) for value in values]


@dataclass(frozen=True, slots=True)
class Seen:
    """What actions brought in imagined worlds.

    Attributes:
        values: [A, W] antes, the action that the others are compared with first.
        likely: whether the policy leads to these worlds.
    """

    values: NDArray[np.float64]
    likely: bool

    @property
    def worlds(self) -> int:
        """W."""
        return len(self.values[0])

    def mean(self, column: int) -> float | None:
        """The mean of an action."""
        return float(self.values[column].mean()) if self.worlds else None

    def error(self, column: int) -> float | None:
        """The standard error of what an action brought beyond the first one."""
        gains = self.values[column] - self.values[0]
        return float(gains.std(ddof=1) / math.sqrt(self.worlds)) if self.worlds > 1 else None


def values_seen(decision: Decision, actions: NDArray[np.int64], policy: SearchPolicy) -> Seen:
    """What actions [A] are worth in worlds that the seat to act cannot tell from the true one; one alone is not tried.

    Args:
        decision: one.
        actions: legal ones.
        policy: says what the others do and how hard to think; all kinds of decisions are looked at.
    """
    if len(actions) == 1:
        return Seen(np.empty((1, 0)), likely=True)
    effort = policy.effort
    decision = decision.showing(decision.rules.num_players)
    groups = policy.imagined(decision)
    likely = sum(len(worlds.rows) for worlds in groups) >= effort.fewest
    if not likely:
        groups = [blind_worlds(decision, effort.worlds)]
    values = policy.values(groups, actions[None])[0]
    return Seen(values[:, ~np.isnan(values[0])], likely)


def blind_worlds(decision: Decision, number: int) -> Worlds:
    """So many worlds that fit what one seat has seen, whatever the others are known to do."""
    seen = tables_as_seen(bourre_rules(decision.rules, "search"), decision.packed, decision.seat).take(
        np.zeros(number, np.int64)
    )
    places = np.arange(number)
    drawn = seen.reshuffle_unseen(decision.seat[0], int(decision.key[0]), streams=places)
    return Worlds(drawn, places, np.zeros(number, np.int64), places, stream_keys(SEED, places))


def as_json(analysis: DealAnalysis) -> dict[str, Any]:
    """A deal's analysis in plain values: its choices with their fields, and what each seat gave away."""
    choices = [
        {**dataclasses.asdict(choice), "loss": choice.loss, "open_loss": choice.open_loss}
        for choice in analysis.choices
    ]
    losses = [analysis.losses(seat) for seat in range(analysis.record.rules.num_players)]
    return {"choices": choices, "forfeit": analysis.forfeit, "losses": losses}
