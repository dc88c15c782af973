"""How training and tournaments grow with ranks and workers: `python -m benchmarks.scaling ranks|executors|model`.

* `ranks` measures one and two ranks on two cores, one thread each, taking turns, the best of several rounds; two runs
  side by side that know nothing of each other, which is what the machine has to give; what an all-reduce costs; and how
  long a two-rank run takes to start. `--out` keeps the figures.
* `executors` measures the same tournament with two worker processes and, where Ray is installed, with two of its
  workers; from the first result on, so that starting does not count, and in all.
* `model` foretells runs of more ranks from the figures that `ranks` has kept, and from those of a network, which are
  given and not measured.
"""

import argparse
import contextlib
import dataclasses
import importlib.util
import json
import math
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.config import Config, read_config
from agents.entrants import Entrant
from agents.executors import PROCESSES, RAY, Workers, map_unordered
from agents.metrics import Stopwatch
from agents.ranks import Ranks, joined_ranks
from agents.results import Terms
from agents.tournament import BlockTask, play_task
from bourre_env import Rules

if TYPE_CHECKING:
    from agents.learners import AnyLearner

ROOT = Path(__file__).parent.parent
FIGURES = Path(__file__).with_name("scaling.json")
GOAL_OF_RANKS, GOAL_OF_RAY, MOST_TO_START = 1.8, 0.9, 20.0
ITERATIONS = 1  # in a round: the shorter, the likelier is one without other work on the machine
_WARM_UP = 2  # iterations that do not count
_MEGA = 1e6


@dataclasses.dataclass(frozen=True, slots=True)
class Figures:
    """What was measured on one machine, and what a run asks for.

    Attributes:
        samples: decisions a second that one rank plays and learns from.
        shuffle_seconds: of putting one row of any rank in its place of the random order, for all networks.
        engine_samples: decisions a second that one core's engine alone would play.
        decisions_a_deal: with a choice.
        rows_a_deal: what is learned from, pairs or with a critic all decisions.
        bytes_a_step: gradients of all networks, in bytes.
        epochs: passes over the rows of an iteration.
        deals: of an iteration of one rank.
        minibatch: rows in a gradient step of one rank.
    """

    samples: float
    shuffle_seconds: float
    engine_samples: float
    decisions_a_deal: float
    rows_a_deal: float
    bytes_a_step: int
    epochs: int
    deals: int
    minibatch: int


@dataclasses.dataclass(frozen=True, slots=True)
class Network:
    """What connects the ranks.

    Attributes:
        bytes_a_second: one way, between two ranks.
        latency: seconds of a message.
    """

    bytes_a_second: float
    latency: float

    def all_reduce(self, ranks: int, size: float) -> float:
        """Seconds to add up `size` bytes of all ranks: every byte travels twice, in about two messages a doubling."""
        if ranks == 1:
            return 0.0
        return 2 * (ranks - 1) / ranks * size / self.bytes_a_second + 2 * math.ceil(math.log2(ranks)) * self.latency


@dataclasses.dataclass(frozen=True, slots=True)
class Foretold:
    """A run of so many ranks, each with as many deals and rows as one rank had.

    Attributes:
        ranks: how many.
        samples: decisions a second of all.
        deals: deals a second of all.
        efficiency: samples beside those of as many ranks that do not wait for each other.
        sent: bytes a second that leave each rank.
        minibatch: rows in a gradient step.
        shuffling: share of the time that goes into the random order of all rows.
    """

    ranks: int
    samples: float
    deals: float
    efficiency: float
    sent: float
    minibatch: int
    shuffling: float


def foretell(figures: Figures, network: Network, ranks: int) -> Foretold:
    """What so many ranks do together."""
    decisions, rows = figures.deals * figures.decisions_a_deal, figures.deals * figures.rows_a_deal
    steps = figures.epochs * math.ceil(rows / figures.minibatch)
    alone = decisions / figures.samples
    shuffling = figures.epochs * (ranks - 1) * rows * figures.shuffle_seconds
    seconds = alone + steps * network.all_reduce(ranks, figures.bytes_a_step) + shuffling
    return Foretold(
        ranks=ranks,
        samples=ranks * decisions / seconds,
        deals=ranks * figures.deals / seconds,
        efficiency=alone / seconds,
        sent=steps * 2 * (ranks - 1) / ranks * figures.bytes_a_step / seconds,
        minibatch=ranks * figures.minibatch,
        shuffling=shuffling / seconds,
    )


