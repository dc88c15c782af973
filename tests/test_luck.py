"""Control variates: the luck of the cards has mean zero, and taking it out changes no mean."""

import numpy as np
import pytest

from agents.arena import decks_of, play_blocks
from agents.baselines import ALWAYS_STAY, HEURISTIC, Random
from agents.luck import CARD_VALUES, luck, relative_cards
from agents.variates import without_luck
from bourre_env import Rules, Tables
from bourre_env.cards import cards_in

PAGAT = Rules.preset("pagat", num_players=4)


@pytest.mark.parametrize("preset", ["pagat", "bicycle", "hoyle", "wiki"])
def test_cards_and_their_worth_are_those_of_the_engine(preset):
    rules = Rules.preset(preset, num_players=4)
    deals = np.arange(200)
    decks = decks_of(rules, 3, deals, 0, 1)
    tables = Tables(rules, 200)
    tables.deal(decks, deals % 4)
    relative = relative_cards(decks.astype(int), rules)
    for row in range(200):
        table = tables.records[row]
        hands = [CARD_VALUES[:, cards_in(int(table.hands[seat]))].sum(axis=1) for seat in range(4)]
        assert sum(hands) == pytest.approx(CARD_VALUES[:, relative[row, :20]].sum(axis=1))
        assert table.stock_next == 20 + (rules.turn_up_owner == "table")


@pytest.mark.parametrize("num_players", [3, 5, 8])
@pytest.mark.parametrize("field", [HEURISTIC, Random()], ids=["heuristic", "random"])
def test_luck_is_zero_on_average(num_players, field):
    """Within four standard errors, of 18 numbers; eight seats that stay with anything draw more than the stock has."""
    rules = Rules.preset("pagat", num_players=num_players)
    blocks = play_blocks(rules, ALWAYS_STAY, field, seed=6, deal_ids=np.arange(4000))
    controls = luck(blocks, 6)
    assert (controls.std(axis=0) > 0).all()
    assert (np.abs(controls.mean(axis=0)) < 4 * controls.std(axis=0) / np.sqrt(len(controls))).all()


def test_luck_of_a_draw_by_hand():
    """With everybody passing but one nobody draws; else the cards that came, less the average of what was left."""
    blocks = play_blocks(PAGAT, HEURISTIC, ALWAYS_STAY, seed=6, deal_ids=np.arange(40))
    controls = luck(blocks, 6)
    decks = decks_of(PAGAT, 6, blocks.deal_ids, 0, 1).astype(int)
    values = CARD_VALUES[1][relative_cards(decks, PAGAT)]  # trumps
    for block, deal in enumerate(blocks.deal_ids):
        own = others = 0.0
        for rotation in range(4):
            place_in_pack = 20
            for turn in range(1, 5):
                place = (int(deal) + turn - rotation) % 4
                drawn = int(blocks.drawn[block, rotation, place])
                stock = values[block, place_in_pack:]
                lucky = stock[:drawn].sum() - drawn * stock.mean()
                place_in_pack += drawn
                own, others = (own + lucky, others) if place == 0 else (own, others + lucky)
        assert controls[block, [1, 4]] == pytest.approx([own / 4, others / 4])


def test_taking_luck_out_is_unbiased_and_narrows_the_interval():
    """A hundred small experiments: their mean is that of the plain results, their spread is smaller."""
    plain, adjusted = [], []
    for seed in range(100):
        blocks = play_blocks(PAGAT, ALWAYS_STAY, HEURISTIC, seed=seed, deal_ids=np.arange(60))
        plain.append(blocks.block_means.mean())
        adjusted.append(without_luck(blocks.block_means, luck(blocks, seed)).mean())
    difference = np.array(adjusted) - np.array(plain)
    assert abs(difference.mean()) < 3 * difference.std(ddof=1) / 10
    large = play_blocks(PAGAT, ALWAYS_STAY, HEURISTIC, seed=1000, deal_ids=np.arange(4000))
    left = without_luck(large.block_means, luck(large, 1000))
    assert left.var() < 0.8 * large.block_means.var()


def test_identical_policies_stay_exactly_even():
    blocks = play_blocks(PAGAT, HEURISTIC, HEURISTIC, seed=1, deal_ids=np.arange(100))
    assert without_luck(blocks.block_means, luck(blocks, 1)) == pytest.approx(np.zeros(100))


def test_luck_is_refused_where_it_is_not_known():
    rules = Rules.preset("pagat_limit", num_players=4)
    with pytest.raises(ValueError, match="single deals only"):
        luck(play_blocks(rules, HEURISTIC, Random(), seed=1, deal_ids=[0], session=2), 1)
    with pytest.raises(ValueError, match="19 blocks are too few for 9 control variates"):
        without_luck(np.zeros(19), np.zeros((19, 9)))
