"""Blocks, streams, executors and intervals: what makes a comparison believable."""

import io
import itertools
import os
import time
from collections import Counter, deque
from pathlib import Path

import numpy as np
import pytest
from executor_tasks import die_always, die_once, refuse, sleep_unless_first, square
from hypothesis import given, settings
from hypothesis import strategies as st
from random_play import any_rules
from scipy import stats

from agents.arena import DEAL_STREAM, play_blocks, play_line_ups, stream_seed
from agents.baselines import ALWAYS_PASS, ALWAYS_STAY, HEURISTIC, Random
from agents.blocks import columns_of, concatenated, counts_of
from agents.bourre.counts import BourreBlocks
from agents.executors import Workers, WorkersLostError, map_unordered, usable_cores
from agents.files import replace_file
from agents.policy import Decision, PolicyError, PolicyFailedError
from agents.progress import Progress
from agents.statistics import estimate, resampled_means
from bourre_env import Rules, Tables, shuffled_decks
from bourre_env.bourre.observation import DEALER, OWN_DEALT, OWN_HAND, PHASE
from bourre_env.bourre.table import DECLARE

PAGAT = Rules.preset("pagat", num_players=4)


class Recorder:
    """Plays like another policy and remembers what it was asked."""

    def __init__(self, policy=HEURISTIC, name="recorder"):
        self.policy, self.name = policy, name
        self.decisions: list[Decision] = []
        self.actions: list[np.ndarray] = []

    def act(self, decision, rng):
        self.decisions.append(decision)
        self.actions.append(self.policy.act(decision, rng))
        return self.actions[-1]


class Misbehaving:
    """Answers with whatever it was given."""

    name = "misbehaving"

    def __init__(self, answer):
        self.answer = answer

    def act(self, decision, rng):
        return self.answer(decision)


def same(left: BourreBlocks, right: BourreBlocks) -> bool:
    """Whether two results are equal, to the byte."""
    columns = ((getattr(left, name), getattr(right, name)) for name in columns_of(PAGAT))
    return all(a.tobytes() == b.tobytes() and a.dtype == b.dtype and a.shape == b.shape for a, b in columns)


# --- blocks ---


@pytest.mark.parametrize("num_players", [2, 3, 4, 7])
@pytest.mark.parametrize("policy", [HEURISTIC, Random()], ids=["heuristic", "random"])
def test_identical_policies_are_worth_exactly_nothing_in_every_block(num_players, policy):
    """Every rotation is then the same deal, so a block adds up all seats and the pot left over: chips are conserved."""
    rules = Rules.preset("pagat", num_players=num_players, ante=3)
    blocks = play_blocks(rules, policy, policy, seed=1, deal_ids=np.arange(60))
    assert (blocks.carry == blocks.carry[:, :1]).all()
    assert (blocks.returns.sum(axis=1) + blocks.carry[:, :1] == 0).all()
    assert (blocks.place_means == 0).all()
    assert np.abs(blocks.earned).max() > 0


def test_antes_of_a_block_by_hand():
    returns = np.array([[[5, -25], [-15, 15]]])  # the deal is dealt by seat 0: rotation 0 has the first place there
    blocks = BourreBlocks(
        rules=Rules.preset("pagat", num_players=2, ante=5),
        session=1,
        deal_ids=np.array([0]),
        returns=returns,
        carry=np.array([[20, 0]]),
        **{name: np.arange(4, dtype=np.int32).reshape(1, 2, 2) for name in counts_of(PAGAT)},
    )
    assert blocks.earned.tolist() == [[[3.0, -3.0], [-3.0, 3.0]]]  # (5 + 20 / 2) / 5, (-25 + 20 / 2) / 5, …
    assert blocks.block_means.tolist() == [0.0]
    assert blocks.position_means.tolist() == [[-3.0, 3.0]]  # eldest is seat 1, so rotation 1
    assert blocks.totals("drawn").tolist() == [0 + 2]


def test_what_the_focal_seat_wins_the_field_loses():
    line_ups = np.array([[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]] * 30)
    results = play_line_ups(PAGAT, [HEURISTIC, Random()], line_ups, seed=4, deal_ids=np.repeat(np.arange(30), 4))
    assert (results.returns.sum(axis=1) + results.carry == 0).all()
    blocks = play_blocks(PAGAT, HEURISTIC, Random(), seed=4, deal_ids=np.arange(30))
    focal = results.returns[line_ups == 0].reshape(30, 4)
    assert focal.tolist() == blocks.returns[:, :, 0].tolist()
    assert blocks.place_means.sum(axis=1) == pytest.approx(0)


