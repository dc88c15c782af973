"""Tournaments as values: line-ups, stopping, forfeits, and results that can be interrupted, extended and merged."""

import itertools
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from agents import referee, stopping
from agents.arena import play_blocks, play_line_up, play_line_ups
from agents.baselines import ALWAYS_PASS, ALWAYS_STAY, HEURISTIC, Random
from agents.blocks import columns_of, concatenated
from agents.cells import cells_of, seatings_of
from agents.commands import tournament as tournament_command
from agents.entrants import Entrant, parse_entrants
from agents.evaluation_cli import main
from agents.policy import PolicyError
from agents.referee import Referee
from agents.results import Results, ResultsError, Terms
from agents.stopping import FixedBlocks, Precision
from agents.summary import summarise
from agents.tournament import Plan, missing_spans, mixed, pairs, play_tournament
from bourre_env import Rules

PAGAT = Rules.preset("pagat", num_players=4)
LIMIT = Rules.preset("pagat_limit", num_players=4)


def plan_of(*specs: str, blocks: int = 30, seed: int = 3, rules: Rules = PAGAT, **changes) -> Plan:
    """A cross table of a few blocks."""
    entrants = parse_entrants(specs)
    line_ups = tuple(pairs([entrant.name for entrant in entrants], rules.num_players))
    settings = {"line_ups": line_ups, "seed": seed, "stop": FixedBlocks(blocks)} | changes
    return Plan(entrants, Terms(rules), **settings)


def tournament(*words: str) -> int:
    """Exit code of a small tournament in this process."""
    return main(["tournament", *words, "--workers", "1", "--no-report"])


def files_of(folder: Path) -> dict[str, bytes]:
    """Contents of the files of a results folder; the summary without the command."""
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    summary = json.loads(files["summary.json"])
    del summary["command"]
    return files | {"summary.json": json.dumps(summary).encode()}


# --- line-ups ---


def test_line_ups_of_a_cross_table_and_of_mixed_tables():
    assert pairs("ab", 3) == [("a", "b", "b"), ("b", "a", "a")]
    assert mixed("abcd", 3) == [("a", "b", "c"), ("a", "b", "d"), ("a", "c", "d"), ("b", "c", "d")]
    assert mixed("ab", 3) == [("a", "b", "a")]


def test_any_line_up_is_a_block_of_rotations():
    policies = [HEURISTIC, Random(), ALWAYS_STAY, ALWAYS_PASS]
    blocks = play_line_up(PAGAT, policies, [0, 1, 2, 3], seed=4, deal_ids=np.arange(25))
    for rotation in range(4):
        seats = [(seat - rotation) % 4 for seat in range(4)]
        alone = play_line_ups(PAGAT, policies, [seats] * 25, seed=4, deal_ids=np.arange(25))
        by_place = np.take_along_axis(alone.returns, np.tile(np.argsort(seats), (25, 1)), axis=1)
        assert by_place.tolist() == blocks.returns[:, rotation].tolist()
        assert alone.carry.tolist() == blocks.carry[:, rotation].tolist()
    assert blocks.place_totals.sum() == 0


def test_a_line_up_of_one_policy_is_even_in_every_place():
    blocks = play_line_up(PAGAT, [HEURISTIC], [0, 0, 0, 0], seed=4, deal_ids=np.arange(40))
    assert (blocks.place_means == 0).all()


def test_positions_are_counted_from_the_eldest():
    """Everybody stays whatever the others do, so the dealer's turn-up shows: it is worth the most."""
    blocks = play_blocks(PAGAT, HEURISTIC, HEURISTIC, seed=4, deal_ids=np.arange(1500))
    by_position = blocks.position_means.mean(axis=0)
    assert by_position.argmax() == 3
    assert by_position[3] > 0.2
    assert by_position.sum() == pytest.approx(0)


def test_mixed_tables_and_free_line_ups_are_reported_by_place(tmp_path, capsys):
    words = ["a=random", "b=heuristic", "c=always_stay", "--blocks", "40", "--seats", "3", "--out", str(tmp_path)]
    assert tournament(*words, "--tables", "mixed", "--line-up", "b,b,a", "--line-up", "a,a,a") == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["cells"] == []
    tables = [[place["name"] for place in table["places"]] for table in summary["line_ups"]]
    assert tables == [["a", "b", "c"], ["b", "b", "a"], ["a", "a", "a"]]
    for table in summary["line_ups"]:
        assert sum(place["mean"] for place in table["places"]) == pytest.approx(0)
    assert all(place["mean"] == 0 for place in summary["line_ups"][2]["places"])
    assert "b, b, a" in capsys.readouterr().out


