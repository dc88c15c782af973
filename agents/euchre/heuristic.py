"""A rule bot for Euchre: what sensible people do, as small compiled functions over packed observations.

It makes trumps when a sum over its cards passes a threshold, plays alone when that is very high, leads trumps for the
makers and aces against them, throws low when the partner wins and wins as cheaply as it can when it plays last.

Observations name suits by number, printed or relative; suit 3 - s has the colour of suit s in both (E1.3, E6.3), so
nothing here depends on which it is.

Shapes: D decisions, W words of a packed observation.
"""

# Elements of arrays have no static type, and returning one is what these functions do.
# mypy: disable-error-code="no-any-return"

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from agents.policy import Decision, PolicyError, one_hot
from bourre_env.bits import flagged, is_set
from bourre_env.cards import count_cards, lowest_card
from bourre_env.euchre import observation as at
from bourre_env.euchre.actions import GO_ALONE, NAME, PASS, TURN_DOWN, WITH_PARTNER
from bourre_env.euchre.cards import BEATING, EMPTY, NO_CARD, NUM_CARDS, NUM_RANKS, NUM_SUITS, SUIT_CARDS, SUIT_OF
from bourre_env.euchre.rules import HAND_SIZE, NUM_SEATS, EuchreRules
from bourre_env.euchre.table import ALONE, BID1, DISCARD, PLAY
from bourre_env.family import GameRules
from bourre_env.jit import njit, njit_entry

ALL_CARDS = np.uint64((1 << NUM_CARDS) - 1)
PARTNER = 2  # seats are counted from the observer
NUM_TRUMPS = 8

# --- what a hand is worth ---------------------------------------------------------------------------------------------

TRUMP_TRICKS = np.array([1.0, 0.95, 0.85, 0.6, 0.5, 0.4, 0.35, 0.3])
"""[8] tricks: what a trump is counted for, the Benny first and the nine last."""

SIDE_ACE, SIDE_KING, VOID, EACH_TRUMP_BEYOND_TWO = 0.5, 0.12, 0.15, 0.25  # tricks

THRESHOLDS = np.array([2.8, 2.05, 2.1, 3.1, 2.55, 0.9])
"""[6] tricks that a hand has to be counted for: to order the other side's dealer up, to take the up-card as dealer, to
name a suit in the second round, to play alone as maker, to play alone against makers; and what the up-card in the other
side's hands takes off. Found by `python -m benchmarks.euchre_thresholds`."""
ORDER_UP, TAKE_UP, NAME_SUIT, MAKER_ALONE, DEFENDER_ALONE, UP_CARD_AGAINST = range(len(THRESHOLDS))


@dataclass(frozen=True, slots=True)
class EuchreBot:
    """The rule bot.

    Attributes:
        name: what reports call it.
        thresholds: [6], as `THRESHOLDS`.
    """

    name: str
    thresholds: NDArray[np.float64] = field(default_factory=lambda: THRESHOLDS, repr=False, compare=False)

    def check_rules(self, rules: GameRules) -> None:
        """Refuse other games.

        Raises:
            PolicyError: names both.
        """
        if not isinstance(rules, EuchreRules):
            raise PolicyError(f"{self.name} plays {EuchreRules.game} only, not {rules.game}")

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.int64]:
        """[D] actions."""
        self.check_rules(decision.rules)
        actions = np.empty(len(decision), np.int64)
        choose_rows(decision.packed, decision.legal_packed, self.thresholds, actions)
        return actions

    def probs(self, decision: Decision) -> NDArray[np.float64]:
        """[D, A] probabilities, all of them 0 or 1: the bot draws no lots."""
        return one_hot(self.act(decision, np.random.default_rng(0)), decision)


HEURISTIC = EuchreBot("heuristic")

# --- one decision -----------------------------------------------------------------------------------------------------


@njit_entry
def choose_rows(
    packed: NDArray[np.uint64],
    legal: NDArray[np.uint64],
    thresholds: NDArray[np.float64],
    actions: NDArray[np.int64],
) -> None:
    """Fill `actions` [D] from observations [D, W] and legal sets [D, 2]."""
    for row in range(len(packed)):
        actions[row] = choose(packed[row], legal[row, 0], thresholds)


@njit
def choose(row: NDArray[np.uint64], legal: np.uint64, thresholds: NDArray[np.float64]) -> int:
    """The action for one decision."""
    if is_set(row[at.HAND], at.PHASE + PLAY):
        return choose_card(row, legal)
    if is_set(row[at.HAND], at.PHASE + DISCARD):
        return card_to_shed(legal & ALL_CARDS, flagged(row[at.TABLE_CARDS], at.TRUMP_SUIT, NUM_SUITS))
    if is_set(row[at.HAND], at.PHASE + ALONE):
        return choose_alone(row, thresholds)
    if is_set(row[at.HAND], at.PHASE + BID1):
        return choose_in_first_round(row, legal, thresholds)
    return choose_suit(row, legal, thresholds)


