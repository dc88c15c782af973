"""Deals between policies, many at once, and the block: the unit of every comparison.

A block is one deal played once with the focal policy in each seat, everybody else being the field: the same pack,
the same dealer, and for each seat the same stream of random numbers; in a game for one seat it is one deal played once
by each. What happens depends on the experiment's seed, the
number of the deal and the policies alone, never on what else is played beside it, so results can be extended
later, split over workers and put together again.

Shapes: D deals, N seats, T tables (rows, of one deal each), P policies.
"""

import hashlib
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.blocks import COUNT, Blocks, Rows, counts_of, places_of
from agents.games import part_of
from agents.policy import Decision, Policy, check_rules
from agents.referee import NO_ACTION, Referee, strict_answer
from bourre_env.deck import GOLDEN, mix_array, shuffled_decks, stream_keys
from bourre_env.family import MOST_SEATS, GameRules, GameTables, game_of, sides_of

DEAL_STREAM = "arena: packs of the deals"
SESSION_STREAM = "arena: packs of the deals of sessions"
ACTION_STREAM = "arena: choices of policies"
GENERATOR_STREAM = "arena: generators of policies"
FOCAL, FIELD = 0, 1  # indices of the two policies of a block
LARGEST_DEAL_ID = 2**60 - 1

Note = Callable[[NDArray[np.int64], NDArray[np.int64]], None]
"""Hears of decisions: tables [k] and actions [k]."""


def play_blocks(
    rules: GameRules,
    focal: Policy,
    field: Policy,
    *,
    seed: int,
    deal_ids: ArrayLike,
    buy_in: int | None = None,
    session: int = 1,
    referee: Referee | None = None,
) -> Blocks:
    """Play blocks: each deal once with the focal policy in every seat against a table full of the field policy.

    Args:
        rules: the rules played by.
        focal: the policy that is measured, in the first place of the line-up.
        field: the policy in all other places.
        seed: of the experiment, 0 to 2^64 - 1.
        deal_ids: [D] integers from 0, each a deal or session of the experiment.
        buy_in: antes each seat begins each deal with at table stakes (6.7); `BUY_IN` when left out.
        session: deals in a row whose pots are carried on; 1 for single deals.
        referee: rules on policies that fail; without one the first failure is raised.

    Raises:
        PolicyError: a policy cannot play by these rules.
        PolicyFailedError: a policy raised, or did not answer with legal actions, and there is no referee.
        ValueError: a number out of range, a buy-in on credit, or sessions whose pots have no limit.
    """
    places = [FOCAL] + [FIELD] * (places_of(rules) - 1)
    return play_line_up(
        rules,
        [focal, field],
        places,
        seed=seed,
        deal_ids=deal_ids,
        buy_in=buy_in,
        session=session,
        referee=referee,
    )


def play_line_up(
    rules: GameRules,
    policies: Sequence[Policy],
    places: Sequence[int],
    *,
    seed: int,
    deal_ids: ArrayLike,
    buy_in: int | None = None,
    session: int = 1,
    referee: Referee | None = None,
) -> Blocks:
    """Play blocks of any line-up: each deal once in each rotation, or for one seat once by each place.

    Args:
        rules: the rules played by.
        policies: P policies.
        places: P indices of policies, the line-up; partners are one place (`agents.blocks`).
        seed: as in `play_blocks`, like all that follows.
        deal_ids: [D] integers from 0.
        buy_in: antes at the start of each deal at table stakes.
        session: deals in a row.
        referee: rules on policies that fail.

    Raises:
        PolicyError: see `play_blocks`, and so for the rest.
        PolicyFailedError: a policy failed.
        ValueError: a shape, index or number out of range.
    """
    size = places_of(rules)
    deals = _checked_deals(deal_ids)
    line_up = _checked_line_ups([places], 1, size, len(policies))[0]
    rows = play_line_ups(
        rules,
        policies,
        np.tile(seatings(rules, line_up), (len(deals), 1)),
        seed=seed,
        deal_ids=np.repeat(deals, size),
        buy_in=buy_in,
        session=session,
        referee=referee,
    )
    return Blocks.of_rows(rules, session, rows)


def seatings(rules: GameRules, line_up: NDArray[np.int64]) -> NDArray[np.int64]:
    """[P, N] int64: who sits where at the tables of a block of a line-up [P], one a rotation or a place."""
    size = len(line_up)
    if sides_of(rules) == 1:
        places = np.arange(size)[:, None]
    else:  # seat s is on side s mod P, which in rotation r place (s - r) mod P has
        places = (np.arange(rules.num_players) - np.arange(size)[:, None]) % size
    seating: NDArray[np.int64] = line_up[places]
    return seating


