"""Decisions, the check of answers, and loading by spec."""

import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from decisions import asked, middle_of_deals
from positions import OneTable

from agents.baselines import HEURISTIC
from agents.human import Human
from agents.policy import Decision, PolicyError, PolicyFailedError, check_actions, load_policy
from agents.wording import action_text, cards_text, legal_texts
from bourre_env import Rules
from bourre_env.deck import stream_keys

RNG = np.random.default_rng(0)


# --- decisions ---


@pytest.mark.parametrize("num_players", [2, 4, 8])
def test_both_forms_of_a_decision_say_the_same(num_players):
    tables = middle_of_deals(num_players)
    rows = np.flatnonzero(tables.to_act >= 0)
    packed = asked(tables)
    plain = Decision(tables.observe()[rows], tables.legal_action_mask()[rows], packed.seat, packed.rules, packed.key)
    assert len(plain) == len(packed) == len(rows) > 0
    np.testing.assert_array_equal(packed.observation, plain.observation)
    np.testing.assert_array_equal(packed.legal_action_mask, plain.legal_action_mask)
    np.testing.assert_array_equal(plain.packed, packed.packed)
    np.testing.assert_array_equal(plain.legal_packed, packed.legal_packed)
    assert packed.observation.dtype == np.float32
    assert packed.legal_action_mask.dtype == np.bool_
    assert plain.packed.dtype == plain.legal_packed.dtype == np.uint64
    assert packed.seats_shown == plain.seats_shown == num_players


def test_a_decision_takes_its_fields_by_name():
    tables = middle_of_deals(3)
    rows = np.flatnonzero(tables.to_act >= 0)
    decision = Decision(
        observation=tables.observe()[rows],
        legal_action_mask=tables.legal_action_mask()[rows],
        seat=tables.to_act[rows],
        rules=tables.rules,
        key=stream_keys(0, rows),
    )
    assert HEURISTIC.act(decision, RNG).shape == (len(rows),)


@pytest.mark.parametrize("stacks", ["credit", "table_stakes"])
@pytest.mark.parametrize("num_players", [2, 5])
def test_showing_more_seats_is_what_padded_tables_observe(num_players, stacks):
    narrow = asked(middle_of_deals(num_players, stacks=stacks))
    wide = asked(middle_of_deals(num_players, seats_shown=8, stacks=stacks))
    assert wide.seats_shown == 8
    np.testing.assert_array_equal(narrow.showing(8).packed, wide.packed)
    np.testing.assert_array_equal(wide.showing(num_players).packed, narrow.packed)
    assert narrow.showing(num_players) is narrow
    with pytest.raises(ValueError, match="cannot show 1 seats of a table of"):
        narrow.showing(1)


def test_rows_that_do_not_fit_are_refused():
    decision = asked(middle_of_deals(4))
    with pytest.raises(ValueError, match=r"legal_packed has shape"):
        Decision.from_packed(decision.packed, decision.legal_packed[1:], decision.seat, decision.rules, decision.key)
    with pytest.raises(ValueError, match=r"legal_action_mask has shape .*\(\d+, 85\) fits"):
        Decision(decision.observation, decision.legal_action_mask[:, 1:], decision.seat, decision.rules, decision.key)


# --- answers ---


def test_7_1_an_illegal_answer_is_named_with_policy_row_seat_and_words():
    table = OneTable(["AC KC QC JC TC", "2S 3S 4S 5S AS"], dealer=1)
    decision = asked(table.tables)
    with pytest.raises(PolicyFailedError, match=r"policy 'odd' chose action 3 \(5\*\) in row 0, seat 0") as error:
        check_actions(np.array([3]), decision, "odd")
    assert "legal were pass, stay and throw away up to 5 of" in str(error.value)
    with pytest.raises(PolicyFailedError, match="no action at all: ids are 0 to 84"):
        check_actions([-1], decision, "odd")
    with pytest.raises(PolicyFailedError, match="no action at all: ids are 0 to 84"):
        check_actions([1000], decision, "odd")


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (None, "returned None"),
        ([84, 84], r"returned shape \(2,\); \(1,\) was asked for"),
        (84, r"returned shape \(\)"),
        ([84.0], "returned float64 values"),
        ([True], "returned bool values"),
        (["pass"], "actions are integers"),
    ],
)
def test_an_answer_of_another_kind_is_refused(answer, complaint):
    decision = asked(OneTable(["AC KC QC JC TC", "2S 3S 4S 5S AS"], dealer=1).tables)
    with pytest.raises(PolicyFailedError, match=f"policy 'odd' {complaint}|{complaint}"):
        check_actions(answer, decision, "odd")


def test_a_legal_answer_of_any_integer_type_is_taken():
    decision = asked(OneTable(["AC KC QC JC TC", "2S 3S 4S 5S AS"], dealer=1).tables)
    assert check_actions(np.array([84], np.uint8), decision, "fine").tolist() == [84]


# --- loading ---


