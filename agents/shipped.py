"""The trained bots that come with the package, by their names: `bourre:4` plays at tables of four."""

from pathlib import Path

SHIPPED = "bourre"
BOTS = Path(__file__).with_name("bots")
FILES = {3: "bourre-3-4-5", 4: "bourre-3-4-5", 5: "bourre-3-4-5"}
"""By table size the checkpoint in `agents/bots` that plays it."""


def path_of(spec: str) -> str:
    """The path behind the name of a shipped bot, with what follows the name; any other spec unchanged.

    Args:
        spec: `bourre:N`, and perhaps `:greedy`; or anything else that names a policy.
    """
    name, _, rest = spec.partition(":")
    size, colon, behind = rest.partition(":")
    if name != SHIPPED or not size.isdecimal() or int(size) not in FILES:
        return spec
    return f"{BOTS / FILES[int(size)]}.safetensors{colon}{behind}"


def choices() -> str:
    """The names, for messages."""
    return ", ".join(f"{SHIPPED}:{size}" for size in FILES)
