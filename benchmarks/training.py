"""How fast the trainer is, beside its networks alone and beside another library: `python -m benchmarks.training`.

* **Networks alone**: the same networks in a loop of nothing but asking and learning, on decisions of the same deals
  that lie ready as tensors, with the fewest operations that give the same gradients.
* **SB3-contrib**: MaskablePPO on our Gymnasium environment with random opponents, networks of the same size, as many
  samples, epochs and minibatches an iteration. It runs in an interpreter of its own (`make test-adapters ADAPTERS=sb3`
  makes one); without it that comparison is left out.

Everything takes turns in one run and is measured in CPU seconds of one thread, so that other work on the machine
changes little. A sample is a decision with a choice of a deal that was learned from; decisions after other actions of
pairs cost time and are not counted. Our environment also shows forced decisions, which the trainer's engine plays by
itself, and MaskablePPO spends steps on them.
"""

import argparse
import copy
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from agents.config import Config, read_config
from agents.device import device_of, legal_mask, packed_rows, rows_at_a_time, sent
from agents.metrics import Stopwatch
from agents.pair_learner import PairBatch
from agents.pairs import Pairs
from agents.policy import uniform_numbers
from agents.pot_credit import PotCredit
from agents.ppo import Minibatch, clipped_policy_loss, critic_loss
from agents.rollout import Rollout
from agents.threads import Threads
from agents.trainer import Trainer, training_deals
from bourre_env.deck import stream_keys

ROOT = Path(__file__).parent.parent
SB3_PYTHON = ROOT / ".venv-adapters" / "sb3" / "bin" / "python"
SB3_SCRIPT = Path(__file__).with_name("sb3_trainer.py")
GOAL_OF_NETWORKS, GOAL_OF_SB3, MOST_OF_ENGINE = 0.85, 10.0, 0.05
_WARM_UP = 2  # iterations that do not count
_SHARE = "speed/share_"


@dataclass(frozen=True, slots=True)
class Speed:
    """What was measured; samples per CPU second.

    Attributes:
        trainer: from one iteration to the next.
        networks: asking and learning alone.
        ratio: of the two, taken iteration by iteration.
        shares: of the trainer's time by kind of work.
        sb3: the other library's "samples" and "steps"; nothing when it was left out.
    """

    trainer: float
    networks: float
    ratio: float
    shares: dict[str, float]
    sb3: dict[str, float]


