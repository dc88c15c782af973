"""Random draws for one world of hidden cards.

The record `world` of every function has the fields `key` and `words_drawn`, the state of the stream, and `line`.
"""

import numpy as np

from bourre_env.cards import EMPTY, count_cards, lowest_card, single
from bourre_env.deck import GOLDEN, mix, shuffle
from bourre_env.jit import njit

_APART = np.uint64(
    0x776F726C64730A
)  # keeps the words apart from those that shuffled a pack of the same seed and number
_UNIT = 2.0**-53


@njit
def begin_stream(world: np.record, key: np.uint64) -> None:
    """Start the stream that `key` names."""
    world.key = mix(key ^ _APART)
    world.words_drawn = 0


@njit
def random_word(world: np.record) -> np.uint64:
    """The next 64 random bits."""
    number = world.words_drawn + np.uint64(1)
    world.words_drawn = number
    return mix(world.key + GOLDEN * number)


@njit
def random_unit(world: np.record) -> float:
    """A number from 0 up to but not including 1."""
    return float(random_word(world) >> np.uint64(11)) * _UNIT


@njit
def random_cards(world: np.record, cards: np.uint64, number: int) -> np.uint64:
    """Some cards of a set, every choice of that many alike (up to 1 in 2^32, as in rule 8.2)."""
    left = cards
    for _ in range(number):
        skipped = ((random_word(world) >> np.uint64(32)) * np.uint64(count_cards(left))) >> np.uint64(32)
        rest = left
        for _ in range(skipped):
            rest &= rest - np.uint64(1)
        left &= ~(rest & (~rest + np.uint64(1)))
    return cards & ~left


@njit
def line_up(world: np.record, cards: np.uint64) -> int:
    """Put the cards of a set into `line` in random order; their number."""
    number = 0
    while cards != EMPTY:
        card = lowest_card(cards)
        cards &= ~single(card)
        world.line[number] = card
        number += 1
    shuffle(world.line, number, random_word(world))
    return number