def test_counters_explain_every_chip_of_a_deal():
    """With pagat rules a seat pays its ante, a bourré the pot of four antes, and the winner takes the pot."""
    line_ups = np.tile([0, 1, 2, 3], (400, 1))
    policies = [HEURISTIC, Random(), ALWAYS_STAY, ALWAYS_PASS]
    results = play_line_ups(PAGAT, policies, line_ups, seed=4, deal_ids=np.arange(400))
    took, bourre = results.counts["took_pot"].astype(int), results.counts["bourre"].astype(int)
    assert results.returns.tolist() == (-1 + 4 * took - 4 * bourre).tolist()
    assert results.carry.tolist() == (4 - 4 * took.sum(axis=1) + 4 * bourre.sum(axis=1)).tolist()
    assert not ((results.counts["passed"] > 0) & (results.counts["bourre"] + results.counts["took_pot"] > 0)).any()
    assert took.sum(axis=1).max() == 1
    assert results.counts["passed"][:, 3].mean() > 0.7
    assert not results.counts["passed"][:, 2].any()
    assert results.counts["bourre"].any()


@settings(max_examples=30, deadline=None)
@given(rules=any_rules(), buy_in=st.integers(1, 9))
def test_chips_are_conserved_and_payers_known_under_any_rules(rules, buy_in):
    line_ups = np.arange(12)[:, None] % 3 == np.arange(rules.num_players) % 3
    stakes = {"buy_in": buy_in} if rules.stacks == "table_stakes" else {}
    deals = np.arange(12)
    results = play_line_ups(rules, [Random(), HEURISTIC], line_ups.astype(int), seed=9, deal_ids=deals, **stakes)
    if stakes:
        assert (results.returns >= -buy_in * rules.ante).all()
    assert (results.returns.sum(axis=1) + results.carry == 0).all()
    assert (results.counts["took_pot"].sum(axis=1) <= (rules.num_players if rules.tie_rule == "divide" else 1)).all()
    assert not (results.returns[results.counts["took_pot"] == 0] > 0).any()


# --- table stakes ---

STAKES = Rules.preset("pagat", stacks="table_stakes")


def test_6_7_short_stacks_cost_a_bourre_no_more_than_it_has_and_deep_ones_play_like_credit():
    """At four seats and an empty pot a deal costs at most five antes."""
    deals = {"seed": 4, "deal_ids": np.arange(200)}
    deep = play_blocks(STAKES, ALWAYS_STAY, HEURISTIC, **deals)
    credit = play_blocks(PAGAT, ALWAYS_STAY, HEURISTIC, **deals)
    assert all(getattr(deep, name).tolist() == getattr(credit, name).tolist() for name in columns_of(PAGAT))
    assert play_blocks(STAKES, ALWAYS_STAY, HEURISTIC, buy_in=5, **deals).returns.tolist() == deep.returns.tolist()
    short = play_blocks(STAKES, ALWAYS_STAY, HEURISTIC, buy_in=2, **deals)
    assert short.bourre.tolist() == deep.bourre.tolist()
    assert short.took_pot.tolist() == deep.took_pot.tolist()
    assert short.returns.tolist() == np.maximum(deep.returns, -2).tolist()


def test_6_7_a_block_at_table_stakes_depends_on_its_deal_and_the_buy_in_alone():
    together = play_blocks(STAKES, Random(), HEURISTIC, seed=7, deal_ids=np.arange(50), buy_in=3)
    parts = [
        play_blocks(STAKES, Random(), HEURISTIC, seed=7, deal_ids=np.arange(*ends), buy_in=3)
        for ends in [(0, 1), (1, 50)]
    ]
    assert same(together, concatenated(parts))
    with pytest.raises(ValueError, match="buy_in is 0"):
        play_blocks(STAKES, Random(), HEURISTIC, seed=7, deal_ids=[0], buy_in=0)
    with pytest.raises(ValueError, match="no meaning"):
        play_blocks(PAGAT, Random(), HEURISTIC, seed=7, deal_ids=[0], buy_in=9)


# --- streams ---


