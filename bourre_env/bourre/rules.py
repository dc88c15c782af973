"""The house rules of a table: one frozen value, named presets, a fingerprint.

`RULES.md` explains every option under the number given here. Names of presets and what they change are in `PRESETS`.
"""

import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bourre_env import tricks
from bourre_env.cards import NUM_RANKS, RANK_NAMES, SUIT_NAMES
from bourre_env.errors import RulesError, listed, nearest

MIN_PLAYERS, MAX_PLAYERS = 2, 8
MIN_HAND, MAX_HAND = 2, 5
MAX_CHIPS = 2**31 - 1

CHOICES: dict[str, tuple[str, ...]] = {
    "turn_up_owner": ("dealer", "table"),
    "all_pass": ("dealer_collects", "pot_stays"),
    "lead_rule": ("free", "top_honour", "any_honour"),
    "cinch": ("off", "lead", "lead_and_follow"),
    "win_condition": ("most", "majority"),
    "tie_rule": ("carry", "divide"),
    "bourre_penalty": ("match_pot", "capped", "fixed"),
    "draw_fee_per": ("visit", "card"),
    "declare_mode": ("with_draw", "two_rounds"),
    "recycle": ("discards_and_passed", "passed_first", "none"),
    "stacks": ("credit", "table_stakes"),
}

# Values of options as compiled code compares them.
DEALER_COLLECTS = CHOICES["all_pass"].index("dealer_collects")
FREE_LEAD = CHOICES["lead_rule"].index("free")
TOP_HONOUR = CHOICES["lead_rule"].index("top_honour")
CINCH_OFF = CHOICES["cinch"].index("off")
CINCH_LEAD = CHOICES["cinch"].index("lead")
CAPPED = CHOICES["bourre_penalty"].index("capped")
FIXED = CHOICES["bourre_penalty"].index("fixed")
RECYCLE_PASSED_FIRST = CHOICES["recycle"].index("passed_first")
RECYCLE_NONE = CHOICES["recycle"].index("none")

