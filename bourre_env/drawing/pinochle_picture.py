"""The card table of Pinochle as a picture: cloth, hands, trick, bid, melds, score, whose turn it is.

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
    draw_hand,
    draw_played,
    draw_trump_suit,
    empty_table,
    panel_shape,
    places,
    write,
)
from bourre_env.pinochle.snapshot import PinochleSnapshot

_IN_A_ROW = 6
_ROW_HEIGHT = 34  # what is seen of a card behind another row


def pinochle_picture(table: PinochleSnapshot, bottom: int = 0) -> Image:
    """The table as [HEIGHT, WIDTH, 3] uint8, a fresh array.

    Args:
        table: what to show; cards that are hidden show their backs (`bourre_env.pinochle.render.seen_by`).
        bottom: the seat that sits at the bottom.
    """
    image = empty_table().copy()
    _draw_heading(image, table)
    by_seat = {(bottom + step) % len(table.hands): place for step, place in enumerate(places(len(table.hands)))}
    for seat, place in by_seat.items():
        _draw_rows(image, table.hands[seat], place.block)
        _draw_plate(image, table, seat, place.block)
    for number, (seat, card) in enumerate(table.trick):
        draw_played(image, card, by_seat[seat].played, is_led=number == 0)
    if table.high_bid and not table.trick:
        write(image, (MIDDLE[0], MIDDLE[1] - 14), f"BID {table.high_bid}", 16, WHITE, "middle")
        write(image, (MIDDLE[0], MIDDLE[1] + 12), f"SEAT {table.high_bidder}", 9, TURN, "middle")
    return image


def _draw_rows(image: Image, hand: tuple[str, ...], middle: Point) -> None:
    """The cards of a seat: in one row above and below, in two at the sides, the first behind the other."""
    length = _IN_A_ROW if middle[0] != MIDDLE[0] else max(1, len(hand))
    for row, first in enumerate(range(0, len(hand), length)):
        rows_below = (len(hand) - 1) // length - row
        draw_hand(image, hand[first : first + length], (middle[0], middle[1] - _ROW_HEIGHT * rows_below))


def _draw_heading(image: Image, table: PinochleSnapshot) -> None:
    """The game, the hand, its phase, the score and points of tricks on the left, the trump suit on the right."""
    write(image, (22, 24), "PINOCHLE", 22, TURN)
    write(image, (22, 58), f"HAND {table.hand_index + 1}", 12, WHITE)
    write(image, (22, 80), table.phase.upper(), 12, GREY)
    write(image, (22, 102), f"{table.score[0]} : {table.score[1]}", 12, WHITE)
    write(image, (22, 124), f"TRICKS {table.trick_points[0]} : {table.trick_points[1]}", 9, GREY)
    if table.trump_suit:
        draw_trump_suit(image, table.trump_suit)


def _draw_plate(image: Image, table: PinochleSnapshot, seat: int, middle: Point) -> None:
    """Name, what the seat is about, its tricks and the dealer's button; bright when it is to act."""
    left, top = middle[0] - PLATE_WIDTH // 2, middle[1] + BLOCK_HEIGHT // 2 - PLATE_HEIGHT
    to_act = seat == table.seat
    shape = panel_shape(PLATE_WIDTH, PLATE_HEIGHT, 8)
    paint(image, (left, top), shape, TURN if to_act else PLATE, 16 if to_act else 13)
    write(image, (left + 10, top + 8), f"SEAT {seat}", 11, INK if to_act else WHITE)
    write(image, (left + 10, top + 26), status(table, seat), 8, INK if to_act else GREY)
    if seat == table.dealer:
        draw_button(image, (left - 2, top - 1))
    for trick in range(table.tricks_won[seat]):
        place = (left + PLATE_WIDTH - 12 - 11 * (trick % _IN_A_ROW), top + 12 + 12 * (trick // _IN_A_ROW))
        disc(image, place, (4, 4), INK if to_act else TURN)


def status(table: PinochleSnapshot, seat: int) -> str:
    """What a seat is about, in capitals."""
    words = ["DECLARER"] * (seat == table.high_bidder and table.phase != "bid")
    words += [f"MELDS {table.meld_points[seat]}"] * (table.meld_points[seat] > 0)
    said = [text for caller, text in table.calls if caller == seat]
    if not words and table.phase == "bid" and said:
        words = [said[-1].replace("_", " ").upper()]
    return ", ".join(words)
