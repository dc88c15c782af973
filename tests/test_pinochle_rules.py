"""The numbered rules of docs/pinochle.md, each at a table set up for it."""

import dataclasses
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference_pinochle import full_pack

from bourre_env import (
    PINOCHLE_PRESETS,
    DeckError,
    IllegalActionError,
    PinochleRules,
    PinochleTables,
    RulesError,
    raw_pinochle_env,
    shuffled_decks,
)
from bourre_env.pinochle.audit import audit_play
from bourre_env.pinochle.cards import (
    BEATING,
    HIGHER,
    KINDS,
    add,
    card_set,
    deck_ids,
    kind_id,
    kind_text,
    kind_texts,
    relative_kind,
    remove,
    settled_planes,
    texts,
    together,
    without,
)
from bourre_env.pinochle.game import preset
from bourre_env.pinochle.melds import meld_cards, meld_points, melds_in_words
from bourre_env.pinochle.rules import SAVE_ALWAYS, SAVE_BY_COUNTER, SAVE_BY_TRICK
from bourre_env.pinochle.scoring import declarers_points, saved_melds, winner_of_game
from bourre_env.pinochle.snapshot import PinochleSnapshot

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "pinochle.md").read_text(encoding="utf-8")

HANDS = (  # of the seats 0 to 3; hearts are named by seat 0
    "AH TH KH QH JH 9H AC KC QC TC JD QS",
    "AH KH 9H AC TC 9C 9C AD KD QD 9D 9D",
    "TH QH JH KC QC JC JC AS TS KS QS 9S",
    "AD TD TD KD QD JD AS TS KS JS JS 9S",
)


