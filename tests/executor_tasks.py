"""Tasks for worker processes, in a module that is quick to import; the tests of Ray use them, too."""

import os
import signal
import time
from pathlib import Path


def square(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def refuse(number: int) -> int:
    raise ArithmeticError(f"task {number} went wrong")


def sleep_unless_first(seconds: int) -> None:
    if seconds == 0:
        refuse(0)
    time.sleep(seconds)


def die_once(mark: str) -> str:
    """End this worker as a lack of memory would, unless the file `mark` tells that it was done before."""
    if mark and not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return f"done {Path(mark).name}"


def die_always(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def threads_of_algebra(_: int) -> tuple[str | None, int]:
    import torch

    return os.environ.get("OMP_NUM_THREADS"), torch.get_num_threads()
