"""`Tables`: what it hands out, what it refuses, and that a refusal changes nothing. Shapes: B tables, N seats."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from conftest import TABLE_SIZES, dealt, random_actions, random_play, same_tables, start_of

from bourre_env import ChipsError, DeckError, IllegalActionError, Rules, Tables, shuffled_decks
from bourre_env.bits import unpack, unpack_actions
from bourre_env.bourre import batch
from bourre_env.bourre.actions import action_text
from bourre_env.bourre.table import TABLE
from bourre_env.table_loops import step_rows

MOST_CHIPS = 2**31 - 1
FOUR = Rules.preset("pagat")


def in_mid_deal(num_tables: int = 6, rules: Rules = FOUR, steps: int = 9) -> Tables:
    """Tables after some random decisions: most of them playing tricks."""
    tables, rng = dealt(rules, num_tables, seed=1), np.random.default_rng(1)
    for _ in range(steps):
        tables.step(random_actions(tables.legal_action_mask(), rng))
    assert not tables.settled.all()
    return tables


def assert_refused(tables: Tables, call: Callable[[], object], error: type[Exception], words: str) -> None:
    """The call raises this error with these words and changes no byte."""
    before = tables.records.tobytes()
    with pytest.raises(error, match=words):
        call()
    assert tables.records.tobytes() == before


# --- what is handed out

CONTRACT = {
    "to_act": (np.int8, (6,)),
    "settled": (np.bool_, (6,)),
    "returns": (np.int32, (6, 4)),
    "carry": (np.int64, (6,)),
    "exempt": (np.bool_, (6, 4)),
    "pot": (np.int64, (6,)),
    "dealer": (np.int8, (6,)),
}
METHODS = {
    "legal_action_mask": (np.bool_, (6, 85)),
    "legal_packed": (np.uint64, (6, 2)),
    "observe": (np.float32, (6, 64 * 13)),
    "observe_packed": (np.uint64, (6, 13)),
    "hidden_packed": (np.uint64, (6, 4)),
}


@pytest.mark.parametrize("name", CONTRACT)
def test_properties_have_the_promised_shape_and_type_and_are_fresh(name: str) -> None:
    tables = in_mid_deal()
    values = getattr(tables, name)
    assert (values.dtype, values.shape) == CONTRACT[name]
    before = tables.records.tobytes()
    values[...] = 1
    assert tables.records.tobytes() == before


@pytest.mark.parametrize("name", METHODS)
def test_arrays_have_the_promised_shape_and_type_and_fill_out(name: str) -> None:
    tables = in_mid_deal()
    dtype, shape = METHODS[name]
    values = getattr(tables, name)()
    assert (values.dtype, values.shape) == (dtype, shape)
    assert values.any()
    out = np.full(shape, 1, dtype)
    assert getattr(tables, name)(out=out) is out
    assert (out == values).all()
    before, kept = tables.records.tobytes(), values.copy()
    out[...] = 0
    assert tables.records.tobytes() == before
    assert (getattr(tables, name)() == kept).all()


@pytest.mark.parametrize("name", METHODS)
def test_unfit_output_array_is_refused(name: str) -> None:
    tables = in_mid_deal()
    dtype, shape = METHODS[name]
    other_type = np.int16 if dtype != np.int16 else np.int8
    for unfit in (np.zeros(shape, other_type), np.zeros((5, *shape[1:]), dtype), np.zeros((12, shape[1]), dtype)[::2]):
        with pytest.raises(ValueError, match=r"out is .*must be"):
            getattr(tables, name)(out=unfit)


def test_packed_and_plain_forms_say_the_same() -> None:
    tables = dealt(FOUR, 50, seed=2)
    for _ in random_play(tables, seed=2):
        assert (unpack(tables.observe_packed()) == tables.observe()).all()
        assert (unpack_actions(tables.legal_packed(), 85) == tables.legal_action_mask()).all()


def test_settled_rows_observe_zeros_and_have_no_legal_action() -> None:
    tables = in_mid_deal(40, steps=20)
    assert tables.settled.any()
    for values in (tables.observe(), tables.observe_packed(), tables.hidden_packed(), tables.legal_packed()):
        assert not values[tables.settled].any()
        assert values[~tables.settled].any(axis=1).all()


def test_tables_at_which_nothing_was_dealt_are_settled() -> None:
    tables = Tables(FOUR, 3)
    assert tables.settled.all()
    assert (tables.to_act == -1).all()
    assert not tables.legal_action_mask().any()
    assert not tables.observe().any()
    tables.step([5, -1, 84])
    assert tables.settled.all()


def test_observing_chosen_seats() -> None:
    tables = in_mid_deal()
    assert (tables.observe_packed(seats=tables.to_act) == tables.observe_packed()).all()
    assert not tables.observe_packed(seats=np.full(6, -1)).any()
    assert tables.observe(seats=2).any(axis=1).all()
    for unfit in (4, -2, [0] * 5, 1.0, [True] * 6):
        with pytest.raises(ValueError, match="seats"):
            tables.observe(seats=unfit)


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_hidden_hands_start_at_the_seat_to_act_and_go_clockwise(num_players: int) -> None:
    tables = dealt(Rules.preset("pagat", num_players=num_players), 30, seed=3, seats_shown=8)
    for _ in random_play(tables, seed=3):
        hidden = tables.hidden_packed()
        assert hidden.shape == (30, 8)
        for row in np.flatnonzero(~tables.settled):
            order = [(int(tables.to_act[row]) + step) % num_players for step in range(num_players)]
            assert hidden[row, :num_players].tolist() == tables.records["hands"][row, order].tolist()
            assert not hidden[row, num_players:].any()


def test_no_byte_of_a_table_is_left_undefined() -> None:
    """Gaps between fields would make copies of the same table differ, and put foreign memory into pickles."""
    assert TABLE.itemsize == sum(TABLE[name].itemsize for name in TABLE.names or ())


# --- copies


def test_take_copies_rows_in_any_order_and_number() -> None:
    tables = in_mid_deal()
    for rows in ([4, 0, 4], [-1], np.array([True, False, True, False, False, True]), np.arange(6)[::-1]):
        taken = tables.take(rows)
        assert same_tables(taken.records, tables.records[rows])
        assert (taken.observe() == tables.observe()[rows]).all()
        assert (taken.num_tables, taken.rules) == (len(tables.records[rows]), tables.rules)


def test_take_gives_a_copy_that_lives_its_own_life() -> None:
    tables = in_mid_deal()
    before = tables.records.tobytes()
    taken = tables.take([0, 1, 2, 3, 4, 5])
    for _ in random_play(taken, seed=4):
        pass
    assert tables.records.tobytes() == before
    assert taken.settled.all()


@pytest.mark.parametrize("rows", [[], np.zeros(6, np.bool_), np.zeros(0, np.int64)])
def test_take_of_no_table_is_refused_in_words(rows: Any) -> None:
    with pytest.raises(ValueError, match="at least one table"):
        in_mid_deal().take(rows)


@pytest.mark.parametrize("rows", [[6], [-7], [0, 99]])
def test_take_of_a_table_that_is_not_there_is_refused(rows: list[int]) -> None:
    with pytest.raises(IndexError):
        in_mid_deal().take(rows)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda tables: pickle.loads(pickle.dumps(tables))])
def test_b079_copies_in_mid_deal_play_on_alike(copied: Callable[[Tables], Tables]) -> None:
    tables = in_mid_deal(30, Rules.preset("pagat", num_players=8), steps=3)
    other = copied(tables)
    for actions in random_play(tables, seed=5):
        assert same_tables(other.records, tables.records)
        other.step(actions)
    assert same_tables(other.records, tables.records)
    other.deal(**start_of(other.rules, 30, seed=6))
    assert tables.settled.all()


compiled = pytest.mark.skipif(not hasattr(step_rows, "signatures"), reason="nothing is compiled in this run")


def signatures_of_step() -> list[Any]:
    """What the step of this game's tables has been compiled for."""
    records = numba.typeof(Tables(FOUR, 1).records.view(np.ndarray))
    return [signature for signature in step_rows.signatures if signature[0] == records]


