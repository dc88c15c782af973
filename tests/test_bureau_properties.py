"""Invariants of Bureau at random tables. Numbers are those of the list that every game keeps. Shapes: B tables."""

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from bureau_play import preset_rules, random_rules, serial_of
from numpy.typing import NDArray
from scipy import stats

from bourre_env import BureauRules, BureauTables, IllegalActionError, shuffled_decks
from bourre_env.bits import flags_set, unpack
from bourre_env.bureau import observation as at
from bourre_env.bureau.observation import layout

B = 24
_RNG = random.Random(9)
ALL_RULES = [*preset_rules(), *(random_rules(_RNG) for _ in range(4))]
every_rules = pytest.mark.parametrize("rules", ALL_RULES, ids=lambda rules: rules.fingerprint[:6])


def decks_of(rules: BureauRules, num_tables: int, seed: int) -> NDArray[np.int8]:
    """Packs of B deals."""
    return shuffled_decks(seed, np.arange(num_tables), pack=rules.pack)


def dealt(rules: BureauRules, num_tables: int, seed: int) -> BureauTables:
    """B tables at which a deal has begun."""
    tables = BureauTables(rules, num_tables)
    tables.deal(decks_of(rules, num_tables, seed))
    return tables


def random_actions(mask: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.int64]:
    """[B] one legal action for each row; cards go up and are drawn more often than others are moved about."""
    weights = np.where(mask, 1.0 + rng.random(mask.shape), 0.0)
    weights[:, [2, *range(16, 29)]] *= 3
    weights[:, :2] *= 1.2
    weights[:, 198:] *= 0.3
    return weights.argmax(axis=1)


def random_play(tables: BureauTables, seed: int, most: int = 400) -> Iterator[NDArray[np.int64]]:
    """Play at all tables until they are settled or so many steps are over; yields the actions [B] before each step."""
    rng = np.random.default_rng(seed)
    for _ in range(most):
        if tables.settled.all():
            return
        actions = random_actions(tables.legal_action_mask(), rng)
        yield actions
        tables.step(actions)


# --- 1, 2, 3, 10: a deal ----------------------------------------------------------------------------------------------


