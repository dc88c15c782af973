"""The score of a hand: section P6, and what a forfeit costs (P7.3)."""

from collections.abc import Sequence

import numpy as np

from bourre_env.jit import njit
from bourre_env.pinochle.cards import NO_SUIT
from bourre_env.pinochle.melds import meld_points
from bourre_env.pinochle.rules import NUM_SEATS, SAVE_BY_COUNTER, SAVE_BY_TRICK
from bourre_env.pinochle.table import (
    NO_SEAT,
    PLAY,
    SETTLED,
    melds_of_side,
    partner_of,
    side_of,
    tricks_of_side,
)


@njit
def saved_melds(melds: int, tricks: int, counters: int, save_meld: int) -> int:
    """Rule P6.1: what a side's melds count.

    Args:
        melds: points of its melds.
        tricks: it has won.
        counters: points of the cards in them.
        save_meld: one of `SAVE_ALWAYS`, `SAVE_BY_TRICK` and `SAVE_BY_COUNTER`.
    """
    if save_meld == SAVE_BY_TRICK:
        return melds if tricks > 0 else 0
    if save_meld == SAVE_BY_COUNTER:
        return melds if counters > 0 else 0
    return melds


@njit
def declarers_points(total: int, bid: int) -> int:
    """Rule P6.2: what a hand changes in the declarers' score, from their melds and tricks."""
    return total if total >= bid else -bid


@njit
def bid_points(table: np.record, rules: np.record) -> int:
    """Rule P2.2: points of the high bid; the lowest where there is none."""
    return rules.min_bid + max(0, table.high_bid) * rules.bid_step


@njit
def points_of_side(table: np.record, rules: np.record, side: int) -> int:
    """Rules P6.1 and P5.5: melds that count, and tricks."""
    took_last = table.leader != NO_SEAT and side_of(table.leader) == side
    counters = table.trick_points[side] - (rules.last_trick if took_last else 0)
    melds = saved_melds(melds_of_side(table, side), tricks_of_side(table, side), counters, rules.save_meld)
    return melds + table.trick_points[side]


@njit
def settle(table: np.record, rules: np.record) -> None:
    """Rules P6.1 to P6.3: score the hand once all tricks are played."""
    declarers = side_of(table.high_bidder)
    made = declarers_points(points_of_side(table, rules, declarers), bid_points(table, rules))
    score_points(table, declarers, made, points_of_side(table, rules, 1 - declarers))


@njit
def throw_in(table: np.record) -> None:
    """Rule P2.4: nobody has bid, nobody scores."""
    score_points(table, 0, 0, 0)


@njit
def unshown_melds(table: np.record, rules: np.record, side: int) -> int:
    """What a side's melds are worth before they are laid down; nothing until trumps are named."""
    if table.trump_suit == NO_SUIT:
        return 0
    own = meld_points(table.hands[side], table.trump_suit, rules)
    return own + meld_points(table.hands[partner_of(side)], table.trump_suit, rules)


@njit
def forfeit(table: np.record, rules: np.record) -> None:
    """Rule P7.3: the seat to act ends the hand: its side loses a bid, the other scores its melds and every trick."""
    offender = side_of(table.to_act)
    other = 1 - offender
    melds = melds_of_side(table, other) if table.phase == PLAY else unshown_melds(table, rules, other)
    table.forfeited = table.to_act
    score_points(table, offender, -bid_points(table, rules), melds + _points_of_pack(rules))


@njit
def _points_of_pack(rules: np.record) -> int:
    """Rule P1.4: points of all tricks of a hand."""
    points = 0
    for rank in range(len(rules.card_points)):
        points += rules.card_points[rank]
    return 8 * points + rules.last_trick


@njit
def score_points(table: np.record, side: int, points: int, others: int) -> None:
    """Rule P6.3: the scores of a side and of the other change; the hand is over."""
    table.points[side] = points
    table.points[1 - side] = others
    table.score[0] += table.points[0]
    table.score[1] += table.points[1]
    for seat in range(NUM_SEATS):
        table.returns[seat] = table.points[side_of(seat)] - table.points[1 - side_of(seat)]
    table.phase = SETTLED
    table.to_act = NO_SEAT


def winner_of_game(score: Sequence[int], declarers: int, target: int) -> int:
    """Rule P6.4: the side that has won the game; -1 while it goes on.

    Args:
        score: of the two sides.
        declarers: the side that bid in the last hand.
        target: points that win.
    """
    if score[declarers] >= target:
        return declarers
    return 1 - declarers if score[1 - declarers] >= target else -1
