"""The one list of action ids, and their text.

33 actions: 0-24 play that card or lay it away; 25 pass; 26-29 make clubs, diamonds, hearts or spades trumps; 30 "I turn
it down"; 31 play alone; 32 play with the partner. With relative ids (E6.3) cards and suits are counted from the
reference suit: that of trumps or, until they are named, that of the up-card.
"""

import numpy as np

from bourre_env.cards import cards_in
from bourre_env.errors import IllegalActionError, action_number
from bourre_env.euchre.cards import (
    BENNY,
    EMPTY,
    NO_SUIT,
    NUM_CARDS,
    NUM_RANKS,
    NUM_SUITS,
    SUIT_NAMES,
    card_id,
    card_text,
    real_card,
    real_suit,
    relative_card,
    relative_cards,
    relative_suit,
)
from bourre_env.euchre.rules import EuchreRules
from bourre_env.jit import njit

PASS = NUM_CARDS
NAME = PASS + 1
TURN_DOWN = NAME + NUM_SUITS
GO_ALONE = TURN_DOWN + 1
WITH_PARTNER = GO_ALONE + 1
NUM_ACTIONS = WITH_PARTNER + 1

WORDS = {PASS: "pass", TURN_DOWN: "turn_down", GO_ALONE: "alone", WITH_PARTNER: "with_partner"}
"""Actions that name neither a card nor a suit."""

_WORDS = WORDS | {NAME + suit: f"name_{letter}" for suit, letter in enumerate(SUIT_NAMES)}
_IDS = {text: action for action, text in _WORDS.items()}


@njit
def reference_suit(table: np.record, rules: np.record) -> int:
    """Rule E6.3: the suit that ids count from; 0 with printed ids, or when there is none."""
    if not rules.relative_ids:
        return 0
    if table.trump_suit != NO_SUIT:
        return table.trump_suit
    return table.up_card // NUM_RANKS if table.up_card < BENNY else 0


@njit
def relative_actions(actions: np.uint64, reference: int) -> np.uint64:
    """Rule E6.3: a set of actions with cards and suits counted from `reference`."""
    if reference == 0:
        return actions
    cards = actions & np.uint64((1 << NUM_CARDS) - 1)
    moved = actions & ~np.uint64((1 << TURN_DOWN) - 1) | actions & np.uint64(1 << PASS)
    for suit in range(NUM_SUITS):
        named = (actions >> np.uint64(NAME + suit)) & np.uint64(1)
        moved |= named << np.uint64(NAME + relative_suit(suit, reference))
    return moved | relative_cards(cards, reference)


@njit
def real_action(action: int, reference: int) -> int:
    """The action with printed ids that a relative id stands for."""
    if action < BENNY:
        return real_card(action, reference)
    if NAME <= action < TURN_DOWN:
        return NAME + real_suit(action - NAME, reference)
    return action


def _reference(rules: EuchreRules, table: np.record) -> int:
    """`reference_suit` for Python, which takes long to hand a record to compiled code."""
    return 0 if rules.card_ids == "printed" else int(reference_suit(table, rules.record()[0]))


def action_text(rules: EuchreRules, table: np.record, action: int) -> str:
    """An action in words: "JH", "pass", "name_H", "turn_down", "alone" or "with_partner"; always in real suits.

    Args:
        rules: the rules of the table.
        table: the record the action belongs to.
        action: an action id.

    Raises:
        IllegalActionError: the action is no integer.
    """
    action = action_number(action)
    if not 0 <= action < NUM_ACTIONS:
        return f"no action at all (ids are 0..{NUM_ACTIONS - 1})"
    real = int(real_action(action, _reference(rules, table)))
    return card_text(real) if real < NUM_CARDS else _WORDS[real]


def action_id(rules: EuchreRules, table: np.record, text: str) -> int:
    """The id of an action written in words; the inverse of `action_text`.

    Raises:
        IllegalActionError: the words name no action.
    """
    reference = _reference(rules, table)
    if isinstance(text, str) and text in _IDS:
        real = _IDS[text]
        is_suit = NAME <= real < TURN_DOWN
        return int(NAME + relative_suit(real - NAME, reference)) if is_suit else real
    try:
        card = card_id(text)
    except ValueError as error:
        raise IllegalActionError(f"{text!r} is no action: {error}, or one of {', '.join(_IDS)}") from None
    if card not in rules.pack:
        raise IllegalActionError(f"{text!r} is no action: the pack has no such card (E1.2)")
    return card if card == BENNY else int(relative_card(card, reference))


def legal_texts(rules: EuchreRules, table: np.record) -> str:
    """The legal actions of the seat to act in words."""
    texts = [action_text(rules, table, action) for action in cards_in(table.legal[0])]
    return ", ".join(texts) if table.legal[0] != EMPTY else "nothing"
