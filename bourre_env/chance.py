"""Chance as nodes of a game tree: where the cards of a deal come from when somebody wants to see every possibility.

A deck is bytes. `CardChance` fills a pack place by place; `PackChance` numbers the packs of a seed.
"""

import itertools
import math
from functools import cache

from bourre_env.bourre.rules import Rules
from bourre_env.cards import card_text
from bourre_env.deck import shuffled_decks

CHANCES = ("auto", "cards", "packs")
"""Names of the kinds of chance."""

MAX_SETS = 10_000
"""Most outcomes of one chance node of `CardChance`."""

DIGITS, BASE = 4, 256
"""Chance nodes of `PackChance`, and outcomes of each."""

NOTHING = -1
"""No action waits for cards."""

UNKNOWN = 255  # a place of the pack that has not been filled yet


@cache
def _sets(cards: int, number: int) -> list[tuple[int, ...]]:
    """The sets of `number` indices among `cards`, in lexicographic order."""
    return list(itertools.combinations(range(cards), number))


class CardChance:
    """Chance brings sets of cards: the turn-up, then each hand, then what a draw serves; all sets are equally likely.

    Suits are named so that the turn-up is of the first one. Renaming suits renames the whole deal (8.4), so the tree
    shrinks and nothing is lost. A deck is C bytes, real card ids in dealing order, `UNKNOWN` where none is dealt yet.

    Attributes:
        start: the deck before anything is dealt.
        nodes: the most chance nodes of a deal.
        most_outcomes: the most outcomes of one of them.
    """

    def __init__(self, rules: Rules) -> None:
        """Find out in which order chance fills the pack under some rules."""
        self._rules = rules
        self._turn_up, self._dealing = _dealing_order(rules)
        self.start = bytes([UNKNOWN]) * len(rules.pack)
        self.nodes = len(self._dealing) + rules.num_players
        self.most_outcomes = max(self._hand_choices() + self._draw_choices())

    def _hand_choices(self) -> list[int]:
        """Outcomes of each chance node of the dealing."""
        left = len(self._rules.pack)
        choices = [len(self._rules.ranks)]
        for places in self._dealing[1:]:
            left -= len(places)
            choices.append(math.comb(left + len(places) - 1, len(places)))
        return choices

    def _draw_choices(self) -> list[int]:
        """Outcomes of the first draw, for each number of cards."""
        most = min(self._rules.discards_allowed, self._rules.hand_size, self._stock())
        return [math.comb(self._stock(), number) for number in range(most + 1)]

    def _stock(self) -> int:
        """Cards in the stock after the deal."""
        return len(self._rules.pack) - sum(map(len, self._dealing))

    def obstacle(self) -> str:
        """Why chance cannot bring cards set by set under these rules; empty when it can."""
        rules, stock = self._rules, self._stock()
        drawn = rules.num_players * min(rules.discards_allowed, rules.hand_size)
        if rules.recycle != "none" and drawn > stock:
            return f"a draw can need a reshuffle: up to {drawn} cards are drawn from a stock of {stock}"
        if self.most_outcomes > MAX_SETS:
            return f"one chance node would have {self.most_outcomes:,} outcomes, more than {MAX_SETS:,}"
        return ""

    def number_drawn(self, action: int) -> int:
        """How many cards an action of a seat makes chance bring."""
        discard_mask = action - len(self._rules.pack)
        return discard_mask.bit_count() if 0 <= discard_mask < 1 << self._rules.hand_size else 0

    def places(self, deck: bytes, stock_next: int, waiting: int) -> tuple[int, ...]:
        """The places that chance fills next; none when it has nothing to do.

        Args:
            deck: what is known of the pack.
            stock_next: the place of the next card served.
            waiting: the action that waits for cards, or `NOTHING`.
        """
        if waiting != NOTHING:
            return tuple(range(stock_next, stock_next + self.number_drawn(waiting)))
        return next((places for places in self._dealing if deck[places[0]] == UNKNOWN), ())

    def num_outcomes(self, deck: bytes, places: tuple[int, ...]) -> int:
        """How many sets of cards can come to some places."""
        if places == self._turn_up:
            return len(self._rules.ranks)
        return math.comb(deck.count(UNKNOWN), len(places))

    def fill(self, deck: bytes, places: tuple[int, ...], outcome: int) -> bytes:
        """The deck after an outcome."""
        filled = bytearray(deck)
        for place, card in zip(places, self._cards(deck, places, outcome), strict=True):
            filled[place] = card
        return bytes(filled)

    def completed(self, deck: bytes) -> bytes:
        """A whole pack that agrees with the deck; cards nobody has been dealt lie in no particular order."""
        unseen = iter(self._unseen(deck))
        return bytes(next(unseen) if card == UNKNOWN else card for card in deck)

    def text(self, deck: bytes, places: tuple[int, ...], outcome: int) -> str:
        """An outcome in words: the cards."""
        return self.deck_text(bytes(self._cards(deck, places, outcome)))

    def deck_text(self, deck: bytes) -> str:
        """The places of a deck in words, dots for those not dealt yet."""
        return " ".join(".." if card == UNKNOWN else card_text(card, self._rules.rank_names) for card in deck)

    def _unseen(self, deck: bytes) -> list[int]:
        """Cards that have not come yet, ascending."""
        return [card for card in self._rules.pack if card not in deck]

    def _cards(self, deck: bytes, places: tuple[int, ...], outcome: int) -> tuple[int, ...]:
        """The cards of an outcome; the turn-ups are the lowest ids, so that they are all of the first suit."""
        unseen = self._unseen(deck)
        return tuple(unseen[index] for index in _sets(len(unseen), len(places))[outcome])


