"""The words of actions, as `action_text` writes them, many times as fast: for whoever names all legal ones at once."""

import numpy as np

from bourre_env.bourre.actions import (
    PASS_TEXT,
    STAY_TEXT,
    action_text,
    card_of_action,
    first_stay,
    pass_action,
)
from bourre_env.bourre.rules import Rules
from bourre_env.cards import card_text, cards_in, to_real


class ActionWords:
    """Names the actions of tables under the same rules."""

    def __init__(self, rules: Rules) -> None:
        """Name every card once for each trump suit."""
        record = rules.record()[0]
        self._rules = rules
        self._first_stay, self._pass = int(first_stay(record)), int(pass_action(record))
        cards = [int(card_of_action(record, action)) for action in range(self._first_stay)]
        suits = range(len(rules.suits))
        self._plays = [[card_text(int(to_real(card, suit)), rules.rank_names) for card in cards] for suit in suits]

    def of(self, table: np.record, actions: list[int]) -> list[str]:
        """The words of some legal actions of the seat to act.

        Args:
            table: the record of dtype `TABLE`.
            actions: their ids.
        """
        stays = {action for action in actions if self._first_stay < action < self._pass}
        held = self._held(table) if stays else []
        plays = self._plays[int(table.trump_suit)]
        words = {self._pass: PASS_TEXT, self._first_stay: STAY_TEXT}
        return [
            plays[action]
            if action < self._first_stay
            else words.get(action) or self._stay(held, action - self._first_stay)
            for action in actions
        ]

    def one(self, table: np.record, action: int) -> str:
        """The words of one action, legal or not."""
        if 0 <= action < self._first_stay or action in (self._first_stay, self._pass):
            return self.of(table, [action])[0]
        return action_text(self._rules, table, action)

    def _held(self, table: np.record) -> list[tuple[int, str]]:
        """The cards of the seat to act by place in its hand, as real ids and texts."""
        real = [int(to_real(card, table.trump_suit)) for card in cards_in(table.hands[table.to_act])]
        return [(card, card_text(card, self._rules.rank_names)) for card in real]

    @staticmethod
    def _stay(held: list[tuple[int, str]], mask: int) -> str:
        """Staying with the discards that a mask names."""
        thrown = sorted(card for place, card in enumerate(held) if mask >> place & 1)
        return " ".join([STAY_TEXT, *(text for _, text in thrown)])
