"""The script for a machine with a GPU: what can be tried without one."""

from pathlib import Path

import pytest
from learning import deals_of, tiny_config, tiny_learner

from benchmarks import gpu
from benchmarks.gpu import Speed, largest_difference, lines, main


def test_the_script_goes_through_on_the_processor(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu, "usable_cores", lambda: 2)
    preset = tmp_path / "tiny.toml"
    preset.write_text(tiny_config().to_toml())
    assert main(["--device", "cpu", "--config", str(preset), "--seconds", "0.01"]) == 0
    first, *told = capsys.readouterr().out.splitlines()
    assert first.startswith("no GPU, 2 cores")
    assert [line.rpartition(": ")[2] for line in told[:3]] == ["right"] * 3
    assert [line.split()[0] for line in told[4:]] == ["1", "2"]
    assert all("engine " in line and "learning " in line for line in told[4:])


def test_networks_that_differ_are_told_apart() -> None:
    one, other = tiny_learner(seed=1).actor, tiny_learner(seed=2).actor
    rollout = deals_of(one, number=8)
    assert largest_difference(one, one, rollout) == 0
    difference = largest_difference(one, other, rollout)
    assert difference > gpu.TOLERANCE
    speed = Speed(4, 1000.0, 0.8, {"engine": 0.1})
    told = list(lines([("there", difference), ("back", 0.0)], [speed]))
    assert [line.rpartition(": ")[2] for line in told[:2]] == ["WRONG", "right"]
    assert told[-1].split() == ["4", "1,000", "0.800", "engine", "10.0%"]
