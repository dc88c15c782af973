"""Rules 1 to 3, 7 and 8 of RULES.md, one by one. Sections 4 to 6 are in `test_rules_play.py`.

Most tests deal hand-made hands to four seats with seat 3 dealing, so that seat 0 speaks first and the last card named
for seat 3 is the turn-up.
"""

import random

import numpy as np
import pytest
from positions import OneTable, card, cards, deck_dealing
from random_play import actions_in, random_action, random_deck
from reference_shuffle import deck_of_deal, mix, reshuffled, shuffled

from bourre_env import ChipsError, DeckError, IllegalActionError, Rules, RulesError, Tables, shuffled_decks
from bourre_env.bourre.declaring import most_discards
from bourre_env.bourre.observation import OWN_HAND, TURN_UP
from bourre_env.cards import ALL_CARDS, single, to_relative
from bourre_env.deck import GOLDEN, mix_array
from bourre_env.env import raw_env

FOUR_HANDS = ["2H 3H 4H 5H 6H", "2D 3D 4D 5D 6D", "7D 8D 9D TD JD", "7H 8H 9H TH 7S"]
STOCK = "AS KS QS JS TS 9S"


def dealt(hands: list[str] = FOUR_HANDS, **changes: object) -> OneTable:
    """Four seats, seat 3 dealing, a known stock; `changes` are fields of the rules."""
    return OneTable(hands, dealer=3, next_cards=STOCK, rules=Rules.preset("pagat", **changes))


# --- 1 table, pack and pot --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", range(2, 9))
def test_1_1_seats_speak_clockwise_from_eldest_to_dealer(num_players: int) -> None:
    tables = Tables(Rules.preset("pagat", num_players=num_players), 1)
    tables.deal(shuffled_decks(1, [0]), 1)
    spoken = []
    for _ in range(num_players):
        spoken.append(int(tables.to_act[0]))
        tables.step(np.array([52]))
    assert spoken == [(2 + step) % num_players for step in range(num_players)]


@pytest.mark.parametrize("num_players", [1, 9])
def test_1_1_no_other_table_sizes(num_players: int) -> None:
    with pytest.raises(RulesError, match="num_players"):
        Rules(num_players=num_players)


def test_1_2_pack_has_each_of_52_cards_once() -> None:
    assert Rules().pack == tuple(range(52))
    doubled = shuffled_decks(1, [0])
    doubled[0, 0] = doubled[0, 1]
    with pytest.raises(DeckError):
        Tables(Rules(), 1).deal(doubled, 0)


def test_1_2_shorter_pack_keeps_the_high_ranks() -> None:
    rules = Rules(num_players=2, ranks="TJQKA", suits="CDH")
    assert rules.pack == tuple(cards("TC JC QC KC AC TD JD QD KD AD TH JH QH KH AH"))
    assert Tables(rules, 1).num_actions == 15 + 32 + 1


def test_1_3_every_seat_but_the_exempt_antes() -> None:
    table = OneTable(FOUR_HANDS, dealer=3, rules=Rules.preset("pagat", ante=3), exempt=[False, True, False, False])
    assert table.now.chips == (-3, 0, -3, -3)
    assert table.now.exempt == (False, True, False, False)


def test_1_4_pot_is_the_carry_and_the_antes() -> None:
    table = OneTable(FOUR_HANDS, dealer=3, carry=11)
    assert (table.now.pot, table.now.carry) == (15, 11)


