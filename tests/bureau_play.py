"""The engine of Bureau beside the oracle at random tables, for the tests and the long run (`tests/fuzz_bureau.py`)."""

import dataclasses
import random
from collections import Counter
from typing import Any

import numpy as np
from reference_bureau import COLUMNS, RANKS, Action, HouseRules, ReferenceBureau, full_pack

from bourre_env.bureau.rules import CHOICES, PRESETS, BureauRules
from bourre_env.bureau.table import TABLE
from bourre_env.bureau.tables import BureauTables
from bourre_env.deck import shuffled_decks

EAGER = 0.8  # share of decisions at which a card goes up or is turned up if one can; uniform play hardly gets so far
CALM = 0.5  # share of the others at which the next card is drawn if there is one; uniform play moves to and fro


def random_rules(rng: random.Random) -> BureauRules:
    """House rules with every option drawn."""
    chosen = {name: rng.choice(choices) for name, choices in CHOICES.items()}
    return BureauRules(
        n_foundations=rng.choice([4, 8, 8, rng.randint(1, 8)]),
        max_passes=rng.randint(1, 4),
        max_steps=rng.choice([rng.randint(1, 60), 300, 600]),
        forbid_repeat=rng.random() < 0.5,
        resign=rng.random() < 0.2,
        **chosen,  # type: ignore[arg-type]
    )


def preset_rules() -> list[BureauRules]:
    """Every preset."""
    return [BureauRules.preset(name) for name in PRESETS]


def reference_of(rules: BureauRules, deck: list[str]) -> ReferenceBureau:
    """The oracle's table."""
    return ReferenceBureau(HouseRules(**dataclasses.asdict(rules)), deck)


