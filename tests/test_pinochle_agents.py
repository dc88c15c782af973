"""Pinochle through blocks, counts, tournaments, rollouts, trainer and checkpoints."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from learning import ONE_THREAD, TINY, tiny_trainer

from agents.arena import play_blocks, play_line_ups
from agents.baselines import Random
from agents.checkpoint import load_checkpoint
from agents.config import ConfigError, check_config
from agents.evaluation_cli import main as evaluate
from agents.games import part_named
from agents.metrics import TAGS, Stopwatch
from agents.network import Actor, NetworkSpec
from agents.pinochle.heuristic import HEURISTIC
from agents.policy import Decision, PolicyError, PolicyFailedError, check_rules, load_policy
from agents.referee import Referee
from agents.rollout import SelfPlay
from bourre_env import Rules
from bourre_env.deck import shuffled_decks
from bourre_env.euchre.rules import EuchreRules
from bourre_env.pinochle.actions import BID, NAME, PASS
from bourre_env.pinochle.rules import PinochleRules
from bourre_env.pinochle.tables import PinochleTables

MODERN, CLASSIC = PinochleRules.preset("modern"), PinochleRules.preset("classic")


def pinochle_actor(rules: PinochleRules = MODERN) -> Actor:
    spec = NetworkSpec.for_rules(rules, seats_shown=4, privileged=True, layer_norm=True, head="structured", **TINY)
    return Actor(spec, torch.Generator().manual_seed(1))


@pytest.mark.parametrize("policy", [HEURISTIC, Random()], ids=["heuristic", "random"])
def test_identical_pairs_are_worth_exactly_nothing_in_every_block(policy: Any) -> None:
    blocks = play_blocks(MODERN, policy, policy, seed=1, deal_ids=np.arange(60))
    assert (blocks.block_means == 0).all()
    assert np.abs(blocks.returns).max() > 0


def test_points_are_those_of_the_modern_scale_on_every_scale() -> None:
    blocks = play_blocks(CLASSIC, HEURISTIC, Random(), seed=1, deal_ids=np.arange(60))
    assert blocks.place_means.tolist() == (blocks.returns.mean(axis=1) / 10).tolist()


def test_counts_say_who_declared_at_what_bid_and_whether_it_was_made() -> None:
    rows = play_line_ups(MODERN, [HEURISTIC], np.zeros((300, 4), int), seed=2, deal_ids=np.arange(300))
    counts = rows.counts
    assert (counts["declared"].sum(axis=1) == 1).all()
    assert (counts["made"] + counts["set_back"] == counts["declared"]).all()
    assert ((counts["bid"] > 0) == (counts["declared"] > 0)).all()
    assert counts["bid"].max() > counts["bid"][counts["declared"] > 0].min() == 25
    lost = (rows.returns * counts["set_back"]).sum(axis=1)[counts["set_back"].any(axis=1)]
    assert (lost <= -25).all(), "who is set loses the bid at least"
    assert 0 < counts["set_back"].sum() < counts["declared"].sum()


def test_hands_forfeited_are_counted_and_never_made() -> None:
    class Failing:
        name = "failing"

        def act(self, decision: Decision, rng: np.random.Generator) -> np.ndarray:
            return np.full(len(decision), 68)

    rows = play_line_ups(MODERN, [Failing()], np.zeros((4, 4), int), seed=2, deal_ids=np.arange(4), referee=Referee())
    assert rows.counts["forfeited"].sum() == 4
    assert rows.counts["made"].sum() == rows.counts["set_back"].sum() == 0


def test_an_illegal_action_is_told_in_the_words_of_the_game() -> None:
    class Stubborn:
        name = "stubborn"

        def act(self, decision: Decision, rng: np.random.Generator) -> np.ndarray:
            return np.full(len(decision), 23)

    with pytest.raises(PolicyFailedError, match=r"action 23 \(AS\) in row 0, .* legal were pass, bid_25, bid_26"):
        play_blocks(MODERN, Stubborn(), Random(), seed=1, deal_ids=[1])
    words = part_named("pinochle").action_text
    relative = PinochleRules(card_ids="relative")
    row = np.zeros(26, np.uint64)
    assert words(relative, row, 5) == "AC", "until trumps are named ids are printed ones"
    row[0] = np.uint64(1) << np.uint64(48 + 4 + 4 + 4 + 2)  # hearts are trumps
    assert [words(relative, row, action) for action in (5, 11, 24, 30, 66)] == ["AH", "AS", "pass", "bid_30", "name_D"]
    assert words(MODERN, row, 69) == "no action at all: ids are 0 to 68"


def test_the_rule_bot_refuses_other_games_and_sessions_mean_nothing() -> None:
    for rules in (Rules.preset("pagat"), EuchreRules()):
        with pytest.raises(PolicyError, match=f"heuristic plays pinochle only, not {rules.game}"):
            check_rules(HEURISTIC, rules)
    with pytest.raises(ValueError, match="a session of 2 hands"):
        play_blocks(MODERN, Random(), Random(), seed=1, deal_ids=[0], session=2)
    with pytest.raises(ValueError, match="not played for stakes"):
        play_blocks(MODERN, Random(), Random(), seed=1, deal_ids=[0], buy_in=10)


def test_a_tournament_tells_bids_and_how_they_went(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["tournament", "heuristic", "random", "--game", "pinochle", "--blocks", "8", "--workers", "1"]
    assert evaluate([*words, "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "One focal pair of partners against a pair of the other; rules modern, 4 seats" in printed
    cell = json.loads((tmp_path / "summary.json").read_text())["cells"][1]
    assert cell["focal"] == "random"
    assert cell["declared_rate"] == pytest.approx(cell["made_rate"] + cell["set_rate"])
    assert cell["bid_mean"] > 25


# --- training ---


def test_a_new_network_bids_low_and_half_as_often_with_every_level() -> None:
    spec = pinochle_actor().spec
    assert NetworkSpec.from_plain(json.loads(json.dumps(spec.to_plain()))) == spec
    tables = PinochleTables(MODERN, 50)
    tables.deal(shuffled_decks(1, range(50), pack=MODERN.pack), 0)
    legal = torch.from_numpy(tables.legal_action_mask())
    probs = pinochle_actor()(torch.from_numpy(tables.observe_packed().view(np.int64)), legal).probs
    assert probs[:, PASS].mean().item() == pytest.approx(0.5, abs=0.05)
    assert probs[:, BID].mean().item() == pytest.approx(0.25, abs=0.05)
    assert probs[:, BID + 10].max().item() < 0.002
    groups = pinochle_actor().groups
    assert len(set(groups[BID:NAME].tolist())) == 1
    assert groups[BID] != groups[PASS] == groups[0] == groups[NAME], "whether to bid is a choice of its own"


def test_the_entropy_of_bidding_is_a_setting_here_and_in_bourre_but_not_in_euchre() -> None:
    settings = {"run": {"deals": 64}, "learn": {"stay_or_pass_entropy": 0.3, "stay_or_pass_entropy_end": 0.01}}
    for game in ("bourre", "pinochle"):
        assert check_config({**settings, "rules": {"game": game}}).learn.stay_or_pass_entropy == 0.3
    with pytest.raises(ConfigError, match="it means nothing in euchre"):
        check_config({**settings, "rules": {"game": "euchre"}})


@pytest.mark.parametrize("rules", [MODERN, CLASSIC], ids=["modern", "classic"])
def test_results_of_training_hands_are_shares_of_what_tricks_are_worth(rules: PinochleRules) -> None:
    actor = pinochle_actor(rules)
    rollout = SelfPlay(rules, 1, 4, pair_share=0.2).play(
        actor, np.arange(24), threads=ONE_THREAD, watch=Stopwatch(), pairs=True
    )
    assert rollout.results.tolist() == (rollout.returns / np.float32(rules.hand_points)).astype(np.float32).tolist()
    assert (rollout.results[:, :2] == rollout.results[:, 2:]).all()
    assert (rollout.results.sum(axis=1) == 0).all()
    assert rollout.pairs is not None
    assert 0 < len(rollout.pairs) < 0.3 * len(rollout)


@pytest.fixture
def one_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are compared byte for byte, and somebody may commit between two of them."""
    monkeypatch.setattr("agents.trainer.source_commit", lambda: "0" * 40)


