"""Invariants of Pinochle at random tables. Numbers are those of the list that every game keeps. Shapes: B tables."""

import dataclasses
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pinochle_play import (
    card_bits,
    id_of,
    kind_of,
    order_of_suits,
    preset_rules,
    random_rules,
    random_word,
    reference_of,
)
from pinochle_worlds import Event, Hand, hidden_cards, worlds_of
from reference_pinochle import SUITS, ReferencePinochle, full_pack
from scipy import stats

from bourre_env import IllegalActionError, PinochleRules, PinochleTables, shuffled_decks
from bourre_env.bits import unpack
from bourre_env.cards import cards_in
from bourre_env.pinochle.cards import deck_ids, kind_text, texts
from bourre_env.pinochle.observation import MELD_STEPS, SCORE_STEPS, layout
from bourre_env.pinochle.playing import kinds_ruled_out, kinds_to_play
from bourre_env.pinochle.table import TABLE

B = 24
HIDDEN = {"hands", "sent", "deck", "legal"}
_RNG = random.Random(9)
ALL_RULES = [*preset_rules()[::5], *(random_rules(_RNG) for _ in range(4))]
every_rules = pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: rules.fingerprint[:6])


def start_of(rules: PinochleRules, num_tables: int, seed: int) -> dict[str, Any]:
    """Arguments of `PinochleTables.deal` for B random hands."""
    rng = np.random.default_rng(seed)
    return {
        "decks": shuffled_decks(seed, np.arange(num_tables), pack=rules.pack),
        "dealer": rng.integers(0, 4, num_tables),
        "score": rng.integers(-100, rules.target, (num_tables, 2)),
    }


def dealt(rules: PinochleRules, num_tables: int, seed: int) -> PinochleTables:
    """B tables at which a random hand has begun."""
    tables = PinochleTables(rules, num_tables)
    tables.deal(**start_of(rules, num_tables, seed))
    return tables


