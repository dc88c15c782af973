"""Hand records: written, read back, replayed, and refused where they break the rules or contradict themselves."""

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from random_records import random_records

from agents.evaluation_cli import main
from agents.replaying import views
from bourre_env import PRESETS, IllegalActionError, Rules, Tables, raw_env, shuffled_decks
from bourre_env.bourre.rules import PRESET_PLAYERS
from bourre_env.errors import NotationError
from bourre_env.notation import DealRecord, parse, write

ROOT = Path(__file__).parent.parent


def session_text(seed: int = 5) -> str:
    """A session of two deals."""
    env, rng = raw_env(num_deals=2), np.random.default_rng(0)
    env.reset(seed=seed)
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        done = terminated or truncated
        legal = np.flatnonzero(observation["action_mask"])
        env.step(None if done else int(rng.choice(legal)) if agent in env.agents else None)
    return env.record()


@pytest.mark.parametrize("preset", PRESETS)
def test_9_text_of_a_deal_reads_back_as_the_same_deal(preset: str) -> None:
    fewest, most = PRESET_PLAYERS.get(preset, (2, 8))
    for num_players in {fewest, most}:
        records = random_records(Rules.preset(preset, num_players=num_players, ante=2), 5, seed=num_players)
        assert [parse(write(record))[0] for record in records] == records
        assert parse(write(records)) == records


@pytest.mark.slow
def test_ten_thousand_random_deals_make_the_round_trip() -> None:
    for num_players in range(2, 9):
        for record in random_records(Rules.preset("pagat", num_players=num_players), 1500, seed=7):
            text = write(record)
            assert write(parse(text)) == text


def test_record_ends_with_the_chips_of_the_deal() -> None:
    (record,) = random_records(Rules.preset("pagat"), 1, seed=3)
    *_, end = record.replay()
    assert end.phase == "settled"
    chips = " ".join(f"{chips:+d}" for chips in end.chips)
    assert write(record).rstrip().splitlines()[-1].startswith(f"chips {chips}  carry {end.carry}  exempt ")


def test_environment_record_is_the_episode() -> None:
    text = session_text()
    first, second = parse(text)
    assert write([first, second]) == text
    assert second.dealer == (first.dealer + 1) % 4
    *_, end = first.replay()
    assert second.carry == end.carry
    assert second.exempt == tuple(np.flatnonzero(end.exempt))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("bourre record 1", "bourre record 2", "line 1: a record begins with"),
        ("rules pagat", "rules poker", "line 2: the rules are written as"),
        ("num_players=4", "num_player=4", r"line 2: .*did you mean 'num_players'"),
        ("num_players=4", "num_players=9", "line 2: the preset 'pagat' is for 2 to 8 players, not 9"),
        ("num_players=4", "num_players", "line 2: 'num_players' is not a field"),
        ("fingerprint ", "fingerprint 0", "line 3: it says"),
        ("dealer ", "dealer x", r"line 6: expected 'dealer SEAT"),
        ("deck ", "deck 2C 2C ", "line 6: this is no deal"),
        ("won by 0", "won by 1", r"it says 'trick .* won by 1', but by the rules it is"),
        ("chips ", "chips 1 ", "it says 'chips 1 "),
        (" stays, ", " stays ", "is neither a declaration, a draw nor a trick"),
        ("turn-up ", "turn-up 0", "line 11: it says"),
    ],
)
def test_record_that_breaks_the_rules_or_contradicts_itself_is_refused(old: str, new: str, message: str) -> None:
    text = session_text()
    assert old in text
    with pytest.raises(NotationError, match=message):
        parse(text.replace(old, new, 1))


def test_record_cut_off_inside_a_line_or_with_a_line_too_many_is_refused() -> None:
    text = session_text()
    lines = text.splitlines()
    with pytest.raises(NotationError, match=f"line {len(lines)}: the record ends too early"):
        parse("\n".join(lines[:-1]) + "\n")
    with pytest.raises(NotationError, match=f"line {len(lines) + 1}"):
        parse(text + "chips +0 +0 +0 +0  carry 0  exempt none\n")


@pytest.mark.parametrize("deal", [0, -1], ids=["first deal", "last deal"])
def test_record_that_lacks_its_last_trick_is_told_to_end_in_mid_deal(deal: int) -> None:
    lines = session_text().splitlines()
    place = [number for number, line in enumerate(lines) if line.startswith("chips ")][deal]
    with pytest.raises(NotationError, match=f"line {place}: the record ends in mid-deal: .* before the chips"):
        parse("\n".join([*lines[: place - 1], *lines[place:]]))
    with pytest.raises(NotationError, match=f"line {len(lines) + 1}: the record goes on after its end"):
        parse("\n".join([*lines, lines[-1]]))


