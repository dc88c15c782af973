"""A rule bot for Pinochle: what sensible people do, as small compiled functions over packed observations.

It counts what a hand shows in melds and is likely to win in tricks with each suit as trumps, and bids as long as that
is enough; it names the suit that counts most; the declarer's partner sends trumps and aces and gets back what is worth
least. In play it leads aces, draws trumps for the declarer, gives counters to a trick that its side is sure of, wins as
cheaply as it can, and keeps counters from the others.

Suits of cards in an observation are printed ones or, once trumps are named, counted from the trump suit (P7.4).

Shapes: D decisions, W words of a packed observation.
"""

# Elements of arrays have no static type, and returning one is what these functions do.
# mypy: disable-error-code="no-any-return"

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.pinochle.card_play import play_rows
from agents.policy import Decision, PolicyError, one_hot
from bourre_env.bits import flagged, flags_set, is_set
from bourre_env.cards import count_cards, lowest_card
from bourre_env.family import GameRules
from bourre_env.jit import njit, njit_entry
from bourre_env.pinochle import observation as at
from bourre_env.pinochle.actions import BID, NAME, PASS, WORD
from bourre_env.pinochle.cards import (
    ACE,
    EMPTY,
    KINDS,
    NUM_KINDS,
    NUM_RANKS,
    NUM_SUITS,
    PACK,
    SUIT_KINDS,
    TEN,
    copies,
    kinds_of,
    pairs_of,
    relative_cards,
    relative_kinds,
)
from bourre_env.pinochle.melds import meld_cards, meld_points
from bourre_env.pinochle.rules import NUM_LEVELS, NUM_SEATS, PinochleRules
from bourre_env.pinochle.table import EXCHANGE, PLAY, TRUMP

PARTNER = 2  # seats are counted from the observer

# --- what a hand is worth ---------------------------------------------------------------------------------------------

TRICK_POINTS = np.array([6.6, 0.95, 1.1, 0.6, 1.15, 0.4])
"""[6] points in tricks, on the modern scale, that a declarer's side is counted for: as such, for each trump, each ace
and each ten of trumps, each ace of another suit, each card that a suit is shorter than three."""

THRESHOLDS = np.array([8.0, 4.0, 3.8])
"""[3] points on the modern scale: what a bid has to be below the hand's worth; the same where the partner has the high
bid; and what the partner's melds are counted for."""
MARGIN, PARTNER_MARGIN, PARTNER_MELDS = range(len(THRESHOLDS))


@dataclass(frozen=True, slots=True)
class PinochleBot:
    """The rule bot.

    Attributes:
        name: what reports call it.
        trick_points: [6], as `TRICK_POINTS`.
        thresholds: [3], as `THRESHOLDS`.
    """

    name: str
    trick_points: NDArray[np.float64] = field(default_factory=lambda: TRICK_POINTS, repr=False, compare=False)
    thresholds: NDArray[np.float64] = field(default_factory=lambda: THRESHOLDS, repr=False, compare=False)

    def check_rules(self, rules: GameRules) -> None:
        """Refuse other games.

        Raises:
            PolicyError: names both.
        """
        if not isinstance(rules, PinochleRules):
            raise PolicyError(f"{self.name} plays {PinochleRules.game} only, not {rules.game}")

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.int64]:
        """[D] actions."""
        self.check_rules(decision.rules)
        actions = np.empty(len(decision), np.int64)
        rules, rows, legal = _record(decision.rules), decision.packed, decision.legal_packed
        plays = rows[:, at.HAND] >> np.uint64(at.PHASE + PLAY) & np.uint64(1) != EMPTY
        if plays.any():
            cards = np.empty(int(plays.sum()), np.int64)
            play_rows(rows[plays], legal[plays], bool(rules.relative_ids[0]), cards)
            actions[plays] = cards
        if not plays.all():
            calls = np.empty(int((~plays).sum()), np.int64)
            choose_rows(rows[~plays], legal[~plays], rules, self.trick_points, self.thresholds, calls)
            actions[~plays] = calls
        return actions

    def probs(self, decision: Decision) -> NDArray[np.float64]:
        """[D, A] probabilities, all of them 0 or 1: the bot draws no lots."""
        return one_hot(self.act(decision, np.random.default_rng(0)), decision)


HEURISTIC = PinochleBot("heuristic")


@functools.lru_cache(maxsize=64)
def _record(rules: Any) -> np.recarray[Any, Any]:
    """The rules as compiled code reads them."""
    record: np.recarray[Any, Any] = rules.record()
    return record


# --- one decision -----------------------------------------------------------------------------------------------------


@njit_entry
def choose_rows(
    packed: NDArray[np.uint64],
    legal: NDArray[np.uint64],
    rules: np.recarray[Any, Any],
    trick_points: NDArray[np.float64],
    thresholds: NDArray[np.float64],
    actions: NDArray[np.int64],
) -> None:
    """Fill `actions` [D] from observations [D, W] and legal sets [D, 2] before the play."""
    for row in range(len(packed)):
        actions[row] = choose(packed[row], legal[row], rules[0], trick_points, thresholds)


@njit
def choose(
    row: NDArray[np.uint64],
    legal: NDArray[np.uint64],
    rules: np.record,
    trick_points: NDArray[np.float64],
    thresholds: NDArray[np.float64],
) -> int:
    """The action for one decision before the play."""
    if is_set(row[at.HAND], at.PHASE + EXCHANGE):
        return kind_to_send(row, legal[0] & KINDS, rules)
    if is_set(row[at.HAND], at.PHASE + TRUMP):
        return NAME + best_suit(row[at.HAND] & PACK, named_suits(legal), rules, trick_points)
    return choose_call(row, legal, rules, trick_points, thresholds)


