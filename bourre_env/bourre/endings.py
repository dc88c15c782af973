"""How the tricks still to be played may fall to the active seats, and what each way is worth after settlement.

A *share* says how many of the tricks left each active seat wins. Shares are numbered by their sum, so that those of the
first few tricks come first; a share in which all tricks left are won is an *ending*, and it settles the deal. Active
seats are counted in the order of their numbers: P of them, at *places* 0 to P - 1.

Shapes: P active seats, N seats.
"""

import functools
import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.bourre.rules import MAX_HAND, MAX_PLAYERS
from bourre_env.bourre.settling import settle
from bourre_env.bourre.table import TABLE, in_mask
from bourre_env.jit import njit

Records = NDArray[Any]

MOST_SHARES = math.comb(MAX_PLAYERS + MAX_HAND, MAX_HAND)
MOST_ENDINGS = math.comb(MAX_PLAYERS + MAX_HAND - 1, MAX_HAND)
GRID = 2.0**20  # parts of a chip in which values are compared: sums of floating-point shares differ in the last bits
OPEN = -1  # where an ending is expected, and play may still change the result

ENDINGS = np.dtype(
    [
        # The same for every table
        ("after", np.int16, (MAX_PLAYERS + 1, MOST_SHARES, MAX_PLAYERS)),  # P, share, place: one more trick for it
        ("tricks", np.int8, (MAX_PLAYERS + 1, MOST_SHARES, MAX_PLAYERS)),  # P, share, place: tricks it has won
        ("first", np.int16, (MAX_PLAYERS + 1, MAX_HAND + 2)),  # P, sum: the first share with that sum
        # One table
        ("num_places", np.int8),
        ("seats", np.int8, MAX_PLAYERS),  # place: its seat
        ("places", np.int8, MAX_PLAYERS),  # seat: its place
        ("tricks_left", np.int8),
        ("values", np.float64, (MOST_ENDINGS, MAX_PLAYERS)),  # ending less the first one, seat: chips
        ("same", np.int16, MOST_ENDINGS),  # ending less the first one: the first ending in which every seat has as much
        ("is_duel", np.uint8),  # two players, and what is better for one is worse for the other
        # What a search is about
        ("worth", np.int64, (MOST_SHARES, MAX_PLAYERS)),  # share, place: the most it can come to
        ("ending", np.int16, MOST_SHARES),  # share: the ending it is as good as whatever is played, or OPEN
    ],
    align=True,
)
"""The endings of one table."""


def new_endings() -> tuple[Records, Records]:
    """Room to work in: [1] of dtype `ENDINGS` with all shares counted, and [1] of dtype `TABLE` to settle."""
    endings, scratch = (np.zeros(1, dtype).view(np.recarray).view(np.ndarray) for dtype in (ENDINGS, TABLE))
    for name, counted in _counted_shares().items():
        endings[name][0] = counted
    return endings, scratch


@functools.cache
def _counted_shares() -> dict[str, NDArray[Any]]:
    """The fields of `ENDINGS` that are the same for every table."""
    fields = {name: np.zeros(ENDINGS[name].shape, ENDINGS[name].base) for name in ("after", "tricks", "first")}
    for places in range(2, MAX_PLAYERS + 1):
        by_sum = [itertools.combinations_with_replacement(range(places), total) for total in range(MAX_HAND + 1)]
        number = {winners: share for share, winners in enumerate(itertools.chain(*by_sum))}
        for winners, share in number.items():
            fields["tricks"][places, share] = [winners.count(place) for place in range(MAX_PLAYERS)]
            if len(winners) < MAX_HAND:
                more = [number[tuple(sorted((*winners, place)))] for place in range(places)]
                fields["after"][places, share, :places] = more
        fields["first"][places] = [math.comb(places + total - 1, places) for total in range(MAX_HAND + 2)]
    return fields


@njit
def find_endings(
    endings: np.record,
    table: np.record,
    rules: np.record,
    scratch: np.record,
    credit: NDArray[np.float64],
    exempt_chips: float,
) -> None:
    """Settle a table in every way its tricks may fall.

    Args:
        endings: one record of dtype `ENDINGS`, filled.
        table: a table in its phase of play.
        rules: one record of dtype `RULES`.
        scratch: one record of dtype `TABLE` to work on.
        credit: [N] the part of the carry that each seat is credited with.
        exempt_chips: chips that a seat which skips the next ante is credited with.
    """
    _find_places(endings, table, rules)
    first = first_ending(endings)
    for ending in range(first, end_of_endings(endings)):
        _settle_as(scratch, table, rules, endings, ending)
        for seat in range(rules.num_players):
            exempt = exempt_chips if in_mask(scratch.exempt, seat) else 0.0
            endings.values[ending - first, seat] = scratch.returns[seat] + credit[seat] * scratch.carry + exempt
        endings.same[ending - first] = _same_ending(endings, rules.num_players, first, ending)
    endings.is_duel = _are_opposed(endings)


