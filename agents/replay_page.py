"""A page on which recorded deals are stepped through: one file that needs nothing else."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.frames import frames_of
from agents.frames_analysis import Judged
from agents.pages import page
from bourre_env.bourre.rules import Rules
from bourre_env.notation import DealRecord, write


@dataclass(frozen=True, slots=True)
class ShownDeal:
    """A deal of the page.

    Attributes:
        title: its number and how it ended.
        says: what was done, a sentence a step.
        record: the hand record; empty when not everything may be seen.
    """

    title: str
    says: tuple[str, ...]
    record: str


def replay_page(
    deals: Mapping[int, DealRecord],
    name: str,
    *,
    seat: int | None = None,
    judged: Mapping[int, list[Judged | None]] | None = None,
    judged_says: str | None = None,
) -> str:
    """The page.

    Args:
        deals: by their number in the record, all under the same rules.
        name: of the record.
        seat: the only seat whose cards are in the file; None for all.
        judged: for the same deals what `judged_actions` says.
        judged_says: what its numbers mean.
    """
    rules = next(iter(deals.values())).rules
    frames = [frames_of(record, _names(rules, seat), seat) for record in deals.values()]
    for shown, number in zip(frames, deals, strict=True):
        shown["judged"] = (judged or {}).get(number, [])
    return page(
        "replay.html.j2",
        title=f"Bourré: {name}",
        lead=_lead(rules, len(deals), seat),
        shown=[
            _shown(number, record, frame, seat) for (number, record), frame in zip(deals.items(), frames, strict=True)
        ],
        frames=frames,
        judged_says=judged_says,
        facts_told=_facts(rules),
    )


def _names(rules: Rules, seat: int | None) -> list[str]:
    """What is written behind the seats."""
    return ["(seen from here)" if other == seat else "" for other in range(rules.num_players)]


def _lead(rules: Rules, number: int, seat: int | None) -> str:
    """What the page holds, in a sentence."""
    deals = "One deal" if number == 1 else f"{number} deals"
    seen = "all hands are shown" if seat is None else f"as seat {seat} saw it; other cards are not in this file"
    return f"{deals} at a table of {rules.num_players}; {seen}."


def _shown(number: int, record: DealRecord, frames: dict[str, Any], seat: int | None) -> ShownDeal:
    """One deal."""
    *_, last = record.replay()
    is_over = last.phase == "settled"
    ends = "chips " + " ".join(f"{chips:+d}" for chips in last.chips) if is_over else "unfinished"
    says = tuple(frame["say"] for frame in frames["frames"] if "say" in frame)
    return ShownDeal(
        f"Deal {number}: dealer {record.dealer}, trumps {last.trump_suit}, {ends}",
        says,
        write(record) if seat is None else "",
    )


def _facts(rules: Rules) -> list[tuple[str, str]]:
    """The rules as names and values: those that differ from `pagat`."""
    changed = [field.name for field in dataclasses.fields(rules) if getattr(rules, field.name) != field.default]
    facts = [(name, str(getattr(rules, name))) for name in ("num_players", *(n for n in changed if n != "num_players"))]
    return [*facts, ("fingerprint", rules.fingerprint)]
