"""The policy that looks ahead: it plays by what its seat has seen, imagines worlds that show just that, and gains."""

from pathlib import Path

import numpy as np
import pytest
from conftest import EVERY_TABLE, dealt, random_actions
from learning import header_of, tiny_learner
from numpy.typing import NDArray

from agents.arena import play_blocks
from agents.baselines import ALWAYS_STAY, HEURISTIC, Random
from agents.checkpoint import save_checkpoint
from agents.entrants import Entrant
from agents.policy import Decision, Policy, PolicyError, PolicyFailedError, check_actions, check_rules, load_policy
from agents.referee import strict_answer
from agents.search import KINDS, Effort, SearchPolicy, part_of
from agents.search_spec import load_search
from agents.statistics import estimate
from bourre_env import Rules, Tables
from bourre_env.bourre.table import NO_SUIT
from bourre_env.decision import are_legal
from bourre_env.deck import stream_keys

PAGAT = Rules.preset("pagat", num_players=4)
QUICK = Effort(worlds=16, proposals=64, rounds=2, fewest=4, kinds=frozenset(KINDS))
RNG = np.random.default_rng(0)
SEARCH = SearchPolicy("quick", Random(), QUICK)


def asked(tables: Tables, rows: NDArray[np.int64], seed: int = 1) -> Decision:
    """What the seats to act at some tables are asked."""
    packed, legal = tables.view_rows(rows)
    return Decision.from_packed(packed, legal, tables.to_act[rows], tables.rules, stream_keys(seed, rows))


def decisions(rules: Rules, number: int, seed: int):
    """Tables of random deals at each decision of random play, with the rows that wait."""
    rng = np.random.default_rng(seed)
    tables = dealt(rules, number, seed)
    tables.play_forced()
    while not tables.settled.all():
        yield tables, np.flatnonzero(~tables.settled)
        tables.step(random_actions(tables.legal_action_mask(), rng), play_forced=True)


# --- what it sees -----------------------------------------------------------------------------------------------------


def test_two_tables_the_seat_cannot_tell_apart_give_the_same_answer() -> None:
    differ = left = 0
    for tables, rows in decisions(PAGAT, 24, seed=2):
        others = tables.take(rows).reshuffle_unseen(tables.to_act[rows], seed=99)
        differ += int((others.records["hands"] != tables.records["hands"][rows]).any(axis=1).sum())
        here = SEARCH.act(asked(tables, rows), RNG)
        packed, legal = others.view_rows(np.arange(len(rows)))
        there = Decision.from_packed(packed, legal, others.to_act, PAGAT, stream_keys(1, rows))
        assert SEARCH.act(there, RNG).tolist() == here.tolist()
        left += int((here != Random().act(asked(tables, rows), RNG)).sum())
    assert differ > 50
    assert left > 10, "a search that always follows its prior proves nothing"


@pytest.mark.parametrize("name", EVERY_TABLE)
def test_imagined_worlds_show_what_was_seen_and_answers_are_legal(name: str) -> None:
    rules = EVERY_TABLE[name]
    found = 0
    for tables, rows in decisions(rules, 6, seed=3):
        decision = asked(tables, rows)
        for worlds in SEARCH.imagined(decision):
            if not len(worlds.rows):
                continue
            found += len(worlds.rows)
            there = worlds.tables.take(worlds.rows)
            packed, legal = there.view_rows(np.arange(there.num_tables))
            assert (packed == decision.packed[worlds.owner]).all()
            assert (legal == decision.legal_packed[worlds.owner]).all()
            assert (there.to_act == decision.seat[worlds.owner]).all()
            assert worlds.place.max() < QUICK.worlds
            assert len(set(zip(worlds.owner.tolist(), worlds.place.tolist(), strict=True))) == len(worlds.rows)
        actions = check_actions(SEARCH.act(decision, RNG), decision, "search")
        assert are_legal(actions, decision.legal_packed).all()
    assert found > 50


def test_table_stakes_and_observations_that_show_more_seats_are_searched_too() -> None:
    rules = Rules.preset("pagat", num_players=3, stacks="table_stakes")
    for tables, rows in decisions(rules, 12, seed=4):
        decision = asked(tables, rows)
        actions = check_actions(SEARCH.act(decision, RNG), decision, "search")
        assert SEARCH.act(decision.showing(8), RNG).tolist() == actions.tolist()


