"""One trainer, arena, checkpoint format and command line for every game of the family: Euchre through all of them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from learning import ONE_THREAD, TINY, header_of, tiny_spec, tiny_trainer

from agents import config, training_cli
from agents.arena import play_blocks, play_line_up, play_line_ups
from agents.baselines import Random
from agents.checkpoint import CheckpointError, load_checkpoint, parameter_hash, save_checkpoint
from agents.config import ConfigError, check_config
from agents.entrants import Entrant
from agents.euchre.heuristic import HEURISTIC
from agents.evaluation_cli import main as evaluate
from agents.metrics import TAGS, Stopwatch
from agents.network import FLAT, Actor, NetworkSpec
from agents.policy import Decision, PolicyError, PolicyFailedError, check_rules, load_policy
from agents.results import Results, ResultsError, Terms
from agents.rollout import SelfPlay
from agents.starts import NETWORK, Opponents
from agents.stopping import FixedBlocks
from agents.tournament import Plan, pairs, play_tournament
from bourre_env import Rules
from bourre_env.bourre import rules as rules_of_bourre
from bourre_env.errors import RulesError
from bourre_env.euchre.rules import EuchreRules
from bourre_env.euchre.tables import EuchreTables
from bourre_env.family import GAMES, MOST_SEATS, game_named, game_of, plain_rules, sides_of

CORNISH = EuchreRules.preset("cornish")
RELATIVE = EuchreRules.preset("cornish_relative")
PAGAT = Rules.preset("pagat")
EUCHRE_RUN: dict[str, Any] = {"rules": {"game": "euchre", "preset": "cornish_relative"}}
LEAN_RUN = {**EUCHRE_RUN, "run": {"deals": 256, "checkpoint_every": 2}}


def euchre_actor(seed: int = 1) -> Actor:
    spec = NetworkSpec.for_rules(CORNISH, seats_shown=4, privileged=True, layer_norm=True, head="structured", **TINY)
    return Actor(spec, torch.Generator().manual_seed(seed))


def euchre_checkpoint(path: Path) -> Path:
    """A checkpoint of an untrained network for Euchre."""
    actor = euchre_actor()
    layout = game_of(CORNISH).layout(CORNISH, None).hash
    header = header_of(actor)
    fields = {name: getattr(header, name) for name in ("iteration", "deals", "decisions", "commit")}
    save_checkpoint(path, actor, type(header)((CORNISH,), 4, layout, actor.spec, **fields))
    return path


def bourre_checkpoint(path: Path) -> Path:
    actor = Actor(tiny_spec(), torch.Generator().manual_seed(1))
    save_checkpoint(path, actor, header_of(actor))
    return path


# --- what every game says of itself ---


@pytest.mark.parametrize("name", GAMES)
def test_every_game_makes_rules_tables_and_layouts_that_agree(name: str) -> None:
    game = game_named(name)
    for preset in (game.presets[0], game.presets[-1]):
        rules = game.preset(preset)
        assert (rules.game, game_of(rules)) == (name, game)
        assert sorted(seat for side in rules.sides for seat in side) == list(range(rules.num_players))
        assert all(seat % sides_of(rules) == number for number, side in enumerate(rules.sides) for seat in side)
        assert rules.num_players in game.table_sizes
        assert max(game.table_sizes) <= MOST_SEATS
        assert game.from_plain(json.loads(json.dumps(plain_rules(rules))), rules.fingerprint) == rules
        tables = game.tables(rules, 2, None)
        assert tables.observe_packed().shape == (2, game.layout(rules, None).num_words)
        assert tables.legal_action_mask().shape == (2, rules.num_actions)


def test_a_game_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(RulesError, match=f"no game is called 'poker'; choose {', '.join(GAMES)}"):
        game_named("poker")


def test_decisions_of_any_game_unpack_and_show_their_seats() -> None:
    tables = EuchreTables(CORNISH, 3)
    tables.deal(np.tile(np.arange(25), (3, 1)), [0, 1, 2])
    packed, legal = tables.observe_packed(), tables.legal_packed()
    decision = Decision.from_packed(packed, legal, tables.to_act, CORNISH, np.zeros(3, np.uint64))
    assert decision.legal_action_mask.tolist() == tables.legal_action_mask().tolist()
    assert decision.observation.tolist() == tables.observe().tolist()
    assert decision.seats_shown == 4
    assert decision.showing(4) is decision
    with pytest.raises(ValueError, match="cannot show 5 seats"):
        decision.showing(5)


# --- blocks of partners ---


@pytest.mark.parametrize("policy", [HEURISTIC, Random()], ids=["heuristic", "random"])
def test_identical_pairs_are_worth_exactly_nothing_in_every_block(policy: Any) -> None:
    blocks = play_blocks(CORNISH, policy, policy, seed=1, deal_ids=np.arange(80))
    assert blocks.returns.shape == (80, 2, 2)
    assert (blocks.block_means == 0).all()
    assert np.abs(blocks.returns).max() > 0
    assert (blocks.returns.sum(axis=2) == 0).all()


def test_what_one_pair_wins_the_other_loses_to_the_last_point() -> None:
    deals = np.arange(60)
    ours = play_blocks(CORNISH, HEURISTIC, Random(), seed=2, deal_ids=deals)
    theirs = play_blocks(CORNISH, Random(), HEURISTIC, seed=2, deal_ids=deals)
    assert (ours.block_means == -theirs.block_means).all()
    assert np.unique(ours.block_means).size > 2


def test_a_block_is_one_hand_with_the_pair_once_on_each_side() -> None:
    deals = np.arange(40)
    blocks = play_line_up(CORNISH, [HEURISTIC, Random()], [0, 1], seed=3, deal_ids=deals)
    for rotation, seats in enumerate(([0, 1, 0, 1], [1, 0, 1, 0])):
        alone = play_line_ups(CORNISH, [HEURISTIC, Random()], [seats] * 40, seed=3, deal_ids=deals)
        side = [seats.index(place) for place in (0, 1)]
        assert (alone.returns[:, :2] == alone.returns[:, 2:]).all(), "partners win and lose together"
        assert blocks.returns[:, rotation].tolist() == alone.returns[:, side].tolist()
        for name, counts in alone.counts.items():
            both = counts[:, :2] + counts[:, 2:]
            assert blocks.count(name)[:, rotation].tolist() == both[:, side].tolist()
    assert blocks.place_means.tolist() == blocks.returns.mean(axis=1).tolist(), "results are points"
    assert blocks.count("made").sum(axis=(1, 2)).max() == 2


def test_sessions_and_stakes_mean_nothing_in_euchre() -> None:
    with pytest.raises(ValueError, match="a session of 3 hands"):
        play_blocks(CORNISH, Random(), Random(), seed=1, deal_ids=[0], session=3)
    with pytest.raises(ValueError, match="not played for stakes"):
        play_blocks(CORNISH, Random(), Random(), seed=1, deal_ids=[0], buy_in=10)


# --- results ---


def euchre_results(*specs: str, blocks: int = 6) -> Results:
    entrants = tuple(Entrant(spec, spec) for spec in specs)
    return play_tournament(Plan(entrants, Terms(CORNISH), tuple(pairs(specs, 2)), 1, FixedBlocks(blocks)))


def test_results_of_euchre_are_read_as_they_were_written(tmp_path: Path) -> None:
    results = euchre_results("heuristic", "random")
    (tmp_path / "blocks.parquet").write_bytes(results.to_bytes())
    read = Results.read(tmp_path / "blocks.parquet")
    assert (read.terms, read.entrants, set(read.blocks)) == (results.terms, results.entrants, set(results.blocks))
    for key, blocks in results.blocks.items():
        for name, values in blocks.columns().items():
            assert getattr(read.blocks[key], name).tolist() == values.tolist()
    assert read.to_bytes() == results.to_bytes()


def test_results_of_two_games_are_never_mixed() -> None:
    with pytest.raises(ResultsError, match="different games cannot be mixed: euchre and bourre"):
        Results(Terms(CORNISH)).merge(Results(Terms(PAGAT)))


# --- policies ---


def test_heuristic_and_random_play_whichever_game_they_are_asked_about() -> None:
    for rules in (PAGAT, CORNISH, RELATIVE):
        blocks = play_blocks(rules, load_policy("heuristic"), load_policy("random"), seed=1, deal_ids=np.arange(150))
        assert blocks.block_means.mean() > 0.5
        assert blocks.count("forfeited").sum() == 0


@pytest.mark.parametrize("spec", ["always_stay", "always_pass", "two_trumps", "human", "search:worlds=4"])
def test_a_policy_of_bourre_says_that_it_does_not_play_euchre(spec: str) -> None:
    with pytest.raises(PolicyError, match="plays bourre only, not euchre"):
        check_rules(load_policy(spec), CORNISH)


def test_the_rule_bot_of_euchre_plays_printed_and_relative_ids_alike() -> None:
    """Suits are numbered otherwise, and nothing else: with its own bot at all seats every hand ends the same."""
    printed, relative = (
        play_line_ups(rules, [HEURISTIC], np.zeros((200, 4), int), seed=4, deal_ids=np.arange(200))
        for rules in (CORNISH, RELATIVE)
    )
    assert (printed.returns != relative.returns).any(axis=1).mean() < 0.1  # equals are told apart by their ids


def test_an_illegal_action_is_told_in_the_words_of_the_game() -> None:
    class Stubborn:
        name = "stubborn"

        def act(self, decision: Decision, rng: np.random.Generator) -> np.ndarray:
            return np.full(len(decision), 31)

    with pytest.raises(PolicyFailedError, match=r"action 31 \(alone\) in row 0, .* legal were pass, name_[CDHS]"):
        play_blocks(CORNISH, Stubborn(), Random(), seed=1, deal_ids=[1])


# --- checkpoints ---


def test_a_checkpoint_of_euchre_is_the_network_that_was_saved(tmp_path: Path) -> None:
    header, actor = load_checkpoint(euchre_checkpoint(tmp_path / "net.safetensors"))
    assert header.game == "euchre"
    assert header.rules == (CORNISH,)
    assert (actor.spec.head, actor.spec.num_actions) == (FLAT, 33)
    assert parameter_hash(actor) == parameter_hash(euchre_actor())
    blocks = play_blocks(
        CORNISH, load_policy(str(tmp_path / "net.safetensors")), Random(), seed=1, deal_ids=np.arange(4)
    )
    assert len(blocks) == 4


def test_a_checkpoint_of_one_game_is_refused_at_another(tmp_path: Path) -> None:
    euchre = load_policy(str(euchre_checkpoint(tmp_path / "euchre.safetensors")))
    bourre = load_policy(str(bourre_checkpoint(tmp_path / "bourre.safetensors")))
    with pytest.raises(CheckpointError, match=r"euchre was trained for euchre; it does not play bourre"):
        check_rules(euchre, PAGAT)
    with pytest.raises(CheckpointError, match=r"bourre was trained for bourre; it does not play euchre"):
        check_rules(bourre, CORNISH)
    told = r"under the rules cornish_relative; it plays: .* cornish \(not alike: card_ids printed and relative\)"
    with pytest.raises(CheckpointError, match=told):
        check_rules(euchre, RELATIVE)


# --- training ---


@pytest.fixture
def one_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are compared byte for byte, and somebody may commit between two of them."""
    monkeypatch.setattr("agents.trainer.source_commit", lambda: "0" * 40)


