"""`evaluate.py`: what it plays, prints and writes, and how it says that something is wrong."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from agents.entrants import Entrant, parse_entrants
from agents.evaluation_cli import main
from agents.results import Results
from bourre_env import Rules

EVALUATE = Path(__file__).parent.parent / "evaluate.py"

BOTS = """
import time
from agents.policy import PolicyError


class Bot:
    name = "a bot"

    def act(self, decision, rng):
        return decision.legal_action_mask.argmax(axis=1)


class Slow(Bot):
    def act(self, decision, rng):
        print("asked", flush=True)
        time.sleep(0.3)
        return super().act(decision, rng)


class TwoSeatsOnly(Bot):
    def check_rules(self, rules):
        if rules.num_players != 2:
            raise PolicyError(f"this bot plays 2 seats, not {rules.num_players}")
"""


@pytest.fixture
def bots(tmp_path, monkeypatch):
    """A working directory with a module of policies."""
    (tmp_path / "bots.py").write_text(BOTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "bots", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


def tournament(*words: str) -> int:
    """Exit code of a small tournament in this process."""
    return main(["tournament", *words, "--workers", "1", "--no-report"])


def evaluate(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command line as a user runs it."""
    command = [sys.executable, str(EVALUATE), *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


# --- what is played and written ---


def test_a_tournament_prints_every_pair_with_its_interval(capsys):
    assert tournament("random", "heuristic", "stayer=always_stay", "--blocks", "50", "--seats", "3") == 0
    printed = capsys.readouterr()
    assert "\x1b" not in printed.out
    cells = printed.out.partition("One focal seat")[0]
    lines = [line for line in cells.splitlines() if re.search(r"[+-]\d\.\d{3} to [+-]\d\.\d{3}", line)]
    assert all(line.split()[-1] in ("above", "below", "separated") for line in lines)
    pairs = [re.findall(r"[a-z_]+", line)[:2] for line in lines]
    names = ["random", "heuristic", "stayer"]
    assert pairs == [[focal, field] for focal in names for field in names if focal != field]
    assert "rules pagat, 3 seats, seed 0" in printed.out
    assert "50 deals played from every seat, 150 in all" in printed.out


def test_6_7_a_tournament_at_table_stakes_says_what_everybody_has(tmp_path, capsys):
    words = ["random", "heuristic", "--blocks", "30", "--table-stakes", "2", "--out", str(tmp_path / "out")]
    assert tournament(*words) == 0
    assert "rules pagat at table stakes of 2 antes, 4 seats" in capsys.readouterr().out
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert (summary["rules"]["buy_in"], summary["rules"]["tables"][0]["fields"]["stacks"]) == (2, "table_stakes")
    results = Results.read(tmp_path / "out" / "blocks-4.parquet")
    assert results.terms.buy_in == 2
    assert min(blocks.returns.min() for blocks in results.blocks.values()) == -2


def test_summary_and_blocks_hold_what_was_measured(tmp_path, capsys):
    out = tmp_path / "new" / "results"
    words = ["random", "bot=heuristic", "--blocks", "60", "--seats", "3", "--seed", "9", "--out", str(out)]
    assert tournament(*words) == 0
    assert sorted(path.name for path in out.iterdir()) == ["blocks-3.parquet", "summary.json"]
    summary = json.loads((out / "summary.json").read_text())
    rules = Rules.preset("pagat", num_players=3)
    assert summary["rules"]["preset"] == "pagat"
    assert summary["rules"]["tables"][0]["fingerprint"] == rules.fingerprint
    assert Rules(**summary["rules"]["tables"][0]["fields"]) == rules
    assert summary["seeds"] == [9]
    assert [(entrant["name"], entrant["spec"]) for entrant in summary["entrants"]] == [
        ("random", "random"),
        ("bot", "heuristic"),
    ]
    assert summary["command"].startswith("python evaluate.py tournament random bot=heuristic --blocks 60")
    assert set(summary["versions"]) >= {"python", "numpy", "numba"}
    assert [(cell["focal"], cell["field"]) for cell in summary["cells"]] == [("random", "bot"), ("bot", "random")]

    results = Results.read(out / "blocks-3.parquet")
    assert results.terms.rules == rules
    for cell in summary["cells"]:
        blocks = results.blocks[9, (cell["focal"], cell["field"], cell["field"])]
        antes = blocks.returns[:, :, 0] + blocks.carry / 3
        assert cell["seats"] == 3
        assert cell["blocks"] == 60
        assert cell["deals"] == 180
        assert cell["mean"] == pytest.approx(antes.mean())
        assert cell["field_mean"] == pytest.approx(-antes.mean() / 2)
        assert cell["low"] < cell["mean"] < cell["high"]
        assert cell["t_low"] < cell["mean"] < cell["t_high"]
        assert cell["bourre_rate"] == pytest.approx(blocks.bourre[:, :, 0].mean())
        assert cell["pass_rate"] == pytest.approx(blocks.passed[:, :, 0].mean())
        assert cell["pots_won"] == pytest.approx(blocks.took_pot[:, :, 0].mean())
        assert cell["pots_won_low"] <= cell["pots_won"] <= cell["pots_won_high"]
        assert np.mean([position["mean"] for position in cell["by_position"]]) == pytest.approx(antes.mean())


def test_one_policy_under_two_names_is_exactly_even(tmp_path):
    assert tournament("a=heuristic", "b=heuristic", "--blocks", "30", "--out", str(tmp_path)) == 0
    for cell in json.loads((tmp_path / "summary.json").read_text())["cells"]:
        assert cell["mean"] == cell["low"] == cell["high"] == 0


def test_the_order_of_entrants_changes_nothing(tmp_path):
    names, cells = ["random", "heuristic", "always_pass"], []
    for number, order in enumerate([names, names[::-1]]):
        out = tmp_path / str(number)
        assert tournament(*order, "--blocks", "40", "--out", str(out)) == 0
        summary = json.loads((out / "summary.json").read_text())
        cells.append({(cell["focal"], cell["field"]): cell for cell in summary["cells"]})
    assert cells[0] == cells[1]


@pytest.mark.parametrize("seats", range(2, 9))
def test_every_table_size_is_played(seats, capsys):
    assert tournament("random", "heuristic", "--blocks", "10", "--seats", str(seats)) == 0
    assert f"{seats} seats" in capsys.readouterr().out


def test_entrants_are_named_or_called_by_their_spec():
    texts = ["heuristic", "old=runs/a=1/best.safetensors", "runs/b=2/best.safetensors", "x.y-1=bots:Bot"]
    assert parse_entrants(texts) == (
        Entrant("heuristic", "heuristic"),
        Entrant("old", "runs/a=1/best.safetensors"),
        Entrant("runs/b=2/best.safetensors", "runs/b=2/best.safetensors"),
        Entrant("x.y-1", "bots:Bot"),
    )


# --- bad input: one line, exit code 2, nothing written ---


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["random", "heuristik"], "did you mean 'heuristic'?"),
        (["random", "runs/none/best.safetensors"], "no file runs/none/best.safetensors"),
        (["random", "search:worlds=x"], "an integer from 4 to 1000000 is needed"),
        (["random", "deep=search:world=3"], "did you mean 'worlds'?"),
        (["random", "nowhere:Bot"], "ModuleNotFoundError"),
        (["random", "random"], "2 entrants are called 'random'; name them apart with NAME=SPEC, such as first=random"),
        (["a=random", "a=heuristic"], "2 entrants are called 'a'"),
        (["random"], "needs at least two entrants"),
        (["random", "human"], "'human' cannot enter a tournament"),
        (["random", "bots:TwoSeatsOnly"], "this bot plays 2 seats, not 4"),
        (["random", "heuristic", "--rules", "pagatt"], "no rules preset is called 'pagatt' (did you mean 'pagat'?)"),
        (["random", "heuristic", "--seats", "9"], "2 to 8"),
        (["random", "heuristic", "--seats", "1"], "2 to 8"),
        (["random", "heuristic", "--out", "bots.py"], "is a file, not a folder"),
        (["random", "heuristic", "--seats", "3", "4", "3"], "--seats 3 4 3: a table size stands there twice"),
        (["random", "heuristic", "--session-deals", "5"], "sessions need rules with a limit, such as pagat_limit"),
        (["random", "heuristic", "--session-deals", "9999"], "1 to 1000 are possible"),
        (["random", "heuristic", "--tables", "none"], "give at least one --line-up"),
        (["random", "heuristic", "--line-up", "random,x,x,x"], "nobody is called 'x'; there are random, heuristic"),
        (["random", "heuristic", "--line-up", "random,heuristic"], "2 names for 4 seats"),
        (["random", "heuristic", "--out", "bots.py/deeper"], "is a file, not a folder"),
    ],
)
def test_wrong_input_is_one_line(words, complaint, bots, capsys):
    before = sorted(bots.iterdir())
    out = [] if "--out" in words else ["--out", "results"]
    assert tournament(*words, *out) == 2
    _one_line_with(complaint, capsys.readouterr())
    assert sorted(path for path in bots.iterdir() if path.name != "__pycache__") == before


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["tournament"], "the following arguments are required: SPEC"),
        (["tournament", "random", "heuristic", "--blocks", "0"], "0 is too small; an interval needs at least 2"),
        (["tournament", "random", "heuristic", "--blocks", "-5"], "-5 is too small"),
        (["tournament", "random", "heuristic", "--blocks", "many"], "'many' is not an integer"),
        (["tournament", "random", "heuristic", "--block", "10"], "unrecognized arguments: --block"),
        (["tournament", "random", "heuristic", "--workers", "0"], "0 is too small; at least 1 is needed"),
        (["tournament", "random", "heuristic", "--seed", "-1"], "-1 is too small"),
        (["tournament", "random", "heuristic", "--seed", str(2**64)], "is too large"),
        (["tournament", "random", "heuristic", "--seats", "four"], "'four' is not an integer"),
        ([], "COMMAND"),
        (["tournament", "random", "heuristic", "--precision", "0"], "more than 0 is needed"),
        (["tournament", "random", "heuristic", "--precision", "nan"], "more than 0 is needed"),
        (["tournament", "random", "heuristic", "--time-limit", "-1"], "at least 0 is needed"),
        (["tournament", "random", "heuristic", "--tables", "some"], "invalid choice: 'some'"),
        (["gamble", "random"], "invalid choice: 'gamble'"),
    ],
)
def test_wrong_words_are_one_line(words, complaint, capsys):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    _one_line_with(complaint, capsys.readouterr())