@every_rules
def test_1_and_2_104_cards_are_in_one_place_each_and_foundations_never_shrink(rules: BureauRules) -> None:
    tables = dealt(rules, B, seed=1)
    up, emptied, redeals = tables.cards_up, np.zeros((B, 13), np.bool_), np.zeros(B)
    for _ in random_play(tables, seed=1):
        records = tables.records
        for row, table in enumerate(records):
            cards = Counter(int(card) for card in table.columns.ravel() if card >= 0)
            cards.update(int(card) for card in table.line if card >= 0)
            for top in table.tops[table.tops >= 0]:
                cards.update(range(int(top) // 13 * 13, int(top) + 1))
            assert cards == Counter(dict.fromkeys(range(26), 4)), row
        assert (tables.cards_up >= up).all()
        assert (records.redeals_used >= redeals).all()
        assert (records.redeals_used < rules.max_passes).all()
        empty = records.heights == 0
        assert empty[emptied].all()
        assert (records.heights <= 16).all()
        exposed = np.maximum(records.heights - 1, 0)
        assert not (records.face_down >> exposed & 1).any()
        up, emptied, redeals = tables.cards_up, empty, records.redeals_used.copy()


@every_rules
def test_3_and_10_tables_in_play_have_a_legal_action_and_stop_in_time(rules: BureauRules) -> None:
    tables = dealt(rules, B, seed=3)
    decisions = np.zeros(B, np.int64)
    for _ in random_play(tables, seed=3, most=rules.max_decisions + 1):
        decisions += ~tables.settled
        assert (tables.legal_action_mask().any(axis=1) == ~tables.settled).all()
        assert ((tables.to_act == 0) == ~tables.settled).all()
    assert tables.settled.all()
    assert decisions.max() <= rules.max_decisions
    assert (tables.stopped == ((decisions == rules.max_steps) & (tables.records.ending == 3))).all()


# --- 4, 5, 11: illegal actions, batches, bytes ------------------------------------------------------------------------


@every_rules
def test_4_illegal_action_is_refused_in_words_and_changes_no_byte(rules: BureauRules) -> None:
    tables = dealt(rules, 3, seed=4)
    for actions in random_play(tables, seed=4, most=25):
        before = tables.records.tobytes()
        for row in np.flatnonzero(~tables.settled).tolist():
            forbidden = np.flatnonzero(~tables.legal_action_mask()[row])
            for action in [*forbidden[::60].tolist(), -1, 200, 255, 256, 2**40]:
                wrong = actions.copy()
                wrong[row] = action
                with pytest.raises(IllegalActionError, match=rf"table {row}, seat 0, phase play: .*legal: "):
                    tables.step(wrong)
                assert tables.records.tobytes() == before


@every_rules
def test_5_and_11_row_of_a_batch_equals_that_table_alone(rules: BureauRules) -> None:
    tables = dealt(rules, 6, seed=5)
    alone = [BureauTables(rules, 1) for _ in range(6)]
    for one, deck in zip(alone, decks_of(rules, 6, seed=5), strict=True):
        one.deal(deck[None])
    for actions in random_play(tables, seed=5, most=120):
        joined = BureauTables.joined(alone)
        assert joined.records.tobytes() == tables.records.tobytes()
        assert (joined.observe_packed() == tables.observe_packed()).all()
        for row, one in enumerate(alone):
            one.step(actions[row : row + 1])


def test_5_buffers_hold_what_the_separate_calls_give_on_any_number_of_threads() -> None:
    tables, threads, plain = (dealt(BureauRules.preset("no_repeats"), B, seed=6) for _ in range(3))
    out, parallel = tables.buffers(mask=True, features=True), threads.buffers()
    rng = np.random.default_rng(6)
    while not plain.settled.all():
        actions, was_settled = random_actions(plain.legal_action_mask(), rng), plain.settled
        plain.step(actions, play_forced=True)
        tables.step(actions, play_forced=True, out=out)
        threads.step(actions, play_forced=True, out=parallel, parallel=True)
        assert plain.records.tobytes() == tables.records.tobytes() == threads.records.tobytes()
        for found in (out, parallel):
            assert (found.legal == plain.legal_packed()).all()
            assert (found.observation == plain.observe_packed()).all()
            assert (found.settled == plain.settled).all()
            assert (found.ended == (plain.settled & ~was_settled)).all()
            assert (found.returns == np.where(found.ended[:, None], plain.returns, 0)).all()
        assert (out.mask == plain.legal_action_mask()).all()
        assert (out.features == plain.observe()).all()
        live = ~plain.settled
        assert (plain.legal_action_mask().sum(axis=1)[live] > 1).all()


# --- 7: names of colours ----------------------------------------------------------------------------------------------


@every_rules
def test_7_red_for_black_renames_the_deal_and_changes_nothing_else(rules: BureauRules) -> None:
    decks = decks_of(rules, B, seed=7)
    one, other = BureauTables(rules, B), BureauTables(rules, B)
    one.deal(decks)
    other.deal((decks + 13) % 26)
    for actions in random_play(one, seed=7, most=150):
        assert (one.legal_packed() == other.legal_packed()).all()
        assert (one.cards_up == other.cards_up).all()
        other.step(actions)
    assert (one.returns == other.returns).all()
    swapped = other.records.columns
    expected = np.where(one.records.columns >= 0, (one.records.columns + 13) % 26, -1)
    assert (swapped == expected).all()


# --- 8, 9: what the player knows --------------------------------------------------------------------------------------


@every_rules
def test_8_redrawing_what_was_not_seen_leaves_all_that_was_and_plays_on(rules: BureauRules) -> None:
    tables = dealt(rules, B, seed=8)
    for number, _ in enumerate(random_play(tables, seed=8, most=200)):
        if number % 20:
            continue
        worlds = tables.reshuffle_unseen(0, seed=number)
        assert (worlds.observe_packed() == tables.observe_packed()).all()
        assert (worlds.observe_numbers() == tables.observe_numbers()).all()
        assert (worlds.legal_packed() == tables.legal_packed()).all()
        assert worlds.reshuffle_unseen(-1, seed=1).records.tobytes() == worlds.records.tobytes()
        again = tables.reshuffle_unseen(0, seed=number, streams=np.arange(B)[::-1])
        assert (again.observe_packed() == tables.observe_packed()).all()
        for row in range(0, B, 6):
            one, other = tables.snapshot(row), worlds.snapshot(row)
            cards = [
                sorted((*(card.strip("#") for pile in now.columns for card in pile), *now.stock))
                for now in (one, other)
            ]
            assert cards[0] == cards[1]
            assert not one.stock_is_known or one.stock == other.stock
    rng = np.random.default_rng(1)
    while not worlds.settled.all():
        worlds.step(random_actions(worlds.legal_action_mask(), rng))


def test_8_every_order_of_unseen_cards_is_equally_likely() -> None:
    tables = dealt(BureauRules(), 1, seed=9)
    while tables.records.unseen.sum() > 26:
        tables.step([0])
    many = tables.take(np.zeros(4000, np.int64)).reshuffle_unseen(0, seed=3)
    places = [(column, place) for column in (0, 7) for place in (0, 2)]
    unseen = tables.records.unseen[0].astype(np.int64)
    for column, place in places:
        drawn = np.bincount(many.records.columns[:, column, place], minlength=26)
        expected = 4000 * unseen / unseen.sum()
        assert not drawn[unseen == 0].any()
        assert stats.chisquare(drawn[unseen > 0], expected[unseen > 0]).pvalue > 1e-4
    pairs = Counter(zip(many.records.columns[:, 0, 0].tolist(), many.records.columns[:, 0, 2].tolist(), strict=True))
    likely = {(one, other): unseen[one] * (unseen[other] - (one == other)) for one in range(26) for other in range(26)}
    expected = {pair: 4000 * ways / (26 * 25) for pair, ways in likely.items() if ways}
    assert set(pairs) <= set(expected)
    found = stats.chisquare([pairs[pair] for pair in expected], list(expected.values()))
    assert found.pvalue > 1e-4


@every_rules
def test_9_observation_tells_everything_that_was_seen(rules: BureauRules) -> None:
    """Read back from the bits alone, the visible table is that of the snapshot."""
    tables = dealt(rules, B, seed=10)
    for number, _ in enumerate(random_play(tables, seed=10, most=200)):
        if number % 25:
            continue
        for row in np.flatnonzero(~tables.settled)[:4].tolist():
            words = tables.observe_packed()[row]
            now = tables.snapshot(row)
            assert read_back(words, rules) == {
                "columns": [
                    [None if card.startswith("#") else serial_of(card) for card in pile] for pile in now.columns
                ],
                "up": sorted(serial_of(card) for card in now.foundations),
                "waste": [serial_of(card) for card in now.waste],
                "stock": [serial_of(card) if now.stock_is_known else None for card in now.stock],
                "redeals_left": now.redeals_left,
                "legal": set(np.flatnonzero(tables.legal_action_mask()[row]).tolist()),
                "unseen": tables.records.unseen[row].tolist(),
                "accepted": {card for card in range(26) if int(tables.records.accepted[row]) >> card & 1},
                "steps_left": min((rules.max_steps - now.steps).bit_length(), 12),
            }


def read_back(words: NDArray[np.uint64], rules: BureauRules) -> dict[str, Any]:
    """What an observation tells."""
    bits = unpack(words[None])[0]
    pieces = layout(rules).segments

    def cards(name: str) -> list[int]:
        return np.flatnonzero(bits[pieces[name].slice]).tolist()

    columns = []
    for column in range(13):
        name = f"column_{column}"
        height = int(bits[pieces[f"{name}_height"].slice].sum())
        column_cards: list[Any] = [(cards(f"{name}_place_{place}") or [None])[0] for place in range(height)]
        for exposed in cards(f"{name}_exposed"):
            if height == 4:
                column_cards += range(column_cards[3] - 1, exposed - 1, -1)
            assert column_cards[-1] == exposed
            run = cards(f"{name}_run")
            below = len(column_cards) - len(run) - 1
            assert column_cards[below + 1 :] == run[::-1]
            assert bool(bits[pieces[f"{name}_at_bottom"].start]) == (below < 0)
            assert bool(bits[pieces[f"{name}_on_face_down"].start]) == (below >= 0 and column_cards[below] is None)
        assert cards(f"{name}_face_down") == [n for n, card in enumerate(column_cards[0:3:2]) if card is None]
        columns.append(column_cards)
    counts = [flags_set(words[at.UP + card // 13], 4 * (card % 13), 4) for card in range(26)]
    tops = []
    for card in range(26):
        above = counts[card + 1] if card % 13 < 12 else 0
        tops += [card] * (counts[card] - above)
    stock_size = len(cards("stock_size"))
    stock = [(cards(f"stock_{place}") or [None])[0] for place in range(stock_size)]
    waste = [cards(f"waste_{place}")[0] for place in range(len(cards("waste_size")))]
    assert cards("waste_card") == waste[:1]
    return {
        "columns": columns,
        "up": tops,
        "waste": waste[::-1],
        "stock": stock,
        "redeals_left": len(cards("redeals_left")),
        "legal": {64 * word + place for word in range(4) for place in cards(f"legal_{word}")},
        "unseen": [flags_set(words[at.UNSEEN + card // 13], 4 * (card % 13), 4) for card in range(26)],
        "accepted": set(cards("accepted")),
        "steps_left": len(cards("steps_left")),
    }


def test_9_flags_of_columns_are_what_can_be_done_with_them() -> None:
    tables = dealt(BureauRules(), B, seed=11)
    pieces = layout(BureauRules()).segments
    for number, _ in enumerate(random_play(tables, seed=11, most=150)):
        if number % 10:
            continue
        mask, bits, live = tables.legal_action_mask(), tables.observe(), ~tables.settled
        for column in range(13):
            name = f"column_{column}"
            into = mask[:, 29 + column : 198 : 13].any(axis=1) | mask[:, 3 + column]
            goes_up, takes = bits[:, pieces[f"{name}_goes_up"].start], bits[:, pieces[f"{name}_takes_cards"].start]
            assert (goes_up[live] == mask[live, 16 + column]).all()
            assert (bits[live, pieces[f"{name}_takes_waste"].start] == mask[live, 3 + column]).all()
            assert (takes.astype(bool) | mask[:, 3 + column])[live].tolist() == into[live].tolist()
        assert (bits[live, pieces["may_draw"].start] == mask[live, 0]).all()
        assert (bits[live, pieces["may_redeal"].start] == mask[live, 1]).all()
        assert (bits[live, pieces["waste_goes_up"].start] == mask[live, 2]).all()
        assert (bits[live, pieces["waste_goes_down"].start] == mask[live, 3:16].any(axis=1)).all()


def test_views_of_chosen_rows_and_of_settled_tables() -> None:
    tables = dealt(BureauRules(max_steps=2), 5, seed=12)
    tables.step([0, 0], rows=[1, 3])
    words, legal = tables.view_rows([3, 0])
    assert (words == tables.observe_packed()[[3, 0]]).all()
    assert (legal == tables.legal_packed()[[3, 0]]).all()
    tables.step([0], rows=[1])
    assert tables.stopped.tolist() == [False, True, False, False, False]
    assert not tables.observe_packed()[1].any()
    assert not tables.hidden_packed()[1].any()
    seen = tables.observe_packed(seats=[-1, 0, 0, 0, 0])
    assert not seen[0].any()
    assert seen[1].any()
    copies = tables.take([1, 1, 4])
    assert copies.records.tobytes() == b"".join(tables.records[row].tobytes() for row in (1, 1, 4))


def test_hidden_words_tell_what_the_observation_does_not() -> None:
    tables = dealt(BureauRules(), 3, seed=13)
    hidden = tables.hidden_packed()
    assert hidden.shape == (3, at.HIDDEN_WORDS)
    assert not hidden[:, 0].any()
    for row in range(3):
        now = tables.snapshot(row)
        for column in range(13):
            lower, upper = (serial_of(now.columns[column][place][1:]) for place in (0, 2))
            assert int(hidden[row, 1 + column]) == 1 << lower | 1 << upper + 26
        for place, card in enumerate(now.stock):
            assert int(hidden[row, 14 + place // 2]) >> 26 * (place % 2) & (1 << 26) - 1 == 1 << serial_of(card)
    while tables.records.redeals_used[0] == 0:
        tables.step([0 if tables.legal_action_mask()[0, 0] else 1], rows=[0])
    assert not tables.hidden_packed()[0, 14:].any()


def test_tables_refuse_what_makes_none() -> None:
    with pytest.raises(ValueError, match="num_tables is 0"):
        BureauTables(BureauRules(), 0)
    with pytest.raises(ValueError, match="seats_shown is 2"):
        BureauTables(BureauRules(), 1, 2)
    with pytest.raises(ValueError, match="rules is 'standard'"):
        BureauTables("standard", 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="dealer"):
        BureauTables(BureauRules(), 1).deal(decks_of(BureauRules(), 1, 1), 1)
    with pytest.raises(ValueError, match="cannot be joined"):
        BureauTables.joined([BureauTables(BureauRules(), 1), BureauTables(BureauRules(max_steps=5), 1)])
