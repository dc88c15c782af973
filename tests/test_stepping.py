"""`Tables.step` with buffers and a queue: the same game as call by call. Shapes: B tables, N seats."""

import subprocess
import sys
import tracemalloc
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from conftest import EVERY_TABLE, dealt, random_actions, start_of

from bourre_env import DealQueue, DeckError, IllegalActionError, Rules, Tables, shuffled_decks
from bourre_env.bourre.dealing import relabelled
from bourre_env.bourre.stepping import NO_DEAL, Buffers
from bourre_env.cards import to_relative

FOUR = Rules.preset("pagat")
STAKES = Rules.preset("pagat", stacks="table_stakes")
GAMES = {**EVERY_TABLE, "stakes": STAKES}
B = 12
DEALS = 60


def queue_of(rules: Rules, number: int = DEALS, seed: int = 3) -> tuple[DealQueue, dict[str, Any]]:
    """A queue of random deals, and what it was filled with."""
    queue, deals = DealQueue(rules), start_of(rules, number, seed)
    queue.add(**deals)
    return queue, deals


@dataclass
class CallByCall:
    """The same driver in separate calls: step, note what has ended, deal again row by row."""

    tables: Tables
    deals: dict[str, Any]
    place: int = 0

    def step(self, actions: np.ndarray[Any, Any], play_forced: bool) -> dict[int, list[Any]]:
        """Results by row of the deals that have ended: returns, carry, exempt."""
        tables = self.tables
        was_on = ~tables.settled
        tables.step(actions, play_forced)
        ended = np.flatnonzero(was_on & tables.settled)
        results = {int(row): [*tables.returns[row], tables.carry[row], *tables.exempt[row]] for row in ended}
        rows = np.flatnonzero(tables.settled)[: len(self.deals["dealer"]) - self.place]
        if len(rows):
            taken = slice(self.place, self.place + len(rows))
            tables.deal(**{name: values[taken] for name, values in self.deals.items()}, rows=rows)
            self.place += len(rows)
            if play_forced:
                dealt_now = tables.take(rows)
                dealt_now.play_forced()
                tables.records[rows] = dealt_now.records
        return results


def assert_shows(out: Buffers, tables: Tables) -> None:
    """The buffers hold what the tables tell when they are asked."""
    np.testing.assert_array_equal(out.legal, tables.legal_packed())
    np.testing.assert_array_equal(out.observation, tables.observe_packed())
    np.testing.assert_array_equal(out.mask, tables.legal_action_mask())
    np.testing.assert_array_equal(out.features, tables.observe())
    np.testing.assert_array_equal(out.settled, tables.settled)


@pytest.mark.parametrize("play_forced", [False, True])
@pytest.mark.parametrize("name", GAMES)
def test_a_step_with_buffers_and_queue_equals_separate_calls(name: str, play_forced: bool) -> None:
    rules = GAMES[name]
    tables, queue = Tables(rules, B), queue_of(rules)[0]
    by_call = CallByCall(Tables(rules, B), queue_of(rules)[1])
    out, rng = tables.buffers(mask=True, features=True), np.random.default_rng(5)
    actions, finished = np.zeros(B, np.int64), 0
    for _ in range(400):
        tables.step(actions, play_forced, out=out, queue=queue)
        results = by_call.step(actions, play_forced)
        assert tables.records.tobytes() == by_call.tables.records.tobytes()
        assert_shows(out, by_call.tables)
        assert set(np.flatnonzero(out.ended)) == set(results)
        for row in range(B):
            told = [*out.returns[row], out.carry[row], *out.exempt[row]]
            assert told == results.get(row, [0] * len(told))
        finished += len(results)
        assert queue.num_taken == by_call.place
        if tables.settled.all():
            break
        actions = random_actions(out.mask, rng)
    assert (len(queue), finished) == (0, DEALS)
    assert (out.deal == NO_DEAL).all()


