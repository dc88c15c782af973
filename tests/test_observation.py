"""What a seat sees: all it may know (9: decoded and compared with a diary of the play) and nothing else (8).

Shapes: B tables, S seats shown, W words.
"""

import random
from typing import Any

import numpy as np
import pytest
from conftest import EVERY_TABLE, PAGAT_TABLES, TABLE_SIZES, dealt, random_actions, random_play, start_of
from numpy.typing import NDArray
from positions import OneTable

from bourre_env import Rules, Snapshot, Tables
from bourre_env.bits import Layout, pack, unpack, unpack_actions
from bourre_env.bourre.observation import layout

FOUR = Rules.preset("pagat")
pagat_rules = pytest.mark.parametrize("rules", PAGAT_TABLES.values(), ids=PAGAT_TABLES)
every_rules = pytest.mark.parametrize("rules", EVERY_TABLE.values(), ids=EVERY_TABLE)
both_widths = pytest.mark.parametrize("seats_shown", [None, 8])


# --- where the pieces lie

PLACES = {  # word, first bit, length; with hands of five
    "own_hand": (0, 0, 52),
    "phase": (0, 52, 3),
    "led_suit": (0, 55, 4),
    "tricks_done": (0, 59, 5),
    "own_dealt": (1, 0, 52),
    "dealer": (1, 52, 8),
    "last_to_play": (1, 60, 1),
    "pot_over_limit": (1, 61, 3),
    "own_discards": (2, 0, 52),
    "exempt": (2, 52, 8),
    "turn_up_gone": (2, 60, 1),
    "turn_up": (3, 0, 52),
    "pot": (3, 52, 12),
    "table_cards": (4, 0, 52),
    "leader": (4, 52, 8),
    "trick_1_ago": (5, 0, 52),
    "seat_exists": (5, 52, 8),
    "trick_4_ago": (8, 0, 52),
    "seat_0_played": (9, 0, 52),
    "seat_3_played": (12, 0, 52),
    "seat_3_stayed": (12, 52, 1),
    "seat_3_passed": (12, 53, 1),
    "seat_3_discards": (12, 54, 5),
    "seat_3_tricks": (12, 59, 5),
}


@pytest.mark.parametrize("name", PLACES)
def test_named_piece_lies_where_the_documentation_says(name: str) -> None:
    piece = layout(FOUR).segments[name]
    assert (piece.word, piece.first_bit, piece.length) == PLACES[name]
    assert piece.slice == slice(64 * piece.word + piece.first_bit, 64 * piece.word + piece.first_bit + piece.length)


@every_rules
@both_widths
def test_pieces_lie_inside_the_row_and_do_not_overlap(rules: Rules, seats_shown: int | None) -> None:
    plan = layout(rules, seats_shown)
    taken = np.zeros(plan.size, np.int64)
    for piece in plan.segments.values():
        assert 0 <= piece.first_bit < piece.first_bit + piece.length <= 64
        taken[piece.slice] += 1
    assert taken.max() == 1
    assert plan.size == 64 * plan.num_words
    assert plan.num_words == 4 + rules.hand_size + (seats_shown or rules.num_players)


def test_layout_with_eight_seats_is_one_for_all_table_sizes_and_others_differ() -> None:
    every_size = [Rules.preset("pagat", num_players=size) for size in TABLE_SIZES]
    assert len({layout(rules, 8).hash for rules in every_size}) == 1
    assert len({layout(rules).hash for rules in every_size}) == 7
    assert layout(FOUR).hash == layout(Rules.preset("pagat_limit")).hash
    assert layout(FOUR).hash != layout(Rules(hand_size=4)).hash


@pytest.mark.parametrize(("num_players", "seats_shown"), [(4, 3), (8, 7), (2, 1), (2, 9), (4, 0), (4, -1)])
def test_layout_of_too_few_or_too_many_seats_is_refused(num_players: int, seats_shown: int) -> None:
    with pytest.raises(ValueError, match=f"seats_shown is {seats_shown}; it must be from {num_players}"):
        layout(Rules(num_players=num_players), seats_shown)


# --- 9: packed and plain forms


