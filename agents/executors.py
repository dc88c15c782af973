"""Independent tasks, spread over processes.

A task is a pure function of its spec, so the results are the same for any number of workers; only the order in which
they arrive differs, which is why each comes with the number of its spec.
"""

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TypeVar

Spec = TypeVar("Spec")
Result = TypeVar("Result")


def map_unordered(
    function: Callable[[Spec], Result], specs: Sequence[Spec], *, workers: int = 1
) -> Iterator[tuple[int, Result]]:
    """Yield (number of the spec, function(spec)) as the tasks finish.

    Args:
        function: a module-level function without side effects.
        specs: one picklable value a task.
        workers: processes to use; with 1 the tasks run here, in order. More than one starts fresh interpreters, so
            a script that asks for them needs the usual `if __name__ == "__main__":`.

    Raises:
        ValueError: fewer than one worker.
        Exception: whatever a task raised; the other tasks are given up.
    """
    if workers < 1:
        raise ValueError(f"workers is {workers}; at least 1 is needed")
    if min(workers, len(specs)) <= 1:
        for number, spec in enumerate(specs):
            yield number, function(spec)
        return
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(min(workers, len(specs)), multiprocessing.get_context("spawn"))
    try:
        with _interrupts_held_back():
            numbers = {pool.submit(function, spec): number for number, spec in enumerate(specs)}
        for done in as_completed(numbers):
            yield numbers[done], done.result()
    except BaseException:  # also Ctrl-C, and a caller that wants no more: a running task may take minutes
        for worker in set(multiprocessing.active_children()) - others:
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


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
