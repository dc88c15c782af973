"""What keeps a run alive when nobody watches: files, locks, run folders, its end, the display, the device."""

import io
import json
import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
import torch
from learning import ONE_THREAD, PAGAT, deals_of, tiny_config, tiny_learner, tiny_spec, tiny_trainer

from agents.bourre.description import described, positions_of
from agents.config import CONFIG_FILE, ConfigError, RunConfig
from agents.counters import Counters
from agents.descent import DivergedError
from agents.details import histograms_and_entropies
from agents.device import GPU_ROWS, bits_of, choose_device, legal_mask, packed_rows, rows_at_a_time
from agents.display import Display
from agents.ending import progress, why_over
from agents.files import FolderInUseError, folder_lock, is_in_use, replace_file
from agents.health import EXPLODED, check_health
from agents.metrics import HISTOGRAMS, PICTURES, Stopwatch
from agents.packed_linear import unpacked
from agents.pictures import draw_pictures
from agents.rollout import SelfPlay
from agents.runs import STATUS, check_folder, free_folder, to_take_up, why_ended
from agents.states import checksum, load_state, save_state
from agents.statistics import estimate
from agents.table_sizes import joined
from bourre_env import Rules
from bourre_env.bits import unpack, unpack_actions

RNG = np.random.default_rng(1)


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# --- files -----------------------------------------------------------------------------------------------------------


def test_the_file_before_is_kept_under_its_other_name(tmp_path: Path) -> None:
    path, previous = tmp_path / "a", tmp_path / "a.previous"
    replace_file(path, b"1", previous=previous)
    assert not previous.exists()
    for content in (b"2", b"3", b"3"):
        replace_file(path, content, previous=previous)
    assert (path.read_bytes(), previous.read_bytes()) == (b"3", b"2")
    assert sorted(tmp_path.iterdir()) == [path, previous]


def test_the_file_before_is_kept_where_there_are_no_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", refuse)
    path, previous = tmp_path / "a", tmp_path / "a.previous"
    for content in (b"1", b"2"):
        replace_file(path, content, previous=previous)
    assert (path.read_bytes(), previous.read_bytes()) == (b"2", b"1")


def test_where_a_link_leads_is_written_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    link, file = tmp_path / "a", tmp_path / "disk" / "b"
    link.symlink_to(file)
    for content in (b"1", b"2"):
        replace_file(link, content)
        assert (link.is_symlink(), file.read_bytes()) == (True, content)
    assert sorted(file.parent.iterdir()) == [file]


def test_devices_pipes_and_folders_are_not_replaced_by_files(tmp_path: Path) -> None:
    pipe, folder, link = tmp_path / "pipe", tmp_path / "folder", tmp_path / "link"
    os.mkfifo(pipe)
    folder.mkdir()
    link.symlink_to(pipe)
    for path, what in ((pipe, "a device or a pipe"), (folder, "a folder"), (link, "a device or a pipe")):
        with pytest.raises(OSError, match=what):
            replace_file(path, b"1")
    assert (pipe.is_fifo(), folder.is_dir()) == (True, True)
    assert sorted(tmp_path.iterdir()) == [folder, link, pipe]


def test_b116_a_disk_without_room_is_not_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(2**30, 2**30 - 5, 5))
    path = tmp_path / "a"
    replace_file(path, b"12345")
    with pytest.raises(OSError, match=r"MiB are needed and 0\.0 MiB are free"):
        replace_file(path, b"123456")
    assert path.read_bytes() == b"12345"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_locked_for_other_programs_until_its_program_dies(tmp_path: Path) -> None:
    assert not is_in_use(tmp_path)
    script = "import sys, time, pathlib; from agents.files import folder_lock\n"
    script += "with folder_lock(pathlib.Path(sys.argv[1])): print('locked', flush=True); time.sleep(60)"
    root = Path(__file__).parent.parent
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        assert is_in_use(tmp_path)
        with pytest.raises(FolderInUseError, match="in use by another program"), folder_lock(tmp_path):
            pass
        process.kill()
        process.wait()
        assert not is_in_use(tmp_path)


