"""A fast lower bound on exploitability: an attacker that looks ahead at each of its decisions.

After the local best response of Lisý and Bowling (2017): at every decision the attacker imagines worlds in which the
others, playing by the target policy, would have shown it what it has seen (`likely_worlds`), tries its actions in each,
lets the target policy play all seats to the end, and takes the action of the best mean. What its actions then earn in
real deals is what somebody who knows the target can surely gain; how good its guesses were does not matter.

Noise in the guesses costs money: the best of many noisy means is often a bad action. So one half of the worlds names
the best action, and the attacker leaves the target's own action for it only if the other half confirms a gain.

Shapes: R tables, A decisions, C candidates a decision, W worlds, O words of an observation.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.arena import ActionStreams, Tally, begin_deals, stream_seed
from agents.blocks import Blocks
from agents.likely_worlds import Answers, History, Worlds, likely_worlds
from agents.policy import Decision, Policy, check_rules
from agents.referee import strict_answer
from bourre_env.bourre.rules import MAX_PLAYERS, Rules
from bourre_env.bourre.tables import Tables
from bourre_env.cards import ALL_CARDS, NUM_RANKS, cards_in
from bourre_env.decision import WORD_BITS

WORLD_STREAM = "local best response: worlds"
NO_ACTION = -1
ASKED_AT_ONCE = 32  # decisions; bounds the memory and changes nothing else


@dataclass(frozen=True, slots=True)
class Search:
    """How hard the attacker thinks.

    Attributes:
        worlds: most worlds an action is tried in; half of them choose, half confirm.
        proposals: worlds drawn to find those.
        fewest: worlds that are too few to trust; blind ones are taken instead.
        caution: standard errors by which the confirmed gain must exceed 0.
    """

    worlds: int = 256
    proposals: int = 2048
    fewest: int = 16
    caution: float = 1.0


def play_local_blocks(
    rules: Rules, target: Policy, *, seed: int, deal_ids: ArrayLike, search: Search | None = None
) -> Blocks:
    """Play blocks of the arena: each deal once with the attacker in every seat against a table full of the target.

    Packs, dealers and the target's random numbers are those of `play_blocks`, so an attacker that never leaves the
    target's own action earns exactly what the target earns against itself: 0 in every block.

    Args:
        rules: the rules played by, on credit.
        target: the policy that is attacked.
        seed: of the experiment, 0 to 2^64 - 1.
        deal_ids: [D] integers from 0, each a deal of the experiment.
        search: how hard the attacker thinks.

    Raises:
        PolicyError: the target cannot play by these rules.
        PolicyFailedError: the target raised, or did not answer with legal actions.
        ValueError: the rules play table stakes.
    """
    if rules.stacks != "credit":
        raise ValueError("the local best response plays on credit only")
    check_rules(target, rules)
    blocks = np.atleast_1d(np.asarray(deal_ids, np.int64))
    deals = np.repeat(blocks, rules.num_players)
    tables = Tables(rules, len(deals))
    tally = Tally(tables, deals)
    begin_deals(tables, seed=seed, deals=deals)
    attacker = Attacker(target, tables, deals, seed=seed, search=search or Search())
    streams = ActionStreams(seed, deals, rules.num_players)
    while (waiting := np.flatnonzero(tables.to_act >= 0)).size:
        packed, legal = tables.view_rows(waiting)
        seats = tables.to_act[waiting]
        keys = streams.next(waiting, seats)
        actions = strict_answer(target, Decision.from_packed(packed, legal, seats, rules, keys), streams.generator)
        mine = np.flatnonzero(seats == waiting % rules.num_players)
        actions[mine] = attacker.choose(tables, waiting[mine], packed[mine], legal[mine], actions[mine])
        tables.step(actions, rows=waiting, play_forced=True)
    tally.add()
    return Blocks.of_rows(rules, 1, tally.rows())


class Attacker:
    """The seat that looks ahead, at many tables.

    Attributes:
        history: what it has seen and done in the deals, one row a table.
    """

    def __init__(self, target: Policy, tables: Tables, deals: NDArray[np.int64], *, seed: int, search: Search) -> None:
        """Sit down, at table i in seat i mod N.

        Args:
            target: the policy of all other seats.
            tables: [R] tables at which a deal has begun; only their number and rules matter.
            deals: [R] numbers of the deals.
            seed: of the experiment, 0 to 2^64 - 1.
            search: how hard to think.
        """
        self._target, self._search = target, search
        self._seed = stream_seed(seed, WORLD_STREAM)
        self._most = tables.rules.hand_size + 2  # decisions of a seat in a deal: declaring, drawing, cards
        self.history = History(tables.num_tables, self._most, tables.layout.num_words)
        self._streams = deals * MAX_PLAYERS + np.arange(tables.num_tables) % tables.rules.num_players

    def choose(
        self,
        tables: Tables,
        rows: NDArray[np.int64],
        packed: NDArray[np.uint64],
        legal: NDArray[np.uint64],
        own: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """The attacker's actions, which depend on what it has seen alone.

        Args:
            tables: [R] the tables; what the attacker has not seen there is drawn anew before anything is looked at.
            rows: [A] where it is to act.
            packed: [A, O] what it sees there.
            legal: [A, 2] its legal actions.
            own: [A] what the target would do in its place.

        Returns:
            [A] int64.
        """
        chosen = own.copy()
        for start in range(0, len(rows), ASKED_AT_ONCE):
            part = slice(start, start + ASKED_AT_ONCE)
            candidates = candidates_of(tables.rules, packed[part], legal[part], own[part])
            chosen[part] = self._best(tables, rows[part], candidates)
        self.history.note(rows, packed, chosen)
        return chosen

    def _best(self, tables: Tables, rows: NDArray[np.int64], candidates: NDArray[np.int64]) -> NDArray[np.int64]:
        """[A] int64: the candidates [A, C] that promise most, at a few tables."""
        search = self._search
        groups = likely_worlds(
            tables,
            self._target,
            self.history,
            rows,
            seed=self._seed,
            streams=self._streams[rows] * self._most + self.history.number[rows],
            proposals=search.proposals,
            worlds=search.worlds,
            fewest=search.fewest,
        )
        best = best_means(candidates, self._tried(groups, 0, candidates))
        finalists = np.stack([candidates[:, 0], np.where(best == candidates[:, 0], NO_ACTION, best)], axis=1)
        return confirmed(finalists, self._tried(groups, 1, finalists), search.caution)

    def _tried(self, groups: tuple[Worlds, ...], half: int, candidates: NDArray[np.int64]) -> NDArray[np.float64]:
        """[A, C, W/2] float64: what the candidates bring in one half of the worlds, NaN where there is none."""
        values = np.full((*candidates.shape, (self._search.worlds + 1) // 2), np.nan)
        for worlds in groups:
            try_actions(worlds.every_other(half), candidates, self._target, values)
        return values


def candidates_of(
    rules: Rules, packed: NDArray[np.uint64], legal: NDArray[np.uint64], own: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Actions worth trying at each decision, [A, C] int64, `own` first and rows filled up with `NO_ACTION`.

    All legal cards; passing; and of the ways to draw one for each number of cards, the lowest first, plain ones before
    trumps.

    Args:
        rules: the rules played by.
        packed: [A, O] what is seen; the first word holds the hand.
        legal: [A, 2] legal actions.
        own: [A] actions of the target.
    """
    rows = []
    for row in range(len(own)):
        hand = cards_in(int(packed[row, 0] & ALL_CARDS))
        bits = int(legal[row, 0]) | int(legal[row, 1]) << WORD_BITS
        cards = len(rules.pack)
        tried = [*range(cards), *(cards + mask for mask in _discard_masks(hand)), cards + (1 << rules.hand_size)]
        rows.append([int(own[row]), *(action for action in tried if bits >> action & 1 and action != own[row])])
    filled = np.full((len(rows), max(map(len, rows))), NO_ACTION, np.int64)
    for row, actions in enumerate(rows):
        filled[row, : len(actions)] = actions
    return filled


