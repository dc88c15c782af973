"""The options of Bureau: one frozen value, named presets, a fingerprint.

`docs/bureau.md` explains every option under the number given here. Names of presets are in `PRESETS`.
"""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bourre_env.bureau.cards import COPIES, NUM_CARDS, NUM_TYPES
from bourre_env.rules_values import HouseRules

NUM_COLUMNS = 13
DEALT_ROWS = 4
MOST_IN_COLUMN = 16  # three cards and a run of thirteen (B3.6)
STOCK_SIZE = NUM_CARDS - NUM_COLUMNS * DEALT_ROWS

MAX_FOUNDATIONS = 8
MAX_PASSES = 4
MAX_STEPS = 1000

CHOICES: dict[str, tuple[str, ...]] = {"reward": ("cards", "win")}
LIMITS = {"n_foundations": (1, MAX_FOUNDATIONS), "max_passes": (1, MAX_PASSES), "max_steps": (1, MAX_STEPS)}

RULES = np.dtype(
    [
        ("max_steps", np.int32),
        ("n_foundations", np.int8),
        ("max_passes", np.int8),
        ("forbid_repeat", np.uint8),
        ("pays_wins_only", np.uint8),
        ("resign", np.uint8),
    ],
    align=True,
)
"""The rules as compiled code reads them."""


PRESETS: dict[str, dict[str, Any]] = {
    "standard": {},
    "no_repeats": {"forbid_repeat": True},
    "literal": {"n_foundations": 4},
}
"""What each preset changes from the defaults of `BureauRules`."""


@dataclass(frozen=True, kw_only=True)
class BureauRules(HouseRules):
    """The rules of one table. Every field is an option of `docs/bureau.md`; the defaults are the `standard` preset.

    Attributes:
        n_foundations: piles to build on, 1 to 8 (B2.1). With fewer than eight the game cannot be won: two packs have
            104 cards and a pile takes 13. Four is what the description that these rules follow says.
        max_passes: times the stock is gone through, 1 to 4 (B4.3).
        max_steps: a deal stops after so many decisions, 1 to 1000 (B5.3).
        forbid_repeat: whether moves between columns that bring back an earlier position are forbidden (B6.3).
        reward: "cards" or "win", what a deal brings (B5.5).
        resign: whether the player may give up (B5.4).

    Raises:
        RulesError: a value that makes no game; the message names field, value and what is allowed.
    """

    game: ClassVar[str] = "bureau"
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = PRESETS
    choices: ClassVar[Mapping[str, Sequence[Any]]] = CHOICES
    limits: ClassVar[Mapping[str, tuple[int, int]]] = LIMITS
    num_players: ClassVar[int] = 1
    hand_size: ClassVar[int] = 0
    sides: ClassVar[tuple[tuple[int, ...], ...]] = ((0,),)

    n_foundations: int = MAX_FOUNDATIONS
    max_passes: int = 2
    max_steps: int = 600
    forbid_repeat: bool = False
    reward: str = "cards"
    resign: bool = False

    @functools.cached_property
    def pack(self) -> tuple[int, ...]:
        """[104] printed ids of the cards, ascending: four of each type (B1.1)."""
        return tuple(card for card in range(NUM_TYPES) for _ in range(COPIES))

    @property
    def num_actions(self) -> int:
        """A: 198, and one more to resign with (B5.4)."""
        return 2 + (NUM_COLUMNS + 1) ** 2 + self.resign

    @property
    def max_decisions(self) -> int:
        """No deal has more decisions than this (B5.3)."""
        return self.max_steps

    def record(self) -> np.recarray[Any, Any]:
        """[1] of dtype `RULES`: these rules as compiled code reads them."""
        record = np.zeros(1, RULES)
        for name in RULES.names or ():
            record[name] = self.reward == "win" if name == "pays_wins_only" else getattr(self, name)
        return record.view(np.recarray)
