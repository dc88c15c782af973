"""Play duties and trick winners of any trick game, against plain lists. Rules 4.2 to 4.6; no Bourré here."""

import itertools
import random

import numpy as np
import pytest
from positions import card, text_of

from bourre_env.cards import cards_in
from bourre_env.tricks import (
    ALL_DUTIES,
    MUST_BEAT,
    MUST_OVERTRUMP,
    MUST_TRUMP,
    MUST_UNDERTRUMP,
    TRUMP_WITH_HIGHEST,
    beats,
    cards_to_follow,
    has_duty,
)

DUTIES = (MUST_BEAT, MUST_TRUMP, MUST_OVERTRUMP, MUST_UNDERTRUMP, TRUMP_WITH_HIGHEST)


def as_set(cards: list[int]) -> np.uint64:
    """Cards as a set of bits."""
    return np.uint64(sum(1 << one for one in cards))


def suit_cards(suit: int) -> list[int]:
    """All cards of a suit; suit 4 has none."""
    return [13 * suit + rank for rank in range(13)] if suit < 4 else []


def beating_cards(best: int, trump_suit: int) -> list[int]:
    """All cards that beat `best` (4.6)."""
    higher = [one for one in suit_cards(best // 13) if one > best]
    return higher if best // 13 == trump_suit else higher + suit_cards(trump_suit)


def best_of(trick: list[int], trump_suit: int) -> int:
    """The winning card of a trick, worked out by sorting (4.6)."""
    return max(trick, key=lambda one: (one // 13 == trump_suit, one // 13 == trick[0] // 13, one % 13))


def allowed(hand: list[int], trick: list[int], trump_suit: int, duties: int) -> list[int]:
    """What the compiled rule lets a hand play, with real ids; trump suit 4 stands for no trumps."""
    found = cards_to_follow(
        as_set(hand),
        as_set(suit_cards(trick[0] // 13)),
        as_set(suit_cards(trump_suit)),
        as_set(beating_cards(best_of(trick, trump_suit), trump_suit)),
        duties,
    )
    return cards_in(found)


def expected(hand: list[int], trick: list[int], trump_suit: int, duties: int) -> list[int]:
    """The same from the text of the rules, duty by duty."""
    better = set(beating_cards(best_of(trick, trump_suit), trump_suit))
    choices = [one for one in hand if one // 13 == trick[0] // 13]
    if choices:
        heading = [one for one in choices if one in better]
        return heading if duties & MUST_BEAT and heading else choices
    trumps = [one for one in hand if one // 13 == trump_suit]
    if not trumps or not duties & MUST_TRUMP:
        return hand
    overtrumps = [one for one in trumps if one in better]
    if not overtrumps and not duties & MUST_UNDERTRUMP:
        return hand
    choices = overtrumps if overtrumps and duties & MUST_OVERTRUMP else trumps
    return choices[-1:] if duties & TRUMP_WITH_HIGHEST else choices


def test_4_2_to_4_5_any_hand_any_trick_any_duties() -> None:
    rng = random.Random(1)
    kinds = set()
    for _ in range(4000):
        dealt = rng.sample(range(52), rng.randint(2, 10))
        cut = rng.randint(1, min(5, len(dealt) - 1))
        hand, trick = sorted(dealt[:cut]), dealt[cut:]
        trump_suit, duties = rng.randrange(5), sum(duty for duty in DUTIES if rng.random() < 0.7)
        found = allowed(hand, trick, trump_suit, duties)
        assert found == expected(hand, trick, trump_suit, duties), (hand, trick, trump_suit, duties)
        assert found
        kinds.add((len(found) == len(hand), trump_suit == 4, found[0] // 13 == trick[0] // 13))
    assert len(kinds) == 7  # without trumps a void seat plays what it likes: the eighth cannot be


def in_words(hand: str, trick: str, trump_suit: str, duties: int = ALL_DUTIES) -> str:
    """`allowed` for cards as text."""
    ids = [[card(text) for text in cards.split()] for cards in (hand, trick)]
    return text_of(allowed(sorted(ids[0]), ids[1], "CDHSN".index(trump_suit), duties))


def test_b016_follow_suit_looks_at_the_card_led_and_not_at_the_best_card() -> None:
    assert in_words("KC 4C AS", "9C", "S") == "KC"
    assert in_words("KC 4C AS", "9D", "S") == "AS"
    assert in_words("KC 4C AS", "9C 2S", "S") == "4C KC"


def test_each_duty_can_be_lifted_alone() -> None:
    hand = "KC 4C AS 3S"
    assert in_words(hand, "9C", "S", ALL_DUTIES - MUST_BEAT) == "4C KC"
    assert in_words(hand, "9D", "S", 0) == "4C KC 3S AS"
    assert in_words(hand, "9D 8S", "S") == "AS"
    assert in_words(hand, "9D 8S", "S", ALL_DUTIES - MUST_OVERTRUMP) == "3S AS"
    assert in_words("4C 5S 3S", "9D 8S", "S") == "3S 5S"
    assert in_words("4C 5S 3S", "9D 8S", "S", ALL_DUTIES - MUST_UNDERTRUMP) == "4C 3S 5S"
    assert in_words("4C 5S 3S", "9D", "S", ALL_DUTIES | TRUMP_WITH_HIGHEST) == "5S"


def test_duties_are_separate_flags() -> None:
    for chosen in itertools.product([False, True], repeat=len(DUTIES)):
        duties = sum(duty for duty, on in zip(DUTIES, chosen, strict=True) if on)
        assert [has_duty(duties, duty) for duty in DUTIES] == list(chosen)


def winner(trick: str, trump_suit: str) -> str:
    """The winning card, taken one card at a time with `beats`."""
    cards = trick.split()
    best = cards[0]
    for text in cards[1:]:
        beating = as_set(beating_cards(card(best), "CDHSN".index(trump_suit)))
        best = text if beats(card(text), beating) else best
    return best


def test_b017_a_trump_beats_the_suit_led_and_a_higher_trump_beats_it() -> None:
    assert winner("9H AH 2S KH", "S") == "2S"
    assert winner("9H AH 2S KH 7S", "S") == "7S"


def test_b018_winner_depends_on_the_cards_and_the_lead_alone() -> None:
    assert winner("JC KD", "N") == "JC"
    assert winner("TS 9S", "N") == "TS"
    assert winner("9S TS", "N") == "TS"


@pytest.mark.parametrize("trump_suit", "CDHSN")
def test_4_6_highest_trump_wins_else_highest_of_the_suit_led(trump_suit: str) -> None:
    rng = random.Random(2)
    for _ in range(500):
        trick = rng.sample(range(52), rng.randint(2, 8))
        best = best_of(trick, "CDHSN".index(trump_suit))
        assert winner(" ".join(text_of([one]) for one in trick), trump_suit) == text_of([best])
