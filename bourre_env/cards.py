"""Cards, sets of cards and their text.

A card id is 13*suit + rank: rank 0 is the lowest, 12 the highest. A *real* id counts the suits clubs, diamonds, hearts,
spades. A *relative* id counts trumps as suit 0 and the other three in the same order (`to_relative`, `to_real`), so
that the four trump suits are one game to a learner. A set of cards is one unsigned 64-bit integer with bit `id` set.

>>> card_id("QS")
49
>>> card_text(49)
'QS'
>>> cards_text(card_set(["2C", "AC"]))
'2C AC'
"""

from collections.abc import Callable, Iterable
from typing import cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from bourre_env.jit import njit

NUM_SUITS = 4
NUM_RANKS = 13
NUM_CARDS = NUM_SUITS * NUM_RANKS
NO_CARD = NUM_CARDS  # where a card is expected and there is none

SUIT_NAMES = "CDHS"
RANK_NAMES = "23456789TJQKA"

SUIT_CARDS = np.array([((1 << NUM_RANKS) - 1) << (NUM_RANKS * suit) for suit in range(NUM_SUITS)], np.uint64)
TRUMPS = SUIT_CARDS[0]
ALL_CARDS = np.uint64((1 << NUM_CARDS) - 1)
EMPTY = np.uint64(0)


def _cards_beating(card: int) -> int:
    """All relative cards that beat `card` when it is the best card on the table; every card for `NO_CARD`."""
    if card == NO_CARD:
        return int(ALL_CARDS)
    suit = card // NUM_RANKS
    higher = int(SUIT_CARDS[suit]) & ~((1 << (card + 1)) - 1)
    return higher if suit == 0 else higher | int(TRUMPS)


BEATING = np.array([_cards_beating(card) for card in range(NUM_CARDS + 1)], np.uint64)
"""[53] uint64: the cards that beat each card, trumps being suit 0 (rule 4.6)."""


TRUMPS_IN_PACK = np.array(
    [int(TRUMPS) & ~((1 << (NUM_RANKS - ranks)) - 1) for ranks in range(NUM_RANKS + 1)], np.uint64
)
"""[14] uint64: the trumps of a pack with that many ranks a suit, which are the highest ones."""


# --- sets of cards ---

# Three machine instructions that NumPy lacks. The plain Python bodies serve uncompiled runs.


def count_cards(cards: np.uint64) -> int:
    """Number of cards in a set."""
    return int(cards).bit_count()


def lowest_card(cards: np.uint64) -> int:
    """Id of the lowest card of a set that is not empty."""
    return (int(cards) & -int(cards)).bit_length() - 1


def highest_card(cards: np.uint64) -> int:
    """Id of the highest card of a set that is not empty."""
    return int(cards).bit_length() - 1


Emit = Callable[[ir.IRBuilder, ir.Value], ir.Value]
Implementation = Callable[[np.uint64], int]


def _compiled(instruction: Emit) -> Callable[[object], Implementation]:
    """What Numba compiles in place of a function uint64 -> int64: one LLVM instruction."""

    def typed(typing_context: object, cards: object) -> tuple[object, Callable[..., ir.Value]]:
        def generate(context: object, builder: ir.IRBuilder, signature: object, arguments: list[ir.Value]) -> ir.Value:
            return instruction(builder, arguments[0])

        return types.int64(types.uint64), generate

    emit = cast(Implementation, intrinsic(typed))
    return lambda cards: lambda cards: emit(np.uint64(cards))


_never_zero = ir.Constant(ir.IntType(1), 1)
overload(count_cards, inline="always")(_compiled(lambda builder, cards: builder.ctpop(cards)))
overload(lowest_card, inline="always")(_compiled(lambda builder, cards: builder.cttz(cards, _never_zero)))
overload(highest_card, inline="always")(
    _compiled(lambda builder, cards: builder.sub(ir.Constant(ir.IntType(64), 63), builder.ctlz(cards, _never_zero)))
)


@njit
def single(card: int) -> np.uint64:
    """The set that holds one card."""
    return np.uint64(1) << np.uint64(card)


@njit
def holds(cards: np.uint64, card: int) -> bool:
    """Whether a set holds a card."""
    return (cards >> np.uint64(card)) & np.uint64(1) != np.uint64(0)


@njit
def suit_of(card: int) -> int:
    """Suit number of a card id."""
    return card // NUM_RANKS


@njit
def rank_of(card: int) -> int:
    """Rank number of a card id."""
    return card % NUM_RANKS


# --- relative and real ids ---


@njit
def to_relative(card: int, trump_suit: int) -> int:
    """Relative id of a real card id: trumps become suit 0, suits below the trump suit move up by one."""
    suit = suit_of(card)
    if suit == trump_suit:
        return rank_of(card)
    return card + NUM_RANKS if suit < trump_suit else card


@njit
def to_real(card: int, trump_suit: int) -> int:
    """Real id of a relative card id; the inverse of `to_relative`."""
    suit = suit_of(card)
    if suit == 0:
        return NUM_RANKS * trump_suit + rank_of(card)
    return card - NUM_RANKS if suit <= trump_suit else card


# --- text ---


def card_text(card: int, rank_names: str = RANK_NAMES) -> str:
    """Two letters for a real card id: rank, then suit."""
    if not 0 <= card < NUM_CARDS:
        raise ValueError(f"card id {card} is outside 0..{NUM_CARDS - 1}")
    return rank_names[card % NUM_RANKS] + SUIT_NAMES[card // NUM_RANKS]


def card_id(text: str, rank_names: str = RANK_NAMES) -> int:
    """Real card id of a two-letter text such as "QS".

    Raises:
        ValueError: the text is not a rank of the pack followed by a suit (C, D, H, S).
    """
    is_pair = isinstance(text, str) and len(text) == 2 and "." not in text
    rank = rank_names.find(text[0]) if is_pair else -1
    suit = SUIT_NAMES.find(text[1]) if is_pair else -1
    if rank < 0 or suit < 0:
        raise ValueError(
            f"{text!r} is not a card; write a rank of {rank_names.strip('.')} and a suit of {SUIT_NAMES}, such as QS"
        )
    return NUM_RANKS * suit + rank


def cards_in(cards: int | np.uint64) -> list[int]:
    """Ids in a set of cards, ascending."""
    bits, ids = int(cards), []
    while bits:
        ids.append((bits & -bits).bit_length() - 1)
        bits &= bits - 1
    return ids


def card_set(texts: Iterable[str], rank_names: str = RANK_NAMES) -> np.uint64:
    """Set of the real cards named by `texts`."""
    return np.uint64(sum(1 << card_id(text, rank_names) for text in set(texts)))


def cards_text(cards: int | np.uint64, rank_names: str = RANK_NAMES) -> str:
    """Texts of a set of real cards, ascending, with spaces between."""
    return " ".join(card_text(card, rank_names) for card in cards_in(cards))
