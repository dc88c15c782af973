"""An alphabet of strokes: capitals, digits and a few signs.

Each sign is a list of lines in a box 20 units high (0 is the top of the capitals, 20 the line they stand on); `_soft`
lines bend at their corners, the others are straight. Their points are kept in sixteenths of a unit, so that bends stay
smooth.
"""

from functools import cache

from bourre_env.drawing.canvas import FINE, Coverage, Point, curve, strokes

FINER = 16
UNITS = 20 * FINER
GAP = 6 * FINER  # between two signs
SPACE = 13 * FINER

Line = list[Point]


def _straight(*corners: Point) -> Line:
    """A line without bends."""
    return [(FINER * x, FINER * y) for x, y in corners]


def _soft(*corners: Point) -> Line:
    """A line that bends at its corners."""
    return curve(_straight(*corners), steps=6)


def _loop(left: int, top: int, right: int, bottom: int) -> Line:
    """A round that fills a box."""
    across, down = (right - left) // 4, (bottom - top) // 4
    corners = [(left + across, top), (right - across, top), (right, top + down), (right, bottom - down)]
    corners += [(right - across, bottom), (left + across, bottom), (left, bottom - down), (left, top + down)]
    closed = curve(_straight(*corners), closed=True, steps=4)
    return [*closed, closed[0]]


GLYPHS: dict[str, list[Line]] = {
    " ": [],
    "0": [_loop(0, 0, 13, 20)],
    "1": [_straight((1, 4), (6, 0), (6, 20))],
    "2": [_soft((0, 5), (0, 0), (12, 0), (13, 7), (8, 12), (0, 20)), _straight((0, 20), (13, 20))],
    "3": [_soft((0, 3), (2, 0), (12, 0), (13, 9), (5, 9)), _soft((5, 9), (13, 9), (14, 20), (2, 20), (0, 16))],
    "4": [_straight((10, 20), (10, 0), (0, 14), (14, 14))],
    "5": [_straight((12, 0), (2, 0), (1, 9)), _soft((1, 9), (4, 7), (13, 6), (14, 20), (2, 20), (0, 17))],
    "6": [_loop(0, 8, 13, 20), _soft((11, 0), (5, 1), (0, 7), (0, 14))],
    "7": [_straight((0, 0), (13, 0), (5, 20))],
    "8": [_loop(1, 0, 12, 9), _loop(0, 9, 13, 20)],
    "9": [_loop(0, 0, 13, 12), _soft((13, 6), (13, 13), (8, 19), (2, 20))],
    "A": [_straight((0, 20), (7, 0), (14, 20)), _straight((2, 14), (12, 14))],
    "B": [
        _straight((0, 0), (0, 20)),
        _soft((0, 0), (7, 0), (12, 0), (12, 9), (7, 9), (0, 9)),
        _soft((0, 9), (8, 9), (14, 9), (14, 20), (8, 20), (0, 20)),
    ],
    "C": [_soft((13, 5), (12, 0), (0, -1), (0, 21), (12, 20), (13, 15))],
    "D": [_straight((0, 0), (0, 20)), _soft((0, 0), (6, 0), (14, 0), (14, 20), (6, 20), (0, 20))],
    "E": [_straight((12, 0), (0, 0), (0, 20), (12, 20)), _straight((0, 9), (10, 9))],
    "É": [_straight((12, 0), (0, 0), (0, 20), (12, 20)), _straight((0, 9), (10, 9)), _straight((5, -4), (9, -7))],
    "F": [_straight((12, 0), (0, 0), (0, 20)), _straight((0, 9), (10, 9))],
    "G": [_soft((13, 5), (12, 0), (0, -1), (0, 21), (13, 20), (14, 15), (14, 11)), _straight((14, 11), (8, 11))],
    "H": [_straight((0, 0), (0, 20)), _straight((13, 0), (13, 20)), _straight((0, 9), (13, 9))],
    "I": [_straight((0, 0), (0, 20))],
    "J": [_soft((10, 0), (10, 12), (10, 20), (1, 20), (0, 15))],
    "K": [_straight((0, 0), (0, 20)), _straight((12, 0), (0, 12)), _straight((4, 8), (13, 20))],
    "L": [_straight((0, 0), (0, 20), (12, 20))],
    "M": [_straight((0, 20), (0, 0), (8, 13), (16, 0), (16, 20))],
    "N": [_straight((0, 20), (0, 0), (13, 20), (13, 0))],
    "O": [_loop(0, 0, 15, 20)],
    "P": [_straight((0, 20), (0, 0)), _soft((0, 0), (8, 0), (13, 0), (13, 11), (8, 11), (0, 11))],
    "Q": [_loop(0, 0, 15, 20), _straight((9, 14), (15, 21))],
    "R": [
        _straight((0, 20), (0, 0)),
        _soft((0, 0), (8, 0), (13, 0), (13, 10), (8, 10), (0, 10)),
        _straight((7, 10), (13, 20)),
    ],
    "S": [_soft((12, 4), (11, 0), (0, -1), (-1, 9), (7, 10), (14, 11), (13, 21), (1, 20), (0, 16))],
    "T": [_straight((0, 0), (14, 0)), _straight((7, 0), (7, 20))],
    "U": [_soft((0, 0), (0, 11), (0, 20), (13, 20), (13, 11), (13, 0))],
    "V": [_straight((0, 0), (7, 20), (14, 0))],
    "W": [_straight((0, 0), (4, 20), (9, 4), (14, 20), (18, 0))],
    "X": [_straight((0, 0), (13, 20)), _straight((13, 0), (0, 20))],
    "Y": [_straight((0, 0), (7, 10), (14, 0)), _straight((7, 10), (7, 20))],
    "Z": [_straight((0, 0), (13, 0), (0, 20), (13, 20))],
    "+": [_straight((0, 11), (10, 11)), _straight((5, 6), (5, 16))],
    "-": [_straight((0, 11), (9, 11))],
    ",": [_straight((2, 19), (0, 24))],
    ".": [_straight((0, 20), (0, 20))],
    ":": [_straight((0, 8), (0, 8)), _straight((0, 19), (0, 19))],
}
"""The lines of each sign."""

ADVANCE = {
    sign: max((x for line in lines for x, _ in line), default=SPACE - GAP) + GAP for sign, lines in GLYPHS.items()
}
"""Units from the left edge of a sign to that of the next."""


@cache
def lettering(words: str, height: int, thickness: int) -> Coverage:
    """[h, w] coverage of words, capitals `height` high and lines `thickness` thick, in quarter pixels.

    The first capital begins `margin(height, thickness)` pixels below the upper edge and `thickness` quarter pixels from
    the left one.

    Raises:
        ValueError: a sign that the alphabet lacks.
    """
    lines: list[Line] = []
    left, top = thickness, FINE * margin(height, thickness)
    for sign in words:
        if sign not in GLYPHS:
            raise ValueError(f"the alphabet has no {sign!r}; it has {''.join(GLYPHS)}")
        lines += [[(left + x * height // UNITS, top + y * height // UNITS) for x, y in line] for line in GLYPHS[sign]]
        left += ADVANCE[sign] * height // UNITS
    right = left - GAP * height // UNITS + thickness
    return strokes(-(-(2 * top + height) // FINE), max(-(-right // FINE), 1), lines, thickness)


def margin(height: int, thickness: int) -> int:
    """Pixels above the capitals of `lettering`, and below the line they stand on: room for accents and commas."""
    return (height * 8 // 20 + thickness) // FINE
