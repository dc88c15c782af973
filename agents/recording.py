"""Deals of the arena as hand records: played again alone, and written down action by action.

What happens in a deal depends on the experiment's seed, its number and the policies, not on what is played beside it,
so the arena itself plays a single row again and a referee notes the answers.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.arena import decks_of, play_line_ups
from agents.blocks import Blocks, sides_of_places
from agents.bourre.rules import bourre_rules
from agents.entrants import Entrant
from agents.policy import Decision, Policy, told
from agents.referee import NO_ACTION, Referee
from agents.results import LineUp, Results, Terms
from bourre_env.bits import legal_bits
from bourre_env.bourre.options import stacks_bought
from bourre_env.bourre.rules import Rules
from bourre_env.bourre.tables import Tables
from bourre_env.notation import FORFEIT, DealRecord


class NotRecordedError(ValueError):
    """A deal that cannot be written down as it was played. The message says why."""


class _Scribe(Referee):
    """A referee who notes every answer."""

    def __init__(self, silenced: Collection[str]) -> None:
        """Nothing has been answered yet."""
        super().__init__(silenced=set(silenced))
        self.answers: list[int] = []

    def ask(self, policy: Policy, decision: Decision, generator: np.random.Generator) -> NDArray[np.int64]:
        """[D] int64: what a referee without a pen would say."""
        actions = Referee.ask(self, policy, decision, generator)
        self.answers += actions.tolist()
        return actions


def record_deal(
    terms: Terms,
    policies: Mapping[str, Policy],
    line_up: LineUp,
    *,
    seed: int,
    deal_id: int,
    rotation: int,
    silenced: Collection[str] = (),
) -> DealRecord:
    """One deal of a block as it was played.

    Args:
        terms: rules and stakes, of single deals.
        policies: by name; each must be called by that name.
        line_up: names by place.
        seed: of the experiment.
        deal_id: the deal.
        rotation: the policy of place p sits in seat (p + rotation) mod N.
        silenced: names of policies that are not asked, since they were too slow.

    Raises:
        ValueError: the terms are of sessions.
        PolicyError: a policy cannot play by the rules.
    """
    if terms.session != 1:
        raise ValueError(f"a session of {terms.session} deals has as many records; use record_session")
    (record,) = record_session(
        terms, policies, line_up, seed=seed, deal_id=deal_id, rotation=rotation, silenced=silenced
    )
    return record


def record_session(
    terms: Terms,
    policies: Mapping[str, Policy],
    line_up: LineUp,
    *,
    seed: int,
    deal_id: int,
    rotation: int,
    silenced: Collection[str] = (),
) -> list[DealRecord]:
    """All deals of one session of a block, in order; of a single deal just the one. Arguments as in `record_deal`."""
    played = play_again(terms, policies, line_up, seed=seed, deal_id=deal_id, rotation=rotation, silenced=silenced)
    return [deal.record() for deal in played]


@dataclass(frozen=True, slots=True)
class PlayedDeal:
    """A deal that has been played again; to write it down takes longer than to play it.

    Attributes:
        rules: the house rules.
        opening: the table as it was dealt, a record of dtype `TABLE`.
        actions: ids of all actions, `FORFEIT` for a forfeit.
        chips: won or lost by each seat.
    """

    rules: Rules
    opening: np.record
    actions: tuple[int, ...]
    chips: tuple[int, ...]

    def record(self) -> DealRecord:
        """The hand record."""
        return DealRecord.of_table(self.rules, self.opening, self.actions)


def play_again(
    terms: Terms,
    policies: Mapping[str, Policy],
    line_up: LineUp,
    *,
    seed: int,
    deal_id: int,
    rotation: int,
    silenced: Collection[str] = (),
) -> list[PlayedDeal]:
    """The deals of one session of a block, or its one deal, played again. Arguments as in `record_deal`."""
    names = list(dict.fromkeys(line_up))
    size = terms.rules.num_players
    seating = [names.index(line_up[(seat - rotation) % size]) for seat in range(size)]
    scribe = _Scribe(silenced)
    play_line_ups(
        terms.rules,
        [policies[name] for name in names],
        [seating],
        seed=seed,
        deal_ids=[deal_id],
        buy_in=terms.buy_in,
        session=terms.session,
        referee=scribe,
    )
    return list(_with_forced(terms, seed, deal_id, iter(scribe.answers)))


def _with_forced(terms: Terms, seed: int, deal_id: int, answers: Iterator[int]) -> Iterator[PlayedDeal]:
    """The deals of a session with all their actions, given what was answered at its choices."""
    rules = bourre_rules(terms.rules, "the report of a deal")
    tables, deals = Tables(rules, 1), np.array([deal_id])
    stacks = stacks_bought(terms.buy_in, rules, 1)
    carry, exempt = np.zeros(1, np.int64), np.zeros((1, rules.num_players), np.bool_)
    for number in range(terms.session):
        decks = decks_of(rules, seed, deals, number, terms.session)
        tables.deal(decks, (deals + number) % rules.num_players, carry, exempt, stacks=stacks)
        opening = tables.records[0].copy()
        actions = _play_out(tables, answers)
        yield PlayedDeal(rules, opening, tuple(actions), tuple(tables.returns[0].tolist()))
        carry, exempt = tables.carry, tables.exempt


def _play_out(tables: Tables, answers: Iterator[int]) -> list[int]:
    """Play the deal at a table to its end; all its actions, those without a choice included."""
    actions = []
    while tables.to_act[0] >= 0:
        legal = legal_bits(tables.legal_packed()[0])
        is_forced = legal & (legal - 1) == 0
        action = legal.bit_length() - 1 if is_forced else next(answers)
        actions.append(FORFEIT if action == NO_ACTION else action)
        if action == NO_ACTION:
            tables.forfeit([0])
        else:
            tables.step([action])
    return actions


class Recorder:
    """Plays deals of some results again, with policies loaded by their specs when they are first needed."""

    def __init__(self, results: Results) -> None:
        """Nobody is loaded yet."""
        self._results = results
        self._policies: dict[str, Policy] = {}
        self._problems: dict[str, str] = {}

    def play(self, seed: int, line_up: LineUp, deal_id: int, rotation: int) -> list[PlayedDeal]:
        """The deals of a session, or the one deal, that ended as the results say.

        Args:
            seed: of the experiment.
            line_up: names by place.
            deal_id: the deal or session, of which the results hold the block.
            rotation: which of the block's N.

        Raises:
            NotRecordedError: a policy cannot be loaded, is not the one that played, or has now played otherwise.
            PolicyError: a policy cannot play by the rules.
        """
        results = self._results
        policies = {name: self._policy(name) for name in dict.fromkeys(line_up)}
        silenced = {name for name, faults in results.faults.items() if faults.overtime}
        played = play_again(
            results.terms, policies, line_up, seed=seed, deal_id=deal_id, rotation=rotation, silenced=silenced
        )
        chips = [sum(of_seat) for of_seat in zip(*(deal.chips for deal in played), strict=True)]
        if chips != _chips_in(results.blocks[seed, line_up], deal_id, rotation):
            raise NotRecordedError(
                f"deal {deal_id} of {', '.join(line_up)} now ends in another way than in the tournament; a policy has "
                "changed, or does not draw its random numbers from decision.key"
            )
        return played

    def _policy(self, name: str) -> Policy:
        """The policy of an entrant."""
        if name not in self._policies and name not in self._problems:
            spec, identity = self._results.entrants[name]
            try:
                entrant = Entrant(name, spec)
                self._policies[name] = entrant.load()  # before the digest: loading makes the module known
                if entrant.identity() != identity:
                    self._problems[name] = f"what stands behind {name!r} ({spec}) has changed since it played"
            except Exception as error:  # a user's module may raise anything
                self._problems[name] = f"{name!r} ({spec}) cannot be loaded: {told(error)}"
        if name in self._problems:
            raise NotRecordedError(self._problems[name])
        return self._policies[name]


def _chips_in(blocks: Blocks, deal_id: int, rotation: int) -> list[int]:
    """[N] chips of each seat in one rotation of a block."""
    (row,) = np.flatnonzero(blocks.deal_ids == deal_id)
    by_place = blocks.returns[row, rotation]
    seats = sides_of_places(blocks.rules.num_players)[rotation]
    return [int(by_place[place]) for place in np.argsort(seats)]
