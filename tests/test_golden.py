"""The engine against golden cases worked out by hand from the law (`golden/bourre_cases.json`)."""

from typing import Any

import numpy as np
import pytest
from positions import OneTable, card, cards, golden_cases, rules_of_case, text_of

from bourre_env import Rules, Tables
from bourre_env.bourre import turn
from bourre_env.bourre.actions import action_text
from bourre_env.bourre.cinch import has_cinch
from bourre_env.bourre.table import NO_SEAT, NO_SUIT, PLAY
from bourre_env.cards import BEATING, NO_CARD, holds, to_relative

Case = dict[str, Any]


def cases(kind: str) -> Any:
    """Parametrise over the golden cases of one kind."""
    return pytest.mark.parametrize("case", golden_cases(kind), ids=lambda case: case["id"])


def relative_set(texts: list[str], trump_suit: int) -> int:
    """A set of cards as the engine keeps it."""
    return sum(1 << int(to_relative(one, trump_suit)) for one in cards(texts))


def mask_of(seats: list[int]) -> int:
    """A set of seats as the engine keeps it."""
    return sum(1 << seat for seat in seats)


# --- play -------------------------------------------------------------------------------------------------------------


def tables_in_play(rules: Rules, active: list[int], trump: str) -> Tables:
    """One table at which the play of the cards has begun, all hands still empty."""
    tables = Tables(rules, 1)
    tables.deal([rules.pack], rules.num_players - 1)
    table = tables.records[0]
    table.phase, table.trump_suit = PLAY, "CDHS".index(trump)
    table.stayed, table.passed = mask_of(active), mask_of(list(range(rules.num_players))) & ~mask_of(active)
    table.hands[:] = 0
    return tables


def put_on_table(tables: Tables, case: Case) -> None:
    """Put the current trick of a play case on the table; the seat of the case is to act."""
    table = tables.records[0]
    table.to_act = table.leader = case["seat"]
    table.led_suit, table.best_card, table.best_seat = NO_SUIT, NO_CARD, NO_SEAT
    for seat, text in case["trick"]:
        one = int(to_relative(card(text), table.trump_suit))
        table.tricks[table.tricks_done] |= np.uint64(1 << one)
        if table.led_suit == NO_SUIT:
            table.led_suit, table.leader = one // 13, seat
        if holds(BEATING[table.best_card], one):
            table.best_card, table.best_seat = one, seat


@cases("play_cases")
def test_golden_play(case: Case) -> None:
    rules = rules_of_case(case)
    tables = tables_in_play(rules, case["active"], case["trump"])
    table, seat = tables.records[0], case["seat"]
    table.hands[seat] = relative_set(case["hand"], table.trump_suit)
    table.face_up = relative_set(case["dead_face_up"], table.trump_suit)
    table.tricks_done = rules.hand_size - len(case["hand"])
    table.tricks[0] = relative_set(case["seen"], table.trump_suit)
    table.tricks_won[seat] = case["won"]
    put_on_table(tables, case)
    turn.find_legal(table, rules.record()[0])
    legal = {action_text(rules, table, int(action)) for action in np.flatnonzero(tables.legal_action_mask()[0])}
    assert legal == set(case["expected_legal"])

    holds_trumps = any(text[1] == case["trump"] for text in case["hand"])
    only_trumps = bool(case["trick"]) and all(text[1] == case["trump"] for text in case["expected_legal"])
    assert has_cinch(table, rules.record()[0], seat, only_trumps) == (holds_trumps and case["sure_tricks"] >= 3)


def play_last_trick(tables: Tables, plays: list[tuple[int, str]]) -> None:
    """Give each active seat its last card and play these; the first of them leads."""
    table = tables.records[0]
    for seat, text in plays:
        table.hands[seat] = relative_set([text], table.trump_suit)
    table.tricks_done = tables.rules.hand_size - 1
    table.to_act = table.leader = plays[0][0]
    table.led_suit, table.best_card = NO_SUIT, NO_CARD
    table.legal[0], table.legal[1] = table.hands[plays[0][0]], 0
    for seat, text in plays:
        assert int(tables.to_act[0]) == seat
        tables.step([int(to_relative(card(text), table.trump_suit))])


