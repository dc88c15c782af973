"""Playing cards: faces with their suits and ranks drawn as shapes, and a back. Pictures are made once and kept.

Shapes: a card is [CARD_HEIGHT, CARD_WIDTH, 3] uint8.
"""

from functools import cache

import numpy as np

from bourre_env.drawing.canvas import FINE, Color, Coverage, Image, Point, curve, ellipse, paint, polygon, rounded
from bourre_env.drawing.lettering import lettering, margin

CARD_WIDTH, CARD_HEIGHT = 60, 84
CORNER = 24  # radius, in quarter pixels

PAPER: Color = (252, 251, 246)
EDGE: Color = (168, 164, 152)
RED: Color = (198, 30, 42)
BLACK: Color = (28, 30, 36)
BACK_FIELD: Color = (140, 28, 44)
BACK_LINE: Color = (222, 182, 120)
COURT_FIELD: Color = (247, 236, 205)

_RANK_HEIGHT, _RANK_THICKNESS = 56, 10

BENNY = "BN"

GOLD: Color = (200, 146, 34)
_CROWNS = {  # corners in pixels
    "K": [(0, 13), (0, 3), (6, 8), (11, 0), (16, 8), (22, 3), (22, 13)],
    "Q": [(2, 13), (0, 5), (5, 9), (7, 2), (11, 8), (15, 2), (17, 9), (22, 5), (20, 13)],
    "J": [(3, 13), (1, 6), (9, 6), (14, 1), (16, 6), (21, 6), (19, 13)],
}


def color_of(suit: str) -> Color:
    """The colour a suit is printed in."""
    return RED if suit in "DH" else BLACK


_UNIT = 3200  # a suit is designed in a square of this size


def _outline(*corners: Point) -> list[Point]:
    """A line that bends at its corners, which are given in hundredths of the square; a corner named twice is sharp."""
    return curve([(x * _UNIT // 100, y * _UNIT // 100) for x, y in corners], steps=6)


def _mirrored(right_half: list[Point]) -> list[Point]:
    """A symmetric shape from its right half, top to bottom."""
    return [*right_half, *((_UNIT - x, y) for x, y in reversed(right_half))]


_HEART = _mirrored(_outline((50, 24), (56, 4), (98, 4), (100, 46), (66, 72), (50, 98)))
_LEAF = [(x, (_UNIT - y) * 84 // 100) for x, y in _HEART]
_FOOT = _mirrored(_outline((50, 60), (52, 90), (68, 97)))
_DIAMOND = _mirrored([*_outline((50, 1), (62, 27), (85, 50)), *_outline((85, 50), (62, 73), (50, 99))])
_STEM = _mirrored(_outline((55, 36), (60, 66)))
_CLUB = ((50, 25), (25, 59), (75, 59))


@cache
def suit_sign(suit: str, size: int) -> Coverage:
    """[size, size] coverage of a suit: C, D, H or S."""
    fine = FINE * size

    def filled(outline: list[Point]) -> Coverage:
        return polygon(size, size, [(x * fine // _UNIT, y * fine // _UNIT) for x, y in outline])

    if suit in "DH":
        return filled(_DIAMOND if suit == "D" else _HEART)
    if suit == "S":
        return np.maximum(filled(_LEAF), filled(_FOOT))
    discs = [ellipse(size, size, (x * fine // 100, y * fine // 100), (fine * 24 // 100,) * 2) for x, y in _CLUB]
    return np.maximum.reduce([*discs, filled(_STEM), filled(_FOOT)])


@cache
def card_shape() -> Coverage:
    """[CARD_HEIGHT, CARD_WIDTH] coverage of a card."""
    return rounded(CARD_HEIGHT, CARD_WIDTH, CORNER)


def _blank(color: Color) -> Image:
    """A card of one colour with a thin edge."""
    card = np.empty((CARD_HEIGHT, CARD_WIDTH, 3), np.uint8)
    card[:] = EDGE
    paint(card, (0, 0), rounded(CARD_HEIGHT, CARD_WIDTH, CORNER - 4, inset=4), color)
    return card


@cache
def card_back() -> Image:
    """The back that every hidden card shows."""
    card = _blank(PAPER)
    paint(card, (0, 0), rounded(CARD_HEIGHT, CARD_WIDTH, CORNER - 12, inset=16), BACK_FIELD)
    paint(card, (0, 0), rounded(CARD_HEIGHT, CARD_WIDTH, CORNER - 14, inset=24), BACK_LINE)
    paint(card, (0, 0), rounded(CARD_HEIGHT, CARD_WIDTH, CORNER - 16, inset=28), BACK_FIELD)
    for row in range(6):
        for column in range(3 + row % 2):
            place = (CARD_WIDTH // 2 - 5 + 13 * column - (13 if row % 2 == 0 else 19), 11 + 11 * row - 1)
            paint(card, place, suit_sign("D", 9), BACK_LINE, 11)
    return card


@cache
def card_face(name: str) -> Image:
    """The face of a card such as "QS" or "TH": a corner to be read in a fanned hand, and a large suit; or "BN"."""
    if name == BENNY:
        return _benny()
    rank, suit = name[0], name[1]
    card, color = _blank(PAPER), color_of(suit)
    words = lettering("10" if rank == "T" else rank, _RANK_HEIGHT, _RANK_THICKNESS)
    paint(card, (14 - words.shape[1] // 2, 8 - margin(_RANK_HEIGHT, _RANK_THICKNESS)), words, color)
    paint(card, (7, 27), suit_sign(suit, 14), color)
    if rank in _CROWNS:
        _draw_court(card, rank, color)
    size = 34 if rank == "A" else 22 if rank in _CROWNS else 28
    middle = (39, 52) if rank in _CROWNS else (38, 60) if rank == "A" else (36, 58)
    paint(card, (middle[0] - size // 2, middle[1] - size // 2), suit_sign(suit, size), color)
    return card


def _benny() -> Image:
    """The face of the joker of Euchre: a framed field with a golden cap."""
    card = _blank(PAPER)
    words = lettering("B", _RANK_HEIGHT, _RANK_THICKNESS)
    paint(card, (14 - words.shape[1] // 2, 8 - margin(_RANK_HEIGHT, _RANK_THICKNESS)), words, GOLD)
    _draw_court(card, "J", GOLD)
    return card


def _draw_court(card: Image, rank: str, color: Color) -> None:
    """A framed field with the rank's crown."""
    width, height, left, top = 30, 70, 24, 7
    paint(card, (left, top), rounded(height, width, 12), color)
    paint(card, (left, top), rounded(height, width, 9, inset=4), COURT_FIELD)
    paint(card, (left + 4, top + 10), _crown(rank), GOLD)


@cache
def _crown(rank: str) -> Coverage:
    """[14, 22] coverage of a king's or queen's crown or a jack's cap."""
    return polygon(14, 22, [(FINE * x, FINE * y) for x, y in _CROWNS[rank]])