@pytest.mark.parametrize("name", ["pagat-2", "pagat-7", "stakes", "pagat-8"])
def test_several_threads_change_no_result(name: str) -> None:
    rules, many = GAMES[name], 300
    games = []
    for _ in range(2):
        queue = DealQueue(rules)
        queue.add(**start_of(rules, 3000, 2))
        tables = Tables(rules, many)
        games.append((tables, tables.buffers(mask=True, features=True), queue))
    actions, rng = np.zeros(many, np.int64), np.random.default_rng(4)
    for step in range(60):
        for parallel, (tables, out, queue) in enumerate(games):
            tables.step(actions, step % 3 == 0, out=out, queue=queue, parallel=bool(parallel))
        (serial, its_out, its_queue), (threaded, out, queue) = games
        assert serial.records.tobytes() == threaded.records.tobytes()
        assert [array.tobytes() for array in its_out] == [array.tobytes() for array in out]
        assert its_queue.num_taken == queue.num_taken
        actions = random_actions(out.mask, rng)


@pytest.mark.parametrize("parallel", [False, True])
def test_an_illegal_action_changes_no_byte_of_tables_buffers_and_queue(parallel: bool) -> None:
    tables, (queue, _) = dealt(FOUR, B, seed=1), queue_of(FOUR)
    out = tables.buffers(mask=True, features=True)
    actions = random_actions(out.mask, np.random.default_rng(1))
    actions[7] = 3
    before = tables.records.tobytes(), [array.tobytes() for array in out], queue.num_taken
    with pytest.raises(IllegalActionError, match="table 7, "):
        tables.step(actions, out=out, queue=queue, parallel=parallel)
    assert (tables.records.tobytes(), [array.tobytes() for array in out], queue.num_taken) == before


def test_a_deal_that_ends_without_any_choice_is_reported_at_the_next_step() -> None:
    rules = Rules.preset("pagat", num_players=2, stacks="table_stakes")
    queue, tables = DealQueue(rules), Tables(rules, 1)
    queue.add(shuffled_decks(1, [0, 1]), 1, stacks=[[0, 9], [9, 9]])  # the eldest has no chips and must pass (6.7)
    out = tables.buffers()
    tables.step([0], play_forced=True, out=out, queue=queue)
    assert out.settled.tolist() == [True]
    assert (out.ended.tolist(), out.deal.tolist()) == ([False], [0])
    tables.step([0], play_forced=True, out=out, queue=queue)
    assert (out.ended.tolist(), out.deal.tolist(), out.settled.tolist()) == ([True], [1], [False])


def test_buffers_tell_the_number_of_the_deal_at_each_table() -> None:
    tables, (queue, deals) = Tables(FOUR, B), queue_of(FOUR)
    out, rng = tables.buffers(), np.random.default_rng(1)
    actions = np.zeros(B, np.int64)
    for _ in range(50):
        tables.step(actions, out=out, queue=queue)
        live = np.flatnonzero(~out.settled)
        np.testing.assert_array_equal(tables.dealer[live], deals["dealer"][out.deal[live]])
        actions = random_actions(tables.legal_action_mask(), rng)
    assert (tables.settled == (out.deal == NO_DEAL)).all()


def test_a_step_with_buffers_allocates_no_row() -> None:
    many = 2000
    tables, queue = Tables(FOUR, many), DealQueue(FOUR)
    queue.add_shuffled(1, range(10 * many), 0)
    out, actions = tables.buffers(mask=True, features=True), np.zeros(many, np.int64)
    tables.step(actions, out=out, queue=queue)
    actions[:] = random_actions(out.mask, np.random.default_rng(1))
    tracemalloc.start()
    tables.step(actions, out=out, queue=queue)
    tables.legal_action_mask(out.mask)
    tables.observe(out.features)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < many  # bytes: not one for each table


def test_a_queue_of_shuffled_packs_equals_one_filled_by_hand() -> None:
    shuffled, by_hand = DealQueue(FOUR), DealQueue(FOUR)
    for first in (0, 5, 200):
        ids = np.arange(first, first + 70)
        shuffled.add_shuffled(9, ids, ids % 4, carry=ids)
        by_hand.add(shuffled_decks(9, ids), ids % 4, carry=ids)
        shuffled.take(40)
        by_hand.take(40)
    waiting = []
    for queue in (shuffled, by_hand):
        deals, start, end, number = queue.waiting()
        waiting.append([array[start:end].tobytes() for array in deals] + [number, len(queue)])
    assert waiting[0] == waiting[1]
    assert waiting[0][-2:] == [120, 90]