def play_line_ups(
    rules: GameRules,
    policies: Sequence[Policy],
    line_ups: ArrayLike,
    *,
    seed: int,
    deal_ids: ArrayLike,
    buy_in: int | None = None,
    session: int = 1,
    referee: Referee | None = None,
    note: Note = lambda rows, actions: None,
) -> Rows:
    """Play single deals or sessions, each with its own policy in every seat and no chips carried in.

    Args:
        rules: the rules played by.
        policies: P policies.
        line_ups: [T, N] integers, for each row and seat the index of a policy.
        seed: of the experiment, 0 to 2^64 - 1.
        deal_ids: [T] integers from 0; the first dealer of deal or session i is seat i mod N.
        buy_in: antes each seat begins each deal with at table stakes (6.7); `BUY_IN` when left out.
        session: deals in a row whose pots are carried on; the dealer goes round.
        referee: rules on policies that fail; without one the first failure is raised.
        note: is told the tables that waited and what was decided there, `NO_ACTION` for a forfeit, step by step.

    Raises:
        PolicyError: a policy cannot play by these rules.
        PolicyFailedError: a policy raised, or did not answer with legal actions, and there is no referee.
        ValueError: a shape, index or number out of range, a buy-in on credit, or sessions whose pots have no limit.
    """
    deals = _checked_deals(deal_ids)
    seating = _checked_line_ups(line_ups, len(deals), rules.num_players, len(policies))
    check_session(session, rules)
    for policy in policies:
        check_rules(policy, rules)
    tables = game_of(rules).tables(rules, len(deals), None)
    streams = ActionStreams(seed, deals, rules.num_players)
    ask = strict_answer if referee is None else referee.ask
    tally = Tally(tables, deals)
    for number in range(session):
        begin_deals(tables, seed=seed, deals=deals, buy_in=buy_in, number=number, session=session)
        _play_out(tables, policies, seating, streams, ask, note)
        tally.add()
    return tally.rows()


def begin_deals(
    tables: GameTables,
    *,
    seed: int,
    deals: NDArray[np.int64],
    buy_in: int | None = None,
    number: int = 0,
    session: int = 1,
) -> None:
    """Begin the deals [T] of an experiment at T tables, each of which then waits at its first choice.

    Args:
        tables: T tables; in a session the next deal takes the pots and exemptions the last one left.
        seed: of the experiment.
        deals: [T] numbers of the deals or sessions.
        buy_in: antes each seat begins the deal with at table stakes.
        number: of the deal in its session, from 0.
        session: deals in a session.
    """
    rules = tables.rules
    decks = decks_of(rules, seed, deals, number, session)
    part_of(rules).begin(tables, decks, (deals + number) % rules.num_players, buy_in=buy_in, number=number)
    tables.play_forced()


def decks_of(rules: GameRules, seed: int, deals: NDArray[np.int64], number: int, session: int) -> NDArray[np.int8]:
    """[T, C] int8: the packs of deals, or of deal `number` of each session."""
    if session == 1:
        return shuffled_decks(stream_seed(seed, DEAL_STREAM), deals, pack=rules.pack)
    return shuffled_decks(stream_seed(seed, f"{SESSION_STREAM} {number}"), deals, pack=rules.pack)


def check_session(session: int, rules: GameRules) -> None:
    """Refuse sessions that a mean says nothing about.

    Raises:
        ValueError: the game has no sessions of so many deals under these rules.
    """
    part_of(rules).check_session(session, rules)


def stream_seed(seed: int, name: str) -> int:
    """The seed of a named stream of an experiment; different names give unrelated streams.

    Deals played to measure come from streams of their own, so that no seed of a training run deals the same packs.

    Args:
        seed: of the experiment, 0 to 2^64 - 1.
        name: of the stream.
    """
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:7])
    return int(stream_keys(seed, [number])[0])


