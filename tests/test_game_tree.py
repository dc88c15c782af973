"""Game trees: their size, what an information set is, and that a table meets exactly those of its tree."""

from typing import Any

import numpy as np
import pytest
from small_games import REDUCED, SMALL, legal_actions, tiny_tree, tree_of

from agents.game_tree import NO_ACTION, GameTree, build_tree
from bourre_env import Rules, RulesError, Tables, shuffled_decks
from bourre_env.bourre.table import DECLARE, DRAW

SIZES = {
    # positions and information sets of bourre_env.openspiel with play_forced=True, counted by walking it
    "reduced_2p2c": (277_493, 11_368),
    "reduced_2p3c": (653_789, 69_002),
    "reduced_3p2c": (1_469_829, 32_492),
}


@pytest.mark.parametrize("name", REDUCED)
def test_a_tree_has_as_many_positions_and_information_sets_as_openspiels(name: str) -> None:
    tree = tree_of(name)
    assert (tree.num_nodes, tree.num_sets) == SIZES[name]
    assert tree.num_nodes == tree.num_decisions + tree.num_ends + tree.num_chance


def test_without_the_flag_of_a_discarded_turn_up_the_counts_are_those_of_the_notes() -> None:
    """A solver that did not show a turn-up laid face up (rule 3.6) counted 9.6, 60 and 28 thousand."""
    counts = []
    for name in REDUCED:
        hidden = tree_of(name).packed.copy()
        discards = Tables(Rules.preset(name), 1).layout.segments["turn_up_gone"]
        hidden[:, discards.word] &= ~np.uint64(1 << discards.first_bit)
        counts.append(len(np.unique(hidden, axis=0)))
    assert counts == [9_604, 60_430, 28_036]


@pytest.mark.parametrize("tree", [tiny_tree(), tree_of(SMALL)], ids=["tiny", SMALL])
def test_sequences_hang_together(tree: GameTree) -> None:
    seats = tree.rules.num_players
    owner = np.concatenate([np.arange(seats), tree.seat[tree.set_of_sequence]])
    assert (owner[tree.parent] == tree.seat).all()
    assert (tree.parent < tree.first[:-1]).all()  # what leads to a set comes before it
    assert (tree.first[0], tree.first[-1]) == (seats, tree.num_sequences)
    assert (tree.action[:seats] == NO_ACTION).all()
    assert (owner[tree.sequences] == np.arange(seats)[:, None]).all()
    listed = np.zeros(legal_actions(tree).shape, np.bool_)
    listed[tree.set_of_sequence, tree.action[seats:]] = True
    assert (listed == legal_actions(tree)).all()
    assert (np.diff(tree.first) > 1).all()  # no forced choice is in the tree


@pytest.mark.parametrize("name", REDUCED)
def test_ends_are_different_zero_sum_and_as_likely_as_their_cards(name: str) -> None:
    tree = tree_of(name)
    assert len(np.unique(tree.sequences, axis=1).T) == tree.sequences.shape[1] <= tree.num_ends
    assert np.abs(tree.payoffs.sum(axis=0)).max() < 1e-12
    last_one_takes_all = tree.sequences[:, (tree.sequences[-1] == tree.rules.num_players - 1)]
    assert last_one_takes_all.shape[1] > 0  # everybody passed before the dealer, who had nothing to decide


@pytest.mark.parametrize("name", REDUCED)
def test_an_information_set_is_exactly_what_a_seat_has_seen_and_done(name: str) -> None:
    """Perfect recall, one to one: equal observations at equal views, and no observation for two views."""
    tree = tree_of(name)
    view_of: dict[int, Any] = {}
    set_of: dict[Any, int] = {}
    for view, found, is_choice in views_met(tree, 40_000 if name == SMALL else 8_000):
        assert (found >= 0) == is_choice
        if is_choice:
            assert view_of.setdefault(found, view) == view
            assert set_of.setdefault(view, found) == found
    assert len(view_of) / tree.num_sets > (0.85 if name == SMALL else 0.1)


def views_met(tree: GameTree, deals: int) -> list[tuple[Any, int, bool]]:
    """Decisions of random deals: what the seat has seen and done, the set the tree has for it, whether it has a choice.

    Views are written down here from the actions and cards alone, not from the observation.
    """
    rules = tree.rules
    tables = Tables(rules, deals)
    tables.deal(shuffled_decks(3, np.arange(deals), pack=rules.pack), rules.num_players - 1)
    records = tables.records
    seen: list[list[list[Any]]] = [
        [[int(records["turn_up"][row]), int(records["dealt"][row, seat])] for seat in range(rules.num_players)]
        for row in range(deals)
    ]
    met = []
    for step in range(rules.max_decisions):
        waiting = np.flatnonzero(tables.to_act >= 0)
        found = tree.find(tables.observe_packed())
        seats, phases, legal = tables.to_act, records["phase"].copy(), tables.legal_action_mask()
        actions = random_actions(legal, step)
        tables.step(actions)
        face_up, hands = records["face_up"], records["hands"]
        for row in waiting.tolist():
            seat, action, phase = int(seats[row]), int(actions[row]), int(phases[row])
            met.append(((seat, *seen[row][seat]), int(found[row]), legal[row].sum() > 1))
            for other in range(rules.num_players):
                is_own = other == seat
                shown: Any = action
                if phase == DRAW:
                    drawn = (action - len(rules.pack)).bit_count()
                    shown = (action, int(hands[row, seat])) if is_own else (drawn, int(face_up[row]))
                seen[row][other].append((seat, phase == DECLARE, shown))
    return met


def random_actions(legal: np.ndarray, step: int) -> np.ndarray:
    """[B] actions, each legal one as likely but for passes, which are rarer; any where there is none."""
    scores = np.where(legal, np.random.default_rng(step).random(legal.shape), -1)
    scores[:, -1] *= 0.3
    return scores.argmax(axis=1)


def test_an_observation_that_never_comes_up_is_not_found() -> None:
    tree = tree_of(SMALL)
    rows = np.concatenate([tree.packed[5:8], np.zeros((1, tree.packed.shape[1]), np.uint64)])
    assert tree.find(rows).tolist() == [5, 6, 7, -1]
    assert tree.find(tree.packed).tolist() == list(range(tree.num_sets))
    with pytest.raises(ValueError, match="rows of 8 words"):
        tree.find(rows[:, :5])


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (Rules.preset("pagat"), "more than 10,000"),
        (Rules.preset("french3", num_players=2), "13,592,880 deals"),
        (Rules.preset(SMALL, ranks="KA"), "can need a reshuffle"),
    ],
)
def test_games_that_are_too_large_are_refused(rules: Rules, words: str) -> None:
    with pytest.raises(RulesError, match=words):
        build_tree(rules)
