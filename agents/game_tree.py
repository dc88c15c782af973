"""A whole small game as arrays: every information set, every choice there, every end and what it pays.

The tree is kept in sequence form (von Stengel, 1996). A *sequence* is one choice of a seat at one of its information
sets, together with all that seat chose before; with perfect recall there is only one way to get there. An end of the
deal is reached when each seat plays one certain sequence and chance deals certain cards, so that an end is one row: a
sequence of each seat, and the payoffs times the probability of the cards. All that CFR+ and best responses need is a
pass over these rows and one over the information sets.

The rules are not written a second time: positions are records of the engine, and its compiled functions move them.
Choices with a single legal action are played by the engine and belong to no information set.

Shapes: I information sets, Q sequences, T ends, N seats, A actions, W words of a packed observation, k deals, C cards
of the pack.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.tree_walk import (
    DEAL,
    DECISIONS,
    DRAWS,
    ENDS,
    HEIGHT,
    NUM_COUNTS,
    SETS,
    UNKNOWN,
    Ends,
    Sets,
    Stack,
    enter_all,
    find_rows,
    walk,
)
from bourre_env.bourre.actions import num_actions
from bourre_env.bourre.rules import Rules
from bourre_env.bourre.table import TABLE
from bourre_env.bourre.tables import Tables
from bourre_env.chance import NOTHING, CardChance
from bourre_env.errors import RulesError

MAX_DEALS = 100_000
NO_ACTION = -1  # the action of a seat's empty sequence


@dataclass(frozen=True, slots=True, eq=False)
class GameTree:
    """A game in sequence form.

    Information sets are numbered so that those met later in a deal come later. Sequences 0 to N-1 are the empty ones of
    the seats; those of information set i are `first[i]` to `first[i + 1]`, its legal actions ascending.

    Attributes:
        rules: the rules of the game; the last seat deals, and no chips are carried in.
        seat: [I] int8, who decides.
        packed: [I, W] uint64, what it sees.
        legal_packed: [I, 2] uint64, what it may do.
        parent: [I] int64, the sequence of that seat that leads here.
        first: [I + 1] int64.
        action: [Q] int64; `NO_ACTION` for empty sequences.
        sequences: [N, T] int64, the sequence of each seat at each end. Ends that need the same sequences of all seats
            are one.
        payoffs: [N, T] float64, antes times the probability of the cards; the pot left over is everybody's in equal
            shares.
        num_decisions: positions at which a seat has a choice.
        num_ends: settled positions.
        num_chance: positions at which cards come: turn-up, each hand, each draw.
        slots: hash table over `packed`, for `find`.
    """

    rules: Rules
    seat: NDArray[np.int8]
    packed: NDArray[np.uint64]
    legal_packed: NDArray[np.uint64]
    parent: NDArray[np.int64]
    first: NDArray[np.int64]
    action: NDArray[np.int64]
    sequences: NDArray[np.int64]
    payoffs: NDArray[np.float64]
    num_decisions: int
    num_ends: int
    num_chance: int
    slots: NDArray[np.int64]

    @property
    def num_sets(self) -> int:
        """I."""
        return len(self.seat)

    @property
    def num_sequences(self) -> int:
        """Q."""
        return len(self.action)

    @property
    def num_nodes(self) -> int:
        """Positions in all."""
        return self.num_decisions + self.num_ends + self.num_chance

    @property
    def set_of_sequence(self) -> NDArray[np.int64]:
        """[Q - N] int64: the information set of each sequence that is not empty."""
        return np.repeat(np.arange(self.num_sets), np.diff(self.first))

    def find(self, packed: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The information set of each observation [D, W]; -1 for one that never comes up at a choice.

        Raises:
            ValueError: observations of another width.
        """
        if packed.ndim != 2 or packed.shape[1] != self.packed.shape[1]:
            raise ValueError(f"observations have shape {packed.shape}; rows of {self.packed.shape[1]} words are needed")
        found = np.empty(len(packed), np.int64)
        find_rows(np.ascontiguousarray(packed), self.packed, self.slots, found)
        return found


def build_tree(rules: Rules) -> GameTree:
    """Enumerate a game: every deal, every draw, every choice.

    A tree of 1.5 million positions takes a second and 80 megabytes.

    Suits are named so that the turn-up is of the first one, which halves the tree of a pack of two suits and changes
    nothing (rule 8.4, `bourre_env.chance`). Hands and draws come as sets, since their order shows nowhere.

    Raises:
        RulesError: a game too large to be enumerated, such as one with the full pack.
    """
    chance = CardChance(rules)
    obstacle = chance.obstacle() or _too_many_deals(chance)
    if obstacle:
        raise RulesError(f"the game tree cannot be enumerated: {obstacle}; choose one of the reduced_* presets")
    decks, num_chance = _all_deals(chance)
    deals = Tables(rules, len(decks))
    deals.deal(decks, rules.num_players - 1)
    deals.play_forced()
    return _walked(rules, deals, num_chance)


def _too_many_deals(chance: CardChance) -> str:
    """Why there are too many deals; empty when there are not."""
    deck, number = chance.start, 1
    while places := chance.places(deck, 0, NOTHING):
        number *= chance.num_outcomes(deck, places)
        deck = chance.fill(deck, places, 0)
    return f"there are {number:,} deals, more than {MAX_DEALS:,}" if number > MAX_DEALS else ""


