"""Runs that are killed with SIGKILL, or meet a full disk, and end as if nothing had happened (`benchmarks/kill.py`)."""

from pathlib import Path

import pytest
import torch
from learning import tiny_trainer

from agents.checkpoint import load_checkpoint
from benchmarks.kill import damaged, fingerprint, torture


@pytest.mark.slow
def test_kills_and_full_disks_lose_nothing(tmp_path: Path) -> None:
    """Three kills and two full disks; every life loads torch anew, which takes seconds."""
    tally = torture(tmp_path, times=3, full_disk=2, seed=5, deals=1024)
    assert (tally.kills, tally.full, tally.faults) == (3, 2, [])
    assert tally.finished >= 1


def test_the_kill_loop_notices_what_it_looks_for(tmp_path: Path) -> None:
    trainer = tiny_trainer(tmp_path, run={"deals": 256})
    trainer.run(stop=lambda: False, report=lambda values: None)
    trainer.close()
    good = fingerprint(tmp_path)
    assert damaged(tmp_path) == []
    for name in ("trainer.pt", "trainer.previous.pt", "best.safetensors", "status.json"):
        path = tmp_path / name
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])
        assert [fault.partition(":")[0] for fault in damaged(tmp_path)] == [name]
        path.write_bytes(content)
    log = tmp_path / "metrics.jsonl"
    log.write_text(log.read_text().replace('"iteration": 2', '"iteration": 3'))
    assert {name for name, digest in fingerprint(tmp_path).items() if digest != good[name]} == {"metrics"}
    state = torch.load(tmp_path / "trainer.pt", weights_only=True)
    state["actor_optimizer"]["state"][0]["exp_avg"][0] += 1
    torch.save(state, tmp_path / "trainer.pt")
    assert {name for name, digest in fingerprint(tmp_path).items() if digest != good[name]} == {"metrics", "state"}
    assert load_checkpoint(tmp_path / "last.safetensors")[0].deals == 256