def _dealing_order(rules: Rules) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
    """The place of the turn-up, and the places of the pack that chance fills in turn: turn-up, dealer, the others."""
    seats, size = rules.num_players, rules.hand_size
    turn_up = seats * size - (rules.turn_up_owner == "dealer")
    hands = [tuple(range(first, seats * size, seats)) for first in (seats - 1, *range(seats - 1))]
    return (turn_up,), [(turn_up,), *(tuple(place for place in hand if place != turn_up) for hand in hands)]


class PackChance:
    """Chance writes down the number of a deal, `DIGITS` digits of base `BASE`; `shuffled_decks` has its pack (8.3).

    A deck is the digits written so far. Attributes as in `CardChance`.
    """

    nodes, most_outcomes, start = DIGITS, BASE, b""

    def __init__(self, rules: Rules, seed: int) -> None:
        """The packs of a seed."""
        self._rules, self._seed = rules, seed

    def number_drawn(self, action: int) -> int:
        """No action waits for chance: the pack has decided everything."""
        return 0

    def places(self, deck: bytes, stock_next: int, waiting: int) -> tuple[int, ...]:
        """The digit that is written next; none when the number is complete."""
        return () if len(deck) == DIGITS else (len(deck),)

    def num_outcomes(self, deck: bytes, places: tuple[int, ...]) -> int:
        """How many digits there are, all equally likely."""
        return BASE

    def fill(self, deck: bytes, places: tuple[int, ...], outcome: int) -> bytes:
        """The digits with one more."""
        return deck + bytes([outcome])

    def completed(self, deck: bytes) -> bytes:
        """The pack of the number."""
        return shuffled_decks(self._seed, [int.from_bytes(deck)], pack=self._rules.pack)[0].tobytes()

    def text(self, deck: bytes, places: tuple[int, ...], outcome: int) -> str:
        """An outcome in words: the digit."""
        return f"digit {outcome}"

    def deck_text(self, deck: bytes) -> str:
        """The digits in words."""
        return "digits " + " ".join(map(str, deck))


def chance_of(rules: Rules, name: str, seed: int) -> CardChance | PackChance:
    """Where the cards come from.

    Args:
        rules: the rules of the deal.
        name: "cards", "packs", or "auto": "cards" where that is possible.
        seed: which packs "packs" means, 0 to 2^64 - 1.

    Raises:
        ValueError: an unknown name, or "cards" where it is impossible; the message says why.
    """
    if name not in CHANCES:
        raise ValueError(f"chance is {name!r}; choose one of {', '.join(map(repr, CHANCES))}")
    cards = CardChance(rules)
    obstacle = cards.obstacle()
    if name == "cards" and obstacle:
        raise ValueError(f"chance='cards' is impossible under these rules: {obstacle}; choose 'packs'")
    return cards if name != "packs" and not obstacle else PackChance(rules, seed)