class Hand:
    """One table, played in words."""

    def __init__(self, hands: tuple[str, ...] = HANDS, dealer: int = 3, **options: Any) -> None:
        """Deal these hands."""
        self.rules = PinochleRules(**options)
        self.tables = PinochleTables(self.rules, 1)
        deck = [hands[(dealer + 1 + place) % 4].split()[place // 4] for place in range(48)]
        self.tables.deal([deck_ids(deck)], dealer)

    def say(self, *words: str) -> "Hand":
        """Take actions, one after the other."""
        for word in words:
            self.tables.step([self.tables.action_id(0, word)])
        return self

    @property
    def now(self) -> PinochleSnapshot:
        """The table."""
        return self.tables.snapshot(0)

    @property
    def legal(self) -> set[str]:
        """The legal actions in words."""
        actions = np.flatnonzero(self.tables.legal_action_mask()[0])
        return {self.tables.action_text(0, int(action)) for action in actions}

    def play_out(self) -> "Hand":
        """The lowest legal action until the hand is over."""
        while self.now.phase != "settled":
            self.say(min(self.legal, key=lambda word: self.tables.action_id(0, word)))
        return self


PASSES = ("pass", "pass", "pass")
HEARTS = ("bid_25", *PASSES, "name_H")


def points_of(hand: str, trump: str, **options: Any) -> int:
    """Points of the melds of a hand."""
    rules = PinochleRules(**options)
    return int(meld_points(card_set(hand.split()), "CDHS".index(trump), rules.record()[0]))


# --- P1 ---------------------------------------------------------------------------------------------------------------


def test_p1_1_partners_sit_opposite_and_share_the_result() -> None:
    end = Hand().say(*HEARTS).play_out().now
    assert end.returns[0] == end.returns[2] == -end.returns[1] == -end.returns[3] != 0
    assert PinochleRules.sides == ((0, 2), (1, 3))


def test_p1_2_pack_has_two_copies_of_24_kinds_that_count_alike() -> None:
    assert [kind_text(card // 2) for card in PinochleRules.pack] == full_pack()
    one = card_set(["KH", "KH", "9C"])
    assert texts(one) == ("9C", "KH", "KH")
    assert texts(remove(one, kind_id("KH"))) == ("9C", "KH")
    assert texts(add(card_set(["9C"]), kind_id("9C"))) == ("9C", "9C")
    with pytest.raises(ValueError, match="named more than twice"):
        card_set(["KH", "KH", "KH"])
    with pytest.raises(DeckError, match=r"rule P1\.2"):
        PinochleTables(PinochleRules(), 1).deal([[0] * 48], 0)


def test_p1_2_sets_of_cards_are_added_and_taken_away_by_counts() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        counts = rng.integers(0, 3, 24)
        fewer = np.minimum(rng.integers(0, 3, 24), counts)
        whole, part = (card_set([kind_text(k) for k in range(24) for _ in range(n[k])]) for n in (counts, fewer))
        rest = without(whole, part)
        assert texts(rest) == tuple(kind_text(k) for k in range(24) for _ in range(counts[k] - fewer[k]))
        assert together(np.uint64(rest), part) == whole
        loose = sum(1 << k + 24 * int(rng.integers(2)) if counts[k] == 1 else (1 << k | 1 << k + 24) * (counts[k] // 2)
                    for k in range(24))  # fmt: skip
        assert settled_planes(np.uint64(loose)) == whole


def test_p1_3_ten_is_above_the_king() -> None:
    assert kind_texts(HIGHER[kind_id("9C")]) == ("JC", "QC", "KC", "TC", "AC")
    assert kind_texts(HIGHER[kind_id("KC")]) == ("TC", "AC")
    assert kind_texts(BEATING[2, kind_id("TC")]) == ("AC", "9H", "JH", "QH", "KH", "TH", "AH")
    assert kind_texts(BEATING[2, kind_id("TH")]) == ("AH",)
    assert HIGHER[24] == KINDS


@pytest.mark.parametrize(
    ("scale", "total"), [("modern", 25), ("counters10", 250), ("classic", 250), ("simplified", 250)]
)
def test_p1_4_tricks_of_a_hand_make_25_or_250(scale: str, total: int) -> None:
    end = Hand(scale=scale).say(*HEARTS).play_out().now
    assert sum(end.trick_points) == PinochleRules(scale=scale).hand_points == total
    assert sum(end.meld_points) == sum(Hand().say(*HEARTS).now.meld_points) * total // 25
    assert preset("classic").unit == 10


def test_p1_5_cards_go_round_from_the_eldest() -> None:
    tables = PinochleTables(PinochleRules(), 1)
    deck = shuffled_decks(1, [0], pack=PinochleRules.pack)
    tables.deal(deck, 2)
    names = [kind_text(int(card) // 2) for card in deck[0]]
    hands = tables.snapshot(0).hands
    assert [sorted(hands[(3 + place) % 4]) for place in range(4)] == [sorted(names[place::4]) for place in range(4)]


def test_p1_6_deal_moves_to_the_left() -> None:
    env = raw_pinochle_env(rules=PinochleRules(all_pass="redeal"), episode="game")
    env.reset(seed=1, options={"dealer": 3})
    for _ in range(4):
        env.step(env.action_id("pass"))
    assert (env.snapshot().dealer, env.snapshot().hand_index, env.snapshot().score) == (0, 1, (0, 0))


# --- P2 ---------------------------------------------------------------------------------------------------------------


def test_p2_1_eldest_calls_first() -> None:
    assert [Hand(dealer=dealer).now.seat for dealer in range(4)] == [1, 2, 3, 0]


def test_p2_2_bids_rise_in_steps_and_a_pass_is_for_good() -> None:
    hand = Hand(min_bid=10, bid_step=5)
    assert hand.legal == {"pass", *(f"bid_{10 + 5 * level}" for level in range(40))}
    hand.say("bid_20", "pass")
    assert hand.legal == {"pass", *(f"bid_{10 + 5 * level}" for level in range(3, 40))}
    hand.say("bid_205")
    assert (hand.now.seat, hand.legal) == (3, {"pass"})
    hand.say("pass")
    assert (hand.now.seat, hand.now.high_bid, hand.now.passed) == (0, 205, (1, 3))
    assert hand.now.calls == ((0, "bid_20"), (1, "pass"), (2, "bid_205"), (3, "pass"))


def test_p2_3_high_bidder_is_the_declarer_when_three_have_passed() -> None:
    hand = Hand().say("bid_25", "bid_26", "pass", "pass")
    assert (hand.now.phase, hand.now.seat) == ("bid", 0)
    hand.say("pass")
    assert (hand.now.phase, hand.now.seat, hand.now.high_bidder, hand.now.high_bid) == ("trump", 1, 1, 26)
    alone = Hand().say("pass", "pass", "bid_30", "pass")
    assert (alone.now.phase, alone.now.seat) == ("trump", 2)


def test_p2_4_dealer_is_stuck_or_the_hand_is_thrown_in() -> None:
    stuck = Hand().say(*PASSES)
    assert (stuck.now.phase, stuck.now.seat, stuck.now.high_bid) == ("trump", 3, 25)
    assert stuck.now.calls == ((0, "pass"), (1, "pass"), (2, "pass"))
    asked = Hand(all_pass="redeal").say(*PASSES)
    assert (asked.now.phase, asked.now.seat) == ("bid", 3)
    assert {"pass", "bid_25", "bid_64"} <= asked.legal
    asked.say("pass")
    assert (asked.now.phase, asked.now.seat, asked.now.returns) == ("settled", -1, (0, 0, 0, 0))
    bids = Hand(all_pass="redeal").say(*PASSES, "bid_40")
    assert (bids.now.phase, bids.now.high_bid, bids.now.calls[-1]) == ("trump", 40, (3, "bid_40"))


# --- P3 ---------------------------------------------------------------------------------------------------------------


def test_p3_1_declarer_names_any_suit_or_one_with_a_marriage() -> None:
    every = {"name_C", "name_D", "name_H", "name_S"}
    assert Hand().say("bid_25", *PASSES).legal == every
    assert Hand(need_marriage=True).say("bid_25", *PASSES).legal == {"name_C", "name_H"}
    bare = ("AH TH TH JH JH 9H AC TC TC JC JD 9D", HANDS[1], HANDS[2], HANDS[3])
    left = Counter(full_pack()) - Counter(bare[0].split())
    rest = list(left.elements())
    dealt = (bare[0], *(" ".join(rest[place::3]) for place in range(3)))
    assert Hand(dealt, need_marriage=True).say("bid_25", *PASSES).legal == every


def test_p3_2_partner_sends_cards_and_the_declarer_sends_as_many_back() -> None:
    assert Hand().say(*HEARTS).now.phase == "play"
    hand = Hand(exchange=3).say(*HEARTS)
    assert (hand.now.phase, hand.now.seat, hand.legal) == ("exchange", 2, set(HANDS[2].split()))
    hand.say("TH", "JC", "JC")
    assert (hand.now.seat, len(hand.now.hands[0]), len(hand.now.hands[2])) == (0, 15, 9)
    assert {"JC", "TH"} <= hand.legal
    hand.say("JC", "TC", "JD")
    assert (hand.now.phase, hand.now.seat) == ("play", 0)
    assert [len(cards) for cards in hand.now.hands] == [12] * 4
    assert hand.now.sent == (("JC", "TC", "JD"), (), ("JC", "JC", "TH"), ())
    pieces = hand.tables.layout.segments
    told = [hand.tables.observe(seats=[seat])[0] for seat in range(4)]
    assert [row[pieces["sent"].slice].sum() for row in told] == [3, 0, 3, 0]
    assert [row[pieces["received"].slice].sum() for row in told] == [3, 0, 3, 0]
    assert Hand(exchange=4).say(*HEARTS, "TH", "JC", "JC").now.seat == 2


# --- P4 ---------------------------------------------------------------------------------------------------------------


def test_p4_1_melds_are_laid_down_before_the_first_lead_and_taken_back() -> None:
    hand = Hand()
    assert hand.say("bid_25", *PASSES).now.melded == ((), (), (), ())
    now = hand.say("name_H").now
    assert dict(now.melds[0]) == {"run": 15, "marriage": 2, "dix": 1, "pinochle": 4}
    assert set(now.melded[0]) == {"AH", "TH", "KH", "QH", "JH", "9H", "KC", "QC", "JD", "QS"}
    assert len(now.hands[0]) == 12
    assert dict(now.melds[1]) == {"marriage": 2, "dix": 1}
    assert now.meld_points == (22, 3, 4, 2)
    hand = card_set(["KS", "QS", "QS", "JD", "QC", "QD", "QH"])
    shown = meld_cards(hand, 1)
    expected = ["JD", "KS", "QC", "QD", "QH", "QS"]
    assert sorted(texts(shown)) == expected, "one queen of spades serves three classes"


def test_p4_2_run_and_double_run() -> None:
    assert points_of("AH TH KH QH JH", "H") == 15
    assert points_of("AH TH KH QH JH AH TH KH QH", "H") == 19
    assert points_of("AH TH KH QH JH AH TH KH QH JH", "H") == 150
    assert points_of("AC TC KC QC JC", "H") == 2


def test_p4_3_run_uses_up_a_royal_marriage() -> None:
    assert points_of("KH QH", "H") == 4
    assert points_of("KH QH KH QH", "H") == 8
    assert points_of("KH QH KH QH", "H", double_royal_marriage=30) == 30
    assert points_of("KH QH KH QH AH TH JH", "H", double_royal_marriage=30) == 19
    assert points_of("KH QH KH QH", "H", double_royal_marriage=30, scale="classic") == 300


def test_p4_4_marriages_in_other_suits() -> None:
    assert points_of("KC QC KC QC KD", "H") == 4
    assert points_of("KC QC KD QD", "S") == 4


def test_p4_5_each_nine_of_trumps_is_a_dix() -> None:
    assert points_of("9H 9H 9C", "H") == 2
    assert texts(meld_cards(card_set(["9H", "9H", "9C"]), 2)) == ("9H", "9H")


def test_p4_6_pinochle_and_double_pinochle() -> None:
    assert points_of("QS JD", "H") == 4
    assert points_of("QS JD QS", "H") == 4
    assert points_of("QS JD QS JD", "H") == 30
    assert melds_in_words(card_set(["QS", "JD", "QS", "JD"]), 2, 8, 10) == {"double_pinochle": 300}


def test_p4_7_around_and_double_around() -> None:
    for rank, points in {"A": 10, "K": 8, "Q": 6, "J": 4, "T": 0, "9": 0}.items():
        four = [rank + suit for suit in "CDHS"]
        trump_nine = rank == "9"
        assert points_of(" ".join(four), "H") == points + trump_nine
        assert points_of(" ".join([*four, *four]), "H") == 10 * points + 2 * trump_nine
    assert points_of("AC AC AD AD AH AH AS", "H") == 10


# --- P5 ---------------------------------------------------------------------------------------------------------------


def test_p5_1_declarer_or_eldest_leads_any_card() -> None:
    hand = Hand().say("pass", "bid_25", "pass", "pass", "name_H")
    assert (hand.now.seat, hand.legal) == (1, set(HANDS[1].split()))
    assert Hand(leader="eldest").say("pass", "bid_25", "pass", "pass", "name_H").now.seat == 0


def test_p5_2_suit_is_followed_and_the_trick_headed_also_over_the_partner() -> None:
    hand = Hand().say(*HEARTS, "QC")
    assert hand.legal == {"AC", "TC"}
    hand.say("TC")
    assert hand.legal == {"KC", "QC", "JC"}
    assert Hand().say(*HEARTS, "KC", "AC").legal == {"KC", "QC", "JC"}
    other = Hand().say("pass", "bid_25", "pass", "pass", "name_D", "9C", "JC")
    assert other.legal == {"AD", "TD", "KD", "QD", "JD"}
    other.say("JD")
    assert other.legal == {"AC", "KC", "QC", "TC"}, "it was ruffed"
    literal = Hand(head_target="led_suit").say("pass", "bid_25", "pass", "pass", "name_D", "9C", "QC", "JD")
    assert literal.legal == {"AC", "KC", "TC"}
    older = Hand(head="trump_led").say(*HEARTS, "QC")
    assert older.legal == {"AC", "TC", "9C"}
    assert Hand(head="trump_led").say(*HEARTS, "9H").legal == {"AH", "KH"}


def test_p5_3_void_seat_trumps_and_overtrumps_or_trumps_all_the_same() -> None:
    hand = Hand().say("pass", "pass", "pass", "name_H", "JS")
    assert hand.legal == {"QS"}
    hand.say("QS")
    assert hand.legal == {"AH", "KH", "9H"}
    hand.say("KH")
    assert hand.legal == {"AS", "TS", "KS", "QS", "9S"}
    over = Hand().say("pass", "pass", "pass", "name_C", "AD", "JD", "AD")
    assert over.legal == {"KC", "QC", "JC"}
    under = (  # seat 2 has no diamond and only low trumps
        "TD AC AH AH TH TH KH KH QH QH JH JH",
        "AD TD KD QD JD 9D AS AS TS TS KS KS",
        "JC 9C QS QS JS JS 9S 9S 9H 9H JC 9C",
        "AD KD QD JD 9D AC TC TC KC KC QC QC",
    )
    hand = Hand(under).say("bid_25", *PASSES, "name_C", "TD", "AD")
    assert hand.legal == {"JC", "9C"}
    free = Hand(under).say("pass", "bid_25", "pass", "pass", "name_H", "AS")
    assert free.legal == {"QS", "JS", "9S"}
    free.say("9S")
    assert free.legal == {"AD", "KD", "QD", "JD", "9D", "AC", "TC", "KC", "QC"}
    ruffed = Hand(under).say("pass", "pass", "bid_25", "pass", "name_C", "QS")
    assert ruffed.legal == {"TC", "AC", "KC", "QC"}
    assert ruffed.say("AC").legal == {"AC"}, "a trump is owed that cannot win"


def test_p5_4_highest_trump_or_first_of_the_highest_wins_and_leads() -> None:
    hand = Hand().say(*HEARTS, "AC", "AC", "KC", "AD")
    assert hand.now.trick == ()
    assert (hand.now.seat, hand.now.leader, hand.now.tricks_won) == (0, 0, (1, 0, 0, 0))
    hand = Hand().say("pass", "pass", "pass", "name_H", "AS", "QS", "KH", "AS")
    assert (hand.now.seat, hand.now.tricks_won) == (1, (0, 1, 0, 0))
    assert sum(hand.play_out().now.tricks) == 12


def test_p5_5_points_are_those_of_the_cards_taken_and_of_the_last_trick() -> None:
    hand = Hand(scale="classic").say(*HEARTS, "AC", "AC", "KC", "AD")
    assert hand.now.trick_points == (11 + 11 + 4 + 11, 0)
    end = hand.play_out().now
    points = {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2, "9": 0}
    piles = [sum(points[card[0]] for card in pile) for pile in end.piles]
    assert sorted(end.piles[0] + end.piles[1]) == sorted(full_pack())
    last = end.leader % 2
    assert end.trick_points[last] == piles[last] + 10
    assert end.trick_points[1 - last] == piles[1 - last]


# --- P6 ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("save", "tricks", "counters", "counted"),
    [
        (SAVE_BY_TRICK, 0, 0, 0), (SAVE_BY_TRICK, 1, 0, 20), (SAVE_BY_COUNTER, 1, 0, 0), (SAVE_BY_COUNTER, 1, 1, 20),
        (SAVE_ALWAYS, 0, 0, 20),
    ],
)  # fmt: skip
def test_p6_1_melds_count_if_a_trick_or_a_counter_was_won(save: int, tricks: int, counters: int, counted: int) -> None:
    assert saved_melds(20, tricks, counters, save) == counted


def test_p6_2_declarers_score_melds_and_tricks_or_lose_the_bid() -> None:
    assert (declarers_points(30, 30), declarers_points(29, 30)) == (30, -30)
    made = Hand().say(*HEARTS).play_out().now
    meld = [made.meld_points[side] + made.meld_points[side + 2] for side in range(2)]
    assert made.points == (meld[0] + made.trick_points[0], meld[1] + made.trick_points[1])
    lost = Hand().say("bid_64", *PASSES, "name_H").play_out().now
    assert lost.points == (-64, meld[1] + lost.trick_points[1])


def test_p6_3_returns_are_the_changes_of_both_scores() -> None:
    end = Hand().say("bid_64", *PASSES, "name_H").play_out().now
    assert end.returns == tuple((end.points[0] - end.points[1]) * sign for sign in (1, -1, 1, -1))
    assert end.score == end.points


def test_p6_4_bidding_side_wins_if_both_reach_the_target() -> None:
    assert winner_of_game((170, 158), 0, 150) == 0
    assert winner_of_game((170, 158), 1, 150) == 1
    assert winner_of_game((149, 158), 0, 150) == 1
    assert winner_of_game((149, -58), 0, 150) == -1
    tables = PinochleTables(PinochleRules(target=30), 1)
    tables.deal([deck_ids([HANDS[place % 4].split()[place // 4] for place in range(48)])], 3, score=[(5, 29)])
    for word in HEARTS:
        tables.step([tables.action_id(0, word)])
    while not tables.settled[0]:
        tables.step(tables.legal_action_mask().argmax(axis=1))
    assert min(tables.score[0]) >= 30
    assert tables.snapshot(0).winner == 0


# --- P7 ---------------------------------------------------------------------------------------------------------------


def test_p7_1_refusal_names_table_seat_phase_and_what_is_legal() -> None:
    hand = Hand().say(*HEARTS, "QC")
    with pytest.raises(IllegalActionError) as refused:
        hand.say("9C")
    assert str(refused.value) == "table 0, seat 1, phase play: action 0 (9C) is not legal; legal: TC, AC"
    with pytest.raises(IllegalActionError, match="is settled and takes no action"):
        raise PinochleTables(PinochleRules(), 1).illegal_action(0, 3)


def test_p7_2_card_taken_back_is_known_to_be_held_until_it_is_played() -> None:
    hand = Hand().say(*HEARTS, "QC")
    nine = hand.tables.action_id(0, "9C")
    assert hand.tables.take_back(0, nine)
    assert (hand.now.exposed[1], hand.now.taken_back, hand.now.seat) == (("9C",), "9C", 1)
    worlds = hand.tables.take([0] * 200).reshuffle_unseen(0, seed=1)
    assert all("9C" in worlds.snapshot(row).hands[1] for row in range(200))
    assert all({"TC", "AC"} & set(worlds.snapshot(row).hands[1]) for row in range(200)), "it broke a duty"
    assert not hand.tables.take_back(0, hand.tables.action_id(0, "TD")), "a card that is not held"
    assert not hand.tables.take_back(0, 24)
    with pytest.raises(ValueError, match="is legal; step it"):
        hand.tables.take_back(0, hand.tables.action_id(0, "AC"))
    hand.say("AC")
    assert (hand.now.exposed[1], hand.now.taken_back) == (("9C",), "")


def test_p7_3_forfeit_costs_the_bid_and_gives_the_other_side_everything() -> None:
    hand = Hand()
    hand.tables.forfeit([0])
    assert (hand.now.points, hand.now.forfeited, hand.now.trump_suit) == ((-25, 25), 0, "")
    hand = Hand(exchange=3).say("bid_30", *PASSES, "name_H")
    hand.tables.forfeit([0])
    assert hand.now.points == (-30, 25 + 3 + 2)
    hand = Hand().say("bid_30", *PASSES, "name_H", "QC")
    hand.tables.forfeit([0])
    assert hand.now.points == (25 + 22 + 4, -30)
    assert hand.now.returns == (81, -81, 81, -81)
    with pytest.raises(IllegalActionError, match="table 0 is settled"):
        hand.tables.forfeit([0])


def test_p7_4_relative_ids_count_from_trumps_once_they_are_named() -> None:
    for reference, order in {"C": "CDHS", "D": "DHSC", "H": "HSCD", "S": "SCDH"}.items():
        for place, letter in enumerate(order):
            assert relative_kind(kind_id("J" + letter), "CDHS".index(reference)) == 6 * place + 1
    hand = Hand(card_ids="relative")
    assert hand.tables.action_id(0, "JH") == 13
    hand.say("bid_25", *PASSES)
    assert hand.tables.action_id(0, "name_H") == 67
    hand.say("name_H")
    assert hand.tables.action_id(0, "JH") == 1
    assert hand.tables.action_text(0, 23) == "AD"
    trump = hand.tables.layout.segments["trump_suit"].slice
    assert np.flatnonzero(hand.tables.observe()[0][trump]).tolist() == [2]
    assert hand.legal == set(HANDS[0].split())


def test_p7_5_tricks_that_are_over_are_not_shown_without_history() -> None:
    rows = [Hand(history=flag).say(*HEARTS, "AC", "AC", "KC", "AD").tables.observe()[0] for flag in (True, False)]
    assert (rows[0].size, rows[1].size) == (26 * 64, 16 * 64)
    assert (rows[0][: 16 * 64] == rows[1]).all()
    assert rows[0][16 * 64 :].sum() == 4 + 3, "four cards of three kinds"


def test_p7_6_no_hand_is_longer_than_stated() -> None:
    assert PinochleRules().max_decisions == 92
    assert PinochleRules(exchange=4).max_decisions == 100
    assert PinochleRules.num_actions == 69


def test_p7_7_audit_names_the_duty_that_was_broken() -> None:
    hand = ["AC", "9C", "KH", "JH", "AD"]
    assert audit_play(hand, [], "AD", trump_suit="H") == "legal"
    assert audit_play(hand, ["KC"], "AC", trump_suit="H") == "legal"
    assert audit_play(hand, ["KC"], "9C", trump_suit="H") == "must_beat"
    assert audit_play(hand, ["KC"], "KH", trump_suit="H") == "must_follow"
    assert audit_play(hand, ["KS"], "AD", trump_suit="H") == "must_trump"
    assert audit_play(hand, ["KS", "QH"], "JH", trump_suit="H") == "must_overtrump"
    assert audit_play(hand, ["KC", "9H"], "9C", trump_suit="H") == "legal"
    literal = PinochleRules(head_target="led_suit")
    assert audit_play(hand, ["KC", "9H"], "9C", trump_suit="H", rules=literal) == "must_beat"
    with pytest.raises(ValueError, match="9S is not in the hand"):
        audit_play(hand, ["KC"], "9S", trump_suit="H")
    with pytest.raises(ValueError, match="trump_suit is 'X'"):
        audit_play(hand, ["KC"], "9C", trump_suit="X")


# --- the rules value and the page -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"target": 0}, "target is 0; it must be from 1 to 10000"),
        ({"min_bid": True}, "min_bid is True"),
        ({"bid_step": 2.0}, r"bid_step is 2.0 \(float\); it must be an integer"),
        ({"need_marriage": 1}, r"need_marriage is 1 \(int\); it must be True or False"),
        ({"exchange": 5}, "exchange is 5.*; choose 0, 3, 4"),
        ({"scale": "clasic"}, "did you mean 'classic'"),
        ({"double_royal_marriage": 40}, "choose 8, 30"),
    ],
)
def test_fields_that_make_no_game_are_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(RulesError, match=words):
        PinochleRules(**fields)


def test_presets_fingerprints_and_plain_form() -> None:
    with pytest.raises(RulesError, match="did you mean 'classic'"):
        PinochleRules.preset("clasic")
    with pytest.raises(RulesError, match="no field 'targets'"):
        PinochleRules.preset("modern", targets=3)
    with pytest.raises(RulesError, match="for 4 players, not 3"):
        preset("modern", num_players=3)
    rules = PinochleRules.preset("older", target=500, min_bid=np.int64(300))
    assert PinochleRules.from_plain(json.loads(json.dumps(dataclasses.asdict(rules))), rules.fingerprint) == rules
    with pytest.raises(RulesError, match="mean something else"):
        PinochleRules.from_plain(dataclasses.asdict(rules), PinochleRules().fingerprint)
    assert len({PinochleRules.preset(name).fingerprint for name in PINOCHLE_PRESETS}) == len(PINOCHLE_PRESETS)
    with pytest.raises(RulesError, match="give a PinochleRules value"):
        PinochleTables("modern", 1)  # type: ignore[arg-type]


def test_every_numbered_rule_is_named_in_the_code_and_in_a_test() -> None:
    numbers = set(re.findall(r"^- \*\*(P\d\.\d) ", PAGE, re.M))
    assert len(numbers) == 35
    source = " ".join(path.read_text(encoding="utf-8") for path in (ROOT / "bourre_env" / "pinochle").glob("*.py"))
    cited = set(re.findall(r"\b(P\d\.\d)\b", source))
    for section, first, last in re.findall(r"\bP(\d)\.(\d) to P\1\.(\d)\b", source):
        cited |= {f"P{section}.{rule}" for rule in range(int(first), int(last) + 1)}
    tests = " ".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_pinochle_*.py"))
    tested = {f"P{section}.{rule}" for section, rule in re.findall(r"def test_p(\d)_(\d)_", tests)}
    assert numbers - cited == set()
    assert numbers - tested == set()


def test_page_lists_the_presets_and_the_defaults() -> None:
    for name, changes in PINOCHLE_PRESETS.items():
        listed = ", ".join(f"{field} = {json.dumps(value)}" for field, value in changes.items()) or "the defaults"
        assert f"| `{name}` | {listed} |" in PAGE
    for field in dataclasses.fields(PinochleRules):
        assert f"`{field.name} = {json.dumps(field.default)}`" in PAGE
