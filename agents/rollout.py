"""Self-play: whole deals, by one network in every seat or, in some, by one seat of it among other policies.

A rollout is a pure function of the network, a seed and the numbers of its deals: packs, starting pots and stacks,
line-ups and the random numbers behind every action come from streams numbered by deal, so nothing has to be remembered
between rollouts. Deals are played to their ends: no trajectory is ever cut.

Shapes: B deals, N seats, D decisions, W words of an observation, K words of hidden hands, A actions, L words of
a legal set.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from agents.arena import stream_seed
from agents.device import device_of, legal_mask, packed_rows, rows_at_a_time, sent
from agents.metrics import Stopwatch
from agents.network import Actor
from agents.pairs import Pairs, joined_pairs
from agents.policy import Decision, uniform_numbers
from agents.referee import strict_answer
from agents.starts import NETWORK, Opponents, words_of
from agents.threads import Threads
from agents.trainings import Ledger, Starts, training_of
from bourre_env.deck import mix_array, shuffled_decks, stream_keys
from bourre_env.family import MOST_SEATS, GameRules, GameTables, game_of

DEAL_STREAM = "training: packs of the deals"
ACTION_STREAM = "training: choices of the network"
MOST_STEPS = 56
"""Bound on the steps of a deal where tables have several sizes: at the largest, of eight, every seat declares, draws in
a second round with some presets, and plays its cards, the last of which is no step unless forced decisions are asked,
too."""

_DRAWN, _OTHER, _USES = 0, 1, 2  # what random words are for: the action taken, another one drawn in the same way
_NOBODY_ELSE = Opponents()
_NO_DECISION = 0  # any action; tables that are settled ignore it
_NOBODY = -2


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollout:
    """Finished deals and every decision of the network in them that had a choice. Games add arrays by deal.

    Attributes:
        words: [D, W + K] uint64, the observation and behind it the hands of the other seats, for the critic.
        legal: [D, L] uint64, the legal actions.
        actions: [D] int64.
        log_probs: [D] float32, of the actions when they were taken.
        rewards: [D] float32, what the deal brought the seat that decided, in units of the game
            (`agents.metrics.UNITS`).
        deal: [D] int64, index of the deal, 0 to B-1.
        seat: [D] int8, the seat that decided.
        step: [D] int64, in which step of all tables; it rises, and tables of another size go on from `MOST_STEPS`.
        num_words: W.
        opponent: [B] int8, which policy had all seats but one, or all but a pair; `NETWORK` where the network had every
            seat.
        own_seat: [B] int8, the first seat that the network had.
        returns: [B, N] int32, won or lost.
        num_players: [B] int8, seats at the table; where tables are smaller than N the last columns are empty.
        results: [B, N] float32, what the deal brought each seat, as in `rewards`.
        asked: decisions the network was asked for, those after other actions of pairs included.
        pairs: decisions played on in two ways, where these were asked for.
    """

    words: NDArray[np.uint64]
    legal: NDArray[np.uint64]
    actions: NDArray[np.int64]
    log_probs: NDArray[np.float32]
    rewards: NDArray[np.float32]
    deal: NDArray[np.int64]
    seat: NDArray[np.int8]
    step: NDArray[np.int64]
    num_words: int
    opponent: NDArray[np.int8]
    own_seat: NDArray[np.int8]
    returns: NDArray[np.int32]
    num_players: NDArray[np.int8]
    results: NDArray[np.float32]
    asked: int
    pairs: Pairs | None = None

    def __len__(self) -> int:
        """Number of decisions."""
        return len(self.actions)

    @property
    def num_deals(self) -> int:
        """B."""
        return len(self.num_players)

    @property
    def self_play(self) -> NDArray[np.bool_]:
        """[B] bool: deals in which the network had every seat."""
        return np.equal(self.opponent, NETWORK)

    def nothing(self) -> Self:
        """The same without any deal."""
        columns = {name: getattr(self, name)[:0] for name in self.names_of_columns()}
        pairs = None if self.pairs is None else Pairs.none(self.num_words, self.legal.shape[1])
        return replace(self, asked=0, pairs=pairs, **columns)

    def following(self) -> NDArray[np.int64]:
        """[D] int64: the row of the same seat's next decision in the same deal, -1 where there is none."""
        trajectory = self.deal * MOST_SEATS + self.seat
        order = np.argsort(trajectory, kind="stable")  # rows are in the order of time
        goes_on = trajectory[order[:-1]] == trajectory[order[1:]]
        following = np.full(len(self), -1, np.int64)
        following[order[:-1][goes_on]] = order[1:][goes_on]
        return following

    @classmethod
    def names_of_columns(cls) -> list[str]:
        """The arrays of a rollout."""
        return [field.name for field in fields(cls) if field.name not in ("num_words", "asked", "pairs")]


