"""Cards of Pinochle and their text, and sets of cards in which each kind comes twice (rules P1.2 and P1.3).

The pack has two copies of 24 *kinds*. A kind's id is 6*suit + rank: suits clubs, diamonds, hearts, spades; ranks nine,
jack, queen, king, ten, ace. The id of a card is 2*kind, or 2*kind + 1 for its twin; only packs tell twins apart.

A set of kinds is one unsigned 64-bit integer with bit `kind` set. A set of cards is one with bit `kind` set where it
has a copy, and bit 24 + kind where it has both (its *planes*).

>>> kind_id("AS")
23
>>> texts(add(add(EMPTY, 23), 23))
('AS', 'AS')
"""

from collections.abc import Iterable, Sequence

import numpy as np

from bourre_env.cards import EMPTY as EMPTY
from bourre_env.cards import SUIT_NAMES as SUIT_NAMES
from bourre_env.cards import cards_in, holds, single
from bourre_env.jit import njit

NUM_SUITS = 4
NUM_RANKS = 6
NUM_KINDS = NUM_SUITS * NUM_RANKS
NUM_CARDS = 2 * NUM_KINDS
NO_CARD = NUM_KINDS  # where a kind is expected and there is none
NO_SUIT = NUM_SUITS  # where a suit is expected and there is none

RANK_NAMES = "9JQKTA"
NINE, JACK, QUEEN, KING, TEN, ACE = range(NUM_RANKS)

_SUIT_BITS = (1 << NUM_RANKS) - 1
KINDS = np.uint64((1 << NUM_KINDS) - 1)
"""Every kind."""

PACK = np.uint64((1 << NUM_CARDS) - 1)
"""Every card, both copies."""

_PLANE = np.uint64(NUM_KINDS)


