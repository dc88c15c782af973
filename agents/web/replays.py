"""Recorded deals that watchers may step through: hand records, folders of them, and tournaments' costliest deals."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.replaying import read_record
from agents.report_files import SUMMARY
from agents.story import ALL_HANDS, Story, View
from bourre_env.errors import NotationError
from bourre_env.notation import DealRecord, parse

COSTLIEST = 3  # deals of a tournament for each entrant


@dataclass(frozen=True, slots=True)
class Replay:
    """Deals that belong together.

    Attributes:
        title: what they are.
        deals: the records.
        notes: a line about each deal; may be empty.
        names: who sat where in each deal; empty where it is not known.
    """

    title: str
    deals: tuple[DealRecord, ...]
    notes: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]

    def as_plain(self) -> dict[str, Any]:
        """What the page lists."""
        return {"title": self.title, "notes": list(self.notes)}

    def views(self, deal: int) -> list[View]:
        """A deal, by its place from 0, before its first action and after each."""
        story = Story.of_record(self.deals[deal])
        return [story.view(ALL_HANDS, step) for step in range(len(story.tables))]


def read_replays(paths: Sequence[Path]) -> list[Replay]:
    """The deals that paths name.

    Args:
        paths: hand records, folders of hand records, or results folders of tournaments.

    Raises:
        NotationError: nothing to replay, or a damaged record.
        ResultsError: a damaged tournament.
    """
    return [replay for path in paths for replay in _read(path)]


def _read(path: Path) -> list[Replay]:
    """The deals of one path."""
    if not path.is_dir():
        return [_of_records(path.name, read_record(path))]
    if (path / SUMMARY).exists():
        return _of_tournament(path)
    files = sorted(path.rglob("*.txt"))
    if not files:
        raise NotationError(f"{path} holds no hand record (*.txt) and no tournament ({SUMMARY}); name another folder")
    by_folder: dict[Path, list[DealRecord]] = {}
    for file in files:
        by_folder.setdefault(file.parent, []).extend(read_record(file))
    return [_of_records(folder.name, records) for folder, records in by_folder.items()]


def _of_records(title: str, records: Sequence[DealRecord]) -> Replay:
    """Deals of which the players are not known."""
    notes = tuple(f"deal {number}" for number in range(1, len(records) + 1))
    return Replay(title, tuple(records), notes, ((),) * len(records))


def _of_tournament(folder: Path) -> list[Replay]:
    """The costliest deals of each entrant, played again by the policies that played them."""
    from agents.report import read_tournament  # these load SciPy and Arrow
    from agents.report_deals import shown_deals

    _, tables = read_tournament(folder)
    names = list(dict.fromkeys(name for results in tables for name in results.entrants))
    players, frames = shown_deals(tables, names, COSTLIEST)
    return [
        Replay(
            f"{folder.name}: what cost {player.name} most",
            tuple(parse(deal.record)[0] for deal in player.deals),
            tuple(deal.title for deal in player.deals),
            tuple(tuple(frames[deal.number]["names"]) for deal in player.deals),
        )
        for player in players
        if player.deals
    ]
