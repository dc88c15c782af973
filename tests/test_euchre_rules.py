"""The numbered rules of docs/euchre.md, each at a table set up for it."""

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference_euchre import full_pack

from bourre_env import (
    EUCHRE_PRESETS,
    EuchreRules,
    EuchreTables,
    IllegalActionError,
    RulesError,
    raw_euchre_env,
    shuffled_decks,
)
from bourre_env.bits import unpack_actions
from bourre_env.cards import cards_in
from bourre_env.euchre.actions import action_id, action_text
from bourre_env.euchre.cards import (
    BEATING,
    SUIT_CARDS,
    SUIT_OF,
    card_id,
    card_text,
    card_texts,
    real_card,
    relative_card,
    trump_order,
)
from bourre_env.euchre.scoring import maker_points
from bourre_env.euchre.snapshot import EuchreSnapshot

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "euchre.md").read_text(encoding="utf-8")

HANDS = ("JH JD AH AS 9C", "KH QS TS KC 9D", "AC AD QC TD KS", "TH QH JS JC QD")  # of the seats 0 to 3


class Hand:
    """One table, played in words."""

    def __init__(self, hands: tuple[str, ...] = HANDS, up_card: str = "9H", dealer: int = 3, **options: Any) -> None:
        """Deal these hands and turn this card up."""
        self.rules = EuchreRules(**options)
        self.tables = EuchreTables(self.rules, 1)
        dealt = [hands[(dealer + 1 + place) % 4].split()[place // 4] for place in range(20)]
        dealt.append(up_card)
        rest = [card for card in full_pack(self.rules.benny) if card not in dealt]
        self.tables.deal([[card_id(card) for card in dealt + rest]], dealer)

    def say(self, *words: str) -> "Hand":
        """Take actions, one after the other."""
        for word in words:
            self.tables.step([action_id(self.rules, self.tables.records[0], word)])
        return self

    @property
    def now(self) -> EuchreSnapshot:
        """The table."""
        return self.tables.snapshot(0)

    @property
    def legal(self) -> set[str]:
        """The legal actions in words."""
        actions = np.flatnonzero(self.tables.legal_action_mask()[0])
        return {action_text(self.rules, self.tables.records[0], int(action)) for action in actions}

    def play_out(self) -> "Hand":
        """The lowest legal action until the hand is over."""
        while self.now.phase != "settled":
            self.say(min(self.legal, key=lambda word: action_id(self.rules, self.tables.records[0], word)))
        return self


NOBODY_ALONE = ("with_partner",) * 4
ORDERED_UP = ("name_H", "JC", *NOBODY_ALONE)


# --- E1 ---------------------------------------------------------------------------------------------------------------


def test_e1_1_partners_sit_opposite_and_share_the_result() -> None:
    end = Hand().say(*ORDERED_UP).play_out().now
    assert end.returns[0] == end.returns[2] == -end.returns[1] == -end.returns[3] != 0
    assert EuchreRules.sides == ((0, 2), (1, 3))


def test_e1_2_pack_has_25_cards_or_24() -> None:
    assert [card_text(card) for card in EuchreRules().pack] == full_pack(benny=True)
    assert [card_text(card) for card in EuchreRules(benny=False).pack] == full_pack(benny=False)


def test_e1_3_order_of_trumps_and_of_the_other_suits() -> None:
    hearts = [card_text(card) for card in trump_order("CDHS".index("H"))]
    assert hearts == ["9H", "TH", "QH", "KH", "AH", "JD", "JH", "BN"]
    for place, card in enumerate(hearts):
        assert set(card_texts(BEATING[2, card_id(card)])) == set(hearts[place + 1 :])
    assert set(card_texts(BEATING[2, card_id("TD")])) == {"QD", "KD", "AD", *hearts}
    assert set(card_texts(BEATING[2, card_id("TC")])) == {"JC", "QC", "KC", "AC", *hearts}


def test_e1_4_benny_and_left_bower_are_trumps_and_nothing_else() -> None:
    for trump, letter in enumerate("CDHS"):
        sister = "CDHS"[3 - trump]
        sizes = [len(cards_in(SUIT_CARDS[trump, suit])) for suit in range(4)]
        assert sizes == [{letter: 8, sister: 5}.get(suit, 6) for suit in "CDHS"]
        assert SUIT_OF[trump, card_id("BN")] == SUIT_OF[trump, card_id("J" + sister)] == trump
        together = SUIT_CARDS[trump, 0] | SUIT_CARDS[trump, 1] | SUIT_CARDS[trump, 2] | SUIT_CARDS[trump, 3]
        assert together == EuchreRules().pack_set


def test_e1_5_cards_go_round_from_the_eldest_and_the_next_is_turned_up() -> None:
    rules = EuchreRules()
    tables = EuchreTables(rules, 1)
    deck = shuffled_decks(1, [0], pack=rules.pack)
    tables.deal(deck, 2)
    texts = [card_text(int(card)) for card in deck[0]]
    now = tables.snapshot(0)
    assert [set(now.hands[(3 + place) % 4]) for place in range(4)] == [set(texts[place:20:4]) for place in range(4)]
    assert (now.up_card, set(now.unused)) == (texts[20], set(texts[21:]))


def test_e1_6_deal_moves_to_the_left() -> None:
    env = raw_euchre_env(episode="game")
    env.reset(seed=1, options={"dealer": 3})
    for _ in range(8):
        env.step(env.action_id("pass"))
    assert (env.snapshot().dealer, env.snapshot().hand_index, env.snapshot().score) == (0, 1, (0, 0))


# --- E2 ---------------------------------------------------------------------------------------------------------------


def test_e2_1_dealer_names_any_suit_unseen_when_the_benny_is_up() -> None:
    hand = Hand(up_card="BN")
    assert (hand.now.phase, hand.now.seat) == ("blind", 3)
    assert hand.legal == {"name_C", "name_D", "name_H", "name_S"}
    piece = hand.tables.layout.segments["own_hand"].slice
    assert not hand.tables.observe(seats=[3])[0][piece].any()
    assert hand.tables.observe(seats=[0])[0][piece].sum() == 5
    hand.say("name_S")
    assert hand.tables.observe(seats=[3])[0][piece].sum() == 6
    assert (hand.now.phase, hand.now.seat, hand.now.maker, hand.now.calls) == ("discard", 3, 3, ())
    assert hand.legal == {*HANDS[3].split(), "BN"}


def test_e2_2_first_acceptance_makes_the_up_cards_suit_trumps() -> None:
    hand = Hand()
    assert (hand.now.phase, hand.now.seat, hand.legal) == ("bid1", 0, {"pass", "name_H"})
    hand.say("pass", "pass")
    assert (hand.now.seat, hand.legal) == (2, {"pass", "name_H"})
    hand.say("name_H")
    now = hand.now
    assert (now.trump_suit, now.maker, now.taker, now.phase, now.seat) == ("H", 2, 3, "discard", 3)
    assert now.calls == ((0, "pass"), (1, "pass"), (2, "name_H"))


def test_e2_3_dealers_partner_turns_it_down_and_plays_alone() -> None:
    hand = Hand().say("pass")
    assert hand.legal == {"pass", "turn_down"}
    hand.say("turn_down")
    now = hand.now
    assert (now.trump_suit, now.maker, now.taker, now.alone, now.out) == ("H", 1, -1, (1,), (3,))
    assert (now.phase, now.seat) == ("alone", 0)
    assert [len(cards) for cards in now.hands] == [5, 5, 5, 5]


def test_e2_3_options_for_the_dealers_partner() -> None:
    takes = Hand(turn_down_card_to_partner=True).say("pass", "turn_down")
    assert (takes.now.phase, takes.now.seat, takes.now.taker, takes.now.out) == ("discard", 1, 1, (3,))
    assert takes.legal == {*HANDS[1].split(), "9H"}
    takes.say("9D")
    assert (takes.now.shed, takes.now.phase, takes.now.seat) == ("9D", "alone", 0)
    orders = Hand(partner_alone_only=False).say("pass")
    assert orders.legal == {"pass", "name_H"}
    orders.say("name_H")
    assert (orders.now.maker, orders.now.taker, orders.now.alone, orders.now.seat) == (1, 3, (), 3)


def test_e2_4_dealer_takes_it_up() -> None:
    hand = Hand().say("pass", "pass", "pass")
    assert (hand.now.seat, hand.legal) == (3, {"pass", "name_H"})
    hand.say("name_H")
    assert (hand.now.maker, hand.now.taker, hand.now.phase) == (3, 3, "discard")


def test_e2_5_any_of_the_six_cards_may_be_shed_or_any_but_the_up_card() -> None:
    hand = Hand().say("name_H")
    assert hand.legal == {*HANDS[3].split(), "9H"}
    assert Hand(may_shed_upcard=False).say("name_H").legal == set(HANDS[3].split())
    assert "BN" not in Hand(up_card="BN", may_shed_upcard=False).say("name_H").legal
    hand.say("9H")
    assert (hand.now.shed, set(hand.now.hands[3])) == ("9H", set(HANDS[3].split()))
    piece = hand.tables.layout.segments["own_shed"].slice
    assert [hand.tables.observe(seats=[seat])[0][piece].sum() for seat in range(4)] == [0, 0, 0, 1]


def test_e2_6_second_round_names_another_suit_without_an_exchange() -> None:
    hand = Hand().say(*["pass"] * 4)
    assert (hand.now.phase, hand.now.seat) == ("bid2", 0)
    assert hand.legal == {"pass", "name_C", "name_D", "name_S"}
    hand.say("pass", "name_S")
    assert (hand.now.trump_suit, hand.now.maker, hand.now.taker, hand.now.alone) == ("S", 1, -1, ())
    assert (hand.now.phase, hand.now.seat) == ("alone", 0)
    lone = Hand(partner_round2_alone_only=True).say(*["pass"] * 5, "name_S")
    assert (lone.now.alone, lone.now.out) == ((1,), (3,))
    other = Hand(partner_round2_alone_only=True).say(*["pass"] * 4, "name_S")
    assert (other.now.alone, other.now.out) == ((), ())


def test_e2_7_eight_passes_throw_the_hand_in_unless_the_dealer_is_stuck() -> None:
    end = Hand().say(*["pass"] * 8).now
    assert (end.phase, end.seat, end.returns, end.trump_suit) == ("settled", -1, (0, 0, 0, 0), "")
    assert Hand(stick_the_dealer=True).say(*["pass"] * 7).legal == {"name_C", "name_D", "name_S"}


# --- E3 ---------------------------------------------------------------------------------------------------------------


def test_e3_1_everybody_is_asked_in_turn_but_those_that_are_out_or_alone() -> None:
    hand, asked = Hand().say("name_H", "JC"), []
    while hand.now.phase == "alone":
        asked.append(hand.now.seat)
        hand.say("with_partner")
    assert asked == [0, 1, 2, 3]
    assert hand.now.with_partner == (0, 1, 2, 3)
    hand = Hand().say("name_H", "JC", "alone")
    assert (hand.now.alone, hand.now.out, hand.now.seat) == ((0,), (2,), 1)
    assert hand.say("with_partner").now.seat == 3
    assert hand.say("alone").now.phase == "play"


def test_e3_1_only_the_maker_is_asked_of_the_makers_and_first() -> None:
    hand = Hand(alone_by="maker").say("pass", "pass", "name_H", "JC")
    assert hand.now.seat == 2
    assert hand.say("with_partner").now.seat == 1
    assert hand.say("with_partner").now.seat == 3
    assert hand.say("alone").now.phase == "play"
    assert hand.now.out == (1,)


def test_e3_2_partner_of_a_lone_player_neither_answers_nor_plays() -> None:
    hand = Hand().say("pass", "turn_down", "alone")
    assert (hand.now.phase, hand.now.out) == ("play", (2, 3))
    seats = []
    while hand.now.phase == "play":
        seats.append(hand.now.seat)
        hand.say(sorted(hand.legal)[0])
    assert sorted(seats) == [0] * 5 + [1] * 5
    assert [len(cards) for cards in hand.now.hands] == [0, 0, 5, 5]


def test_e3_3_defenders_are_not_asked_where_they_may_not_go_alone() -> None:
    hand = Hand(allow_lone_defender=False).say("pass", "pass", "name_H", "JC")
    assert hand.now.seat == 0
    assert hand.say("with_partner").now.seat == 2
    assert hand.say("with_partner").now.phase == "play"
    alone = Hand(allow_lone_defender=False).say("pass", "turn_down")
    assert alone.now.phase == "play"


# --- E4 ---------------------------------------------------------------------------------------------------------------


def test_e4_1_eldest_leads_any_card_or_the_next_seat_that_is_not_out() -> None:
    hand = Hand().say(*ORDERED_UP)
    assert (hand.now.seat, hand.legal) == (0, set(HANDS[0].split()))
    other = Hand().say("pass", "pass", "name_H", "JC", "with_partner", "with_partner", "alone", "alone")
    assert (other.now.seat, other.now.leader, other.now.out) == (2, 2, (0, 1))


def test_e4_2_suit_led_is_followed_and_nothing_else_is_asked() -> None:
    hand = Hand().say(*ORDERED_UP, "AS")
    assert hand.legal == {"QS", "TS"}
    hand.say("QS", "KS")
    assert hand.legal == {"JS"}
    hand = Hand().say(*ORDERED_UP, "JD")  # the left bower is a heart
    assert hand.legal == {"KH"}
    hand.say("KH")
    assert hand.legal == set(HANDS[2].split())


def test_e4_3_highest_trump_or_highest_of_the_suit_led_wins_and_leads() -> None:
    hand = Hand().say(*ORDERED_UP, "9C", "KC", "AC", "9H")
    assert (hand.now.seat, hand.now.leader, hand.now.tricks_won, hand.now.trick) == (3, 3, (0, 0, 0, 1), ())
    hand = Hand().say(*ORDERED_UP, "JH", "KH", "AD", "9H")
    assert hand.now.seat == 0
    assert sum(hand.play_out().now.tricks) == 5


# --- E5 ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tricks", "maker_alone", "defender_alone", "points"),
    [
        (5, False, False, 2), (5, True, False, 4), (5, False, True, 2), (5, True, True, 4),
        (4, False, False, 1), (3, True, False, 1), (3, False, True, 1), (4, True, True, 1),
        (2, False, False, -2), (0, True, False, -2), (2, False, True, -4), (1, True, True, -4),
    ],
)  # fmt: skip
def test_e5_1_points_of_a_hand(tricks: int, maker_alone: bool, defender_alone: bool, points: int) -> None:
    assert maker_points(tricks, maker_alone, defender_alone, False) == points


@pytest.mark.parametrize(
    ("tricks", "maker_alone", "defender_alone", "points"),
    [
        (5, False, False, 2), (5, True, False, 4), (3, False, False, 1), (4, True, False, 2), (3, True, True, 2),
        (3, False, True, 1), (2, False, False, -2), (2, True, False, -4), (2, False, True, -4), (2, True, True, -4),
    ],
)  # fmt: skip
def test_e5_2_everything_doubles_once(tricks: int, maker_alone: bool, defender_alone: bool, points: int) -> None:
    assert maker_points(tricks, maker_alone, defender_alone, True) == points


def test_e5_3_returns_are_own_points_less_the_others() -> None:
    end = Hand().say(*ORDERED_UP).play_out().now
    assert end.returns == tuple((end.points[0] - end.points[1]) * sign for sign in (1, -1, 1, -1))
    assert end.score == end.points


def test_e5_4_game_ends_at_the_target() -> None:
    env = raw_euchre_env(rules=EuchreRules(target=1), episode="game")
    env.reset(seed=1, options={"dealer": 3})
    env.step(env.action_id("pass"))
    while not env.terminations["player_0"]:
        env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[-1]))
    assert max(env.snapshot().score) >= 1
    with pytest.raises(ValueError, match="from 0 to 0"):
        env.reset(options={"score": (1, 0)})


