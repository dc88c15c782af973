"""Recorded deals looked over: values, losses, best lines, and the command that prints them."""

import json
from pathlib import Path

import numpy as np
import pytest
from positions import OneTable

from agents.analysis import Choice, DealAnalysis, analyse_deal, as_json
from agents.baselines import HEURISTIC
from agents.evaluation_cli import main
from agents.search import Effort, SearchPolicy
from agents.solver import Solver
from bourre_env import Rules
from bourre_env.bourre.actions import action_text
from bourre_env.cards import card_text
from bourre_env.notation import DealRecord, parse

POLICY = SearchPolicy("analysis", HEURISTIC, Effort(worlds=64, proposals=512, rounds=2))
README = (Path(__file__).parent.parent / "README.md").read_text()
SHOWN = README[README.index("bourre record 1") : README.index("\n```", README.index("bourre record 1"))] + "\n"


@pytest.fixture(scope="module")
def shown() -> DealAnalysis:
    return analyse_deal(parse(SHOWN)[0], POLICY)


def by_text(choice: Choice) -> dict[str, float | None]:
    return {other.action: other.opened for other in choice.alternatives}


def test_every_decision_has_all_its_alternatives_best_first(shown: DealAnalysis) -> None:
    tables = shown.record.begin()
    assert len(shown.choices) == len(shown.record.actions) == 19
    for choice, before in zip(shown.choices, shown.record.replay(), strict=False):
        assert (choice.seat, choice.phase) == (before.seat, before.phase)
        assert len({other.action for other in choice.alternatives}) == len(choice.alternatives)
        if choice.is_forced:
            assert (choice.loss, choice.worlds, choice.best) == (None, 0, choice.played)
            continue
        seen = [other.seen for other in choice.alternatives]
        assert seen == sorted(seen, reverse=True)
        assert choice.loss == choice.best.seen - choice.played.seen >= 0
        assert choice.played.error == 0
        assert 0 < choice.worlds <= 64
    legal = int(tables.legal_action_mask()[0].sum())
    assert len(shown.choices[0].alternatives) == legal == 33


def test_open_values_are_those_of_the_solver_and_the_line_leads_to_them(shown: DealAnalysis) -> None:
    record, solver = shown.record, Solver(shown.record.rules)
    met = 0
    for choice in shown.choices:
        if choice.phase != "play":
            assert choice.line == ()
            assert choice.open_loss is None
            continue
        tables = _at(record, choice.number)
        values = solver.solve_actions(tables)[0, :, choice.seat]
        found = sorted(value for value in by_text(choice).values() if value is not None)
        assert found == sorted(values[~np.isnan(values)].tolist())
        assert choice.open_loss == max(found) - choice.played.opened
        played_on = (*record.actions[: choice.number - 1], *(card for _, card in choice.line))
        *_, last = DealRecord(record.rules, record.dealer, record.deck, played_on).replay()
        assert last.phase == "settled"
        assert last.chips[choice.seat] + last.carry / 4 == max(found)
        assert choice.line[0][0] == choice.seat
        met += 1
    assert met == 15


def _at(record: DealRecord, number: int):
    """The table before an action of a deal."""
    table = OneTable.__new__(OneTable)
    table.rules, table.tables = record.rules, record.begin()
    return table.act(*record.actions[: number - 1]).tables


def test_a_blunder_is_a_mistake_and_what_it_cost() -> None:
    """The dealer holds five top trumps and passes; whoever stays with such a hand takes the pot of two."""
    table = OneTable(["2C 3C 4D 5D 6H", "AS KS QS TS JS"], dealer=1, next_cards="7C")
    deck = [*map(_real, table.tables.records[0].deck)]
    record = DealRecord(table.rules, 1, tuple(deck), ("stay", "pass"))
    choice = analyse_deal(record, POLICY).choices[1]
    assert choice.taken == "pass"
    assert choice.best.action == "stay"
    assert choice.is_mistake
    assert choice.loss == pytest.approx(2, abs=2.5)
    assert analyse_deal(record, POLICY).losses(1) == choice.loss
    assert analyse_deal(record, POLICY).losses(0) in (0, analyse_deal(record, POLICY).choices[0].loss)


