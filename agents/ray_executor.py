"""Tasks on Ray Core: on this machine, or on a cluster whose machines all have this project installed and see its files.

Ray does a task again by itself when its worker, or the whole machine, is lost. Needs the extra `ray`.
"""

import os
import socket
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

import ray

from agents.executors import MOST_LOSSES, ClusterError, Workers, WorkersLostError, one_thread_of_algebra, told_of_losses

KNOCK_SECONDS = 10.0
OBJECT_STORE = 256 * 2**20  # bytes on this machine; specs and results are small

Spec = TypeVar("Spec")
Result = TypeVar("Result")


class RayCrew(Generic[Spec, Result]):
    """Ray's workers.

    Attributes:
        count: tasks at the same time.
    """

    def __init__(self, function: Callable[[Spec], Result], workers: Workers) -> None:
        """Connect to a cluster, or begin one.

        Args:
            function: what they do.
            workers: how many, and where.

        Raises:
            ClusterError: there is none at that address.
        """
        connect(workers)
        self.count = workers.count or int(ray.cluster_resources()["CPU"])
        self._function = ray.put(function)  # sent once to each machine
        self._task = ray.remote(max_retries=MOST_LOSSES, num_cpus=1)(_do)
        self._numbers: dict[Any, int] = {}

    def __enter__(self) -> "RayCrew[Spec, Result]":
        """Begin."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        """Give up whatever is not done. The connection stays: the next tasks need it, and it ends with the process."""
        for task in self._numbers:
            ray.cancel(task, force=True)

    def submit(self, number: int, spec: Spec) -> None:
        """Hand out a task."""
        self._numbers[self._task.remote(self._function, spec)] = number

    def finished(self) -> Iterator[tuple[int, Result]]:
        """See `Crew`."""
        done, _ = ray.wait(list(self._numbers), num_returns=1)
        for task in done:
            try:
                result = ray.get(task)
            except ray.exceptions.RayTaskError as error:
                raise error.cause from None
            except (ray.exceptions.WorkerCrashedError, ray.exceptions.OutOfMemoryError) as error:
                raise WorkersLostError(told_of_losses()) from error
            yield self._numbers.pop(task), result


def connect(workers: Workers) -> None:
    """Connect this process to the cluster, or begin one of as many cores as workers are wanted; once.

    Raises:
        ClusterError: it cannot be reached, or begun.
    """
    if ray.is_initialized():
        return
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # tasks without a GPU leave its variables alone
    quiet = {"log_to_driver": False, "logging_level": "ERROR"}
    try:
        if workers.address is not None:
            _knock_at(workers.address)
            ray.init(address=workers.address, **quiet)
        else:
            ray.init(
                address="local",
                num_cpus=workers.here,
                include_dashboard=False,
                object_store_memory=OBJECT_STORE,
                **quiet,
            )
    except (OSError, RuntimeError, ValueError) as error:
        where = "on this machine" if workers.address is None else f"at {workers.address}"
        raise ClusterError(f"Ray cannot be used {where}: {' '.join(str(error).split())[:200]}") from None


def _knock_at(address: str) -> None:
    """Look whether anybody listens at an address: Ray itself goes on asking for minutes.

    Raises:
        OSError: nobody does.
    """
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host, int(port)), KNOCK_SECONDS).close()


def _do(function: Callable[[Spec], Result], spec: Spec) -> Result:
    """One task, in a worker."""
    one_thread_of_algebra()
    return function(spec)
