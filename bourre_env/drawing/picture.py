"""The card table as a picture: cloth, hands, trick, turn-up, pot, chips, whose turn it is.

Drawn from a snapshot and nothing else, so that what the snapshot hides cannot be seen. The observer sits at the bottom,
the others clockwise from there. Places are pixels of the picture, from its upper left corner.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from bourre_env.bourre.snapshot import Snapshot
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
from bourre_env.render import HIDDEN

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


def picture(table: Snapshot, bottom: int = 0) -> Image:
    """The table as [HEIGHT, WIDTH, 3] uint8, a fresh array.

    Args:
        table: what to show; cards that are `HIDDEN` show their backs (`bourre_env.render.seen_by`).
        bottom: the seat that sits at the bottom.
    """
    image = _empty_table().copy()
    _draw_heading(image, table)
    _draw_pot(image, table)
    _draw_turn_up(image, table)
    num_players = len(table.hands)
    by_seat = {(bottom + step) % num_players: place for step, place in enumerate(places(num_players))}
    for seat, place in by_seat.items():
        _draw_hand(image, table.hands[seat], place.block)
        _draw_plate(image, table, seat, place.block)
    for number, (seat, card) in enumerate(table.trick):
        _draw_played(image, card, by_seat[seat].played, is_led=number == 0)
    return image


@cache
def _empty_table() -> Image:
    """The room and the table without anything on it."""
    image = np.empty((HEIGHT, WIDTH, 3), np.uint8)
    image[:] = ROOM
    _disc(image, MIDDLE, (508, 346), WOOD)
    _disc(image, MIDDLE, (502, 340), WOOD_LIGHT, 8)
    _disc(image, MIDDLE, (488, 326), (10, 60, 38))
    _disc(image, MIDDLE, (484, 322), CLOTH)
    for ring in range(12):
        _disc(image, MIDDLE, (440 - 36 * ring, 290 - 24 * ring), CLOTH_LIGHT, 1)
    line = np.zeros((HEIGHT, WIDTH), np.uint8)
    for axes, sign in (((286, 172), 1), ((284, 170), -1)):
        line += np.uint8(sign % 256) * ellipse(HEIGHT, WIDTH, (FINE * MIDDLE[0], FINE * MIDDLE[1]), _fine(axes))
    paint(image, (0, 0), line, GOLD, 9)
    return image


def _fine(point: Point) -> Point:
    """Pixels as quarter pixels."""
    return FINE * point[0], FINE * point[1]


def _disc(image: Image, middle: Point, radii: Point, color: Color, opacity: int = 16) -> None:
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
def _panel_shape(width: int, height: int, radius: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    """Coverage of a rectangle with rounded corners; the radius in pixels."""
    return rounded(height, width, FINE * radius)


def _write(image: Image, place: Point, words: str, size: int, color: Color, align: str = "left") -> None:
    """Words in capitals `size` pixels high; `place` is the top of their left end, middle or right end."""
    height, thickness = FINE * size, max(6, FINE * size // 7)
    letters = lettering(words, height, thickness)
    left = place[0] - {"left": 0, "middle": letters.shape[1] // 2, "right": letters.shape[1]}[align]
    paint(image, (left, place[1] - margin(height, thickness)), letters, color)


def _draw_heading(image: Image, table: Snapshot) -> None:
    """The game, the deal and its phase on the left, the trump suit on the right."""
    _write(image, (22, 24), "BOURRÉ", 22, TURN)
    _write(image, (22, 58), f"DEAL {table.deal_index + 1}", 12, WHITE)
    _write(image, (22, 80), table.phase.upper(), 12, GREY)
    paint(image, (WIDTH - 76, 16), _panel_shape(56, 56, 10), PAPER)
    paint(image, (WIDTH - 68, 24), suit_sign(table.trump_suit, 40), color_of(table.trump_suit))
    _write(image, (WIDTH - 48, 82), "TRUMPS", 10, WHITE, "middle")


def _draw_pot(image: Image, table: Snapshot) -> None:
    """The pot as chips and as a number; after the settlement what it keeps."""
    x, y = MIDDLE[0] - 56, MIDDLE[1] + 6
    chips = table.carry if table.phase == "settled" else table.pot
    for number in range(min(2 * chips.bit_length(), 14)):
        left, up = (-17, 17)[number % 2], 5 * (number // 2)
        _disc(image, (x + left, y - up), (16, 8), INK, 9)
        _disc(image, (x + left, y - up - 1), (15, 7), CHIPS[(number // 2 + number % 2) % len(CHIPS)])
        _disc(image, (x + left, y - up - 1), (8, 4), WHITE, 7)
    _write(image, (x, y + 18), str(chips), 16, WHITE, "middle")
    _write(image, (x, y + 42), "POT KEEPS" if table.phase == "settled" else "POT", 9, TURN, "middle")


def _draw_turn_up(image: Image, table: Snapshot) -> None:
    """The card that was turned up."""
    _draw_card(image, table.turn_up, (MIDDLE[0] + 30, MIDDLE[1] - 50))
    _write(image, (MIDDLE[0] + 60, MIDDLE[1] + 44), "TURN-UP", 9, TURN, "middle")


def _draw_card(image: Image, card: str, place: Point) -> None:
    """A card with its shadow, its upper left corner at a place."""
    paint(image, (place[0] + 2, place[1] + 3), card_shape(), INK, 5)
    lay(image, place, card_back() if card == HIDDEN else card_face(card), card_shape())


def _draw_hand(image: Image, hand: tuple[str, ...], middle: Point) -> None:
    """The cards of a seat, fanned."""
    left = middle[0] - (CARD_WIDTH + FAN * (len(hand) - 1)) // 2
    for number, card in enumerate(hand):
        _draw_card(image, card, (left + FAN * number, middle[1] - BLOCK_HEIGHT // 2))


def _draw_plate(image: Image, table: Snapshot, seat: int, middle: Point) -> None:
    """Name, chips, what the seat has declared, its tricks and the dealer's button; bright when it is to act."""
    left, top = middle[0] - PLATE_WIDTH // 2, middle[1] + BLOCK_HEIGHT // 2 - PLATE_HEIGHT
    to_act = seat == table.seat
    paint(
        image, (left, top), _panel_shape(PLATE_WIDTH, PLATE_HEIGHT, 8), TURN if to_act else PLATE, 16 if to_act else 13
    )
    name = INK if to_act else GREY if table.passed[seat] else WHITE
    chips = table.chips[seat]
    _write(image, (left + 10, top + 8), f"SEAT {seat}", 11, name)
    color = INK if to_act else GREEN if chips > 0 else ROSE if chips < 0 else WHITE
    _write(image, (left + PLATE_WIDTH - 10, top + 8), f"{chips:+d}", 11, color, "right")
    _write(image, (left + 10, top + 26), status(table, seat), 8, INK if to_act else GREY)
    if seat == table.dealer:
        _draw_button(image, (left - 2, top - 1))
    for trick in range(table.tricks_won[seat]):
        _disc(image, (left + PLATE_WIDTH - 15 - 13 * trick, top + 30), (5, 5), INK if to_act else TURN)


