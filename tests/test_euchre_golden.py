"""Golden cases worked out by hand from the law, for Euchre and for the play duties of every trick game."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference_euchre import HouseRules, ReferenceEuchre, full_pack, points_of_hand

from bourre_env import tricks
from bourre_env.cards import cards_in
from bourre_env.deck import shuffled_decks
from bourre_env.euchre.actions import action_id, action_text
from bourre_env.euchre.cards import BEATING, NO_CARD, SUIT_CARDS, SUIT_OF, card_id, card_set, card_text
from bourre_env.euchre.rules import CHOICES, EuchreRules
from bourre_env.euchre.scoring import maker_points
from bourre_env.euchre.tables import EuchreTables

GOLDEN = json.loads((Path(__file__).parent / "golden" / "trick_games_cases.json").read_text(encoding="utf-8"))

Case = dict[str, Any]


def cases(kind: str, *games: str) -> Any:
    """Parametrise over the golden cases of one kind."""
    chosen = [case for case in GOLDEN["cases"] if case["kind"] == kind and case["game"] in games]
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case["id"])


# --- a trick, whatever the game ---------------------------------------------------------------------------------------


class Pack:
    """The tables that a trick game hands to `tricks`: which cards count as a suit, and which beat a card."""

    def __init__(self, game: str, trump: str) -> None:
        """The cards of a game with a suit of trumps."""
        self.ranks = {"bourre": "23456789TJQKA", "pinochle": "9JQKTA"}.get(game, "")
        self.trump = "CDHS".index(trump)

    def card(self, text: str) -> int:
        """The id of a card, or of a kind of cards where there are twins."""
        if not self.ranks:
            return card_id(text)
        return len(self.ranks) * "CDHS".index(text[1]) + self.ranks.index(text[0])

    def suit_of(self, card: int) -> int:
        """The suit a card counts as."""
        return card // len(self.ranks) if self.ranks else int(SUIT_OF[self.trump, card])

    def suit(self, suit: int) -> np.uint64:
        """The cards that count as a suit."""
        if not self.ranks:
            return SUIT_CARDS[self.trump, suit]
        return np.uint64((1 << len(self.ranks)) - 1 << len(self.ranks) * suit)

    def beating(self, card: int) -> np.uint64:
        """The cards that beat one."""
        if not self.ranks:
            return BEATING[self.trump, card]
        higher = int(self.suit(self.suit_of(card))) & -(1 << card + 1)
        return np.uint64(higher if self.suit_of(card) == self.trump else higher | int(self.suit(self.trump)))

    def best(self, trick: list[int]) -> int:
        """The place of the card that wins, found card by card as an engine does."""
        place = 0
        for later, card in enumerate(trick):
            if tricks.beats(card, self.beating(trick[place])):
                place = later
        return place


def duties_of(profile: dict[str, Any]) -> int:
    """The flags of `tricks` for a profile of the law."""
    return (
        tricks.MUST_BEAT * (profile["head"] != "never")
        | tricks.BEAT_ONLY_TRUMPS * (profile["head"] == "trump_led")
        | tricks.BEAT_BEST_OF_SUIT * (profile["head_target"] == "led_suit")
        | tricks.MUST_TRUMP * profile["ruff"]
        | tricks.MUST_OVERTRUMP * profile["overruff"]
        | tricks.MUST_UNDERTRUMP * profile["underruff"]
    )


@cases("legal_cards", "euchre", "pinochle", "bourre")
def test_cards_that_may_be_played(case: Case) -> None:
    given = case["given"]
    pack = Pack(case["game"], given["trump"])
    duties = duties_of(GOLDEN["profiles"][given["profile"]])
    trick = [pack.card(text) for text in given["trick"]]
    led = pack.suit_of(trick[0])
    in_suit = [card for card in trick if pack.suit_of(card) == led]
    best_of_suit = in_suit[pack.best(in_suit)]
    beating = tricks.cards_to_head(
        pack.suit(led), pack.beating(trick[pack.best(trick)]), pack.beating(best_of_suit), duties
    )
    hand = np.uint64(sum(1 << pack.card(text) for text in given["hand"]))
    allowed = tricks.cards_to_follow(hand, pack.suit(led), pack.suit(pack.trump), beating, duties)
    assert set(cards_in(allowed)) == {pack.card(text) for text in case["expect"]["legal"]}


@cases("trick_winner", "euchre", "pinochle", "bourre")
def test_card_that_wins_a_trick(case: Case) -> None:
    pack = Pack(case["game"], case["given"]["trump"])
    trick = [pack.card(text) for text in case["given"]["trick"]]
    assert pack.best(trick) == case["expect"]["winner_index"]


def test_no_card_is_beaten_by_all() -> None:
    assert cards_in(BEATING[0, NO_CARD]) == list(range(25))


# --- whole hands of Euchre --------------------------------------------------------------------------------------------


def deck_of(case: Case) -> list[str]:
    """A pack that deals the hands of a script."""
    given = case["given"]
    dealt = [given["hands"][(given["dealer"] + 1 + place) % 4][place // 4] for place in range(20)]
    dealt.append(given["upcard"])
    return dealt + [card for card in full_pack(benny=True) if card not in dealt]


@pytest.mark.parametrize("ids", CHOICES["card_ids"])
@cases("euchre_script", "euchre")
def test_hand_that_follows_a_script(case: Case, ids: str) -> None:
    given, expected = case["given"], case["expect"]
    rules = EuchreRules(**given["config"], card_ids=ids)
    tables = EuchreTables(rules, 1)
    tables.deal([[card_id(text) for text in deck_of(case)]], given["dealer"])
    winners = []
    for seat, word in given["actions"]:
        before = tables.snapshot(0)
        assert before.seat == seat
        tables.step([action_id(rules, tables.records[0], word)])
        now = tables.snapshot(0).tricks_won
        winners += [other for other in range(4) if now[other] > before.tricks_won[other]]
    now = tables.snapshot(0)
    legal = np.flatnonzero(tables.legal_action_mask()[0])
    found = {
        "phase": "DONE" if now.phase == "settled" else now.phase.upper(),
        "seat": now.seat,
        "trump": now.trump_suit,
        "maker": now.maker,
        "alone": sorted(now.alone),
        "out": sorted(now.out),
        "hand_sizes": [len(hand) for hand in now.hands],
        "legal": sorted(action_text(rules, tables.records[0], int(action)) for action in legal),
        "tricks": list(now.tricks),
        "trick_winners": winners,
        "points": list(now.points),
        "returns": list(now.returns),
    }
    expected = {**expected, "legal": sorted(expected["legal"])} if "legal" in expected else expected
    assert {name: found[name] for name in expected} == expected


@cases("euchre_score", "euchre")
def test_score_of_a_hand(case: Case) -> None:
    given = case["given"]
    maker = given["maker_team"]
    lone = given["team_has_lone"]
    points = maker_points(given["maker_tricks"], lone[maker], lone[1 - maker], given["alone_scoring"] == "double_all")
    expected = case["expect"]["points"]
    assert [max(0, points), max(0, -points)] == expected
    assert list(points_of_hand(given["maker_tricks"], lone[maker], lone[1 - maker], given["alone_scoring"])) == expected


# --- the oracle, too --------------------------------------------------------------------------------------------------


@cases("euchre_script", "euchre")
def test_oracle_follows_the_script(case: Case) -> None:
    table = ReferenceEuchre(HouseRules(**case["given"]["config"]), deck_of(case), case["given"]["dealer"])
    for seat, word in case["given"]["actions"]:
        assert table.seat == seat
        table.step(word)
    expected = case["expect"]
    assert table.phase.upper() == expected["phase"].replace("DONE", "SETTLED")
    assert table.points == expected.get("points", table.points)
    assert table.winners == expected.get("trick_winners", table.winners)
    assert sorted(table.legal()) == sorted(expected.get("legal", table.legal()))


def test_action_ids_of_the_law() -> None:
    rules = EuchreRules()
    tables = EuchreTables(rules, 1)
    tables.deal(shuffled_decks(1, [0], pack=rules.pack), 0)
    expected = {"9C": 0, "AC": 5, "9D": 6, "JH": 14, "AS": 23, "BN": 24, "pass": 25, "name_C": 26, "name_S": 29}
    expected |= {"turn_down": 30, "alone": 31, "with_partner": 32}
    assert rules.num_actions == 33
    for word, action in expected.items():
        assert action_id(rules, tables.records[0], word) == action
        assert action_text(rules, tables.records[0], action) == word
    assert card_set(["9C", "BN"]) == np.uint64(1 | 1 << 24)
    assert [card_text(card) for card in rules.pack[:6]] == ["9C", "TC", "JC", "QC", "KC", "AC"]
