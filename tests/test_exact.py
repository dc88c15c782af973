"""The exact lab and `evaluate.py exact`: controls, output, and what is said when something is wrong."""

import dataclasses
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from small_games import SMALL, tree_of
from test_learner_network import policy_of

from agents import exact
from agents.arena import play_line_ups
from agents.baselines import HEURISTIC
from agents.best_response import best_response_values, nash_conv, values
from agents.cfr import Solution
from agents.checkpoint import save_checkpoint
from agents.controls import ControlError
from agents.evaluation_cli import main
from agents.exact import Equilibrium, check_equilibrium, check_uniform, game, measure
from agents.policy import PolicyError
from agents.tabular import strategy_of
from bourre_env import Rules

BOTS = """
import numpy as np
from agents.policy import PolicyError


class First:
    name = "first"

    def act(self, decision, rng):
        return decision.legal_action_mask.argmax(axis=1)


class Lots:
    name = "lots"

    def act(self, decision, rng):
        return np.where(rng.random(decision.legal_action_mask.shape) * decision.legal_action_mask, 1, 0).argmax(axis=1)


class ThreeCards(First):
    def check_rules(self, rules):
        if rules.hand_size != 3:
            raise PolicyError(f"this bot plays 3 cards, not {rules.hand_size}")


class Raises(First):
    def act(self, decision, rng):
        raise RuntimeError("out of ideas")
"""


@pytest.fixture
def bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a module of policies."""
    (tmp_path / "exact_bots.py").write_text(BOTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "exact_bots", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


# --- measuring


def test_what_is_measured_is_values_and_gains_of_the_policy() -> None:
    tree = tree_of(SMALL)
    result = measure(HEURISTIC, SMALL)
    strategy = strategy_of(HEURISTIC, tree)
    assert result.nash_conv == pytest.approx(nash_conv(tree, strategy), abs=1e-12)
    assert result.values == pytest.approx(values(tree, strategy), abs=1e-12)
    assert result.values + result.gains == pytest.approx(best_response_values(tree, strategy), abs=1e-12)
    assert result.nash_conv > 0.3


def test_the_equilibrium_is_a_policy_that_hardly_anything_can_be_gained_against() -> None:
    assert measure(Equilibrium(), SMALL).nash_conv == pytest.approx(game(SMALL).equilibrium.nash_conv, abs=1e-12)
    with pytest.raises(PolicyError, match="knows the games reduced_2p2c"):
        Equilibrium().check_rules(Rules.preset("pagat"))


def test_the_equilibrium_gets_at_least_its_value_from_anybody() -> None:
    """In a two-player game: the last seat's 0.3027 antes, here from `heuristic`, at real tables."""
    deals = np.arange(0, 40_000, 2) + 1
    rules = Rules.preset(SMALL)
    line_ups = np.tile([1, 0], (len(deals), 1))
    results = play_line_ups(rules, [Equilibrium(), HEURISTIC], line_ups, seed=5, deal_ids=deals)
    antes = results.returns[:, 1] + results.carry / 2
    assert antes.mean() > 0.3026 - 4 * antes.std() / np.sqrt(len(deals))


# --- controls


def test_a_control_that_is_off_ends_with_code_1(monkeypatch: pytest.MonkeyPatch, capsys, tmp_path: Path) -> None:
    exact.game.cache_clear()
    monkeypatch.setitem(exact.UNIFORM_NASH_CONV, SMALL, 1.742)
    assert main(["exact", "random", "--games", SMALL, "--out", str(tmp_path / "out.json")]) == 1
    said = capsys.readouterr()
    assert "control of reduced_2p2c is off: NashConv of uniform play is 1.743005952, not 1.742" in said.err
    assert said.err.count("\n") == 1
    assert not (tmp_path / "out.json").exists()


def test_cfr_that_does_not_get_there_is_a_control_that_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    exact.game.cache_clear()
    monkeypatch.setattr(exact, "MOST_ITERATIONS", 20)
    with pytest.raises(ControlError, match="after 20 iterations"):
        game(SMALL)


