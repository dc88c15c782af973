"""Hand records of random play."""

import numpy as np

from bourre_env import Rules, Tables, shuffled_decks
from bourre_env.notation import DealRecord


def random_records(rules: Rules, number: int, seed: int) -> list[DealRecord]:
    """Deals of random play, with carries and exemptions, some of them unfinished."""
    rng = np.random.default_rng(seed)
    tables = Tables(rules, number)
    seats = rules.num_players
    exempt = rng.random((number, seats)) < 0.2
    dealers, carries = rng.integers(seats, size=number), rng.integers(30, size=number)
    tables.deal(shuffled_decks(seed, np.arange(number), pack=rules.pack), dealers, carries, exempt)
    openings = tables.take(np.arange(number)).records
    actions: list[list[int]] = [[] for _ in range(number)]
    lengths = np.where(rng.random(number) < 0.2, rng.integers(rules.max_decisions, size=number), rules.max_decisions)
    for step in range(rules.max_decisions):
        legal = tables.legal_action_mask()
        chosen = (legal * rng.random(legal.shape)).argmax(axis=1)
        for row in np.flatnonzero(~tables.settled & (step < lengths)):
            actions[row].append(int(chosen[row]))
        tables.step(chosen)
    return [DealRecord.of_table(rules, openings[row], actions[row]) for row in range(number)]
