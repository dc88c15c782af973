"""Deep Monte Carlo: what it learns and how it explores by hand, and that what it makes is a policy like any other."""

import dataclasses
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from decisions import asked, middle_of_deals
from learning import ONE_THREAD, PAGAT, deals_of, header_of, tiny_learner, tiny_spec, tiny_trainer
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from small_games import SMALL, tree_of

from agents.action_values import ActionValues, Exploration
from agents.best_response import nash_conv, uniform
from agents.checkpoint import DMC, PPO, CheckpointError, load_checkpoint, parameter_hash, save_checkpoint
from agents.config import LearnConfig
from agents.descent import DivergedError
from agents.dmc import MonteCarloLearner, ValueBatch, values_of
from agents.evaluation_cli import main
from agents.network import PLAIN, STRUCTURED
from agents.pair_learner import PairLearner
from agents.policy import load_policy
from agents.ppo import Weights
from agents.rollout import NETWORK
from agents.tabular import strategy_of
from bourre_env import Rules

FREE = Weights(learning_rate=1e-3, entropy=0.0, stay_or_pass_entropy=0.0)
FIRST_STAY, PASS = 52, 84


def learner_of(*, seed: int = 1, head: str = STRUCTURED, **learn: float) -> MonteCarloLearner:
    spec = dataclasses.replace(tiny_spec(), hidden_words=0, head=head)
    return MonteCarloLearner(spec, LearnConfig(minibatch=256, **learn), seed=seed)


class FixedValues(ActionValues):
    """The same values for whatever is seen."""

    def __init__(self, values: torch.Tensor) -> None:
        super().__init__(tiny_spec(), torch.Generator())
        self.fixed = values

    def values(self, observation: torch.Tensor) -> torch.Tensor:
        return self.fixed.expand(len(observation), -1)


def values_by_action(**values: float) -> torch.Tensor:
    """[1, A]: 0 but for some actions, named a0, a52, ..."""
    table = torch.zeros(1, PASS + 1)
    for action, value in values.items():
        table[0, int(action[1:])] = value
    return table


def legal_of(*actions: int) -> torch.Tensor:
    legal = torch.zeros(1, PASS + 1, dtype=torch.bool)
    legal[0, list(actions)] = True
    return legal


def probs_of(values: torch.Tensor, legal: torch.Tensor, exploration: Exploration | None = None) -> torch.Tensor:
    network = FixedValues(values)
    player = network if exploration is None else network.exploring(exploration)
    probs: torch.Tensor = player(torch.zeros(1, 1), legal).probs[0]
    return probs


# --- playing ---------------------------------------------------------------------------------------------------------


def test_the_best_legal_action_is_taken_and_no_other() -> None:
    values = values_by_action(a3=9.0, a52=-0.2, a53=-0.1, a84=-0.25)
    probs = probs_of(values, legal_of(52, 53, 84))
    assert probs.argmax() == 53
    assert probs[53] == pytest.approx(1)
    assert probs[3] == 0


def test_of_equal_values_the_first_is_taken() -> None:
    assert probs_of(values_by_action(), legal_of(7, 8, 9)).argmax() == 7


def test_epsilon_draws_staying_and_passing_alike() -> None:
    """Of 0.3 half goes to passing, and each of three ways to stay has a third of the other half."""
    probs = probs_of(values_by_action(a53=1.0), legal_of(52, 53, 54, 84), Exploration(epsilon=0.3))
    assert probs[[52, 53, 54, 84]].tolist() == pytest.approx([0.05, 0.75, 0.05, 0.15], abs=1e-6)


def test_epsilon_draws_cards_evenly() -> None:
    probs = probs_of(values_by_action(a5=1.0), legal_of(4, 5, 6, 7), Exploration(epsilon=0.2))
    assert probs[[4, 5, 6, 7]].tolist() == pytest.approx([0.05, 0.85, 0.05, 0.05], abs=1e-6)


def test_epsilon_one_has_no_preference() -> None:
    probs = probs_of(values_by_action(a52=5.0), legal_of(52, 53, 84), Exploration(epsilon=1.0))
    assert probs[[52, 53, 84]].tolist() == pytest.approx([0.25, 0.25, 0.5], abs=1e-6)


def test_the_temperature_weighs_staying_by_its_best_way() -> None:
    """Passing against a best way worth one temperature more: 1 to e, which the ways share 1 to e again."""
    values = values_by_action(a52=0.1, a53=0.2, a84=0.1)
    probs = probs_of(values, legal_of(52, 53, 84), Exploration(temperature=0.1))
    e, total = math.e, 1 + math.e
    assert probs[84].item() == pytest.approx(1 / total, abs=1e-6)
    assert probs[52].item() == pytest.approx(e / total / total, abs=1e-6)
    assert probs[53].item() == pytest.approx(e / total * e / total, abs=1e-6)


