"""Independent tasks, spread over processes or, with Ray, over machines.

A task is a pure function of its spec, so the results are the same for any number of workers and of either kind; only
the order in which they arrive differs, which is why each comes with the number of its spec. A task whose worker dies is
done again by another one, a few times.
"""

import contextlib
import itertools
import multiprocessing
import os
import signal
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

TASKS_A_WORKER = 3  # handed out ahead, so that nobody waits for the next one
MOST_LOSSES = 3  # workers that a task may lose before it is given up
PROCESSES, RAY = "processes", "ray"

Spec = TypeVar("Spec")
Result = TypeVar("Result")


class WorkersLostError(RuntimeError):
    """Workers died again and again in the middle of the same task."""


class ClusterError(RuntimeError):
    """A Ray cluster that cannot be reached, or could not be begun."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Who does the tasks.

    Attributes:
        count: tasks at the same time; None for as many as there are cores, with Ray those of the whole cluster.
        executor: `PROCESSES` of this machine, or `RAY`, which needs the extra `ray`.
        address: of a Ray cluster that is there, as `ray.init` takes it; None for one of this machine, begun here.
    """

    count: int | None = None
    executor: str = PROCESSES
    address: str | None = None

    @staticmethod
    def of(workers: "int | Workers") -> "Workers":
        """Processes, where only their number is given."""
        return Workers(workers) if isinstance(workers, int) else workers

    @property
    def here(self) -> int:
        """How many work on this machine, or would."""
        return usable_cores() if self.count is None else self.count

    def threads(self, tasks: int) -> int:
        """Cores for each of so many tasks that run side by side; one on other machines, whose cores are not known."""
        return 1 if self.address is not None else max(1, self.here // tasks)


class Crew(Protocol[Spec, Result]):
    """Workers that do tasks of one kind inside a `with` block, whatever becomes of the workers."""

    count: int

    def __enter__(self) -> "Crew[Spec, Result]":
        """Begin."""

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Give up whatever is not done; after an error at once."""

    def submit(self, number: int, spec: Spec) -> None:
        """Hand out a task."""

    def finished(self) -> Iterator[tuple[int, Result]]:
        """Wait for tasks; those that are done, by number.

        Raises:
            WorkersLostError: a task has lost too many workers.
            Exception: what a task raised.
        """


def map_unordered(
    function: Callable[[Spec], Result], specs: Iterable[Spec], *, workers: int | Workers = 1
) -> Iterator[tuple[int, Result]]:
    """Yield (number of the spec, function(spec)) as the tasks finish.

    Args:
        function: a module-level function without side effects; it may be called anew where a worker has died.
        specs: one picklable value a task. They are numbered in the order they are taken, a few more than there are
            workers at a time. A `deque` may grow while results come: whoever takes a result may append to it before
            asking for the next one.
        workers: how many processes, or who else; with 1 process the tasks run here, in order. More than one starts
            fresh interpreters, so a script that asks for them needs the usual `if __name__ == "__main__":`.

    Raises:
        ValueError: fewer than one worker.
        WorkersLostError: workers died again and again.
        ClusterError: there is no such Ray cluster.
        Exception: whatever a task raised; the other tasks are given up.
    """
    workers = Workers.of(workers)
    if workers.here < 1:
        raise ValueError(f"workers is {workers.here}; at least 1 is needed")
    waiting = specs if isinstance(specs, deque) else deque(specs)
    few = workers.here == 1 or (len(waiting) <= 1 and waiting is not specs)
    if workers.executor == PROCESSES and few:
        for number in itertools.count():
            if not waiting:
                return
            yield number, function(waiting.popleft())
    with _crew(function, workers) as crew:
        numbers, running = itertools.count(), 0
        while waiting or running:
            while waiting and running < TASKS_A_WORKER * crew.count:
                crew.submit(next(numbers), waiting.popleft())
                running += 1
            for number, result in crew.finished():
                running -= 1
                yield number, result


def _crew(function: Callable[[Spec], Result], workers: Workers) -> Crew[Spec, Result]:
    """The workers wanted."""
    if workers.executor == RAY:
        from agents.ray_executor import RayCrew

        return RayCrew(function, workers)
    return ProcessCrew(function, workers.here)


class ProcessCrew(Generic[Spec, Result]):
    """Worker processes of this machine. When one dies the others go with it, and all begin anew with what was lost.

    Attributes:
        count: how many.
    """

    def __init__(self, function: Callable[[Spec], Result], count: int) -> None:
        """Start nothing yet.

        Args:
            function: what they do.
            count: how many.
        """
        self.count, self._function = count, function
        self._specs: dict[int, Spec] = {}
        self._numbers: dict[Future[Result], int] = {}
        self._lost: list[int] = []
        self._losses: Counter[int] = Counter()
        self._others = set(multiprocessing.active_children())
        self._pool = self._new_pool()

    def _new_pool(self) -> ProcessPoolExecutor:
        """Fresh workers; they start with the first tasks."""
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.count, context, initializer=one_thread_of_algebra)

    def __enter__(self) -> "ProcessCrew[Spec, Result]":
        """Begin."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """End the workers; after an error, Ctrl-C or a caller that wants no more at once: a task may take minutes."""
        if kind is not None:
            for worker in set(multiprocessing.active_children()) - self._others:
                worker.terminate()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def submit(self, number: int, spec: Spec) -> None:
        """Hand out a task."""
        self._specs[number] = spec
        self._hand_out(number)

    def _hand_out(self, number: int) -> None:
        """Hand out a task, perhaps not for the first time."""
        try:
            with _interrupts_held_back():
                self._numbers[self._pool.submit(self._function, self._specs[number])] = number
        except BrokenProcessPool:
            self._lost.append(number)

    def finished(self) -> Iterator[tuple[int, Result]]:
        """See `Crew`."""
        done, _ = wait(self._numbers, return_when=FIRST_COMPLETED)
        for future in done:
            number = self._numbers.pop(future)
            try:
                result = future.result()
            except BrokenProcessPool:
                self._lost.append(number)
                continue
            del self._specs[number]
            yield number, result
        if self._lost:
            self._begin_anew()

    def _begin_anew(self) -> None:
        """Replace a broken pool, and hand out again what was lost with it.

        Raises:
            WorkersLostError: a task has lost too many workers.
        """
        wait(self._numbers)  # a broken pool ends all its tasks
        for future, number in list(self._numbers.items()):
            if isinstance(future.exception(), BrokenProcessPool):
                del self._numbers[future]
                self._lost.append(number)
        self._pool.shutdown(wait=True)
        self._pool = self._new_pool()
        lost, self._lost = sorted(self._lost), []
        self._losses.update(lost)
        if max(self._losses[number] for number in lost) > MOST_LOSSES:
            raise WorkersLostError(told_of_losses())
        for number in lost:
            self._hand_out(number)


def told_of_losses() -> str:
    """Why a task is given up, in words."""
    return (
        f"worker processes died {MOST_LOSSES + 1} times in the middle of the same task: out of memory, or ended by a "
        "policy (--workers 1 shows by which)"
    )


def one_thread_of_algebra() -> None:
    """Keep a worker's matrix products on its own core: threads of several workers would fight for the cores."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # for libraries that are loaded later
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)


def usable_cores() -> int:
    """Number of processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextlib.contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Start workers that never see Ctrl-C: they inherit a blocked signal, and the parent alone ends the run."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
