"""What the commands of `evaluate.py` share: readers of options, ways of complaining, what a result says of itself."""

import argparse
import errno
import importlib.util
import json
import math
import os
import platform
import shlex
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn, TypeAlias

from rich.console import Console

from agents.executors import PROCESSES, RAY, Workers
from agents.files import no_file, obstacle, replace_file
from bourre_env.family import FIRST, GAMES, game_named

DONE, FAILED, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130
LARGEST_SEED = 2**64 - 1
LIBRARIES = ("numpy", "numba", "scipy")
PIPED_WIDTH = 200  # columns of a table that no terminal narrows


class BadInputError(ValueError):
    """Options that do not fit what they are about, such as a folder that cannot be written to."""


class FailedError(RuntimeError):
    """Work that came to nothing although the input was right; exit code 1."""


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what was wrong and leave with exit code 2."""
        self.exit(WRONG_INPUT, f"{self.prog}: {message}\n")


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
"""Where each command adds its own parser."""


def integer(low: int | None, high: int | None, reason: str = "") -> Callable[[str], int]:
    """A reader of integers in a range."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not an integer") from None
        if low is not None and number < low:
            raise argparse.ArgumentTypeError(f"{number} is too small; {reason or f'at least {low} is needed'}")
        if high is not None and number > high:
            raise argparse.ArgumentTypeError(f"{number} is too large; at most {high} is allowed")
        return number

    return read


def number(low: float, high: float = math.inf, *, exclusive: bool = False) -> Callable[[str], float]:
    """A reader of finite numbers from `low` on, or above it, up to `high`."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
        if not math.isfinite(value) or value < low or (exclusive and value == low):
            wanted = f"more than {low:g}" if exclusive else f"at least {low:g}"
            raise argparse.ArgumentTypeError(f"{text} will not do; {wanted} is needed")
        if value > high:
            raise argparse.ArgumentTypeError(f"{text} is too large; at most {high:g} is allowed")
        return value

    return read


positive = number(0, exclusive=True)
"""A reader of finite numbers above 0."""


def folder(text: str) -> Path:
    """A reader of folders; no folder has an empty name."""
    if not text:
        raise argparse.ArgumentTypeError("the name of the folder is empty")
    return Path(text)


def add_seed(parser: argparse.ArgumentParser) -> None:
    """The option that says which deals are played."""
    read = integer(0, LARGEST_SEED)
    parser.add_argument("--seed", type=read, default=0, metavar="N", help="of the deals (%(default)s)")


def add_game(parser: argparse.ArgumentParser, *, serves: Sequence[str] = GAMES) -> None:
    """The option that names the game.

    Args:
        parser: of the command.
        serves: the games that the command knows so far.
    """

    def read(text: str) -> str:
        if text not in GAMES:
            raise argparse.ArgumentTypeError(f"no game is called {text!r}; choose {', '.join(GAMES)}")
        if text not in serves:
            raise argparse.ArgumentTypeError(f"this command serves {', '.join(serves)} only so far, not {text}")
        return text

    parser.add_argument("--game", type=read, default=FIRST, metavar="NAME", help=f"{', '.join(serves)} (%(default)s)")


def add_rules(parser: argparse.ArgumentParser, *, games: Sequence[str] = GAMES) -> None:
    """The option that names the house rules (`preset_of`).

    Args:
        parser: of the command.
        games: whose presets are listed.
    """
    presets = "; ".join(f"{name}: {', '.join(game_named(name).presets)}" for name in games)
    text = f"house rules, the first of the game when left out ({presets})"
    parser.add_argument("--rules", metavar="PRESET", help=text)


def preset_of(options: argparse.Namespace) -> str:
    """Name of the house rules that a command line asks for."""
    return str(options.rules or game_named(options.game).presets[0])


def add_workers(parser: argparse.ArgumentParser) -> None:
    """The options that say who does the work (`workers_of`)."""
    add = parser.add_argument
    add("--workers", type=integer(1, None), metavar="N", help="processes; as many as there are cores when left out")
    text = "who does the work: processes of this machine, or Ray, which may span several (%(default)s)"
    add("--executor", choices=(PROCESSES, RAY), default=PROCESSES, help=text)
    add("--ray-address", metavar="ADDRESS", help="the Ray cluster to use; one of this machine when left out")


def workers_of(options: argparse.Namespace) -> Workers:
    """Who does the work.

    Raises:
        BadInputError: Ray is not installed, or an address is given without it.
    """
    if options.ray_address is not None and options.executor != RAY:
        raise BadInputError(f"--ray-address {options.ray_address}: only --executor ray goes to a cluster")
    if options.executor == RAY and importlib.util.find_spec("ray") is None:
        raise BadInputError("--executor ray: Ray is not installed; pip install 'bourre-env[ray]'")
    return Workers(options.workers, options.executor, options.ray_address)


def check_folder(path: Path, names: Sequence[str], option: str = "--out") -> None:
    """Refuse a folder that cannot be made or written to, before anything is played.

    Args:
        path: the folder.
        names: of the files that will be written there.
        option: what the messages call it.

    Raises:
        BadInputError: the folder, or a file in it, cannot be written.
    """
    if problem := obstacle(path):
        raise BadInputError(f"{option} {path}: {problem}")
    for name in names:
        if problem := no_file(path / name):
            raise BadInputError(f"{option} {path}: {problem}")


def check_file(path: Path, option: str = "--out") -> None:
    """Refuse a file that cannot be written, before anything is played.

    Args:
        path: the file.
        option: what the messages call it.

    Raises:
        BadInputError: it has no name, or it or its folder cannot be written.
    """
    if not path.name:  # "" is ".", too
        raise BadInputError(f"{option}: {path} is a folder; give the name of a file")
    check_folder(path.parent, [path.name], option)


def write_json(path: Path, content: object) -> None:
    """Write a value as JSON, in a folder that is made where there is none.

    Raises:
        OSError: it could not be written; what was there is what it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, (json.dumps(content, indent=1) + "\n").encode())


class _Console(Console):
    """A console that leaves it to the command to end when nobody reads any more."""

    def on_broken_pipe(self) -> None:
        """Raise what has happened; Rich would leave with exit code 1."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def console() -> Console:
    """Where tables are printed: as wide as the terminal, or wide enough for every table when piped."""
    width = None if Console().is_terminal else PIPED_WIDTH
    return _Console(highlight=False, markup=False, emoji=False, width=width)  # names may hold brackets and colons


def interval(low: float, high: float) -> str:
    """Two ends of an interval."""
    return f"{low:+.3f} to {high:+.3f}"


def command_line(words: Sequence[str]) -> str:
    """What a user would type to do this again."""
    return shlex.join(["python", "evaluate.py", *words])


def versions() -> dict[str, str]:
    """The versions that a result depends on."""
    return {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}
