"""Policies as tables and tables as policies."""

import numpy as np
import pytest
from small_games import SMALL, random_strategy, tiny_tree, tree_of
from test_learner_network import policy_of

from agents.arena import play_line_ups
from agents.baselines import ALWAYS_PASS, HEURISTIC, Random
from agents.best_response import nash_conv, uniform
from agents.cfr import solve
from agents.game_tree import GameTree
from agents.policy import (
    Decision,
    PolicyError,
    PolicyFailedError,
    ask_probs,
    check_actions,
    tells_probs,
)
from agents.tabular import TabularPolicy, num_questions, strategy_of
from bourre_env import Rules, Tables, shuffled_decks
from bourre_env.deck import stream_keys

RNG = np.random.default_rng(0)


def decisions(tree: GameTree, rows: np.ndarray | None = None, seed: int = 1) -> Decision:
    chosen = np.arange(tree.num_sets) if rows is None else rows
    keys = stream_keys(seed, np.arange(len(chosen)))
    return Decision.from_packed(tree.packed[chosen], tree.legal_packed[chosen], tree.seat[chosen], tree.rules, keys)


class Mute:
    """A policy that keeps its probabilities to itself."""

    def __init__(self, policy) -> None:
        self.name = "mute"
        self.act = policy.act


# --- probabilities


@pytest.mark.parametrize("greedy", [False, True])
def test_a_networks_probabilities_are_how_often_it_acts(greedy: bool) -> None:
    tree = tree_of(SMALL)
    policy = policy_of(tree.rules, greedy=greedy, seats_shown=4)
    rows = np.arange(0, tree.num_sets, 900)
    probs = ask_probs(policy, decisions(tree, rows))
    draws = 300
    frequencies = np.zeros(probs.shape)
    asked = decisions(tree, np.repeat(rows, draws))
    np.add.at(frequencies, (np.repeat(np.arange(len(rows)), draws), policy.act(asked, RNG)), 1 / draws)
    error = np.sqrt(probs * (1 - probs) / draws)
    assert (np.abs(frequencies - probs) <= 5 * error + 1e-5).all()
    assert set(np.unique(probs)) == {0.0, 1.0} if greedy else (probs[probs > 0] < 1).any()


def test_a_networks_probabilities_do_not_depend_on_batching() -> None:
    tree = tree_of(SMALL)
    policy = policy_of(tree.rules)
    rows = np.arange(0, tree.num_sets, 20)
    together = policy.probs(decisions(tree, rows))
    assert (policy.probs(decisions(tree, rows[::-1]))[::-1] == together).all()
    assert (policy.probs(decisions(tree, rows[7:8]))[0] == together[7]).all()


@pytest.mark.parametrize("bot", [HEURISTIC, ALWAYS_PASS])
def test_rule_bots_put_everything_on_what_they_do(bot) -> None:
    asked = decisions(tree_of(SMALL))
    probs = ask_probs(bot, asked)
    assert (probs.argmax(axis=1) == bot.act(asked, RNG)).all()
    assert (probs.max(axis=1) == 1).all()


class Answers:
    name = "answers"

    def __init__(self, answer) -> None:
        self.answer = answer

    def act(self, decision, rng):
        raise NotImplementedError

    def probs(self, decision):
        return self.answer(decision.legal_action_mask.astype(float))


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda legal: legal, "must be probabilities of the legal actions"),
        (lambda legal: legal[:, 1:], "is needed"),
        (lambda legal: (1 - legal) / (1 - legal).sum(axis=1, keepdims=True), "must be probabilities"),
        (lambda legal: legal * np.nan, "must be probabilities"),
        (lambda legal: legal["no"], "raised IndexError"),
        (lambda legal: None, "is needed"),
    ],
)
def test_answers_that_are_no_probabilities_are_refused(answer, words: str) -> None:
    with pytest.raises(PolicyFailedError, match=words):
        strategy_of(Answers(answer), tiny_tree())


def test_a_policy_that_writes_into_its_legal_actions_makes_nothing_legal() -> None:
    class Meddles(Answers):
        def probs(self, decision):
            decision.legal_packed[:] = np.uint64(2**64 - 1)
            decision.legal_action_mask[:] = True
            return self.answer(decision.legal_action_mask.astype(float))

    with pytest.raises(PolicyFailedError, match="must be probabilities of the legal actions"):
        strategy_of(Meddles(lambda legal: legal / legal.sum(axis=1, keepdims=True)), tiny_tree())


# --- any policy as a table


def test_a_policy_is_asked_what_a_real_table_would_ask() -> None:
    tree = tree_of(SMALL)
    tables = Tables(tree.rules, 3000)
    tables.deal(shuffled_decks(2, np.arange(3000), pack=tree.rules.pack), 1)
    rows = tree.find(tables.observe_packed())
    asked = decisions(tree, rows)
    assert (rows >= 0).all()
    assert (asked.legal_packed == tables.legal_packed()).all()
    assert (asked.seat == tables.to_act).all()

    class Notes:
        name = "notes"

        def __init__(self) -> None:
            self.asked: list[Decision] = []

        def act(self, decision, rng):
            self.asked.append(decision)
            return Random().act(decision, rng)

    notes = Notes()
    strategy_of(notes, tree, samples=3)
    assert sum(len(decision) for decision in notes.asked) == num_questions(notes, tree, 3) == 3 * tree.num_sets
    assert {decision.rules for decision in notes.asked} == {tree.rules}
    keys = np.concatenate([decision.key for decision in notes.asked])
    assert len(np.unique(keys)) == len(keys)


