"""Shuffled packs: the only door for randomness in the game (rules 8.1 to 8.3).

A pack is a pure function of a seed and the number of the deal: the same alone or in a batch, on every machine.
Shapes: D deals, C cards of the pack (52).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bourre_env.cards import NUM_CARDS
from bourre_env.jit import njit, njit_entry

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FACTOR_1 = np.uint64(0xBF58476D1CE4E5B9)
_FACTOR_2 = np.uint64(0x94D049BB133111EB)
_LARGEST = 2**64 - 1


@njit
def mix(word: np.uint64) -> np.uint64:
    """Rule 8.1: scramble a 64-bit word (the finalizer of Steele, Lea and Flood's SplitMix, 2014)."""
    word = (word ^ (word >> np.uint64(30))) * _FACTOR_1
    word = (word ^ (word >> np.uint64(27))) * _FACTOR_2
    return word ^ (word >> np.uint64(31))


@njit
def shuffle(cards: NDArray[np.int8], num_cards: int, key: np.uint64) -> None:
    """Rule 8.2: shuffle the first `num_cards` entries in place, in the order that `key` decides."""
    for step in range(1, num_cards):
        last = num_cards - step
        word = mix(key + GOLDEN * np.uint64(step)) >> np.uint64(32)
        other = np.int64((word * np.uint64(last + 1)) >> np.uint64(32))
        cards[last], cards[other] = cards[other], cards[last]


@njit_entry
def _shuffle_packs(decks: NDArray[np.int8], keys: NDArray[np.uint64]) -> None:
    """Shuffle each row of `decks` [D, C] by its key [D]."""
    for row in range(len(keys)):
        shuffle(decks[row], decks.shape[1], keys[row])


def mix_array(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Rule 8.1 for a whole array, without compiled code."""
    words = (words ^ (words >> np.uint64(30))) * _FACTOR_1
    words = (words ^ (words >> np.uint64(27))) * _FACTOR_2
    return words ^ (words >> np.uint64(31))


def stream_keys(seed: int, stream_ids: ArrayLike) -> NDArray[np.uint64]:
    """One well-mixed key for each numbered stream of a seed.

    Args:
        seed: 0 to 2^64 - 1.
        stream_ids: [D] integers from 0.

    Returns:
        [D] uint64.

    Raises:
        ValueError: the seed or an id is not an integer in range.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= int(seed) <= _LARGEST:
        raise ValueError(f"seed {seed!r} is not an integer from 0 to 2^64 - 1")
    ids = np.atleast_1d(np.asarray(stream_ids))
    if ids.dtype.kind not in "iu" and ids.size:
        raise ValueError(f"deal ids must be integers, not {ids.dtype}")
    if ids.size and ids.min() < 0:
        raise ValueError(f"deal id {ids.min()} is negative; ids count from 0")
    with np.errstate(over="ignore"):
        root = mix_array(np.array([seed], np.uint64) + GOLDEN)
        return mix_array(root + GOLDEN * (ids.astype(np.uint64) + np.uint64(1)))


def shuffled_decks(seed: int, deal_ids: ArrayLike, *, pack: Sequence[int] | None = None) -> NDArray[np.int8]:
    """The packs of the deals `deal_ids` under a seed, in dealing order (rule 8.3).

    Args:
        seed: 0 to 2^64 - 1.
        deal_ids: [D] integers from 0; a deal's pack does not depend on which others are asked for.
        pack: real ids of a shorter pack, ascending (`Rules.pack`); all 52 cards when left out.

    Returns:
        [D, C] int8 real card ids.

    Raises:
        ValueError: the seed or an id is not an integer in range.
    """
    keys = stream_keys(seed, deal_ids)
    cards = np.arange(NUM_CARDS, dtype=np.int8) if pack is None else np.asarray(pack, np.int8)
    decks = np.tile(cards, (len(keys), 1))
    _shuffle_packs(decks, keys)
    return decks