@pytest.mark.parametrize("preset", ["pagat", "pagat_limit"])
@pytest.mark.parametrize("num_players", [2, 5, 8])
def test_1_5_chips_add_up_after_every_action(preset: str, num_players: int) -> None:
    rng = random.Random(num_players)
    tables = Tables(Rules.preset(preset, num_players=num_players), 100)
    carry = np.arange(100)
    tables.deal(shuffled_decks(3, np.arange(100)), 0, carry=carry)
    while not tables.settled.all():
        in_pot = np.where(tables.settled, tables.carry, tables.pot)
        assert (tables.returns.sum(axis=1) + in_pot == carry).all()
        legal = [low | high << 64 for low, high in tables.legal_packed().tolist()]
        tables.step([random_action(actions_in(bits), 84, rng) if bits else 0 for bits in legal])
    assert (tables.returns.sum(axis=1) + tables.carry == carry).all()
    assert (tables.pot == 0).all()


def test_1_5_pot_too_large_to_count_is_refused() -> None:
    with pytest.raises(ChipsError, match=r"rule 1\.5"):
        OneTable(FOUR_HANDS, dealer=3, carry=2**31 - 1)


def test_1_6_office_of_dealer_moves_one_seat_to_the_left() -> None:
    table = raw_env(num_players=3, num_deals=4)
    table.reset(seed=1, options={"dealer": 1})
    dealers = []
    while table.snapshot().phase != "settled":
        dealers.append((table.snapshot().deal_index, table.snapshot().dealer))
        table.step(84)  # everybody passes until the dealer collects
    assert sorted(set(dealers)) == [(0, 1), (1, 2), (2, 0), (3, 1)]


# --- 2 the deal -------------------------------------------------------------------------------------------------------


def test_2_1_cards_go_round_one_at_a_time() -> None:
    deck = random_deck(Rules(), random.Random(4))
    tables = Tables(Rules.preset("pagat", num_players=3), 1)
    tables.deal([deck], 1)
    hands = tables.snapshot(0).hands
    assert [set(cards(hands[seat])) for seat in (2, 0, 1)] == [set(deck[:15][start::3]) for start in range(3)]


def test_2_1_first_hand_is_remembered_after_the_draw() -> None:
    table = dealt()
    first_hands = table.tables.records[0].hands.tolist()
    table.act("stay 2H 3H", "pass", "stay 7D", "stay 7S")
    assert table.tables.records[0].hands.tolist() != first_hands
    assert table.tables.records[0].dealt.tolist() == first_hands


def test_2_1_deal_begins_at_an_empty_table() -> None:
    rules, rng = Rules.preset("pagat", num_players=8), random.Random(9)
    used, fresh = Tables(rules, 5), Tables(rules, 5)
    used.deal(shuffled_decks(1, range(5)), 0)
    while not used.settled.all():
        legal = [low | high << 64 for low, high in used.legal_packed().tolist()]
        used.step([random_action(actions_in(bits), 84, rng) if bits else 0 for bits in legal])
    for tables in (used, fresh):
        tables.deal(shuffled_decks(2, range(5)), 3)
    assert used.records.tobytes() == fresh.records.tobytes()


@pytest.mark.parametrize("changes", [{}, {"recycle": "passed_first"}, {"turn_up_owner": "table"}])
def test_2_1_nothing_of_the_last_deal_is_left(changes: dict[str, str]) -> None:
    """A deal at a table that has been played at, to the end or to a forfeit, is the deal at a new one, to the byte."""
    rules = Rules.preset("pagat", num_players=8, **changes)
    used, rng = Tables(rules, 1), random.Random(4)
    for seed in range(4):
        decks = shuffled_decks(seed, [0])
        new = Tables(rules, 1)
        for tables in (used, new):
            tables.deal(decks, 0)
        assert used.records.tobytes() == new.records.tobytes()
        used.step([84])  # the eldest passes, so that both piles have been used
        while not used.settled.all() and not (seed == 2 and rng.random() < 0.1):
            used.step([rng.choice(np.flatnonzero(used.legal_action_mask()[0]))])
        if not used.settled.all():
            used.forfeit([0])


def test_2_2_dealers_last_card_is_turned_up_and_names_trumps() -> None:
    now = dealt().now
    assert (now.turn_up, now.trump_suit) == ("7S", "S")
    assert "7S" in now.hands[3]


