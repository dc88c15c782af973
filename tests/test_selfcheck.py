"""The controls pass, and each of them fails when what it watches is broken."""

import dataclasses
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from agents import selfcheck
from agents.baselines import HEURISTIC, Random
from agents.evaluation_cli import main
from agents.outcomes import Outcomes
from agents.scores import Scores
from agents.selfcheck import Control, Salted, played_cells
from agents.sequential import SequentialTest

ROOT = Path(__file__).parent.parent
PASSED = Control("sums", "4", "4", True, 0.0)
FAILED = Control("differences", "exactly 0", "1", False, 0.075)


def nothing(_):
    """Reports to nobody."""


@pytest.fixture(scope="module")
def known():
    """Every cell of four policies that differ a lot."""
    policies = (HEURISTIC, Random(), selfcheck.ALWAYS_STAY, selfcheck.ALWAYS_PASS)
    return played_cells({policy.name: policy for policy in policies}, 500, seed=3)


def replayed(fitted, *, scale=1.0, sign=1.0):
    """`fit_strengths` that gives strengths found before, with intervals so many times as long, or turned round."""
    waiting = iter(fitted)

    def fit(outcomes, **settings):
        found = next(waiting)
        draws = sign * (found.values + scale * (found.draws - found.values))
        return Scores(found.names, sign * found.values, draws, found.level)

    return fit


# --- streams ---


def test_copies_with_the_same_streams_pass_and_with_other_streams_fail(monkeypatch):
    monkeypatch.setattr(selfcheck, "COPY_BLOCKS", 20)
    assert selfcheck.same_streams(0, nothing).passed
    made = iter(f"salt {number}" for number in range(4))
    monkeypatch.setattr(selfcheck, "Random", lambda: Salted(next(made), Random()))
    assert not selfcheck.same_streams(0, nothing).passed


def test_a_salted_policy_is_the_policy_with_other_random_numbers():
    names = ("a", "b")
    salted = played_cells({name: Salted(name, Random()) for name in names}, 50, seed=1)
    again = played_cells({name: Salted(name, Random()) for name in names}, 50, seed=1)
    assert [part.earned.tobytes() for part in salted] == [part.earned.tobytes() for part in again]
    assert all((part.earned != 0).any(axis=1).mean() > 0.5 for part in salted)
    deterministic = played_cells({name: Salted(name, HEURISTIC) for name in names}, 10, seed=1)
    assert not any(part.earned.any() for part in deterministic)


def test_independent_copies_pass_and_entrants_that_differ_are_flagged(monkeypatch):
    monkeypatch.setattr(selfcheck, "REPEATS", 3)
    monkeypatch.setattr(selfcheck, "REPEAT_BLOCKS", 60)
    reported = []
    assert all(control.passed for control in selfcheck.independent_streams(0, reported.append))
    assert reported == [1, 1, 1]
    monkeypatch.setattr(selfcheck, "Salted", lambda name, policy: HEURISTIC if name == "first" else policy)
    assert [control.found for control in selfcheck.independent_streams(0, nothing)] == ["3", "3"]
    assert not any(control.passed for control in selfcheck.independent_streams(0, nothing))


# --- logs and signs ---


def test_the_signs_are_known_and_a_wrong_one_is_seen(known):
    assert selfcheck.known_signs(known).passed
    turned = [Outcomes(part.line_up, part.units, -part.earned) for part in known]
    control = selfcheck.known_signs(turned)
    assert not control.passed
    assert control.found.startswith("0;")


def test_shuffled_logs_pass_and_dependence_on_the_order_is_seen(known, monkeypatch):
    monkeypatch.setattr(selfcheck, "RATING_DRAWS", 50)
    assert selfcheck.shuffled_logs(known, 0).passed
    genuine = selfcheck.fit_ratings
    monkeypatch.setattr(
        selfcheck,
        "fit_ratings",
        lambda outcomes, seed, draws: genuine(outcomes, seed=int(outcomes[0].units[0]), draws=draws),
    )
    assert not selfcheck.shuffled_logs(known, 0).passed


