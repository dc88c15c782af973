"""Deals between policies, many at once, and the block: the unit of every comparison.

A block is one deal played once with the focal policy in each seat, everybody else being the field: the same pack,
the same dealer, and for each seat the same stream of random numbers. What happens depends on the experiment's seed, the
number of the deal and the policies alone, never on what else is played beside it, so results can be extended
later, split over workers and put together again.

Shapes: D deals, N seats, R rows (a deal at one table), P policies.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.policy import Decision, Policy, PolicyFailedError, check_actions, check_rules, told
from bourre_env.bourre.rules import MAX_PLAYERS, Rules
from bourre_env.bourre.tables import Tables
from bourre_env.deck import GOLDEN, mix_array, shuffled_decks, stream_keys
from bourre_env.env_options import stacks_bought

DEAL_STREAM = "arena: packs of the deals"
ACTION_STREAM = "arena: choices of policies"
GENERATOR_STREAM = "arena: generators of policies"
FOCAL, FIELD = 0, 1  # indices of the two policies of a block
LARGEST_DEAL_ID = 2**60 - 1


@dataclass(frozen=True, slots=True)
class DealResults:
    """How deals ended, one row a table.

    Attributes:
        rules: the rules played by.
        deal_ids: [R] int64.
        returns: [R, N] int32, chips won or lost by each seat.
        carry: [R] int64, chips that stay for the next pot.
        passed: [R, N] bool, the seat gave the deal up.
        bourre: [R, N] bool, the seat played and took no trick.
        took_pot: [R, N] bool, the seat took the pot, alone or as one of several who divided it.
    """

    rules: Rules
    deal_ids: NDArray[np.int64]
    returns: NDArray[np.int32]
    carry: NDArray[np.int64]
    passed: NDArray[np.bool_]
    bourre: NDArray[np.bool_]
    took_pot: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class BlockResults:
    """How the focal seat fared in D blocks; column s is the deal it played in seat s.

    Attributes:
        rules: the rules played by.
        deal_ids: [D] int64.
        returns: [D, N] int32, chips the focal seat won or lost.
        carry: [D, N] int64, chips that stay for the next pot.
        passed: [D, N] bool.
        bourre: [D, N] bool.
        took_pot: [D, N] bool.
    """

    rules: Rules
    deal_ids: NDArray[np.int64]
    returns: NDArray[np.int32]
    carry: NDArray[np.int64]
    passed: NDArray[np.bool_]
    bourre: NDArray[np.bool_]
    took_pot: NDArray[np.bool_]

    @property
    def antes(self) -> NDArray[np.float64]:
        """[D, N] float64: result of each deal in antes, the pot left over being everybody's in equal shares."""
        antes: NDArray[np.float64] = self._shares() / (self.rules.num_players * self.rules.ante)
        return antes

    @property
    def block_means(self) -> NDArray[np.float64]:
        """[D] float64: antes a deal in each block. Whole numbers are added first, so that nothing is rounded twice."""
        means: NDArray[np.float64] = self._shares().sum(axis=1) / (self.rules.num_players**2 * self.rules.ante)
        return means

    def _shares(self) -> NDArray[np.int64]:
        """[D, N] int64: results in chips times the number of players."""
        return self.rules.num_players * self.returns.astype(np.int64) + self.carry


COLUMNS = ("deal_ids", "returns", "carry", "passed", "bourre", "took_pot")
"""The arrays of results, in the order of their fields."""


def play_blocks(
    rules: Rules, focal: Policy, field: Policy, *, seed: int, deal_ids: ArrayLike, buy_in: int | None = None
) -> BlockResults:
    """Play blocks: each deal once with the focal policy in every seat against a table full of the field policy.

    Args:
        rules: the rules played by.
        focal: the policy that is measured.
        field: the policy in all other seats.
        seed: of the experiment, 0 to 2^64 - 1.
        deal_ids: [D] integers from 0, each a deal of the experiment.
        buy_in: antes each seat begins each deal with at table stakes (6.7); `BUY_IN` when left out.

    Raises:
        PolicyError: a policy cannot play by these rules.
        PolicyFailedError: a policy raised, or did not answer with legal actions.
        ValueError: a number out of range, or a buy-in on credit.
    """
    deals = np.atleast_1d(np.asarray(deal_ids))
    line_ups = np.full((rules.num_players, rules.num_players), FIELD, np.int64)
    np.fill_diagonal(line_ups, FOCAL)
    results = play_line_ups(
        rules,
        [focal, field],
        np.tile(line_ups, (len(deals), 1)),
        seed=seed,
        deal_ids=np.repeat(deals, rules.num_players),
        buy_in=buy_in,
    )
    return blocks_of(results, len(deals))


def concatenated(parts: Sequence[BlockResults]) -> BlockResults:
    """The blocks of several results under the same rules, in the order given.

    Raises:
        ValueError: nothing to put together, or results of different rules.
    """
    if not parts:
        raise ValueError("there are no results to put together")
    for part in parts:
        if part.rules != parts[0].rules:
            raise ValueError(
                f"results of rules {parts[0].rules.fingerprint} and {part.rules.fingerprint} cannot be mixed"
            )
    columns = (np.concatenate([getattr(part, column) for part in parts]) for column in COLUMNS)
    return BlockResults(parts[0].rules, *columns)