def last_efficient(figures: Figures, network: Network, least: float = 0.5) -> int:
    """The largest power of two of ranks, up to a million, that keeps this efficiency."""
    counts = [1 << power for power in range(21)]
    return max(ranks for ranks in counts if foretell(figures, network, ranks).efficiency >= least)


def table(figures: Figures, network: Network, counts: Sequence[int]) -> Iterator[str]:
    """What is foretold, as a Markdown table."""
    yield "| ranks | samples/s | deals/s | efficiency | MB/s sent by a rank | rows a step | time in shuffling |"
    yield "|---|---|---|---|---|---|---|"
    for told in (foretell(figures, network, ranks) for ranks in counts):
        yield (
            f"| {told.ranks:,} | {told.samples:,.0f} | {told.deals:,.0f} | {told.efficiency:.2f} "
            f"| {told.sent / _MEGA:,.1f} | {told.minibatch:,} | {told.shuffling:.0%} |"
        )


# --- ranks -----------------------------------------------------------------------------------------------------------


def work_as_rank(options: argparse.Namespace) -> None:
    """One rank that trains for some rounds; the first prints what it measured as a line of JSON."""
    from agents.trainer import Trainer

    config = read_config(options.config, [*options.set, "run.threads=1", "run.device=cpu", "run.pictures_every=0"])
    with joined_ranks() as ranks, tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(config, Path(folder), warn=print, ranks=ranks)
        trainer.warm_up()
        for _ in range(_WARM_UP):
            trainer.iterate()
        rates, cpu_rates, shares, learned = [], [], [], []
        for _ in range(options.rounds):
            start, cpu, before = time.perf_counter(), time.process_time(), trainer.counters.decisions
            values = [trainer.iterate() for _ in range(ITERATIONS)]
            decisions = trainer.counters.decisions - before
            rates.append(decisions / (time.perf_counter() - start))
            cpu_rates.append(decisions / (time.process_time() - cpu))
            shares.append(sum(value["speed/share_engine"] for value in values) / ITERATIONS)
            learned.append(sum(value.get("pairs/share", 1.0) for value in values) / ITERATIONS)
        reduced = seconds_of_all_reduce(ranks, gradient_bytes(trainer.learner)) if ranks.count > 1 else []
        if ranks.is_first:
            done = trainer.counters
            found: dict[str, Any] = {
                "rates": rates,
                "cpu_rates": cpu_rates,
                "engine": statistics.median(shares),
                "reduced": reduced,
                "bytes": gradient_bytes(trainer.learner),
            }
            found["decisions_a_deal"] = done.decisions / done.deals
            found["rows_a_deal"] = found["decisions_a_deal"] * statistics.mean(learned)
            print(json.dumps(found))
        trainer.close()


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


def run_ranks(count: int, words: Sequence[str]) -> dict[str, Any]:
    """Start ranks that measure themselves; what the first one says.

    Raises:
        RuntimeError: one failed.
    """
    return _heard(_started(count, words))


def run_strangers(count: int, words: Sequence[str]) -> list[dict[str, Any]]:
    """Start as many runs of one rank at the same time, which know nothing of each other; what each says.

    Raises:
        RuntimeError: one failed.
    """
    return [_heard(processes) for processes in [_started(1, words) for _ in range(count)]]


def _started(count: int, words: Sequence[str]) -> "list[subprocess.Popen[str]]":
    """The processes of a run of so many ranks."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    together = {"WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count), "OMP_NUM_THREADS": "1"}
    together |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    return [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.scaling", "rank", *words],
            cwd=ROOT,
            env=os.environ | together | {"RANK": str(index), "LOCAL_RANK": str(index)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for index in range(count)
    ]


def _heard(processes: "Sequence[subprocess.Popen[str]]") -> dict[str, Any]:
    """What the first of some ranks says, once all have ended."""
    said = [process.communicate()[0] for process in processes]
    if any(process.returncode for process in processes):
        raise RuntimeError(f"a rank of {len(processes)} failed")
    measured: dict[str, Any] = json.loads(said[0].splitlines()[-1])
    return measured


def seconds_to_start(config: Path) -> float:
    """Seconds from `torchrun` with two ranks to the end of the first iteration."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "train.py"]
        command += ["--config", str(config), "--set", f"run.dir={run}", "run.device=cpu"]
        start = time.monotonic()
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not (run / "metrics.jsonl").exists() and process.poll() is None:
                time.sleep(0.05)
            seconds = time.monotonic() - start
        finally:
            process.terminate()
            process.wait()
    return seconds


