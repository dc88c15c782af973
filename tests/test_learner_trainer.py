"""Runs: the same seed gives the same network, a resumed run is the run that never stopped, and the bot learns."""

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from learning import TINY_RUN, tiny_config, tiny_trainer
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents.arena import play_blocks
from agents.checkpoint import CheckpointError, load_checkpoint, parameter_hash
from agents.descent import DivergedError
from agents.games import part_named
from agents.metrics import HISTOGRAMS, PICTURES, TAGS, TEXTS
from agents.policy import load_policy
from agents.rollout import NETWORK
from agents.runs import PREVIOUS_STATE_FILE, STATE_FILE, why_ended
from agents.statistics import estimate
from agents.trainer import Trainer, network_spec, self_play
from bourre_env.family import GAMES


@pytest.fixture(autouse=True)
def one_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are compared byte for byte, and somebody may commit between two of them."""
    monkeypatch.setattr("agents.trainer.source_commit", lambda: "0" * 40)


def run(trainer: Trainer, *, iterations: int | None = None) -> Trainer:
    """Train to the end, or for some iterations as if Ctrl-C had come then."""
    done = []
    trainer.run(stop=lambda: len(done) == iterations, report=done.append)
    trainer.close()
    return trainer


def fingerprint(trainer: Trainer) -> tuple[str, str, str]:
    """Actor, critic if there is one, and the optimisers' moments."""
    state = trainer.learner.state()
    critic = trainer.learner.critic
    moments = [
        f"{name} {number} {key} {value.double().sum().item()!r} {value.double().square().sum().item()!r}"
        for name in state
        if name.endswith("_optimizer")
        for number, entry in state[name]["state"].items()
        for key, value in entry.items()
    ]
    of_critic = "" if critic is None else parameter_hash(critic)
    return parameter_hash(trainer.learner.actor), of_critic, "\n".join(moments)


