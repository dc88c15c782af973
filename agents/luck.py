"""The luck of the cards taken out of results, so that fewer deals are needed for the same interval.

A control variate is a number whose mean is known to be 0 and that goes up and down with the result. Here they are the
luck of the draws, as in advantage sum estimators (Zinkevich and others, 2006; White and Bowling's MIVAT, 2009): what
the cards drawn were worth, less what the same number of cards was worth on average before they were seen; and what the
hands first dealt were worth, less their average. Each is exactly 0 on average whatever the policies do, so what is left
when they are regressed out (`agents.variates`) is unbiased.

Shapes: D blocks, N seats, R = D * N rows, C cards of the pack, V kinds of value.
"""

import numpy as np
from numpy.typing import NDArray

from agents.arena import decks_of
from agents.bourre.counts import BourreBlocks
from agents.heuristic import SIDE_ACE_VALUE, TRUMP_VALUES
from bourre_env.bourre.rules import Rules
from bourre_env.cards import NUM_RANKS, NUM_SUITS

_HIGH = 9  # rank of the jack


def card_values() -> NDArray[np.float64]:
    """[V, 52]: what a card is worth by relative id: in the rule bot's opinion, as a trump, and as a high trump."""
    values = np.zeros((3, NUM_SUITS * NUM_RANKS))
    values[0, :NUM_RANKS] = TRUMP_VALUES
    values[0, 2 * NUM_RANKS - 1 :: NUM_RANKS] = SIDE_ACE_VALUE
    values[1, :NUM_RANKS] = 1
    values[2, _HIGH:NUM_RANKS] = 1
    return values


CARD_VALUES = card_values()


def luck(blocks: BourreBlocks, seed: int) -> NDArray[np.float64]:
    """Control variates of the first place, each with mean 0.

    Args:
        blocks: single deals of one experiment.
        seed: of that experiment, which has the packs.

    Returns:
        [D, 3 * V] float64: luck of its own draws, of everybody else's, and of the hands dealt, by kind of value.

    Raises:
        ValueError: blocks of sessions, whose draws are not known one by one.
    """
    if blocks.session > 1:
        raise ValueError("luck is known of single deals only")
    rules, size = blocks.rules, blocks.rules.num_players
    decks = decks_of(rules, seed, blocks.deal_ids, 0, 1).astype(np.int64)
    values = CARD_VALUES[:, relative_cards(decks, rules)]  # [V, D, C]
    own, others = _luck_of_draws(blocks, values)
    first = size * rules.hand_size
    dealt = values[:, :, :first].sum(axis=2) - _mean_of_hands(rules)[:, None]
    return np.concatenate([own, others, dealt]).T


def relative_cards(decks: NDArray[np.int64], rules: Rules) -> NDArray[np.int64]:
    """[D, C] int64: cards of packs as relative ids, up to the order of the suits that are not trumps."""
    trump = decks[:, turn_up_place(rules)] // NUM_RANKS
    suit = (decks // NUM_RANKS - trump[:, None]) % NUM_SUITS
    return suit * NUM_RANKS + decks % NUM_RANKS


def turn_up_place(rules: Rules) -> int:
    """Where in the pack the turn-up is (2.2)."""
    return rules.num_players * rules.hand_size - (rules.turn_up_owner == "dealer")


def _luck_of_draws(
    blocks: BourreBlocks, values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """[V, D] each: luck of the first place's draws and of all others', means over the rotations.

    Seats draw in turn from the eldest on. A draw that needs a reshuffle counts as far as the stock goes: how many cards
    that is, is known before they are.
    """
    size, cards = blocks.rules.num_players, values.shape[2]
    block = np.arange(len(blocks))[:, None]  # of each [D, N] table: block and rotation
    rotation = np.arange(size)[None]
    summed = np.concatenate([np.zeros((*values.shape[:2], 1)), values.cumsum(axis=2)], axis=2)
    place_in_pack = np.full((len(blocks), size), turn_up_place(blocks.rules) + 1)
    own = np.zeros((len(values), len(blocks)))
    others = np.zeros_like(own)
    for turn in range(size):
        seat = (blocks.deal_ids[:, None] + 1 + turn) % size
        place = (seat - rotation) % size
        drawn = np.minimum(blocks.drawn[block, rotation, place], cards - place_in_pack)
        left = np.maximum(cards - place_in_pack, 1)
        came = summed[:, block, place_in_pack + drawn] - summed[:, block, place_in_pack]
        expected = (summed[:, block, cards] - summed[:, block, place_in_pack]) * drawn / left
        own += ((came - expected) * (place == 0)).mean(axis=2)
        others += ((came - expected) * (place != 0)).mean(axis=2)
        place_in_pack = place_in_pack + drawn
    return own, others


def _mean_of_hands(rules: Rules) -> NDArray[np.float64]:
    """[V]: what all hands together are worth on average; the turn-up is a trump, the other cards are any."""
    pack = np.array(rules.pack)
    in_pack = CARD_VALUES[:, pack]  # the first suit of the pack stands for trumps
    turn_up = in_pack[:, pack < NUM_RANKS].mean(axis=1)
    dealt = rules.num_players * rules.hand_size
    is_dealt = rules.turn_up_owner == "dealer"
    mean: NDArray[np.float64] = turn_up * is_dealt + (in_pack.sum(axis=1) - turn_up) * (dealt - is_dealt) / (
        len(pack) - 1
    )
    return mean
