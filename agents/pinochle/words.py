"""Actions in words, for someone who sees only an observation.

The observation tells the trump suit as printed (P7.4), so these are always the real cards and suits.
"""

import numpy as np
from numpy.typing import NDArray

from bourre_env.bits import flagged
from bourre_env.pinochle import observation as at
from bourre_env.pinochle.actions import call_text
from bourre_env.pinochle.cards import NUM_SUITS, kind_text, real_kind
from bourre_env.pinochle.rules import PinochleRules


def action_text(rules: PinochleRules, row: NDArray[np.uint64], action: int) -> str:
    """An action in words: "KH", "pass", "bid_30" or "name_H".

    Args:
        rules: the rules of the table.
        row: [W] uint64, what the seat to act may know.
        action: an action id, legal or not.
    """
    if not 0 <= action < rules.num_actions:
        return f"no action at all: ids are 0 to {rules.num_actions - 1}"
    trump = int(flagged(row[at.HAND], at.TRUMP_SUIT, NUM_SUITS))
    reference = trump if rules.card_ids == "relative" and trump < NUM_SUITS else 0
    return call_text(rules, action) or kind_text(int(real_kind(action, reference)))
