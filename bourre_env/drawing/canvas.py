"""A drawing surface of plain NumPy: filled shapes with smooth edges, and lines with round ends.

Shapes are tested at 4 x 4 points of each pixel in whole numbers, so that a picture has the same bytes on every machine
and needs no drawing library and no font. Coordinates and sizes of shapes are in quarter pixels, places where a
finished piece is laid are in pixels. Shapes: H and W height and width in pixels, P points.
"""

import itertools
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

FINE = 4  # sample points a pixel in each direction; a length of 4 is one pixel
FULL = FINE * FINE

Image = NDArray[np.uint8]
Coverage = NDArray[np.uint8]
Color = tuple[int, int, int]
Point = tuple[int, int]


def _samples(height: int, width: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Doubled coordinates of the sample points, [4H, 1] and [1, 4W]; doubled, their centres are whole numbers."""
    y, x = (2 * np.arange(FINE * size, dtype=np.int64) + 1 for size in (height, width))
    return y[:, None], x[None, :]


def _counted(inside: NDArray[np.bool_]) -> Coverage:
    """[H, W] uint8: how many of the 16 sample points of each pixel are inside a shape."""
    height, width = inside.shape[0] // FINE, inside.shape[1] // FINE
    return inside.reshape(height, FINE, width, FINE).sum(axis=(1, 3)).astype(np.uint8)


def polygon(height: int, width: int, corners: Sequence[Point]) -> Coverage:
    """[H, W] coverage of the inside of a polygon with `corners` (x, y), even-odd."""
    y, x = _samples(height, width)
    inside = np.zeros((FINE * height, FINE * width), np.bool_)
    for (x0, y0), (x1, y1) in zip(corners, [*corners[1:], corners[0]], strict=True):
        crosses = (2 * y0 <= y) != (2 * y1 <= y)
        side = (x - 2 * x0) * (y1 - y0) - (y - 2 * y0) * (x1 - x0)
        inside ^= crosses & ((side < 0) if y1 > y0 else (side > 0))
    return _counted(inside)


def ellipse(height: int, width: int, centre: Point, radii: Point) -> Coverage:
    """[H, W] coverage of an ellipse."""
    y, x = _samples(height, width)
    (cx, cy), (rx, ry) = centre, radii
    reach = (4 * rx**2 * ry**2 - (y - 2 * cy) ** 2 * rx**2) // ry**2  # of x squared, in each row
    return _counted((x - 2 * cx) ** 2 <= reach)


def rounded(height: int, width: int, radius: int, *, inset: int = 0) -> Coverage:
    """[H, W] coverage of a rectangle with rounded corners, `inset` from the edges."""
    y, x = _samples(height, width)
    reach = inset + radius  # distance of the corners' centres from the edges
    dx = np.maximum(np.maximum(2 * reach - x, x - 2 * (FINE * width - reach)), 0)
    dy = np.maximum(np.maximum(2 * reach - y, y - 2 * (FINE * height - reach)), 0)
    return _counted(dx**2 <= 4 * radius**2 - dy**2)


def strokes(height: int, width: int, lines: Iterable[Sequence[Point]], thickness: int) -> Coverage:
    """[H, W] coverage of lines through points (x, y), with round ends, `thickness` across."""
    y, x = _samples(height, width)
    inside = np.zeros((FINE * height, FINE * width), np.bool_)
    for line in lines:
        for start, end in itertools.pairwise(line):
            near = tuple(
                slice(max(0, min(start[axis], end[axis]) - thickness), max(start[axis], end[axis]) + thickness)
                for axis in (1, 0)
            )
            inside[near] |= _on_line(y[near[0]], x[:, near[1]], start, end, thickness)
    return _counted(inside)


def _on_line(y: NDArray[np.int64], x: NDArray[np.int64], start: Point, end: Point, thickness: int) -> NDArray[np.bool_]:
    """Which sample points lie within half a thickness of a straight line."""
    dx, dy = 2 * (end[0] - start[0]), 2 * (end[1] - start[1])
    px, py = x - 2 * start[0], y - 2 * start[1]
    length, along, across = dx * dx + dy * dy, px * dx + py * dy, px * dy - py * dx
    beside = (along >= 0) & (along < length) & (across**2 <= length * thickness**2)
    return beside | (px**2 + py**2 <= thickness**2) | ((px - dx) ** 2 + (py - dy) ** 2 <= thickness**2)


def paint(image: Image, place: Point, coverage: Coverage, color: Color, opacity: int = FULL) -> None:
    """Lay a colour over `image` [H, W, 3] where `coverage` [h, w] has it, its upper left corner at (x, y) pixels.

    Args:
        image: changed in place; what would fall outside is left out.
        place: pixels from the left and from the top; may be negative.
        coverage: 0 to 16 for each pixel.
        color: red, green, blue.
        opacity: 0 to 16.
    """
    area, cut = _overlap(image, place, coverage)
    weight = cut.astype(np.int32)[:, :, None] * opacity
    mixed = area * (FULL * FULL - weight) + np.array(color, np.int32) * weight
    area[:] = (mixed + FULL * FULL // 2) // (FULL * FULL)


def lay(image: Image, place: Point, piece: Image, coverage: Coverage) -> None:
    """Lay a picture [h, w, 3] over `image` where `coverage` [h, w] has it, as `paint` lays a colour."""
    area, cut = _overlap(image, place, coverage)
    _, shown = _overlap(image, place, piece)
    weight = cut.astype(np.int32)[:, :, None]
    area[:] = (area * (FULL - weight) + shown * weight + FULL // 2) // FULL


def _overlap(image: Image, place: Point, piece: NDArray[np.uint8]) -> tuple[Image, NDArray[np.uint8]]:
    """The part of the image under a piece, and the part of the piece over the image."""
    x, y = place
    rows = slice(max(0, -y), max(0, min(piece.shape[0], image.shape[0] - y)))
    columns = slice(max(0, -x), max(0, min(piece.shape[1], image.shape[1] - x)))
    area = image[y + rows.start : y + rows.stop, x + columns.start : x + columns.stop]
    return area, piece[rows, columns]


def curve(corners: Sequence[Point], *, closed: bool = False, steps: int = 4) -> list[Point]:
    """A smooth line that bends at each corner: a quadratic spline, its ends at the first and last corner."""
    ends = [*corners, corners[0], corners[1]] if closed else [corners[0], *corners, corners[-1]]
    points: list[Point] = []
    for (x0, y0), (x1, y1), (x2, y2) in zip(ends, ends[1:], ends[2:], strict=False):
        for step in range(steps + 1):
            a, b = (steps - step) ** 2, step**2
            c = 2 * steps**2 - a - b
            scale = 2 * steps**2
            points.append(((a * x0 + c * x1 + b * x2) // scale, (a * y0 + c * y1 + b * y2) // scale))
    return points