def finished(folder: Path, *, stop_after: int | None = None, resume: bool = False) -> None:
    """Train to the end, or for some iterations."""
    trainer = tiny_trainer(
        folder,
        resume=resume,
        rules={"game": "pinochle", "preset": "modern_relative"},
        run={"deals": 96, "checkpoint_every": 2},
        rollout={"deals": 32},
        learn={"minibatch": 64, "pair_share": 0.1},
    )
    done: list[dict[str, float]] = []
    trainer.run(stop=lambda: len(done) == stop_after, report=done.append)
    trainer.close()


@pytest.mark.usefixtures("one_commit")
def test_the_same_seed_and_a_resumed_run_give_the_same_bytes(tmp_path: Path) -> None:
    finished(tmp_path / "whole")
    finished(tmp_path / "cut", stop_after=2)
    finished(tmp_path / "cut", resume=True)
    whole, cut = ((tmp_path / run / "last.safetensors").read_bytes() for run in ("whole", "cut"))
    assert whole == cut
    header, _ = load_checkpoint(tmp_path / "whole" / "last.safetensors")
    assert (header.game, header.deals) == ("pinochle", 96)
    tags = {tag for line in (tmp_path / "whole" / "metrics.jsonl").read_text().splitlines() for tag in json.loads(line)}
    assert {"pinochle/bid", "pinochle/meld", "evaluation/heuristic_mean", "game/decisions_per_deal"} <= tags
    assert {tag for tag in tags if "/" in tag} <= set(TAGS)
    policy = load_policy(str(tmp_path / "whole"))
    relative = PinochleRules.preset("modern_relative")
    assert len(play_blocks(relative, policy, Random(), seed=1, deal_ids=np.arange(3))) == 3
