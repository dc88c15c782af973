"""Ray Core as the executor: the same results as processes, lost workers or not, and the same bytes of a tournament."""

import contextlib
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT / "tests")]
ray = pytest.importorskip("ray")
from executor_tasks import die_always, die_once, refuse, square, threads_of_algebra  # noqa: E402

from agents.evaluation_cli import main  # noqa: E402
from agents.executors import RAY, ClusterError, Workers, WorkersLostError, map_unordered  # noqa: E402

TWO = Workers(2, RAY)
TOURNAMENT = ["tournament", "random", "heuristic", "always_stay", "--blocks", "700", "--seats", "3", "--no-report"]

pytestmark = pytest.mark.filterwarnings("ignore")  # what Ray warns of is no affair of ours


@pytest.fixture(autouse=True, scope="module")
def paths() -> Iterator[None]:
    """Ray's workers find the tasks of the tests."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    yield
    ray.shutdown()
    os.environ.pop("PYTHONPATH")
    if before is not None:
        os.environ["PYTHONPATH"] = before


def test_tasks_give_what_processes_give() -> None:
    found = dict(map_unordered(square, range(12), workers=TWO))
    assert {number: result for number, (result, _) in found.items()} == {number: number**2 for number in range(12)}
    assert os.getpid() not in {process for _, process in found.values()}
    assert dict(map_unordered(square, [], workers=TWO)) == {}


def test_workers_keep_to_one_core_each() -> None:
    assert dict(map_unordered(threads_of_algebra, range(2), workers=TWO)) == {0: ("1", 1), 1: ("1", 1)}


def test_an_error_in_a_task_arrives_as_it_was() -> None:
    with pytest.raises(ArithmeticError, match=r"task [0-2] went wrong"):
        list(map_unordered(refuse, range(3), workers=TWO))


def test_a_worker_that_is_killed_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    marks = ["", str(tmp_path / "a"), "", str(tmp_path / "b"), "", "", "", ""]
    found = dict(map_unordered(die_once, marks, workers=TWO))
    assert found == {number: f"done {Path(mark).name}" for number, mark in enumerate(marks)}
    assert (tmp_path / "a").exists()
    assert (tmp_path / "b").exists()


def test_a_task_that_kills_every_worker_is_given_up() -> None:
    with pytest.raises(WorkersLostError, match="died 4 times in the middle of the same task"):
        list(map_unordered(die_always, range(3), workers=TWO))


def test_a_tournament_has_the_same_bytes(tmp_path: Path) -> None:
    assert main([*TOURNAMENT, "--workers", "2", "--out", str(tmp_path / "processes")]) == 0
    assert main([*TOURNAMENT, "--workers", "2", "--executor", "ray", "--out", str(tmp_path / "ray")]) == 0
    name = "blocks-3.parquet"
    assert (tmp_path / "processes" / name).read_bytes() == (tmp_path / "ray" / name).read_bytes()


def test_a_cluster_that_is_not_there_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    ray.shutdown()
    with pytest.raises(ClusterError, match=r"at ray-that-is-nowhere"):
        list(map_unordered(square, range(2), workers=Workers(2, RAY, "ray-that-is-nowhere:1")))
    assert main([*TOURNAMENT, "--executor", "ray", "--ray-address", "ray-that-is-nowhere:1"]) == 1
    assert "Ray cannot be used at ray-that-is-nowhere:1" in capsys.readouterr().err


CLIENT = """
import sys
from executor_tasks import die_once
from agents.executors import RAY, Workers, map_unordered
print(sorted(map_unordered(die_once, ["", sys.argv[2], "", ""], workers=Workers(None, RAY, sys.argv[1]))))
"""


def test_a_cluster_that_is_there_does_the_work(tmp_path: Path) -> None:
    """One begun by `ray start`, as on the first machine of several, with a token of its own."""
    ray.shutdown()
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{(port := found.getsockname()[1])}"
    mine = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    command = [str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", "--num-cpus=2"]
    command += [f"--port={port}", "--include-dashboard=false", f"--temp-dir={tempfile.mkdtemp(prefix='ray-')}"]
    head = subprocess.Popen(command, env=os.environ | mine, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port)
        client = [sys.executable, "-c", CLIENT, address, str(tmp_path / "a")]
        done = subprocess.run(client, env=os.environ | mine, capture_output=True, text=True, timeout=120, check=False)
        told = done.stdout.splitlines()[-1:]  # before it Ray tells of the worker it lost
        assert told == ["[(0, 'done '), (1, 'done a'), (2, 'done '), (3, 'done ')]"], done.stderr
    finally:
        head.terminate()  # it ends what it began; `ray stop` would end every cluster of the machine
        head.wait(60)


def wait_for(port: int) -> None:
    """Until somebody listens."""
    for _ in range(600):
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        time.sleep(0.1)