RULES = np.dtype(
    [
        ("num_players", np.int8),
        ("hand_size", np.int8),
        ("ranks", np.int8),
        ("suits", np.int8),
        ("ace", np.int8),  # rank number of the ace, -1 in a pack without one
        ("max_discards", np.int8),
        ("duties", np.int8),
        ("turn_up_on_table", np.uint8),
        ("dealer_may_discard_turn_up", np.uint8),
        ("ace_up_dealer_must_stay", np.uint8),
        ("dealer_always_stays", np.uint8),
        ("all_pass", np.int8),
        ("lead_rule", np.int8),
        ("cinch", np.int8),
        ("majority_wins", np.uint8),
        ("divide_ties", np.uint8),
        ("tied_skip_ante", np.uint8),
        ("bourre_skips_ante", np.uint8),
        ("bourre_penalty", np.int8),
        ("two_rounds", np.uint8),
        ("blind_declaring", np.uint8),
        ("recycle", np.int8),
        ("table_stakes", np.uint8),
        ("draw_fee_each_card", np.uint8),
        ("honours", np.uint64),  # ace, king and queen of trumps
        ("ante", np.int64),
        ("limit", np.int64),  # MAX_CHIPS when there is none
        ("penalty_chips", np.int64),
        ("play_fee", np.int64),
        ("draw_fee", np.int64),
    ],
    align=True,
)
"""The rules as compiled code reads them: a record argument, so that no option recompiles anything."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules of one table. Every field is an option of `RULES.md`; the defaults are the `pagat` preset.

    Attributes:
        num_players: seats, 2 to 8 (1.1).
        ante: chips each seat puts in before a deal (1.3).
        limit: most chips a winner takes and a bourré pays (6.4); None for no limit.
        hand_size: cards a seat, 2 to 5 (2.1).
        ranks: rank letters of the pack from lowest to highest (1.2).
        suits: suit letters of the pack (1.2).
        max_discards: most cards thrown away in a draw (3.3), or one number for each table size from 2 to 8.
        turn_up_owner: "dealer" or "table" (2.2).
        dealer_may_discard_turn_up: (3.6).
        ace_up_dealer_must_stay: (3.4).
        dealer_always_stays: (3.5).
        all_pass: "dealer_collects" or "pot_stays" (3.7).
        must_beat: (4.2).
        must_trump: (4.3).
        must_overtrump: (4.3).
        must_undertrump: (4.4).
        trump_with_highest: (4.3).
        lead_rule: "free", "top_honour" or "any_honour" (4.8).
        cinch: "off", "lead" or "lead_and_follow" (5.3, 5.4).
        win_condition: "most" or "majority" (6.1).
        tie_rule: "carry" or "divide" (6.2).
        tied_skip_ante: (6.5).
        bourre_skips_ante: (6.5).
        bourre_penalty: "match_pot", "capped" or "fixed" (6.3).
        penalty_chips: the cap or the fixed amount of a bourré (6.3); 0 when the pot is matched.
        play_fee: chips paid to stay (3.9).
        draw_fee: chips paid to draw (3.9).
        draw_fee_per: "visit" or "card" (3.9).
        declare_mode: "with_draw" or "two_rounds" (3.1).
        blind_declaring: (3.12).
        recycle: "discards_and_passed", "passed_first" or "none" (3.10).
        stacks: "credit" or "table_stakes" (6.7).

    Raises:
        RulesError: a value or a combination that makes no game; the message names field, value and what is allowed.
    """

    game: ClassVar[str] = "bourre"

    num_players: int = 4
    ante: int = 1
    limit: int | None = None
    hand_size: int = 5
    ranks: str = RANK_NAMES
    suits: str = SUIT_NAMES
    max_discards: int | tuple[int, ...] = 5
    turn_up_owner: str = "dealer"
    dealer_may_discard_turn_up: bool = True
    ace_up_dealer_must_stay: bool = True
    dealer_always_stays: bool = False
    all_pass: str = "dealer_collects"
    must_beat: bool = True
    must_trump: bool = True
    must_overtrump: bool = True
    must_undertrump: bool = True
    trump_with_highest: bool = False
    lead_rule: str = "free"
    cinch: str = "lead_and_follow"
    win_condition: str = "most"
    tie_rule: str = "carry"
    tied_skip_ante: bool = True
    bourre_skips_ante: bool = True
    bourre_penalty: str = "match_pot"
    penalty_chips: int = 0
    play_fee: int = 0
    draw_fee: int = 0
    draw_fee_per: str = "visit"
    declare_mode: str = "with_draw"
    blind_declaring: bool = False
    recycle: str = "discards_and_passed"
    stacks: str = "credit"

    def __post_init__(self) -> None:
        """Refuse values and combinations that make no game; NumPy's integers become plain ones."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.integer):
                object.__setattr__(self, field.name, int(value))
        _check_types(self)
        _check_ranges(self)
        _check_combinations(self)

    @staticmethod
    def preset(name: str, /, **changes: Any) -> "Rules":
        """The rules of a named preset, with some fields changed.

        Args:
            name: a key of `PRESETS`.
            **changes: fields to set instead, such as `num_players=5`.

        Raises:
            RulesError: no preset or no field of that name, or a value that is not allowed.
        """
        if not isinstance(name, str) or name not in PRESETS:
            raise RulesError(f"no rules preset is called {name!r}{nearest(name, PRESETS)}; choose {listed(PRESETS)}")
        fields = {field.name for field in dataclasses.fields(Rules)}
        for change in changes:
            if change not in fields:
                raise RulesError(f"Rules has no field {change!r}{nearest(change, fields)}")
        chosen = {**PRESETS[name], **changes}
        fewest, most = PRESET_PLAYERS.get(name, (MIN_PLAYERS, MAX_PLAYERS))
        players = chosen.get("num_players", fewest)
        if isinstance(players, int) and not fewest <= players <= most:
            raise RulesError(f"the preset {name!r} is for {_span(fewest, most)} players, not {players}")
        if name == "pagat_limit" and isinstance(chosen.get("ante", 1), int):  # twenty antes, whatever the ante
            chosen.setdefault("limit", LIMIT_IN_ANTES * chosen.get("ante", 1))
        return Rules(**chosen)

    @staticmethod
    def from_plain(fields: Mapping[str, Any], fingerprint: str) -> "Rules":
        """Rules from their JSON form, where tuples are lists.

        Args:
            fields: every field by name, as `dataclasses.asdict` gives them.
            fingerprint: what it was when they were written down.

        Raises:
            RulesError: no rules, or the fields mean something else in this version.
            TypeError: a field of another name.
        """
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
        }
        rules = Rules(**values)
        if rules.fingerprint != fingerprint:
            raise RulesError(f"rules of fingerprint {fingerprint} mean something else in this version")
        return rules

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sixteen hex digits that differ between any two rule sets; stamped on every result and record."""
        text = json.dumps(dataclasses.asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @functools.cached_property
    def pack(self) -> tuple[int, ...]:
        """Real ids of the cards in the pack, ascending."""
        lowest = NUM_RANKS - len(self.ranks)
        return tuple(NUM_RANKS * suit + rank for suit in range(len(self.suits)) for rank in range(lowest, NUM_RANKS))

    @functools.cached_property
    def pack_set(self) -> np.uint64:
        """The pack as a set of cards: bit c for the real id c."""
        return np.uint64(sum(1 << card for card in self.pack))

    @property
    def rank_names(self) -> str:
        """Thirteen letters, one for each rank number; ranks the pack lacks are dots."""
        return self.ranks.rjust(NUM_RANKS, ".")

    @property
    def discards_allowed(self) -> int:
        """`max_discards` at this table size."""
        if isinstance(self.max_discards, int):
            return self.max_discards
        return self.max_discards[self.num_players - MIN_PLAYERS]

    @property
    def num_actions(self) -> int:
        """Size of the action space: cards to play, ways to discard, and passing."""
        return len(self.pack) + (1 << self.hand_size) + 1

    @property
    def sides(self) -> tuple[tuple[int, ...], ...]:
        """Seats that win and lose together: each plays for itself."""
        return tuple((seat,) for seat in range(self.num_players))

    @property
    def max_decisions(self) -> int:
        """No deal has more decisions than this: a declaration, a draw and every card, for each seat."""
        rounds = 2 if self.declare_mode == "two_rounds" else 1
        return self.num_players * (rounds + self.hand_size)

    def record(self) -> np.recarray[Any, Any]:
        """[1] of dtype `RULES`: these rules as compiled code reads them."""
        duties = (
            tricks.MUST_BEAT * self.must_beat
            | tricks.MUST_TRUMP * self.must_trump
            | tricks.MUST_OVERTRUMP * self.must_overtrump
            | tricks.MUST_UNDERTRUMP * self.must_undertrump
            | tricks.TRUMP_WITH_HIGHEST * self.trump_with_highest
        )
        values = {
            **{name: getattr(self, name) for name in RULES.names or () if hasattr(self, name)},
            **{name: CHOICES[name].index(getattr(self, name)) for name in CHOICES if name in (RULES.names or ())},
            "ranks": len(self.ranks),
            "ace": self.rank_names.find("A"),
            "honours": sum(1 << self.rank_names.find(rank) for rank in "AKQ" if rank in self.ranks),
            "suits": len(self.suits),
            "max_discards": self.discards_allowed,
            "duties": duties,
            "turn_up_on_table": self.turn_up_owner == "table",
            "majority_wins": self.win_condition == "majority",
            "divide_ties": self.tie_rule == "divide",
            "two_rounds": self.declare_mode == "two_rounds",
            "table_stakes": self.stacks == "table_stakes",
            "draw_fee_each_card": self.draw_fee_per == "card",
            "limit": MAX_CHIPS if self.limit is None else self.limit,
        }
        record = np.zeros(1, RULES)
        for name, value in values.items():
            record[name] = value
        return record.view(np.recarray)


LIMIT_IN_ANTES = 20

BUY_IN = 100
"""Antes a seat sits down with at table stakes (6.7) where nothing else is said."""

_TURN_UP_FOR_NOBODY: dict[str, Any] = {
    "turn_up_owner": "table",
    "ace_up_dealer_must_stay": False,
    "cinch": "off",
    "tie_rule": "divide",
    "tied_skip_ante": False,
    "bourre_skips_ante": False,
    "all_pass": "pot_stays",
}

_REDUCED: dict[str, Any] = {
    "ranks": "JQKA",
    "suits": "CD",
    "declare_mode": "two_rounds",
    "ace_up_dealer_must_stay": False,
    "cinch": "off",
    "tied_skip_ante": False,
    "bourre_skips_ante": False,
}

PRESETS: dict[str, dict[str, Any]] = {
    "pagat": {},
    "pagat_limit": {},  # and limit = 20 antes, set by Rules.preset
    "pagat_nocinch": {"cinch": "off"},
    "hoyle": {
        **_TURN_UP_FOR_NOBODY,
        "max_discards": (4, 4, 4, 4, 3, 3, 3),
        "lead_rule": "top_honour",
    },
    "bicycle": {
        **_TURN_UP_FOR_NOBODY,
        "max_discards": 4,
        "lead_rule": "any_honour",
    },
    "wiki": {
        "max_discards": (5, 5, 5, 5, 5, 3, 3),
        "declare_mode": "two_rounds",
        "recycle": "passed_first",
        "cinch": "off",
    },
    "french3": {
        "hand_size": 3,
        "max_discards": 3,
        "ranks": "789TAJQK",
        "ace_up_dealer_must_stay": False,
        "cinch": "off",
    },
    "reduced_2p2c": {**_REDUCED, "num_players": 2, "hand_size": 2, "max_discards": 2},
    "reduced_2p3c": {**_REDUCED, "num_players": 2, "hand_size": 3, "max_discards": 1},
    "reduced_3p2c": {**_REDUCED, "num_players": 3, "hand_size": 2, "max_discards": 1, "recycle": "none"},
}
"""What each preset changes from the defaults of `Rules`."""

PRESET_PLAYERS = {
    **dict.fromkeys(("hoyle", "bicycle", "wiki"), (2, 7)),
    "reduced_2p2c": (2, 2),
    "reduced_2p3c": (2, 2),
    "reduced_3p2c": (3, 3),
}
"""Fewest and most players of the presets that are not for every table."""


def _check_types(rules: Rules) -> None:
    """Every field has the type it is declared with; booleans are not numbers here."""
    for field in dataclasses.fields(rules):
        value = getattr(rules, field.name)
        allowed = _TYPES.get(field.name, type(field.default))
        if (isinstance(value, bool) and allowed is not bool) or not isinstance(value, allowed):
            raise RulesError(f"Rules.{field.name} is {value!r} ({type(value).__name__}); it must be {_named(allowed)}")
        if field.name in CHOICES and value not in CHOICES[field.name]:
            near = nearest(value, CHOICES[field.name])
            raise RulesError(f"Rules.{field.name} is {value!r}{near}; choose {listed(CHOICES[field.name])}")


def _check_ranges(rules: Rules) -> None:
    """Every number is in its range."""
    _check_range("num_players", rules.num_players, MIN_PLAYERS, MAX_PLAYERS)
    _check_range("hand_size", rules.hand_size, MIN_HAND, MAX_HAND)
    _check_range("ante", rules.ante, 1, MAX_CHIPS // MAX_PLAYERS)
    for name in ("penalty_chips", "play_fee", "draw_fee"):
        _check_range(name, getattr(rules, name), 0, MAX_CHIPS // MAX_PLAYERS)
    if rules.limit is not None:
        _check_range("limit", rules.limit, 1, MAX_CHIPS)
    if isinstance(rules.max_discards, tuple) and len(rules.max_discards) != MAX_PLAYERS - MIN_PLAYERS + 1:
        raise RulesError(
            f"Rules.max_discards has {len(rules.max_discards)} numbers; "
            "give one number, or seven: one for each table size from 2 to 8"
        )
    sizes = rules.max_discards if isinstance(rules.max_discards, tuple) else (rules.max_discards,)
    for number in sizes:
        _check_range("max_discards", number, 0, MAX_HAND)
    if not 2 <= len(rules.ranks) <= NUM_RANKS or len(set(rules.ranks)) != len(rules.ranks):
        raise RulesError(f"Rules.ranks is {rules.ranks!r}; write 2 to 13 different rank letters, lowest first")
    if not set(rules.ranks) <= set(RANK_NAMES):
        raise RulesError(f"Rules.ranks is {rules.ranks!r}; the letters must be among {RANK_NAMES}")
    if len(rules.suits) < 2 or rules.suits != SUIT_NAMES[: len(rules.suits)]:
        raise RulesError(f"Rules.suits is {rules.suits!r}; choose 'CD', 'CDH' or 'CDHS'")


def _check_combinations(rules: Rules) -> None:
    """Fields that do not go together."""
    cards_dealt = rules.num_players * rules.hand_size + (rules.turn_up_owner == "table")
    if cards_dealt > len(rules.pack):
        raise RulesError(
            f"num_players={rules.num_players} with hand_size={rules.hand_size} deals {cards_dealt} cards "
            f"from a pack of {len(rules.pack)}; use fewer players, smaller hands or more ranks"
        )
    if rules.bourre_penalty == "match_pot" and rules.penalty_chips:
        raise RulesError(
            f"penalty_chips={rules.penalty_chips} has no meaning when bourre_penalty='match_pot'; "
            "choose 'capped' or 'fixed', or leave it 0"
        )
    if rules.bourre_penalty != "match_pot" and not rules.penalty_chips:
        raise RulesError(f"bourre_penalty={rules.bourre_penalty!r} needs penalty_chips of at least 1")
    if rules.blind_declaring and rules.declare_mode != "two_rounds":
        raise RulesError("blind_declaring needs declare_mode='two_rounds': nobody can choose discards unseen")
    if rules.dealer_always_stays and rules.all_pass == "pot_stays":
        raise RulesError("dealer_always_stays and all_pass='pot_stays' contradict each other: the dealer never passes")
    if rules.must_overtrump and not rules.must_trump:
        raise RulesError("must_overtrump needs must_trump: a seat that need not trump need not overtrump")
    if rules.must_undertrump and not rules.must_trump:
        raise RulesError("must_undertrump needs must_trump: a seat that need not trump need not undertrump")
    if rules.trump_with_highest and not rules.must_trump:
        raise RulesError("trump_with_highest needs must_trump")


_TYPES: dict[str, Any] = {"limit": (int, type(None)), "max_discards": (int, tuple)}


def _check_range(name: str, value: Any, low: int, high: int) -> None:
    """One number, between two bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise RulesError(f"Rules.{name} is {value!r}; it must be an integer from {low} to {high}")


def _named(allowed: Any) -> str:
    """A type, or a tuple of types, in words."""
    names = {int: "an integer", str: "a text", bool: "True or False", tuple: "a tuple of integers", type(None): "None"}
    return " or ".join(names[kind] for kind in (allowed if isinstance(allowed, tuple) else (allowed,)))


def _span(low: int, high: int) -> str:
    """A range of numbers in words."""
    return str(low) if low == high else f"{low} to {high}"
