"""The rules of Bureau one by one; the numbers are those of docs/bureau.md."""

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bureau_play import text_of
from bureau_positions import LAID, Position, dealt_columns, easy_deck

from bourre_env import BureauRules, BureauTables, DeckError, IllegalActionError, RulesError, shuffled_decks
from bourre_env.bureau.actions import COLUMN_UP, DRAW, MOVE, REDEAL, WASTE_UP, action_id, action_text
from bourre_env.bureau.cards import serial_id
from bourre_env.bureau.rules import PRESETS
from bourre_env.bureau.snapshot import BureauSnapshot

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "bureau.md").read_text(encoding="utf-8")


UP = {WASTE_UP, *range(COLUMN_UP, MOVE)}


def random_steps() -> Iterator[tuple[int, BureauSnapshot, BureauSnapshot]]:
    """Random play of some deals, one after the other: each action, and the table before and after it.

    Moves between columns are drawn less often: they mostly go to and fro.
    """
    rng = np.random.default_rng(1)
    tables = BureauTables(BureauRules(), 1)
    weights = np.where(np.arange(tables.rules.num_actions) < MOVE, 1.0, 0.5)
    for deal in range(12):
        tables.deal(shuffled_decks(1, [deal], pack=tables.rules.pack))
        before = tables.snapshot(0)
        while not tables.settled[0]:
            action = int((rng.random(len(weights)) * weights * tables.legal_action_mask()[0]).argmax())
            tables.step([action])
            after = tables.snapshot(0)
            yield action, before, after
            before = after


def kind_of(action: int) -> str:
    """What a decision is, in the words of B5.3."""
    if action in (DRAW, REDEAL):
        return "draw" if action == DRAW else "redeal"
    if action in UP:
        return "up"
    return "down" if action < MOVE else "between columns"


# --- B1: packs and layout ---------------------------------------------------------------------------------------------


def test_b1_1_pack_has_four_of_each_of_26_types() -> None:
    pack = BureauRules().pack
    assert len(pack) == 104
    assert {text_of(card) for card in pack} == {rank + colour for rank in "A23456789TJQK" for colour in "SH"}
    assert all(pack.count(card) == 4 for card in pack)
    tables = BureauTables(BureauRules(), 1)
    deck = shuffled_decks(1, [0], pack=pack)
    for wrong in (deck[:, :-1], np.where(deck == 3, 4, deck), deck.astype(np.int64) + 256, deck - 1):
        with pytest.raises(DeckError):
            tables.deal(wrong)
    assert tables.settled.all()


def test_b1_2_what_follows_on_one_another_is_of_one_series() -> None:
    for series, ace in enumerate("SH"):
        colours = [ace, "H" if ace == "S" else "S"]
        for rank, name in enumerate("A23456789TJQK"):
            assert serial_id(name + colours[rank % 2]) == 13 * series + rank


def test_b1_3_and_b1_4_columns_are_dealt_row_by_row_first_and_third_face_down_and_the_rest_is_the_stock() -> None:
    deck = [text_of(int(card)) for card in shuffled_decks(1, [0], pack=BureauRules().pack)[0]]
    tables = BureauTables(BureauRules(), 1)
    tables.deal(shuffled_decks(1, [0], pack=BureauRules().pack))
    now = tables.snapshot(0)
    for column in range(13):
        cards = [deck[column + 13 * row] for row in range(4)]
        assert now.columns[column] == (f"#{cards[0]}", cards[1], f"#{cards[2]}", cards[3])
    assert now.stock == tuple(deck[52:])
    assert not now.stock_is_known


# --- B2: foundations --------------------------------------------------------------------------------------------------


def test_b2_1_aces_begin_foundations_while_there_is_room() -> None:
    for piles, legal in ((["AS"] * 7, {"col_0_to_foundation"}), (["AS"] * 8, set())):
        assert Position([["AH"]], foundations=piles).legal == legal
    assert Position([["AH"]], foundations=["AS"] * 4, n_foundations=4).legal == set()