@cases("trick_cases")
def test_golden_trick(case: Case) -> None:
    seats = [seat for seat, _ in case["trick"]]
    tables = tables_in_play(Rules.preset("pagat"), seats, case["trump"])
    play_last_trick(tables, [(seat, text) for seat, text in case["trick"]])
    assert tables.snapshot(0).tricks_won == tuple(int(seat == case["winner"]) for seat in range(4))


# --- chips ------------------------------------------------------------------------------------------------------------


def settle_with_tricks(tables: Tables, tricks: list[int]) -> None:
    """Have the last trick won by a seat with tricks, so that the counts come out as given (None: passed)."""
    table = tables.records[0]
    active = [seat for seat, count in enumerate(tricks) if count is not None]
    table.phase, table.stayed = PLAY, mask_of(active)
    winner = max(active, key=lambda seat: tricks[seat])
    for seat in active:
        table.tricks_won[seat] = tricks[seat] - (seat == winner)
    plain = iter("23456789")
    trump, other = "CDHS"[table.trump_suit], "CDHS"[table.trump_suit - 1]
    play_last_trick(tables, [(seat, "A" + trump if seat == winner else next(plain) + other) for seat in active])


def assert_settled_as(tables: Tables, case: Case) -> None:
    """Payments, carry and the next antes are those of a pot case or a transcript."""
    now, payments = tables.snapshot(0), case["expected_bourre_payments"]
    moved = zip(case["expected_payouts"], payments, case["antes_paid"], strict=True)
    assert now.chips == tuple(won - owed - ante for won, owed, ante in moved)
    assert now.carry == case["carry_out"] + sum(payments)
    assert [0 if exempt else case["ante"] for exempt in now.exempt] == case["next_deal_antes"]
    assert now.carry + sum(case["next_deal_antes"]) == case["next_deal_pot"]
    assert (now.phase, now.seat, now.pot) == ("settled", -1, 0)


@cases("pot_cases")
def test_golden_pot(case: Case) -> None:
    rules = rules_of_case(case)
    tables = Tables(rules, 1)
    exempt = [[ante == 0 for ante in case["antes_paid"]]]
    tables.deal([rules.pack], rules.num_players - 1, carry=case["carry_in"], exempt=exempt)
    assert int(tables.pot[0]) == case["pot"]
    assert (-tables.returns[0]).tolist() == case["antes_paid"]
    active = [count for count in case["tricks"] if count is not None]
    if len(active) > 1:
        settle_with_tricks(tables, case["tricks"])
    while not tables.settled[0]:
        stays = case["tricks"][int(tables.to_act[0])] is not None
        tables.step([52 if stays else 84])
    assert_settled_as(tables, case)


# --- declaring and drawing --------------------------------------------------------------------------------------------


@cases("declare_cases")
def test_golden_declaring(case: Case) -> None:
    hands = [case["turn_up"] if seat == case["dealer"] else "" for seat in range(case["players"])]
    table = OneTable(hands, dealer=case["dealer"], rules=rules_of_case(case))
    for seat, word in case["prior"]:
        assert table.now.seat == seat
        table.act("pass" if word == "pass" else "stay")
    if case["seat"] is not None:
        assert table.now.seat == case["seat"]
        assert ("pass" in table.legal()) == case["can_pass"]
        assert ("stay" in table.legal()) == case["can_play"]
    elif case["result"]["hand_over"]:
        assert table.now.phase == "settled"
        assert sum(table.now.tricks_won) == case["result"]["plays"] == 0
        assert [chips > 0 for chips in table.now.chips] == [
            seat == case["result"]["winner"] for seat in range(case["players"])
        ]
    else:
        assert (table.now.phase, table.now.seat) == ("play", case["result"]["first_leader"])