@pytest.mark.parametrize("wrong", [np.nan, 1e-4, -1e-3])
def test_numbers_beyond_the_bounds_of_a_control_are_refused(wrong: float) -> None:
    solution = Solution(np.zeros((1, 1)), 5e-5, 100)
    check_equilibrium(SMALL, solution)
    with pytest.raises(ControlError):
        check_equilibrium(SMALL, dataclasses.replace(solution, nash_conv=wrong))
    with pytest.raises(ControlError):
        check_uniform(SMALL, exact.UNIFORM_NASH_CONV[SMALL] + wrong)


# --- the command


def test_the_command_prints_and_writes_nash_conv(tmp_path: Path, capsys) -> None:
    out = tmp_path / "new" / "exact.json"
    assert main(["exact", "heuristic", "--games", SMALL, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^reduced_2p2c +0\.415476 +\+0\.3595 \+0\.0560 ", printed, re.MULTILINE)
    assert "NashConv is exact" in printed
    assert json.loads(out.read_text()) == {SMALL: pytest.approx(measure(HEURISTIC, SMALL).nash_conv)}


def test_a_policy_that_keeps_its_probabilities_is_sampled_and_the_output_says_so(bots: Path, capsys) -> None:
    assert main(["exact", "exact_bots:First", "--games", SMALL, "--samples", "2"]) == 0
    assert "estimated from 2 samples a decision" in capsys.readouterr().out


def test_a_game_that_a_policy_cannot_play_is_null(tmp_path: Path, capsys) -> None:
    policy = policy_of(Rules.preset(SMALL))
    path = tmp_path / "run" / "last.safetensors"
    path.parent.mkdir()
    save_checkpoint(path, policy.actor, policy.header)
    out = tmp_path / "out.json"
    words = ["exact", str(path), "--games", "reduced_3p2c", SMALL, "--out", str(out)]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "reduced_3p2c cannot be played: run/last was not trained for 3 seats" in printed
    numbers = json.loads(out.read_text())
    assert list(numbers) == [SMALL, "reduced_3p2c"]
    assert numbers["reduced_3p2c"] is None
    assert numbers[SMALL] > 0.1


def test_a_policy_that_fails_ends_with_code_1(bots: Path, capsys) -> None:
    assert main(["exact", "exact_bots:Raises", "--games", SMALL]) == 1
    assert capsys.readouterr().err == "evaluate.py: policy 'first' raised RuntimeError: out of ideas\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["heuristik"], "did you mean 'heuristic'"),
        (["human"], "cannot be measured exactly"),
        (["random", "--games", "pagat"], "invalid choice: 'pagat'"),
        (["random", "--samples", "0"], "0 is too small"),
        (["random", "--out", ""], "the name of the file is empty"),
        (["random", "--out", "."], "is a folder"),
        (["random", "--out", "exact_bots.py/out.json"], "is a file, not a folder"),
        (["exact_bots:ThreeCards", "--games", SMALL, "reduced_3p2c"], "can play none of reduced_2p2c, reduced_3p2c"),
    ],
)
def test_wrong_input_is_one_line_and_code_2(words: list[str], message: str, bots: Path, capsys) -> None:
    try:
        code = main(["exact", *words])
    except SystemExit as left:  # what argparse finds by itself
        code = left.code
    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert message in said.err
    assert said.err.count("\n") == 1


@pytest.mark.slow
def test_all_three_games_are_measured(tmp_path: Path, capsys) -> None:
    out = tmp_path / "exact.json"
    assert main(["exact", "random", "--out", str(out)]) == 0
    assert json.loads(out.read_text()) == pytest.approx(exact.UNIFORM_NASH_CONV, abs=1e-9)
    assert main(["exact", "agents.exact:Equilibrium", "--out", str(out)]) == 0
    assert max(json.loads(out.read_text()).values()) < 1e-4
    assert "+0.4698" in capsys.readouterr().out
