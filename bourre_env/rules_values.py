"""What the rules of every newer game do alike: presets by name, reading back, the fingerprint."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from typing import Any, TypeVar

from bourre_env.errors import RulesError, listed, nearest

Value = TypeVar("Value", bound=Any)


def preset_of(
    kind: type[Value], presets: Mapping[str, Mapping[str, Any]], name: object, changes: Mapping[str, Any]
) -> Value:
    """Rules of a class from the name of a preset, with some fields changed.

    Raises:
        RulesError: no preset or no field of that name, or a value that is not allowed.
    """
    if not isinstance(name, str) or name not in presets:
        game = kind.game.capitalize()
        raise RulesError(f"no {game} preset is called {name!r}{nearest(name, presets)}; choose {listed(presets)}")
    fields = {field.name for field in dataclasses.fields(kind)}
    for change in changes:
        if change not in fields:
            raise RulesError(f"{kind.__name__} has no field {change!r}{nearest(change, fields)}")
    rules: Value = kind(**{**presets[name], **changes})
    return rules


def fingerprint_of(rules: Any) -> str:
    """Sixteen hex digits that differ between any two rule sets."""
    text = json.dumps({"game": rules.game, **dataclasses.asdict(rules)}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_back(kind: type[Value], fields: Mapping[str, Any], fingerprint: str) -> Value:
    """Rules of a class from their fields, which must still have the fingerprint they had.

    Raises:
        RulesError: no rules, or the fields mean something else in this version.
        TypeError: a field of another name.
    """
    rules: Value = kind(**fields)
    if rules.fingerprint != fingerprint:
        raise RulesError(f"rules of fingerprint {fingerprint} mean something else in this version")
    return rules
