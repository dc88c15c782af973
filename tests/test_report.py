"""The report of a tournament: whole, alone, the same each time, and telling what was measured."""

import base64
import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest
from pages import Page

from agents.baselines import HEURISTIC
from agents.charts import Series, bars, lines, numbered
from agents.entrants import Entrant
from agents.evaluation_cli import main
from agents.frames import frames_of
from agents.habits import habits_of
from agents.recording import record_deal
from agents.report import read_tournament, tournament_page
from agents.report_deals import shown_deals
from agents.report_markdown import tournament_markdown
from agents.report_views import ratings_at, verdict_of
from agents.results import Results, Terms
from agents.stopping import FixedBlocks
from agents.summary import plain_summary, summarise
from agents.tournament import Plan, pairs, play_tournament
from bourre_env import Rules
from bourre_env.notation import parse

EVIL = "<script>alert('1')</script> $x_1$ | 中文 & \"*"
VERSIONS = {"python": "3.11", "numpy": "2"}
WORDS = [
    "random",
    "heuristic",
    "odd=odd_bots:RaisesAboutClubs",
    "--blocks",
    "25",
    "--seats",
    "3",
    "4",
    "--workers",
    "1",
]


def played(*entrants: Entrant, line_ups=None, blocks: int = 25, session: int = 1) -> tuple[dict, list[Results]]:
    """Summary and results of a small tournament at three seats."""
    names = [entrant.name for entrant in entrants]
    rules = Rules.preset("pagat_limit" if session > 1 else "pagat", num_players=3)
    chosen = tuple(pairs(names, 3)) if line_ups is None else tuple(line_ups)
    results = play_tournament(Plan(entrants, Terms(rules, session), chosen, 2, FixedBlocks(blocks)))
    tables = [summarise(results, chosen, seed=2)]
    return plain_summary(tables, preset="pagat", command=f"play {EVIL}", versions=VERSIONS), [results]


RANDOM, RULE_BOT, STAYER = Entrant("random", "random"), Entrant(EVIL, "heuristic"), Entrant("_stay", "always_stay")


@pytest.fixture(scope="module")
def tournament() -> tuple[dict, list[Results]]:
    line_ups = [*pairs(["random", EVIL, "_stay"], 3), ("random", EVIL, "_stay")]
    return played(RANDOM, RULE_BOT, STAYER, line_ups=line_ups)


