"""Building on the foundations: section B2. There is no function that takes a card down again (B2.3)."""

import numpy as np

from bourre_env.bureau.cards import KING, NO_CARD, NUM_RANKS, rank_of
from bourre_env.bureau.rules import MAX_FOUNDATIONS
from bourre_env.cards import EMPTY, single
from bourre_env.jit import njit


@njit
def is_accepted(table: np.record, card: int) -> bool:
    """Rules B2.1 and B2.2: whether a foundation takes a card; never `NO_CARD`."""
    return card != NO_CARD and table.accepted & single(card) != EMPTY


@njit
def put_up(table: np.record, rules: np.record, card: int) -> None:
    """Rules B2.1, B2.2 and B2.4: lay a card that is accepted on the first foundation that takes it."""
    below = NO_CARD if rank_of(card) == 0 else card - 1
    for slot in range(MAX_FOUNDATIONS):
        if table.tops[slot] == below:
            table.tops[slot] = card
            break
    table.cards_up += 1
    find_accepted(table, rules)


@njit
def find_accepted(table: np.record, rules: np.record) -> None:
    """Rules B2.1 and B2.2: write down which cards the foundations take, an ace of either series in an empty place."""
    table.accepted = EMPTY
    for slot in range(rules.n_foundations):
        top = table.tops[slot]
        if top == NO_CARD:
            table.accepted |= single(0) | single(NUM_RANKS)
        elif rank_of(top) != KING:
            table.accepted |= single(top + 1)
