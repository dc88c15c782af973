"""The invariants of the engine (their numbers are in the names of the tests), at many random tables at once.

Invariant 8 (what a seat cannot see does not matter) and the encode/decode part of 9 are in `test_observation.py`; 13
(engine equals oracle) is in `test_oracle.py`. Shapes: B tables, N seats.
"""

from typing import Any

import numpy as np
import pytest
from conftest import EVERY_TABLE, PAGAT_TABLES, TABLE_SIZES, dealt, random_actions, random_play, same_tables, start_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from random_play import any_rules

from bourre_env import IllegalActionError, Rules, Tables, shuffled_decks
from bourre_env.bourre.observation import FIRST_TRICK, LED_SUIT, OWN_HAND
from bourre_env.bourre.table import DECLARE, PLAY
from bourre_env.cards import ALL_CARDS, to_real, to_relative
from bourre_env.table_batch import Records

B = 60
every_rules = pytest.mark.parametrize("rules", EVERY_TABLE.values(), ids=EVERY_TABLE)
pagat_rules = pytest.mark.parametrize("rules", PAGAT_TABLES.values(), ids=PAGAT_TABLES)
any_house_rules = given(rules=any_rules(), seed=st.integers(0, 2**32))
few_examples = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])


def chips_on_the_table(tables: Tables) -> NDArray[np.int64]:
    """[B] chips won and lost by the seats, and those in the pot or left in it."""
    in_pot = np.where(tables.settled, tables.carry, tables.pot)
    return tables.returns.sum(axis=1, dtype=np.int64) + in_pot


def stock_cards(records: Records) -> NDArray[np.uint64]:
    """[B] the cards that can still be served, as sets."""
    places = np.arange(records["stock"].shape[1])
    waiting = (places >= records["stock_next"][:, None]) & (places < records["stock_end"][:, None])
    bits = np.uint64(1) << records["stock"].astype(np.uint64)
    return np.where(waiting, bits, 0).sum(axis=1, dtype=np.uint64)


def pack_of(rules: Rules) -> int:
    """The whole pack as a set; trumps are one of its suits, so relative and real ids name the same set."""
    return sum(1 << card for card in rules.pack)


def assert_each_card_in_one_place(tables: Tables) -> None:
    """Hands, played cards, piles, cards out of play and stock are the pack, with nothing twice."""
    records = tables.records
    singles = [records["pile"], records["passed_pile"], records["face_up"], stock_cards(records)]
    places = np.concatenate([records["hands"], records["played"], np.stack(singles, axis=1)], axis=1)
    assert (np.bitwise_or.reduce(places, axis=1) == pack_of(tables.rules)).all()
    assert (np.bitwise_count(places).sum(axis=1) == len(tables.rules.pack)).all()
    in_tricks = np.bitwise_or.reduce(records["tricks"], axis=1)
    assert (in_tricks == np.bitwise_or.reduce(records["played"], axis=1)).all()
    unseated = slice(tables.rules.num_players, None)
    assert not records["hands"][:, unseated].any()
    assert not records["played"][:, unseated].any()


def assert_hands_are_full(tables: Tables) -> None:
    """A seat that has not passed holds or has played `hand_size` cards, one that has passed holds none."""
    records, seats = tables.records, tables.rules.num_players
    cards = np.bitwise_count(records["hands"] | records["played"])[:, :seats]
    passed = np.unpackbits(records["passed"][:, None], axis=1, bitorder="little")[:, :seats].astype(bool)
    assert (cards == np.where(passed, 0, tables.rules.hand_size)).all()


def assert_choices_fit_the_phase(tables: Tables) -> None:
    """Who is to act has a legal action, a settled row none; cards are played from the hand, passes are declared."""
    mask, records, settled = tables.legal_action_mask(), tables.records, tables.settled
    stays = len(tables.rules.pack)
    assert (mask.any(axis=1) == ~settled).all()
    assert ((tables.to_act == -1) == settled).all()
    assert not mask[settled].any()
    plays = records["phase"] == PLAY
    assert (mask[:, :stays].any(axis=1) == plays).all()
    assert (mask[:, stays:].any(axis=1) == (~plays & ~settled)).all()
    assert not mask[records["phase"] != DECLARE, -1].any()
    if stays == 52:
        hand = records["hands"][np.arange(len(records)), np.maximum(tables.to_act, 0)]
        assert not (tables.legal_packed()[plays, 0] & ~hand[plays]).any()