def test_a_shuffled_log_holds_the_same_blocks(known):
    parts = selfcheck.shuffled(known, np.random.default_rng(0))
    assert len(parts) == 3 * len(known)
    assert [part.line_up for part in parts] != sorted(part.line_up for part in parts)
    assert any(len(set(part.line_up[1:])) > 1 for part in parts), "no line-up begins at another place"
    of_line_up = known[0].line_up
    rows = {}
    for part in parts:
        for turn in range(4):
            if part.line_up[turn:] + part.line_up[:turn] == of_line_up:
                rows |= dict(zip(part.units.tolist(), np.roll(part.earned, -turn, axis=1).tolist(), strict=True))
    assert rows == dict(zip(known[0].units.tolist(), known[0].earned.tolist(), strict=True))


# --- simulations ---


def test_known_strengths_are_recovered_and_intervals_of_a_wrong_length_are_seen(monkeypatch):
    fitted, genuine = [], selfcheck.fit_strengths

    def fit(outcomes, **settings):
        fitted.append(genuine(outcomes, **settings))
        return fitted[-1]

    monkeypatch.setattr(selfcheck, "RATING_DRAWS", 200)
    monkeypatch.setattr(selfcheck, "RUN_BLOCKS", 150)
    monkeypatch.setattr(selfcheck, "fit_strengths", fit)
    assert [control.passed for control in selfcheck.known_strengths(0, nothing)] == [True, True, True]
    for settings, expected in [
        ({"scale": 0.7}, [True, False, False]),
        ({"scale": 1.6}, [True, True, False]),
        ({"sign": -1.0}, [False, False, False]),
    ]:
        monkeypatch.setattr(selfcheck, "fit_strengths", replayed(fitted, **settings))
        assert [control.passed for control in selfcheck.known_strengths(0, nothing)] == expected


def test_the_sequential_test_passes_and_one_that_is_in_a_hurry_fails(monkeypatch):
    assert all(control.passed for control in selfcheck.sequential_errors(0, nothing))

    class Hasty(SequentialTest):
        @property
        def bounds(self):
            return -1.5, 1.5

    monkeypatch.setattr(selfcheck, "SequentialTest", Hasty)
    assert not any(control.passed for control in selfcheck.sequential_errors(0, nothing))


# --- the command ---


def run_with(monkeypatch, controls, *words):
    """Exit code of the command when these are the controls."""
    monkeypatch.setattr(selfcheck, "run_controls", lambda **_: controls)
    return main(["selfcheck", *words])


def test_a_table_is_printed_and_written(monkeypatch, capsys, tmp_path):
    assert run_with(monkeypatch, [PASSED], "--seed", "4", "--out", str(tmp_path / "new" / "F.json")) == 0
    printed = capsys.readouterr().out
    assert printed.splitlines()[2].split() == ["sums", "4", "4", "pass", "never"]
    written = json.loads((tmp_path / "new" / "F.json").read_text())
    assert written["passed"] is True
    assert written["seed"] == 4
    assert written["controls"] == [dataclasses.asdict(PASSED)]
    assert written["command"].startswith("python evaluate.py selfcheck --seed 4")


def test_a_failed_control_is_named_and_the_exit_code_tells(monkeypatch, capsys, tmp_path):
    assert run_with(monkeypatch, [PASSED, FAILED], "--out", str(tmp_path / "F.json")) == 1
    printed = capsys.readouterr()
    assert "FAIL" in printed.out
    assert "7.5 %" in printed.out
    assert printed.err == "evaluate.py: 1 of 2 controls failed: differences\n"
    assert json.loads((tmp_path / "F.json").read_text())["passed"] is False


@pytest.mark.parametrize("place", ["", "file/F.json", "folder"])
def test_a_file_that_cannot_be_written_is_refused_at_once(monkeypatch, capsys, tmp_path, place):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(selfcheck, "run_controls", lambda **_: pytest.fail("controls were run"))
    assert main(["selfcheck", "--out", place]) == 2
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1
    assert printed.out == ""


@pytest.mark.slow
def test_the_whole_selfcheck_passes_within_a_minute():
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, ROOT / "evaluate.py", "selfcheck"], capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("pass ") == 11
    assert time.monotonic() - begun < 60