@pytest.mark.parametrize("exploration", [Exploration(), Exploration(0.1), Exploration(0.1, 0.05)])
def test_values_that_are_no_numbers_are_refused(exploration: Exploration) -> None:
    with pytest.raises(FloatingPointError, match="diverged"):
        probs_of(values_by_action(a52=math.nan), legal_of(52, 84), exploration)


def test_a_player_explores_and_leaves_the_network_as_it_is() -> None:
    network = learner_of().actor
    player = network.exploring(Exploration(epsilon=1.0))
    assert network.exploration == Exploration()
    assert player.head.weight is network.head.weight
    assert list(player.state_dict()) == list(network.state_dict())


def test_what_is_explored_does_not_depend_on_the_deals_beside() -> None:
    player = learner_of().actor.exploring(Exploration(epsilon=0.5, temperature=0.02))
    together, alone = deals_of(player, number=64), deals_of(player, first=40, number=1)
    rows = together.deal == 40
    assert len(alone) > 0
    assert together.actions[rows].tolist() == alone.actions.tolist()
    assert together.log_probs[rows] == pytest.approx(alone.log_probs, abs=1e-5)


def test_as_many_decisions_are_explored_as_epsilon_says() -> None:
    learner = learner_of()
    rollout = deals_of(learner.actor.exploring(Exploration(epsilon=0.3)), number=512)
    explored = np.exp(rollout.log_probs) < 0.5  # the best action alone has 0.7 and more
    passes_or_stays = rollout.actions >= FIRST_STAY
    assert explored[passes_or_stays].mean() == pytest.approx(
        0.3, abs=0.05
    )  # there nearly all that is drawn is not best
    assert not (np.exp(deals_of(learner.actor).log_probs) < 0.99).any()


# --- learning --------------------------------------------------------------------------------------------------------


def test_the_gradient_by_hand() -> None:
    """Values of 0 and Huber with delta 1: of D rows a row pulls by min(result, 1) / D at the action it took alone."""
    learner = learner_of(head=PLAIN)
    with torch.no_grad():
        learner.actor.head.weight.zero_()
    batch = ValueBatch(
        observation=torch.zeros((2, learner.actor.spec.num_words), dtype=torch.int64),
        legal=legal_of(52, 53, 84).expand(2, -1),
        actions=torch.tensor([53, 84]),
        results=torch.tensor([0.5, -3.0]),
    )
    loss, values, greedy = learner._loss(batch, 2.0)
    loss.backward()
    assert loss.item() == pytest.approx((0.125 + 2.5) / 2)
    assert values.tolist() == [0, 0]
    assert greedy.tolist() == [1, 1]  # equal to the best
    gradient = learner.actor.head.bias.grad
    assert gradient is not None
    assert {int(at): gradient[at].item() for at in gradient.nonzero()} == {53: -0.25, 84: 0.5}


@pytest.mark.parametrize("head", [STRUCTURED, PLAIN])
def test_values_become_what_actions_bring(head: str) -> None:
    """With results set so that passing alone pays."""
    learner = learner_of(head=head)
    for iteration in range(12):
        rollout = deals_of(learner.actor.exploring(Exploration(epsilon=0.3)), first=128 * iteration)
        rollout.rewards[:] = rollout.actions == PASS
        learner.update(rollout, dataclasses.replace(FREE, learning_rate=1e-2), seed=iteration, threads=ONE_THREAD)
    rollout = deals_of(learner.actor.exploring(Exploration(epsilon=0.3)), first=5000)
    words = rollout.words[:, : rollout.num_words]
    values = values_of(learner.actor, words, rollout.actions)
    passes = rollout.actions == PASS
    assert values[passes].mean() == pytest.approx(1, abs=0.15)
    assert values[~passes].mean() == pytest.approx(0, abs=0.15)
    played = deals_of(learner.actor, first=6000)
    may_pass = played.legal[:, 1] >> np.uint64(20) & np.uint64(1) == 1
    assert (played.actions[may_pass] == PASS).mean() > 0.95


def test_an_update_reports_what_it_did() -> None:
    learner = learner_of()
    rollout = deals_of(learner.actor.exploring(Exploration(epsilon=0.2)))
    weights = dataclasses.replace(FREE, learning_rate=0.0, epsilon=0.2, temperature=0.0)
    values = learner.update(rollout, weights, seed=1, threads=ONE_THREAD)
    said = values_of(learner.actor, rollout.words, rollout.actions)
    assert values["dmc/value"] == pytest.approx(said.mean(), abs=1e-3)  # minibatches differ by a row
    foreseen = 1 - (rollout.rewards - said).var() / rollout.rewards.var()
    assert values["dmc/explained_variance"] == pytest.approx(foreseen, abs=1e-4)
    errors = np.abs(rollout.rewards - said)
    huber = np.where(errors < 1, errors**2 / 2, errors - 0.5).mean()
    assert values["dmc/loss"] == pytest.approx(huber, rel=0.01)
    assert 0.8 <= values["dmc/greedy_share"] < 0.95
    assert values["dmc/gradient_norm"] > 0
    assert (values["schedule/epsilon"], values["schedule/temperature"]) == (0.2, 0.0)


