"""How far training runs in other processes are, by the metrics files in their folders."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

_LAST_BYTES = 16_384  # of a metrics file; a line is about 2,000


def last_values(file: Path) -> dict[str, float]:
    """The last whole line of a metrics file; nothing before the first one is written."""
    try:
        with file.open("rb") as lines:
            lines.seek(max(0, file.stat().st_size - _LAST_BYTES))
            whole = lines.read().split(b"\n")[:-1]
        values: dict[str, float] = json.loads(whole[-1])
    except (OSError, ValueError, IndexError):
        return {}
    return values


class Follower:
    """Reports from a thread of its own how much of some number the runs below a folder have done together."""

    def __init__(
        self,
        folder: Path,
        count: Callable[[dict[str, float]], int],
        report: Callable[[int], None],
        *,
        pause: float = 1.0,
    ) -> None:
        """Prepare to follow the runs.

        Args:
            folder: has a folder for each run.
            count: units of work in the last values of a run.
            report: called with the number of units done since the last call.
            pause: seconds between two looks.
        """
        self._folder, self._count, self._report, self._pause = folder, count, report, pause
        self._reported = 0
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)

    def _follow(self) -> None:
        """Look until the end."""
        while not self._ends.wait(self._pause):
            self._look()

    def _look(self) -> None:
        """Report what is new."""
        lines = [last_values(file) for file in self._folder.glob("*/metrics.jsonl")]
        done = sum(self._count(values) for values in lines if values)
        if done > self._reported:
            self._report(done - self._reported)
            self._reported = done

    def __enter__(self) -> Self:
        """Begin to follow."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Look a last time."""
        self._ends.set()
        self._thread.join()
        if kind is None:
            self._look()