class ActionStreams:
    """The random numbers of policies: one stream for each deal and seat, one number for each decision of that seat."""

    def __init__(self, seed: int, deals: NDArray[np.int64], num_players: int) -> None:
        """ActionStreams of the deals [T]."""
        streams = deals[:, None] * MOST_SEATS + np.arange(num_players)
        keys = stream_keys(stream_seed(seed, ACTION_STREAM), streams.ravel())
        self.keys = keys.reshape(streams.shape)
        self.num_decisions = np.zeros(streams.shape, np.uint64)
        self.generator = np.random.default_rng([stream_seed(seed, GENERATOR_STREAM), int(deals[0])])

    def next(self, rows: NDArray[np.int64], seats: NDArray[np.int8]) -> NDArray[np.uint64]:
        """[D] uint64: the number for the next decision of each of these seats."""
        numbers = self.peek(rows, seats)
        self.num_decisions[rows, seats] += np.uint64(1)
        return numbers

    def peek(self, rows: NDArray[np.int64], seats: NDArray[np.int8]) -> NDArray[np.uint64]:
        """[D] uint64: what `next` will give; asking changes nothing."""
        return mix_array(self.keys[rows, seats] + GOLDEN * (self.num_decisions[rows, seats] + np.uint64(1)))


Ask = Callable[[Policy, Decision, np.random.Generator], NDArray[np.int64]]
"""How policies are asked: legal actions, or `NO_ACTION` for a deal that is forfeited."""


def _play_out(
    tables: GameTables,
    policies: Sequence[Policy],
    seating: NDArray[np.int64],
    streams: ActionStreams,
    ask: Ask,
    note: Note,
) -> None:
    """Ask policies for their decisions until every deal is settled."""
    packed, legal = tables.observe_packed(), tables.legal_packed()
    actions = np.zeros(tables.num_tables, np.int64)
    while True:
        to_act = tables.to_act
        waiting = np.flatnonzero(to_act >= 0)
        if waiting.size == 0:
            return
        tables.observe_packed(out=packed)
        tables.legal_packed(out=legal)
        asked = seating[waiting, to_act[waiting]]
        for number in np.unique(asked):
            rows = waiting[asked == number]
            seats = to_act[rows]
            keys = streams.next(rows, seats)
            decision = Decision.from_packed(packed[rows], legal[rows], seats, tables.rules, keys)
            actions[rows] = ask(policies[number], decision, streams.generator)
        note(waiting, actions[waiting])
        forfeits = waiting[actions[waiting] == NO_ACTION]
        if forfeits.size:
            tables.forfeit(forfeits)
        tables.step(actions, play_forced=True)


class Tally:
    """Adds up the deals of each table."""

    def __init__(self, tables: GameTables, deals: NDArray[np.int64]) -> None:
        """Begin to count for T tables."""
        self._tables, self._deals = tables, deals
        self._part = part_of(tables.rules)
        shape = len(deals), tables.rules.num_players
        self._returns = np.zeros(shape, np.int64)
        self._counts = {name: np.zeros(shape, COUNT) for name in counts_of(tables.rules)}

    def add(self) -> None:
        """Count the deals that the tables have settled."""
        self._returns += self._tables.returns
        for name, values in self._part.counted(self._tables).items():
            self._counts[name] += values.astype(COUNT)

    def rows(self) -> Rows:
        """What was counted, with what stays now."""
        return Rows(self._deals, self._returns, self._part.left(self._tables), self._counts)


def _checked_deals(deal_ids: ArrayLike) -> NDArray[np.int64]:
    """The deal ids, of which there is at least one."""
    deals = np.asarray(deal_ids)
    if deals.ndim != 1 or deals.size == 0 or deals.dtype.kind not in "iu":
        raise ValueError(f"deal_ids are {deals.dtype} {deals.shape}; give a list of at least one integer")
    if deals.min() < 0 or deals.max() > LARGEST_DEAL_ID:
        raise ValueError(f"deal ids reach from {deals.min()} to {deals.max()}; they count from 0 to 2^60 - 1")
    return deals.astype(np.int64)


def _checked_line_ups(line_ups: ArrayLike, num_rows: int, num_players: int, num_policies: int) -> NDArray[np.int64]:
    """The line-ups, with an index of a policy for every seat."""
    seating = np.asarray(line_ups)
    if seating.shape != (num_rows, num_players) or seating.dtype.kind not in "iu":
        raise ValueError(
            f"line_ups are {seating.dtype} {seating.shape}; one index a seat, {(num_rows, num_players)}, is needed"
        )
    if seating.min() < 0 or seating.max() >= num_policies:
        raise ValueError(f"line_ups name policies {seating.min()} to {seating.max()}; there are {num_policies}, from 0")
    return seating.astype(np.int64)