def status(table: Snapshot, seat: int) -> str:
    """What a seat is about, in capitals."""
    if table.bourre[seat]:
        return "BOURRÉ"
    if table.passed[seat]:
        return "PASSED"
    if table.stayed[seat]:
        return f"STAYS, {table.num_discards[seat]} NEW" if table.num_discards[seat] else "STAYS"
    if seat == table.seat:
        return "TO SPEAK"
    return "NO ANTE" if table.exempt[seat] and table.phase != "settled" else ""


def _draw_button(image: Image, middle: Point) -> None:
    """The dealer's button."""
    _disc(image, (middle[0] + 1, middle[1] + 2), (12, 12), INK, 7)
    _disc(image, middle, (12, 12), WHITE)
    _disc(image, middle, (10, 10), INK)
    _disc(image, middle, (9, 9), WHITE)
    _write(image, (middle[0], middle[1] - 4), "D", 9, INK, "middle")


def _draw_played(image: Image, card: str, middle: Point, *, is_led: bool) -> None:
    """A card of the current trick; the one that was led has a tag."""
    left, top = middle[0] - CARD_WIDTH // 2, middle[1] - CARD_HEIGHT // 2
    _draw_card(image, card, (left, top))
    if is_led:
        paint(image, (middle[0] - 16, top + CARD_HEIGHT - 7), _panel_shape(32, 15, 7), TURN)
        _write(image, (middle[0], top + CARD_HEIGHT - 4), "LED", 8, INK, "middle")
