"""Chance as nodes of a tree: every deal comes, each equally often, and no card twice."""

import math
from collections import Counter

import pytest

from bourre_env import PRESETS, Rules, shuffled_decks
from bourre_env.chance import BASE, DIGITS, NOTHING, UNKNOWN, CardChance, PackChance, chance_of

SMALL = ["reduced_2p2c", "reduced_2p3c", "reduced_3p2c"]


def all_deals(chance: CardChance) -> list[bytes]:
    """Every deck there is after dealing, before a card is drawn."""
    decks, complete = [chance.start], []
    while decks:
        deck = decks.pop()
        places = chance.places(deck, 0, NOTHING)
        if not places:
            complete.append(deck)
        else:
            number = chance.num_outcomes(deck, places)
            assert number <= chance.most_outcomes
            decks += [chance.fill(deck, places, outcome) for outcome in range(number)]
    return complete


@pytest.mark.parametrize("name", SMALL)
def test_every_deal_of_a_small_pack_comes_once_up_to_the_names_of_suits(name: str) -> None:
    rules = Rules.preset(name)
    seats, size, cards = rules.num_players, rules.hand_size, len(rules.pack)
    deals = all_deals(CardChance(rules))
    expected = len(rules.ranks) * math.comb(cards - 1, size - 1)
    for seat in range(seats - 1):
        expected *= math.comb(cards - size * (seat + 1), size)
    hands = {
        (deck[seats * size - 1], *(frozenset(deck[first : seats * size : seats]) for first in range(seats)))
        for deck in deals
    }
    assert len(deals) == len(hands) == expected
    assert all(len(set(deck) - {UNKNOWN}) == seats * size for deck in deals)
    assert {deck[seats * size - 1] for deck in deals} == set(rules.pack[: len(rules.ranks)])


def test_a_completed_deck_is_a_pack_that_begins_alike() -> None:
    rules = Rules.preset("reduced_2p2c")
    chance = CardChance(rules)
    for deck in all_deals(chance):
        whole = chance.completed(deck)
        assert sorted(whole) == list(rules.pack)
        assert whole[:4] == deck[:4]


def test_a_draw_brings_each_set_of_unseen_cards_once() -> None:
    rules = Rules.preset("reduced_2p2c")
    chance = CardChance(rules)
    deck = all_deals(chance)[17]
    two_thrown_away = len(rules.pack) + 0b11
    places = chance.places(deck, 4, two_thrown_away)
    assert places == (4, 5)
    served = Counter(
        frozenset(chance.fill(deck, places, outcome)[4:6]) for outcome in range(chance.num_outcomes(deck, places))
    )
    assert set(served.values()) == {1}
    assert len(served) == math.comb(4, 2)
    assert not set(deck[:4]) & {card for cards in served for card in cards}
    assert chance.text(deck, places, 0).count(" ") == 1


def test_a_card_on_the_table_is_turned_up_first_and_belongs_to_no_hand() -> None:
    rules = Rules(
        num_players=2, hand_size=2, ranks="JQKA", suits="CD", turn_up_owner="table", ace_up_dealer_must_stay=False
    )
    deals = all_deals(CardChance(rules))
    assert len(deals) == 4 * math.comb(7, 2) * math.comb(5, 2)
    assert {deck[4] for deck in deals} == set(rules.pack[:4])


def test_packs_are_those_of_the_environment() -> None:
    rules = Rules.preset("pagat", num_players=8)
    chance = PackChance(rules, seed=9)
    deck = chance.start
    for digit in (1, 2, 3, 4):
        places = chance.places(deck, 0, NOTHING)
        assert chance.num_outcomes(deck, places) == BASE
        assert chance.text(deck, places, digit) == f"digit {digit}"
        deck = chance.fill(deck, places, digit)
    number = 1 * BASE**3 + 2 * BASE**2 + 3 * BASE + 4
    assert (len(deck), chance.places(deck, 0, NOTHING)) == (DIGITS, ())
    assert chance.completed(deck) == shuffled_decks(9, [number])[0].tobytes()
    assert chance.number_drawn(70) == 0


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_cards_come_one_set_at_a_time_where_that_is_possible_and_packs_else(name: str) -> None:
    kind = CardChance if name in (*SMALL, "french3") else PackChance
    players = {"num_players": 2} if name == "french3" else {}
    assert isinstance(chance_of(Rules.preset(name, **players), "auto", 0), kind)
    assert isinstance(chance_of(Rules.preset(name, **players), "packs", 0), PackChance)


@pytest.mark.parametrize(
    ("rules", "name", "words"),
    [
        (Rules.preset("pagat"), "cards", "more than 10,000"),
        (Rules.preset("pagat", num_players=8), "cards", "up to 40 cards are drawn from a stock of 12"),
        (Rules.preset("pagat"), "deck", "choose one of 'auto', 'cards', 'packs'"),
    ],
)
def test_an_impossible_kind_of_chance_is_refused_with_its_reason(rules: Rules, name: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        chance_of(rules, name, 0)
