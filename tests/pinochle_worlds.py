"""Every world of Pinochle that fits what a seat has seen, found by trying all: for the tests of `reshuffle_unseen`."""

import itertools
from collections import Counter
from collections.abc import Iterator

from reference_pinochle import ReferencePinochle, full_pack, melded, playable

Hand = tuple[str, ...]
Event = tuple[str, int, str]  # ("play" or "back", seat, card)


def hidden_cards(table: ReferencePinochle, seat: int) -> list[str]:
    """The cards in the hands of the other seats."""
    seen = Counter(table.hands[seat])
    seen.update(card for trick in [*table.past_tricks, table.trick] for _, card in trick)
    return list((Counter(full_pack()) - seen).elements())


def deals(sizes: list[int], cards: list[str]) -> Iterator[tuple[Hand, ...]]:
    """Every way to give seats so many of the cards, twins being alike."""
    if not sizes:
        yield ()
        return
    for hand in sorted(set(itertools.combinations(cards, sizes[0]))):
        for rest in deals(sizes[1:], list((Counter(cards) - Counter(hand)).elements())):
            yield (hand, *rest)


def fits_play(table: ReferencePinochle, hands: dict[int, list[str]], events: list[Event]) -> bool:
    """Whether seats that held these hands when the play began may have played as they have."""
    left, trick = {seat: list(hand) for seat, hand in hands.items()}, []
    for what, seat, card in events:
        if card not in left[seat]:
            return False
        is_legal = card in playable(left[seat], trick, table.trump, table.rules)
        if is_legal != (what == "play"):
            return False
        if what == "play":
            left[seat].remove(card)
            trick = [] if len(trick) == 3 else [*trick, card]
    return True


def dealt(table: ReferencePinochle, seat: int, other: int, hand: list[str]) -> Counter[str] | None:
    """The cards another seat was dealt, as far as the observer can tell; None where the exchange contradicts it."""
    is_partner = other == (seat + 2) % 4
    received, given = (table.sent[seat], table.sent[other]) if is_partner else ([], [])
    before = Counter(hand)
    before.update(given)
    before.subtract(received)
    return before if min(before.values(), default=0) >= 0 else None


def number_of_packs(dealt_hands: list[Counter[str]]) -> int:
    """How many packs deal these hands, up to the same factor: two for each pair of twins that is split."""
    together = [card for hand in dealt_hands for card, number in hand.items() if number == 2]
    return 1 << 24 - len(together)


def worlds_of(table: ReferencePinochle, seat: int, events: list[Event]) -> dict[tuple[Hand, ...], int]:
    """The hands that the seats after the observer may hold, and in how many packs each of these lies."""
    others = [(seat + step) % 4 for step in (1, 2, 3)]
    played = {
        who: [card for trick in [*table.past_tricks, table.trick] for s, card in trick if s == who] for who in range(4)
    }
    found = {}
    for hands in deals([len(table.hands[other]) for other in others], hidden_cards(table, seat)):
        final = {other: [*hand, *played[other]] for other, hand in zip(others, hands, strict=True)}
        if any(melded(final[other], table.trump) != table.shown[other] for other in others):
            continue
        final[seat] = [*table.hands[seat], *played[seat]]
        if not fits_play(table, final, events):
            continue
        before = [dealt(table, seat, other, final[other]) for other in others]
        own = Counter(final[seat])
        own.update(table.sent[seat])
        own.subtract(table.sent[(seat + 2) % 4])
        if None not in before:
            found[hands] = number_of_packs([+hand for hand in [*before, own] if hand is not None])
    return found
