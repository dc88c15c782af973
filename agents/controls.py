"""When an instrument fails its own control, what it says of anything else is worth nothing."""

from bourre_env.errors import BourreError


class ControlError(BourreError, RuntimeError):
    """A control came out wrong: a known answer was not found."""
