"""A tournament: line-ups of entrants play blocks until a rule says that they have played enough.

The usual line-ups are the cells of a cross table: one focal entrant against a field of another one, for every ordered
pair. All line-ups play the same deals, and what a block brings depends on its line-up, the terms, the seed and the
number of the deal alone.
"""

import copy
import functools
import itertools
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents import stopping
from agents.arena import play_line_up
from agents.blocks import Blocks, places_of
from agents.entrants import Entrant
from agents.executors import Workers, map_unordered
from agents.policy import Policy, load_policy
from agents.referee import DEFAULT_TIME_LIMIT, Faults, Referee
from agents.results import LineUp, Results, Terms, means_by_name
from agents.stopping import StoppingRule

SECONDS_BETWEEN_SAVES = 30.0
MOST_LINE_UPS = 10_000
WARM_UPS = 4  # deals
WARM_UP_LIMIT = 3600.0  # seconds a decision


@dataclass(frozen=True, slots=True)
class Plan:
    """What a tournament is going to play.

    Attributes:
        entrants: those who play, with different names.
        terms: rules and stakes.
        line_ups: of entrants, by name and place.
        seed: of the experiment.
        stop: when a line-up has played enough.
        time_limit: seconds a decision that an entrant may take; see `agents.referee`.
    """

    entrants: tuple[Entrant, ...]
    terms: Terms
    line_ups: tuple[LineUp, ...]
    seed: int
    stop: StoppingRule
    time_limit: float = DEFAULT_TIME_LIMIT

    def results(self) -> Results:
        """Results without any block yet."""
        results = Results(self.terms)
        for entrant in self.entrants:
            results.enter(entrant.name, entrant.spec, entrant.identity())
        return results


@dataclass(frozen=True, slots=True)
class BlockTask:
    """Some blocks of one line-up: deals `first` up to, not including, `end`.

    Attributes:
        terms: rules and stakes.
        entrants: those of the line-up, each once.
        line_up: names by place.
        seed: of the experiment.
        first: the first deal.
        end: the deal behind the last.
        time_limit: seconds a decision.
        silenced: names of entrants that are not asked, since they were too slow before.
    """

    terms: Terms
    entrants: tuple[Entrant, ...]
    line_up: LineUp
    seed: int
    first: int
    end: int
    time_limit: float
    silenced: frozenset[str]


def pairs(names: Sequence[str], num_places: int) -> list[LineUp]:
    """Line-ups of a cross table: each one of the entrants against a field of each other one, both ways."""
    return [(focal,) + (field,) * (num_places - 1) for focal, field in itertools.permutations(names, 2)]


def mixed(names: Sequence[str], num_places: int) -> list[LineUp]:
    """Line-ups of different entrants: every choice of as many as there are places; all of them, in turn, when fewer."""
    if len(names) >= num_places:
        return list(itertools.combinations(names, num_places))
    return [tuple(itertools.islice(itertools.cycle(names), num_places))]


def play_tournament(
    plan: Plan,
    results: Results | None = None,
    *,
    workers: int | Workers = 1,
    report: Callable[[int, int], None] = lambda played, left: None,
    save: Callable[[Results], None] = lambda results: None,
) -> Results:
    """Play every line-up of a plan until its rule is content.

    An entrant that was too slow forfeits all its deals: what it had played before is played again without asking it.

    Args:
        plan: what to play.
        results: blocks that are there already, of the same terms; they are extended.
        workers: processes, or who else; the results do not depend on it.
        report: called with the deals played since the last call, and those that are still to be played as far as known.
        save: called now and then with what there is.

    Returns:
        The results, `results` itself when it was given.

    Raises:
        PolicyError: an entrant cannot be loaded, or cannot play under the rules.
        ResultsError: a deal that was there already has ended in another way.
    """
    results = plan.results() if results is None else results
    _try_out(plan, results)
    while _play_until_somebody_is_silenced(plan, results, workers, report, save):
        pass
    save(results)
    return results


