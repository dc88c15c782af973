"""Independent tasks, spread over processes.

A task is a pure function of its spec, so the results are the same for any number of workers; only the order in which
they arrive differs, which is why each comes with the number of its spec.
"""

import contextlib
import itertools
import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from typing import TypeVar

TASKS_A_WORKER = 3  # handed out ahead, so that nobody waits for the next one

Spec = TypeVar("Spec")
Result = TypeVar("Result")


def map_unordered(
    function: Callable[[Spec], Result], specs: Iterable[Spec], *, workers: int = 1
) -> Iterator[tuple[int, Result]]:
    """Yield (number of the spec, function(spec)) as the tasks finish.

    Args:
        function: a module-level function without side effects.
        specs: one picklable value a task. They are numbered in the order they are taken, a few more than there are
            workers at a time. A `deque` may grow while results come: whoever takes a result may append to it before
            asking for the next one.
        workers: processes to use; with 1 the tasks run here, in order. More than one starts fresh interpreters, so
            a script that asks for them needs the usual `if __name__ == "__main__":`.

    Raises:
        ValueError: fewer than one worker.
        Exception: whatever a task raised; the other tasks are given up.
    """
    if workers < 1:
        raise ValueError(f"workers is {workers}; at least 1 is needed")
    waiting = specs if isinstance(specs, deque) else deque(specs)
    if workers == 1 or (len(waiting) <= 1 and waiting is not specs):
        for number in itertools.count():
            if not waiting:
                return
            yield number, function(waiting.popleft())
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=_one_thread_of_algebra)
    numbers: dict[Future[Result], int] = {}
    count = itertools.count()
    try:
        while waiting or numbers:
            with _interrupts_held_back():
                while waiting and len(numbers) < TASKS_A_WORKER * workers:
                    numbers[pool.submit(function, waiting.popleft())] = next(count)
            done, _ = wait(numbers, return_when=FIRST_COMPLETED)
            for future in done:
                yield numbers.pop(future), future.result()
    except BaseException:  # also Ctrl-C, and a caller that wants no more: a running task may take minutes
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _one_thread_of_algebra() -> None:
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
