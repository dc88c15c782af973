"""How far a long piece of work has come: a bar on a terminal, now and then a plain line elsewhere."""

import time
from types import TracebackType
from typing import Self, TextIO

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 10.0


class Progress:
    """Counts units of work and says how many were done, how fast, and how long the rest will take.

    >>> import io
    >>> lines = io.StringIO()
    >>> with Progress(100, "deals", lines, seconds_between_lines=0) as progress:
    ...     for _ in range(4):
    ...         progress.add(25)
    >>> [line.split(",")[0] for line in lines.getvalue().splitlines()]
    ['50 of 100 deals', '75 of 100 deals', '100 of 100 deals']
    """

    def __init__(
        self, total: int | None, unit: str, file: TextIO, *, seconds_between_lines: float = SECONDS_BETWEEN_LINES
    ) -> None:
        """Begin to count.

        Args:
            total: units there are in all; None while nobody knows (`add` may tell later).
            unit: their name, in the plural.
            file: where to report; usually standard error.
            seconds_between_lines: how often a plain line is due.
        """
        self._bar = tqdm(total=total, unit=f" {unit}", unit_scale=True, file=file) if file.isatty() else None
        self._total, self._unit, self._file = total, unit, file
        self._pause = seconds_between_lines
        self._reported = time.monotonic()
        self._done = 0
        self._warm: tuple[float, int] | None = None  # when the first units were done, and how many they were

    def add(self, number: int, left: int | None = None) -> None:
        """Count `number` units as done; `left` of them are known to be left, when given."""
        self._done += number
        if left is not None:
            self._total = self._done + left
        if self._bar is not None:
            self._bar.total = self._total
            self._bar.update(number)
        elif self._warm is None:
            self._warm = time.monotonic(), self._done
        elif time.monotonic() - self._reported >= self._pause:
            self._reported = time.monotonic()
            self._write_line(*self._warm)

    def _write_line(self, start: float, done_before: int) -> None:
        """One plain line; the speed leaves out the first units, which also waited for imports and compilation."""
        speed = (self._done - done_before) / max(time.monotonic() - start, 1e-9)
        line = f"{self._done:,} {self._unit}, {speed:,.0f} a second"
        if self._total is not None:
            left = (self._total - self._done) / max(speed, 1e-9)
            line = f"{self._done:,} of {self._total:,} {self._unit}, {speed:,.0f} a second, {left:.0f} s left"
        print(line, file=self._file, flush=True)

    def __enter__(self) -> Self:
        """Use as a context, so that the bar is closed whatever happens."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.close()
