"""A sitting on disk: enough to go on after a restart, and the hand record of every deal that is over.

A folder holds `table.json` (what the session is), `journal.jsonl` (a line for the opening of each deal, then one for
each of its actions; a line cut short by a kill is left out) and `deal-0001.txt` and so on. `table.json` holds the seed
and the links of the seats, so the folder is readable by its owner alone. Lines are handed to the system, not forced
onto the disk: a killed server loses none, a machine without power may lose the last seconds.
"""

import contextlib
import dataclasses
import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from agents.files import replace_file
from agents.replaying import read_record
from agents.sitting import Finished, Opening, Seat, Sitting
from bourre_env.bourre.rules import Rules
from bourre_env.errors import BourreError
from bourre_env.notation import write

ABOUT, ACTIONS = "table.json", "journal.jsonl"


class JournalError(BourreError, ValueError):
    """A folder that holds no sitting, or another one. The message says which, and what to do."""


class Journal:
    """Writes a sitting down while it is played.

    Attributes:
        folder: where.
    """

    def __init__(self, folder: Path) -> None:
        """Write nothing yet; `begin` or `resume` comes first."""
        self.folder = folder
        self._file: TextIO | None = None
        self._has_gap = False  # an action was not written, so those behind it would not fit
        self._keeping = threading.Lock()

    @property
    def exists(self) -> bool:
        """Whether a sitting has been begun in the folder."""
        return (self.folder / ABOUT).is_file()

    def begin(self, sitting: Sitting, extra: Mapping[str, Any]) -> None:
        """Write what the session is.

        Args:
            sitting: before its first deal.
            extra: what whoever shows the table wants back after a restart, plain data.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.describe(sitting, extra)

    def describe(self, sitting: Sitting, extra: Mapping[str, Any]) -> None:
        """Write anew what the session is, after names have changed."""
        about = {
            "rules": dataclasses.asdict(sitting.rules),
            "fingerprint": sitting.rules.fingerprint,
            "seats": [[seat.name, seat.spec] for seat in sitting.seats],
            "seed": sitting.seed,
            "deals": sitting.deals,
            "extra": dict(extra),
        }
        replace_file(self.folder / ABOUT, (json.dumps(about, indent=1) + "\n").encode())

    def about(self) -> dict[str, Any]:
        """What `begin` wrote.

        Raises:
            JournalError: it cannot be read.
        """
        try:
            about: dict[str, Any] = json.loads((self.folder / ABOUT).read_text(encoding="utf-8"))
            _check_about(about)
            return about
        except (OSError, ValueError) as error:
            raise JournalError(
                f"{self.folder / ABOUT} is no table's description ({error}); name another folder"
            ) from None

    def resume(self, rules: Rules, seats: Sequence[Seat], deals: int | None) -> Sitting:
        """The sitting as it was when it broke off.

        Args:
            rules: that are asked for now.
            seats: who sits down now; names are taken from the folder.
            deals: in the session, as asked for now.

        Raises:
            JournalError: the folder holds a session of other rules or seats, or is damaged.
        """
        about = self.about()
        if about["fingerprint"] != rules.fingerprint or [spec for _, spec in about["seats"]] != [s.spec for s in seats]:
            played = " ".join(spec for _, spec in about["seats"])
            raise JournalError(f"{self.folder} holds a session of {played} by its own rules; name another folder")
        named = [dataclasses.replace(seat, name=name) for seat, (name, _) in zip(seats, about["seats"], strict=True)]
        opening, actions = self._read_actions(len(seats))
        try:
            sitting = Sitting.resume(rules, named, seed=about["seed"], opening=opening, actions=actions, deals=deals)
        except (BourreError, ValueError) as error:
            raise JournalError(
                f"{self.folder / ACTIONS} does not fit its table ({error}); name another folder"
            ) from None
        if opening.number >= 0:
            self._shorten(opening, actions)
        self._reload(sitting)
        return sitting

    def _read_actions(self, size: int) -> tuple[Opening, list[str]]:
        """The deal in play: what it began with, and its actions."""
        nothing = Opening(-1, 0, (False,) * size, (), (0,) * size)
        try:
            lines = (self.folder / ACTIONS).read_text(encoding="utf-8").split("\n")[:-1]
            if not lines:  # a kill came before the first line was whole
                (self.folder / ACTIONS).unlink()
                return nothing, []
            last = max(number for number, line in enumerate(lines) if line.startswith("{"))
            opening = Opening(**{name: _tuple(value) for name, value in json.loads(lines[last]).items()})
            _check_opening(opening, size)
            return opening, [str(json.loads(line)) for line in lines[last + 1 :]]
        except FileNotFoundError:
            return nothing, []
        except (OSError, ValueError, TypeError) as error:
            raise JournalError(f"{self.folder / ACTIONS} is damaged ({error}); name another folder") from None

    def _reload(self, sitting: Sitting) -> None:
        """Give a resumed sitting the deals that are over."""
        over = [path for path in sorted(self.folder.glob("deal-*.txt")) if _number(path) < sitting.number]
        earlier = [Finished(read_record(path)[0]) for path in over]
        if sitting.is_settled and sitting.story is not None:
            self.keep(sitting.number, sitting.finished[-1])  # a kill may have come between the two
        sitting.finished[:0] = earlier

    def note_opening(self, opening: Opening) -> None:
        """A deal begins.

        Raises:
            OSError: it could not be written; the deal is left out.
        """
        if self._has_gap:
            self._shorten(opening, [])
            self._has_gap = False
        else:
            self._append(json.dumps(dataclasses.asdict(opening)))

    def note_action(self, text: str) -> None:
        """An action was taken.

        Raises:
            OSError: it could not be written; the rest of the deal is left out as well, without another word.
        """
        if not self._has_gap:
            self._append(json.dumps(text))

    def _append(self, line: str) -> None:
        """Write a line."""
        try:
            if self._file is None:
                self._file = (self.folder / ACTIONS).open("a", encoding="utf-8")
            self._file.write(line + "\n")
            self._file.flush()
        except OSError:
            self._has_gap = True
            with contextlib.suppress(OSError):  # what it still holds cannot be written either
                self.close()
            raise

    def keep(self, number: int, finished: Finished) -> None:
        """Write the hand record of a deal that is over; its first is number 0."""
        with self._keeping:  # the end of a server may come while a thread still writes
            replace_file(self.folder / f"deal-{number + 1:04}.txt", write(finished.record).encode())

    def close(self) -> None:
        """Write no more."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _shorten(self, opening: Opening, actions: Sequence[str]) -> None:
        """Leave only the deal in play in the file."""
        lines = [json.dumps(dataclasses.asdict(opening)), *map(json.dumps, actions)]
        replace_file(self.folder / ACTIONS, "".join(f"{line}\n" for line in lines).encode())


