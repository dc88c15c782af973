"""The card table as a picture: cloth, hands, trick, turn-up, pot, chips, whose turn it is.

Drawn from a snapshot and nothing else, so that what the snapshot hides cannot be seen. The observer sits at the bottom,
the others clockwise from there.
"""

from bourre_env.bourre.snapshot import Snapshot
from bourre_env.drawing.canvas import Image, Point, paint
from bourre_env.drawing.cloth import (
    BLOCK_HEIGHT,
    CHIPS,
    GREEN,
    GREY,
    INK,
    MIDDLE,
    PLATE,
    PLATE_HEIGHT,
    PLATE_WIDTH,
    ROSE,
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
from bourre_env.drawing.cloth import HEIGHT as HEIGHT
from bourre_env.drawing.cloth import WIDTH as WIDTH


def picture(table: Snapshot, bottom: int = 0) -> Image:
    """The table as [HEIGHT, WIDTH, 3] uint8, a fresh array.

    Args:
        table: what to show; cards that are `HIDDEN` show their backs (`bourre_env.render.seen_by`).
        bottom: the seat that sits at the bottom.
    """
    image = empty_table().copy()
    _draw_heading(image, table)
    _draw_pot(image, table)
    _draw_turn_up(image, table)
    num_players = len(table.hands)
    by_seat = {(bottom + step) % num_players: place for step, place in enumerate(places(num_players))}
    for seat, place in by_seat.items():
        draw_hand(image, table.hands[seat], place.block)
        _draw_plate(image, table, seat, place.block)
    for number, (seat, card) in enumerate(table.trick):
        draw_played(image, card, by_seat[seat].played, is_led=number == 0)
    return image


def _draw_heading(image: Image, table: Snapshot) -> None:
    """The game, the deal and its phase on the left, the trump suit on the right."""
    write(image, (22, 24), "BOURRÉ", 22, TURN)
    write(image, (22, 58), f"DEAL {table.deal_index + 1}", 12, WHITE)
    write(image, (22, 80), table.phase.upper(), 12, GREY)
    draw_trump_suit(image, table.trump_suit)


def _draw_pot(image: Image, table: Snapshot) -> None:
    """The pot as chips and as a number; after the settlement what it keeps."""
    x, y = MIDDLE[0] - 56, MIDDLE[1] + 6
    chips = table.carry if table.phase == "settled" else table.pot
    for number in range(min(2 * chips.bit_length(), 14)):
        left, up = (-17, 17)[number % 2], 5 * (number // 2)
        disc(image, (x + left, y - up), (16, 8), INK, 9)
        disc(image, (x + left, y - up - 1), (15, 7), CHIPS[(number // 2 + number % 2) % len(CHIPS)])
        disc(image, (x + left, y - up - 1), (8, 4), WHITE, 7)
    write(image, (x, y + 18), str(chips), 16, WHITE, "middle")
    write(image, (x, y + 42), "POT KEEPS" if table.phase == "settled" else "POT", 9, TURN, "middle")


def _draw_turn_up(image: Image, table: Snapshot) -> None:
    """The card that was turned up."""
    draw_card(image, table.turn_up, (MIDDLE[0] + 30, MIDDLE[1] - 50))
    write(image, (MIDDLE[0] + 60, MIDDLE[1] + 44), "TURN-UP", 9, TURN, "middle")


def _draw_plate(image: Image, table: Snapshot, seat: int, middle: Point) -> None:
    """Name, chips, what the seat has declared, its tricks and the dealer's button; bright when it is to act."""
    left, top = middle[0] - PLATE_WIDTH // 2, middle[1] + BLOCK_HEIGHT // 2 - PLATE_HEIGHT
    to_act = seat == table.seat
    paint(
        image, (left, top), panel_shape(PLATE_WIDTH, PLATE_HEIGHT, 8), TURN if to_act else PLATE, 16 if to_act else 13
    )
    name = INK if to_act else GREY if table.passed[seat] else WHITE
    chips = table.chips[seat]
    write(image, (left + 10, top + 8), f"SEAT {seat}", 11, name)
    color = INK if to_act else GREEN if chips > 0 else ROSE if chips < 0 else WHITE
    write(image, (left + PLATE_WIDTH - 10, top + 8), f"{chips:+d}", 11, color, "right")
    write(image, (left + 10, top + 26), status(table, seat), 8, INK if to_act else GREY)
    if seat == table.dealer:
        draw_button(image, (left - 2, top - 1))
    for trick in range(table.tricks_won[seat]):
        disc(image, (left + PLATE_WIDTH - 15 - 13 * trick, top + 30), (5, 5), INK if to_act else TURN)


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