def test_2_2_everyone_sees_the_turn_up() -> None:
    table = dealt()
    for seat in range(4):
        word = table.tables.observe_packed(seats=[seat])[0, TURN_UP]
        assert word & ALL_CARDS == 1 << relative("7S")[0]


def test_2_2_turn_up_that_belongs_to_nobody() -> None:
    table = dealt(turn_up_owner="table", ace_up_dealer_must_stay=False)
    assert (table.now.turn_up, table.now.trump_suit) == ("AS", "S")
    assert all("AS" not in hand for hand in table.now.hands)
    table.act("stay 2H")
    assert table.hand(0) == {"3H", "4H", "5H", "6H", "KS"}


def test_2_3_rest_of_the_pack_in_order_is_the_stock() -> None:
    table = dealt().act("stay 2H 3H", "stay 2D", "stay 7D 8D TD")
    assert table.hand(0) == {"4H", "5H", "6H", "AS", "KS"}
    assert table.hand(1) == {"3D", "4D", "5D", "6D", "QS"}
    assert table.hand(2) == {"9D", "JD", "JS", "TS", "9S"}


# --- 3 declaring and drawing ------------------------------------------------------------------------------------------


def test_3_1_seat_is_served_before_the_next_one_speaks() -> None:
    table = dealt().act("stay 2H")
    assert (table.now.phase, table.now.seat) == ("declare", 1)
    assert table.hand(0) == {"3H", "4H", "5H", "6H", "AS"}
    table.act("pass", "stay", "stay")
    assert table.now.phase == "play"


def test_3_1_two_rounds_declare_first_then_draw() -> None:
    table = dealt(declare_mode="two_rounds")
    assert table.legal() == {"pass", "stay"}
    table.act("stay", "pass", "stay", "stay")
    assert (table.now.phase, table.now.seat) == ("draw", 0)
    assert len(table.legal()) == 32
    table.act("stay 2H")
    assert (table.now.phase, table.now.seat) == ("draw", 2)
    table.act("stay", "stay 7H")
    assert (table.now.phase, table.now.seat) == ("play", 0)
    assert table.hand(3) == {"KS", "8H", "9H", "TH", "7S"}


def test_3_2_seat_that_passes_gives_up_its_hand_and_owes_nothing_more() -> None:
    table = dealt().act("stay", "pass")
    assert table.hand(1) == set()
    assert (table.now.passed, table.now.stayed) == ((False, True, False, False), (True, False, False, False))
    table.act("stay", "stay", "6H")
    assert table.now.seat == 2
    while table.now.phase != "settled":
        table.act(min(table.legal()))
    assert table.now.chips[1] == -1


def test_3_3_none_to_five_cards_of_the_seats_choice() -> None:
    legal = dealt().legal()
    assert len(legal) == 33
    assert {"pass", "stay", "stay 4H", "stay 2H 6H", "stay 2H 3H 4H 5H 6H"} <= legal


def test_3_3_fewer_discards_by_house_rule() -> None:
    assert len(dealt(max_discards=2).legal()) == 1 + 1 + 5 + 10
    by_table_size = (0, 1, 2, 3, 4, 5, 5)
    for num_players, ways in [(2, 1), (3, 6), (4, 16)]:
        tables = Tables(Rules(num_players=num_players, max_discards=by_table_size), 1)
        tables.deal(shuffled_decks(1, [0]), 0)
        assert tables.legal_action_mask()[0, 52:84].sum() == ways


@pytest.mark.parametrize(("turn_up", "may_pass"), [("AH", False), ("KH", True), ("2H", True)])
def test_3_4_dealer_who_turned_an_ace_must_stay(turn_up: str, may_pass: bool) -> None:
    table = OneTable(["", "", "", turn_up], dealer=3)
    assert "pass" in table.legal()
    table.act("stay", "pass", "pass")
    assert ("pass" in table.legal()) == may_pass
    assert "stay" in table.legal()