# --- states ----------------------------------------------------------------------------------------------------------


def test_the_checksum_sees_every_change() -> None:
    state = {"a": torch.arange(3.0), "b": [1, None, {"c": 0.5}], "d": "x"}
    others = [
        {**state, "a": torch.arange(3)},
        {**state, "a": torch.arange(3.0).reshape(3, 1)},
        {**state, "a": torch.tensor([0.0, 1.0, 2.0000002])},
        {**state, "b": [1, None, {"c": 0.25}]},
        {**state, "b": [1.0, None, {"c": 0.5}]},
        {**state, "b": (1, None, {"c": 0.5})},
        {**state, "d": "y"},
        {key: state[key] for key in ("a", "b")},
    ]
    digests = {checksum(value) for value in (state, *others)}
    assert len(digests) == 1 + len(others)
    assert checksum({**state, "a": torch.arange(3.0).clone()}) == checksum(state)


def test_a_state_comes_back_whole(tmp_path: Path) -> None:
    state = {"a": torch.arange(3.0), "b": [1, None, {"c": 0.5}], 7: "x"}
    save_state(tmp_path, state)
    taken: list[dict[str, object]] = []
    load_state(tmp_path, taken.append, warn=pytest.fail)
    assert checksum(taken[0]) == checksum(state)


# --- run folders -----------------------------------------------------------------------------------------------------


def run_folder(name: str, ended: str | None = None, *, age: int = 0) -> Path:
    """A run folder as a run leaves it, last touched some seconds ago."""
    folder = Path("runs") / name
    folder.mkdir(parents=True)
    (folder / CONFIG_FILE).write_text(tiny_config().to_toml())
    (folder / STATUS).write_text(json.dumps({"ended": ended}))
    for file in folder.iterdir():
        os.utime(file, (1_000_000 - age, 1_000_000 - age))
    return folder


def test_auto_takes_up_the_newest_unfinished_run_and_none_where_there_is_none() -> None:
    assert to_take_up(None, None) is None
    run_folder("done", "all deals played")
    (Path("runs") / "sweep").mkdir()
    assert to_take_up(None, None) is None
    old = run_folder("smoke", age=50)
    new = run_folder("smoke-2", age=20)
    other = run_folder("selfplay", age=10)
    run_folder("smoke-stuff", age=5)
    assert to_take_up(None, "selfplay") == other
    assert to_take_up(None, "smoke") == new
    assert to_take_up(None, None) == Path("runs/smoke-stuff")
    with folder_lock(new):  # somebody trains it
        assert to_take_up(None, "smoke") == old
    assert to_take_up("runs/done", None) == Path("runs/done")
    assert to_take_up("runs/new", None) is None
    assert free_folder("smoke") == Path("runs/smoke-3")


def test_a_status_that_cannot_be_read_means_unfinished() -> None:
    folder = run_folder("smoke", "over")
    assert why_ended(folder) == "over"
    for text in ("", "{", "[]", '{"ended": 3}', "{}"):
        (folder / STATUS).write_text(text)
        assert why_ended(folder) is None


def test_a_folder_with_nothing_but_a_killed_beginning_is_empty(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / ".config.toml.123.tmp").touch()
    (folder / ".lock").touch()
    check_folder(folder)
    (folder / "thesis.txt").touch()
    with pytest.raises(ConfigError, match="not empty"):
        check_folder(folder)


