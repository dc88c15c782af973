"""The oracle itself, against golden cases worked out by hand from the law."""

from collections.abc import Sequence
from typing import Any

import pytest
from positions import card, cards, deck_dealing, golden_cases, rules_of_case, text_of
from reference import ReferenceTable, sure_tricks_in_trumps
from reference_shuffle import deck_of_deal, mix, reshuffled, shuffled

from bourre_env.bourre.rules import Rules

Case = dict[str, Any]


def cases(kind: str) -> Any:
    """Parametrise over the golden cases of one kind."""
    return pytest.mark.parametrize("case", golden_cases(kind), ids=lambda case: case["id"])


def table_in_play(case: Case) -> ReferenceTable:
    """A table set up in the position of a play case."""
    rules = rules_of_case(case)
    table = ReferenceTable(rules, range(52), case["dealer"])
    table.phase, table.seat, table.trump_suit = "play", case["seat"], "CDHS".index(case["trump"])
    table.stayed = [seat in case["active"] for seat in table.seats]
    table.passed = [seat not in case["active"] for seat in table.seats]
    table.hands[case["seat"]] = cards(case["hand"])
    table.trick = [(seat, card(text)) for seat, text in case["trick"]]
    table.played = cards(case["seen"]) + [one for _, one in table.trick]
    table.face_up = cards(case["dead_face_up"])
    tricks_done = rules.hand_size - len(case["hand"])
    other = next(seat for seat in case["active"] if seat != case["seat"])
    table.tricks_won[case["seat"]], table.tricks_won[other] = case["won"], tricks_done - case["won"]
    return table


@cases("play_cases")
def test_golden_play(case: Case) -> None:
    table = table_in_play(case)
    assert text_of(table.legal_cards()) == text_of(cards(case["expected_legal"]))
    assert table.sure_tricks(case["seat"]) == case["sure_tricks"]


@cases("trick_cases")
def test_golden_trick(case: Case) -> None:
    table = ReferenceTable(Rules.preset("pagat"), range(52), 3)
    table.trump_suit = "CDHS".index(case["trump"])
    table.trick = [(seat, card(text)) for seat, text in case["trick"]]
    assert table.best_of_trick()[0] == case["winner"]


def settled_by_tricks(case: Case) -> ReferenceTable:
    """A table settled with the trick counts of a pot case (None: passed)."""
    rules = rules_of_case(case)
    exempt = [ante == 0 for ante in case["antes_paid"]]
    table = ReferenceTable(rules, range(52), 0, carry=case["carry_in"], exempt=exempt)
    assert table.pot == case["pot"]
    assert [-chips for chips in table.returns] == case["antes_paid"]
    table.stayed = [count is not None for count in case["tricks"]]
    table.tricks_won = [count or 0 for count in case["tricks"]]
    if sum(table.stayed) > 1:
        table._settle_by_tricks()
    else:
        table._end_declaring()
    return table


def assert_settled_as(table: ReferenceTable, case: Case) -> None:
    """Payments, carry and the next antes are those of a pot case or a transcript."""
    payouts, payments, antes = case["expected_payouts"], case["expected_bourre_payments"], case["antes_paid"]
    expected = [won - owed - ante for won, owed, ante in zip(payouts, payments, antes, strict=True)]
    assert table.returns == expected
    assert table.carry == case["carry_out"] + sum(payments)
    assert [0 if exempt else case["ante"] for exempt in table.exempt] == case["next_deal_antes"]
    assert table.carry + sum(case["next_deal_antes"]) == case["next_deal_pot"]
    assert (table.phase, table.seat, table.pot) == ("settled", -1, 0)


@cases("pot_cases")
def test_golden_pot(case: Case) -> None:
    assert_settled_as(settled_by_tricks(case), case)


@cases("declare_cases")
def test_golden_declaring(case: Case) -> None:
    hands = [case["turn_up"] if seat == case["dealer"] else "" for seat in range(case["players"])]
    deck = deck_dealing(hands, dealer=case["dealer"])
    table = ReferenceTable(rules_of_case(case), deck, case["dealer"])
    for seat, word in case["prior"]:
        assert table.seat == seat
        table.step(table.pass_action if word == "pass" else table.num_cards)
    if case["seat"] is not None:
        assert table.seat == case["seat"]
        assert (table.pass_action in table.legal_actions()) == case["can_pass"]
        assert (table.num_cards in table.legal_actions()) == case["can_play"]
    elif case["result"]["hand_over"]:
        assert table.phase == "settled"
        assert table.played == []
        assert [chips > 0 for chips in table.returns] == [seat == case["result"]["winner"] for seat in table.seats]
    else:
        assert (table.phase, table.seat) == ("play", case["result"]["first_leader"])


@cases("draw_cases")
def test_golden_drawing(case: Case) -> None:
    table = ReferenceTable(Rules.preset("pagat", num_players=case["players"]), range(52), case["players"] - 1)
    for number, after in zip(case["sequence"], case["after_each"], strict=True):
        stock_before, reshuffles_before = list(table.stock), table.num_reshuffles
        seat, hand_before = table.seat, table.hands[table.seat]
        table.step(table.action_of_discards(seat, hand_before[:number]))
        drawn = [one for one in table.hands[seat] if one not in hand_before]
        assert len(drawn) == number
        assert sum(one in stock_before for one in drawn) == after["from_stock"]
        assert sum(one not in stock_before for one in drawn) == after["from_recycled"]
        thrown_away = len(table.discard_pile) + len(
            table.face_up
        )  # the cases count the dealer's turn-up among the pile
        assert (len(table.stock), thrown_away) == (after["stock"], after["pile"])
        assert (table.num_reshuffles > reshuffles_before) == after["recycled"]


