"""The attacker that looks ahead: it finds weaknesses, sees no hidden card, and imagines the right worlds."""

import copy
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from agents.arena import begin_deals, play_blocks
from agents.baselines import ALWAYS_STAY, HEURISTIC, Random
from agents.likely_worlds import likely_worlds
from agents.local_best_response import Attacker, Search, play_local_blocks
from agents.lookahead import NO_ACTION, best_means, candidates_of, confirmed, try_actions
from agents.policy import Decision, Policy, PolicyFailedError
from agents.statistics import estimate
from bourre_env import Rules, Tables
from bourre_env.cards import TRUMPS

PAGAT = Rules.preset("pagat", num_players=4)
QUICK = Search(worlds=16, proposals=64, fewest=4)
DEALS = np.arange(12)


class Stateful:
    """Plays like `random`, but its numbers come from the generator."""

    name = "stateful"

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.int64]:
        weights = np.where(decision.legal_action_mask, rng.random(decision.legal_action_mask.shape), 0.0)
        return weights.argmax(axis=1)


class Silent:
    name = "silent"

    def act(self, decision: Decision, rng: np.random.Generator) -> None:
        return None


# --- what it gains ----------------------------------------------------------------------------------------------------


def begun(seed: int, deals: np.ndarray) -> Tables:
    """Tables of four at which deals of an experiment have begun."""
    tables = Tables(PAGAT, len(deals))
    begin_deals(tables, seed=seed, deals=deals)
    return tables


def test_it_finds_that_always_staying_is_weak() -> None:
    blocks = play_local_blocks(PAGAT, ALWAYS_STAY, seed=1, deal_ids=np.arange(64), search=Search(64, 512))
    assert estimate(blocks.block_means, seed=0).low > 0.1


@pytest.mark.parametrize("target", [HEURISTIC, Random()], ids=lambda target: target.name)
@pytest.mark.parametrize("seats", [2, 5])
def test_an_attacker_that_trusts_nothing_plays_the_target_and_gains_exactly_nothing(target: Policy, seats: int) -> None:
    rules = Rules.preset("pagat", num_players=seats)
    never = Search(8, 16, 4, caution=math.inf)
    blocks = play_local_blocks(rules, target, seed=3, deal_ids=DEALS, search=never)
    alone = play_blocks(rules, target, target, seed=3, deal_ids=DEALS)
    assert (blocks.returns == alone.returns).all()
    assert (blocks.block_means == 0).all()


@pytest.mark.parametrize("preset", ["wiki", "pagat_limit", "reduced_2p3c", "reduced_3p2c"])
def test_other_rules_are_attacked_too(preset: str) -> None:
    rules = Rules.preset(preset)
    blocks = play_local_blocks(rules, Random(), seed=4, deal_ids=np.arange(40), search=QUICK)
    assert blocks.block_means.mean() > 0.2


def test_a_block_does_not_depend_on_those_beside_it() -> None:
    together = play_local_blocks(PAGAT, Random(), seed=5, deal_ids=DEALS, search=QUICK)
    for deal in (0, 7):
        alone = play_local_blocks(PAGAT, Random(), seed=5, deal_ids=[deal], search=QUICK)
        assert alone.returns[0].tolist() == together.returns[deal].tolist()
    other = play_local_blocks(PAGAT, Random(), seed=6, deal_ids=DEALS, search=QUICK)
    assert (other.returns != together.returns).any()


def test_targets_that_use_the_generator_can_be_attacked() -> None:
    blocks = play_local_blocks(PAGAT, Stateful(), seed=7, deal_ids=np.arange(20), search=QUICK)
    assert estimate(blocks.block_means, seed=0).low > 0.3


def test_what_cannot_be_attacked_is_refused() -> None:
    with pytest.raises(PolicyFailedError, match="'silent' returned None"):
        play_local_blocks(PAGAT, Silent(), seed=0, deal_ids=[0])  # type: ignore[arg-type]
    stakes = Rules.preset("pagat", num_players=4, stacks="table_stakes")
    with pytest.raises(ValueError, match="on credit only"):
        play_local_blocks(stakes, HEURISTIC, seed=0, deal_ids=[0])