def random_actions(mask: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    """[B] one legal action for each row; passing and the lowest bids are likelier than others."""
    weights = np.where(mask, 1.0 + rng.random(mask.shape), 0.0)
    weights[:, 24] *= np.where(rng.random(len(mask)) < 0.8, 3.0, 0.5)
    weights[:, 25:65] /= 1 + np.arange(40) * (rng.random((len(mask), 1)) < 0.8)
    return weights.argmax(axis=1)


def random_play(tables: PinochleTables, seed: int) -> Iterator[NDArray[np.int64]]:
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
def test_1_points_of_tricks_are_all_there_are_and_returns_sum_to_zero(rules: PinochleRules) -> None:
    tables = dealt(rules, B, seed=1)
    before = tables.score
    for _ in random_play(tables, seed=1):
        assert not tables.returns[~tables.settled].any()
        assert (tables.score[~tables.settled] == before[~tables.settled]).all()
    records = tables.records
    assert not tables.returns.sum(axis=1).any()
    assert (tables.score == before + tables.points).all()
    thrown_in = records.trump_suit == 4
    assert not tables.points[thrown_in].any()
    assert (records.trick_points.sum(axis=1)[~thrown_in] == rules.hand_points).all()
    assert (records.tricks_won.sum(axis=1)[~thrown_in] == 12).all()
    for table in records[~thrown_in]:
        assert sorted(texts(table.piles[0]) + texts(table.piles[1])) == sorted(full_pack())
    assert (tables.returns[:, 0] == tables.points[:, 0] - tables.points[:, 1]).all()
    assert (tables.returns[:, :2] == tables.returns[:, 2:]).all()


@every_rules
def test_2_each_card_is_in_one_place(rules: PinochleRules) -> None:
    tables = dealt(rules, B, seed=2)
    for step, _ in enumerate(random_play(tables, seed=2)):
        for table in tables.records[step % 5 :: 5]:
            held = [card for hand in table.hands for card in texts(hand)]
            played = [kind_text(bit % 24) for cards in table.played for bit in cards_in(cards)]
            assert sorted(held + played) == sorted(full_pack())
            on_table = [kind_text(kind) for kind in table.on_table if kind != 24]
            piles = [card for pile in table.piles for card in texts(pile)]
            assert sorted(played) == sorted(piles + on_table)
            assert np.bitwise_and.reduce(table.played) == 0


@every_rules
def test_3_and_10_seat_to_act_has_a_legal_action_and_hands_end_in_time(rules: PinochleRules) -> None:
    tables = dealt(rules, 4 * B, seed=3)
    decisions = np.zeros(tables.num_tables, np.int64)
    for _ in random_play(tables, seed=3):
        decisions += ~tables.settled
        assert (tables.legal_action_mask().any(axis=1) == ~tables.settled).all()
        assert ((tables.to_act >= 0) == ~tables.settled).all()
    assert decisions.max() <= rules.max_decisions
    assert not tables.legal_packed().any()


@pytest.mark.parametrize("rules", [PinochleRules(), PinochleRules(exchange=4, all_pass="redeal")])
def test_10_stated_number_of_decisions_can_be_reached(rules: PinochleRules) -> None:
    """Three seats bid in turn to the highest level, and the fourth passes at once."""
    tables = PinochleTables(rules, 1)
    tables.deal([np.arange(48)], 0)
    decisions = 0
    while not tables.settled[0]:
        legal = np.flatnonzero(tables.legal_action_mask()[0])
        bids = legal[(legal > 24) & (legal < 65)]
        tables.step([bids[0] if len(bids) and decisions > 0 else legal[0]])
        decisions += 1
    assert decisions == rules.max_decisions


# --- 4, 5, 11: illegal actions, batches, bytes ------------------------------------------------------------------------


@every_rules
def test_4_illegal_action_is_refused_in_words_and_changes_no_byte(rules: PinochleRules) -> None:
    tables = dealt(rules, 3, seed=4)
    for step, actions in enumerate(random_play(tables, seed=4)):
        if step % 4:
            continue
        before = tables.records.tobytes()
        for row in np.flatnonzero(~tables.settled).tolist():
            forbidden = np.flatnonzero(~tables.legal_action_mask()[row])
            for action in [*forbidden[:: max(1, len(forbidden) // 4)].tolist(), -1, 69, 2**40]:
                wrong = actions.copy()
                wrong[row] = action
                with pytest.raises(
                    IllegalActionError, match=rf"table {row}, seat {tables.to_act[row]}, phase .*legal: "
                ):
                    tables.step(wrong)
                assert tables.records.tobytes() == before


@every_rules
def test_5_and_11_row_of_a_batch_equals_that_table_alone(rules: PinochleRules) -> None:
    begin = start_of(rules, 5, seed=5)
    tables = dealt(rules, 5, seed=5)
    alone = []
    for row in range(5):
        one = PinochleTables(rules, 1)
        one.deal(**{name: values[row : row + 1] for name, values in begin.items()})
        alone.append(one)
    for actions in random_play(tables, seed=5):
        joined = PinochleTables.joined(alone)
        assert joined.records.tobytes() == tables.records.tobytes()
        assert (joined.observe_packed() == tables.observe_packed()).all()
        for row, one in enumerate(alone):
            one.step(actions[row : row + 1])


def test_5_buffers_hold_what_the_separate_calls_give_on_any_number_of_threads() -> None:
    rules = PinochleRules()
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


# --- 6, 7: names of seats, twins and suits ----------------------------------------------------------------------------


@every_rules
def test_6_moving_everybody_round_the_table_moves_everything(rules: PinochleRules) -> None:
    begin = start_of(rules, B, seed=7)
    tables = dealt(rules, B, seed=7)
    moved = PinochleTables(rules, B)
    moved.deal(begin["decks"], (begin["dealer"] + 1) % 4, score=begin["score"][:, ::-1])
    for actions in random_play(tables, seed=7):
        assert (moved.observe_packed() == tables.observe_packed()).all()
        assert (moved.legal_packed() == tables.legal_packed()).all()
        assert (moved.to_act == np.where(tables.settled, -1, (tables.to_act + 1) % 4)).all()
        moved.step(actions)
    assert (np.roll(tables.returns, 1, axis=1) == moved.returns).all()


def test_7_twins_that_change_places_change_nothing() -> None:
    rules = PinochleRules(exchange=3)
    begin = start_of(rules, B, seed=8)
    tables = dealt(rules, B, seed=8)
    swapped = PinochleTables(rules, B)
    swapped.deal(begin["decks"] ^ 1, begin["dealer"], score=begin["score"])
    for actions in random_play(tables, seed=8):
        assert swapped.records.tobytes() == tables.records.tobytes()
        swapped.step(actions)


def test_7_relative_ids_are_printed_ids_with_suits_counted_from_trumps() -> None:
    """The same hands under both kinds of ids; every card moves with its suit, and nothing else differs."""
    printed, relative = (PinochleRules(card_ids=ids, exchange=3) for ids in ("printed", "relative"))
    one, other = dealt(printed, B, seed=9), dealt(relative, B, seed=9)
    segments = layout(printed).segments
    cards = {name: piece for name, piece in segments.items() if piece.length in (24, 48) and "points" not in name}
    trumps = set()
    for actions in random_play(one, seed=9):
        suits = np.where(one.records.trump_suit < 4, one.records.trump_suit, 0)
        trumps |= set(suits.tolist())
        here, there = one.observe(), other.observe()
        for name, piece in segments.items():
            for row in range(B):
                shown = here[row, piece.slice]
                if name in cards:
                    shown = np.roll(shown.reshape(-1, 4, 6), -suits[row], axis=1).ravel()
                elif name == "led_suit":
                    shown = np.roll(shown, -suits[row])
                assert (there[row, piece.slice] == shown).all(), name
        is_card = actions < 24
        moved = (actions - 6 * suits) % 24
        other.step(np.where(is_card, moved, actions))
    assert trumps == {0, 1, 2, 3}
    assert (one.returns == other.returns).all()
    assert (one.records.hands == other.records.hands).all()


# --- 8: what is hidden ------------------------------------------------------------------------------------------------


@every_rules
def test_8_reshuffling_changes_nothing_the_seat_can_see(rules: PinochleRules) -> None:
    tables = dealt(rules, 2 * B, seed=9)
    rows = np.arange(tables.num_tables)
    rng = np.random.default_rng(9)
    for step, _ in enumerate(random_play(tables, seed=9)):
        take_some_back(tables, rng)
        before = tables.records.copy()
        seats = np.where(rows % 2 == 0, tables.to_act, (rows // 2 + step) % 4)
        worlds = tables.reshuffle_unseen(seats, seed=step)
        assert tables.records.tobytes() == before.tobytes()
        assert (worlds.observe_packed(seats=seats) == tables.observe_packed(seats=seats)).all()
        own = seats == tables.to_act
        assert (worlds.legal_packed()[own] == tables.legal_packed()[own]).all()
        for name in set(TABLE.names or ()) - HIDDEN:
            assert (worlds.records[name] == before[name]).all(), name


def take_some_back(tables: PinochleTables, rng: np.random.Generator) -> None:
    """At a table in ten the seat to act plays a card against the duties and takes it back (P7.2)."""
    for row in np.flatnonzero((tables.records.phase == 3) & (rng.random(tables.num_tables) < 0.1)).tolist():
        table = tables.snapshot(row)
        held = {tables.action_id(row, card) for card in table.hands[table.seat]}
        forbidden = held - set(np.flatnonzero(tables.legal_action_mask()[row]).tolist())
        if forbidden:
            assert tables.take_back(row, min(forbidden))


@pytest.mark.parametrize("rules", [PinochleRules(), PinochleRules(exchange=4, need_marriage=True)], ids=["0", "4"])
def test_8_worlds_come_about_by_the_rules_from_their_own_pack(rules: PinochleRules) -> None:
    """The oracle deals the world's pack and finds every action so far legal there, cards sent included."""
    tables = dealt(rules, 10, seed=10)
    dealers, scores = tables.dealer, tables.score
    histories: list[list[tuple[str, int, str]]] = [[] for _ in range(10)]
    changed = 0
    for step, actions in enumerate(random_play(tables, seed=10)):
        worlds = tables.reshuffle_unseen((np.arange(10) + step) % 4, seed=step)
        for row in np.flatnonzero(~tables.settled).tolist():
            world, phase = worlds.snapshot(row), tables.snapshot(row).phase
            deck = [kind_text(kind) for kind in worlds.records[row].deck.tolist()]
            table = reference_of(rules, deck, int(dealers[row]), tuple(scores[row].tolist()))
            given = [list(cards) for cards in world.sent]
            for past_phase, seat, word in histories[row]:
                table.step(given[seat].pop() if past_phase == "exchange" else word)
            assert [sorted(hand) for hand in world.hands] == [sorted(hand) for hand in table.hands]
            assert [sorted(cards) for cards in world.sent] == [sorted(cards) for cards in table.sent]
            assert [dict(melds) for melds in world.melds] == table.melds
            assert (world.trick, world.seat) == (tuple(table.trick), table.seat)
            changed += world.hands != tables.snapshot(row).hands
            histories[row].append((phase, table.seat, tables.action_text(row, int(actions[row]))))
    assert changed > 100


def position(
    rules: PinochleRules, number: int, cards_left: int, rng: random.Random
) -> tuple[ReferencePinochle, PinochleTables, list[Event]]:
    """A table at which the seat to act has so many cards left, with what has been played and taken back."""
    deck = [kind_text(int(card) // 2) for card in shuffled_decks(14, [number], pack=rules.pack)[0]]
    table, tables, events = reference_of(rules, deck, number % 4, (0, 0)), PinochleTables(rules, 1), []
    tables.deal([deck_ids(deck)], number % 4)
    while table.phase != "play" or len(table.hands[table.seat]) > cards_left or len(table.trick) != number % 3:
        forbidden = sorted(set(table.hands[table.seat]) - table.legal()) if table.phase == "play" else []
        if forbidden and rng.random() < 0.15:
            tables.take_back(0, id_of(forbidden[0], table, rules))
            table.take_back(forbidden[0])
            events.append(("back", table.seat, forbidden[0]))
        word = random_word(table.legal(), rng)
        if table.phase == "play":
            events.append(("play", table.seat, word))
        tables.step([id_of(word, table, rules)])
        table.step(word)
    return table, tables, events


def hands_drawn(tables: PinochleTables, seat: int, number: int) -> Counter[tuple[Hand, ...]]:
    """The same as `worlds_of`, of worlds that the engine draws."""
    hands = tables.take(np.zeros(number, np.int64)).reshuffle_unseen(seat, seed=15).records.hands.tolist()
    return Counter(tuple(tuple(sorted(texts(row[(seat + step) % 4]))) for step in (1, 2, 3)) for row in hands)


@pytest.mark.parametrize(
    ("exchange", "observer"), [(0, 0), (3, 0), (3, 1), (3, 2)], ids=["any", "declarer", "defender", "partner"]
)
def test_8_worlds_are_as_likely_as_there_are_packs_that_lead_to_them(exchange: int, observer: int) -> None:
    """Where twins are split between seats, two packs lead to the same hands; every seat's view is tried.

    Without an exchange the observers take turns.
    """
    rules, rng = PinochleRules(exchange=exchange), random.Random(13)
    found, split = 0, 0
    for number in range(60):
        table, tables, events = position(rules, number, 2 + number % 2, rng)
        seat = (table.bidder + (observer if exchange else number)) % 4
        possible = {
            tuple(tuple(sorted(hand)) for hand in hands): packs
            for hands, packs in worlds_of(table, seat, events).items()
        }
        if len(possible) < 5:
            continue
        total, drawn = sum(possible.values()), 60 * len(possible)
        counts = hands_drawn(tables, seat, drawn)
        assert set(counts) <= set(possible)
        expected = [drawn * packs / total for packs in possible.values()]
        assert stats.chisquare([counts[world] for world in possible], expected).pvalue > 1e-5
        found += 1
        split += len(set(possible.values())) > 1
        if found == 6:
            break
    assert found == 6
    assert split >= 2


def test_8_cards_that_partners_may_have_sent_each_other_are_as_likely_as_others() -> None:
    """To a defender each of the partner's twelve cards was sent back as often as any other."""
    rules, rng = PinochleRules(exchange=3), random.Random(3)
    table, tables, _ = position(rules, 1, 12, rng)
    declarer, partner, defender = table.bidder, (table.bidder + 2) % 4, (table.bidder + 1) % 4
    worlds = tables.take(np.zeros(4000, np.int64)).reshuffle_unseen(defender, seed=2).records
    returned = Counter(card for cards in worlds.sent[:, declarer].tolist() for card in texts(cards))
    held = Counter(card for cards in worlds.hands[:, partner].tolist() for card in texts(cards))
    held.update(card for cards in worlds.played[:, partner].tolist() for card in texts(cards))
    shares = {card: held[card] / 4 for card in full_pack()}
    assert sum(returned.values()) == 12_000
    common = [card for card in shares if shares[card] > 40]
    statistic = sum((returned[card] - shares[card]) ** 2 / shares[card] for card in common)
    assert stats.chi2.sf(statistic, len(common)) > 1e-5
    again = tables.reshuffle_unseen(declarer, seed=3).records
    assert (again.sent == tables.records.sent).all()


def test_8_a_play_rules_out_just_the_hands_from_which_it_is_illegal() -> None:
    """For every kind of rules: a hand with the card and nothing that is ruled out may play it, and no other hand."""
    rng = np.random.default_rng(5)
    seen = Counter()
    for head, target in (("always", "winner"), ("always", "led_suit"), ("trump_led", "winner")):
        rules = PinochleRules(head=head, head_target=target)
        record = rules.record()[0]
        tables = dealt(rules, 40, seed=11)
        for _ in random_play(tables, seed=11):
            for table in tables.records[(tables.records.phase == 3) & (tables.records.led_suit < 4)]:
                hand = np.uint64(rng.integers(1, 1 << 24) & rng.integers(1, 1 << 24))
                trial = table.copy()
                trial.hands[trial.to_act] = hand
                legal = int(kinds_to_play(trial, record, int(trial.to_act)))
                for kind in cards_in(hand):
                    is_free = not int(kinds_ruled_out(trial, record, kind)) & int(hand)
                    assert is_free == bool(legal >> kind & 1)
                    seen[head, target, is_free] += 1
    assert min(seen.values()) > 300
    assert len(seen) == 6


def test_8_streams_decide_and_rows_do_not() -> None:
    tables = dealt(PinochleRules(), B, seed=16)
    one = tables.reshuffle_unseen(0, seed=1, streams=np.arange(B) + 5).records
    other = tables.take(np.arange(B)[::-1]).reshuffle_unseen(0, seed=1, streams=np.arange(B)[::-1] + 5).records
    assert same_tables(one, other[::-1])
    assert not same_tables(one, tables.reshuffle_unseen(0, seed=2, streams=np.arange(B) + 5).records)
    assert same_tables(tables.reshuffle_unseen(-1, seed=1).records, tables.records)
    fresh = PinochleTables(PinochleRules(), 3)
    assert same_tables(fresh.reshuffle_unseen(1, seed=1).records, fresh.records)


# --- 9: what an observation says --------------------------------------------------------------------------------------


def expected_pieces(table: ReferencePinochle, seat: int, rules: PinochleRules) -> dict[str, set[int]]:
    """What a seat may know, worked out from the oracle: for each piece the features that are set."""
    at = {other: (other - seat) % 4 for other in range(4)}
    partner = (seat + 2) % 4
    bits = lambda cards: set(cards_in(card_bits(list(cards))))  # noqa: E731
    sides = (seat % 2, 1 - seat % 2)
    pieces = {
        "own_hand": bits(table.hands[seat]),
        "phase": {["bid", "trump", "exchange", "play"].index(table.phase)},
        "dealer": {at[table.dealer]},
        "passed": {at[other] for other in table.passed},
        "trump_suit": {SUITS.index(table.trump)} if table.trump else set(),
        "high_bid": set(range(table.bid + 1)),
        "high_bidder": {at[table.bidder]} if table.bid >= 0 else set(),
        "leader": {at[table.leader]} if table.phase == "play" else set(),
        "led_suit": {SUITS.index(table.trick[0][1][1])} if table.trick else set(),
        "last_to_play": {0} if table.phase == "play" and (seat + 1) % 4 == table.leader else set(),
        "taken_back": {0} if table.taken_back else set(),
        "sent": bits(table.sent[seat]),
        "received": bits(table.sent[partner]),
    }
    for name, side in zip(("our", "their"), sides, strict=True):
        score = table.score[side] + table.points[side]
        pieces[f"{name}_tricks"] = set(range(sum(winner % 2 == side for winner in table.winners)))
        points = table.trick_points[side] / table.unit
        pieces[f"{name}_trick_points"] = {step for step in range(24) if points > step}
        pieces[f"{name}_score"] = {
            place for place, step in enumerate(SCORE_STEPS.tolist()) if 32 * score > step * rules.target
        }
    for other in range(4):
        bids = [int(call[4:]) for who, call in table.calls if who == other and call != "pass"]
        levels = {(points - rules.min_bid) // rules.bid_step for points in bids}
        is_stuck = other == table.bidder and not levels
        pieces[f"seat_{at[other]}_bids"] = levels | ({0} if is_stuck else set())
        pieces[f"seat_{at[other]}_on_table"] = {kind_of(card) for who, card in table.trick if who == other}
        pieces[f"seat_{at[other]}_melded"] = bits(table.shown[other])
        meld = sum(table.melds[other].values())
        pieces[f"seat_{at[other]}_meld_points"] = {k for k, step in enumerate(MELD_STEPS.tolist()) if meld > step}
        pieces[f"seat_{at[other]}_exposed"] = {kind_of(card) for card in table.exposed[other]}
    return pieces


def history_in(features: NDArray[np.float32], segments: Any, seat: int, num_tricks: int) -> list[dict[int, str]]:
    """Who played which card in each trick that is over, read from an observation alone."""
    first, second = {}, {}
    for place in range(4):
        for bit in np.flatnonzero(features[segments[f"seat_{place}_played"].slice]).tolist():
            (first if bit < 24 else second)[bit % 24] = (seat + place) % 4
    tricks: list[dict[int, str]] = []
    met = set()
    kinds_in = [set(np.flatnonzero(features[segments[f"trick_{ago}_ago"].slice])) for ago in range(num_tricks, 0, -1)]
    now = {
        kind
        for place in range(4)
        for kind in np.flatnonzero(features[segments[f"seat_{place}_on_table"].slice]).tolist()
    }
    for number, kinds in enumerate(kinds_in):
        trick = {}
        for kind in kinds:
            is_later = any(kind in other for other in [*kinds_in[number + 1 :], now])
            if kind not in met:
                trick[first[kind]] = kind_text(int(kind))
            if kind in met or (kind in second and not is_later):
                trick[second[kind]] = kind_text(int(kind))
            met.add(kind)
        tricks.append(trick)
    return tricks


def test_9_every_piece_of_the_observation_says_what_it_should_and_nothing_else() -> None:
    rng = random.Random(11)
    rules = PinochleRules(exchange=3, min_bid=250, bid_step=10, scale="classic", target=900, all_pass="redeal")
    short = dataclasses.replace(rules, history=False)
    segments = layout(rules).segments
    earlier = {name for name in segments if name.endswith(("_played", "_ago"))}
    assert set(layout(short).segments) == set(segments) - earlier
    for number in range(10):
        score = (rng.randrange(-2000, 900), rng.randrange(-300, 900))
        deck = [kind_text(int(card) // 2) for card in shuffled_decks(12, [number], pack=rules.pack)[0]]
        table = reference_of(rules, deck, number % 4, score)
        tables, without = PinochleTables(rules, 1), PinochleTables(short, 1)
        for one in (tables, without):
            one.deal([deck_ids(deck)], number % 4, score=[score])
        while table.phase != "settled":
            seat = rng.randrange(4)
            features = tables.observe(seats=[seat])[0]
            expected = expected_pieces(table, seat, rules)
            assert set(expected) == set(segments) - earlier
            for name in expected:
                assert set(np.flatnonzero(features[segments[name].slice]).tolist()) == expected[name], name
            told = history_in(features, segments, seat, len(table.past_tricks))
            assert told == [dict(trick) for trick in table.past_tricks]
            now = sum(map(len, expected.values()))
            assert features[: layout(short).size].sum() == now
            assert features.sum() == now + sum(features[segments[name].slice].sum() for name in earlier)
            assert (without.observe(seats=[seat])[0] == features[: layout(short).size]).all()
            word = random_word(table.legal(), rng)
            for one in (tables, without):
                one.step([id_of(word, table, rules)])
            table.step(word)


def test_9_pieces_do_not_overlap_and_rows_are_the_same_packed_or_not() -> None:
    rules = PinochleRules()
    covered: Counter[int] = Counter()
    for segment in layout(rules).segments.values():
        assert segment.first_bit + segment.length <= 64
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


# --- the rest of the tables -------------------------------------------------------------------------------------------


def test_hidden_hands_start_with_the_seat_to_act() -> None:
    tables = dealt(PinochleRules(), B, seed=17)
    hidden = tables.hidden_packed()
    for row, seat in enumerate(tables.to_act.tolist()):
        assert [texts(hand) for hand in hidden[row]] == [
            texts(tables.records[row].hands[(seat + place) % 4]) for place in range(4)
        ]


def test_hidden_cards_are_those_of_the_other_hands() -> None:
    table, tables, _ = position(PinochleRules(), 3, 4, random.Random(1))
    others = [card for seat in range(4) if seat != table.seat for card in table.hands[seat]]
    assert sorted(hidden_cards(table, table.seat)) == sorted(others)
    assert order_of_suits(table, PinochleRules()) == SUITS
    assert tables.to_act.tolist() == [table.seat]


def test_records_leave_no_byte_undefined() -> None:
    assert sum(TABLE[name].itemsize for name in TABLE.names or ()) == TABLE.itemsize
