"""The networks of Bureau: what they may depend on, and that a run learns and plays by the commands everybody uses."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from learning import TINY
from test_bureau_properties import dealt, random_play

from agents import training_cli
from agents.bureau.network import legal_actions
from agents.device import CPU, legal_mask, packed_rows
from agents.evaluation_cli import main as evaluate
from agents.network import OWN, Actor, Critic, NetworkSpec
from agents.policy import load_policy
from bourre_env.bureau.rules import BureauRules
from bourre_env.bureau.tables import BureauTables
from bourre_env.deck import shuffled_decks

RULES = BureauRules.preset("no_repeats")


def spec_of(rules: BureauRules = RULES, **changes: Any) -> NetworkSpec:
    sizes = {"privileged": True, "layer_norm": True, "head": "structured", **TINY, **changes}
    return NetworkSpec.for_rules(rules, seats_shown=1, **sizes)


def actor_of(rules: BureauRules = RULES) -> Actor:
    """A drawn network whose last layer counts for something."""
    actor = Actor(spec_of(rules), torch.Generator().manual_seed(1))
    with torch.no_grad():
        actor.body.score.weight *= 100  # type: ignore[operator, union-attr]
    return actor


def log_probs(actor: Actor, tables: BureauTables) -> np.ndarray[Any, Any]:
    """[B, A] of what the network says at tables in play."""
    words, legal = tables.observe_packed(), tables.legal_packed()
    with torch.inference_mode():
        said = actor(packed_rows(words, CPU), legal_mask(legal, tables.num_actions, CPU))
    return said.log_probs.numpy()


def test_specs_read_back_and_plain_networks_have_no_columns() -> None:
    spec = spec_of()
    assert (spec.head, spec.num_actions, spec.hidden_words) == (OWN + "bureau", 198, 39)
    assert NetworkSpec.from_plain(json.loads(json.dumps(spec.to_plain()))) == spec
    assert spec_of(head="plain").head == "flat"
    assert Actor(spec_of(BureauRules(resign=True)), torch.Generator()).spec.num_actions == 199


def test_moving_columns_moves_the_probabilities_and_changes_nothing_else() -> None:
    order = np.random.default_rng(2).permutation(13)
    decks = shuffled_decks(3, np.arange(6), pack=RULES.pack)
    moved = decks.copy()
    moved[:, :52] = decks[:, :52].reshape(-1, 4, 13)[:, :, order].reshape(-1, 52)
    one, other = BureauTables(RULES, 6), BureauTables(RULES, 6)
    one.deal(decks)
    other.deal(moved)
    place = np.argsort(order)
    renamed = np.arange(198)
    renamed[3:16], renamed[16:29] = 3 + place, 16 + place
    renamed[29:] = (29 + 13 * place[:, None] + place).ravel()
    actor = actor_of()
    for actions in random_play(one, seed=4, most=60):
        said, expected = log_probs(actor, other), log_probs(actor, one)
        legal = one.legal_action_mask()
        np.testing.assert_allclose(said[:, renamed][legal], expected[legal], atol=1e-4)
        other.step(renamed[actions])


def test_critic_begins_with_the_cards_that_are_up() -> None:
    tables = dealt(RULES, 8, seed=5)
    for _ in random_play(tables, seed=5, most=50):
        pass
    critic = Critic(spec_of(), torch.Generator().manual_seed(1))
    words = np.concatenate([tables.observe_packed(), tables.hidden_packed()[:, 1:]], axis=1)
    with torch.inference_mode():
        values = critic(packed_rows(words, CPU)).numpy()
    np.testing.assert_allclose(values, tables.cards_up / 104, atol=0.1)
    assert tables.cards_up.max() > tables.cards_up.min()


def test_every_legal_action_is_described_once() -> None:
    tables = dealt(RULES, 8, seed=6)
    for _ in random_play(tables, seed=6, most=40):
        pass
    rows, actions, features, worth = legal_actions(packed_rows(tables.observe_packed(), CPU))
    assert torch.equal(torch.stack([rows, actions]), torch.from_numpy(tables.legal_action_mask()).nonzero().T)
    assert features.min() >= 0
    assert features.max() <= 1.25
    assert len(worth) == len(rows)


def test_a_gradient_reaches_every_weight() -> None:
    tables = dealt(RULES, 8, seed=7)
    for _ in random_play(tables, seed=7, most=30):
        pass
    actor = actor_of()
    words, legal = packed_rows(tables.observe_packed(), CPU), legal_mask(tables.legal_packed(), 198, CPU)
    said = actor(words, legal)
    said.log_prob(said.greedy()).sum().backward()
    assert all(weight.grad is not None and bool(weight.grad.abs().sum() > 0) for weight in actor.parameters())


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a short run."""
    folder = tmp_path_factory.mktemp("bureau") / "run"
    sizes = [f"network.{name}={size}" for name, size in TINY.items()]
    keys = ["run.deals=16", "rollout.deals=8", "run.threads=1", "evaluation.times=1", "evaluation.blocks=4", *sizes]
    settings = [part for key in [*keys, "evaluation.final_blocks=0"] for part in ("--set", key)]
    assert training_cli.main(["--config", "configs/bureau.toml", "--set", f"run.dir={folder}", *settings]) == 0
    return folder


def test_the_preset_trains_and_tells_how_deals_went(run: Path) -> None:
    last = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])
    assert last["deals"] == 16
    assert {"bureau/won_rate", "bureau/cards_up", "bureau/stopped_rate", "critic/value_loss"} <= set(last)
    assert 20 < last["bureau/cards_up"] < 104


def test_a_tournament_tells_how_many_deals_each_wins(
    run: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    bot = str(run / "last.safetensors")
    assert load_policy(bot).name.endswith("last")
    command = ["tournament", "--game", "bureau", "--rules", "no_repeats", f"bot={bot}", "heuristic", "--blocks", "6"]
    assert evaluate([*command, "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    assert "won %" in shown
    assert "stopped %" in shown
