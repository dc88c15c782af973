"""Games for one seat, and games with more than 128 actions, through policies, arena, tournaments and trainer."""

import io
import json
import sys
from pathlib import Path
from typing import Any

import lone_game
import numpy as np
import pytest
import torch
from learning import ONE_THREAD, TINY, tiny_trainer
from lone_game import BLIND, RULES, LoneTables, Sensible
from rich.console import Console

from agents.arena import play_blocks, play_line_up
from agents.baselines import Random
from agents.blocks import concatenated
from agents.commands.tournament_tables import print_summary
from agents.config import ConfigError, check_config
from agents.entrants import Entrant
from agents.metrics import Stopwatch
from agents.network import Actor
from agents.policy import Decision, PolicyFailedError, load_policy
from agents.results import Results, Terms
from agents.rollout import SelfPlay
from agents.stopping import FixedBlocks
from agents.summary import plain_summary, summarise
from agents.tournament import Plan, pairs, play_tournament
from bourre_env import family
from bourre_env.bits import legal_bits, legal_words
from bourre_env.decision import are_legal
from bourre_env.deck import shuffled_decks, stream_keys

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The game is one of the family for as long as a test lasts."""
    monkeypatch.setitem(family._MODULES, "lone", "lone_game")
    for name in ("agents.lone", "agents.lone.game", "agents.lone.training"):
        monkeypatch.setitem(sys.modules, name, lone_game)
    monkeypatch.setattr("agents.checkpoint.GAMES", (*family.GAMES, "lone"))


def decision_of(count: int) -> tuple[LoneTables, Decision]:
    tables = LoneTables(RULES, count)
    tables.deal(shuffled_decks(3, range(count)))
    keys = stream_keys(5, np.arange(count))
    return tables, Decision.from_packed(tables.observe_packed(), tables.legal_packed(), tables.to_act, RULES, keys)


# --- more than 128 actions ---


def test_a_row_of_legal_actions_has_as_many_words_as_it_needs_and_two_at_least() -> None:
    assert [legal_words(actions) for actions in (1, 33, 85, 128, 129, 192, 193, 198)] == [2, 2, 2, 2, 3, 3, 4, 4]
    assert legal_bits(np.array([1, 0, 2, 1 << 63], np.uint64)) == 1 | 2 << 128 | 1 << 255


def test_decisions_of_198_actions_pack_and_unpack() -> None:
    tables, packed = decision_of(60)
    assert packed.legal_packed.shape == (60, 4)
    assert packed.legal_action_mask.tolist() == tables.legal_action_mask().tolist()
    plain = Decision(packed.observation, packed.legal_action_mask, packed.seat, RULES, packed.key)
    assert plain.legal_packed.tolist() == packed.legal_packed.tolist()
    with pytest.raises(ValueError, match=r"legal_packed has shape \(60, 2\); \(60, 4\) fits"):
        Decision.from_packed(packed.packed, packed.legal_packed[:, :2], packed.seat, RULES, packed.key)
    for action in (-1, 99, BLIND, 198, 255, 256, 10**9):
        mask = tables.legal_action_mask()
        expected = mask[:, action] if 0 <= action < 198 else np.zeros(60, bool)
        assert are_legal(np.full(60, action), packed.legal_packed).tolist() == expected.tolist()


def test_random_takes_actions_of_every_word_equally_often() -> None:
    tables, decision = decision_of(400)
    both = decision.legal_action_mask.sum(axis=1) == 2
    chosen = Random().act(decision, RNG)
    assert tables.legal_action_mask()[np.arange(400), chosen].all()
    assert abs((chosen[both] == BLIND).mean() - 0.5) < 0.1


def test_an_illegal_action_beyond_the_first_words_is_told_in_words() -> None:
    class Stubborn:
        name = "stubborn"

        def act(self, decision: Decision, rng: np.random.Generator) -> np.ndarray:
            return np.full(len(decision), 0)

    with pytest.raises(PolicyFailedError, match=r"action 0 .* legal were bank \d+, blind"):
        play_blocks(RULES, Stubborn(), Random(), seed=1, deal_ids=[1])


# --- blocks of one seat ---


def test_a_block_is_one_pack_played_by_each_place_alone() -> None:
    blocks = play_blocks(RULES, Sensible(), Random(), seed=1, deal_ids=np.arange(300))
    assert blocks.returns.shape == (300, 1, 2)
    assert blocks.returns.min() > 0, "results are what each has made, and nobody loses it"
    alone = play_blocks(RULES, Sensible(), Sensible(), seed=1, deal_ids=np.arange(300))
    assert (alone.returns[:, 0, 0] == blocks.returns[:, 0, 0]).all(), "what one makes does not hang on the other"
    assert (blocks.block_means == blocks.returns[:, 0, 0] - blocks.returns[:, 0, 1]).all()
    assert (blocks.place_means.sum(axis=1) == 0).all()
    assert (blocks.totals("points") == blocks.returns[:, 0, 0]).all()
    assert blocks.block_means.mean() > 2
    assert blocks.position_means.shape == (300, 1)


def test_copies_of_a_policy_are_worth_exactly_nothing_and_swapping_turns_the_sign() -> None:
    copies = play_blocks(RULES, Random(), Random(), seed=2, deal_ids=np.arange(40))
    assert (copies.block_means == 0).all()
    here = play_line_up(RULES, [Sensible(), Random()], [0, 1], seed=2, deal_ids=np.arange(40))
    there = play_line_up(RULES, [Sensible(), Random()], [1, 0], seed=2, deal_ids=np.arange(40))
    assert (here.block_means == -there.block_means).all()
    halves = [
        play_line_up(RULES, [Sensible(), Random()], [0, 1], seed=2, deal_ids=np.arange(*part))
        for part in ((0, 25), (25, 40))
    ]
    assert concatenated(halves).returns.tolist() == here.returns.tolist()


def results_of(*specs: str, blocks: int = 200) -> Results:
    entrants = tuple(Entrant(spec, spec) for spec in specs)
    return play_tournament(Plan(entrants, Terms(RULES), tuple(pairs(specs, 2)), 1, FixedBlocks(blocks)))


def test_a_tournament_tells_differences_win_rates_and_ratings(tmp_path: Path) -> None:
    results = results_of("heuristic", "random")
    (tmp_path / "blocks.parquet").write_bytes(results.to_bytes())
    assert Results.read(tmp_path / "blocks.parquet").to_bytes() == results.to_bytes()
    summary = summarise(results, seed=1)
    ahead, behind = summary.cells
    assert (ahead.focal, ahead.seats, ahead.places, ahead.deals) == ("heuristic", 1, 2, 200)
    assert ahead.earned.mean == -behind.earned.mean == -ahead.field_mean > 2
    assert ahead.rates["points_rate"].mean - behind.rates["points_rate"].mean == pytest.approx(ahead.earned.mean)
    assert 1 > ahead.rates["won_rate"].mean > behind.rates["won_rate"].mean
    assert summary.standing is not None
    strength = summary.standing.ratings.strength
    assert strength.values[strength.names.index("heuristic")] == pytest.approx(ahead.earned.mean / 2)
    assert json.dumps(plain_summary([summary], preset="plain", command="", versions={}))


def test_the_tables_of_a_tournament_say_what_is_compared() -> None:
    text = io.StringIO()
    out = Console(width=140, file=text)
    print_summary(out, [summarise(results_of("heuristic", "random"), seed=1)], preset="plain")
    told = text.getvalue()
    assert "points a deal more, 95 %" in told
    assert "won %" in told
    assert "Each deal is played once by both, and what the first makes more counts; rules plain, one seat" in told
    assert "200 deals, 400 in all" in told


# --- training ---

LONE_RUN: dict[str, Any] = {
    "rules": {"game": "lone"},
    "run": {"deals": 6144},
    "rollout": {"deals": 256},
    "evaluation": {"times": 1, "blocks": 400},
}


def test_a_share_of_the_decisions_gives_a_share_of_the_same_pairs() -> None:
    spec = lone_game.TRAINING.network_spec(RULES, seats_shown=1, privileged=False, layer_norm=True, **TINY)
    actor = Actor(spec, torch.Generator().manual_seed(1))
    every, some = (
        SelfPlay(RULES, 1, 1, pair_share=share).play(
            actor, np.arange(400), threads=ONE_THREAD, watch=Stopwatch(), pairs=True
        )
        for share in (1.0, 0.3)
    )
    assert some.actions.tolist() == every.actions.tolist(), "what is played does not hang on it"
    assert every.pairs is not None
    assert some.pairs is not None
    found, chosen = (
        {(deal, step): gain for deal, step, gain in zip(pairs.deal, pairs.step, pairs.gains, strict=True)}
        for pairs in (every.pairs, some.pairs)
    )
    assert chosen.items() <= found.items()
    assert 0.2 < len(chosen) / len(found) < 0.4
    assert some.asked < every.asked


@pytest.mark.parametrize(
    "learn",
    [{}, {"pair_share": 0.5}, {"advantages": "critic"}, {"method": "dmc"}],
    ids=["pairs", "some_pairs", "critic", "dmc"],
)
def test_every_learner_learns_to_play_alone(tmp_path: Path, learn: dict[str, Any]) -> None:
    trainer = tiny_trainer(tmp_path / "run", **LONE_RUN, learn={"learning_rate": 0.02, "minibatch": 128, **learn})
    trainer.run(stop=lambda: False, report=lambda values: None)
    trainer.close()
    assert trainer.strength["random"].low > 1
    policy = load_policy(str(tmp_path / "run"))
    assert play_blocks(RULES, policy, Random(), seed=9, deal_ids=np.arange(300)).block_means.mean() > 1


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"rollout": {"random_share": 0.2}}, "rollout.random_share = 0.2: lone is for one seat alone"),
        ({"rollout": {"target": "random"}}, "rollout.target = 'random': lone is for one seat alone"),
        ({"league": {"share": 0.2}}, "league.share = 0.2: lone is for one seat alone"),
        ({"rules": {"game": "lone", "num_players": 2}}, "there is one seat"),
    ],
)
def test_settings_about_others_at_the_table_are_refused(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        check_config({"run": {"deals": 64}, "rules": {"game": "lone"}, **settings})
