"""A training run: play deals, learn from them, measure, save; from a config to a run folder and back.

A run folder holds `config.toml`, `last.safetensors` and `best.safetensors` (to play with), `trainer.pt` (only to go on
training: it is complete in itself and read with `weights_only=True`), `metrics.jsonl` and TensorBoard's files.
"""

import contextlib
import io
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agents.arena import play_blocks, stream_seed
from agents.checkpoint import CheckpointError, Header, load_checkpoint, save_checkpoint, source_commit
from agents.config import Config
from agents.files import replace_file
from agents.metrics import MetricsLog, Stopwatch, describe_rollout, tags_as_table
from agents.network import NetworkSpec
from agents.neural import NetworkPolicy
from agents.policy import Policy, load_policy
from agents.pot_credit import PotCredit
from agents.ppo import Learner, Weights
from agents.rollout import Opponents, SelfPlay, StartingPots, StartingStacks
from agents.statistics import Estimate, estimate
from agents.table_sizes import TrainingDeals
from agents.threads import Threads
from bourre_env.bourre.observation import layout
from bourre_env.bourre.rules import Rules

STATE_FILE = "trainer.pt"
LAST, BEST = "last.safetensors", "best.safetensors"
YARDSTICKS = ("random", "heuristic")
TARGET = "target"  # what tags call the policy that a best response is trained against

_WEIGHT_STREAM = "training: weights at the start"
_MINIBATCH_STREAM = "training: minibatches"
_EVALUATION_STREAM = "training: evaluation"


@dataclass(slots=True)
class Counters:
    """How far a run has come; plain numbers, saved with the networks.

    Attributes:
        iteration: iterations done.
        deals: training deals played.
        decisions: decisions learned from.
        minutes: time spent in all, evaluations included, in every session of the run.
        evaluations: evaluations done.
        best: mean of the best evaluation in antes a deal; None before the first.
    """

    iteration: int = 0
    deals: int = 0
    decisions: int = 0
    minutes: float = 0.0
    evaluations: int = 0
    best: float | None = None


