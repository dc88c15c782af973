"""Invariants of Euchre at random tables. Numbers are those of the list that every game keeps. Shapes: B tables."""

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from euchre_play import card_bits, id_of, order_of_suits, preset_rules, random_rules, reference_letter, reference_of
from euchre_worlds import Hands, missing_suits, worlds_of
from numpy.typing import NDArray
from reference_euchre import SUITS, ReferenceEuchre, counts_as, full_pack
from scipy import stats

from bourre_env import EuchreRules, EuchreTables, IllegalActionError, shuffled_decks
from bourre_env.bits import unpack
from bourre_env.cards import cards_in
from bourre_env.euchre.actions import action_text
from bourre_env.euchre.cards import card_text, card_texts
from bourre_env.euchre.observation import layout
from bourre_env.euchre.table import TABLE

B = 60
HIDDEN = {"hands", "shed", "deck", "legal"}
_RNG = random.Random(9)
ALL_RULES = [*preset_rules(), *(random_rules(_RNG) for _ in range(6))]
every_rules = pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: rules.fingerprint[:6])


def start_of(rules: EuchreRules, num_tables: int, seed: int) -> dict[str, Any]:
    """Arguments of `EuchreTables.deal` for B random hands."""
    rng = np.random.default_rng(seed)
    return {
        "decks": shuffled_decks(seed, np.arange(num_tables), pack=rules.pack),
        "dealer": rng.integers(0, 4, num_tables),
        "score": rng.integers(0, rules.target, (num_tables, 2)),
    }


def dealt(rules: EuchreRules, num_tables: int, seed: int) -> EuchreTables:
    """B tables at which a random hand has begun."""
    tables = EuchreTables(rules, num_tables)
    tables.deal(**start_of(rules, num_tables, seed))
    return tables


