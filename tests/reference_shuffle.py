"""Section 8 of RULES.md in plain Python integers: the oracle's own shuffling, written from the text."""

from collections.abc import Sequence

NUM_RANKS = 13
WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15


def mix(word: int) -> int:
    """Rule 8.1."""
    word ^= word >> 30
    word = word * 0xBF58476D1CE4E5B9 % WORD
    word ^= word >> 27
    word = word * 0x94D049BB133111EB % WORD
    return word ^ word >> 31


def shuffled(cards: Sequence[int], key: int) -> list[int]:
    """Rule 8.2: the cards in the order that `key` decides."""
    order = list(cards)
    for step, last in enumerate(range(len(order) - 1, 0, -1), start=1):
        word = mix((key + GOLDEN * step) % WORD)
        other = (word >> 32) * (last + 1) >> 32
        order[last], order[other] = order[other], order[last]
    return order


def deck_of_deal(seed: int, deal_id: int, pack: Sequence[int] = range(52)) -> list[int]:
    """Rule 8.3: the pack of one deal, in dealing order."""
    stream = mix((seed + GOLDEN) % WORD)
    return shuffled(pack, mix((stream + GOLDEN * (deal_id + 1)) % WORD))


def reshuffled(pile: Sequence[int], deck: Sequence[int], number: int) -> list[int]:
    """Rule 8.4: the pile as it is dealt after reshuffle `number` (from 1) of the deal that was dealt from `deck`."""
    suits_seen: list[int] = []
    word = 0
    for card in deck:
        suit, rank = divmod(card, NUM_RANKS)
        if suit not in suits_seen:
            suits_seen.append(suit)
        word = mix(word ^ (13 * suits_seen.index(suit) + rank + 1))
    in_deck_order = [card for card in deck if card in pile]
    return shuffled(in_deck_order, mix((word + GOLDEN * number) % WORD))