@pytest.mark.parametrize("num_words", [1, 13, 17])
def test_9_packing_and_unpacking_are_each_others_inverse(num_words: int) -> None:
    words = np.random.default_rng(num_words).integers(0, 2**64, (200, num_words), np.uint64)
    words[0], words[1] = 0, 2**64 - 1
    features = unpack(words)
    assert (features.dtype, features.shape) == (np.float32, (200, 64 * num_words))
    assert set(np.unique(features)) == {0.0, 1.0}
    assert (pack(features) == words).all()
    assert (pack(features).dtype, pack(features).shape) == (np.uint64, words.shape)
    for row, word, bit in np.random.default_rng(1).integers(0, [200, num_words, 64], (50, 3)):
        assert features[row, 64 * word + bit] == (int(words[row, word]) >> int(bit) & 1)


@pytest.mark.parametrize("num_actions", [3, 63, 64, 65, 85, 128])
def test_9_legal_sets_unpack_to_masks(num_actions: int) -> None:
    legal = np.random.default_rng(2).integers(0, 2**64, (100, 2), np.uint64)
    mask = unpack_actions(legal, num_actions)
    assert (mask.dtype, mask.shape) == (np.bool_, (100, num_actions))
    bits = [int(low) | int(high) << 64 for low, high in legal]
    assert mask.tolist() == [[bool(row >> action & 1) for action in range(num_actions)] for row in bits]


@every_rules
def test_no_bit_outside_the_named_pieces_is_ever_set(rules: Rules) -> None:
    tables = dealt(rules, 40, seed=1, seats_shown=8 if rules.num_players % 2 else None)
    unnamed = np.ones(tables.layout.size, np.bool_)
    for piece in tables.layout.segments.values():
        unnamed[piece.slice] = False
    for _ in random_play(tables, seed=1):
        for seat in range(rules.num_players):
            assert not tables.observe(seats=seat)[:, unnamed].any()


@pagat_rules
def test_padded_observation_is_the_plain_one_followed_by_empty_seats(rules: Rules) -> None:
    plain, padded = dealt(rules, 40, seed=2), dealt(rules, 40, seed=2, seats_shown=8)
    words = plain.layout.num_words
    for actions in random_play(plain, seed=2):
        observed = padded.observe_packed()
        assert (observed[:, :words] == plain.observe_packed()).all()
        assert not observed[:, words:].any()
        padded.step(actions)


# --- 9: the diary of a deal, and the observation read back

RANKS, SUITS = "23456789TJQKA", "CDHS"
POT_HALVES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128)  # the pot in halves of one ante a seat, at least
LIMIT_HALVES = (1, 2, 4)  # the pot in halves of the limit, at least


