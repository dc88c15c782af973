"""Training runs that are killed again and again, or meet a full disk, and must end as if nothing had happened.

`python -m benchmarks.kill --times 100`: a tiny run is started with `train.py --resume auto`, killed with SIGKILL at a
random moment (every other time in the middle of writing a file), started again, and so on. After each kill every file
of the run must be whole and the run no shorter than before. When a run gets to its end, its networks, optimisers,
counters, evaluations and logs must be those of an undisturbed run; then the next run begins. `--full-disk N` does the
same with N lives that can write no file beyond a random size.
"""

import argparse
import contextlib
import json
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.checkpoint import load_checkpoint, parameter_hash
from agents.config import CONFIG_FILE, read_config
from agents.files import unfinished_files
from agents.progress import Progress
from agents.runs import PREVIOUS_STATE_FILE, STATE_FILE, STATUS
from agents.states import checksum

ROOT = Path(__file__).resolve().parent.parent
CONFIG = """
[run]
deals = {deals}
threads = 1
device = "cpu"
checkpoint_every = 1
keep = 2
pictures_every = 9

[network]
actor_width = 16
actor_layers = 1
critic_width = 16
critic_layers = 1

[rollout]
deals = 64

[learn]
minibatch = 256

[evaluation]
times = 6
blocks = 4
final_blocks = 0
"""
DEALS = 4096  # of a whole run: 64 iterations, a few lives
_VOLATILE = ("minutes", "speed/")  # of the metrics: what the clock says
_LOOKS_A_SECOND = 2000
_PATIENCE = 300.0  # seconds a life may take at most


@dataclass
class Tally:
    """What happened.

    Attributes:
        kills: lives that were ended by SIGKILL.
        while_writing: those of them that left a half-written file.
        full: lives that could not write large files.
        finished: runs that got to their end, each compared with the undisturbed one.
        faults: whatever should not have happened, in words.
    """

    kills: int = 0
    while_writing: int = 0
    full: int = 0
    finished: int = 0
    faults: list[str] = field(default_factory=list)


def start(config: Path, run: Path, largest_file: int | None = None) -> "subprocess.Popen[bytes]":
    """A life of a run: taken up where it is, or begun.

    Args:
        config: the preset.
        run: the run folder.
        largest_file: bytes any file of the process can have; None for no limit.
    """

    def limit() -> None:
        if largest_file is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

    command = [
        sys.executable,
        str(ROOT / "train.py"),
        "--config",
        str(config),
        "--resume",
        "auto",
        "--set",
        f"run.dir={run}",
    ]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=limit)


def undisturbed(config: Path, run: Path) -> float:
    """Train a run in one go; returns the seconds it took until its first state was there.

    Raises:
        RuntimeError: it failed.
    """
    began = time.monotonic()
    process = start(config, run)
    while not (run / STATE_FILE).exists() and process.poll() is None:
        time.sleep(1 / _LOOKS_A_SECOND)
    loading = time.monotonic() - began
    _, errors = process.communicate(timeout=_PATIENCE)
    if process.returncode:
        raise RuntimeError(f"the undisturbed run failed: {errors.decode()}")
    return loading


