"""Card ids, sets of cards, relative and real ids, text. Trump suits and cards are checked exhaustively."""

import doctest
import random

import numpy as np
import pytest

from bourre_env import cards
from bourre_env.cards import (
    ALL_CARDS,
    BEATING,
    EMPTY,
    NO_CARD,
    NUM_CARDS,
    RANK_NAMES,
    SUIT_CARDS,
    SUIT_NAMES,
    TRUMPS,
    card_id,
    card_set,
    card_text,
    cards_in,
    cards_text,
    count_cards,
    highest_card,
    holds,
    lowest_card,
    rank_of,
    single,
    suit_of,
    to_real,
    to_relative,
)

EVERY_CARD = range(NUM_CARDS)
RANDOM_SETS = [random.Random(seed).getrandbits(52) for seed in range(300)] + [1 << card for card in EVERY_CARD]


def test_examples_in_the_documentation_run() -> None:
    results = doctest.testmod(cards)
    assert (results.failed, results.attempted > 0) == (0, True)


def test_ids_are_13_times_suit_plus_rank() -> None:
    assert [card_id(rank + suit) for suit in "CDHS" for rank in "23456789TJQKA"] == list(EVERY_CARD)
    assert [(suit_of(card), rank_of(card)) for card in (0, 12, 13, 51)] == [(0, 0), (0, 12), (1, 0), (3, 12)]


def test_text_of_every_card_names_that_card_alone() -> None:
    texts = [card_text(card) for card in EVERY_CARD]
    assert len(set(texts)) == NUM_CARDS
    assert [card_id(text) for text in texts] == list(EVERY_CARD)


@pytest.mark.parametrize("text", ["", "Q", "QSS", "1S", "10S", "SQ", "qs", "Qs", "QX", " S", "Q ", "♠Q"])
def test_text_that_is_no_card_is_refused_in_words(text: str) -> None:
    with pytest.raises(ValueError, match="is not a card; write a rank of 23456789TJQKA and a suit of CDHS"):
        card_id(text)


@pytest.mark.parametrize("card", [-1, 52, 100])
def test_id_that_is_no_card_has_no_text(card: int) -> None:
    with pytest.raises(ValueError, match=f"card id {card} is outside 0..51"):
        card_text(card)


@pytest.mark.parametrize("trump_suit", range(4))
def test_relative_ids_put_trumps_first_and_keep_the_other_suits_in_order(trump_suit: int) -> None:
    order = [trump_suit, *(suit for suit in range(4) if suit != trump_suit)]
    for card in EVERY_CARD:
        expected = 13 * order.index(card // 13) + card % 13
        assert to_relative(card, trump_suit) == expected
        assert to_real(expected, trump_suit) == card


def test_compiled_counting_agrees_with_plain_python_on_every_kind_of_set() -> None:
    for bits in RANDOM_SETS:
        held = [card for card in EVERY_CARD if bits >> card & 1]
        cards_held = np.uint64(bits)
        assert count_cards(cards_held) == len(held)
        assert (lowest_card(cards_held), highest_card(cards_held)) == (held[0], held[-1])
        assert cards_in(cards_held) == held == cards_in(bits)
        assert [card for card in EVERY_CARD if holds(cards_held, card)] == held
    assert count_cards(EMPTY) == 0


def test_sets_of_single_cards_and_suits() -> None:
    assert [int(single(card)) for card in EVERY_CARD] == [1 << card for card in EVERY_CARD]
    assert int(np.bitwise_or.reduce(SUIT_CARDS)) == int(ALL_CARDS) == 2**52 - 1
    assert [int(suit).bit_count() for suit in SUIT_CARDS] == [13] * 4
    assert cards_in(TRUMPS) == list(range(13))


def test_card_sets_as_text() -> None:
    assert cards_text(card_set(["AS", "2C", "TD"])) == "2C TD AS"
    assert cards_text(EMPTY) == ""
    for bits in RANDOM_SETS[:20]:
        assert int(card_set(cards_text(bits).split())) == bits


def test_b017_4_6_cards_that_beat_a_card_are_higher_ones_of_its_suit_and_all_trumps() -> None:
    """Trumps are relative suit 0: every trump beats every side card, and no other suit does."""
    for best in EVERY_CARD:
        beating = set(cards_in(BEATING[best]))
        for card in EVERY_CARD:
            same_suit = card // 13 == best // 13
            assert (card in beating) == (card > best if same_suit else card // 13 == 0)
    assert BEATING[NO_CARD] == ALL_CARDS


def test_names_are_in_the_order_of_the_ids() -> None:
    assert (RANK_NAMES, SUIT_NAMES) == ("23456789TJQKA", "CDHS")