def test_a_network_that_is_no_number_stops_the_update_before_a_step() -> None:
    learner = learner_of()
    rollout = deals_of(learner.actor)
    with torch.no_grad():
        learner.actor.head.bias[0] = torch.nan
    before = parameter_hash(learner.actor)
    with pytest.raises(DivergedError):
        learner.update(rollout, FREE, seed=1, threads=ONE_THREAD)
    assert parameter_hash(learner.actor) == before


def test_no_learner_takes_up_what_another_one_learned() -> None:
    spec = learner_of().actor.spec
    pairs = PairLearner(spec, LearnConfig(), seed=1)
    for theirs in (tiny_learner(), pairs):
        with pytest.raises(ValueError, match="learned by PPO"):
            learner_of().load_state(theirs.state())
        with pytest.raises(KeyError):
            theirs.load_state(learner_of().state())


def test_exploring_follows_its_schedule() -> None:
    config = LearnConfig(method="dmc", epsilon=0.4, epsilon_end=0.1, temperature=0.1, temperature_end=0.0)
    assert Weights.at(config, 0.0).epsilon == pytest.approx(0.4)
    assert Weights.at(config, 0.5).epsilon == pytest.approx(0.2)
    assert Weights.at(config, 0.5).temperature == pytest.approx(0.05)


# --- runs ------------------------------------------------------------------------------------------------------------


def test_a_run_logs_its_own_tags_and_looks_at_no_hidden_hands(tmp_path: Path) -> None:
    learn = {"method": "dmc", "epsilon": 0.3, "epsilon_end": 0.3, "learning_rate": 1e-6, "learning_rate_end": 1e-6}
    trainer = tiny_trainer(tmp_path, run={"deals": 256, "pictures_every": 1}, learn=learn)
    lines: list[dict[str, float]] = []
    trainer.run(stop=lambda: False, report=lines.append)
    trainer.close()
    assert trainer.learner.actor.spec.hidden_words == 0
    assert {"dmc/loss", "dmc/explained_variance", "dmc/greedy_share", "schedule/epsilon"} <= set(lines[0])
    assert not any(tag.startswith(("ppo/", "critic/", "pairs/")) for tag in lines[0])
    assert 0.7 <= lines[-1]["dmc/greedy_share"] < 0.9  # the deals were explored


def test_measuring_leaves_exploring_out(tmp_path: Path) -> None:
    """What is measured in a run is what the checkpoint plays."""
    learn = {"method": "dmc", "epsilon": 1.0, "epsilon_end": 1.0}
    trainer = tiny_trainer(tmp_path, run={"deals": 128}, evaluation={"times": 1, "blocks": 20}, learn=learn)
    trainer.run(stop=lambda: False, report=lambda _: None)
    during = trainer.strength["heuristic"].mean
    again = trainer.evaluate()
    trainer.close()
    assert again["evaluation/heuristic_mean"] == during
    saved = load_policy(str(tmp_path / "last.safetensors"))
    decision = asked(middle_of_deals(4))
    assert (saved.probs(decision).max(axis=1) == 1).all()  # type: ignore[attr-defined]


def test_nash_conv_of_the_small_game_falls_far_below_that_of_uniform_play(tmp_path: Path) -> None:
    """Uniform play has 1.74 antes, and few deals are played here."""
    trainer = tiny_trainer(
        tmp_path,
        run={"deals": 8192},
        rules={"preset": SMALL, "num_players": 2},
        network={"actor_width": 32, "actor_layers": 2},
        rollout={"deals": 256, "random_share": 0.0, "carry_share": 0.0},
        learn={"method": "dmc", "learning_rate_end": 1e-4, "epsilon": 0.2, "epsilon_end": 0.02},
        evaluation={"times": 1},
    )
    trainer.run(stop=lambda: False, report=lambda _: None)
    trainer.close()
    tree = tree_of(SMALL)
    assert nash_conv(tree, strategy_of(load_policy(str(tmp_path)), tree)) < 0.6 < 1.7 < nash_conv(tree, uniform(tree))


# --- checkpoints -----------------------------------------------------------------------------------------------------


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    actor = learner_of().actor
    save_checkpoint(tmp_path / "dmc.safetensors", actor, dataclasses.replace(header_of(actor), learner=DMC))
    return tmp_path / "dmc.safetensors"


