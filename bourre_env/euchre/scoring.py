"""The score of a hand: section E5, and what a forfeit costs (E6.2)."""

import numpy as np

from bourre_env.euchre.rules import HAND_SIZE, MOST_POINTS, NUM_SEATS
from bourre_env.euchre.table import NO_SEAT, SETTLED, partner_of, seat_bit, side_of, tricks_of_side
from bourre_env.jit import njit

MAJORITY = HAND_SIZE // 2 + 1


@njit
def maker_points(tricks: int, maker_alone: bool, defender_alone: bool, double_all: bool) -> int:
    """Rules E5.1 and E5.2: points of the makers; below zero, those of the defenders.

    Args:
        tricks: won by the makers.
        maker_alone: one of the makers plays alone.
        defender_alone: one of the defenders plays alone.
        double_all: rule E5.2 is played.
    """
    if tricks < MAJORITY:
        return -4 if defender_alone or (double_all and maker_alone) else -2
    if tricks == HAND_SIZE:
        return 4 if maker_alone else 2
    return 2 if double_all and maker_alone else 1


@njit
def has_lone_player(table: np.record, side: int) -> bool:
    """Whether a seat of a side plays alone."""
    return table.alone & (seat_bit(side) | seat_bit(partner_of(side))) != 0


@njit
def settle(table: np.record, rules: np.record) -> None:
    """Rules E5.1 to E5.3: score the hand once all tricks are played."""
    makers = side_of(table.maker)
    points = maker_points(
        tricks_of_side(table, makers),
        has_lone_player(table, makers),
        has_lone_player(table, 1 - makers),
        rules.double_all != 0,
    )
    score_points(table, makers if points > 0 else 1 - makers, abs(points))


@njit
def throw_in(table: np.record) -> None:
    """Rule E2.7: nobody made trumps, nobody scores."""
    score_points(table, 0, 0)


@njit
def forfeit(table: np.record) -> None:
    """Rule E6.2: the seat to act ends the hand, and the other side scores the most a hand can bring."""
    table.forfeited = table.to_act
    score_points(table, 1 - side_of(table.to_act), MOST_POINTS)


@njit
def score_points(table: np.record, side: int, points: int) -> None:
    """Rule E5.3: a side scores, the other does not; the hand is over."""
    table.points[side] = points
    table.score[side] += points
    for seat in range(NUM_SEATS):
        table.returns[seat] = points if side_of(seat) == side else -points
    table.phase = SETTLED
    table.to_act = NO_SEAT