class NetworksAlone:
    """The networks of a trainer, copied, and a loop of nothing but asking and learning."""

    def __init__(self, trainer: Trainer) -> None:
        """Copy the networks as they are now."""
        self.config = trainer.config.learn
        self.actor, self.critic = copy.deepcopy(trainer.learner.actor), copy.deepcopy(trainer.learner.critic)
        self._optimizers: dict[nn.Module, torch.optim.Adam] = {
            network: torch.optim.Adam(network.parameters(), self.config.learning_rate_end, fused=True)
            for network in (self.actor, self.critic)
            if network is not None
        }

    def work(self, rollout: Rollout) -> Callable[[], None]:
        """One iteration over the decisions of a rollout, which are laid ready now."""
        device = device_of(self.actor)
        chunk = rows_at_a_time(device)
        rows = np.resize(np.arange(len(rollout)), rollout.asked)  # some again, in place of those after other actions
        uniforms = sent(uniform_numbers(stream_keys(1, rows)), device)
        legal = legal_mask(rollout.legal[rows], self.actor.spec.num_actions, device)
        words = packed_rows(rollout.words[rows, : rollout.num_words], device)
        asked = [
            (words[start : start + chunk], legal[start : start + chunk], uniforms[start : start + chunk])
            for start in range(0, len(rows), chunk)
        ]
        learning = self._learning(rollout, device) if rollout.pairs is None else self._learning_pairs(rollout.pairs)

        def iteration() -> None:
            with torch.inference_mode():
                for observation, allowed, numbers in asked:
                    distribution = self.actor(observation, allowed)
                    distribution.log_prob(distribution.sample(numbers))
            learning()

        return iteration

    def _learning(self, rollout: Rollout, device: torch.device) -> Callable[[], None]:
        """What is learned from single decisions, by actor and critic."""
        critic = self.critic
        assert critic is not None
        rows, chunk = np.arange(len(rollout)), rows_at_a_time(device)
        advantages = ((rollout.rewards - rollout.rewards.mean()) / rollout.rewards.std()).astype(np.float32)
        seen_by_critic = packed_rows(rollout.words, device)
        minibatches = [
            (
                Minibatch.of(rollout, advantages, part, self.actor.spec, device),
                packed_rows(rollout.words[part], device),
                sent(rollout.rewards[part], device),
            )
            for part in np.array_split(rows, -(-len(rows) // self.config.minibatch))
        ]

        def learning() -> None:
            with torch.inference_mode():
                for start in range(0, len(rows), chunk):
                    critic(seen_by_critic[start : start + chunk])
            for _ in range(self.config.epochs):
                for batch, seen, results in minibatches:
                    distribution = self.actor(batch.observation, batch.legal)
                    ratio = (distribution.log_prob(batch.actions) - batch.log_probs).exp()
                    choice, inside = distribution.entropy_in_two_steps(self.actor.groups)
                    loss = clipped_policy_loss(ratio, batch.advantages, self.config.clip)
                    self._step(self.actor, loss - 0.01 * (choice + inside).mean())
                    self._step(critic, critic_loss(critic(seen), results, self.config.huber))

        return learning

    def _learning_pairs(self, pairs: Pairs) -> Callable[[], None]:
        """What is learned from pairs, by the actor."""
        rows, device = np.arange(len(pairs)), device_of(self.actor)
        minibatches = [
            PairBatch.of(pairs, pairs.gains, part, self.actor.spec, device)
            for part in np.array_split(rows, max(1, -(-len(rows) // self.config.minibatch)))
        ]

        def learning() -> None:
            for _ in range(self.config.epochs):
                for batch in minibatches:
                    distribution = self.actor(batch.observation, batch.legal)
                    ratio = (distribution.log_probs.gather(1, batch.actions) - batch.log_probs).exp()
                    cost = torch.add(*distribution.surprises(batch.actions, self.actor.groups))
                    gains = batch.gains - 0.01 * (cost[:, 0] - cost[:, 1])
                    both = torch.stack([gains, -gains], dim=1).flatten()
                    self._step(self.actor, clipped_policy_loss(ratio.flatten(), both, self.config.clip))

        return learning

    def _step(self, network: nn.Module, loss: torch.Tensor) -> None:
        """Down the gradient."""
        self._optimizers[network].zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(network.parameters(), self.config.gradient_norm)
        self._optimizers[network].step()


class Measured:
    """A trainer that is measured iteration by iteration, in turns with its networks alone."""

    def __init__(self, config: Config, folder: Path) -> None:
        """Start a run in a folder and warm up."""
        self.rates: dict[str, list[float]] = {"trainer": [], "networks": [], "ratio": []}
        self.shares: list[dict[str, float]] = []
        self._trainer, self._deals, self._threads = (
            Trainer(config, folder, warn=print),
            training_deals(config),
            Threads(1),
        )
        self._trainer.warm_up()
        self._alone = NetworksAlone(self._trainer)
        for _ in range(_WARM_UP):
            self.iterate(counts=False)

    def iterate(self, *, counts: bool = True) -> None:
        """One iteration of both over the same deals."""
        done = self._trainer.counters
        first, decisions = done.deals, done.decisions
        seconds, values = cpu_seconds(self._trainer.iterate)
        rollout = self._deals.play(
            self._trainer.learner.actor,
            np.arange(first, done.deals),
            in_play=len(self._deals.sizes),
            credit=PotCredit(),
            threads=self._threads,
            watch=Stopwatch(),
            pairs=self._trainer.config.learns_from_pairs,
        )
        alone_seconds, _ = cpu_seconds(self._alone.work(rollout))
        if counts:
            trainer, networks = (done.decisions - decisions) / seconds, len(rollout) / alone_seconds
            for name, rate in (("trainer", trainer), ("networks", networks), ("ratio", trainer / networks)):
                self.rates[name].append(rate)
            self.shares.append({tag: value for tag, value in values.items() if tag.startswith(_SHARE)})

    def speed(self, sb3: list[dict[str, float]]) -> Speed:
        """Medians over the iterations, and means of the shares."""
        rates = {name: statistics.median(values) for name, values in self.rates.items()}
        shares = {
            tag.removeprefix(_SHARE): statistics.fmean(share[tag] for share in self.shares) for tag in self.shares[0]
        }
        others = {name: statistics.median(rate[name] for rate in sb3) for name in sb3[0]} if sb3 else {}
        return Speed(**rates, shares=shares, sb3=others)

    def close(self) -> None:
        """End the run."""
        self._trainer.close()


def measured_sb3(python: Path, config: Config, seconds: float) -> dict[str, float]:
    """Steps and samples per CPU second of MaskablePPO, measured by another interpreter.

    Raises:
        subprocess.CalledProcessError: it failed.
    """
    asked = {
        "num_players": config.sizes[0],
        "rules": config.rules.preset,
        "actor": [config.network.actor_width] * config.network.actor_layers,
        "critic": [config.network.critic_width] * config.network.critic_layers,
        "epochs": config.learn.epochs,
        "minibatch": config.learn.minibatch,
        "seconds": seconds,
    }
    command = [str(python), str(SB3_SCRIPT), json.dumps(asked)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT)
    rates: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return rates


def cpu_seconds(work: Callable[[], "dict[str, float] | None"]) -> tuple[float, "dict[str, float]"]:
    """CPU seconds of this process for some work, and what it returned."""
    start = time.process_time()
    values = work()
    return time.process_time() - start, values or {}


def lines(speed: Speed) -> Iterator[str]:
    """What was measured, beside the goals."""
    yield f"trainer, end to end          {speed.trainer:10,.0f} samples per CPU second"
    yield f"its networks alone           {speed.networks:10,.0f}"
    yield _beside("trainer / networks alone", speed.ratio, "at least", GOAL_OF_NETWORKS)
    yield _beside("engine's share of the time", speed.shares["engine"], "at most", MOST_OF_ENGINE)
    rest = 1 - sum(speed.shares.values())
    named = ", ".join(f"{work} {share:.1%}" for work, share in [*speed.shares.items(), ("other", rest)])
    yield f"the trainer's time           {named}"
    if not speed.sb3:
        yield "SB3-contrib                  not measured; --sb3 names an interpreter that has it"
    else:
        samples, steps = speed.sb3["samples"], speed.sb3["steps"]
        yield f"SB3-contrib MaskablePPO      {samples:10,.0f} ({steps:,.0f} steps, forced ones too)"
        yield _beside("trainer / SB3-contrib", speed.trainer / samples, "at least", GOAL_OF_SB3)


def _beside(name: str, value: float, word: str, goal: float) -> str:
    """A ratio beside its goal."""
    reached = value >= goal if word == "at least" else value <= goal
    return f"{name:<28} {value:10.3f}   goal {word} {goal:g}: {'reached' if reached else 'MISSED'}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code, 1 when a goal was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, default=ROOT / "configs" / "selfplay.toml", help="settings to train by")
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE", help="keys to set anew")
    parser.add_argument("--rounds", type=int, default=3, help="turns of the trainer and MaskablePPO, at least 1")
    parser.add_argument("--iterations", type=int, default=4, help="iterations of the trainer in a round, at least 1")
    parser.add_argument("--sb3", type=Path, metavar="PYTHON", help=f"an interpreter with sb3_contrib ({SB3_PYTHON})")
    parser.add_argument("--sb3-seconds", type=float, default=10.0, help="CPU seconds for MaskablePPO in a round")
    options = parser.parse_args(arguments)
    config = read_config(options.config, [*options.set, "run.threads=1"])
    python = options.sb3 or (SB3_PYTHON if SB3_PYTHON.exists() else None)
    sb3 = []
    with tempfile.TemporaryDirectory() as folder:
        measured = Measured(config, Path(folder))
        for _ in range(max(1, options.rounds)):
            for _ in range(max(1, options.iterations)):
                measured.iterate()
            if python is not None:
                sb3.append(measured_sb3(python, config, options.sb3_seconds))
        measured.close()
    told = list(lines(measured.speed(sb3)))
    print("\n".join(told))
    return int(any("MISSED" in line for line in told))


if __name__ == "__main__":
    sys.exit(main())
