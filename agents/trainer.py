"""A training run: play deals, learn from them, measure, save; from a config to a run folder and back.

A run folder holds `config.toml`, `last.safetensors`, `best.safetensors` and `snapshots/` (to play with), `trainer.pt`
(only to go on training), `status.json`, `metrics.jsonl` and TensorBoard's files. The best checkpoint and the state from
before the present ones stay as `best.previous.safetensors` and `trainer.previous.pt`.

Several ranks are one run: the first alone writes, logs and measures, its counters and clock are everybody's, and any of
them may ask for the end. Their number changes nothing but the speed, so a run may be resumed with another one.
"""

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents import ending
from agents.arena import play_blocks, stream_seed
from agents.checkpoint import CheckpointError, Header, load_checkpoint, save_checkpoint, source_commit
from agents.config import Config
from agents.counters import Counters
from agents.descent import DivergedError
from agents.details import histograms_and_entropies
from agents.device import choose_device
from agents.exploiter import Exploiter
from agents.files import unfinished_files
from agents.health import check_health
from agents.league import EXPLOITER, SELF, League, Member
from agents.league import FOLDER as POOL
from agents.learners import learner_of, player_of
from agents.logs import MetricsLog
from agents.metrics import Stopwatch, describe_opponents, tags_as_table
from agents.network import Actor, NetworkSpec
from agents.neural import NetworkPolicy
from agents.policy import Policy, PolicyError, load_policy
from agents.ppo import Weights
from agents.ranks import ALONE, Ranks
from agents.rollout import Rollout, SelfPlay
from agents.runs import STATE_FILE, STATUS
from agents.snapshots import FOLDER as SNAPSHOTS
from agents.snapshots import Snapshots
from agents.starts import Opponents
from agents.states import from_bytes, load_state, save_state, save_status, set_aside, to_bytes
from agents.statistics import Estimate, estimate
from agents.table_sizes import TrainingDeals
from agents.threads import Threads, use_numba_threads
from agents.trainings import training_of
from bourre_env.family import GameRules, game_of

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
        log: the logs; None for ranks but the first.
    """

    def __init__(
        self,
        config: Config,
        folder: Path,
        *,
        warn: Callable[[str], None],
        resume: bool = False,
        ranks: Ranks = ALONE,
    ) -> None:
        """Make a new run in an existing folder, or take up the one that is there.

        Args:
            config: the settings.
            folder: the run folder; only the first rank looks at it.
            warn: told about what went wrong without stopping the run.
            resume: take up the run in the folder.
            ranks: the processes that train together.

        Raises:
            CheckpointError: there is nothing to resume, or it does not fit the settings.
            ConfigError: there is no such device.
            LostRankError: another rank has died.
        """
        self.config, self.folder, self._warn, self._ranks = config, folder, warn, ranks
        self.games = config.games()
        self.yardsticks = yardsticks(config)
        self.chosen_by = list(self.yardsticks)[-1]
        self.counters = Counters()
        self.strength: dict[str, Estimate] = {}
        self.saved = False
        self._failing: set[str] = set()  # files that could not be written the last time
        self._threads = Threads(config.run.threads, processes=ranks.local_count)
        self._training = training_of(self.games[0])
        self.credit = self._training.credits(config)
        weight_seed, device = stream_seed(config.run.seed, _WEIGHT_STREAM), choose_device(config.run.device, ranks)
        # a GPU waits for the engine; on the processor the same cores are of more use to the networks
        self._deals = training_deals(config, parallel=device.type == "cuda")
        if device.type == "cuda":
            use_numba_threads(self._threads.count)
        learner = learner_of(config)
        self.learner = learner(network_spec(config), config.learn, seed=weight_seed, device=device, ranks=ranks)
        self.league = League(folder, config.league, config.run.seed, ranks) if config.league.share else None
        self.exploiter: Exploiter | None = None
        if config.league.exploiter_every:
            second = learner(network_spec(config), config.learn, seed=weight_seed, device=device, ranks=ranks)
            self.exploiter = Exploiter(second, config, self._deals, ranks)
        self.snapshots = Snapshots(folder, config.run.keep)
        self._layout = game_of(self.games[0]).layout(self.games[0], config.seats_shown).hash
        self._commit = source_commit()
        if ranks.is_first:
            _remove_unfinished(folder)
        if resume:
            self._load()
        elif config.run.start is not None:
            self.learner.start_from(starting_network(config, config.run.start))
        resume_at = self.counters.deals if resume else None
        self.log = MetricsLog(folder, warn=warn, resume_at=resume_at) if ranks.is_first else None
        if not resume:
            self.save()  # from the first moment on there is something to resume
            self._describe()
        self._clock = time.monotonic()

    def _describe(self) -> None:
        """Log what does not change."""
        if self.log is None:
            return
        self.log.add_text("config", f"```toml\n{self.config.to_toml()}```")
        self.log.add_text("tags", tags_as_table())
        self.log.add_charts()

    # --- the run ---

    def warm_up(self) -> None:
        """Play a deal of each kind and forget it: what is compiled at its first use must not cost training time."""
        for deals in self._deals.sizes:
            deals.play(
                self.learner.actor,
                np.arange(4),
                threads=self._threads,
                watch=Stopwatch(),
                pairs=self.config.learns_from_pairs,
            )
        if self.log is None:
            return
        if self.config.run.pictures_every:
            self.log.warm_up()
        for policy in self.yardsticks.values():
            play_blocks(self.games[0], policy, policy, seed=0, deal_ids=[0], buy_in=self.config.buy_in)

    def run(self, *, stop: Callable[[], bool], report: Callable[[dict[str, float]], None]) -> None:
        """Train until the run is over; the state is saved on the way and at the end.

        Args:
            stop: asked before each iteration whether to stop there; all ranks do as soon as one is told to.
            report: told the values of each iteration, those of an evaluation included; of the first rank alone.

        Raises:
            DivergedError: the networks are of no use any more; the checkpoints of before are kept.
            LostRankError: another rank has died; what was saved last is kept.
        """
        self._clock = time.monotonic()
        over_before = self.why_over is not None
        try:
            while self._goes_on(stop):
                self._iterate_and_save(report)
        except (DivergedError, FloatingPointError) as error:
            self._end(f"diverged: {error}")
            raise DivergedError(str(error)) from None
        self.saved = self._ranks.of_first(self.save())
        if self.why_over is not None and not over_before:
            self._end(self.why_over)

    def _goes_on(self, stop: Callable[[], bool]) -> bool:
        """Whether there is another iteration; the same on all ranks, and the first one's counters with it."""
        asked = self.why_over is None and stop()
        everybodys = self._ranks.gather((asked, asdict(self.counters)))
        if not self._ranks.is_first:
            self.counters = Counters(**everybodys[0][1])
        return self.why_over is None and not any(asked for asked, _ in everybodys)

    def _iterate_and_save(self, report: Callable[[dict[str, float]], None]) -> None:
        """One iteration, and what is due after it."""
        values = self.iterate()
        if self.log is None:
            return
        evaluates = self._evaluations_due > self.counters.evaluations
        if evaluates:
            values |= self.evaluate()
        self.record(values)
        if evaluates or self.counters.iteration % self.config.run.checkpoint_every == 0:
            self.save()
        report(values)

    def _end(self, reason: str) -> None:
        """Say in the logs and in the status why the run is over."""
        if self.log is None:
            return
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
        """Play deals and learn from them, together with the other ranks.

        Returns:
            Values by tag; what describes play is of this rank's deals, which the first rank never lacks.

        Raises:
            DivergedError: the networks are of no use any more.
            LostRankError: another rank has died.
        """
        watch, start = Stopwatch(), time.perf_counter()
        weights = Weights.at(self.config.learn, progress := self.progress)
        deal_ids = np.arange(self.counters.deals, self.counters.deals + self._num_deals())
        base = opponents = self._deals.opponents
        met: list[Member] = []
        if self.league is not None:
            opponents, met = self.league.opponents(base, self.counters.iteration)
        rollout, decisions = self._play(self._deals.meeting(opponents), deal_ids, weights, progress, watch)
        minibatch_seed = stream_seed(self.config.run.seed, f"{_MINIBATCH_STREAM} {self.counters.iteration}")
        with watch.measure("learning"):
            learned = self.learner.update(rollout, weights, seed=minibatch_seed, threads=self._threads)
            check_health(self.learner, learned)
        self.credit.learn(rollout, self._ranks)
        self.counters.iteration += 1
        self.counters.deals += len(deal_ids)
        self.counters.decisions += decisions
        of_league = {}
        if self.league is not None:
            self.league.learn(rollout, met, len(base.policies))
            of_league = self._iterate_league(self.league, watch)
        seconds = time.perf_counter() - start
        values = {
            **(self._training.describe(rollout, self.learner.actor.spec) if self._ranks.is_first else {}),
            **learned,
            **describe_opponents(rollout, [policy.name for policy in base.policies]),
            **of_league,
            **self.credit.describe(),
            "schedule/learning_rate": weights.learning_rate,
            "schedule/entropy": weights.entropy,
            "schedule/progress": progress,
            "speed/deals_per_second": len(deal_ids) / seconds,
            "speed/decisions_per_second": decisions / seconds,
            **{f"speed/share_{work}": spent / seconds for work, spent in watch.seconds.items()},
        }
        every = self.config.run.pictures_every
        if self.log is not None and every and (self.counters.iteration - 1) % every == 0:
            values |= self._picture(self.log, rollout, values)
        self._tick()
        return values

    def _iterate_league(self, league: League, watch: Stopwatch) -> dict[str, float]:
        """What is due in the league after an iteration; values by tag.

        Raises:
            DivergedError: the exploiter's network is of no use any more.
            LostRankError: another rank has died.
        """
        settings, values = self.config.league, dict[str, float]()
        if self.exploiter is not None and self.counters.iteration % settings.exploiter_every == 0:
            bot = NetworkPolicy(self.learner.actor, self.header(), name="the bot")
            values |= self.exploiter.iterate(bot, self.credit, self._threads, watch)
            if self.exploiter.is_old:
                former = league.latest()  # before it may have to go for the exploiter
                self._let_join(league, EXPLOITER, self.exploiter.learner.actor)
                if former is not None:
                    self.exploiter.start_again(former.actor)
        if self.counters.iteration % settings.every == 0:
            self._let_join(league, SELF, self.learner.actor)
        return values | league.describe()

    def _let_join(self, league: League, kind: str, actor: Actor) -> None:
        """Let a network join the pool; a full disk is no reason to lose the run."""
        header = self.header()
        self._guarded(
            POOL, lambda: league.add(kind, self.counters.deals, lambda path: save_checkpoint(path, actor, header))
        )

    def _play(
        self, deals: TrainingDeals, deal_ids: NDArray[np.int64], weights: Weights, progress: float, watch: Stopwatch
    ) -> tuple[Rollout, int]:
        """Play this rank's part of some deals; also the number of decisions in all of them.

        Raises:
            DivergedError: the network gives no numbers any more, here or on another rank.
        """
        ours = self._ranks.part(deal_ids)
        rollout, problem = None, None
        try:
            rollout = deals.play(
                player_of(self.learner, weights),
                ours if len(ours) else deal_ids[:1],  # the last iteration may have fewer deals than there are ranks
                in_play=self._deals.in_play(progress, self.config.rollout.curriculum),
                credit=self.credit,
                threads=self._threads,
                watch=watch,
                pairs=self.config.learns_from_pairs,
            )
        except FloatingPointError as error:
            problem = str(error)
        if rollout is not None and not len(ours):
            rollout = rollout.nothing()
        everybodys = self._ranks.gather((problem, 0 if rollout is None else len(rollout)))
        problems = [problem for problem, _ in everybodys if problem is not None]
        if rollout is None or problems:
            raise DivergedError(problems[0])
        return rollout, sum(decisions for _, decisions in everybodys)

    def _picture(self, log: MetricsLog, rollout: Rollout, values: dict[str, float]) -> dict[str, float]:
        """Log histograms and pictures of an iteration; returns the numbers they needed besides."""
        histograms, entropies = histograms_and_entropies(self.learner, rollout, self.games[0])
        log.add_histograms(self.counters.deals, histograms)
        log.add_pictures(self.counters.deals, values | entropies)
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
        if self.log is None:
            return
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
        if self.league is not None and self.log is not None:
            self.log.add_text("league", self.league.table(), self.counters.deals)
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
            learner=self.config.learn.method,
        )

    def save(self) -> bool:
        """Write the state to go on from, the last checkpoint and the status, and bring the logs to the disk.

        Returns:
            Whether all could be written; where not, the files from before are still whole. Ranks but the first write
            nothing.
        """
        if not self._ranks.is_first:
            return True
        saved = self._guarded(STATE_FILE, lambda: save_state(self.folder, self._state()))
        if saved and self.league is not None:
            self.league.state_saved()
        saved &= self._guarded(LAST, lambda: self._save_network(self.folder / LAST))
        saved = saved and self._guarded(STATUS, lambda: self._save_status(self.why_over))
        if self.log is not None:
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

    def _load(self) -> None:
        """Go on from the state on the disk, which the first rank reads for all.

        Raises:
            CheckpointError: there is none that is whole and fits.
        """
        if not self._ranks.is_first:
            state = self._ranks.of_first(b"")
            if not state:
                raise CheckpointError("the first rank has no state to go on from")
            self._take(from_bytes(state))
            return
        state = b""
        try:
            load_state(self.folder, self._take, warn=self._warn)
            self._check_best()
            self._check_last()
            state = to_bytes(self._state()) if self._ranks.count > 1 else state
        finally:
            self._ranks.of_first(state)

    def _state(self) -> dict[str, Any]:
        """Everything that a resumed run needs."""
        state: dict[str, Any] = {"counters": asdict(self.counters), "pot_shares": self.credit.state()}
        if self.league is not None:
            state["league"] = self.league.state()
        if self.exploiter is not None:
            state["exploiter"] = self.exploiter.state()
        return {**state, **self.learner.state()}

    def _take(self, state: dict[str, Any]) -> None:
        """Go on from a state.

        Raises:
            Exception: it is of another network or version.
        """
        counters = Counters(**state["counters"])
        self.learner.load_state(state)
        self.credit.load_state(state.get("pot_shares", {}))  # states from before there were shares have none
        if self.league is not None:
            for complaint in self.league.load_state(state["league"]):
                self._warn(f"{complaint}; this member of the pool is left out")
        if self.exploiter is not None:
            self.exploiter.load_state(state["exploiter"])
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
        if self.log is not None:
            self.log.close()
        self._threads.close()