def _check_about(about: Any) -> None:
    """Raise `ValueError` for what `describe` does not write."""
    kinds = {"fingerprint": str, "seats": list, "seed": int, "extra": dict}
    wrong = [name for name, kind in kinds.items() if not isinstance(about, dict) or type(about.get(name)) is not kind]
    if wrong:
        raise ValueError(f"no {', '.join(wrong)}")
    if not all(isinstance(seat, list) and [type(word) for word in seat] == [str, str] for seat in about["seats"]):
        raise ValueError("a seat is a name and a policy")


def _check_opening(opening: Opening, size: int) -> None:
    """Raise `ValueError` for what `note_opening` does not write at a table of so many seats."""
    plain = dataclasses.asdict(opening)
    fits = all(type(plain[name]) is int for name in ("number", "carry"))
    for name, kind, sizes in (("exempt", bool, [size]), ("stacks", int, [0, size]), ("totals", int, [size])):
        values = plain[name]
        fits &= isinstance(values, tuple) and len(values) in sizes and all(type(value) is kind for value in values)
    if not fits:
        raise ValueError("a deal begins with other values")


def _tuple(value: Any) -> Any:
    """Lists, as JSON has them, as tuples."""
    return tuple(value) if isinstance(value, list) else value


def _number(path: Path) -> int:
    """The number of a deal, from 0, by the name of its file."""
    digits = path.stem.partition("-")[2]
    return int(digits) - 1 if digits.isdecimal() else -1
