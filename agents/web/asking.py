"""Policies asked beside the server's own work: in threads, each policy one question at a time."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from agents.policy import Policy

T = TypeVar("T")
THREADS = 4


class Asker:
    """Asks policies without keeping anybody waiting who does not ask the same policy."""

    def __init__(self) -> None:
        """Ask nobody yet."""
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="policy")
        self._locks: dict[int, asyncio.Lock] = {}

    async def ask(self, policy: Policy, question: Callable[[], T]) -> T:
        """What a question to a policy comes to; a policy may be anybody's code, so it never hears two at once."""
        async with self._locks.setdefault(id(policy), asyncio.Lock()):
            return await self.work(question)

    async def work(self, task: Callable[[], T]) -> T:
        """What a task comes to that takes longer than others should wait."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, task)

    def close(self) -> None:
        """Ask no more; what is being asked is left alone."""
        self._pool.shutdown(wait=False, cancel_futures=True)