def test_a_block_depends_on_its_deal_alone():
    together = play_blocks(PAGAT, Random(), HEURISTIC, seed=7, deal_ids=np.arange(50))
    parts = [play_blocks(PAGAT, Random(), HEURISTIC, seed=7, deal_ids=np.arange(*ends)) for ends in [(0, 1), (1, 50)]]
    assert same(together, concatenated(parts))
    backwards = play_blocks(PAGAT, Random(), HEURISTIC, seed=7, deal_ids=np.arange(50)[::-1])
    assert backwards.returns[::-1].tolist() == together.returns.tolist()


def test_another_seed_is_another_experiment():
    one, other = (play_blocks(PAGAT, HEURISTIC, Random(), seed=seed, deal_ids=np.arange(50)) for seed in (7, 8))
    assert one.returns.tolist() != other.returns.tolist()


def test_b147_results_can_be_extended():
    first = play_blocks(PAGAT, HEURISTIC, Random(), seed=3, deal_ids=np.arange(100))
    extended = play_blocks(PAGAT, HEURISTIC, Random(), seed=3, deal_ids=np.arange(200))
    for name in columns_of(PAGAT):
        assert getattr(extended, name)[:100].tobytes() == getattr(first, name).tobytes()


def test_b147_evaluation_shares_no_deal_with_training():
    from agents.rollout import DEAL_STREAM as TRAINING_STREAM

    recorder, deals = Recorder(), np.arange(300)
    play_line_ups(PAGAT, [recorder], np.zeros((300, 4), int), seed=3, deal_ids=deals)
    packs = {}
    for name, seed in [
        ("arena", stream_seed(3, DEAL_STREAM)),
        ("training", stream_seed(3, TRAINING_STREAM)),
        ("raw", 3),
    ]:
        packs[name] = shuffled_decks(seed, deals)
        tables = Tables(PAGAT, 300)
        tables.deal(packs[name], deals % 4)
        same_hands = (tables.observe_packed() == recorder.decisions[0].packed).all()
        assert same_hands == (name == "arena")
    for one, other in itertools.combinations(packs.values(), 2):
        assert not {deck.tobytes() for deck in one} & {deck.tobytes() for deck in other}


def test_b145_one_policy_under_four_names_gains_nothing():
    for focal, field in itertools.permutations(["a", "b", "c", "d"], 2):
        policies = Recorder(Random(), focal), Recorder(Random(), field)
        interval = estimate(play_blocks(PAGAT, *policies, seed=5, deal_ids=np.arange(40)).block_means, seed=0)
        assert interval.mean == interval.low == interval.high == 0


def test_b145_every_entrant_sits_in_each_seat_equally_often():
    focal, field = Recorder(ALWAYS_STAY), Recorder(ALWAYS_STAY)
    play_blocks(PAGAT, focal, field, seed=5, deal_ids=np.arange(40))
    for entrant, seats_a_deal in [(focal, 1), (field, 3)]:
        declares = np.concatenate(
            [asked.packed[:, OWN_HAND] >> np.uint64(PHASE + DECLARE) for asked in entrant.decisions]
        )
        seats = np.concatenate([asked.seat for asked in entrant.decisions])[declares & np.uint64(1) == 1]
        assert (
            np.bincount(seats).tolist() == [40 * seats_a_deal] * 4
        )  # everybody stays, so each seat declares once a deal


def test_the_dealer_goes_round_with_the_deals():
    for deal in range(5):
        recorder = Recorder()
        play_line_ups(PAGAT, [recorder], [[0] * 4], seed=1, deal_ids=[deal])
        for asked in recorder.decisions:
            distance = int(asked.packed[0, OWN_DEALT]) >> DEALER
            dealer = (asked.seat[0] + (distance & -distance & 0xFF).bit_length() - 1) % 4
            assert dealer == deal % 4


def test_every_decision_has_its_own_key_and_the_same_one_in_every_rotation():
    recorder = Recorder(Random())
    play_blocks(PAGAT, recorder, recorder, seed=1, deal_ids=np.arange(30))
    times = Counter(np.concatenate([asked.key for asked in recorder.decisions]).tolist())
    assert set(times.values()) == {4}  # one policy everywhere: four rotations are four times the same deal


def test_streams_of_different_names_differ():
    assert stream_seed(0, "one") != stream_seed(0, "two")
    assert stream_seed(0, "one") != stream_seed(1, "one")
    assert stream_seed(np.int64(5), "one") == stream_seed(5, "one")