@cases("draw_cases")
def test_golden_drawing(case: Case) -> None:
    num_players = case["players"]
    table = OneTable([""] * num_players, dealer=num_players - 1)
    record = table.tables.records[0]
    for number, after in zip(case["sequence"], case["after_each"], strict=True):
        seat, reshuffles = table.now.seat, int(record.num_reshuffles)
        stock = {int(one) for one in record.stock[record.stock_next : record.stock_end]}
        before = int(record.hands[seat])
        table.tables.step([52 + (1 << number) - 1])
        drawn = [one for one in range(52) if int(record.hands[seat]) & ~before & 1 << one]
        assert len(drawn) == number
        assert sum(one in stock for one in drawn) == after["from_stock"]
        assert sum(one not in stock for one in drawn) == after["from_recycled"]
        assert record.stock_end - record.stock_next == after["stock"]
        thrown_away = int(record.pile).bit_count() + int(record.face_up).bit_count()  # the cases count both as the pile
        assert thrown_away == after["pile"]
        assert (record.num_reshuffles > reshuffles) == after["recycled"]


# --- whole deals ------------------------------------------------------------------------------------------------------


def declare(tables: Tables, spoken: Case) -> None:
    """One declaration of a transcript.

    A transcript whose stock ran out was shuffled by its author: its pile must have held the same cards as ours, and the
    cards drawn are then taken from the transcript.
    """
    table, seat = tables.records[0], spoken["seat"]
    assert int(tables.to_act[0]) == seat
    if spoken["action"] == "pass":
        tables.step([84])
        return
    hand = [one for one in range(52) if int(table.hands[seat]) >> one & 1]
    thrown = [int(to_relative(one, table.trump_suit)) for one in cards(spoken["discard"])]
    left = int(table.stock_end - table.stock_next)
    tables.step([52 + sum(1 << hand.index(one) for one in thrown)])
    if "recycled_pile_in_new_order" in spoken:
        order = [int(to_relative(one, table.trump_suit)) for one in cards(spoken["recycled_pile_in_new_order"])]
        assert sorted(table.stock[: table.stock_end].tolist()) == sorted(order)
        assert table.stock_next == len(thrown) - left
        table.stock[: len(order)] = order
        table.hands[seat] = relative_set(spoken["drawn"], table.trump_suit) | mask_of(set(hand) - set(thrown))
    kept = {one for one in hand if one not in thrown}
    assert int(table.hands[seat]) == mask_of(kept) | relative_set(spoken["drawn"], table.trump_suit)


@cases("deal_transcripts")
def test_golden_deal(case: Case) -> None:
    rules = rules_of_case(case)
    tables = Tables(rules, 1)
    exempt = [[ante == 0 for ante in case["antes_paid"]]]
    tables.deal([cards(case["deck"])], case["dealer"], carry=case["carry_in"], exempt=exempt)
    now = tables.snapshot(0)
    assert (now.pot, now.turn_up, now.trump_suit) == (case["pot"], case["turn_up"], case["trump"])
    dealer_collects = len([spoken for spoken in case["declarations"] if spoken["action"] == "play"]) == 1
    for spoken in case["declarations"][: -1 if dealer_collects else None]:  # 3.7: the dealer is not asked
        declare(tables, spoken)
    trick_winners = []
    for played in case["plays"]:
        now = tables.snapshot(0)
        assert now.seat == played["seat"]
        assert text_of(cards(now.hands[now.seat])) == text_of(cards(played["hand"]))
        legal = np.flatnonzero(tables.legal_action_mask()[0])
        assert {action_text(rules, tables.records[0], int(action)) for action in legal} == set(played["legal"])
        tables.step([int(to_relative(card(played["card"]), tables.records[0].trump_suit))])
        after = tables.snapshot(0).tricks_won
        trick_winners += [seat for seat, count in enumerate(after) if count > now.tricks_won[seat]]
    assert trick_winners == case["trick_winners"]
    assert tables.snapshot(0).tricks_won == tuple(count or 0 for count in case["tricks"])
    assert_settled_as(tables, case)