@compiled
def test_copies_use_the_code_that_is_already_compiled() -> None:
    tables = in_mid_deal()
    before = signatures_of_step()
    for other in (copy.deepcopy(tables), pickle.loads(pickle.dumps(tables)), tables.take([3, 1])):
        other.step(random_actions(other.legal_action_mask(), np.random.default_rng(1)))
    assert signatures_of_step() == before


def frozen(values: Any) -> np.ndarray[Any, Any]:
    """The values as an array that may not be written to."""
    array = np.array(values)
    array.setflags(write=False)
    return array


@compiled
def test_every_form_of_an_argument_runs_the_same_compiled_deal() -> None:
    """A form that is compiled anew costs whoever passes it many seconds."""
    decks = shuffled_decks(7, range(6))
    forms: list[dict[str, Any]] = [
        {"dealer": np.zeros(6, np.int8), "carry": np.zeros(6, np.int64)},
        {"dealer": frozen([0] * 6), "carry": frozen([0] * 6)},
        {"decks": frozen(decks), "exempt": frozen(np.zeros((6, 4), np.bool_))},
        {"decks": np.repeat(decks, 2, axis=0)[::2], "rows": np.arange(12)[:6]},
        {"decks": np.asfortranarray(decks), "rows": frozen(range(6))},
    ]
    for changes in forms:
        Tables(FOUR, 6).deal(**({"decks": decks.tolist(), "dealer": 0} | changes))
    assert len(batch.deal_rows.signatures) == 1


