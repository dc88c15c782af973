"""What the rules of every newer game are alike: values with presets by name, reading back, a fingerprint."""

import dataclasses
import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from bourre_env.errors import RulesError, listed, nearest

_KINDS = {int: "an integer", str: "a text", bool: "True or False"}


@dataclass(frozen=True, kw_only=True)
class HouseRules:
    """Rules of one table: a frozen dataclass, each field an option with a default of the same type.

    Attributes:
        game: name of the game.
        presets: what each preset changes from the defaults, by its name.
        choices: the values that a field may have, where they are few.
        limits: the lowest and the highest value that a field may have.
    """

    game: ClassVar[str]
    presets: ClassVar[Mapping[str, Mapping[str, Any]]]
    choices: ClassVar[Mapping[str, Sequence[Any]]]
    limits: ClassVar[Mapping[str, tuple[int, int]]]

    def __post_init__(self) -> None:
        """Refuse values that make no game; integers of NumPy become Python's."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.integer):
                value = int(value)
                object.__setattr__(self, field.name, value)
            self._check_field(field.name, value, type(field.default))

    def _check_field(self, name: str, value: Any, kind: type) -> None:
        """A field has the type of its default, and a value that is allowed; booleans are not numbers here."""
        full = f"{type(self).__name__}.{name}"
        if (isinstance(value, bool) and kind is not bool) or not isinstance(value, kind):
            raise RulesError(f"{full} is {value!r} ({type(value).__name__}); it must be {_KINDS[kind]}")
        if name in self.choices and value not in self.choices[name]:
            near = nearest(value, map(str, self.choices[name]))
            raise RulesError(f"{full} is {value!r}{near}; choose {listed(self.choices[name])}")
        if name in self.limits and isinstance(value, int):
            low, high = self.limits[name]
            if not low <= value <= high:
                raise RulesError(f"{full} is {value}; it must be from {low} to {high}")

    @classmethod
    def preset(cls, name: str, /, **changes: Any) -> Self:
        """The rules of a named preset, with some fields changed.

        Args:
            name: a key of the game's `PRESETS`.
            **changes: fields to set instead.

        Raises:
            RulesError: no preset or no field of that name, or a value that is not allowed.
        """
        presets = cls.presets
        if not isinstance(name, str) or name not in presets:
            game = cls.game.capitalize()
            raise RulesError(f"no {game} preset is called {name!r}{nearest(name, presets)}; choose {listed(presets)}")
        fields = {field.name for field in dataclasses.fields(cls)}
        for change in changes:
            if change not in fields:
                raise RulesError(f"{cls.__name__} has no field {change!r}{nearest(change, fields)}")
        return cls(**{**presets[name], **changes})

    @classmethod
    def from_plain(cls, fields: Mapping[str, Any], fingerprint: str) -> Self:
        """Rules from their JSON form.

        Args:
            fields: every field by name, as `dataclasses.asdict` gives them.
            fingerprint: what it was when they were written down.

        Raises:
            RulesError: no rules, or the fields mean something else in this version.
            TypeError: a field of another name.
        """
        rules = cls(**fields)
        if rules.fingerprint != fingerprint:
            raise RulesError(f"rules of fingerprint {fingerprint} mean something else in this version")
        return rules

    @functools.cached_property
    def fingerprint(self) -> str:
        """Sixteen hex digits that differ between any two rule sets; stamped on every result and record."""
        text = json.dumps({"game": self.game, **dataclasses.asdict(self)}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]
