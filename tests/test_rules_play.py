"""Rules 4 to 6 of RULES.md, one by one: play, cinch, settlement.

Hand-made hands at four seats with seat 3 dealing, so that seat 0 speaks first and the last card named for seat 3 is the
turn-up. Unless a test says otherwise everybody stays, nobody draws and spades are trumps.
"""

import pytest
from positions import OneTable

from bourre_env import Rules
from bourre_env.bourre.snapshot import real_cards

ALL_STAY = ("stay",) * 4


def in_play(hands: list[str], *plays: str, **changes: object) -> OneTable:
    """Everybody has stayed and these cards have been played; `changes` are fields of the rules."""
    return OneTable(hands, dealer=3, rules=Rules.preset("pagat", **changes)).act(*ALL_STAY, *plays)


# --- 4 play -----------------------------------------------------------------------------------------------------------


def test_4_1_first_active_seat_on_the_dealers_left_leads() -> None:
    table = OneTable(["", "", "", "7S"], dealer=3).act("pass", "stay", "pass", "stay")
    assert (table.now.phase, table.now.seat) == ("play", 1)
    everybody = OneTable(["", "7S", "", ""], dealer=1).act(*ALL_STAY)
    assert everybody.now.seat == 2


def test_4_1_winner_leads_and_every_trick_is_played() -> None:
    table = in_play(["AS KS QS JS TS", "2H 3H 4H 5H 6H", "2D 3D 4D 5D 6D", "2C 3C 4C 5C 6S"])
    for number, trump in enumerate(["AS", "KS", "QS", "JS", "TS"]):
        assert (table.now.seat, table.now.tricks_won[0], table.now.trick) == (0, number, ())
        table.act(trump, f"{number + 2}H", f"{number + 2}D", "6S" if number == 0 else f"{number + 1}C")
    assert table.now.phase == "settled"
    assert table.now.tricks_won == (5, 0, 0, 0)


def test_4_1_cards_lie_before_the_seats_that_played_them() -> None:
    table = in_play(["AS KS QS JS TS", "2H 3H 4H 5H 6H", "2D 3D 4D 5D 6D", "2C 3C 4C 5C 6S"], "AS", "2H", "2D")
    assert table.now.trick == ((0, "AS"), (1, "2H"), (2, "2D"))
    assert table.act("6S", "KS", "5H").now.trick == ((0, "KS"), (1, "5H"))
    table.act("3D")
    record = table.tables.records[0]
    played = [real_cards(table.rules, record, record.played[seat]) for seat in range(4)]
    assert played == [("KS", "AS"), ("2H", "5H"), ("2D", "3D"), ("6S",)]
    assert real_cards(table.rules, record, record.tricks[0]) == ("2D", "2H", "6S", "AS")


def test_4_1_seats_that_passed_are_skipped() -> None:
    table = OneTable(["9D", "AD", "TD 4D 9S", "QD 7S"], dealer=3).act("stay", "pass", "stay", "stay", "9D")
    assert table.now.seat == 2
    assert table.legal() == {"TD"}


def test_4_2_seat_with_the_suit_led_must_head_the_trick() -> None:
    assert in_play(["QD", "AD 6D 9S 4S 2C", "", "7S"], "QD").legal() == {"AD"}
    assert in_play(["QD", "JD 6D 9S 4S 2C", "", "7S"], "QD").legal() == {"JD", "6D"}


def test_4_2_any_heading_card_will_do() -> None:
    assert in_play(["9D", "AD KD TD 4D 2C", "", "7S"], "9D").legal() == {"AD", "KD", "TD"}


def test_4_2_card_to_head_is_the_best_so_far() -> None:
    assert in_play(["9D", "KD", "AD TD 2D 9S 2C", "7S"], "9D", "KD").legal() == {"AD"}
    assert in_play(["KD", "5D 2D 3D 4D 6D", "AD QD", "7S"], "KD", "5D").legal() == {"AD"}
    plain_discard = in_play(["9D", "2H 3H 4H 5H KC", "TD 8D", "7S"], "9D", "KC")
    assert plain_discard.legal() == {"TD"}