# --- making trumps ----------------------------------------------------------------------------------------------------


@njit
def tricks_of(hand: np.uint64, trump: int) -> float:
    """Tricks that a hand is counted for with some suit as trumps."""
    trumps = hand & SUIT_CARDS[trump, trump]
    tricks = 0.0
    rest = trumps
    while rest != EMPTY:
        card = lowest_card(rest)
        rest &= rest - np.uint64(1)
        tricks += TRUMP_TRICKS[min(count_cards(BEATING[trump, card]), NUM_TRUMPS - 1)]
    tricks += EACH_TRUMP_BEYOND_TWO * max(count_cards(trumps) - 2, 0)
    for suit in range(NUM_SUITS):
        if suit == trump:
            continue
        cards = hand & SUIT_CARDS[trump, suit]
        tricks += SIDE_ACE * is_set(cards, NUM_RANKS * suit + NUM_RANKS - 1)
        tricks += SIDE_KING * is_set(cards, NUM_RANKS * suit + NUM_RANKS - 2)
        tricks += VOID * (cards == EMPTY and trumps != EMPTY)
    return tricks


@njit
def choose_in_first_round(row: NDArray[np.uint64], legal: np.uint64, thresholds: NDArray[np.float64]) -> int:
    """Accept the up-card's suit, turn it down to play alone, or pass."""
    hand, up_card = row[at.HAND] & ALL_CARDS, (row[at.HAND] >> np.uint64(at.SECOND)) & ALL_CARDS
    suit = lowest_card(up_card) // NUM_RANKS
    dealer = flagged(row[at.HAND], at.DEALER, NUM_SEATS)
    if is_set(legal, TURN_DOWN):
        return TURN_DOWN if tricks_of(hand, suit) >= thresholds[MAKER_ALONE] else PASS
    if dealer == 0:
        six = hand | up_card
        kept = six & ~(np.uint64(1) << np.uint64(card_to_shed(six, suit)))
        makes = tricks_of(kept, suit) >= thresholds[TAKE_UP]
    elif dealer == PARTNER:
        makes = tricks_of(hand, suit) + thresholds[UP_CARD_AGAINST] >= thresholds[ORDER_UP]
    else:
        makes = tricks_of(hand, suit) - thresholds[UP_CARD_AGAINST] >= thresholds[ORDER_UP]
    return NAME + suit if (makes and is_set(legal, NAME + suit)) or not is_set(legal, PASS) else PASS


@njit
def choose_suit(row: NDArray[np.uint64], legal: np.uint64, thresholds: NDArray[np.float64]) -> int:
    """Name the best of the suits that may be named, if it is good enough or there is no way out."""
    hand = row[at.HAND] & ALL_CARDS
    best, most = NO_CARD, -1.0
    for suit in range(NUM_SUITS):
        tricks = tricks_of(hand, suit)
        if is_set(legal, NAME + suit) and tricks > most:
            best, most = suit, tricks
    if best != NO_CARD and (most >= thresholds[NAME_SUIT] or not is_set(legal, PASS)):
        return NAME + best
    return PASS if is_set(legal, PASS) else lowest_card(legal)


@njit
def choose_alone(row: NDArray[np.uint64], thresholds: NDArray[np.float64]) -> int:
    """Play alone with a very strong hand."""
    trump = flagged(row[at.TABLE_CARDS], at.TRUMP_SUIT, NUM_SUITS)
    maker = flagged(row[at.TABLE_CARDS], at.MAKER, NUM_SEATS)
    wanted = thresholds[MAKER_ALONE if maker % 2 == 0 else DEFENDER_ALONE]
    return GO_ALONE if tricks_of(row[at.HAND] & ALL_CARDS, trump) >= wanted else WITH_PARTNER


@njit
def card_to_shed(cards: np.uint64, trump: int) -> int:
    """The card to lay away: a plain one that is alone in its suit and no ace if there is one, else the weakest."""
    best, least = NO_CARD, 0
    rest = cards
    while rest != EMPTY:
        card = lowest_card(rest)
        rest &= rest - np.uint64(1)
        suit = SUIT_OF[trump, card]
        weakness = count_cards(BEATING[trump, card])
        is_alone = count_cards(cards & SUIT_CARDS[trump, suit]) == 1
        if suit != trump and is_alone and card % NUM_RANKS < NUM_RANKS - 1:
            weakness += NUM_CARDS
        if best == NO_CARD or weakness > least:
            best, least = card, weakness
    return best


# --- card play --------------------------------------------------------------------------------------------------------


@njit
def choose_card(row: NDArray[np.uint64], legal: np.uint64) -> int:
    """The card to play."""
    trump = flagged(row[at.TABLE_CARDS], at.TRUMP_SUIT, NUM_SUITS)
    cards = legal & ALL_CARDS
    if (row[at.TABLE_CARDS] >> np.uint64(at.SECOND)) & ALL_CARDS == EMPTY:
        return choose_lead(row, cards, trump)
    return choose_follow(row, cards, trump)


