"""The logs of a run: complete after any end, taken back on resume, and never a reason to stop."""

import errno
import json
import math
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents.logs import MetricsLog
from agents.metrics import TAGS, Stopwatch, tags_as_table

TAG = "ppo/kl"


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def curve(folder: Path, tag: str = TAG) -> list[tuple[int, float]]:
    events = EventAccumulator(str(folder))
    events.Reload()
    return [(event.step, event.value) for event in events.Scalars(tag)]


def log_of(folder: Path, warnings: list[str] | None = None, *, resume_at: int | None = None) -> MetricsLog:
    return MetricsLog(folder, warn=([] if warnings is None else warnings).append, resume_at=resume_at)


def disk_full(*arguments: object, **more: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_b129_few_points_are_all_written(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    for deals in (64, 128, 192):
        log.write(deals, {TAG: deals / 64}, iteration=deals // 64)
    log.close()
    assert curve(tmp_path) == [(64, 1.0), (128, 2.0), (192, 3.0)]
    assert [(line["deals"], line["iteration"], line[TAG]) for line in lines_of(tmp_path)] == [
        (64, 1, 1.0),
        (128, 2, 2.0),
        (192, 3, 3.0),
    ]


def test_b129_a_flush_is_enough(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    log.write(64, {TAG: 1.0})
    log.flush()
    assert curve(tmp_path) == [(64, 1.0)]
    assert len(lines_of(tmp_path)) == 1
    log.close()


def test_a_resumed_run_takes_back_what_was_logged_after_its_checkpoint(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    for deals in (64, 128, 192, 256):
        log.write(deals, {TAG: 1.0})
    log.close()
    resumed = log_of(tmp_path, resume_at=128)
    for deals in (192, 320):
        resumed.write(deals, {TAG: 2.0})
    resumed.close()
    expected = [(64, 1.0), (128, 1.0), (192, 2.0), (320, 2.0)]
    assert curve(tmp_path) == expected
    assert [(line["deals"], line[TAG]) for line in lines_of(tmp_path)] == expected
    assert len(list(tmp_path.glob("events.out.tfevents.*"))) == 2  # no file of the first session was touched


def test_a_line_cut_short_by_a_kill_is_dropped_on_resume(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text('{"deals": 64, "ppo/kl": 1.0}\n{"deals": 128, "pp')
    log = log_of(tmp_path, resume_at=200)
    log.write(256, {TAG: 2.0})
    log.close()
    assert [line["deals"] for line in lines_of(tmp_path)] == [64, 256]


def test_what_is_not_a_number_is_null(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    log.write(64, {TAG: math.nan, "ppo/clip_fraction": math.inf, "ppo/policy_loss": -0.5})
    log.close()
    line = lines_of(tmp_path)[0]
    assert (line[TAG], line["ppo/clip_fraction"], line["ppo/policy_loss"]) == (None, None, -0.5)


def test_a_tag_without_an_explanation_is_refused(tmp_path: Path) -> None:
    log = log_of(tmp_path)
    with pytest.raises(KeyError, match="loss/mystery"):
        log.write(64, {"loss/mystery": 1.0})
    assert not log.path.exists()


def test_every_tag_is_explained_in_the_table() -> None:
    table = tags_as_table()
    for tag, text in TAGS.items():
        assert f"| {tag} | {text} |" in table
        assert text.endswith((".", "died out)."))
        assert len(text) > 20


def test_a_full_disk_warns_once_and_the_next_line_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warnings: list[str] = []
    log = log_of(tmp_path, warnings)
    log.write(64, {TAG: 1.0})
    log.flush()
    with monkeypatch.context() as patch:
        patch.setattr("torch.utils.tensorboard.SummaryWriter.add_scalar", disk_full)
        patch.setattr(MetricsLog, "_append", disk_full)
        for deals in (128, 192):
            log.write(deals, {TAG: 2.0})
    with log.path.open("a") as file:
        file.write('{"deals": 192, "half a li')  # what a full disk leaves
    log._next_try = 0.0  # a minute has passed
    log.write(256, {TAG: 3.0})
    log.close()
    assert len(warnings) == 2
    assert any("metrics.jsonl cannot be written" in warning for warning in warnings)
    assert any("TensorBoard cannot be written" in warning for warning in warnings)
    assert [line["deals"] for line in lines_of(tmp_path)] == [64, 128, 192, 256]  # the lines had waited
    assert curve(tmp_path) == [(64, 1.0), (256, 3.0)]


def test_after_a_fault_tensorboard_is_left_alone_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening a file for every point of a full disk took a second each."""
    warnings: list[str] = []
    log = log_of(tmp_path, warnings)
    monkeypatch.setattr("torch.utils.tensorboard.SummaryWriter.add_scalar", disk_full)
    for deals in range(64, 640, 64):
        log.write(deals, {TAG: 1.0})
    (tmp_path / "events.out.tfevents.1.x").touch()
    log._next_try = 0.0
    log.write(640, {TAG: 1.0})
    log.close()
    assert [warning.split()[0] for warning in warnings] == ["TensorBoard"]
    assert len(list(tmp_path.glob("events.out.tfevents.*"))) == 2
    assert len(lines_of(tmp_path)) == 10


def test_a_folder_that_is_gone_is_no_reason_to_stop(tmp_path: Path) -> None:
    warnings: list[str] = []
    folder = tmp_path / "file"
    folder.touch()  # no folder: nothing can be written into it
    log = log_of(folder, warnings)
    log.write(64, {TAG: 1.0})
    log.add_text("config", "text")
    log.flush()
    log.close()
    assert len(warnings) == 2


def test_the_stopwatch_adds_up() -> None:
    watch = Stopwatch()
    for _ in range(3):
        with watch.measure("engine"):
            pass
    with pytest.raises(ValueError, match="kept"), watch.measure("inference"):
        raise ValueError("kept")
    assert set(watch.seconds) == {"engine", "inference"}
    assert all(0 <= seconds < 1 for seconds in watch.seconds.values())
