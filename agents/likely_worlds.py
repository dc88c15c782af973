"""Worlds that a seat may take for the true one, when it knows by which policy the others play.

`Tables.reshuffle_unseen` draws worlds in which the others acted blindly. Here each such world is played again from its
pack, the policy acting for the others, and it is kept when that shows the observer exactly what it has seen. What is
kept has the chances Bayes' rule gives: for any policy, drawn actions included, and without asking for probabilities.

Shapes: A observers, P proposals each, K worlds, W words of an observation.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.policy import Decision, Policy
from agents.referee import strict_answer
from agents.retracing import ARRIVED, OFF_COURSE, OTHERS_ACT, next_steps
from bourre_env.bourre.tables import Tables
from bourre_env.deck import GOLDEN, mix_array, stream_keys

_ANSWERS_A_SEAT = np.uint64(64)  # room for the decisions of one seat in a stream of answers


@dataclass(frozen=True, slots=True)
class Worlds:
    """Some worlds, each at the decision of its observer.

    Attributes:
        tables: tables among which the worlds are.
        rows: [K] int64, the rows of the worlds.
        owner: [K] int64, index of the observer of each, 0 to A - 1, ascending.
        place: [K] int64, the number of each world among those of its observer.
        keys: [K] uint64, names the random numbers by which a world is played on.
    """

    tables: Tables
    rows: NDArray[np.int64]
    owner: NDArray[np.int64]
    place: NDArray[np.int64]
    keys: NDArray[np.uint64]

    def every_other(self, first: int) -> "Worlds":
        """The worlds in even places (0) or in odd ones (1), numbered anew."""
        half = np.flatnonzero(self.place % 2 == first)
        return Worlds(self.tables, self.rows[half], self.owner[half], self.place[half] // 2, self.keys[half])

    def owned_by(self, owners: NDArray[np.int64]) -> "Worlds":
        """The same worlds of other observers: `owners` [A] says whose those of each are, ascending."""
        return Worlds(self.tables, self.rows, owners[self.owner], self.place, self.keys)


@dataclass(frozen=True, slots=True)
class Proposals:
    """Blind worlds, and what became of them when they were played again.

    Attributes:
        blind: A * P tables, P for each observer, as they were drawn.
        played: the same deals, those that are kept at the present decision of their observers.
        kept: [A, P] bool, whether the observer saw what it has seen.
        keys: [A * P] uint64, which named the random numbers of the policy.
    """

    blind: Tables
    played: Tables
    kept: NDArray[np.bool_]
    keys: NDArray[np.uint64]

    def likely(self, chosen: NDArray[np.bool_], first: NDArray[np.int64] | int = 0) -> Worlds:
        """Worlds that were kept, those marked in `chosen` [A, P], numbered from `first` [A] on."""
        return _marked(self.played, chosen & self.kept, self.keys, first)

    def drawn(self, chosen: NDArray[np.bool_]) -> Worlds:
        """Worlds as they were drawn, those marked in `chosen` [A, P]."""
        return _marked(self.blind, chosen, self.keys, 0)


def _marked(
    tables: Tables, chosen: NDArray[np.bool_], keys: NDArray[np.uint64], first: NDArray[np.int64] | int
) -> Worlds:
    """The worlds that are marked in `chosen` [A, P], whose rows [A * P] the tables are."""
    rows = np.flatnonzero(chosen)
    place = (chosen.cumsum(axis=1) - 1 + np.reshape(first, (-1, 1))).ravel()[rows]
    # not the random numbers by which a world was accepted: those say what was done, not what will be
    kept = tables.take(rows) if rows.size else tables  # proposals are many, and few are kept
    return Worlds(kept, np.arange(len(rows)), rows // chosen.shape[1], place, mix_array(keys[rows]))


def propose(seen: Tables, policy: Policy, *, seed: int, numbers: NDArray[np.int64]) -> Proposals:
    """Draw worlds for the seats to act at some tables, and find out which of them the policy leads to.

    What is drawn for an observer depends on what it has seen and done, its numbers, the seed and the policy alone.

    Args:
        seen: A tables, of which only what their seats to act have seen is looked at.
        policy: how all other seats play.
        seed: 0 to 2^64 - 1.
        numbers: [A, P] integers from 0 that name the random streams.

    Raises:
        PolicyFailedError: the policy raised, or did not answer with legal actions.
    """
    owner = np.repeat(np.arange(seen.num_tables), numbers.shape[1])
    asking = seen.take(owner)
    blind = asking.reshuffle_unseen(asking.to_act, seed, streams=numbers.ravel())
    keys = stream_keys(seed, numbers.ravel())
    played = dealt_again(blind)
    kept = _shows_the_same(played, policy, seen, owner, keys)
    return Proposals(blind, played, kept.reshape(numbers.shape), keys)


def likely_worlds(
    tables: Tables,
    policy: Policy,
    rows: NDArray[np.int64],
    *,
    seed: int,
    streams: NDArray[np.int64],
    proposals: int,
    worlds: int,
    fewest: int,
) -> tuple[Worlds, Worlds]:
    """Worlds for the seats to act at some tables, no two of one observer from the same proposal.

    Where too few worlds are kept blind ones have to do; that is so late in a deal, when little is left to decide.

    Args:
        tables: the tables.
        policy: how all other seats play.
        rows: [A] tables whose seats to act ask.
        seed: 0 to 2^64 - 1.
        streams: [A] integers from 0 that tell the decisions of an experiment apart.
        proposals: P, blind worlds tried for each observer.
        worlds: most worlds an observer gets.
        fewest: an observer for which fewer are kept gets blind ones instead.

    Returns:
        The worlds of those observers for which enough were kept, and blind ones for all others.

    Raises:
        PolicyFailedError: the policy raised, or did not answer with legal actions.
    """
    numbers = streams[:, None] * proposals + np.arange(proposals)
    proposed = propose(tables.take(rows), policy, seed=seed, numbers=numbers)
    kept = proposed.kept
    is_rich = kept.sum(axis=1) >= fewest
    chosen = is_rich[:, None] & (kept.cumsum(axis=1) <= worlds)
    instead = ~is_rich[:, None] & (np.arange(proposals) < worlds)
    return proposed.likely(chosen), proposed.drawn(instead)


def dealt_again(worlds: Tables) -> Tables:
    """The deals of some tables that are not settled, from their start; suits are renamed so that trumps are clubs."""
    rules, records = worlds.rules, worlds.records
    tables = Tables(rules, worlds.num_tables, worlds.seats_shown)
    stacks = worlds.stacks
    if stacks is not None:
        stacks = stacks - worlds.returns  # nothing has been won yet, so these are the antes and fees paid
    tables.deal(
        records["deck"][:, : len(rules.pack)], records["dealer"], worlds.carry, exempt=worlds.exempt, stacks=stacks
    )
    tables.play_forced()
    return tables


def _shows_the_same(
    tables: Tables, policy: Policy, seen: Tables, owner: NDArray[np.int64], keys: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Play deals [R] up to the present decision of their observers; whether these see what they have seen, [R] bool.

    Args:
        tables: the deals at their start; afterwards those that show the same stand at the present decision.
        policy: acts for all seats but the observers.
        seen: the tables of the observers.
        owner: [R] the observers, rows of `seen`.
        keys: [R] name the random numbers of the policy.
    """
    present = seen.observe_packed()
    shows = np.zeros(len(owner), np.bool_)
    answers = Answers(policy, keys, tables.rules.num_players)
    rules, records, known = (array.view(np.ndarray) for array in (tables.rules.record(), tables.records, seen.records))
    going = np.arange(len(owner))
    while going.size:
        actions = np.empty(len(going), np.int64)
        next_steps(records, going, known, owner[going], rules, actions)
        here = going[actions == ARRIVED]
        if here.size:
            shows[here] = (tables.view_rows(here)[0] == present[owner[here]]).all(axis=1)
        goes_on = (actions != ARRIVED) & (actions != OFF_COURSE)
        going, actions = going[goes_on], actions[goes_on]
        asked = actions == OTHERS_ACT
        others = going[asked]
        packed, legal = tables.view_rows(others)
        actions[asked] = answers.next(others, packed, legal, tables.to_act[others], tables)
        tables.step(actions, rows=going, play_forced=True)
    return shows