# --- sessions ---


def test_a_session_carries_its_pots_and_moves_the_dealer():
    """Played by hand: one deal after the other with what the last one left."""
    from agents.arena import decks_of
    from bourre_env import Tables

    deals = np.arange(20)
    session = play_line_ups(LIMIT, [HEURISTIC], np.zeros((20, 4), int), seed=8, deal_ids=deals, session=7)
    tables, total = Tables(LIMIT, 20), np.zeros((20, 4), np.int64)
    carry, exempt, passed = np.zeros(20, np.int64), np.zeros((20, 4), bool), np.zeros(20, np.int64)
    for number in range(7):
        tables.deal(decks_of(LIMIT, 8, deals, number, 7), (deals + number) % 4, carry, exempt)
        while not tables.settled.all():
            rows = np.flatnonzero(~tables.settled)
            packed, legal = tables.view_rows(rows)
            from agents.policy import Decision

            seats = tables.to_act[rows]
            decision = Decision.from_packed(packed, legal, seats, LIMIT, np.zeros(len(rows), np.uint64))
            tables.step(HEURISTIC.act(decision, np.random.default_rng(0)), rows=rows)
        total += tables.returns
        carry, exempt = tables.carry, tables.exempt
        passed += np.bitwise_count(tables.records["passed"])
    assert session.returns.tolist() == total.tolist()
    assert session.carry.tolist() == carry.tolist()
    assert session.counts["passed"].sum(axis=1).tolist() == passed.tolist()
    assert (session.returns.sum(axis=1) + session.carry == 0).all()
    assert session.carry.max() > 0
    assert np.abs(session.returns).max() > 7


def test_sessions_confirm_in_antes_a_deal(tmp_path, capsys):
    words = ["heuristic", "always_stay", "--rules", "pagat_limit", "--session-deals", "20", "--blocks", "30"]
    assert tournament(*words, "--out", str(tmp_path)) == 0
    cell = json.loads((tmp_path / "summary.json").read_text())["cells"][0]
    assert (cell["blocks"], cell["deals"]) == (30, 30 * 4 * 20)
    assert -3 < cell["low"] < cell["mean"] < cell["high"] < 3
    assert 0.2 < cell["pass_rate"] < 0.8
    assert "30 sessions of 20 deals" in capsys.readouterr().out


def test_identical_policies_are_even_in_sessions_too():
    blocks = play_blocks(LIMIT, Random(), Random(), seed=5, deal_ids=np.arange(10), session=9)
    assert (blocks.block_means == 0).all()


# --- policies that go wrong: rule 7.2, and the tournament goes on ---


@pytest.mark.parametrize(
    ("bot", "example", "illegal"),
    [
        ("Raises", "policy 'odd' raised RuntimeError: out of ideas", False),
        ("Silent", "policy 'odd' returned None", False),
        ("PassesInPlay", "policy 'odd' chose action 84 (pass) in row", True),
    ],
)
def test_7_2_a_policy_that_goes_wrong_forfeits_and_is_named(bot, example, illegal, tmp_path, capsys):
    words = ["random", "heuristic", f"odd=odd_bots:{bot}", "--blocks", "25", "--out", str(tmp_path)]
    assert tournament(*words) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    by_name = {entrant["name"]: entrant for entrant in summary["entrants"]}
    assert by_name["odd"]["forfeits"] > 0
    assert (by_name["odd"]["illegal_actions"] > 0) == illegal
    assert (by_name["odd"]["failed_answers"] > 0) != illegal
    assert example in by_name["odd"]["fault"]
    for name in ("random", "heuristic"):
        assert by_name[name]["forfeits"] == 0
        assert by_name[name]["fault"] is None
    cells = {(cell["focal"], cell["field"]): cell for cell in summary["cells"]}
    assert len(cells) == 6
    assert cells["odd", "heuristic"]["mean"] < -0.9
    assert cells["random", "odd"]["mean"] > 0.3
    printed = capsys.readouterr().out
    assert f"odd: {by_name['odd']['forfeits']:,} deals forfeited (rule 7.2)" in printed
    assert "heuristic: " not in printed


def test_7_2_forfeits_never_touch_what_others_play_among_themselves(tmp_path):
    for name, words in {"with": ["odd=odd_bots:Raises"], "without": []}.items():
        assert tournament("random", "heuristic", *words, "--blocks", "20", "--out", str(tmp_path / name)) == 0
    cells = [json.loads((tmp_path / name / "summary.json").read_text())["cells"] for name in ("with", "without")]
    assert [cell for cell in cells[0] if "odd" not in (cell["focal"], cell["field"])] == cells[1]