def test_3_4_ace_up_may_be_passed_by_house_rule() -> None:
    rules = Rules.preset("pagat", ace_up_dealer_must_stay=False)
    assert "pass" in OneTable(["", "", "", "AH"], dealer=3, rules=rules).act("stay", "pass", "pass").legal()


def test_3_5_dealer_always_stays_by_house_rule() -> None:
    table = dealt(dealer_always_stays=True)
    assert "pass" in table.legal()
    assert "pass" not in table.act("stay", "pass", "pass").legal()


def test_3_6_turn_up_thrown_away_is_out_of_play_and_still_trumps() -> None:
    table = dealt().act("pass", "stay", "pass", "stay 7S TH")
    assert table.hand(3) == {"7H", "8H", "9H", "AS", "KS"}
    assert (table.now.trump_suit, table.now.turn_up) == ("S", "7S")
    table.act("6D", "AS")
    assert table.now.tricks_won == (0, 0, 0, 1)


def test_3_6_turn_up_may_be_kept_back_by_house_rule() -> None:
    table = dealt(dealer_may_discard_turn_up=False).act("pass", "stay", "pass")
    legal = table.legal()
    assert len(legal) == 1 + 16
    assert all("7S" not in words for words in legal)


def test_3_7_dealer_collects_without_a_decision_when_all_others_pass() -> None:
    table = OneTable(FOUR_HANDS, dealer=3, carry=5, exempt=[True, False, False, False]).act("pass", "pass", "pass")
    assert (table.now.phase, table.now.seat) == ("settled", -1)
    assert table.now.chips == (0, -1, -1, 7)
    assert (table.now.carry, any(table.now.exempt)) == (0, False)


def test_3_7_pot_stays_by_house_rule_when_the_dealer_passes_too() -> None:
    table = dealt(all_pass="pot_stays").act("pass", "pass", "pass")
    assert {"pass", "stay"} <= table.legal()
    table.act("pass")
    assert (table.now.phase, table.now.carry, table.now.chips) == ("settled", 4, (-1, -1, -1, -1))
    assert not any(table.now.exempt)


def test_3_7_dealer_who_may_not_pass_collects_even_where_the_pot_could_stay() -> None:
    table = OneTable(["", "", "", "AH"], dealer=3, rules=Rules.preset("pagat", all_pass="pot_stays"))
    table.act("pass", "pass", "pass")
    assert (table.now.phase, table.now.chips) == ("settled", (-1, -1, -1, 3))


def test_3_8_lone_player_takes_the_pot_and_nobody_is_bourre() -> None:
    table = dealt().act("pass", "stay 2D", "pass", "pass")
    assert (table.now.phase, table.now.chips) == ("settled", (-1, 3, -1, -1))
    assert (table.now.carry, any(table.now.exempt)) == (0, False)
    assert table.now.tricks_won == (0, 0, 0, 0)


def test_3_8_lone_player_of_two_rounds_does_not_draw() -> None:
    table = dealt(declare_mode="two_rounds").act("pass", "stay", "pass", "pass")
    assert (table.now.phase, table.now.chips) == ("settled", (-1, 3, -1, -1))


def test_3_9_fees_join_the_pot_of_this_deal() -> None:
    table = dealt(play_fee=2, draw_fee=3).act("stay 2H 3H", "stay", "pass")
    assert table.now.chips == (-6, -3, -1, -1)
    assert table.now.pot == 11
    by_card = dealt(draw_fee=3, draw_fee_per="card").act("stay 2H 3H")
    assert by_card.now.chips == (-7, -1, -1, -1)


def test_3_9_dealer_who_collects_pays_no_fee() -> None:
    assert dealt(play_fee=2).act("pass", "pass", "pass").now.chips == (-1, -1, -1, 3)


# --- 3.10 to 3.12 -----------------------------------------------------------------------------------------------------