def test_random_is_uniform_whether_it_tells_or_is_sampled() -> None:
    tree = tree_of(SMALL)
    assert tells_probs(Random())
    assert not tells_probs(Mute(Random()))
    assert (strategy_of(Random(), tree) == uniform(tree)).all()
    sampled = strategy_of(Mute(Random()), tree, samples=400)
    assert np.abs(sampled - uniform(tree)).max() < 5 * 0.5 / np.sqrt(400)
    assert nash_conv(tree, sampled) == pytest.approx(nash_conv(tree, uniform(tree)), abs=0.03)


def test_the_noise_of_samples_counts_as_a_weakness_of_an_equilibrium() -> None:
    tree = tree_of(SMALL)
    solution = solve(tree, target=1e-4, most_iterations=200)
    policy = TabularPolicy(tree, solution.strategy, name="table")
    few, many = (nash_conv(tree, strategy_of(Mute(policy), tree, samples=samples)) for samples in (4, 128))
    assert few > 2 * many > 2 * solution.nash_conv


def test_a_policy_without_lots_is_sampled_exactly() -> None:
    tree = tree_of(SMALL)
    told, asked = strategy_of(HEURISTIC, tree), strategy_of(Mute(HEURISTIC), tree, samples=2)
    assert (told == asked).all()


def test_the_seed_decides_the_samples() -> None:
    one, again, other = (strategy_of(Mute(Random()), tiny_tree(), seed=seed, samples=20) for seed in (4, 4, 5))
    assert (one == again).all()
    assert (one != other).any()


def test_policies_that_fail_are_named() -> None:
    class Cheat:
        name = "cheat"

        def act(self, decision, rng):
            return np.zeros(len(decision), np.int64)

    class Raises:
        name = "raises"

        def act(self, decision, rng):
            raise RuntimeError("out of ideas")

    with pytest.raises(PolicyFailedError, match="'cheat' chose action 0"):
        strategy_of(Cheat(), tiny_tree())
    with pytest.raises(PolicyFailedError, match="'raises' raised RuntimeError: out of ideas"):
        strategy_of(Raises(), tiny_tree())
    with pytest.raises(PolicyError, match="was not trained for"):
        strategy_of(policy_of(Rules.preset("reduced_2p3c")), tiny_tree())


# --- a table as a policy


def test_a_table_comes_back_from_the_policy_that_plays_it() -> None:
    tree = tree_of(SMALL)
    strategy = random_strategy(tree, 7)
    policy = TabularPolicy(tree, strategy, name="table")
    back = strategy_of(policy, tree)
    assert np.allclose(back, strategy, rtol=0, atol=1e-15)
    assert nash_conv(tree, back) == pytest.approx(nash_conv(tree, strategy), abs=1e-12)


def test_a_table_is_played_as_often_as_it_says() -> None:
    tree = tree_of(SMALL)
    strategy = random_strategy(tree, 8)
    policy = TabularPolicy(tree, strategy, name="table")
    sampled = strategy_of(Mute(policy), tree, samples=300)
    assert ((strategy > 0) | (sampled == 0)).all()
    error = np.sqrt(strategy * (1 - strategy) / 300)
    assert (np.abs(sampled - strategy) <= 6 * error).all()


def test_a_table_plays_whole_deals_forced_decisions_included() -> None:
    tree = tree_of(SMALL)
    policy = TabularPolicy(tree, random_strategy(tree, 9), name="table")
    tables = Tables(tree.rules, 500)
    tables.deal(shuffled_decks(6, np.arange(500), pack=tree.rules.pack), np.arange(500) % 2)
    num_forced = 0
    while (waiting := np.flatnonzero(tables.to_act >= 0)).size:
        keys = stream_keys(len(waiting), waiting)
        asked = Decision.from_packed(
            tables.observe_packed()[waiting],
            tables.legal_packed()[waiting],
            tables.to_act[waiting],
            tree.rules,
            keys,
        ).showing(5)
        num_forced += int((asked.legal_action_mask.sum(axis=1) == 1).sum())
        actions = np.zeros(500, np.int64)
        actions[waiting] = check_actions(policy.act(asked, RNG), asked, "table")
        tables.step(actions)
    assert num_forced > 100


def test_a_table_refuses_what_is_not_in_it() -> None:
    tree = tree_of(SMALL)
    policy = TabularPolicy(tree, uniform(tree), name="table")
    tables = Tables(tree.rules, 1)
    tables.deal(shuffled_decks(1, [1], pack=tree.rules.pack), 1, carry=5)
    asked = Decision.from_packed(
        tables.observe_packed(), tables.legal_packed(), tables.to_act, tree.rules, np.zeros(1, np.uint64)
    )
    with pytest.raises(PolicyFailedError, match="no entry for row 0, seat 0"):
        policy.act(asked, RNG)
    with pytest.raises(PolicyError, match="table is a table for the rules"):
        play_line_ups(Rules.preset("pagat"), [policy], np.zeros((1, 4), np.int64), seed=1, deal_ids=[1])
    with pytest.raises(ValueError, match="must be probabilities"):
        TabularPolicy(tree, 2 * uniform(tree), name="table")