# --- E6 ---------------------------------------------------------------------------------------------------------------


def test_e6_1_refusal_names_table_seat_phase_and_what_is_legal() -> None:
    hand = Hand().say(*ORDERED_UP, "AS")
    with pytest.raises(IllegalActionError) as refused:
        hand.say("KC")
    words = "table 0, seat 1, phase play: action 4 (KC) is not legal; legal: TS, QS"
    assert str(refused.value) == words
    with pytest.raises(IllegalActionError, match="is settled and takes no action"):
        raise EuchreTables(EuchreRules(), 1).illegal_action(0, 3)


def test_e6_3_relative_ids_count_from_trumps_and_the_same_colour_is_last() -> None:
    expected = {"C": "CDHS", "D": "DCSH", "H": "HCSD", "S": "SDHC"}
    for reference, order in expected.items():
        for place, letter in enumerate(order):
            card = card_id("J" + letter)
            moved = relative_card(card, "CDHS".index(reference))
            assert moved == 6 * place + 2
            assert real_card(moved, "CDHS".index(reference)) == card
    hand = Hand(card_ids="relative")
    assert action_id(hand.rules, hand.tables.records[0], "name_H") == 26
    assert action_id(hand.rules, hand.tables.records[0], "JD") == 20
    assert action_text(hand.rules, hand.tables.records[0], 2) == "JH"
    assert hand.legal == {"pass", "name_H"}


