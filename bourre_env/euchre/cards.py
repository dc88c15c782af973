"""Cards of Euchre, which of them are trumps, and their text (rules E1.2 to E1.4).

A card id is 6*suit + rank: suits clubs, diamonds, hearts, spades; ranks nine, ten, jack, queen, king, ace. The Benny is
24. A set of cards is one unsigned 64-bit integer with bit `id` set. Suit 3 - s has the colour of suit s.

>>> card_id("AS")
23
>>> card_text(24)
'BN'
"""

from collections.abc import Iterable

import numpy as np

from bourre_env.cards import EMPTY as EMPTY
from bourre_env.cards import SUIT_NAMES as SUIT_NAMES
from bourre_env.cards import cards_in
from bourre_env.jit import njit

NUM_SUITS = 4
NUM_RANKS = 6
BENNY = NUM_SUITS * NUM_RANKS
NUM_CARDS = BENNY + 1
NO_CARD = NUM_CARDS  # where a card is expected and there is none
NO_SUIT = NUM_SUITS  # where a suit is expected and there is none

RANK_NAMES = "9TJQKA"
BENNY_TEXT = "BN"
_JACK = RANK_NAMES.index("J")
_SUIT_BITS = (1 << NUM_RANKS) - 1


def printed_suit(suit: int) -> int:
    """The cards that bear a suit, as a set."""
    return _SUIT_BITS << (NUM_RANKS * suit)


def left_bower(trump_suit: int) -> int:
    """The other jack of the trumps' colour."""
    return NUM_RANKS * (NUM_SUITS - 1 - trump_suit) + _JACK


def trump_order(trump_suit: int) -> list[int]:
    """Rule E1.3: the eight trumps, lowest first: nine, ten, queen, king, ace, left bower, right bower, Benny."""
    right = NUM_RANKS * trump_suit + _JACK
    plain = [card for card in cards_in(printed_suit(trump_suit)) if card != right]
    return [*plain, left_bower(trump_suit), right, BENNY]


def _suit_cards(trump_suit: int, suit: int) -> int:
    """Rule E1.4: the cards that count as a suit."""
    if trump_suit == NO_SUIT:
        return printed_suit(suit)
    if suit == trump_suit:
        return sum(1 << card for card in trump_order(trump_suit))
    return printed_suit(suit) & ~(1 << left_bower(trump_suit))


def _cards_beating(trump_suit: int, card: int) -> int:
    """Rule E1.3: the cards that beat `card` when it is the best on the table; every card for `NO_CARD`."""
    if card == NO_CARD:
        return (1 << NUM_CARDS) - 1
    order = trump_order(trump_suit)
    if card in order:
        return sum(1 << other for other in order[order.index(card) + 1 :])
    higher = _suit_cards(trump_suit, card // NUM_RANKS) & ~((1 << (card + 1)) - 1)
    return higher | sum(1 << other for other in order)


def _suit_of(trump_suit: int, card: int) -> int:
    """Rule E1.4: the suit a card counts as."""
    return next((suit for suit in range(NUM_SUITS) if _suit_cards(trump_suit, suit) >> card & 1), NO_SUIT)


SUIT_CARDS = np.array(
    [[_suit_cards(trump, suit) if suit < NUM_SUITS else 0 for suit in range(NUM_SUITS + 1)] for trump in range(5)],
    np.uint64,
)
"""[5, 5] uint64: by trump suit and suit, the cards that count as the suit; 4 stands for none (rule E1.4)."""

BEATING = np.array(
    [[_cards_beating(trump, card) for card in range(NUM_CARDS + 1)] for trump in range(NUM_SUITS)], np.uint64
)
"""[4, 26] uint64: by trump suit, the cards that beat each card (rule E1.3)."""

SUIT_OF = np.array([[_suit_of(trump, card) for card in range(NUM_CARDS)] for trump in range(NUM_SUITS + 1)], np.int8)
"""[5, 25] int8: by trump suit, the suit each card counts as; 4 for the Benny before trumps are named (rule E1.4)."""


# --- text ---


def card_text(card: int) -> str:
    """Two letters for a card id: rank and suit, or BN."""
    if not 0 <= card < NUM_CARDS:
        raise ValueError(f"card id {card} is outside 0..{NUM_CARDS - 1}")
    return BENNY_TEXT if card == BENNY else RANK_NAMES[card % NUM_RANKS] + SUIT_NAMES[card // NUM_RANKS]


def card_id(text: str) -> int:
    """The card id of a text such as "JH" or "BN".

    Raises:
        ValueError: the text is no card of the pack.
    """
    if text == BENNY_TEXT:
        return BENNY
    is_pair = isinstance(text, str) and len(text) == 2
    rank = RANK_NAMES.find(text[0]) if is_pair else -1
    suit = SUIT_NAMES.find(text[1]) if is_pair else -1
    if rank < 0 or suit < 0:
        raise ValueError(
            f"{text!r} is not a card; write a rank of {RANK_NAMES} and a suit of {SUIT_NAMES}, such as JH, or BN"
        )
    return NUM_RANKS * suit + rank


def card_set(texts: Iterable[str]) -> np.uint64:
    """The set of the cards named by `texts`."""
    return np.uint64(sum(1 << card_id(text) for text in set(texts)))


def card_texts(cards: int | np.uint64) -> tuple[str, ...]:
    """Texts of a set of cards, ascending."""
    return tuple(card_text(card) for card in cards_in(cards))


# --- suits seen from one suit ---

_RELATIVE_SUIT = np.array([[0, 1, 2, 3], [1, 0, 3, 2], [1, 3, 0, 2], [3, 1, 2, 0]], np.int64)
"""[4, 4] int64: by reference suit, the relative number of each suit: the reference 0, the other of its colour 3."""

_PRINTED_SUIT = np.argsort(_RELATIVE_SUIT, axis=1)
"""[4, 4] int64: by reference suit, the suit of each relative number."""


@njit
def relative_suit(suit: int, reference: int) -> int:
    """Rule E6.3: the number of a suit when `reference` is 0; no suit stays none."""
    return _RELATIVE_SUIT[reference, suit] if suit < NUM_SUITS else suit


@njit
def real_suit(suit: int, reference: int) -> int:
    """The inverse of `relative_suit`."""
    return _PRINTED_SUIT[reference, suit] if suit < NUM_SUITS else suit


@njit
def relative_card(card: int, reference: int) -> int:
    """Rule E6.3: the id of a card when `reference` is suit 0."""
    return NUM_RANKS * relative_suit(card // NUM_RANKS, reference) + card % NUM_RANKS


@njit
def real_card(card: int, reference: int) -> int:
    """The inverse of `relative_card`."""
    return NUM_RANKS * real_suit(card // NUM_RANKS, reference) + card % NUM_RANKS


@njit
def relative_cards(cards: np.uint64, reference: int) -> np.uint64:
    """Rule E6.3: a set of cards when `reference` is suit 0."""
    if reference == 0:
        return cards
    in_suit = np.uint64(_SUIT_BITS)
    moved = cards & np.uint64(1 << BENNY)
    for suit in range(NUM_SUITS):
        bits = (cards >> np.uint64(NUM_RANKS * suit)) & in_suit
        moved |= bits << np.uint64(NUM_RANKS * _RELATIVE_SUIT[reference, suit])
    return moved