def test_4_2_trump_led_must_be_headed_too() -> None:
    assert in_play(["9S", "KS 3S AC KC 2H", "", "7S"], "9S").legal() == {"KS"}
    assert in_play(["KS", "QS 3S AC KC 2H", "", "7S"], "KS").legal() == {"QS", "3S"}


def test_4_2_ruffed_trick_is_followed_with_any_card_of_the_suit_led() -> None:
    hands = ["9D", "2S 2H 3H 4H 5H", "AD KD 4D QS 2C", "7S"]
    assert in_play(hands, "9D", "2S").legal() == {"AD", "KD", "4D"}


def test_4_2_no_duty_to_head_by_house_rule() -> None:
    assert in_play(["QD", "AD 6D 9S 4S 2C", "", "7S"], "QD", must_beat=False).legal() == {"AD", "6D"}


def test_4_3_void_seat_must_trump() -> None:
    assert in_play(["JC", "KS 7S QD 9H 4H", "", "6S"], "JC").legal() == {"KS", "7S"}


def test_4_3_void_seat_must_overtrump() -> None:
    hands = ["9C", "TS 2D 3D 4D 5D", "KS JS 4S QD AH", "7S"]
    assert in_play(hands, "9C", "TS").legal() == {"KS", "JS"}
    assert in_play(hands, "9C", "TS", must_overtrump=False).legal() == {"KS", "JS", "4S"}
    assert in_play(hands, "9C", "TS", trump_with_highest=True).legal() == {"KS"}


def test_4_3_no_duty_to_trump_by_house_rule() -> None:
    rules = {"must_trump": False, "must_overtrump": False, "must_undertrump": False}
    hands = ["JC", "KS 7S QD 9H 4H", "", "6S"]
    assert in_play(hands, "JC", **rules).legal() == {"KS", "7S", "QD", "9H", "4H"}


def test_4_4_void_seat_that_cannot_overtrump_must_undertrump() -> None:
    hands = ["9C", "QS 2D 3D 4D 5D", "JS 4S QD AH KH", "7S"]
    assert in_play(hands, "9C", "QS").legal() == {"JS", "4S"}
    assert in_play(hands, "9C", "QS", must_undertrump=False).legal() == {"JS", "4S", "QD", "AH", "KH"}


def test_4_5_seat_with_neither_suit_nor_trump_plays_any_card() -> None:
    hands = ["JC", "AD KD 2H 4H 9H", "", "7S"]
    assert in_play(hands, "JC").legal() == {"AD", "KD", "2H", "4H", "9H"}


@pytest.mark.parametrize(
    ("hands", "plays", "winner"),
    [
        (["4D", "AH 2H 3H 5H 6H", "AC 2C 3C 4C 5C", "9D 3D 6C 7C TS"], ("4D", "AH", "AC", "9D"), 3),
        (["TD", "AH 2H 3H 5H 6H", "AC 2C 3C 4C 5C", "9D 3D 6C 7C TS"], ("TD", "AH", "AC", "3D"), 0),
        (["AD", "KD", "2S 2C 3C 4C 5C", "QD TS"], ("AD", "KD", "2S", "QD"), 2),
        (["9D", "8S 2C 3C 4C 5C", "JS 2H 3H 4H 5H", "6C 7C 8C 9C 3S"], ("9D", "8S", "JS", "3S"), 2),
    ],
)
def test_4_6_highest_trump_else_highest_of_the_suit_led_wins(
    hands: list[str], plays: tuple[str, ...], winner: int
) -> None:
    table = in_play(hands, *plays)
    assert table.now.tricks_won == tuple(int(seat == winner) for seat in range(4))
    assert table.now.seat == winner


def test_4_7_any_card_may_be_led() -> None:
    assert in_play(["AS KS 9H 4D 2C", "", "", "7S"]).legal() == {"AS", "KS", "9H", "4D", "2C"}


HONOUR_HANDS = ["KS QS 9S 3D 2C", "2H 3H 4H 5H 6H", "4D 5D 6D 7D 8D", "7H 8H 9H TH 7S"]


