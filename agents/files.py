"""Files and folders that survive kills, full disks and two programs at once.

A half-written file is never found under its name; where nothing can be written is known beforehand.
"""

import contextlib
import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has no such locks; a folder is then never taken to be in use
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"
_MIB = 1 << 20


class FolderInUseError(RuntimeError):
    """Another program holds the lock of a folder."""


def replace_file(path: Path, content: bytes, *, previous: Path | None = None) -> None:
    """Write a file whole: into a temporary neighbour, onto the disk, and only then under its name.

    Args:
        path: the file; one that is there already stays as it was until the new one is complete; where it is a link,
            what it leads to is replaced.
        content: everything it is to hold.
        previous: keep the file that was there under this name, unless it is the same.

    Raises:
        OSError: the file could not be written, the disk has no room for it, or what is there is a device, a pipe or a
            folder; `path` is what it was.
    """
    path = path.resolve() if path.is_symlink() else path
    if problem := no_file(path):
        raise OSError(errno.EINVAL, problem)
    _require_room(path.parent, len(content))
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if previous is not None and path.exists() and path.read_bytes() != content:
            _keep(path, previous)
        os.replace(unfinished, path)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise
    _sync_folder(path.parent)


def _require_room(folder: Path, needed: int) -> None:
    """Raise where a disk is known to be too full: filling it to the brim would hurt other programs as well."""
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        return  # writing will say what is wrong
    if free < needed:
        raise OSError(errno.ENOSPC, f"{needed / _MIB:.1f} MiB are needed and {free / _MIB:.1f} MiB are free")


def _keep(path: Path, previous: Path) -> None:
    """Give a file a second name, in place of what had that name; the first name is never without a file."""
    link = previous.with_name(f".{previous.name}.{os.getpid()}.tmp")
    try:
        link.unlink(missing_ok=True)
        try:
            os.link(path, link)
        except OSError:  # a file system without hard links
            shutil.copyfile(path, link)
        os.replace(link, previous)
    except BaseException:
        with contextlib.suppress(OSError):
            link.unlink()
        raise


def _sync_folder(folder: Path) -> None:
    """Bring the new name onto the disk too, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def no_file(path: Path) -> str | None:
    """What is there in place of a file and must not be replaced by one, in words; None where nothing or a file is."""
    if path.is_dir():
        return f"{path} is a folder; remove it or name another"
    if path.exists() and not path.is_file():
        return f"{path} is a device or a pipe; name a file"
    return None


def unfinished_files(folder: Path) -> list[Path]:
    """What killed programs left of files they were writing."""
    return sorted(folder.glob(".*.tmp"))


def obstacle(folder: Path) -> str | None:
    """What keeps a folder from being made or written to, in words; None when nothing is known to."""
    try:
        existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
        if not existing.is_dir():
            return f"{existing} is a file, not a folder"
    except OSError as error:
        return str(error)
    return None if os.access(existing, os.W_OK | os.X_OK) else f"{existing} cannot be written to"


@contextlib.contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder inside a `with` block; a kill releases it as well.

    Raises:
        FolderInUseError: another program holds it.
    """
    with contextlib.ExitStack() as stack:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a disk that cannot be written, or has no locks, cannot be guarded
                file = stack.enter_context((folder / LOCK).open("ab"))
                _lock(file.fileno(), folder)
        yield


def _lock(descriptor: int, folder: Path) -> None:
    """Take a lock or say who else must have it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FolderInUseError(f"{folder} is in use by another program; wait for it, or stop it") from None


def is_in_use(folder: Path) -> bool:
    """Whether another program holds the lock of a folder."""
    if not (folder / LOCK).exists():
        return False
    try:
        with folder_lock(folder):
            return False
    except FolderInUseError:
        return True