def test_b2_2_foundations_go_up_by_one_in_the_other_colour_to_the_king() -> None:
    for card, top, goes in (("2H", "AS", True), ("2S", "AS", False), ("3H", "AS", False), ("KH", "QS", True)):
        assert bool(Position([[card]], foundations=[top]).legal) == goes
    assert Position([["2H"]], foundations=["KS"]).legal == set()


def test_b2_3_and_b2_4_cards_go_to_the_first_foundation_that_takes_them_and_stay() -> None:
    position = Position([["2H", "AS"], ["2H"]], foundations=["KS", "AS", "AS"]).do("col_1_to_foundation")
    assert position.now.foundations == ("KS", "2H", "AS")
    position.do("col_0_to_foundation")
    assert position.now.foundations == ("KS", "2H", "AS", "AS")


def test_b2_3_cards_up_never_fall() -> None:
    for action, before, after in random_steps():
        assert after.cards_up == before.cards_up + (action in UP)
        left = Counter(before.foundations) - Counter(after.foundations)
        assert sum(left.values()) <= (action in UP)


# --- B3: columns ------------------------------------------------------------------------------------------------------


def test_b3_1_only_the_exposed_card_goes_up() -> None:
    assert Position([["AS", "KH"]]).legal == set()
    assert Position([["KH", "AS"]]).legal == {"col_0_to_foundation"}


def test_b3_2_columns_go_down_by_one_in_the_other_colour() -> None:
    for card, base, fits in (("6H", "7S", True), ("6S", "7S", False), ("8H", "7S", False), ("KH", "AS", False)):
        assert ("col_0_to_col_1" in Position([[card], [base]]).legal) == fits


def test_b3_3_runs_and_parts_of_runs_move_together() -> None:
    position = Position([["KS", "9S", "8H", "7S", "6H"], ["TH"], ["8H"], ["7S"]])
    assert position.legal == {"col_0_to_col_1", "col_0_to_col_2", "col_0_to_col_3", "col_3_to_col_2"}
    assert position.do("col_0_to_col_2").now.columns[:3] == (("KS", "9S", "8H"), ("TH",), ("8H", "7S", "6H"))


def test_b3_4_empty_columns_stay_empty() -> None:
    position = Position([["KS"], [], ["QH"], ["AH"]], waste=["KH"])
    assert position.legal == {"col_2_to_col_0", "col_3_to_foundation"}
    position.do("col_3_to_foundation")
    assert position.now.columns[3] == ()
    assert position.legal == {"col_2_to_col_0"}


def test_b3_5_exposed_face_down_cards_are_turned_up_at_once() -> None:
    assert Position([["#3S", "6H"], ["7S"]]).do("col_0_to_col_1").now.columns[0] == ("3S",)
    assert Position([["#3S", "AH"]]).do("col_0_to_foundation").now.columns[0] == ("3S",)


def test_b3_6_face_down_cards_end_runs() -> None:
    position = Position([["#8H", "7S"], ["9S"], ["8H"]])
    assert position.legal == {"col_0_to_col_2", "col_2_to_col_1"}
    position.do("col_0_to_col_2")
    assert position.legal == {"col_0_to_col_1", "col_2_to_col_0", "col_2_to_col_1"}


# --- B4: stock and waste ----------------------------------------------------------------------------------------------


def test_b4_1_and_b4_2_cards_are_drawn_one_by_one_and_the_last_one_may_move() -> None:
    position = Position([["4H"]], stock=["3S", "KH", "AS"])
    position.do("draw")
    assert (position.now.waste, position.now.stock) == (("3S",), ("KH", "AS"))
    assert position.legal == {"draw", "waste_to_col_0"}
    position.do("draw")
    assert position.legal == {"draw"}
    position.do("draw")
    assert position.legal == {"waste_to_foundation", "redeal"}
    position.do("waste_to_foundation")
    assert (position.now.waste, position.now.foundations) == (("3S", "KH"), ("AS",))


