"""The compiled part of `agents.solver`: what the cards left to play come to when all of them lie open.

Depth-first search with a stack of its own (`bourre_env.bourre.open_play`). What is compiled here stays in one file, for
the cache on disk would not notice edits of another file of this package.

*Max^n* (Luckhardt and Irani, AAAI 1986): each seat takes what leaves itself most chips, and of several cards that leave
it the same the first in a fixed order, the highest id first. Of two players it is alpha-beta with null windows on the
tricks of one of them (Pearl's Scout, AAAI 1980), where their interests are strictly opposed.

What keeps the tree small, none of which changes a value:

- Two cards of a hand are *equal* when no card of anybody else that matters lies between them, so that the rest of the
  deal is the same with their names exchanged; only the first in the order is tried. The order of all other cards of
  the hand is unaffected, therefore even ties break alike.
- A seat wins a trick with each of its trumps that cannot be matched with a higher one elsewhere, whoever plays how
  (`sure_tricks`, rule 5.1): a trump loses only to one higher trump, which cannot beat a second one. The result often
  cannot change any more long before the last trick.
- A seat that has found the best it can still get looks no further, since the first such card counts.
- Positions between tricks are remembered: cards left, leader and tricks won determine the rest of a deal.

Shapes: k rows, N seats, C cards of the pack.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.bourre.actions import actions_of_cards
from bourre_env.bourre.endings import OPEN, aim_at_chips, aim_at_tricks, find_endings, first_ending
from bourre_env.bourre.open_play import (
    last_trick,
    next_choice,
    open_ply,
    play,
    set_position,
    take_back,
    with_sure_tricks,
)
from bourre_env.bourre.playing import cards_to_play
from bourre_env.bourre.rules import MAX_HAND
from bourre_env.bourre.table import NO_SUIT
from bourre_env.cards import EMPTY, NO_CARD, NUM_CARDS, lowest_card, single
from bourre_env.deck import mix
from bourre_env.jit import njit, njit_entry

Records = NDArray[Any]
Room = tuple[Records, Records, Records, Records, Records]

LEADER_SHIFT, SHARE_SHIFT = np.uint64(NUM_CARDS), np.uint64(NUM_CARDS + 3)
STAMPS_A_TABLE = MAX_HAND + 1  # one for each goal

MEMO = np.dtype(
    [("key", np.uint64), ("stamp", np.int64), ("share", np.int16), ("ending", np.int16)],
    align=True,
)
"""A position between tricks and what it comes to, of the search with that stamp."""


@njit
def settled_ending(position: np.record, search: np.record, endings: np.record, rules: np.record, depth: int) -> int:
    """Between tricks: the ending that must come, OPEN when play decides; notes the sure tricks at that depth."""
    sure = with_sure_tricks(position, search, endings)
    search.sure[depth] = sure
    if endings.ending[sure] == OPEN and position.tricks_done == rules.hand_size - 1:
        return endings.ending[last_trick(position, endings)]
    return endings.ending[sure]


@njit
def key_of(position: np.record) -> np.uint64:
    """What the rest of the deal depends on between tricks, the share aside."""
    return position.held | np.uint64(position.leader) << LEADER_SHIFT


@njit
def slot_of(position: np.record) -> np.uint64:
    """A number that spreads positions evenly."""
    return mix(key_of(position) ^ np.uint64(position.share) << SHARE_SHIFT)


@njit
def remember(entry: np.record, position: np.record, search: np.record, ending: int) -> None:
    """Write what a position comes to into a memo entry."""
    entry.key = key_of(position)
    entry.stamp = search.stamp
    entry.share = position.share
    entry.ending = ending


# --- max^n ------------------------------------------------------------------------------------------------------------


@njit
def improve(search: np.record, endings: np.record, depth: int, ending: int) -> None:
    """Compare a card's ending with the best one; the first of the best counts, and nothing is better than the best."""
    place = endings.places[search.seat[depth]]
    best = search.best[depth]
    if best == OPEN or endings.worth[ending, place] > endings.worth[best, place]:
        search.best[depth] = ending
        if endings.worth[ending, place] >= endings.worth[search.sure[depth], place]:
            search.choices[depth] = EMPTY


@njit
def is_of(entry: np.record, position: np.record, search: np.record) -> bool:
    """Whether a memo entry is about this position, and of this search."""
    return entry.stamp == search.stamp and entry.key == key_of(position) and entry.share == position.share


@njit
def best_ending(
    position: np.record,
    search: np.record,
    endings: np.record,
    rules: np.record,
    memo: Records,
    merge_equal: bool,
    root: int,
) -> int:
    """The ending that max^n play leads to from the position at depth `root`."""
    slots = np.uint64(len(memo) - 1)
    depth = root
    open_ply(position, search, rules, depth)
    while True:
        card = next_choice(position, search, rules, depth, merge_equal)
        if card != NO_CARD:
            play(position, search, endings, depth, card)
            search.sure[depth + 1] = search.sure[depth]
            ending = OPEN
            if position.led_suit == NO_SUIT:
                ending = settled_ending(position, search, endings, rules, depth + 1)
                entry = memo[slot_of(position) & slots]
                if ending == OPEN and is_of(entry, position, search):
                    ending = entry.ending
            if ending == OPEN:
                depth += 1
                open_ply(position, search, rules, depth)
                continue
        else:
            ending = search.best[depth]
            if depth == root:
                return ending
            if position.led_suit == NO_SUIT:
                remember(memo[slot_of(position) & slots], position, search, ending)
            depth -= 1
        take_back(position, search, depth)
        improve(search, endings, depth, ending)