def relative(texts: str) -> list[int]:
    """Relative ids of cards with spades trumps."""
    return [int(to_relative(one, 3)) for one in cards(texts)]


def eight_hands(recycle: str = "discards_and_passed") -> OneTable:
    """Eight seats, seat 7 dealing: twelve cards in the stock, and every seat's hand in one suit where possible."""
    hands = ["2C 3C 4C 5C 6C", "2D 3D 4D 5D 6D", "2H 3H 4H 5H 6H", "2S 3S 4S 5S 6S"]
    hands += ["7C 8C 9C TC JC", "7D 8D 9D TD JD", "7H 8H 9H TH JH", "7S 8S 9S TS JS"]
    rules = Rules.preset("pagat", num_players=8, recycle=recycle)
    return OneTable(hands, dealer=7, next_cards="QC QD QH QS KC KD KH KS AC AD AH AS", rules=rules)


def test_3_10_pile_is_dealt_again_without_the_discards_of_the_seat_being_served() -> None:
    table = eight_hands().act("pass", "stay 2D 3D 4D 5D 6D", "stay 2H 3H 4H 5H 6H")
    table.act("stay 2S 3S 4S 5S 6S")
    assert {"AH", "AS"} <= table.hand(3)
    from_the_pile = table.hand(3) - {"AH", "AS"}
    assert len(from_the_pile) == 3
    assert {text[1] for text in from_the_pile} <= {"C", "D", "H"}
    assert table.now.num_discards[3] == 5


def test_3_10_used_up_stock_is_refilled_only_when_a_card_is_needed() -> None:
    table = eight_hands().act("stay 2C 3C 4C 5C 6C", "stay 2D 3D 4D 5D 6D", "stay 2H 3H", "stay")
    assert int(table.tables.records[0].num_reshuffles) == 0
    table.act("stay 7C")
    assert int(table.tables.records[0].num_reshuffles) == 1


def test_3_10_passed_hands_are_dealt_again_first_by_house_rule() -> None:
    table = eight_hands("passed_first").act("pass", "stay 2D 3D 4D 5D 6D", "stay 2H 3H 4H 5H 6H", "pass")
    table.act("stay 7C 8C 9C TC JC", "stay 7D 8D 9D TD JD", "stay 7H")
    again = {text for seat in (4, 5) for text in table.now.hands[seat]} - {"AH", "AS"}
    assert again <= {"2C", "3C", "4C", "5C", "6C", "2S", "3S", "4S", "5S", "6S"}
    assert table.hand(6) & {"2C", "3C", "4C", "5C", "6C", "2S", "3S", "4S", "5S", "6S"}


def test_3_10_without_recycling_nobody_draws_more_than_the_stock() -> None:
    table = eight_hands("none").act("stay 2C 3C 4C 5C 6C", "stay 2D 3D 4D 5D 6D")
    assert max(len(words.split()) - 1 for words in table.legal()) == 2
    assert table.act("stay 2H 3H").legal() == {"pass", "stay"}


def test_3_10_both_piles_count_as_cards_that_can_be_served() -> None:
    table = eight_hands("passed_first")
    record = table.tables.records[0]
    record.stock_next = record.stock_end
    record.pile, record.passed_pile = single(0), single(1)
    assert most_discards(record, table.rules.record()[0]) == 2


def test_3_11_order_after_a_reshuffle_follows_from_the_pack() -> None:
    table = eight_hands().act("pass", "stay 2D 3D 4D 5D 6D", "stay 2H 3H 4H 5H 6H", "stay 2S 3S 4S 5S 6S")
    pack = table.tables.records[0].deck.tolist()  # in relative ids, a renaming of the suits that 8.4 does not mind
    pile = relative("2C 3C 4C 5C 6C 2D 3D 4D 5D 6D 2H 3H 4H 5H 6H")
    served = reshuffled(pile, pack, 1)[:3]
    assert set(relative(" ".join(table.hand(3)))) == {*relative("AH AS"), *served}