def test_7_2_decisions_that_fail_together_are_asked_alone():
    """A policy that raises at some decisions forfeits those deals alone, however many are asked together."""
    from odd_bots import RaisesAboutClubs

    parts = []
    for cuts in ([0, 40], [0, 1, 17, 40]):
        asked, pieces = Referee(), []
        for first, end in itertools.pairwise(cuts):
            deals = np.arange(first, end)
            pieces.append(play_blocks(PAGAT, RaisesAboutClubs(), HEURISTIC, seed=1, deal_ids=deals, referee=asked))
        parts.append(concatenated(pieces))
    for name in columns_of(PAGAT):
        assert getattr(parts[0], name).tolist() == getattr(parts[1], name).tolist()
    forfeited = parts[0].forfeited[:, :, 0]
    assert 0.3 < forfeited.mean() < 1
    assert parts[0].forfeited[:, :, 1:].sum() == 0


@pytest.mark.parametrize("bot", ["Sleeps", "Stubborn", "SleepsLater"])
def test_7_2_a_policy_that_hangs_forfeits_all_its_deals_and_the_tournament_goes_on(bot, tmp_path, monkeypatch):
    assert tournament("heuristic", "always_stay", "--blocks", "2") == 0  # what compiles has done so
    monkeypatch.setattr(referee, "GRACE", 1.0)
    words = ["heuristic", f"slow=odd_bots:{bot}", "always_stay", "--blocks", "20", "--time-limit", "0.001"]
    files = []
    for cut in (512, 7):
        monkeypatch.setattr(stopping, "BLOCKS_IN_A_TASK", cut)
        assert tournament(*words, "--out", str(tmp_path / str(cut))) == 0
        files.append(files_of(tmp_path / str(cut)))
    summary = json.loads(files[0]["summary.json"])
    slow = next(entrant for entrant in summary["entrants"] if entrant["name"] == "slow")
    assert slow["overtime"]
    assert slow["fault"] == "policy 'slow' took more than 1 s and 0.001 s a decision"
    results = Results.read(tmp_path / "512" / "blocks-4.parquet")
    focal = results.blocks[0, ("slow", "heuristic", "heuristic", "heuristic")].forfeited[:, :, 0]
    decided = results.blocks[0, ("slow", "heuristic", "heuristic", "heuristic")].passed[:, :, 0] == 0
    assert focal[decided].mean() > 0.5  # a seat that everybody left the pot to was never asked
    assert results.blocks[0, ("heuristic", *["always_stay"] * 3)].forfeited.sum() == 0
    assert files[0]["blocks-4.parquet"] == files[1]["blocks-4.parquet"]


def test_a_policy_that_ends_its_process_ends_the_tournament_by_one_line(tmp_path, capsys):
    words = ["tournament", "random", "odd=odd_bots:EndsTheProcess", "--blocks", "40", "--workers", "2"]
    assert main([*words, "--out", str(tmp_path)]) == 1
    printed = capsys.readouterr().err
    assert "worker processes died 4 times in the middle of the same task" in printed
    assert "Traceback" not in printed


def test_an_alarm_is_taken_back():
    with referee.alarm_after(60.0):
        pass
    with pytest.raises(referee.OvertimeError):
        _think_for_ever(0.05)


def _think_for_ever(limit: float) -> None:
    with referee.alarm_after(limit):
        while True:
            pass


# --- the same bytes, however it is played ---


def test_any_number_of_workers_and_any_cut_gives_the_same_bytes(tmp_path, monkeypatch):
    """Two workers start fresh interpreters and find the user's module like the first one did."""
    words = ["tournament", "odd_bots:Bot", "heuristic", "random", "--blocks", "30", "--no-report"]
    files = []
    for workers, cut in [(1, 512), (2, 512), (1, 7)]:
        monkeypatch.setattr(stopping, "BLOCKS_IN_A_TASK", cut)
        out = tmp_path / f"{workers}-{cut}"
        assert main([*words, "--workers", str(workers), "--out", str(out)]) == 0
        files.append(files_of(out))
    assert files[0] == files[1] == files[2]


def test_b147_results_are_extended_and_the_first_blocks_stay_as_they_were(tmp_path, monkeypatch):
    monkeypatch.setattr(stopping, "BLOCKS_IN_A_TASK", 16)
    for blocks, out in [("20", "grown"), ("45", "grown"), ("45", "at once")]:
        assert tournament("random", "heuristic", "--blocks", blocks, "--out", str(tmp_path / out)) == 0
    assert files_of(tmp_path / "grown") == files_of(tmp_path / "at once")