def test_4_8_honour_of_trumps_must_be_led_by_house_rule() -> None:
    for lead_rule in ("top_honour", "any_honour"):
        assert in_play(HONOUR_HANDS, lead_rule=lead_rule, cinch="off").legal() == {"KS"}
    assert in_play(["JS TS 9S 3D 2C", *HONOUR_HANDS[1:]], lead_rule="top_honour", cinch="off").legal() == {
        "JS", "TS", "9S", "3D", "2C",
    }  # fmt: skip


def test_4_8_later_leads_with_an_honour() -> None:
    hands = ["AS KS 9S 3D 2C", *HONOUR_HANDS[1:]]
    first_trick = ("AS", "2H", "4D", "7S")
    assert in_play(hands, *first_trick, lead_rule="top_honour", cinch="off").legal() == {"KS"}
    hands[0] = "AS KS QS 3D 2C"
    assert in_play(hands, *first_trick, lead_rule="any_honour", cinch="off").legal() == {"KS", "QS"}


# --- 5 cinch ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "must_lead"),
    [
        ("AS KS QS 4H 3C", "AS"),
        ("KS QS JS TS 3D", "KS"),
        ("AS KS JS TS 3D", "AS"),
        ("QS JS TS 9S 8S", "QS"),
        ("AS KS JS 4H 3C", None),  # the queen can take the jack
        ("QS JS TS 9S 3D", None),  # ace and king can take two
        ("JS TS 9S 8S 6S", None),
        ("AS KS AH AD AC", None),  # plain aces can be trumped
    ],
)
def test_5_1_and_5_3_leader_certain_of_three_trumps_leads_the_highest(hand: str, must_lead: str | None) -> None:
    table = in_play([hand, "", "", "7S"])
    assert table.legal() == ({must_lead} if must_lead else set(hand.split()))


def test_5_1_trumps_that_were_played_are_no_longer_outstanding() -> None:
    hands = ["AS 2H 3H 4H 5H", "KS QS JS TS 3D", "4D 5D 6D 7D 8D", "2C 3C 4C 5C 7S"]
    table = in_play(hands, "AS", "KS", "4D", "7S", "2H")
    assert table.legal() == {"QS"}  # with ace and king still out only one of these three would be sure


def test_5_1_trumps_in_the_current_trick_are_no_longer_outstanding() -> None:
    hands = ["9D", "JS 2H 3H 4H 5H", "AS QS TS 9S 6H", "7S"]
    assert in_play(hands, "9D", "JS").legal() == {"AS"}  # king takes queen; were the jack out, it would take the ten


def test_5_1_discarded_turn_up_lies_face_up_and_threatens_nothing() -> None:
    hands = ["AS KS JS 4H 3C", "2H", "2D", "QS"]
    kept = OneTable(hands, dealer=3).act(*ALL_STAY)
    assert kept.legal() == set(hands[0].split())
    thrown = OneTable(hands, dealer=3).act("stay", "stay", "stay", "stay QS")
    assert thrown.legal() == {"AS"}


def test_5_1_best_trump_on_the_table_takes_one_of_those_below_it() -> None:
    hands = ["AS", "KS QS JS 2D 3D", "", "7S"]
    assert in_play(hands, "AS").legal() == {"KS", "QS", "JS"}
    hands[1] = "KS QS JS TS 3D"
    assert in_play(hands, "AS").legal() == {"KS"}


def test_5_1_trumps_still_out_threaten_beside_the_best_on_the_table() -> None:
    hands = ["AS", "QS JS TS 9S 3D", "", "7S"]  # ace takes queen, the king that is out takes the jack
    assert in_play(hands, "AS").legal() == {"QS", "JS", "TS", "9S"}


def test_5_1_turn_up_on_the_table_threatens_nothing_after_a_draw_either() -> None:
    rules = Rules.preset("pagat", turn_up_owner="table")
    table = OneTable(["QS JS TS 9S 3D", "2H", "", ""], dealer=3, next_cards="KS", rules=rules)
    assert table.act("stay", "stay 2H", "stay", "stay").legal() == {"QS"}  # only the ace is out: three are sure


