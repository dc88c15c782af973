"""Actions in words, for someone who sees only an observation.

With printed ids these are the real cards and suits. With relative ones (E6.3) an observation does not tell the suit
that they are counted from: `*` is that suit, `a`, `b` and `c` are the others.
"""

from bourre_env.euchre.actions import NAME, WORDS
from bourre_env.euchre.cards import BENNY, BENNY_TEXT, NUM_CARDS, NUM_RANKS, RANK_NAMES, SUIT_NAMES
from bourre_env.euchre.rules import EuchreRules

RELATIVE_SUITS = "*abc"


def action_text(rules: EuchreRules, action: int) -> str:
    """An action in words: "JH", "pass", "name_H", "turn_down", "alone" or "with_partner".

    Args:
        rules: the rules of the table.
        action: an action id, legal or not.
    """
    suits = RELATIVE_SUITS if rules.card_ids == "relative" else SUIT_NAMES
    if not 0 <= action < rules.num_actions:
        return f"no action at all: ids are 0 to {rules.num_actions - 1}"
    if action == BENNY:
        return BENNY_TEXT
    if action < NUM_CARDS:
        return RANK_NAMES[action % NUM_RANKS] + suits[action // NUM_RANKS]
    return WORDS.get(action) or f"name_{suits[action - NAME]}"
