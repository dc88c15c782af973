"""Stepping through a hand record in the terminal."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from bourre_env.errors import NotationError
from bourre_env.notation import DealRecord, parse
from bourre_env.render import ansi, seen_by

QUIT = "q"
PROMPT = "Enter for the next step, q to stop: "


def read_record(path: Path) -> list[DealRecord]:
    """The deals of a file.

    Raises:
        NotationError: the file is not there, is no text, or is no record the rules allow; the message says which.
    """
    try:
        return parse(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise NotationError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise NotationError(f"{path} is a folder; name a file with a hand record") from None
    except OSError as error:
        raise NotationError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise NotationError(f"{path} is no text file, so no hand record") from None
    except NotationError as error:
        raise NotationError(f"{path}: {error}") from None


def views(deals: list[DealRecord], seat: int | None, chosen: int | None = None) -> Iterator[str]:
    """The table before the first action of each deal and after every action, with the action on top.

    Args:
        deals: the deals of a record.
        seat: the only seat whose hand is shown; None shows all.
        chosen: number of the only deal shown; None shows all.
    """
    for number, record in enumerate(deals, 1):
        if chosen not in (None, number):
            continue
        yield f"deal {number} of {len(deals)}"
        acting = -1
        for action, table in zip(["", *record.actions], record.replay(), strict=True):
            headline = f"seat {acting}: {_shown(action, acting, seat)}\n" if action else ""
            yield headline + ansi(seen_by(table, seat, blind_declaring=record.rules.blind_declaring))
            acting = table.seat


def _shown(action: str, acting: int, seat: int | None) -> str:
    """An action as an observer sees it: of another seat's discards only the number."""
    words = action.split()
    if seat in (None, acting) or len(words) < 2:
        return action
    return f"{words[0]}, {len(words) - 1} new"


def step_through(deals: list[DealRecord], seat: int | None = None, chosen: int | None = None) -> None:
    """Print a record step by step; on a terminal wait for Enter between the steps.

    Args:
        deals: the deals of a record.
        seat: the only seat whose hand is shown; None shows all.
        chosen: number of the only deal shown; None shows all.
    """
    step_through_views(views(deals, seat, chosen))


def step_through_views(shown: Iterable[str]) -> None:
    """Print texts one by one; on a terminal wait for Enter between them."""
    waits = sys.stdin.isatty() and sys.stdout.isatty()
    for view in shown:
        print(view, end="\n\n")
        if not waits:
            continue
        try:
            if input(PROMPT).strip().lower() == QUIT:
                return
        except EOFError:
            return
