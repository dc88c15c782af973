"""The one list of action ids, and their text (B6.4).

198 actions: 0 draw; 1 redeal; 2 waste to foundation; 3-15 waste to a column; 16-28 a column's exposed card to a
foundation; 29 + 13*i + j from column i to column j, whatever cards fit; and 198 resign, under rules that allow it.
"""

import re

import numpy as np

from bourre_env.bureau.rules import NUM_COLUMNS, BureauRules
from bourre_env.bureau.table import LEGAL_WORDS
from bourre_env.cards import cards_in
from bourre_env.errors import IllegalActionError, action_number

DRAW = 0
REDEAL = 1
WASTE_UP = 2
WASTE_DOWN = WASTE_UP + 1
COLUMN_UP = WASTE_DOWN + NUM_COLUMNS
MOVE = COLUMN_UP + NUM_COLUMNS
RESIGN = MOVE + NUM_COLUMNS * NUM_COLUMNS

_WORDS = {DRAW: "draw", REDEAL: "redeal", WASTE_UP: "waste_to_foundation", RESIGN: "resign"}
_WORDS |= {WASTE_DOWN + column: f"waste_to_col_{column}" for column in range(NUM_COLUMNS)}
_WORDS |= {COLUMN_UP + column: f"col_{column}_to_foundation" for column in range(NUM_COLUMNS)}
_WORDS |= {
    MOVE + NUM_COLUMNS * source + target: f"col_{source}_to_col_{target}"
    for source in range(NUM_COLUMNS)
    for target in range(NUM_COLUMNS)
    if source != target
}
_IDS = {text: action for action, text in _WORDS.items()}
_NUMBER = re.compile(r"(?<=col_)0+(?=\d)")


def action_text(rules: BureauRules, action: int) -> str:
    """An action in words: "draw", "redeal", "waste_to_col_3", "col_0_to_foundation", "col_2_to_col_0" or "resign".

    Args:
        rules: the rules of the table.
        action: an action id.

    Raises:
        IllegalActionError: the action is no integer.
    """
    action = action_number(action)
    if not 0 <= action < rules.num_actions:
        return f"no action at all (ids are 0..{rules.num_actions - 1})"
    return _WORDS.get(action, "from a column to itself")


def action_id(rules: BureauRules, text: str) -> int:
    """The id of an action written in words; the inverse of `action_text`.

    Raises:
        IllegalActionError: the words name no action.
    """
    action = _IDS.get(_NUMBER.sub("", text)) if isinstance(text, str) else None
    if action is None or action >= rules.num_actions:
        raise IllegalActionError(
            f"{text!r} is no action; write draw, redeal, waste_to_foundation, waste_to_col_J, col_I_to_foundation or "
            f"col_I_to_col_J, columns from 0 to {NUM_COLUMNS - 1}{', or resign' if rules.resign else ''}"
        )
    return action


def legal_ids(table: np.record) -> list[int]:
    """The legal actions at a table, ascending."""
    return [64 * word + place for word in range(LEGAL_WORDS) for place in cards_in(table.legal[word])]


def legal_texts(rules: BureauRules, table: np.record) -> str:
    """The legal actions in words."""
    return ", ".join(action_text(rules, action) for action in legal_ids(table)) or "nothing"