def test_5_2_tricks_already_won_count() -> None:
    hands = ["AS KS AH 4D 2C", "2H 3D 5D 6D 7D", "3H 3C 4C 5C 6C", "4H 8D 9D TD 7S"]
    assert in_play(hands).legal() == set(hands[0].split())
    one_trick_won = in_play(hands, "AH", "2H", "3H", "4H")
    assert one_trick_won.legal() == {"AS"}
    off = in_play(hands, "AH", "2H", "3H", "4H", cinch="off")
    assert off.legal() == {"AS", "KS", "4D", "2C"}


def test_5_2_three_tricks_won_are_a_cinch() -> None:
    hands = ["AH AD AC 5S KD", "2H 2D 2C 3H 4H", "5H 5D 5C 6H 7H", "8H 8D 8C 9H 7S"]
    table = in_play(hands, "AH", "2H", "5H", "8H", "AD", "2D", "5D", "8D", "AC", "2C", "5C", "8C")
    assert table.now.tricks_won == (3, 0, 0, 0)
    assert table.legal() == {"5S"}


def test_5_3_no_cinch_duty_by_house_rule() -> None:
    assert in_play(["AS KS QS 4H 3C", "", "", "7S"], cinch="off").legal() == {"AS", "KS", "QS", "4H", "3C"}


def test_5_4_follower_with_a_cinch_trumps_with_the_highest() -> None:
    hands = ["9D", "AS KS QS 4H 3C", "", "7S"]
    assert in_play(hands, "9D").legal() == {"AS"}
    for cinch in ("lead", "off"):
        assert in_play(hands, "9D", cinch=cinch).legal() == {"AS", "KS", "QS"}


def test_5_4_highest_trump_is_due_even_if_it_cannot_win() -> None:
    assert in_play(["AS", "KS QS JS TS 3D", "", "7S"], "AS").legal() == {"KS"}


def test_5_4_highest_trump_is_due_beside_a_higher_card_of_a_plain_suit() -> None:
    assert in_play(["AS", "KS QS JS TS AD", "", "7S"], "AS").legal() == {"KS"}
    assert in_play(["AS 9D", "KS QS JS TS AH", "", "7S"], "9D", cinch="lead").legal() == {"KS", "QS", "JS", "TS"}


def test_5_4_follower_bound_to_a_plain_suit_has_no_cinch_duty() -> None:
    assert in_play(["9D", "AS KS QS 5D 3D", "", "7S"], "9D").legal() == {"5D", "3D"}


def test_5_5_last_to_play_has_no_cinch_duty() -> None:
    hands = ["2D", "9D", "", "AS KS QS 4H 7S"]
    table = OneTable(hands, dealer=3).act("pass", "stay", "pass", "stay", "9D")
    assert table.legal() == {"AS", "KS", "QS", "7S"}


def test_5_6_cinch_without_a_trump_binds_to_nothing() -> None:
    hands = ["AH AD AC KH KD", "2H 2D 2C 3H 4H", "5H 5D 5C 6H 7H", "8H 8D 8C 9H 7S"]
    table = in_play(hands, "AH", "2H", "5H", "8H", "AD", "2D", "5D", "8D", "AC", "2C", "5C", "8C")
    assert table.now.tricks_won == (3, 0, 0, 0)
    assert table.legal() == {"KH", "KD"}


# --- 6 settlement -----------------------------------------------------------------------------------------------------

# Whole deals with their plays, named after the tricks of seats 0 to 3.
DEAL_2_1_1_1 = ["AH 2D 4C 6D AS", "2H AD 2C 7D 9H", "3H 3D AC 5D TH", "4H 4D 3C KD 6S"]
PLAY_2_1_1_1 = "AH 2H 3H 4H  2D AD 3D 4D  2C AC 3C 4C  5D KD 6D 7D  6S AS 9H TH"
DEAL_2_2_1_0 = ["AH 2D 4C 8D AS", "2H AD 2C 9D 9H", "3H 3D AC 7D 7S", "4H 4D 3C 5D 6S"]
PLAY_2_2_1_0 = "AH 2H 3H 4H  2D AD 3D 4D  2C AC 3C 4C  7D 5D 8D 9D  9H 7S 6S AS"
DEAL_5_0_0_0 = ["AS KS QS JS TS", "2H 3H 4H 5H 6H", "2D 3D 4D 5D 6D", "2C 3C 4C 5C 6S"]
PLAY_5_0_0_0 = "AS 2H 2D 6S  KS 3H 3D 2C  QS 4H 4D 3C  JS 5H 5D 4C  TS 6H 6D 5C"


