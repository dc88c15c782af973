"""The log files of a run.

`metrics.jsonl` has one JSON object a line; TensorBoard shows the same numbers over the deals played, and histograms and
pictures besides. A log is never worth a run: whatever goes wrong with one is told in one line, and training goes on.
"""

import json
import math
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agents.metrics import HISTOGRAMS, TAGS, TEXTS, require_explained

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

_SHORT_WAIT = 0.05  # seconds
_FLUSH_SECONDS = 20  # TensorBoard shows points that late at most
_MOST_WAITING = 10_000  # lines of metrics kept in memory while a disk is full
_PAUSE = 60.0  # seconds until TensorBoard is tried again after it failed
_BEFORE_ALL = -1
_EVENT_FILES = "events.out.tfevents.*"

_CHARTS = {
    "strength": {
        f"against {name}": ["Margin", [f"evaluation/{name}_{part}" for part in ("mean", "low", "high")]]
        for name in ("heuristic", "random")
    }
}  # TensorBoard's CUSTOM SCALARS: curves with their intervals as bands


class _PausedError(Exception):
    """TensorBoard failed a moment ago and is left alone for a while."""


class MetricsLog:
    """Writes numbers to `metrics.jsonl` and to TensorBoard; a disk that is full never stops the training.

    Attributes:
        path: the JSON lines file.
    """

    def __init__(self, folder: Path, *, warn: Callable[[str], None], resume_at: int | None = None) -> None:
        """Open the logs of a run.

        Args:
            folder: the run folder.
            warn: told once when writing fails, and again when it fails after having worked.
            resume_at: deals played when the run stopped; whatever was logged later is taken back. None for a new run,
                which takes back all that one which was killed at its very beginning left here.
        """
        self.path = folder / "metrics.jsonl"
        self._folder = folder
        self._warn = warn
        self._failing: set[str] = set()
        self._waiting: deque[bytes] = deque(maxlen=_MOST_WAITING)
        self._writer: SummaryWriter | None = None
        self._next_try = 0.0  # when TensorBoard may be opened again
        last = _BEFORE_ALL if resume_at is None else resume_at
        self._purge_step = last + 1 if any(folder.glob(_EVENT_FILES)) else None
        self._good_size = 0
        self._guarded("metrics.jsonl", lambda: self._take_back(last))

    def write(self, deals: int, values: Mapping[str, float], **context: float | str) -> None:
        """Log values at a number of deals played.

        Args:
            deals: the step of the curves; must rise from call to call.
            values: by tag; what is not finite becomes null.
            **context: more for the JSON line, such as the iteration.

        Raises:
            KeyError: a tag that `TAGS` does not explain.
        """
        require_explained(values, TAGS)
        finite = {tag: value if math.isfinite(value) else None for tag, value in values.items()}
        line = json.dumps({"deals": deals, **context, **finite}, allow_nan=False) + "\n"
        self._waiting.append(line.encode())
        self._guarded("metrics.jsonl", self._append_waiting)
        self._guarded("TensorBoard", lambda: self._add_scalars(deals, finite))

    def add_text(self, name: str, text: str, deals: int = 0) -> None:
        """Show a text (Markdown) in TensorBoard."""
        require_explained([name], TEXTS)
        self._guarded("TensorBoard", lambda: self._tensorboard().add_text(name, text, deals))

    def add_charts(self) -> None:
        """Lay out the curves that belong together: strength with its interval."""
        self._guarded("TensorBoard", lambda: self._tensorboard().add_custom_scalars(_CHARTS))

    def add_histograms(self, deals: int, histograms: Mapping[str, NDArray[Any]]) -> None:
        """Show how values are spread.

        Args:
            deals: the step.
            histograms: values by tag; an empty array is left out, and so is what is not finite.

        Raises:
            KeyError: a tag that `HISTOGRAMS` does not explain.
        """
        require_explained(histograms, HISTOGRAMS)
        for tag, values in histograms.items():
            finite = values[np.isfinite(values)]
            if len(finite):
                self._guarded("TensorBoard", partial(self._add_histogram, tag, finite, deals))

    def _add_histogram(self, tag: str, values: NDArray[Any], deals: int) -> None:
        """One histogram."""
        self._tensorboard().add_histogram(tag, values, deals)

    def warm_up(self) -> None:
        """Load what draws pictures."""
        self._guarded("TensorBoard", lambda: _painter()({"game/draws_0": 1.0}))

    def add_pictures(self, deals: int, values: Mapping[str, float]) -> None:
        """Draw the pictures that there are numbers for.

        Args:
            deals: the step.
            values: numbers by tag.
        """
        self._guarded("TensorBoard", lambda: self._add_pictures(deals, values))

    def _add_pictures(self, deals: int, values: Mapping[str, float]) -> None:
        """Every picture that has something to show."""
        for tag, pixels in _painter()(values).items():
            self._tensorboard().add_image(tag, pixels, deals, dataformats="HWC")

    def add_hyperparameters(self, settings: Mapping[str, Any], results: Mapping[str, float]) -> None:
        """Put the run into TensorBoard's table of hyper-parameters, without a sub-run.

        Args:
            settings: plain values by dotted name.
            results: final numbers by tag.
        """
        self._guarded("TensorBoard", lambda: self._add_hyperparameters(settings, results))

    def _add_hyperparameters(self, settings: Mapping[str, Any], results: Mapping[str, float]) -> None:
        """The three records of TensorBoard's plugin: experiment, start and end of the session."""
        from torch.utils.tensorboard.summary import hparams

        plain = {
            key: value if isinstance(value, (bool, int, float, str)) else str(value) for key, value in settings.items()
        }
        writer: Any = self._tensorboard().file_writer
        for record in hparams(plain, dict(results)):  # type: ignore[no-untyped-call]
            writer.add_summary(record)

    def flush(self) -> None:
        """Bring everything logged so far to the disk."""
        if self._writer is not None:
            self._guarded("TensorBoard", self._writer.flush)

    def close(self) -> None:
        """Flush and close."""
        self._guarded("metrics.jsonl", self._append_waiting)
        if self._writer is not None:
            self._guarded("TensorBoard", self._writer.close)
            self._writer = None

    def _take_back(self, deals: int) -> None:
        """Drop the lines logged after a number of deals, and what is left of a line cut short."""
        self._good_size = _size_up_to(self.path, deals)
        if self.path.is_file():
            os.truncate(self.path, self._good_size)  # needs no room on a full disk

    def _append_waiting(self) -> None:
        """Add the lines that could not be written before, and the new one."""
        while self._waiting:
            self._append(self._waiting[0])
            self._waiting.popleft()

    def _append(self, line: bytes) -> None:
        """Add one line behind the last whole one."""
        with self.path.open("ab") as file:
            if file.tell() != self._good_size:
                file.truncate(self._good_size)  # what a full disk left of an earlier line
            file.write(line)
        self._good_size += len(line)

    def _add_scalars(self, deals: int, values: Mapping[str, float | None]) -> None:
        """Add points to the curves."""
        writer = self._tensorboard()
        for tag, value in values.items():
            if value is not None:
                writer.add_scalar(tag, value, deals)

    def _tensorboard(self) -> "SummaryWriter":
        """The writer, opened when first needed; it marks where a resumed run goes on."""
        if self._writer is None:
            if time.monotonic() < self._next_try:
                raise _PausedError
            from torch.utils.tensorboard import SummaryWriter

            _keep_writer_threads_quiet()
            _wait_for_a_second_without_file(self._folder)
            self._writer = SummaryWriter(str(self._folder), purge_step=self._purge_step, flush_secs=_FLUSH_SECONDS)
            self._purge_step = None
        return self._writer

    def _guarded(self, log: str, action: Callable[[], object]) -> None:
        """Do something that a full disk, a lost folder or a missing library may make impossible."""
        try:
            action()
        except _PausedError:
            pass
        except Exception as error:  # a log is never worth a run, whatever the libraries behind it raise
            if log not in self._failing:
                self._warn(f"{log} cannot be written ({type(error).__name__}: {error}); training goes on")
            self._failing.add(log)
            if log == "TensorBoard":
                self._abandon_writer()
        else:
            self._failing.discard(log)

    def _abandon_writer(self) -> None:
        """Forget a writer that failed; after a pause the next point opens a new file."""
        writer, self._writer = self._writer, None
        self._next_try = time.monotonic() + _PAUSE
        if writer is not None:
            with suppress(Exception):
                writer.close()
        for file in self._folder.glob(_EVENT_FILES):  # a full disk leaves names without content
            with suppress(OSError):
                if file.stat().st_size == 0:
                    file.unlink()