def test_a_wrong_deal_leaves_the_queue_as_it_was() -> None:
    queue, deals = queue_of(FOUR, 4)
    wrong = deals["decks"].copy()
    wrong[2, 0] = wrong[2, 1]
    with pytest.raises(DeckError, match="deck 2"):
        queue.add(wrong, 0)
    with pytest.raises(ValueError, match="dealer is 4"):
        queue.add_shuffled(1, range(3), 4)
    with pytest.raises(ValueError, match="seed"):
        queue.add_shuffled(-1, range(3), 0)
    assert len(queue) == 4


def test_step_says_what_is_missing_for_a_queue() -> None:
    tables, (queue, _) = dealt(FOUR, B, seed=1), queue_of(FOUR)
    out, actions = tables.buffers(), random_actions(tables.legal_action_mask(), np.random.default_rng(1))
    with pytest.raises(ValueError, match="need out="):
        tables.step(actions, queue=queue)
    with pytest.raises(ValueError, match="need out="):
        tables.step(actions, parallel=True)
    with pytest.raises(ValueError, match="other rules"):
        tables.step(actions, out=out, queue=DealQueue(Rules.preset("pagat_limit")))
    for wrong in ("queue", 3):
        with pytest.raises(ValueError, match="must be a DealQueue"):
            tables.step(actions, out=out, queue=wrong)  # type: ignore[arg-type]


def test_buffers_that_do_not_fit_are_refused_before_anything_is_written() -> None:
    """Compiled code would write beyond the end of an array that is too small."""
    eight = Rules.preset("pagat", num_players=8)
    tables = dealt(eight, B, seed=1)
    actions, fits = random_actions(tables.legal_action_mask(), np.random.default_rng(1)), tables.buffers(mask=True)
    wrong = [
        (Tables(FOUR, B, seats_shown=8).buffers(), "out.returns is int32"),
        (Tables(eight, B + 1).buffers(), "out.legal"),
        (tuple(fits), "is a tuple"),
        ({}, "is a dict"),
        (fits._replace(mask=fits.mask[:3]), "out.mask"),
        (fits._replace(features=np.zeros((1, 1), np.float32)), "out.features"),
        (fits._replace(carry=np.zeros(B)), "out.carry is float64"),
        (fits._replace(deal=np.zeros(2 * B, np.int64)[::2]), "out.deal"),
        (fits._replace(ended=None), "out.ended is NoneType"),
    ]
    frozen = tables.buffers()
    frozen.settled.setflags(write=False)
    for out, words in [*wrong, (frozen, "out.settled")]:
        before = tables.records.tobytes()
        with pytest.raises(ValueError, match=words):
            tables.step(actions, out=out)  # type: ignore[arg-type]
        assert tables.records.tobytes() == before
    tables.step(actions, out=fits)


def test_a_forked_process_may_ask_for_threads() -> None:
    script = (
        "import os, numpy as np, sys\n"
        "from bourre_env import Rules, Tables, shuffled_decks\n"
        "t = Tables(Rules.preset('pagat'), 300); t.deal(shuffled_decks(1, range(300)), 0); out = t.buffers()\n"
        "t.step(t.legal_action_mask().argmax(1), out=out, parallel=True)\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    t.step(t.legal_action_mask().argmax(1), out=out, parallel=True); os._exit(7)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert subprocess.run([sys.executable, "-c", script], timeout=300, check=False).returncode == 7


def test_cards_are_relabelled_as_to_relative_says() -> None:
    for trump_suit in range(4):
        lowest = np.int8(13 * trump_suit)
        assert [relabelled(np.int8(card), lowest) for card in range(52)] == [
            to_relative(card, trump_suit) for card in range(52)
        ]