@njit
def trump_of(row: NDArray[np.uint64], rules: np.record) -> int:
    """The number that cards of the trump suit have in an observation, once it is named (P7.4)."""
    return 0 if rules.relative_ids else flagged(row[at.HAND], at.TRUMP_SUIT, NUM_SUITS)


@njit
def named_suits(legal: NDArray[np.uint64]) -> np.uint64:
    """The suits that may be named, as bits."""
    return (legal[1] >> np.uint64(NAME - WORD)) & np.uint64((1 << NUM_SUITS) - 1)


# --- the auction ------------------------------------------------------------------------------------------------------


@njit
def tricks_worth(hand: np.uint64, trump: int, trick_points: NDArray[np.float64]) -> float:
    """Points in tricks, on the modern scale, that a declarer's side is counted for."""
    worth = trick_points[0]
    for suit in range(NUM_SUITS):
        held = count_cards(kinds_of(hand) & SUIT_KINDS[suit]) + count_cards(pairs_of(hand) & SUIT_KINDS[suit])
        aces = copies(hand, NUM_RANKS * suit + ACE)
        if suit == trump:
            worth += trick_points[1] * held + trick_points[2] * aces
            worth += trick_points[3] * copies(hand, NUM_RANKS * suit + TEN)
        else:
            worth += trick_points[4] * aces + trick_points[5] * max(3 - held, 0)
    return worth


@njit
def hand_worth(hand: np.uint64, trump: int, rules: np.record, trick_points: NDArray[np.float64]) -> float:
    """Points, on the modern scale, that a hand brings its declarer without the partner's melds."""
    return meld_points(hand, trump, rules) / rules.unit + tricks_worth(hand, trump, trick_points)


@njit
def best_suit(hand: np.uint64, suits: np.uint64, rules: np.record, trick_points: NDArray[np.float64]) -> int:
    """Of some suits the one that a hand is worth most with."""
    best, most = 0, -np.inf
    for suit in range(NUM_SUITS):
        worth = hand_worth(hand, suit, rules, trick_points)
        if is_set(suits, suit) and worth > most:
            best, most = suit, worth
    return best


@njit
def choose_call(
    row: NDArray[np.uint64],
    legal: NDArray[np.uint64],
    rules: np.record,
    trick_points: NDArray[np.float64],
    thresholds: NDArray[np.float64],
) -> int:
    """Bid the next level while the hand is worth it, else pass."""
    level = flags_set(row[at.AUCTION], 0, NUM_LEVELS)  # the lowest above the high bid
    if level == NUM_LEVELS:
        return PASS
    hand = row[at.HAND] & PACK
    suit = best_suit(hand, np.uint64((1 << NUM_SUITS) - 1), rules, trick_points)
    worth = hand_worth(hand, suit, rules, trick_points) + thresholds[PARTNER_MELDS]
    is_partners = flagged(row[at.AUCTION], at.HIGH_BIDDER, NUM_SEATS) == PARTNER
    bid = (rules.min_bid + level * rules.bid_step) / rules.unit
    margin = thresholds[PARTNER_MARGIN if is_partners else MARGIN]
    return BID + level if worth >= bid + margin else PASS


# --- the exchange -----------------------------------------------------------------------------------------------------


@njit
def kind_to_send(row: NDArray[np.uint64], kinds: np.uint64, rules: np.record) -> int:
    """The declarer returns what is worth least to it, the partner sends what is worth most to the declarer."""
    trump = trump_of(row, rules)
    is_declarer = flagged(row[at.AUCTION], at.HIGH_BIDDER, NUM_SEATS) == 0
    hand = row[at.HAND] & PACK
    melded = kinds_in_melds(hand, row, rules) if is_declarer else EMPTY
    best, most = 0, -np.inf
    rest = kinds
    while rest != EMPTY:
        kind = lowest_card(rest)
        rest &= rest - np.uint64(1)
        keep = keeping_value(kind, hand, melded, trump)
        value = -keep if is_declarer else keep
        if value > most:
            best, most = kind, value
    return best


@njit
def kinds_in_melds(hand: np.uint64, row: NDArray[np.uint64], rules: np.record) -> np.uint64:
    """The kinds of a hand that belong to its melds, which printed suits decide; numbered as in the observation."""
    trump = flagged(row[at.HAND], at.TRUMP_SUIT, NUM_SUITS)
    reference = trump if rules.relative_ids else 0
    printed = relative_cards(hand, (NUM_SUITS - reference) % NUM_SUITS)
    return relative_kinds(kinds_of(meld_cards(printed, trump)), reference)


@njit
def keeping_value(kind: int, hand: np.uint64, melded: np.uint64, trump: int) -> float:
    """What a card is worth to a declarer, in an order of its own: trumps, aces, melds, high cards of long suits."""
    suit, rank = kind // NUM_RANKS, kind % NUM_RANKS
    value = 1.0 * rank + 0.1 * count_cards(kinds_of(hand) & SUIT_KINDS[suit])
    if suit == trump:
        value += 100
    if rank == ACE:
        value += 50
    if is_set(melded, kind) and copies(hand, kind) == 1:
        value += 20
    return value


assert NUM_KINDS <= WORD, "cards fill the first word of a legal set"
