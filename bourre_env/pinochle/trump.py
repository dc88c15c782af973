"""Naming trumps: rule P3.1."""

import numpy as np

from bourre_env.cards import single
from bourre_env.jit import njit
from bourre_env.pinochle.cards import EMPTY, KING, NUM_RANKS, NUM_SUITS, QUEEN, kinds_of

EVERY_SUIT = np.uint64((1 << NUM_SUITS) - 1)
_MARRIAGE = (1 << KING) | (1 << QUEEN)

MARRIAGE = np.array([_MARRIAGE << NUM_RANKS * suit for suit in range(NUM_SUITS)], np.uint64)
"""[4] uint64: king and queen of each suit."""


@njit
def suits_to_name(hand: np.uint64, rules: np.record) -> np.uint64:
    """Rule P3.1: the suits that a declarer with this hand may name, as bits."""
    if not rules.need_marriage:
        return EVERY_SUIT
    suits = EMPTY
    for suit in range(NUM_SUITS):
        if kinds_of(hand) & MARRIAGE[suit] == MARRIAGE[suit]:
            suits |= single(suit)
    return suits if suits != EMPTY else EVERY_SUIT
