"""Output that nobody reads any more, terminals without accents: what every command does about them."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agents.commands.tournament_tables import DOUBT
from agents.evaluation_cli import COMMANDS, _parser, main
from bourre_env.streams import NOBODY_READS, PLAIN, nobody_reads, plain, run_command

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
SHOWN = README[README.index("bourre record 1") : README.index("\n```", README.index("bourre record 1"))] + "\n"
QUICK = {
    "replay": ["evaluate.py", "replay", "deal.txt"],
    "dry run": ["train.py", "--dry-run"],
    "spec": ["-m", "bourre_env.spec", "--rules", "hoyle"],
}
LEAST = ["--seats", "2", "--deals", "2", "--worlds", "32", "--workers", "1"]
LONG = {
    "help": ["evaluate.py", "--help"],
    "help of training": ["train.py", "--help"],
    "help of the sweep": ["-m", "agents.sweep", "--help"],
    "play": ["evaluate.py", "play", "heuristic", "random", "--deals", "1"],
    "analyse": ["evaluate.py", "analyse", "deal.txt", "--worlds", "8", "--json", "new/values.json"],
    "page": ["evaluate.py", "replay", "deal.txt", "--html", "page.html"],
    "tournament": ["evaluate.py", "tournament", "heuristic", "random", "--blocks", "20", "--workers", "1"],
    "exact": ["evaluate.py", "exact", "always_pass", "--out", "new/exact.json"],
    "leaks": ["evaluate.py", "leaks", "always_pass", *LEAST, "--json", "new/leaks.json"],
}
EVERY = [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in LONG)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where commands run: it holds a hand record and the program."""
    (tmp_path / "deal.txt").write_text(SHOWN)
    for name in ("evaluate.py", "train.py", "configs"):
        (tmp_path / name).symlink_to(ROOT / name)
    return tmp_path


def run(folder: Path, name: str, output: int, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, *(QUICK | LONG)[name]]
    variables = os.environ | {"PYTHONPATH": str(ROOT)} | environment
    return subprocess.run(
        command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE,
        timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("name", EVERY)
def test_a_closed_pipe_costs_no_word(name: str, folder: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = run(folder, name, writer)
    finally:
        os.close(writer)
    assert done.returncode == NOBODY_READS or ("help" in name and done.returncode == 0)  # argparse does not mind
    lines = done.stderr.decode().splitlines()
    assert [line for line in lines if " a second" not in line] == []  # progress may have been told
    files = [word for word in (QUICK | LONG)[name] if word.startswith("new/")]
    assert all((folder / file).stat().st_size for file in files), "results are written although nobody reads them"


@pytest.mark.parametrize("name", EVERY)
def test_a_terminal_without_accents_shows_everything(name: str, folder: Path) -> None:
    done = run(folder, name, subprocess.PIPE, PYTHONIOENCODING="ascii")
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    done.stdout.decode("ascii")
    if name in ("replay", "help of training"):
        assert b"bourre" in done.stdout.lower()


@pytest.mark.slow
def test_every_command_is_tried() -> None:
    tried = {words[1] for words in (QUICK | LONG).values() if words[0] == "evaluate.py"}
    assert tried >= {"replay", "play", "analyse", "tournament", "exact", "leaks"}
    assert len(COMMANDS) >= len(tried) - 1


def test_letters_that_a_terminal_lacks_are_replaced_by_what_is_like_them() -> None:
    assert plain("Bourré: 9♠ Q♥ … ±0.05 中") == "Bourre: 9S QH ... +-0.05 ?"
    assert "a♣é→b".encode("ascii", PLAIN) == b"aCe->b"
    assert "é→".encode("latin-1", PLAIN) == "é->".encode("latin-1")
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("ascii", PLAIN)


def test_a_pipe_that_breaks_elsewhere_is_an_error(monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    """A worker's pipe is none of the two that a reader may close."""

    def breaks() -> int:
        raise BrokenPipeError(32, "Broken pipe")

    assert not nobody_reads()
    with pytest.raises(BrokenPipeError):
        run_command(breaks)

    class Breaks:
        command = "breaks"

        def run(self, options: object, words: object) -> None:
            raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("agents.evaluation_cli._parser", lambda: Parsing(Breaks()))
    assert main([]) == 1
    assert capfd.readouterr().err == "evaluate.py: [Errno 32] Broken pipe\n"


class Parsing:
    """Stands for a parser that reads anything as one command."""

    def __init__(self, options: object) -> None:
        self.options = options

    def parse_args(self, words: object) -> object:
        return self.options


def test_exit_codes_and_errors_pass_through(capsys) -> None:
    assert run_command(lambda: 3) == 3
    with pytest.raises(SystemExit):
        run_command(lambda: _parser().parse_args(["--help"]) and 0)
    with pytest.raises(ZeroDivisionError):
        run_command(lambda: 1 // 0)


def test_a_run_goes_on_when_nobody_looks_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from agents.training_cli import _say

    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Gone())
    _say("interrupted")


def test_doubt_about_strengths_is_plain_english() -> None:
    assert DOUBT.startswith("One number for each entrant does not describe these results")
