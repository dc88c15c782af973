"""Deals on their way to a table: what the caller hands in, checked once, and a queue of them.

Shapes: k deals, N seats, C cards of the pack.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bourre_env.arrays import first_wrong_deck, plain
from bourre_env.arrays import spread as spread
from bourre_env.bourre.rules import MAX_CHIPS, Rules
from bourre_env.cards import NUM_CARDS
from bourre_env.deck import shuffled_decks
from bourre_env.errors import ChipsError, DeckError, RulesError


class Deals(NamedTuple):
    """Deals that have passed every check.

    Attributes:
        decks: [k, C] int8, real card ids in dealing order.
        dealers: [k] int8.
        carries: [k] int64, chips in the pot before the antes.
        exempt: [k] uint8, masks of the seats that pay no ante.
        stacks: [k, N] int64, chips of each seat; [k, 0] on credit.
    """

    decks: NDArray[np.int8]
    dealers: NDArray[np.int8]
    carries: NDArray[np.int64]
    exempt: NDArray[np.uint8]
    stacks: NDArray[np.int64]


def checked_deals(
    rules: Rules,
    number: int,
    decks: ArrayLike,
    dealer: ArrayLike,
    carry: ArrayLike,
    exempt: ArrayLike | None,
    stacks: ArrayLike | None,
) -> Deals:
    """`number` deals from what a caller gave (`Tables.deal` tells the arguments and the errors)."""
    return Deals(_decks(rules, decks, number), *_but_decks(rules, number, dealer, carry, exempt, stacks))


def _but_decks(
    rules: Rules,
    number: int,
    dealer: ArrayLike,
    carry: ArrayLike,
    exempt: ArrayLike | None,
    stacks: ArrayLike | None,
) -> tuple[NDArray[np.int8], NDArray[np.int64], NDArray[np.uint8], NDArray[np.int64]]:
    """The fields of `Deals` behind the decks, checked."""
    return (
        spread(dealer, number, "dealer", 0, rules.num_players - 1, np.int8),
        _carry(rules, carry, number),
        _exempt(rules, exempt, number),
        _stacks(rules, stacks, number),
    )


def _copy(sources: Iterable[NDArray[Any]], targets: Iterable[NDArray[Any]]) -> None:
    """Copy arrays into others of their shapes."""
    for source, target in zip(sources, targets, strict=True):
        target[:] = source


_SMALLEST_ROOM = 64


def _room(rules: Rules, number: int) -> Deals:
    """Arrays for a number of deals."""
    return Deals(
        np.empty((number, len(rules.pack)), np.int8),
        np.empty(number, np.int8),
        np.empty(number, np.int64),
        np.empty(number, np.uint8),
        np.empty((number, rules.num_players if rules.stacks == "table_stakes" else 0), np.int64),
    )


class DealQueue:
    """Deals that wait for a table, first come, first served; `Tables.step` hands them out.

    The engine deals nothing on its own: a table whose deal has ended takes the next deal of the queue the caller
    filled, and stays settled once the queue is empty.

    Attributes:
        rules: the rules the deals were checked against.
        num_taken: deals handed out so far, which is the number of the deal that comes next.
    """

    def __init__(self, rules: Rules) -> None:
        """An empty queue."""
        if not isinstance(rules, Rules):
            raise RulesError(f"rules is {rules!r}; give a Rules value, such as Rules.preset('pagat')")
        self.rules = rules
        self.num_taken = 0
        self._room = _room(rules, _SMALLEST_ROOM)  # arrays whose entries `_next` to `_end` are the deals that wait
        self._next = 0
        self._end = 0

    def __len__(self) -> int:
        """Deals that wait."""
        return self._end - self._next

    def add(
        self,
        decks: ArrayLike,
        dealer: ArrayLike,
        carry: ArrayLike = 0,
        exempt: ArrayLike | None = None,
        stacks: ArrayLike | None = None,
    ) -> None:
        """Put deals at the end of the queue; arguments and errors as in `Tables.deal`, with [k, C] decks.

        A wrong deal leaves the queue as it was.
        """
        number = len(np.atleast_1d(np.asarray(decks)))
        new = checked_deals(self.rules, number, decks, dealer, carry, exempt, stacks)
        _copy(new, self._free(number))
        self._end += number

    def add_shuffled(
        self,
        seed: int,
        deal_ids: ArrayLike,
        dealer: ArrayLike,
        carry: ArrayLike = 0,
        exempt: ArrayLike | None = None,
        stacks: ArrayLike | None = None,
    ) -> None:
        """`add` with the packs `shuffled_decks(seed, deal_ids)`, which need neither a check nor a copy."""
        number = len(np.atleast_1d(np.asarray(deal_ids)))
        others = _but_decks(self.rules, number, dealer, carry, exempt, stacks)
        free = self._free(number)
        shuffled_decks(seed, deal_ids, pack=self.rules.pack, out=free.decks)
        _copy(others, free[1:])
        self._end += number

    def _free(self, number: int) -> Deals:
        """Room for that many deals behind those that wait, which move to the front when there is too little."""
        if self._end + number > len(self._room.dealers):
            waiting = [array[self._next : self._end].copy() for array in self._room]
            if len(self) + number > len(self._room.dealers):
                self._room = _room(self.rules, 2 * (len(self) + number))
            _copy(waiting, [array[: len(self)] for array in self._room])
            self._next, self._end = 0, len(self)
        return Deals._make(array[self._end : self._end + number] for array in self._room)

    def waiting(self) -> tuple[Deals, int, int, int]:
        """Arrays, the places of the next deal and behind the last one, the number of the next: for `Tables.step`."""
        return self._room, self._next, self._end, self.num_taken

    def take(self, number: int) -> None:
        """Note that the next `number` deals have been handed out."""
        self._next += number
        self.num_taken += number


def _decks(rules: Rules, decks: ArrayLike, number: int) -> NDArray[np.int8]:
    """The decks, each checked to be a permutation of the pack."""
    given = np.asarray(decks)
    cards = len(rules.pack)
    if given.shape != (number, cards) or given.dtype.kind not in "iu":
        raise DeckError(f"decks are {given.dtype} {given.shape}; they must be integers of shape {(number, cards)}")
    if given.dtype != np.int8:
        given = np.clip(given, -1, NUM_CARDS)  # so that no id wraps around to a card
    decks_given = plain(given, np.int8)
    wrong = first_wrong_deck(decks_given, rules.pack_set)
    if wrong >= 0:
        raise DeckError(
            f"deck {wrong} is not a permutation of the {cards} cards of the pack (rule 1.2): "
            "a card is missing, doubled or unknown"
        )
    return decks_given


def highest_carry(rules: Rules) -> int:
    """The most chips a pot may hold before the antes, so that every chip this deal can move is counted (1.5)."""
    a_seat = rules.ante + rules.play_fee + rules.draw_fee * rules.hand_size
    return MAX_CHIPS - (rules.num_players + 1) * a_seat - rules.penalty_chips


def can_deal_again(
    rules: Rules, carry: NDArray[np.int64], exempt: NDArray[np.bool_], stacks: NDArray[np.int64] | None
) -> NDArray[np.bool_]:
    """[k] bool: whether another deal can follow settled ones.

    Not when fewer than two seats could play it, since they have chips or pay no ante (6.7), or when a pot or a stack
    would outgrow its count (1.5).

    Args:
        rules: the rules of the session.
        carry: [k] chips in the pot before the next antes.
        exempt: [k, N] who skips the next ante.
        stacks: [k, N] chips of the seats; None on credit.
    """
    fits = carry <= highest_carry(rules)
    if stacks is None:
        return fits
    return fits & (((stacks > 0) | exempt).sum(axis=1) > 1) & (stacks <= MAX_CHIPS).all(axis=1)


def _carry(rules: Rules, carry: ArrayLike, number: int) -> NDArray[np.int64]:
    """Carries that can be counted (1.5)."""
    highest = highest_carry(rules)
    try:
        return spread(carry, number, "carry", 0, highest, np.int64)
    except ValueError as error:
        if np.asarray(carry).dtype.kind in "iu" and np.max(carry) > highest:
            raise ChipsError(
                f"a carry of {np.max(carry)} chips is too large: a pot may not pass {MAX_CHIPS} (rule 1.5); "
                "play with a limit, such as the preset pagat_limit"
            ) from None
        raise error


def _exempt(rules: Rules, exempt: ArrayLike | None, number: int) -> NDArray[np.uint8]:
    """Masks of the exempt seats."""
    if exempt is None:
        return np.zeros(number, np.uint8)
    given = np.asarray(exempt)
    if given.shape != (number, rules.num_players) or given.dtype != np.bool_:
        expected = (number, rules.num_players)
        raise ValueError(f"exempt is {given.dtype} {given.shape}; it must be bool of shape {expected}")
    return np.packbits(given, axis=1, bitorder="little")[:, 0].copy()


def _stacks(rules: Rules, stacks: ArrayLike | None, number: int) -> NDArray[np.int64]:
    """Chips of each seat, or nothing when everybody plays on credit (6.7)."""
    table_stakes = rules.stacks == "table_stakes"
    if table_stakes != (stacks is not None):
        wanted = "are needed" if table_stakes else "have no meaning"
        raise ValueError(f"stacks {wanted} under rules with stacks={rules.stacks!r} (rule 6.7)")
    if stacks is None:
        return np.empty((number, 0), np.int64)
    given = np.asarray(stacks)
    expected = (number, rules.num_players)
    if given.shape != expected or given.dtype.kind not in "iu" or (given < 0).any() or (given > MAX_CHIPS).any():
        raise ValueError(f"stacks must be chips from 0 to {MAX_CHIPS} of shape {expected}")
    return given.astype(np.int64)