@njit
def unseen_cards(row: NDArray[np.uint64]) -> np.uint64:
    """Cards that others may hold: neither held, nor laid away by oneself, nor played."""
    seen = row[at.HAND] | row[at.TABLE_CARDS]  # own hand, and the own shed card
    for word in range(at.PLAYED, at.PLAYED + NUM_SEATS // 2):
        seen |= row[word] | (row[word] >> np.uint64(at.SECOND))
    return ALL_CARDS & ~seen


@njit
def choose_lead(row: NDArray[np.uint64], cards: np.uint64, trump: int) -> int:
    """Lead: makers their highest trump, others a plain card that nothing unseen of its suit beats, else a low one."""
    unseen = unseen_cards(row)
    trumps = cards & SUIT_CARDS[trump, trump]
    maker = flagged(row[at.TABLE_CARDS], at.MAKER, NUM_SEATS)
    top = strongest(trumps, trump)
    if top != NO_CARD:
        is_master = BEATING[trump, top] & unseen == EMPTY
        if maker in (0, PARTNER) and (is_master or count_cards(trumps) >= 2):
            return top
    plain = cards & ~SUIT_CARDS[trump, trump]
    master = master_of(plain, unseen, trump)
    if master != NO_CARD:
        return master
    return weakest(plain if plain != EMPTY else cards, trump)


@njit
def master_of(plain: np.uint64, unseen: np.uint64, trump: int) -> int:
    """The strongest plain card above all unseen ones of its suit; `NO_CARD` when there is none."""
    best, least = NO_CARD, NUM_CARDS
    rest = plain
    while rest != EMPTY:
        card = lowest_card(rest)
        rest &= rest - np.uint64(1)
        above = BEATING[trump, card] & SUIT_CARDS[trump, SUIT_OF[trump, card]]
        weakness = count_cards(BEATING[trump, card])
        if above & unseen == EMPTY and weakness < least:
            best, least = card, weakness
    return best


@njit
def choose_follow(row: NDArray[np.uint64], cards: np.uint64, trump: int) -> int:
    """Follow: throw low when the partner wins, win if possible, as cheaply as is safe, else throw low."""
    best, owner = winning_card(row, trump)
    is_last = is_set(row[at.TABLE_CARDS], at.LAST_TO_PLAY)
    winners = cards & BEATING[trump, best]
    if winners == EMPTY:
        return weakest(cards, trump)
    unseen = unseen_cards(row)
    if owner == PARTNER and (is_last or is_safe(best, unseen, trump)):
        return weakest(cards, trump)
    plain = winners & ~SUIT_CARDS[trump, trump]
    if is_last:
        return weakest(winners, trump)
    if plain != EMPTY:
        top = strongest(plain, trump)
        return top if is_safe(top, unseen, trump) or owner != PARTNER else weakest(cards, trump)
    return weakest(cards, trump) if owner == PARTNER else weakest(winners, trump)


@njit
def is_safe(card: int, unseen: np.uint64, trump: int) -> bool:
    """Whether nothing unseen of a card's own suit beats it."""
    return BEATING[trump, card] & SUIT_CARDS[trump, SUIT_OF[trump, card]] & unseen == EMPTY


@njit
def winning_card(row: NDArray[np.uint64], trump: int) -> tuple[int, int]:
    """The best card on the table, and whose it is, counted from the observer."""
    leader = flagged(row[at.TABLE_CARDS], at.LEADER, NUM_SEATS)
    best, owner = NO_CARD, leader
    for step in range(NUM_SEATS):
        seat = (leader + step) % NUM_SEATS
        word = row[at.ON_TABLE + seat // 2] >> np.uint64(at.SECOND * (seat % 2))
        card = word & ALL_CARDS & BEATING[trump, best]
        if card != EMPTY:
            best, owner = lowest_card(card), seat
    return best, owner


@njit
def strongest(cards: np.uint64, trump: int) -> int:
    """The card that fewest cards beat; `NO_CARD` of none."""
    best, least = NO_CARD, NUM_CARDS
    rest = cards
    while rest != EMPTY:
        card = lowest_card(rest)
        rest &= rest - np.uint64(1)
        weakness = count_cards(BEATING[trump, card])
        if weakness < least:
            best, least = card, weakness
    return best


@njit
def weakest(cards: np.uint64, trump: int) -> int:
    """The card that most cards beat, of equals one from the shortest suit; `NO_CARD` of none."""
    best, most = NO_CARD, -1
    rest = cards
    while rest != EMPTY:
        card = lowest_card(rest)
        rest &= rest - np.uint64(1)
        short = HAND_SIZE - count_cards(cards & SUIT_CARDS[trump, SUIT_OF[trump, card]])
        weakness = (HAND_SIZE + 1) * count_cards(BEATING[trump, card]) + short
        if weakness > most:
            best, most = card, weakness
    return best