class Trainer:
    """One training run.

    Everything random is a pure function of `run.seed` and the counters, so a run is exactly the networks, their
    optimisers and the counters, and going on from a saved state is the same as never having stopped.

    Attributes:
        config: the settings.
        folder: the run folder.
        games: the rules that are learned, one value for each table size.
        counters: how far the run has come.
        learner: the networks.
        credit: whose the pots are that deals leave behind.
        yardsticks: the policies that strength is measured against, by name; the last decides which checkpoint is best.
        strength: results of the last evaluation by yardstick.
        saved: whether the last state and checkpoint could be written.
    """

    def __init__(self, config: Config, folder: Path, *, warn: Callable[[str], None], resume: bool = False) -> None:
        """Make a new run in an existing folder, or take up the one that is there.

        Args:
            config: the settings.
            folder: the run folder.
            warn: told about what went wrong without stopping the run.
            resume: take up the run in the folder.

        Raises:
            CheckpointError: there is nothing to resume, or it does not fit the settings.
        """
        self.config, self.folder, self._warn = config, folder, warn
        self.games = config.games()
        self.yardsticks = yardsticks(config)
        self.chosen_by = list(self.yardsticks)[-1]
        self.counters = Counters()
        self.strength: dict[str, Estimate] = {}
        self.saved = False
        self._threads = Threads(config.run.threads)
        self.credit = PotCredit(config.rollout.carry_credit == "by_seat", config.rollout.ante_credit)
        self._deals = training_deals(config)
        self.learner = Learner(network_spec(config), config.learn, seed=stream_seed(config.run.seed, _WEIGHT_STREAM))
        self._layout = layout(self.games[0], config.seats_shown).hash
        self._commit = source_commit()
        if resume:
            self._load_state()
            self._check_best()
            _remove_unfinished(folder)
        self.log = MetricsLog(folder, warn=warn, resume_at=self.counters.deals if resume else None)
        if not resume:
            self.save()  # from the first moment on there is something to resume
            self.log.add_text("config", f"```toml\n{config.to_toml()}```")
            self.log.add_text("tags", tags_as_table())
        self._clock = time.monotonic()

    # --- the run ---

    def warm_up(self) -> None:
        """Play a deal of each kind and forget it: what is compiled at its first use must not cost training time."""
        for deals in self._deals.sizes:
            deals.play(self.learner.actor, np.arange(1), threads=self._threads, watch=Stopwatch())
        for policy in self.yardsticks.values():
            play_blocks(self.games[0], policy, policy, seed=0, deal_ids=[0], buy_in=self.config.buy_in)

    def run(self, *, stop: Callable[[], bool], report: Callable[[dict[str, float]], None]) -> None:
        """Train until the budget is spent; the state is saved on the way and at the end.

        Args:
            stop: asked before each iteration whether to stop there.
            report: told the values of each iteration, those of an evaluation included.

        Raises:
            DivergedError: the loss is not finite any more; the checkpoints of before are kept.
        """
        self._clock = time.monotonic()
        while self.progress < 1 and not stop():
            values = self.iterate()
            evaluates = self._evaluations_due > self.counters.evaluations
            if evaluates:
                values |= self.evaluate()
            self.record(values)
            if evaluates or self.counters.iteration % self.config.run.checkpoint_every == 0:
                self.save()
            report(values)
        self.saved = self.save()

    @property
    def progress(self) -> float:
        """Share of the budget that is spent, 0 to 1; 1 ends the run."""
        run, done = self.config.run, self.counters
        shares = [done.deals / run.deals] if run.deals is not None else []
        if run.minutes is not None:
            shares.append(done.minutes / run.minutes)
        return min(1.0, max(shares))

    def iterate(self) -> dict[str, float]:
        """Play deals and learn from them.

        Returns:
            Values by tag.

        Raises:
            DivergedError: the loss is not finite any more; the networks are of no use.
        """
        watch, start = Stopwatch(), time.perf_counter()
        weights = Weights.at(self.config.learn, progress := self.progress)
        deal_ids = np.arange(self.counters.deals, self.counters.deals + self._num_deals())
        in_play = self._deals.in_play(progress, self.config.rollout.curriculum)
        rollout = self._deals.play(
            self.learner.actor, deal_ids, in_play=in_play, credit=self.credit, threads=self._threads, watch=watch
        )
        minibatch_seed = stream_seed(self.config.run.seed, f"{_MINIBATCH_STREAM} {self.counters.iteration}")
        with watch.measure("learning"):
            learned = self.learner.update(rollout, weights, seed=minibatch_seed, threads=self._threads)
        self.credit.learn(rollout)
        self.counters.iteration += 1
        self.counters.deals += rollout.num_deals
        self.counters.decisions += len(rollout)
        seconds = time.perf_counter() - start
        values = {
            **describe_rollout(rollout, self.learner.actor.spec),
            **learned,
            **self.credit.describe(),
            "schedule/learning_rate": weights.learning_rate,
            "schedule/entropy": weights.entropy,
            "schedule/progress": progress,
            "speed/deals_per_second": rollout.num_deals / seconds,
            "speed/decisions_per_second": len(rollout) / seconds,
            **{f"speed/share_{work}": spent / seconds for work, spent in watch.seconds.items()},
        }
        self._tick()
        return values

    def _num_deals(self) -> int:
        """Deals of the next iteration; the last one plays what is left."""
        left = (
            self.config.rollout.deals if self.config.run.deals is None else self.config.run.deals - self.counters.deals
        )
        return min(self.config.rollout.deals, left)

    def _tick(self) -> None:
        """Bring the minutes up to date."""
        now = time.monotonic()
        self.counters.minutes += (now - self._clock) / 60
        self._clock = now

    def record(self, values: dict[str, float]) -> None:
        """Log values at the present number of deals."""
        minutes = round(self.counters.minutes, 4)
        self.log.write(self.counters.deals, values, iteration=self.counters.iteration, minutes=minutes)

    # --- measuring ---

    @property
    def _evaluations_due(self) -> int:
        """Evaluations whose place in the run is reached; the last one is at the end."""
        return int(self.progress * self.config.evaluation.times + 1e-9)

    def evaluate(self) -> dict[str, float]:
        """Measure the network against the yardsticks, keep it if it is the best so far.

        Always on the same deals, which are no training deals, so that evaluations differ by the network alone.

        Returns:
            Values by tag.
        """
        seed = stream_seed(self.config.run.seed, _EVALUATION_STREAM)
        deals = np.arange(self.config.evaluation.blocks)
        policy = NetworkPolicy(self.learner.actor, self.header(), name="the network in training")
        self.counters.evaluations = max(self.counters.evaluations + 1, self._evaluations_due)
        values: dict[str, float] = {}
        buy_in = self.config.buy_in
        for name, yardstick in self.yardsticks.items():
            by_size = [
                play_blocks(rules, policy, yardstick, seed=seed, deal_ids=deals, buy_in=buy_in).block_means
                for rules in self.games
            ]
            self.strength[name] = estimate(np.mean(by_size, axis=0), seed=seed)
            values |= _parts(f"evaluation/{name}", self.strength[name])
            if len(self.games) > 1:
                for rules, means in zip(self.games, by_size, strict=True):
                    values |= _parts(f"evaluation_{rules.num_players}_seats/{name}", estimate(means, seed=seed))
        mean = values[f"evaluation/{self.chosen_by}_mean"]
        is_best = self.counters.best is None or mean > self.counters.best
        if is_best and self._guarded(BEST, lambda: self._save_network(BEST)):
            self.counters.best = mean
        self._tick()
        return values

    # --- saving and loading ---

    def header(self) -> Header:
        """What a checkpoint of the present network says about itself."""
        done = self.counters
        return Header(
            rules=self.games,
            seats_shown=self.config.seats_shown,
            layout=self._layout,
            network=self.learner.actor.spec,
            iteration=done.iteration,
            deals=done.deals,
            decisions=done.decisions,
            commit=self._commit,
        )

    def save(self) -> bool:
        """Write the state to go on from, then the last checkpoint, and bring the logs to the disk.

        Returns:
            Whether both could be written; where not, the files from before are still whole.
        """
        buffer = io.BytesIO()
        torch.save(
            {"counters": asdict(self.counters), "pot_shares": self.credit.state(), **self.learner.state()}, buffer
        )
        saved = self._guarded(STATE_FILE, lambda: replace_file(self.folder / STATE_FILE, buffer.getvalue()))
        saved &= self._guarded(LAST, lambda: self._save_network(LAST))
        self.log.flush()
        return saved

    def _save_network(self, name: str) -> None:
        """Write the present network as a checkpoint."""
        save_checkpoint(self.folder / name, self.learner.actor, self.header())

    def _guarded(self, name: str, write: Callable[[], None]) -> bool:
        """Write a file; whether it worked. A full disk is no reason to lose the run."""
        try:
            write()
        except OSError as error:
            self._warn(f"{name} could not be written ({error}); the one from before is kept and training goes on")
            return False
        return True

    def _load_state(self) -> None:
        """Take up the run in the folder."""
        path = self.folder / STATE_FILE
        try:
            state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
            self.counters = Counters(**state["counters"])
            self.learner.load_state(state)
            self.credit.load_state(state.get("pot_shares", {}))  # states from before there were shares have none
        except FileNotFoundError:
            raise CheckpointError(f"{self.folder} has no {STATE_FILE}: there is nothing to resume") from None
        except Exception as error:  # a damaged file makes torch raise nearly anything
            reason = " ".join(str(error).split())[:200]
            raise CheckpointError(f"{path} is damaged, or of another network: {reason}") from None

    def _check_best(self) -> None:
        """Refuse a best checkpoint that cannot be read: the end of the run would be the first to need it."""
        try:
            if (self.folder / BEST).exists():
                load_checkpoint(self.folder / BEST)
            else:
                self.counters.best = None  # the next evaluation writes it again
        except CheckpointError as error:
            raise CheckpointError(f"{error}; remove it, and the next evaluation writes a new one") from None

    def close(self) -> None:
        """Close logs and threads."""
        self.log.close()
        self._threads.close()


