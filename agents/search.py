"""A policy that looks ahead: it imagines what it has not seen, tries its actions there and plays what promises most.

Another policy, the prior, says what this seat would do without looking ahead and how it plays on. It speaks for
everybody else, too, unless another model of the others is given. Worlds are deals in which these would have shown this
seat what it has seen (`likely_worlds`); they are drawn from a table made of the observation alone (`tables_as_seen`).
All actions are tried in the same worlds with the same random numbers, and the prior's own action is left only for a
gain that stands out from the noise.

This is one step of policy improvement by rollouts, with inference by the prior as in Rebstock et al. (2019). Where too
few worlds are found the prior decides.

Shapes: D decisions, A of them that are searched, C candidates, P proposals, W words of an observation.
"""

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from agents.bourre.rules import bourre_rules
from agents.likely_worlds import Worlds, propose
from agents.lookahead import NO_ACTION, better_of, candidates_of, pass_action_of, try_actions
from agents.policy import Decision, Policy, check_rules
from agents.referee import strict_answer
from bourre_env.bits import BITS as WORD_BITS
from bourre_env.bourre import observation as at
from bourre_env.bourre.options import stacks_bought
from bourre_env.bourre.recalled import tables_as_seen
from bourre_env.bourre.table import PLAY
from bourre_env.bourre.tables import Tables
from bourre_env.cards import ALL_CARDS
from bourre_env.deck import GOLDEN, mix_array, shuffled_decks, stream_keys
from bourre_env.family import GameRules

ASKED_AT_ONCE = 32  # decisions; bounds the memory and changes nothing else
SEED = 20260301  # of the worlds; what tells decisions apart is their key
KINDS = ("declare", "draw", "lead", "follow")


@dataclass(frozen=True, slots=True)
class Effort:
    """How hard and about what to think.

    Attributes:
        worlds: most worlds an action is tried in.
        proposals: blind worlds drawn at once to find those.
        rounds: times that so many are drawn at most, until there are enough worlds; without a limit of time only the
            product of the two matters to what is played.
        fewest: with fewer worlds the prior decides.
        caution: standard errors by which the gain over the prior's action must exceed 0.
        time: seconds a decision after which no further round begins; 0 for no limit. Then the clock has a say in what
            is played, and results differ from run to run.
        kinds: of decisions that are searched: whether to stay, which cards to throw away, what to lead, what to follow
            with.
    """

    worlds: int = 256
    proposals: int = 2048
    rounds: int = 4
    fewest: int = 8
    caution: float = 1.0
    time: float = 0.0
    kinds: frozenset[str] = frozenset({"declare", "lead"})