def _try_out(plan: Plan, results: Results) -> None:
    """Ask every entrant in a single block first: one that never answers is found out in seconds, not in minutes."""
    for entrant in plan.entrants:
        if entrant.name in results.faults and results.faults[entrant.name].overtime:
            continue  # it is not asked any more
        referee = Referee(plan.time_limit)
        rules, terms = plan.terms.rules, plan.terms
        places = [0] * places_of(rules)
        play_line_up(
            rules, [_ready(entrant, terms)], places, seed=plan.seed, deal_ids=[0], buy_in=terms.buy_in, referee=referee
        )
        if referee.silenced:
            results.drop([entrant.name])
            results.faults |= referee.faults


def _ready(entrant: Entrant, terms: Terms) -> Policy:
    """An entrant's policy, with everything compiled that belongs to this project and not to the entrant."""
    for spec in ("random", entrant.spec) if entrant.is_ours() else ("random",):
        _compile(spec, terms)
    return entrant.load()


@functools.cache
def _compile(spec: str, terms: Terms) -> None:
    """Play some deals against no clock: on a busy machine compiling alone takes longer than an answer may."""
    rules = terms.rules
    referee = Referee(WARM_UP_LIMIT)
    places = [0] * places_of(rules)
    play_line_up(
        rules, [load_policy(spec)], places, seed=0, deal_ids=range(WARM_UPS), buy_in=terms.buy_in, referee=referee
    )


def _play_until_somebody_is_silenced(
    plan: Plan,
    results: Results,
    workers: int | Workers,
    report: Callable[[int, int], None],
    save: Callable[[Results], None],
) -> bool:
    """Play; whether an entrant turned out to be too slow, so that its blocks are gone and all has to go on anew."""
    silenced = {name for name, faults in results.faults.items() if faults.overtime}
    schedule = _Schedule(plan, results, frozenset(silenced))
    saved = time.monotonic()
    done: dict[int, dict[str, Faults]] = {}
    try:
        for number, (blocks, faults) in map_unordered(play_task, schedule.waiting, workers=workers):
            done[number] = faults
            slow = {name for name, fault in faults.items() if fault.overtime} - silenced
            if slow:
                done = {task: found for task, found in done.items() if not slow & set(schedule.line_up(task))}
                results.drop(slow)
                results.faults |= {name: faults[name] for name in sorted(slow)}
                return True
            schedule.take(number, blocks)
            report(len(blocks) * blocks.num_places, schedule.deals_left())
            if time.monotonic() - saved > SECONDS_BETWEEN_SAVES:
                save(_with_faults(results, done, silenced))
                saved = time.monotonic()
    finally:
        _count_faults(results, [done[number] for number in sorted(done)], silenced)
    return False


def _with_faults(results: Results, done: dict[int, dict[str, Faults]], silenced: set[str]) -> Results:
    """The results with what went wrong in the tasks so far: what is saved may be all that is left."""
    so_far = Results(results.terms, results.entrants, results.blocks, copy.deepcopy(results.faults))
    _count_faults(so_far, [done[number] for number in sorted(done)], silenced)
    return so_far


def _count_faults(results: Results, found: list[dict[str, Faults]], silenced: set[str]) -> None:
    """Add what went wrong in tasks, in the order of the tasks."""
    for faults in found:
        for name, fault in faults.items():
            if name not in silenced and not (results.faults.get(name) and results.faults[name].overtime):
                results.faults.setdefault(name, Faults()).add(fault)


