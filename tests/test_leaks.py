"""Leaks: a known weakness is found where it is, noise is not taken for one, and wrong words are told."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from conftest import dealt
from numpy.typing import NDArray

from agents.baselines import ALWAYS_PASS, ALWAYS_STAY, HEURISTIC, Random
from agents.bourre.decision_kinds import DISCARDED, EVERY, PASSED, STAYED, decided, kinds_of, kinds_of_changes
from agents.evaluation_cli import main
from agents.leaks import Plan, better_actions, find_leaks
from agents.policy import Decision, Policy
from agents.search import Effort
from bourre_env import Rules
from bourre_env.bourre.table import NO_SUIT
from bourre_env.deck import stream_keys

PAGAT = Rules.preset("pagat", num_players=4)


def plan(spec: str, others: str = "heuristic", *, deals: int = 20, preset: str = "pagat") -> Plan:
    """A small plan."""
    return Plan(spec, others, preset, 4, deals, worlds=64, seed=3)


@pytest.mark.parametrize(("spec", "kind"), [("always_stay", STAYED), ("always_pass", PASSED)])
def test_who_always_stays_should_pass_more_and_who_always_passes_should_stay(spec: str, kind: int) -> None:
    leaks = find_leaks(plan(spec))
    assert leaks.gains[:, kind].sum() > 0.5 * np.abs(leaks.gains[:, :EVERY]).sum()
    assert leaks.gains[:, kind].mean() > 0.2  # antes a deal, of four seats together
    assert not leaks.decisions[:, {STAYED: PASSED, PASSED: STAYED}[kind]].any()
    assert (leaks.judged <= leaks.decisions).all()
    assert (leaks.changed <= leaks.judged).all()


def test_decisions_of_two_kinds_count_once_in_all() -> None:
    leaks = find_leaks(plan("always_stay", deals=6))
    assert (leaks.decisions[:, STAYED] == leaks.decisions[:, DISCARDED]).all()
    once = leaks.decisions[:, :EVERY].sum(axis=1) - leaks.decisions[:, STAYED]
    assert (leaks.decisions[:, EVERY] == once).all()
    assert leaks.gains[:, EVERY] == pytest.approx(leaks.gains[:, :EVERY].sum(axis=1))
    assert (leaks.changed[:, EVERY] == leaks.changed[:, :EVERY].sum(axis=1)).all()


def test_the_others_are_those_that_are_named() -> None:
    """Nobody stays but the policy, whose passing then gives everything away."""
    among = {others: find_leaks(plan("always_pass", others, deals=6)) for others in ("heuristic", "always_pass")}
    gains = {others: leaks.gains[:, PASSED].mean() for others, leaks in among.items()}
    assert gains["always_pass"] > gains["heuristic"] + 1  # antes a deal, of four seats together
    assert among["heuristic"].earned.mean() < among["always_pass"].earned.mean()


def test_what_is_found_does_not_depend_on_the_workers() -> None:
    one, two = (find_leaks(plan("heuristic", deals=18), workers=workers) for workers in (1, 2))
    assert (one.gains == two.gains).all()
    assert (one.earned == two.earned).all()


def test_gains_are_those_of_worlds_that_did_not_choose() -> None:
    """Noise alone: in the worlds that choose, one action always looks good; the others know nothing of it."""
    rng = np.random.default_rng(4)
    values = rng.standard_normal((2000, 3, 64))
    candidates = np.tile([5, 6, 7], (2000, 1))
    better, gains = better_actions(candidates, values, Effort(caution=1.0))
    changed = better != 5
    assert changed.mean() > 0.2
    assert (gains[~changed] == 0).all()
    assert abs(gains[changed].mean()) < 4 * gains[changed].std() / np.sqrt(changed.sum())
    values[:, 2] += 2
    better, gains = better_actions(candidates, values, Effort(caution=1.0))
    assert (better == 7).all()
    assert abs(gains.mean() - 2) < 0.05


def decisions(rules: Rules, policy: Policy) -> list[tuple[Decision, *tuple[NDArray[np.int64], ...]]]:
    """All decisions of some deals that a policy plays: what it does, whether it leads, and the cards in its hand."""
    tables, rng, found = dealt(rules, 60, seed=5), np.random.default_rng(5), []
    tables.play_forced()
    while not tables.settled.all():
        rows = np.flatnonzero(~tables.settled)
        packed, legal = tables.view_rows(rows)
        asked = Decision.from_packed(packed, legal, tables.to_act[rows], rules, stream_keys(5, rows))
        actions = policy.act(asked, rng)
        is_lead = tables.records["led_suit"][rows] == NO_SUIT
        tricks = tables.records["tricks_done"][rows]
        found.append((asked, actions, is_lead.astype(np.int64), rules.hand_size - tricks.astype(np.int64)))
        tables.step(actions, rows=rows, play_forced=True)
    return found


@pytest.mark.parametrize("preset", ["pagat", "hoyle", "wiki", "french3"])
@pytest.mark.parametrize("policy", [Random(), HEURISTIC, ALWAYS_STAY, ALWAYS_PASS], ids=lambda policy: policy.name)
def test_every_decision_is_of_some_kind_and_changes_are_of_its_kinds(preset: str, policy: Policy) -> None:
    rules = Rules.preset(preset, num_players=4)
    for asked, actions, *_ in decisions(rules, policy):
        has_choice = np.bitwise_count(asked.legal_packed).sum(axis=1) > 1
        counted = decided(rules, asked, actions)
        assert (counted.any(axis=1) >= has_choice).all()
        for row in np.flatnonzero(has_choice):
            for other in np.flatnonzero(asked.legal_action_mask[row]):
                if other != actions[row]:
                    one = Decision.from_packed(
                        asked.packed[[row]], asked.legal_packed[[row]], asked.seat[[row]], rules, asked.key[[row]]
                    )
                    kind = kinds_of_changes(rules, one, actions[[row]], np.array([other]))
                    assert counted[row, kind[0]], (kinds_of(rules)[kind[0]], actions[row], other)


def test_a_lead_is_a_lead_and_who_follows_follows() -> None:
    seen = set()
    for asked, actions, is_lead, left in decisions(PAGAT, ALWAYS_STAY):
        counted = decided(PAGAT, asked, actions)
        for row in np.flatnonzero(actions < len(PAGAT.pack)):
            names = [name for name, is_one in zip(kinds_of(PAGAT), counted[row], strict=True) if is_one]
            assert names[0] == f"{'leads' if is_lead[row] else 'follows'}, {left[row]} cards in hand"
            seen.add(names[0])
    assert len(seen) == 8


def test_kinds_have_names_by_the_cards_in_the_hand() -> None:
    names = kinds_of(PAGAT)
    assert names[DISCARDED] == "discards"
    assert (names[3], names[6], names[7], names[-2]) == (
        *("leads, 5 cards in hand", "leads, 2 cards in hand"),
        *("follows, 5 cards in hand", "follows, 2 cards in hand"),
    )
    assert len(names) == len(set(names))


def test_the_command_prints_a_line_a_kind_and_writes_the_same_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "leaks.json"
    words = ["leaks", "always_stay", "--others", "heuristic", "--deals", "4", "--worlds", "32", "--workers", "1"]
    assert main([*words, "--json", str(file)]) == 0
    shown = capsys.readouterr().out
    content = json.loads(file.read_text())
    lines = {line["kind"]: line for line in content["lines"]}
    assert content["spec"] == "always_stay"
    assert content["others"] == "heuristic"
    assert lines["stayed, should it have passed?"]["decisions"] == 1
    total = sum(line["gain"] for name, line in lines.items() if name != "all")
    assert lines["all"]["gain"] == pytest.approx(total)
    assert f"{lines['all']['gain']:+.4f}" in shown
    assert lines["all"]["low"] is None
    assert "found too seldom" in shown
    assert (content["preset"], content["seats"], content["deals"], content["worlds"]) == ("pagat", 4, 4, 32)
    assert len(set(content["digests"].values())) == 2
    assert "One always_stay among 3 heuristic" in shown


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nobody"], "nobody"),
        (["search"], "'search' cannot be looked over for leaks"),
        (["heuristic", "--others", "human"], "'human' cannot be looked over for leaks"),
        (["heuristic", "--others", ""], "''"),
        (["heuristic", "--seats", "9"], "for 2 to 8 players, not 9"),
        (["heuristic", "--worlds", "100001"], "100000"),
        (["heuristic", "--json", ""], "give the name of a file"),
        (["heuristic", "--deals", "1"], "an interval needs at least 2"),
        (["heuristic", "--worlds", "8"], "half of them choose, half judge"),
        (["bourre:4", "--seats", "6"], "6 seats"),
    ],
)
def test_wrong_words_are_one_line(words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["leaks", *words])
    except SystemExit as end:
        code = int(end.code or 0)
    said = capsys.readouterr()
    assert code == 2
    assert complaint in said.err
    assert not said.out
    assert "Traceback" not in said.err


def test_what_is_no_file_is_refused_before_anything_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert main(["leaks", "heuristic", "--json", str(pipe)]) == 2
    assert "is a device or a pipe" in capsys.readouterr().err
    assert pipe.is_fifo()
