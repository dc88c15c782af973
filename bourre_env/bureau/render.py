"""A table of Bureau as text, as its player sees it or with every card open.

Reads a snapshot, never the game; plain characters only.
"""

from itertools import zip_longest

from bourre_env.bureau.snapshot import FACE_DOWN, BureauSnapshot

HIDDEN = "--"


def shown(card: str) -> str:
    """A card of a column as it is seen: its text, or `HIDDEN` when it lies face down."""
    return HIDDEN if card.startswith(FACE_DOWN) else card


def ansi(table: BureauSnapshot, *, is_open: bool = False) -> str:
    """The table as lines of text.

    Args:
        table: the snapshot.
        is_open: show every card, those that lie face down behind `FACE_DOWN` and the stock in any pass.

    Returns:
        A header, the foundations, the waste with the card that may be moved last, the stock once it is known, the
        numbers of the columns, and the columns, bottom cards first.
    """
    lines = [
        _header(table),
        f"foundations  {' '.join(table.foundations) or 'none'}",
        f"waste        {' '.join(table.waste) or 'none'}",
        f"stock        {_stock(table, is_open)}",
        *_columns(table, is_open),
    ]
    if table.ending:
        lines.append(f"{table.ending}; {table.cards_up} cards up")
    return "\n".join(lines)


def _header(table: BureauSnapshot) -> str:
    """Deal, decisions, cards up, redeals left."""
    return (
        f"deal {table.deal_index + 1}  decisions {table.steps}  cards up {table.cards_up}  "
        f"redeals left {table.redeals_left}"
    )


def _columns(table: BureauSnapshot, is_open: bool) -> list[str]:
    """The numbers of the columns and their cards, row by row."""
    width = len(HIDDEN) + is_open * len(FACE_DOWN)
    columns = table.columns if is_open else [map(shown, column) for column in table.columns]
    rows = [map("{:2}".format, range(len(table.columns))), *zip_longest(*columns, fillvalue="")]
    return ["  ".join(cell.ljust(width) for cell in row).rstrip() for row in rows]


def _stock(table: BureauSnapshot, is_open: bool) -> str:
    """The cards of the stock if they are known, else their number."""
    if table.stock_is_known or is_open:
        return " ".join(table.stock) or "none"
    return f"{len(table.stock)} cards" if table.stock else "none"
