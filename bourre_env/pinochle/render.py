"""A Pinochle table as text, and what one seat sees of it. Reads a snapshot, never the game; plain characters only."""

from dataclasses import replace

from bourre_env.pinochle.snapshot import PinochleSnapshot

HIDDEN = "--"


def seen_by(table: PinochleSnapshot, seat: int | None) -> PinochleSnapshot:
    """The table as one seat sees it: every card it may not see is `HIDDEN`.

    Args:
        table: what there is.
        seat: the observer; None sees every card.
    """
    if seat is None:
        return table
    hands = [hand if other == seat else _hidden(hand) for other, hand in enumerate(table.hands)]
    sent = [cards if other % 2 == seat % 2 else _hidden(cards) for other, cards in enumerate(table.sent)]  # P3.2
    return replace(table, hands=tuple(hands), sent=tuple(sent))


def _hidden(cards: tuple[str, ...]) -> tuple[str, ...]:
    """As many cards, face down."""
    return (HIDDEN,) * len(cards)


def ansi(table: PinochleSnapshot, seat: int | None = None) -> str:
    """The table as a few lines of text.

    Args:
        table: what to show.
        seat: show only what this seat may see; None shows every card.

    Returns:
        A header with trumps, bid and score, one line for each seat, and the trick on the table.
    """
    table = seen_by(table, seat)
    lines = [_header(table), *(_seat_line(table, other) for other in range(len(table.hands)))]
    if table.phase == "play":
        trick = "  ".join(f"{other}:{card}" for other, card in table.trick) or "nothing yet"
        lines.append(f"on the table  {trick}")
    if table.phase == "settled":
        lines.append(f"settled; points {table.points[0]} to {table.points[1]}")
    return "\n".join(lines)


def _header(table: PinochleSnapshot) -> str:
    """Hand, phase, bid and trumps, tricks and score of the sides."""
    bid = f"bid {table.high_bid} by seat {table.high_bidder}" if table.high_bid else "no bid yet"
    trumps = f"trumps {table.trump_suit}" if table.trump_suit else "no trumps yet"
    return (
        f"hand {table.hand_index + 1}  {table.phase}  {bid}  {trumps}  tricks {table.tricks[0]}-{table.tricks[1]}  "
        f"trick points {table.trick_points[0]}-{table.trick_points[1]}  score {table.score[0]} to {table.score[1]}"
    )


def _seat_line(table: PinochleSnapshot, seat: int) -> str:
    """One seat: whether it is to act, its cards, tricks, melds, and what it said and did."""
    pointer = ">" if seat == table.seat else " "
    cards = " ".join(table.hands[seat])
    melds = " ".join(f"{name} {points}" for name, points in table.melds[seat])
    words = [text for caller, text in table.calls if caller == seat][-1:]
    words += ["dealer"] * (seat == table.dealer)
    words += ["declarer"] * (seat == table.high_bidder and table.trump_suit != "") + [f"melds {melds}"] * (melds != "")
    words += [f"sent {' '.join(table.sent[seat])}"] * (table.sent[seat] != ())
    words += [f"took back {' '.join(table.exposed[seat])}"] * (table.exposed[seat] != ())
    return f"{pointer} seat {seat}  {cards:<35}  tricks {table.tricks_won[seat]:>2}  {', '.join(words)}".rstrip()
