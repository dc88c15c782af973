"""What a world is, which worlds fit what a seat has seen, and whether one is possible: oracles for `reshuffle_unseen`.

Built on the oracle of the rules (`reference.py`), with discards and the order of reshuffles left open. Cards are real
ids. `possible_worlds` tries every pack: for packs of ten cards at most.
"""

import contextlib
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from reference import ReferenceTable, hands_dealt

from bourre_env import Rules, Tables
from bourre_env.cards import cards_in, to_real

Option = TypeVar("Option")
History = Sequence[tuple[int, int]]
"""(seat, action) of the decisions at one table."""
World = tuple[Any, ...]
"""Hands by seat, cards dealt by seat, pile, pile of passed hands, stock in order: all that can matter later."""


# --- every world there is ---------------------------------------------------------------------------------------------


class DoesNotFitError(Exception):
    """The world contradicts what was seen."""


class Choices:
    """One path through a tree of choices; `next_path` goes on to the following one."""

    def __init__(self) -> None:
        """Begin with the first option everywhere."""
        self.path: list[tuple[int, int]] = []
        self.depth = 0

    def among(self, options: Sequence[Option]) -> Option:
        """The option that the path takes here."""
        if not options:
            raise DoesNotFitError
        if self.depth == len(self.path):
            self.path.append((0, len(options)))
        self.depth += 1
        return options[self.path[self.depth - 1][0]]

    def next_path(self) -> bool:
        """Change the last choice that has another option; whether there was one."""
        del self.path[self.depth :]
        while self.path and self.path[-1][0] + 1 == self.path[-1][1]:
            self.path.pop()
        self.depth = 0
        if self.path:
            self.path[-1] = (self.path[-1][0] + 1, self.path[-1][1])
        return bool(self.path)


class OpenTable(ReferenceTable):
    """An oracle's table whose reshuffles may come out in any order."""

    def __init__(self, rules: Rules, deck: Sequence[int], dealer: int, choices: Choices) -> None:
        """Deal."""
        self.choices = choices
        super().__init__(rules, deck, dealer)

    def _reshuffle(self, pile: Sequence[int]) -> list[int]:
        """Rule 3.11 with every order possible."""
        return list(self.choices.among(list(itertools.permutations(sorted(pile)))))


class Evidence:
    """What one seat knows of a table: its own cards, and all actions but the choice of discards."""

    def __init__(self, tables: Tables, history: History, observer: int) -> None:
        """Look at the table from the observer's seat.

        Args:
            tables: one table, dealt with no carry and nobody exempt.
            history: (seat, action) of all its decisions so far.
            observer: a seat.
        """
        record = tables.records[0]
        self.rules, self.dealer, self.history, self.observer = tables.rules, int(record.dealer), history, observer
        self.blind = self.rules.blind_declaring and record.phase == 0
        self.turn_up = int(to_real(int(record.turn_up), record.trump_suit))
        self.turn_up_thrown = self.rules.turn_up_owner == "dealer" and bool(record.face_up)
        self.shown = [real_set(record, cards) for cards in record.played]
        self.own_dealt = real_set(record, record.dealt[observer])
        self.own_hand = real_set(record, record.hands[observer] | record.played[observer])

    def packs(self) -> Iterator[list[int]]:
        """Packs that turn up this card and deal the observer its cards, in one order of those."""
        seats, size = self.rules.num_players, self.rules.hand_size
        turn_up_place = seats * size - (self.rules.turn_up_owner == "dealer")
        known = {turn_up_place: self.turn_up}
        if not self.blind:
            places = range((self.observer - self.dealer - 1) % seats, seats * size, seats)
            own = sorted(self.own_dealt - {self.turn_up})
            known |= dict(zip([place for place in places if place != turn_up_place], own, strict=True))
        unknown = [card for card in self.rules.pack if card not in known.values()]
        for order in itertools.permutations(unknown):
            cards = iter(order)
            yield [known[place] if place in known else next(cards) for place in range(len(self.rules.pack))]

    def world(self, pack: Sequence[int], choices: Choices) -> World:
        """The world of a pack and a path of choices.

        Raises:
            DoesNotFitError: some action was illegal in it, or the observer saw other cards.
        """
        table = OpenTable(self.rules, pack, self.dealer, choices)
        for seat, action in self.history:
            draws = action != table.pass_action and self._draws(table)
            table.step(choices.among(self._same_to_the_eye(table, seat, action)))
            if draws:
                held = set(table.hands[seat])
                fits = held == self.own_hand if seat == self.observer else self.shown[seat] <= held
                if not fits:
                    raise DoesNotFitError
        return self._world(table, pack)

    def _draws(self, table: ReferenceTable) -> bool:
        """Whether a seat that stays now is served cards."""
        return table.phase == "draw" or (table.phase == "declare" and self.rules.declare_mode == "with_draw")

    def _same_to_the_eye(self, table: ReferenceTable, seat: int, action: int) -> list[int]:
        """The legal actions that the observer cannot tell from `action`."""
        legal = sorted(table.legal_actions())
        if seat == self.observer or not self._draws(table) or action == table.pass_action:
            return [action] if action in legal else []
        number = (action - table.num_cards).bit_count()
        thrown = {other: table.discards_of_action(seat, other) for other in legal if other != table.pass_action}
        if self.rules.turn_up_owner == "dealer" and seat == self.dealer:
            thrown = {other: cards for other, cards in thrown.items() if (self.turn_up in cards) == self.turn_up_thrown}
        return [other for other, cards in thrown.items() if len(cards) == number]

    def _world(self, table: ReferenceTable, pack: Sequence[int]) -> World:
        """The oracle's table in the form compared."""
        dealt = hands_dealt(pack, self.dealer, self.rules.num_players, self.rules.hand_size)
        pile, passed = set(table.discard_pile), set(table.passed_pile)
        if self.rules.recycle != "passed_first":
            pile, passed = pile | passed, set()
        sets = [*table.hands, *dealt, pile, passed]
        return (*(frozenset(cards) for cards in sets), tuple(table.stock))


