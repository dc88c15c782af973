"""The table of Bureau as a picture: stock, waste, foundations, thirteen columns. Drawn from a snapshot alone."""

from functools import cache

import numpy as np

from bourre_env.bureau.snapshot import FACE_DOWN, BureauSnapshot
from bourre_env.drawing.canvas import Image, Point, paint
from bourre_env.drawing.cloth import (
    CLOTH,
    CLOTH_LIGHT,
    GREY,
    HEIGHT,
    HIDDEN,
    TURN,
    WHITE,
    WIDTH,
    draw_card,
    write,
)
from bourre_env.drawing.playing_cards import CARD_WIDTH, card_shape

NUM_COLUMNS = 13
NUM_FOUNDATIONS = 8
STEP = 76  # from one column to the next
LEFT = (WIDTH - STEP * (NUM_COLUMNS - 1) - CARD_WIDTH) // 2
TOP = 40  # of stock, waste and foundations
COLUMNS_TOP = 170
OVERLAP = 28  # from one card of a column to the next
FOUNDATIONS_AT = NUM_COLUMNS - NUM_FOUNDATIONS
WASTE_SHOWN = 9
WASTE_STEP = 20


def place_of(column: int, top: int) -> Point:
    """The upper left corner of a card in a column of the picture."""
    return LEFT + STEP * column, top


@cache
def _empty() -> Image:
    """The cloth with the places of the piles."""
    image = np.empty((HEIGHT, WIDTH, 3), np.uint8)
    image[:] = CLOTH
    places = [place_of(0, TOP)] + [place_of(FOUNDATIONS_AT + pile, TOP) for pile in range(NUM_FOUNDATIONS)]
    places += [place_of(column, COLUMNS_TOP) for column in range(NUM_COLUMNS)]
    for place in places:
        paint(image, place, card_shape(), CLOTH_LIGHT, 5)
    return image


def bureau_picture(table: BureauSnapshot) -> Image:
    """The table as [704, 1024, 3] uint8, a fresh array; cards that lie face down show their backs.

    Args:
        table: what to show.
    """
    image = _empty().copy()
    _draw_heading(image, table)
    if table.stock:
        draw_card(image, HIDDEN, place_of(0, TOP))
    for number, card in enumerate(table.waste[-WASTE_SHOWN:]):
        left, top = place_of(1, TOP)
        draw_card(image, card, (left + WASTE_STEP * number, top))
    for pile, card in enumerate(table.foundations):
        draw_card(image, card, place_of(FOUNDATIONS_AT + pile, TOP))
    for number, column in enumerate(table.columns):
        for place, card in enumerate(column):
            face = HIDDEN if card.startswith(FACE_DOWN) else card
            draw_card(image, face, place_of(number, COLUMNS_TOP + OVERLAP * place))
    return image


def _draw_heading(image: Image, table: BureauSnapshot) -> None:
    """What the piles hold and how the deal stands."""
    write(image, (LEFT, 14), "BUREAU", 14, TURN)
    words = f"{len(table.stock)} IN STOCK, {table.redeals_left} REDEALS LEFT"
    write(image, (LEFT + 2 * STEP, 16), words, 9, WHITE)
    right = LEFT + STEP * (NUM_COLUMNS - 1) + CARD_WIDTH
    write(image, (right, 16), f"{table.cards_up} UP, {table.steps} DECISIONS", 9, WHITE, "right")
    write(image, (LEFT, HEIGHT - 24), f"DEAL {table.deal_index + 1}", 10, GREY)
    if table.ending:
        write(image, (right, HEIGHT - 30), table.ending.upper(), 16, TURN, "right")
