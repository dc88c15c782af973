"""A Euchre table as text, and what one seat sees of it. Reads a snapshot, never the game; plain characters only."""

from dataclasses import replace

from bourre_env.euchre.snapshot import EuchreSnapshot

HIDDEN = "--"


def seen_by(table: EuchreSnapshot, seat: int | None) -> EuchreSnapshot:
    """The table as one seat sees it: every card it may not see is `HIDDEN`.

    Args:
        table: what there is.
        seat: the observer; None sees every card.
    """
    if seat is None:
        return table
    is_blind = table.phase == "blind" and seat == table.dealer  # E2.1
    hands = [
        hand if other == seat and not is_blind else (HIDDEN,) * len(hand) for other, hand in enumerate(table.hands)
    ]
    shed = table.shed if seat == table.taker or not table.shed else HIDDEN
    return replace(table, hands=tuple(hands), shed=shed, unused=(HIDDEN,) * len(table.unused))


def ansi(table: EuchreSnapshot, seat: int | None = None) -> str:
    """The table as a few lines of text.

    Args:
        table: what to show.
        seat: show only what this seat may see; None shows every card.

    Returns:
        A header with up-card, trumps, makers and score, one line for each seat, and the trick on the table.
    """
    table = seen_by(table, seat)
    lines = [_header(table), *(_seat_line(table, other) for other in range(len(table.hands)))]
    if table.phase == "play":
        trick = "  ".join(f"{other}:{card}" for other, card in table.trick) or "nothing yet"
        lines.append(f"on the table  {trick}")
    if table.phase == "settled":
        lines.append(f"settled; points {table.points[0]}-{table.points[1]}")
    return "\n".join(lines)


def _header(table: EuchreSnapshot) -> str:
    """Hand, up-card, trumps and makers, tricks and score of the sides."""
    trumps = f"trumps {table.trump_suit} by seat {table.maker}" if table.trump_suit else "no trumps yet"
    return (
        f"hand {table.hand_index + 1}  {table.phase}  up-card {table.up_card}  {trumps}  "
        f"tricks {table.tricks[0]}-{table.tricks[1]}  score {table.score[0]}-{table.score[1]}"
    )


def _seat_line(table: EuchreSnapshot, seat: int) -> str:
    """One seat: whether it is to act, its cards, what it said, its tricks."""
    pointer = ">" if seat == table.seat else " "
    words = [text for caller, text in table.calls if caller == seat]
    words += ["alone"] * (seat in table.alone) + ["out"] * (seat in table.out) + ["dealer"] * (seat == table.dealer)
    words += [f"laid away {table.shed}"] * (seat == table.taker and table.shed != "")
    cards = " ".join(table.hands[seat])
    return f"{pointer} seat {seat}  {cards:<17}  tricks {table.tricks_won[seat]}  {', '.join(words)}".rstrip()