# --- policies that go wrong ---


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (lambda decision: None, "returned None"),
        (lambda decision: np.full(len(decision), 0.5), "returned float64 values"),
        (lambda decision: np.full(len(decision), 85), "chose action 85"),
        (lambda decision: np.full(len(decision) + 1, 84), "was asked for"),
        (lambda decision: 1 / 0, "raised ZeroDivisionError: division by zero"),
    ],
)
def test_a_policy_that_goes_wrong_is_named(answer, complaint):
    with pytest.raises(PolicyFailedError, match=f"policy 'misbehaving' .*{complaint}"):
        play_blocks(PAGAT, HEURISTIC, Misbehaving(answer), seed=0, deal_ids=[0, 1])


def test_a_policy_for_other_rules_is_refused_before_anybody_is_asked():
    class Choosy(Recorder):
        def check_rules(self, rules):
            if rules.num_players != 2:
                raise PolicyError(f"made for 2 seats, not {rules.num_players}")

    choosy, other = Choosy(), Recorder()
    with pytest.raises(PolicyError, match="made for 2 seats, not 4"):
        play_blocks(PAGAT, other, choosy, seed=0, deal_ids=[0])
    assert other.decisions == []
    play_blocks(Rules.preset("pagat", num_players=2), other, choosy, seed=0, deal_ids=[0])


def test_policies_get_a_generator_of_their_own():
    class Gambler:
        name = "gambler"

        def act(self, decision, rng):
            return [int(rng.choice(np.flatnonzero(mask))) for mask in decision.legal_action_mask]

    once, again = (play_blocks(PAGAT, Gambler(), HEURISTIC, seed=0, deal_ids=[3, 4]) for _ in range(2))
    assert same(once, again)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"deal_ids": []}, "at least one integer"),
        ({"deal_ids": [0.5]}, "at least one integer"),
        ({"deal_ids": [-1]}, "they count from 0"),
        ({"line_ups": [[0, 0, 0]]}, r"one index a seat, \(1, 4\)"),
        ({"line_ups": [[0, 0, 0, 2]]}, "there are 1, from 0"),
        ({"seed": -1}, "seed -1 is not an integer from 0"),
    ],
)
def test_line_ups_that_make_no_sense_are_refused(arguments, complaint):
    given_arguments = {"line_ups": [[0, 0, 0, 0]], "seed": 0, "deal_ids": [0]} | arguments
    with pytest.raises(ValueError, match=complaint):
        play_line_ups(PAGAT, [HEURISTIC], **given_arguments)


def test_results_of_different_rules_are_not_mixed():
    parts = [
        play_blocks(Rules.preset(preset), HEURISTIC, Random(), seed=0, deal_ids=[0])
        for preset in ("pagat", "pagat_nocinch")
    ]
    with pytest.raises(ValueError, match="cannot be mixed"):
        concatenated(parts)
    with pytest.raises(ValueError, match="no results"):
        concatenated([])


# --- executors ---


def test_tasks_give_the_same_results_in_one_process_and_in_two():
    alone = dict(map_unordered(square, range(6), workers=1))
    shared = dict(map_unordered(square, range(6), workers=2))
    assert {number: result for number, (result, _) in alone.items()} == {n: n * n for n in range(6)}
    assert {number: result for number, (result, _) in shared.items()} == {n: n * n for n in range(6)}
    assert {process for _, process in alone.values()} == {os.getpid()}
    assert os.getpid() not in {process for _, process in shared.values()}


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_a_task_arrives(workers):
    with pytest.raises(ArithmeticError, match=r"task [01] went wrong"):
        list(map_unordered(refuse, range(2), workers=workers))


def test_a_task_that_fails_does_not_wait_for_the_others():
    begun = time.monotonic()
    with pytest.raises(ArithmeticError, match="task 0 went wrong"):
        list(map_unordered(sleep_unless_first, [0, 60], workers=2))
    assert time.monotonic() - begun < 30


def test_a_worker_that_is_killed_in_the_middle_changes_nothing(tmp_path):
    marks = ["", "", str(tmp_path / "a"), "", str(tmp_path / "b"), *[""] * 9]
    found = dict(map_unordered(die_once, marks, workers=2))
    assert found == {number: f"done {Path(mark).name}" for number, mark in enumerate(marks)}
    assert (tmp_path / "a").exists()
    assert (tmp_path / "b").exists()