def _discard_masks(hand: list[int]) -> list[int]:
    """For each number of cards the discard mask of the worst ones; trumps have the lowest ids."""
    worst_first = sorted(range(len(hand)), key=lambda place: (hand[place] < NUM_RANKS, hand[place] % NUM_RANKS))
    return [sum(1 << place for place in worst_first[:number]) for number in range(len(hand) + 1)]


def try_actions(worlds: Worlds, candidates: NDArray[np.int64], target: Policy, values: NDArray[np.float64]) -> None:
    """Play every candidate out in every world of its decision; candidates share the worlds and the random numbers.

    Args:
        worlds: of some of the decisions.
        candidates: [A, C] actions.
        target: plays every seat to the end.
        values: [A, C, W] float64, filled in antes: chips and an equal share of the carry.
    """
    if not len(worlds.rows):
        return
    rules = worlds.tables.rules
    place = worlds.place
    world, column = np.nonzero(candidates[worlds.owner] != NO_ACTION)
    if not len(world):
        return
    tables = worlds.tables.take(worlds.rows[world])
    seats = tables.to_act
    tables.step(candidates[worlds.owner[world], column], play_forced=True)
    _play_to_the_end(tables, Answers(target, worlds.keys[world], rules.num_players))
    chips = tables.returns[np.arange(len(world)), seats] + tables.carry / rules.num_players
    values[worlds.owner[world], column, place[world]] = chips / rules.ante


def _play_to_the_end(tables: Tables, answers: Answers) -> None:
    """Let a policy play every seat until all deals are settled."""
    while (waiting := np.flatnonzero(tables.to_act >= 0)).size:
        packed, legal = tables.view_rows(waiting)
        actions = answers.next(waiting, packed, legal, tables.to_act[waiting], tables)
        tables.step(actions, rows=waiting, play_forced=True)


def best_means(candidates: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.int64]:
    """[A] the candidate [A, C] of the best mean over the worlds it was tried in [A, C, W]; the first among equals."""
    means = _mean(values - values[:, :1])
    means[candidates == NO_ACTION] = -np.inf
    best: NDArray[np.int64] = candidates[np.arange(len(candidates)), means.argmax(axis=1)]
    return best


def confirmed(finalists: NDArray[np.int64], values: NDArray[np.float64], caution: float) -> NDArray[np.int64]:
    """[A] the second of two actions if it clearly brings more than the first in worlds it was not chosen by, else that.

    Args:
        finalists: [A, 2] actions.
        values: [A, 2, W] float64, what they brought in each world, NaN where they were not tried.
        caution: standard errors by which the mean gain must exceed 0; infinity for never.
    """
    gains = values[:, 1] - values[:, 0]
    mean = _mean(gains)
    count = np.maximum((~np.isnan(gains)).sum(axis=1), 1)
    spread = np.sqrt(_mean((gains - mean[:, None]) ** 2) / count)
    errors = np.divide(mean, spread, out=np.where(mean > 0, np.inf, 0.0), where=spread > 0)
    return np.where(errors > caution, finalists[:, 1], finalists[:, 0])


def _mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over the last axis without what is NaN; 0 where nothing else is there."""
    there = ~np.isnan(values)
    total: NDArray[np.float64] = np.where(there, values, 0.0).sum(axis=-1) / np.maximum(there.sum(axis=-1), 1)
    return total
