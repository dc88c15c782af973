"""A deal's analysis beside its frames: for every action the alternatives, what they were worth, what was lost."""

from typing import Any

from agents.analysis import LOSS_MEANS, OPEN_MEANS, Alternative, Choice, DealAnalysis, assumptions
from bourre_env.bourre.actions import PASS_TEXT

Judged = dict[str, Any]


def judged_actions(analysis: DealAnalysis, seat: int | None = None) -> list[Judged | None]:
    """What a page shows beside each action of a deal, in order; None for a forced one and a forfeit.

    Args:
        analysis: of the deal.
        seat: only what this seat may know: its own decisions, without what they come to with all cards open.

    Returns:
        For each action `worth`, `loss` ("" when the best was done), `mistake` (whether the loss is no noise), `line`
        ("seat:card …", the best way to play on where the card played came to less), and `rows`, best first, each
        [action, worth, loss, open, whether it was taken]: texts and a flag.
    """
    judged = [_judged(choice, seat) for choice in analysis.choices]
    return judged + [None] * (len(analysis.record.actions) - len(judged))


def _judged(choice: Choice, seat: int | None) -> Judged | None:
    """One decision."""
    if choice.is_forced or seat not in (None, choice.seat):
        return None
    is_open = seat is None
    has_erred = is_open and choice.open_loss is not None and choice.open_loss > 0
    return {
        "worth": antes_text(choice.played.seen) + ("" if choice.likely else "?"),
        "loss": loss_text(choice),
        "mistake": choice.is_mistake,
        "line": " ".join(f"{other}:{card}" for other, card in choice.line) if has_erred else "",
        "rows": [_row(choice, alternative, is_open=is_open) for alternative in choice.alternatives],
    }


def _row(choice: Choice, alternative: Alternative, *, is_open: bool) -> list[str | bool]:
    """One alternative."""
    loss = None if choice.best.seen is None or alternative.seen is None else choice.best.seen - alternative.seen
    opened = antes_text(alternative.opened) if is_open else ""
    return [
        in_words(alternative.action, choice.phase),
        antes_text(alternative.seen),
        f"{loss:.2f}" if loss else "",
        opened,
        alternative.action == choice.taken,
    ]


def in_words(action: str, phase: str) -> str:
    """An action with its discards named as such."""
    verb, *discards = action.split()
    if phase == "play" or verb == PASS_TEXT:
        return action
    stays = [verb] if phase == "declare" or not discards else []
    return ", ".join([*stays, *([f"throw away {' '.join(discards)}"] if discards else [])])


def loss_text(choice: Choice) -> str:
    """The loss with its standard error, marked when it stands out; nothing when the best was done."""
    if not choice.loss:
        return ""
    error = "" if choice.best.error is None else f"±{choice.best.error:.2f}"
    return f"{choice.loss:.2f}{error}" + " !" * choice.is_mistake


def antes_text(value: float | None) -> str:
    """Antes with their sign; nothing for None."""
    return "" if value is None else f"{value:+.2f}"


def explained(spec: str, worlds: int, *, is_open: bool = True) -> str:
    """What the numbers on the page mean."""
    opened = f" Open: {OPEN_MEANS}: the truth about the deal, not about the decision." if is_open else ""
    return f"Worth: {assumptions(spec, worlds)}. Loss: {LOSS_MEANS}.{opened}"
