"""How training and tournaments grow with ranks and workers: `python -m benchmarks.scaling ranks|executors|model`.

* `ranks` measures one and two ranks on two cores, one thread each, which take turns (`benchmarks.ranks`), the best of
  several rounds; two runs side by side that know nothing of each other, which is what the machine has to give; what an
  all-reduce costs; and how long a two-rank run takes to start. `--out` keeps the figures.
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
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from agents.config import Config, read_config
from agents.entrants import Entrant
from agents.executors import PROCESSES, RAY, Workers, map_unordered
from agents.metrics import Stopwatch
from agents.results import Terms
from agents.tournament import BlockTask, play_task
from benchmarks.ranks import ROOT, Run, in_turns, paired, work_as_rank
from bourre_env import Rules

FIGURES = Path(__file__).with_name("scaling.json")
GOAL_OF_RANKS, GOAL_OF_RAY, MOST_TO_START = 1.8, 0.9, 20.0
_STRANGERS = ("strangers", "stranger")
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
    batch = {"rollout.deals": config.rollout.deals, "learn.minibatch": config.learn.minibatch}
    own = [given for given in options.set if given.partition("=")[0] not in batch]
    single, double = (
        ["--config", str(options.config), "--set", *own, *(f"{key}={factor * value}" for key, value in batch.items())]
        for factor in (1, 2)
    )
    runs = in_turns({"one": (1, single), "half": (2, single), "whole": (2, double)}, options.rounds)
    one = runs["one"]
    rate, cpu_rate = max(one.values("rate")), max(one.values("cpu_rate"))
    told = [f"1 rank{rate:41,.0f} samples/s, {cpu_rate:,.0f} a CPU second"]
    for name in ("half", "whole"):
        best, best_cpu = max(runs[name].values("rate")), max(runs[name].values("cpu_rate"))
        told.append(f"2 ranks, a {name:<5} batch each{best:24,.0f} samples/s, {best_cpu:,.0f} a CPU second of each")
        told.append(_beside(f"2 ranks / 1 rank, {name} batch", best / rate, GOAL_OF_RANKS))
        beside = paired(runs[name].values("rate"), one.values("rate"))
        told.append(f"the same, median of rounds{beside:21.2f}   {options.rounds} rounds, in turns")
        told.append(f"the same by CPU time{best_cpu / cpu_rate:27.2f}   if neither had to wait for a core or the other")
    strangers = [sum(both) for both in zip(*(runs[name].values("rate") for name in _STRANGERS), strict=True)]
    beside = paired(strangers, one.values("rate"))
    told.append(f"2 runs side by side / 1 run{beside:20.2f}   median of rounds: what the machine has to give")
    number, gradients = runs["half"].summary["reduced"]
    size = runs["half"].summary["bytes"]
    told.append(f"all-reduce: {1e6 * number:,.0f} µs for a number, {1e3 * gradients:.2f} ms for {size:,} bytes")
    told.append(_beside("start of a two-rank run, seconds", seconds_to_start(options.config), MOST_TO_START, most=True))
    return _figures(config, one, rate), told


def _figures(config: Config, one: Run, rate: float) -> Figures:
    """What the model needs, from one rank."""
    decisions_a_deal = one.summary["decisions_a_deal"]
    return Figures(
        samples=rate,
        shuffle_seconds=shuffle_seconds(networks=1 if config.learns_from_pairs else 2),
        engine_samples=rate / statistics.median(one.values("engine")),
        decisions_a_deal=decisions_a_deal,
        rows_a_deal=decisions_a_deal * statistics.mean(one.values("learned")),
        bytes_a_step=one.summary["bytes"],
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