def test_3_12_blind_declaring_shows_the_hand_only_after_the_last_declaration() -> None:
    table = dealt(declare_mode="two_rounds", blind_declaring=True)
    for words in ("stay", "pass", "stay", "stay"):
        assert table.now.phase == "declare"
        assert table.tables.observe_packed()[0, OWN_HAND] & ALL_CARDS == 0
        table.act(words)
    assert table.now.phase == "draw"
    assert int(table.tables.observe_packed()[0, OWN_HAND] & ALL_CARDS).bit_count() == 5


# --- 7 misplays -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", [-1, 0, 51, 85, 127, 128, 2**40])
def test_7_1_illegal_action_is_refused_and_changes_nothing(action: int) -> None:
    tables = Tables(Rules.preset("pagat"), 3)
    tables.deal(shuffled_decks(2, range(3)), [0, 1, 2])
    before = tables.records.tobytes()
    with pytest.raises(IllegalActionError, match="table 2"):
        tables.step([52, 84, action])
    assert tables.records.tobytes() == before


def test_7_1_refusal_says_what_was_legal() -> None:
    table = OneTable(["QD 2C", "AD 6D 9H", "", "7S"], dealer=3).act("stay", "stay", "stay", "stay", "QD")
    with pytest.raises(IllegalActionError, match=r"seat 1, phase play.*6D.*legal: AD"):
        table.act("6D")


# --- 8 shuffling ------------------------------------------------------------------------------------------------------

WORDS = [0, 1, 2**32, 2**63 + 12345, 2**64 - 1]


def test_8_1_mixing() -> None:
    assert mix_array(np.array(WORDS, np.uint64)).tolist() == [mix(word) for word in WORDS]
    assert int(GOLDEN) == 0x9E3779B97F4A7C15


@pytest.mark.parametrize("seed", WORDS)
def test_8_2_and_8_3_pack_of_a_deal(seed: int) -> None:
    ids = [0, 1, 77, 2**40]
    assert shuffled_decks(seed, ids).tolist() == [deck_of_deal(seed, deal_id) for deal_id in ids]
    short = Rules(num_players=2, ranks="TJQKA", suits="CDH").pack
    assert shuffled_decks(seed, ids, pack=short).tolist() == [deck_of_deal(seed, deal_id, short) for deal_id in ids]


def test_8_2_every_card_comes_first_equally_often() -> None:
    decks = shuffled_decks(11, np.arange(52_000))
    first, last = np.bincount(decks[:, 0], minlength=52), np.bincount(decks[:, -1], minlength=52)
    for counts in (first, last):
        assert (
            (counts - 1000) ** 2 / 1000
        ).sum() < 100  # chi-square with 51 degrees of freedom: one in 20,000 is larger
    assert shuffled(range(52), 5) != list(range(52))


def test_8_4_renaming_suits_renames_the_reshuffle() -> None:
    rules = Rules.preset("pagat", num_players=8)
    deck = random_deck(rules, random.Random(6))
    renamed = [13 * ((one // 13 + 1) % 4) + one % 13 for one in deck]
    tables = Tables(rules, 2)
    tables.deal([deck, renamed], 7)
    for _ in range(8):
        tables.step(np.array([83, 83]))
    for held, other in zip(tables.snapshot(0).hands, tables.snapshot(1).hands, strict=True):
        assert {13 * ((one // 13 + 1) % 4) + one % 13 for one in cards(held)} == set(cards(other))
    assert (tables.records["num_reshuffles"] > 0).all()


def test_deck_dealing_deals_the_wanted_hands() -> None:
    deck = deck_dealing(FOUR_HANDS, dealer=3, next_cards=STOCK)
    assert sorted(deck) == list(range(52))
    assert (deck[0], deck[19], deck[20]) == (card("2H"), card("7S"), card("AS"))
