"""What browsers may say, checked before anything is done with it.

A message is a JSON object of at most `LONGEST` bytes with the key `do`, and for each thing to do the keys in `KEYS`.
"""

import json
import math
from dataclasses import dataclass, field
from typing import Any

from agents.refusals import RefusedError

LONGEST = 2048  # bytes; the longest honest message has about 120
LONGEST_NAME = 20
SLOWEST = 10.0  # seconds between two actions of policies

KEYS: dict[str, dict[str, tuple[type, ...]]] = {
    "join": {"token": (str,)},
    "act": {"action": (str, int), "deal": (int,), "step": (int,)},
    "deal": {},
    "forfeit": {},
    "hint": {},
    "name": {"name": (str,)},
    "pace": {"seconds": (int, float, type(None))},
    "step": {},
    "past": {"deal": (int,)},
    "replay": {"number": (int,), "deal": (int,)},
}
"""The keys of each kind of message, and what their values may be."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the right form.

    Attributes:
        do: what is asked for, a key of `KEYS`.
        values: the other keys.
    """

    do: str
    values: dict[str, Any] = field(default_factory=dict)


def parse(text: str) -> Message:
    """A message from its text.

    Raises:
        RefusedError: it has another form; the message says what is wrong.
    """
    if len(text.encode(errors="replace")) > LONGEST:
        raise RefusedError(f"the message is longer than {LONGEST} bytes")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise RefusedError("the message is no JSON") from None
    if not isinstance(content, dict) or not isinstance(content.get("do"), str) or content["do"] not in KEYS:
        raise RefusedError(f"the message is no object whose 'do' is one of {', '.join(KEYS)}")
    do = content.pop("do")
    if content.keys() != KEYS[do].keys():
        raise RefusedError(f"{do!r} takes the keys {', '.join(KEYS[do]) or 'do alone'}")
    for name, kinds in KEYS[do].items():
        value = content[name]
        if isinstance(value, bool) or not isinstance(value, kinds) or (isinstance(value, float) and math.isnan(value)):
            raise RefusedError(f"{name!r} of {do!r} has a value of the wrong kind")
    return Message(do, content)


def checked_name(text: str) -> str:
    """A name that others may be shown.

    Raises:
        RefusedError: empty, too long, or with characters that do not print.
    """
    name = " ".join(text.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise RefusedError(f"a name has 1 to {LONGEST_NAME} printable characters")
    return name


def checked_pace(seconds: float | None, fastest: float) -> float | None:
    """Seconds between two actions of policies; None for a pause.

    Raises:
        RefusedError: out of range.
    """
    if seconds is not None and not fastest <= seconds <= SLOWEST:
        raise RefusedError(f"the pace is {fastest:g} to {SLOWEST:g} seconds an action, or null for a pause")
    return seconds
