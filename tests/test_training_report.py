"""The report of a training run, at any point of the run."""

import json
from pathlib import Path
from typing import Any

import pytest
from learning import tiny_config
from pages import Page

from agents.evaluation_cli import main
from agents.games import part_named
from agents.metrics import TAGS
from agents.training_report import LEARNING, MOST_POINTS, SHARES, SPEED, curve_of, read_log, run_page
from bourre_env.family import GAMES

PLAY = part_named("bourre").panels
VERSIONS = {"python": "3.11"}


def run_folder(path: Path, iterations: int, evaluations: int, **settings: dict[str, Any]) -> Path:
    """A run folder with a log that rises in a straight line."""
    path.mkdir()
    (path / "config.toml").write_text(tiny_config(**settings).to_toml())
    lines = []
    for number in range(iterations):
        values = {tag: 0.5 + number / 1000 for tag in TAGS if not tag.startswith("evaluation/")}
        if number < evaluations:
            values |= {tag: number / 10 for tag in TAGS if tag.startswith("evaluation/")}
        lines.append(json.dumps({"deals": 64 * (number + 1), "iteration": number, "minutes": number / 2, **values}))
    (path / "metrics.jsonl").write_text("".join(f"{line}\n" for line in lines))
    return path


def test_every_curve_is_of_a_tag_that_is_logged():
    for panel in (*(panel for game in GAMES for panel in part_named(game).panels), *LEARNING, *SPEED):
        assert set(panel.tags) <= set(TAGS)
    assert set(SHARES) <= set(TAGS)


@pytest.mark.parametrize(("iterations", "evaluations"), [(4, 2), (1, 0)])
def test_the_page_of_a_run_is_whole_and_stands_alone(iterations, evaluations, tmp_path):
    html = run_page(run_folder(tmp_path / "<b>run", iterations, evaluations), VERSIONS)
    page = Page(html)
    page.assert_stands_alone(html)
    page.assert_accessible()
    assert page.headings[0] == "Bourré training: <b>run"
    for heading in ("Strength", "How it plays", "Learning", "Speed", "Go on, or do it again", "Settings"):
        assert heading in page.headings
    strength = 2 * (evaluations > 0)
    assert html.count("<svg") == strength + len(PLAY) + len(LEARNING) + len(SPEED) + 1
    assert ("Evaluations" in page.headings) == (evaluations > 0)
    assert f"{64 * iterations:,} deals in {(iterations - 1) / 2:.1f} minutes; it ends after 1,280 deals" in page.text
    assert tiny_config().to_toml() in page.text


@pytest.mark.parametrize(("method", "learner"), [("ppo", "PPO"), ("dmc", "Deep Monte Carlo")])
def test_the_page_names_the_learner(method, learner, tmp_path):
    html = run_page(run_folder(tmp_path / "run", 1, 0, learn={"method": method}), VERSIONS)
    assert f"Self-play by {learner}: rules pagat, 4 seats" in Page(html).text


def test_a_run_that_has_logged_nothing_has_a_page(tmp_path):
    run_folder(tmp_path / "run", 0, 0)
    page = Page(run_page(tmp_path / "run", VERSIONS))
    assert page.text.count("Nothing has been logged yet.") == 4
    (tmp_path / "run" / "metrics.jsonl").unlink()
    assert "nothing has been logged yet" in Page(run_page(tmp_path / "run", VERSIONS)).text


def test_evaluations_are_those_of_the_log(tmp_path):
    html = run_page(run_folder(tmp_path / "run", 5, 3), VERSIONS)
    assert run_page(tmp_path / "run", VERSIONS) == html
    page = Page(html)
    rows = [row for row in page.rows if len(row) == 4 and row[2].startswith("+")]
    assert [[value.strip() for value in row] for row in rows] == [
        ["64", "0.0", *["+0.000 (+0.000 to +0.000)"] * 2],
        ["128", "0.5", *["+0.100 (+0.100 to +0.100)"] * 2],
        ["192", "1.0", *["+0.200 (+0.200 to +0.200)"] * 2],
    ]


def test_a_line_that_is_cut_short_ends_the_log_and_null_is_no_value(tmp_path):
    path = run_folder(tmp_path / "run", 3, 0) / "metrics.jsonl"
    with path.open("a") as file:
        file.write('{"deals": 256, "ppo/kl": null}\n{"deals": 320, "ppo/')
    assert [line["deals"] for line in read_log(path)] == [64, 128, 192, 256]
    assert curve_of(read_log(path), "ppo/kl", "KL", 1).x == [64, 128, 192]


def test_long_runs_are_thinned_out_by_means(tmp_path):
    log = read_log(run_folder(tmp_path / "run", 1000, 0) / "metrics.jsonl")
    curve = curve_of(log, "ppo/kl", "KL", 100)
    assert len(curve.x) == len(curve.y) == MOST_POINTS == 300
    assert curve.x[0] == 64 * 2.5  # the first four iterations together
    assert curve.y[0] == pytest.approx(100 * (0.5 + 1.5 / 1000))
    assert curve.y[-1] == pytest.approx(100 * (0.5 + 998 / 1000))


def test_the_command_writes_the_report_of_a_run(tmp_path, capsys):
    run = run_folder(tmp_path / "my run", 3, 1)
    assert main(["report", str(run)]) == 0
    assert capsys.readouterr().out == f"report: {run}/report.html\n"
    page = Page((run / "report.html").read_text())
    assert f"python train.py --resume '{run}'" in page.text
    assert f"python train.py --config '{run}/config.toml' --set 'run.dir={run}-again'" in page.text
    assert "torch " in page.text
