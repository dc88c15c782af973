"""A table of Bureau as text, as its player sees it. Reads a snapshot, never the game; plain characters only."""

from itertools import zip_longest

from bourre_env.bureau.snapshot import FACE_DOWN, BureauSnapshot

HIDDEN = "--"
NOTHING = "  "


def shown(card: str) -> str:
    """A card of a column as it is seen: its text, or `HIDDEN` when it lies face down."""
    return HIDDEN if card.startswith(FACE_DOWN) else card


def ansi(table: BureauSnapshot) -> str:
    """The table as lines of text.

    Returns:
        A header, the foundations, the waste with the card that may be moved last, the stock once it is known, the
        numbers of the columns, and the columns, bottom cards first.
    """
    lines = [
        _header(table),
        f"foundations  {' '.join(table.foundations) or 'none'}",
        f"waste        {' '.join(table.waste) or 'none'}",
        f"stock        {_stock(table)}",
        "  ".join(f"{column:2}" for column in range(len(table.columns))),
    ]
    rows = zip_longest(*(map(shown, column) for column in table.columns), fillvalue=NOTHING)
    lines += ["  ".join(row).rstrip() for row in rows]
    if table.ending:
        lines.append(f"{table.ending}; {table.cards_up} cards up")
    return "\n".join(lines)


def _header(table: BureauSnapshot) -> str:
    """Deal, decisions, cards up, redeals left."""
    return (
        f"deal {table.deal_index + 1}  decisions {table.steps}  cards up {table.cards_up}  "
        f"redeals left {table.redeals_left}"
    )


def _stock(table: BureauSnapshot) -> str:
    """The cards of the stock if they are known, else their number."""
    if table.stock_is_known:
        return " ".join(table.stock) or "none"
    return f"{len(table.stock)} cards" if table.stock else "none"