def test_tasks_may_still_be_added_after_a_worker_was_lost(tmp_path):
    waiting = deque([str(tmp_path / "first")])
    found = {}
    for number, result in map_unordered(die_once, waiting, workers=2):
        found[number] = result
        if number < 3:
            waiting.append("")
    assert found == {0: "done first", 1: "done ", 2: "done ", 3: "done "}


def test_a_task_that_kills_every_worker_is_given_up():
    with pytest.raises(WorkersLostError, match="died 4 times in the middle of the same task"):
        list(map_unordered(die_always, range(3), workers=2))


def test_workers_count_cores_and_share_them_out(monkeypatch):
    monkeypatch.setattr("agents.executors.usable_cores", lambda: 8)
    assert Workers.of(3) == Workers(3)
    assert (Workers().here, Workers(2).here) == (8, 2)
    assert [Workers(8).threads(tasks) for tasks in (1, 3, 20)] == [8, 2, 1]
    assert Workers(8, "ray", "auto").threads(1) == 1


def test_no_workers_are_refused_and_no_tasks_are_fine():
    with pytest.raises(ValueError, match="at least 1"):
        list(map_unordered(square, range(2), workers=0))
    assert list(map_unordered(square, [], workers=4)) == []
    assert usable_cores() >= 1


# --- intervals ---


def test_intervals_agree_with_scipy():
    blocks = np.random.default_rng(3).exponential(size=400)
    ours = estimate(blocks, seed=1)
    theirs = stats.bootstrap(
        (blocks,), np.mean, n_resamples=20_000, batch=1000, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    deviation = blocks.std() / 20
    assert abs(ours.low - theirs.low) < 0.1 * deviation
    assert abs(ours.high - theirs.high) < 0.1 * deviation
    expected = stats.ttest_1samp(blocks, 0).confidence_interval()
    np.testing.assert_allclose([ours.t_low, ours.t_high], [expected.low, expected.high])
    assert ours.mean == blocks.mean()
    assert ours.blocks == 400


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(8)
    intervals = [estimate(rng.normal(0.1, 1, 60), seed=run, resamples=1000) for run in range(400)]
    covered = np.mean([interval.low <= 0.1 <= interval.high for interval in intervals])
    assert 0.90 < covered < 0.98


def test_resampling_is_a_function_of_seed_and_blocks():
    blocks = np.arange(50.0)
    assert resampled_means(blocks, seed=1).tobytes() == resampled_means(blocks, seed=1).tobytes()
    assert resampled_means(blocks, seed=1).tobytes() != resampled_means(blocks, seed=2).tobytes()
    np.testing.assert_allclose(resampled_means(2 * blocks + 1, seed=1), 2 * resampled_means(blocks, seed=1) + 1)
    assert abs(resampled_means(blocks, seed=1).std() - blocks.std() / np.sqrt(50)) < 0.1


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-100, 100), min_size=2, max_size=30))
def test_an_interval_holds_its_mean_and_stays_within_the_blocks(blocks):
    interval = estimate(blocks, seed=0, resamples=200)
    slack = 1e-9
    assert min(blocks) - slack <= interval.low <= interval.high <= max(blocks) + slack
    assert interval.t_low <= interval.mean <= interval.t_high


@pytest.mark.parametrize(
    ("blocks", "complaint"),
    [([], "0 block has no interval"), ([1.0], "play at least 2"), ([1, np.nan], "not a finite"), ([[1, 2]], "shape")],
)
def test_no_interval_is_made_up(blocks, complaint):
    with pytest.raises(ValueError, match=complaint):
        estimate(blocks, seed=0)


# --- files and progress ---


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "summary.json"
    replace_file(target, b"old")

    def full_disk(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        replace_file(target, b"new")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_progress_is_a_bar_on_a_terminal_and_lines_elsewhere():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    plain, terminal = io.StringIO(), Terminal()
    for file in (plain, terminal):
        with Progress(100, "deals", file, seconds_between_lines=0) as progress:
            for number in (10, 30, 60):
                progress.add(number)
    lines = plain.getvalue().splitlines()
    assert [line.split(",")[0] for line in lines] == ["40 of 100 deals", "100 of 100 deals"]
    assert "a second" in lines[0]
    assert "s left" in lines[0]
    assert "\r" in terminal.getvalue()
    assert "deals/s" in terminal.getvalue()