def text_of(printed: int) -> str:
    """The card that a pack's id stands for: the oracle's own reading of B1.1."""
    return RANKS[printed % 13] + "SH"[printed // 13]


def code_of(card: object) -> int:
    """The number of a card among the integers of the observation (B6.5)."""
    assert isinstance(card, str)
    return 2 + 13 * "SH".index(card[1]) + RANKS.index(card[0])


def id_of(action: Action) -> int:
    """The action id of the oracle's action: its own list of ids (B6.4)."""
    kind, *places = action
    if kind in ("draw", "redeal", "resign"):
        return {"draw": 0, "redeal": 1, "resign": 198}[str(kind)]
    if places[0] == "waste":
        return 2 if kind == "up" else 3 + int(str(places[1]))
    source = int(str(places[0]))
    return 16 + source if kind == "up" else 29 + 13 * source + int(str(places[1]))


def turns_up(table: ReferenceBureau, action: Action) -> bool:
    """Whether a move puts a card up or leaves a column's face-down card exposed."""
    if action[0] == "up":
        return True
    if action[0] != "down" or action[1] == "waste":
        return False
    source, target = action[1:]
    pile, length = table.columns[source], table.length_to_move(source, target)  # type: ignore[arg-type, call-overload]
    return len(pile) > length and not pile[-length - 1][1]


def random_action(table: ReferenceBureau, rng: random.Random) -> Action:
    """One of the legal actions, more often one that leads on."""
    legal = sorted(table.legal(), key=id_of)
    eager = [action for action in legal if turns_up(table, action)]
    if eager and rng.random() < EAGER:
        return rng.choice(eager)
    if legal[0] in (("draw",), ("redeal",)) and rng.random() < CALM:
        return legal[0]
    calm = [action for action in legal if action != ("resign",) or rng.random() < 0.05]
    return rng.choice(calm or legal)


def numbers_of(table: ReferenceBureau) -> list[int]:
    """The 323 integers of the observation (B6.5)."""
    found: list[int] = []
    for pile in table.columns:
        found += [code_of(card) if is_up else 1 for card, is_up in pile] + [0] * (16 - len(pile))
    found += [code_of(pile[-1]) for pile in table.foundations] + [0] * (8 - len(table.foundations))
    found += [code_of(card) for card in table.waste] + [0] * (52 - len(table.waste))
    known = table.redeals_used > 0
    found += [code_of(card) if known else 1 for card in table.stock] + [0] * (52 - len(table.stock))
    return [*found, len(table.stock), len(table.waste), table.rules.max_passes - 1 - table.redeals_used]


STATE = tuple(
    name for name in TABLE.names or () if name not in ("runs", "accepted", "position", "num_seen", "seen", "unused")
)
ENDINGS = ("", "won", "lost", "stopped", "resigned", "forfeited")


def serial_of(card: object) -> int:
    """A card's id in the record: which of the two series it is of, and its rank (B1.2)."""
    assert isinstance(card, str)
    rank = RANKS.index(card[0])
    return 13 * ("SH".index(card[1]) ^ rank % 2) + rank


def states_of_engine(tables: BureauTables) -> list[dict[str, Any]]:
    """What the engine holds, one dictionary of plain values for each table."""
    columns = {name: np.asarray(tables.records[name]).tolist() for name in STATE}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def state_of_oracle(table: ReferenceBureau) -> dict[str, Any]:
    """What the oracle says that the engine should hold."""

    def filled(cards: list[Any], length: int) -> list[int]:
        return [serial_of(card) for card in cards] + [-1] * (length - len(cards))

    legal = sum(1 << id_of(action) for action in table.legal())
    hidden = [card for pile in table.columns for card, is_up in pile if not is_up]
    unseen = Counter(map(serial_of, hidden + (table.stock if table.redeals_used == 0 else [])))
    return {
        "legal": [legal >> 64 * word & (1 << 64) - 1 for word in range(4)],
        "returns": [table.returns],
        "steps": table.steps,
        "columns": [filled([card for card, _ in pile], 16) for pile in table.columns],
        "heights": [len(pile) for pile in table.columns],
        "face_down": [sum(1 << place for place, (_, is_up) in enumerate(pile) if not is_up) for pile in table.columns],
        "line": filled(table.waste + table.stock, 52),
        "tops": filled([pile[-1] for pile in table.foundations], 8),
        "unseen": [unseen[card] for card in range(26)],
        "line_length": len(table.waste + table.stock),
        "waste_size": len(table.waste),
        "redeals_used": table.redeals_used,
        "cards_up": table.cards_up,
        "phase": int(table.ending != ""),
        "ending": ENDINGS.index(table.ending),
        "to_act": -1 if table.ending else 0,
        "dealer": 0,
    }


class Comparison:
    """Play at some tables of the engine and of the oracle at once, at random unless `chosen` says otherwise."""

    def __init__(self, rules: BureauRules, num_tables: int, rng: random.Random, counts: Counter[str] | None = None):
        """Deal every table."""
        self.rules, self.rng, self.decisions = rules, rng, 0
        self.counts: Counter[str] = Counter() if counts is None else counts
        self.tables = BureauTables(rules, num_tables)
        self.deal_id = 0
        self.references = [self._dealt(row) for row in range(num_tables)]

    def _dealt(self, row: int) -> ReferenceBureau:
        """Deal one table again, at the engine and at the oracle."""
        deck = shuffled_decks(self.rng.getrandbits(32), [self.deal_id], pack=self.rules.pack)
        self.deal_id += 1
        self.tables.deal(deck, rows=[row])
        texts = [text_of(int(card)) for card in deck[0]]
        assert sorted(texts) == sorted(full_pack())
        return reference_of(self.rules, texts)

    def chosen(self, row: int, table: ReferenceBureau) -> Action:
        """The next action at a table."""
        return random_action(table, self.rng)

    def step(self) -> None:
        """One decision everywhere, and the comparison of all there is."""
        actions = np.zeros(len(self.references), np.int64)
        for row, table in enumerate(self.references):
            action = self.chosen(row, table)
            actions[row] = id_of(action)
            self.counts[f"{action[0]} {'waste' if 'waste' in action else ''}".strip()] += 1
            table.step(action)
        self.tables.step(actions)
        self.check()
        for row, table in enumerate(self.references):
            self.decisions += 1
            if table.ending:
                self.counts[table.ending] += 1
                self.references[row] = self._dealt(row)

    def check(self) -> None:
        """The engine's tables are the oracle's, in every respect."""
        states, numbers = states_of_engine(self.tables), self.tables.observe_numbers().tolist()
        for row, (state, table) in enumerate(zip(states, self.references, strict=True)):
            expected = state_of_oracle(table)
            for name in STATE:
                assert state[name] == expected[name], f"{self.rules}, table {row}: {name} differs"
            assert numbers[row] == numbers_of(table), f"{self.rules}, table {row}: numbers differ"


def laid_table(given: dict[str, Any]) -> ReferenceBureau:
    """The oracle's table in the position of a golden case."""
    rules = HouseRules(n_foundations=given["n_foundations"])
    table = ReferenceBureau(rules, stock=list(given["stock"]), waste=list(given["waste"]))
    table.redeals_used = given["redeals_used"]
    table.columns = [[[card.lstrip("#"), not card.startswith("#")] for card in pile] for pile in given["tableau"]]
    for top in given["foundations"]:
        height = RANKS.index(top[0]) + 1
        colours = [top[1], "H" if top[1] == "S" else "S"]
        table.foundations.append([RANKS[rank] + colours[(height - 1 - rank) % 2] for rank in range(height)])
    assert len(table.columns) == COLUMNS
    table.begin()
    return table
