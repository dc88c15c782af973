"""Run folders: which one a new run gets, and which one `--resume auto` takes up. Needs no torch."""

import contextlib
import itertools
import json
from pathlib import Path

from agents.config import CONFIG_FILE, ConfigError
from agents.files import LOCK, is_in_use, obstacle, unfinished_files

RUNS = Path("runs")
STATUS = "status.json"
STATE_FILE, PREVIOUS_STATE_FILE = "trainer.pt", "trainer.previous.pt"


def free_folder(name: str) -> Path:
    """The first of runs/NAME, runs/NAME-2, … that is not taken."""
    names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    return next(RUNS / free for free in names if not (RUNS / free).exists())


def check_folder(folder: Path) -> None:
    """Refuse a folder that something else lives in, or that cannot be made.

    Raises:
        ConfigError: names what is wrong.
    """
    try:
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"run.dir {folder} is a file; choose another folder")
        if folder.is_dir() and not _holds_nothing(folder):
            raise ConfigError(f"run.dir {folder} is not empty; go on with --resume {folder}, or choose another run.dir")
    except OSError as error:
        raise ConfigError(f"run.dir {folder} cannot be read: {error}") from None
    if problem := obstacle(folder):
        raise ConfigError(f"run.dir {folder} cannot be written: {problem}; choose another folder")


def _holds_nothing(folder: Path) -> bool:
    """Whether a folder is empty but for what a killed run left before it had written anything."""
    return not set(folder.iterdir()) - {folder / LOCK, *unfinished_files(folder)}


def to_take_up(folder: str | None, name: str | None) -> Path | None:
    """The run that `--resume auto` goes on with.

    Args:
        folder: the run folder asked for; any run in it is taken up, a finished one too.
        name: without a folder, look at the runs of this preset only; at all runs when None.

    Returns:
        The folder; None when a new run is to begin.
    """
    if folder is not None:
        return Path(folder) if (Path(folder) / CONFIG_FILE).is_file() else None
    found = [
        run
        for run in sorted(RUNS.glob("*"))
        if (run / CONFIG_FILE).is_file() and _is_of(run.name, name) and why_ended(run) is None and not is_in_use(run)
    ]
    return max(found, key=_touched, default=None)


def _is_of(folder_name: str, name: str | None) -> bool:
    """Whether a folder name is the one of a preset, or that with a number."""
    rest = folder_name.removeprefix(f"{name}-")
    return name is None or folder_name == name or (rest != folder_name and rest.isdecimal())


def _touched(run: Path) -> int:
    """When a run was last worked on, in nanoseconds."""
    times = [0]
    for name in (STATUS, CONFIG_FILE):
        with contextlib.suppress(OSError):
            times.append((run / name).stat().st_mtime_ns)
    return max(times)


def has_state(run: Path) -> bool:
    """Whether a run has saved anything to go on from."""
    return any((run / name).exists() for name in (STATE_FILE, PREVIOUS_STATE_FILE))


def why_ended(run: Path) -> str | None:
    """In words why a run is over; None while it is not, or when that is not known."""
    try:
        ended = json.loads((run / STATUS).read_text(encoding="utf-8"))["ended"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return ended if isinstance(ended, str) else None