def _higher(kind: int) -> int:
    """Rule P1.3: the kinds of the same suit that rank above one; every kind for `NO_CARD`."""
    if kind == NO_CARD:
        return int(KINDS)
    return (_SUIT_BITS << NUM_RANKS * (kind // NUM_RANKS)) & ~((1 << (kind + 1)) - 1)


def _beating(trump_suit: int, kind: int) -> int:
    """Rule P5.4: the kinds that beat one when it is the best on the table; every kind for `NO_CARD`."""
    if kind == NO_CARD or kind // NUM_RANKS == trump_suit:
        return _higher(kind)
    return _higher(kind) | _SUIT_BITS << NUM_RANKS * trump_suit


SUIT_KINDS = np.array([_SUIT_BITS << NUM_RANKS * suit for suit in range(NUM_SUITS)] + [0], np.uint64)
"""[5] uint64: the kinds of each suit; none for no suit."""

HIGHER = np.array([_higher(kind) for kind in range(NUM_KINDS + 1)], np.uint64)
"""[25] uint64: the kinds of its suit that rank above each."""

BEATING = np.array([[_beating(trump, kind) for kind in range(NUM_KINDS + 1)] for trump in range(NUM_SUITS)], np.uint64)
"""[4, 25] uint64: by trump suit, the kinds that beat each; a twin does not."""


# --- sets of cards ---


@njit
def kinds_of(cards: np.uint64) -> np.uint64:
    """The kinds of which a set of cards has a copy."""
    return cards & KINDS


@njit
def pairs_of(cards: np.uint64) -> np.uint64:
    """The kinds of which a set of cards has both copies."""
    return cards >> _PLANE


@njit
def planes(one: np.uint64, both: np.uint64) -> np.uint64:
    """The set of cards with a copy of the kinds `one`, and both of the kinds `both`, which are among them."""
    return one | both << _PLANE


@njit
def copies(cards: np.uint64, kind: int) -> int:
    """How many copies of a kind a set of cards has."""
    return int(holds(cards, kind)) + int(holds(cards, NUM_KINDS + kind))


@njit
def add(cards: np.uint64, kind: int) -> np.uint64:
    """The set with one more copy of a kind, of which it has one at most."""
    bit = single(kind)
    return cards | (bit << _PLANE if cards & bit != EMPTY else bit)


@njit
def remove(cards: np.uint64, kind: int) -> np.uint64:
    """The set with one copy less of a kind, of which it has one at least."""
    both = single(kind) << _PLANE
    return cards & ~(both if cards & both != EMPTY else single(kind))


@njit
def settled_planes(loose: np.uint64) -> np.uint64:
    """The set of cards of a word in which bit `kind` and bit 24 + kind stand for one copy each."""
    one, other = kinds_of(loose), pairs_of(loose)
    return planes(one | other, one & other)


@njit
def together(cards: np.uint64, others: np.uint64) -> np.uint64:
    """The cards of two sets, which have no more than two copies of any kind between them."""
    one, other = kinds_of(cards), kinds_of(others)
    return planes(one | other, pairs_of(cards) | pairs_of(others) | (one & other))


@njit
def without(cards: np.uint64, others: np.uint64) -> np.uint64:
    """The cards of a set that are left when others, all of them in it, are taken away."""
    one, both = kinds_of(cards), pairs_of(cards)
    gone, both_gone = kinds_of(others), pairs_of(others)
    return planes((one & ~gone) | (both & ~both_gone), both & ~gone)


# --- suits seen from one suit ---


@njit
def relative_suit(suit: int, reference: int) -> int:
    """Rule P7.4: the number of a suit when `reference` is 0; no suit stays none."""
    return (suit - reference) & (NUM_SUITS - 1) if suit < NUM_SUITS else suit


@njit
def relative_kind(kind: int, reference: int) -> int:
    """Rule P7.4: the id of a kind when `reference` is suit 0."""
    return NUM_RANKS * relative_suit(kind // NUM_RANKS, reference) + kind % NUM_RANKS


@njit
def real_kind(kind: int, reference: int) -> int:
    """The inverse of `relative_kind`."""
    return relative_kind(kind, -reference)


@njit
def relative_kinds(kinds: np.uint64, reference: int) -> np.uint64:
    """Rule P7.4: a set of kinds when `reference` is suit 0."""
    moved = np.uint64(NUM_RANKS * reference)
    return (kinds >> moved | kinds << (_PLANE - moved)) & KINDS


@njit
def relative_cards(cards: np.uint64, reference: int) -> np.uint64:
    """Rule P7.4: a set of cards when `reference` is suit 0."""
    if reference == 0:
        return cards
    return planes(relative_kinds(kinds_of(cards), reference), relative_kinds(pairs_of(cards), reference))


# --- text ---


def kind_text(kind: int) -> str:
    """Two letters for a kind of cards: rank, then suit."""
    if not 0 <= kind < NUM_KINDS:
        raise ValueError(f"kind {kind} is outside 0..{NUM_KINDS - 1}")
    return RANK_NAMES[kind % NUM_RANKS] + SUIT_NAMES[kind // NUM_RANKS]


def kind_id(text: str) -> int:
    """The kind that a text such as "KH" names.

    Raises:
        ValueError: the text is no card of the pack.
    """
    is_pair = isinstance(text, str) and len(text) == 2
    rank = RANK_NAMES.find(text[0]) if is_pair else -1
    suit = SUIT_NAMES.find(text[1]) if is_pair else -1
    if rank < 0 or suit < 0:
        raise ValueError(f"{text!r} is not a card; write a rank of {RANK_NAMES} and a suit of {SUIT_NAMES}, such as KH")
    return NUM_RANKS * suit + rank


def kind_texts(kinds: int | np.uint64) -> tuple[str, ...]:
    """Texts of a set of kinds, ascending."""
    return tuple(kind_text(kind) for kind in cards_in(kinds))


def texts(cards: int | np.uint64) -> tuple[str, ...]:
    """Texts of a set of cards, ascending, twins side by side."""
    word = int(cards)
    kinds = [kind for kind in range(NUM_KINDS) for plane in (0, NUM_KINDS) if word >> (plane + kind) & 1]
    return tuple(kind_text(kind) for kind in kinds)


def card_set(names: Iterable[str]) -> np.uint64:
    """The set of the cards that texts name, one copy for each time.

    Raises:
        ValueError: a text is no card, or a card is named more than twice.
    """
    cards = 0
    for kind in map(kind_id, names):
        if cards >> (NUM_KINDS + kind) & 1:
            raise ValueError(f"{kind_text(kind)} is named more than twice; the pack has two")
        cards |= 1 << (NUM_KINDS + kind if cards >> kind & 1 else kind)
    return np.uint64(cards)


def deck_ids(names: Sequence[str]) -> list[int]:
    """Card ids of a pack written as texts; the first copy of a kind is the even one.

    Raises:
        ValueError: a text is no card of the pack.
    """
    met: set[int] = set()
    ids = []
    for kind in map(kind_id, names):
        ids.append(2 * kind + (kind in met))
        met.add(kind)
    return ids
