"""Fit how good a hand must be to stay: `python -m benchmarks.thresholds [--seats N ...]`.

Iterated best response. Rule bots declare by the thresholds found so far; at every declaration with a choice the deal is
played to its end twice, once staying and once passing. What staying brings more, in pots, is regressed on the value
of the hand (`agents.heuristic.hand_value`) and the rank of the turn-up, mostly with hands near the threshold; where it
is 0 lies the better threshold. Thresholds move half of the way each round, and the mean of the last rounds is printed
as `agents/thresholds.py` holds them, with what the fitted bot wins from a table of the one before.
"""

import argparse
import sys
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from agents.arena import play_blocks
from agents.baselines import HEURISTIC, RuleBot
from agents.heuristic import ACE, ALWAYS_PASSES, BY_VALUE, NEVER_PASSES, choose_rows, hand_value
from agents.progress import Progress
from agents.statistics import estimate
from agents.thresholds import THRESHOLDS
from bourre_env import Rules, Tables, shuffled_decks
from bourre_env.bourre.actions import num_actions
from bourre_env.bourre.observation import OWN_HAND
from bourre_env.bourre.rules import MAX_PLAYERS, MIN_PLAYERS
from bourre_env.bourre.table import DECLARE, SEATS_IN_MASK
from bourre_env.cards import ALL_CARDS, NUM_RANKS
from bourre_env.jit import njit_entry

SEED, CHECK_SEED = 20261101, 20261102
ROUNDS, AVERAGED = 10, 5
STEP = 0.5  # of the way to the better threshold, each round
WIDTH = 0.15  # pots: squared errors of hands so far from the threshold still count exp(-1)
FEWEST = 400  # declarations a round; situations that come up less often are left to their neighbours
LOWEST, HIGHEST, STEEPEST = -1.0, 1.5, 0.6  # thresholds beyond the value of every hand say no more

Situation = tuple[int, int]  # seats after the speaker, players in
Sample = NDArray[np.float64]  # [D, 3]: value of the hand, rank of the turn-up from 0 to 1, gain of staying in pots


def main() -> int:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0], allow_abbrev=False)
    sizes = range(MIN_PLAYERS, MAX_PLAYERS + 1)
    parser.add_argument("--seats", type=int, nargs="+", choices=sizes, default=list(sizes), metavar="N")
    parser.add_argument("--deals", type=int, default=60_000, help="deals a round")
    parser.add_argument("--blocks", type=int, default=20_000, help="deals of the comparison with the bot of before")
    options = parser.parse_args()
    fitted = THRESHOLDS.copy()
    with Progress(ROUNDS * len(options.seats), "rounds", sys.stderr) as progress:
        for num_players in options.seats:
            for line in fit(fitted, num_players, options.deals, progress):
                print(line)
    for num_players in options.seats:
        print(compared(fitted, num_players, options.blocks))
    return 0


def fit(thresholds: NDArray[np.float64], num_players: int, deals: int, progress: Progress) -> list[str]:
    """Change the thresholds [9, 8, 8, 2] of one table size; returns them as lines of Python."""
    rules = Rules.preset("pagat", num_players=num_players)
    mine = thresholds[num_players]
    seen: dict[Situation, list[NDArray[np.float64]]] = defaultdict(list)
    for number in range(ROUNDS):
        for situation, sample in declarations(rules, thresholds, np.arange(deals) + number * deals).items():
            if len(sample) >= FEWEST:
                mine[situation] += STEP * (better(sample, mine[situation]) - mine[situation])
                if number >= ROUNDS - AVERAGED:
                    seen[situation].append(mine[situation].copy())
        progress.add(1)
    lines = [f"    {num_players}: {{"]
    for situation in sorted((found for found in seen if len(seen[found]) == AVERAGED), key=lambda at: (-at[0], at[1])):
        mine[situation] = np.round(np.mean(seen[situation], axis=0), 2)
        lines.append(f"        {situation}: ({mine[situation][0]:.2f}, {mine[situation][1]:.2f}),")
    return [*lines, "    },"]


