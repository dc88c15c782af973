"""Endings of random deals, and their values by trying everything: no code in common with the solver.

Shapes: B tables, N seats, C cards of the pack.
"""

import copy
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from conftest import random_play, start_of
from numpy.typing import NDArray
from random_play import Comparison
from reference import ReferenceTable

from bourre_env import Rules, Tables

PARTS_OF_A_CHIP = 2**20
IN_PLAY = 2
FACTORIALS = np.array([1, 1, 2, 6, 24, 120])


# --- random endings ---------------------------------------------------------------------------------------------------


def orders_of_play(tables: Tables) -> NDArray[np.int64]:
    """[B] in how many orders all hands could be played out if every card were legal."""
    records = tables.records
    held = np.bitwise_count(records["hands"])
    stayed = records["stayed"][:, None] >> np.arange(8) & 1
    return FACTORIALS[np.where(stayed, held, 0)].prod(axis=1)


def random_endings(rules: Rules, num_deals: int, seed: int, most_orders: int) -> Tables:
    """Tables in play, each at random among the moments of a deal with no more orders of play than that.

    A deal that is not played gives no table, so that there are at most `num_deals`.
    """
    tables = Tables(rules, num_deals)
    tables.deal(**start_of(rules, num_deals, seed))
    kept, moments = tables.take(range(num_deals)), np.zeros(num_deals, np.int64)
    rng = np.random.default_rng(seed)
    for _ in random_play(tables, seed):
        fits = (tables.records["phase"] == IN_PLAY) & (orders_of_play(tables) <= most_orders)
        moments += fits
        rows = np.flatnonzero(fits & (rng.random(num_deals) * moments < 1))
        kept.records[rows] = tables.records[rows]
    return kept.take(np.flatnonzero(moments))


def first_leads(rules: Rules, num_tables: int, seed: int) -> Tables:
    """Tables at which everybody has stayed, has drawn at random if the rules allow, and the first lead is due."""
    tables = Tables(rules, num_tables)
    tables.deal(**start_of(rules, num_tables, seed))
    rng = np.random.default_rng(seed)
    while (tables.records["phase"] != IN_PLAY).any():
        mask = tables.legal_action_mask()
        mask[:, -1] &= mask.sum(axis=1) == 1
        tables.step(np.where(mask, rng.random(mask.shape), 0).argmax(axis=1))
    return tables


# --- by trying everything at tables of the engine ---------------------------------------------------------------------


def settled_values(tables: Tables, credit: NDArray[np.float64], exempt_chips: float) -> NDArray[np.float64]:
    """[B, N] returns and credits."""
    return tables.returns + credit * tables.carry[:, None] + tables.exempt * exempt_chips


def tried_values(
    tables: Tables, credit: NDArray[np.float64], exempt_chips: float = 0.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Max^n values [B, N], and [B, C, N] after each card, NaN where it is not legal; all tables at once, ply by ply."""
    rows, actions = np.nonzero(tables.legal_action_mask())
    if not len(rows):
        return settled_values(tables, credit, exempt_chips), np.empty(0)
    after = tables.take(rows)
    after.step(actions)
    found = tried_values(after, credit, exempt_chips)[0]
    by_card = np.full((tables.num_tables, len(tables.rules.pack), tables.rules.num_players), np.nan)
    by_card[rows, actions] = found
    values = settled_values(tables, credit, exempt_chips)
    own = np.rint(found[np.arange(len(rows)), tables.to_act[rows]] * PARTS_OF_A_CHIP)
    best_last = np.lexsort((actions, own, rows))  # the highest action is the last of those that are equally good
    is_last = np.append(np.diff(rows[best_last]) != 0, True)
    values[rows[best_last[is_last]]] = found[best_last[is_last]]
    return values, by_card


# --- by trying everything at the oracle -------------------------------------------------------------------------------


def copied(table: ReferenceTable) -> ReferenceTable:
    """A copy that shares nothing that changes."""
    other = copy.copy(table)
    for name, value in vars(table).items():
        if isinstance(value, list):
            setattr(other, name, [list(one) if isinstance(one, list) else one for one in value])
    return other


def oracle_values(table: ReferenceTable, credit: Sequence[float]) -> list[float]:
    """Max^n values [N] by the oracle's own rules."""
    if table.phase == "settled":
        return [chips + share * table.carry for chips, share in zip(table.returns, credit, strict=True)]
    best: list[float] = []
    for action in sorted(table.legal_actions(), reverse=True):
        after = copied(table)
        after.step(action)
        found = oracle_values(after, credit)
        if not best or round(found[table.seat] * PARTS_OF_A_CHIP) > round(best[table.seat] * PARTS_OF_A_CHIP):
            best = found
    return best


def oracle_endings(rules: Rules, num_tables: int, rng: random.Random, most_orders: int) -> Comparison:
    """Engine and oracle side by side after a few random decisions, stopped at a moment when some table fits."""
    comparison = Comparison(rules, num_tables, rng)
    for _ in range(rng.randrange(200)):
        comparison.step()
    for _ in range(200):
        if fitting_rows(comparison.tables, most_orders):
            break
        comparison.step()
    return comparison


def fitting_rows(tables: Tables, most_orders: int) -> list[int]:
    """Tables in play with no more orders of play than that."""
    fits = (tables.records["phase"] == IN_PLAY) & (orders_of_play(tables) <= most_orders)
    return [int(row) for row in np.flatnonzero(fits)]


def random_credit(rules: Rules, rng: np.random.Generator) -> Any:
    """[N] shares of the carry that add up to one; none at all for some seats."""
    shares = rng.random(rules.num_players) * (rng.random(rules.num_players) < 0.8) + 1e-9
    return shares / shares.sum()
