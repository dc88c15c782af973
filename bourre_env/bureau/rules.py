"""The options of Bureau: one frozen value, named presets, a fingerprint.

`docs/bureau.md` explains every option under the number given here. Names of presets are in `PRESETS`.
"""

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bourre_env.bureau.cards import COPIES, NUM_CARDS, NUM_TYPES
from bourre_env.errors import RulesError, listed, nearest
from bourre_env.rules_values import fingerprint_of, preset_of, read_back

NUM_COLUMNS = 13
DEALT_ROWS = 4
MOST_IN_COLUMN = 16  # three cards and a run of thirteen (B3.6)
STOCK_SIZE = NUM_CARDS - NUM_COLUMNS * DEALT_ROWS

MAX_FOUNDATIONS = 8
MAX_PASSES = 4
MAX_STEPS = 1000

CHOICES: dict[str, tuple[str, ...]] = {"reward": ("cards", "win")}
_RANGES = {"n_foundations": (1, MAX_FOUNDATIONS), "max_passes": (1, MAX_PASSES), "max_steps": (1, MAX_STEPS)}

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


@dataclass(frozen=True, kw_only=True)
class BureauRules:
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
    num_players: ClassVar[int] = 1
    hand_size: ClassVar[int] = 0
    sides: ClassVar[tuple[tuple[int, ...], ...]] = ((0,),)

    n_foundations: int = MAX_FOUNDATIONS
    max_passes: int = 2
    max_steps: int = 600
    forbid_repeat: bool = False
    reward: str = "cards"
    resign: bool = False

    def __post_init__(self) -> None:
        """Refuse values that make no game."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.integer):
                object.__setattr__(self, field.name, int(value))
            _check_field(field.name, getattr(self, field.name), type(field.default))

    @staticmethod
    def preset(name: str, /, **changes: Any) -> "BureauRules":
        """The rules of a named preset, with some fields changed.

        Args:
            name: a key of `PRESETS`.
            **changes: fields to set instead, such as `max_passes=1`.

        Raises:
            RulesError: no preset or no field of that name, or a value that is not allowed.
        """
        return preset_of(BureauRules, PRESETS, name, changes)

    @staticmethod
    def from_plain(fields: Mapping[str, Any], fingerprint: str) -> "BureauRules":
        """Rules from their JSON form.

        Args:
            fields: every field by name, as `dataclasses.asdict` gives them.
            fingerprint: what it was when they were written down.

        Raises:
            RulesError: no rules, or the fields mean something else in this version.
            TypeError: a field of another name.
        """
        return read_back(BureauRules, fields, fingerprint)

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sixteen hex digits that differ between any two rule sets; stamped on every result and record."""
        return fingerprint_of(self)

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


PRESETS: dict[str, dict[str, Any]] = {
    "standard": {},
    "no_repeats": {"forbid_repeat": True},
    "literal": {"n_foundations": 4},
}
"""What each preset changes from the defaults of `BureauRules`."""


def _check_field(name: str, value: Any, kind: type) -> None:
    """A field has the type it is declared with, and a value that is allowed; booleans are not numbers here."""
    if (isinstance(value, bool) and kind is not bool) or not isinstance(value, kind):
        named = {int: "an integer", str: "a text", bool: "True or False"}[kind]
        raise RulesError(f"BureauRules.{name} is {value!r} ({type(value).__name__}); it must be {named}")
    if name in CHOICES and value not in CHOICES[name]:
        near = nearest(value, CHOICES[name])
        raise RulesError(f"BureauRules.{name} is {value!r}{near}; choose {listed(CHOICES[name])}")
    if name not in _RANGES:
        return
    low, high = _RANGES[name]
    if isinstance(value, int) and not low <= value <= high:
        raise RulesError(f"BureauRules.{name} is {value}; it must be from {low} to {high}")
