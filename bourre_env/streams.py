"""What every command does about its own input and output: letters that a terminal lacks, and readers that have gone."""

import codecs
import contextlib
import io
import os
import select
import sys
import unicodedata
from collections.abc import Callable

NOBODY_READS = 141  # exit code when the output's reader has gone, as of a program that SIGPIPE ends
PLAIN = "bourre-plain"  # name of the way in which letters are replaced

_LIKE = {
    "♣": "C", "♦": "D", "♥": "H", "♠": "S", "…": "...", "\N{EN DASH}": "-", "—": "-", "\N{MINUS SIGN}": "-", "±": "+-",
    "\N{MULTIPLICATION SIGN}": "x", "≥": ">=",
    "≤": "<=", "→": "->", "█": "#", "─": "-", "░": "-",
}  # fmt: skip


def run_command(main: Callable[[], int]) -> int:
    """Run a command with its streams prepared; when nobody reads the output any more, end without a word.

    Args:
        main: does the work and returns the exit code.

    Returns:
        The exit code.
    """
    prepare_streams()
    try:
        try:
            return main()
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        if not nobody_reads():
            raise
        _read_it_ourselves()
        return NOBODY_READS


def prepare_streams() -> None:
    """Let a terminal without accents or suits show something like them, and read whatever bytes are typed."""
    for stream, errors in ((sys.stdin, "replace"), (sys.stdout, PLAIN), (sys.stderr, PLAIN)):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def plain(text: str) -> str:
    """A text in ASCII, as close to it as can be.

    >>> plain("bourré … 9♠ 中")
    'bourre ... 9S ?'
    """
    return "".join(map(_plain_letter, text))


def _plain_letter(letter: str) -> str:
    """One letter in ASCII."""
    if letter in _LIKE:
        return _LIKE[letter]
    bare = unicodedata.normalize("NFKD", letter).encode("ascii", "ignore").decode()
    return bare or "?"


def _replace(error: UnicodeError) -> tuple[str, int]:
    """What is written for letters that an encoding lacks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return plain(error.object[error.start : error.end]), error.end


codecs.register_error(PLAIN, _replace)


def nobody_reads() -> bool:
    """Whether standard output or standard error is a pipe whose other end was closed."""
    return any(map(_is_abandoned, _open_streams()))


def _is_abandoned(descriptor: int) -> bool:
    """Whether a descriptor is a pipe that nobody reads."""
    if not hasattr(select, "poll"):
        return True  # Windows has no way to ask; somebody's pipe broke
    waiting = select.poll()
    waiting.register(descriptor, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in waiting.poll(0))


def _open_streams() -> list[int]:
    """The descriptors of standard output and standard error."""
    descriptors = []
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):  # closed, or replaced by something else
            descriptors.append(stream.fileno())
    return descriptors


def _read_it_ourselves() -> None:
    """Let what is still buffered go nowhere, so that the interpreter does not complain when it ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in filter(_is_abandoned, _open_streams()):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)