class TableWithRecordedReshuffles(ReferenceTable):
    """Deals the reshuffled pile in the order a transcript recorded, after checking which cards are in it."""

    recorded: list[list[int]]

    def _reshuffle(self, pile: Sequence[int]) -> list[int]:
        order = self.recorded.pop(0)
        assert sorted(order) == sorted(pile)
        return order


@cases("deal_transcripts")
def test_golden_deal(case: Case) -> None:
    exempt = [ante == 0 for ante in case["antes_paid"]]
    deck = cards(case["deck"])
    table = TableWithRecordedReshuffles(
        rules_of_case(case), deck, case["dealer"], carry=case["carry_in"], exempt=exempt
    )
    table.recorded = [cards(d["recycled_pile_in_new_order"]) for d in case["declarations"] if len(d) > 4]
    assert (table.pot, table.turn_up, table.trump_suit) == (
        case["pot"],
        card(case["turn_up"]),
        "CDHS".index(case["trump"]),
    )
    for spoken in case["declarations"]:
        play_declaration(table, spoken)
    assert table.recorded == []
    for played in case["plays"]:
        assert table.seat == played["seat"]
        assert text_of(table.hands[table.seat]) == text_of(cards(played["hand"]))
        assert text_of(table.legal_cards()) == text_of(cards(played["legal"]))
        table.step(table.action_of_card(card(played["card"])))
    assert table.tricks_won == [count or 0 for count in case["tricks"]]
    assert table.next_dealer == case["next_dealer"]
    assert_settled_as(table, case)


def play_declaration(table: ReferenceTable, spoken: Case) -> None:
    """One declaration of a transcript; a dealer who collects is not asked (3.7)."""
    seat = spoken["seat"]
    if table.phase == "settled":
        assert (seat, spoken["discard"]) == (table.dealer, [])
        return
    assert table.seat == seat
    if spoken["action"] == "pass":
        table.step(table.pass_action)
        return
    kept = [one for one in table.hands[seat] if one not in cards(spoken["discard"])]
    table.step(table.action_of_discards(seat, cards(spoken["discard"])))
    assert text_of(table.hands[seat]) == text_of(kept + cards(spoken["drawn"]))


# --- what the golden cases leave out


def test_8_1_mix_is_the_published_finalizer() -> None:
    """SplitMix64 started at 0 and at 1234567 puts out these words (the latter from the Rosetta Code task)."""
    golden = 0x9E3779B97F4A7C15
    assert mix(golden) == 0xE220A8397B1DCDAF
    assert [mix((1234567 + golden * step) % 2**64) for step in (1, 2)] == [6457827717110365317, 3203168211198807973]


def test_8_2_shuffle_is_a_permutation_that_the_key_decides() -> None:
    orders = [tuple(shuffled(range(52), key)) for key in range(20)]
    assert all(sorted(order) == list(range(52)) for order in orders)
    assert len(set(orders)) == 20
    assert shuffled([7], 3) == [7]


def test_8_4_renaming_suits_renames_the_reshuffle() -> None:
    deck = deck_of_deal(5, 7)
    pile = deck[10:31]
    renamed = {one: 13 * ((one // 13 + 1) % 4) + one % 13 for one in deck}
    result = reshuffled(pile, deck, 1)
    assert reshuffled([renamed[one] for one in pile], [renamed[one] for one in deck], 1) == [
        renamed[one] for one in result
    ]
    assert sorted(result) == sorted(pile)
    assert result != reshuffled(pile, deck, 2)
    assert result == reshuffled(pile[::-1], deck, 1)


def test_5_1_each_outstanding_trump_beats_at_most_one() -> None:
    assert sure_tricks_in_trumps([11, 10, 9], [12]) == 2
    assert sure_tricks_in_trumps([9, 8, 7, 6, 5], [12, 11, 10]) == 2
    assert sure_tricks_in_trumps([12, 2], [11, 3]) == 1
    assert sure_tricks_in_trumps([12, 10, 4], [3, 11]) == 2
    assert sure_tricks_in_trumps([], [12]) == 0


def test_7_1_illegal_action_changes_nothing() -> None:
    table = ReferenceTable(Rules.preset("pagat"), deck_of_deal(1, 1), 0)
    before = repr(vars(table))
    with pytest.raises(ValueError, match="illegal"):
        table.step(0)
    assert repr(vars(table)) == before


def test_6_7_nobody_pays_more_than_it_has() -> None:
    rules = Rules(num_players=3, ante=4, play_fee=3, stacks="table_stakes")
    deck = deck_dealing(["AS KS QS JS TS", "", "5S"], dealer=2)
    table = ReferenceTable(rules, deck, 2, carry=20, stacks=[6, 5, 2])
    assert (table.returns, table.pot) == ([-4, -4, -2], 30)
    for _ in range(3):
        table.step(table.num_cards)
    assert (table.returns, table.pot) == ([-6, -5, -2], 33)
    while table.phase != "settled":
        table.step(min(table.legal_actions()))
    assert (table.returns, table.carry) == ([27, -5, -2], 0)


def test_1_2_reduced_pack_counts_actions_within_the_pack() -> None:
    rules = Rules(num_players=2, hand_size=2, ranks="TJQKA", suits="CDH")
    deck = deck_dealing(["TC AH", "AD TH"], dealer=1, hand_size=2, pack=rules.pack)
    table = ReferenceTable(rules, deck, 1)
    assert table.trump_suit == "CDHS".index("H")
    assert [table.action_of_card(one) for one in cards("TH AH TC AC TD AD")] == [0, 4, 5, 9, 10, 14]
    assert table.legal_actions() == {15, 16, 17, 18, 19}
    table.step(table.action_of_discards(0, cards("TC")))
    assert text_of(table.hands[0]) == text_of([card("AH"), deck[4]])
