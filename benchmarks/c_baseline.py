"""`c_engine.c` from Python: what a plain C program of the same game reaches on this machine.

It is built with the C compiler found on PATH, at each start and for one table size. Shapes: B tables, N seats, W words,
O = 64*W features, A actions.
"""

import ctypes
import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bourre_env import Rules
from bourre_env.bourre.actions import num_actions
from bourre_env.bourre.observation import layout

SOURCE = Path(__file__).with_name("c_engine.c")
FLAGS = ("-std=gnu11", "-O3", "-march=native", "-shared", "-fPIC")
VIEWS = ("packed", "mask", "float32")  # in the order of c_engine.c


def compiler() -> str | None:
    """The C compiler on PATH, if there is one."""
    return shutil.which("gcc") or shutil.which("cc")


class _Engine(ctypes.Structure):
    """`Engine` of c_engine.c."""

    _fields_ = (
        ("tables", ctypes.c_void_p),
        ("num_tables", ctypes.c_int64),
        ("deals", ctypes.c_int64),
        ("steps", ctypes.c_int64),
        ("seed", ctypes.c_uint64),
        ("actions", ctypes.c_void_p),
        ("legal", ctypes.c_void_p),
        ("words", ctypes.c_void_p),
        ("mask", ctypes.c_void_p),
        ("features", ctypes.c_void_p),
        ("returns", ctypes.c_void_p),
        ("carry", ctypes.c_void_p),
        ("exempt", ctypes.c_void_p),
    )


@functools.cache
def library(num_players: int) -> ctypes.CDLL:
    """The program for one table size, compiled and loaded.

    Raises:
        FileNotFoundError: no C compiler is on PATH.
        RuntimeError: the compiler refuses the program; the message is the compiler's.
    """
    found = compiler()
    if found is None:
        raise FileNotFoundError("no C compiler (gcc or cc) is on PATH")
    with tempfile.TemporaryDirectory(prefix="bourre-c-", ignore_cleanup_errors=True) as folder:
        built = Path(folder) / f"engine_{num_players}.so"
        command = [found, *FLAGS, f"-DSEATS={num_players}", str(SOURCE), "-o", str(built)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
        program = ctypes.CDLL(str(built))
    program.table_bytes.restype = ctypes.c_int64
    program.begin_tables.argtypes = [ctypes.c_void_p]
    program.step_tables.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    program.step_tables.restype = ctypes.c_int64
    program.play_tables.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int]
    program.play_tables.restype = ctypes.c_double
    return program


class CTables:
    """B tables of the C program under the `pagat` rules, dealt again as soon as they are settled.

    Attributes:
        actions: [B] int64, what `play` chose last.
        legal: [B, 2] uint64, the packed legal sets, like the next three the rows of the view last written.
        words: [B, W] uint64, the packed observations.
        mask: [B, A] uint8, the legal sets as zeros and ones.
        features: [B, O] float32, the observations as zeros and ones.
        returns: [B, N] int32, chips won or lost in the last deal settled at a table.
        carry: [B] int64, what lay in the pot after it.
        exempt: [B] uint8, mask of the seats that skip the ante after it.
    """

    def __init__(self, num_players: int, num_tables: int, seed: int) -> None:
        """Deal every table, the deal numbers counting from 0 and the dealer being deal number modulo N."""
        self._library = library(num_players)
        rules = Rules.preset("pagat", num_players=num_players)
        num_words = layout(rules).num_words
        self.num_tables = num_tables
        self.actions = np.zeros(num_tables, np.int64)
        self.legal = np.zeros((num_tables, 2), np.uint64)
        self.words = np.zeros((num_tables, num_words), np.uint64)
        self.mask = np.zeros((num_tables, num_actions(rules)), np.uint8)
        self.features = np.zeros((num_tables, 64 * num_words), np.float32)
        self.returns = np.zeros((num_tables, num_players), np.int32)
        self.carry = np.zeros(num_tables, np.int64)
        self.exempt = np.zeros(num_tables, np.uint8)
        self._tables = np.zeros(num_tables * self._library.table_bytes(), np.uint8)
        buffers = ("actions", "legal", "words", "mask", "features", "returns", "carry", "exempt")
        places = {name: getattr(self, name).ctypes.data for name in buffers}
        self._engine = _Engine(tables=self._tables.ctypes.data, num_tables=num_tables, seed=seed, **places)
        self._library.begin_tables(ctypes.byref(self._engine))

    @property
    def deals(self) -> int:
        """Deals begun so far."""
        return int(self._engine.deals)

    def step(self, actions: NDArray[np.int64], view: str) -> int:
        """One decision at every table, settled ones dealt again, and the rows of the view (of `VIEWS`) written.

        Returns:
            -1, or the first row whose action is illegal; no table has changed then.
        """
        if actions.shape != (self.num_tables,) or actions.dtype != np.int64 or not actions.flags.c_contiguous:
            raise ValueError(f"actions are {actions.dtype} {actions.shape}; they must be int64 ({self.num_tables},)")
        place = ctypes.c_void_p(actions.ctypes.data)
        return int(self._library.step_tables(ctypes.byref(self._engine), place, VIEWS.index(view)))

    def play(self, steps: int, view: str) -> float:
        """That many steps of random play inside the program, chosen as `choose_randomly` does.

        Returns:
            CPU seconds of this thread, the choosing left out.
        """
        return float(self._library.play_tables(ctypes.byref(self._engine), steps, VIEWS.index(view)))