def test_an_answer_does_not_depend_on_what_is_asked_beside_it() -> None:
    for tables, rows in decisions(PAGAT, 40, seed=5):
        together = SEARCH.act(asked(tables, rows), RNG)
        for place in (0, len(rows) // 2, len(rows) - 1):
            alone = part_of(asked(tables, rows), np.array([place]))
            assert SEARCH.act(alone, np.random.default_rng(place)).tolist() == [together[place]]


# --- what it plays ----------------------------------------------------------------------------------------------------


def test_it_gains_over_its_prior_and_against_it() -> None:
    policy = SearchPolicy("search", ALWAYS_STAY, Effort(worlds=64, proposals=256, rounds=2))
    blocks = play_blocks(PAGAT, policy, ALWAYS_STAY, seed=1, deal_ids=np.arange(48))
    assert estimate(blocks.block_means, seed=0).low > 0


def seats_asked_to_play_on(others: Policy | None) -> tuple[NDArray[np.int8], set[int], set[int]]:
    """Seats that decide in some imagined worlds, and those that the prior and the model then played on for."""
    tables = dealt(PAGAT, 1, seed=6)
    own, model = Watched(ALWAYS_STAY), others and Watched(others)
    policy = SearchPolicy("search", own, Effort(8, 8, 1, 1), model)
    decision = asked(tables, np.array([0]))
    groups = policy.imagined(decision)
    own.asked.clear()
    if model:
        model.asked.clear()
    policy.values(groups, np.array([[52, 84]]))
    return decision.seat, own.asked, model.asked if model else set()


class Watched:
    """A policy that remembers which seats it was asked about."""

    def __init__(self, policy: Policy) -> None:
        self.name, self._policy = policy.name, policy
        self.asked: set[int] = set()

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.int64]:
        self.asked |= set(decision.seat.tolist())
        actions: NDArray[np.int64] = self._policy.act(decision, rng)
        return actions


def test_the_model_plays_on_for_the_others_and_the_prior_for_the_seat_itself() -> None:
    seat, by_prior, by_model = seats_asked_to_play_on(Random())
    assert by_prior == set(seat.tolist())
    assert by_model == set(range(4)) - by_prior
    _, everybody, nobody = seats_asked_to_play_on(None)
    assert (everybody, nobody) == (set(range(4)), set())


def test_worlds_are_those_in_which_the_model_of_the_others_acts_as_was_seen() -> None:
    tables = dealt(PAGAT, 40, seed=3)
    tables.step(np.full(40, 84))  # the first seat passes
    decision = asked(tables, np.arange(40))
    effort = Effort(worlds=16, proposals=16, rounds=1)
    strict = SearchPolicy("search", HEURISTIC, effort, others=ALWAYS_STAY)
    assert not sum(len(worlds.rows) for worlds in strict.imagined(decision))
    assert sum(len(worlds.rows) for worlds in SearchPolicy("s", ALWAYS_STAY, effort, HEURISTIC).imagined(decision))


class Sly:
    """A policy that answers with an action that is never legal."""

    name = "sly"

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.int64]:
        return np.full(len(decision), 10_000)


def test_when_the_model_fails_the_search_is_named_that_asked_it() -> None:
    tables = dealt(PAGAT, 4, seed=3)
    tables.step(np.full(4, 84))
    search = SearchPolicy("search:others=sly", HEURISTIC, Effort(worlds=8, proposals=8, rounds=1), Sly())
    with pytest.raises(
        PolicyFailedError, match=r"policy 'search:others=sly' asked another: policy 'sly' chose action 10000"
    ):
        strict_answer(search, asked(tables, np.arange(4)), RNG)


def test_knowing_how_the_others_play_gains_more_than_taking_them_for_oneself() -> None:
    effort = Effort(worlds=64, proposals=256, rounds=2)
    knowing = SearchPolicy("knowing", HEURISTIC, effort, others=Random())
    guessing = SearchPolicy("guessing", HEURISTIC, effort)
    gains = [
        play_blocks(PAGAT, policy, Random(), seed=1, deal_ids=np.arange(96)).block_means
        for policy in (knowing, guessing)
    ]
    assert estimate(gains[0] - gains[1], seed=0).low > 0