# --- 1, 2, 3, 10 -----------------------------------------------------------------------------------------------------


@every_rules
def test_1_chips_and_pot_add_up_after_every_action(rules: Rules) -> None:
    tables = dealt(rules, B, seed=1)
    carried = tables.carry
    for _ in random_play(tables, seed=1):
        assert (chips_on_the_table(tables) == carried).all()
    assert (chips_on_the_table(tables) == carried).all()
    assert not tables.pot.any()
    assert (tables.carry >= 0).all()


@every_rules
def test_2_each_card_is_in_one_place(rules: Rules) -> None:
    tables = dealt(rules, B, seed=2)
    for _ in random_play(tables, seed=2):
        assert_each_card_in_one_place(tables)
        assert_hands_are_full(tables)
    assert_each_card_in_one_place(tables)
    if rules.num_players == 8 and rules.discards_allowed == 5:
        assert tables.records["num_reshuffles"].any(), "no reshuffle was tested"


@every_rules
def test_3_seat_to_act_has_a_legal_action_and_a_settled_row_none(rules: Rules) -> None:
    tables = dealt(rules, B, seed=3)
    for _ in random_play(tables, seed=3):
        assert_choices_fit_the_phase(tables)
    assert_choices_fit_the_phase(tables)
    assert not tables.legal_packed().any()


@few_examples
@any_house_rules
def test_1_2_3_and_10_hold_under_any_house_rules(rules: Rules, seed: int) -> None:
    tables = dealt(rules, 8, seed)
    carried, decisions = tables.carry, 0
    for _ in random_play(tables, seed):
        assert (chips_on_the_table(tables) == carried).all()
        assert_each_card_in_one_place(tables)
        assert_choices_fit_the_phase(tables)
        decisions += 1
    assert decisions <= rules.max_decisions
    assert (chips_on_the_table(tables) == carried).all()
    assert_each_card_in_one_place(tables)


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_10_deal_ends_within_its_stated_number_of_decisions_and_can_reach_it(num_players: int) -> None:
    rules = Rules.preset("pagat", num_players=num_players)
    assert rules.max_decisions == num_players * 6
    decisions = sum(1 for _ in random_play(dealt(rules, 300, seed=10), seed=10))
    assert decisions <= rules.max_decisions
    everybody_stays = dealt(rules, 1, seed=10)
    longest = 0
    while not everybody_stays.settled[0]:
        everybody_stays.step([int(everybody_stays.legal_action_mask()[0].argmax())])
        longest += 1
    assert longest == rules.max_decisions


# --- 4 illegal actions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_players", [2, 4])
def test_4_every_illegal_action_is_refused_and_changes_no_byte(num_players: int) -> None:
    tables = dealt(Rules.preset("pagat", num_players=num_players), 1, seed=4)
    beyond = [-(2**63), -1, 85, 127, 128, 2**31, 2**63 - 1]
    for _ in random_play(tables, seed=4):
        before = tables.records.tobytes()
        for action in [*np.flatnonzero(~tables.legal_action_mask()[0]), *beyond]:
            with pytest.raises(IllegalActionError, match=f"table 0, seat {tables.to_act[0]}, phase .* is not legal"):
                tables.step([action])
            assert tables.records.tobytes() == before


@every_rules
def test_4_one_illegal_action_among_many_stops_every_table(rules: Rules) -> None:
    tables, rng = dealt(rules, B, seed=5), np.random.default_rng(5)
    for actions in random_play(tables, seed=5):
        row = int(rng.choice(np.flatnonzero(~tables.settled)))
        illegal = int(rng.choice(np.flatnonzero(~tables.legal_action_mask()[row])))
        before = tables.records.tobytes()
        for play_forced in (False, True):
            with pytest.raises(IllegalActionError, match=f"^table {row}, seat {tables.to_act[row]}, "):
                tables.step(np.where(np.arange(B) == row, illegal, actions), play_forced=play_forced)
            assert tables.records.tobytes() == before


# --- 5 rows are independent ------------------------------------------------------------------------------------------


