"""The house rules of a Pinochle table: one frozen value, named presets, a fingerprint.

`docs/pinochle.md` explains every option under the number given here. Names of presets are in `PRESETS`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bourre_env.pinochle.cards import NUM_CARDS, NUM_KINDS, NUM_RANKS, NUM_SUITS, PACK
from bourre_env.rules_values import HouseRules
from bourre_env.tricks import ALL_DUTIES, BEAT_BEST_OF_SUIT, BEAT_ONLY_TRUMPS

NUM_SEATS = 4
HAND_SIZE = 12
NUM_LEVELS = 40  # bids (P2.2)
MAX_CALLS = NUM_LEVELS + NUM_SEATS - 1  # every level bid, and all but one seat pass
MOST_MIN_BID, MOST_STEP, MOST_TARGET = 1000, 100, 10_000

CHOICES: dict[str, tuple[str | int, ...]] = {
    "scale": ("modern", "counters10", "classic", "simplified"),
    "all_pass": ("dealer_stuck", "redeal"),
    "exchange": (0, 3, 4),
    "double_royal_marriage": (8, 30),
    "leader": ("declarer", "eldest"),
    "head": ("always", "trump_led"),
    "head_target": ("winner", "led_suit"),
    "save_meld": ("one_trick", "one_counter", "none"),
    "card_ids": ("printed", "relative"),
}

LIMITS: dict[str, tuple[int, int]] = {
    "min_bid": (1, MOST_MIN_BID),
    "bid_step": (1, MOST_STEP),
    "target": (1, MOST_TARGET),
}

SCALES: dict[str, tuple[tuple[int, ...], int, int]] = {
    "modern": ((0, 0, 0, 1, 1, 1), 1, 1),
    "counters10": ((0, 0, 0, 10, 10, 10), 10, 10),
    "classic": ((0, 2, 3, 4, 10, 11), 10, 10),
    "simplified": ((0, 0, 5, 5, 10, 10), 10, 10),
}
"""Rule P1.4: points of the ranks from the nine to the ace, of the last trick, and what a point of melds is worth."""

SAVE_ALWAYS, SAVE_BY_TRICK, SAVE_BY_COUNTER = range(3)
SAVE_MELD = {"none": SAVE_ALWAYS, "one_trick": SAVE_BY_TRICK, "one_counter": SAVE_BY_COUNTER}

RULES = np.dtype(
    [
        ("min_bid", np.int32),
        ("bid_step", np.int32),
        ("target", np.int32),
        ("duties", np.int32),
        ("card_points", np.int32, NUM_RANKS),
        ("last_trick", np.int32),
        ("unit", np.int32),
        ("double_royal_marriage", np.int32),
        ("exchange", np.int8),
        ("save_meld", np.int8),
        ("dealer_stuck", np.uint8),
        ("need_marriage", np.uint8),
        ("eldest_leads", np.uint8),
        ("history", np.uint8),
        ("relative_ids", np.uint8),
        ("num_players", np.int8),
    ],
    align=True,
)
"""The rules as compiled code reads them."""


_TENFOLD: dict[str, Any] = {"min_bid": 250, "bid_step": 10, "target": 1500}

PRESETS: dict[str, dict[str, Any]] = {
    "modern": {},
    "modern_relative": {"card_ids": "relative"},
    "counters10": {"scale": "counters10", **_TENFOLD},
    "classic": {"scale": "classic", **_TENFOLD},
    "simplified": {"scale": "simplified", **_TENFOLD},
    "exchange_four": {"exchange": 4},
    "older": {"scale": "classic", **_TENFOLD, "head": "trump_led", "leader": "eldest"},
}
"""What each preset changes from the defaults of `PinochleRules`."""


@dataclass(frozen=True, kw_only=True)
class PinochleRules(HouseRules):
    """The rules of one table. Every field is an option of `docs/pinochle.md`; the defaults are the `modern` preset.

    Attributes:
        scale: "modern", "counters10", "classic" or "simplified" (P1.4).
        min_bid: the lowest bid, 1 to 1000 (P2.2).
        bid_step: from one bid to the next, 1 to 100 (P2.2).
        all_pass: "dealer_stuck" or "redeal" (P2.4).
        need_marriage: the declarer names a suit of which it holds king and queen (P3.1).
        exchange: cards that the declarer and the partner send each other, 0, 3 or 4 (P3.2).
        double_royal_marriage: points of two royal marriages without a run, 8 or 30 (P4.3).
        leader: "declarer" or "eldest" (P5.1).
        head: "always" or "trump_led" (P5.2).
        head_target: "winner" or "led_suit" (P5.2).
        save_meld: what makes a side's melds count: "one_trick", "one_counter" or "none" (P6.1).
        target: points that win a game, 1 to 10000 (P6.4).
        history: earlier tricks can be read from observations (P7.5).
        card_ids: "printed" or "relative" (P7.4).

    Raises:
        RulesError: a value that makes no game; the message names field, value and what is allowed.
    """

    game: ClassVar[str] = "pinochle"
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = PRESETS
    choices: ClassVar[Mapping[str, Sequence[Any]]] = CHOICES
    limits: ClassVar[Mapping[str, tuple[int, int]]] = LIMITS
    num_players: ClassVar[int] = NUM_SEATS
    hand_size: ClassVar[int] = HAND_SIZE
    num_actions: ClassVar[int] = NUM_KINDS + 1 + NUM_LEVELS + NUM_SUITS
    sides: ClassVar[tuple[tuple[int, ...], ...]] = ((0, 2), (1, 3))
    pack: ClassVar[tuple[int, ...]] = tuple(range(NUM_CARDS))
    pack_set: ClassVar[np.uint64] = PACK

    scale: str = "modern"
    min_bid: int = 25
    bid_step: int = 1
    all_pass: str = "dealer_stuck"
    need_marriage: bool = False
    exchange: int = 0
    double_royal_marriage: int = 8
    leader: str = "declarer"
    head: str = "always"
    head_target: str = "winner"
    save_meld: str = "one_trick"
    target: int = 150
    history: bool = True
    card_ids: str = "printed"

    @property
    def unit(self) -> int:
        """What a point of the modern scale is on this one (P1.4)."""
        return SCALES[self.scale][2]

    @property
    def hand_points(self) -> int:
        """Points of all tricks of a hand, the last trick's included: 25 or 250 (P1.4)."""
        cards, last, _ = SCALES[self.scale]
        return 2 * NUM_SUITS * sum(cards) + last

    @property
    def duties(self) -> int:
        """Flags of `bourre_env.tricks` (P5.2 and P5.3)."""
        only_trumps = BEAT_ONLY_TRUMPS * (self.head == "trump_led")
        return ALL_DUTIES | only_trumps | BEAT_BEST_OF_SUIT * (self.head_target == "led_suit")

    @property
    def max_decisions(self) -> int:
        """No hand has more decisions than this (P7.6): calls, the trump suit, cards sent both ways, cards played."""
        return MAX_CALLS + 1 + 2 * self.exchange + NUM_CARDS

    def bid_of(self, level: int) -> int:
        """Rule P2.2: points that a level stands for."""
        return self.min_bid + level * self.bid_step

    def record(self) -> np.recarray[Any, Any]:
        """[1] of dtype `RULES`: these rules as compiled code reads them."""
        card_points, last_trick, unit = SCALES[self.scale]
        values = {
            **{name: getattr(self, name) for name in RULES.names or () if hasattr(self, name)},
            "card_points": card_points,
            "last_trick": last_trick,
            "double_royal_marriage": unit * self.double_royal_marriage,
            "save_meld": SAVE_MELD[self.save_meld],
            "dealer_stuck": self.all_pass == "dealer_stuck",
            "eldest_leads": self.leader == "eldest",
            "relative_ids": self.card_ids == "relative",
        }
        record = np.zeros(1, RULES)
        for name, value in values.items():
            record[name] = value
        return record.view(np.recarray)
