"""The auction: section P2. Once it is over, the phase is `TRUMP`, or the hand is thrown in."""

import numpy as np

from bourre_env.cards import count_cards, single
from bourre_env.jit import njit
from bourre_env.pinochle.rules import NUM_LEVELS, NUM_SEATS
from bourre_env.pinochle.scoring import throw_in
from bourre_env.pinochle.table import NO_SEAT, TRUMP, in_mask, left_of, seat_bit

_EVERY_LEVEL = np.uint64((1 << NUM_LEVELS) - 1)


@njit
def levels_to_bid(table: np.record) -> np.uint64:
    """Rule P2.2: the levels that the seat to act may bid, as bits: those above the high bid."""
    return (_EVERY_LEVEL >> np.uint64(table.high_bid + 1)) << np.uint64(table.high_bid + 1)


@njit
def num_passed(table: np.record) -> int:
    """How many seats have passed."""
    return count_cards(np.uint64(table.passed))


@njit
def apply_bid(table: np.record, level: int) -> None:
    """Rules P2.2 and P2.3: the seat to act bids."""
    table.bids[table.to_act] |= single(level)
    table.high_bid = level
    table.high_bidder = table.to_act
    _go_on(table)


@njit
def apply_pass(table: np.record, rules: np.record) -> None:
    """Rules P2.2 to P2.4: the seat to act passes for good."""
    table.passed |= seat_bit(table.to_act)
    if table.high_bidder == NO_SEAT and num_passed(table) >= NUM_SEATS - 1:
        nobody_has_bid(table, rules)
    else:
        _go_on(table)


@njit
def _go_on(table: np.record) -> None:
    """Rule P2.3: the next seat that has not passed calls; when three have, the auction is over."""
    if num_passed(table) == NUM_SEATS - 1 and table.high_bidder != NO_SEAT:
        _end_auction(table)
        return
    table.to_act = left_of(table.to_act)
    while in_mask(table.passed, table.to_act):
        table.to_act = left_of(table.to_act)


@njit
def nobody_has_bid(table: np.record, rules: np.record) -> None:
    """Rule P2.4: three seats have passed, or all four."""
    if num_passed(table) == NUM_SEATS:
        throw_in(table)
        return
    table.to_act = table.dealer
    if rules.dealer_stuck:
        apply_bid(table, 0)


@njit
def _end_auction(table: np.record) -> None:
    """Rule P2.3: the high bidder is the declarer and names trumps."""
    table.to_act = table.high_bidder
    table.phase = TRUMP
