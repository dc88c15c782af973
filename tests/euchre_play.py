"""The engine of Euchre beside the oracle at random tables, for the tests and the long run (`tests/fuzz_euchre.py`)."""

import dataclasses
import random
from collections import Counter
from typing import Any

import numpy as np
from reference_euchre import RANKS, SAME_COLOUR, SUITS, HouseRules, ReferenceEuchre, counts_as, full_pack

from bourre_env.deck import shuffled_decks
from bourre_env.euchre.cards import card_text
from bourre_env.euchre.rules import CHOICES, PRESETS, EuchreRules
from bourre_env.euchre.table import PHASE_NAMES, TABLE
from bourre_env.euchre.tables import EuchreTables

STATE = tuple(
    name for name in TABLE.names or () if name not in ("deck", "voids", "best_card", "best_seat", "forfeited", "unused")
)
QUIET = 0.75  # share of calls and answers that pass or keep the partner; uniform play would hardly get so far


def random_rules(rng: random.Random) -> EuchreRules:
    """House rules with every option drawn."""
    fields = {
        field.name: rng.random() < 0.5 for field in dataclasses.fields(EuchreRules) if isinstance(field.default, bool)
    }
    fields["partner_alone_only"] |= fields["turn_down_card_to_partner"]
    chosen = {name: rng.choice(choices) for name, choices in CHOICES.items()}
    return EuchreRules(**fields, **chosen, target=rng.randint(1, 21))  # type: ignore[arg-type]


def preset_rules() -> list[EuchreRules]:
    """Every preset with both kinds of ids, each set of rules once."""
    rules = [EuchreRules.preset(name, card_ids=ids) for ids in CHOICES["card_ids"] for name in PRESETS]
    return list(dict.fromkeys(rules))


def reference_of(rules: EuchreRules, deck: list[str], dealer: int, score: tuple[int, int]) -> ReferenceEuchre:
    """The oracle's table."""
    names = {field.name for field in dataclasses.fields(HouseRules)}
    options = HouseRules(**{name: value for name, value in dataclasses.asdict(rules).items() if name in names})
    return ReferenceEuchre(options, deck, dealer, score)


def random_word(legal: set[str], rng: random.Random) -> str:
    """One of the legal actions; passing and going alone about as often as shows the most."""
    words = sorted(legal)
    for quiet in ("pass", "with_partner"):
        if quiet in legal and len(legal) > 1 and rng.random() < QUIET:
            return quiet
    return rng.choice(words)


def reference_letter(table: ReferenceEuchre) -> str:
    """The suit that relative ids count from (E6.3)."""
    if table.trump:
        return table.trump
    return "C" if table.up_card == "BN" else table.up_card[1]


def order_of_suits(letter: str) -> str:
    """All suits in the order of their relative ids: the reference, the others' suits as printed, its colour last."""
    others = [suit for suit in SUITS if suit not in (letter, SAME_COLOUR[letter])]
    return "".join([letter, *others, SAME_COLOUR[letter]])


def id_of(word: str, suits: str) -> int:
    """The action id of a word, suits counted in that order: the oracle's own list of actions."""
    fixed = {"BN": 24, "pass": 25, "turn_down": 30, "alone": 31, "with_partner": 32}
    if word in fixed:
        return fixed[word]
    if word.startswith("name_"):
        return 26 + suits.index(word[-1])
    return 6 * suits.index(word[1]) + RANKS.index(word[0])


def ids_of(words: set[str], table: ReferenceEuchre, rules: EuchreRules) -> dict[int, str]:
    """Action ids of words at a table."""
    suits = SUITS if rules.card_ids == "printed" else order_of_suits(reference_letter(table))
    return {id_of(word, suits): word for word in words}


def card_bits(cards: list[str]) -> int:
    """A set of cards as the engine keeps it."""
    return sum(1 << id_of(card, SUITS) for card in cards)


def mask_of(seats: list[int]) -> int:
    """A set of seats as the engine keeps it."""
    return sum(1 << seat for seat in seats)


