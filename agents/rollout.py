"""Self-play: whole deals, by one network in every seat or, in some, by one seat of it among other policies.

A rollout is a pure function of the network, a seed and the numbers of its deals: packs, starting pots and stacks,
line-ups and the random numbers behind every action come from streams numbered by deal, so nothing has to be remembered
between rollouts. Deals are played to their ends: no trajectory is ever cut.

Shapes: B deals, N seats, D decisions, W words of an observation, K words of hidden hands, A actions.
"""

from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from numpy.typing import NDArray

from agents.arena import seats_in, stream_seed
from agents.device import device_of, legal_mask, packed_rows, rows_at_a_time, sent
from agents.metrics import Stopwatch
from agents.network import Actor
from agents.policy import Decision, Policy, uniform_numbers
from agents.pot_credit import Credit
from agents.referee import strict_answer
from agents.threads import Threads
from bourre_env import Buffers, Rules, Tables, shuffled_decks
from bourre_env.bourre.rules import BUY_IN, MAX_HAND, MAX_PLAYERS
from bourre_env.deck import GOLDEN, mix_array, stream_keys

DEAL_STREAM = "training: packs of the deals"
ACTION_STREAM = "training: choices of the network"
POT_STREAM = "training: pots at the start"
STACK_STREAM = "training: stacks at the start"
LINE_UP_STREAM = "training: who sits where"
MOST_STEPS = MAX_PLAYERS * (MAX_HAND + 1)
"""Bound on the steps of a deal: every seat declares once and plays its hand."""

NETWORK = -1  # in a line-up; other entries are indices of policies
_NO_DECISION = 0  # any action; tables that are settled ignore it
_NOBODY = -2