@compiled
def test_every_form_of_actions_runs_the_same_compiled_step() -> None:
    for form in (frozen, lambda actions: np.repeat(actions, 2)[::2], list, lambda actions: actions.astype(np.int8)):
        tables = in_mid_deal()
        tables.step(form(random_actions(tables.legal_action_mask(), np.random.default_rng(1))), play_forced=True)
    assert len(signatures_of_step()) == 1


def test_view_rows_shows_the_tables_named() -> None:
    tables, rows = in_mid_deal(), [4, 0, 5]
    words, legal = tables.view_rows(rows)
    np.testing.assert_array_equal(words, tables.observe_packed()[rows])
    np.testing.assert_array_equal(legal, tables.legal_packed()[rows])
    with pytest.raises(ValueError, match="twice"):
        tables.view_rows([1, 1])


def test_a_step_of_some_tables_leaves_the_others_alone() -> None:
    tables, rows = in_mid_deal(), [4, 0, 5]
    actions, before = random_actions(tables.legal_action_mask(), np.random.default_rng(1)), tables.take(range(6))
    tables.step(actions[rows], rows=rows)
    whole = before.take(range(6))
    whole.step(actions)
    for row in range(6):
        expected = (whole if row in rows else before).records[row]
        assert tables.records[row].tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match="cannot be combined"):
        tables.step(actions[rows], rows=rows, out=tables.buffers())
    again = in_mid_deal()
    wrong = actions[rows]
    wrong[1] = -1
    assert_refused(again, lambda: again.step(wrong, rows=rows), IllegalActionError, "table 0, ")


# --- bad deals

DECKS = shuffled_decks(7, range(6))
DEALER = np.zeros(6, np.int64)


def decks_with(row: int, place: int, card: int) -> np.ndarray[Any, Any]:
    """Six good packs, but for one card."""
    decks = DECKS.astype(np.int64)
    decks[row, place] = card
    return decks


BAD_DECKS = {
    "doubled card": (decks_with(3, 10, int(DECKS[3, 11])), "deck 3 .*permutation"),
    "unknown card": (decks_with(2, 0, 52), "deck 2 .*permutation"),
    "negative card": (decks_with(5, 51, -1), "deck 5 .*permutation"),
    "card that would wrap around to a good one": (decks_with(0, 0, int(DECKS[0, 0]) + 256), "deck 0 .*permutation"),
    "huge card": (decks_with(1, 7, 2**40), "deck 1 .*permutation"),
    "short deck": (DECKS[:, :51], "shape"),
    "long deck": (np.concatenate([DECKS, DECKS[:, :1]], axis=1), "shape"),
    "too few decks": (DECKS[:5], "shape"),
    "one deck": (DECKS[0], "shape"),
    "floats": (DECKS.astype(np.float64), "integers"),
    "booleans": (DECKS.astype(np.bool_), "integers"),
    "texts": ([["2C"] * 52] * 6, "integers"),
}


@pytest.mark.parametrize("name", BAD_DECKS)
def test_1_2_broken_deck_is_refused_and_changes_nothing(name: str) -> None:
    decks, words = BAD_DECKS[name]
    tables = in_mid_deal()
    assert_refused(tables, lambda: tables.deal(decks, DEALER), DeckError, words)


