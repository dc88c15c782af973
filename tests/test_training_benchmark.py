"""The benchmark of the trainer: it measures what it says, and tells a goal that was missed."""

from pathlib import Path

import numpy as np
import pytest
from learning import deals_of, tiny_config, tiny_trainer

from agents.checkpoint import parameter_hash
from agents.pair_learner import PairLearner
from agents.ppo import Learner
from benchmarks.training import Measured, NetworksAlone, Speed, lines


def hashes_of(networks: PairLearner | Learner | NetworksAlone) -> list[str]:
    return [parameter_hash(network) for network in (networks.actor, networks.critic) if network is not None]


@pytest.mark.parametrize("advantages", ["pairs", "critic"])
def test_the_networks_alone_learn_and_leave_the_trainers_be(tmp_path: Path, advantages: str) -> None:
    trainer = tiny_trainer(tmp_path, learn={"advantages": advantages})
    alone = NetworksAlone(trainer)
    before = hashes_of(trainer.learner)
    alone.work(deals_of(trainer.learner.actor, pairs=advantages == "pairs"))()
    after, learned = hashes_of(trainer.learner), hashes_of(alone)
    trainer.close()
    assert before == after
    assert all(ours != theirs for ours, theirs in zip(learned, before, strict=True))


def test_a_round_gives_rates_and_shares(tmp_path: Path) -> None:
    measured = Measured(tiny_config(), tmp_path)
    measured.iterate()
    measured.close()
    speed = measured.speed([{"samples": 100.0, "steps": 160.0}, {"samples": 300.0, "steps": 480.0}])
    assert speed.trainer > 0
    assert speed.networks > 0
    assert speed.sb3 == {"samples": 200.0, "steps": 320.0}
    assert 0 < sum(speed.shares.values()) <= 1
    assert set(speed.shares) == {"engine", "inference", "learning"}


@pytest.mark.parametrize(
    ("speed", "missed"),
    [
        (Speed(900.0, 1000.0, 0.9, {"engine": 0.04}, {"samples": 80.0, "steps": 130.0}), 0),
        (Speed(900.0, 1000.0, 0.9, {"engine": 0.04}, {}), 0),
        (Speed(800.0, 1000.0, 0.8, {"engine": 0.06}, {"samples": 100.0, "steps": 160.0}), 3),
    ],
)
def test_missed_goals_are_told(speed: Speed, missed: int) -> None:
    assert sum("MISSED" in line for line in lines(speed)) == missed
    assert np.isclose(speed.ratio, speed.trainer / speed.networks)
