"""What several test files share: tables dealt at random, and random play at all of them at once. Shapes: B tables."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import config as numba_config
from numpy.typing import NDArray

from bourre_env import PRESETS, Rules, RulesError, Tables, shuffled_decks

ADAPTERS = Path(__file__).parent / "adapters"
TABLE_SIZES = range(2, 9)
PASSES = 0.3  # share of declarations that pass where it is legal; uniform play would hardly ever pass


def pytest_configure(config: pytest.Config) -> None:
    """Rules that run uncompiled mix 64-bit words with NumPy, which warns that they wrap around, as rule 8.1 wants."""
    if numba_config.DISABLE_JIT:
        config.addinivalue_line(
            "filterwarnings",
            r"ignore:overflow encountered in scalar:RuntimeWarning:bourre_env\.(deck|draws|bourre\.declaring)",
        )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Other people's libraries warn about themselves, which is not ours to fail on."""
    for item in items:
        if ADAPTERS in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("default"))


def every_table() -> dict[str, Rules]:
    """`pagat` at every table size, every other preset at its smallest, a middle and its largest; by a short name."""
    found: dict[str, Rules] = {}
    for preset in PRESETS:
        admitted = {}
        for size in TABLE_SIZES:
            with contextlib.suppress(RulesError):
                admitted[f"{preset}-{size}"] = Rules.preset(preset, num_players=size)
        names = list(admitted)
        chosen = names if preset == "pagat" else {names[0], names[len(names) // 2], names[-1]}
        found |= {name: rules for name, rules in admitted.items() if name in chosen}
    return found


EVERY_TABLE = every_table()
PAGAT_TABLES = {name: rules for name, rules in EVERY_TABLE.items() if name.startswith("pagat")}


def start_of(rules: Rules, num_tables: int, seed: int) -> dict[str, NDArray[Any]]:
    """Arguments of `Tables.deal` for B random deals: dealers, carries and exempt seats vary."""
    rng = np.random.default_rng(seed)
    seats = rules.num_players
    begin = {
        "decks": shuffled_decks(seed, np.arange(num_tables), pack=rules.pack),
        "dealer": rng.integers(0, seats, num_tables),
        "carry": rng.integers(0, 60, num_tables),
        "exempt": rng.random((num_tables, seats)) < 0.2,
    }
    if rules.stacks == "table_stakes":
        begin["stacks"] = rng.integers(0, 13, (num_tables, seats))
    return begin


def dealt(rules: Rules, num_tables: int, seed: int, seats_shown: int | None = None) -> Tables:
    """B tables at which a random deal has begun."""
    tables = Tables(rules, num_tables, seats_shown)
    tables.deal(**start_of(rules, num_tables, seed))
    return tables


def random_actions(mask: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    """[B] one legal action for each row of a mask [B, A]; passing is as likely as people make it."""
    weights = np.where(mask, 1.0 + rng.random(mask.shape), 0.0)
    passing = rng.random(len(mask)) < PASSES
    weights[:, -1] *= np.where(passing, 3.0, 0.1)
    return weights.argmax(axis=1)


def random_play(tables: Tables, seed: int) -> Iterator[NDArray[np.int64]]:
    """Play at all tables until they are settled; yields the actions [B] before each step."""
    rng = np.random.default_rng(seed)
    while not tables.settled.all():
        actions = random_actions(tables.legal_action_mask(), rng)
        yield actions
        tables.step(actions)


def same_tables(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two arrays of table records agree in every field."""
    return all(bool((one[name] == other[name]).all()) for name in one.dtype.names or ())