@dataclass(frozen=True, slots=True)
class StartingPots:
    """How the pots of training deals begin.

    Deals are single, so a pot that only self-play itself could build up is drawn instead: untrained players would let
    it grow without bound.

    Attributes:
        carry_share: share of deals that begin with a carry; in the others everybody antes into an empty pot.
        largest_carry: largest carry, in antes; the logarithm of the carry is uniform.
        exempt_share: chance of each seat to be exempt from the ante of a deal with a carry.
    """

    carry_share: float = 0.0
    largest_carry: int = 1
    exempt_share: float = 0.0

    def draw(self, rules: Rules, seed: int, deal_ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Carry and exemptions of each deal.

        Returns:
            carry: [B] int64, whole antes in chips.
            exempt: [B, N] bool.
        """
        keys = stream_keys(stream_seed(seed, POT_STREAM), deal_ids)
        carries = _numbers(keys, 0) < self.carry_share
        antes = np.floor((self.largest_carry + 1.0) ** _numbers(keys, 1)).astype(np.int64)
        exempt = np.stack([_numbers(keys, 2 + seat) for seat in range(rules.num_players)], axis=1) < self.exempt_share
        return np.where(carries, antes * rules.ante, 0), exempt & carries[:, None]


@dataclass(frozen=True, slots=True)
class StartingStacks:
    """What each seat has at the start of a training deal at table stakes (6.7): drawn uniformly, each seat on its own.

    Attributes:
        smallest: fewest antes, at least 1.
        largest: most antes.
    """

    smallest: int = 1
    largest: int = BUY_IN

    def draw(self, rules: Rules, seed: int, deal_ids: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """[B, N] int64 chips; None on credit."""
        if rules.stacks == "credit":
            return None
        keys = stream_keys(stream_seed(seed, STACK_STREAM), deal_ids)
        numbers = np.stack([_numbers(keys, seat) for seat in range(rules.num_players)], axis=1)
        fewest, most = self.smallest * rules.ante, self.largest * rules.ante
        return fewest + np.floor(numbers * (most - fewest + 1)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Opponents:
    """Who sits at the tables besides the network.

    A network that only ever meets itself never sees three players stay with anything, and takes them for strong. So
    in a share of the deals one seat alone is the network's, and another policy has all the others; nothing is
    learned from what that policy does.

    Attributes:
        policies: the other policies.
        shares: for each of them the share of deals it sits in; the rest is pure self-play.
    """

    policies: tuple[Policy, ...] = ()
    shares: tuple[float, ...] = ()

    def line_ups(self, rules: Rules, seed: int, deal_ids: NDArray[np.int64]) -> NDArray[np.int8]:
        """[B, N] int8: `NETWORK`, or the index of a policy, in each seat of each deal."""
        keys = stream_keys(stream_seed(seed, LINE_UP_STREAM), deal_ids)
        # how many of the summed shares lie at or below the number: the first ones are the policies', the rest self-play
        policy = np.searchsorted(np.cumsum(self.shares), _numbers(keys, 0), side="right")
        policy[policy == len(self.policies)] = NETWORK
        line_ups = np.repeat(policy[:, None], rules.num_players, axis=1).astype(np.int8)
        seat = (_numbers(keys, 1) * rules.num_players).astype(np.int64)
        line_ups[np.arange(len(keys)), seat] = NETWORK
        return line_ups


@dataclass(frozen=True, slots=True)
class Rollout:
    """Finished deals and every decision of the network in them that had a choice.

    Attributes:
        words: [D, W + K] uint64, the observation and behind it the hands of the other seats, for the critic.
        legal: [D, 2] uint64, the legal actions.
        actions: [D] int64.
        log_probs: [D] float32, of the actions when they were taken.
        rewards: [D] float32, what the deal brought the seat that decided, in pots it played for.
        deal: [D] int64, index of the deal, 0 to B-1.
        seat: [D] int8, the seat that decided.
        step: [D] int64, in which step of all tables; it rises, and tables of another size go on from `MOST_STEPS`.
        num_words: W.
        self_play: [B] bool, deals in which the network had every seat.
        returns: [B, N] int32, chips won or lost.
        pot: [B] int64, chips in the pot once the antes were in.
        carry: [B] int64, chips left for the next deal.
        stayed: [B, N] bool, seats that stayed.
        bourre: [B, N] bool, seats that stayed and took no trick.
        num_players: [B] int8, seats at the table; where tables are smaller than N the last columns are empty.
        earned: [B, N] float64, what each distance from the dealer, who has 0, got out of the pot, its part of the carry
            included, in pots; sums to 1.
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
    self_play: NDArray[np.bool_]
    returns: NDArray[np.int32]
    pot: NDArray[np.int64]
    carry: NDArray[np.int64]
    stayed: NDArray[np.bool_]
    bourre: NDArray[np.bool_]
    num_players: NDArray[np.int8]
    earned: NDArray[np.float64]

    def __len__(self) -> int:
        """Number of decisions."""
        return len(self.actions)

    @property
    def num_deals(self) -> int:
        """B."""
        return len(self.pot)

    def nothing(self) -> "Rollout":
        """The same without any deal."""
        columns = {name: getattr(self, name)[:0] for name in _names_of_columns()}
        return replace(self, **columns)

    def following(self) -> NDArray[np.int64]:
        """[D] int64: the row of the same seat's next decision in the same deal, -1 where there is none."""
        trajectory = self.deal * MAX_PLAYERS + self.seat
        order = np.argsort(trajectory, kind="stable")  # rows are in the order of time
        goes_on = trajectory[order[:-1]] == trajectory[order[1:]]
        following = np.full(len(self), -1, np.int64)
        following[order[:-1][goes_on]] = order[1:][goes_on]
        return following


def _names_of_columns() -> list[str]:
    """The arrays of a rollout."""
    return [field.name for field in fields(Rollout) if field.name != "num_words"]


@dataclass(slots=True)
class _Step:
    """The network's decisions in one step of all tables: which deal each belongs to, and what was seen and done."""

    deal: NDArray[np.int64]
    seat: NDArray[np.int8]
    words: NDArray[np.uint64]
    legal: NDArray[np.uint64]
    actions: NDArray[np.int64]
    log_probs: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SelfPlay:
    """The deals of a training run, in all but the network that plays them.

    Attributes:
        rules: the rules of every table.
        seed: 0 to 2^64 - 1.
        seats_shown: seats the observation has room for.
        pots: how the pots begin.
        opponents: who else sits at the tables.
        stacks: what the seats have, at table stakes.
        parallel: whether the engine works on all of Numba's threads; worth it where a GPU waits for thousands of
            tables. The deals are the same.
    """

    rules: Rules
    seed: int
    seats_shown: int
    pots: StartingPots = StartingPots()
    opponents: Opponents = Opponents()
    stacks: StartingStacks = StartingStacks()
    parallel: bool = False

    def play(
        self,
        actor: Actor,
        deal_ids: NDArray[np.int64],
        *,
        threads: Threads,
        watch: Stopwatch,
        credit: Credit | None = None,
    ) -> Rollout:
        """Play deals to their ends; the number of a deal decides everything but the network's part in it.

        Args:
            actor: the network; its spec decides whether hidden hands are kept for a critic.
            deal_ids: [B] numbers of the deals, from 0.
            threads: ask the network on.
            watch: is told the time spent in the engine and in the network.
            credit: whose what stays in the pot is; everybody's alike when left out.
        """
        credit = credit or Credit.equal(self.rules.num_players)
        with watch.measure("engine"):
            tables, pot, antes = self._deal(deal_ids)
        line_ups = self.opponents.line_ups(self.rules, self.seed, deal_ids)
        keys = stream_keys(stream_seed(self.seed, ACTION_STREAM), deal_ids)
        seen = tables.buffers() if self.parallel else None
        steps: list[_Step] = []
        number = 0
        while True:
            with watch.measure("engine"):
                live = np.flatnonzero(tables.to_act >= 0)
                if not len(live):
                    return _collect(tables, pot, antes, credit, line_ups, steps, actor.spec.num_words)
            steps.append(self._step(actor, tables, line_ups, _words(keys, number), seen, threads=threads, watch=watch))
            number += 1

    def _deal(self, deal_ids: NDArray[np.int64]) -> tuple[Tables, NDArray[np.int64], NDArray[np.int64]]:
        """Tables with the deals begun, the pots [B] once the antes are in, and the antes paid [B, N]."""
        tables = Tables(self.rules, len(deal_ids), self.seats_shown)
        decks = shuffled_decks(stream_seed(self.seed, DEAL_STREAM), deal_ids, pack=self.rules.pack)
        carry, exempt = self.pots.draw(self.rules, self.seed, deal_ids)
        stacks = self.stacks.draw(self.rules, self.seed, deal_ids)
        tables.deal(decks, deal_ids % self.rules.num_players, carry, exempt, stacks=stacks)
        pot = tables.pot
        tables.play_forced()
        antes = np.where(exempt, 0, self.rules.ante)
        return tables, pot, antes if stacks is None else np.minimum(antes, stacks)

    def _step(
        self,
        actor: Actor,
        tables: Tables,
        line_ups: NDArray[np.int8],
        keys: NDArray[np.uint64],
        seen: Buffers | None,
        *,
        threads: Threads,
        watch: Stopwatch,
    ) -> _Step:
        """Take one decision at every table that is not settled.

        Args:
            actor: the network.
            tables: the tables.
            line_ups: who sits where.
            keys: [B] decide what is drawn.
            seen: what can be seen at the tables, kept up to date by all of Numba's threads; None to ask for it.
            threads: ask the network on.
            watch: is told where the time goes.
        """
        with watch.measure("engine"):
            to_act = tables.to_act
            packed, legal_packed = (
                (seen.observation, seen.legal) if seen else (tables.observe_packed(), tables.legal_packed())
            )
            hands = tables.hidden_packed()
            who = np.where(to_act >= 0, line_ups[np.arange(len(to_act)), to_act], _NOBODY)
            actions = np.full(tables.num_tables, _NO_DECISION, np.int64)
            for index, policy in enumerate(self.opponents.policies):
                rows = np.flatnonzero(who == index)
                if len(rows):
                    asked = (packed[rows], legal_packed[rows], to_act[rows], self.rules, keys[rows])
                    generator = np.random.default_rng(int(keys[0]))
                    actions[rows] = strict_answer(policy, Decision.from_packed(*asked), generator)
            rows = np.flatnonzero(who == NETWORK)
            words, legal = packed[rows], legal_packed[rows]
        with watch.measure("inference"):
            actions[rows], log_probs = choose(actor, words, legal, uniform_numbers(keys[rows]), threads)
        with watch.measure("engine"):
            if actor.spec.hidden_words:
                words = np.concatenate([words, hands[rows, 1:]], axis=1)
            tables.step(actions, play_forced=True, out=seen, parallel=seen is not None)
        return _Step(rows, to_act[rows], words, legal, actions[rows], log_probs)


def choose(
    actor: Actor,
    words: NDArray[np.uint64],
    legal: NDArray[np.uint64],
    uniforms: NDArray[np.float64],
    threads: Threads,
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Drawn actions [D] and their log-probabilities [D], some rows at a time."""
    size = rows_at_a_time(device_of(actor))
    parts = [
        (words[start : start + size], legal[start : start + size], uniforms[start : start + size])
        for start in range(0, len(words), size)
    ]
    chosen = threads.map(lambda part: _choose(actor, *part), parts)
    if not chosen:
        return np.empty(0, np.int64), np.empty(0, np.float32)
    return np.concatenate([actions for actions, _ in chosen]), np.concatenate([log_probs for _, log_probs in chosen])


@torch.inference_mode()
def _choose(
    actor: Actor, words: NDArray[np.uint64], legal: NDArray[np.uint64], uniforms: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Drawn actions [D] and their log-probabilities [D]."""
    device = device_of(actor)
    distribution = actor(packed_rows(words, device), legal_mask(legal, actor.spec.num_actions, device))
    actions = distribution.sample(sent(uniforms, device))
    return actions.cpu().numpy(), distribution.log_prob(actions).cpu().numpy()


def _collect(
    tables: Tables,
    pot: NDArray[np.int64],
    antes: NDArray[np.int64],
    credit: Credit,
    line_ups: NDArray[np.int8],
    steps: list[_Step],
    num_words: int,
) -> Rollout:
    """One rollout from settled tables and the steps that led there."""
    num_players = tables.rules.num_players
    stayed = seats_in(tables.records["stayed"], num_players)
    no_trick = tables.records["tricks_won"][:, :num_players] == 0
    played_out = tables.records["tricks_done"] == tables.rules.hand_size  # a lone player needs no trick (3.8)
    dealer = tables.records["dealer"].astype(np.int64)
    of_pot, credited = credit.chips(tables.carry, tables.exempt, dealer, tables.rules.ante)
    rewards = ((tables.returns + credited) / pot[:, None]).astype(np.float32)
    by_distance = (dealer[:, None] + np.arange(num_players)) % num_players
    earned = (tables.returns + antes + of_pot) / pot[:, None]
    deal = np.concatenate([step.deal for step in steps])
    seat = np.concatenate([step.seat for step in steps])
    return Rollout(
        words=np.concatenate([step.words for step in steps]),
        legal=np.concatenate([step.legal for step in steps]),
        actions=np.concatenate([step.actions for step in steps]),
        log_probs=np.concatenate([step.log_probs for step in steps]),
        rewards=rewards[deal, seat],
        deal=deal,
        seat=seat,
        step=np.repeat(np.arange(len(steps)), [len(step.deal) for step in steps]),
        num_words=num_words,
        self_play=(line_ups == NETWORK).all(axis=1),
        returns=tables.returns,
        pot=pot,
        carry=tables.carry,
        stayed=stayed,
        bourre=stayed & no_trick & played_out[:, None],
        num_players=np.full(len(pot), num_players, np.int8),
        earned=np.take_along_axis(earned, by_distance, axis=1),
    )


def _words(keys: NDArray[np.uint64], number: int) -> NDArray[np.uint64]:
    """[B] uint64: the word `number` of each stream [B]."""
    with np.errstate(over="ignore"):
        return mix_array(keys + GOLDEN * np.uint64(number + 1))


def _numbers(keys: NDArray[np.uint64], number: int) -> NDArray[np.float64]:
    """[B] float64 in [0, 1): the uniform number `number` of each stream [B]."""
    return uniform_numbers(_words(keys, number))