@njit
def first_ending(endings: np.record) -> int:
    """The first share in which all tricks left are won."""
    return endings.first[endings.num_places, endings.tricks_left]


@njit
def end_of_endings(endings: np.record) -> int:
    """The number behind the last ending."""
    return endings.first[endings.num_places, endings.tricks_left + 1]


@njit
def aim_at_chips(endings: np.record) -> None:
    """The search is about chips: every seat wants as many as it can get."""
    first = first_ending(endings)
    for ending in range(first, end_of_endings(endings)):
        endings.ending[ending] = endings.same[ending - first]
        for place in range(endings.num_places):
            endings.worth[ending, place] = on_grid(endings.values[ending - first, endings.seats[place]])
    _look_ahead(endings)


@njit
def aim_at_tricks(endings: np.record, goal: int) -> None:
    """The search is about one question between two seats: can the first of them win `goal` of the tricks left?"""
    all_won, none_won = first_ending(endings), end_of_endings(endings) - 1
    for ending in range(all_won, none_won + 1):
        reached = endings.tricks[2, ending, 0] >= goal
        endings.ending[ending] = all_won if reached else none_won
        endings.worth[ending, 0] = reached
        endings.worth[ending, 1] = not reached
    _look_ahead(endings)


@njit
def _look_ahead(endings: np.record) -> None:
    """For every share, from the last to the first: what may still come of it."""
    for share in range(first_ending(endings) - 1, -1, -1):
        _look_one_trick_ahead(endings, share)


@njit
def on_grid(chips: float) -> int:
    """Chips as a whole number of parts; values that agree in it are equal."""
    return int(np.rint(chips * GRID))


@njit
def _find_places(endings: np.record, table: np.record, rules: np.record) -> None:
    """Count the active seats and the tricks left."""
    endings.num_places = 0
    for seat in range(rules.num_players):
        endings.places[seat] = endings.num_places
        if in_mask(table.stayed, seat):
            endings.seats[endings.num_places] = seat
            endings.num_places += 1
    endings.tricks_left = rules.hand_size - table.tricks_done


@njit
def _settle_as(scratch: np.record, table: np.record, rules: np.record, endings: np.record, ending: int) -> None:
    """Settle a copy of the table as if the tricks left had fallen in one way."""
    scratch.stayed = table.stayed
    scratch.exempt = table.exempt
    scratch.pot = table.pot
    for seat in range(rules.num_players):
        scratch.returns[seat] = table.returns[seat]
        scratch.stacks[seat] = table.stacks[seat]
        scratch.tricks_won[seat] = table.tricks_won[seat]
    for place in range(endings.num_places):
        scratch.tricks_won[endings.seats[place]] += endings.tricks[endings.num_places, ending, place]
    settle(scratch, rules)


@njit
def _same_ending(endings: np.record, num_seats: int, first: int, ending: int) -> int:
    """The first ending in which every seat has the same."""
    for other in range(first, ending):
        seat = 0
        while seat < num_seats and on_grid(endings.values[other - first, seat]) == on_grid(
            endings.values[ending - first, seat]
        ):
            seat += 1
        if seat == num_seats:
            return other
    return ending


@njit
def _look_one_trick_ahead(endings: np.record, share: int) -> None:
    """What may come of a share, from the shares one trick later."""
    places = endings.num_places
    following = endings.after[places, share, 0]
    endings.ending[share] = endings.ending[following]
    for place in range(places):
        endings.worth[share, place] = endings.worth[following, place]
    for winner in range(1, places):
        following = endings.after[places, share, winner]
        if endings.ending[following] != endings.ending[share]:
            endings.ending[share] = OPEN
        for place in range(places):
            endings.worth[share, place] = max(endings.worth[share, place], endings.worth[following, place])


@njit
def _are_opposed(endings: np.record) -> bool:
    """Whether two players share the tricks, and each of them has more whenever the other has less."""
    if endings.num_places != 2:
        return False
    for ending in range(1, endings.tricks_left + 1):  # the second player wins one trick more in each
        gain = on_grid(endings.values[ending, endings.seats[1]]) - on_grid(endings.values[ending - 1, endings.seats[1]])
        loss = on_grid(endings.values[ending - 1, endings.seats[0]]) - on_grid(endings.values[ending, endings.seats[0]])
        if endings.same[ending] != endings.same[ending - 1] and (gain <= 0 or loss <= 0):
            return False
    return True