def network_spec(config: Config) -> NetworkSpec:
    """The networks that some settings ask for."""
    sizes = config.network.model_dump(exclude={"seats_shown", "privileged_critic"})
    privileged = config.network.privileged_critic
    return NetworkSpec.for_rules(config.game(), seats_shown=config.seats_shown, privileged=privileged, **sizes)


def _parts(tag: str, measured: Estimate) -> dict[str, float]:
    """An estimate by tag."""
    return {f"{tag}_{part}": float(getattr(measured, part)) for part in ("mean", "low", "high")}


def yardsticks(config: Config) -> dict[str, Policy]:
    """The policies that strength is measured against, by the name their tags carry."""
    if config.rollout.target is not None:
        return {TARGET: load_policy(config.rollout.target)}
    return {name: load_policy(name) for name in YARDSTICKS}


def opponents(config: Config) -> Opponents:
    """Who sits at the tables of the training deals besides the network."""
    rollout = config.rollout
    if rollout.target is not None:
        return Opponents((load_policy(rollout.target),), (1.0,))
    shares = (rollout.random_share, rollout.heuristic_share)
    return Opponents((load_policy("random"), load_policy("heuristic")), shares)


def training_deals(config: Config) -> TrainingDeals:
    """The training deals that some settings ask for, at tables of all sizes."""
    shares = config.rollout.size_shares or ()
    return TrainingDeals(tuple(self_play(config, rules) for rules in config.games()), tuple(shares))


def self_play(config: Config, rules: Rules) -> SelfPlay:
    """The training deals that some settings ask for, at tables of one size."""
    rollout = config.rollout
    return SelfPlay(
        rules,
        config.run.seed,
        config.seats_shown,
        StartingPots(rollout.carry_share, rollout.largest_carry, rollout.exempt_share),
        opponents(config),
        StartingStacks(rollout.smallest_stack, rollout.largest_stack),
    )


def _remove_unfinished(folder: Path) -> None:
    """Remove what a killed run left of files it was writing."""
    for unfinished in folder.glob(".*.tmp"):
        with contextlib.suppress(OSError):
            unfinished.unlink()
