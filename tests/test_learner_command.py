"""`train.py`: what it prints and leaves behind, how it is stopped and resumed, and how it refuses."""

import io
import json
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from learning import TINY_RUN, tiny_config

from agents import training_cli
from agents.checkpoint import load_checkpoint, parameter_hash
from agents.config import CONFIG_FILE, Config, check_config
from agents.evaluation_cli import main as evaluate
from agents.files import folder_lock
from agents.runs import STATE_FILE
from agents.training_cli import main

TRAIN = Path(__file__).parent.parent / "train.py"
SMOKE = TRAIN.parent / "configs" / "smoke.toml"


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    """Path of a preset of a few iterations."""
    file = tmp_path / "tiny.toml"
    config = check_config({**TINY_RUN, "run": {"deals": 192, "threads": 1, "pictures_every": 0}})
    file.write_text(config.to_toml())
    return str(file)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line with which a command is refused; nothing may have been written."""
    before = sorted(Path().rglob("*"))
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("train.py: ")
    assert captured.err.count("\n") == 1
    assert sorted(Path().rglob("*")) == before
    return captured.err


# --- a whole run -----------------------------------------------------------------------------------------------------


def test_a_run_trains_saves_and_prints_a_tournament(tiny: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--config", tiny]) == 0
    captured = capsys.readouterr()
    folder = Path("runs/tiny")
    for name in (CONFIG_FILE, STATE_FILE, "last.safetensors", "best.safetensors", "metrics.jsonl"):
        assert (folder / name).is_file()
    assert list(folder.glob("events.out.tfevents.*"))
    for text in (
        "trained 192 deals",
        "trained",
        "random",
        "heuristic",
        "best.safetensors",
        f"tensorboard --logdir {folder}",
    ):
        assert text in captured.out
    assert "100% 192 deals" in captured.err
    assert "against heuristic" in captured.err
    saved = Config.model_validate(tomllib.loads((folder / CONFIG_FILE).read_text()))
    assert saved.run.dir == str(folder)
    assert saved.run.deals == 192


def test_6_7_a_bot_learns_table_stakes_resumes_and_plays_a_tournament(
    tiny: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stakes = ["rules.stacks=table_stakes", "rollout.largest_stack=6", "evaluation.buy_in=4", "network.seats_shown=6"]
    assert main(["--config", tiny, "--set", "run.dir=run", *stakes]) == 0
    assert "rules pagat at table stakes of 4 antes, 4 seats" in capsys.readouterr().out
    assert load_checkpoint(Path("run/best.safetensors"))[0].rules[0].stacks == "table_stakes"
    assert main(["--resume", "run", "--set", "run.deals=256", "evaluation.final_blocks=0"]) == 0
    words = ["tournament", "run", "heuristic", "--blocks", "4", "--workers", "1"]
    assert evaluate([*words, "--table-stakes", "9", "--out", "results"]) == 0
    assert json.loads(Path("results/summary.json").read_text())["rules"]["buy_in"] == 9
    assert evaluate(words) == 2
    assert "was not trained for 4 seats under the rules" in capsys.readouterr().err


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_bar_with_speed_time_left_and_strength(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main(["--config", tiny, "--set", "evaluation.final_blocks=0"]) == 0
    last = terminal.getvalue().split("\r")[-1]
    assert re.search(
        r"100%\|[█#]+\| 192 deals, [\d,]+/s, 0:00 left, against heuristic [+-]\d\.\d{3} \([^)]* to [^)]*\), "
        r"against random [+-]\d\.\d{3} \([^)]* to [^)]*\), engine \d+% inference \d+% learning \d+%",
        last,
    )


def test_a_second_run_gets_a_folder_of_its_own(tiny: str) -> None:
    for _ in range(2):
        assert main(["--config", tiny, "--set", "run.deals=64", "evaluation.final_blocks=0"]) == 0
    assert sorted(path.name for path in Path("runs").iterdir()) == ["tiny", "tiny-2"]


def test_the_same_command_gives_the_same_weights(tiny: str) -> None:
    hashes = []
    for name in ("one", "two"):
        assert (
            main(["--config", tiny, "--set", f"run.dir={name}", "run.seed=5", "--set", "evaluation.final_blocks=0"])
            == 0
        )
        hashes.append(parameter_hash(load_checkpoint(Path(name, "last.safetensors"))[1]))
    assert hashes[0] == hashes[1]


def test_a_dry_run_prints_the_settings_and_writes_nothing(tiny: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(Path().rglob("*"))
    assert main(["--config", tiny, "--set", "run.seed=77", "--dry-run"]) == 0
    printed = tomllib.loads(capsys.readouterr().out)
    assert printed["run"]["seed"] == 77
    assert printed["run"]["dir"] == "runs/tiny"
    assert Config.model_validate(printed).learn == tiny_config().learn
    assert sorted(Path().rglob("*")) == before


def test_a_dry_run_needs_no_torch() -> None:
    script = (
        f"import sys; sys.argv = ['train.py', '--dry-run']; sys.path.insert(0, {str(TRAIN.parent)!r}); import train; "
    )
    script += "assert train.run() == 0; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)


def test_the_default_is_the_selfplay_preset(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--dry-run"]) == 0
    printed = tomllib.loads(capsys.readouterr().out)
    assert printed["run"]["minutes"] == 5
    assert printed["run"]["dir"] == "runs/selfplay"


# --- stopping and resuming -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_b129_a_signal_ends_a_run_that_can_be_resumed(number: signal.Signals, tiny: str) -> None:
    command = [sys.executable, str(TRAIN), "--config", tiny, "--set", "evaluation.final_blocks=0", "run.deals=16000"]
    process = subprocess.Popen([*command, "run.dir=stopped"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if "left" in line:  # the first iteration is done
            break
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--resume stopped" in errors
    assert "Traceback" not in errors
    assert output == ""

    header, _ = load_checkpoint(Path("stopped/last.safetensors"))
    lines = [json.loads(line) for line in Path("stopped/metrics.jsonl").read_text().splitlines()]
    assert 64 <= header.deals == lines[-1]["deals"] < 16_000

    rest = header.deals + 128
    assert main(["--resume", "stopped", "--set", f"run.deals={rest}"]) == 0
    assert load_checkpoint(Path("stopped/last.safetensors"))[0].deals == rest


def test_a_resumed_run_may_get_a_larger_budget_and_keeps_it(tiny: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--config", tiny, "--set", "run.dir=run", "evaluation.final_blocks=0"]) == 0
    assert main(["--resume", "run", "--set", "run.deals=256"]) == 0
    assert load_checkpoint(Path("run/last.safetensors"))[0].deals == 256
    assert tomllib.loads(Path("run", CONFIG_FILE).read_text())["run"]["deals"] == 256
    weights = Path("run/last.safetensors").read_bytes()
    capsys.readouterr()
    assert main(["--resume", "run"]) == 0  # nothing is left to do, and nothing changes
    assert Path("run/last.safetensors").read_bytes() == weights
    assert "trained 256 deals" in capsys.readouterr().out


def test_a_second_signal_stops_at_once() -> None:
    with training_cli.signals_held() as caught:
        signal.raise_signal(signal.SIGINT)
        assert caught == [signal.SIGINT]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_diverged_run_ends_in_one_line_with_exit_code_1(
    tiny: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from agents.descent import DivergedError
    from agents.pair_learner import PairLearner

    def diverge(self: PairLearner, *arguments: object, **more: object) -> dict[str, float]:
        raise DivergedError("the loss is not finite")

    monkeypatch.setattr(PairLearner, "update", diverge)
    assert main(["--config", tiny, "--set", "run.dir=run"]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("train.py: stopped after 0 deals: the loss is not finite")
    assert "learn.learning_rate" in last
    assert load_checkpoint(Path("run/last.safetensors"))[0].deals == 0


def test_a_run_whose_result_cannot_be_saved_ends_with_exit_code_1(
    tiny: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def disk_full(*arguments: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("agents.trainer.save_checkpoint", disk_full)
    assert main(["--config", tiny, "--set", "run.dir=run", "evaluation.final_blocks=0"]) == 1
    assert "could not be written to run" in capsys.readouterr().err.splitlines()[-1]


def test_auto_begins_a_run_takes_it_up_and_begins_the_next(tiny: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--config", tiny, "--resume", "auto", "--set", "evaluation.final_blocks=0"]
    assert main(words) == 0
    assert "training in runs/tiny;" in capsys.readouterr().err
    assert main(["--resume", "runs/tiny", "--set", "run.deals=100000000", "run.minutes=0.0001"]) == 0
    assert "over because time is up: run.minutes is 0.0001" in capsys.readouterr().out
    assert main([*words, "run.deals=64"]) == 0  # what has ended is not taken up
    assert "training in runs/tiny-2;" in capsys.readouterr().err
    status = Path("runs/tiny/status.json")
    status.write_text(json.dumps({**json.loads(status.read_text()), "ended": None}))  # as a kill leaves it
    assert main(["--resume", "auto", "--set", "run.minutes=none", "run.deals=512"]) == 0
    assert "resuming runs/tiny;" in capsys.readouterr().err
    assert load_checkpoint(Path("runs/tiny/last.safetensors"))[0].deals == 512
    assert json.loads(status.read_text())["ended"] == "all deals played: run.deals is 512"


def test_auto_begins_again_where_a_run_was_killed_before_it_had_saved(tiny: str) -> None:
    words = ["--config", tiny, "--resume", "auto", "--set", "run.dir=run", "evaluation.final_blocks=0"]
    assert main(words) == 0
    weights = Path("run/last.safetensors").read_bytes()
    for path in Path("run").iterdir():
        if path.is_file() and path.name != CONFIG_FILE:
            path.unlink()
    Path("run/metrics.jsonl").write_text('{"deals": 64, "half a li')
    assert main(words) == 0
    assert Path("run/last.safetensors").read_bytes() == weights
    assert [json.loads(line)["deals"] for line in Path("run/metrics.jsonl").read_text().splitlines()] == [64, 128, 192]


def test_auto_keeps_the_settings_of_the_run(tiny: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--config", tiny, "--resume", "auto", "--set", "run.dir=run", "evaluation.final_blocks=0"]
    for _ in range(2):
        assert main([*words, "learn.clip=0.3"]) == 0
    capsys.readouterr()
    assert "learn.clip cannot change" in refused(capsys, *words, "learn.clip=0.25")
    assert main(["--config", tiny, "--resume", "auto", "--dry-run"]) == 0
    assert tomllib.loads(capsys.readouterr().out)["run"]["dir"] == "runs/tiny"


# --- refusing --------------------------------------------------------------------------------------------------------


def test_b126_there_is_nothing_to_resume(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no run folder nowhere" in refused(capsys, "--resume", "nowhere")
    Path("other").mkdir()
    assert "nothing to resume" in refused(capsys, "--resume", "other")
    Path("other", CONFIG_FILE).write_text(tiny_config().to_toml())
    assert main(["--resume", "other"]) == 2
    assert "has no trainer.pt: there is nothing to resume" in capsys.readouterr().err


def test_a_damaged_best_checkpoint_is_named_and_set_aside_and_a_missing_one_written_anew(
    tiny: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--config", tiny, "--set", "run.dir=run", "evaluation.final_blocks=0"]) == 0
    best = Path("run/best.safetensors")
    good = best.read_bytes()
    Path("run/best.previous.safetensors").write_bytes(good)
    best.write_bytes(good[:-9] + b"scribbled")
    capsys.readouterr()
    assert main(["--resume", "run"]) == 0  # the run is over: there is no further evaluation
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith(f"train.py: {best} is damaged")
    assert lines[1] == "train.py: until then best.previous.safetensors is the best"
    assert best.read_bytes() == good
    assert Path("run/best.damaged.safetensors").read_bytes().endswith(b"scribbled")
    best.unlink()
    assert main(["--resume", "run", "--set", "run.deals=256", "evaluation.times=9"]) == 0
    assert load_checkpoint(best)[0].deals > 192


def test_a_run_that_another_program_trains_is_left_alone(tiny: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--config", tiny, "--set", "run.dir=run", "run.deals=64", "evaluation.final_blocks=0"]) == 0
    capsys.readouterr()
    with folder_lock(Path("run")):
        assert "run is in use by another program" in refused(capsys, "--resume", "run")


def test_a_gpu_that_is_not_there_is_refused(
    tiny: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert "finds no CUDA GPU" in refused(capsys, "--config", tiny, "--set", "run.device=cuda")


def test_a_resumed_run_keeps_its_settings(tiny: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--config", tiny, "--set", "run.dir=run", "run.deals=64", "evaluation.final_blocks=0"]) == 0
    capsys.readouterr()
    for change in ("learn.clip=0.3", "run.seed=9", "rules.num_players=5", "network.actor_width=32", "run.dir=other"):
        assert f"{change.partition('=')[0]} cannot change" in refused(capsys, "--resume", "run", "--set", change)
    assert "exclude each other" in refused(capsys, "--resume", "run", "--config", tiny)


def test_a_folder_that_is_not_empty_is_left_alone(tiny: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("full").mkdir()
    Path("full/thesis.txt").touch()
    message = refused(capsys, "--config", tiny, "--set", "run.dir=full")
    assert "not empty" in message
    assert "--resume full" in message
    assert "is a file" in refused(capsys, "--config", tiny, "--set", "run.dir=full/thesis.txt")
    for words in ((), ("--dry-run",)):
        message = refused(capsys, "--config", tiny, "--set", "run.dir=full/thesis.txt/run/one", *words)
        assert "run.dir full/thesis.txt/run/one cannot be written: " in message
        assert "thesis.txt is a file" in message


def test_a_best_response_is_trained_and_measured_against_its_target(
    tiny: str, capsys: pytest.CaptureFixture[str]
) -> None:
    only = ["rollout.random_share=0", "run.dir=run"]
    for target, complaint in (("heuristics", "no policy is called 'heuristics'"), ("nowhere.safetensors", "no file")):
        assert complaint in refused(capsys, "--config", tiny, "--set", f"rollout.target={target}", *only)
    assert main(["--config", tiny, "--set", "rollout.target=always_stay", *only]) == 0
    printed = capsys.readouterr()
    assert re.search(r"trained +target +[+-]\d\.\d{3}", printed.out)
    assert "against target" in printed.err
    assert "heuristic" not in printed.out + printed.err


def test_b134_b136_b138_bad_settings_are_refused_before_anything_is_written(
    tiny: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text("[learn]\nlerning_rate = 1\n")
    assert "did you mean learn.learning_rate" in refused(capsys, "--config", str(bad))
    assert "did you mean learn.learning_rate" in refused(capsys, "--config", tiny, "--set", "learn.lerning_rate=1")
    bad.write_text("run = [1, 2]\n")
    assert "must be a section" in refused(capsys, "--config", str(bad))
    bad.write_text("[run\n")
    assert "not TOML" in refused(capsys, "--config", str(bad))
    assert "no config file" in refused(capsys, "--config", "nowhere.toml")
    assert "num_players = '4.0'" in refused(capsys, "--config", tiny, "--set", "rules.num_players=4.0")
    assert "rules.preset" in refused(capsys, "--config", tiny, "--set", "rules.preset=pagatt", "--dry-run")


@pytest.mark.parametrize("arguments", [["--sett", "a.b=1"], ["--set"], ["surplus"]])
def test_options_that_do_not_exist_are_refused_in_one_line(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_smoke_preset_says_where_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--config", str(SMOKE), "--dry-run"]) == 0
    assert tomllib.loads(capsys.readouterr().out)["run"]["dir"] == "runs/smoke"
