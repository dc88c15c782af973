"""Writing files so that a half-written one is never found in their place, and knowing beforehand where none can be."""

import contextlib
import os
from pathlib import Path


def replace_file(path: Path, content: bytes) -> None:
    """Write a file whole: into a temporary neighbour, onto the disk, and only then under its name.

    Args:
        path: the file; one that is there already stays as it was until the new one is complete.
        content: everything it is to hold.

    Raises:
        OSError: the file could not be written; nothing has changed.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise


def obstacle(folder: Path) -> str | None:
    """What keeps a folder from being made or written to, in words; None when nothing is known to."""
    try:
        existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not existing.is_dir():
            return f"{existing} is a file, not a folder"
    except OSError as error:
        return str(error)
    return None if os.access(existing, os.W_OK | os.X_OK) else f"{existing} cannot be written to"
