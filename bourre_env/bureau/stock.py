"""Stock and waste: section B4. Both are one line of cards in the order they are drawn, the waste first."""

import numpy as np

from bourre_env.bureau.cards import NO_CARD
from bourre_env.bureau.columns import lay_down
from bourre_env.bureau.foundations import put_up
from bourre_env.bureau.repeats import forget_positions
from bourre_env.bureau.table import stock_size, waste_card
from bourre_env.jit import njit


@njit
def may_draw(table: np.record) -> bool:
    """Rule B4.1: whether there is a card to draw."""
    return stock_size(table) > 0


@njit
def may_redeal(table: np.record, rules: np.record) -> bool:
    """Rule B4.3: whether the waste may be turned over to be the stock once more."""
    return stock_size(table) == 0 and table.waste_size > 0 and table.redeals_used < rules.max_passes - 1


@njit
def apply_draw(table: np.record, rules: np.record) -> None:
    """Rule B4.1: the next card of the stock goes to the waste."""
    if table.redeals_used == 0:
        table.unseen[table.line[table.waste_size]] -= 1
    table.waste_size += 1
    forget_positions(table, rules)


@njit
def apply_redeal(table: np.record, rules: np.record) -> None:
    """Rule B4.3: the waste is turned over, not shuffled; nothing is drawn yet."""
    table.waste_size = 0
    table.redeals_used += 1
    forget_positions(table, rules)


@njit
def apply_waste_up(table: np.record, rules: np.record) -> None:
    """Rule B4.2: the card of the waste goes to a foundation."""
    put_up(table, rules, take_waste_card(table))
    forget_positions(table, rules)


@njit
def apply_waste_down(table: np.record, rules: np.record, column: int) -> None:
    """Rule B4.2: the card of the waste goes to a column."""
    lay_down(table, column, take_waste_card(table))
    forget_positions(table, rules)


@njit
def take_waste_card(table: np.record) -> int:
    """Take the last card of the waste out of the line."""
    card = waste_card(table)
    for place in range(table.waste_size, table.line_length):
        table.line[place - 1] = table.line[place]
    table.line_length -= 1
    table.line[table.line_length] = NO_CARD
    table.waste_size -= 1
    return card
