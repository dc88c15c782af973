"""The one place that decides how rule functions are compiled.

Numba's on-disk cache looks at the file of the function it caches and not at the files of the functions that one calls,
so an edit of a rule could leave a compiled caller behind. The cache folder therefore carries a hash of every source
file of the package: any edit starts from an empty folder. Functions of other packages have folders whose hash goes over
the files there that compile anything, too; constants that such functions use belong into such files.

With `NUMBA_DISABLE_JIT=1` in the environment nothing is compiled and the same functions run as plain Python.
"""

import functools
import getpass
import hashlib
import os
import re
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config
from numba.extending import overload

_PACKAGE = Path(__file__).parent
_COMPILES = b"njit"  # in files that compile something
_KEPT_CACHES = 10  # caches of other versions that stay on disk
_OURS = re.compile(r"numba-[0-9a-f]{16}")  # whatever else lies beside them is somebody's work

Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")


def source_hash(package: Path = _PACKAGE) -> str:
    """Hex digest over every Python file of this package, names included, and over those of another that compile."""
    digest = hashlib.sha256()
    for folder in (_PACKAGE,) if package == _PACKAGE else (_PACKAGE, package):
        for path in sorted(folder.rglob("*.py")):
            text = path.read_bytes()
            if folder == _PACKAGE or _COMPILES in text:
                digest.update(path.relative_to(folder).as_posix().encode())
                digest.update(text)
    return digest.hexdigest()[:16]


def _caches() -> Path:
    """Where this user's compiled code goes: the folder `BOURRE_CACHE` names, else the platform's usual place."""
    if folder := os.environ.get("BOURRE_CACHE"):
        return Path(folder)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "bourre"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bourre"


@functools.cache
def _cache_folder(package: Path) -> str:
    """The folder for exactly these sources; nothing is kept where none can be made."""
    for caches in (_caches, lambda: Path(tempfile.gettempdir()) / f"bourre-{getpass.getuser()}"):
        try:
            return _made_folder(caches(), package)
        except (OSError, KeyError, RuntimeError):  # a home that cannot be written to, or no home, or no name
            continue
    return ""


def _made_folder(caches: Path, package: Path) -> str:
    """The folder for exactly these sources inside `caches`; folders of long-gone versions are removed."""
    folder = caches / f"numba-{source_hash(package)}"
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    ours = [path for path in caches.iterdir() if _OURS.fullmatch(path.name)]
    for stale in sorted(ours, key=lambda path: path.stat().st_mtime)[:-_KEPT_CACHES]:
        shutil.rmtree(stale, ignore_errors=True)
    return str(folder)


def _package_of(function: Callable[..., Any]) -> Path:
    """The folder of the outermost package that a function stands in; this one's where it stands in none."""
    outermost = sys.modules.get(function.__module__.partition(".")[0])
    return Path(next(iter(getattr(outermost, "__path__", [_PACKAGE]))))


def njit(function: Function) -> Function:
    """Compile a rule: a scalar function that compiled code calls.

    Rules are inlined into the loops that call them; otherwise every call with an array counts references.
    """
    return cast(Function, numba.njit(nogil=True, error_model="numpy", forceinline=True)(function))


def in_place_of(function: Callable[..., Any]) -> Callable[[Function], Function]:
    """Decorate what chooses, by the types of the arguments, the rule that is compiled where `function` is called."""
    return cast(
        Callable[[Function], Function],
        overload(function, jit_options={"nogil": True, "error_model": "numpy", "forceinline": True}),
    )


def njit_entry(function: Function) -> Function:
    """Compile a function that Python calls, and keep the result on disk."""
    return _entry(function, parallel=False)


def njit_parallel(function: Function) -> Function:
    """The same for a function whose `numba.prange` loops run on several threads."""
    return _entry(function, parallel=True)


def _entry(function: Function, *, parallel: bool) -> Function:
    """Compile a function that Python calls, with the cache folder of exactly these sources."""
    settings = vars(config)  # Numba reads the folder at decoration, and has no argument for it
    users_folder = settings["CACHE_DIR"]
    folder = settings["CACHE_DIR"] = _cache_folder(_package_of(function))
    try:
        compiled = numba.njit(nogil=True, error_model="numpy", parallel=parallel, cache=bool(folder))(function)
        return cast(Function, compiled)
    finally:
        settings["CACHE_DIR"] = users_folder


_ONE_AT_A_TIME = threading.Lock()
_PROCESS = os.getpid()


def on_all_threads(parallel: Callable[..., Result], alone: Callable[..., Result], *arguments: Any) -> Result:
    """What a function compiled by `njit_parallel` gives.

    Callers take turns, whichever game they play, for Numba ends a process that has two of them; in a forked process,
    whose threads it would end too, one thread does the work.

    Args:
        parallel: works on all of Numba's threads.
        alone: does the same on one.
        *arguments: of either.
    """
    if os.getpid() != _PROCESS:
        return alone(*arguments)
    with _ONE_AT_A_TIME:
        return parallel(*arguments)