def states_of_engine(tables: EuchreTables) -> list[dict[str, Any]]:
    """What the engine holds, one dictionary of plain values for each table."""
    columns = {name: np.asarray(tables.records[name]).tolist() for name in STATE}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def state_of_oracle(table: ReferenceEuchre, rules: EuchreRules) -> dict[str, Any]:
    """What the oracle says that the engine should hold."""
    tricks = [*table.past_tricks, table.trick, *[[]] * 6][:6]
    said = ["pass", *(f"name_{suit}" for suit in SUITS), "turn_down"]
    played = [[card for trick in tricks for other, card in trick if other == seat] for seat in range(4)]
    led = counts_as(table.trick[0][1], table.trump) if table.trick else ""
    return {
        "hands": [card_bits(hand) for hand in table.hands],
        "played": [card_bits(cards) for cards in played],
        "tricks": [card_bits([card for _, card in trick]) for trick in tricks],
        "legal": [sum(1 << action for action in ids_of(table.legal(), table, rules)), 0],
        "shed": card_bits([table.shed]) if table.shed else 0,
        "calls": sum(1 << 6 * place + said.index(call) for place, call in enumerate(table.calls)),
        "returns": table.returns,
        "score": [before + won for before, won in zip(table.score, table.points, strict=True)],
        "points": table.points,
        "tricks_won": [table.winners.count(seat) for seat in range(4)],
        "num_calls": len(table.calls),
        "phase": PHASE_NAMES.index(table.phase),
        "dealer": table.dealer,
        "to_act": table.seat,
        "up_card": id_of(table.up_card, SUITS),
        "trump_suit": SUITS.index(table.trump) if table.trump else 4,
        "maker": table.maker,
        "taker": table.taker,
        "alone": mask_of(table.alone),
        "out": mask_of(table.out),
        "asked": mask_of(list(table.answers)),
        "tricks_done": len(table.winners),
        "leader": table.leader,
        "led_suit": SUITS.index(led) if led else 4,
    }


class Comparison:
    """Random play at some tables of the engine and of the oracle at once."""

    def __init__(self, rules: EuchreRules, num_tables: int, rng: random.Random, counts: Counter[str] | None = None):
        """Deal every table."""
        self.rules, self.rng, self.decisions = rules, rng, 0
        self.counts: Counter[str] = Counter() if counts is None else counts
        self.tables = EuchreTables(rules, num_tables)
        self.references: list[ReferenceEuchre] = []
        self.deal_id = 0
        self.references = [self._dealt(row) for row in range(num_tables)]

    def _dealt(self, row: int) -> ReferenceEuchre:
        """Deal one table again, at the engine and at the oracle."""
        dealer = self.rng.randrange(4)
        score = (self.rng.randrange(self.rules.target), self.rng.randrange(self.rules.target))
        deck = shuffled_decks(self.rng.getrandbits(32), [self.deal_id], pack=self.rules.pack)
        self.deal_id += 1
        self.tables.deal(deck, dealer, rows=[row], score=[score])
        texts = [card_text(int(card)) for card in deck[0]]
        assert set(texts) == set(full_pack(self.rules.benny))
        return reference_of(self.rules, texts, dealer, score)

    def step(self) -> None:
        """One decision everywhere, and the comparison of all there is."""
        actions = np.zeros(len(self.references), np.int64)
        for row, table in enumerate(self.references):
            word = random_word(table.legal(), self.rng)
            actions[row] = self.id_of(row, word)
            self.counts[table.phase] += 1
            table.step(word)
        self.tables.step(actions)
        self.check()
        for row, table in enumerate(self.references):
            self.decisions += 1
            if table.phase == "settled":
                self.counts.update(situations(table))
                self.references[row] = self._dealt(row)

    def id_of(self, row: int, word: str) -> int:
        """The action that a word names at a table."""
        (action,) = ids_of({word}, self.references[row], self.rules)
        return action

    def check(self) -> None:
        """The engine's tables are the oracle's, in every respect."""
        states = states_of_engine(self.tables)
        for row, (state, table) in enumerate(zip(states, self.references, strict=True)):
            expected = state_of_oracle(table, self.rules)
            for name in STATE:
                assert state[name] == expected[name], f"{self.rules}, table {row}: {name} differs"


def situations(table: ReferenceEuchre) -> list[str]:
    """What a hand that is over shows."""
    found = ["hands"]
    if not table.trump:
        return [*found, "thrown in"]
    found += ["blind"] * (table.up_card == "BN") + ["turned down"] * ("turn_down" in table.calls)
    found += [f"{len(table.alone)} alone"] * bool(table.alone)
    found += ["up-card shed"] * (table.shed == table.up_card) + ["second round"] * (len(table.calls) > 4)
    found += [f"{max(table.points)} points for {'makers' if table.points[table.maker % 2] else 'defenders'}"]
    return found