@every_rules
def test_5_row_of_a_batch_equals_that_table_in_any_other_batch(rules: Rules) -> None:
    seats_shown = 8 if rules.num_players % 2 else None
    begin, tables = start_of(rules, 40, seed=6), dealt(rules, 40, seed=6, seats_shown=seats_shown)
    order = np.random.default_rng(6).permutation(40)
    batches = [order[:1], order[1:2], order[2:9], order[9:]]
    others = [Tables(rules, len(rows), seats_shown) for rows in batches]
    for other, rows in zip(others, batches, strict=True):
        other.deal(**{name: values[rows] for name, values in begin.items()})
    for actions in random_play(tables, seed=6):
        observed, legal, hidden = tables.observe_packed(), tables.legal_packed(), tables.hidden_packed()
        for other, rows in zip(others, batches, strict=True):
            assert same_tables(other.records, tables.records[rows])
            assert (other.observe_packed() == observed[rows]).all()
            assert (other.legal_packed() == legal[rows]).all()
            assert (other.hidden_packed() == hidden[rows]).all()
            other.step(actions[rows])
    for other, rows in zip(others, batches, strict=True):
        assert same_tables(other.records, tables.records[rows])


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_5_rows_dealt_again_at_different_times_do_not_touch_each_other(num_players: int) -> None:
    """Three deals at each row, the next one begun as soon as the row is settled: like one table alone, row by row."""
    rules, rng = Rules.preset("pagat_limit", num_players=num_players), np.random.default_rng(7)
    tables = dealt(rules, 20, seed=7)
    alone = [Tables(rules, 1) for _ in range(20)]
    begin = start_of(rules, 20, seed=7)
    for row, table in enumerate(alone):
        table.deal(**{name: values[row : row + 1] for name, values in begin.items()})
    deals = 20
    while deals < 60:
        actions = random_actions(tables.legal_action_mask(), rng)
        tables.step(actions)
        for row, table in enumerate(alone):
            table.step(actions[row : row + 1])
        rows = rng.permutation(np.flatnonzero(tables.settled))
        decks = shuffled_decks(8, deals + np.arange(len(rows)))
        tables.deal(decks, (tables.dealer[rows] + 1) % num_players, tables.carry[rows], tables.exempt[rows], rows=rows)
        for place, row in enumerate(rows):
            table = alone[row]
            table.deal(decks[place : place + 1], (table.dealer + 1) % num_players, table.carry, table.exempt)
        deals += len(rows)
        assert tables.records.tobytes() == b"".join(table.records.tobytes() for table in alone)


# --- 6 seats, 7 suits ------------------------------------------------------------------------------------------------


def turned(values: NDArray[Any], by: NDArray[np.int64]) -> NDArray[Any]:
    """[B, N] values by seat, each row moved clockwise by its number of seats."""
    seats = values.shape[1]
    return np.take_along_axis(values, (np.arange(seats) - by[:, None]) % seats, axis=1)


@every_rules
def test_6_moving_everybody_round_the_table_moves_everything(rules: Rules) -> None:
    seats = rules.num_players
    seats_shown = 8 if seats % 2 else None
    begin, by = start_of(rules, B, seed=8), np.random.default_rng(8).integers(1, seats, B)
    moved = begin | {"dealer": (begin["dealer"] + by) % seats, "exempt": turned(begin["exempt"], by)}
    tables, others = Tables(rules, B, seats_shown), Tables(rules, B, seats_shown)
    tables.deal(**begin)
    others.deal(**moved)
    for actions in random_play(tables, seed=8):
        assert (others.observe_packed() == tables.observe_packed()).all()
        assert (others.legal_packed() == tables.legal_packed()).all()
        assert (others.hidden_packed() == tables.hidden_packed()).all()
        assert (others.to_act == np.where(tables.settled, -1, (tables.to_act + by) % seats)).all()
        others.step(actions)
    assert others.settled.all()
    assert (others.returns == turned(tables.returns, by)).all()
    assert (others.exempt == turned(tables.exempt, by)).all()
    assert (others.carry == tables.carry).all()
    for name in ("hands", "played", "num_discards", "tricks_won"):
        assert (others.records[name][:, :seats] == turned(tables.records[name][:, :seats], by)).all()


