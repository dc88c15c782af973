"""A hand record as frames for a page to step through: what changes with every action."""

import itertools
from collections.abc import Sequence
from typing import Any

from agents.story import ALL_HANDS, Story, View
from agents.telling import sentence
from bourre_env.notation import DealRecord

Frame = dict[str, str]


def frames_of(record: DealRecord, names: list[str], seat: int | None = ALL_HANDS) -> dict[str, Any]:
    """What a page needs to show a deal step by step.

    Args:
        record: the deal.
        names: of the policies by seat.
        seat: the only seat whose cards are in the frames; None for all.

    Returns:
        `names`, `dealer`, `trumps`, `turnUp`, and `frames`: the first is whole, each later one holds only what has
        changed. A frame has `say` (what was done), `turn` (the seat to act, or ""), `trick` ("seat:card …", one just
        won too), `pot`, and for each seat s: `h…s` cards, `d…s` what it declared, `w…s` tricks, `c…s` chips.
    """
    story = Story.of_record(record)
    views = [story.view(seat, step) for step in range(len(story.tables))]
    whole = [_frame(view) for view in views]
    changes = [{key: new[key] for key in new if new[key] != old[key]} for old, new in itertools.pairwise(whole)]
    first = views[0]
    return {
        "names": names,
        "dealer": first["dealer"],
        "trumps": first["trumps"],
        "turnUp": first["turnUp"]["card"],
        "frames": [whole[0], *changes],
    }


def _frame(view: View) -> Frame:
    """Everything to be seen at one moment."""
    frame = {
        "say": _said(view),
        "turn": "" if view["turn"] is None else str(view["turn"]),
        "trick": _trick(view),
        "pot": f"0, {view['carry']} left for the next deal" if view["phase"] == "settled" else str(view["pot"]),
    }
    for number, seat in enumerate(view["seats"]):
        stack = "" if seat["stack"] is None else f" (has {seat['stack']})"
        frame |= {
            f"h{number}": " ".join(seat["cards"]),
            f"d{number}": _declared(seat),
            f"w{number}": str(seat["tricks"]),
            f"c{number}": f"{seat['chips']:+d}{stack}",
        }
    return frame


def _said(view: View) -> str:
    """The last action in a sentence."""
    if not view["log"]:
        return "The cards are dealt."
    names = [f"Seat {number}" for number in range(len(view["seats"]))]
    return sentence(view["log"][-1], names, turn_up=view["turnUp"]["card"])


def _declared(seat: View) -> str:
    """What a seat has declared, and how it ended."""
    if seat["bourre"]:
        return "bourré"
    if seat["passed"]:
        return "passed"
    return f"stays, {seat['new']} new" if seat["stayed"] else ""


def _trick(view: View) -> str:
    """The cards on the table: a trick just won still lies there."""
    is_won = bool(view["log"]) and view["log"][-1]["winner"] is not None
    cards: Sequence[Any] = view["tricks"][-1]["cards"] if is_won else view["trick"]
    return " ".join(f"{seat}:{card}" for seat, card in cards)
