"""The engine of Pinochle beside the oracle at random tables: for tests and the long run (`tests/fuzz_pinochle.py`)."""

import dataclasses
import random
from collections import Counter
from typing import Any

import numpy as np
from reference_pinochle import RANKS, SUITS, HouseRules, ReferencePinochle, beats, full_pack

from bourre_env.deck import shuffled_decks
from bourre_env.pinochle.cards import kind_text
from bourre_env.pinochle.rules import CHOICES, PRESETS, PinochleRules
from bourre_env.pinochle.table import PHASE_NAMES, TABLE
from bourre_env.pinochle.tables import PinochleTables

STATE = tuple(name for name in TABLE.names or () if name not in ("ruled_out", "shown", "deck", "forfeited", "unused"))
QUIET = 0.8  # share of calls that pass; uniform play would hardly ever pass at low bids
NEXT = 0.85  # share of bids that are the lowest one
AGAINST_DUTIES = 0.03  # share of plays that a seat tries against the duties first


def random_rules(rng: random.Random) -> PinochleRules:
    """House rules with every option drawn."""
    chosen: dict[str, Any] = {name: rng.choice(choices) for name, choices in CHOICES.items()}
    numbers = {"min_bid": rng.randint(1, 300), "bid_step": rng.randint(1, 20), "target": rng.randint(1, 2000)}
    return PinochleRules(**chosen, **numbers, need_marriage=rng.random() < 0.5, history=rng.random() < 0.5)


def preset_rules() -> list[PinochleRules]:
    """Every preset with both kinds of ids, each set of rules once."""
    rules = [PinochleRules.preset(name, card_ids=ids) for ids in ("printed", "relative") for name in PRESETS]
    return list(dict.fromkeys(rules))


def reference_of(rules: PinochleRules, deck: list[str], dealer: int, score: tuple[int, int]) -> ReferencePinochle:
    """The oracle's table."""
    names = {field.name for field in dataclasses.fields(HouseRules)}
    options = HouseRules(**{name: value for name, value in dataclasses.asdict(rules).items() if name in names})
    return ReferencePinochle(options, deck, dealer, score)


def random_word(legal: set[str], rng: random.Random) -> str:
    """One of the legal actions; passing and low bids about as often as shows the most."""
    words = sorted(legal, key=lambda word: (len(word), word))
    if "pass" in legal and (len(legal) == 1 or rng.random() < QUIET):
        return "pass"
    bids = [word for word in words if word.startswith("bid_")]
    return bids[0] if bids and rng.random() < NEXT else rng.choice(words)


def order_of_suits(table: ReferencePinochle, rules: PinochleRules) -> str:
    """The suits of cards in the order of their ids (P7.4): as printed, or trumps first and on from there."""
    first = SUITS.index(table.trump) if rules.card_ids == "relative" and table.trump else 0
    return SUITS[first:] + SUITS[:first]


def id_of(word: str, table: ReferencePinochle, rules: PinochleRules) -> int:
    """The action id of a word: the oracle's own list of actions."""
    if word == "pass":
        return 24
    if word.startswith("bid_"):
        return 25 + (int(word[4:]) - rules.min_bid) // rules.bid_step
    if word.startswith("name_"):
        return 65 + SUITS.index(word[-1])
    return 6 * order_of_suits(table, rules).index(word[1]) + RANKS.index(word[0])


def kind_of(card: str) -> int:
    """A kind of cards as the engine numbers it."""
    return 6 * SUITS.index(card[1]) + RANKS.index(card[0])


def card_bits(cards: list[str]) -> int:
    """A set of cards as the engine keeps it: a plane for the first copy of each kind, one for the second."""
    held = Counter(cards)
    return sum(1 << kind_of(card) + 24 * copy for card, number in held.items() for copy in range(number))


def kind_bits(cards: Any) -> int:
    """A set of kinds as the engine keeps it."""
    return sum(1 << kind_of(card) for card in set(cards))


def played_bits(table: ReferencePinochle) -> list[int]:
    """What each seat has played, first copies of a kind apart from second ones."""
    played, met = [0, 0, 0, 0], set()
    for trick in [*table.past_tricks, table.trick]:
        for seat, card in trick:
            played[seat] |= 1 << kind_of(card) + 24 * (card in met)
            met.add(card)
    return played


def bid_bits(table: ReferencePinochle) -> list[int]:
    """The levels each seat has bid."""
    rules, bids = table.rules, [0, 0, 0, 0]
    for seat, call in table.calls:
        if call != "pass":
            bids[seat] |= 1 << (int(call[4:]) - rules.min_bid) // rules.bid_step
    if len(table.passed) == 3 and not any(bids) and table.bidder != -1:
        bids[table.dealer] = 1  # the dealer is stuck, unasked
    return bids


def best_of(cards: list[str], trump: str) -> int:
    """The kind that wins among cards played one after the other; 24 for none."""
    best = ""
    for card in cards:
        best = card if not best or beats(card, best, trump) else best
    return kind_of(best) if best else 24