# --- what it sees -----------------------------------------------------------------------------------------------------


def test_its_choice_is_the_same_at_tables_it_cannot_tell_apart() -> None:
    """All that is hidden from the attacker is redrawn before each of its decisions; nothing it does may change."""
    deals = np.repeat(np.arange(16), 4)
    tables = begun(8, deals)
    attacker = Attacker(HEURISTIC, tables, deals, seed=8, search=QUICK)
    rng = np.random.default_rng(8)
    asked = hidden = left = 0
    while (waiting := np.flatnonzero(tables.to_act >= 0)).size:
        packed, legal = tables.view_rows(waiting)
        seats = tables.to_act[waiting]
        actions = HEURISTIC.act(Decision.from_packed(packed, legal, seats, PAGAT, np.zeros(len(seats), np.uint64)), rng)
        mine = np.flatnonzero(seats == waiting % 4)
        if len(mine):
            observers = np.full(tables.num_tables, -1)
            observers[waiting[mine]] = seats[mine]
            others = tables.reshuffle_unseen(observers, seed=99)
            hidden += int((others.records["hands"] != tables.records["hands"]).any(axis=1).sum())
            own = actions[mine].copy()
            at_others = copy.deepcopy(attacker).choose(others, waiting[mine], packed[mine], legal[mine], own)
            actions[mine] = attacker.choose(tables, waiting[mine], packed[mine], legal[mine], own)
            assert at_others.tolist() == actions[mine].tolist()
            asked, left = asked + len(mine), left + int((actions[mine] != own).sum())
        tables.step(actions, rows=waiting, play_forced=True)
    assert asked > 100
    assert hidden > 100
    assert left > 5, "an attacker that always follows the target proves nothing"


# --- what it imagines -------------------------------------------------------------------------------------------------


def second_to_speak(num_deals: int) -> tuple[Tables, NDArray[np.int64]]:
    """Tables at which the eldest has stayed by the rule bot's judgement and the next seat is to declare; which ones."""
    tables = begun(9, np.arange(num_deals))
    packed, legal = tables.view_rows(np.arange(num_deals))
    keys = np.zeros(num_deals, np.uint64)
    decision = Decision.from_packed(packed, legal, tables.to_act, PAGAT, keys)
    tables.step(HEURISTIC.act(decision, np.random.default_rng(0)))
    eldest = (tables.dealer + 1) % 4
    return tables, np.flatnonzero(tables.records["stayed"] >> eldest.astype(np.uint8) & 1)


def trumps_of_eldest(tables: Tables) -> NDArray[np.int64]:
    """[R] trumps the eldest was dealt."""
    dealt = tables.records["dealt"][np.arange(tables.num_tables), (tables.dealer + 1) % 4]
    return np.bitwise_count(dealt & TRUMPS).astype(np.int64)


def test_imagined_hands_are_those_with_which_the_target_stays() -> None:
    """On average over many tables what is imagined is what is there: trumps of a seat that has stayed."""
    tables, rows = second_to_speak(1500)
    options = {"seed": 1, "streams": rows, "proposals": 128, "worlds": 16}
    likely, _ = likely_worlds(tables, HEURISTIC, rows, fewest=1, **options)
    nothing, blind = likely_worlds(tables, HEURISTIC, rows, fewest=1000, **options)
    assert not len(nothing.rows)
    true = trumps_of_eldest(tables)[rows].astype(float)
    found = [
        np.bincount(worlds.owner, trumps_of_eldest(worlds.tables)[worlds.rows], len(rows))
        / np.maximum(np.bincount(worlds.owner, minlength=len(rows)), 1)
        for worlds in (likely, blind)
    ]
    met = np.isin(np.arange(len(rows)), likely.owner)
    assert met.mean() > 0.9
    differences = [(true - means)[met] for means in found]
    errors = [difference.std() / math.sqrt(met.sum()) for difference in differences]
    assert abs(differences[0].mean()) < 4 * errors[0]
    assert differences[1].mean() > 10 * errors[1], "worlds drawn blindly know nothing of the target"


