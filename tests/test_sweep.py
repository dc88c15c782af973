"""Sweeps: ranges are checked, trials are runs of their own, and a sweep that was stopped goes on."""

import json
from pathlib import Path

import pytest
from learning import tiny_config

from agents import sweep
from agents.config import ConfigError, read_config
from agents.executors import WorkersLostError
from agents.policy import load_policy

EXAMPLE = Path(__file__).parent.parent / "configs" / "sweep" / "learning.toml"
RANGES = "[learn.learning_rate]\nlow = 1e-4\nhigh = 1e-2\nlog = true\n[learn.minibatch]\nchoices = [64, 128]\n"


def ranges_of(tmp_path: Path, text: str) -> dict[str, sweep.Range]:
    file = tmp_path / "ranges.toml"
    file.write_text(text)
    return sweep.read_ranges(file)


BAD = {
    "no_toml": ("[learn", "cannot be read as TOML"),
    "empty": ("", "holds no ranges"),
    "unknown_key": ("[learn.lerning_rate]\nlow = 1\nhigh = 2", "learn.lerning_rate is no setting"),
    "no_section": ("learn = 3", "learn. is no setting"),
    "a_value": ("[learn]\nclip = 0.2", "learn.clip: "),
    "no_high": ("[learn.clip]\nlow = 0.1", "learn.clip: give low and high, or choices"),
    "both": ("[learn.clip]\nlow = 0.1\nhigh = 0.2\nchoices = [1]", "give low and high, or choices"),
    "upside_down": ("[learn.clip]\nlow = 0.2\nhigh = 0.1", "learn.clip: low must be below high"),
    "log_of_zero": ("[learn.entropy]\nlow = 0.0\nhigh = 0.1\nlog = true", "log needs a low above 0"),
    "no_choice": ("[learn.epochs]\nchoices = []", "learn.epochs: "),
    "misspelt": ("[learn.clip]\nlow = 0.1\nhigh = 0.2\nlgo = true", "learn.clip: Extra inputs"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_ranges_are_refused_in_one_line(name: str, tmp_path: Path) -> None:
    text, message = BAD[name]
    with pytest.raises(ConfigError, match=message) as caught:
        ranges_of(tmp_path, text)
    assert "\n" not in str(caught.value)


def test_the_example_names_settings() -> None:
    ranges = sweep.read_ranges(EXAMPLE)
    assert ranges["learn.learning_rate"].log
    assert ranges["learn.minibatch"].choices == (128, 256, 512, 1024)


def test_a_sweep_without_its_library_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    (tmp_path / "ranges.toml").write_text(RANGES)
    assert sweep.main([str(tmp_path / "ranges.toml"), "--dir", str(tmp_path / "sweep")]) == 2
    assert "bourre-env[sweep]" in capsys.readouterr().err


def test_a_sweep_is_stopped_and_goes_on_and_counts_lower_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("optuna")
    (tmp_path / "ranges.toml").write_text(RANGES)
    (tmp_path / "tiny.toml").write_text(tiny_config().to_toml())
    folder = tmp_path / "sweep"
    words = [str(tmp_path / "ranges.toml"), "--config", str(tmp_path / "tiny.toml"), "--dir", str(folder)]
    words += ["--deals", "128", "--trials", "3"]

    train, calls = sweep.train, []

    def stopped_in_the_second(config: object, run: Path, *, resume: bool) -> int:
        calls.append((run.name, resume))
        return 130 if len(calls) == 2 else train(config, run, resume=resume)

    monkeypatch.setattr(sweep, "train", stopped_in_the_second)
    assert sweep.main(words) == 130
    assert sweep.main(words) == 0
    assert [name for name, _ in calls] == ["trial-0000", "trial-0001", "trial-0001", "trial-0002"]
    results = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    assert [result["trial"] for result in results] == sorted(
        range(3), key=lambda number: -sweep.last_strength(folder / f"trial-{number:04d}")
    )
    for result in results:
        run = folder / f"trial-{result['trial']:04d}"
        learn = read_config(run / "config.toml").learn
        assert result["evaluation/heuristic_low"] == sweep.last_strength(run)
        assert learn.learning_rate == result["learn.learning_rate"]
        assert learn.minibatch == result["learn.minibatch"]
    assert len({result["learn.learning_rate"] for result in results}) == 3
    assert load_policy(str(folder / "trial-0000")).name == "trial-0000/best"
    table = capsys.readouterr().out
    assert "learn.minibatch=" in table
    assert sweep.main(words) == 0  # nothing is left to do
    assert len(calls) == 4


@pytest.mark.slow
def test_trials_side_by_side_do_not_depend_on_the_workers(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    (tmp_path / "ranges.toml").write_text(RANGES)
    (tmp_path / "tiny.toml").write_text(tiny_config().to_toml())
    found = []
    for workers in ("1", "2"):
        folder = tmp_path / workers
        words = [str(tmp_path / "ranges.toml"), "--config", str(tmp_path / "tiny.toml"), "--dir", str(folder)]
        assert sweep.main([*words, "--deals", "128", "--trials", "3", "--together", "2", "--workers", workers]) == 0
        found.append((folder / "results.jsonl").read_text())
    assert found[0] == found[1]
    assert len(found[0].splitlines()) == 3


def test_workers_that_die_end_a_sweep_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def dying(*_: object, **__: object) -> int:
        raise WorkersLostError("worker processes died")

    monkeypatch.setattr(sweep, "sweep", dying)
    assert sweep.main([str(tmp_path / "ranges.toml")]) == 1
    assert capsys.readouterr().err == "sweep: worker processes died\n"
