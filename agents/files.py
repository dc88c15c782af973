"""Writing files so that a half-written one is never found in their place."""

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