@njit
def makes_no_difference(endings: np.record, tricks: int) -> bool:
    """Whether the first of two players is as well off with one trick more than that."""
    last = endings.tricks_left - tricks
    return endings.same[last] == endings.same[last - 1]


@njit
def next_goal(endings: np.record, low: int, high: int) -> int:
    """A number of tricks above `low`, near the middle, whose reaching makes a difference; reaching `low` + 1 does."""
    goal = (low + high + 1) // 2
    while makes_no_difference(endings, goal - 1):
        goal -= 1
    return goal


@njit_entry
def solved_ending(
    position: np.record,
    search: np.record,
    endings: np.record,
    rules: np.record,
    memo: Records,
    merge_equal: bool,
    null_windows: bool,
    root: int,
) -> int:
    """The ending of the position at depth `root`: one search for chips, or in a duel null windows on tricks."""
    stamp = search.stamp
    is_duel = null_windows and endings.is_duel != 0
    ending = OPEN
    low = 0
    high = endings.tricks_left if is_duel else 1
    while low < high:
        goal = 0
        if is_duel:
            if makes_no_difference(endings, low):
                low += 1
                continue
            goal = next_goal(endings, low, high)
            aim_at_tricks(endings, goal)
        search.stamp = stamp + goal
        search.sure[root] = position.share
        ending = OPEN
        if position.led_suit == NO_SUIT:
            ending = settled_ending(position, search, endings, rules, root)
        if ending == OPEN:
            ending = best_ending(position, search, endings, rules, memo, merge_equal, root)
        if not is_duel:
            high = low
        elif ending == first_ending(endings):
            low = goal
        else:
            high = goal - 1
    search.stamp = stamp
    return first_ending(endings) + endings.tricks_left - low if is_duel else ending


# --- the loop over tables ---------------------------------------------------------------------------------------------


@njit
def set_up(
    table: np.record,
    rules: np.record,
    credit: NDArray[np.float64],
    exempt_chips: float,
    scratch: np.record,
    position: np.record,
    search: np.record,
    endings: np.record,
    null_windows: bool,
) -> None:
    """Begin with a table: its endings, its position, a memo in which nothing is known."""
    find_endings(endings, table, rules, scratch, credit, exempt_chips)
    if not (null_windows and endings.is_duel):
        aim_at_chips(endings)
    set_position(position, table, rules, endings)
    search.stamp += STAMPS_A_TABLE


@njit
def write_values(endings: np.record, rules: np.record, ending: int, out: NDArray[np.float64]) -> None:
    """What the seats have in an ending, into `out` [N]."""
    for seat in range(rules.num_players):
        out[seat] = endings.values[ending - first_ending(endings), seat]


@njit
def solve_every_card(
    position: np.record,
    search: np.record,
    endings: np.record,
    rules: np.record,
    memo: Records,
    merge_equal: bool,
    null_windows: bool,
) -> None:
    """Find the ending that each card of the seat to act leads to."""
    open_ply(position, search, rules, 0)
    card = next_choice(position, search, rules, 0, merge_equal)
    while card != NO_CARD:
        play(position, search, endings, 0, card)
        ending = solved_ending(position, search, endings, rules, memo, merge_equal, null_windows, 1)
        take_back(position, search, 0)
        search.of_card[card] = ending
        card = next_choice(position, search, rules, 0, merge_equal)


@njit
def write_cards(
    position: np.record, search: np.record, endings: np.record, rules: np.record, out: NDArray[np.float64]
) -> None:
    """What the seats have after each card of the seat to act, into `out` [C, N]."""
    cards = cards_to_play(position, rules)
    while cards != EMPTY:
        card = lowest_card(cards)
        cards &= ~single(card)
        write_values(endings, rules, search.of_card[card], out[lowest_card(actions_of_cards(rules, single(card)))])


# Fields of records are written in functions that get the records as arguments. Numba takes records out of a tuple for
# values of its own, and leaves out "dead" assignments to their fields in any function that it inlines another into.


@njit_entry
def solve_rows(
    tables: Records,
    rules: Records,
    rows: NDArray[np.int64],
    credit: NDArray[np.float64],
    exempt_chips: float,
    room: Room,
    merge_equal: bool,
    null_windows: bool,
    out: NDArray[np.float64],
) -> None:
    """Values of the tables `rows` [k] into `out` [k, N]."""
    searches, positions, all_endings, scratches, memo = room
    search = searches[0]
    position = positions[0]
    endings = all_endings[0]
    for place in range(len(rows)):
        table = tables[rows[place]]
        set_up(table, rules[0], credit, exempt_chips, scratches[0], position, search, endings, null_windows)
        ending = solved_ending(position, search, endings, rules[0], memo, merge_equal, null_windows, 0)
        write_values(endings, rules[0], ending, out[place])


@njit_entry
def solve_actions_of_rows(
    tables: Records,
    rules: Records,
    rows: NDArray[np.int64],
    credit: NDArray[np.float64],
    exempt_chips: float,
    room: Room,
    merge_equal: bool,
    null_windows: bool,
    out: NDArray[np.float64],
) -> None:
    """Values after each legal card at the tables `rows` [k] into `out` [k, C, N]; other cards are left as they are."""
    searches, positions, all_endings, scratches, memo = room
    search = searches[0]
    position = positions[0]
    endings = all_endings[0]
    for place in range(len(rows)):
        table = tables[rows[place]]
        set_up(table, rules[0], credit, exempt_chips, scratches[0], position, search, endings, null_windows)
        solve_every_card(position, search, endings, rules[0], memo, merge_equal, null_windows)
        write_cards(position, search, endings, rules[0], out[place])