def test_play_out_of_turn_or_against_a_duty_is_refused_with_its_place() -> None:
    lines = session_text().splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("trick 1"))
    lines[place] = re.sub(r"(\d:)(\w\w) (\d:)\w\w", r"\1\2 \3\2", lines[place])  # the second seat plays the card led
    with pytest.raises(NotationError, match=r"action \d+ of the deal \('\w\w'\) breaks the rules: .*is not legal"):
        parse("\n".join(lines))


def test_deals_under_different_rules_are_no_record() -> None:
    records = [random_records(Rules.preset(preset), 1, seed=1)[0] for preset in ("pagat", "pagat_limit")]
    with pytest.raises(NotationError, match="same rules"):
        write(records)
    with pytest.raises(NotationError, match="at least one deal"):
        write([])


def test_refused_action_names_the_record_so_far_and_gives_no_card_away() -> None:
    env = raw_env()
    env.reset(seed=1)
    env.step(env.action_id("stay"))
    with pytest.raises(IllegalActionError) as raised:
        env.step(0)
    assert raised.value.__notes__ == ["env.unwrapped.record() writes down the deal so far, hidden cards included."]
    assert parse(env.record())[0].actions == ("stay",)


def test_replay_shows_every_step_and_hides_what_a_seat_cannot_see() -> None:
    (record,) = random_records(Rules.preset("pagat"), 1, seed=3)
    whole = list(views([record], None))
    assert len(whole) == len(record.actions) + 2
    hidden = "\n".join(views([record], 0))
    first = next(record.replay())
    for seat, hand in enumerate(first.hands):
        line = next(line for line in hidden.splitlines() if f"seat {seat} " in line)
        assert all((card in line) == (seat == 0) for card in hand)


def test_3_12_replay_of_blind_declaring_shows_no_hand_before_all_have_declared() -> None:
    tables = Tables(Rules(declare_mode="two_rounds", blind_declaring=True), 1)
    tables.deal(shuffled_decks(1, [0]), 3)
    dealt = DealRecord.of_table(tables.rules, tables.records[0])
    _, *shown = views([dataclasses.replace(dealt, actions=("stay",) * 4)], 0)
    hands = [re.findall(r"seat 0  (.{14})", view)[-1] for view in shown]
    assert hands == [*["-- -- -- -- --"] * 4, " ".join(next(dealt.replay()).hands[0])]


def test_replay_command_prints_a_piped_record(tmp_path: Path) -> None:
    file = tmp_path / "deal.txt"
    file.write_text(session_text(), encoding="utf-8")
    shown = subprocess.run(
        [sys.executable, "evaluate.py", "replay", str(file), "--seat", "1"],
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=60,
    ).stdout  # fmt: skip
    assert "deal 2 of 2" in shown
    assert "settled" in shown


def test_6_7_replay_command_shows_the_stacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    env = raw_env(rules=Rules(stacks="table_stakes"), num_deals=2, buy_in=6)
    env.reset(seed=5)
    for _ in range(4):
        env.step(env.action_id("pass" if env.snapshot().seat != env.snapshot().dealer else "stay"))
    file = tmp_path / "deal.txt"
    file.write_text(env.record(), encoding="utf-8")
    assert main(["replay", str(file)]) == 0
    assert "stack 5" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "content", "message"),
    [
        (["missing.txt"], None, "there is no such file"),
        (["."], None, "is a folder"),
        (["deal.txt"], b"\xff\xfe", "no text file"),
        (["deal.txt"], b"hello\n", "line 1: a record begins with"),
        (["deal.txt", "--seat", "7"], None, "seats 0 to 3"),
    ],
)
def test_bad_replay_costs_one_line_and_exit_code_2(
    words: list[str], content: bytes | None, message: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("deal.txt").write_bytes(session_text().encode() if content is None else content)
    assert main(["replay", *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error.splitlines()) == 1


def test_deal_just_begun_is_a_record_too() -> None:
    tables = Tables(Rules.preset("hoyle"), 1)
    tables.deal(shuffled_decks(1, [0]), 3)
    record = DealRecord.of_table(tables.rules, tables.records[0])
    assert parse(write(record)) == [record]
