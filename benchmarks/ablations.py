"""What each part of the learner is worth: `python -m benchmarks.ablations --dir DIR [ARM ...]`.

An *arm* is the default preset with a few keys set anew. Each is trained from the same seeds on as many deals, and
its last network is measured, drawn actions, as one seat among three rule bots on deals that no run was trained on.
Printed is the mean over seeds with a t interval, and what it differs from the default's, seed by seed, with one.

Runs already in DIR are not trained again, so that the same command goes on where it was stopped.
"""

import argparse
import contextlib
import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from agents.arena import play_blocks
from agents.commands.options import Parser, folder, integer
from agents.config import Config, read_config
from agents.executors import map_unordered
from agents.files import obstacle, replace_file
from agents.policy import load_policy
from agents.progress import Progress
from agents.statistics import estimate

ROOT = Path(__file__).parent.parent
PRESET = ROOT / "configs" / "selfplay.toml"
DEALS, SEEDS, BLOCKS = 60_000, 5, 6_000
FIRST_SEED, HELD_OUT_SEED = 101, 20261130
DEFAULT = "default"
_RESULT = "result.json"
_CRITIC = ("learn.advantages=critic", "learn.minibatch=1024")

ARMS: dict[str, tuple[str, ...]] = {
    DEFAULT: (),
    "no entropy": (
        "learn.entropy=0",
        "learn.entropy_end=0",
        "learn.stay_or_pass_entropy=0",
        "learn.stay_or_pass_entropy_end=0",
    ),
    "little entropy throughout": ("learn.entropy=0.005", "learn.entropy_end=0.005"),
    "four times the entropy": ("learn.entropy=0.4", "learn.entropy_end=0.02"),
    "no entropy of its own for the declaration": (
        "learn.stay_or_pass_entropy=0",
        "learn.stay_or_pass_entropy_end=0",
    ),
    "hidden layers foretell the deal": ("learn.foretelling=0.5",),
    "plain head": ("network.head=plain",),
    "nobody plays at random": ("rollout.random_share=0",),
    "rule bots in a quarter of the deals": ("rollout.heuristic_share=0.25",),
    "pool": ("league.share=0.2", "league.every=10"),
    "pool and exploiter": (
        "league.share=0.2",
        "league.every=10",
        "league.exploiter_every=4",
        "league.exploiter_life=10",
    ),
    "width 128": ("network.actor_width=128",),
    "width 512": ("network.actor_width=512",),
    "critic": _CRITIC,
    "critic that sees what the actor sees": (*_CRITIC, "network.privileged_critic=false"),
    "critic, lambda 0.95": (*_CRITIC, "learn.gae_lambda=0.95"),
    "critic, forced decisions kept": (*_CRITIC, "rollout.forced_decisions=true"),
}
"""Keys that each arm sets anew."""


@dataclass(frozen=True, slots=True)
class Run:
    """One network to train and measure, in a folder of its own."""

    arm: str
    seed: int
    deals: int
    blocks: int
    folder: Path

    def config(self) -> Config:
        """Its settings."""
        own = [
            f"run.seed={self.seed}",
            f"run.deals={self.deals}",
            "run.minutes=none",
            "run.threads=1",
            "run.device=cpu",
            "run.keep=0",
            "run.pictures_every=0",
            f"run.checkpoint_every={10**6}",
            "evaluation.times=1",
            "evaluation.blocks=2",
            "evaluation.final_blocks=0",
        ]
        return read_config(PRESET, [*own, *ARMS[self.arm]])

    @property
    def is_done(self) -> bool:
        """Whether its result is there."""
        return (self.folder / _RESULT).is_file()

    def result(self) -> dict[str, float]:
        """What was measured."""
        found: dict[str, float] = json.loads((self.folder / _RESULT).read_text(encoding="utf-8"))
        return found


