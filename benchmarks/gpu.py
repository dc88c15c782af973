"""What a CUDA GPU brings, in under ten minutes: `python -m benchmarks.gpu`.

* **Right**: a network trained on the GPU and saved gives the same probabilities on the processor, and the one that goes
  on from there the same on the GPU again, within float32 rounding.
* **Fast**: samples a second of the trainer with the engine on 1, 4 and 16 threads, the shares of the time, and the
  ratio to its networks alone. By the clock, since the GPU spends no CPU seconds; the machine should be idle.

`--device cpu` goes through the same steps without a GPU, to try the script out.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from agents.config import Config, read_config
from agents.device import CPU, choose_device, device_of, legal_mask, packed_rows
from agents.executors import usable_cores
from agents.metrics import Stopwatch
from agents.network import Actor
from agents.neural import NetworkPolicy
from agents.policy import load_policy
from agents.pot_credit import PotCredit
from agents.rollout import Rollout
from agents.threads import Threads
from agents.trainer import LAST, Trainer, training_deals
from benchmarks.training import NetworksAlone

ROOT = Path(__file__).parent.parent
THREADS = (1, 4, 16)
TOLERANCE = 2e-4  # of probabilities; float32 sums in another order
_WARM_UP = 2  # iterations that do not count


@dataclass(frozen=True, slots=True)
class Speed:
    """What was measured with so many threads.

    Attributes:
        threads: of the engine.
        samples: decisions played and learned from a second.
        ratio: to the networks alone.
        shares: of the time by kind of work.
    """

    threads: int
    samples: float
    ratio: float
    shares: dict[str, float]


def largest_difference(actor: Actor, other: Actor, rollout: Rollout) -> float:
    """Largest difference between the probabilities that two actors, on any devices, give legal actions."""
    ours, theirs = (probabilities(network, rollout) for network in (actor, other))
    return float(np.abs(ours - theirs).max())


@torch.inference_mode()
def probabilities(actor: Actor, rollout: Rollout) -> "np.ndarray[tuple[int, ...], np.dtype[np.float32]]":
    """[D, A] float32 of the decisions of a rollout."""
    device = device_of(actor)
    words = packed_rows(rollout.words[:, : rollout.num_words], device)
    found: np.ndarray[tuple[int, ...], np.dtype[np.float32]] = (
        actor(words, legal_mask(rollout.legal, actor.spec.num_actions, device)).probs.cpu().numpy()
    )
    return found


def there_and_back(config: Config, folder: Path) -> list[tuple[str, float]]:
    """Train on the device, load the checkpoint here, go on here, and go on there again.

    Returns:
        Steps in words, each with the largest difference between probabilities before and after it.
    """
    run = folder / "run"
    run.mkdir()
    trainer = Trainer(config, run, warn=_say)
    trainer.iterate()
    trainer.save()
    rollout = _rollout(trainer)
    saved = load_policy(str(run / LAST))
    assert isinstance(saved, NetworkPolicy)
    found = [("checkpoint of the device, loaded on the processor", saved.actor)]
    differences = [(words, largest_difference(trainer.learner.actor, actor, rollout)) for words, actor in found]
    trainer.close()
    for words, place in (("state of the device, taken up on the processor", "cpu"), ("and back", config.run.device)):
        before = trainer.learner.actor
        trainer = Trainer(_on(config, place), run, warn=_say, resume=True)
        differences.append((words, largest_difference(before, trainer.learner.actor, rollout)))
        trainer.iterate()
        trainer.save()
        trainer.close()
    return differences


def measured(config: Config, threads: int, seconds: float, folder: Path) -> Speed:
    """Iterations of a trainer for some seconds, then its networks alone on deals like its own."""
    folder.mkdir()
    trainer = Trainer(_with_threads(config, threads), folder, warn=_say)
    trainer.warm_up()
    for _ in range(_WARM_UP):
        trainer.iterate()
    done = trainer.counters
    values: list[dict[str, float]] = []
    before, end = done.decisions, time.monotonic() + seconds
    start = time.monotonic()
    while not values or time.monotonic() < end:
        values.append(trainer.iterate())
    samples = (done.decisions - before) / _since(start, trainer)
    rollout = _rollout(trainer)
    work = NetworksAlone(trainer).work(rollout)
    work()
    alone = len(rollout) / min(_clocked(work, trainer) for _ in range(3))
    trainer.close()
    shares = {
        tag.removeprefix("speed/share_"): float(np.mean([value[tag] for value in values]))
        for tag in values[0]
        if tag.startswith("speed/share_")
    }
    return Speed(threads, samples, samples / alone, shares)


def _clocked(work: Callable[[], None], trainer: Trainer) -> float:
    """Seconds of some work, the GPU's included."""
    start = time.monotonic()
    work()
    return _since(start, trainer)


def _since(start: float, trainer: Trainer) -> float:
    """Seconds since a moment, once the device has done what it was given."""
    if device_of(trainer.learner.actor) != CPU:
        torch.cuda.synchronize()
    return time.monotonic() - start


def _rollout(trainer: Trainer) -> Rollout:
    """Deals of one iteration, which are not learned from."""
    deals = training_deals(trainer.config)
    return deals.play(
        trainer.learner.actor,
        np.arange(trainer.config.rollout.deals),
        in_play=len(deals.sizes),
        credit=PotCredit(),
        threads=Threads(1),
        watch=Stopwatch(),
        pairs=trainer.config.learns_from_pairs,
    )


def _on(config: Config, device: str) -> Config:
    """Settings for another device."""
    return config.model_copy(update={"run": config.run.model_copy(update={"device": device})})


def _with_threads(config: Config, threads: int) -> Config:
    """Settings for so many threads."""
    return config.model_copy(update={"run": config.run.model_copy(update={"threads": threads})})


def lines(differences: list[tuple[str, float]], speeds: Sequence[Speed]) -> Iterator[str]:
    """What was found, in words."""
    for words, difference in differences:
        verdict = "right" if difference <= TOLERANCE else "WRONG"
        yield f"{words:<50} probabilities differ by {difference:.1e} at most: {verdict}"
    yield f"{'engine threads':<16}{'samples/s':>12}{'of networks alone':>20}   share of the time"
    for speed in speeds:
        shares = ", ".join(f"{work} {share:.1%}" for work, share in speed.shares.items())
        yield f"{speed.threads:<16}{speed.samples:>12,.0f}{speed.ratio:>20.3f}   {shares}"


def _say(text: str) -> None:
    """A warning of the trainer."""
    print(text, file=sys.stderr)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code, 1 when a network changed on its way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, default=ROOT / "configs" / "gpu.toml", help="settings to train by")
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE", help="keys to set anew")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="where (%(default)s)")
    parser.add_argument("--seconds", type=float, default=30.0, help="for each number of threads (%(default)s)")
    options = parser.parse_args(arguments)
    config = read_config(options.config, [*options.set, f"run.device={options.device}", "run.pictures_every=0"])
    device = choose_device(options.device)
    name = torch.cuda.get_device_name(device) if device != CPU else "no GPU"
    print(f"{name}, {usable_cores()} cores, torch {torch.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        differences = there_and_back(config, Path(folder))
        counts = sorted({min(threads, usable_cores()) for threads in THREADS})
        speeds = [measured(config, count, options.seconds, Path(folder) / str(count)) for count in counts]
    told = list(lines(differences, speeds))
    print("\n".join(told))
    return int(any("WRONG" in line for line in told))


if __name__ == "__main__":
    sys.exit(main())
