"""A training run: play deals, learn from them, measure, save; from a config to a run folder and back.

A run folder holds `config.toml`, `last.safetensors`, `best.safetensors` and `snapshots/` (to play with), `trainer.pt`
(only to go on training), `status.json`, `metrics.jsonl` and TensorBoard's files. The best checkpoint and the state from
before the present ones stay as `best.previous.safetensors` and `trainer.previous.pt`.
"""

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from agents import ending
from agents.arena import play_blocks, stream_seed
from agents.checkpoint import CheckpointError, Header, load_checkpoint, save_checkpoint, source_commit
from agents.config import Config
from agents.counters import Counters
from agents.details import histograms_and_entropies
from agents.device import choose_device
from agents.files import unfinished_files
from agents.health import check_health
from agents.logs import MetricsLog
from agents.metrics import Stopwatch, describe_rollout, tags_as_table
from agents.network import NetworkSpec
from agents.neural import NetworkPolicy
from agents.policy import Policy, load_policy
from agents.pot_credit import PotCredit
from agents.ppo import DivergedError, Learner, Weights
from agents.rollout import Opponents, Rollout, SelfPlay, StartingPots, StartingStacks
from agents.runs import STATE_FILE, STATUS
from agents.snapshots import FOLDER as SNAPSHOTS
from agents.snapshots import Snapshots
from agents.states import load_state, save_state, save_status, set_aside
from agents.statistics import Estimate, estimate
from agents.table_sizes import TrainingDeals
from agents.threads import Threads
from bourre_env.bourre.observation import layout
from bourre_env.bourre.rules import Rules

LAST, BEST, PREVIOUS_BEST = "last.safetensors", "best.safetensors", "best.previous.safetensors"
YARDSTICKS = ("random", "heuristic")
TARGET = "target"  # what tags call the policy that a best response is trained against