def test_results_of_training_hands_are_points_and_partners_share_them() -> None:
    setting = SelfPlay(CORNISH, 1, 4)
    rollout = setting.play(euchre_actor(), np.arange(48), threads=ONE_THREAD, watch=Stopwatch(), pairs=True)
    assert (rollout.results == rollout.returns).all()
    assert (rollout.results[:, :2] == rollout.results[:, 2:]).all()
    assert (rollout.results.sum(axis=1) == 0).all()
    assert (rollout.rewards == rollout.results[rollout.deal, rollout.seat]).all()
    assert rollout.pairs is not None
    assert len(rollout.pairs) > 48
    assert (np.abs(rollout.pairs.gains) <= 8).all()
    assert np.unique(rollout.pairs.gains).size > 3
    again = setting.play(euchre_actor(), np.arange(20, 30), threads=ONE_THREAD, watch=Stopwatch())
    assert again.returns.tolist() == rollout.returns[20:30].tolist(), "a hand hangs on its number alone"
    threaded = SelfPlay(CORNISH, 1, 4, parallel=True)
    other = threaded.play(euchre_actor(), np.arange(48), threads=ONE_THREAD, watch=Stopwatch())
    assert other.actions.tolist() == rollout.actions.tolist()


def test_a_pair_among_others_learns_from_what_both_partners_do() -> None:
    opponents = Opponents((HEURISTIC,), (1.0,))
    rollout = SelfPlay(CORNISH, 1, 4, opponents=opponents).play(
        euchre_actor(), np.arange(40), threads=ONE_THREAD, watch=Stopwatch()
    )
    line_ups = opponents.line_ups(CORNISH, 1, np.arange(40))
    assert (line_ups[:, :2] == line_ups[:, 2:]).all()
    assert {tuple(line_up) for line_up in line_ups.tolist()} == {(NETWORK, 0) * 2, (0, NETWORK) * 2}
    assert (line_ups[rollout.deal, rollout.seat] == NETWORK).all()
    assert set(rollout.seat.tolist()) == {0, 1, 2, 3}
    assert not rollout.self_play.any()