def test_likely_worlds_show_their_observer_what_it_has_seen() -> None:
    tables, rows = second_to_speak(200)
    groups = likely_worlds(tables, HEURISTIC, rows, seed=1, streams=rows, proposals=64, worlds=8, fewest=2)
    seen = tables.observe_packed()
    for worlds in groups:
        assert len(worlds.rows)
        assert (worlds.tables.observe_packed()[worlds.rows] == seen[rows[worlds.owner]]).all()
        assert len(np.unique(worlds.keys)) == len(worlds.keys)
        assert np.bincount(worlds.owner).max() <= 8
    assert set(groups[0].owner) | set(groups[1].owner) == set(range(len(rows)))
    assert not set(groups[0].owner) & set(groups[1].owner)


# --- what it tries and takes ------------------------------------------------------------------------------------------


def test_candidates_are_legal_start_with_the_own_action_and_throw_the_worst_cards_first() -> None:
    tables = begun(10, np.arange(50))
    packed, legal = tables.view_rows(np.arange(50))
    own = np.full(50, 52 + 0b10101)
    candidates = candidates_of(PAGAT, packed, legal, own)
    assert (candidates[:, 0] == own).all()
    mask = tables.legal_action_mask()
    for row in range(50):
        tried = candidates[row][candidates[row] != NO_ACTION]
        assert len(set(tried)) == len(tried)
        assert mask[row, tried].all()
        assert {84, 52, 52 + 0b11111} <= set(tried)
        hand = [card for card in range(52) if int(packed[row, 0]) >> card & 1]
        for action in set(tried) - {84, own[row]}:
            thrown = [hand[place] for place in range(5) if int(action - 52) >> place & 1]
            kept = set(hand) - set(thrown)
            rank = {card: (card < 13, card % 13) for card in hand}
            assert all(rank[card] <= rank[other] for card in thrown for other in kept)


def test_candidates_share_their_worlds_so_the_same_action_has_the_same_value() -> None:
    tables, rows = second_to_speak(60)
    worlds, _ = likely_worlds(tables, HEURISTIC, rows, seed=1, streams=rows, proposals=64, worlds=8, fewest=1)
    values = np.full((len(rows), 3, 8), np.nan)
    try_actions(worlds, np.tile([84, 52, 84], (len(rows), 1)), Random(), values)
    there = ~np.isnan(values[:, 0])
    assert there.sum() == len(worlds.rows)
    assert (values[:, 0][there] == values[:, 2][there]).all()
    assert (values[:, 0][there] != values[:, 1][there]).any()


def test_the_best_mean_is_chosen_and_what_was_not_tried_is_left_out() -> None:
    candidates = np.array([[7, 8, 9], [7, 8, NO_ACTION], [7, 8, 9]])
    values = np.zeros((3, 3, 4))
    values[0, 1] = [2, 1, np.nan, np.nan]
    values[0, 2] = [1, 1, np.nan, np.nan]
    values[1, 2] = 9  # no candidate at all
    assert best_means(candidates, values).tolist() == [8, 7, 7]


def test_an_action_is_taken_when_worlds_it_was_not_chosen_by_confirm_it() -> None:
    finalists = np.array([[7, 8], [7, 8], [7, 8], [7, 8], [7, NO_ACTION], [7, 8]])
    values = np.zeros((6, 2, 4))
    values[0] = [[1, 1, 1, 1], [2, 2, 3, 3]]  # gains 1.5 with a standard error of 0.25
    values[1] = [[0, 5, 0, 5], [1, 4, 1, 4]]  # gains nothing
    values[2] = [[0, 0, 0, 0], [4, 0, 0, 0]]  # gains 1 with a standard error of 0.87
    values[3] = [[0, 0, 0, 0], [-1, -1, -1, -1]]
    values[4, 1] = np.nan
    values[5] = [[0, 0, np.nan, np.nan], [1, 1, np.nan, np.nan]]  # gains 1, without any spread
    assert confirmed(finalists, values, 1.0).tolist() == [8, 7, 8, 7, 7, 8]
    assert confirmed(finalists, values, 2.0).tolist() == [8, 7, 7, 7, 7, 8]
    assert confirmed(finalists, values, math.inf).tolist() == [7] * 6