def spoil(state: Path, damage: str) -> None:
    """Do to a file what disks and people do."""
    content = bytearray(state.read_bytes())
    if damage == "missing":
        state.unlink()
    elif damage == "cut":
        state.write_bytes(content[:2000])
    elif damage == "bit_flip":
        content[len(content) // 2] ^= 1
        state.write_bytes(content)


def steps_of(folder: Path, tag: str) -> list[int]:
    events = EventAccumulator(str(folder))
    events.Reload()
    return [event.step for event in events.Scalars(tag)]


def test_the_same_seed_gives_the_same_network_and_another_one_another(tmp_path: Path) -> None:
    deals = {"deals": 256}
    runs = [
        run(tiny_trainer(tmp_path / str(number), run={**deals, "seed": seed})) for number, seed in enumerate((1, 1, 2))
    ]
    assert fingerprint(runs[0]) == fingerprint(runs[1])
    assert fingerprint(runs[0])[0] != fingerprint(runs[2])[0]
    first, second = ((tmp_path / str(number) / "last.safetensors").read_bytes() for number in (0, 1))
    assert first == second


@pytest.mark.parametrize(
    "learn",
    [
        {"advantages": "pairs"},
        {"advantages": "critic", "gae_lambda": 0.9},
        {"method": "dmc", "temperature": 0.02, "temperature_end": 0.01},
    ],
)
def test_b122_b123_ten_iterations_and_ten_after_a_resume_are_twenty(tmp_path: Path, learn: dict[str, Any]) -> None:
    """With opponents, evaluations, schedules and the estimate of what carries are worth, bit for bit."""
    changes = {"rollout": {"carry_credit": "by_seat", "ante_credit": True}, "learn": learn}
    straight = run(tiny_trainer(tmp_path / "straight", **changes))
    first = run(tiny_trainer(tmp_path / "broken", **changes), iterations=10)
    assert first.counters.iteration == 10
    torch.manual_seed(99)
    np.random.default_rng(99).random()
    second = run(tiny_trainer(tmp_path / "broken", resume=True, **changes))
    assert second.counters.iteration == 20
    assert second.credit.state() == straight.credit.state() != {}
    assert fingerprint(second) == fingerprint(straight)
    assert second.counters.best == straight.counters.best
    assert second.counters.evaluations == straight.counters.evaluations == 2
    for name in ("last.safetensors", "best.safetensors"):
        assert (tmp_path / "broken" / name).read_bytes() == (tmp_path / "straight" / name).read_bytes()

    logs = [(tmp_path / name / "metrics.jsonl").read_text().splitlines() for name in ("straight", "broken")]
    volatile = ("minutes", "speed/")
    plain = [
        [{tag: value for tag, value in json.loads(line).items() if not tag.startswith(volatile)} for line in lines]
        for lines in logs
    ]
    assert plain[0] == plain[1]
    tag = "dmc/loss" if "method" in learn else "ppo/kl"
    steps = steps_of(tmp_path / "broken", tag)
    assert steps == steps_of(tmp_path / "straight", tag) == list(range(64, 1281, 64))


def test_a_kill_between_two_checkpoints_repeats_what_was_lost(tmp_path: Path) -> None:
    straight = run(tiny_trainer(tmp_path / "straight", run={"deals": 640}))
    killed = tiny_trainer(tmp_path / "killed", run={"deals": 640})
    for _ in range(4):  # iterations that no checkpoint knows of
        killed.record(killed.iterate())
    killed.close()
    (tmp_path / "killed" / ".last.safetensors.123.tmp").touch()  # what a kill leaves of a file being written
    resumed = tiny_trainer(tmp_path / "killed", resume=True, run={"deals": 640})
    assert resumed.counters.iteration == 0
    assert not list((tmp_path / "killed").glob(".*.tmp"))
    assert fingerprint(run(resumed)) == fingerprint(straight)
    assert steps_of(tmp_path / "killed", "ppo/kl") == list(range(64, 641, 64))


def test_a_best_response_meets_its_target_alone_and_is_chosen_by_it(tmp_path: Path) -> None:
    trainer = tiny_trainer(
        tmp_path, run={"deals": 256}, rollout={"deals": 128, "target": "always_stay", "random_share": 0.0}
    )
    assert [policy.name for policy in trainer.yardsticks.values()] == ["always_stay"]
    line_ups = self_play(trainer.config, trainer.games[0]).opponents.line_ups(trainer.games[0], 1, np.arange(500))
    assert ((line_ups == NETWORK).sum(axis=1) == 1).all()
    run(trainer)
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    measured = [tag for tag in lines[-1] if tag.startswith("evaluation/")]
    assert measured == [f"evaluation/target_{part}" for part in ("mean", "low", "high")]
    assert trainer.counters.best == max(line["evaluation/target_mean"] for line in lines)


def test_a_run_logs_every_tag_that_is_explained(tmp_path: Path) -> None:
    kinds: list[set[str]] = []
    for name, learn in {
        "dmc": {"method": "dmc"},
        "pairs": {"foretelling": 0.1},
        "critic": {"advantages": "critic"},
    }.items():
        changes: dict[str, dict[str, Any]] = {"rollout": {"deals": 256}, "learn": learn}
        folder = tmp_path / name
        trainer = run(tiny_trainer(folder, run={"deals": 512, "pictures_every": 1}, **changes))
        lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        kinds.append(set().union(*lines))
    logged = kinds[0] | kinds[1] | kinds[2]
    assert all(tag.startswith(("critic/", "pairs/")) for tag in kinds[1] ^ kinds[2])
    own = ("dmc/", "schedule/epsilon", "schedule/temperature")
    assert all(tag.startswith((*own, "ppo/", "policy/", "critic/", "pairs/")) for tag in kinds[0] ^ kinds[1])
    rare = {"pass_rate/trumps_4", "pass_rate/trumps_5", *(f"pass_rate/position_{seat}" for seat in range(5, 9))}
    rare |= {"opponents/target", "opponents/heuristic"} | {
        tag for tag in TAGS if tag.startswith(("evaluation/target", "evaluation_", "credit/", "league/"))
    }
    rare |= {tag for game in GAMES[1:] for tag in part_named(game).tags} - set(part_named(GAMES[0]).tags)
    assert set(TAGS) - rare <= logged <= set(TAGS) | {"deals", "iteration", "minutes", "ended"}
    of_dmc = EventAccumulator(str(tmp_path / "dmc"))
    of_dmc.Reload()
    assert set(of_dmc.Tags()["histograms"]) == {
        "critic/results",
        "dmc/values",
        "hands/trumps_of_stays",
        "hands/trumps_of_passes",
    }
    events = EventAccumulator(str(tmp_path / "critic"))
    events.Reload()
    shown = events.Tags()
    assert set(shown["histograms"]) == set(HISTOGRAMS) - {"pairs/gains", "dmc/values"}
    assert set(shown["images"]) == set(PICTURES)
    assert {tag.removesuffix("/text_summary") for tag in shown["tensors"]} >= set(TEXTS) - {"league"}
    assert len({tag for tag in shown["tensors"] if tag.startswith("custom_scalars")}) == 1
    assert sum("_hparams_" in tag for tag in events.summary_metadata) == 3
    assert lines[-1]["deals"] == trainer.counters.deals == 512
    shares = [lines[-1][f"speed/share_{work}"] for work in ("engine", "inference", "learning")]
    assert 0.5 < sum(shares) <= 1
    assert {tag for line in lines for tag in line if tag.startswith("pass_rate/trumps")} >= {"pass_rate/trumps_0"}
    assert "pass_rate/trumps_0" in lines[0]  # watched from the first iteration


def test_the_last_iteration_plays_exactly_what_is_left(tmp_path: Path) -> None:
    trainer = run(tiny_trainer(tmp_path, run={"deals": 150}))
    assert trainer.counters.deals == 150
    assert trainer.counters.iteration == 3


def test_the_checkpoints_say_where_they_come_from(tmp_path: Path) -> None:
    trainer = run(tiny_trainer(tmp_path, run={"deals": 192}))
    header, actor = load_checkpoint(tmp_path / "last.safetensors")
    assert parameter_hash(actor) == parameter_hash(trainer.learner.actor)
    assert (header.iteration, header.deals) == (3, 192)
    assert header.decisions == trainer.counters.decisions > 192
    assert header.rules == (trainer.games[0],)
    best, _ = load_checkpoint(tmp_path / "best.safetensors")
    assert best.deals <= 192


def test_the_best_checkpoint_is_the_one_that_did_best(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = tiny_trainer(tmp_path)
    means = iter([0.0, -0.5, 0.0, 0.25, 0.0, 0.1])  # random, heuristic; three evaluations

    def pretend(block_means: object, *, seed: int) -> object:
        values = np.array([-1.0, 1.0]) + next(means)
        return estimate(values, seed=seed)

    monkeypatch.setattr("agents.trainer.estimate", pretend)
    bests = []
    for _ in range(3):
        trainer.iterate()
        trainer.evaluate()
        bests.append((trainer.counters.best, load_checkpoint(tmp_path / "best.safetensors")[0].iteration))
    trainer.close()
    assert bests == [(-0.5, 1), (0.25, 2), (0.25, 2)]


def test_b109_b110_the_state_is_loaded_without_running_code(tmp_path: Path) -> None:
    run(tiny_trainer(tmp_path, run={"deals": 128}))
    state = torch.load(tmp_path / STATE_FILE)  # weights_only is the default
    assert state["counters"]["deals"] == 128
    assert {type(value) for value in state["counters"].values()} <= {int, float, type(None)}


@pytest.mark.parametrize("damage", ["missing", "cut", "bit_flip", "other_network"])
def test_a_state_that_cannot_be_resumed_is_named(damage: str, tmp_path: Path) -> None:
    run(tiny_trainer(tmp_path, run={"deals": 64}))
    changes = {"network": {"actor_width": 8}} if damage == "other_network" else {}
    for name in (STATE_FILE, PREVIOUS_STATE_FILE):
        spoil(tmp_path / name, damage)
    message = "nothing to resume" if damage == "missing" else f"{STATE_FILE} is damaged, or of another network"
    with pytest.raises(CheckpointError, match=message) as caught:
        tiny_trainer(tmp_path, resume=True, **changes)
    assert "\n" not in str(caught.value)


def test_b116_a_full_disk_does_not_stop_the_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warnings: list[str] = []
    trainer = tiny_trainer(tmp_path, warnings=warnings, run={"deals": 256})
    good = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix in (".pt", ".safetensors")}
    assert set(good) == {STATE_FILE, "last.safetensors"}

    def disk_full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", disk_full)
        trainer.run(stop=lambda: False, report=lambda values: None)
    assert trainer.counters.deals == 256
    assert not trainer.saved
    assert sum("last.safetensors could not be written" in warning for warning in warnings) == 1  # once is enough
    assert all((tmp_path / name).read_bytes() == content for name, content in good.items())
    assert not list(tmp_path.glob(".*.tmp"))
    assert trainer.save()
    trainer.close()
    assert load_checkpoint(tmp_path / "last.safetensors")[0].deals == 256


def test_a_network_that_diverges_stops_with_the_last_good_checkpoint(tmp_path: Path) -> None:
    trainer = tiny_trainer(tmp_path)
    trainer.iterate()
    trainer.save()
    good = (tmp_path / "last.safetensors").read_bytes()
    with torch.no_grad():
        trainer.learner.actor.head.bias.fill_(torch.nan)
    with pytest.raises(DivergedError):
        trainer.run(stop=lambda: False, report=lambda values: None)
    trainer.close()
    assert (tmp_path / "last.safetensors").read_bytes() == good
    assert load_checkpoint(tmp_path / "last.safetensors")[0].iteration == 1


def test_minutes_end_a_run_and_drive_its_schedules(tmp_path: Path) -> None:
    trainer = tiny_trainer(tmp_path, run={"deals": None, "minutes": 0.03})
    rates: list[float] = []
    trainer.run(stop=lambda: False, report=lambda values: rates.append(values["schedule/learning_rate"]))
    trainer.close()
    assert trainer.counters.minutes >= 0.03
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > rates[-1]


def test_minutes_are_kept_over_a_resume(tmp_path: Path) -> None:
    first = run(tiny_trainer(tmp_path), iterations=3)
    second = tiny_trainer(tmp_path, resume=True)
    assert second.counters.minutes == first.counters.minutes > 0
    second.close()


@pytest.mark.parametrize("damage", ["missing", "cut", "bit_flip"])
def test_a_damaged_state_is_named_and_the_one_before_used(damage: str, tmp_path: Path) -> None:
    straight = run(tiny_trainer(tmp_path / "straight", run={"deals": 640}))
    first = run(tiny_trainer(tmp_path / "damaged", run={"deals": 640, "checkpoint_every": 1}), iterations=4)
    assert first.counters.iteration == 4
    spoil(tmp_path / "damaged" / STATE_FILE, damage)
    warnings: list[str] = []
    second = tiny_trainer(tmp_path / "damaged", resume=True, warnings=warnings, run={"deals": 640})
    assert second.counters.iteration == 3
    assert [STATE_FILE in warning and PREVIOUS_STATE_FILE in warning for warning in warnings] == [True]
    assert (tmp_path / "damaged" / "trainer.damaged.pt").exists() == (damage != "missing")
    assert fingerprint(run(second)) == fingerprint(straight)


def test_the_last_checkpoint_is_written_anew_where_it_is_damaged(tmp_path: Path) -> None:
    run(tiny_trainer(tmp_path, run={"deals": 128}))
    last = tmp_path / "last.safetensors"
    good = last.read_bytes()
    spoil(last, "cut")
    warnings: list[str] = []
    tiny_trainer(tmp_path, resume=True, warnings=warnings, run={"deals": 128}).close()
    assert last.read_bytes() == good
    assert len(warnings) == 1
    assert str(last) in warnings[0]


def test_b119_the_newest_snapshots_are_kept_and_those_in_use(tmp_path: Path) -> None:
    trainer = tiny_trainer(tmp_path, run={"keep": 3}, evaluation={"times": 10})
    trainer.snapshots.in_use.add("000000000256.safetensors")
    run(trainer)
    kept = trainer.snapshots.paths()
    assert [path.stem.lstrip("0") for path in kept] == ["256", "1024", "1152", "1280"]
    assert [load_checkpoint(path)[0].deals for path in kept] == [256, 1024, 1152, 1280]


def test_b120_no_snapshots_are_kept_where_none_are_wanted(tmp_path: Path) -> None:
    run(tiny_trainer(tmp_path, run={"deals": 128, "keep": 0}))
    assert not (tmp_path / "snapshots").exists()


def test_a_run_ends_at_its_target_and_says_so(tmp_path: Path) -> None:
    trainer = run(tiny_trainer(tmp_path, run={"target": -50.0}, evaluation={"times": 10}))
    assert (trainer.counters.iteration, trainer.counters.evaluations) == (2, 1)
    assert trainer.why_over is not None
    assert trainer.why_over.startswith("target reached: the lower end of the interval against heuristic is ")
    last = json.loads((tmp_path / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["ended"] == why_ended(tmp_path) == trainer.why_over
    again = run(tiny_trainer(tmp_path, resume=True, run={"target": -50.0}, evaluation={"times": 10}))
    assert again.counters.iteration == 2
    further = run(tiny_trainer(tmp_path, resume=True, run={"target": 50.0}, evaluation={"times": 10}))
    assert further.counters.deals == 1280
    assert why_ended(tmp_path) == "all deals played: run.deals is 1,280"


def test_a_run_ends_when_its_patience_is_spent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    means = iter([0.0, 0.1, 0.0, 0.3, 0.0, 0.2, 0.0, 0.3])  # random, heuristic; four evaluations
    monkeypatch.setattr(
        "agents.trainer.estimate", lambda blocks, *, seed: estimate(np.array([-1.0, 1.0]) + next(means), seed=seed)
    )
    trainer = run(tiny_trainer(tmp_path, run={"patience": 2}, evaluation={"times": 10}))
    assert trainer.counters.evaluations == 4
    assert why_ended(tmp_path) == "patience spent: 2 evaluations without a better one, run.patience is 2"
    assert load_checkpoint(tmp_path / "best.safetensors")[0].iteration == 4


def test_a_larger_budget_gets_its_evaluation_at_the_end(tmp_path: Path) -> None:
    run(tiny_trainer(tmp_path, run={"deals": 192}))
    longer = run(tiny_trainer(tmp_path, resume=True, run={"deals": 256}))
    last = json.loads((tmp_path / "metrics.jsonl").read_text().splitlines()[-1])
    assert longer.counters.deals == last["deals"] == 256
    assert "evaluation/heuristic_mean" in last


def test_exploding_networks_end_the_run_before_anything_is_saved(tmp_path: Path) -> None:
    rates = {"learning_rate": 1.0, "learning_rate_end": 1.0, "gradient_norm": 1e6}
    trainer = tiny_trainer(tmp_path, learn=rates, run={"checkpoint_every": 1})
    with pytest.raises(DivergedError, match=r"diverged|finite"):
        trainer.run(stop=lambda: False, report=lambda values: None)
    trainer.close()
    header, actor = load_checkpoint(tmp_path / "last.safetensors")
    assert all(torch.isfinite(weights).all() for weights in actor.parameters())
    assert header.iteration == trainer.counters.iteration < 20
    assert str(why_ended(tmp_path)).startswith("diverged: ")


def test_a_run_may_fail_to_log_from_beginning_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorBoard is not installed, and the disk has no room for a line: the networks are the same."""
    straight = run(tiny_trainer(tmp_path / "straight", run={"deals": 256}))
    warnings: list[str] = []
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    (tmp_path / "silent" / "metrics.jsonl").mkdir(parents=True)
    silent = run(tiny_trainer(tmp_path / "silent", warnings=warnings, run={"deals": 256, "pictures_every": 1}))
    assert fingerprint(silent) == fingerprint(straight)
    assert sorted(warning.split()[0] for warning in warnings) == ["TensorBoard", "metrics.jsonl"]


@pytest.mark.parametrize("preset", ["pagat_limit", "hoyle"])
@pytest.mark.parametrize("num_players", [2, 6])
def test_other_rules_and_table_sizes_can_be_learned(preset: str, num_players: int, tmp_path: Path) -> None:
    trainer = tiny_trainer(
        tmp_path, run={"deals": 64}, rules={"preset": preset, "num_players": num_players}, network={"seats_shown": 8}
    )
    run(trainer)
    policy = load_policy(str(tmp_path))
    play_blocks(trainer.games[0], policy, load_policy("random"), seed=1, deal_ids=np.arange(4))


def test_a_few_seconds_of_training_beat_random_play_clearly(tmp_path: Path) -> None:
    changes = {
        "run": {"deals": 12_288, "checkpoint_every": 100},
        "rules": {"num_players": 2},
        "network": {"actor_width": 32, "critic_width": 32},
        "rollout": {"deals": 1024},
        "learn": {"minibatch": 512, "learning_rate": 1e-2, "learning_rate_end": 1e-3, "entropy": 0.05},
        "evaluation": {"times": 1, "blocks": 200},
    }
    trainer = run(tiny_trainer(tmp_path, **changes))
    policy = load_policy(str(tmp_path / "last.safetensors"))
    blocks = play_blocks(trainer.games[0], policy, load_policy("random"), seed=123, deal_ids=np.arange(1000))
    assert estimate(blocks.block_means, seed=1).low > 0.4


def test_networks_follow_the_settings() -> None:
    spec = network_spec(
        tiny_config(network={"privileged_critic": False, "critic_layers": 3, "layer_norm": False, "head": "plain"})
    )
    assert (spec.actor_width, spec.critic_layers, spec.hidden_words, spec.layer_norm, spec.head) == (
        16,
        3,
        0,
        False,
        "plain",
    )
    assert TINY_RUN["run"]["deals"] == 1280
