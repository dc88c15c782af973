"""Several processes train one run: together they learn what one would have learned, and they begin and end as one."""

import json
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from learning import ONE_THREAD, deals_of, tiny_config, tiny_learner, tiny_trainer
from ranks import outcomes, start_ranks

from agents import device
from agents.config import ConfigError
from agents.device import choose_device
from agents.minibatches import Numbering
from agents.pot_credit import PotCredit
from agents.ppo import Measures, Minibatch, Weights, mean
from agents.ranks import ALONE, LostRankError, Ranks, joined_ranks, lost_ranks_named
from agents.rollout import MOST_STEPS
from agents.runs import STATE_FILE
from agents.table_sizes import joined
from agents.threads import Threads
from agents.trainer import Trainer

SCRIPT = Path(__file__).with_name("rank_script.py")
SETTINGS: dict[str, dict[str, Any]] = {
    "run": {"deals": 4 * 65 + 1, "threads": 2, "checkpoint_every": 1},  # the last iteration has one deal for two ranks
    "rules": {"num_players": [4, 3]},
    "rollout": {"deals": 65, "carry_credit": "by_seat", "ante_credit": True, "curriculum": 0.5},
    "learn": {"proximal_kl": 0.05, "minibatch": 64},
    "evaluation": {"times": 1, "final_blocks": 0},
}
OTHER_KINDS: dict[str, dict[str, dict[str, Any]]] = {
    "critic": {"learn": {"advantages": "critic", "gae_lambda": 0.9, "proximal_kl": 0.05}},
    "dmc": {"learn": {"method": "dmc", "minibatch": 64}},
    "league": {"league": {"share": 0.4, "size": 2, "every": 1, "exploiter_every": 1, "exploiter_life": 2}},
}


@dataclass(frozen=True, slots=True)
class Rehearsed(Ranks):
    """A rank alone that knows beforehand what the others will say."""

    answers: list[list[Any]] = field(default_factory=list)

    def gather(self, value: Any) -> list[Any]:
        everybodys = self.answers.pop(0)
        everybodys[self.index] = value
        return everybodys


def settings_file(folder: Path, **run: Any) -> Path:
    """`SETTINGS` as a preset."""
    file = folder / "preset.toml"
    file.write_text(tiny_config(**{**SETTINGS, "run": {**SETTINGS["run"], **run}}).to_toml())
    return file


def state_of(run: Path) -> dict[str, Any]:
    """The last state of a run."""
    state: dict[str, Any] = torch.load(run / STATE_FILE, weights_only=True)
    return state


