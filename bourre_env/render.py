"""A table as text, and what one seat sees of it. Reads a snapshot, never the game; plain characters only."""

from dataclasses import replace

from bourre_env.bourre.snapshot import Snapshot
from bourre_env.drawing.cloth import HIDDEN as HIDDEN


def seen_by(table: Snapshot, seat: int | None, *, blind_declaring: bool = False) -> Snapshot:
    """The table as one seat sees it: every card it may not see is `HIDDEN`.

    Args:
        table: what there is.
        seat: the observer; None sees every hand.
        blind_declaring: whether seats see their own hands only after all have declared (3.12).
    """
    if seat is None:
        return table
    blind = blind_declaring and table.phase == "declare"
    hands = [hand if other == seat and not blind else (HIDDEN,) * len(hand) for other, hand in enumerate(table.hands)]
    return replace(table, hands=tuple(hands))


def ansi(table: Snapshot, seat: int | None = None) -> str:
    """The table as a few lines of text.

    Args:
        table: what to show.
        seat: show only what this seat may see; None shows every hand.

    Returns:
        A header with trump, dealer and pot, one line for each seat, and the trick on the table.
    """
    table = seen_by(table, seat)
    lines = [_header(table), *(_seat_line(table, other) for other in range(len(table.hands)))]
    trick = "  ".join(f"{seat}:{card}" for seat, card in table.trick) or "nothing yet"
    if table.phase == "play":
        lines.append(f"on the table  {trick}")
    if table.phase == "settled":
        lines.append(f"settled; the pot keeps {table.carry}")
    return "\n".join(lines)


def _header(table: Snapshot) -> str:
    """Deal, trump suit, turn-up, pot."""
    return (
        f"deal {table.deal_index + 1}  {table.phase}  trumps {table.trump_suit} (turn-up {table.turn_up})  "
        f"dealer {table.dealer}  pot {table.pot}"
    )


def _seat_line(table: Snapshot, seat: int) -> str:
    """One seat: who is to act, its cards, what it did, tricks and chips."""
    pointer = ">" if seat == table.seat else " "
    cards = " ".join(table.hands[seat])
    role = "dealer" if seat == table.dealer else ""
    stack = f"stack {table.stacks[seat]}  " if table.stacks else ""
    return (
        f"{pointer} seat {seat}  {cards:<14}  {_status(table, seat):<11}  "
        f"tricks {table.tricks_won[seat]}  chips {table.chips[seat]:+d}  {stack}{role}"
    ).rstrip()


def _status(table: Snapshot, seat: int) -> str:
    """What a seat has declared."""
    if table.bourre[seat]:
        return "bourré"
    if table.passed[seat]:
        return "passed"
    if table.stayed[seat]:
        pat = ", pat" if table.phase in ("play", "settled") else ""
        return f"stays, {table.num_discards[seat]} new" if table.num_discards[seat] else f"stays{pat}"
    return ""
