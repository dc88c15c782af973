"""Every world of Euchre that fits what a seat has seen, found by trying all: for the tests of `reshuffle_unseen`."""

import itertools
from collections.abc import Iterator

from reference_euchre import ReferenceEuchre, counts_as, full_pack

Hands = tuple[tuple[str, ...], ...]


def missing_suits(table: ReferenceEuchre) -> dict[int, set[str]]:
    """The suits that each seat has not followed."""
    missing: dict[int, set[str]] = {seat: set() for seat in range(4)}
    for trick in filter(None, [*table.past_tricks, table.trick]):
        led = counts_as(trick[0][1], table.trump)
        for seat, card in trick:
            missing[seat] |= {led} - {counts_as(card, table.trump)}
    return missing


def unseen_cards(table: ReferenceEuchre, seat: int) -> list[str]:
    """The cards a seat cannot place, the up-card among them when another seat took it and has not played it."""
    seen = {card for trick in [*table.past_tricks, table.trick] for _, card in trick} | set(table.hands[seat])
    if table.taker == seat:
        seen.add(table.shed)
    if table.taker == -1:
        seen.add(table.up_card)
    return [card for card in full_pack(table.rules.benny) if card not in seen]


def deals(table: ReferenceEuchre, others: list[int], left: list[str]) -> Iterator[Hands]:
    """Every way to give seats as many of the cards left as they hold, none of a suit that they did not follow."""
    if not others:
        yield ()
        return
    missing = missing_suits(table)[others[0]]
    fitting = [card for card in left if counts_as(card, table.trump) not in missing]
    if others[0] != table.taker:
        fitting = [card for card in fitting if card != table.up_card]
    for hand in itertools.combinations(fitting, len(table.hands[others[0]])):
        for rest in deals(table, others[1:], [card for card in left if card not in hand]):
            yield (hand, *rest)


def cards_laid_away(table: ReferenceEuchre, rest: list[str]) -> list[str]:
    """What another seat may have laid away of the cards in no hand; the up-card for sure, if it is among them."""
    if table.up_card in rest:
        return [table.up_card] if table.rules.may_shed_upcard else []
    return rest


def worlds_of(table: ReferenceEuchre, seat: int) -> Iterator[tuple[Hands, str]]:
    """(hands of the other seats clockwise, card another seat laid away) of every world that fits."""
    unseen = unseen_cards(table, seat)
    for hands in deals(table, [(seat + step) % 4 for step in (1, 2, 3)], unseen):
        held = {card for hand in hands for card in hand}
        if table.taker in (-1, seat):
            yield hands, ""
            continue
        for shed in cards_laid_away(table, [card for card in unseen if card not in held]):
            yield hands, shed