BAD_DEALS: dict[str, tuple[dict[str, Any], str]] = {
    "dealer too high": ({"dealer": 4}, "dealer is 4; it must be from 0 to 3"),
    "one dealer too high": ({"dealer": [0, 1, 2, 3, 4, 0]}, "dealer is 4"),
    "negative dealer": ({"dealer": [0, 0, -1, 0, 0, 0]}, "dealer is -1"),
    "dealer that would wrap around": ({"dealer": 256}, "dealer is 256"),
    "dealers for other rows": ({"dealer": [0, 1]}, "dealer"),
    "fractional dealer": ({"dealer": 1.0}, "dealer"),
    "boolean dealer": ({"dealer": True}, "dealer"),
    "text dealer": ({"dealer": "1"}, "dealer"),
    "negative carry": ({"carry": [-1] * 6}, "carry is -1"),
    "fractional carry": ({"carry": 0.5}, "carry"),
    "carries for other rows": ({"carry": [1, 2, 3]}, "carry"),
    "boolean carry": ({"carry": True}, "carry"),
    "exempt as numbers": ({"exempt": np.zeros((6, 4), np.int8)}, "exempt .*bool"),
    "exempt of one table": ({"exempt": np.zeros(4, np.bool_)}, "exempt"),
    "exempt of other seats": ({"exempt": np.zeros((6, 5), np.bool_)}, "exempt"),
    "row too high": ({"rows": [0, 1, 2, 3, 4, 6]}, "rows reach from 0 to 6; tables are 0..5"),
    "negative row": ({"rows": [-1, 1, 2, 3, 4, 5]}, "rows reach from -1"),
    "row twice": ({"rows": [0, 1, 2, 3, 4, 4]}, "twice"),
    "rows as flags": ({"rows": np.ones(6, np.bool_)}, "rows"),
    "fractional rows": ({"rows": np.arange(6.0)}, "rows"),
    "one row": ({"rows": 3}, "rows"),
    "nested rows": ({"rows": np.arange(6).reshape(2, 3)}, "rows"),
    "fewer rows than decks": ({"rows": [0, 1]}, "shape"),
    "stacks without table stakes": ({"stacks": np.full((6, 4), 10)}, "stacks"),
}


@pytest.mark.parametrize("name", BAD_DEALS)
def test_bad_deal_is_refused_and_changes_nothing(name: str) -> None:
    changes, words = BAD_DEALS[name]
    tables = in_mid_deal()
    arguments = {"decks": DECKS, "dealer": DEALER} | changes
    assert_refused(tables, lambda: tables.deal(**arguments), ValueError, words)


def test_6_7_table_stakes_need_stacks() -> None:
    tables = Tables(Rules(stacks="table_stakes"), 6)
    for stacks in (None, np.full((6, 3), 1), np.full((6, 4), -1), np.full((6, 4), 2**31), np.ones((6, 4))):
        assert_refused(tables, lambda stacks=stacks: tables.deal(DECKS, 0, stacks=stacks), ValueError, "stacks")
    tables.deal(DECKS, 0, stacks=np.full((6, 4), 3))
    assert not tables.settled.any()


@pytest.mark.parametrize("num_tables", [0, -3])
def test_tables_without_a_table_are_refused(num_tables: int) -> None:
    with pytest.raises(ValueError, match="num_tables"):
        Tables(FOUR, num_tables)


@pytest.mark.parametrize("seats_shown", [3, 0, 9, -1])
def test_observation_of_too_few_or_too_many_seats_is_refused(seats_shown: int) -> None:
    with pytest.raises(ValueError, match=f"seats_shown is {seats_shown}; it must be from 4"):
        Tables(FOUR, 1, seats_shown)


def test_dealing_no_row_changes_nothing() -> None:
    tables = in_mid_deal()
    before = tables.records.tobytes()
    tables.deal(DECKS[:0], DEALER[:0], rows=[])
    assert tables.records.tobytes() == before


def test_deal_keeps_no_hold_on_its_arguments() -> None:
    decks, dealer, carry = DECKS.copy(), DEALER.astype(np.int8), np.zeros(6, np.int64)
    tables = Tables(FOUR, 6)
    tables.deal(decks, dealer, carry)
    before = tables.records.tobytes()
    decks[...], dealer[...], carry[...] = 0, 3, 9
    assert tables.records.tobytes() == before


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64, np.uint64])
def test_decks_of_any_integer_type_deal_the_same(dtype: type) -> None:
    tables, others = Tables(FOUR, 6), Tables(FOUR, 6)
    tables.deal(DECKS, 1)
    others.deal(DECKS.astype(dtype).tolist() if dtype is np.uint64 else DECKS.astype(dtype), 1)
    assert others.records.tobytes() == tables.records.tobytes()
    others.deal(np.asfortranarray(DECKS.astype(dtype)), 1)
    assert others.records.tobytes() == tables.records.tobytes()


