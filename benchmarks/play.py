"""Random play in compiled form, so that a benchmark measures the engine and not the player."""

import numpy as np
from numpy.typing import NDArray

from bourre_env.cards import EMPTY, count_cards, lowest_card
from bourre_env.deck import GOLDEN, mix
from bourre_env.jit import njit, njit_entry


@njit
def nth_action(bits: np.uint64, nth: int) -> int:
    """Place of the nth set bit."""
    for _ in range(nth):
        bits &= bits - np.uint64(1)
    return lowest_card(bits)


@njit_entry
def choose_randomly(legal: NDArray[np.uint64], key: np.uint64, actions: NDArray[np.int64]) -> None:
    """A legal action for each row of `legal` [B, 2] into `actions` [B]: 35 % pass where that is possible.

    Otherwise uniform among the rest.
    """
    for row in range(len(legal)):
        low, high = legal[row, 0], legal[row, 1]
        number = count_cards(low) + count_cards(high)
        if number == 0:
            continue
        word = mix(key + GOLDEN * np.uint64(row + 1))
        may_pass = (high >> np.uint64(20)) & np.uint64(1) != EMPTY
        if may_pass and (word & np.uint64(0xFFFF)) < np.uint64(22938):  # 0.35 * 65536
            actions[row] = 84
            continue
        nth = int(((word >> np.uint64(32)) * np.uint64(number - may_pass)) >> np.uint64(32))
        in_low = count_cards(low)
        actions[row] = nth_action(low, nth) if nth < in_low else 64 + nth_action(high, nth - in_low)


@njit_entry
def choose_any(legal: NDArray[np.uint64], key: np.uint64, actions: NDArray[np.int64]) -> None:
    """A legal action for each row of `legal` [B, L] into `actions` [B], each as likely as the others."""
    for row in range(len(legal)):
        number = 0
        for word in range(legal.shape[1]):
            number += count_cards(legal[row, word])
        if number == 0:
            continue
        drawn = mix(key + GOLDEN * np.uint64(row + 1)) >> np.uint64(32)
        nth, word = int((drawn * np.uint64(number)) >> np.uint64(32)), 0
        while nth >= count_cards(legal[row, word]):
            nth -= count_cards(legal[row, word])
            word += 1
        actions[row] = 64 * word + nth_action(legal[row, word], nth)