def test_entrants_can_be_added_later(tmp_path):
    words = ["--blocks", "20", "--out"]
    assert tournament("random", "heuristic", *words, str(tmp_path / "grown")) == 0
    for out in ("grown", "at once"):
        assert tournament("random", "heuristic", "always_stay", *words, str(tmp_path / out)) == 0
    assert files_of(tmp_path / "grown") == files_of(tmp_path / "at once")


def test_an_interrupted_tournament_is_saved_and_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(stopping, "BLOCKS_IN_A_TASK", 8)
    words = ["random", "heuristic", "always_stay", "--blocks", "40"]
    from agents import tournament as module

    play, played = module.play_task, []

    def interrupted(task):
        played.append(task)
        if len(played) == 9:
            raise KeyboardInterrupt
        return play(task)

    monkeypatch.setattr(module, "play_task", interrupted)
    assert tournament(*words, "--out", str(tmp_path / "cut")) == 130
    assert "blocks-4.parquet holds 64 blocks, the same command goes on" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "cut").iterdir()] == ["blocks-4.parquet"]
    for out in ("cut", "at once"):
        assert tournament(*words, "--out", str(tmp_path / out)) == 0
    assert len(played) == 9 + (6 * 5 - 8) + 6 * 5  # nothing was played twice
    assert files_of(tmp_path / "cut") == files_of(tmp_path / "at once")


def test_results_of_another_experiment_are_not_gone_on_with(tmp_path, capsys):
    words = ["random", "heuristic", "--blocks", "10", "--out", str(tmp_path)]
    assert tournament(*words) == 0
    before = files_of(tmp_path)
    for others in (["--seed", "2"], ["--rules", "pagat_nocinch"], ["--table-stakes", "5"]):
        assert tournament(*words, *others) == 2
        printed = capsys.readouterr().err
        assert printed.count("\n") == 1
        assert "choose another --out, or --fresh" in printed
    assert files_of(tmp_path) == before
    assert tournament(*words, "--seed", "2", "--fresh") == 0
    assert json.loads((tmp_path / "summary.json").read_text())["seeds"] == [2]


