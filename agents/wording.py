"""Actions in words, for someone who sees only an observation.

An observation names suits relative to trumps, so the words do too: `*` is the trump suit, `a`, `b` and `c` are the
other three. "Q*" is the queen of trumps.
"""

from bourre_env.bourre.actions import PASS_TEXT, STAY_TEXT, card_of_action, first_stay, num_actions, pass_action
from bourre_env.bourre.rules import Rules
from bourre_env.cards import NUM_CARDS, NUM_RANKS, RANK_NAMES, cards_in

RELATIVE_SUITS = "*abc"
_HAND_BITS = (1 << NUM_CARDS) - 1
_FEW = 8  # stay actions listed one by one; more are summed up


def card_text(card: int) -> str:
    """Rank and suit of a relative card id."""
    return RANK_NAMES[card % NUM_RANKS] + RELATIVE_SUITS[card // NUM_RANKS]


def cards_text(cards: int) -> str:
    """Texts of a set of relative cards, best suits first and high cards first within a suit."""
    by_suit = sorted(cards_in(cards & _HAND_BITS), key=lambda card: (card // NUM_RANKS, -card))
    return " ".join(card_text(card) for card in by_suit)


def action_text(rules: Rules, hand: int, action: int) -> str:
    """An action in words: "pass", "stay", "stay 2a 4b" (the cards thrown away) or "Q*".

    Args:
        rules: the rules of the table.
        hand: the cards held, as a set of relative ids; other bits are ignored.
        action: an action id, legal or not.
    """
    record = rules.record()[0]
    if not 0 <= action < num_actions(rules):
        return f"no action at all: ids are 0 to {num_actions(rules) - 1}"
    if action == pass_action(record):
        return PASS_TEXT
    if action < first_stay(record):
        return card_text(int(card_of_action(record, action)))
    held = cards_in(hand & _HAND_BITS)
    mask = action - int(first_stay(record))
    thrown = [card_text(card) for place, card in enumerate(held) if mask >> place & 1]
    return " ".join([STAY_TEXT, *thrown])


def legal_texts(rules: Rules, hand: int, legal: int) -> str:
    """Legal actions in words; many ways of staying are summed up.

    Args:
        rules: the rules of the table.
        hand: the cards held, as a set of relative ids.
        legal: bit a is set when action a is legal.
    """
    legal_ids = [action for action in range(num_actions(rules)) if legal >> action & 1]
    stays = [action for action in legal_ids if len(rules.pack) <= action < num_actions(rules) - 1]
    if len(stays) <= _FEW:
        return ", ".join(action_text(rules, hand, action) for action in legal_ids)
    most = max((action - len(rules.pack)).bit_count() for action in stays)
    stay = f"{STAY_TEXT} and throw away up to {most} of {cards_text(hand)}"
    others = [action_text(rules, hand, action) for action in legal_ids if action not in set(stays)]
    return ", ".join([*others, stay])
