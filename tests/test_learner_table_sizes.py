"""One network at tables of several sizes: who plays where, and that nothing is lost or mixed up on the way."""

import json
from pathlib import Path

import numpy as np
import pytest
from learning import ONE_THREAD, tiny_learner, tiny_spec, tiny_trainer

from agents.arena import play_blocks
from agents.checkpoint import load_checkpoint, parameter_hash
from agents.metrics import Stopwatch
from agents.network import NetworkSpec
from agents.policy import PolicyError, load_policy
from agents.pot_credit import PotCredit
from agents.rollout import Rollout, SelfPlay
from agents.table_sizes import TrainingDeals
from bourre_env import Rules

SIZES = (3, 5, 4)
GAMES = tuple(Rules.preset("pagat", num_players=size) for size in SIZES)
DEALS = TrainingDeals(tuple(SelfPlay(rules, 7, 5) for rules in GAMES), (1.0, 2.0, 1.0))
ACTOR = tiny_learner(spec=tiny_spec(GAMES[0], seats_shown=5)).actor


def played(deal_ids: np.ndarray, in_play: int = 3) -> Rollout:
    return DEALS.play(ACTOR, deal_ids, in_play=in_play, credit=PotCredit(), threads=ONE_THREAD, watch=Stopwatch())


def test_all_sizes_of_a_pack_have_the_same_actions_and_layout() -> None:
    specs = {
        NetworkSpec.for_rules(Rules.preset("pagat", num_players=size), seats_shown=8, privileged=True, **_sizes())
        for size in range(2, 9)
    }
    assert len(specs) == 1


def _sizes() -> dict[str, int | bool]:
    return {"actor_width": 16, "actor_layers": 1, "critic_width": 16, "critic_layers": 1, "layer_norm": True}


def test_the_number_of_a_deal_decides_its_size_in_the_shares_asked_for() -> None:
    which = DEALS.which(np.arange(20_000), 3)
    assert np.bincount(which) / 20_000 == pytest.approx([0.25, 0.5, 0.25], abs=0.01)
    assert (DEALS.which(np.arange(500, 900), 3) == which[500:900]).all()
    assert np.bincount(DEALS.which(np.arange(20_000), 2)) / 20_000 == pytest.approx([1 / 3, 2 / 3], abs=0.01)
    assert not DEALS.which(np.arange(100), 1).any()
    equal = TrainingDeals(DEALS.sizes).which(np.arange(20_000), 3)
    assert np.bincount(equal) / 20_000 == pytest.approx([1 / 3] * 3, abs=0.01)


def test_a_curriculum_brings_sizes_in_one_after_another() -> None:
    assert [DEALS.in_play(progress, 0.3) for progress in (0, 0.09, 0.11, 0.19, 0.21, 0.3, 1)] == [1, 1, 2, 2, 3, 3, 3]
    assert DEALS.in_play(0.0, 0.0) == 3


def test_a_mixed_rollout_is_the_rollouts_of_its_sizes() -> None:
    deal_ids = np.arange(60, 160)
    mixed, which = played(deal_ids), DEALS.which(deal_ids, 3)
    assert mixed.num_deals == 100
    first_deal = first_row = 0
    for size, rules in enumerate(GAMES):
        alone = DEALS.sizes[size].play(ACTOR, deal_ids[which == size], threads=ONE_THREAD, watch=Stopwatch())
        deals = slice(first_deal, first_deal + alone.num_deals)
        rows = slice(first_row, first_row + len(alone))
        assert (mixed.num_players[deals] == rules.num_players).all()
        assert (mixed.returns[deals, : rules.num_players] == alone.returns).all()
        assert not mixed.returns[deals, rules.num_players :].any()
        assert not mixed.stayed[deals, rules.num_players :].any()
        assert (mixed.deal[rows] - first_deal == alone.deal).all()
        for column in ("words", "legal", "actions", "log_probs", "rewards", "seat"):
            assert (getattr(mixed, column)[rows] == getattr(alone, column)).all()
        for column in ("pot", "carry", "self_play"):
            assert (getattr(mixed, column)[deals] == getattr(alone, column)).all()
        first_deal, first_row = deals.stop, rows.stop
    assert (first_deal, first_row) == (100, len(mixed))
    assert (mixed.following() < len(mixed)).all()


def test_carries_are_credited_by_the_size_of_the_table() -> None:
    credit = PotCredit(by_seat=True)
    credit.learn(played(np.arange(400)))
    assert {size: len(shares) for size, shares in credit.shares.items()} == {3: 3, 4: 4, 5: 5}
    assert all(shares.sum() == pytest.approx(1) for shares in credit.shares.values())


CHANGES = {
    "rules": {"num_players": [3, 4, 5]},
    "rollout": {"deals": 96, "curriculum": 0.5, "carry_credit": "by_seat"},
    "run": {"deals": 768},
}


def test_one_run_learns_measures_and_plays_all_sizes_and_resumes_exactly(tmp_path: Path) -> None:
    hashes = []
    for name, stop in (("straight", None), ("broken", 3)):
        trainer = tiny_trainer(tmp_path / name, **CHANGES)
        done: list[dict[str, float]] = []
        trainer.run(stop=lambda done=done, stop=stop: len(done) == stop, report=done.append)
        trainer.close()
        if stop is not None:
            trainer = tiny_trainer(tmp_path / name, resume=True, **CHANGES)
            trainer.run(stop=lambda: False, report=done.append)
            trainer.close()
        hashes.append(parameter_hash(trainer.learner.actor))
    assert hashes[0] == hashes[1]

    header, _ = load_checkpoint(tmp_path / "straight" / "last.safetensors")
    assert [rules.num_players for rules in header.rules] == [3, 4, 5]
    assert header.seats_shown == 5
    last = json.loads((tmp_path / "straight" / "metrics.jsonl").read_text().splitlines()[-1])
    by_size = [last[f"evaluation_{size}_seats/heuristic_mean"] for size in (3, 4, 5)]
    assert last["evaluation/heuristic_mean"] == pytest.approx(np.mean(by_size))
    assert len(set(by_size)) == 3

    policy, opponent = load_policy(str(tmp_path / "straight")), load_policy("random")
    for size in (3, 4, 5):
        play_blocks(Rules.preset("pagat", num_players=size), policy, opponent, seed=1, deal_ids=range(3))
    with pytest.raises(PolicyError, match=r"not trained for 6 seats .*it plays: 3 seats.*; 4 seats.*; 5 seats"):
        play_blocks(Rules.preset("pagat", num_players=6), policy, opponent, seed=1, deal_ids=range(3))
