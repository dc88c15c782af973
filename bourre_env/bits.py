"""Sets of features as bits of 64-bit words: named pieces, thermometers, packed rows and plain ones.

Every game writes its observations with these. Shapes: D decisions, W words, O = 64*W features, A actions, L words of
a packed legal set.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bourre_env.arrays import buffer
from bourre_env.cards import EMPTY, count_cards
from bourre_env.jit import njit, njit_entry

BITS = 64
FEWEST_LEGAL_WORDS = 2


@dataclass(frozen=True, slots=True)
class Segment:
    """Where a named piece of the observation lies: bits `first_bit` onwards of one word."""

    word: int
    first_bit: int
    length: int

    @property
    def start(self) -> int:
        """Index of the piece's first feature in the unpacked row."""
        return BITS * self.word + self.first_bit

    @property
    def slice(self) -> slice:
        """The piece's features in the unpacked row."""
        return slice(self.start, self.start + self.length)


@dataclass(frozen=True)
class Layout:
    """The observation of one game and table size: number of words, and where each named piece lies."""

    num_words: int
    segments: Mapping[str, Segment]

    @property
    def size(self) -> int:
        """Number of features O in the unpacked row."""
        return BITS * self.num_words

    @cached_property
    def hash(self) -> str:
        """Sixteen hex digits that change whenever a piece moves; stamped on checkpoints."""
        pieces = {name: [piece.word, piece.first_bit, piece.length] for name, piece in self.segments.items()}
        return hashlib.sha256(json.dumps([self.num_words, pieces]).encode()).hexdigest()[:16]


# --- sets of actions ---


def legal_words(num_actions: int) -> int:
    """L, the 64-bit words in a packed row of legal actions: bit a % 64 of word a // 64 is action a's."""
    return max(FEWEST_LEGAL_WORDS, -(-num_actions // BITS))


def legal_bits(row: NDArray[np.uint64]) -> int:
    """A packed row of legal actions [L] as one number, whose bit a is action a's."""
    return sum(int(word) << BITS * place for place, word in enumerate(row))


# --- writing ---


@njit
def bit_if(condition: bool, place: int) -> np.uint64:
    """The set of one bit when a condition holds, else nothing."""
    return np.uint64(condition) << np.uint64(place)


@njit
def thermometer(count: int, first: int) -> np.uint64:
    """`count` bits from `first` on."""
    return ((np.uint64(1) << np.uint64(count)) - np.uint64(1)) << np.uint64(first)


@njit
def flags_set(word: np.uint64, first: int, length: int) -> int:
    """How many of `length` flags are set: the count a thermometer shows."""
    return count_cards((word >> np.uint64(first)) & ((np.uint64(1) << np.uint64(length)) - np.uint64(1)))


@njit
def is_set(word: np.uint64, place: int) -> bool:
    """Whether a bit of a word is set."""
    return (word >> np.uint64(place)) & np.uint64(1) != EMPTY


@njit
def flagged(word: np.uint64, first: int, length: int) -> int:
    """Which of `length` flags from `first` on is set, the first of several; their number when none is."""
    for place in range(length):
        if is_set(word, first + place):
            return place
    return length


# --- plain arrays ---

_BYTE_BITS = np.array([[byte >> bit & 1 for bit in range(8)] for byte in range(256)], np.float32)
"""[256, 8] float32: the bits of every byte, lowest first."""

_BYTE_FLAGS = _BYTE_BITS.astype(np.bool_)
"""[256, 8] bool: the same as flags."""


@njit
def unpack_row(words: NDArray[np.uint64], out: NDArray[np.float32]) -> None:
    """Bits of `words` [W] as 0.0 and 1.0 in `out` [64*W]."""
    for word in range(len(words)):
        for byte in range(8):
            pattern = (words[word] >> np.uint64(8 * byte)) & np.uint64(255)
            for bit in range(8):
                out[BITS * word + 8 * byte + bit] = _BYTE_BITS[pattern, bit]


@njit
def unpack_action_row(legal: NDArray[np.uint64], out: NDArray[np.bool_]) -> None:
    """The first A bits of `legal` [L] as flags in `out` [A]."""
    whole_bytes = len(out) // 8
    for byte in range(whole_bytes):
        pattern = (legal[byte // 8] >> np.uint64(8 * (byte % 8))) & np.uint64(255)
        for bit in range(8):
            out[8 * byte + bit] = _BYTE_FLAGS[pattern, bit]
    for action in range(8 * whole_bytes, len(out)):
        out[action] = (legal[action // BITS] >> np.uint64(action % BITS)) & np.uint64(1) != EMPTY


@njit_entry
def _unpack_rows(words: NDArray[np.uint64], out: NDArray[np.float32]) -> None:
    """`unpack_row` for each row of `words` [D, W]."""
    for row in range(words.shape[0]):
        unpack_row(words[row], out[row])


@njit_entry
def _unpack_action_rows(legal: NDArray[np.uint64], out: NDArray[np.bool_]) -> None:
    """`unpack_action_row` for each row of `legal` [D, L]."""
    for row in range(legal.shape[0]):
        unpack_action_row(legal[row], out[row])


def unpack(words: NDArray[np.uint64], out: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """Packed observations as plain features.

    Args:
        words: [D, W] uint64.
        out: [D, 64*W] float32 to fill; a fresh array when left out.

    Returns:
        [D, 64*W] float32 of zeros and ones.
    """
    out = buffer(out, (len(words), BITS * words.shape[1]), np.dtype(np.float32))
    _unpack_rows(words, out)
    return out


def unpack_actions(
    legal: NDArray[np.uint64], num_actions: int, out: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """Packed legal sets [D, L] uint64 as masks [D, A] bool, True for allowed."""
    out = buffer(out, (len(legal), num_actions), np.dtype(np.bool_))
    _unpack_action_rows(legal, out)
    return out


def pack(features: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Plain features [D, 64*W] as packed words [D, W] uint64; the inverse of `unpack`."""
    packed = np.packbits(np.asarray(features) > 0.5, axis=-1, bitorder="little")
    return np.ascontiguousarray(packed).view(np.dtype(np.uint64).newbyteorder("<")).astype(np.uint64)
