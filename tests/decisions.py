"""Decisions to ask policies about."""

import numpy as np

from agents.baselines import Random
from agents.policy import Decision
from bourre_env import Rules, Tables, shuffled_decks
from bourre_env.bourre.options import stacks_bought
from bourre_env.deck import stream_keys

RNG = np.random.default_rng(0)


def middle_of_deals(
    num_players: int, *, seats_shown: int | None = None, steps: int = 7, num_tables: int = 64, stacks: str = "credit"
) -> Tables:
    """Tables some random decisions into a deal."""
    rules = Rules.preset("pagat", num_players=num_players, stacks=stacks)
    tables = Tables(rules, num_tables, seats_shown)
    tables.deal(
        shuffled_decks(5, np.arange(num_tables)),
        np.arange(num_tables) % num_players,
        stacks=stacks_bought(9 if stacks == "table_stakes" else None, rules, num_tables),
    )
    for step in range(steps):
        keys = stream_keys(step, np.arange(num_tables))
        decision = Decision.from_packed(
            tables.observe_packed(), tables.legal_packed(), tables.to_act, tables.rules, keys
        )
        waiting = tables.to_act >= 0
        actions = np.zeros(num_tables, np.int64)
        if waiting.any():
            actions[waiting] = Random().act(rows_of(decision, np.flatnonzero(waiting)), RNG)
        tables.step(actions)
    return tables


def rows_of(decision: Decision, rows: np.ndarray) -> Decision:
    return Decision.from_packed(
        decision.packed[rows], decision.legal_packed[rows], decision.seat[rows], decision.rules, decision.key[rows]
    )


def asked(tables: Tables) -> Decision:
    """What the waiting seats of some tables are asked."""
    rows = np.flatnonzero(tables.to_act >= 0)
    keys = stream_keys(1, rows)
    return Decision.from_packed(
        tables.observe_packed()[rows], tables.legal_packed()[rows], tables.to_act[rows], tables.rules, keys
    )