# --- the end of a run ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "counters", "reason"),
    [
        ({"deals": 100}, {"deals": 99}, None),
        ({"deals": 100}, {"deals": 100}, "all deals played: run.deals is 100"),
        ({"minutes": 5}, {"minutes": 4.9}, None),
        ({"minutes": 5}, {"minutes": 5.1}, "time is up: run.minutes is 5"),
        ({"minutes": 5, "deals": 100}, {"deals": 100}, "all deals played: run.deals is 100"),
        ({"deals": 9, "target": 0.0}, {}, None),
        ({"deals": 9, "target": 0.0}, {"low": -0.01}, None),
        ({"deals": 9, "target": 0.0}, {"low": 0.0}, "target reached: .* is \\+0.000 antes a deal, run.target is \\+0"),
        ({"deals": 9, "patience": 3}, {"without_better": 2}, None),
        ({"deals": 9, "patience": 3}, {"without_better": 3}, "patience spent: 3 evaluations without a better one"),
    ],
)
def test_why_a_run_is_over(settings: dict[str, float], counters: dict[str, float], reason: str | None) -> None:
    run = RunConfig.model_validate(
        {key: float(value) if key == "minutes" else value for key, value in settings.items()}
    )
    found = why_over(run, Counters(**counters))  # type: ignore[arg-type]
    if reason is None:
        assert found is None
        assert progress(run, Counters(**counters)) < 1  # type: ignore[arg-type]
    else:
        assert found is not None
        with pytest.raises(AssertionError, match=reason):
            raise AssertionError(found)


def test_networks_of_no_use_are_noticed() -> None:
    learner = tiny_learner()
    healthy = {"ppo/kl": 0.02, "critic/value_loss": 0.3}
    check_health(learner, healthy)
    for tag, limit in EXPLODED.items():
        for value in (2 * limit, float("inf"), float("nan")):
            with pytest.raises(DivergedError, match=tag):
                check_health(learner, {**healthy, tag: value})
    with torch.no_grad():
        learner.actor.head.bias[0] = torch.inf
    with pytest.raises(DivergedError, match="weights of the actor are not finite"):
        check_health(learner, healthy)


# --- the display -----------------------------------------------------------------------------------------------------

VALUES = {
    "speed/deals_per_second": 1234.5,
    "speed/share_engine": 0.04,
    "speed/share_inference": 0.32,
    "speed/share_learning": 0.61,
}


def test_a_plain_line_tells_speed_work_strength_and_time_left(tmp_path: Path) -> None:
    trainer, lines = tiny_trainer(tmp_path / "run"), io.StringIO()
    display = Display(trainer, lines)
    trainer.counters.deals, trainer.counters.minutes = 320, 30.0
    trainer.strength = {
        name: estimate([mean, mean + 0.2], seed=1) for name, mean in (("random", 1.0), ("heuristic", -0.1))
    }
    display.show(VALUES)
    display.show(VALUES)  # too soon for another line
    display.show({**VALUES, "evaluation/heuristic_mean": 0.0})
    trainer.close()
    first, second = lines.getvalue().splitlines()
    assert first == second
    assert first == (
        " 25% 320 deals, 1,234/s, 1:30:00 left, against heuristic +0.000 (-0.100 to +0.100), "
        "against random +1.100 (+1.000 to +1.200), engine 4% inference 32% learning 61%"
    )


# --- pictures and histograms -----------------------------------------------------------------------------------------


def test_every_picture_is_drawn_from_the_numbers_of_an_iteration() -> None:
    learner = tiny_learner()
    rollout = deals_of(learner.actor)
    histograms, entropies = histograms_and_entropies(learner, rollout, PAGAT)
    values = described(rollout, learner.actor.spec)
    pictures = draw_pictures({**values, **entropies, "policy/entropy_declare": 2.4})
    assert set(pictures) == set(PICTURES)
    for pixels in pictures.values():
        assert (pixels.dtype, pixels.shape) == (np.uint8, (240, 400, 3))
        assert len(np.unique(pixels)) > 10  # something is on it
    assert draw_pictures({"ppo/kl": 1.0}) == {}
    assert set(histograms) == set(HISTOGRAMS) - {"pairs/gains", "dmc/values"}
    assert all(np.isfinite(found).all() and len(found) for found in histograms.values())
    assert np.abs(histograms["ppo/log_ratio"]).max() < 1e-5  # nothing has been learned yet
    assert set(entropies) == {f"policy/entropy_trick_{trick}" for trick in range(1, 5)}
    declares = len(histograms["hands/trumps_of_stays"]) + len(histograms["hands/trumps_of_passes"])
    assert 0 < declares <= len(histograms["critic/values"]) == len(rollout)


