"""Trying actions out in imagined worlds, and when to trust what came out.

Noise costs money: the best of many noisy means is often a bad action. So some worlds name the best action, and a player
leaves the action it would have taken for it only if other worlds confirm a gain.

Shapes: A decisions, C candidates a decision, W worlds, O words of an observation.
"""

import numpy as np
from numpy.typing import NDArray

from agents.likely_worlds import Answers, Worlds
from agents.policy import Policy
from bourre_env.bits import legal_bits
from bourre_env.bourre.rules import Rules
from bourre_env.bourre.tables import Tables
from bourre_env.cards import ALL_CARDS, NUM_RANKS, cards_in

NO_ACTION = -1


def candidates_of(
    rules: Rules,
    packed: NDArray[np.uint64],
    legal: NDArray[np.uint64],
    own: NDArray[np.int64],
    others: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Actions worth trying at each decision, [A, C] int64, `own` first and rows filled up with `NO_ACTION`.

    All legal cards; passing; and of the ways to draw one for each number of cards, the lowest first, plain ones before
    trumps.

    Args:
        rules: the rules played by.
        packed: [A, O] what is seen; the first word holds the hand.
        legal: [A, 2] legal actions.
        own: [A] actions of the target.
        others: [A] actions tried second.
    """
    rows = []
    for row in range(len(own)):
        hand = cards_in(int(packed[row, 0] & ALL_CARDS))
        bits = legal_bits(legal[row])
        cards = len(rules.pack)
        second = [] if others is None else [int(others[row])]
        tried = dict.fromkeys(
            [*second, *range(cards), *(cards + mask for mask in _discard_masks(hand)), pass_action_of(rules)]
        )
        rows.append([int(own[row]), *(action for action in tried if bits >> action & 1 and action != own[row])])
    filled = np.full((len(rows), max(map(len, rows))), NO_ACTION, np.int64)
    for row, actions in enumerate(rows):
        filled[row, : len(actions)] = actions
    return filled


def pass_action_of(rules: Rules) -> int:
    """The action of passing, the last of all."""
    return len(rules.pack) + (1 << rules.hand_size)


def _discard_masks(hand: list[int]) -> list[int]:
    """For each number of cards the discard mask of the worst ones; trumps have the lowest ids."""
    worst_first = sorted(range(len(hand)), key=lambda place: (hand[place] < NUM_RANKS, hand[place] % NUM_RANKS))
    return [sum(1 << place for place in worst_first[:number]) for number in range(len(hand) + 1)]


def try_actions(
    worlds: Worlds,
    candidates: NDArray[np.int64],
    target: Policy,
    values: NDArray[np.float64],
    *,
    others: Policy | None = None,
) -> None:
    """Play every candidate out in every world of its decision; candidates share the worlds and the random numbers.

    Args:
        worlds: of some of the decisions.
        candidates: [A, C] actions.
        target: plays on for the seat that decides, and to the end for every seat.
        values: [A, C, W] float64, filled in antes: chips and an equal share of the carry.
        others: plays the other seats instead.
    """
    if not len(worlds.rows):
        return
    rules = worlds.tables.rules
    world, column = np.nonzero(candidates[worlds.owner] != NO_ACTION)
    if not len(world):
        return
    tables = worlds.tables.take(worlds.rows[world])
    seats = tables.to_act
    tables.step(candidates[worlds.owner[world], column], play_forced=True)
    keys, others = worlds.keys[world], others or target
    own = Answers(target, keys, rules.num_players)
    _play_to_the_end(tables, seats, own, own if others is target else Answers(others, keys, rules.num_players))
    chips = tables.returns[np.arange(len(world)), seats] + tables.carry / rules.num_players
    values[worlds.owner[world], column, worlds.place[world]] = chips / rules.ante


def _play_to_the_end(tables: Tables, seats: NDArray[np.int8], own: Answers, others: Answers) -> None:
    """Let one policy play a seat of each table [R], and one all others, until all deals are settled."""
    while (waiting := np.flatnonzero(tables.to_act >= 0)).size:
        packed, legal = tables.view_rows(waiting)
        to_act, actions = tables.to_act[waiting], np.empty(len(waiting), np.int64)
        is_own = np.full(len(waiting), True) if own is others else to_act == seats[waiting]
        for answers, asked in ((own, is_own), (others, ~is_own)):
            actions[asked] = answers.next(waiting[asked], packed[asked], legal[asked], to_act[asked], tables)
        tables.step(actions, rows=waiting, play_forced=True)


def best_means(candidates: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.int64]:
    """[A] the candidate [A, C] of the best mean over the worlds it was tried in [A, C, W]; the first among equals."""
    means = _mean(values - values[:, :1])
    means[candidates == NO_ACTION] = -np.inf
    best: NDArray[np.int64] = candidates[np.arange(len(candidates)), means.argmax(axis=1)]
    return best


def better_of(candidates: NDArray[np.int64], values: NDArray[np.float64], caution: float) -> NDArray[np.int64]:
    """[A] the candidates [A, C] of the best means over worlds [A, C, W] where they stand out, else the first.

    The same worlds name an action and speak for it, so noise passes more easily than `confirmed` says.
    """
    best = best_means(candidates, values)
    rows, columns = np.arange(len(best)), (candidates == best[:, None]).argmax(axis=1)
    finalists = np.stack([candidates[:, 0], best], axis=1)
    return confirmed(finalists, np.stack([values[:, 0], values[rows, columns]], axis=1), caution)


def confirmed(finalists: NDArray[np.int64], values: NDArray[np.float64], caution: float) -> NDArray[np.int64]:
    """[A] the second of two actions if it clearly brings more than the first in some worlds, else that.

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