def settled(hands: list[str], plays: str, carry: int = 0, **changes: object) -> OneTable:
    """A deal at which everybody stays, played to its end."""
    table = OneTable(hands, dealer=3, rules=Rules.preset("pagat", **changes), carry=carry)
    table.act(*ALL_STAY, *plays.split())
    assert (table.now.phase, table.now.pot) == ("settled", 0)
    return table


def test_6_1_most_tricks_take_the_pot() -> None:
    table = settled(DEAL_2_1_1_1, PLAY_2_1_1_1, carry=6)
    assert table.now.tricks_won == (2, 1, 1, 1)
    assert table.now.chips == (9, -1, -1, -1)
    assert table.now.carry == 0
    assert not any(table.now.exempt)


def test_6_1_majority_by_house_rule() -> None:
    table = settled(DEAL_2_1_1_1, PLAY_2_1_1_1, carry=6, win_condition="majority")
    assert (table.now.chips, table.now.carry) == ((-1, -1, -1, -1), 10)
    assert table.now.exempt == (True, False, False, False)
    assert settled(DEAL_5_0_0_0, PLAY_5_0_0_0, win_condition="majority").now.chips[0] == 3


def test_6_1_majority_missed_where_ties_are_divided() -> None:
    table = settled(DEAL_2_1_1_1, PLAY_2_1_1_1, carry=6, win_condition="majority", tie_rule="divide")
    assert (table.now.chips, table.now.carry) == ((-1, -1, -1, -1), 10)
    assert table.now.exempt == (True, False, False, False)


def test_6_2_pot_stays_when_seats_tie() -> None:
    table = settled(DEAL_2_2_1_0, PLAY_2_2_1_0)
    assert table.now.tricks_won == (2, 2, 1, 0)
    assert table.now.chips == (-1, -1, -1, -5)
    assert table.now.carry == 4 + 4


def test_6_2_tie_is_divided_by_house_rule_and_odd_chips_stay() -> None:
    table = settled(DEAL_2_2_1_0, PLAY_2_2_1_0, carry=3, tie_rule="divide")
    assert table.now.chips == (2, 2, -1, -8)
    assert table.now.carry == 1 + 7
    assert table.now.exempt == (False, False, False, True)


def test_6_3_each_bourre_owes_the_whole_pot_to_the_next() -> None:
    table = settled(DEAL_5_0_0_0, PLAY_5_0_0_0, carry=6)
    assert table.now.chips == (9, -11, -11, -11)
    assert table.now.carry == 30


def test_6_3_seat_that_passed_is_no_bourre() -> None:
    table = OneTable(DEAL_5_0_0_0, dealer=3).act("stay", "pass", "pass", "stay")
    table.act("AS", "6S", "KS", "2C", "QS", "3C", "JS", "4C", "TS", "5C")
    assert table.now.chips == (3, -1, -1, -5)
    assert table.now.exempt == (False, False, False, True)


@pytest.mark.parametrize(("penalty", "chips", "owed"), [("capped", 3, 3), ("capped", 9, 4), ("fixed", 9, 9)])
def test_6_3_smaller_penalties_by_house_rule(penalty: str, chips: int, owed: int) -> None:
    table = settled(DEAL_5_0_0_0, PLAY_5_0_0_0, bourre_penalty=penalty, penalty_chips=chips)
    assert table.now.chips == (3, -1 - owed, -1 - owed, -1 - owed)


def test_6_4_winner_takes_and_bourre_pays_at_most_the_limit() -> None:
    rules = Rules.preset("pagat_limit", num_players=4, ante=2)
    assert rules.limit == 40
    table = OneTable(DEAL_5_0_0_0, dealer=3, rules=rules, carry=92).act(*ALL_STAY, *PLAY_5_0_0_0.split())
    assert table.now.chips == (38, -42, -42, -42)
    assert table.now.carry == 60 + 120


