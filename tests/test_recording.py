"""Deals of the arena, played again and written down."""

import numpy as np
import pytest

from agents.arena import play_line_up
from agents.baselines import ALWAYS_PASS, ALWAYS_STAY, HEURISTIC, Random
from agents.blocks import sides_of_places
from agents.costliest import costliest_deals
from agents.entrants import Entrant
from agents.recording import NotRecordedError, Recorder, record_deal, record_session
from agents.referee import Referee
from agents.results import Results, Terms
from agents.stopping import FixedBlocks
from agents.tournament import Plan, pairs, play_tournament
from bourre_env import Rules
from bourre_env.notation import parse, write

POLICIES = {"heuristic": HEURISTIC, "random": Random(), "always_stay": ALWAYS_STAY, "always_pass": ALWAYS_PASS}
NAMES = list(POLICIES)


def odd(name: str, spec: str = "RaisesAboutClubs"):
    return Entrant(name, f"odd_bots:{spec}").load()


def agree(terms: Terms, policies: dict, line_up: tuple[str, ...], deals: int, referee: Referee | None = None) -> list:
    """Play blocks, then write each of their deals down; the chips must be the same. All records."""
    names = list(dict.fromkeys(line_up))
    size = terms.rules.num_players
    blocks = play_line_up(
        terms.rules,
        [policies[name] for name in names],
        [names.index(name) for name in line_up],
        seed=7,
        deal_ids=np.arange(deals),
        buy_in=terms.buy_in,
        session=terms.session,
        referee=referee,
    )
    records = []
    for deal in range(deals):
        for rotation in range(size):
            session = record_session(terms, policies, line_up, seed=7, deal_id=deal, rotation=rotation)
            ends = [list(record.replay())[-1] for record in session]
            chips = np.sum([end.chips for end in ends], axis=0)
            by_place = chips[sides_of_places(size)[rotation]]
            assert by_place.tolist() == blocks.returns[deal, rotation].tolist()
            assert ends[-1].carry == blocks.carry[deal, rotation]
            assert parse(write(session)) == session
            records += session
    return records


@pytest.mark.parametrize("size", range(2, 9))
def test_a_record_ends_as_the_block_did_at_every_table_size(size):
    line_up = tuple(NAMES[place % 4] for place in range(size))
    records = agree(Terms(Rules.preset("pagat", num_players=size)), POLICIES, line_up, 5)
    assert len({record.dealer for record in records}) == min(size, 5)


@pytest.mark.parametrize("preset", ["wiki", "hoyle", "french3", "pagat_nocinch"])
def test_a_record_ends_as_the_block_did_under_other_rules(preset):
    size = 3 if preset == "french3" else 4
    agree(Terms(Rules.preset(preset, num_players=size)), POLICIES, ("heuristic", *["random"] * (size - 1)), 8)


def test_6_7_a_record_tells_the_stacks_of_table_stakes():
    rules = Rules.preset("pagat", num_players=4, stacks="table_stakes")
    records = agree(Terms(rules, buy_in=3), POLICIES, ("random", "heuristic", "heuristic", "always_stay"), 10)
    assert {record.stacks for record in records} == {(3, 3, 3, 3)}


def test_7_2_a_record_tells_of_forfeits():
    policies = {"odd": odd("odd"), "heuristic": HEURISTIC}
    terms = Terms(Rules.preset("pagat", num_players=4))
    records = agree(terms, policies, ("odd", *["heuristic"] * 3), 10, Referee())
    forfeits = [record for record in records if record.actions[-1] == "forfeit"]
    assert 5 < len(forfeits) < len(records)
    assert " forfeits\n" in write(forfeits[0])


def test_7_2_a_policy_that_was_too_slow_is_not_asked():
    policies = {"slow": odd("slow", "Sleeps"), "heuristic": HEURISTIC}
    terms, line_up = Terms(Rules.preset("pagat", num_players=3)), ("slow", "heuristic", "heuristic")
    record = record_deal(terms, policies, line_up, seed=1, deal_id=4, rotation=1, silenced={"slow"})
    assert record.actions[-1] == "forfeit"


def test_a_session_is_written_down_deal_by_deal_with_what_it_carries():
    terms = Terms(Rules.preset("pagat_limit", num_players=4), session=9)
    records = agree(terms, POLICIES, ("heuristic", "random", "always_stay", "random"), 2)
    assert [record.dealer for record in records[:9]] == [0, 1, 2, 3, 0, 1, 2, 3, 0]
    assert max(record.carry for record in records) > 0
    assert any(record.exempt for record in records)
    with pytest.raises(ValueError, match="use record_session"):
        record_deal(terms, POLICIES, ("random",) * 4, seed=7, deal_id=0, rotation=0)