_WEIGHT_STREAM = "training: weights at the start"
_MINIBATCH_STREAM = "training: minibatches"
_EVALUATION_STREAM = "training: evaluation"


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
        snapshots: networks of earlier in the run.
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
        self._failing: set[str] = set()  # files that could not be written the last time
        self._threads = Threads(config.run.threads)
        self.credit = PotCredit(config.rollout.carry_credit == "by_seat", config.rollout.ante_credit)
        self._deals = training_deals(config)
        weight_seed, device = stream_seed(config.run.seed, _WEIGHT_STREAM), choose_device(config.run.device)
        self.learner = Learner(network_spec(config), config.learn, seed=weight_seed, device=device)
        self.snapshots = Snapshots(folder, config.run.keep)
        self._layout = layout(self.games[0], config.seats_shown).hash
        self._commit = source_commit()
        _remove_unfinished(folder)
        if resume:
            load_state(folder, self._take, warn=warn)
            self._check_best()
            self._check_last()
        self.log = MetricsLog(folder, warn=warn, resume_at=self.counters.deals if resume else None)
        if not resume:
            self.save()  # from the first moment on there is something to resume
            self.log.add_text("config", f"```toml\n{config.to_toml()}```")
            self.log.add_text("tags", tags_as_table())
            self.log.add_charts()
        self._clock = time.monotonic()

    # --- the run ---

    def warm_up(self) -> None:
        """Play a deal of each kind and forget it: what is compiled at its first use must not cost training time."""
        for deals in self._deals.sizes:
            deals.play(self.learner.actor, np.arange(1), threads=self._threads, watch=Stopwatch())
        if self.config.run.pictures_every:
            self.log.warm_up()
        for policy in self.yardsticks.values():
            play_blocks(self.games[0], policy, policy, seed=0, deal_ids=[0], buy_in=self.config.buy_in)

    def run(self, *, stop: Callable[[], bool], report: Callable[[dict[str, float]], None]) -> None:
        """Train until the run is over; the state is saved on the way and at the end.

        Args:
            stop: asked before each iteration whether to stop there.
            report: told the values of each iteration, those of an evaluation included.

        Raises:
            DivergedError: the networks are of no use any more; the checkpoints of before are kept.
        """
        self._clock = time.monotonic()
        over_before = self.why_over is not None
        try:
            while self.why_over is None and not stop():
                self._iterate_and_save(report)
        except (DivergedError, FloatingPointError) as error:
            self._end(f"diverged: {error}")
            raise DivergedError(str(error)) from None
        self.saved = self.save()
        if self.why_over is not None and not over_before:
            self._end(self.why_over)

    def _iterate_and_save(self, report: Callable[[dict[str, float]], None]) -> None:
        """One iteration, and what is due after it."""
        values = self.iterate()
        evaluates = self._evaluations_due > self.counters.evaluations
        if evaluates:
            values |= self.evaluate()
        self.record(values)
        if evaluates or self.counters.iteration % self.config.run.checkpoint_every == 0:
            self.save()
        report(values)

    def _end(self, reason: str) -> None:
        """Say in the logs and in the status why the run is over."""
        self.log.add_text("ended", reason, self.counters.deals)
        results = {
            f"evaluation/{name}_{part}": float(getattr(found, part))
            for name, found in self.strength.items()
            for part in ("mean", "low", "high")
        }
        self.log.add_hyperparameters(self.config.flat(), results)
        self.log.flush()
        self._guarded(STATUS, lambda: self._save_status(reason))

    @property
    def progress(self) -> float:
        """Share of the budget that is spent, 0 to 1; 1 ends the run."""
        return ending.progress(self.config.run, self.counters)

    @property
    def why_over(self) -> str | None:
        """In words why the run is over; None while it goes on."""
        return ending.why_over(self.config.run, self.counters)

    def iterate(self) -> dict[str, float]:
        """Play deals and learn from them.

        Returns:
            Values by tag.

        Raises:
            DivergedError: the networks are of no use any more.
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
            check_health(self.learner, learned)
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
        every = self.config.run.pictures_every
        if every and (self.counters.iteration - 1) % every == 0:
            values |= self._picture(rollout, values)
        self._tick()
        return values

    def _picture(self, rollout: Rollout, values: dict[str, float]) -> dict[str, float]:
        """Log histograms and pictures of an iteration; returns the numbers they needed besides."""
        histograms, entropies = histograms_and_entropies(self.learner, rollout, self.games[0].hand_size)
        self.log.add_histograms(self.counters.deals, histograms)
        self.log.add_pictures(self.counters.deals, values | entropies)
        return entropies

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
        ended = {} if self.why_over is None else {"ended": self.why_over}
        self.log.write(self.counters.deals, values, iteration=self.counters.iteration, minutes=minutes, **ended)

    # --- measuring ---

    @property
    def _evaluations_due(self) -> int:
        """Evaluations whose place in the run is reached; the last one is at the end."""
        return int(self.progress * self.config.evaluation.times + 1e-9)

    def evaluate(self) -> dict[str, float]:
        """Measure the network against the yardsticks, keep it if it is the best so far, and keep a snapshot.

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
        self.counters.low = values[f"evaluation/{self.chosen_by}_low"]
        is_best = self.counters.best is None or mean > self.counters.best
        self.counters.without_better = 0 if is_best else self.counters.without_better + 1
        if is_best and self._guarded(BEST, lambda: self._save_network(self.folder / BEST, self.folder / PREVIOUS_BEST)):
            self.counters.best = mean
        self._guarded(SNAPSHOTS, lambda: self.snapshots.add(self.counters.deals, self._save_network))
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
        """Write the state to go on from, the last checkpoint and the status, and bring the logs to the disk.

        Returns:
            Whether all could be written; where not, the files from before are still whole.
        """
        state = {"counters": asdict(self.counters), "pot_shares": self.credit.state(), **self.learner.state()}
        saved = self._guarded(STATE_FILE, lambda: save_state(self.folder, state))
        saved &= self._guarded(LAST, lambda: self._save_network(self.folder / LAST))
        saved = saved and self._guarded(STATUS, lambda: self._save_status(self.why_over))
        self.log.flush()
        return saved

    def _save_network(self, path: Path, previous: Path | None = None) -> None:
        """Write the present network as a checkpoint."""
        save_checkpoint(path, self.learner.actor, self.header(), previous=previous)

    def _save_status(self, ended: str | None) -> None:
        """Leave a note on how far the run is."""
        done = self.counters
        save_status(self.folder, ended=ended, deals=done.deals, minutes=done.minutes, best=done.best)

    def _guarded(self, name: str, write: Callable[[], object]) -> bool:
        """Write a file; whether it worked. A full disk is no reason to lose the run."""
        try:
            write()
        except OSError as error:
            if name not in self._failing:
                self._warn(f"{name} could not be written ({error}); the one from before is kept and training goes on")
            self._failing.add(name)
            return False
        if name in self._failing:
            self._failing.remove(name)
            self._warn(f"{name} could be written again")
        return True

    def _take(self, state: dict[str, Any]) -> None:
        """Go on from a state.

        Raises:
            Exception: it is of another network or version.
        """
        counters = Counters(**state["counters"])
        self.learner.load_state(state)
        self.credit.load_state(state.get("pot_shares", {}))  # states from before there were shares have none
        self.counters = counters
        # a larger budget moves the evaluations; the last one belongs to its end
        self.counters.evaluations = min(counters.evaluations, self._evaluations_due)

    def _check_best(self) -> None:
        """Make sure of a best checkpoint that can be read: the end of the run would be the first to need it."""
        best, previous = self.folder / BEST, self.folder / PREVIOUS_BEST
        complaint = _complaint_about(best)
        if complaint is None and best.exists():
            return
        self.counters.best = None  # the next evaluation chooses anew
        if complaint is not None:
            set_aside(best)
            self._warn(f"{complaint}; it is set aside, and the next evaluation writes a new one")
        if previous.exists() and _complaint_about(previous) is None:
            self._guarded(BEST, lambda: os.replace(previous, best))
            self._warn(f"until then {PREVIOUS_BEST} is the best")

    def _check_last(self) -> None:
        """Write the last checkpoint anew from the state where it cannot be read."""
        complaint = _complaint_about(self.folder / LAST)
        if complaint is not None and self._guarded(LAST, lambda: self._save_network(self.folder / LAST)):
            self._warn(f"{complaint}; it is written anew from the state")

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


def _complaint_about(checkpoint: Path) -> str | None:
    """What is wrong with a checkpoint; None when it is whole, or not there."""
    try:
        if checkpoint.exists():
            load_checkpoint(checkpoint)
    except CheckpointError as error:
        return str(error)
    return None


def _remove_unfinished(folder: Path) -> None:
    """Remove what a killed run left of files it was writing."""
    for unfinished in (*unfinished_files(folder), *unfinished_files(folder / SNAPSHOTS)):
        with contextlib.suppress(OSError):
            unfinished.unlink()
