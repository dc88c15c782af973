"""OpenSpiel's own Euchre beside ours, under the options it has: who acts, what is legal, what it pays."""

import random
from typing import Any

import numpy as np
import pytest

from bourre_env import EuchreRules, EuchreTables, shuffled_decks
from bourre_env.cards import cards_in
from bourre_env.euchre.actions import NUM_ACTIONS

pyspiel = pytest.importorskip("pyspiel")

HANDS = 2_500  # for each of four sets of options: ten thousand in all
OTHERS = {"Pass": 25, "Clubs": 26, "Diamonds": 27, "Hearts": 28, "Spades": 29, "Alone": 31, "Partner": 32}
QUIET = ("Pass", "Partner")


def our_id(text: str) -> int:
    """Our action for OpenSpiel's words: a suit, "Pass", or suit and rank of a card."""
    return OTHERS[text] if text in OTHERS else 6 * "CDHS".index(text[0]) + "9TJQKA".index(text[1])


def their_id(card: int) -> int:
    """OpenSpiel's number of our card: ranks before suits."""
    return 4 * (card % 6) + card // 6


def dealt_state(game: Any, deck: list[int], dealer: int) -> Any:
    """A hand of OpenSpiel's with our deal; it deals the dealer's card first in each round."""
    state = game.new_initial_state()
    state.apply_action(dealer)
    for place in range(20):
        state.apply_action(their_id(deck[4 * (place // 4) + (place + 3) % 4]))
    state.apply_action(their_id(deck[20]))
    return state


@pytest.mark.parametrize("stick_the_dealer", [True, False])
@pytest.mark.parametrize("allow_lone_defender", [True, False])
def test_openspiels_euchre_is_ours_at_every_decision(stick_the_dealer: bool, allow_lone_defender: bool) -> None:
    options = {"stick_the_dealer": stick_the_dealer, "allow_lone_defender": allow_lone_defender}
    rules = EuchreRules.preset("openspiel", **options)
    game = pyspiel.load_game("euchre", options)
    some_state = dealt_state(game, list(rules.pack), 0)
    words = {action: our_id(some_state.action_to_string(0, action)) for action in range(31)}
    assert set(words.values()) == set(range(NUM_ACTIONS)) - {24, 30}
    rng = random.Random(1)
    tables = EuchreTables(rules, HANDS)
    decks = shuffled_decks(2, np.arange(HANDS), pack=rules.pack)
    tables.deal(decks, np.arange(HANDS) % 4)
    states = [dealt_state(game, deck, row % 4) for row, deck in enumerate(decks.tolist())]
    decisions = 0
    while not tables.settled.all():
        actions = np.zeros(HANDS, np.int64)
        legal, to_act = tables.legal_packed()[:, 0].tolist(), tables.to_act.tolist()
        for row, state in enumerate(states):
            assert state.is_terminal() == (to_act[row] < 0)
            if state.is_terminal():
                continue
            assert state.current_player() == to_act[row]
            theirs = {words[action]: action for action in state.legal_actions()}
            assert sorted(theirs) == cards_in(legal[row])
            quiet = [OTHERS[text] for text in QUIET if OTHERS[text] in theirs]
            actions[row] = quiet[0] if quiet and rng.random() < 0.7 else rng.choice(sorted(theirs))
            state.apply_action(theirs[actions[row]])
            decisions += 1
        tables.step(actions)
    assert decisions > 20 * HANDS
    assert [state.returns() for state in states] == tables.returns.tolist()
    thrown_in = (tables.returns == 0).all(axis=1).sum()
    assert (thrown_in == 0) == stick_the_dealer