def _one_line_with(complaint: str, printed) -> None:
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert complaint in printed.err
    assert printed.err.startswith("evaluate.py")


def test_a_damaged_checkpoint_is_wrong_input(bots, capsys):
    (bots / "broken.safetensors").write_bytes(b"no weights at all")
    assert tournament("random", "broken.safetensors") == 2
    assert "broken.safetensors" in capsys.readouterr().err


# --- the command line as a process ---


def test_the_command_works_from_any_folder_and_without_a_terminal(bots):
    done = evaluate("tournament", "mine=bots:Bot", "heuristic", "--blocks", "20", "--workers", "1", cwd=bots)
    assert done.returncode == 0, done.stderr
    assert "mine" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr


def test_wrong_input_ends_the_process_with_2(bots):
    done = evaluate("tournament", "random", "bots:Missing", cwd=bots)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="signals as on Unix")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_ends_with_130_and_no_traceback(workers, bots):
    words = ["tournament", "bots:Slow", "random", "--blocks", "600", "--workers", workers, "--out", "results"]
    process = subprocess.Popen(
        [sys.executable, str(EVALUATE), *words],
        cwd=bots,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    process.stdout.readline()  # the first decision has been asked
    time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to every process of the group
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == "evaluate.py: interrupted; nothing was written\n"  # not a single task was done
    assert not (bots / "results").exists()


def test_evaluate_is_thin():
    assert len(EVALUATE.read_text().splitlines()) < 80
