"""Tables made from observations: they show what was seen, and nothing else decides what is drawn for them."""

import numpy as np
import pytest
from conftest import EVERY_TABLE, dealt, random_actions

from bourre_env import Rules, Tables
from bourre_env.bourre.recalled import tables_as_seen

TABLE_STAKES = Rules.preset("pagat", num_players=4, stacks="table_stakes")
FEES = Rules.preset("pagat", num_players=5, play_fee=2, draw_fee=3, draw_fee_per="card", ante=3, limit=50)
RULES = EVERY_TABLE | {"stakes": TABLE_STAKES, "fees": FEES}
NUMBERS = np.arange(24)


def played_at_random(tables: Tables, seed: int):
    """The tables at each decision of random play, with the rows that wait."""
    rng = np.random.default_rng(seed)
    while not tables.settled.all():
        yield np.flatnonzero(~tables.settled)
        tables.step(random_actions(tables.legal_action_mask(), rng))


@pytest.mark.parametrize("name", RULES)
def test_worlds_drawn_from_an_observation_are_those_drawn_at_the_table(name: str) -> None:
    """Public fields, the observer's cards and every hidden card that is drawn agree; chips as far as they are seen."""
    rules = RULES[name]
    tables = dealt(rules, len(NUMBERS), seed=4)
    for waiting in played_at_random(tables, seed=5):
        packed, legal = tables.view_rows(waiting)
        seats = tables.to_act[waiting]
        true = tables.take(waiting).reshuffle_unseen(seats, 7, streams=waiting)
        seen = tables_as_seen(rules, packed, seats)
        drawn = seen.reshuffle_unseen(seats, 7, streams=waiting)
        for field in true.records.dtype.names:
            if field not in ("pot", "carry", "returns", "stacks", "trump_suit"):
                assert (true.records[field] == drawn.records[field]).all(), field
        assert (drawn.observe_packed() == packed).all()
        assert (drawn.legal_packed() == legal).all()
        if rules.stacks == "credit":
            assert (drawn.records["returns"] == true.records["returns"]).all()
            assert (drawn.records["pot"] <= true.records["pot"]).all()


@pytest.mark.parametrize("preset", ["pagat", "pagat_limit"])
def test_a_pot_of_antes_alone_is_exact(preset: str) -> None:
    rules = Rules.preset(preset, num_players=4)
    tables = Tables(rules, 1)
    tables.deal([list(range(52))], 0)
    seen = tables_as_seen(rules, tables.observe_packed(), tables.to_act)
    assert seen.pot.tolist() == [4]
    assert seen.carry.tolist() == [0]


def test_what_is_no_observation_is_refused() -> None:
    rules = Rules.preset("pagat", num_players=4)
    tables = dealt(rules, 3, seed=1)
    packed = tables.observe_packed()
    with pytest.raises(ValueError, match=r"packed is uint64 \(3, 12\); uint64 observations of 13 words"):
        tables_as_seen(rules, packed[:, :-1], 0)
    with pytest.raises(ValueError, match="without a phase"):
        tables_as_seen(rules, np.zeros_like(packed), 0)
    with pytest.raises(ValueError, match="seat"):
        tables_as_seen(rules, packed, 4)