def test_positions_and_draws_are_those_of_the_deals() -> None:
    learner = tiny_learner()
    rollout = deals_of(learner.actor, first=40)
    dealer = np.arange(40, 168) % 4
    assert (positions_of(rollout) == (rollout.seat - dealer[rollout.deal] - 1) % 4 + 1).all()
    values = described(rollout, learner.actor.spec)
    shares = [values[f"game/draws_{cards}"] for cards in range(6) if f"game/draws_{cards}" in values]
    assert sum(shares) == pytest.approx(1)
    assert sum(cards * values.get(f"game/draws_{cards}", 0) for cards in range(6)) == pytest.approx(
        values["game/discards"]
    )


def test_positions_at_tables_of_several_sizes_end_with_the_dealer() -> None:
    actor = tiny_learner(spec=tiny_spec(seats_shown=6)).actor
    rollouts = []
    for size in (3, 6):
        table = SelfPlay(Rules.preset("pagat", num_players=size), 1, 6)
        rollouts.append(table.play(actor, np.arange(60), threads=ONE_THREAD, watch=Stopwatch()))
    mixed = joined(rollouts, range(len(rollouts)))
    size = mixed.num_players[mixed.deal]
    dealer = mixed.deal % 60 % size
    assert (positions_of(mixed) == (mixed.seat - dealer - 1) % size + 1).all()
    assert positions_of(mixed)[size == 3].max() == 3


# --- the device ------------------------------------------------------------------------------------------------------


def test_rows_are_unpacked_on_a_gpu_as_they_are_here() -> None:
    """The arithmetic of the GPU's way, done on the processor."""
    words = RNG.integers(0, 2**64, (37, 5), dtype=np.uint64, endpoint=False)
    cpu = torch.device("cpu")
    assert (bits_of(words, cpu).numpy() == unpack(words)).all()
    assert (bits_of(words[:, 1:3], cpu).numpy() == unpack(np.ascontiguousarray(words[:, 1:3]))).all()
    assert (bits_of(words[:, :2], cpu)[:, :85].bool().numpy() == unpack_actions(words[:, :2].copy(), 85)).all()
    assert (unpacked(packed_rows(words, cpu)).numpy() == unpack(words)).all()
    assert legal_mask(words[:, :2].copy(), 85, cpu).shape == (37, 85)


def test_the_device_is_the_processor_where_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert choose_device("auto") == choose_device("cpu") == torch.device("cpu")
    with pytest.raises(ConfigError, match=r'run\.device = "cuda": PyTorch finds no CUDA GPU'):
        choose_device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device("auto") == choose_device("cuda") == torch.device("cuda")
    assert choose_device("cpu") == torch.device("cpu")
    assert rows_at_a_time(torch.device("cuda")) == GPU_ROWS


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_a_gpu_trains_saves_for_the_processor_and_resumes(tmp_path: Path) -> None:
    trainer = tiny_trainer(tmp_path / "run", run={"deals": 128, "device": "cuda"})
    trainer.run(stop=lambda: False, report=lambda values: None)
    trainer.close()
    state = torch.load(tmp_path / "run" / "trainer.pt", weights_only=True)
    assert {value.device.type for value in state["actor"].values()} == {"cpu"}
    tiny_trainer(tmp_path / "run", resume=True, run={"deals": 128, "device": "cpu"}).close()