@pytest.mark.parametrize("effort", [Effort(16, 64, caution=float("inf")), Effort(16, 64, kinds=frozenset())])
def test_a_search_that_trusts_nothing_or_looks_at_nothing_plays_its_prior(effort: Effort) -> None:
    policy = SearchPolicy("search", HEURISTIC, effort)
    blocks = play_blocks(PAGAT, policy, HEURISTIC, seed=2, deal_ids=np.arange(6))
    assert (blocks.block_means == 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_kinds_of_decisions_that_are_wanted_leave_the_prior(kind: str) -> None:
    policy = SearchPolicy("search", ALWAYS_STAY, Effort(16, 256, 1, 1, caution=0, kinds=frozenset([kind])))
    tables = dealt(PAGAT, 60, seed=6)
    left = 0
    while not tables.settled.all():
        rows = np.flatnonzero(~tables.settled)
        decision = asked(tables, rows)
        own, chosen = ALWAYS_STAY.act(decision, RNG), policy.act(decision, RNG)
        changed = own != chosen
        left += int(changed.sum())
        passes = (own == 84) != (chosen == 84)
        in_play, leads = own < 52, tables.records["led_suit"][rows] == NO_SUIT
        allowed = {
            "declare": ~in_play & passes,
            "draw": ~in_play & ~passes,
            "lead": in_play & leads,
            "follow": in_play & ~leads,
        }
        assert allowed[kind][changed].all()
        tables.step(own, rows=rows, play_forced=True)
    assert left > 0


def test_answers_do_not_depend_on_how_proposals_fall_into_rounds() -> None:
    whole, parts = (SearchPolicy("s", HEURISTIC, Effort(24, *split, 4)) for split in ((512, 1), (128, 4)))
    left = 0
    for tables, rows in decisions(PAGAT, 30, seed=8):
        decision = asked(tables, rows)
        assert whole.act(decision, RNG).tolist() == parts.act(decision, RNG).tolist()
        left += int((whole.act(decision, RNG) != HEURISTIC.act(decision, RNG)).sum())
    assert left > 0


def test_a_network_gives_prior_beliefs_and_rollouts(tmp_path: Path) -> None:
    actor = tiny_learner().actor
    save_checkpoint(tmp_path / "best.safetensors", actor, header_of(actor))
    policy = load_policy(f"search:policy={tmp_path},worlds=8,proposals=64,rounds=1,fewest=1")
    decision = asked(dealt(PAGAT, 4, seed=9), np.arange(4))
    together = check_actions(policy.act(decision, RNG), decision, policy.name).tolist()
    assert policy.act(part_of(decision, np.array([2])), RNG).tolist() == together[2:3]
    with pytest.raises(PolicyError, match="was not trained for 5 seats"):
        check_rules(policy, Rules.preset("pagat", num_players=5))


def test_when_time_is_up_no_further_round_begins() -> None:
    tables = dealt(PAGAT, 1, seed=7)
    decision = asked(tables, np.arange(1))
    endless = SearchPolicy("search", HEURISTIC, Effort(worlds=10**6, proposals=8, rounds=10**6, time=1e-6))
    assert len(endless.imagined(decision)) == 1


# --- its spec ---------------------------------------------------------------------------------------------------------


def test_a_spec_names_prior_and_effort() -> None:
    policy = load_search("search:worlds=32,policy=random,time=0.05,kinds=declare+lead,caution=2")
    assert policy.prior.name == "random"
    assert policy.effort == Effort(worlds=32, time=0.05, caution=2.0, kinds=frozenset({"declare", "lead"}))
    default = load_policy("search")
    assert isinstance(default, SearchPolicy)
    assert (default.name, default.prior.name, default.effort) == ("search", "heuristic", Effort())
    assert load_search("search:policy=agents.baselines:ALWAYS_STAY").prior.name == "always_stay"
    modelled = load_search("search:policy=random,others=always_stay")
    assert (modelled.prior.name, modelled.model.name) == ("random", "always_stay")
    assert load_search("search:policy=random,others=random").model.name == "random"
    with pytest.raises(PolicyError, match=r"'human' cannot tell a search how others play"):
        load_search("search:others=human")


def test_results_of_other_options_or_priors_are_not_put_together() -> None:
    specs = ["search", "search:worlds=32", "search:policy=random", "search:others=random", "heuristic"]
    assert len({Entrant("same", spec).identity() for spec in specs}) == len(specs)
    assert Entrant("same", "search").identity() == Entrant("other", "search").identity()
