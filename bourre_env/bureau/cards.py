"""Cards of Bureau, and the two names of each.

Only rank and colour count, so there are 26 types of card with four copies each (B1.1). The *printed* id of a type is
13*colour + rank, black 0 and red 1, the ace rank 0: packs hold these. The *serial* id is 13*series + rank: two cards
that follow on one another, up or down in alternating colours, are of the same series, so that the next card of a
foundation is `card + 1` and the next card of a column `card - 1` (B1.2). Tables, observations and sets of cards use it.

>>> type_text(serial_id("QH"))
'QH'
>>> serial_id("2H") - serial_id("AS"), serial_id("3S") - serial_id("AS")
(1, 2)
"""

import numpy as np

from bourre_env.jit import njit

NUM_RANKS = 13
NUM_TYPES = 2 * NUM_RANKS
COPIES = 4
NUM_CARDS = NUM_TYPES * COPIES
NO_CARD = -1

ACE, KING = 0, NUM_RANKS - 1  # ranks

COLOUR_NAMES = "SH"  # black, red
RANK_NAMES = "A23456789TJQK"


def _other_name(card: int) -> int:
    """Rule B1.2: the printed id of a serial one, and the serial id of a printed one."""
    half, rank = divmod(card, NUM_RANKS)
    return NUM_RANKS * (half ^ (rank & 1)) + rank


OTHER_NAME = np.array([_other_name(card) for card in range(NUM_TYPES)], np.int8)
"""[26] int8: from printed to serial ids and back; it is its own inverse."""


@njit
def rank_of(card: int) -> int:
    """Rank of a card by either id: 0 for an ace, 12 for a king."""
    return card % NUM_RANKS


@njit
def run_of(lowest: int, length: int) -> np.uint64:
    """The set of `length` cards of a series from `lowest` up, serial ids."""
    return ((np.uint64(1) << np.uint64(length)) - np.uint64(1)) << np.uint64(lowest)


def type_text(card: int) -> str:
    """Two letters for a serial id: rank, then S for black or H for red."""
    printed = int(OTHER_NAME[card])
    return RANK_NAMES[printed % NUM_RANKS] + COLOUR_NAMES[printed // NUM_RANKS]


def printed_id(text: str) -> int:
    """Printed id of a two-letter text such as "QS"; clubs are black and diamonds red.

    Raises:
        ValueError: the text is no card.
    """
    is_pair = isinstance(text, str) and len(text) == 2
    rank = RANK_NAMES.find(text[0]) if is_pair else -1
    suit = "SHCD".find(text[1]) if is_pair else -1
    if rank < 0 or suit < 0:
        raise ValueError(f"{text!r} is not a card; write a rank of {RANK_NAMES} and S (black) or H (red), such as QS")
    return NUM_RANKS * (suit % 2) + rank


def serial_id(text: str) -> int:
    """Serial id of a two-letter text such as "QS".

    Raises:
        ValueError: the text is no card.
    """
    return int(OTHER_NAME[printed_id(text)])
