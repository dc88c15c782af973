"""Worlds that a seat may take for the true one, when it knows by which policy the others play.

`Tables.reshuffle_unseen` draws worlds in which the others acted blindly. Here each such world is played again from its
pack, the policy acting for the others, and it is kept when that shows the observer exactly what it has seen. What is
kept has the chances Bayes' rule gives: for any policy, drawn actions included, and without asking for probabilities.
Where too few worlds are kept the blind ones have to do; that is so late in a deal, when little is left to decide.

Shapes: A observers, P proposals each, T decisions so far, W words of an observation, K worlds.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agents.policy import Decision, Policy
from agents.referee import strict_answer
from bourre_env.bourre.tables import Tables
from bourre_env.deck import GOLDEN, mix_array, stream_keys

_ANSWERS_A_SEAT = np.uint64(64)  # room for the decisions of one seat in a stream of answers


class History:
    """What some observers have seen and done at each of their decisions in a deal.

    Attributes:
        seen: [R, T, W] uint64, packed observations.
        done: [R, T] int64, actions.
        number: [R] int64, decisions noted so far.
    """

    def __init__(self, num_rows: int, num_decisions: int, num_words: int) -> None:
        """Nothing has happened yet at R tables."""
        self.seen = np.zeros((num_rows, num_decisions, num_words), np.uint64)
        self.done = np.zeros((num_rows, num_decisions), np.int64)
        self.number = np.zeros(num_rows, np.int64)

    def note(self, rows: NDArray[np.int64], packed: NDArray[np.uint64], actions: NDArray[np.int64]) -> None:
        """Add what the observers of some rows saw and did."""
        self.seen[rows, self.number[rows]] = packed
        self.done[rows, self.number[rows]] = actions
        self.number[rows] += 1


@dataclass(frozen=True, slots=True)
class Worlds:
    """Some worlds, each at the decision of its observer.

    Attributes:
        tables: tables among which the worlds are.
        rows: [K] int64, the rows of the worlds.
        owner: [K] int64, index of the observer of each, 0 to A - 1, ascending.
        keys: [K] uint64, names the random numbers by which a world is played on.
    """

    tables: Tables
    rows: NDArray[np.int64]
    owner: NDArray[np.int64]
    keys: NDArray[np.uint64]

    @property
    def place(self) -> NDArray[np.int64]:
        """[K] int64: the number of each world among those of its observer, from 0."""
        place: NDArray[np.int64] = np.arange(len(self.owner)) - np.searchsorted(self.owner, self.owner)
        return place

    def every_other(self, first: int) -> "Worlds":
        """The worlds in even places (0) or in odd ones (1)."""
        half = np.flatnonzero(self.place % 2 == first)
        return Worlds(self.tables, self.rows[half], self.owner[half], self.keys[half])


def likely_worlds(
    tables: Tables,
    policy: Policy,
    history: History,
    rows: NDArray[np.int64],
    *,
    seed: int,
    streams: NDArray[np.int64],
    proposals: int,
    worlds: int,
    fewest: int,
) -> tuple[Worlds, Worlds]:
    """Worlds for the seats to act at some tables, no two of one observer from the same proposal.

    What is drawn for an observer depends on what it has seen and done, its stream, the seed and the policy alone.

    Args:
        tables: the tables; the packs of their deals have been dealt to empty pots.
        policy: how all other seats play.
        history: of the observers, one row a table, the present decision left out.
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
    observers = np.repeat(rows, proposals)
    numbers = (streams[:, None] * proposals + np.arange(proposals)).ravel()
    asking = tables.take(observers)
    seats = asking.to_act
    blind = asking.reshuffle_unseen(seats, seed, streams=numbers)
    keys = stream_keys(seed, numbers)
    played = dealt_again(blind)
    kept = _shows_the_same(played, policy, history, observers, seats, asking.observe_packed(), keys)
    kept = kept.reshape(len(rows), proposals)
    is_rich = kept.sum(axis=1) >= fewest
    chosen = kept & is_rich[:, None] & (kept.cumsum(axis=1) <= worlds)
    instead = ~is_rich[:, None] & (np.arange(proposals) < worlds)
    return _chosen(played, chosen, keys), _chosen(blind, instead, keys)


def _chosen(tables: Tables, chosen: NDArray[np.bool_], keys: NDArray[np.uint64]) -> Worlds:
    """The worlds that are marked in `chosen` [A, P], whose rows [A * P] the tables are."""
    rows = np.flatnonzero(chosen)
    # not the random numbers by which a world was accepted: those say what was done, not what will be
    return Worlds(tables, rows, rows // chosen.shape[1], mix_array(keys[rows]))


def dealt_again(worlds: Tables) -> Tables:
    """The deals of some tables from their start; suits are renamed so that trumps are clubs."""
    tables = Tables(worlds.rules, worlds.num_tables, worlds.seats_shown)
    records = worlds.records
    tables.deal(records["deck"][:, : len(worlds.rules.pack)], records["dealer"])
    tables.play_forced()
    return tables


def _shows_the_same(
    tables: Tables,
    policy: Policy,
    history: History,
    observers: NDArray[np.int64],
    seats: NDArray[np.int8],
    present: NDArray[np.uint64],
    keys: NDArray[np.uint64],
) -> NDArray[np.bool_]:
    """Play deals [R] up to the present decision of their observers; whether these see what they have seen, [R] bool.

    Args:
        tables: the deals at their start; afterwards those that show the same stand at the present decision.
        policy: acts for all seats but the observers.
        history: of the observers, whose own actions are taken from it.
        observers: [R] rows of the history.
        seats: [R] the observers' seats.
        present: [R, W] what they see now.
        keys: [R] name the random numbers of the policy.
    """
    met = np.zeros(len(observers), np.int64)  # decisions of the observer that have come
    shows = np.zeros(len(observers), np.bool_)
    answers = Answers(policy, keys, tables.rules.num_players)
    going = np.flatnonzero(tables.to_act >= 0)
    while going.size:
        packed, legal = tables.view_rows(going)
        to_act = tables.to_act[going]
        own = to_act == seats[going]
        mine, number = observers[going[own]], met[going[own]]
        is_present = number == history.number[mine]
        past = np.minimum(number, history.seen.shape[1] - 1)
        expected = np.where(is_present[:, None], present[going[own]], history.seen[mine, past])
        fits = (packed[own] == expected).all(axis=1)
        shows[going[own][fits & is_present]] = True
        actions = np.zeros(len(going), np.int64)
        actions[own] = history.done[mine, past]
        actions[~own] = answers.next(going[~own], packed[~own], legal[~own], to_act[~own], tables)
        met[going[own]] += 1
        goes_on = np.ones(len(going), np.bool_)
        goes_on[own] = fits & ~is_present
        going, actions = going[goes_on], actions[goes_on]
        tables.step(actions, rows=going, play_forced=True)
        going = going[tables.to_act[going] >= 0]
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
