"""`Tables.reshuffle_unseen`: invariant 8, no leak, possible worlds only, and all of them equally often.

Shapes: B tables, N seats.
"""

from collections import Counter
from collections.abc import Hashable

import numpy as np
import pytest
from conftest import EVERY_TABLE, dealt, random_play, start_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from possible_worlds import Evidence, World, assert_possible, possible_worlds, worlds_drawn
from random_play import any_rules
from scipy import stats
from test_properties import assert_each_card_in_one_place, assert_hands_are_full

from bourre_env import Rules, Tables, shuffled_decks
from bourre_env.bourre.table import TABLE

B = 12
HIDDEN = {"hands", "dealt", "pile", "passed_pile", "deck", "stock", "legal"}
every_rules = pytest.mark.parametrize("rules", EVERY_TABLE.values(), ids=EVERY_TABLE)


def some_seats(tables: Tables, step: int) -> NDArray[np.int64]:
    """[B] observers: the seat to act at even tables, any seat at odd ones; -1 where an even table is settled."""
    rows = np.arange(tables.num_tables)
    return np.where(rows % 2 == 0, tables.to_act, (rows // 2 + step) % tables.rules.num_players)


# --- invariant 8 ------------------------------------------------------------------------------------------------------


@every_rules
def test_8_reshuffling_changes_nothing_the_seat_can_see(rules: Rules) -> None:
    tables = dealt(rules, 5 * B, seed=1)
    before = tables.records.copy()
    for step, _ in enumerate(random_play(tables, seed=1)):
        before = tables.records.copy()
        seats = some_seats(tables, step)
        worlds = tables.reshuffle_unseen(seats, seed=step)
        assert tables.records.tobytes() == before.tobytes()
        assert (worlds.observe_packed(seats=seats) == tables.observe_packed(seats=seats)).all()
        own = seats == tables.to_act
        assert (worlds.legal_packed()[own] == tables.legal_packed()[own]).all()
        for name in set(TABLE.names or ()) - HIDDEN:
            assert (worlds.records[name] == before[name]).all(), name
        assert_each_card_in_one_place(worlds)
        assert_hands_are_full(worlds)


@every_rules
def test_8_play_goes_on_in_a_world_as_at_any_table(rules: Rules) -> None:
    tables = dealt(rules, 8, seed=2)
    for step, _ in enumerate(random_play(tables, seed=2)):
        if step % 4 == 0:
            worlds = tables.reshuffle_unseen(tables.to_act, seed=step)
            for _ in random_play(worlds, seed=step):
                assert_each_card_in_one_place(worlds)
            assert worlds.settled.all()


# --- every world is possible ------------------------------------------------------------------------------------------


def assert_all_possible(rules: Rules, num_tables: int, seed: int) -> int:
    """Play at random tables and check a world for some seat at every decision; how many of them had a reshuffle."""
    begin = start_of(rules, num_tables, seed)
    tables = Tables(rules, num_tables)
    tables.deal(**begin)
    histories: list[list[tuple[int, int]]] = [[] for _ in range(num_tables)]
    reshuffles = 0
    for step, actions in enumerate(random_play(tables, seed)):
        worlds = tables.reshuffle_unseen(some_seats(tables, step), seed=seed + step)
        for row in np.flatnonzero(~tables.settled).tolist():
            stacks = begin["stacks"][row].tolist() if "stacks" in begin else None
            money = {"carry": int(begin["carry"][row]), "exempt": begin["exempt"][row].tolist(), "stacks": stacks}
            assert_possible(rules, worlds.records[row], histories[row], **money)
            histories[row].append((int(tables.to_act[row]), int(actions[row])))
            reshuffles += int(worlds.records[row].num_reshuffles > 0)
    return reshuffles


@every_rules
def test_worlds_come_about_by_the_rules_from_their_own_pack(rules: Rules) -> None:
    reshuffles = assert_all_possible(rules, B, seed=3)
    if rules.num_players == 8 and rules.discards_allowed == 5:
        assert reshuffles, "no reshuffle was tested"


@given(rules=any_rules(), seed=st.integers(0, 2**32))
@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_worlds_come_about_under_any_house_rules(rules: Rules, seed: int) -> None:
    assert_all_possible(rules, 3, seed)


# --- every possible world is as likely as any other -------------------------------------------------------------------

_SMALL = {"ranks": "JQKA", "suits": "CD", "max_discards": 3}
_NINE_CARDS = {"ranks": "QKA", "suits": "CDH", "max_discards": 2, "ace_up_dealer_must_stay": False, "hand_size": 2}
_THREE, _FOUR = _SMALL | {"num_players": 3, "hand_size": 2}, _NINE_CARDS | {"num_players": 4}
_TWO_ROUNDS, _PASSED_FIRST = {"declare_mode": "two_rounds"}, {"recycle": "passed_first"}
_ODD_DUTIES = {"must_undertrump": False, "trump_with_highest": True, "dealer_may_discard_turn_up": False}
GAMES = {
    "2p2c": Rules.preset("reduced_2p2c"),
    "2p3c": Rules.preset("reduced_2p3c"),
    "3p2c": Rules.preset("reduced_3p2c"),
    "three": Rules(**_THREE),
    "three-passed-first": Rules(**_THREE, **_PASSED_FIRST),
    "three-two-rounds": Rules(**_THREE, **_TWO_ROUNDS),
    "three-two-rounds-passed-first": Rules(**_THREE, **_TWO_ROUNDS, **_PASSED_FIRST),
    "three-blind": Rules(**_THREE, **_TWO_ROUNDS, blind_declaring=True),
    "three-table": Rules(**_THREE, turn_up_owner="table", lead_rule="top_honour"),
    "three-odd": Rules(**_THREE, **_ODD_DUTIES, lead_rule="any_honour"),
    "two-three-cards": Rules(**_SMALL, num_players=2, hand_size=3),
    "three-nine": Rules(**_NINE_CARDS, num_players=3),
    "four": Rules(**_FOUR),
    "four-two-rounds": Rules(**_FOUR, **_TWO_ROUNDS),
    "four-two-rounds-passed-first": Rules(**_FOUR, **_TWO_ROUNDS, **_PASSED_FIRST),
}


def played(rules: Rules, seed: int, decisions: int) -> tuple[Tables, list[tuple[int, int]]]:
    """One table after some random decisions, and these."""
    tables, rng = Tables(rules, 1), np.random.default_rng(seed)
    tables.deal(shuffled_decks(seed, [0], pack=rules.pack), seed % rules.num_players)
    history = []
    for _ in range(decisions):
        legal = np.flatnonzero(tables.legal_action_mask()[0])
        may_pass = legal[-1] == tables.num_actions - 1
        passes = may_pass and (len(legal) == 1 or rng.random() < 0.25)
        action = int(legal[-1] if passes else rng.choice(legal[:-1] if may_pass else legal))
        history.append((int(tables.to_act[0]), action))
        tables.step([action])
    return tables, history


POINTS = {
    "2p2c": [(0, 0, 1), (0, 2, 1), (0, 4, 0), (0, 7, 0), (1, 8, 0)],
    "2p3c": [(0, 0, 1), (0, 2, 1), (0, 5, 0), (0, 6, 0), (3, 1, 1)],
    "3p2c": [(0, 0, 1), (0, 3, 0), (0, 5, 0), (0, 7, 0), (1, 9, 1)],
    "three": [(0, 1, 0), (0, 3, 1), (0, 6, 2), (1, 6, 0), (3, 2, 0), (4, 2, 0), (4, 3, 0), (6, 9, 0)],
    "three-passed-first": [(0, 0, 0), (0, 5, 0), (1, 3, 0), (1, 5, 0), (3, 2, 0), (14, 9, 2), (15, 2, 2)],
    "three-two-rounds": [(0, 0, 0), (0, 3, 0), (0, 7, 1), (1, 5, 0), (2, 5, 1), (2, 9, 2), (6, 12, 0)],
    "three-two-rounds-passed-first": [(0, 1, 0), (0, 6, 1), (0, 9, 0), (1, 5, 1), (1, 7, 1), (2, 5, 1), (97, 12, 1)],
    "three-blind": [(0, 0, 0), (0, 3, 0), (0, 6, 0), (0, 10, 2), (1, 7, 0), (2, 5, 1), (2, 7, 2), (5, 12, 2)],
    "three-table": [(0, 0, 1), (0, 3, 2), (1, 5, 1), (2, 5, 0), (4, 2, 0), (4, 3, 0), (16, 7, 0)],
    "three-odd": [(0, 3, 0), (0, 5, 1), (0, 7, 0), (1, 5, 0), (4, 2, 0), (4, 3, 1), (41, 7, 1), (33, 5, 0), (52, 5, 1)],
    "two-three-cards": [(0, 0, 1), (0, 3, 0), (1, 2, 1), (2, 3, 1), (2, 6, 1), (6, 4, 0)],
    "three-nine": [(0, 3, 1), (1, 7, 0), (2, 3, 0), (2, 5, 0), (5, 3, 0), (5, 6, 0)],
    "four": [(0, 0, 1), (2, 4, 0), (4, 2, 1), (10, 4, 1), (10, 7, 1)],
    "four-two-rounds": [(0, 4, 0), (0, 10, 2), (5, 8, 0), (6, 6, 0)],
    "four-two-rounds-passed-first": [(0, 4, 0), (1, 9, 0), (1, 10, 2)],
}
"""Where worlds are counted: (seed of the game, decisions taken, observer)."""

POINTS_WITH_STRAYS = {
    "three": [(1, 3, 0), (1, 5, 2), (6, 4, 2), (9, 2, 1), (35, 2, 0), (41, 6, 1), (53, 5, 1)],
    "three-passed-first": [(4, 2, 2), (6, 3, 1), (9, 2, 1), (16, 3, 0), (101, 7, 0), (147, 7, 2), (170, 6, 1)],
    "three-two-rounds": [(2, 10, 1), (5, 6, 1), (9, 6, 2), (37, 7, 2), (71, 9, 1), (107, 5, 0), (286, 7, 2)],
    "three-two-rounds-passed-first": [(2, 8, 1), (5, 6, 0), (5, 9, 1), (8, 10, 1), (13, 7, 2), (33, 9, 2), (74, 5, 0)],
    "three-blind": [(1, 5, 2), (5, 6, 1), (8, 11, 1), (33, 9, 1), (57, 5, 1), (68, 5, 0)],
    "three-table": [(1, 3, 2), (16, 4, 0), (16, 6, 2), (32, 6, 0), (53, 2, 0), (167, 3, 0), (279, 3, 1)],
    "three-odd": [(1, 4, 0), (4, 2, 2), (9, 2, 1), (33, 4, 1), (41, 6, 0), (64, 6, 0), (101, 6, 1)],
    "three-nine": [(1, 5, 2), (5, 5, 1), (9, 6, 2), (13, 2, 2), (24, 6, 2), (24, 8, 1), (61, 2, 2)],
    "four": [(1, 8, 3), (4, 7, 3), (7, 7, 1), (7, 8, 2), (37, 3, 2), (95, 3, 1), (279, 4, 0), (364, 4, 1)],
    "four-two-rounds": [(1, 11, 0), (2, 6, 3), (4, 9, 2), (7, 11, 0), (16, 10, 2), (18, 6, 3)],
    "four-two-rounds-passed-first": [(2, 7, 3), (2, 10, 3)],
}
"""Points at which a card the observer knows was reshuffled may or may not be in somebody's hand."""

DRAWS = 20_000
LEAST_P = 1e-4


def p_value(possible: Counter[Hashable], drawn: Counter[Hashable]) -> float:
    """Chance of draws at least this uneven if every way a world comes about is equally likely; rare ones are pooled."""
    assert set(drawn) <= set(possible), "a world was drawn that is not possible"
    ways = np.array(list(possible.values()), float)
    expected = ways / ways.sum() * drawn.total()
    found = np.array([drawn[world] for world in possible], float)
    rare = expected < 5
    expected, found = (np.append(counts[~rare], counts[rare].sum()) for counts in (expected, found))
    tested = expected > 0
    return float(stats.chisquare(found[tested], expected[tested]).pvalue) if tested.sum() > 1 else 1.0


def hands_only(worlds: Counter[World], num_players: int) -> Counter[World]:
    """The same counts by the hands alone."""
    counts: Counter[World] = Counter()
    for world, number in worlds.items():
        counts[world[:num_players]] += number
    return counts


def some_card_wanders(evidence: Evidence, worlds: Counter[World]) -> bool:
    """Whether a card the observer once knew the place of may now be in a hand or not, or in several hands."""
    known = evidence.own_dealt - evidence.own_hand | {evidence.turn_up}
    hands = [world[: evidence.rules.num_players] for world in worlds]
    places = [{next((seat for seat, hand in enumerate(held) if card in hand), -1) for held in hands} for card in known]
    return any(len(seats) > 1 for seats in places)


def assert_uniform(rules: Rules, seed: int, decisions: int, observer: int) -> tuple[Evidence, Counter[World]]:
    """Worlds drawn at a point are all possible ones, equally often."""
    tables, history = played(rules, seed, decisions)
    evidence = Evidence(tables, history, observer)
    possible = possible_worlds(evidence)
    drawn = worlds_drawn(tables.take(np.zeros(DRAWS, int)).reshuffle_unseen(observer, seed=seed))
    assert p_value(possible, drawn) > LEAST_P
    seats = rules.num_players
    assert p_value(hands_only(possible, seats), hands_only(drawn, seats)) > LEAST_P
    return evidence, possible


@pytest.mark.parametrize("game", POINTS)
def test_worlds_are_uniform(game: str) -> None:
    worlds = [assert_uniform(GAMES[game], *point)[1] for point in POINTS[game]]
    assert all(len(possible) >= 8 for possible in worlds)


@pytest.mark.parametrize("game", POINTS_WITH_STRAYS)
def test_worlds_are_uniform_when_known_cards_were_reshuffled(game: str) -> None:
    for point in POINTS_WITH_STRAYS[game]:
        assert some_card_wanders(*assert_uniform(GAMES[game], *point))


def test_packs_are_uniform_before_the_first_declaration() -> None:
    tables, _ = played(GAMES["2p2c"], seed=0, decisions=0)  # seat 0 deals; seat 1 has the first and the third card
    decks = tables.take(np.zeros(24_000, int)).reshuffle_unseen(1, seed=1).records["deck"][:, :8]
    packs, counts = np.unique(decks, axis=0, return_counts=True)
    assert len(packs) == 2 * 120  # its two cards in either order, the turn-up in its place, the other five in any order
    assert (packs[:, 3] == tables.records["turn_up"][0]).all()
    assert {frozenset(pack) for pack in packs[:, [0, 2]].tolist()} == {
        frozenset(tables.records["deck"][0, [0, 2]].tolist())
    }
    assert stats.chisquare(counts).pvalue > LEAST_P


# --- no leak ----------------------------------------------------------------------------------------------------------


@every_rules
def test_tables_the_seat_cannot_tell_apart_give_the_same_worlds(rules: Rules) -> None:
    tables = dealt(rules, 5 * B, seed=4)
    differ = 0
    for step, _ in enumerate(random_play(tables, seed=4)):
        seats = some_seats(tables, step)
        others = tables.reshuffle_unseen(seats, seed=step)
        redrawn = seats >= 0
        one, other = tables.reshuffle_unseen(seats, seed=77), others.reshuffle_unseen(seats, seed=77)
        assert one.records[redrawn].tobytes() == other.records[redrawn].tobytes()
        differ += int((tables.records["hands"] != others.records["hands"]).any(axis=1).sum())
    assert differ > 0


def test_worlds_have_nothing_to_do_with_packs_of_the_same_seed() -> None:
    tables = Tables(Rules(num_players=2), 4000)
    tables.deal(shuffled_decks(5, np.arange(4000)), dealer=0)
    hands = tables.reshuffle_unseen(1, seed=5).records["hands"][:, :1]
    true_stock = tables.records["deck"][:, 10:].astype(np.uint64)
    in_hand = (hands >> true_stock & np.uint64(1)).mean(axis=0)
    share = 4 / 46  # of the unseen cards, in the dealer's hand beside the turn-up
    assert np.abs(in_hand - share).max() < 5 * np.sqrt(share / 4000)


# --- rows, seeds, arguments -------------------------------------------------------------------------------------------


def test_11_a_row_depends_on_its_number_and_the_seed_only() -> None:
    tables = dealt(Rules.preset("pagat", num_players=5), 40, seed=6)
    for step, _ in enumerate(random_play(tables, seed=6)):
        seats = (np.arange(40) + step) % 5
        worlds = tables.reshuffle_unseen(seats, seed=9)
        assert tables.reshuffle_unseen(seats, seed=9).records.tobytes() == worlds.records.tobytes()
        first = tables.take(np.arange(7)).reshuffle_unseen(seats[:7], seed=9)
        assert first.records.tobytes() == worlds.records[:7].tobytes()
        mixed = tables.take(np.append(np.zeros(39, int), 39)).reshuffle_unseen(
            np.append(np.zeros(39, int), seats[39]), 9
        )
        assert mixed.records[39:].tobytes() == worlds.records[39:].tobytes()
    begun = dealt(Rules(), 40, seed=6)
    one, other = (begun.reshuffle_unseen(0, seed=seed).records["hands"] for seed in (1, 2))
    assert (one != other).any(axis=1).all()
    assert len(np.unique(begun.take(np.zeros(40, int)).reshuffle_unseen(0, seed=1).records["hands"], axis=0)) == 40


def test_rows_may_be_given_streams_of_their_own() -> None:
    """Then what is drawn depends neither on a row's place nor on the number of rows."""
    tables = dealt(Rules.preset("pagat", num_players=5), 40, seed=6)
    worlds = tables.reshuffle_unseen(2, seed=9)
    assert tables.reshuffle_unseen(2, seed=9, streams=np.arange(40)).records.tobytes() == worlds.records.tobytes()
    chosen = np.array([31, 4, 17])
    again = tables.take(chosen).reshuffle_unseen(2, seed=9, streams=chosen)
    assert again.records.tobytes() == worlds.records[chosen].tobytes()
    assert tables.reshuffle_unseen(2, seed=9, streams=np.arange(40) + 1).records.tobytes() != worlds.records.tobytes()


def test_seat_minus_one_and_a_table_never_dealt_stay_as_they_are() -> None:
    tables = dealt(Rules(), 6, seed=7)
    worlds = tables.reshuffle_unseen([-1, 0, -1, 1, -1, 2], seed=1)
    changed = (worlds.records["hands"] != tables.records["hands"]).any(axis=1)
    assert changed.tolist() == [False, True] * 3
    assert worlds.records[::2].tobytes() == tables.records[::2].tobytes()
    empty = Tables(Rules(), 3)
    assert empty.reshuffle_unseen(2, seed=1).records.tobytes() == empty.records.tobytes()


def test_settled_tables_do_not_show_what_was_never_shown() -> None:
    tables = dealt(Rules(num_players=6), 200, seed=8)
    for _ in random_play(tables, seed=8):
        pass
    worlds = tables.reshuffle_unseen(0, seed=1)
    assert (worlds.records["played"] == tables.records["played"]).all()
    assert (worlds.returns == tables.returns).all()
    assert (worlds.records["deck"] != tables.records["deck"]).any(axis=1).all()
    assert_each_card_in_one_place(worlds)


def test_wrong_arguments_are_refused_with_what_is_allowed() -> None:
    tables = dealt(Rules(), 3, seed=9)
    with pytest.raises(ValueError, match="seat is 4; it must be from -1 to 3"):
        tables.reshuffle_unseen(4, seed=1)
    with pytest.raises(ValueError, match=r"seat is .* it must be one integer or 3 of them"):
        tables.reshuffle_unseen([0, 1], seed=1)
    with pytest.raises(ValueError, match="seed -1 is not an integer from 0"):
        tables.reshuffle_unseen(0, seed=-1)
    with pytest.raises(ValueError, match="streams is -1; it must be from 0"):
        tables.reshuffle_unseen(0, seed=1, streams=[0, -1, 2])
    with pytest.raises(ValueError, match=r"streams is .* it must be one integer or 3 of them"):
        tables.reshuffle_unseen(0, seed=1, streams=[0, 1])


def test_observers_with_cards_in_every_place_are_met() -> None:
    """The properties above are worth something only if discards come back in other hands, cinch or not."""
    tables = dealt(Rules.preset("pagat", num_players=8), 200, seed=10)
    came_back = 0
    for _ in random_play(tables, seed=10):
        records, seats = tables.records, np.maximum(tables.to_act, 0)
        rows = np.arange(len(records))
        own = records["dealt"][rows, seats] & ~(records["hands"] | records["played"])[rows, seats]
        worlds = tables.reshuffle_unseen(tables.to_act, seed=1)
        in_hands = np.bitwise_or.reduce(worlds.records["hands"], axis=1)
        came_back += int((own & in_hands > 0).sum())
    assert came_back > 100