def renamed_decks(decks: NDArray[np.int8], names: NDArray[np.int64]) -> NDArray[np.int64]:
    """Each row's cards with suit s called `names`[row, s]."""
    return 13 * np.take_along_axis(names, decks // 13, axis=1) + decks % 13


def trumps_of(rules: Rules, decks: NDArray[np.int8]) -> NDArray[np.int64]:
    """[B] trump suits, by rule 2.2."""
    return decks[:, rules.num_players * rules.hand_size - 1].astype(np.int64) // 13


@pagat_rules
def test_7_another_trump_suit_with_the_side_suits_in_their_order_changes_nothing(rules: Rules) -> None:
    begin = start_of(rules, B, seed=9)
    old = trumps_of(rules, begin["decks"])
    new = (old + np.random.default_rng(9).integers(1, 4, B)) % 4
    names = np.empty((B, 4), np.int64)
    for row in range(B):
        names[row, [suit for suit in range(4) if suit != old[row]]] = [suit for suit in range(4) if suit != new[row]]
        names[row, old[row]] = new[row]
    tables, others = Tables(rules, B), Tables(rules, B)
    tables.deal(**begin)
    others.deal(**(begin | {"decks": renamed_decks(begin["decks"], names)}))
    assert (others.records["trump_suit"] == new).all()
    for actions in random_play(tables, seed=9):
        assert (others.observe_packed() == tables.observe_packed()).all()
        assert (others.legal_packed() == tables.legal_packed()).all()
        others.step(actions)
    others.records["trump_suit"] = tables.records["trump_suit"]
    assert others.records.tobytes() == tables.records.tobytes()


class Renaming:
    """Any renaming of the suits at each table: sets of relative cards and actions in the new names."""

    def __init__(self, old_trumps: NDArray[np.int64], names: NDArray[np.int64]) -> None:
        """Work out the new relative suit of each relative suit; `names` [B, 4] are the new real suits."""
        rows = np.arange(len(names))
        new_trumps = names[rows, old_trumps]
        real = np.array([[int(to_real(13 * suit, trump)) // 13 for suit in range(4)] for trump in old_trumps])
        new_real = np.take_along_axis(names, real, axis=1)
        self.suits = np.array(
            [
                [int(to_relative(13 * suit, trump)) // 13 for suit in row]
                for row, trump in zip(new_real.tolist(), new_trumps.tolist(), strict=True)
            ]
        )

    def sets(self, cards: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """[B, …] sets of relative cards."""
        shape = (len(cards),) + (1,) * (cards.ndim - 1)
        renamed = np.zeros_like(cards)
        for suit in range(4):
            in_suit = (cards >> np.uint64(13 * suit)) & np.uint64(0x1FFF)
            renamed |= in_suit << (13 * self.suits[:, suit].astype(np.uint64)).reshape(shape)
        return renamed

    def action(self, row: int, action: int, hand: int, new_hand: int) -> int:
        """An action of a full pack, where the seat to act holds `hand`, under the new names `new_hand`."""
        if action == 84:
            return action
        if action < 52:
            return 13 * int(self.suits[row, action // 13]) + action % 13
        held = [card for card in range(52) if hand >> card & 1]
        thrown = [card for place, card in enumerate(held) if action - 52 >> place & 1]
        renamed = {13 * int(self.suits[row, card // 13]) + card % 13 for card in thrown}
        new_held = [card for card in range(52) if new_hand >> card & 1]
        return 52 + sum(1 << place for place, card in enumerate(new_held) if card in renamed)


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_7_renaming_suits_renames_play_and_changes_no_result(num_players: int) -> None:
    rules, rng = Rules.preset("pagat", num_players=num_players), np.random.default_rng(11)
    begin = start_of(rules, 24, seed=11)
    names = np.array([rng.permutation(4) for _ in range(24)])
    renaming = Renaming(trumps_of(rules, begin["decks"]), names)
    tables, others = Tables(rules, 24), Tables(rules, 24)
    tables.deal(**begin)
    others.deal(**(begin | {"decks": renamed_decks(begin["decks"], names)}))
    for actions in random_play(tables, seed=11):
        assert_renamed(tables, others, renaming)
        hands, new_hands = tables.hidden_packed()[:, 0].tolist(), others.hidden_packed()[:, 0].tolist()
        others.step(
            [
                renaming.action(row, action, hand, new)
                for row, (action, hand, new) in enumerate(zip(actions.tolist(), hands, new_hands, strict=True))
            ]
        )
    assert (others.returns == tables.returns).all()
    assert (others.carry == tables.carry).all()
    assert (others.exempt == tables.exempt).all()


def assert_renamed(tables: Tables, others: Tables, renaming: Renaming) -> None:
    """The other tables are these ones under new names of the suits."""
    for name in ("hands", "dealt", "played", "tricks", "pile", "face_up"):
        assert (others.records[name] == renaming.sets(tables.records[name])).all()
    for name in ("phase", "to_act", "pot", "returns", "tricks_won", "num_discards", "stayed", "passed", "leader"):
        assert (others.records[name] == tables.records[name]).all()
    masks, new_masks = tables.legal_action_mask(), others.legal_action_mask()
    for row in np.flatnonzero(~tables.settled).tolist():
        hand, new_hand = int(tables.hidden_packed()[row, 0]), int(others.hidden_packed()[row, 0])
        legal = {renaming.action(row, int(action), hand, new_hand) for action in np.flatnonzero(masks[row])}
        assert legal == set(np.flatnonzero(new_masks[row]).tolist())
    observed, new_observed = tables.observe_packed(), others.observe_packed()
    assert (new_observed & ALL_CARDS == renaming.sets(observed & ALL_CARDS)).all()
    flags, new_flags = observed & ~ALL_CARDS, new_observed & ~ALL_CARDS
    led = np.uint64(0b1111 << LED_SUIT)
    assert (new_flags[:, OWN_HAND] & ~led == flags[:, OWN_HAND] & ~led).all()
    assert (new_flags[:, FIRST_TRICK - 3 :] == flags[:, FIRST_TRICK - 3 :]).all()


# --- 11, 12 ----------------------------------------------------------------------------------------------------------


@every_rules
def test_11_same_inputs_give_the_same_bytes(rules: Rules) -> None:
    tables, again = dealt(rules, B, seed=12), dealt(rules, B, seed=12)
    for actions in random_play(tables, seed=12):
        assert again.records.tobytes() == tables.records.tobytes()
        assert again.observe_packed().tobytes() == tables.observe_packed().tobytes()
        assert again.observe().tobytes() == tables.observe().tobytes()
        again.step(actions)
    assert again.records.tobytes() == tables.records.tobytes()


def test_11_table_dealt_again_has_forgotten_the_deal_before() -> None:
    rules = Rules.preset("pagat", num_players=8)
    used, fresh = dealt(rules, B, seed=13), Tables(rules, B)
    for _ in random_play(used, seed=13):
        pass
    for tables in (used, fresh):
        tables.deal(**start_of(rules, B, seed=14))
    assert used.records.tobytes() == fresh.records.tobytes()


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_12_doubling_the_pot_doubles_the_result_of_the_same_actions(num_players: int) -> None:
    no_exemptions = {"num_players": num_players, "tied_skip_ante": False, "bourre_skips_ante": False}
    single, double = (Rules.preset("pagat", ante=ante, **no_exemptions) for ante in (1, 2))
    begin = start_of(single, 200, seed=15) | {"exempt": None}
    tables, doubled = Tables(single, 200), Tables(double, 200)
    tables.deal(**begin)
    doubled.deal(**(begin | {"carry": 2 * begin["carry"]}))
    for actions in random_play(tables, seed=15):
        assert (doubled.pot == 2 * tables.pot).all()
        assert (doubled.observe_packed() == tables.observe_packed()).all()
        doubled.step(actions)
    assert (doubled.returns == 2 * tables.returns).all()
    assert (doubled.carry == 2 * tables.carry).all()
    assert not doubled.exempt.any()


def test_random_play_of_these_tests_meets_every_kind_of_end() -> None:
    """The properties above are worth something only if passes, ties, bourrés and lone players come up."""
    tables = dealt(Rules.preset("pagat", num_players=4), 2000, seed=16)
    for _ in random_play(tables, seed=16):
        pass
    played, active = tables.records["tricks_done"] == 5, np.bitwise_count(tables.records["stayed"])
    ties = tables.exempt.any(axis=1) & (tables.returns <= 0).all(axis=1)
    assert (active[~played] <= 1).all()
    assert all(events.sum() >= 20 for events in (active == 0, active == 1, active == 4, ties, tables.carry > 8))
