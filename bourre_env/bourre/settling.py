"""Who gets the pot, who owes it, who antes next: section 6; and the forfeit of 7.2, which settles a deal at once."""

import numpy as np

from bourre_env.bourre.rules import CAPPED, FIXED
from bourre_env.bourre.table import NO_SEAT, SEATS_IN_MASK, SETTLED, in_mask, pay_into_pot, seat_bit, take_from_pot
from bourre_env.jit import njit


@njit
def settle(table: np.record, rules: np.record) -> None:
    """Settle a deal that was played out (6.1 to 6.6)."""
    owed = bourre_debt(table, rules)  # from the whole pot, before anyone is paid (6.3)
    leaders = seats_with_most_tricks(table, rules)
    if pot_is_won(table, rules, leaders):
        pay_winners(table, rules, leaders)
        table.exempt = 0
    else:
        table.exempt = leaders if rules.tied_skip_ante else 0
    charge_bourres(table, rules, owed)
    _close(table)


@njit
def seats_with_most_tricks(table: np.record, rules: np.record) -> np.uint8:
    """Mask of the active seats with the highest number of tricks."""
    most = 0
    leaders = np.uint8(0)
    for seat in range(rules.num_players):
        if not in_mask(table.stayed, seat) or table.tricks_won[seat] < most:
            continue
        if table.tricks_won[seat] > most:
            most = table.tricks_won[seat]
            leaders = np.uint8(0)
        leaders |= seat_bit(seat)
    return leaders


@njit
def pot_is_won(table: np.record, rules: np.record, leaders: np.uint8) -> bool:
    """Rules 6.1 and 6.2: whether the leaders are paid: one seat with enough tricks, or a tie that is divided."""
    if SEATS_IN_MASK[leaders] > 1:
        return bool(rules.divide_ties)
    if not rules.majority_wins:
        return True
    most = 0
    for seat in range(rules.num_players):
        most = max(most, table.tricks_won[seat])
    return most > rules.hand_size // 2


@njit
def pay_winners(table: np.record, rules: np.record, winners: np.uint8) -> None:
    """Rules 6.1, 6.2, 6.4: pay the pot, or as much as the limit lets go, in equal whole shares."""
    share = min(table.pot, rules.limit) // SEATS_IN_MASK[winners]
    for seat in range(rules.num_players):
        if in_mask(winners, seat):
            take_from_pot(table, rules, seat, share)


@njit
def bourre_debt(table: np.record, rules: np.record) -> int:
    """Rules 6.3 and 6.4: what each bourré owes."""
    owed = table.pot
    if rules.bourre_penalty == CAPPED:
        owed = min(owed, rules.penalty_chips)
    elif rules.bourre_penalty == FIXED:
        owed = rules.penalty_chips
    return min(owed, rules.limit)


@njit
def charge_bourres(table: np.record, rules: np.record, owed: int) -> None:
    """Rules 6.3 and 6.5: every active seat without a trick pays into the next pot."""
    for seat in range(rules.num_players):
        if in_mask(table.stayed, seat) and table.tricks_won[seat] == 0:
            pay_into_pot(table, rules, seat, owed)
            if rules.bourre_skips_ante:
                table.exempt |= seat_bit(seat)


@njit
def collect_pot(table: np.record, rules: np.record, seat: int) -> None:
    """Rules 3.7 and 3.8: one seat takes the pot without play."""
    pay_winners(table, rules, seat_bit(seat))
    table.exempt = 0
    _close(table)


@njit
def leave_pot(table: np.record) -> None:
    """Rule 3.7 with a pot that stays: nobody is paid and everybody antes again."""
    table.exempt = 0
    _close(table)


@njit
def _close(table: np.record) -> None:
    """Rule 6.6: what lies in the pot is the carry; nobody is to act."""
    table.carry = table.pot
    table.pot = 0
    table.phase = SETTLED
    table.to_act = NO_SEAT


@njit
def forfeit(table: np.record, rules: np.record) -> None:
    """Rule 7.2: the seat to act has gone bourré, and the deal ends."""
    offender = table.to_act
    table.forfeited = offender
    owed = bourre_debt(table, rules)  # from the whole pot, before anyone is paid (6.3)
    share_with_others(table, rules, offender)
    table.exempt = seat_bit(offender) if rules.bourre_skips_ante else 0
    pay_into_pot(table, rules, offender, owed)
    _close(table)


@njit
def share_with_others(table: np.record, rules: np.record, offender: int) -> None:
    """Rule 7.2: pay the pot, within the limit, to the others still in the deal; odd chips from the offender's left."""
    gone = table.passed | table.out | seat_bit(offender)
    sharing = rules.num_players - SEATS_IN_MASK[gone]
    chips = min(table.pot, rules.limit)
    seat = offender
    for _ in range(rules.num_players - 1):
        seat = seat + 1 if seat + 1 < rules.num_players else 0
        if not in_mask(gone, seat):
            share = (chips + sharing - 1) // sharing
            take_from_pot(table, rules, seat, share)
            chips -= share
            sharing -= 1