def test_another_policy_under_the_same_name_is_noticed(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    source = "from odd_bots import Bot\n"
    words = ["random", "mine=mine:Bot", "--blocks", "10", "--out", "out"]
    (tmp_path / "mine.py").write_text(source)
    assert tournament(*words) == 0
    (tmp_path / "mine.py").write_text(source + "# changed\n")
    assert tournament(*words) == 2
    assert "entrant 'mine' is not the one of the results that are there" in capsys.readouterr().err


def test_a_damaged_file_of_results_is_one_line(tmp_path, capsys):
    for content in (b"", b"no parquet at all"):
        (tmp_path / "blocks-4.parquet").write_bytes(content)
        assert tournament("random", "heuristic", "--blocks", "10", "--out", str(tmp_path)) == 2
        printed = capsys.readouterr().err
        assert "holds no results of a tournament" in printed
        assert printed.count("\n") == 1


# --- merging ---


def test_results_merge_in_any_order_and_refuse_what_does_not_belong_together(tmp_path):
    parts = [
        play_tournament(plan_of("random", "heuristic", seed=1)),
        play_tournament(plan_of("random", "always_stay", seed=1)),
        play_tournament(plan_of("random", "heuristic", seed=2)),
    ]
    merged = []
    for order in itertools.permutations(parts):
        results = Results(Terms(PAGAT))
        for part in order:
            results.merge(part)
        merged.append(results.to_bytes())
    assert set(merged) == {merged[0]}
    (tmp_path / "merged.parquet").write_bytes(merged[0])
    both = Results.read(tmp_path / "merged.parquet").of(("random", *["heuristic"] * 3))
    assert both is not None
    assert len(both) == 60

    with pytest.raises(ResultsError, match="different rules cannot be mixed: cinch"):
        parts[0].merge(play_tournament(plan_of("random", "heuristic", rules=Rules.preset("pagat_nocinch"))))
    with pytest.raises(ResultsError, match="entrant 'heuristic' is not the one"):
        parts[0].merge(play_tournament(plan_of("random", "heuristic=odd_bots:Bot")))


def test_b147_merging_results_is_a_command(tmp_path, capsys):
    for name, seed in {"one": "1", "two": "2"}.items():
        words = ["random", "heuristic", "--blocks", "20", "--seats", "3", "4", "--seed", seed]
        assert tournament(*words, "--out", str(tmp_path / name)) == 0
    folders = [str(tmp_path / "one"), str(tmp_path / "two")]
    for number, order in enumerate([folders, folders[::-1], [*folders, folders[0]]]):
        assert main(["merge", *order, "--no-report", "--out", str(tmp_path / str(number))]) == 0
    printed = capsys.readouterr().out
    assert "rules pagat, 3 seats, seeds 1, 2. Each line: 40 deals" in printed
    assert files_of(tmp_path / "0") == files_of(tmp_path / "1") == files_of(tmp_path / "2")
    summary = json.loads((tmp_path / "0" / "summary.json").read_text())
    assert summary["seeds"] == [1, 2]
    assert [cell["blocks"] for cell in summary["cells"]] == [40] * 4


def test_b147_results_of_other_rules_are_refused_by_one_line(tmp_path, capsys):
    for rules in ("pagat", "hoyle"):
        words = ["random", "heuristic", "--blocks", "4", "--rules", rules, "--out", str(tmp_path / rules)]
        assert tournament(*words) == 0
    capsys.readouterr()
    for folders, complaint in [
        (["pagat", "hoyle"], "results of different rules cannot be mixed"),
        (["pagat", "nowhere"], "nowhere holds no results"),
    ]:
        assert main(["merge", *(str(tmp_path / name) for name in folders), "--out", str(tmp_path / "out")]) == 2
        printed = capsys.readouterr()
        assert complaint in printed.err
        assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert not (tmp_path / "out").exists()


def test_a_deal_that_ended_in_two_ways_is_noticed():
    results = play_tournament(plan_of("random", "heuristic"))
    line_up = ("random", *["heuristic"] * 3)
    blocks = results.blocks[3, line_up]
    results.add(3, line_up, blocks.take(np.arange(10)))
    assert len(results.blocks[3, line_up]) == 30
    other = play_blocks(PAGAT, ALWAYS_PASS, HEURISTIC, seed=3, deal_ids=[5])
    with pytest.raises(ResultsError, match="deal 5 of random, heuristic, heuristic, heuristic has ended in two ways"):
        results.add(3, line_up, other)


def test_a_file_holds_exactly_what_was_played(tmp_path):
    results = play_tournament(plan_of("random", "heuristic", "odd=odd_bots:PassesInPlay"))
    (tmp_path / "blocks.parquet").write_bytes(results.to_bytes())
    read = Results.read(tmp_path / "blocks.parquet")
    assert read.terms == results.terms
    assert read.entrants == results.entrants
    assert read.faults == results.faults
    assert set(read.blocks) == set(results.blocks)
    for key, blocks in results.blocks.items():
        for name in columns_of(PAGAT):
            assert getattr(read.blocks[key], name).tolist() == getattr(blocks, name).tolist()
    assert read.to_bytes() == results.to_bytes()


def test_outcomes_name_the_same_deal_alike():
    results = play_tournament(plan_of("random", "heuristic", "always_stay"))
    outcomes = results.outcomes()
    assert len(outcomes) == 6
    for outcome in outcomes:
        assert outcome.units.tolist() == outcomes[0].units.tolist()
        assert outcome.earned.sum(axis=1) == pytest.approx(0)
    other = play_tournament(plan_of("random", "heuristic", seed=4)).outcomes()[0]
    assert not set(other.units.tolist()) & set(outcomes[0].units.tolist())


# --- stopping ---


def test_missing_spans_stay_within_tasks(monkeypatch):
    monkeypatch.setattr(stopping, "BLOCKS_IN_A_TASK", 10)
    assert missing_spans(np.empty(0, np.int64), 25) == [(0, 10), (10, 20), (20, 25)]
    assert missing_spans(np.array([0, 1, 2, 12, 13, 40]), 25) == [(3, 10), (10, 12), (14, 20), (20, 25)]
    assert missing_spans(np.arange(25), 25) == []


def test_precision_plays_each_line_up_until_its_interval_is_narrow(tmp_path, monkeypatch):
    monkeypatch.setattr(stopping, "BLOCKS_IN_A_TASK", 64)
    words = ["heuristic", "random", "always_stay", "--precision", "0.1"]
    assert tournament(*words, "--out", str(tmp_path / "a")) == 0
    cells = json.loads((tmp_path / "a" / "summary.json").read_text())["cells"]
    assert len({cell["blocks"] for cell in cells}) > 1
    for cell in cells:
        assert cell["t_high"] - cell["t_low"] <= 2 * 0.1
        assert cell["blocks"] % 64 == 0
    assert max(cell["t_high"] - cell["t_low"] for cell in cells) > 0.1  # none went on for long
    assert main(["tournament", *words, "--out", str(tmp_path / "b"), "--workers", "2", "--no-report"]) == 0
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")
    assert tournament(*words, "--out", str(tmp_path / "a")) == 0
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")


def test_precision_gives_up_at_the_most_blocks():
    rule = Precision(1e-6, 2000)
    rng = np.random.default_rng(0)
    wanted = [rule.first()]
    while (more := rule.next(rng.normal(size=(wanted[-1], 2)))) > wanted[-1]:
        wanted.append(more)
    assert wanted == [1024, 2000]
    assert rule.next(rng.normal(size=(2000, 2))) == 2000


def test_until_separated_plays_each_pair_until_a_sequential_test_has_decided(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(stopping, "BLOCKS_IN_A_TASK", 128)
    words = ["heuristic", "random", "same=heuristic", "--until-separated", "--effect", "0.1"]
    assert tournament(*words, "--out", str(tmp_path / "a")) == 0
    printed = capsys.readouterr().out
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    states = {(cell["focal"], cell["field"]): cell["sequential"]["state"] for cell in summary["cells"]}
    assert states == {
        ("heuristic", "random"): "above",
        ("heuristic", "same"): "not separated",
        ("random", "heuristic"): "below",
        ("random", "same"): "below",
        ("same", "heuristic"): "not separated",
        ("same", "random"): "above",
    }
    bounds = summary["sequential"][0]["bounds"]
    assert f"from {bounds[1]:.2f} on separated, from {bounds[0]:.2f} down alike" in printed
    for cell in summary["cells"]:
        decided = cell["sequential"]["above"], cell["sequential"]["below"]
        assert max(decided) >= bounds[1] or max(decided) <= bounds[0]
    assert len({cell["blocks"] for cell in summary["cells"]}) > 1
    assert main(["tournament", *words, "--out", str(tmp_path / "b"), "--workers", "2", "--no-report"]) == 0
    assert files_of(tmp_path / "a") == files_of(tmp_path / "b")
    assert tournament(*words, "--tables", "mixed") == 2
    assert "--until-separated: it compares pairs" in capsys.readouterr().err


def test_a_sequential_test_is_told_as_it_was_decided_however_many_blocks_are_there(tmp_path, monkeypatch):
    monkeypatch.setattr(stopping, "BLOCKS_IN_A_TASK", 128)
    words = ["heuristic", "random", "--no-report", "--effect", "0.1", "--until-separated", "--out"]
    looks = []
    for out, before in [("short", None), ("long", "2000")]:
        if before:
            more = ["heuristic", "random", "--no-report", "--blocks", before, "--out", str(tmp_path / out)]
            assert tournament(*more) == 0
        assert tournament(*words, str(tmp_path / out)) == 0
        cells = json.loads((tmp_path / out / "summary.json").read_text())["cells"]
        looks.append([cell["sequential"] for cell in cells])
        assert all(cell["p"] is None for cell in cells)
    assert looks[0] == looks[1]


def test_an_undecided_pair_ends_at_the_most_blocks(tmp_path):
    words = ["heuristic", "same=heuristic", "--until-separated", "--effect", "0.001", "--blocks", "600"]
    assert tournament(*words, "--out", str(tmp_path)) == 0
    cells = json.loads((tmp_path / "summary.json").read_text())["cells"]
    assert [(cell["blocks"], cell["sequential"]["state"]) for cell in cells] == [(600, "undecided")] * 2


# --- ratings of a tournament ---


def test_ratings_do_not_depend_on_the_order_of_anything(tmp_path):
    names = ["random", "heuristic", "always_stay", "always_pass"]
    ratings = []
    for number, order in enumerate([names, names[::-1]]):
        assert tournament(*order, "--blocks", "40", "--out", str(tmp_path / str(number))) == 0
        ratings.append(json.loads((tmp_path / str(number) / "summary.json").read_text())["ratings"])
    assert ratings[0] == ratings[1]
    strength = {entry["name"]: entry for entry in ratings[0][0]["strength"]}
    assert sum(entry["value"] for entry in strength.values()) == pytest.approx(0)
    assert strength["heuristic"]["low"] > strength["random"]["high"]
    assert sum(entry["value"] for entry in ratings[0][0]["maximal_lottery"]) == pytest.approx(1)


def test_two_groups_that_never_met_have_no_ratings(tmp_path, capsys):
    words = ["a=random", "b=heuristic", "c=random", "d=heuristic", "--blocks", "10", "--tables", "none"]
    assert tournament(*words, "--line-up", "a,b,a,b", "--line-up", "c,d,c,d", "--out", str(tmp_path)) == 0
    assert json.loads((tmp_path / "summary.json").read_text())["ratings"] == [{"seats": 4, "available": False}]
    assert "Plackett-Luce" not in capsys.readouterr().out


@pytest.mark.parametrize("seats", [2, 3])
def test_verdicts_of_a_pair_mirror_each_other_at_two_seats(seats, tmp_path):
    words = ["heuristic", "random", "--blocks", "80", "--seats", str(seats), "--out", str(tmp_path)]
    assert tournament(*words) == 0
    cells = json.loads((tmp_path / "summary.json").read_text())["cells"]
    assert [cell["verdict"] for cell in cells] == ["above", "below"]
    assert (cells[0]["p_holm"] == cells[1]["p_holm"]) == (seats == 2)


# --- what blocks say ---


def test_cells_are_what_the_arena_plays():
    results = play_tournament(plan_of("heuristic", "random", blocks=40))
    cell = cells_of(results, seed=3)[0]
    blocks = play_blocks(PAGAT, HEURISTIC, Random(), seed=3, deal_ids=np.arange(40))
    assert cell.earned.mean == blocks.block_means.mean()
    assert cell.forfeits == 0
    assert seatings_of(results, seed=3) == []


def test_the_luck_of_the_cards_can_be_taken_out(tmp_path, capsys):
    words = ["heuristic", "always_stay", "same=heuristic", "--blocks", "1000", "--out", str(tmp_path)]
    assert tournament(*words) == 0
    cells = json.loads((tmp_path / "summary.json").read_text())["cells"]
    assert sum(cell["adjusted"] is None for cell in cells) == 2  # nothing to adjust between a policy and itself
    for cell in cells:
        if cell["adjusted"] is not None:
            assert 0.5 < cell["adjusted"]["variance_ratio"] < 0.9
            assert cell["adjusted"]["low"] < cell["mean"] < cell["adjusted"]["high"]
            assert cell["adjusted"]["high"] - cell["adjusted"]["low"] < cell["t_high"] - cell["t_low"]
    assert re.search(r"they need [1-4]\d to [1-4]\d % fewer deals", capsys.readouterr().out)


# --- entrants ---


def test_a_folder_of_checkpoints_or_runs_stands_for_all_of_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("pool/b.safetensors", "pool/a.safetensors", "runs/x/best.safetensors", "runs/y/last.safetensors"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()
    Path("runs/notes").mkdir()
    entrants = parse_entrants(["pool", "old=runs:greedy", "runs/x"])
    assert [(entrant.name, entrant.spec) for entrant in entrants] == [
        ("pool/a", "pool/a.safetensors"),
        ("pool/b", "pool/b.safetensors"),
        ("old/x:greedy", "runs/x:greedy"),
        ("old/y:greedy", "runs/y:greedy"),
        ("runs/x", "runs/x"),
    ]
    with pytest.raises(PolicyError, match="at least two"):
        parse_entrants(["runs/x"])


# --- attacks that once succeeded ---


@pytest.mark.parametrize(
    ("first", "then"), [("random", "always_stay"), ("odd_bots:Bot", "odd_bots:Silent")], ids=["named", "module"]
)
def test_another_policy_of_the_same_file_is_another_entrant(first, then, tmp_path, capsys):
    words = ["random", "--blocks", "2", "--seats", "2", "--out", str(tmp_path)]
    assert tournament(f"a={first}", *words) == 0
    before = files_of(tmp_path)
    assert tournament(f"a={then}", *words) == 2
    assert "'a' is not the one of the results that are there" in capsys.readouterr().err
    assert files_of(tmp_path) == before


def test_drawing_and_greedy_play_of_one_checkpoint_are_different_entrants(tmp_path):
    file = tmp_path / "x.safetensors"
    file.write_bytes(b"weights")
    drawn, greedy = Entrant("x", str(file)), Entrant("x", f"{file}:greedy")
    assert drawn.identity() != greedy.identity()
    moved = tmp_path / "y.safetensors"
    moved.write_bytes(b"weights")
    assert Entrant("x", str(moved)).identity() == drawn.identity()


def test_run_folders_may_have_dots_in_their_names(tmp_path):
    for name in ("rate-0.1", "rate-0.2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "last.safetensors").write_bytes(b"")
    names = [entrant.name for entrant in parse_entrants([f"all={tmp_path}"])]
    assert names == ["all/rate-0.1", "all/rate-0.2"]


@pytest.mark.parametrize("bot", ["Unreadable", "Panics", "Unspeakable"])
def test_7_2_whatever_a_policy_does_it_forfeits_and_the_tournament_goes_on(bot, tmp_path):
    assert tournament("random", f"odd=odd_bots:{bot}", "--blocks", "2", "--seats", "2", "--out", str(tmp_path)) == 0
    entrants = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["entrants"]
    assert [entrant["name"] for entrant in entrants if entrant["forfeits"]] == ["odd"]
    assert not entrants[1]["overtime"]


def test_what_belongs_to_the_project_compiles_before_the_clock_runs(monkeypatch):
    """On a busy machine compiling the rule bot once outlasted the grace, and it forfeited every deal."""
    from agents import tournament as module

    asked = []
    monkeypatch.setattr(module, "play_line_up", lambda rules, policies, places, **rest: asked.append(rest["referee"]))
    module._compile.cache_clear()
    terms = Terms(Rules.preset("pagat", num_players=3))
    for name, spec, compiled in [("a", "heuristic", 2), ("b", "heuristic", 2), ("c", "odd_bots:Sleeps", 2)]:
        assert module._ready(Entrant(name, spec), terms).name == name
        assert len(asked) == compiled
    assert {limit.time_limit for limit in asked} == {module.WARM_UP_LIMIT}
    module._compile.cache_clear()


def test_names_that_are_no_unicode_reach_the_summary(tmp_path):
    tables = [summarise(play_tournament(plan_of("random", "always_stay", blocks=2)), seed=0)]
    tournament_command.write_summary(tmp_path, tables, preset="pagat", command="--out bad\udcff")
    assert json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))["command"] == "--out bad\udcff"


def test_names_with_brackets_and_colons_are_printed_as_they_are(capsys):
    from agents.commands.options import console

    console().print("[/b] :cat: [red]x[/red]")
    assert capsys.readouterr().out.strip() == "[/b] :cat: [red]x[/red]"


@pytest.mark.parametrize(
    "words", [["--until-separated", "--effect", "1e200"], ["--time-limit", "1e30"], ["--blocks", "1000000000000"]]
)
def test_numbers_that_overflow_are_refused(words, capsys):
    with pytest.raises(SystemExit) as left:
        tournament("random", "always_stay", *words)
    assert left.value.code == 2
    assert "is too large" in capsys.readouterr().err


def test_a_hair_of_precision_asks_for_no_more_than_twice_the_blocks():
    means = np.arange(4.0)[:, None]
    assert stopping.Precision(1e-200, 10_000).next(means) == stopping.BLOCKS_IN_A_TASK


def test_faults_are_saved_with_their_blocks_and_count_once_however_results_are_merged(tmp_path, monkeypatch):
    from agents import tournament as module

    monkeypatch.setattr(module, "SECONDS_BETWEEN_SAVES", 0.0)
    monkeypatch.setattr(stopping, "BLOCKS_IN_A_TASK", 4)
    words = ["--blocks", "8", "--seats", "2", "--out"]
    saved = []
    replace = tournament_command.replace_file

    def kept(path, content):
        replace(path, content)
        if path.suffix == ".parquet":
            saved.append(Results.read(path))

    monkeypatch.setattr(tournament_command, "replace_file", kept)
    for field in ("random", "always_stay"):
        assert tournament(field, "odd=odd_bots:PassesInPlay", *words, str(tmp_path / field)) == 0
    assert all(results.faults["odd"].illegal == results.forfeits("odd") for results in saved)
    files = []
    for order in (["random", "always_stay", "random"], ["always_stay", "random"]):
        out = tmp_path / "-".join(order)
        assert main(["merge", *(str(tmp_path / name) for name in order), "--out", str(out), "--no-report"]) == 0
        files.append((out / "blocks-2.parquet").read_bytes())
        results = Results.read(out / "blocks-2.parquet")
        assert results.faults["odd"].illegal == results.forfeits("odd") > 0
    assert files[0] == files[1]


def test_a_single_block_is_no_result_yet(tmp_path, capsys):
    assert tournament("random", "always_stay", "--blocks", "2", "--seats", "2", "--out", str(tmp_path)) == 0
    file = tmp_path / "blocks-2.parquet"
    results = Results.read(file)
    results.blocks = {key: blocks.take(np.array([0])) for key, blocks in results.blocks.items()}
    file.write_bytes(results.to_bytes())
    assert main(["merge", str(tmp_path), "--out", str(tmp_path / "merged")]) == 2
    assert "1 block has no interval" in capsys.readouterr().err


def test_a_summary_that_was_tampered_with_makes_no_report(tmp_path, capsys):
    assert tournament("random", "always_stay", "--blocks", "2", "--seats", "2", "--out", str(tmp_path)) == 0
    (tmp_path / "summary.json").write_text('{"rules": {"tables": [{"seats": 2}]}}', encoding="utf-8")
    assert main(["report", str(tmp_path)]) == 2
    assert "does not fit the blocks" in capsys.readouterr().err