class _Schedule:
    """Tasks to play and how far each line-up has come."""

    def __init__(self, plan: Plan, results: Results, silenced: frozenset[str]) -> None:
        """Line up the first tasks of every line-up."""
        self.waiting: deque[BlockTask] = deque()
        self._plan, self._results, self._silenced = plan, results, silenced
        self._entrants = {entrant.name: entrant for entrant in plan.entrants}
        self._tasks: list[BlockTask] = []
        self._open: dict[LineUp, int] = defaultdict(int)  # tasks that are not played yet
        self._wanted = dict.fromkeys(plan.line_ups, plan.stop.first())
        by_line_up = [list(self._missing(line_up)) for line_up in self._wanted]
        for round_of_tasks in itertools.zip_longest(*by_line_up):  # so that an early stop leaves all equally far
            self._append([task for task in round_of_tasks if task is not None])
        for line_up in plan.line_ups:
            self._look(line_up)

    def take(self, number: int, blocks: Blocks) -> None:
        """Keep the result of a task, and ask for more where the line-up is undecided."""
        line_up = self._tasks[number].line_up
        self._results.add(self._plan.seed, line_up, blocks)
        self._open[line_up] -= 1
        self._look(line_up)

    def line_up(self, number: int) -> LineUp:
        """The line-up of a task."""
        return self._tasks[number].line_up

    def deals_left(self) -> int:
        """Deals of the tasks that are not played yet."""
        blocks = sum(self._wanted[line_up] - self._there(line_up) for line_up, number in self._open.items() if number)
        return blocks * places_of(self._plan.terms.rules)

    def _there(self, line_up: LineUp) -> int:
        """Blocks of a line-up that are there, among those wanted."""
        return int((self._deals(line_up) < self._wanted[line_up]).sum())

    def _look(self, line_up: LineUp) -> None:
        """Ask the stopping rule as often as there are blocks enough for a look."""
        while not self._open[line_up]:
            wanted = self._wanted[line_up]
            blocks = self._results.blocks[self._plan.seed, line_up]
            means = means_by_name(blocks.place_means[blocks.deal_ids < wanted], line_up)
            self._wanted[line_up] = self._plan.stop.next(means)
            if self._wanted[line_up] <= wanted:
                return
            self._append(list(self._missing(line_up)))

    def _append(self, tasks: list[BlockTask]) -> None:
        """Put tasks at the end of the queue."""
        for task in tasks:
            self._open[task.line_up] += 1
            self._tasks.append(task)
            self.waiting.append(task)

    def _deals(self, line_up: LineUp) -> NDArray[np.int64]:
        """The deals of a line-up that are there."""
        blocks = self._results.blocks.get((self._plan.seed, line_up))
        return np.empty(0, np.int64) if blocks is None else blocks.deal_ids

    def _missing(self, line_up: LineUp) -> Iterator[BlockTask]:
        """Tasks for the deals that are wanted and not there."""
        entrants = tuple(self._entrants[name] for name in dict.fromkeys(line_up))
        for first, end in missing_spans(self._deals(line_up), self._wanted[line_up]):
            yield BlockTask(
                self._plan.terms,
                entrants,
                line_up,
                self._plan.seed,
                first,
                end,
                self._plan.time_limit,
                self._silenced & set(line_up),
            )


def missing_spans(there: NDArray[np.int64], wanted: int) -> list[tuple[int, int]]:
    """The deals from 0 to `wanted` that are not `there` [D], as runs that never cross from one task into the next."""
    missing = np.setdiff1d(np.arange(wanted), there, assume_unique=True)
    task = missing // stopping.BLOCKS_IN_A_TASK
    cuts = np.flatnonzero((np.diff(missing) > 1) | (np.diff(task) > 0)) + 1
    return [(int(run[0]), int(run[-1]) + 1) for run in np.split(missing, cuts) if len(run)]


def play_task(task: BlockTask) -> tuple[Blocks, dict[str, Faults]]:
    """Play some blocks with freshly loaded policies; the blocks, and what went wrong by name."""
    referee = Referee(task.time_limit, set(task.silenced))
    blocks = play_line_up(
        task.terms.rules,
        [_ready(entrant, task.terms) for entrant in task.entrants],
        [[entrant.name for entrant in task.entrants].index(name) for name in task.line_up],
        seed=task.seed,
        deal_ids=np.arange(task.first, task.end),
        buy_in=task.terms.buy_in,
        session=task.terms.session,
        referee=referee,
    )
    return blocks, referee.faults