def finished(folder: Path, *, stop_after: int | None = None, resume: bool = False, **changes: Any) -> Any:
    """A trainer that has trained to the end, or for some iterations."""
    trainer = tiny_trainer(folder, resume=resume, **{**LEAN_RUN, **changes})
    done: list[dict[str, float]] = []
    trainer.run(stop=lambda: len(done) == stop_after, report=done.append)
    trainer.close()
    return trainer


@pytest.mark.usefixtures("one_commit")
@pytest.mark.parametrize("learn", [{}, {"advantages": "critic"}], ids=["pairs", "critic"])
def test_the_same_seed_and_a_resumed_run_give_the_same_bytes(tmp_path: Path, learn: dict[str, Any]) -> None:
    finished(tmp_path / "whole", learn={"minibatch": 64, **learn})
    finished(tmp_path / "again", learn={"minibatch": 64, **learn})
    finished(tmp_path / "cut", stop_after=2, learn={"minibatch": 64, **learn})
    finished(tmp_path / "cut", resume=True, learn={"minibatch": 64, **learn})
    bytes_of = [(tmp_path / run / "last.safetensors").read_bytes() for run in ("whole", "again", "cut")]
    assert bytes_of[0] == bytes_of[1] == bytes_of[2]
    header, _ = load_checkpoint(tmp_path / "whole" / "last.safetensors")
    assert (header.game, header.deals) == ("euchre", 256)
    tags = {tag for line in (tmp_path / "whole" / "metrics.jsonl").read_text().splitlines() for tag in json.loads(line)}
    assert {"euchre/made_rate", "evaluation/heuristic_mean", "game/decisions_per_deal"} <= tags
    assert not {tag for tag in tags if tag.startswith(("pass_rate/", "credit/"))}
    assert {tag for tag in tags if "/" in tag} <= set(TAGS)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"rules": {"game": "poker"}}, "^rules.game: no game is called 'poker'"),
        ({"rules": {"game": "whist", "preset": "cornish", "num_players": 4}}, "^rules.game: no game is called 'whist'"),
        ({"rules": {"game": "euchre", "preset": "pagat"}}, "no Euchre preset is called 'pagat'"),
        ({"rules": {"game": "euchre", "num_players": 3}}, "Euchre is for 4 players, not 3"),
        ({"rules": {"game": "euchre"}, "rollout": {"carry_share": 0.5}}, "rollout.carry_share = 0.5: .* in euchre"),
        ({"rules": {"game": "euchre", "stacks": "table_stakes"}}, "rules.stacks = 'table_stakes': .* in euchre"),
    ],
)
def test_settings_that_fit_no_game_or_another_one_are_refused(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint) as caught:
        check_config({"run": {"deals": 64}, **settings})
    assert "\n" not in str(caught.value)