def _all_deals(chance: CardChance) -> tuple[NDArray[np.int8], int]:
    """Every deal, all equally likely, as decks [k, C], and how many chance nodes deal them."""
    decks, num_nodes = [chance.start], 0
    while places := chance.places(decks[0], 0, NOTHING):
        num_nodes += len(decks)
        outcomes = range(chance.num_outcomes(decks[0], places))
        decks = [chance.fill(deck, places, outcome) for deck in decks for outcome in outcomes]
    whole = b"".join(chance.completed(deck) for deck in decks)
    return np.frombuffer(whole, np.int8).reshape(len(decks), -1), num_nodes


# --- room to grow in --------------------------------------------------------------------------------------------------


_SMALLEST_ROOM = 1 << 12


def _walked(rules: Rules, deals: Tables, num_chance: int) -> GameTree:
    """The tree below the deals, whose first choices are on the tables."""
    stack = _new_stack(rules)
    record = rules.record().view(np.ndarray)
    seats, words = rules.num_players, deals.layout.num_words
    sets = Sets(*_rooms((np.int8, ()), (np.uint64, (words,)), (np.uint64, (2,)), (np.int64, ()), (np.int64, ())))
    sets.first[0] = seats
    ends = Ends(*_rooms((np.int64, (seats,)), (np.float64, (seats,))))
    slots = np.full(4 * _SMALLEST_ROOM, UNKNOWN, np.int64)
    counts = np.zeros(NUM_COUNTS, np.int64)
    roots = deals.records.view(np.ndarray)
    while True:
        fault = walk(roots, record, stack, sets, ends, slots, counts)
        if fault >= 0:
            raise RuntimeError(f"information set {fault} forgets what its seat did, or is shown with two legal sets")
        if counts[HEIGHT] == 0 and counts[DEAL] == len(roots):
            return _finished(rules, sets, ends, slots, counts, num_chance)
        if counts[ENDS] == len(ends.payoffs):
            ends = Ends(_doubled(ends.sequences), _doubled(ends.payoffs))
        else:
            sets = Sets._make(_doubled(array) for array in sets)
            slots = np.full(2 * len(slots), UNKNOWN, np.int64)
            enter_all(sets.packed, int(counts[SETS]), slots)


def _new_stack(rules: Rules) -> Stack:
    """An empty stack as high as it can grow: at each choice of a deal all that may follow waits on it."""
    stock = len(rules.pack) - rules.num_players * rules.hand_size
    draws = range(min(rules.discards_allowed, rules.hand_size) + 1)
    most = 1 + sum(math.comb(rules.hand_size, number) * math.comb(stock, number) for number in draws)
    height = rules.max_decisions * max(most, rules.hand_size) + 2
    tables = np.zeros(height, TABLE).view(np.recarray).view(np.ndarray)
    return Stack(tables, np.zeros((height, rules.num_players), np.int64), np.zeros(height))


def _rooms(*columns: tuple[Any, tuple[int, ...]]) -> list[NDArray[Any]]:
    """An array for each dtype and shape of a row."""
    return [np.zeros((_SMALLEST_ROOM, *shape), dtype) for dtype, shape in columns]


def _doubled(array: NDArray[Any]) -> NDArray[Any]:
    """The array with as much room again."""
    return np.concatenate([array, np.zeros_like(array)])


def _finished(
    rules: Rules, sets: Sets, ends: Ends, slots: NDArray[np.int64], counts: NDArray[np.int64], num_chance: int
) -> GameTree:
    """The tree from what a walk has found."""
    number = int(counts[SETS])
    legal = sets.legal_packed[:number].copy()
    sequences, payoffs = _merged(ends.sequences[: counts[ENDS]], ends.payoffs[: counts[ENDS]])
    return GameTree(
        rules=rules,
        seat=sets.seat[:number].copy(),
        packed=sets.packed[:number].copy(),
        legal_packed=legal,
        parent=sets.parent[:number].copy(),
        first=sets.first[: number + 1].copy(),
        action=_actions(legal, rules),
        sequences=sequences,
        payoffs=payoffs,
        num_decisions=int(counts[DECISIONS]),
        num_ends=int(counts[ENDS]),
        num_chance=num_chance + int(counts[DRAWS]),
        slots=slots,
    )


def _merged(
    sequences: NDArray[np.int64], payoffs: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Ends [T, N] with the same sequences added up, in the order of their sequences, as [N, T] each."""
    order = np.lexsort(sequences.T[::-1])
    sequences, payoffs = sequences[order], payoffs[order]
    is_new = np.concatenate([[True], (sequences[1:] != sequences[:-1]).any(axis=1)])
    added = np.add.reduceat(payoffs, np.flatnonzero(is_new), axis=0)
    return np.ascontiguousarray(sequences[is_new].T), np.ascontiguousarray(added.T)


def _actions(legal: NDArray[np.uint64], rules: Rules) -> NDArray[np.int64]:
    """[Q] int64: the actions of all sequences, from the legal sets [I, 2]."""
    bits = np.unpackbits(legal.astype("<u8").view(np.uint8), axis=1, bitorder="little", count=num_actions(rules))
    return np.concatenate([np.full(rules.num_players, NO_ACTION), np.nonzero(bits)[1]])
