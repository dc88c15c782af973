"""Tasks for worker processes, in a module that is quick to import."""

import os
import time


def square(number: int) -> tuple[int, int]:
    return number * number, os.getpid()


def refuse(number: int) -> int:
    raise ArithmeticError(f"task {number} went wrong")


def sleep_unless_first(seconds: int) -> None:
    if seconds == 0:
        refuse(0)
    time.sleep(seconds)
