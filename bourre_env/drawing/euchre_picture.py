"""The card table of Euchre as a picture: cloth, hands, trick, up-card, makers, score, whose turn it is.

Drawn from a snapshot and nothing else, so that what the snapshot hides cannot be seen.
"""

from bourre_env.drawing.canvas import Image, Point, paint
from bourre_env.drawing.cloth import (
    BLOCK_HEIGHT,
    GREY,
    INK,
    MIDDLE,
    PLATE,
    PLATE_HEIGHT,
    PLATE_WIDTH,
    TURN,
    WHITE,
    disc,
    draw_button,
    draw_card,
    draw_hand,
    draw_played,
    draw_trump_suit,
    empty_table,
    panel_shape,
    places,
    write,
)
from bourre_env.euchre.snapshot import EuchreSnapshot


def euchre_picture(table: EuchreSnapshot, bottom: int = 0) -> Image:
    """The table as [704, 1024, 3] uint8, a fresh array.

    Args:
        table: what to show; hidden cards show their backs (`bourre_env.euchre.render.seen_by`).
        bottom: the seat that sits at the bottom.
    """
    image = empty_table().copy()
    _draw_heading(image, table)
    draw_card(image, table.up_card, (MIDDLE[0] - 30, MIDDLE[1] - 50))
    write(image, (MIDDLE[0], MIDDLE[1] + 44), "UP-CARD", 9, TURN, "middle")
    by_seat = {(bottom + step) % len(table.hands): place for step, place in enumerate(places(len(table.hands)))}
    for seat, place in by_seat.items():
        draw_hand(image, table.hands[seat], place.block)
        _draw_plate(image, table, seat, place.block)
    for number, (seat, card) in enumerate(table.trick):
        draw_played(image, card, by_seat[seat].played, is_led=number == 0)
    return image


def _draw_heading(image: Image, table: EuchreSnapshot) -> None:
    """The game, the hand, its phase and the score on the left, the trump suit on the right."""
    write(image, (22, 24), "EUCHRE", 22, TURN)
    write(image, (22, 58), f"HAND {table.hand_index + 1}", 12, WHITE)
    write(image, (22, 80), table.phase.upper(), 12, GREY)
    write(image, (22, 102), f"{table.score[0]} - {table.score[1]}", 12, WHITE)
    if table.trump_suit:
        draw_trump_suit(image, table.trump_suit)


def _draw_plate(image: Image, table: EuchreSnapshot, seat: int, middle: Point) -> None:
    """Name, what the seat has said, its tricks and the dealer's button; bright when it is to act."""
    left, top = middle[0] - PLATE_WIDTH // 2, middle[1] + BLOCK_HEIGHT // 2 - PLATE_HEIGHT
    to_act = seat == table.seat
    shape = panel_shape(PLATE_WIDTH, PLATE_HEIGHT, 8)
    paint(image, (left, top), shape, TURN if to_act else PLATE, 16 if to_act else 13)
    name = INK if to_act else GREY if seat in table.out else WHITE
    write(image, (left + 10, top + 8), f"SEAT {seat}", 11, name)
    write(image, (left + 10, top + 26), status(table, seat), 8, INK if to_act else GREY)
    if seat == table.dealer:
        draw_button(image, (left - 2, top - 1))
    for trick in range(table.tricks_won[seat]):
        disc(image, (left + PLATE_WIDTH - 15 - 13 * trick, top + 30), (5, 5), INK if to_act else TURN)


def status(table: EuchreSnapshot, seat: int) -> str:
    """What a seat is about, in capitals."""
    if seat in table.out:
        return "OUT"
    words = ["ALONE"] * (seat in table.alone) + ["MAKER"] * (seat == table.maker)
    if not words and not table.trump_suit and any(caller == seat for caller, _ in table.calls):
        words = ["PASSED"]
    return ", ".join(words)