def test_e6_4_no_hand_is_longer_than_stated() -> None:
    assert EuchreRules().max_decisions == 32
    assert EuchreRules.preset("openspiel").max_decisions == 29
    mask = unpack_actions(Hand().tables.legal_packed(), EuchreRules.num_actions)
    assert mask.shape == (1, 33)


# --- the rules value and the page -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"target": 0}, "target is 0; it must be from 1 to 21"),
        ({"target": True}, "target is True"),
        ({"benny": 1}, r"benny is 1 \(int\); it must be True or False"),
        ({"alone_by": "makers"}, "did you mean 'maker'"),
        ({"card_ids": "real"}, "choose 'printed', 'relative'"),
        ({"turn_down_card_to_partner": True, "partner_alone_only": False}, "needs partner_alone_only"),
    ],
)
def test_fields_that_make_no_game_are_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(RulesError, match=words):
        EuchreRules(**fields)


def test_presets_fingerprints_and_plain_form() -> None:
    with pytest.raises(RulesError, match="did you mean 'cornish'"):
        EuchreRules.preset("cornisch")
    with pytest.raises(RulesError, match="no field 'targets'"):
        EuchreRules.preset("cornish", targets=3)
    rules = EuchreRules.preset("openspiel", target=15)
    assert EuchreRules.from_plain(dataclasses.asdict(rules), rules.fingerprint) == rules
    with pytest.raises(RulesError, match="mean something else"):
        EuchreRules.from_plain(dataclasses.asdict(rules), EuchreRules().fingerprint)
    others = [EuchreRules(**{field.name: not field.default}) for field in dataclasses.fields(EuchreRules)
              if field.default is False and field.name != "turn_down_card_to_partner"]  # fmt: skip
    assert len({one.fingerprint for one in [EuchreRules(), rules, *others]}) == len(others) + 2


