"""A hand record as frames for a page to step through: what changes with every action."""

import itertools
from typing import Any

from bourre_env.bourre.snapshot import Snapshot
from bourre_env.notation import FORFEIT_TEXT, DealRecord
from bourre_env.render import seen_by

Frame = dict[str, str]


def frames_of(record: DealRecord, names: list[str], seat: int | None = None) -> dict[str, Any]:
    """What a page needs to show a deal step by step.

    Args:
        record: the deal.
        names: of the policies by seat.
        seat: the only seat whose cards are in the frames; None for all.

    Returns:
        `names`, `dealer`, `trumps`, `turnUp`, and `frames`: the first is whole, each later one holds only what has
        changed. A frame has `say` (what was done), `turn` (the seat to act, or ""), `trick` ("seat:card …"), `pot`, and
        for each seat s: `h…s` cards, `d…s` what it declared, `w…s` tricks, `c…s` chips.
    """
    blind = record.rules.blind_declaring
    snapshots = [seen_by(table, seat, blind_declaring=blind) for table in record.replay()]
    whole = [_frame(snapshots[0], "The cards are dealt.", _trick(snapshots[0]))]
    for before, after, text in zip(snapshots, snapshots[1:], record.actions, strict=False):
        said, trick = _said(before, after, text, is_seen=seat in (None, before.seat))
        whole.append(_frame(after, said, trick))
    changes = [{key: new[key] for key in new if new[key] != old[key]} for old, new in itertools.pairwise(whole)]
    return {
        "names": names,
        "dealer": record.dealer,
        "trumps": snapshots[0].trump_suit,
        "turnUp": snapshots[0].turn_up,
        "frames": [whole[0], *changes],
    }


def _frame(table: Snapshot, said: str, trick: str) -> Frame:
    """Everything to be seen at one moment."""
    frame = {"say": said, "turn": str(table.seat) if table.seat >= 0 else "", "trick": trick}
    frame["pot"] = str(table.pot) if table.phase != "settled" else f"0, {table.carry} left for the next deal"
    for seat, hand in enumerate(table.hands):
        stack = f" (has {table.stacks[seat]})" if table.stacks else ""
        frame |= {
            f"h{seat}": " ".join(hand),
            f"d{seat}": _declared(table, seat),
            f"w{seat}": str(table.tricks_won[seat]),
            f"c{seat}": f"{table.chips[seat]:+d}{stack}",
        }
    return frame


def _declared(table: Snapshot, seat: int) -> str:
    """What a seat has declared, and how it ended."""
    if table.bourre[seat]:
        return "bourré"
    if table.passed[seat]:
        return "passed"
    return f"stays, {table.num_discards[seat]} new" if table.stayed[seat] else ""


def _said(before: Snapshot, after: Snapshot, text: str, *, is_seen: bool) -> tuple[str, str]:
    """An action in a sentence, and the cards on the table behind it: a trick just won still lies there."""
    who = f"Seat {before.seat}"
    if text == FORFEIT_TEXT:
        return f"{who} forfeits the deal.", _trick(before)
    if before.phase != "play":
        said = _said_of_declaration if is_seen else _said_of_hidden_declaration
        return said(who, before, after, text), _trick(after)
    if sum(after.tricks_won) == sum(before.tricks_won):
        return f"{who} plays {text}.", _trick(after)
    won = next(seat for seat, tricks in enumerate(after.tricks_won) if tricks > before.tricks_won[seat])
    return f"{who} plays {text}. Seat {won} wins the trick.", f"{_trick(before)} {before.seat}:{text}".strip()


def _said_of_declaration(who: str, before: Snapshot, after: Snapshot, text: str) -> str:
    """Passing, staying and drawing in a sentence."""
    words = text.split()
    if words[0] == "pass":
        return f"{who} passes."
    verb = "stays" if before.phase == "declare" else "draws"
    if len(words) == 1:
        return f"{who} stays." if before.phase == "declare" else f"{who} keeps its cards."
    kept = set(before.hands[before.seat]) - set(words[1:])
    drawn = [card for card in after.hands[before.seat] if card not in kept]
    return f"{who} {verb}: {' '.join(drawn)} for {' '.join(words[1:])}."


def _said_of_hidden_declaration(who: str, before: Snapshot, after: Snapshot, text: str) -> str:
    """The same for who does not see the hand; a turn-up that is thrown away lies face up (3.6)."""
    words = text.split()
    if len(words) == 1:
        return _said_of_declaration(who, before, after, text)
    verb = "stays and draws" if before.phase == "declare" else "draws"
    shown = f", the turn-up {before.turn_up} thrown away" if before.turn_up in words[1:] else ""
    return f"{who} {verb} {len(words) - 1}{shown}."


def _trick(table: Snapshot) -> str:
    """The cards on the table."""
    return " ".join(f"{seat}:{card}" for seat, card in table.trick)
