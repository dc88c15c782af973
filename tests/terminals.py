"""A program at a pseudo-terminal: what a person would see, and typing as a person does."""

import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from fcntl import ioctl
from pathlib import Path

ROOT = Path(__file__).parent.parent
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class PseudoTerminal:
    """A running program.

    Attributes:
        output: everything it has written, as text with its control sequences.
    """

    def __init__(self, words: Sequence[str], folder: Path, *, size: tuple[int, int] = (24, 80), **environment: str):
        """Start it with the terminal as all three of its streams."""
        self._controller, program = pty.openpty()
        ioctl(program, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        variables = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
        variables |= {"PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"} | environment
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "evaluate.py"), *words],
            cwd=folder, env=variables, stdin=program, stdout=program, stderr=program, start_new_session=True,
            preexec_fn=lambda: ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        os.close(program)
        self.output = ""
        self._read = 0

    @property
    def text(self) -> str:
        """The output without colours and other control sequences."""
        return CONTROL.sub("", self.output).replace("\r", "")

    def until(self, *words: str, seconds: float = 60) -> str:
        """Wait for any of some words behind what was waited for before; what was written up to them."""
        end = time.monotonic() + seconds
        while not (places := [place for word in words if (place := self._place_behind(word)) >= 0]):
            assert time.monotonic() < end, f"{words!r} did not come: {self.text[self._read :]}"
            assert self._take(end - time.monotonic()), f"it ended without {words!r}: {self.text[self._read :]}"
        start, self._read = self._read, min(places)
        return self.text[start : self._read]

    def _place_behind(self, word: str) -> int:
        """Where a word ends that has not been waited for; -1 when it has not come."""
        found = self.text.find(word, self._read)
        return found + len(word) if found >= 0 else -1

    def _take(self, seconds: float) -> bool:
        """Read on; whether there was anything."""
        if not select.select([self._controller], [], [], max(seconds, 0))[0]:
            return True
        try:
            read = os.read(self._controller, 1 << 16)
        except OSError:  # the program has ended
            return False
        self.output += read.decode("utf-8", "replace")
        return bool(read)

    def type(self, line: str) -> None:
        """Type a line."""
        os.write(self._controller, f"{line}\n".encode())

    def press(self, key: bytes) -> None:
        """Press Ctrl-C or Ctrl-D, once the program surely waits: a signal just before it does is noticed too late."""
        time.sleep(0.3)
        os.write(self._controller, key)

    def end(self, seconds: float = 60) -> int:
        """Read to the end; the exit code."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and self._take(until - time.monotonic()):
            pass
        return self.process.wait(max(1.0, until - time.monotonic()))

    def close(self) -> None:
        """Leave nothing behind."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self._controller)
