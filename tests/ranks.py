"""Processes that train together, started as `torchrun` starts them."""

import os
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def start_ranks(command: list[str], count: int = 2, *, cwd: Path = ROOT) -> list["subprocess.Popen[str]"]:
    """One process a rank, each as if alone on its machine, so that threads are not shared out; they meet over TCP."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    together = {"WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": "1", "LOCAL_RANK": "0"}
    together |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    return [
        subprocess.Popen(
            [sys.executable, *command],
            cwd=cwd,
            env=os.environ | together | {"RANK": str(index)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for index in range(count)
    ]


def outcomes(processes: list["subprocess.Popen[str]"], timeout: float = 120) -> list[tuple[int, str, str]]:
    """Exit code, standard output and standard error of each, once all have ended."""
    try:
        ended = [(*process.communicate(timeout=timeout), process.returncode) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [(code, out, err) for out, err, code in ended]