# --- chips that cannot be counted (1.5)


def highest_carry(rules: Rules) -> int:
    """The largest carry that these rules take, found by trying."""
    low, high = 0, 2**62
    while low < high:
        middle = (low + high + 1) // 2
        try:
            Tables(rules, 1).deal(DECKS[:1], 0, carry=middle)
            low = middle
        except ChipsError:
            high = middle - 1
    return low


@pytest.mark.parametrize("carry", [2**31 - 1, 2**31, 2**40, 2**62, [0, 0, 0, 0, 0, 2**31]])
def test_1_5_pot_too_large_to_count_is_refused_and_changes_nothing(carry: int | list[int]) -> None:
    tables = in_mid_deal()
    assert_refused(tables, lambda: tables.deal(DECKS, DEALER, carry=carry), ChipsError, r"2147483647 \(rule 1.5\)")


@pytest.mark.parametrize("num_players", [2, 4, 8])
@pytest.mark.parametrize("changes", [{}, {"play_fee": 1000, "draw_fee": 7, "draw_fee_per": "card"}, {"ante": 10**6}])
def test_1_5_largest_pot_that_is_taken_is_counted_without_overflow(num_players: int, changes: dict[str, Any]) -> None:
    rules = Rules.preset("pagat", num_players=num_players, **changes)
    carry = highest_carry(rules)
    assert MOST_CHIPS - 20 * num_players * (rules.ante + rules.play_fee + 5 * rules.draw_fee) <= carry < MOST_CHIPS
    tables = Tables(rules, 300)
    tables.deal(shuffled_decks(8, range(300)), 0, carry=carry)
    for _ in random_play(tables, seed=8):
        assert (tables.pot[~tables.settled] <= MOST_CHIPS).all()
    exact = [sum(row) for row in tables.returns.tolist()]
    assert [won + left for won, left in zip(exact, tables.carry.tolist(), strict=True)] == [carry] * 300
    assert tables.returns.min() < -MOST_CHIPS // 2, "no bourré was tested"
    assert (tables.returns == tables.records["returns"][:, :num_players]).all()


@pytest.mark.parametrize("stack", [5, MOST_CHIPS])
def test_6_7_stacks_at_table_stakes_are_counted_exactly_or_refused(stack: int) -> None:
    rules = Rules(num_players=4, stacks="table_stakes", ante=2)
    tables = Tables(rules, 200)
    try:
        tables.deal(shuffled_decks(9, range(200)), 0, stacks=np.full((200, 4), stack))
    except ChipsError:
        assert stack > 10**9
        return
    for _ in random_play(tables, seed=9):
        pass
    assert tables.returns.max() > 2
    assert tables.records["stacks"][:, :4].tolist() == [[stack + won for won in row] for row in tables.returns.tolist()]


# --- stepping


@pytest.mark.parametrize(
    "actions",
    [
        52,
        [52] * 5,
        [[52]] * 6,
        [52.0] * 6,
        [True] * 6,
        ["52"] * 6,
        [None] * 6,
        np.full(6, np.nan),
        np.full((6, 1), 52),
    ],
)
def test_actions_of_the_wrong_shape_or_type_are_refused_and_change_nothing(actions: Any) -> None:
    tables = in_mid_deal()
    assert_refused(tables, lambda: tables.step(actions), ValueError, r"actions are .*integers of shape \(6,\)")


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_actions_of_any_integer_type_do_the_same(dtype: type) -> None:
    tables, others = in_mid_deal(), in_mid_deal()
    actions = random_actions(tables.legal_action_mask(), np.random.default_rng(3))
    tables.step(actions)
    others.step(actions.astype(dtype))
    assert others.records.tobytes() == tables.records.tobytes()


def test_7_1_unsigned_action_does_not_wrap_around_to_a_legal_one() -> None:
    tables = in_mid_deal()
    actions = random_actions(tables.legal_action_mask(), np.random.default_rng(3)).astype(np.uint64)
    actions[2] += np.uint64(2**63)
    assert_refused(tables, lambda: tables.step(actions), IllegalActionError, f"table 2.*{int(actions[2])}")


