"""Runs of one and of two ranks that train in turns, a round each: whatever the machine does meanwhile happens to all.

A run stays ready between its rounds. Its ranks read a line for each round from their standard input, and the first of
them answers with what it measured, one line of JSON.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from agents.config import read_config
from agents.ranks import Ranks, joined_ranks

if TYPE_CHECKING:
    from agents.learners import AnyLearner
    from agents.trainer import Trainer

ROOT = Path(__file__).parent.parent
ITERATIONS = 1  # in a round: the shorter, the likelier is one without other work on the machine
_WARM_UP = 2  # iterations that do not count


def work_as_rank(options: argparse.Namespace) -> None:
    """One rank that trains a round for each line it reads; the first answers with numbers, and at the end with more."""
    from agents.trainer import Trainer

    config = read_config(options.config, [*options.set, "run.threads=1", "run.device=cpu", "run.pictures_every=0"])
    with joined_ranks() as ranks, tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(config, Path(folder), warn=print, ranks=ranks)
        trainer.warm_up()
        for _ in range(_WARM_UP):
            trainer.iterate()
        _say(ranks, {})
        for _ in sys.stdin:
            _say(ranks, _round_of(trainer, ranks))
        done, size = trainer.counters, gradient_bytes(trainer.learner)
        reduced = seconds_of_all_reduce(ranks, size) if ranks.count > 1 else []
        _say(ranks, {"reduced": reduced, "bytes": size, "decisions_a_deal": done.decisions / done.deals})
        trainer.close()


def _round_of(trainer: "Trainer", ranks: Ranks) -> dict[str, float]:
    """Train for a round, and what was measured of it."""
    ranks.gather(None)  # begin together
    start, cpu, before = time.perf_counter(), time.process_time(), trainer.counters.decisions
    values = [trainer.iterate() for _ in range(ITERATIONS)]
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    decisions = trainer.counters.decisions - before
    return {
        "rate": decisions / seconds,
        "cpu_rate": decisions / cpu_seconds,
        "engine": statistics.mean(value["speed/share_engine"] for value in values),
        "learned": statistics.mean(value.get("pairs/share", 1.0) for value in values),
    }


def _say(ranks: Ranks, value: Mapping[str, object]) -> None:
    """The first rank's answer."""
    if ranks.is_first:
        print(json.dumps(value), flush=True)


def gradient_bytes(learner: "AnyLearner") -> int:
    """Bytes of the gradients of the actor, and of the critic if there is one."""
    networks = [network for network in (learner.actor, learner.critic) if network is not None]
    size: int = sum(weight.numel() * weight.element_size() for network in networks for weight in network.parameters())
    return size


def seconds_of_all_reduce(ranks: Ranks, size: int) -> list[float]:
    """Seconds to add up a number, and so many bytes, of all ranks; the best of many."""
    import torch
    from torch import distributed

    found = []
    for numbers in (1, size // 4):
        tensor, times = torch.zeros(numbers), []
        for _ in range(50):
            ranks.gather(None)  # begin together
            start = time.perf_counter()
            distributed.all_reduce(tensor)
            times.append(time.perf_counter() - start)
        found.append(min(times))
    return found


class Run:
    """The processes of a run of some ranks, which wait between rounds.

    Attributes:
        rounds: what the first rank measured in each.
        summary: what it says at the end.
    """

    def __init__(self, count: int, words: Sequence[str]) -> None:
        """Start as many ranks, with words for the command line of each."""
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        together = {"WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count), "OMP_NUM_THREADS": "1"}
        together |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        self.rounds: list[dict[str, float]] = []
        self.summary: dict[str, Any] = {}
        self._processes = [
            subprocess.Popen(
                [sys.executable, "-m", "benchmarks.scaling", "rank", *words],
                cwd=ROOT,
                env=os.environ | together | {"RANK": str(index), "LOCAL_RANK": str(index)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for index in range(count)
        ]

    def __enter__(self) -> Self:
        """Wait until it can begin.

        Raises:
            RuntimeError: a rank failed.
        """
        self._heard()
        return self

    def __exit__(self, *problem: object) -> None:
        """End it, and keep what it says at last."""
        for process in self._processes:
            if process.stdin is not None:
                process.stdin.close()
        if problem[0] is None:
            self.summary = self._heard()
        else:
            for process in self._processes:
                process.kill()
        for process in self._processes:
            process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def begin(self) -> None:
        """Begin a round."""
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()

    def finish(self) -> None:
        """Wait for the end of the round.

        Raises:
            RuntimeError: a rank failed.
        """
        self.rounds.append(self._heard())

    def values(self, name: str) -> list[float]:
        """What was measured under some name, by round."""
        return [measured[name] for measured in self.rounds]

    def _heard(self) -> dict[str, Any]:
        """The next answer of the first rank."""
        assert self._processes[0].stdout is not None
        line = self._processes[0].stdout.readline()
        if not line:
            raise RuntimeError(f"a rank of {len(self._processes)} failed")
        heard: dict[str, Any] = json.loads(line)
        return heard


def in_turns(line_ups: Mapping[str, tuple[int, Sequence[str]]], rounds: int) -> dict[str, Run]:
    """Let runs train a round each, over and over.

    Args:
        line_ups: numbers of ranks and words for their command line, by name.
        rounds: how many of each. In each there is one more, of the first run and a stranger that is the same.

    Returns:
        The runs, by name, and under "strangers" and "stranger" the two that trained side by side.
    """
    first = next(iter(line_ups.values()))
    wanted = {**line_ups, "strangers": first, "stranger": first}
    with ExitStack() as stack:
        runs = {name: stack.enter_context(Run(*line_up)) for name, line_up in wanted.items()}
        for _ in range(rounds):
            for together in _turns(runs):
                for run in together:
                    run.begin()
                for run in together:
                    run.finish()
    return runs


def _turns(runs: Mapping[str, Run]) -> Iterator[list[Run]]:
    """The runs of a round, one after the other, and at last the two strangers together."""
    for name, run in runs.items():
        if not name.startswith("stranger"):
            yield [run]
    yield [runs["strangers"], runs["stranger"]]


def paired(ones: Sequence[float], others: Sequence[float]) -> float:
    """The median over rounds of what the one was beside the other in the same round."""
    return statistics.median(one / other for one, other in zip(ones, others, strict=True))
