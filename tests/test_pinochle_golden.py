"""Golden cases of Pinochle worked out by hand from the law; `test_euchre_golden` runs those of play duties, too."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference_pinochle as reference
from reference_pinochle import SUITS, ReferencePinochle, full_pack
from reference_pinochle import HouseRules as Options

from bourre_env import PinochleRules, PinochleTables, shuffled_decks
from bourre_env.pinochle.actions import action_id, action_text
from bourre_env.pinochle.audit import audit_play
from bourre_env.pinochle.cards import card_set, deck_ids, texts
from bourre_env.pinochle.melds import meld_cards, meld_points, melds_in_words
from bourre_env.pinochle.rules import _SAVE_MELD, SCALES
from bourre_env.pinochle.scoring import declarers_points, saved_melds, winner_of_game

GOLDEN = json.loads((Path(__file__).parent / "golden" / "trick_games_cases.json").read_text(encoding="utf-8"))

Case = dict[str, Any]


def cases(kind: str) -> Any:
    """Parametrise over the golden cases of one kind."""
    chosen = [case for case in GOLDEN["cases"] if case["kind"] == kind and case["game"] == "pinochle"]
    assert chosen
    return pytest.mark.parametrize("case", chosen, ids=lambda case: case["id"])


def test_every_kind_of_case_is_run_somewhere() -> None:
    kinds = {case["kind"] for case in GOLDEN["cases"] if case["game"] == "pinochle"}
    here = {"audit_play", "exposed_retry", "trick_points", "meld", "auction", "hand_score", "game_end", "full_hand"}
    assert kinds == here | {"action_ids", "legal_cards", "trick_winner"}


def rules_of(profile: str, **changes: Any) -> PinochleRules:
    """The house rules that a profile of the law stands for."""
    flags = GOLDEN["profiles"][profile]
    return PinochleRules(head=flags["head"], head_target=flags["head_target"], **changes)


def deck_of(hands: list[list[str]], dealer: int) -> list[str]:
    """A pack that deals the hands of a case."""
    return [hands[(dealer + 1 + place) % 4][place // 4] for place in range(48)]


def play(rules: PinochleRules, hands: list[list[str]], leader: int, trump: str) -> PinochleTables:
    """A table at which a seat is about to lead, having won the auction at the lowest bid."""
    tables = PinochleTables(rules, 1)
    tables.deal([deck_ids(deck_of(hands, leader))], leader)
    for word in ("pass", "pass", "pass", f"name_{trump}"):
        tables.step([tables.action_id(0, word)])
    return tables


@cases("audit_play")
def test_duty_that_a_card_breaks(case: Case) -> None:
    given = case["given"]
    found = audit_play(
        given["hand"], given["trick"], given["card"], trump_suit=given["trump"], rules=rules_of(given["profile"])
    )
    assert found == case["expect"]["verdict"]
    options = Options(**{name: getattr(rules_of(given["profile"]), name) for name in ("head", "head_target")})
    assert reference.duty_broken(given["hand"], given["trick"], given["card"], given["trump"], options) == found


@cases("exposed_retry")
def test_card_that_is_taken_back(case: Case) -> None:
    given, expected = case["given"], case["expect"]
    (led,) = given["trick"]
    rest = Counter(full_pack()) - Counter(given["hand"]) - Counter([led])
    plain = [card for card in rest.elements() if card[1] not in (led[1], given["trump"])]
    hands = [[led], list(given["hand"]), [], []]
    hands[1] += plain[: 12 - len(hands[1])]
    left = list((rest - Counter(hands[1][len(given["hand"]) :])).elements())
    for seat in (0, 2, 3):
        hands[seat] += [left.pop() for _ in range(12 - len(hands[seat]))]
    tables = play(rules_of(given["profile"]), hands, 0, given["trump"])
    tables.step([tables.action_id(0, led)])
    before = tables.snapshot(0)
    assert tables.take_back(0, tables.action_id(0, given["attempt"]))
    after = tables.snapshot(0)
    assert (after.hands != before.hands) == expected["state_changed"]
    assert (after.seat == before.seat) == expected["turn_unchanged"]
    assert list(after.exposed[1]) == expected["exposed"]
    legal = np.flatnonzero(tables.legal_action_mask()[0])
    assert [tables.action_text(0, int(action)) for action in legal] == expected["then_legal"]


@cases("trick_points")
def test_points_of_a_trick(case: Case) -> None:
    cards, is_last = case["given"]["cards"], case["given"]["last"]
    for scale, points in case["expect"].items():
        ranks, last, _ = SCALES[scale]
        assert sum(ranks["9JQKTA".index(card[0])] for card in cards) + last * is_last == points
        expected = reference.card_points(cards, scale) + reference.POINTS[scale]["last"] * is_last
        assert expected == points


@cases("meld")
def test_melds_of_a_hand(case: Case) -> None:
    given, expected = case["given"], case["expect"]
    trump, options = SUITS.index(given["trump"]), given["options"]
    rules = PinochleRules(**options)
    hand = card_set(given["hand"])
    assert melds_in_words(hand, trump, rules.double_royal_marriage, rules.unit) == expected["breakdown"]
    assert meld_points(hand, trump, rules.record()[0]) == expected["points"]
    assert reference.melds(given["hand"], given["trump"], rules.double_royal_marriage) == expected["breakdown"]
    shown = meld_cards(hand, trump)
    assert sorted(texts(shown)) == reference.melded(given["hand"], given["trump"])
    assert melds_in_words(shown, trump, rules.double_royal_marriage, rules.unit) == expected["breakdown"]


@cases("auction")
def test_auction(case: Case) -> None:
    given, expected = case["given"], case["expect"]
    rules = PinochleRules(**given["config"])
    tables = PinochleTables(rules, 1)
    tables.deal(shuffled_decks(1, [0], pack=rules.pack), given["dealer"])
    for call in given["calls"]:
        tables.step([tables.action_id(0, call if call == "pass" else f"bid_{call}")])
    now = tables.snapshot(0)
    legal = [tables.action_text(0, int(action)) for action in np.flatnonzero(tables.legal_action_mask()[0])]
    bids = [int(word[4:]) for word in legal if word.startswith("bid_")]
    found = {
        "done": now.phase != "bid",
        "turn": now.seat,
        "can_pass": "pass" in legal,
        "min_bid": min(bids, default=None),
        "max_bid": max(bids, default=None),
        "winner": now.high_bidder,
        "bid": now.high_bid,
        "void": now.phase == "settled",
    }
    assert {name: found[name] for name in expected} == expected


@cases("hand_score")
def test_score_of_a_hand(case: Case) -> None:
    given, expected = case["given"], case["expect"]
    side, save = given["bid_team"], given["save_meld"]
    last = [int(won == 12) for won in given["tricks_won"]]
    counters = [points - one for points, one in zip(given["trick_points"], last, strict=True)]
    total = [
        saved_melds(given["meld"][one], given["tricks_won"][one], counters[one], _SAVE_MELD[save])
        + given["trick_points"][one]
        for one in range(2)
    ]
    delta = list(total)
    delta[side] = declarers_points(total[side], given["bid"])
    assert delta == expected["delta"]
    assert (total[side] >= given["bid"]) == expected["made"]
    assert delta[0] - delta[1] == expected["reward_team0"]
    found = reference.score_of_hand(
        side, given["bid"], given["meld"], given["tricks_won"], given["trick_points"], counters, save
    )
    assert found == expected["delta"]


@cases("game_end")
def test_end_of_a_game(case: Case) -> None:
    given, expected = case["given"], case["expect"]
    final = [before + change for before, change in zip(given["scores"], given["delta"], strict=True)]
    assert final == expected["final"]
    assert winner_of_game(final, given["bid_team"], given["target"]) == expected["winner"]


@cases("full_hand")
def test_whole_hand(case: Case) -> None:
    given, expected = case["given"], case["expect"]
    rules = rules_of(given["profile"])
    tables = play(rules, given["hands"], given["leader"], given["trump"])
    oracle = ReferencePinochle(Options(), deck_of(given["hands"], given["leader"]), given["leader"])
    for word in ("pass", "pass", "pass", f"name_{given['trump']}"):
        oracle.step(word)
    for seat, card in given["plays"]:
        assert (tables.to_act[0], oracle.seat) == (seat, seat)
        tables.step([tables.action_id(0, card)])
        oracle.step(card)
    end = tables.snapshot(0)
    assert oracle.winners == expected["trick_winners"]
    assert [oracle.winners.count(seat) for seat in range(4)] == list(end.tricks_won)
    assert list(end.tricks) == expected["tricks_won"]
    assert list(end.trick_points) == oracle.trick_points == expected["trick_points"]
    meld = [end.meld_points[side] + end.meld_points[side + 2] for side in range(2)]
    assert meld == expected["meld"]
    assert list(end.points) == oracle.points
    assert end.high_bidder % 2 == given["bid_team"]


def test_action_ids_of_the_law() -> None:
    (case,) = [case for case in GOLDEN["cases"] if case["kind"] == "action_ids" and case["game"] == "pinochle"]
    rules = PinochleRules()
    tables = PinochleTables(rules, 1)
    tables.deal(shuffled_decks(1, [0], pack=rules.pack), 0)
    assert rules.num_actions == case["expect"]["size"]
    for word, action in case["expect"]["ids"].items():
        assert action_id(rules, tables.records[0], word) == action
        assert action_text(rules, tables.records[0], action) == word
