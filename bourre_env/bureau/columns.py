"""Moves from and to columns: section B3."""

import numpy as np

from bourre_env.bureau.cards import NO_CARD, rank_of
from bourre_env.bureau.foundations import put_up
from bourre_env.bureau.repeats import forget_positions, is_repeat, note_position, position_after
from bourre_env.bureau.table import exposed_card, find_run, is_face_down
from bourre_env.jit import njit


@njit
def cards_to_move(table: np.record, source: int, target: int) -> int:
    """Rule B3.3: how many cards move between two columns, where some fit: from the one that fits to the exposed one."""
    return rank_of(exposed_card(table, target)) - rank_of(exposed_card(table, source))


@njit
def can_be_taken_back(table: np.record, source: int, number: int) -> bool:
    """Rules B3.4 and B3.5: whether `number` cards leave a column so that it neither gets empty nor turns a card up."""
    left = table.heights[source] - number
    return left > 0 and not is_face_down(table, source, left - 1)


@njit
def would_repeat(table: np.record, rules: np.record, source: int, target: int) -> bool:
    """Rule B6.3: whether a move between columns is forbidden since it brings an earlier position back."""
    if rules.forbid_repeat == 0:
        return False
    number = cards_to_move(table, source, target)
    if not can_be_taken_back(table, source, number):
        return False
    return is_repeat(table, position_after(table, source, target, number))


@njit
def apply_move(table: np.record, rules: np.record, source: int, target: int) -> None:
    """Rules B3.2 and B3.3: move the cards that fit from one column to another."""
    number = cards_to_move(table, source, target)
    may_return = can_be_taken_back(table, source, number)
    if rules.forbid_repeat and may_return:
        table.position = position_after(table, source, target, number)
    from_place, to_place = table.heights[source] - number, table.heights[target]
    for step in range(number):
        table.columns[target, to_place + step] = table.columns[source, from_place + step]
    table.heights[target] += number
    find_run(table, target)
    take_away(table, source, number)
    if not may_return:
        forget_positions(table, rules)
    elif rules.forbid_repeat:
        note_position(table)


@njit
def apply_column_up(table: np.record, rules: np.record, column: int) -> None:
    """Rule B3.1: the exposed card of a column goes to a foundation."""
    put_up(table, rules, exposed_card(table, column))
    take_away(table, column, 1)
    forget_positions(table, rules)


@njit
def lay_down(table: np.record, column: int, card: int) -> None:
    """Put a card on the end of a column."""
    table.columns[column, table.heights[column]] = card
    table.heights[column] += 1
    find_run(table, column)


@njit
def take_away(table: np.record, column: int, number: int) -> None:
    """Rule B3.5: cards leave the end of a column, and the one that is exposed then is turned up."""
    height = table.heights[column]
    for place in range(height - number, height):
        table.columns[column, place] = NO_CARD
    table.heights[column] = height - number
    turn_up(table, column)
    find_run(table, column)


@njit
def turn_up(table: np.record, column: int) -> None:
    """Rule B3.5: a face-down card that nothing lies on is turned up."""
    place = table.heights[column] - 1
    if place >= 0 and is_face_down(table, column, place):
        table.face_down[column] &= ~np.uint8(1 << place)
        table.unseen[table.columns[column, place]] -= 1
