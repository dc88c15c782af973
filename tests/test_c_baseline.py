"""The C program that speed is measured against does the work of `Tables`: the same rows, bit for bit.

Shapes: B tables, N seats.
"""

import numpy as np
import pytest

from benchmarks import c_baseline
from benchmarks.c_baseline import VIEWS, CTables
from benchmarks.engine import CallByCall, Driver
from bourre_env.bits import unpack, unpack_actions

pytestmark = pytest.mark.skipif(c_baseline.compiler() is None, reason="no C compiler (gcc or cc) is on PATH")

SEED = 20260101
NUM_TABLES = 64


def same_settlements(driver: Driver, c_tables: CTables) -> int:
    """Compare what the deals that ended in `driver` paid with what the program noted; return how many there are."""
    out = driver.out
    ended = np.flatnonzero(out.ended)
    np.testing.assert_array_equal(out.returns[ended], c_tables.returns[ended])
    np.testing.assert_array_equal(out.carry[ended], c_tables.carry[ended])
    masks = np.packbits(out.exempt[ended], axis=1, bitorder="little")[:, 0]
    np.testing.assert_array_equal(masks, c_tables.exempt[ended])
    return len(ended)


@pytest.mark.parametrize(("num_players", "steps"), [(2, 1500), (4, 1500), (7, 1500), (8, 500)])
def test_packed_rows_are_the_same_bytes(num_players: int, steps: int) -> None:
    driver, c_tables = Driver(num_players, NUM_TABLES), CTables(num_players, NUM_TABLES, SEED)
    settlements = 0
    for step in range(steps):
        assert driver.out.legal.tobytes() == c_tables.legal.tobytes(), step
        assert driver.out.observation.tobytes() == c_tables.words.tobytes(), step
        driver.choose()
        c_tables.play(1, "packed")
        np.testing.assert_array_equal(driver.actions, c_tables.actions)
        driver.advance()
        settlements += same_settlements(driver, c_tables)
    assert driver.deals == c_tables.deals
    assert settlements > steps


def test_separate_calls_play_the_same_game() -> None:
    driver, separate = Driver(4, NUM_TABLES), CallByCall(4, NUM_TABLES)
    for _ in range(300):
        driver.play(1)
        separate.play(1)
        assert driver.out.observation.tobytes() == separate.out.observation.tobytes()


@pytest.mark.parametrize("num_players", [2, 4, 7])
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_plays_the_same_game(num_players: int, view: str) -> None:
    packed, other = CTables(num_players, NUM_TABLES, SEED), CTables(num_players, NUM_TABLES, SEED)
    packed.play(300, "packed")
    other.play(300, view)
    assert packed.actions.tobytes() == other.actions.tobytes()
    if view == "packed":
        assert packed.words.tobytes() == other.words.tobytes()
        return
    assert unpack_actions(packed.legal, packed.mask.shape[1]).tobytes() == other.mask.tobytes()
    if view == "float32":
        assert unpack(packed.words).tobytes() == other.features.tobytes()


def test_an_illegal_action_is_named_and_changes_nothing() -> None:
    tried, untouched = CTables(4, NUM_TABLES, SEED), CTables(4, NUM_TABLES, SEED)
    illegal = np.full(NUM_TABLES, 84, np.int64)
    illegal[7] = 3  # a card cannot be played before anyone has declared
    assert tried.step(illegal, "packed") == 7
    illegal[7] = 84 + 64
    assert tried.step(illegal, "packed") == 7
    illegal[7] = 84
    assert tried.step(illegal, "packed") == untouched.step(illegal, "packed") == -1
    assert tried.words.tobytes() == untouched.words.tobytes()