def possible_worlds(evidence: Evidence) -> Counter[World]:
    """Every world that fits, with the number of equally likely ways it comes about."""
    found: Counter[World] = Counter()
    for pack in evidence.packs():
        choices = Choices()
        while True:
            with contextlib.suppress(DoesNotFitError):
                found[evidence.world(pack, choices)] += 1
            if not choices.next_path():
                break
    return found


# --- worlds drawn -----------------------------------------------------------------------------------------------------


def worlds_drawn(tables: Tables) -> Counter[World]:
    """The worlds at many tables, each with the number of tables that have it."""
    records, cards = tables.records, len(tables.rules.pack)
    places = np.arange(cards)
    waiting = (places >= records["stock_next"][:, None]) & (places < records["stock_end"][:, None])
    stock = np.where(waiting, records["stock"][:, :cards], -1).astype(np.uint64)
    piles = records["pile"][:, None], records["passed_pile"][:, None]
    rows = np.concatenate([records["hands"], records["dealt"], *piles, stock], axis=1)
    _, first, counts = np.unique(rows, axis=0, return_index=True, return_counts=True)
    return Counter({world_of(tables, row): count for row, count in zip(first.tolist(), counts.tolist(), strict=True)})


def world_of(tables: Tables, row: int) -> World:
    """The world at one table."""
    record, seats = tables.records[row], tables.rules.num_players
    sets = [*record.hands[:seats], *record.dealt[:seats], record.pile, record.passed_pile]
    stock = record.stock[record.stock_next : record.stock_end].tolist()
    return (
        *(frozenset(real_set(record, cards)) for cards in sets),
        tuple(int(to_real(card, record.trump_suit)) for card in stock),
    )


def real_set(record: np.record, cards: np.uint64) -> set[int]:
    """A set of relative cards as real ids."""
    return {int(to_real(card, record.trump_suit)) for card in cards_in(cards)}


# --- one world --------------------------------------------------------------------------------------------------------


class WitnessTable(ReferenceTable):
    """An oracle's table that repeats a deal whose outcome is known: reshuffles serve each seat the cards it got."""

    def __init__(self, rules: Rules, record: np.record, **begin: Any) -> None:
        """Deal from the pack of a record.

        Args:
            rules: the rules.
            record: a record of dtype `TABLE`.
            **begin: carry, exempt and stacks at the start of the deal.
        """
        self.wanted = [real_set(record, cards) for cards in record.hands | record.played]
        deck = [int(to_real(card, record.trump_suit)) for card in record.deck[: len(rules.pack)].tolist()]
        super().__init__(rules, deck, int(record.dealer), **begin)

    def _reshuffle(self, pile: Sequence[int]) -> list[int]:
        """Rule 3.11: the order is decided when the cards are served."""
        return list(pile)

    def _card_from_stock(self) -> int:
        """Rule 3.10; a stock that was reshuffled serves a card that the seat has in its hand in the end."""
        card = super()._card_from_stock()
        if self.num_reshuffles == 0:
            return card
        self.stock.append(card)
        right = [card for card in self.stock if card in self.wanted[self.seat]]
        assert right, f"nothing that seat {self.seat} holds was in stock {self.num_reshuffles} when it was served"
        self.stock.remove(right[0])
        return right[0]


def assert_possible(rules: Rules, record: np.record, history: History, **begin: Any) -> None:
    """A record could have come about: its pack, dealt and played as it says by the oracle's rules, leads to it.

    Args:
        rules: the rules.
        record: a record of dtype `TABLE`.
        history: the decisions at a table that differs from it by hidden cards only.
        **begin: carry, exempt and stacks at the start of the deal.
    """
    table = WitnessTable(rules, record, **begin)
    assert [set(hand) for hand in table.hands] == [
        real_set(record, cards) for cards in record.dealt[: rules.num_players]
    ]
    for seat, action in history:
        if table.phase != "play" and action not in (table.pass_action, table.num_cards):
            thrown = real_set(record, record.dealt[seat] & ~(record.hands[seat] | record.played[seat]))
            action = table.action_of_discards(seat, sorted(thrown))
        table.step(action)  # refuses what is illegal
    assert [set(hand) for hand in table.hands] == [
        real_set(record, cards) for cards in record.hands[: rules.num_players]
    ]
    passed_apart = rules.recycle == "passed_first"
    assert set(table.passed_pile if passed_apart else []) == real_set(record, record.passed_pile)
    pile = table.discard_pile if passed_apart else table.discard_pile + table.passed_pile
    assert set(pile) == real_set(record, record.pile)
    stock = [
        int(to_real(card, record.trump_suit)) for card in record.stock[record.stock_next : record.stock_end].tolist()
    ]
    assert sorted(table.stock) == sorted(stock)
    assert table.num_reshuffles > 0 or table.stock == stock
    legal = int(record.legal[0]) | int(record.legal[1]) << 64
    assert sum(1 << action for action in table.legal_actions()) == legal
