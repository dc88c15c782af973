"""Shuffled packs: the only door for randomness in the game (rules 8.1 to 8.3).

A pack is a pure function of a seed and the number of the deal: the same alone or in a batch, on every machine.
Shapes: D deals, C cards of the pack (52).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bourre_env.arrays import buffer
from bourre_env.cards import NUM_CARDS
from bourre_env.jit import njit, njit_entry

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FACTOR_1 = np.uint64(0xBF58476D1CE4E5B9)
_FACTOR_2 = np.uint64(0x94D049BB133111EB)
_LARGEST = 2**64 - 1
_FULL_PACK = np.arange(NUM_CARDS, dtype=np.int8)


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


@njit
def stream_key(seed: np.uint64, stream_id: np.uint64) -> np.uint64:
    """The key of one numbered stream of a seed (rule 8.3)."""
    return mix(mix(seed + GOLDEN) + GOLDEN * (stream_id + np.uint64(1)))


@njit_entry
def _fill_keys(seeds: NDArray[np.uint64], stream_ids: NDArray[np.uint64], keys: NDArray[np.uint64]) -> None:
    """The keys of `stream_ids` [D] into `keys` [D]; one seed for all, or [D]."""
    last = len(seeds) - 1
    for row in range(len(keys)):
        keys[row] = stream_key(seeds[min(row, last)], stream_ids[row])


@njit_entry
def _fill_decks(
    seeds: NDArray[np.uint64], deal_ids: NDArray[np.uint64], pack: NDArray[np.int8], decks: NDArray[np.int8]
) -> None:
    """The shuffled packs of `deal_ids` [D] into `decks` [D, C]; one seed for all, or [D]."""
    last = len(seeds) - 1
    for row in range(len(deal_ids)):
        decks[row] = pack
        shuffle(decks[row], len(pack), stream_key(seeds[min(row, last)], deal_ids[row]))


def mix_array(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Rule 8.1 for a whole array, without compiled code."""
    words = (words ^ (words >> np.uint64(30))) * _FACTOR_1
    words = (words ^ (words >> np.uint64(27))) * _FACTOR_2
    return words ^ (words >> np.uint64(31))


def _checked_seeds(seed: ArrayLike, number: int) -> NDArray[np.uint64]:
    """One seed, or `number` of them, as 64-bit words [1] or [number]."""
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and 0 <= int(seed) <= _LARGEST:
        return np.array([seed], np.uint64)
    given = np.asarray(seed)
    if given.shape == (number,) and given.dtype.kind in "iu" and not (given.dtype.kind == "i" and (given < 0).any()):
        return given.astype(np.uint64)
    raise ValueError(f"seed {seed!r} is not an integer from 0 to 2^64 - 1, nor one for each of {number} numbers")


def _checked_ids(ids: ArrayLike) -> NDArray[np.uint64]:
    """[D] numbers from 0, as 64-bit words."""
    given = np.atleast_1d(np.asarray(ids))
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ValueError(f"ids must be a list of integers, not {given.dtype} of shape {given.shape}")
    if given.size and given.dtype.kind == "i" and given.min() < 0:
        raise ValueError(f"id {given.min()} is negative; ids count from 0")
    return given.astype(np.uint64)


def stream_keys(seed: ArrayLike, stream_ids: ArrayLike) -> NDArray[np.uint64]:
    """One well-mixed key for each numbered stream of a seed.

    Args:
        seed: 0 to 2^64 - 1, one for all or [D] of them.
        stream_ids: [D] integers from 0.

    Returns:
        [D] uint64.

    Raises:
        ValueError: a seed or an id is not an integer in range.
    """
    ids = _checked_ids(stream_ids)
    keys = np.empty(len(ids), np.uint64)
    _fill_keys(_checked_seeds(seed, len(ids)), ids, keys)
    return keys


def shuffled_decks(
    seed: ArrayLike, deal_ids: ArrayLike, *, pack: Sequence[int] | None = None, out: NDArray[np.int8] | None = None
) -> NDArray[np.int8]:
    """The packs of the deals `deal_ids` under a seed, in dealing order (rule 8.3).

    Args:
        seed: 0 to 2^64 - 1, one for all or [D] of them.
        deal_ids: [D] integers from 0; a deal's pack does not depend on which others are asked for.
        pack: real ids of a shorter pack, ascending (`Rules.pack`); all 52 cards when left out.
        out: [D, C] int8 to fill; a fresh array when left out.

    Returns:
        [D, C] int8 real card ids.

    Raises:
        ValueError: a seed or an id is not an integer in range, or `out` has another shape or dtype.
    """
    ids = _checked_ids(deal_ids)
    cards = _FULL_PACK if pack is None else np.array(pack, np.int8)
    decks = buffer(out, (len(ids), len(cards)), np.dtype(np.int8))
    _fill_decks(_checked_seeds(seed, len(ids)), ids, cards, decks)
    return decks
