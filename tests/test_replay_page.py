"""Deals on a page: stepped through, judged, and holding nothing that the seat may not see."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from pages import Page
from random_records import random_records

from agents.analysis import analyse_deal
from agents.baselines import HEURISTIC
from agents.evaluation_cli import main
from agents.frames import frames_of
from agents.frames_analysis import explained, judged_actions
from agents.replay_page import replay_page
from agents.report_deals import Judging, shown_deals
from agents.results import Results
from agents.search import Effort, SearchPolicy
from bourre_env import Rules
from bourre_env.notation import DealRecord, parse, write

POLICY = SearchPolicy("analysis", HEURISTIC, Effort(worlds=32, proposals=256, rounds=2))
README = (Path(__file__).parent.parent / "README.md").read_text()
SHOWN = README[README.index("bourre record 1") : README.index("\n```", README.index("bourre record 1"))] + "\n"
CARD = re.compile(r"\b[2-9TJQKA][CDHS]\b")
CHROMIUM = shutil.which("chromium")
HOUSES = {
    "pagat": Rules.preset("pagat"),
    "wiki": Rules.preset("wiki", num_players=6),
    "hoyle": Rules.preset("hoyle", num_players=3),
    "blind": Rules(declare_mode="two_rounds", blind_declaring=True),
    "small": Rules.preset("reduced_3p2c"),
}


@pytest.fixture
def record(tmp_path: Path) -> Path:
    path = tmp_path / "deal.txt"
    path.write_text(SHOWN)
    return path


def known_to(record: DealRecord, seat: int) -> set[str]:
    """Every card that a seat has seen in a deal: its own, those played, the turn-up."""
    seen = set()
    for table, action in zip(record.replay(), [*record.actions, ""], strict=True):
        blind = record.rules.blind_declaring and table.phase == "declare"
        seen |= {table.turn_up, *(() if blind else table.hands[seat])}
        if table.phase == "play":
            seen |= {action}
    return seen


# --- the file ---


@pytest.mark.parametrize("house", HOUSES)
def test_the_page_of_a_seat_holds_no_card_that_it_has_not_seen(house: str) -> None:
    for number, record in enumerate(random_records(HOUSES[house], 12, seed=4)):
        seat = number % record.rules.num_players
        html = replay_page({1: record}, "deal", seat=seat)
        page = Page(html)
        told = " ".join([page.scripts[0], *page.texts])
        assert set(CARD.findall(told)) == known_to(record, seat) - {""}
        assert "bourre record" not in html


def test_the_page_of_all_seats_holds_the_record_and_every_step() -> None:
    records = random_records(HOUSES["pagat"], 3, seed=5)
    html = replay_page(dict(enumerate(records, 1)), "three <deals>")
    page = Page(html)
    page.assert_stands_alone(html)
    page.assert_accessible()
    assert page.headings[0] == "Bourré: three <deals>"
    told = re.findall(r"<pre[^>]*>(bourre record.*?)</pre>", html, re.S)
    assert told == [write(record) for record in records]
    frames = json.loads(page.scripts[0])
    assert [len(deal["frames"]) for deal in frames] == [len(record.actions) + 1 for record in records]
    steps = page.text.count("passes.") + page.text.count("stays") + page.text.count(" plays ")
    assert steps >= sum(len(record.actions) for record in records)


def test_frames_of_a_seat_say_how_many_cards_others_drew_and_which_turn_up_they_threw_away() -> None:
    record = parse(SHOWN)[0]
    say = [frame.get("say", "") for frame in frames_of(record, [""] * 4, seat=1)["frames"]]
    assert say[1:5] == [
        "Seat 0 stays, 2 new.",
        "Seat 1 stays: AH 5S for 4S QS.",
        "Seat 2 passes.",
        "Seat 3 stays, 3 new.",
    ]
    thrown = DealRecord(record.rules, record.dealer, record.deck, ("stay", "stay", "pass", "stay JD 7S"))
    *_, last = frames_of(thrown, [""] * 4, seat=1)["frames"]
    assert last["say"] == "Seat 3 stays, 2 new, the turn-up JD thrown away."


# --- what decisions were worth ---


def test_judged_actions_are_those_of_the_analysis() -> None:
    record = parse(SHOWN)[0]
    analysis = analyse_deal(record, POLICY)
    judged = judged_actions(analysis)
    assert len(judged) == len(record.actions)
    assert [entry is None for entry in judged] == [choice.is_forced for choice in analysis.choices]
    for entry, choice in zip(judged, analysis.choices, strict=True):
        if entry is None:
            continue
        assert len(entry["rows"]) == len(choice.alternatives)
        (taken,) = [row for row in entry["rows"] if row[-1]]
        assert entry["worth"].rstrip("?") == taken[1] == f"{choice.played.seen:+.2f}"
        assert taken[2] == (f"{choice.loss:.2f}" if choice.loss else "")
        assert (taken[3] == "") == (choice.phase != "play")
        assert entry["mistake"] == choice.is_mistake
    first = [row[0] for row in judged[0]["rows"]]
    assert {"pass", "stay", "stay, throw away 9C 2H"} <= set(first)


def test_a_seat_is_told_what_its_own_decisions_were_worth_and_nothing_of_open_cards() -> None:
    record = parse(SHOWN)[0]
    analysis = analyse_deal(record, POLICY)
    judged = judged_actions(analysis, seat=1)
    assert [number for number, entry in enumerate(judged) if entry] == [
        number for number, choice in enumerate(analysis.choices) if choice.seat == 1 and not choice.is_forced
    ]
    for entry in filter(None, judged):
        assert entry["line"] == ""
        assert {row[3] for row in entry["rows"]} == {""}
    html = replay_page({1: record}, "deal", seat=1, judged={1: judged})
    assert set(CARD.findall(Page(html).scripts[0])) == known_to(record, 1) - {""}


def test_a_forfeit_is_not_judged() -> None:
    record = parse(SHOWN)[0]
    cut = DealRecord(record.rules, record.dealer, record.deck, ("pass", "pass", "forfeit"))
    judged = judged_actions(analyse_deal(cut, POLICY))
    assert [entry is None for entry in judged] == [False, False, True]


def test_the_first_costliest_deals_of_a_report_are_looked_over(tmp_path: Path) -> None:
    out = tmp_path / "results"
    words = ["tournament", "random", "heuristic", "--blocks", "6", "--seats", "3", "--workers", "1", "--out", str(out)]
    assert main(words) == 0
    tables = [Results.read(out / "blocks-3.parquet")]
    done: list[int] = []
    players, frames = shown_deals(tables, ["random"], 3, judging=Judging(2, "heuristic", 8), report=done.append)
    assert ["judged" in deal for deal in frames] == [True, True, False]
    assert len(done) == 3 + 2
    assert main(["report", str(out), "--costliest", "1", "--analyse", "1", "--worlds", "8"]) == 0
    html = (out / "report.html").read_text()
    page = Page(html)
    page.assert_stands_alone(html)
    assert explained("heuristic", 8) in page.text
    deals = json.loads(page.scripts[0])
    assert len(deals) == 2
    for deal in deals:
        assert len(deal["judged"]) == len(deal["frames"]) - 1
    record = parse(players[0].deals[0].record)[0]
    assert frames[0]["judged"] == judged_actions(analyse_deal(record, Judging(1, "heuristic", 8).judge()))


# --- the command ---


def test_the_command_writes_the_deal_asked_for(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deal = parse(SHOWN)[0]
    record.write_text(write([deal, deal]))
    out = record.parent / "deep" / "page.html"
    words = ["--deal", "2", "--seat", "0", "--analyse", "--worlds", "8"]
    assert main(["replay", str(record), "--html", str(out), *words]) == 0
    assert capsys.readouterr().out == f"replay: {out}\n"
    page = Page(out.read_text())
    assert "Deal 2: dealer 3, trumps D, chips +3 -5 -1 -1" in page.text
    assert "Deal 1" not in page.text
    assert "up to 8 worlds" in page.text
    assert "all cards open" not in page.text
    (shown,) = json.loads(page.scripts[0])
    assert len([entry for entry in shown["judged"] if entry]) == 1 + 4  # its last card is forced


def test_replay_in_the_terminal_shows_the_deal_asked_for(record: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deal = parse(SHOWN)[0]
    record.write_text(write([deal, deal]))
    assert main(["replay", str(record), "--deal", "2"]) == 0
    printed = capsys.readouterr().out
    assert "deal 2 of 2" in printed
    assert "deal 1 of 2" not in printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["replay", "deal.txt", "--analyse"], "--analyse needs --html OUT"),
        (["replay", "deal.txt", "--html", "deal.txt"], "is the record itself"),
        (["replay", "deal.txt", "--html", "."], "is a folder"),
        (["replay", "deal.txt", "--html", "deal.txt/page.html"], "is a file, not a folder"),
        (["replay", "deal.txt", "--html", "p.html", "--deal", "2"], "the record has deals 1 to 1"),
        (["replay", "deal.txt", "--html", "p.html", "--seat", "4"], "the record has seats 0 to 3"),
        (["replay", "deal.txt", "--html", "p.html", "--analyse", "--policy", "human"], "cannot tell a search"),
    ],
)
def test_wrong_input_is_one_line_and_writes_nothing(
    words: list[str], message: str, record: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(record.parent)
    assert main(words) == 2
    printed = capsys.readouterr()
    assert message in printed.err
    assert printed.err.count("\n") == 1
    assert [path.name for path in record.parent.iterdir()] == ["deal.txt"]
    assert record.read_text() == SHOWN


# --- in a browser ---

PRESS = """<script>
for (const key of KEYS) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
</script>"""


def in_browser(folder: Path, html: str, keys: list[str]) -> str:
    """The page after some keys, as the browser writes it down."""
    without_policy = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", html)
    file = folder / "page.html"
    file.write_text(without_policy.replace("</body>", PRESS.replace("KEYS", json.dumps(keys)) + "</body>"))
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        f"--user-data-dir={folder}",
    ]
    command = [str(CHROMIUM), *flags, "--dump-dom", file.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium")
def test_keys_step_through_the_deal_and_cards_can_be_read_aloud(tmp_path: Path) -> None:
    record = parse(SHOWN)[0]
    judged = judged_actions(analyse_deal(record, POLICY))
    html = replay_page({1: record}, "deal", judged={1: judged})
    dom = in_browser(tmp_path, html, ["ArrowRight"] * 6 + ["ArrowLeft"])
    page = Page(dom)
    assert "5 of 19: Seat 0 plays A♦." in page.text
    assert 'aria-label="ace of diamonds"' in dom
    assert f"Seat 0's choice was worth {judged[4]['worth']} antes" in page.text
    hand = next(row[1] for row in page.rows if row[0].startswith("1"))
    assert hand.split() == ["2♦", "8♦", "10♦", "A♥", "5♠"]
    assert next(tag for name, tag in page.tags if tag.get("type") == "range")["aria-label"] == "step"
    end = Page(in_browser(tmp_path, html, ["End"]))
    assert "3 A♠ 0 6♦ 1 5♠: won by 0" in re.sub(r"\s+", " ", end.text)