def _real(card: int) -> str:
    """Text of a card whose relative suits begin with spades."""
    return "23456789TJQKA"[card % 13] + "SCDH"[card // 13]


def test_a_seat_that_acts_as_nobody_would_is_judged_by_worlds_that_fit() -> None:
    """Nobody stays with nothing and throws nothing away, so the rule bot explains no such world."""
    table = OneTable(["2C 3C 4D 5D 6H", "2D 3H 7C 8D 9S"], dealer=1)
    deck = [*map(_real, table.tables.records[0].deck)]
    record = DealRecord(table.rules, 1, tuple(deck), ("stay", "pass"))
    choices = analyse_deal(record, SearchPolicy("a", HEURISTIC, Effort(worlds=32, proposals=64, rounds=1))).choices
    assert [choice.likely for choice in choices] == [True, False]
    assert choices[1].worlds == 32


@pytest.mark.parametrize("preset", ["french3", "wiki", "bicycle", "reduced_3p2c"])
def test_a_forfeit_ends_the_analysis_under_any_rules(preset: str) -> None:
    rules = Rules.preset(preset, num_players=3)
    deck = tuple(card_text(card, rules.rank_names) for card in rules.pack)
    tables = DealRecord(rules, 0, deck).begin()
    texts = []
    for _ in range(2):
        texts.append(action_text(rules, tables.records[0], int(np.flatnonzero(tables.legal_action_mask()[0])[0])))
        tables.step(tables.legal_action_mask().argmax(axis=1))
    analysis = analyse_deal(DealRecord(rules, 0, deck, (*texts, "forfeit")), POLICY)
    assert analysis.forfeit == tables.to_act[0]
    assert [choice.taken for choice in analysis.choices] == texts


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "deal.txt"
    path.write_text(SHOWN)
    return path


def test_the_command_prints_a_table_and_writes_json(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = record.parent / "values.json"
    assert main(["analyse", str(record), "--worlds", "32", "--json", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "deal 1" in printed
    assert "stay 9C 2H" in printed
    assert "Given away by what is marked !: seat 0 " in printed
    content = json.loads(file.read_text())
    assert content["policy"] == "heuristic"
    assert [deal["deal"] for deal in content["deals"]] == [1]
    assert len(content["deals"][0]["choices"]) == 19
    assert content["deals"][0]["choices"][0]["taken"] == "stay 9C 2H"
    assert main(["analyse", str(record), "--worlds", "32", "--json", str(file)]) == 0
    assert json.loads(file.read_text()) == content


def test_only_one_seat_is_printed_when_asked(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyse", str(record), "--seat", "2", "--worlds", "16"]) == 0
    printed = capsys.readouterr().out
    assert "pass" in printed
    assert "stay 9C 2H" not in printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["missing.txt"], "missing.txt: there is no such file"),
        (["RECORD", "--deal", "2"], "--deal 2: the record has deals 1 to 1"),
        (["RECORD", "--seat", "4"], "--seat 4: the record has seats 0 to 3"),
        (["RECORD", "--policy", "search"], "'search' cannot tell a search how others play"),
        (["RECORD", "--policy", "nobody"], "no policy is called 'nobody'"),
        (["RECORD", "--json", "RECORD/x.json"], "is a file, not a folder"),
    ],
)
def test_wrong_input_costs_one_line(
    words: list[str], message: str, record: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["analyse", *(word.replace("RECORD", str(record)) for word in words)]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_a_record_that_breaks_the_rules_is_refused(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record.write_text(SHOWN.replace("1:2D 3:3D", "1:8D 3:3D"))
    assert main(["analyse", str(record)]) == 2
    assert "action 9 of the deal ('8D') breaks the rules" in capsys.readouterr().err


def test_plain_values_hold_everything(shown: DealAnalysis) -> None:
    plain = json.loads(json.dumps(as_json(shown)))
    assert plain["losses"] == [shown.losses(seat) for seat in range(4)]
    for choice, told in zip(shown.choices, plain["choices"], strict=True):
        assert told["loss"] == choice.loss
        assert [other["action"] for other in told["alternatives"]] == [other.action for other in choice.alternatives]
        assert [tuple(step) for step in told["line"]] == list(choice.line)