def random_actions(mask: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    """[B] one legal action for each row; passing and keeping the partner are likelier than others."""
    weights = np.where(mask, 1.0 + rng.random(mask.shape), 0.0)
    weights[:, 25] *= np.where(rng.random(len(mask)) < 0.7, 3.0, 0.1)
    weights[:, 32] *= np.where(rng.random(len(mask)) < 0.7, 3.0, 0.1)
    return weights.argmax(axis=1)


def random_play(tables: EuchreTables, seed: int) -> Iterator[NDArray[np.int64]]:
    """Play at all tables until they are settled; yields the actions [B] before each step."""
    rng = np.random.default_rng(seed)
    while not tables.settled.all():
        actions = random_actions(tables.legal_action_mask(), rng)
        yield actions
        tables.step(actions)


def same_tables(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """Whether two arrays of table records agree in every field."""
    return all(bool((one[name] == other[name]).all()) for name in TABLE.names or ())


# --- 1, 2, 3, 10: a hand ----------------------------------------------------------------------------------------------


@every_rules
def test_1_points_go_to_one_side_and_returns_sum_to_zero(rules: EuchreRules) -> None:
    tables = dealt(rules, B, seed=1)
    before = tables.score
    for _ in random_play(tables, seed=1):
        assert not tables.returns[~tables.settled].any()
        assert (tables.score[~tables.settled] == before[~tables.settled]).all()
    assert not tables.returns.sum(axis=1).any()
    assert (tables.score == before + tables.points).all()
    thrown_in = tables.records.trump_suit == 4
    assert (np.sort(tables.points, axis=1)[:, 0] == 0).all()
    assert np.isin(tables.points.max(axis=1), [1, 2, 4])[~thrown_in].all()
    assert not tables.points[thrown_in].any()
    assert (tables.returns[:, 0] == tables.points[:, 0] - tables.points[:, 1]).all()
    assert (tables.returns[:, :2] == tables.returns[:, 2:]).all()


@every_rules
def test_2_each_card_is_in_one_place(rules: EuchreRules) -> None:
    tables = dealt(rules, B, seed=2)
    for _ in random_play(tables, seed=2):
        for table in tables.records:
            places = [*table.hands, *table.played, table.shed]
            if table.taker < 0:
                places.append(1 << int(table.up_card))
            places += [1 << int(card) for card in table.deck[21 : len(rules.pack)]]
            assert sum(int(cards).bit_count() for cards in places) == len(rules.pack)
            assert sum(int(cards) for cards in places) == int(rules.pack_set)


@every_rules
def test_3_and_10_seat_to_act_has_a_legal_action_and_hands_end_in_time(rules: EuchreRules) -> None:
    tables = dealt(rules, 4 * B, seed=3)
    decisions = np.zeros(tables.num_tables, np.int64)
    for _ in random_play(tables, seed=3):
        decisions += ~tables.settled
        assert (tables.legal_action_mask().any(axis=1) == ~tables.settled).all()
        assert ((tables.to_act >= 0) == ~tables.settled).all()
    assert decisions.max() <= rules.max_decisions
    assert not tables.legal_packed().any()


@pytest.mark.parametrize("rules", preset_rules(), ids=lambda rules: rules.fingerprint[:6])
def test_10_stated_number_of_decisions_can_be_reached(rules: EuchreRules) -> None:
    tables = EuchreTables(rules, 1)
    deck = np.arange(len(rules.pack))
    tables.deal([deck], 0)
    decisions = 0
    while not tables.settled[0]:
        legal = np.flatnonzero(tables.legal_action_mask()[0])
        last_call = decisions == 7
        tables.step([legal[-1] if last_call or 25 not in legal else 25])
        decisions += 1
    assert decisions == rules.max_decisions


# --- 4, 5, 11: illegal actions, batches, bytes ------------------------------------------------------------------------


@every_rules
def test_4_illegal_action_is_refused_in_words_and_changes_no_byte(rules: EuchreRules) -> None:
    tables = dealt(rules, 6, seed=4)
    for actions in random_play(tables, seed=4):
        before = tables.records.tobytes()
        for row in np.flatnonzero(~tables.settled).tolist():
            forbidden = np.flatnonzero(~tables.legal_action_mask()[row])
            for action in [*forbidden[:: max(1, len(forbidden) // 4)].tolist(), -1, 33, 2**40]:
                wrong = actions.copy()
                wrong[row] = action
                with pytest.raises(
                    IllegalActionError, match=rf"table {row}, seat {tables.to_act[row]}, phase .*legal: "
                ):
                    tables.step(wrong)
                assert tables.records.tobytes() == before


@every_rules
def test_5_and_11_row_of_a_batch_equals_that_table_alone(rules: EuchreRules) -> None:
    begin = start_of(rules, 12, seed=5)
    tables = dealt(rules, 12, seed=5)
    alone = []
    for row in range(12):
        one = EuchreTables(rules, 1)
        one.deal(**{name: values[row : row + 1] for name, values in begin.items()})
        alone.append(one)
    for actions in random_play(tables, seed=5):
        joined = EuchreTables.joined(alone)
        assert joined.records.tobytes() == tables.records.tobytes()
        assert (joined.observe_packed() == tables.observe_packed()).all()
        for row, one in enumerate(alone):
            one.step(actions[row : row + 1])


def test_5_buffers_hold_what_the_separate_calls_give_on_any_number_of_threads() -> None:
    rules = EuchreRules()
    tables, threads, plain = (dealt(rules, B, seed=6) for _ in range(3))
    out, parallel = tables.buffers(mask=True, features=True), threads.buffers()
    rng = np.random.default_rng(6)
    while not plain.settled.all():
        actions, was_settled = random_actions(plain.legal_action_mask(), rng), plain.settled
        plain.step(actions, play_forced=True)
        tables.step(actions, play_forced=True, out=out)
        threads.step(actions, play_forced=True, out=parallel, parallel=True)
        assert same_tables(plain.records, tables.records)
        assert same_tables(plain.records, threads.records)
        for found in (out, parallel):
            assert (found.legal == plain.legal_packed()).all()
            assert (found.observation == plain.observe_packed()).all()
            assert (found.settled == plain.settled).all()
            assert (found.ended == (plain.settled & ~was_settled)).all()
            assert (found.returns == np.where(found.ended[:, None], plain.returns, 0)).all()
        assert (out.mask == plain.legal_action_mask()).all()
        assert (out.features == plain.observe()).all()


# --- 6, 7: names of seats and suits -----------------------------------------------------------------------------------


@every_rules
def test_6_moving_everybody_round_the_table_moves_everything(rules: EuchreRules) -> None:
    begin = start_of(rules, B, seed=7)
    tables = dealt(rules, B, seed=7)
    moved = EuchreTables(rules, B)
    moved.deal(begin["decks"], (begin["dealer"] + 1) % 4, score=begin["score"][:, ::-1])
    for actions in random_play(tables, seed=7):
        assert (moved.observe_packed() == tables.observe_packed()).all()
        assert (moved.legal_packed() == tables.legal_packed()).all()
        assert (moved.to_act == np.where(tables.settled, -1, (tables.to_act + 1) % 4)).all()
        moved.step(actions)
    assert (np.roll(tables.returns, 1, axis=1) == moved.returns).all()


def renamed(words: str, new_names: dict[str, str]) -> str:
    """A card or a call with its suit renamed."""
    if words.startswith("name_"):
        return "name_" + new_names[words[-1]]
    return words[0] + new_names[words[1]] if len(words) == 2 and words != "BN" else words


@pytest.mark.parametrize("benny", [True, False])
def test_7_relative_ids_are_printed_ids_of_a_table_whose_suits_are_renamed(benny: bool) -> None:
    """At every decision: rename the suits so that the reference becomes clubs, play the same, and look."""
    rng = random.Random(7)
    printed, relative = EuchreRules(benny=benny), EuchreRules(benny=benny, card_ids="relative")
    references = set()
    for number in range(12):
        deck = [card_text(int(card)) for card in shuffled_decks(7, [number], pack=printed.pack)[0]]
        table, history = reference_of(printed, deck, number % 4, (0, 0)), []
        tables = EuchreTables(relative, 1)
        tables.deal([[id_of(card, SUITS) for card in deck]], number % 4)
        while table.phase != "settled":
            letter = reference_letter(table)
            references.add(letter)
            names = dict(zip(order_of_suits(letter), SUITS, strict=True))
            twin = EuchreTables(printed, 1)
            twin.deal([[id_of(renamed(card, names), SUITS) for card in deck]], number % 4)
            for word in history:
                twin.step([id_of(renamed(word, names), SUITS)])
            assert (twin.legal_packed() == tables.legal_packed()).all()
            assert (twin.observe_packed() == tables.observe_packed()).all()
            assert (twin.hidden_packed() == tables.hidden_packed()).all()
            word = rng.choice(sorted(table.legal()))
            tables.step([id_of(word, order_of_suits(letter))])
            table.step(word)
            history.append(word)
    assert references == set(SUITS)


# --- 9: what an observation says --------------------------------------------------------------------------------------


def expected_pieces(table: ReferenceEuchre, seat: int) -> dict[str, set[int]]:
    """What a seat may know, worked out from the oracle: for each piece the features that are set."""
    at = {other: (other - seat) % 4 for other in (0, 1, 2, 3, -1)}
    said = ["pass", *(f"name_{suit}" for suit in SUITS), "turn_down"]
    past = table.past_tricks
    ids = lambda cards: {id_of(card, SUITS) for card in cards}  # noqa: E731
    played = lambda other: [card for trick in [*past, table.trick] for who, card in trick if who == other]  # noqa: E731
    is_blind = table.phase == "blind" and seat == table.dealer
    following = [s for s in ((seat + step) % 4 for step in (1, 2, 3, 4)) if s not in table.out]
    tricks = [sum(winner % 2 == side for winner in table.winners) for side in (seat % 2, 1 - seat % 2)]
    score = [before + won for before, won in zip(table.score, table.points, strict=True)]
    pieces = {
        "own_hand": ids([] if is_blind else table.hands[seat]),
        "up_card": ids([table.up_card]),
        "phase": {["blind", "bid1", "discard", "bid2", "alone", "play"].index(table.phase)},
        "dealer": {at[table.dealer]},
        "led_suit": {SUITS.index(counts_as(table.trick[0][1], table.trump))} if table.trick else set(),
        "own_shed": ids([table.shed] if table.shed and table.taker == seat else []),
        "table_cards": ids([card for _, card in table.trick]),
        "trump_suit": {SUITS.index(table.trump)} if table.trump else set(),
        "maker": {at[table.maker]} if table.trump else set(),
        "leader": {at[table.leader]} if table.phase == "play" else set(),
        "last_to_play": {0}
        if table.phase == "play" and seat not in table.out and following[0] == table.leader
        else set(),
        "our_tricks": set(range(tricks[0])),
        "their_tricks": set(range(tricks[1])),
        "alone": {at[other] for other in table.alone},
        "out": {at[other] for other in table.out},
        "with_partner": {at[other] for other, words in table.answers.items() if words == "with_partner"},
        "our_score": set(range(score[seat % 2])),
        "their_score": set(range(score[1 - seat % 2])),
    }
    for ago in (1, 2, 3, 4):
        pieces[f"trick_{ago}_ago"] = ids([card for _, card in past[-ago]]) if len(past) >= ago else set()
    for other in range(4):
        pieces[f"seat_{at[other]}_on_table"] = ids([card for who, card in table.trick if who == other])
        pieces[f"seat_{at[other]}_played"] = ids(played(other))
    for call in range(8):
        pieces[f"call_{call}"] = {said.index(table.calls[call])} if call < len(table.calls) else set()
    return pieces


@pytest.mark.parametrize("rules", [EuchreRules(), EuchreRules(benny=False, partner_alone_only=False)], ids=["25", "24"])
def test_9_every_piece_of_the_observation_says_what_it_should_and_nothing_else(rules: EuchreRules) -> None:
    rng = random.Random(11)
    segments = layout(rules).segments
    for number in range(40):
        score = (rng.randrange(11), rng.randrange(11))
        deck = [card_text(int(card)) for card in shuffled_decks(12, [number], pack=rules.pack)[0]]
        table, tables = reference_of(rules, deck, number % 4, score), EuchreTables(rules, 1)
        tables.deal([[id_of(card, SUITS) for card in deck]], number % 4, score=[score])
        while table.phase != "settled":
            for seat in range(4):
                features = tables.observe(seats=[seat])[0]
                expected = expected_pieces(table, seat)
                assert set(expected) == set(segments)
                for name, segment in segments.items():
                    assert set(np.flatnonzero(features[segment.slice]).tolist()) == expected[name], name
                assert features.sum() == sum(map(len, expected.values()))
            word = rng.choice(sorted(table.legal()))
            tables.step([id_of(word, SUITS)])
            table.step(word)


def test_9_pieces_do_not_overlap_and_rows_are_the_same_packed_or_not() -> None:
    rules = EuchreRules()
    covered: Counter[int] = Counter()
    for segment in layout(rules).segments.values():
        covered.update(range(segment.start, segment.start + segment.length))
    assert set(covered.values()) == {1}
    tables = dealt(rules, B, seed=8)
    for step, _ in enumerate(random_play(tables, seed=8)):
        if step % 5 == 0:
            words = tables.observe_packed()
            assert (unpack(words) == tables.observe()).all()
            some = np.arange(0, B, 3)
            assert (tables.view_rows(some)[0] == words[some]).all()
            assert (tables.view_rows(some)[1] == tables.legal_packed()[some]).all()
            seat = max(0, int(tables.to_act[0]))
            features, mask = tables.view_one(seat)
            assert (features == tables.observe(seats=np.full(B, seat))[0]).all()
            assert (mask == (tables.legal_action_mask()[0] & (tables.to_act[0] == seat))).all()
    assert not tables.observe_packed().any()
    assert not tables.hidden_packed().any()


# --- 8: what is hidden ------------------------------------------------------------------------------------------------


@every_rules
def test_8_reshuffling_changes_nothing_the_seat_can_see(rules: EuchreRules) -> None:
    tables = dealt(rules, 4 * B, seed=9)
    rows = np.arange(tables.num_tables)
    for step, _ in enumerate(random_play(tables, seed=9)):
        before = tables.records.copy()
        seats = np.where(rows % 2 == 0, tables.to_act, (rows // 2 + step) % 4)
        worlds = tables.reshuffle_unseen(seats, seed=step)
        assert tables.records.tobytes() == before.tobytes()
        assert (worlds.observe_packed(seats=seats) == tables.observe_packed(seats=seats)).all()
        own = seats == tables.to_act
        assert (worlds.legal_packed()[own] == tables.legal_packed()[own]).all()
        for name in set(TABLE.names or ()) - HIDDEN:
            assert (worlds.records[name] == before[name]).all(), name


@every_rules
def test_8_worlds_come_about_by_the_rules_from_their_own_pack(rules: EuchreRules) -> None:
    """The oracle deals the world's pack and finds every action so far legal there, its own shed card included."""
    tables = dealt(rules, 16, seed=10)
    dealers, scores = tables.dealer, tables.score
    histories: list[list[tuple[str, str]]] = [[] for _ in range(16)]
    changed = 0
    for step, actions in enumerate(random_play(tables, seed=10)):
        worlds = tables.reshuffle_unseen((np.arange(16) + step) % 4, seed=step)
        for row in np.flatnonzero(~tables.settled).tolist():
            world = worlds.snapshot(row)
            deck = [card_text(int(card)) for card in worlds.records[row].deck[: len(rules.pack)]]
            table = reference_of(rules, deck, int(dealers[row]), tuple(scores[row].tolist()))
            for phase, word in histories[row]:
                table.step(world.shed if phase == "discard" else word)
            assert [set(hand) for hand in world.hands] == [set(hand) for hand in table.hands]
            assert (set(world.unused), world.shed) == (set(table.unused), table.shed)
            assert (world.trick, world.seat) == (tuple(table.trick), table.seat)
            changed += world.hands != tables.snapshot(row).hands
            word = action_text(rules, tables.records[row], int(actions[row]))
            histories[row].append((world.phase, word))
    assert changed > 100


def position(rules: EuchreRules, number: int, tricks: int, rng: random.Random) -> tuple[ReferenceEuchre, EuchreTables]:
    """A table in the trick after so many, one card led, or settled before; the up-card is kept as long as it may be."""
    deck = [card_text(int(card)) for card in shuffled_decks(14, [number], pack=rules.pack)[0]]
    table, tables = reference_of(rules, deck, number % 4, (0, 0)), EuchreTables(rules, 1)
    tables.deal([[id_of(card, SUITS) for card in deck]], number % 4)
    while table.phase != "settled" and not (len(table.winners) == tricks and len(table.trick) == 1):
        legal = table.legal()
        word = rng.choice(sorted(legal - {table.up_card, "alone"}) or sorted(legal))
        tables.step([id_of(word, SUITS)])
        table.step(word)
    return table, tables


def hands_drawn(tables: EuchreTables, seat: int, number: int) -> list[tuple[Hands, str]]:
    """The same as `worlds_of`, of worlds that the engine draws."""
    drawn = tables.take(np.zeros(number, np.int64)).reshuffle_unseen(seat, seed=15).records
    hands, sheds = drawn.hands.tolist(), drawn.shed.tolist()
    is_hidden = drawn.taker[0] != seat
    return [
        (
            tuple(card_texts(row[(seat + step) % 4]) for step in (1, 2, 3)),
            "".join(card_texts(shed)) if is_hidden else "",
        )
        for row, shed in zip(hands, sheds, strict=True)
    ]


@pytest.mark.parametrize("changes", [{}, {"benny": False, "may_shed_upcard": False}], ids=["cornish", "kept"])
def test_8_every_world_is_as_likely_as_any_other_where_the_up_card_is_lost(changes: dict[str, bool]) -> None:
    rules, rng = EuchreRules(**changes), random.Random(13)
    found = 0
    for number in range(400):
        table, tables = position(rules, number, 4, rng)
        shown = {card for trick in [*table.past_tricks, table.trick] for _, card in trick}
        if table.phase == "settled" or table.taker in (-1, table.seat) or table.up_card in shown:
            continue
        possible = set(worlds_of(table, table.seat))
        counts = Counter(hands_drawn(tables, table.seat, 30 * len(possible)))
        assert set(counts) <= possible
        assert stats.chisquare([counts[world] for world in possible]).pvalue > 1e-4
        found += len(possible) >= 16
        if found == 5:
            break
    assert found == 5


def test_8_hands_are_as_likely_as_their_worlds_are_many_where_seats_lack_different_suits() -> None:
    """The hard case: neither of two seats may hold all that the other may hold."""
    rng, found = random.Random(14), 0
    for number in range(2000):
        table, tables = position(EuchreRules(), number, 3, rng)
        lacks = [missing_suits(table)[other] for other in range(4) if other != table.seat and table.hands[other]]
        if table.phase == "settled" or not any(a - b and b - a for a, b in itertools.combinations(lacks, 2)):
            continue
        found += 1
        possible = Counter(hands for hands, _ in worlds_of(table, table.seat))
        number_drawn = 20_000
        drawn = Counter(hands for hands, _ in hands_drawn(tables, table.seat, number_drawn))
        for place in range(3):
            expected, observed = Counter(), Counter()
            for hands, ways in possible.items():
                expected[hands[place]] += ways
            for hands, times in drawn.items():
                observed[hands[place]] += times
            assert set(observed) <= set(expected)
            scale = number_drawn / possible.total()
            likely = [hand for hand, ways in expected.items() if ways * scale > 5]
            pairs = [(observed[hand], expected[hand] * scale) for hand in likely]
            rest = number_drawn - sum(times for times, _ in pairs), number_drawn - sum(share for _, share in pairs)
            pairs += [rest] if rest[1] > 5 else []
            if len(pairs) > 1:
                times, shares = np.array(pairs, float).T
                assert stats.chisquare(times, shares * times.sum() / shares.sum()).pvalue > 1e-5
        if found == 6:
            break
    assert found == 6


def test_8_dealer_that_names_trumps_unseen_knows_no_card_of_its_own() -> None:
    rules = EuchreRules()
    tables = EuchreTables(rules, 40)
    deck = [*range(20), 24, *range(20, 24)]
    tables.deal([deck] * 40, 2)
    worlds = tables.reshuffle_unseen(2, seed=4)
    assert (worlds.observe_packed() == tables.observe_packed()).all()
    assert len({tuple(row) for row in worlds.records.hands.tolist()}) == 40
    dealt_to_dealer = worlds.records.hands[:, 2]
    assert np.bitwise_or.reduce(dealt_to_dealer) == (1 << 24) - 1
    others = tables.reshuffle_unseen(1, seed=4).records.hands
    assert (others[:, 1] == tables.records.hands[:, 1]).all()


def test_8_streams_decide_and_rows_do_not() -> None:
    tables = dealt(EuchreRules(), B, seed=16)
    one = tables.reshuffle_unseen(0, seed=1, streams=np.arange(B) + 5).records
    other = tables.take(np.arange(B)[::-1]).reshuffle_unseen(0, seed=1, streams=np.arange(B)[::-1] + 5).records
    assert same_tables(one, other[::-1])
    assert not same_tables(one, tables.reshuffle_unseen(0, seed=2, streams=np.arange(B) + 5).records)
    assert same_tables(tables.reshuffle_unseen(-1, seed=1).records, tables.records)
    fresh = EuchreTables(EuchreRules(), 3)
    assert same_tables(fresh.reshuffle_unseen(1, seed=1).records, fresh.records)


# --- the rest of the tables -------------------------------------------------------------------------------------------


def test_hidden_hands_start_with_the_seat_to_act() -> None:
    tables = dealt(EuchreRules(), B, seed=17)
    hidden = tables.hidden_packed()
    for row, seat in enumerate(tables.to_act.tolist()):
        assert [cards_in(hand) for hand in hidden[row]] == [
            cards_in(tables.records[row].hands[(seat + place) % 4]) for place in range(4)
        ]


def test_forfeit_gives_the_other_side_the_most_a_hand_can_bring() -> None:
    tables = dealt(EuchreRules(), B, seed=18)
    seats, score = tables.to_act, tables.score
    tables.forfeit(np.arange(0, B, 2))
    assert (tables.settled == (np.arange(B) % 2 == 0)).all()
    for row in range(0, B, 2):
        side = seats[row] % 2
        assert tables.returns[row].tolist() == [-4 if seat % 2 == side else 4 for seat in range(4)]
        assert tables.score[row, 1 - side] == score[row, 1 - side] + 4
        assert tables.snapshot(row).forfeited == seats[row]
    with pytest.raises(IllegalActionError, match="table 2 is settled"):
        tables.forfeit([1, 2])


def test_records_leave_no_byte_undefined() -> None:
    assert sum(TABLE[name].itemsize for name in TABLE.names or ()) == TABLE.itemsize
    assert card_bits(full_pack(benny=True)) == int(EuchreRules().pack_set)