def shuffle_seconds(rows: int = 1_000_000, *, networks: int = 1) -> float:
    """Seconds a row that drawing a random order and finding the own rows costs, for so many networks."""
    from agents.minibatches import Numbering

    numbering = Numbering(np.arange(rows // 100), rows)
    start = time.perf_counter()
    for _ in numbering.minibatches(rows // 100, np.random.default_rng(0)):
        pass
    return networks * (time.perf_counter() - start) / rows


def measure_ranks(options: argparse.Namespace) -> tuple[Figures, list[str]]:
    """Measure one and two ranks; the figures for the model, and what was found in words."""
    config = read_config(options.config, options.set)
    words = ["--config", str(options.config), "--rounds", str(options.rounds)]
    own = ["--set", *options.set] if options.set else ["--set"]
    double = [f"rollout.deals={2 * config.rollout.deals}", f"learn.minibatch={2 * config.learn.minibatch}"]
    one = run_ranks(1, [*words, *own, "run.seed=1"])
    same = run_ranks(2, [*words, *own, "run.seed=1"])
    twice = run_ranks(2, [*words, *own, *double])
    # medians, for whichever starts first or ends last has a few rounds to itself
    apart = sum(statistics.median(measured["rates"]) for measured in run_strangers(2, [*words, *own, "run.seed=1"]))
    rates = [max(measured["rates"]) for measured in (one, same, twice)]
    figures = _figures(config, one, rates[0])
    number, gradients = same["reduced"]
    start = seconds_to_start(options.config)
    cpu_rates = [max(measured["cpu_rates"]) for measured in (one, same, twice)]
    told = [f"1 rank{rates[0]:41,.0f} samples/s, {cpu_rates[0]:,.0f} a CPU second"]
    for name, rate, cpu_rate in zip(("half", "whole"), rates[1:], cpu_rates[1:], strict=True):
        told.append(f"2 ranks, a {name:<5} batch each{rate:24,.0f} samples/s, {cpu_rate:,.0f} a CPU second of each")
        told.append(_beside(f"2 ranks / 1 rank, {name} batch", rate / rates[0], GOAL_OF_RANKS))
        told.append(
            f"the same by CPU time{cpu_rate / cpu_rates[0]:27.2f}   if neither had to wait for a core or the other"
        )
    told.append(
        f"2 runs side by side / 1 run{apart / statistics.median(one['rates']):21.2f}   what the machine has to give"
    )
    told.append(
        f"all-reduce: {1e6 * number:,.0f} µs for a number, {1e3 * gradients:.2f} ms for {same['bytes']:,} bytes"
    )
    told.append(_beside("start of a two-rank run, seconds", start, MOST_TO_START, most=True))
    return figures, told


def _figures(config: Config, one: dict[str, Any], rate: float) -> Figures:
    """What the model needs, from one rank."""
    return Figures(
        samples=rate,
        shuffle_seconds=shuffle_seconds(networks=1 if config.learns_from_pairs else 2),
        engine_samples=rate / one["engine"],
        decisions_a_deal=one["decisions_a_deal"],
        rows_a_deal=one["rows_a_deal"],
        bytes_a_step=one["bytes"],
        epochs=config.learn.epochs,
        deals=config.rollout.deals,
        minibatch=config.learn.minibatch,
    )


# --- executors -------------------------------------------------------------------------------------------------------


def tasks(number: int, blocks: int) -> list[BlockTask]:
    """Pieces of a tournament between the rule bot and random play."""
    entrants = (Entrant("heuristic", "heuristic"), Entrant("random", "random"))
    line_up = ("heuristic", *["random"] * 3)
    terms = Terms(Rules.preset("pagat", num_players=4), buy_in=None)
    return [
        BlockTask(terms, entrants, line_up, 1, blocks * part, blocks * (part + 1), 60.0, frozenset())
        for part in range(number)
    ]


def measure_executor(workers: Workers, number: int, blocks: int) -> tuple[float, float]:
    """Tasks a second from the first rounds of results on, and seconds in all."""
    watch, times = Stopwatch(), []
    with watch.measure("all"):
        for _ in map_unordered(play_task, tasks(number, blocks), workers=workers):
            times.append(time.perf_counter())
    first = workers.here
    return (len(times) - 1 - first) / (times[-1] - times[first]), watch.seconds["all"]


def measure_executors(options: argparse.Namespace) -> Iterator[str]:
    """Two processes and two of Ray's workers on the same tasks, in turns; the best of several rounds."""
    kinds = [PROCESSES] + ([RAY] if importlib.util.find_spec("ray") else [])
    found: dict[str, list[tuple[float, float]]] = {kind: [] for kind in kinds}
    for _ in range(options.rounds):
        for kind in kinds:
            found[kind].append(measure_executor(Workers(2, kind), options.tasks, options.blocks))
    for kind, measured in found.items():
        rate, seconds = max(rate for rate, _ in measured), min(seconds for _, seconds in measured)
        yield f"{kind:<10} {rate:8.2f} tasks/s of {options.blocks} blocks, {seconds:6.1f} s for {options.tasks} in all"
    if len(kinds) > 1:
        best = {kind: max(rate for rate, _ in measured) for kind, measured in found.items()}
        yield _beside("Ray / processes, 2 workers each", best[RAY] / best[PROCESSES], GOAL_OF_RAY)


# --- the command line ------------------------------------------------------------------------------------------------


def _beside(name: str, value: float, goal: float, *, most: bool = False) -> str:
    """A number beside its goal."""
    reached = "reached" if (value <= goal if most else value >= goal) else "MISSED"
    return f"{name:<36} {value:10.2f}   goal at {'most' if most else 'least'} {goal:g}: {reached}"


def _parser() -> argparse.ArgumentParser:
    """The commands."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("ranks", "rank"):
        ranks = commands.add_parser(name, help="one and two ranks" if name == "ranks" else "what `ranks` starts")
        ranks.add_argument("--config", type=Path, default=ROOT / "configs" / "selfplay.toml", help="settings")
        ranks.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE", help="keys to set anew")
        ranks.add_argument("--rounds", type=int, default=15, help="the best of so many counts (%(default)s)")
        ranks.add_argument("--out", type=Path, metavar="FILE", help="keep the figures for `model`")
    executors = commands.add_parser("executors", help="processes and Ray")
    executors.add_argument("--rounds", type=int, default=3, help="the best of so many counts (%(default)s)")
    executors.add_argument("--tasks", type=int, default=16, help="of a round (%(default)s)")
    executors.add_argument("--blocks", type=int, default=4096, help="of a task (%(default)s)")
    model = commands.add_parser("model", help="more ranks, foretold")
    model.add_argument("figures", type=Path, nargs="?", default=FIGURES, help="what `ranks --out` kept")
    model.add_argument("--gigabit", type=float, default=10.0, help="of the network, a second (%(default)s)")
    model.add_argument("--latency", type=float, default=50.0, help="of a message, in microseconds (%(default)s)")
    model.add_argument("--samples", type=float, help="a second of one rank, such as a GPU's; as kept when left out")
    model.add_argument("--deals", type=int, help="of an iteration of one rank; as kept when left out")
    model.add_argument("--minibatch", type=int, help="of one rank; as kept when left out")
    model.add_argument("--bytes", type=int, help="of gradients a step; as kept when left out")
    model.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 8, 64, 200, 800], help="how many")
    return parser


def read_figures(file: Path) -> Figures:
    """The inverse of what `ranks --out` writes."""
    return Figures(**json.loads(file.read_text(encoding="utf-8")))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure or foretell, and print; returns the exit code, 1 when a goal was missed."""
    options = _parser().parse_args(arguments)
    if options.command == "rank":
        work_as_rank(options)
        return 0
    if options.command == "model":
        given = {"samples": options.samples, "deals": options.deals, "minibatch": options.minibatch}
        given |= {"bytes_a_step": options.bytes}
        figures = read_figures(options.figures)
        figures = dataclasses.replace(figures, **{name: value for name, value in given.items() if value is not None})
        network = Network(options.gigabit * 1e9 / 8, options.latency / 1e6)
        told = list(table(figures, network, options.ranks))
        told.append(f"half the efficiency is left at {last_efficient(figures, network):,} ranks")
    elif options.command == "ranks":
        measured, told = measure_ranks(options)
        if options.out is not None:
            options.out.write_text(json.dumps(dataclasses.asdict(measured), indent=1) + "\n", encoding="utf-8")
    else:
        told = list(measure_executors(options))
    with contextlib.suppress(BrokenPipeError):
        print("\n".join(told))
    return int(any("MISSED" in line for line in told))


if __name__ == "__main__":
    sys.exit(main())
