"""One table in words people use. For people, tests and logs; never for policies."""

from dataclasses import dataclass

import numpy as np

from bourre_env.bureau.cards import NO_CARD, type_text
from bourre_env.bureau.rules import NUM_COLUMNS, BureauRules
from bourre_env.bureau.table import ENDING_NAMES, PHASE_NAMES

FACE_DOWN = "#"
"""Stands before a card that lies face down, such as "#3S"."""


@dataclass(frozen=True, slots=True)
class BureauSnapshot:
    """A table at one moment, hidden cards included. Cards are rank and colour, S black and H red.

    Attributes:
        phase: "play" or "settled".
        ending: "won", "lost", "stopped", "resigned" or "forfeited"; empty while the deal goes on.
        seat: 0; -1 when settled.
        columns: the cards of each column, bottom first; those face down with "#" before them.
        foundations: the top card of each pile that was begun.
        stock: cards to draw, the next one first.
        stock_is_known: whether an earlier pass has shown them.
        waste: its cards, the one that may be moved last.
        redeals_used: times the waste was turned over.
        redeals_left: times it may still be.
        cards_up: cards on the foundations.
        steps: decisions taken.
        returns: what the deal brought; 0 until it is settled.
        deal_index: number of the deal in its session.
    """

    phase: str
    ending: str
    seat: int
    columns: tuple[tuple[str, ...], ...]
    foundations: tuple[str, ...]
    stock: tuple[str, ...]
    stock_is_known: bool
    waste: tuple[str, ...]
    redeals_used: int
    redeals_left: int
    cards_up: int
    steps: int
    returns: tuple[int]
    deal_index: int = 0


def snapshot(rules: BureauRules, table: np.record) -> BureauSnapshot:
    """The snapshot of a record of dtype `TABLE`."""
    waste_size, length = int(table.waste_size), int(table.line_length)
    line = [type_text(int(card)) for card in table.line[:length]]
    return BureauSnapshot(
        phase=PHASE_NAMES[table.phase],
        ending=ENDING_NAMES[table.ending],
        seat=int(table.to_act),
        columns=tuple(_column(table, column) for column in range(NUM_COLUMNS)),
        foundations=tuple(type_text(int(top)) for top in table.tops if top != NO_CARD),
        stock=tuple(line[waste_size:]),
        stock_is_known=bool(table.redeals_used > 0),
        waste=tuple(line[:waste_size]),
        redeals_used=int(table.redeals_used),
        redeals_left=rules.max_passes - 1 - int(table.redeals_used),
        cards_up=int(table.cards_up),
        steps=int(table.steps),
        returns=(int(table.returns[0]),),
    )


def _column(table: np.record, column: int) -> tuple[str, ...]:
    """The cards of a column, bottom first."""
    cards = [type_text(int(card)) for card in table.columns[column][: table.heights[column]]]
    return tuple(FACE_DOWN * bool(int(table.face_down[column]) >> place & 1) + card for place, card in enumerate(cards))
