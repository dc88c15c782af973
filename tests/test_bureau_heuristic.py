"""The rule bot of Bureau and what it weighs, at positions where it is plain what a thoughtful player does."""

import numpy as np
import pytest
from bureau_positions import Position

from agents.arena import play_blocks
from agents.baselines import Random
from agents.bureau import features as of
from agents.bureau.heuristic import HEURISTIC
from agents.policy import Decision, PolicyError
from bourre_env import EuchreRules
from bourre_env.bureau.actions import action_id, action_text
from bourre_env.bureau.rules import BureauRules


def answer(position: Position) -> str:
    """What the bot does."""
    tables = position.tables
    packed, legal = tables.observe_packed(), tables.legal_packed()
    decision = Decision.from_packed(packed, legal, tables.to_act, position.rules, np.zeros(1, np.uint64))
    return action_text(position.rules, int(HEURISTIC.act(decision, np.random.default_rng(0))[0]))


def described(position: Position, words: str) -> dict[str, float]:
    """The features of a legal action that are not 0, by name."""
    assert words in position.legal
    packed = position.tables.observe_packed()
    number = of.count_legal(packed)
    assert number == len(position.legal)
    rows, actions = np.empty(number, np.int64), np.empty(number, np.int64)
    features = np.empty((number, of.NUM_FEATURES), np.float32)
    of.describe_legal(packed, rows, actions, features)
    assert actions.tolist() == sorted(action_id(position.rules, text) for text in position.legal)
    (row,) = features[actions == action_id(position.rules, words)]
    return {name: float(value) for name, value in zip(of.NAMES, row, strict=True) if value}


def test_features_of_moves_between_columns() -> None:
    columns = [["#KS", "8H", "#9S", "4H", "3S"], ["5S"], ["4H"], ["#2S", "2H"], ["5S"]]
    position = Position(columns, foundations=["3H"], stock=["9H"])
    turns_up = described(position, "col_0_to_col_1")
    assert turns_up == {
        "moves_run": 1, "rank": 3, "cards": 2, "turns_up": 1, "cards_left": 3, "face_down_left": 1,
        "base_wanted": 3, "base_exposed": 1, "target_cards": 1,
    }  # fmt: skip
    part = described(position, "col_0_to_col_2")
    assert (part["moves_part"], part["cards"], part["rank"], part["cards_left"]) == (1, 1, 2, 4)
    assert "frees_up" not in part
    assert described(position, "col_2_to_col_4")["empties"] == 1
    assert described(position, "col_3_to_col_0")["target_face_down"] == 2
    freed = described(Position([["5S", "4H", "3S"], ["4H"]], foundations=["3S"]), "col_0_to_col_1")
    assert (freed["moves_part"], freed["frees_up"]) == (1, 1)


def test_features_of_what_lies_under_a_run() -> None:
    assert described(Position([["AH", "5S"], ["6H"]]), "col_0_to_col_1")["frees_up"] == 1
    assert described(Position([["KH", "5S"], ["6H"]]), "col_0_to_col_1")["frees_king"] == 1
    assert described(Position([["7H", "5S"], ["6H"], ["8S"]]), "col_0_to_col_1")["frees_run"] == 1
    assert "frees_run" not in described(Position([["7S", "5S"], ["6H"], ["8S"]]), "col_0_to_col_1")


def test_features_of_cards_that_go_up_and_of_the_waste() -> None:
    up = described(Position([["#9S", "2H"]], foundations=["AS"] * 3), "col_0_to_foundation")
    assert up == {"goes_up": 1, "rank": 1, "still_wanted": 1, "cards": 1, "turns_up": 1, "cards_left": 1}
    waste = described(Position([["5S"], ["2H"]], waste=["AS", "4H"]), "waste_to_col_0")
    assert (waste["waste_goes_down"], waste["next_is_known"], waste["next_goes_up"]) == (1, 1, 1)
    assert waste["next_goes_down"] == 1
    known = described(Position([["5S"]], stock=["4H"], redeals_used=1), "draw")
    assert known == {"draws": 1, "next_is_known": 1, "next_goes_down": 1}
    assert described(Position([["5S"]], stock=["4H"]), "draw") == {"draws": 1}


def test_aces_go_up_before_anything_else() -> None:
    assert answer(Position([["#9S", "AH"], ["2S"]], stock=["9H"])) == "col_0_to_foundation"


def test_a_face_down_card_is_turned_up_before_the_next_one_is_drawn() -> None:
    assert answer(Position([["#9S", "6H"], ["7S"]], stock=["9H"])) == "col_0_to_col_1"


def test_no_column_is_emptied_for_nothing() -> None:
    assert answer(Position([["6H"], ["7S"]], stock=["9H"])) == "draw"


def test_the_card_of_the_waste_finds_a_place_before_the_next_one_is_drawn() -> None:
    assert answer(Position([["7S"]], waste=["6H"], stock=["9H"])) == "waste_to_col_0"


def test_of_two_cards_that_go_up_the_lower_goes_first() -> None:
    columns = [["KS", "9S"], ["KH", "2H"]]
    assert answer(Position(columns, foundations=["8H", "AS"], stock=["9H"])) == "col_1_to_foundation"


def test_a_part_is_laid_aside_only_if_that_frees_a_card() -> None:
    columns = [["9S", "5S", "4H", "3S"], ["4H"]]
    assert answer(Position(columns, foundations=["3S"], stock=["9H"])) == "col_0_to_col_1"
    columns = [["9S", "5S", "4H", "3S"], ["9S", "4H"]]
    assert answer(Position(columns, stock=["9H"])) == "draw"


def test_it_never_resigns_and_plays_no_other_game() -> None:
    assert answer(Position([["AH"]], resign=True)) == "col_0_to_foundation"
    with pytest.raises(PolicyError, match="plays bureau only"):
        HEURISTIC.check_rules(EuchreRules())


@pytest.mark.parametrize("preset", ["standard", "no_repeats"])
def test_it_brings_many_more_cards_up_than_random_play(preset: str) -> None:
    blocks = play_blocks(BureauRules.preset(preset), HEURISTIC, Random(), seed=1, deal_ids=np.arange(80))
    mine, others = blocks.cards.mean(axis=(0, 1))
    assert mine > 85
    assert mine > others + 15
    won = blocks.won.mean(axis=(0, 1))
    assert won[0] > 0.2 > won[1]