class Diary:
    """What everyone saw in a deal and what each seat alone saw, written down from the table's hands before and after.

    Cards are real texts. Tricks are lists of (seat, card).
    """

    def __init__(self, rules: Rules, now: Snapshot) -> None:
        """Begin with the hands dealt."""
        self.rules, self.now, self.seats = rules, now, range(rules.num_players)
        self.first_hands = [set(hand) for hand in now.hands]
        self.thrown: list[set[str]] = [set() for _ in self.seats]
        self.tricks: list[list[tuple[int, str]]] = [[]]
        self.won = [0] * rules.num_players
        self.leader = -1

    def write(self, after: Snapshot) -> None:
        """Note one decision: the table has gone from `now` to `after`."""
        before, seat = self.now, self.now.seat
        gone = set(before.hands[seat]) - set(after.hands[seat])
        if before.phase == "play":
            self._note_card(seat, *gone)
        elif after.passed[seat] and not before.passed[seat]:
            self.thrown[seat] = set(before.hands[seat])
        else:
            self.thrown[seat] = gone
        if after.phase == "play" and self.leader < 0:
            self.leader = after.seat
        self.now = after

    def _note_card(self, seat: int, card: str) -> None:
        """A card is played; a full trick goes to the highest trump or else the highest card of the suit led."""
        self.tricks[-1].append((seat, card))
        if len(self.tricks[-1]) == sum(self.now.stayed):
            led = self.tricks[-1][0][1][1]
            strength = {self.now.trump_suit: 100, led: 50}
            self.leader = max(self.tricks[-1], key=lambda play: strength.get(play[1][1], 0) + RANKS.index(play[1][0]))[
                0
            ]
            self.won[self.leader] += 1
            self.tricks.append([])

    def played_by(self, seat: int) -> set[str]:
        """All cards a seat has played."""
        return {card for trick in self.tricks for who, card in trick if who == seat}

    def known_to(self, observer: int) -> dict[str, Any]:
        """Every named piece of the observation, as plain values."""
        now, size = self.now, self.rules.num_players

        def relative(seat: int) -> int:
            return (seat - observer) % size

        trick = self.tricks[-1]
        playing = now.phase == "play"
        active = [seat for seat in self.seats if now.stayed[seat]]
        known: dict[str, Any] = {
            "own_hand": set(now.hands[observer]),
            "own_dealt": self.first_hands[observer],
            "own_discards": self.thrown[observer],
            "phase": {("declare", "draw", "play").index(now.phase)},
            "led_suit": trick[0][1][1] if playing and trick else "",
            "tricks_done": len(self.tricks) - 1,
            "dealer": {relative(now.dealer)},
            "last_to_play": playing and observer in active and self._is_last(observer, active),
            "exempt": {relative(seat) for seat in self.seats if now.exempt[seat]},
            "turn_up": {now.turn_up},
            "turn_up_gone": self.rules.turn_up_owner == "table" or self._turn_up_was_thrown(),
            "pot": sum(2 * now.pot >= halves * self.rules.ante * size for halves in POT_HALVES),
            "pot_over_limit": self._pot_over_limit(),
            "table_cards": {card for _, card in trick},
            "leader": {relative(self.leader)} if playing else set(),
            "seat_exists": set(range(size)),
        }
        for ago in range(1, self.rules.hand_size):
            past = self.tricks[-1 - ago] if ago < len(self.tricks) else []
            known[f"trick_{ago}_ago"] = {card for _, card in past}
        for seat in self.seats:
            known[f"seat_{relative(seat)}_played"] = self.played_by(seat)
            known[f"seat_{relative(seat)}_stayed"] = now.stayed[seat]
            known[f"seat_{relative(seat)}_passed"] = now.passed[seat]
            known[f"seat_{relative(seat)}_discards"] = 0 if now.passed[seat] else len(self.thrown[seat])
            known[f"seat_{relative(seat)}_tricks"] = self.won[seat]
        return known

    def _is_last(self, observer: int, active: list[int]) -> bool:
        """Whether no active seat plays after the observer in this trick."""
        order = sorted(active, key=lambda seat: (seat - self.leader) % self.rules.num_players)
        return order[-1] == observer

    def _turn_up_was_thrown(self) -> bool:
        """Whether the dealer, having stayed, threw the turn-up away face up."""
        dealer = self.now.dealer
        return self.now.stayed[dealer] and self.now.turn_up in self.thrown[dealer]

    def _pot_over_limit(self) -> int:
        """Steps of the pot towards the limit; none without a limit."""
        limit = self.rules.limit
        return 0 if limit is None else sum(2 * self.now.pot >= halves * limit for halves in LIMIT_HALVES)


CARDS = ("own_hand", "own_dealt", "own_discards", "turn_up", "table_cards")
NUMBERS = ("tricks_done", "pot", "pot_over_limit", "discards", "tricks")
SETS = ("phase", "dealer", "exempt", "leader", "seat_exists")


