"""Hand-made positions: cards from text, packs that deal wanted hands, golden cases, one table spoken to in words."""

import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bourre_env import PRESETS, Rules, Snapshot, Tables
from bourre_env.bourre.actions import action_id, action_text

RANKS, SUITS = "23456789TJQKA", "CDHS"
GOLDEN_CASES = Path(__file__).parent / "golden" / "bourre_cases.json"


def card(text: str) -> int:
    """Real id of a card such as "QS"."""
    return 13 * SUITS.index(text[1]) + RANKS.index(text[0])


def cards(texts: str | Sequence[str]) -> list[int]:
    """Real ids of several cards: "AS KS", or a list of texts."""
    return [card(text) for text in (texts.split() if isinstance(texts, str) else texts)]


def text_of(cards_held: Sequence[int]) -> str:
    """Texts of real ids, in ascending order, with spaces between."""
    return " ".join(RANKS[one % 13] + SUITS[one // 13] for one in sorted(cards_held))


def deck_dealing(
    hands: Sequence[str], *, dealer: int, next_cards: str = "", hand_size: int = 5, pack: Sequence[int] = range(52)
) -> list[int]:
    """A pack, in dealing order, that deals wanted hands.

    Args:
        hands: one text a seat; a hand that is too short is filled up with the lowest cards nobody asked for. The last
            card named for the dealer is the last card dealt.
        dealer: the dealer's seat.
        next_cards: what comes after the hands: the turn-up if it belongs to nobody, then the stock from its front.
        hand_size: cards a seat.
        pack: all cards, real ids.
    """
    wanted = [cards(hand) for hand in hands]
    following = cards(next_cards)
    asked_for = [one for hand in [*wanted, following] for one in hand]
    assert len(set(asked_for)) == len(asked_for), "a card is asked for twice"
    assert all(len(hand) <= hand_size for hand in wanted), "a hand is too large"
    free = [one for one in pack if one not in asked_for]
    full = []
    for hand in wanted:
        missing = hand_size - len(hand)
        full.append(free[:missing] + hand)
        free = free[missing:]
    in_turn = [(dealer + 1 + step) % len(hands) for step in range(len(hands))]
    return [full[seat][place] for place in range(hand_size) for seat in in_turn] + following + free


@functools.cache
def golden_cases(kind: str) -> tuple[dict[str, Any], ...]:
    """The golden cases of one kind, such as "play_cases"."""
    return tuple(json.loads(GOLDEN_CASES.read_text())[kind])


def rules_of_case(case: dict[str, Any]) -> Rules:
    """The rules a golden case is played by."""
    name = case.get("rules", "pagat")
    fields = dict(PRESETS[name])
    fields["num_players"] = case.get("players") or len(case["antes_paid"])
    if "ante" in case:
        fields |= {"ante": case["ante"], "limit": case["cap"]}
    everybody_passed = "antes_paid" in case and "deck" not in case and set(case["tricks"]) == {None}
    if everybody_passed:
        fields["all_pass"] = "pot_stays"  # the option that case A21 names in its note
    return Rules(**fields)


class OneTable:
    """One table of the engine, spoken to in words: "pass", "stay", "stay 2C 4D" (cards thrown away), "QS"."""

    def __init__(
        self,
        hands: Sequence[str],
        *,
        dealer: int,
        next_cards: str = "",
        rules: Rules | None = None,
        **begin: Any,
    ) -> None:
        """Deal wanted hands, see `deck_dealing`; `begin` goes to `Tables.deal`: carry, exempt, stacks of this table."""
        self.rules = rules or Rules.preset("pagat", num_players=len(hands))
        self.tables = Tables(self.rules, 1)
        deck = deck_dealing(
            hands, dealer=dealer, next_cards=next_cards, hand_size=self.rules.hand_size, pack=self.rules.pack
        )
        begin = {name: [value] for name, value in begin.items()}
        self.tables.deal([deck], dealer, **begin)

    def act(self, *words: str) -> "OneTable":
        """Take one decision after the other, each for the seat to act."""
        for word in words:
            action = action_id(self.rules, self.tables.records[0], word)
            self.tables.step(np.array([action]))
        return self

    def legal(self) -> set[str]:
        """What the seat to act may do, in words."""
        actions = np.flatnonzero(self.tables.legal_action_mask()[0])
        return {action_text(self.rules, self.tables.records[0], int(action)) for action in actions}

    @property
    def now(self) -> Snapshot:
        """The table at this moment."""
        return self.tables.snapshot(0)

    def hand(self, seat: int) -> set[str]:
        """Cards of a seat."""
        return set(self.now.hands[seat])