def work(run: Run) -> None:
    """Train a network, measure it, and leave the result in its folder."""
    from agents.trainer import LAST, Trainer  # torch is loaded only when there is something to train

    shutil.rmtree(run.folder, ignore_errors=True)
    run.folder.mkdir(parents=True)
    trainer = Trainer(run.config(), run.folder, warn=print)
    try:
        trainer.warm_up()
        trainer.run(stop=lambda: False, report=lambda _: None)
    finally:
        trainer.close()
    policy = load_policy(str(run.folder / LAST))
    means = {
        name: play_blocks(
            trainer.games[0], policy, load_policy(name), seed=HELD_OUT_SEED, deal_ids=np.arange(run.blocks)
        ).block_means.mean()
        for name in ("heuristic", "random")
    }
    found = {**means, "minutes": trainer.counters.minutes, "deals": trainer.counters.deals}
    replace_file(run.folder / _RESULT, (json.dumps(found) + "\n").encode())


def table(results: Mapping[str, Sequence[Mapping[str, float]]]) -> Iterator[str]:
    """The results of each arm by seed as a Markdown table."""
    yield "| arm | against 3 rule bots | less the default's, seed by seed | against 3 random |"
    yield "|---|---|---|---|"
    default = results.get(DEFAULT)
    for arm, runs in results.items():
        heuristic = np.array([run["heuristic"] for run in runs])
        differs = ""
        if default is not None and arm != DEFAULT:
            differs = _told(heuristic - np.array([run["heuristic"] for run in default]))
        yield f"| {arm} | {_told(heuristic)} | {differs} | {np.mean([run['random'] for run in runs]):+.3f} |"


def _told(values: np.ndarray) -> str:
    """A mean over seeds with its t interval."""
    if len(values) < 2:
        return f"{values.mean():+.3f}"
    found = estimate(values, seed=0)
    return f"{found.mean:+.3f} ({found.t_low:+.3f} to {found.t_high:+.3f})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Train what is missing, and print."""
    parser = Parser(prog="ablations", description=__doc__.split("\n", 1)[0], allow_abbrev=False)
    at_least_one = integer(1, None)
    parser.add_argument("arms", nargs="*", metavar="ARM", help=f"some of: {'; '.join(ARMS)}")
    parser.add_argument("--dir", type=folder, required=True, help="folder of the runs")
    parser.add_argument("--deals", type=at_least_one, default=DEALS, help="training deals of a run (%(default)s)")
    parser.add_argument("--seeds", type=at_least_one, default=SEEDS, help="runs of an arm (%(default)s)")
    parser.add_argument(
        "--blocks", type=at_least_one, default=BLOCKS, help="deals of a measurement, each from every seat"
    )
    parser.add_argument("--workers", type=at_least_one, default=1, help="runs at a time (%(default)s)")
    options = parser.parse_args(arguments)
    unknown = [arm for arm in options.arms if arm not in ARMS]
    if unknown:
        parser.error(f"no arm is called {unknown[0]!r}; known are {'; '.join(ARMS)}")
    if problem := obstacle(options.dir):
        parser.error(f"--dir: {problem}")
    arms = options.arms or list(ARMS)
    runs = {arm: [_run(options, arm, FIRST_SEED + number) for number in range(options.seeds)] for arm in arms}
    # seed by seed, so that a sweep that is stopped has something of every arm
    missing = [runs[arm][number] for number in range(options.seeds) for arm in arms if not runs[arm][number].is_done]
    with Progress(len(missing), "runs", sys.stderr) as progress:
        for _ in map_unordered(work, missing, workers=options.workers):
            progress.add(1)
    with contextlib.suppress(BrokenPipeError):
        print("\n".join(table({arm: [run.result() for run in runs[arm]] for arm in arms})))
    return 0


def _run(options: argparse.Namespace, arm: str, seed: int) -> Run:
    """A run of an arm; the folder names what decides its result."""
    name = f"{arm.replace(' ', '_').replace(',', '')}-{options.deals}-{options.blocks}"
    return Run(arm, seed, options.deals, options.blocks, options.dir / name / str(seed))


if __name__ == "__main__":
    sys.exit(main())