def wait_for(process: "subprocess.Popen[bytes]", seconds: float) -> None:
    """Wait some time, or until the process ends."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def wait_until_it_writes(process: "subprocess.Popen[bytes]", run: Path, files: int) -> None:
    """Wait until a process has begun to write so many files, and is in the middle of the last."""
    seen: set[tuple[str, int]] = set()
    while process.poll() is None and len(seen) < files:
        for folder in (run, run / "snapshots"):
            with contextlib.suppress(OSError):
                seen |= {(path.name, path.stat().st_ino) for path in unfinished_files(folder)}
        time.sleep(1 / _LOOKS_A_SECOND)


def deals_of(run: Path) -> int:
    """Deals of the state on the disk, or of the one before where a full disk left no other; 0 without."""
    for name in (STATE_FILE, PREVIOUS_STATE_FILE):
        if (run / name).exists():
            return int(torch.load(run / name, weights_only=True)["counters"]["deals"])
    return 0


def damaged(run: Path) -> list[str]:
    """Files of a run that are there and not whole, in words."""
    checks: dict[str, Callable[[Path], Any]] = {
        CONFIG_FILE: read_config,
        STATUS: lambda path: json.loads(path.read_text()),
        STATE_FILE: _check_state,
        PREVIOUS_STATE_FILE: _check_state,
    }
    files = [(path, checks[path.name]) for name in checks if (path := run / name).exists()]
    files += [(path, load_checkpoint) for path in sorted(run.rglob("[!.]*.safetensors"))]
    found = []
    for path, check in files:
        try:
            check(path)
        except Exception as error:  # whatever it is, it is what this program looks for
            found.append(f"{path.name}: {type(error).__name__}: {error}")
    return found


def _check_state(path: Path) -> None:
    """Raise unless a state is what its checksum says."""
    state = torch.load(path, weights_only=True)
    if state.pop("checksum") != checksum(state):
        raise ValueError("does not match its checksum")


def fingerprint(run: Path) -> dict[str, str]:
    """Everything a run leaves that does not depend on the clock, as digests by name."""
    state = torch.load(run / STATE_FILE, weights_only=True)
    del state["checksum"], state["counters"]["minutes"]
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    plain = [{tag: value for tag, value in line.items() if not tag.startswith(_VOLATILE)} for line in lines]
    networks = {path.name: parameter_hash(load_checkpoint(path)[1]) for path in sorted(run.rglob("*.safetensors"))}
    networks.pop("best.previous.safetensors", None)  # nothing is resumed from it unless the best is damaged
    return {"state": checksum(state), "metrics": checksum(plain), **networks}


class Killer:
    """Starts lives of one run after another and ends them.

    Attributes:
        tally: what happened so far.
    """

    def __init__(self, folder: Path, seed: int, deals: int) -> None:
        """Train the undisturbed run.

        Args:
            folder: an empty folder to work in.
            seed: decides the moments of the kills, as far as anything can.
            deals: training deals of a whole run.
        """
        self._folder, self._rng = folder, np.random.default_rng(seed)
        self._config = folder / "kill.toml"
        self._config.write_text(CONFIG.format(deals=deals))
        self._loading = undisturbed(self._config, folder / "undisturbed")
        self._expected = fingerprint(folder / "undisturbed")
        self.tally = Tally()
        self._run = folder / "run"
        self._deals = 0
        self._may_lack_lines = False  # of metrics: those of a life with a full disk are lost

    def kill(self) -> None:
        """One life that ends by SIGKILL."""
        process = start(self._config, self._run)
        if self.tally.kills % 2:
            wait_until_it_writes(process, self._run, int(self._rng.integers(1, 60)))
        else:
            wait_for(process, self._rng.uniform(0, 1.5 * self._loading + 1))
        if process.poll() is None:
            process.kill()
            self.tally.kills += 1
        self._examine(process)

    def fill_the_disk(self, end: signal.Signals) -> None:
        """One life that can write no file beyond a random size, and ends by a signal."""
        largest = int(np.exp(self._rng.uniform(np.log(500), np.log(200_000))))
        process = start(self._config, self._run, largest)
        wait_for(process, self._loading + self._rng.uniform(0, 1.5))
        if process.poll() is None:
            process.send_signal(end)
        self.tally.full += 1
        self._examine(process, disk_full=True)

    def finish(self) -> None:
        """Let the present run get to its end, unless it has just done so."""
        if self._run.exists():
            process = start(self._config, self._run)
            self._examine(process)

    def _examine(self, process: "subprocess.Popen[bytes]", *, disk_full: bool = False) -> None:
        """Wait for the end of a life and look at what it left."""
        before = self._deals
        self._may_lack_lines |= disk_full
        _, errors = process.communicate(timeout=_PATIENCE)
        self.tally.while_writing += bool(unfinished_files(self._run)) and not disk_full
        faults = damaged(self._run)
        self._deals = deals_of(self._run)
        if self._deals < before:
            faults.append(f"went back from {before} to {self._deals} deals")
        if process.returncode not in (0, -signal.SIGKILL) and not disk_full:
            faults.append(f"exit code {process.returncode}: {errors.decode()}")
        if b"Traceback" in errors:
            faults.append(errors.decode())
        if process.returncode == 0 and not faults:
            faults += self._compare()
        self.tally.faults += faults

    def _compare(self) -> list[str]:
        """Compare a run that got to its end with the undisturbed one, and make room for the next."""
        found = fingerprint(self._run)
        self.tally.finished += 1
        looked_at = set(self._expected) - ({"metrics"} if self._may_lack_lines else set())
        different = [name for name in sorted(looked_at) if found.get(name) != self._expected[name]]
        shutil.rmtree(self._run)
        self._deals, self._may_lack_lines = 0, False
        return [f"run {self.tally.finished} differs from the undisturbed one in {', '.join(different)}"] * bool(
            different
        )


def torture(folder: Path, *, times: int, full_disk: int, seed: int, deals: int = DEALS) -> Tally:
    """Kill runs so many times, then fill the disk so many times.

    Args:
        folder: an empty folder to work in.
        times: kills.
        full_disk: lives with a full disk; each is followed by one without.
        seed: decides the moments of the kills.
        deals: training deals of a whole run.
    """
    killer = Killer(folder, seed, deals)
    with Progress(times + full_disk, "lives", sys.stderr) as progress:
        while killer.tally.kills < times:
            before = killer.tally.kills
            killer.kill()
            progress.add(killer.tally.kills - before)
        for number in range(full_disk):
            killer.fill_the_disk((signal.SIGKILL, signal.SIGTERM)[number % 2])
            if number % 4 == 3:
                killer.finish()
            progress.add(1)
    killer.finish()
    return killer.tally


def main() -> int:
    """Run the command line; 1 when anything was lost or damaged."""
    parser = argparse.ArgumentParser(description="Kill training runs and look at what is left.")
    parser.add_argument("--times", type=int, default=100, help="kills (100)")
    parser.add_argument("--full-disk", type=int, default=20, metavar="N", help="lives with a full disk (20)")
    parser.add_argument("--seed", type=int, default=1, help="decides the moments of the kills (1)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tally = torture(Path(folder), times=options.times, full_disk=options.full_disk, seed=options.seed)
    print(f"{tally.kills} kills, {tally.while_writing} of them in the middle of a file; {tally.full} full disks")
    print(f"{tally.finished} runs got to their end and were compared with the undisturbed one, bit for bit")
    print(f"{len(tally.faults)} faults")
    print(*tally.faults, sep="\n")
    return bool(tally.faults)


if __name__ == "__main__":
    sys.exit(main())