def test_settings_and_rules_agree_on_the_usual_buy_in() -> None:
    assert config.BUY_IN == rules_of_bourre.BUY_IN


def test_the_usual_preset_of_the_game_is_meant_where_none_is_named() -> None:
    assert check_config({"run": {"deals": 64}, "rules": {"game": "euchre"}}).game() == CORNISH
    assert check_config({"run": {"deals": 64}}).game() == PAGAT


# --- commands ---


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_train_py_trains_euchre_and_prints_a_tournament_of_pairs(
    empty: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    preset = Path(__file__).parent.parent / "configs" / "euchre.toml"
    small = ["run.dir=run", "run.minutes=none", "run.deals=96", "run.threads=1", "network.actor_width=16"]
    small += ["rollout.deals=48", "evaluation.times=1", "evaluation.blocks=4", "evaluation.final_blocks=4"]
    assert training_cli.main(["--config", str(preset), "--set", *small]) == 0
    printed = capsys.readouterr().out
    assert "points a deal, 95 %" in printed
    assert "One focal pair of partners against a pair of the other; rules cornish_relative, 4 seats" in printed
    assert (empty / "run" / "best.safetensors").is_file()


def test_a_tournament_of_euchre_from_the_command_line(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tournament", "--game", "euchre", "random", "heuristic", "--workers", "1", "--out", "results"]
    assert evaluate([*words, "--blocks", "20"]) == 0
    printed = capsys.readouterr().out
    assert "made %" in printed
    assert "20 deals played from every side, 40 in all" in printed
    assert "reports are of bourre only so far" in printed
    summary = json.loads((empty / "results" / "summary.json").read_text())
    first, second = summary["cells"]
    assert (first["focal"], second["focal"], first["seats"]) == ("random", "heuristic", 4)
    assert first["mean"] == -second["mean"] < 0
    assert (summary["rules"]["game"], summary["rules"]["unit"]) == ("euchre", "points")
    assert [sorted(position) for position in first["by_position"]] == [["high", "low", "made_rate", "mean"]] * 2
    blocks = (empty / "results" / "blocks-4.parquet").read_bytes()
    assert evaluate([*words, "--blocks", "30"]) == 0, "a tournament is gone on with"
    assert len(Results.read(empty / "results" / "blocks-4.parquet").blocks[0, ("random", "heuristic")]) == 30
    assert (empty / "results" / "blocks-4.parquet").read_bytes() != blocks
    capsys.readouterr()
    for refused in (
        ["tournament", "random", "heuristic", "--seats", "3", "--blocks", "4", "--workers", "1", "--out", "results"],
        ["report", "results"],
    ):
        assert evaluate(refused) == 2
        complaint = capsys.readouterr().err
        assert "results of euchre" in complaint
        assert complaint.count("\n") == 1


def test_folders_of_two_games_are_not_merged(empty: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for game, seats in (("euchre", "4"), ("bourre", "3")):
        words = ["tournament", "--game", game, "random", "heuristic", "--blocks", "4", "--workers", "1", "--no-report"]
        assert evaluate([*words, "--seats", seats, "--out", game]) == 0
    capsys.readouterr()
    assert evaluate(["merge", "euchre", "bourre", "--out", "both"]) == 2
    assert "results of different games cannot be mixed: bourre and euchre" in capsys.readouterr().err
    assert not (empty / "both").exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["tournament", "random", "heuristic", "--game", "poker"], "no game is called 'poker'"),
        (["tournament", "random", "heuristic", "--game", "euchre", "--seats", "3"], "Euchre is for 4 players"),
        (["tournament", "random", "heuristic", "--game", "euchre", "--rules", "pagat"], "no Euchre preset"),
        (["tournament", "random", "two_trumps", "--game", "euchre"], "two_trumps plays bourre only, not euchre"),
        (["tournament", "random", "heuristic", "--game", "euchre", "--table-stakes", "9"], "not played for stakes"),
        (["tournament", "random", "heuristic", "--game", "euchre", "--session-deals", "9"], "a session of 9 hands"),
        (["tournament", "random", "heuristic", "--game", "euchre", "--line-up", "random"], "1 names for 2 sides"),
        (["play", "random", "random", "--game", "euchre"], "this command serves bourre only so far, not euchre"),
        (["web", "--game", "euchre"], "this command serves bourre only so far, not euchre"),
        (["exploit", "random", "--game", "euchre"], "this command serves bourre only so far, not euchre"),
    ],
)
def test_what_a_command_cannot_do_for_a_game_it_says_in_one_line(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = evaluate(words)
    except SystemExit as stopped:  # argparse leaves by itself
        code = int(str(stopped.code))
    captured = capsys.readouterr()
    assert code == 2
    assert complaint in captured.err
    assert captured.err.count("\n") == 1
