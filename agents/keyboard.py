"""Where lines typed by people come from: a terminal, or a pipe."""

import sys
from collections.abc import Callable
from dataclasses import dataclass


class LeftError(Exception):
    """The people have left: end of input, or they said so."""


@dataclass(frozen=True, slots=True)
class Keyboard:
    """Asks for lines.

    Attributes:
        is_terminal: whether people sit at it; a pipe gets each prompt as a line of its own.
        ask: shows a prompt and returns the line typed, stripped.
    """

    is_terminal: bool
    ask: Callable[[str], str]


def standard_keyboard() -> Keyboard:
    """Standard input."""
    is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    return Keyboard(is_terminal, _ask_terminal if is_terminal else _ask_pipe)


def _ask_terminal(prompt: str) -> str:
    """A line typed behind the prompt.

    Raises:
        LeftError: end of input.
    """
    try:
        return input(f"{prompt} ").strip()
    except EOFError:
        print()  # the cursor stands behind the prompt
        raise LeftError from None


def _ask_pipe(prompt: str) -> str:
    """A line from a pipe.

    Raises:
        LeftError: end of input.
    """
    print(prompt, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise LeftError
    return line.strip()