def states_of_engine(tables: PinochleTables) -> list[dict[str, Any]]:
    """What the engine holds, one dictionary of plain values for each table."""
    columns = {name: np.asarray(tables.records[name]).tolist() for name in STATE}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def state_of_oracle(table: ReferencePinochle, rules: PinochleRules) -> dict[str, Any]:
    """What the oracle says that the engine should hold."""
    tricks = [*table.past_tricks, table.trick, *[[]] * 13][:13]
    cards = [card for _, card in table.trick]
    led = cards[0][1] if cards else ""
    on_table = {seat: kind_of(card) for seat, card in table.trick}
    best = best_of(cards, table.trump)
    legal = sum(1 << id_of(word, table, rules) for word in table.legal())
    return {
        "hands": [card_bits(hand) for hand in table.hands],
        "played": played_bits(table),
        "tricks": [kind_bits(card for _, card in trick) for trick in tricks],
        "legal": [legal & (1 << 64) - 1, legal >> 64],
        "bids": bid_bits(table),
        "sent": [card_bits(given) for given in table.sent],
        "melded": [card_bits(shown) for shown in table.shown],
        "exposed": [kind_bits(kinds) for kinds in table.exposed],
        "piles": [card_bits(pile) for pile in table.piles],
        "returns": table.returns,
        "score": [before + won for before, won in zip(table.score, table.points, strict=True)],
        "points": table.points,
        "meld_points": table.meld_points,
        "trick_points": table.trick_points,
        "tricks_won": [table.winners.count(seat) for seat in range(4)],
        "on_table": [on_table.get(seat, 24) for seat in range(4)],
        "phase": PHASE_NAMES.index(table.phase),
        "dealer": table.dealer,
        "to_act": table.seat,
        "high_bid": table.bid,
        "high_bidder": table.bidder,
        "passed": sum(1 << seat for seat in table.passed),
        "trump_suit": SUITS.index(table.trump) if table.trump else 4,
        "tricks_done": len(table.winners),
        "leader": table.leader,
        "led_suit": SUITS.index(led) if led else 4,
        "best_card": best,
        "best_seat": next((seat for seat, card in table.trick if kind_of(card) == best), -1),
        "best_in_suit": best_of([card for card in cards if card[1] == led], led),
        "taken_back": kind_of(table.taken_back) if table.taken_back else 24,
    }


class Comparison:
    """Random play at some tables of the engine and of the oracle at once."""

    def __init__(self, rules: PinochleRules, num_tables: int, rng: random.Random, counts: Counter[str] | None = None):
        """Deal every table."""
        self.rules, self.rng, self.decisions = rules, rng, 0
        self.counts: Counter[str] = Counter() if counts is None else counts
        self.tables = PinochleTables(rules, num_tables)
        self.references: list[ReferencePinochle] = []
        self.deal_id = 0
        self.references = [self._dealt(row) for row in range(num_tables)]

    def _dealt(self, row: int) -> ReferencePinochle:
        """Deal one table again, at the engine and at the oracle."""
        dealer = self.rng.randrange(4)
        score = (self.rng.randrange(-500, self.rules.target), self.rng.randrange(-500, self.rules.target))
        deck = shuffled_decks(self.rng.getrandbits(32), [self.deal_id], pack=self.rules.pack)
        self.deal_id += 1
        self.tables.deal(deck, dealer, rows=[row], score=[score])
        texts = [kind_text(int(card) // 2) for card in deck[0]]
        assert sorted(texts) == sorted(full_pack())
        return reference_of(self.rules, texts, dealer, score)

    def step(self) -> None:
        """One decision everywhere, and the comparison of all there is."""
        actions = np.zeros(len(self.references), np.int64)
        tried = [self._try_against_duties(row) for row in range(len(self.references))]
        if any(tried):
            self.check()
        for row, table in enumerate(self.references):
            word = random_word(table.legal(), self.rng)
            actions[row] = id_of(word, table, self.rules)
            self.counts[table.phase] += 1
            table.step(word)
        self.tables.step(actions)
        self.check()
        for row, table in enumerate(self.references):
            self.decisions += 1
            if table.phase == "settled":
                self.counts.update(situations(table))
                self.references[row] = self._dealt(row)

    def _try_against_duties(self, row: int) -> bool:
        """Now and then the seat to act plays a card that it must take back; whether it does."""
        table = self.references[row]
        if table.phase != "play" or self.rng.random() >= AGAINST_DUTIES:
            return False
        forbidden = sorted(set(table.hands[table.seat]) - table.legal())
        if forbidden:
            card = self.rng.choice(forbidden)
            assert self.tables.take_back(row, id_of(card, table, self.rules))
            table.take_back(card)
            self.counts["taken back"] += 1
        return bool(forbidden)

    def check(self) -> None:
        """The engine's tables are the oracle's, in every respect."""
        states = states_of_engine(self.tables)
        for row, (state, table) in enumerate(zip(states, self.references, strict=True)):
            expected = state_of_oracle(table, self.rules)
            for name in STATE:
                assert state[name] == expected[name], f"{self.rules}, table {row}: {name} differs"


def situations(table: ReferencePinochle) -> list[str]:
    """What a hand that is over shows."""
    found = ["hands"]
    if not table.trump:
        return [*found, "thrown in"]
    found += [name for shown in table.melds for name in shown]
    found += ["stuck"] * all(call == "pass" for _, call in table.calls)
    found += ["made" if table.points[table.bidder % 2] >= 0 else "set"]
    trumped = [trick for trick in table.past_tricks if any(card[1] == table.trump for _, card in trick[1:])]
    found += ["ruffed"] * any(trick[0][1][1] != table.trump for trick in trumped)
    meld = [table.meld_points[side] + table.meld_points[side + 2] for side in range(2)]
    tricks = [sum(winner % 2 == side for winner in table.winners) for side in range(2)]
    found += ["meld lost"] * any(meld[side] and not tricks[side] for side in range(2))
    return found
