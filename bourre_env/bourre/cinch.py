"""Sure tricks and the duties of a cinch: section 5."""

import numpy as np

from bourre_env.bourre.rules import CINCH_LEAD, CINCH_OFF, MAX_HAND
from bourre_env.bourre.table import is_last_to_play
from bourre_env.cards import EMPTY, TRUMPS, count_cards, highest_card, single
from bourre_env.jit import njit


@njit
def sure_tricks(tricks_won: int, trumps_held: np.uint64, outstanding: np.uint64) -> int:
    """Rule 5.1: tricks won, plus the trumps held that no outstanding trump can be matched against.

    From high to low, each trump held is beaten by one higher outstanding trump that has not beaten another.
    """
    sure = tricks_won
    threats = 0
    trumps = trumps_held | outstanding
    while trumps != EMPTY:
        card = single(highest_card(trumps))
        trumps &= ~card
        if card & outstanding != EMPTY:
            threats += 1
        elif threats > 0:
            threats -= 1
        else:
            sure += 1
    return sure


@njit
def cards_gone(table: np.record) -> np.uint64:
    """Cards everyone has seen leave the game: played ones, and a turn-up out of play."""
    gone = table.face_up
    for trick in range(MAX_HAND):  # a fixed number of turns: tricks not yet begun are empty
        gone |= table.tricks[trick]
    return gone


@njit
def has_cinch(table: np.record, rules: np.record, seat: int, must_trump: bool) -> bool:
    """Rules 5.2 and 5.6, for a seat that leads or, with `must_trump`, follows and has to play a trump."""
    majority = rules.hand_size // 2 + 1
    trumps_held = table.hands[seat] & TRUMPS
    most_possible = table.tricks_won[seat] + count_cards(trumps_held)
    if most_possible < majority or trumps_held == EMPTY:
        return False
    # Trumps that a short pack lacks count as outstanding, but they rank below all others and threaten none of them.
    outstanding = TRUMPS & ~trumps_held & ~cards_gone(table)
    if must_trump and trumps_held < single(table.best_card) and single(table.best_card) & TRUMPS != EMPTY:
        outstanding |= single(table.best_card)
    return sure_tricks(table.tricks_won[seat], trumps_held, outstanding) >= majority


@njit
def cinch_lead(table: np.record, rules: np.record, seat: int) -> bool:
    """Rule 5.3: whether the leader must lead the highest trump."""
    return rules.cinch != CINCH_OFF and has_cinch(table, rules, seat, False)


@njit
def cinch_follow(table: np.record, rules: np.record, seat: int, allowed: np.uint64) -> bool:
    """Rules 5.4 and 5.5: whether a follower whom section 4 leaves only trumps must play the highest one."""
    if rules.cinch == CINCH_OFF or rules.cinch == CINCH_LEAD:
        return False
    if allowed & ~TRUMPS != EMPTY or is_last_to_play(table, seat):
        return False
    return has_cinch(table, rules, seat, True)
