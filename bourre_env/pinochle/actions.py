"""The one list of action ids, and their text.

69 actions: 0-23 play a card of that kind or send it to the partner; 24 pass; 25-64 bid level 0 to 39; 65-68 make clubs,
diamonds, hearts or spades trumps. With relative ids (P7.4) kinds are counted from the trump suit once it is named.
"""

import numpy as np

from bourre_env.cards import cards_in
from bourre_env.errors import IllegalActionError, action_number
from bourre_env.jit import njit
from bourre_env.pinochle.cards import (
    NO_CARD,
    NO_SUIT,
    NUM_KINDS,
    NUM_SUITS,
    SUIT_NAMES,
    kind_id,
    kind_text,
    real_kind,
    relative_kind,
)
from bourre_env.pinochle.rules import NUM_LEVELS, PinochleRules
from bourre_env.pinochle.table import PLAY

PASS = NUM_KINDS
BID = PASS + 1
NAME = BID + NUM_LEVELS
NUM_ACTIONS = NAME + NUM_SUITS

WORD = 64  # bits in a word of the legal set

_NAMES = {f"name_{letter}": NAME + suit for suit, letter in enumerate(SUIT_NAMES)}


@njit
def reference_suit(table: np.record, rules: np.record) -> int:
    """Rule P7.4: the suit that ids of cards count from; 0 with printed ids and until trumps are named."""
    return table.trump_suit if rules.relative_ids and table.trump_suit != NO_SUIT else 0


@njit
def real_action(action: int, reference: int) -> int:
    """The action with printed ids that a relative id stands for."""
    return real_kind(action, reference) if action < NUM_KINDS else action


def _reference(rules: PinochleRules, table: np.record) -> int:
    """`reference_suit` for Python, which takes long to hand a record to compiled code."""
    suit = int(table["trump_suit"])
    return suit if rules.card_ids == "relative" and suit != NO_SUIT else 0


def action_text(rules: PinochleRules, table: np.record, action: int) -> str:
    """An action in words: "KH", "pass", "bid_30" or "name_H"; always in real suits and points.

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
    return call_text(rules, action) or kind_text(int(real_kind(action, _reference(rules, table))))


def call_text(rules: PinochleRules, action: int) -> str:
    """A pass, a bid or a trump suit in words; nothing for a card."""
    if action == PASS:
        return "pass"
    if BID <= action < NAME:
        return f"bid_{rules.bid_of(action - BID)}"
    return f"name_{SUIT_NAMES[action - NAME]}" if action >= NAME else ""


def action_id(rules: PinochleRules, table: np.record, text: str) -> int:
    """The id of an action written in words; the inverse of `action_text`.

    Raises:
        IllegalActionError: the words name no action.
    """
    if isinstance(text, str) and text == "pass":
        return PASS
    if isinstance(text, str) and text in _NAMES:
        return _NAMES[text]
    if isinstance(text, str) and text.startswith("bid_"):
        return BID + _level_of(rules, text)
    try:
        kind = kind_id(text)
    except ValueError as error:
        words = f"one of pass, bid_{rules.min_bid}, {', '.join(_NAMES)}"
        raise IllegalActionError(f"{text!r} is no action: {error}, or {words}") from None
    return int(relative_kind(kind, _reference(rules, table)))


def _level_of(rules: PinochleRules, text: str) -> int:
    """The level of a bid in words."""
    points = int(text[4:]) if text[4:].isdecimal() else -1
    level, rest = divmod(points - rules.min_bid, rules.bid_step)
    if rest or not 0 <= level < NUM_LEVELS:
        raise IllegalActionError(
            f"{text!r} is no action: bids go from {rules.min_bid} to {rules.bid_of(NUM_LEVELS - 1)} in steps of "
            f"{rules.bid_step} (P2.2)"
        )
    return level


def held_kind(rules: PinochleRules, table: np.record, action: int) -> int:
    """The kind that an action would play, where the seat to act plays and holds it; else `NO_CARD`."""
    if table["phase"] != PLAY or not 0 <= action < NUM_KINDS:
        return NO_CARD
    kind = int(real_kind(action, _reference(rules, table)))
    return kind if int(table["hands"][table["to_act"]]) >> kind & 1 else NO_CARD


def legal_texts(rules: PinochleRules, table: np.record) -> str:
    """The legal actions of the seat to act in words."""
    legal = int(table["legal"][0]) | int(table["legal"][1]) << WORD
    return ", ".join(action_text(rules, table, action) for action in cards_in(legal)) or "nothing"