def declarations(rules: Rules, thresholds: NDArray[np.float64], deal_ids: NDArray[np.int64]) -> dict[Situation, Sample]:
    """What staying brought more than passing, wherever rule bots had the choice."""
    found: dict[Situation, list[Sample]] = defaultdict(list)
    tables = Tables(rules, len(deal_ids))
    tables.deal(shuffled_decks(SEED, deal_ids), deal_ids % rules.num_players)
    while (declaring := np.flatnonzero((tables.to_act >= 0) & (tables.records["phase"] == DECLARE))).size:
        tables = tables.take(declaring)
        rows = np.flatnonzero(tables.legal_action_mask()[:, num_actions(rules) - 1])  # passing, the last action
        if len(rows):
            undecided = tables.take(rows)
            seats, records = undecided.to_act, undecided.records
            after = (records["dealer"] - seats) % rules.num_players
            players_in = SEATS_IN_MASK[records["stayed"]]
            sample = np.stack([*_hands(undecided), _gain(undecided, thresholds)], axis=1)
            for situation in set(zip(after.tolist(), players_in.tolist(), strict=True)):
                found[situation].append(sample[(after == situation[0]) & (players_in == situation[1])])
        tables.step(_actions(tables, thresholds, BY_VALUE))
    return {situation: np.concatenate(samples) for situation, samples in found.items()}


def _hands(tables: Tables) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Value of the hand to act [D], and the rank of the turn-up [D] from 0 to 1."""
    values = np.empty(tables.num_tables)
    _fill_values(tables.observe_packed()[:, OWN_HAND] & ALL_CARDS, values)
    return values, tables.records["turn_up"] % NUM_RANKS / ACE


def _gain(tables: Tables, thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """[D]: what staying brings more than passing, in pots."""
    rows, seats = np.arange(tables.num_tables), tables.to_act
    share = 1 / tables.rules.num_players  # of what stays in the pot
    results = []
    for declaring in (NEVER_PASSES, ALWAYS_PASSES):
        branch = tables.take(rows)
        branch.step(_actions(branch, thresholds, declaring))
        while not branch.settled.all():
            branch.step(_actions(branch, thresholds, BY_VALUE))
        results.append(branch.returns[rows, seats] + share * branch.carry)
    gain: NDArray[np.float64] = (results[0] - results[1]) / tables.pot
    return gain


def _actions(tables: Tables, thresholds: NDArray[np.float64], declaring: int) -> NDArray[np.int64]:
    """[D] int64: what rule bots do."""
    actions = np.empty(tables.num_tables, np.int64)
    choose_rows(tables.observe_packed(), tables.legal_packed(), tables.rules.record(), thresholds, declaring, actions)
    return actions


def better(sample: Sample, threshold: NDArray[np.float64]) -> NDArray[np.float64]:
    """[2]: the threshold a + b * u at which staying brings neither more nor less, by weighted least squares."""
    value, turn_up, gain = sample.T
    distance = value - threshold[0] - threshold[1] * turn_up
    weight = np.exp(-0.5 * (distance / WIDTH) ** 2) + 1e-3  # square root of the weight of a squared error
    columns = np.stack([np.ones_like(value), value, turn_up], axis=1)
    constant, slope, of_turn_up = np.linalg.lstsq(columns * weight[:, None], gain * weight, rcond=None)[0]
    if slope <= 0.1:  # noise: nearly all hands are on one side of the threshold
        return threshold
    return np.array([np.clip(-constant / slope, LOWEST, HIGHEST), np.clip(-of_turn_up / slope, -STEEPEST, STEEPEST)])


def compared(thresholds: NDArray[np.float64], num_players: int, blocks: int) -> str:
    """What the fitted bot wins from a table of bots with the thresholds of before, and the other way round."""
    rules = Rules.preset("pagat", num_players=num_players)
    fitted = RuleBot("fitted", BY_VALUE, thresholds)
    parts = []
    for focal, field in ((fitted, HEURISTIC), (HEURISTIC, fitted)):
        played = play_blocks(rules, focal, field, seed=CHECK_SEED, deal_ids=np.arange(blocks))
        result = estimate(played.block_means, seed=CHECK_SEED)
        parts.append(f"{focal.name} among {field.name} {result.mean:+.4f} ({result.low:+.4f} to {result.high:+.4f})")
    return f"{num_players} seats, antes a deal: " + "; ".join(parts)


@njit_entry
def _fill_values(hands: NDArray[np.uint64], values: NDArray[np.float64]) -> None:
    """The value [D] of each hand [D]."""
    for row in range(len(hands)):
        values[row] = hand_value(hands[row])


if __name__ == "__main__":
    sys.exit(main())