@pytest.mark.parametrize("spec", ["random", "heuristic", "always_stay", "always_pass", "human"])
def test_policies_of_the_package_load_by_name(spec):
    assert load_policy(spec).name == spec


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("heuristik", r"no policy is called 'heuristik' \(did you mean 'heuristic'\?\); choose random, "),
        ("", "no policy is called ''"),
        ("serch", r"no policy is called 'serch' \(did you mean 'search'\?\)"),
        ("search:", "'' is no option; write NAME=VALUE"),
        ("search:worlds", "worlds has no value; write worlds=VALUE"),
        ("search:others=", "others has no value; write others=VALUE"),
        ("search:word", "'word' is no option; write NAME=VALUE"),
        (
            "search:world=32",
            r"no option is called 'world' \(did you mean 'worlds'\?\); there are policy, others, worlds, ",
        ),
        ("search:worlds=2", "worlds=2 will not do; an integer from 4 to 1000000 is needed"),
        ("search:worlds=32,worlds=64", "worlds is given twice"),
        ("search:caution=much", "caution=much will not do; a number from 0 on is needed"),
        ("search:time=-1", "time=-1 will not do; a number from 0 on is needed"),
        ("search:kinds=lead+fold", r"kinds=lead\+fold will not do; join some of declare, draw, lead, follow by \+"),
        ("search:policy=heuristik", r"no policy is called 'heuristik' \(did you mean"),
        ("search:policy=human", "cannot tell a search how others play"),
        ("search:policy=search", "cannot tell a search how others play"),
        ("search:policy=missing.safetensors", "no file missing.safetensors"),
        ("missing.safetensors", "no file missing.safetensors"),
        ("missing.safetensors:greedy", "no file missing.safetensors"),
        ("no_such_module:thing", "ModuleNotFoundError"),
        ("agents.baselines:HEURISTICS", r"no attribute 'HEURISTICS' \(did you mean 'HEURISTIC'\?\)"),
        ("agents.baselines:", "write module:attribute"),
        ("agents.thresholds:THRESHOLDS", "cannot be loaded: TypeError"),
        ("agents.thresholds:thresholds", "which is no policy: it needs `name` and `act`"),
        ("agents.baselines:RuleBot", "cannot be loaded: TypeError: .*missing"),
    ],
)
def test_a_spec_that_names_no_policy_says_what_to_do(spec, message):
    with pytest.raises(PolicyError, match=message):
        load_policy(spec)


def test_module_attribute_is_a_policy_a_class_or_a_function(tmp_path, monkeypatch):
    (tmp_path / "house_bots.py").write_text(
        "from agents.baselines import Random\n"
        "class Bot(Random):\n    name = 'bot'\n"
        "def make():\n    return Bot()\n"
        "ready = Bot()\n"
    )
    monkeypatch.chdir(tmp_path)
    for attribute in ("Bot", "make", "ready"):
        assert load_policy(f"house_bots:{attribute}").name == "bot"


def test_a_run_folder_means_its_best_checkpoint_else_its_last(tmp_path, monkeypatch):
    neural = types.ModuleType("agents.neural")
    opened: list[str] = []

    def load_network_policy(path):
        opened.append(Path(path).name)
        return HEURISTIC

    neural.load_network_policy = load_network_policy
    monkeypatch.setitem(sys.modules, "agents.neural", neural)
    with pytest.raises(PolicyError, match="holds neither"):
        load_policy(str(tmp_path))
    (tmp_path / "last.safetensors").touch()
    load_policy(str(tmp_path))
    (tmp_path / "best.safetensors").touch()
    load_policy(str(tmp_path))
    load_policy(f"{tmp_path}:greedy")
    load_policy(f"{tmp_path / 'last.safetensors'}:greedy")
    assert opened == ["last.safetensors", "best.safetensors", "best.safetensors:greedy", "last.safetensors:greedy"]


def test_measuring_scripted_policies_never_imports_torch():
    code = (
        "import sys, agents.evaluation_cli\nfrom agents.policy import load_policy\nload_policy('heuristic')\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# --- a person ---


def test_a_person_is_asked_until_the_answer_is_legal():
    table = OneTable(["AC KC QC JC TC", "2S 3S 4S 5S AS"], dealer=1)
    answers, shown = iter(["fold", "Ac", "STAY tA KA"]), []
    person = Human(ask=lambda prompt: next(answers), show=shown.append)
    action = check_actions(person.act(asked(table.tables), RNG), asked(table.tables), "human")[0]
    assert action_text(table.rules, int(asked(table.tables).packed[0, 0]), action) == "stay Ta Ka"
    assert "turned up: A*; dealer: 1 to your left" in shown[0]
    assert "Your hand: Aa Ka Qa Ja Ta" in shown[0]
    assert sum("is not among these" in text for text in shown) == 2


def test_a_person_sees_what_the_others_did():
    table = OneTable(["AC KC QC JC TC", "2S 3S 4S 5S AS"], dealer=1).act("stay TC", "stay", "AC")
    shown = []
    Human(ask=lambda prompt: "as" if "x" in prompt else "2*", show=shown.append).act(asked(table.tables), RNG)
    assert "1 to your left: stayed, drew 1, won 0, played Aa" in shown[0]
    assert "On the table: Aa" in shown[0]
    assert "dealer: you" in shown[0]


def test_a_person_who_leaves_ends_the_game_with_a_reason():
    def leave(prompt):
        raise EOFError

    table = OneTable(["AC KC QC JC TC", "2S 3S 4S 5S AS"], dealer=1)
    with pytest.raises(PolicyFailedError, match="has left"):
        Human(ask=leave, show=lambda text: None).act(asked(table.tables), RNG)


# --- words ---


def test_words_for_relative_cards_and_actions():
    rules = Rules.preset("pagat")
    hand = 1 << 11 | 1 << 12 | 1 << 13 | 1 << 30 | 1 << 51
    assert cards_text(hand) == "A* K* 2a 6b Ac"
    assert action_text(rules, hand, 11) == "K*"
    assert action_text(rules, hand, 52) == "stay"
    assert action_text(rules, hand, 52 + 0b01100) == "stay 2a 6b"
    assert action_text(rules, hand, 84) == "pass"
    assert legal_texts(rules, hand, 1 << 84 | 1 << 52) == "stay, pass"
