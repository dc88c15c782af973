"""Deals of any game as lines of JSON: as they were played, read back, played again, refused where they cannot be."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import deal_lines
from agents.deal_lines import DealLine, DealLineError
from agents.evaluation_cli import main as evaluate
from agents.policy import Decision, Policy, load_policy
from agents.referee import NO_ACTION
from agents.results import Terms
from bourre_env import Rules
from bourre_env.bureau.rules import BureauRules
from bourre_env.euchre.rules import EuchreRules
from bourre_env.family import GameRules
from bourre_env.pinochle.rules import PinochleRules

RANKS = "A23456789TJQK"

GAMES: dict[str, GameRules] = {
    "bourre": Rules.preset("pagat", num_players=3),
    "euchre": EuchreRules(),
    "pinochle": PinochleRules.preset("exchange_four"),
    "bureau": BureauRules.preset("no_repeats"),
}


class Failing:
    """Answers no decision of the last seat of two, or of the only one."""

    name = "failing"

    def act(self, decision: Decision, rng: np.random.Generator) -> np.ndarray:
        fails = decision.seat == min(1, decision.rules.num_players - 1)
        return np.where(fails, -5, decision.legal_action_mask.argmax(axis=1))


def played(rules: GameRules, *line_up: str, policies: dict[str, Policy] | None = None, **options: Any) -> Any:
    policies = policies or {name: load_policy(name) for name in line_up}
    terms = Terms(rules, **options)
    return terms, *deal_lines.play_again(terms, policies, line_up, seed=3, deal_ids=[0, 5])


@pytest.mark.parametrize("game", GAMES)
def test_every_action_of_a_deal_is_written_down_and_played_again(game: str, tmp_path: Path) -> None:
    rules = GAMES[game]
    line_up = ("heuristic", "random", "random")[: 3 if game == "bourre" else 2]
    terms, blocks, lines = played(rules, *line_up)
    assert len(lines) == 2 * len(line_up)
    assert [(line.deal, line.table) for line in lines] == [
        (deal, table) for deal in (0, 5) for table in range(len(line_up))
    ]
    seats_each = {0, 1} if rules.num_players == 1 else {rules.num_players // len(line_up)}
    assert {line.seats.count("heuristic") for line in lines} == seats_each
    for number, line in enumerate(lines):
        *_, end = deal_lines.replay(terms, line)
        assert end.settled.all()
        block, table = divmod(number, len(line_up))
        rotation = 0 if rules.num_players == 1 else table
        own = [blocks.returns[block, rotation, line_up.index(name)] for name in line.seats[:1]]
        assert line.returns[0] in blocks.returns[block, rotation].tolist()
        assert line.seats[0] != "heuristic" or line.returns[0] == own[0]
    (tmp_path / "deals.jsonl").write_bytes(deal_lines.to_bytes(terms, lines))
    assert deal_lines.read(tmp_path / "deals.jsonl") == (terms, lines)


def test_table_stakes_and_forfeits_are_played_again() -> None:
    stakes = Rules.preset("pagat", num_players=2, stacks="table_stakes")
    terms, _, lines = played(stakes, "heuristic", "random", buy_in=3)
    assert [tuple(end) for end in ([*deal_lines.replay(terms, line)][-1].returns[0] for line in lines)] == [
        line.returns for line in lines
    ]
    for rules, seat in ((EuchreRules(), 1), (BureauRules(), 0)):
        terms, _, lines = played(rules, "failing", "failing", policies={"failing": Failing()})
        assert {line.actions[-1] for line in lines} == {NO_ACTION}
        for line in lines:
            *_, last = deal_lines.steps(terms, line)
            assert last.startswith(f"seat {seat}, failing: forfeits\n")


def test_ids_of_all_four_words_of_a_legal_set_are_written_down_and_others_refused() -> None:
    terms, _, lines = played(BureauRules(), "heuristic", "random")
    assert {action // 64 for line in lines for action in line.actions} == {0, 1, 2, 3}
    for wrong in (29, 198, 256):
        line = changed(lines, actions=(wrong, *lines[0].actions[1:]))
        with pytest.raises(DealLineError, match=f"action 1 is {wrong}, which is not legal there"):
            list(deal_lines.replay(terms, line))


def test_cards_that_lie_face_down_in_bureau_are_shown() -> None:
    terms, _, lines = played(BureauRules(), "heuristic", "heuristic")
    first = next(deal_lines.steps(terms, lines[0])).splitlines()
    rows, stock = first[-4:], first[3].split()[1:]
    assert [len(row.split()) for row in rows] == [13] * 4
    assert [card.startswith("#") for row in rows for card in row.split()] == ([True] * 13 + [False] * 13) * 2
    shown = [card.lstrip("#") for row in rows for card in row.split()] + stock
    assert shown == [RANKS[card % 13] + "SH"[card // 13] for card in lines[0].deck]
    assert [[row[column] for column in (3, 4, 8, 9)] for row in rows] == [[" "] * 4] * 4


def test_sessions_are_no_lines() -> None:
    with pytest.raises(ValueError, match="sessions of 2 deals"):
        played(Rules.preset("pagat_limit", num_players=2), "random", "random", session=2)


def changed(lines: list[DealLine], **fields: Any) -> DealLine:
    return DealLine(**{**{name: getattr(lines[0], name) for name in DealLine.__dataclass_fields__}, **fields})


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda line: {"actions": line.actions[:-1]}, "deal 0 at table 0 is not over after its"),
        (lambda line: {"actions": (*line.actions, 3)}, "is over before action"),
        (lambda line: {"actions": (32, *line.actions[1:])}, "action 1 is 32, which is not legal there"),
        (lambda line: {"returns": (9, 9, 9, 9)}, r"brings \[.*\], not \[9, 9, 9, 9\]"),
    ],
)
def test_a_deal_that_the_rules_do_not_allow_is_refused(change: Callable[[DealLine], Any], complaint: str) -> None:
    terms, _, lines = played(EuchreRules(), "heuristic", "random")
    with pytest.raises(DealLineError, match=complaint):
        list(deal_lines.replay(terms, changed(lines, **change(lines[0]))))


@pytest.mark.parametrize(
    ("line", "change", "complaint"),
    [
        (0, {"format": 7}, "line 1 .* the first line must say format 1"),
        (0, {"game": "whist"}, "line 1 .* no game is called 'whist'"),
        (0, {"fingerprint": "0"}, "line 1 .* mean something else"),
        (2, {"deck": [1, 2]}, "line 3 .* no permutation of the pack"),
        (2, {"dealer": 4}, "line 3 .* there are 4 seats"),
        (2, {"actions": ["pass"]}, "line 3 .* are integers"),
        (2, {"colour": 1}, "line 3 .* the fields actions, .*; colour differ"),
    ],
)
def test_a_file_that_holds_no_deals_is_refused_by_line(
    line: int, change: dict[str, Any], complaint: str, tmp_path: Path
) -> None:
    terms, _, lines = played(EuchreRules(), "random", "random")
    texts = deal_lines.to_bytes(terms, lines).decode().splitlines()
    texts[line] = json.dumps({**json.loads(texts[line]), **change})
    (tmp_path / "deals.jsonl").write_text("\n".join(texts))
    with pytest.raises(DealLineError, match=complaint):
        deal_lines.read(tmp_path / "deals.jsonl")


@pytest.mark.parametrize("text", ["", "no json\n", "[]\n"])
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "deals.jsonl").write_text(text)
    with pytest.raises(DealLineError, match="line 1 is no deal of a tournament"):
        deal_lines.read(tmp_path / "deals.jsonl")
    with pytest.raises(DealLineError, match="cannot be read"):
        deal_lines.read(tmp_path / "nowhere.jsonl")


def test_a_tournament_writes_its_first_deals_and_replay_steps_through_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["tournament", "heuristic", "random", "--game", "euchre", "--blocks", "3", "--workers", "1"]
    assert evaluate([*words, "--deal-lines", "2"]) == 2
    assert "--deal-lines 2: it needs --out DIR and single deals" in capsys.readouterr().err
    assert evaluate([*words, "--deal-lines", "2", "--out", str(tmp_path)]) == 0
    file = tmp_path / "deals-4.jsonl"
    _, lines = deal_lines.read(file)
    assert [(line.deal, line.table) for line in lines] == [(0, 0), (0, 1), (1, 0), (1, 1)] * 2
    capsys.readouterr()
    assert evaluate(["replay", str(file), "--deal", "2"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("deal 2 of 8: random, heuristic, random, heuristic\n")
    assert "seat 1, heuristic: " in printed
    assert printed.rstrip().endswith("returns: " + ", ".join(f"{value:+}" for value in lines[1].returns))
    assert evaluate(["replay", str(file), "--seat", "1"]) == 2
    assert evaluate(["replay", str(file), "--deal", "9"]) == 2


DAMAGE = {
    "cut off": lambda first, deal: first[:20],
    "not a word of it": lambda first, deal: "",
    "names that are numbers": lambda first, deal: f"{first}\n{json.dumps({**json.loads(deal), 'seats': [1, 2, 3, 4]})}",
    "a name that moves the cursor": lambda first, deal: first + "\n" + deal.replace('"random"', '"\\u001b[2J"'),
    "stakes where there are none": lambda first, deal: first.replace('"buy_in": null', '"buy_in": 5'),
    "stakes that are a text": lambda first, deal: first.replace('"buy_in": null', '"buy_in": "a"'),
    "brackets without end": lambda first, deal: f"{first}\n{'[' * 100_000}",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_costs_one_line_and_exit_code_2(
    damage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    terms, _, lines = played(GAMES["euchre"], "heuristic", "random")
    first, deal = deal_lines.to_bytes(terms, lines).decode().splitlines()[:2]
    file = tmp_path / "deals.jsonl"
    file.write_text(DAMAGE[damage](first, deal))
    assert evaluate(["replay", str(file)]) == 2
    told = capsys.readouterr().err
    assert len(told.splitlines()) == 1
    assert f"{file}, line " in told


def test_a_missing_file_costs_one_line_and_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate(["replay", str(tmp_path / "none.jsonl")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