def read_back(plan: Layout, words: NDArray[np.uint64], trump_suit: str) -> dict[str, Any]:
    """Every named piece of a packed row, as plain values; card ids are read trumps first (D3)."""
    suits = [trump_suit, *(suit for suit in SUITS if suit != trump_suit)]
    row, told = words.tolist(), {}
    for name, piece in plan.segments.items():
        ones = numbers_of(row[piece.word] >> piece.first_bit & (1 << piece.length) - 1)
        last_part = name.rsplit("_", 1)[-1]
        if name in CARDS or last_part in ("ago", "played"):
            told[name] = {RANKS[bit % 13] + suits[bit // 13] for bit in ones}
        elif name in NUMBERS or last_part in NUMBERS:
            assert ones == list(range(len(ones))), f"{name} is no thermometer: {ones}"
            told[name] = len(ones)
        elif name in SETS:
            told[name] = set(ones)
        elif name == "led_suit":
            told[name] = "".join(suits[bit] for bit in ones)
        else:
            assert piece.length == 1
            told[name] = bool(ones)
    return told


def numbers_of(bits: int) -> list[int]:
    """Numbers of the bits that are set, ascending."""
    ones = []
    while bits:
        ones.append((bits & -bits).bit_length() - 1)
        bits &= bits - 1
    return ones


def play_with_diary(tables: Tables, seed: int) -> Any:
    """Play one table at random; yields its diary before each decision and at the end."""
    diary, rng = Diary(tables.rules, tables.snapshot(0)), np.random.default_rng(seed)
    while not tables.settled[0]:
        yield diary
        tables.step(random_actions(tables.legal_action_mask(), rng))
        diary.write(tables.snapshot(0))


DIARY_RULES = PAGAT_TABLES | {
    "two rounds": Rules(num_players=5, declare_mode="two_rounds"),
    "turn-up for nobody": Rules(num_players=6, turn_up_owner="table"),
    "three cards": Rules(num_players=3, hand_size=3, ante=7, limit=30),
}


@pytest.mark.parametrize("rules", DIARY_RULES.values(), ids=DIARY_RULES)
def test_9_observation_read_back_is_all_that_the_seat_has_seen(rules: Rules) -> None:
    met = set()
    for seed in range(6):
        tables = dealt(rules, 1, seed, seats_shown=8 if seed % 2 else None)
        for diary in play_with_diary(tables, seed):
            for seat in range(rules.num_players):
                told = read_back(tables.layout, tables.observe_packed(seats=[seat])[0], diary.now.trump_suit)
                known = diary.known_to(seat)
                padding = {name for name, value in told.items() if name not in known and value}
                assert {name: told[name] for name in known} == known
                assert not padding
                met |= {name for name, value in told.items() if value}
            assert (tables.observe_packed() == tables.observe_packed(seats=tables.to_act)).all()
    for name in ("own_discards", "exempt", f"trick_{rules.hand_size - 1}_ago", "last_to_play", "led_suit"):
        assert name in met, f"{name} was never set"


@pytest.mark.parametrize("num_players", TABLE_SIZES)
def test_9_who_played_which_card_in_which_trick_can_be_told_from_the_observation_alone(num_players: int) -> None:
    """Perfect recall: tricks, their order of play and their winners follow from the named pieces."""
    rules = Rules.preset("pagat", num_players=num_players)
    compared = 0
    for seed in range(20, 28):
        tables = dealt(rules, 1, seed)
        for diary in play_with_diary(tables, seed):
            if diary.now.phase != "play":
                continue
            seat = int(tables.to_act[0])
            told = read_back(tables.layout, tables.observe_packed()[0], diary.now.trump_suit)
            assert tricks_told(told, num_players) == [
                {((who - seat) % num_players, card) for who, card in trick} for trick in diary.tricks
            ]
            drawn = (told["own_hand"] | told["seat_0_played"]) - told["own_dealt"]
            assert len(drawn) == told["seat_0_discards"]
            compared += len(diary.tricks) - 1
    assert compared > 50


def tricks_told(told: dict[str, Any], num_players: int) -> list[set[tuple[int, str]]]:
    """(relative seat, card) of each trick, the oldest first, from what an observation tells."""
    names = [f"trick_{ago}_ago" for ago in range(told["tricks_done"], 0, -1)] + ["table_cards"]
    return [
        {(seat, card) for seat in range(num_players) for card in told[f"seat_{seat}_played"] & told[name]}
        for name in names
    ]


@pagat_rules
def test_b069_every_seat_sees_the_same_kind_of_row_in_every_phase(rules: Rules) -> None:
    tables = dealt(rules, 20, seed=3)
    for _ in random_play(tables, seed=3):
        views = [tables.observe(seats=seat) for seat in range(rules.num_players)]
        assert {(view.dtype, view.shape) for view in views} == {(np.dtype(np.float32), (20, tables.layout.size))}
        assert all(view.any(axis=1).all() for view in views)
        for view, seat in zip(views, range(rules.num_players), strict=True):
            own = tables.layout.segments["seat_exists"]
            assert (view[:, own.slice].sum(axis=1) == rules.num_players).all(), seat


# --- 8: nothing that a seat cannot see


def cards_of(bits: int) -> list[int]:
    """Cards of a set."""
    return [card for card in range(52) if bits >> card & 1]


def hidden_from(table: np.record, rules: Rules, seat: int) -> list[int]:
    """Relative ids of the cards that a seat has not seen: neither its own, nor played, nor the turn-up."""
    seen = int(table["dealt"][seat]) | int(table["hands"][seat]) | 1 << int(table["turn_up"])
    for other in range(rules.num_players):
        seen |= int(table["played"][other])
    return cards_of((2**52 - 1) & ~seen)


def swapped(cards: list[int], how_many: int, rng: random.Random) -> list[int]:
    """A renaming of all 52 relative cards that moves some of the given ones and leaves the rest."""
    names = list(range(52))
    chosen = rng.sample(cards, min(how_many, len(cards)))
    moved = chosen[1:] + chosen[:1]
    for old, new in zip(chosen, moved, strict=True):
        names[old] = new
    return names


def real_deck(table: np.record, names: list[int]) -> list[int]:
    """The dealt pack as real ids, with its relative cards renamed."""
    trump = int(table["trump_suit"])
    suits = [trump, *(suit for suit in range(4) if suit != trump)]
    return [13 * suits[names[card] // 13] + names[card] % 13 for card in table["deck"].tolist()]


def same_in_public(action: int, hand: int, other_hand: int, names: list[int]) -> int:
    """The action that throws away the renamed cards; passes and plays stay as they are."""
    if action < 52 or action == 84:
        return action
    thrown = {names[card] for place, card in enumerate(cards_of(hand)) if action - 52 >> place & 1}
    return 52 + sum(1 << place for place, card in enumerate(cards_of(other_hand)) if card in thrown)


class TwinTables:
    """Tables, and twins whose packs differ only in cards that the row's observer has not seen after `cut` decisions.

    A twin repeats what was done in public. It drops out when some other seat could not have done so, or when a pile was
    reshuffled, whose order depends on every card.
    """

    def __init__(self, rules: Rules, num_tables: int, cut: int, how_many: int, seed: int) -> None:
        """Play the tables up to the cut, then the twins."""
        self.rules, self.rng, self.begin = rules, random.Random(seed), start_of(rules, num_tables, seed)
        self.tables, self.twins = Tables(rules, num_tables), Tables(rules, num_tables)
        self.observers = np.random.default_rng(seed).integers(0, rules.num_players, num_tables)
        self.tables.deal(**self.begin)
        history = self._play(cut, seed)
        records = self.tables.records
        hidden = [hidden_from(records[row], rules, int(seat)) for row, seat in enumerate(self.observers)]
        self.names = [swapped(cards, how_many, self.rng) for cards in hidden]
        decks = [real_deck(records[row], names) for row, names in enumerate(self.names)]
        self.twins.deal(**(self.begin | {"decks": decks}))
        self.alike = ~self.tables.settled & (records["num_reshuffles"] == 0)
        self.differs = [deck != list(old) for deck, old in zip(decks, self.begin["decks"].tolist(), strict=True)]
        for actions, hands in history:
            self._repeat(actions, hands)

    def _play(self, cut: int, seed: int) -> list[tuple[NDArray[np.int64], NDArray[np.uint64]]]:
        """Some decisions at random: the actions and the hands of the seats to act."""
        history, rng = [], np.random.default_rng(seed)
        for _ in range(cut):
            actions = random_actions(self.tables.legal_action_mask(), rng)
            history.append((actions, self.tables.hidden_packed()[:, 0]))
            self.tables.step(actions)
        return history

    def _repeat(self, actions: NDArray[np.int64], hands: NDArray[np.uint64]) -> None:
        """One decision at the twins; an observer may always do what it did before."""
        legal, own_hands = self.twins.legal_action_mask(), self.twins.hidden_packed()[:, 0]
        taken = legal.argmax(axis=1)
        for row in np.flatnonzero(self.alike).tolist():
            action = same_in_public(int(actions[row]), int(hands[row]), int(own_hands[row]), self.names[row])
            if legal[row, action]:
                taken[row] = action
            else:
                assert self.twins.to_act[row] != self.observers[row], f"table {row}: hidden cards changed what is legal"
                self.alike[row] = False
        self.twins.step(taken)


@pytest.mark.parametrize("how_many", [2, 52])
@pagat_rules
def test_8_b071_cards_that_a_seat_cannot_see_change_neither_its_observation_nor_its_mask(
    rules: Rules, how_many: int
) -> None:
    """At every moment of the declarations, and in play as often as the other seats could have played as they did."""
    compared = dict.fromkeys(("declare", "play"), 0)
    for cut in (0, 1, rules.num_players - 1, rules.num_players, rules.num_players + 2, 2 * rules.num_players + 1):
        both = TwinTables(rules, 60, cut, how_many, seed=100 + cut)
        rows = np.flatnonzero(both.alike)
        assert all(both.differs[row] for row in rows)
        for seats in (both.observers, np.where(both.tables.to_act == both.observers, both.observers, -1)):
            assert (both.twins.observe_packed(seats=seats)[rows] == both.tables.observe_packed(seats=seats)[rows]).all()
        own_turn = rows[both.tables.to_act[rows] == both.observers[rows]]
        assert (both.twins.to_act[rows] == both.tables.to_act[rows]).all()
        assert (both.twins.legal_packed()[own_turn] == both.tables.legal_packed()[own_turn]).all()
        assert not (both.twins.hidden_packed()[rows] == both.tables.hidden_packed()[rows]).all() or not len(rows)
        declaring = both.tables.records["phase"][rows] == 0
        compared["declare"] += int(declaring.sum())
        compared["play"] += int((~declaring).sum())
    assert compared["declare"] > 60
    assert compared["play"] > (20 if how_many == 2 else 0)


def test_8_first_declaration_sees_nothing_of_stock_and_other_hands() -> None:
    """Only the eldest's five cards and the turn-up stay in their places; all 46 others may lie anywhere."""
    rules = Rules.preset("pagat", num_players=8)
    begin = start_of(rules, 300, seed=4)
    rng = np.random.default_rng(4)
    decks = begin["decks"].copy()
    for deck in decks:
        fixed = {*range(0, 40, 8), 39}
        free = [place for place in range(52) if place not in fixed]
        deck[free] = deck[rng.permutation(free)]
    tables, others = Tables(rules, 300), Tables(rules, 300)
    tables.deal(**begin)
    others.deal(**(begin | {"decks": decks}))
    assert (others.observe() == tables.observe()).all()
    assert (others.legal_action_mask() == tables.legal_action_mask()).all()
    assert (others.hidden_packed()[:, 1:7] != tables.hidden_packed()[:, 1:7]).any(axis=1).all()


def test_b073_other_seats_see_how_many_cards_were_thrown_away_and_not_which() -> None:
    hands, stock = ["2C 3D 4H 5H 6S", "", "", "7S"], "AS KS QS JS TS"
    one, other, fewer = (OneTable(hands, dealer=3, next_cards=stock) for _ in range(3))
    one.act("stay 2C 3D")
    other.act("stay 4H 5H")
    fewer.act("stay 2C")
    for seat in range(4):
        seen = [table.tables.observe_packed(seats=[seat]).tobytes() for table in (one, other, fewer)]
        assert (seen[0] == seen[1]) == (seat != 0)
        assert seen[0] != seen[2]
    assert (one.tables.legal_packed() == other.tables.legal_packed()).all()


def test_b073_hand_of_a_seat_that_passed_stays_face_down() -> None:
    one = OneTable(["2C 3D 4H 5H 6S", "", "", "7S"], dealer=3, next_cards="AC KD")
    other = OneTable(["AC KD 4H 5H 6S", "", "", "7S"], dealer=3, next_cards="2C 3D")
    for table in (one, other):
        table.act("pass")
    assert one.hand(1) == other.hand(1)
    for seat in (1, 2, 3):
        assert (one.tables.observe_packed(seats=[seat]) == other.tables.observe_packed(seats=[seat])).all()