def test_7_1_refusal_names_table_seat_phase_action_in_words_and_all_that_was_legal() -> None:
    tables = dealt(FOUR, 5, seed=9)
    texts_seen = set()
    for actions in random_play(tables, seed=9):
        row = int(np.flatnonzero(~tables.settled)[-1])
        legal = np.flatnonzero(tables.legal_action_mask()[row])
        illegal = int(np.flatnonzero(~tables.legal_action_mask()[row])[-1])
        actions = np.where(np.arange(5) == row, illegal, actions)
        table = tables.records[row]
        phase = tables.snapshot(row).phase
        start = (
            f"table {row}, seat {table.to_act}, phase {phase}: action {illegal} ({action_text(FOUR, table, illegal)})"
        )
        with pytest.raises(IllegalActionError) as refusal:
            tables.step(actions)
        words = str(refusal.value)
        assert words.startswith(f"{start} is not legal; legal: ")
        if phase == "play":
            named = words.partition("legal: ")[2].split(", ")
            assert named == [action_text(FOUR, table, int(action)) for action in legal]
        else:
            assert all(card in words for card in tables.snapshot(row).hands[table.to_act])
            assert ("pass" in words) == (84 in legal)
        texts_seen.add(phase)
    assert texts_seen == {"declare", "play"}


def test_settled_rows_ignore_their_action() -> None:
    tables, others = in_mid_deal(40, steps=20), in_mid_deal(40, steps=20)
    settled = tables.settled
    actions = random_actions(tables.legal_action_mask(), np.random.default_rng(3))
    tables.step(actions)
    for ignored in (-1, 84, 2**62):
        again = others.take(np.arange(40))
        again.step(np.where(settled, ignored, actions))
        assert same_tables(again.records, tables.records)


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_forced_decisions_played_by_the_engine_are_those_played_by_hand(num_players: int) -> None:
    rules = Rules.preset("pagat", num_players=num_players)
    tables, by_hand, rng = dealt(rules, 80, seed=10), dealt(rules, 80, seed=10), np.random.default_rng(10)
    forced = 0
    while not tables.settled.all():
        actions = random_actions(tables.legal_action_mask(), rng)
        tables.step(actions, play_forced=True)
        mask = by_hand.legal_action_mask()
        by_hand.step(actions)
        while True:
            mask = by_hand.legal_action_mask()
            alone = mask.sum(axis=1) == 1
            if not alone.any():
                break
            forced += int(alone.sum())
            for row in np.flatnonzero(alone):
                one = by_hand.take([row])
                one.step([int(mask[row].argmax())])
                by_hand.records[row] = one.records[0]
        assert same_tables(by_hand.records, tables.records)
        assert (tables.legal_action_mask().sum(axis=1) != 1).all()
    assert forced > 80


def test_play_forced_alone_stops_at_the_first_choice() -> None:
    tables = in_mid_deal(50, steps=16)
    tables.play_forced()
    assert (tables.legal_action_mask().sum(axis=1) != 1).all()
    before = tables.records.tobytes()
    tables.play_forced()
    assert tables.records.tobytes() == before


# --- looking


def test_looking_changes_nothing() -> None:
    tables = in_mid_deal()
    before = tables.records.tobytes()
    for name in [*CONTRACT, *METHODS, "snapshot", "view_one", "take"]:
        value = getattr(tables, name)
        if callable(value):
            value(*{"snapshot": [3], "view_one": [1], "take": [[2]]}.get(name, []))
    assert tables.records.tobytes() == before


def test_snapshot_is_frozen_and_plain() -> None:
    now = in_mid_deal().snapshot(2)
    with pytest.raises(AttributeError):
        now.pot = 5  # type: ignore[misc]
    assert hash(now) == hash(in_mid_deal().snapshot(2))
    for name in now.__slots__:
        value = getattr(now, name)
        items = value if isinstance(value, tuple) else (value,)
        assert all(type(item) in (int, str, bool, tuple) for item in items), name


def test_view_of_one_seat_has_legal_actions_only_for_the_seat_to_act() -> None:
    tables = in_mid_deal(1, steps=3)
    for seat in range(4):
        features, mask = tables.view_one(seat)
        assert (features.dtype, mask.dtype) == (np.float32, np.int8)
        assert (features == tables.observe(seats=[seat])[0]).all()
        expected = tables.legal_action_mask()[0] if seat == tables.to_act[0] else np.zeros(85)
        assert (mask == expected).all()