def test_b4_2_card_under_the_one_that_left_may_move_next() -> None:
    position = Position([["4H"], ["5S"]], waste=["3S", "4H"]).do("waste_to_col_1")
    assert "waste_to_col_0" in position.legal
    assert "waste_to_col_1" in position.legal


@pytest.mark.parametrize("passes", [1, 2, 4])
def test_b4_3_waste_is_turned_over_in_the_same_order_so_many_times(passes: int) -> None:
    position = Position([["KS"]], stock=["3S", "9H"], max_passes=passes, redeals_used=0)
    for redeals in range(passes):
        assert position.now.redeals_left == passes - 1 - redeals
        assert position.now.stock_is_known == (redeals > 0)
        assert position.do("draw", "draw").now.waste == ("3S", "9H")
        if redeals < passes - 1:
            assert position.legal == {"redeal"}
            now = position.do("redeal").now
            assert (now.stock, now.waste, now.redeals_used) == (("3S", "9H"), (), redeals + 1)
    assert position.now.ending == "lost"


# --- B5: the end ------------------------------------------------------------------------------------------------------


def test_b5_1_all_cards_up_win() -> None:
    position = Position([["KS"]], foundations=["KS"] * 3 + ["KH"] * 4 + ["QH"]).do("col_0_to_foundation")
    assert (position.now.ending, position.now.cards_up, position.now.returns) == ("won", 104, (104,))


def test_b5_2_no_move_loses_and_resigning_is_no_move() -> None:
    for resign in (False, True):
        position = Position([["KS"]], stock=["KH"], redeals_used=1, resign=resign).do("draw")
        assert (position.now.ending, position.now.seat, position.legal) == ("lost", -1, set())


def test_b5_3_deal_stops_after_so_many_decisions_unless_the_last_one_ends_it() -> None:
    position = Position([["KS"]], stock=["KH"] * 4, max_steps=3)
    position.do("draw", "draw")
    assert position.now.ending == ""
    assert position.do("draw").now.ending == "stopped"
    assert Position([["KS"]], stock=["KH"] * 2, max_steps=2, redeals_used=1).do("draw", "draw").now.ending == "lost"
    last = Position([["KS"]], foundations=["KS"] * 3 + ["KH"] * 4 + ["QH"], max_steps=1).do("col_0_to_foundation")
    assert last.now.ending == "won"


def test_b5_3_all_moves_but_those_between_columns_are_at_most_261() -> None:
    """Two passes that draw everything, a redeal, every card of the stock to a column, every card up."""
    most = {"draw": 52 + 52, "redeal": 1, "down": 52, "up": 104}
    assert sum(most.values()) == 261
    made, found = Counter[str](), Counter[str]()
    for action, before, after in random_steps():
        if before.steps == 0:
            made.clear()
        made[kind_of(action)] += 1
        if after.ending:
            found |= made
    assert found["between columns"] > 0
    assert all(0 < found[kind] <= number for kind, number in most.items())


def test_b5_4_player_may_resign_where_the_rules_allow_it() -> None:
    position = Position([["AS"], ["KS"]], resign=True)
    assert position.legal == {"col_0_to_foundation", "resign"}
    position.do("col_0_to_foundation")
    assert position.now.ending == "lost"
    position = Position([["AS"], ["AH"]], resign=True).do("col_0_to_foundation", "resign")
    assert (position.now.ending, position.now.returns) == ("resigned", (1,))
    assert "resign" not in Position([["AS"]]).legal


def test_b5_5_result_is_cards_up_or_wins_alone() -> None:
    for reward, returns in (("cards", (2,)), ("win", (0,))):
        position = Position([["KS"]], foundations=["2H"], stock=["KH"], redeals_used=1, reward=reward).do("draw")
        assert (position.now.ending, position.now.cards_up, position.now.returns) == ("lost", 2, returns)
    won = Position([["KS"]], foundations=["KS"] * 3 + ["KH"] * 4 + ["QH"], reward="win").do("col_0_to_foundation")
    assert won.now.returns == (104,)


