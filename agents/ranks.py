"""The processes that train together, which `torchrun` starts: each plays its part of the deals and learns from them.

A process that was started alone is the only rank of its run, and nothing here costs it anything. Several keep the same
networks: gradients are averaged, and whatever decides how a run goes on is agreed upon by all. Plain values travel by
gloo, gradients by NCCL where there are GPUs.

Shapes: B deals.
"""

import contextlib
import inspect
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from torch import nn

Value = TypeVar("Value")

PATIENCE = timedelta(minutes=30)  # the first rank measures alone while the others wait
_GIVEN_BY_TORCHRUN = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
_SIGNS_OF_A_LOSS = ("gloo", "nccl", "connection", "timed out", "timeout")


class LostRankError(RuntimeError):
    """Another process of the run has died, or cannot be reached."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """Which of the processes this one is.

    Attributes:
        index: its number in the whole run, from 0; the first writes the files and speaks.
        count: processes of the run.
        local_index: its number on this machine.
        local_count: processes on this machine.
    """

    index: int = 0
    count: int = 1
    local_index: int = 0
    local_count: int = 1

    @property
    def is_first(self) -> bool:
        """Whether it is this one that writes files and speaks."""
        return self.index == 0

    def gather(self, value: Value) -> list[Value]:
        """A plain value of every rank, in their order.

        Raises:
            LostRankError: some rank did not answer.
        """
        if self.count == 1:
            return [value]
        from torch import distributed

        values: list[Value | None] = [None] * self.count
        with lost_ranks_named():
            distributed.all_gather_object(values, value)
        return values  # type: ignore[return-value]

    def of_first(self, value: Value) -> Value:
        """The first rank's value, for all.

        Raises:
            LostRankError: some rank did not answer.
        """
        if self.count == 1:
            return value
        from torch import distributed

        values = [value]
        with lost_ranks_named():
            distributed.broadcast_object_list(values, src=0)
        return values[0]

    def part(self, deal_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The deals [B] that this rank plays: neighbours, as many as others have or one more."""
        return np.array_split(deal_ids, self.count)[self.index]

    def mean_and_deviation(self, values: NDArray[np.float32]) -> tuple[np.float32, np.float32]:
        """Mean and standard deviation over the values of all ranks, each of which may have a different number."""
        if self.count == 1:
            return values.mean(), values.std()
        ours = values.astype(np.float64)
        sums = np.sum(self.gather((ours.sum(), len(ours))), axis=0)
        mean = sums[0] / sums[1]
        variance = sum(self.gather(float(((ours - mean) ** 2).sum()))) / sums[1]
        return np.float32(mean), np.float32(np.sqrt(variance))

    def share(self, network: "nn.Module") -> "nn.Module":
        """A network whose gradients become the mean over all ranks during the backward pass; itself for one rank.

        Each has a process group of its own, so that two networks may learn side by side on two threads: the order of
        the messages of either is the same on all ranks, that of both together is not.
        """
        if self.count == 1:
            return network
        from torch import distributed
        from torch.nn.parallel import DistributedDataParallel

        with lost_ranks_named():
            group = distributed.new_group(timeout=PATIENCE)
            return DistributedDataParallel(
                network, process_group=group, gradient_as_bucket_view=True, **_constant_buffers()
            )


ALONE = Ranks()


def _constant_buffers() -> dict[str, Any]:
    """The option that buffers, which never change here, are not sent at each step; torch has renamed it."""
    from torch.nn.parallel import DistributedDataParallel

    known = inspect.signature(DistributedDataParallel).parameters
    return {"forward_sync_buffers" if "forward_sync_buffers" in known else "broadcast_buffers": False}


@contextlib.contextmanager
def joined_ranks() -> Iterator[Ranks]:
    """The ranks that this process was started with, by `torchrun` or alone, connected inside a `with` block.

    Raises:
        LostRankError: not all of them came.
    """
    if not all(name in os.environ for name in _GIVEN_BY_TORCHRUN) or os.environ["WORLD_SIZE"] == "1":
        yield ALONE
        return
    from torch import distributed  # torch takes a while to load

    index, count, local_index, local_count = (int(os.environ[name]) for name in _GIVEN_BY_TORCHRUN[:4])
    with lost_ranks_named():
        distributed.init_process_group(_backend(), timeout=PATIENCE)
    try:
        yield Ranks(index, count, local_index, local_count)
    finally:
        distributed.destroy_process_group()


def _backend() -> str:
    """What the messages travel by: both kinds where there are GPUs, since plain values are never on one."""
    from torch import distributed

    return "cpu:gloo,cuda:nccl" if distributed.is_nccl_available() else "gloo"


@contextlib.contextmanager
def lost_ranks_named() -> Iterator[None]:
    """Tell errors of the connection from all others.

    Raises:
        LostRankError: the connection to another rank has failed.
    """
    try:
        yield
    except LostRankError:
        raise
    except RuntimeError as error:
        from torch import distributed

        text = str(error)
        if isinstance(error, distributed.DistError) or any(sign in text.lower() for sign in _SIGNS_OF_A_LOSS):
            reason = text.splitlines()[0][:160]
            raise LostRankError(f"another process of the run has died or cannot be reached ({reason})") from None
        raise