def test_6_4_lone_player_takes_at_most_the_limit() -> None:
    table = OneTable(DEAL_5_0_0_0, dealer=3, rules=Rules.preset("pagat_limit"), carry=42)
    assert table.act("pass", "pass", "pass").now.chips == (-1, -1, -1, 19)
    assert table.now.carry == 26


def test_6_4_tie_leaves_the_whole_pot() -> None:
    table = settled(DEAL_2_2_1_0, PLAY_2_2_1_0, carry=41, limit=20)
    assert (table.now.chips, table.now.carry) == ((-1, -1, -1, -21), 45 + 20)


def test_6_4_shares_of_a_divided_pot_add_up_to_the_limit() -> None:
    table = settled(DEAL_2_2_1_0, PLAY_2_2_1_0, carry=41, limit=21, tie_rule="divide")
    assert (table.now.chips, table.now.carry) == ((9, 9, -1, -22), 45 - 20 + 21)


def test_6_5_tied_and_bourre_seats_skip_the_next_ante() -> None:
    assert settled(DEAL_2_2_1_0, PLAY_2_2_1_0).now.exempt == (True, True, False, True)
    assert settled(DEAL_5_0_0_0, PLAY_5_0_0_0).now.exempt == (False, True, True, True)


def test_6_5_everybody_antes_by_house_rule() -> None:
    table = settled(DEAL_2_2_1_0, PLAY_2_2_1_0, tied_skip_ante=False)
    assert table.now.exempt == (False, False, False, True)
    table = settled(DEAL_2_2_1_0, PLAY_2_2_1_0, bourre_skips_ante=False)
    assert table.now.exempt == (True, True, False, False)


def test_6_5_exemption_lasts_one_deal() -> None:
    table = OneTable(DEAL_2_1_1_1, dealer=3, exempt=[True, True, True, False])
    assert not any(table.act(*ALL_STAY, *PLAY_2_1_1_1.split()).now.exempt)


def test_6_6_carry_is_what_was_left_and_what_is_owed() -> None:
    table = settled(DEAL_5_0_0_0, PLAY_5_0_0_0, carry=42, limit=20)
    assert table.now.carry == (46 - 20) + 3 * 20


def test_6_7_seats_play_on_unlimited_credit() -> None:
    table = settled(DEAL_5_0_0_0, PLAY_5_0_0_0, carry=10**9)
    assert table.now.chips[3] == -1 - (10**9 + 4)


def test_6_7_at_table_stakes_nobody_pays_more_than_it_has() -> None:
    rules = Rules.preset("pagat", ante=2, stacks="table_stakes")
    table = OneTable(DEAL_5_0_0_0, dealer=3, rules=rules, carry=10, stacks=[2, 5, 1, 100])
    assert (table.now.chips, table.now.pot) == ((-2, -2, -1, -2), 17)
    table.act(*ALL_STAY, *PLAY_5_0_0_0.split())
    assert (table.now.chips, table.now.carry) == ((15, -5, -1, -19), 3 + 17)


def test_6_7_seat_without_chips_for_its_ante_sits_out() -> None:
    rules = Rules.preset("pagat", stacks="table_stakes")
    table = OneTable(DEAL_5_0_0_0, dealer=3, rules=rules, stacks=[0, 0, 9, 9], exempt=[False, True, False, False])
    assert table.legal() == {"pass"}
    assert "stay" in table.act("pass").legal()


def test_6_7_dealer_who_sits_out_collects_nothing() -> None:
    rules = Rules.preset("pagat", stacks="table_stakes")
    table = OneTable(["", "", "", "AS"], dealer=3, rules=rules, carry=5, stacks=[9, 9, 9, 0])
    assert table.act("pass", "pass", "pass").legal() == {"pass"}
    table.act("pass")
    assert (table.now.phase, table.now.chips, table.now.carry) == ("settled", (-1, -1, -1, 0), 8)


