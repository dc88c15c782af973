"""The house rules of a Euchre table: one frozen value, named presets, a fingerprint.

`docs/euchre.md` explains every option under the number given here. Names of presets are in `PRESETS`.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bourre_env.errors import RulesError
from bourre_env.euchre.cards import BENNY, NUM_CARDS
from bourre_env.rules_values import HouseRules

NUM_SEATS = 4
HAND_SIZE = 5
MAX_TARGET = 21  # observations count points up to it
MOST_POINTS = 4  # a hand can bring (E5.1)

CHOICES: dict[str, tuple[str, ...]] = {
    "alone_by": ("anyone", "maker"),
    "alone_scoring": ("march_only", "double_all"),
    "card_ids": ("printed", "relative"),
}

LIMITS = {"target": (1, MAX_TARGET)}

RULES = np.dtype(
    [
        ("num_players", np.int8),
        ("hand_size", np.int8),
        ("target", np.int8),
        ("benny", np.uint8),
        ("may_shed_upcard", np.uint8),
        ("partner_alone_only", np.uint8),
        ("turn_down_card_to_partner", np.uint8),
        ("partner_round2_alone_only", np.uint8),
        ("stick_the_dealer", np.uint8),
        ("allow_lone_defender", np.uint8),
        ("only_maker_alone", np.uint8),
        ("double_all", np.uint8),
        ("relative_ids", np.uint8),
    ],
    align=True,
)
"""The rules as compiled code reads them."""


PRESETS: dict[str, dict[str, Any]] = {
    "cornish": {},
    "cornish_relative": {"card_ids": "relative"},
    "openspiel": {
        "benny": False,
        "partner_alone_only": False,
        "may_shed_upcard": False,
        "stick_the_dealer": True,
        "alone_by": "maker",
        "allow_lone_defender": False,
        "target": 10,
    },
}
"""What each preset changes from the defaults of `EuchreRules`."""


@dataclass(frozen=True, kw_only=True)
class EuchreRules(HouseRules):
    """The rules of one table. Every field is an option of `docs/euchre.md`; the defaults are the `cornish` preset.

    Attributes:
        benny: whether the pack has the Benny (E1.2).
        partner_alone_only: in the first round the dealer's partner may only turn down and play alone (E2.3).
        turn_down_card_to_partner: after that the partner takes the up-card and sheds a card (E2.3).
        may_shed_upcard: (E2.5).
        partner_round2_alone_only: in the second round, too, the dealer's partner can only play alone (E2.6).
        stick_the_dealer: the last call of the second round may not be a pass (E2.7).
        alone_by: "anyone" or "maker" (E3.1).
        allow_lone_defender: (E3.3).
        alone_scoring: "march_only" or "double_all" (E5.2).
        target: points that win a game, 1 to 21 (E5.4).
        card_ids: "printed" or "relative" (E6.3).

    Raises:
        RulesError: a value that makes no game; the message names field, value and what is allowed.
    """

    game: ClassVar[str] = "euchre"
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = PRESETS
    choices: ClassVar[Mapping[str, Sequence[Any]]] = CHOICES
    limits: ClassVar[Mapping[str, tuple[int, int]]] = LIMITS
    num_players: ClassVar[int] = NUM_SEATS
    hand_size: ClassVar[int] = HAND_SIZE
    num_actions: ClassVar[int] = NUM_CARDS + 8
    sides: ClassVar[tuple[tuple[int, ...], ...]] = ((0, 2), (1, 3))

    benny: bool = True
    partner_alone_only: bool = True
    turn_down_card_to_partner: bool = False
    may_shed_upcard: bool = True
    partner_round2_alone_only: bool = False
    stick_the_dealer: bool = False
    alone_by: str = "anyone"
    allow_lone_defender: bool = True
    alone_scoring: str = "march_only"
    target: int = 11
    card_ids: str = "printed"

    def __post_init__(self) -> None:
        """Refuse values and combinations that make no game."""
        super().__post_init__()
        if self.turn_down_card_to_partner and not self.partner_alone_only:
            raise RulesError("turn_down_card_to_partner needs partner_alone_only: nobody else turns a card down")

    @functools.cached_property
    def pack(self) -> tuple[int, ...]:
        """Ids of the cards in the pack, ascending (E1.2)."""
        return tuple(range(NUM_CARDS if self.benny else BENNY))

    @functools.cached_property
    def pack_set(self) -> np.uint64:
        """The pack as a set of cards."""
        return np.uint64(sum(1 << card for card in self.pack))

    @property
    def max_decisions(self) -> int:
        """No hand has more decisions than this (E6.4): eight calls, the answers about playing alone, twenty cards."""
        defenders = 2 * self.allow_lone_defender
        return 2 * NUM_SEATS + (1 if self.alone_by == "maker" else 2) + defenders + NUM_SEATS * HAND_SIZE

    def record(self) -> np.recarray[Any, Any]:
        """[1] of dtype `RULES`: these rules as compiled code reads them."""
        values = {
            **{name: getattr(self, name) for name in RULES.names or () if hasattr(self, name)},
            "only_maker_alone": self.alone_by == "maker",
            "double_all": self.alone_scoring == "double_all",
            "relative_ids": self.card_ids == "relative",
        }
        record = np.zeros(1, RULES)
        for name, value in values.items():
            record[name] = value
        return record.view(np.recarray)