def play_line_ups(
    rules: Rules,
    policies: Sequence[Policy],
    line_ups: ArrayLike,
    *,
    seed: int,
    deal_ids: ArrayLike,
    buy_in: int | None = None,
) -> DealResults:
    """Play single deals, each with its own policy in every seat and no chips carried in.

    Args:
        rules: the rules played by.
        policies: P policies.
        line_ups: [R, N] integers, for each row and seat the index of a policy.
        seed: of the experiment, 0 to 2^64 - 1.
        deal_ids: [R] integers from 0; the dealer of deal i is seat i mod N.
        buy_in: antes each seat begins each deal with at table stakes (6.7); `BUY_IN` when left out.

    Raises:
        PolicyError: a policy cannot play by these rules.
        PolicyFailedError: a policy raised, or did not answer with legal actions.
        ValueError: a shape, index or number out of range, or a buy-in on credit.
    """
    deals = _checked_deals(deal_ids)
    seating = _checked_line_ups(line_ups, len(deals), rules.num_players, len(policies))
    for policy in policies:
        check_rules(policy, rules)
    tables = begin_deals(rules, seed=seed, deals=deals, buy_in=buy_in)
    _play_out(tables, policies, seating, ActionStreams(seed, deals, rules.num_players))
    return results_of(tables, deals)


def begin_deals(rules: Rules, *, seed: int, deals: NDArray[np.int64], buy_in: int | None = None) -> Tables:
    """Tables [R] at which the deals [R] of an experiment have begun, each waiting at its first choice."""
    tables = Tables(rules, len(deals))
    decks = shuffled_decks(stream_seed(seed, DEAL_STREAM), deals, pack=rules.pack)
    tables.deal(decks, deals % rules.num_players, stacks=stacks_bought(buy_in, rules, len(deals)))
    tables.play_forced()
    return tables


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
        """Streams of the deals [R]."""
        streams = deals[:, None] * MAX_PLAYERS + np.arange(num_players)
        keys = stream_keys(stream_seed(seed, ACTION_STREAM), streams.ravel())
        self.keys = keys.reshape(streams.shape)
        self.num_decisions = np.zeros(streams.shape, np.uint64)
        self.generator = np.random.default_rng([stream_seed(seed, GENERATOR_STREAM), int(deals[0])])

    def next(self, rows: NDArray[np.int64], seats: NDArray[np.int8]) -> NDArray[np.uint64]:
        """[D] uint64: the number for the next decision of each of these seats."""
        self.num_decisions[rows, seats] += np.uint64(1)
        return mix_array(self.keys[rows, seats] + GOLDEN * self.num_decisions[rows, seats])


def _play_out(tables: Tables, policies: Sequence[Policy], seating: NDArray[np.int64], streams: ActionStreams) -> None:
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
        tables.step(actions, play_forced=True)


def ask(policy: Policy, decision: Decision, generator: np.random.Generator) -> NDArray[np.int64]:
    """A policy's legal answer, [D] actions.

    Raises:
        PolicyFailedError: it raised, or did not answer with legal actions.
    """
    legal = decision.legal_packed.copy()  # what the policy does to its own arrays changes nothing
    try:
        answer = policy.act(decision, generator)
    except PolicyFailedError:
        raise
    except (Exception, SystemExit) as error:  # a policy may be anybody's code
        raise PolicyFailedError(f"policy {policy.name!r} raised {told(error)}") from error
    return check_actions(answer, decision, policy.name, legal)


def results_of(tables: Tables, deals: NDArray[np.int64]) -> DealResults:
    """The settled tables as results."""
    records, num_players = tables.records, tables.rules.num_players
    stayed = seats_in(records["stayed"], num_players)
    was_played = (records["tricks_done"] == tables.rules.hand_size)[:, None]
    return DealResults(
        rules=tables.rules,
        deal_ids=deals,
        returns=tables.returns,
        carry=tables.carry,
        passed=seats_in(records["passed"], num_players),
        bourre=stayed & (records["tricks_won"][:, :num_players] == 0) & was_played,
        took_pot=tables.returns > -_chips_staked(tables, stayed),
    )


def seats_in(masks: NDArray[np.uint8], num_players: int) -> NDArray[np.bool_]:
    """[R, N] bool from one mask of seats a row."""
    return np.unpackbits(masks[:, None], axis=1, bitorder="little")[:, :num_players].astype(np.bool_)


def _chips_staked(tables: Tables, stayed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """[R, N] int64: ante and fees of each seat (1.3, 3.9); whoever has more back in the end was paid from the pot.

    At table stakes nobody pays more than it had at the start (6.7).
    """
    rules = tables.rules
    drawn = tables.records["num_discards"][:, : rules.num_players].astype(np.int64)
    draw_fees = rules.draw_fee * (drawn if rules.draw_fee_per == "card" else (drawn > 0))
    staked = rules.ante + rules.play_fee * stayed + draw_fees
    return staked if tables.stacks is None else np.minimum(staked, tables.stacks - tables.returns)


def blocks_of(results: DealResults, num_deals: int) -> BlockResults:
    """Rows of blocks, [D * N] with the focal policy moving one seat a row, as one row a block."""
    num_players = results.rules.num_players
    rows = np.arange(num_deals * num_players).reshape(num_deals, num_players)
    focal = rows, rows % num_players
    return BlockResults(
        rules=results.rules,
        deal_ids=results.deal_ids[::num_players],
        returns=results.returns[focal],
        carry=results.carry[rows],
        passed=results.passed[focal],
        bourre=results.bourre[focal],
        took_pot=results.took_pot[focal],
    )


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