@pytest.mark.parametrize("turn", range(4))
def test_6_2_rotating_the_seats_rotates_the_settlement(turn: int) -> None:
    hands = [DEAL_2_2_1_0[(seat - turn) % 4] for seat in range(4)]
    table = OneTable(hands, dealer=(3 + turn) % 4).act(*ALL_STAY, *PLAY_2_2_1_0.split())
    assert table.now.chips == tuple([-1, -1, -1, -5][(seat - turn) % 4] for seat in range(4))


# --- 7.2 forfeits -----------------------------------------------------------------------------------------------------


def forfeited(table: OneTable) -> OneTable:
    """The seat to act forfeits."""
    table.tables.forfeit([0])
    return table


def test_7_2_pot_goes_to_the_others_and_odd_chips_go_round_from_the_offenders_left() -> None:
    for dealer in range(4):
        eldest = (dealer + 1) % 4
        table = forfeited(OneTable(["", "", "", ""], dealer=dealer))
        shares = [-5, 1, 0, 0]  # the ante and a pot of four; two, one and one of the pot, less the ante
        assert table.now.chips == tuple(shares[(seat - eldest) % 4] for seat in range(4))
        assert (table.now.carry, table.now.exempt) == (4, tuple(seat == eldest for seat in range(4)))
        assert table.now.bourre == tuple(seat == eldest for seat in range(4))


def test_7_2_dealer_who_forfeits_pays_the_eldest_first() -> None:
    table = forfeited(OneTable(["", "", "", "7S"], dealer=3).act("stay", "stay", "stay"))
    assert table.now.chips == (1, 0, 0, -5)


def test_7_2_seats_that_passed_get_nothing() -> None:
    table = forfeited(OneTable(["", "", "", ""], dealer=3).act("pass", "stay"))
    assert table.now.chips == (-1, 1, -5, 1)


def test_7_2_no_more_than_the_limit_is_shared_or_paid() -> None:
    rules = Rules.preset("pagat", limit=20)
    table = forfeited(OneTable(["", "", "", ""], dealer=3, rules=rules, carry=26))
    assert table.now.chips == (-21, 6, 6, 5)
    assert table.now.carry == 30


def test_7_2_pot_stays_when_nobody_else_is_in() -> None:
    rules = Rules.preset("pagat", all_pass="pot_stays")
    table = forfeited(OneTable(["", "", "", "7S"], dealer=3, rules=rules).act("pass", "pass", "pass"))
    assert table.now.chips == (-1, -1, -1, -5)
    assert table.now.carry == 8


def test_7_2_offender_antes_again_where_a_bourre_does() -> None:
    rules = Rules.preset("pagat", bourre_skips_ante=False)
    assert forfeited(OneTable(["", "", "", ""], dealer=3, rules=rules)).now.exempt == (False,) * 4


def test_7_2_debt_is_that_of_a_bourre_under_the_house_rule() -> None:
    rules = Rules.preset("pagat", bourre_penalty="fixed", penalty_chips=3)
    assert forfeited(OneTable(["", "", "", ""], dealer=3, rules=rules)).now.chips == (-4, 1, 0, 0)


def test_7_2_seats_without_chips_get_nothing_and_receipts_join_the_stack() -> None:
    rules = Rules.preset("pagat", stacks="table_stakes")
    table = forfeited(OneTable(["", "", "", ""], dealer=3, rules=rules, stacks=[9, 0, 9, 9]))
    assert table.now.chips == (-4, 0, 1, 0)
    assert table.now.stacks == (5, 0, 10, 9)


def test_7_2_seat_that_sat_out_and_passed_gets_nothing() -> None:
    rules = Rules.preset("pagat", stacks="table_stakes")
    table = forfeited(OneTable(["", "", "", ""], dealer=3, rules=rules, stacks=[0, 9, 9, 9]).act("pass"))
    assert table.now.chips == (0, -4, 1, 0)


def test_7_2_seat_that_sits_out_may_forfeit_and_owes_what_it_cannot_pay() -> None:
    rules = Rules.preset("pagat", stacks="table_stakes")
    table = forfeited(OneTable(["", "", "", ""], dealer=3, rules=rules, carry=5, stacks=[0, 9, 9, 9]))
    assert (table.now.chips, table.now.carry) == ((0, 2, 2, 1), 0)
