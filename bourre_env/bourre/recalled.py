"""A table made from an observation alone: what the seat that observes knows, in the place where the engine keeps it.

The cards nobody has shown are missing; `Tables.reshuffle_unseen` draws them, as it does at a true table. Where an
observation tells less than the table holds, the table gets what fits it best:

* The pot is the smallest that shows the observer what it sees: antes and fees paid, or more when the flags say so.
* A stack (table stakes) is the smallest with its flags, and every seat counts as having paid antes and fees in full.
* Trumps are clubs.

Observed again, such a table gives the observation it was made from, unless a seat could not pay an ante or a fee in
full.

Shapes: D observations, W words, N seats.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bourre_env.bourre import observation as at
from bourre_env.bourre.deals import spread
from bourre_env.bourre.rules import MAX_CHIPS, Rules
from bourre_env.bourre.table import DECLARE, NO_SEAT, NO_SUIT, PLAY, in_mask, next_active, seat_bit
from bourre_env.bourre.tables import Tables
from bourre_env.bourre.worlds_view import MAX_STOCKS, new_scratch, num_laid_down, recall_service
from bourre_env.cards import (
    ALL_CARDS,
    BEATING,
    EMPTY,
    NO_CARD,
    NUM_SUITS,
    holds,
    lowest_card,
    single,
)
from bourre_env.jit import njit, njit_entry
from bourre_env.tricks import beats


def tables_as_seen(rules: Rules, packed: NDArray[np.uint64], seats: ArrayLike) -> Tables:
    """Tables at which only what the seats to act have seen is filled in; `reshuffle_unseen` makes them whole.

    Args:
        rules: the rules of the tables.
        packed: [D, W] uint64, observations of seats to act, one or more, that show no more seats than there are.
        seats: one seat, or [D] seats: who observes.

    Returns:
        D tables. Until they are made whole nothing but `reshuffle_unseen` for these seats may be asked of them.

    Raises:
        ValueError: a shape or a seat that does not fit, or an observation of nobody who is to act.
    """
    words = at.layout(rules).num_words
    if packed.ndim != 2 or packed.shape[1] != words or packed.dtype != np.uint64:
        raise ValueError(f"packed is {packed.dtype} {packed.shape}; uint64 observations of {words} words are needed")
    observers = spread(seats, len(packed), "seats", 0, rules.num_players - 1, np.int8)
    if not (packed[:, at.OWN_HAND] >> np.uint64(at.PHASE) & np.uint64(2**at.PHASE_BITS - 1)).all():
        raise ValueError("packed has a row without a phase; only seats at tables that are not settled see anything")
    tables = Tables(rules, len(packed))
    _recall_rows(packed, rules.record().view(np.ndarray), observers, tables.records.view(np.ndarray), *new_scratch())
    return tables


@njit_entry
def _recall_rows(
    packed: NDArray[np.uint64],
    rules: NDArray[Any],
    seats: NDArray[np.int8],
    tables: NDArray[Any],
    world: NDArray[Any],
    unused: NDArray[Any],
) -> None:
    """`recall` for each row."""
    for row in range(len(packed)):
        recall(packed[row], rules[0], seats[row], tables[row], world[0])


@njit
def recall(row: NDArray[np.uint64], rules: np.record, seat: int, table: np.record, world: np.record) -> None:
    """Fill a blank `table` with what an observation [W] of `seat`, which is to act, tells.

    Args:
        row: the observation.
        rules: the rules.
        seat: the observer.
        table: a record of dtype `TABLE` filled with zeros.
        world: a record of dtype `WORLD` to work in.
    """
    table.to_act = seat
    table.forfeited = NO_SEAT
    table.phase = first_flag(row[at.OWN_HAND], at.PHASE, at.PHASE_BITS)
    table.dealer = seat_at(rules, first_flag(row[at.OWN_DEALT], at.DEALER, rules.num_players), seat)
    table.exempt = absolute_mask(rules, row[at.OWN_DISCARDS] >> np.uint64(at.EXEMPT), seat)
    table.turn_up = lowest_card(row[at.TURN_UP] & ALL_CARDS)
    if rules.turn_up_on_table or holds(row[at.OWN_DISCARDS], at.TURN_UP_GONE):
        table.face_up = single(table.turn_up)
    recall_own_cards(row, rules, seat, table)
    recall_seats(row, rules, seat, table)
    recall_tricks(row, rules, seat, table)
    recall_stock(table, rules, world)
    recall_chips(row, rules, seat, table)


@njit
def first_flag(word: np.uint64, first: int, length: int) -> int:
    """The lowest of `length` flags that is set; `length` when none is."""
    flags = (word >> np.uint64(first)) & ((np.uint64(1) << np.uint64(length)) - np.uint64(1))
    return lowest_card(flags) if flags != EMPTY else length


@njit
def seat_at(rules: np.record, steps: int, observer: int) -> int:
    """The seat so many steps clockwise from the observer."""
    return (observer + steps) % rules.num_players


@njit
def absolute_mask(rules: np.record, flags: np.uint64, observer: int) -> np.uint8:
    """A mask of seats from flags that count from the observer."""
    mask = np.uint8(0)
    for steps in range(rules.num_players):
        if holds(flags, steps):
            mask |= seat_bit(seat_at(rules, steps, observer))
    return mask


@njit
def recall_own_cards(row: NDArray[np.uint64], rules: np.record, seat: int, table: np.record) -> None:
    """What the observer holds and was dealt; before a blind declaration (3.12) any cards stand for those."""
    table.hands[seat] = row[at.OWN_HAND] & ALL_CARDS
    table.dealt[seat] = row[at.OWN_DEALT] & ALL_CARDS
    if rules.blind_declaring and table.phase == DECLARE:
        table.dealt[seat] = (np.uint64(1) << np.uint64(rules.hand_size)) - np.uint64(1)


@njit
def recall_seats(row: NDArray[np.uint64], rules: np.record, seat: int, table: np.record) -> None:
    """What each seat has shown."""
    for steps in range(rules.num_players):
        other = seat_at(rules, steps, seat)
        word = row[at.FIRST_TRICK + rules.hand_size + steps]
        table.played[other] = word & ALL_CARDS
        table.num_discards[other] = at.flags_set(word, at.DISCARDS, at.DISCARDS_BITS)
        table.tricks_won[other] = at.flags_set(word, at.TRICKS, at.TRICKS_BITS)
        if holds(word, at.STAYED):
            table.stayed |= seat_bit(other)
        if holds(word, at.PASSED):
            table.passed |= seat_bit(other)


@njit
def recall_tricks(row: NDArray[np.uint64], rules: np.record, seat: int, table: np.record) -> None:
    """The tricks, the current one first, and who is winning it."""
    table.leader = NO_SEAT
    table.led_suit = NO_SUIT
    table.best_card = NO_CARD
    table.best_seat = NO_SEAT
    if table.phase != PLAY:
        return
    table.tricks_done = at.flags_set(row[at.OWN_HAND], at.TRICKS_DONE, at.TRICKS_DONE_BITS)
    for ago in range(table.tricks_done + 1):
        table.tricks[table.tricks_done - ago] = row[at.FIRST_TRICK + ago] & ALL_CARDS
    table.leader = seat_at(rules, first_flag(row[at.FIRST_TRICK], at.LEADER, rules.num_players), seat)
    if table.tricks[table.tricks_done] == EMPTY:
        return
    table.led_suit = first_flag(row[at.OWN_HAND], at.LED_SUIT, NUM_SUITS)
    other = int(table.leader)
    while other != seat:
        card = lowest_card(table.tricks[table.tricks_done] & table.played[other])
        if beats(card, BEATING[table.best_card]):
            table.best_card = card
            table.best_seat = other
        other = next_active(table, other)


@njit
def recall_stock(table: np.record, rules: np.record, world: np.record) -> None:
    """Rules 3.1, 3.10: how far the stock has been served, and how often it was refilled."""
    table.num_reshuffles = MAX_STOCKS - 1
    recall_service(table, rules, world)
    table.num_reshuffles = world.stock_number
    size = rules.ranks * rules.suits
    if world.stock_number > 0:
        size = 0
        for other in range(rules.num_players):
            if world.reshuffled_into[other] == world.stock_number:
                size += num_laid_down(table, rules, other)
    table.stock_end = size
    table.stock_next = size - world.stock_left


# --- chips ------------------------------------------------------------------------------------------------------------


@njit
def recall_chips(row: NDArray[np.uint64], rules: np.record, seat: int, table: np.record) -> None:
    """Sections 1 and 6: antes and fees paid, the pot, and at table stakes the stacks."""
    if rules.table_stakes:
        recall_stacks(row, rules, seat, table)
    paid = 0
    for other in range(rules.num_players):
        chips = 0
        if not in_mask(table.exempt, other) and not in_mask(table.out, other):
            chips += rules.ante
        if in_mask(table.stayed, other):
            chips += rules.play_fee
        drawn = int(table.num_discards[other])
        if drawn > 0:
            chips += rules.draw_fee * (drawn if rules.draw_fee_each_card else 1)
        table.returns[other] = -chips
        paid += chips
    table.pot = max(paid, least_pot(row, rules))
    table.carry = table.pot - paid


@njit
def least_pot(row: NDArray[np.uint64], rules: np.record) -> int:
    """The smallest pot with the flags that are set."""
    least = 0
    steps = at.flags_set(row[at.TURN_UP], at.POT, at.POT_BITS)
    if steps > 0:
        least = half_rounded_up(at.POT_STEPS[steps - 1] * rules.ante * rules.num_players)
    if rules.limit < MAX_CHIPS:
        steps = at.flags_set(row[at.OWN_DEALT], at.POT_OVER_LIMIT, at.POT_OVER_LIMIT_BITS)
        if steps > 0:
            least = max(least, half_rounded_up(at.LIMIT_STEPS[steps - 1] * rules.limit))
    return least


@njit
def half_rounded_up(chips: int) -> int:
    """The least whole number whose double is at least `chips`."""
    return (chips + 1) // 2


@njit
def recall_stacks(row: NDArray[np.uint64], rules: np.record, seat: int, table: np.record) -> None:
    """Rule 6.7: the smallest stacks with the flags that are set, and who sits out."""
    word = row[at.FIRST_TRICK + rules.hand_size + rules.num_players]
    for steps in range(rules.num_players):
        other = seat_at(rules, steps, seat)
        first = at.STACK_BITS * steps
        if holds(word, first + at.SITS_OUT):
            table.out |= seat_bit(other)
        reached = at.flags_set(word, first, len(at.STACK_STEPS))
        table.stacks[other] = at.STACK_STEPS[reached - 1] * rules.ante if reached > 0 else 0
