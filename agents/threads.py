"""Independent pieces of network work on a few threads.

Whole pieces run side by side, not parts of one matrix product: that loses little when other programs want the same
cores, and the results are the same bits for one thread or two.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numba
import torch

from agents.executors import usable_cores

Item = TypeVar("Item")
Result = TypeVar("Result")

NETWORKS = 2  # asked side by side, or learning as actor and critic; further threads work inside matrix products


def use_numba_threads(count: int) -> None:
    """How many threads the engine's parallel loop has, at most as many as Numba has started."""
    inside = torch.get_num_threads()
    numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
    torch.set_num_threads(inside)  # Numba starts its threads by OpenMP, too, and would leave torch with all cores


class Threads:
    """A few threads that each work on one piece at a time.

    Attributes:
        count: how many there are.
    """

    def __init__(self, count: int, *, processes: int = 1) -> None:
        """Start with at most as many threads as there are cores for this process.

        Args:
            count: threads wanted, at least 1.
            processes: how many like this one share the cores.
        """
        self.count = min(count, max(1, usable_cores() // processes))
        inside = max(1, self.count // NETWORKS)
        torch.set_num_threads(inside)
        self._pool = (
            ThreadPoolExecutor(self.count, "network", initializer=torch.set_num_threads, initargs=(inside,))
            if self.count > 1
            else None
        )

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """The results for all items, in order.

        Raises:
            Exception: what the first failing item raised, once the others are done.
        """
        if self._pool is None:
            return [function(item) for item in items]
        futures = [self._pool.submit(function, item) for item in items]
        for future in futures:
            future.exception()  # wait for all: nothing may still run when an error is raised
        return [future.result() for future in futures]

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()
