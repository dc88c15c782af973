"""A card table without a game: cloth, places of the seats, cards, hands, tricks, plates, the dealer's button, words.

The observer sits at the bottom, the others clockwise from there. Places are pixels of the picture, from its upper left
corner.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from bourre_env.drawing.canvas import FINE, Color, Image, Point, ellipse, lay, paint, rounded
from bourre_env.drawing.lettering import lettering, margin
from bourre_env.drawing.playing_cards import (
    CARD_HEIGHT,
    CARD_WIDTH,
    GOLD,
    PAPER,
    card_back,
    card_face,
    card_shape,
    color_of,
    suit_sign,
)

HIDDEN = "--"  # stands for a card that may not be seen

WIDTH, HEIGHT = 1024, 704
MIDDLE = (WIDTH // 2, HEIGHT // 2 + 4)
SEATS_AT, TRICK_AT = (402, 274), (214, 114)  # half axes of the ellipses on which seats and played cards lie
PLATE_WIDTH, PLATE_HEIGHT = 188, 42
FAN = 32  # from one card of a hand to the next
BLOCK_HEIGHT = CARD_HEIGHT + 4 + PLATE_HEIGHT

ROOM: Color = (24, 22, 28)
WOOD: Color = (92, 54, 30)
WOOD_LIGHT: Color = (136, 84, 46)
CLOTH: Color = (16, 92, 58)
CLOTH_LIGHT: Color = (40, 140, 90)
PLATE: Color = (18, 22, 26)
INK: Color = (20, 20, 24)
WHITE: Color = (244, 244, 238)
GREY: Color = (150, 156, 158)
GREEN: Color = (120, 220, 130)
ROSE: Color = (255, 128, 120)
TURN: Color = (250, 204, 74)
CHIPS: tuple[Color, ...] = ((196, 44, 48), (42, 84, 178), (236, 232, 220))


@dataclass(frozen=True)
class Place:
    """Where a seat's things lie, in pixels of the picture: middles of its block and of its played card."""

    block: Point
    played: Point


@cache
def places(num_players: int) -> tuple[Place, ...]:
    """The place of each seat, from the bottom clockwise."""
    return tuple(_place(2 * math.pi * step / num_players) for step in range(num_players))


def _place(angle: float) -> Place:
    """The place at an angle, clockwise from the bottom."""

    def on(axes: Point) -> Point:
        return MIDDLE[0] - round(axes[0] * math.sin(angle)), MIDDLE[1] + round(axes[1] * math.cos(angle))

    return Place(on(SEATS_AT), on(TRICK_AT))


@cache
def empty_table() -> Image:
    """The room and the table without anything on it."""
    image = np.empty((HEIGHT, WIDTH, 3), np.uint8)
    image[:] = ROOM
    disc(image, MIDDLE, (508, 346), WOOD)
    disc(image, MIDDLE, (502, 340), WOOD_LIGHT, 8)
    disc(image, MIDDLE, (488, 326), (10, 60, 38))
    disc(image, MIDDLE, (484, 322), CLOTH)
    for ring in range(12):
        disc(image, MIDDLE, (440 - 36 * ring, 290 - 24 * ring), CLOTH_LIGHT, 1)
    line = np.zeros((HEIGHT, WIDTH), np.uint8)
    for axes, sign in (((286, 172), 1), ((284, 170), -1)):
        line += np.uint8(sign % 256) * ellipse(HEIGHT, WIDTH, (FINE * MIDDLE[0], FINE * MIDDLE[1]), _fine(axes))
    paint(image, (0, 0), line, GOLD, 9)
    return image


def _fine(point: Point) -> Point:
    """Pixels as quarter pixels."""
    return FINE * point[0], FINE * point[1]


def disc(image: Image, middle: Point, radii: Point, color: Color, opacity: int = 16) -> None:
    """A filled ellipse."""
    across, down = radii
    coverage = _disc_shape(across, down)
    paint(image, (middle[0] - across - 1, middle[1] - down - 1), coverage, color, opacity)


@cache
def _disc_shape(across: int, down: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Coverage of an ellipse with a pixel to spare around it."""
    height, width = 2 * down + 2, 2 * across + 2
    return ellipse(height, width, (FINE * (across + 1), FINE * (down + 1)), (FINE * across, FINE * down))


@cache
def panel_shape(width: int, height: int, radius: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Coverage of a rectangle with rounded corners; the radius in pixels."""
    return rounded(height, width, FINE * radius)


def write(image: Image, place: Point, words: str, size: int, color: Color, align: str = "left") -> None:
    """Words in capitals `size` pixels high; `place` is the top of their left end, middle or right end."""
    height, thickness = FINE * size, max(6, FINE * size // 7)
    letters = lettering(words, height, thickness)
    left = place[0] - {"left": 0, "middle": letters.shape[1] // 2, "right": letters.shape[1]}[align]
    paint(image, (left, place[1] - margin(height, thickness)), letters, color)


def draw_trump_suit(image: Image, suit: str) -> None:
    """The suit of trumps, in the upper right corner."""
    paint(image, (WIDTH - 76, 16), panel_shape(56, 56, 10), PAPER)
    paint(image, (WIDTH - 68, 24), suit_sign(suit, 40), color_of(suit))
    write(image, (WIDTH - 48, 82), "TRUMPS", 10, WHITE, "middle")


def draw_card(image: Image, card: str, place: Point) -> None:
    """A card with its shadow, its upper left corner at a place."""
    paint(image, (place[0] + 2, place[1] + 3), card_shape(), INK, 5)
    lay(image, place, card_back() if card == HIDDEN else card_face(card), card_shape())


def draw_hand(image: Image, hand: tuple[str, ...], middle: Point) -> None:
    """The cards of a seat, fanned."""
    left = middle[0] - (CARD_WIDTH + FAN * (len(hand) - 1)) // 2
    for number, card in enumerate(hand):
        draw_card(image, card, (left + FAN * number, middle[1] - BLOCK_HEIGHT // 2))


def draw_button(image: Image, middle: Point) -> None:
    """The dealer's button."""
    disc(image, (middle[0] + 1, middle[1] + 2), (12, 12), INK, 7)
    disc(image, middle, (12, 12), WHITE)
    disc(image, middle, (10, 10), INK)
    disc(image, middle, (9, 9), WHITE)
    write(image, (middle[0], middle[1] - 4), "D", 9, INK, "middle")


def draw_played(image: Image, card: str, middle: Point, *, is_led: bool) -> None:
    """A card of the current trick; the one that was led has a tag."""
    left, top = middle[0] - CARD_WIDTH // 2, middle[1] - CARD_HEIGHT // 2
    draw_card(image, card, (left, top))
    if is_led:
        paint(image, (middle[0] - 16, top + CARD_HEIGHT - 7), panel_shape(32, 15, 7), TURN)
        write(image, (middle[0], top + CARD_HEIGHT - 4), "LED", 8, INK, "middle")
