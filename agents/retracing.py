"""Does a deal that is played again show an observer what it has seen? Compiled questions about one table at a time.

Only what the observer knows of its own table is read: public fields and its own cards.

Shapes: R deals played again, A observers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.bourre.actions import actions_of_cards, first_stay
from bourre_env.bourre.declaring import mask_of_cards
from bourre_env.bourre.table import DECLARE, NO_SEAT, PLAY, in_mask
from bourre_env.cards import EMPTY, lowest_card
from bourre_env.jit import njit, njit_entry
from bourre_env.table_rules import is_legal

OFF_COURSE, OTHERS_ACT, ARRIVED = -1, -2, -3


@njit_entry
def next_steps(
    tables: NDArray[Any],
    rows: NDArray[np.int64],
    seen: NDArray[Any],
    owner: NDArray[np.int64],
    rules: NDArray[Any],
    steps: NDArray[np.int64],
) -> None:
    """What comes next in each deal.

    Args:
        tables: of dtype `TABLE`, deals played again.
        rows: [R] which of them are asked about.
        seen: [A] of dtype `TABLE`, the observers' tables; the seat to act is the observer.
        owner: [R] the observer of each deal.
        rules: [1] of dtype `RULES`.
        steps: [R] filled with the observer's action; `OTHERS_ACT`, `ARRIVED` at the observer's present decision, or
            `OFF_COURSE` when the observer has seen something else.
    """
    for place in range(len(rows)):
        steps[place] = next_step(tables[rows[place]], seen[owner[place]], rules[0])


@njit
def next_step(table: np.record, seen: np.record, rules: np.record) -> int:
    """What comes next in one deal (`next_steps`)."""
    if table.to_act == NO_SEAT or not is_on_course(table, seen, rules):
        return OFF_COURSE
    if table.to_act != seen.to_act:
        return OTHERS_ACT
    if table.phase == seen.phase and table.tricks_done == seen.tricks_done:
        return ARRIVED
    action = action_taken(table, seen, rules)
    return action if is_legal(table, action) else OFF_COURSE


@njit
def is_on_course(table: np.record, seen: np.record, rules: np.record) -> bool:
    """Whether all that everybody could see so far was seen; in two rounds the draws are compared when play begins."""
    if (table.passed & ~seen.passed) != 0 or (table.stayed & ~seen.stayed) != 0:
        return False
    if (table.face_up & ~seen.face_up) != EMPTY or (table.phase == PLAY and table.face_up != seen.face_up):
        return False
    for trick in range(table.tricks_done + 1):
        if (table.tricks[trick] & ~seen.tricks[trick]) != EMPTY:
            return False
    for seat in range(rules.num_players):
        has_drawn = in_mask(table.stayed, seat) and (not rules.two_rounds or table.phase == PLAY)
        if has_drawn and table.num_discards[seat] != seen.num_discards[seat]:
            return False
        if (table.played[seat] & ~seen.played[seat]) != EMPTY:
            return False
    return True


@njit
def action_taken(table: np.record, seen: np.record, rules: np.record) -> int:
    """What the observer did at this earlier decision of its own; -1 when it did nothing of the kind."""
    seat = seen.to_act
    if table.phase == PLAY:
        card = seen.played[seat] & seen.tricks[table.tricks_done]
        return lowest_card(actions_of_cards(rules, card)) if card != EMPTY else OFF_COURSE
    if table.phase == DECLARE and rules.two_rounds:
        return first_stay(rules)
    discards = seen.dealt[seat] & ~seen.hands[seat] & ~seen.played[seat]
    return first_stay(rules) + mask_of_cards(table.hands[seat], discards)