def test_b5_1_a_whole_deal_can_be_won() -> None:
    tables = BureauTables(BureauRules(), 1)
    tables.deal([dealt_columns(easy_deck())])
    while not tables.settled[0]:
        legal = np.flatnonzero(tables.legal_action_mask()[0])
        up = [action for action in legal if action == 2 or 16 <= action < 29]
        tables.step([up[0] if up else 0])
    assert tables.snapshot(0).ending == "won"


# --- B6: environment --------------------------------------------------------------------------------------------------


def test_b6_1_refusal_names_table_and_what_is_legal_and_changes_nothing() -> None:
    position = Position([["AS"], ["2H"]])
    before = position.tables.records.tobytes()
    for action in (0, 29, 198, -1, 2**40):
        with pytest.raises(IllegalActionError, match=r"table 0.*not legal; legal: col_0_to_foundation, col_0_to_col_1"):
            position.tables.step([action])
        assert position.tables.records.tobytes() == before
    with pytest.raises(IllegalActionError, match="settled"):
        BureauTables(BureauRules(), 1).forfeit([0])


def test_b6_2_forfeit_brings_nothing() -> None:
    position = Position([["AS"]], foundations=["5S"])
    position.tables.forfeit([0])
    assert (position.now.ending, position.now.returns, position.now.cards_up) == ("forfeited", (0,), 5)


def test_b6_3_positions_do_not_come_back_until_a_move_that_lasts() -> None:
    columns = [["9S", "8H"], ["9S"], ["9S"], ["AS"]]
    free = Position(columns).do("col_0_to_col_1")
    assert {"col_1_to_col_0", "col_1_to_col_2"} <= free.legal
    held = Position(columns, forbid_repeat=True).do("col_0_to_col_1")
    assert held.legal == {"col_1_to_col_2", "col_3_to_foundation"}
    held.do("col_1_to_col_2")
    assert held.legal == {"col_3_to_foundation"}
    held.do("col_3_to_foundation")
    assert held.legal == {"col_2_to_col_0", "col_2_to_col_1"}
    held.do("col_2_to_col_0", "col_0_to_col_1")
    assert held.now.ending == "lost"


def test_b6_3_moves_that_turn_a_card_up_or_empty_a_column_last() -> None:
    emptied = Position([["8H"], ["9S"], ["9S"]], forbid_repeat=True).do("col_0_to_col_1", "col_1_to_col_2")
    assert emptied.now.ending == "lost"
    turned = Position([["#KS", "8H"], ["KH", "9S"], ["KH", "9S"]], forbid_repeat=True)
    assert turned.do("col_0_to_col_1").legal == {"col_1_to_col_2"}


def test_b6_4_texts_name_every_action_of_the_list() -> None:
    rules = BureauRules(resign=True)
    diagonal = {29 + 14 * column for column in range(13)}
    for action in set(range(199)) - diagonal:
        assert action_id(rules, action_text(rules, action)) == action
    for text in ("", "resign", "col_0_to_col_0", "col_13_to_foundation", "foundation_to_col_1", None):
        with pytest.raises(IllegalActionError, match="no action"):
            action_id(BureauRules(), text)  # type: ignore[arg-type]
    with pytest.raises(IllegalActionError, match="no action"):
        action_text(rules, 1.5)  # type: ignore[arg-type]
    assert "no action at all" in action_text(BureauRules(), 198)


def test_b6_5_integers_say_what_can_be_seen() -> None:
    columns = [["#3S", "JS"], ["KH"]]
    position = Position(columns, foundations=["2H", "AS"], waste=["4H", "5H"], stock=["6S", "7S"], redeals_used=0)
    seen = position.tables.observe_numbers()[0]
    black, red = 2, 2 + 13
    assert seen.shape == (323,)
    assert seen[:16].tolist() == [1, black + 10, *[0] * 14]
    assert seen[16:32].tolist() == [red + 12, *[0] * 15]
    assert seen[208:216].tolist() == [red + 1, black, *[0] * 6]
    assert seen[216:268].tolist() == [red + 3, red + 4, *[0] * 50]
    assert seen[268:320].tolist() == [1, 1, *[0] * 50]
    assert seen[320:].tolist() == [2, 2, 1]
    again = Position(columns, waste=["4H"], stock=["6S", "7S"], redeals_used=1).tables.observe_numbers()[0]
    assert again[268:271].tolist() == [black + 5, black + 6, 0]
    assert again[322] == 0