def network_spec(config: Config) -> NetworkSpec:
    """The networks that some settings ask for."""
    sizes = config.network.model_dump(exclude={"seats_shown", "privileged_critic"})
    privileged = config.network.privileged_critic and config.has_critic
    return NetworkSpec.for_rules(config.game(), seats_shown=config.seats_shown, privileged=privileged, **sizes)


def starting_network(config: Config, spec: str) -> Actor:
    """The network of a checkpoint that a run is to start from.

    Raises:
        PolicyError: there is none of that name, or it is not made for these settings.
    """
    policy = load_policy(spec)
    if not isinstance(policy, NetworkPolicy):
        raise PolicyError(f"run.start = {spec!r}: it is no checkpoint, so there is no network to start from")
    for rules in config.games():
        policy.check_rules(rules)
    if policy.header.learner != config.learn.method:
        raise PolicyError(
            f"run.start = {spec!r}: {policy.header.learner} made it, and learn.method is {config.learn.method}"
        )
    rules = config.game()
    theirs, expected = policy.header, game_of(rules).layout(rules, config.seats_shown).hash
    if (theirs.layout, _sizes(theirs.network)) != (expected, _sizes(network_spec(config))):
        raise PolicyError(f"run.start = {spec!r}: its network has other sizes than [network] and rules.num_players ask")
    return policy.actor


def _sizes(spec: NetworkSpec) -> NetworkSpec:
    """A spec without what concerns the critic alone, which no checkpoint holds, or only the first weights."""
    return replace(spec, hidden_words=0, critic_width=1, critic_layers=1, shy=())


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


def training_deals(config: Config, *, parallel: bool = False) -> TrainingDeals:
    """The training deals that some settings ask for, at tables of all sizes (`parallel`: see `SelfPlay`)."""
    shares = config.rollout.size_shares or ()
    return TrainingDeals(tuple(self_play(config, rules, parallel=parallel) for rules in config.games()), tuple(shares))


def self_play(config: Config, rules: GameRules, *, parallel: bool = False) -> SelfPlay:
    """The training deals that some settings ask for, at tables of one size."""
    return SelfPlay(
        rules,
        config.run.seed,
        config.seats_shown,
        training_of(rules).starts(config),
        opponents(config),
        parallel,
        config.rollout.forced_decisions,
        config.learn.pair_share,
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
    for unfinished in (path for part in ("", SNAPSHOTS, POOL) for path in unfinished_files(folder / part)):
        with contextlib.suppress(OSError):
            unfinished.unlink()