def assert_the_same_within_rounding(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    for network in {"actor", "critic", "action_values"} & set(ours):
        for name, weights in ours[network].items():
            torch.testing.assert_close(theirs[network][name], weights, rtol=0, atol=2e-5, msg=f"{network} {name}")
    clock = {"minutes": 0.0}
    assert theirs["counters"] | clock == ours["counters"] | clock
    for size, shares in ours["pot_shares"].items():
        assert theirs["pot_shares"][size] == pytest.approx(shares, abs=1e-12)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The state at the end of a run on one rank."""
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    trainer = tiny_trainer(folder, **SETTINGS)
    trainer.run(stop=lambda: False, report=lambda _: None)
    trainer.close()
    return state_of(folder)


# --- two processes ---------------------------------------------------------------------------------------------------


def test_two_ranks_with_half_the_batch_each_are_one_with_all_of_it(undisturbed: dict[str, Any], tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = ["train.py", "--config", str(settings_file(tmp_path)), "--set", f"run.dir={run}"]
    first, second = outcomes(start_ranks(words))
    assert (first[0], second[0]) == (0, 0), first[2] + second[2]
    assert second[1:] == ("", "")  # the first speaks for both
    assert "with 2 ranks" in first[2]
    assert "trained 261 deals" in first[1]
    assert_the_same_within_rounding(undisturbed, state_of(run))
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert [line["deals"] for line in lines] == [65, 130, 195, 260, 261]


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHER_KINDS)
def test_two_ranks_of_another_kind_of_run_are_one(name: str, tmp_path: Path) -> None:
    settings = {**SETTINGS, **OTHER_KINDS[name]}
    trainer = tiny_trainer(tmp_path / "one", **settings)
    trainer.run(stop=lambda: False, report=lambda _: None)
    trainer.close()
    file, run = tmp_path / "preset.toml", tmp_path / "two"
    file.write_text(tiny_config(**settings).to_toml())
    ended = outcomes(start_ranks(["train.py", "--config", str(file), "--set", f"run.dir={run}"]))
    assert [code for code, _, _ in ended] == [0, 0], ended
    assert_the_same_within_rounding(state_of(tmp_path / "one"), state_of(run))


@pytest.mark.slow
def test_trouble_of_one_rank_is_everybodys() -> None:
    first, second = outcomes(start_ranks([str(SCRIPT)]))
    assert (first[0], second[0]) == (0, 0), first[2] + second[2]
    found, theirs = json.loads(first[1]), json.loads(second[1])
    assert found["play"] == theirs["play"] == "DivergedError: row 0: no numbers on the second rank"
    assert found["critic"].startswith("DivergedError")
    assert theirs["critic"].startswith("DivergedError")
    assert found["actor"] == "DivergedError: the gradient is not finite"
    assert theirs["actor"] == "DivergedError: the loss is not finite"
    assert found["stopped"] == theirs["stopped"] == 3
    assert found["minutes"][1]
    assert theirs["minutes"][1]
    assert found["minutes"][0] == theirs["minutes"][0] < 2


def test_a_rank_that_dies_ends_the_run_which_one_rank_takes_up(undisturbed: dict[str, Any], tmp_path: Path) -> None:
    run = tmp_path / "run"
    file = settings_file(tmp_path, pictures_every=0)
    words = ["train.py", "--config", str(file), "--resume", "auto", "--set", f"run.dir={run}"]
    processes = start_ranks(words)
    while not (run / "metrics.jsonl").exists() and processes[0].poll() is None:
        time.sleep(0.005)
    processes[1].send_signal(signal.SIGKILL)
    first, second = outcomes(processes)
    assert second[0] == -signal.SIGKILL
    assert first[0] == 1, first[2]
    assert "another process of the run has died" in first[2].splitlines()[-1]
    assert "--resume auto goes on" in first[2].splitlines()[-1]
    assert "Traceback" not in first[2]
    trainer = Trainer(tiny_config(**SETTINGS), run, warn=print, resume=True)
    assert trainer.counters.deals < 261
    trainer.run(stop=lambda: False, report=lambda _: None)
    trainer.close()
    assert_the_same_within_rounding(undisturbed, state_of(run))


@pytest.mark.slow
def test_two_ranks_take_up_what_one_began(undisturbed: dict[str, Any], tmp_path: Path) -> None:
    run = tmp_path / "run"
    trainer = tiny_trainer(run, **SETTINGS)
    (run / "config.toml").write_text(trainer.config.to_toml())
    trainer.run(stop=lambda: trainer.counters.iteration == 2, report=lambda _: None)
    trainer.close()
    first, second = outcomes(start_ranks(["train.py", "--resume", str(run)]))
    assert (first[0], second[0]) == (0, 0), first[2] + second[2]
    assert_the_same_within_rounding(undisturbed, state_of(run))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "complaint", "others"),
    [
        (["--resume", "nowhere"], "there is no run folder nowhere to resume", 2),
        (["--set", "rollout.deals=1"], "2 ranks need at least one deal each", 2),
    ],
)
def test_wrong_input_is_told_once(words: list[str], complaint: str, others: int, tmp_path: Path) -> None:
    script = str(Path(__file__).parent.parent / "train.py")
    first, second = outcomes(start_ranks([script, *words], cwd=tmp_path))
    assert (first[0], second[0]) == (2, others)
    assert complaint in first[2]
    assert second[2] == ""


@pytest.mark.slow
def test_a_state_that_is_missing_ends_both(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "config.toml").write_text(tiny_config().to_toml())
    first, second = outcomes(start_ranks(["train.py", "--resume", str(run)]))
    assert (first[0], second[0]) == (2, 2)
    assert "there is nothing to resume" in first[2]
    assert "the first rank has no state" in second[2]


# --- what each rank does ---------------------------------------------------------------------------------------------


def test_a_process_alone_is_the_only_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    with joined_ranks() as ranks:
        assert ranks is ALONE
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.setenv(name, "1")
    with joined_ranks() as ranks:  # torchrun --nproc-per-node=1
        assert ranks is ALONE
    network = torch.nn.Linear(2, 2)
    assert ALONE.share(network) is network
    assert ALONE.gather("value") == ["value"]
    assert ALONE.of_first("value") == "value"


def test_every_deal_is_played_by_one_rank() -> None:
    parts = [Ranks(index, 3).part(np.arange(100, 110)) for index in range(3)]
    assert np.concatenate(parts).tolist() == list(range(100, 110))
    assert [len(part) for part in parts] == [4, 3, 3]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_minibatches_of_all_ranks_are_those_of_one_that_plays_all(count: int) -> None:
    rng = np.random.default_rng(count)
    deal = np.sort(rng.integers(0, 30, 200))
    step = rng.integers(0, 7, 200)
    alone = np.lexsort((deal, step))  # step by step, and within a step deal by deal
    deal, step = deal[alone], step[alone]
    owner = np.searchsorted(np.linspace(0, 30, count + 1)[1:], deal, side="right")
    steps = [step[owner == index] for index in range(count)]
    counts = [np.bincount(ours) for ours in steps]
    numberings = [Numbering.of(steps[index], Rehearsed(index, count, answers=[list(counts)])) for index in range(count)]
    for index, numbering in enumerate(numberings):
        assert numbering.total == 200
        assert numbering.mine.tolist() == np.flatnonzero(owner == index).tolist()
    drawn = [list(numbering.minibatches(48, np.random.default_rng(9))) for numbering in numberings]
    whole = np.array_split(np.random.default_rng(9).permutation(200), 5)
    for number, minibatch in enumerate(whole):
        found = np.concatenate([numberings[index].mine[drawn[index][number][0]] for index in range(count)])
        assert sorted(found.tolist()) == sorted(minibatch.tolist())
        assert {drawn[index][number][1] for index in range(count)} == {len(minibatch)}


def test_a_rank_without_decisions_has_empty_minibatches() -> None:
    numbering = Numbering.of(np.array([], np.int64), Rehearsed(1, 2, answers=[[np.array([3, 2]), None]]))
    assert [(len(rows), number) for rows, number in numbering.minibatches(3, np.random.default_rng(0))] == [
        (0, 3),
        (0, 2),
    ]


def test_steps_number_decisions_by_table_size_then_by_time() -> None:
    rollout = deals_of(tiny_learner().actor, number=40)
    assert (np.diff(rollout.step) >= 0).all()
    assert 0 < rollout.step.max() < MOST_STEPS
    assert (np.bincount(rollout.step) <= 40).all()
    for step in range(int(rollout.step.max()) + 1):
        assert (np.diff(rollout.deal[rollout.step == step]) > 0).all()
    both = joined([rollout, rollout], [0, 2])
    assert (np.diff(both.step) >= 0).all()
    assert both.step[len(rollout)] == 2 * MOST_STEPS


def test_a_rank_without_deals_learns_nothing_and_takes_part() -> None:
    learner = tiny_learner()
    nothing = deals_of(learner.actor, number=2).nothing()
    assert (len(nothing), nothing.num_deals) == (0, 0)
    weights = Weights(1e-3, 0.1, 0.1)
    assert len(learner._values(nothing, ONE_THREAD)) == 0
    batch = Minibatch.of(nothing, np.empty(0, np.float32), np.empty(0, np.int64), learner.actor.spec)
    learner._loss_of_actor(batch, weights, 8.0, measures := Measures()).backward()
    hidden = torch.zeros((0, nothing.words.shape[1]), dtype=torch.int64)
    learner._loss_of_critic(hidden, torch.zeros(0), 8.0).backward()
    gradients = [weight.grad for network in (learner.actor, learner.critic) for weight in network.parameters()]
    assert all(gradient is not None and not gradient.any() for gradient in gradients)
    assert measures.means(Rehearsed(1, 2, answers=[[_measured(), None]]))["ppo/kl"] == pytest.approx(0.1)


def _measured() -> dict[str, list[tuple[float, float]]]:
    """What another rank has measured."""
    tags = ("ppo/policy_loss", "ppo/kl", "ppo/clip_fraction", "policy/entropy_declare", "policy/entropy_play")
    return {tag: [(0.2, 1.0)] for tag in (*tags, "policy/entropy_stay_or_pass")}


def test_measures_count_by_their_weights_and_minibatches_alike() -> None:
    measures = Measures()
    for value, weight in ((1.0, 3), (0.0, 0), (5.0, 1)):
        measures.add("tag", value, weight=weight)
    measures.add("never", 0.0, weight=0)
    assert measures.means() == {"tag": 3.0}
    theirs = {"tag": [(2.0, 1), (7.0, 2), (0.0, 0)], "never": [(0.0, 0)]}
    assert measures.means(Rehearsed(0, 2, answers=[[None, theirs]])) == {"tag": pytest.approx((1.25 + 7 + 5) / 3)}


def test_losses_of_halves_average_to_the_loss_of_all() -> None:
    values = torch.arange(7.0)
    halves = [mean(values[:2], 7 / 2), mean(values[2:], 7 / 2)]
    assert sum(half.item() for half in halves) / 2 == pytest.approx(mean(values).item())
    assert mean(values).item() == values.mean().item()


def test_mean_and_deviation_are_those_of_all_values() -> None:
    values = np.random.default_rng(0).normal(3.0, 2.0, 100).astype(np.float32)
    ours, theirs = values[:30], values[30:].astype(np.float64)
    squares = float(((theirs - values.astype(np.float64).mean()) ** 2).sum())
    ranks = Rehearsed(0, 2, answers=[[None, (theirs.sum(), 70)], [None, squares]])
    assert ranks.mean_and_deviation(ours) == pytest.approx((values.mean(), values.std()), rel=1e-6)
    assert ALONE.mean_and_deviation(values) == (values.mean(), values.std())


def test_shares_of_pots_are_learned_from_the_deals_of_all() -> None:
    actor = tiny_learner().actor
    whole, together = PotCredit(by_seat=True), PotCredit(by_seat=True)
    halves = [deals_of(actor, first=0, number=20), deals_of(actor, first=20, number=20)]
    theirs = {4: (halves[1].earned.sum(axis=0), 20)}
    whole.learn(deals_of(actor, number=40))
    together.learn(halves[0], Rehearsed(0, 2, answers=[[None, theirs]]))
    assert together.shares[4] == pytest.approx(whole.shares[4], abs=1e-12)


def test_processes_of_one_machine_share_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.threads.usable_cores", lambda: 8)
    for processes, expected in ((1, 8), (2, 4), (3, 2), (16, 1)):
        threads = Threads(64, processes=processes)
        threads.close()
        assert threads.count == expected
    torch.set_num_threads(1)


def test_ranks_of_one_machine_have_a_gpu_each(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[int] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    assert choose_device("auto", Ranks(5, 8, 1, 2)) == torch.device("cuda", 1)
    assert chosen == [1]
    assert choose_device("cpu", Ranks(5, 8, 1, 2)) == device.CPU
    with pytest.raises(ConfigError, match="3 ranks on this machine and 2 CUDA GPUs"):
        choose_device("auto", Ranks(0, 3, 0, 3))


def test_only_errors_of_the_connection_mean_a_lost_rank() -> None:
    with pytest.raises(LostRankError, match=r"has died or cannot be reached \(gloo: Connection closed by peer"):
        _fail("gloo: Connection closed by peer\nand more")
    with pytest.raises(RuntimeError, match="shapes differ") as caught:
        _fail("shapes differ")
    assert not isinstance(caught.value, LostRankError)


def _fail(text: str) -> None:
    with lost_ranks_named():
        raise RuntimeError(text)