@dataclass(frozen=True, slots=True)
class SearchPolicy:
    """Looks ahead from what a seat has seen; the key of the decision alone decides what it imagines.

    Attributes:
        name: what reports call it.
        prior: what is played unless something better is found, and how the seat plays on.
        effort: how hard to think.
        others: how all other seats are taken to play; None for as the prior does.
    """

    name: str
    prior: Policy
    effort: Effort
    others: Policy | None = None

    @property
    def model(self) -> Policy:
        """How all other seats are taken to play."""
        return self.prior if self.others is None else self.others

    def check_rules(self, rules: GameRules) -> None:
        """Whatever prior and model say; and get ready: compiling takes longer than a referee waits for an answer."""
        rules = bourre_rules(rules, self.name)
        for policy in (self.prior, self.model):
            check_rules(policy, rules)
        tables = Tables(rules, 1)
        tables.deal(shuffled_decks(SEED, [0], pack=rules.pack), 0, stacks=stacks_bought(None, rules, 1))
        packed, legal = tables.observe_packed(), tables.legal_packed()
        first = Decision.from_packed(packed, legal, tables.to_act, rules, stream_keys(SEED, [0]))
        quick = replace(self, effort=Effort(worlds=4, proposals=64, rounds=1, fewest=1, kinds=frozenset(KINDS)))
        quick.act(first, np.random.default_rng(SEED))

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.int64]:
        """[D] actions."""
        decision = decision.showing(decision.rules.num_players)
        own = strict_answer(self.prior, decision, rng)
        has_choice = np.bitwise_count(decision.legal_packed).sum(axis=1) > 1
        rows = np.flatnonzero(has_choice)
        candidates = self.candidates(part_of(decision, rows), own[rows], rng)
        tried = (candidates != NO_ACTION).sum(axis=1) > 1
        rows, candidates = rows[tried], candidates[tried]
        for start in range(0, len(rows), ASKED_AT_ONCE):
            some = slice(start, start + ASKED_AT_ONCE)
            own[rows[some]] = self.best(part_of(decision, rows[some]), candidates[some])
        return own

    def candidates(self, decision: Decision, own: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """[A, C] actions worth trying, the prior's own first, filled up with `NO_ACTION`."""
        if not len(decision):
            return np.empty((0, 1), np.int64)
        kinds, rules = self.effort.kinds, bourre_rules(decision.rules, self.name)
        pass_action = pass_action_of(rules)
        stays = self._ways_to_stay(decision, own, rng)
        found = candidates_of(rules, decision.packed, decision.legal_packed, own, stays)
        is_play = is_in_play(decision)
        is_lead = is_to_lead(decision)
        wanted = np.where(is_lead, "lead" in kinds, "follow" in kinds)
        found[is_play & ~wanted, 1:] = NO_ACTION
        declares = ~is_play[:, None] & (np.arange(found.shape[1]) > 0)
        if "declare" not in kinds:
            found[declares & ((found == pass_action) != (own == pass_action)[:, None])] = NO_ACTION
        if "draw" not in kinds:
            found[declares & (found != pass_action) & (found != stays[:, None])] = NO_ACTION
        return found

    def _ways_to_stay(self, decision: Decision, own: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """[A] what the prior does, or where it passes would do if it could not."""
        pass_action = pass_action_of(bourre_rules(decision.rules, self.name))
        word, bit = divmod(pass_action, WORD_BITS)
        legal = decision.legal_packed.copy()
        legal[:, word] &= ~np.uint64(1 << bit)
        stays = own.copy()
        rows = np.flatnonzero((own == pass_action) & legal.any(axis=1))
        if rows.size:
            forced = Decision.from_packed(
                decision.packed[rows], legal[rows], decision.seat[rows], decision.rules, decision.key[rows]
            )
            stays[rows] = strict_answer(self.prior, forced, rng)
        return stays

    def best(self, decision: Decision, candidates: NDArray[np.int64]) -> NDArray[np.int64]:
        """[A] the candidates [A, C] to play."""
        values = self.values(self.imagined(decision), candidates)
        has_enough = (~np.isnan(values[:, 0])).sum(axis=1) >= self.effort.fewest
        return np.where(has_enough, better_of(candidates, values, self.effort.caution), candidates[:, 0])

    def imagined(self, decision: Decision) -> list[Worlds]:
        """Worlds that fit, found in rounds."""
        effort = self.effort
        seen = tables_as_seen(bourre_rules(decision.rules, self.name), decision.packed, decision.seat)
        until = time.monotonic() + effort.time * len(decision)
        found = np.zeros(len(decision), np.int64)
        groups: list[Worlds] = []
        for number in range(effort.rounds):
            asking = np.flatnonzero(found < effort.worlds)
            if not asking.size or (number and effort.time and time.monotonic() > until):
                break
            groups.append(self._round(seen, decision.key, asking, found, number))
            found += np.bincount(groups[-1].owner, minlength=len(decision))
        return groups

    def _round(
        self, seen: Tables, keys: NDArray[np.uint64], asking: NDArray[np.int64], found: NDArray[np.int64], number: int
    ) -> Worlds:
        """What one round of proposals finds for the decisions that ask, numbered behind what was `found` [A]."""
        effort = self.effort
        places = np.arange(number * effort.proposals + 1, (number + 1) * effort.proposals + 1).astype(np.uint64)
        numbers = (mix_array(keys[asking, None] + GOLDEN * places) >> np.uint64(1)).astype(np.int64)
        proposed = propose(seen.take(asking), self.model, seed=SEED, numbers=numbers)
        room = effort.worlds - found[asking]
        chosen = proposed.kept & (proposed.kept.cumsum(axis=1) <= room[:, None])
        return proposed.likely(chosen, found[asking]).owned_by(asking)

    def values(self, groups: list[Worlds], candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """[A, C, worlds] what the candidates bring in each world in antes, NaN where there is none."""
        values = np.full((*candidates.shape, self.effort.worlds), np.nan)
        for worlds in groups:
            try_actions(worlds, candidates, self.prior, values, others=self.model)
        return values


def is_in_play(decision: Decision) -> NDArray[np.bool_]:
    """[D] whether a card is to be played."""
    flags: NDArray[np.bool_] = decision.packed[:, at.OWN_HAND] >> np.uint64(at.PHASE + PLAY) & np.uint64(1) != 0
    return flags


def is_to_lead(decision: Decision) -> NDArray[np.bool_]:
    """[D] whether a card is to be led."""
    nothing_led: NDArray[np.bool_] = decision.packed[:, at.FIRST_TRICK] & np.uint64(ALL_CARDS) == 0
    return is_in_play(decision) & nothing_led


def part_of(decision: Decision, rows: NDArray[np.int64]) -> Decision:
    """Some of several decisions."""
    return Decision.from_packed(
        decision.packed[rows], decision.legal_packed[rows], decision.seat[rows], decision.rules, decision.key[rows]
    )