def _painter() -> Callable[[Mapping[str, float]], dict[str, NDArray[np.uint8]]]:
    """What draws pictures; its library takes a while to load, and may be missing."""
    from agents.pictures import draw_pictures

    return draw_pictures


def _keep_writer_threads_quiet() -> None:
    """Print no traceback of TensorBoard's own threads: they hand their faults over, and those are told in one line."""
    from tensorboard.summary.writer.event_file_writer import _AsyncWriterThread

    before = threading.excepthook
    if getattr(before, "is_quiet", False):
        return

    def hook(fault: threading.ExceptHookArgs, /) -> None:
        if not isinstance(fault.thread, _AsyncWriterThread):
            before(fault)

    hook.is_quiet = True  # type: ignore[attr-defined]
    threading.excepthook = hook


def _wait_for_a_second_without_file(folder: Path) -> None:
    """Wait until no file of TensorBoard carries this second in its name.

    Files are read in the order of their names, and within a second that order is not the order of writing: a resumed
    run would be purged by its own past.
    """
    while any(folder.glob(_EVENT_FILES.replace("*", f"{int(time.time())}.*"))):
        time.sleep(_SHORT_WAIT)


def _size_up_to(path: Path, deals: int) -> int:
    """Bytes of the whole lines logged up to a number of deals, as far as they are in order."""
    if not path.is_file():
        return 0
    size = 0
    for line in path.read_bytes().splitlines(keepends=True):
        try:
            if not line.endswith(b"\n") or json.loads(line)["deals"] > deals:
                break
        except (ValueError, KeyError, TypeError):
            break
        size += len(line)
    return size