def test_b6_6_pack_alone_decides_the_deal() -> None:
    deck = shuffled_decks(3, [0], pack=BureauRules().pack)
    one, other = BureauTables(BureauRules(), 1), BureauTables(BureauRules(), 2)
    one.deal(deck)
    other.deal(deck, rows=[1])
    assert one.records[0].tobytes() == other.records[1].tobytes()


# --- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"n_foundations": 9}, "n_foundations is 9; it must be from 1 to 8"),
        ({"max_passes": 0}, "max_passes is 0"),
        ({"max_steps": 1001}, "max_steps is 1001"),
        ({"max_steps": True}, "must be an integer"),
        ({"forbid_repeat": 1}, "must be True or False"),
        ({"reward": "wins"}, "did you mean 'win'"),
    ],
)
def test_fields_that_make_no_game_are_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(RulesError, match=words):
        BureauRules(**fields)


def test_presets_fingerprints_and_plain_form() -> None:
    every = [BureauRules.preset(name) for name in PRESETS]
    assert len({rules.fingerprint for rules in every}) == len(PRESETS)
    assert BureauRules.preset("literal").n_foundations == 4
    for rules in every:
        plain = json.loads(json.dumps(dataclasses.asdict(rules)))
        assert BureauRules.from_plain(plain, rules.fingerprint) == rules
        with pytest.raises(RulesError, match="mean something else"):
            BureauRules.from_plain(plain, "0")
    assert BureauRules(max_steps=np.int64(5)) == BureauRules(max_steps=5)  # type: ignore[arg-type]
    with pytest.raises(RulesError, match="did you mean 'standard'"):
        BureauRules.preset("standart")
    with pytest.raises(RulesError, match="did you mean 'max_steps'"):
        BureauRules.preset("standard", max_step=5)


def test_b2_1_four_foundations_cannot_be_won() -> None:
    position = Position([["AS"]], foundations=["KS", "KH", "KS", "KH"], n_foundations=4, stock=["2H"])
    assert position.do("draw").legal == {"redeal"}
    assert position.now.cards_up == 52


def test_every_numbered_rule_is_named_in_the_code_and_in_a_test() -> None:
    numbers = set(re.findall(r"\*\*(B\d\.\d)", PAGE))
    assert len(numbers) > 25
    code = "\n".join(path.read_text() for path in (ROOT / "bourre_env" / "bureau").glob("*.py"))
    missing = [number for number in sorted(numbers) if not re.search(rf"\b{number}\b", code)]
    tests = Path(__file__).read_text()
    untested = [number for number in sorted(numbers) if f"_{number.lower().replace('.', '_')}_" not in tests]
    assert (missing, untested) == ([], [])


def test_page_lists_the_presets_and_the_defaults() -> None:
    for name, changes in PRESETS.items():
        told = ", ".join(f"{field} = {str(value).lower()}" for field, value in changes.items())
        assert f"| `{name}` | {told or 'the defaults'} |\n" in PAGE
    assert PAGE.count("\n| `") == len(PRESETS)
    for field in dataclasses.fields(BureauRules):
        default = f'"{field.default}"' if isinstance(field.default, str) else str(field.default).lower()
        assert f"`{field.name} = {default}`" in PAGE


def test_positions_laid_for_these_tests_hold_what_they_say() -> None:
    position = Position([["#3S", "JS"]], foundations=["2H"], waste=["4H"], stock=["6S"])
    assert position.now.columns == (("#3S", "JS"), *[()] * 12)
    assert (position.now.foundations, position.now.waste, position.now.stock) == (("2H",), ("4H",), ("6S",))
    assert position.now.steps == LAID