class Answers:
    """What a policy does in imagined deals: one stream of random numbers for each deal, split by seat and decision."""

    def __init__(self, policy: Policy, keys: NDArray[np.uint64], num_players: int) -> None:
        """Nobody has answered yet.

        Args:
            policy: answers.
            keys: [R] one for each deal; equal keys give equal random numbers.
            num_players: seats at the table.
        """
        self._policy, self._keys = policy, keys
        self._number = np.zeros((len(keys), num_players), np.uint64)
        self._generator = np.random.default_rng(int(keys[0]) if len(keys) else 0)

    def next(
        self,
        rows: NDArray[np.int64],
        packed: NDArray[np.uint64],
        legal: NDArray[np.uint64],
        seats: NDArray[np.int8],
        tables: Tables,
    ) -> NDArray[np.int64]:
        """Legal actions for the next decisions of these seats, [D] int64."""
        if not len(rows):
            return np.empty(0, np.int64)
        self._number[rows, seats] += np.uint64(1)
        places = seats.astype(np.uint64) * _ANSWERS_A_SEAT + self._number[rows, seats]
        keys = mix_array(self._keys[rows] + GOLDEN * places)
        return strict_answer(
            self._policy, Decision.from_packed(packed, legal, seats, tables.rules, keys), self._generator
        )
