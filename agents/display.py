"""How a training run shows itself: a bar on a terminal, now and then a plain line elsewhere."""

import contextlib
import time
from typing import TYPE_CHECKING, Self, TextIO

from tqdm import tqdm

from agents.statistics import Estimate

if TYPE_CHECKING:
    from agents.trainer import Trainer

SECONDS_BETWEEN_LINES = 60.0
_SHAPE = "{percentage:3.0f}%|{bar:10}| {desc}"
_WORK = ("engine", "inference", "learning")


class Display:
    """Shows deals, speed, what the time goes into, strength against each yardstick, and the time left.

    A plain line comes after the first iteration, after each evaluation, and at least once a minute.
    """

    def __init__(self, trainer: "Trainer", file: TextIO) -> None:
        """Begin to show a run from where it is.

        Args:
            trainer: the run.
            file: where to; usually standard error.
        """
        self._trainer = trainer
        self._file = file
        self._began = (trainer.progress, trainer.counters.minutes)
        self._first = True
        self._written = 0.0
        terminal = file.isatty()
        self._bar = tqdm(total=1.0, bar_format=_SHAPE, file=file, dynamic_ncols=True) if terminal else None

    def show(self, values: dict[str, float]) -> None:
        """Show the state after an iteration.

        Args:
            values: what it gave, by tag.
        """
        if self._bar is not None:
            self._bar.set_description_str(self._text(values), refresh=False)
            self._bar.update(self._trainer.progress - self._bar.n)
        elif self._first or f"evaluation/{self._trainer.chosen_by}_mean" in values or self._is_due():
            with contextlib.suppress(BrokenPipeError):  # nobody looks on any more: that ends no run
                print(f"{self._trainer.progress:4.0%} {self._text(values)}", file=self._file, flush=True)
            self._written = time.monotonic()
        self._first = False

    def _is_due(self) -> bool:
        """Whether the last line is long ago."""
        return time.monotonic() - self._written >= SECONDS_BETWEEN_LINES

    def _text(self, values: dict[str, float]) -> str:
        """Everything in words; the most important first, since a narrow terminal cuts the rest off."""
        done = self._trainer.counters
        parts = [
            f"{done.deals:,} deals, {values['speed/deals_per_second']:,.0f}/s, {self._left()} left",
            *(f"against {name} {in_words(found)}" for name, found in sorted(self._trainer.strength.items())),
            " ".join(f"{work} {values[f'speed/share_{work}']:.0%}" for work in _WORK),
        ]
        return ", ".join(parts)

    def _left(self) -> str:
        """Hours, minutes and seconds until the budget is spent, at the pace so far."""
        progress, minutes = self._began
        pace = (self._trainer.counters.minutes - minutes) / max(self._trainer.progress - progress, 1e-9)
        return clock(60 * pace * (1 - self._trainer.progress))

    def __enter__(self) -> Self:
        """Use as a context, so that the bar is closed whatever happens."""
        return self

    def __exit__(self, *error: object) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.close()


def in_words(strength: Estimate) -> str:
    """A mean with its interval.

    >>> in_words(Estimate(0.02, 0.01, 0.03, 100))
    '+0.020 (+0.010 to +0.030)'
    """
    return f"{strength.mean:+.3f} ({strength.low:+.3f} to {strength.high:+.3f})"


def clock(seconds: float) -> str:
    """A span of time as a clock writes it.

    >>> clock(75), clock(3675)
    ('1:15', '1:01:15')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
