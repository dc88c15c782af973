"""What was done at a table, a sentence an action."""

from collections.abc import Sequence

from agents.story import View


def sentence(step: View, names: Sequence[str], *, you: int | None = None, turn_up: str = "") -> str:
    """One action of a view's `log` in words.

    Args:
        step: the action, with as many cards as the observer may see.
        names: of the seats.
        you: the seat of the reader.
        turn_up: the card turned up, which lies open when the dealer throws it away (3.6).
    """
    is_you = step["seat"] == you
    verb = _verb(step, "" if is_you else "s") + _cards(step)
    thrown = f", the turn-up {turn_up} thrown away" if step["turnUp"] and not step["cards"] else ""
    return f"{'You' if is_you else names[step['seat']]} {verb}{thrown}.{_won(step, names, you)}"


def _verb(step: View, end: str) -> str:
    """What was done, in the third person with an `end`."""
    if step["does"] == "draw" and not step["new"]:
        return f"keep{end} all cards"
    return {
        "pass": f"pass{'es' if end else ''}",
        "stay": f"stay{end}",
        "draw": f"draw{end}",
        "play": f"play{end}",
        "forfeit": f"forfeit{end} the deal",
    }[step["does"]]


def _cards(step: View) -> str:
    """The cards that were played, drawn and thrown away, or how many where they do not show."""
    if step["does"] == "play":
        return f" {step['cards'][0]}"
    if step["cards"]:
        return f": {' '.join(step['drawn'])} for {' '.join(step['cards'])}"
    return f", {step['new']} new" if step["new"] else ""


def _won(step: View, names: Sequence[str], you: int | None) -> str:
    """Who won a trick by it."""
    if step["winner"] is None:
        return ""
    return " You win the trick." if step["winner"] == you else f" {names[step['winner']]} wins the trick."