@pytest.fixture(scope="module")
def html(tournament) -> str:
    return tournament_page(*tournament, costliest=3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Results with their report, written by the command."""
    out = tmp_path_factory.mktemp("results")
    assert main(["tournament", *WORDS, "--workers", "1", "--out", str(out)]) == 0
    return out


# --- the page ---


def test_the_page_is_whole_stands_alone_and_can_be_read_aloud(html):
    page = Page(html)
    page.assert_stands_alone(html)
    page.assert_accessible()
    for heading in ("3 seats", "Cross table", "Other line-ups", "Forfeits and faults", "The deals that cost most"):
        assert heading in page.headings
    for name in ("random", EVIL, "_stay"):
        assert f"How {name} plays" in page.headings
    assert "numpy 2" in page.text
    assert f"play {EVIL}" in page.text
    assert html.count("<svg") == 4 + 3 + 3 * 3


def test_the_same_results_give_the_same_bytes(tournament, html):
    assert tournament_page(*tournament, costliest=3) == html


def test_names_are_text_and_never_markup(html):
    assert "<script>alert" not in html
    scripts = [attributes for name, attributes in Page(html).tags if name == "script"]
    assert scripts == [{"type": "application/json", "id": "deals"}, {}]


def test_the_browser_is_told_to_run_the_pages_own_script_alone(html):
    page = Page(html)
    digest = base64.b64encode(hashlib.sha256(page.scripts[-1].encode()).digest()).decode()
    policy = next(tag["content"] for name, tag in page.tags if tag.get("http-equiv") == "Content-Security-Policy")
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def test_the_cross_table_holds_the_numbers_of_the_summary(tournament, html):
    summary = tournament[0]
    rows = Page(html).rows
    header = next(row for row in rows if row[0] == "focal \\ field ")
    for cell in summary["cells"]:
        row = next(row for row in rows[rows.index(header) :] if row[0].strip() == cell["focal"])
        text = row[[name.strip() for name in header].index(cell["field"])]
        numbers = [f"{cell[key]:+.3f}" for key in ("mean", "low", "high")]
        assert re.findall(r"[+-]\d+\.\d{3}", text) == numbers
        assert cell["verdict"] in text
    for place in summary["line_ups"][0]["places"]:
        numbers = f"{place['mean']:+.3f} ", f"{place['low']:+.3f} to {place['high']:+.3f} "
        assert any(row[1].strip() == place["name"] and tuple(row[2:4]) == numbers for row in rows if len(row) == 6)


def test_ratings_are_those_of_the_summary(tournament, html):
    summary = tournament[0]
    page, markdown = Page(html), tournament_markdown(summary)
    assert "Ratings" in page.headings
    (ratings,) = summary["ratings"]
    for kind, number in {"strength": "value", "plackett_luce": "value", "alpha_rank": "average"}.items():
        for row in ratings[kind]:
            shown = [row["name"], f"{row[number]:+.4f}", f"{row['low']:+.4f} to {row['high']:+.4f}"]
            assert shown in [[value.strip() for value in cells] for cells in page.rows]
            assert f"| {row[number]:+.3f} | {row['low']:+.3f} to {row['high']:+.3f} |" in markdown
    assert f"explain {100 * ratings['fit']['share_explained']:.0f} %" in page.text


def test_what_there_are_no_ratings_of_is_left_out(tournament):
    summary = tournament[0]
    (ratings,) = summary["ratings"]
    some = {"seats": 3, "available": True, "strength": ratings["strength"], "alpha_rank": {"not_available": "why"}}
    assert list(ratings_at({"ratings": [some]}, 3)) == ["strength"]
    assert ratings_at({"ratings": [{"seats": 3, "available": False}]}, 3) == {}
    assert ratings_at({"ratings": [some]}, 4) == {}


def test_a_sequential_test_gives_the_verdicts_where_there_was_one(tournament):
    cells = tournament[0]["cells"]
    stopped = [{**cell, "sequential": {"state": "undecided"}} for cell in cells]
    assert {verdict_of(cell) for cell in stopped} == {"undecided"}
    assert {verdict_of(cell) for cell in cells} == {cell["verdict"] for cell in cells}


def test_deals_can_be_stepped_through_and_are_records(tournament, html):
    page = Page(html)
    deals = json.loads(page.scripts[0])
    boxes = [int(attributes["data-deal"]) for _, attributes in page.tags if "data-deal" in attributes]
    assert boxes == list(range(len(deals))) == list(range(9))
    records = [parse(text)[0] for text in re.findall(r"<pre[^>]*>(bourre record.*?)</pre>", html, re.S)]
    assert len(records) == 9
    for record, deal in zip(records, deals, strict=True):
        assert frames_of(record, deal["names"]) == deal
        assert deal["names"].count(EVIL) + deal["names"].count("random") + deal["names"].count("_stay") == 3


def test_frames_add_up_to_the_deal():
    terms, line_up = Terms(Rules.preset("pagat", num_players=4)), ("a", "a", "a", "a")
    for deal_id in range(20):
        record = record_deal(terms, {"a": HEURISTIC}, line_up, seed=3, deal_id=deal_id, rotation=0)
        deal = frames_of(record, list(line_up))
        assert len(deal["frames"]) == len(record.actions) + 1
        frame: dict[str, str] = {}
        for table, changes in zip(record.replay(), deal["frames"], strict=True):
            frame |= changes
            assert [frame[f"h{seat}"].split() for seat in range(4)] == [list(hand) for hand in table.hands]
            assert [int(frame[f"c{seat}"]) for seat in range(4)] == list(table.chips)
            assert [int(frame[f"w{seat}"]) for seat in range(4)] == list(table.tricks_won)
            assert frame["turn"] == (str(table.seat) if table.seat >= 0 else "")
            if table.trick:
                assert frame["trick"] == " ".join(f"{seat}:{card}" for seat, card in table.trick)


def test_deals_that_cannot_be_played_again_are_told_and_the_rest_is_there():
    summary, tables = played(RANDOM, Entrant("gone", "heuristic"))
    tables[0].entrants["gone"] = ("no_such_module:Bot", "")
    page = Page(tournament_page(summary, tables))
    assert "Not shown: 'gone' (no_such_module:Bot) cannot be loaded" in page.text
    assert "Cross table" in page.headings


def test_of_a_session_the_worst_deal_is_shown():
    summary, tables = played(RANDOM, RULE_BOT, session=6)
    html = tournament_page(summary, tables, costliest=2)
    page = Page(html)
    assert "sessions of 6 deals" in page.text
    titles = re.findall(r"session (\d+), its deal (\d)", page.text)
    records = [parse(text)[0] for text in re.findall(r"<pre[^>]*>(bourre record.*?)</pre>", html, re.S)]
    assert len(titles) == len(records) == 4
    for (session, deal), record in zip(titles, records, strict=True):
        assert record.dealer == (int(session) + int(deal) - 1) % 3
    assert "Passes by trumps" not in page.text


def test_line_ups_without_cells_have_a_report(tournament):
    summary, tables = played(RANDOM, RULE_BOT, line_ups=[("random", EVIL, EVIL)[::-1]])
    page = Page(tournament_page(summary, tables, costliest=1))
    assert "Cross table" not in page.headings
    assert f"How {EVIL} plays" in page.headings
    assert len(json.loads(page.scripts[0])) == 2


# --- habits and charts ---


def test_habits_are_what_the_cells_say(tournament):
    summary, (results,) = tournament
    habits = habits_of(results, EVIL)
    assert habits is not None
    cells = [cell for cell in summary["cells"] if cell["focal"] == EVIL]
    rates = np.mean([[place["pass_rate"] for place in cell["by_position"]] for cell in cells], axis=0)
    assert habits.passed.sum(axis=1) / habits.dealt.sum(axis=1) == pytest.approx(rates)
    assert habits.dealt.sum() == 2 * 25 * 3
    assert habits.drawn.sum() == habits.dealt.sum() - habits.passed.sum()
    blocks = [results.blocks[2, (EVIL, field, field)] for field in ("random", "_stay")]
    three = sum(int((part.trumps[:, :, 0] == 3).sum()) for part in blocks)
    assert habits.dealt[:, 3].sum() == three
    assert habits_of(played(RANDOM, RULE_BOT, session=2, blocks=2)[1][0], "random") is None


def test_charts_carry_their_numbers_and_ids_of_their_own():
    one = lines("One", [Series("a", (0, 1), (1.5, 2), (1, 1.5), (2, 2.5))], x_label="x", y_label="y", ticks=("p", "q"))
    assert one.rows == (("p", "1.5 (1 to 2)"), ("q", "2 (1.5 to 2.5)"))
    other = bars("Other", (25.0, 75.0), x_label="x", y_label="%")
    assert other.rows == (("0", "25.0 %"), ("1", "75.0 %"))
    ids = [set(re.findall(r' id="([^"]+)"', numbered(one.svg, number))) for number in (1, 2)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for chart in (one, other):
        assert chart.svg.startswith("<svg viewBox=")
        assert "currentColor" in chart.svg
        assert "xmlns" not in chart.svg


# --- Markdown ---


def test_markdown_has_the_cross_table_and_shows_names_as_they_are(tournament):
    summary = tournament[0]
    text = tournament_markdown(summary)
    table = [line for line in text.splitlines() if line.startswith("| ")]
    columns = [len(re.findall(r"(?<!\\)\|", line)) for line in table]
    assert columns[:4] == [6, 6, 6, 6]
    assert "<script>" not in text.replace(f"play {EVIL}", "")
    cell = summary["cells"][0]
    assert f"{cell['mean']:+.3f}" in text
    assert f"```\nplay {EVIL}\n```" in text


# --- the command ---


def test_a_tournament_writes_its_report_and_report_writes_it_again(folder, tmp_path, capsys):
    names = ["blocks-3.parquet", "blocks-4.parquet", "report.html", "report.md", "summary.json"]
    assert sorted(path.name for path in folder.iterdir()) == names
    again = tmp_path / "deep" / "page.html"
    assert main(["report", str(folder), "--out", str(again)]) == 0
    assert f"report: {again}, {again.with_suffix('.md')}" in capsys.readouterr().out
    assert again.read_bytes() == (folder / "report.html").read_bytes()
    assert again.with_suffix(".md").read_bytes() == (folder / "report.md").read_bytes()


def test_the_report_of_a_tournament_names_faults_and_every_table_size(folder):
    html = (folder / "report.html").read_text()
    page = Page(html)
    page.assert_stands_alone(html)
    summary = json.loads((folder / "summary.json").read_text())
    (odd,) = [entrant for entrant in summary["entrants"] if entrant["name"] == "odd"]
    row = next(row for row in page.rows if row[0] == "odd " and "raised" in row[-1])
    assert row[1].strip() == f"{odd['forfeits']:,}"
    assert summary["command"] in page.text
    assert {"3 seats", "4 seats"} <= set(page.headings)
    assert " forfeits\n" in html
    assert len(html) < 600_000


def test_costliest_says_how_many_deals_are_shown(folder):
    _, tables = read_tournament(folder)
    for number in (0, 2):
        players, frames = shown_deals(tables, ["random", "odd"], number)
        assert [len(player.deals) for player in players] == [number, number]
        assert len(frames) == 2 * number


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "there is no folder nowhere"),
        (["."], "holds neither results of a tournament (summary.json) nor a run (config.toml)"),
        (["unfinished"], "summary.json is missing: the tournament has not ended"),
        (["damaged"], "damaged/summary.json is no summary of a tournament"),
        (["missing"], "there are no results missing/blocks-4.parquet"),
        (["folder", "--out", "damaged"], "damaged is a folder; remove it or name another"),
        (["folder", "--out", "page.md"], "name the page, such as page.html"),
        (["folder", "--costliest", "-1"], "-1 is too small"),
        (["badrun"], "badrun/config.toml"),
        (["badrun", "--analyse", "1"], "only deals of a tournament are looked over"),
        (["folder", "--analyse", "1", "--policy", "human"], "--policy human: 'human' cannot tell a search"),
    ],
)
def test_wrong_input_is_one_line(words, message, folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("unfinished", "damaged", "missing", "badrun"):
        (tmp_path / name).mkdir()
    (tmp_path / "unfinished" / "blocks-4.parquet").touch()
    (tmp_path / "damaged" / "summary.json").write_text('{"rules": 3}')
    (tmp_path / "missing" / "summary.json").write_text('{"rules": {"tables": [{"seats": 4}]}}')
    (tmp_path / "badrun" / "config.toml").write_text("[nothing\n")
    (tmp_path / "folder").symlink_to(folder)
    before = sorted(tmp_path.rglob("*"))
    try:
        code = main(["report", *words])
    except SystemExit as left:
        code = left.code
    printed = capsys.readouterr()
    assert code == 2
    assert printed.err.count("\n") == 1
    assert message in printed.err
    assert sorted(tmp_path.rglob("*")) == before