@dataclass(slots=True)
class _Step:
    """The network's decisions in one step of all tables: which deal each belongs to, and what was seen and done.

    `others` [D] are actions drawn in the same way that were not taken, with their log-probabilities; empty when nobody
    asks for them.
    """

    deal: NDArray[np.int64]
    seat: NDArray[np.int8]
    words: NDArray[np.uint64]
    legal: NDArray[np.uint64]
    actions: NDArray[np.int64]
    log_probs: NDArray[np.float32]
    others: NDArray[np.int64]
    other_log_probs: NDArray[np.float32]


@dataclass(slots=True)
class _Play:
    """Tables in play.

    Attributes:
        tables: [B].
        deal: [B] int64, which deal each plays.
        line_ups: [B, N] int8, who sits where.
        keys: [B] uint64, the stream of each deal.
        taken: [B, N] int64, decisions that each seat has taken.
        most: a bound on them; which random word is behind a decision hangs on it.
        seen: what can be seen at the tables, kept up to date by all of Numba's threads; None to ask for it.
        play_forced: whether the tables take decisions with a single legal action themselves.
    """

    tables: GameTables
    deal: NDArray[np.int64]
    line_ups: NDArray[np.int8]
    keys: NDArray[np.uint64]
    taken: NDArray[np.int64]
    most: int
    seen: Any = None
    play_forced: bool = True

    @property
    def is_over(self) -> bool:
        """Whether all deals are settled."""
        return bool(self.tables.settled.all())

    def words(self, use: int) -> NDArray[np.uint64]:
        """[B] uint64: random words for the decisions to be taken now.

        They are the same for the k-th decision of a seat of a deal, whatever has been done so far, so that two ways to
        play a deal differ by what is played and not by luck.

        Args:
            use: `_DRAWN` or `_OTHER`.
        """
        seats = np.maximum(self.tables.to_act, 0).astype(np.int64)
        number = seats * self.most + self.taken[np.arange(len(seats)), seats]
        return words_of(self.keys, _USES * number + use)

    def chosen(self, share: float) -> NDArray[np.bool_]:
        """[B] bool: whether the decisions to be taken now are in a random share of all."""
        return uniform_numbers(mix_array(self.words(_OTHER))) < share

    def count(self) -> None:
        """Count the decisions that are taken now."""
        live = np.flatnonzero(~self.tables.settled)
        self.taken[live, self.tables.to_act[live]] += 1

    def observed(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Packed observations [B, W] and legal actions [B, L]."""
        if self.seen is not None:
            return self.seen.observation, self.seen.legal
        return self.tables.observe_packed(), self.tables.legal_packed()

    def step(self, actions: NDArray[np.int64]) -> None:
        """Take actions [B], and perhaps those that are forced after them."""
        if self.seen is None:
            self.tables.step(actions, play_forced=self.play_forced)
        else:
            self.tables.step(actions, play_forced=self.play_forced, out=self.seen, parallel=True)

    def take(self, rows: NDArray[np.int64]) -> "_Play":
        """Copies of some tables."""
        return _Play(
            self.tables.take(rows),
            self.deal[rows],
            self.line_ups[rows],
            self.keys[rows],
            self.taken[rows].copy(),
            self.most,
            play_forced=self.play_forced,
        )

    @staticmethod
    def joined(parts: Sequence["_Play"], *, parallel: bool) -> "_Play":
        """All of them together."""
        tables = game_of(parts[0].tables.rules).joined([part.tables for part in parts])
        return _Play(
            tables,
            deal=np.concatenate([part.deal for part in parts]),
            line_ups=np.concatenate([part.line_ups for part in parts]),
            keys=np.concatenate([part.keys for part in parts]),
            taken=np.concatenate([part.taken for part in parts]),
            most=parts[0].most,
            seen=tables.buffers() if parallel else None,
            play_forced=parts[0].play_forced,
        )


@dataclass(frozen=True, slots=True)
class SelfPlay:
    """The deals of a training run, in all but the network that plays them.

    Attributes:
        rules: the rules of every table.
        seed: 0 to 2^64 - 1.
        seats_shown: seats the observation has room for.
        starts: how deals start; as is usual in the game when left out.
        opponents: who else sits at the tables.
        parallel: whether the engine works on all of Numba's threads; worth it where a GPU waits for thousands of
            tables. The deals are the same.
        forced: whether decisions with a single legal action are asked, too.
        pair_share: of the decisions, where pairs are asked for, those at which another action is drawn.
    """

    rules: GameRules
    seed: int
    seats_shown: int
    starts: Starts | None = None
    opponents: Opponents = _NOBODY_ELSE
    parallel: bool = False
    forced: bool = False
    pair_share: float = 1.0

    def play(
        self,
        actor: Actor,
        deal_ids: NDArray[np.int64],
        *,
        threads: Threads,
        watch: Stopwatch,
        credit: Any = None,
        pairs: bool = False,
    ) -> Rollout:
        """Play deals to their ends; the number of a deal decides everything but the network's part in it.

        Args:
            actor: the network; its spec decides whether hidden hands are kept for a critic.
            deal_ids: [B] numbers of the deals, from 0.
            threads: ask the network on.
            watch: is told the time spent in the engine and in the network.
            credit: how what a deal leaves is credited (`agents.trainings.Credits`); to everybody alike when left out.
            pairs: at every decision of the network draw another action as well; where it differs, play the deal to its
                end a second time from there (`agents.pairs`).
        """
        with watch.measure("engine"):
            play, ledger = self._begin(deal_ids)
        steps: list[_Step] = []
        branches: list[tuple[_Play, Pairs]] = []
        while not play.is_over:
            step, branch = self._step(actor, play, threads=threads, watch=watch, branches=pairs)
            if branch is not None:
                branches.append((branch, _pairs_of(step, len(steps), actor.spec.num_words)))
            steps.append(step)
        rollout = _collect(play, ledger, credit, steps, actor.spec.num_words)
        if not pairs:
            return rollout
        compared, asked = self._play_branches(actor, rollout, branches, ledger, credit, threads, watch)
        return replace(rollout, asked=rollout.asked + asked, pairs=compared)

    def _begin(self, deal_ids: NDArray[np.int64]) -> tuple[_Play, Ledger]:
        """Tables with the deals begun, and what is to be remembered of their start."""
        rules, training = self.rules, training_of(self.rules)
        tables = game_of(rules).tables(rules, len(deal_ids), self.seats_shown)
        decks = shuffled_decks(stream_seed(self.seed, DEAL_STREAM), deal_ids, pack=rules.pack)
        ledger = (self.starts or training.usual_starts()).begin(tables, decks, self.seed, deal_ids)
        if not self.forced:
            tables.play_forced()
        play = _Play(
            tables,
            np.arange(len(deal_ids)),
            self.opponents.line_ups(rules, self.seed, deal_ids),
            stream_keys(stream_seed(self.seed, ACTION_STREAM), deal_ids),
            np.zeros((len(deal_ids), rules.num_players), np.int64),
            training.decisions_a_seat(rules),
            tables.buffers() if self.parallel else None,
            play_forced=not self.forced,
        )
        return play, ledger

    def _step(
        self, actor: Actor, play: _Play, *, threads: Threads, watch: Stopwatch, branches: bool
    ) -> tuple[_Step, _Play | None]:
        """Take one decision at every table that is not settled.

        Returns:
            What the network decided, and with `branches` copies of the tables at which the other action drawn was a
            different one, with that action taken.
        """
        tables = play.tables
        with watch.measure("engine"):
            to_act = tables.to_act
            packed, legal_packed = play.observed()
            keys = play.words(_DRAWN)
            who = np.where(to_act >= 0, play.line_ups[np.arange(len(to_act)), to_act], _NOBODY)
            actions = np.full(tables.num_tables, _NO_DECISION, np.int64)
            for index, policy in enumerate(self.opponents.policies):
                rows = np.flatnonzero(who == index)
                if len(rows):
                    asked = (packed[rows], legal_packed[rows], to_act[rows], self.rules, keys[rows])
                    generator = np.random.default_rng(int(keys[rows[0]]))  # of a table in play, so new at every step
                    actions[rows] = strict_answer(policy, Decision.from_packed(*asked), generator)
            rows = np.flatnonzero(who == NETWORK)
            words, legal = packed[rows], legal_packed[rows]
            uniforms = [uniform_numbers(keys[rows])]
            if branches:
                uniforms.append(uniform_numbers(play.words(_OTHER)[rows]))
        with watch.measure("inference"):
            drawn = choose(actor, words, legal, uniforms, threads)
        with watch.measure("engine"):
            actions[rows], log_probs = drawn[0]
            others, other_log_probs = drawn[-1] if branches else (actions[:0], log_probs[:0])
            if branches and self.pair_share < 1:
                others = np.where(play.chosen(self.pair_share)[rows], others, actions[rows])
            if actor.spec.hidden_words:
                words = np.concatenate([words, tables.hidden_packed()[rows, 1:]], axis=1)
            step = _Step(play.deal[rows], to_act[rows], words, legal, actions[rows], log_probs, others, other_log_probs)
            play.count()
            branch = None
            if branches and (differ := rows[others != actions[rows]]).size:
                branch = play.take(differ)
                branch.step(others[others != actions[rows]])
            play.step(actions)
        return step, branch

    def _play_branches(
        self,
        actor: Actor,
        rollout: Rollout,
        branches: list[tuple[_Play, Pairs]],
        ledger: Ledger,
        credit: Any,
        threads: Threads,
        watch: Stopwatch,
    ) -> tuple[Pairs, int]:
        """Play on where the other action was taken, and compare what the deals brought.

        Returns:
            The pairs, and how many decisions the network was asked for.
        """
        if not branches:
            return Pairs.none(rollout.num_words, rollout.legal.shape[1]), 0
        asked = 0
        with watch.measure("engine"):
            play = _Play.joined([branch for branch, _ in branches], parallel=self.parallel)
            pairs = joined_pairs([pairs for _, pairs in branches])
        while not play.is_over:
            step, _ = self._step(actor, play, threads=threads, watch=watch, branches=False)
            asked += len(step.actions)
        other_results = ledger.results(play.tables, pairs.deal, credit)[np.arange(len(pairs)), pairs.seat]
        return replace(pairs, gains=rollout.results[pairs.deal, pairs.seat] - other_results), asked


def _pairs_of(step: _Step, number: int, num_words: int) -> Pairs:
    """The decisions of a step whose two actions differ; what the deals bring is not known yet."""
    rows = np.flatnonzero(step.others != step.actions)
    return Pairs(
        words=step.words[rows, :num_words],
        legal=step.legal[rows],
        actions=step.actions[rows],
        others=step.others[rows],
        log_probs=step.log_probs[rows],
        other_log_probs=step.other_log_probs[rows],
        gains=np.zeros(len(rows), np.float32),
        deal=step.deal[rows],
        seat=step.seat[rows],
        step=np.full(len(rows), number),
    )


Drawn = tuple[NDArray[np.int64], NDArray[np.float32]]
"""Actions [D] and their log-probabilities [D]."""


def choose(
    actor: Actor,
    words: NDArray[np.uint64],
    legal: NDArray[np.uint64],
    uniforms: list[NDArray[np.float64]],
    threads: Threads,
) -> list[Drawn]:
    """Draw actions, some rows at a time, once with each column [D] of uniform numbers."""
    size = rows_at_a_time(device_of(actor))
    parts = [
        (words[at : at + size], legal[at : at + size], [column[at : at + size] for column in uniforms])
        for at in range(0, len(words), size)
    ]
    chosen = threads.map(lambda part: _choose(actor, *part), parts)
    if not chosen:
        return [(np.empty(0, np.int64), np.empty(0, np.float32)) for _ in uniforms]
    together = []
    for draws in zip(*chosen, strict=True):
        actions, log_probs = zip(*draws, strict=True)
        together.append((np.concatenate(actions), np.concatenate(log_probs)))
    return together


@torch.inference_mode()
def _choose(
    actor: Actor, words: NDArray[np.uint64], legal: NDArray[np.uint64], uniforms: list[NDArray[np.float64]]
) -> list[Drawn]:
    """The same for rows that the network is asked about together."""
    device = device_of(actor)
    distribution = actor(packed_rows(words, device), legal_mask(legal, actor.spec.num_actions, device))
    drawn = []
    for column in uniforms:
        actions = distribution.sample(sent(column, device))
        drawn.append((actions.cpu().numpy(), distribution.log_prob(actions).cpu().numpy()))
    return drawn


def _collect(play: _Play, ledger: Ledger, credit: Any, steps: list[_Step], num_words: int) -> Rollout:
    """One rollout from settled tables and the steps that led there."""
    tables = play.tables
    num_deals = len(play.deal)
    results = ledger.results(tables, play.deal, credit)
    deal = np.concatenate([step.deal for step in steps])
    seat = np.concatenate([step.seat for step in steps])
    return training_of(tables.rules).rollout(
        words=np.concatenate([step.words for step in steps]),
        legal=np.concatenate([step.legal for step in steps]),
        actions=np.concatenate([step.actions for step in steps]),
        log_probs=np.concatenate([step.log_probs for step in steps]),
        rewards=results[deal, seat],
        results=results,
        deal=deal,
        seat=seat,
        step=np.repeat(np.arange(len(steps)), [len(step.deal) for step in steps]),
        num_words=num_words,
        opponent=play.line_ups.max(axis=1),  # the network's number is below all others
        own_seat=play.line_ups.argmin(axis=1).astype(np.int8),
        returns=tables.returns,
        num_players=np.full(num_deals, tables.rules.num_players, np.int8),
        asked=len(deal),
        **ledger.columns(tables, credit),
    )
