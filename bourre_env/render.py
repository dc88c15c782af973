"""A table as text. Reads a snapshot, never the game; plain characters only."""

from bourre_env.bourre.snapshot import Snapshot

HIDDEN = "--"


def ansi(table: Snapshot, seat: int | None = None) -> str:
    """The table as a few lines of text.

    Args:
        table: what to show.
        seat: show only what this seat may see; None shows every hand.

    Returns:
        A header with trump, dealer and pot, one line for each seat, and the trick on the table.
    """
    lines = [_header(table), *(_seat_line(table, other, seat) for other in range(len(table.hands)))]
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


def _seat_line(table: Snapshot, seat: int, observer: int | None) -> str:
    """One seat: who is to act, its cards, what it did, tricks and chips."""
    pointer = ">" if seat == table.seat else " "
    seen = observer is None or observer == seat
    cards = " ".join(card if seen else HIDDEN for card in table.hands[seat])
    role = "dealer" if seat == table.dealer else ""
    return (
        f"{pointer} seat {seat}  {cards:<14}  {_status(table, seat):<11}  "
        f"tricks {table.tricks_won[seat]}  chips {table.chips[seat]:+d}  {role}"
    ).rstrip()


def _status(table: Snapshot, seat: int) -> str:
    """What a seat has declared."""
    if table.passed[seat]:
        return "passed"
    if table.stayed[seat]:
        pat = ", pat" if table.phase in ("play", "settled") else ""
        return f"stays, {table.num_discards[seat]} new" if table.num_discards[seat] else f"stays{pat}"
    return ""