def test_every_numbered_rule_is_named_in_the_code_and_in_a_test() -> None:
    numbers = set(re.findall(r"^- \*\*(E\d\.\d) ", PAGE, re.M))
    assert len(numbers) == 27
    source = " ".join(path.read_text(encoding="utf-8") for path in (ROOT / "bourre_env" / "euchre").glob("*.py"))
    cited = set(re.findall(r"\b(E\d\.\d)\b", source))
    for section, first, last in re.findall(r"\bE(\d)\.(\d) to E\1\.(\d)\b", source):
        cited |= {f"E{section}.{rule}" for rule in range(int(first), int(last) + 1)}
    tests = " ".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_euchre_*.py"))
    tested = {f"E{section}.{rule}" for section, rule in re.findall(r"def test_e(\d)_(\d)_", tests)}
    assert numbers - cited == set()
    assert numbers - tested == set()


def test_page_lists_the_presets_and_the_defaults() -> None:
    for name, changes in EUCHRE_PRESETS.items():
        listed = ", ".join(f"{field} = {json.dumps(value)}" for field, value in changes.items()) or "the defaults"
        assert f"| `{name}` | {listed} |" in PAGE
    for field in dataclasses.fields(EuchreRules):
        assert f"`{field.name} = {json.dumps(field.default)}`" in PAGE
