"""Playing alone: section E3."""

import numpy as np

from bourre_env.euchre.playing import begin_play
from bourre_env.euchre.rules import NUM_SEATS
from bourre_env.euchre.table import NO_SEAT, in_mask, left_of, partner_of, seat_bit, side_of
from bourre_env.jit import njit


@njit
def play_alone(table: np.record, seat: int) -> None:
    """Rule E3.2: a seat plays alone, its partner is out."""
    table.alone |= seat_bit(seat)
    table.out |= seat_bit(partner_of(seat))


@njit
def may_go_alone(table: np.record, rules: np.record, seat: int) -> bool:
    """Rules E3.1 and E3.3: whether a seat is asked, unless it has answered."""
    if in_mask(table.asked | table.alone | table.out, seat):
        return False
    if side_of(seat) != side_of(table.maker):
        return rules.allow_lone_defender != 0
    return seat == table.maker or not rules.only_maker_alone


@njit
def next_to_ask(table: np.record, rules: np.record) -> int:
    """Rule E3.1: the seat that is asked next; `NO_SEAT` when all have answered."""
    if rules.only_maker_alone and may_go_alone(table, rules, table.maker):
        return table.maker
    seat = table.dealer
    for _ in range(NUM_SEATS):
        seat = left_of(seat)
        if may_go_alone(table, rules, seat):
            return seat
    return NO_SEAT


@njit
def ask_next(table: np.record, rules: np.record) -> None:
    """Rule E3.1: ask the next seat, or begin the play when nobody is left."""
    seat = next_to_ask(table, rules)
    if seat == NO_SEAT:
        begin_play(table)
    else:
        table.to_act = seat


@njit
def apply_answer(table: np.record, goes_alone: bool) -> None:
    """Rules E3.1 and E3.2: the seat to act plays alone, or with its partner."""
    table.asked |= seat_bit(table.to_act)
    if goes_alone:
        play_alone(table, table.to_act)