# --- the deals that cost most ---


def results_of(*specs: str, line_ups=None, blocks: int = 40, session: int = 1, preset: str = "pagat") -> Results:
    entrants = tuple(Entrant(*spec.split("=")) if "=" in spec else Entrant(spec, spec) for spec in specs)
    names = [entrant.name for entrant in entrants]
    terms = Terms(Rules.preset(preset, num_players=3), session)
    return play_tournament(Plan(entrants, terms, tuple(line_ups or pairs(names, 3)), 5, FixedBlocks(blocks)))


def test_the_costliest_deals_are_those_that_others_played_better():
    """Found again by looking at every deal."""
    results = results_of("heuristic", "random", "always_stay", "always_pass")
    antes = {line_up: blocks.earned[:, :, 0] for (_, line_up), blocks in results.blocks.items()}
    costs = {}
    for focal, field, _ in antes:
        if focal == "random":
            others = [antes[line_up] for line_up in antes if line_up[1] == field and line_up[0] != "random"]
            assert len(others) == 2
            costs[field] = (others[0] + others[1]) / 2 - antes["random", field, field]
    by_deal = np.max([cost.max(axis=1) for cost in costs.values()], axis=0)
    found = costliest_deals(results, "random", 10)
    assert [deal.cost for deal in found] == pytest.approx(sorted(by_deal, reverse=True)[:10])
    assert len({deal.deal_id for deal in found}) == 10
    for deal in found:
        assert deal.line_up[0] == "random"
        assert deal.cost == pytest.approx(costs[deal.line_up[1]][deal.deal_id, deal.rotation])
        assert deal.antes == antes[deal.line_up][deal.deal_id, deal.rotation]
        assert deal.seat == deal.rotation


def test_with_two_entrants_the_costliest_deals_are_the_largest_losses():
    results = results_of("heuristic", "random")
    found = costliest_deals(results, "heuristic", 5)
    losses = -results.blocks[5, ("heuristic", "random", "random")].earned[:, :, 0].min(axis=1)
    assert [deal.cost for deal in found] == pytest.approx(sorted(losses, reverse=True)[:5])
    assert {deal.others for deal in found} == {None}


def test_in_line_ups_that_are_no_cells_every_place_of_an_entrant_counts():
    results = results_of("heuristic", "random", line_ups=[("heuristic", "random", "random")[::-1]])
    found = costliest_deals(results, "random", 30)
    antes = results.blocks[5, ("random", "random", "heuristic")].earned
    assert {deal.place for deal in found} == {0, 1}
    for deal in found:
        assert deal.seat == (deal.place + deal.rotation) % 3
        assert deal.cost == -antes[deal.deal_id, deal.rotation, deal.place]
    assert costliest_deals(results, "nobody", 30) == []


# --- recording from results ---


def test_the_recorder_gives_the_deals_of_results():
    results = results_of("heuristic", "random", "odd=odd_bots:RaisesAboutClubs", blocks=12)
    recorder = Recorder(results)
    for (seed, line_up), blocks in results.blocks.items():
        for deal_id in blocks.deal_ids:
            (deal,) = recorder.play(seed, line_up, int(deal_id), 1)
            assert deal.record().dealer == deal_id % 3
            assert list(deal.record().replay())[-1].chips == deal.chips


def test_the_recorder_says_what_it_cannot_record(tmp_path, monkeypatch):
    results = results_of("heuristic", "random", blocks=12)
    line_up = ("heuristic", "random", "random")
    results.entrants["random"] = ("random", "0123")
    with pytest.raises(NotRecordedError, match=r"what stands behind 'random' \(random\) has changed"):
        Recorder(results).play(5, line_up, 0, 0)
    results.entrants["random"] = ("no_module_of_this_name:Bot", "")
    for _ in range(2):
        with pytest.raises(NotRecordedError, match=r"'random' \(no_module_of_this_name:Bot\) cannot be loaded"):
            Recorder(results).play(5, line_up, 0, 0)


def test_the_recorder_notices_a_deal_that_ends_in_another_way():
    results = results_of("heuristic", "random", blocks=12)
    results.blocks[5, ("heuristic", "random", "random")].returns[3, 2] += [1, -1, 0]
    with pytest.raises(NotRecordedError, match=r"deal 3 of heuristic, random, random now ends in another way"):
        Recorder(results).play(5, ("heuristic", "random", "random"), 3, 2)
