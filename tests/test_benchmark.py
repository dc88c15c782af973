"""The fixed protocol and its card."""

import json

import numpy as np
import pytest

from agents.arena import stream_seed
from agents.benchmark import BASELINES, SETS, Protocol, plans
from agents.commands.exploit import CONTROL_BLOCKS
from agents.descent import DivergedError
from agents.entrants import Entrant
from agents.evaluation_cli import main
from agents.local_best_response import Search
from bourre_env import Rules, shuffled_decks

QUICK = ["--blocks", "30", "--session-blocks", "2", "--seats", "3", "--response-deals", "0", "--workers", "1"]


def test_a_card_holds_every_part_of_the_protocol(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("agents.benchmark.GAMES", ("reduced_2p2c",))  # the others take half a minute
    monkeypatch.setattr("agents.benchmark.SESSION_DEALS", 20)
    assert main(["benchmark", "always_stay", *QUICK, "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert printed == (tmp_path / "card.md").read_text()
    card = json.loads((tmp_path / "card.json").read_text())
    assert [section["title"] for section in card["sections"]] == [
        "3 seats, single deals",
        "4 seats, sessions of 20 deals with a limit of 20 chips",
    ]
    for section in card["sections"]:
        assert len(section["cells"]) == 2 * len(BASELINES)
        assert f"## {section['title']}" in printed
        for cell in section["cells"]:
            assert f"{cell['mean']:+.3f} ({cell['low']:+.3f} to {cell['high']:+.3f})" in printed
    assert card["exact"]["reduced_2p2c"] == pytest.approx(0.4155, abs=1e-4)  # as the exact lab has it
    assert card["attacks"] == "Left out."
    assert "## Reduced games, exact" in printed
    assert card["protocol"]["deals"] == "development"
    assert "**Not the protocol:** blocks 30, session blocks 2, table sizes (3,)." in printed


def test_faults_stand_on_the_card(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("agents.benchmark.GAMES", ("reduced_2p2c",))
    words = [*QUICK[:2], "--session-blocks", "0", *QUICK[4:]]
    assert main(["benchmark", "odd=odd_bots:Raises", *words]) == 0
    printed = capsys.readouterr().out
    assert "- odd forfeited " in printed
    assert "deals (rule 7.2); first: policy 'odd' raised RuntimeError: out of ideas" in printed
    assert "| reduced_2p2c | policy 'a bot' raised RuntimeError: out of ideas |" in printed


def test_an_attack_that_misses_a_known_weakness_ends_the_benchmark(capsys, monkeypatch):
    monkeypatch.setattr("agents.benchmark.GAMES", ())
    monkeypatch.setattr("agents.commands.benchmark.CONTROL", "heuristic")  # no weakness that so few deals would show
    monkeypatch.setitem(CONTROL_BLOCKS, "local", 3)
    words = [*QUICK[:2], "--session-blocks", "0", *QUICK[4:6], "--response-deals", "500", "--workers", "1"]
    assert main(["benchmark", "random", *words]) == 1
    assert "the control of the local best response failed" in capsys.readouterr().err


def test_a_policy_that_cannot_play_everywhere_has_a_card_of_the_rest(tmp_path, capsys):
    assert main(["benchmark", "eq=agents.exact:Equilibrium", *QUICK]) == 2
    printed = capsys.readouterr()
    assert "can play at none of the tables of the protocol" in printed.err
    assert printed.out == ""


@pytest.mark.slow
def test_best_responses_stand_on_the_card(tmp_path):
    words = ["--blocks", "300", "--session-blocks", "0", "--seats", "4", "--response-deals", "40960", "--workers", "2"]
    assert main(["benchmark", "always_stay", *words, "--out", str(tmp_path)]) == 0
    local, trained = json.loads((tmp_path / "card.json").read_text())["attacks"]
    assert local["low"] > 0
    assert trained["low"] > 0


def test_training_that_diverges_ends_in_one_line_with_exit_code_1(capsys, monkeypatch):
    def diverge(*_, **__):
        raise DivergedError("loss is nan")

    monkeypatch.setattr("agents.benchmark.GAMES", ())
    monkeypatch.setattr("agents.commands.benchmark.LOCAL_BLOCKS", 2)
    monkeypatch.setattr("agents.commands.benchmark.Search", lambda: Search(worlds=4, proposals=8, fewest=2))
    monkeypatch.setattr("agents.commands.benchmark._check_control", lambda attack, gain: None)
    monkeypatch.setattr("agents.commands.exploit.train_responses", diverge)
    words = ["--blocks", "2", "--session-blocks", "0", "--seats", "3", "--workers", "1"]
    assert main(["benchmark", "always_pass", *words]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "evaluate.py: training of a best response diverged (loss is nan); it needs a lower" in printed.err


def test_final_and_development_deals_are_other_deals_than_any_seed_of_an_option():
    subject = Entrant("x", "random")
    seeds = {name: Protocol(name).seed for name in SETS}
    assert len(set(seeds.values())) == 2
    for seed in seeds.values():
        assert seed > 2**32  # nobody types it by chance
    assert {plan.seed for _, plan in plans(subject, Protocol("final"))} == {seeds["final"]}
    packs = [shuffled_decks(stream_seed(seed, "arena: packs of the deals"), np.arange(50)) for seed in seeds.values()]
    assert not {pack.tobytes() for pack in packs[0]} & {pack.tobytes() for pack in packs[1]}


def test_the_protocol_is_fixed():
    """Changing it makes cards incomparable; who does so on purpose changes this test, too."""
    chosen = plans(Entrant("x", "random"), Protocol())
    assert [plan.terms.rules for _, plan in chosen] == [
        *(Rules.preset("pagat", num_players=size) for size in (2, 3, 4, 5, 8)),
        Rules.preset("pagat_limit", num_players=4),
    ]
    assert {plan.stop.most for _, plan in chosen[:-1]} == {5000}
    assert (chosen[-1][1].stop.most, chosen[-1][1].terms.session) == (200, 200)
    assert all(len(plan.line_ups) == 8 for _, plan in chosen)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["benchmark", "heuristik"], "did you mean 'heuristic'?"),
        (["benchmark", "human"], "'human' cannot enter a tournament"),
        (["benchmark", "random", "--session-blocks", "1"], "an interval needs at least 2"),
    ],
)
def test_wrong_input_is_one_line(words, complaint, capsys):
    assert main(words) == 2
    printed = capsys.readouterr()
    assert complaint in printed.err
    assert (printed.out, printed.err.count("\n")) == ("", 1)