def rewritten(path: Path, **changes: object) -> None:
    """The same checkpoint with entries of its header changed, or taken out where they are None."""
    with safe_open(path, framework="pt") as file:
        header = {**json.loads(file.metadata()["bourre"]), **changes}
    kept = {name: value for name, value in header.items() if value is not None}
    save_file(load_file(path), path, {"bourre": json.dumps(kept)})


def test_a_checkpoint_says_which_learner_made_it(checkpoint: Path) -> None:
    header, network = load_checkpoint(checkpoint)
    assert header.learner == DMC
    assert isinstance(network, ActionValues)


def test_an_unknown_learner_is_refused(checkpoint: Path) -> None:
    rewritten(checkpoint, learner="sarsa")
    with pytest.raises(CheckpointError, match=r"dmc\.safetensors was made by the learner 'sarsa'.*ppo and dmc"):
        load_checkpoint(checkpoint)


def test_a_checkpoint_that_does_not_say_was_made_by_ppo(checkpoint: Path) -> None:
    rewritten(checkpoint, learner=None)
    header, network = load_checkpoint(checkpoint)
    assert header.learner == PPO
    assert not isinstance(network, ActionValues)


@pytest.mark.parametrize("suffix", ["", ":greedy"])
def test_its_policy_is_the_best_action_whether_or_not_asked_for(suffix: str, checkpoint: Path) -> None:
    policy = load_policy(f"{checkpoint}{suffix}")
    assert policy.name.endswith(f"dmc{suffix}")
    decision = asked(middle_of_deals(4))
    actions = policy.act(decision, np.random.default_rng(0))
    _, network = load_checkpoint(checkpoint)
    assert isinstance(network, ActionValues)
    with torch.inference_mode():
        values = network.values(torch.from_numpy(decision.packed.view(np.int64))).numpy()
    assert actions.tolist() == np.where(decision.legal_action_mask, values, -np.inf).argmax(axis=1).tolist()
    probs = policy.probs(decision)  # type: ignore[attr-defined]
    assert probs[np.arange(len(actions)), actions].tolist() == [1.0] * len(actions)
    assert probs.sum() == len(actions)


def test_it_plays_in_tournaments(checkpoint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tournament", f"learned={checkpoint}", "random", "--blocks", "2", "--workers", "1"]
    assert main(words) == 0
    assert re.search(r"^learned +random ", capsys.readouterr().out, re.MULTILINE)


def test_search_looks_ahead_with_it(checkpoint: Path) -> None:
    """A policy that draws no lots still leaves worlds that agree with what was seen."""
    policy = load_policy(f"search:worlds=4,policy={checkpoint}")
    decision = asked(middle_of_deals(4))
    actions = policy.act(decision, np.random.default_rng(0))
    assert decision.legal_action_mask[np.arange(len(decision)), actions].all()


def test_it_is_measured_exactly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = Rules.preset(SMALL)
    actor = MonteCarloLearner(tiny_spec(rules), LearnConfig(), seed=1).actor
    save_checkpoint(tmp_path / "two.safetensors", actor, dataclasses.replace(header_of(actor, rules), learner=DMC))
    assert main(["exact", str(tmp_path / "two.safetensors"), "--games", SMALL]) == 0
    assert SMALL in capsys.readouterr().out


def test_others_train_against_it(checkpoint: Path, tmp_path: Path) -> None:
    """As the target of a best response it has all other seats."""
    rollout = {"target": str(checkpoint), "random_share": 0.0}
    trainer = tiny_trainer(tmp_path / "run", run={"deals": 128}, rollout=rollout, evaluation={"times": 1})
    (deals,) = trainer._deals.sizes
    assert ((deals.opponents.line_ups(PAGAT, 1, np.arange(50)) != NETWORK).sum(axis=1) == 3).all()
    trainer.run(stop=lambda: False, report=lambda _: None)
    trainer.close()
    assert set(trainer.strength) == {"target"}  # measured against it alone


def test_it_learns_against_another_one(checkpoint: Path, tmp_path: Path) -> None:
    """A best response by DMC to a DMC checkpoint."""
    rollout = {"target": str(checkpoint), "random_share": 0.0}
    trainer = tiny_trainer(tmp_path / "run", run={"deals": 128}, rollout=rollout, learn={"method": "dmc"})
    drawn = parameter_hash(trainer.learner.actor)
    trainer.run(stop=lambda: False, report=lambda _: None)
    trainer.close()
    header, network = load_checkpoint(tmp_path / "run" / "last.safetensors")
    assert (header.learner, header.deals) == (DMC, 128)
    assert parameter_hash(network) != drawn
