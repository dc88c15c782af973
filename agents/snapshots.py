"""Snapshots of the network on its way: the newest few of a run, and whichever somebody still plays against."""

import contextlib
from collections.abc import Callable, Collection
from pathlib import Path

FOLDER = "snapshots"
_DIGITS = 12  # so that names sort by deals


class Snapshots:
    """The folder `snapshots` of a run, one checkpoint a file, named by the deals it had played.

    Attributes:
        in_use: names of snapshots that are never deleted, such as those of a pool of opponents.
    """

    def __init__(self, run: Path, keep: int, in_use: Collection[str] = ()) -> None:
        """Make nothing yet.

        Args:
            run: the run folder.
            keep: how many to keep, the newest; 0 for none.
            in_use: names of snapshots that are never deleted.
        """
        self._folder = run / FOLDER
        self._keep = keep
        self.in_use = set(in_use)

    def add(self, deals: int, write: Callable[[Path], None]) -> Path | None:
        """Write a snapshot and delete those that are too old; returns the file, None when none are kept.

        Args:
            deals: training deals the network has played.
            write: is given the file to write.

        Raises:
            OSError: it could not be written; then nothing is deleted.
        """
        if not self._keep:
            return None
        self._folder.mkdir(exist_ok=True)
        path = self._folder / name_of(deals)
        write(path)
        self._delete_old()
        return path

    def paths(self) -> list[Path]:
        """The snapshots there are, oldest first."""
        return sorted(self._folder.glob("*.safetensors"))

    def _delete_old(self) -> None:
        """Keep the newest and those in use."""
        for path in self.paths()[: -self._keep]:
            if path.name not in self.in_use:
                with contextlib.suppress(OSError):
                    path.unlink()


def name_of(deals: int) -> str:
    """File name of the snapshot after so many deals."""
    return f"{deals:0{_DIGITS}}.safetensors"
