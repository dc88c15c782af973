"""The scripted policies: how they declare, draw, lead and follow, and how strong they are."""

import dataclasses

import numpy as np
import pytest
from conftest import dealt
from decisions import asked, middle_of_deals, rows_of
from hypothesis import given, settings
from hypothesis import strategies as st
from positions import OneTable
from random_play import any_rules

from agents.arena import play_blocks, play_line_ups
from agents.baselines import ALWAYS_PASS, ALWAYS_STAY, HEURISTIC, TWO_TRUMPS, Random, RuleBot
from agents.heuristic import others_have_no_trump, unseen_cards
from agents.policy import Decision
from agents.statistics import estimate
from agents.thresholds import FITTED, PER_PLAYER_IN, THRESHOLDS, thresholds
from bourre_env import Rules, Tables
from bourre_env.bourre.actions import action_text
from bourre_env.bourre.table import PLAY
from bourre_env.cards import TRUMPS, holds
from bourre_env.deck import stream_keys

RNG = np.random.default_rng(0)


def choice(table: OneTable, policy: RuleBot = HEURISTIC) -> str:
    """What a policy does at a table, in words."""
    (action,) = policy.act(asked(table.tables), RNG)
    return action_text(table.rules, table.tables.records[0], int(action))


# --- random ---


def test_random_does_not_depend_on_batching():
    decision = asked(middle_of_deals(4, num_tables=200))
    together = Random().act(decision, RNG)
    rows = np.arange(len(decision))
    alone = [Random().act(rows_of(decision, rows[row : row + 1]), RNG)[0] for row in rows]
    backwards = Random().act(rows_of(decision, rows[::-1]), RNG)[::-1]
    assert together.tolist() == alone == backwards.tolist()


def test_random_takes_every_legal_action_equally_often():
    table = OneTable(["AC KC QC JC TC", "2S 3S 4S 5S AS"], dealer=1)
    draws = 33_000
    decision = asked(table.tables)
    many = Decision.from_packed(
        np.repeat(decision.packed, draws, axis=0),
        np.repeat(decision.legal_packed, draws, axis=0),
        np.repeat(decision.seat, draws),
        decision.rules,
        np.arange(draws, dtype=np.uint64),  # neighbouring keys must do as well as mixed ones
    )
    counts = np.bincount(Random().act(many, RNG), minlength=85)
    legal = np.flatnonzero(decision.legal_action_mask[0])
    assert len(legal) == 33
    assert counts.sum() == counts[legal].sum()
    chi_square = ((counts[legal] - draws / 33) ** 2 / (draws / 33)).sum()
    assert chi_square < 70  # 32 degrees of freedom: beyond 70 once in 8,000 experiments


@pytest.mark.parametrize("num_players", [2, 5, 8])
def test_rule_bots_do_not_depend_on_batching_or_on_seats_shown(num_players):
    decision = asked(middle_of_deals(num_players))
    rows = np.arange(len(decision))
    for bot in (HEURISTIC, ALWAYS_STAY, ALWAYS_PASS):
        together = bot.act(decision, RNG)
        assert together.tolist() == [bot.act(rows_of(decision, rows[row : row + 1]), RNG)[0] for row in rows]
        assert together.tolist() == bot.act(decision.showing(8), RNG).tolist()


# --- declaring ---

FILLER = "2D 3D 4D 5D 6D"  # a hand worth nothing when spades are trumps


def declaring(hand: str, *, declared: list[str], turn_up: str, num_players: int = 5) -> OneTable:
    """A table at which the seat after those that have declared holds `hand`; the last seat deals."""
    speaker = len(declared)
    hands = [""] * num_players
    hands[-1] = turn_up
    hands[speaker] = f"{hand} {turn_up}" if speaker == num_players - 1 else hand
    return OneTable(hands, dealer=num_players - 1).act(*declared)


@pytest.mark.parametrize(
    ("hand", "declared", "turn_up", "stays"),
    [
        ("QS 2D 3D 4D 5D", [], "KS", True),  # first to speak: a bare queen is enough,
        ("JS 2D 3D 4D 5D", [], "AS", False),  # a bare jack under an ace is not,
        ("JS 2D 3D 4D 5D", [], "2S", True),  # under a two it is,
        ("7S 8S 2D 3D 4D", [], "KS", True),  # two trumps are,
        ("AC AD AH 4D 5D", [], "2S", False),  # three side aces are not
        ("2C 3C 4D 5D 6D", ["pass"] * 3, "JS", True),  # right of the dealer, nobody in: anything,
        ("2C 3C 4D 5D 6D", ["pass"] * 3, "KS", True),  # even under a king
        ("QS 3C 4D 5D 6D", ["stay", "stay"], "2S", False),  # against two players: a queen alone is too little,
        ("KS 3C 4D 5D 6D", ["stay", "stay"], "2S", True),  # a king is enough,
        ("QS 3S 4D 5D 6D", ["stay", "stay"], "2S", True),  # or a queen with another trump
        ("2C 3C 4D 5D", ["pass", "pass", "pass", "stay"], "2S", True),  # the dealer always plays against one,
        ("2C 3C 4D 5D", ["pass", "pass", "stay", "stay"], "2S", False),  # against two only with a jack up
        ("2C 3C 4D 5D", ["pass", "pass", "stay", "stay"], "JS", True),
        ("2C 3C 4D 7S", ["pass", "pass", "stay", "stay"], "2S", True),  # or with a second trump,
        ("2C 3C 4D 5D", ["pass", "stay", "stay", "stay"], "JS", False),  # against three not with a jack
        ("2C 3C 4D 5D", ["pass", "stay", "stay", "stay"], "KS", False),  # nor with a king alone,
        ("2C 3C 4D 7S", ["pass", "stay", "stay", "stay"], "KS", True),  # but with a second trump
    ],
)
def test_declares_by_thresholds_at_five_seats(hand, declared, turn_up, stays):
    table = declaring(hand, declared=declared, turn_up=turn_up)
    assert (choice(table) != "pass") is stays


def test_a_sure_trick_always_stays():
    everybody = ["stay"] * 6
    assert THRESHOLDS[8, 1, 6, 0] > 0.6  # more than an ace is worth, so the sure trick decides
    for hand, stays in [("AS 2D 3D 4D 5D", True), ("KS 2D 3D 4D 5D", False)]:
        table = declaring(hand, declared=everybody, turn_up="2S", num_players=8)
        assert (choice(table) != "pass") is stays


def test_the_turn_up_counts_against_a_sure_trick():
    """King and queen are sure of a trick only because one ace cannot beat both; here the ace is the dealer's."""
    table = declaring("KS 2D 3D 4D 5D", declared=["stay"] * 6, turn_up="AS", num_players=8)
    assert choice(table) == "pass"
    table = declaring("KS QS 3D 4D 5D", declared=["stay"] * 6, turn_up="AS", num_players=8)
    assert choice(table) != "pass"


def test_3_4_the_dealer_stays_when_told_to():
    table = OneTable(["", "2C 3C 4D 5D AS"], dealer=1).act("stay")
    assert "pass" not in table.legal()
    assert choice(table, ALWAYS_PASS).startswith("stay")


def test_always_stay_never_passes_and_always_pass_always_does():
    table = OneTable([FILLER, "", "", "2S"], dealer=3)
    assert choice(table, ALWAYS_STAY) == "stay 2D 3D 4D 5D 6D"
    assert choice(table, ALWAYS_PASS) == "pass"


def test_every_situation_of_every_size_has_a_threshold():
    table = thresholds()
    assert table[5, 3, 1].tolist() == list(FITTED[5][3, 1])
    assert table[5, 2, 4].tolist() == pytest.approx([FITTED[5][2, 2][0] + 2 * PER_PLAYER_IN, FITTED[5][2, 2][1]])
    first_to_speak = [table[num_players, num_players - 1, 0].sum() for num_players in range(2, 9)]  # an ace turned up
    assert first_to_speak == sorted(first_to_speak)  # larger tables ask for more
    for num_players in range(2, 9):  # and so does every further player in
        halfway = table[num_players, :num_players, :num_players] @ [1, 0.5]
        assert (np.diff(halfway, axis=1) > -0.02).all()  # fitted, so not without noise


def test_two_trumps_looks_at_trumps_alone():
    for hand, stays in [("2S 3S 4D 5D 6D", True), ("KS 2D 3D 4D 5D", True), ("QS AD AH AC 5D", False)]:
        assert (choice(declaring(hand, declared=[], turn_up="7S"), TWO_TRUMPS) != "pass") is stays


# --- drawing ---


@pytest.mark.parametrize(
    ("hand", "drawn"),
    [
        ("KS 7S AD KD 4H", "stay KD 4H"),  # trumps and side aces stay
        ("KS 7S 8S KD 4H", "stay 4H"),  # with three trumps side kings too
        ("KS 7S 8S AD KD", "stay"),
        ("KS QD JD TD 9D", "stay 9D TD JD QD"),
    ],
)
def test_draws_for_trumps_and_side_aces(hand, drawn):
    assert choice(declaring(hand, declared=["pass"] * 3, turn_up="2S"), ALWAYS_STAY) == drawn


def test_3_3_throws_the_lowest_cards_away_when_not_all_may_go():
    rules = Rules.preset("pagat", num_players=2, max_discards=2)
    table = OneTable(["KS QD 9C TD 3H", "2S"], dealer=1, rules=rules)
    assert choice(table, ALWAYS_STAY) == "stay 9C 3H"


# --- leading ---


def leading(*trick: str, hand: str) -> OneTable:
    """A table of two at which seat 0 is to lead, at first or after a trick; spades are trumps and seat 1 deals."""
    return OneTable([hand, "QD QC QH JH 2S"], dealer=1).act("stay", "stay", *trick)


def test_leads_a_master_trump_with_three_trumps():
    assert choice(leading(hand="AS 3S 4S AD 2D")) == "AS"


def test_leads_a_side_master_of_the_shortest_suit_before_a_lone_master_trump():
    assert choice(leading(hand="AS AD 2D AC 5H")) == "AC"


def test_leads_a_master_trump_once_a_trick_is_won():
    table = leading("AC", "QC", hand="AC AS AD 2D 5H")
    assert choice(table) == "AS"


def test_leads_the_highest_side_card_without_a_master_and_the_lowest_trump_without_one():
    assert choice(leading(hand="QS KD 2D JC 5H")) == "KD"
    assert choice(leading(hand="JS TS 9S 8S 6S")) == "6S"


def test_a_king_becomes_master_when_the_ace_has_been_seen():
    table = OneTable(["AD KC 3C 4H 2H", "QD QC QH JH 2S"], dealer=1).act("stay", "stay", "AD", "QD")
    assert choice(table) == "KC"  # the highest side card, not a master
    table = OneTable(["AD KD KC 4H 2H", "QD QC QH JH 2S"], dealer=1).act("stay", "stay", "AD", "QD")
    assert choice(table) == "KD"  # now a master, and KC is not


@pytest.mark.parametrize("dealer_says", ["pass", "stay"])
def test_a_turn_up_that_its_dealer_passed_with_is_out_of_play(dealer_says):
    table = OneTable(["QS JD 3C 4H 2H", "9D QC QH JH 2S", "KS"], dealer=2).act("stay", "stay", dealer_says)
    unseen = unseen_cards(asked(table.tables).packed[0], table.rules.record()[0])
    king_of_trumps = 11
    assert holds(unseen, king_of_trumps) is (dealer_says == "stay")


def test_b164_leads_a_side_winner_first_when_all_others_have_shown_no_trumps():
    """Three tricks left; no rival can follow a trump lead: the last trump is a sure trick whenever it is played."""
    table = OneTable(["AS KS 3S AD 5H", "QD QC QH JH TH", "JD JC 9H 8H 2S"], dealer=2).act("stay", "stay", "stay")
    table.act("AS", "QC", "2S", "KS", "QH", "JC")
    assert table.legal() == {"3S", "AD", "5H"}
    assert choice(table) == "AD"


def test_b164_counts_the_trumps_that_are_gone():
    """Three tricks left; all other trumps have been played, so again the side winner goes first."""
    rules = Rules.preset("pagat", num_players=2, ranks="TJQKA")
    table = OneTable(["AS TS QC QD QH", "JS KS AD TH QS"], dealer=1, rules=rules).act("stay", "stay")
    table.act("AS", "JS", "TS", "KS")
    assert table.legal() == {"QS", "AD", "TH"}
    assert choice(table) == "AD"


def test_b164_a_master_trump_goes_first_while_a_rival_may_ruff():
    rules = Rules.preset("pagat", num_players=2, ranks="TJQKA")
    table = OneTable(["AS TS QC QD QH", "KS AD AC TH JS"], dealer=1, rules=rules).act("stay", "stay")
    table.act("AS", "JS", "QC", "AC")
    assert table.legal() == {"KS", "AD", "TH"}
    assert choice(table) == "KS"


@settings(max_examples=40, deadline=None)
@given(rules=any_rules(), seed=st.integers(0, 2**32))
def test_what_the_rule_bot_infers_is_true(rules, seed):
    """No rival holds a card it counts as gone, and nobody it takes for out of trumps has one."""
    rules = dataclasses.replace(rules, blind_declaring=False)
    record, tables = rules.record()[0], dealt(rules, 16, seed)
    for step in range(rules.max_decisions):
        words, hands = tables.observe_packed(), tables.hidden_packed()
        for row in np.flatnonzero(tables.records["phase"] == PLAY):
            unseen = np.uint64(unseen_cards(words[row], record))
            rivals = hands[row, 1 : rules.num_players]
            assert not (np.bitwise_or.reduce(rivals) & ~unseen)
            if others_have_no_trump(words[row], record, unseen):
                assert not (rivals & TRUMPS).any()
        tables.step(act_by_turns(tables, step))
    assert tables.settled.all()


def test_6_7_a_seat_without_chips_passes_whatever_the_bot():
    rules = Rules.preset("pagat", num_players=2, stacks="table_stakes")
    table = OneTable(["AS KS QS JS TS", ""], dealer=1, rules=rules, stacks=[0, 9])
    assert [choice(table, bot) for bot in (HEURISTIC, ALWAYS_STAY, ALWAYS_PASS)] == ["pass"] * 3


def act_by_turns(tables: Tables, step: int) -> np.ndarray:
    """Random and rule-bot actions in turn, so that deals are played out and still vary."""
    rows = np.flatnonzero(tables.to_act >= 0)
    actions = np.zeros(tables.num_tables, np.int64)
    if rows.size:
        decision = asked(tables)
        decision.key = stream_keys(step, rows)
        actions[rows] = (Random(), ALWAYS_STAY)[step % 2].act(decision, RNG)
    return actions


# --- following ---


def following(hand: str, *, lead: str, leader: str) -> OneTable:
    """A table of two at which seat 1, the dealer, follows a lead of seat 0; spades are trumps."""
    return OneTable([leader, hand], dealer=1).act("stay", "stay", lead)


def test_follows_with_the_lowest_card_that_wins():
    assert choice(following("KC QC TC 2D 2S", lead="JC", leader="JC 3D 4D 5D 6D")) == "QC"


def test_throws_the_lowest_card_when_it_cannot_win():
    assert choice(following("9C 8C TC 2D 2S", lead="JC", leader="JC 3D 4D 5D 6D")) == "8C"
    assert choice(following("QD 9H 7C TC 2S", lead="AS", leader="AS 3D 4D 5D 6D")) == "2S"  # bound to follow


def test_throws_a_plain_card_before_a_trump_where_it_may():
    free = {"must_trump": False, "must_overtrump": False, "must_undertrump": False}
    rules = Rules.preset("pagat", num_players=3, **free)
    table = OneTable(["AC 3D 4D 5D 6D", "KS 8D 9D TD JD", "QD 9H 7H 2S 3S"], dealer=2, rules=rules)
    table.act("stay", "stay", "stay", "AC", "KS")  # seat 1 ruffs, and seat 2 has no higher trump
    assert choice(table) == "7H"


# --- under any rules, at any table ---


@settings(max_examples=60, deadline=None)
@given(rules=any_rules())
def test_all_policies_play_legally_under_any_rules(rules):
    policies = [HEURISTIC, ALWAYS_STAY, ALWAYS_PASS, Random()]
    deals = np.arange(8)
    line_ups = (np.arange(8)[:, None] + np.arange(rules.num_players)) % 4
    stakes = {"buy_in": 2} if rules.stacks == "table_stakes" else {}
    results = play_line_ups(rules, policies, line_ups, seed=3, deal_ids=deals, **stakes)
    assert (results.returns.sum(axis=1) + results.carry == 0).all()


@pytest.mark.parametrize("num_players", range(2, 9))
def test_heuristic_beats_simple_bots_at_every_table_size(num_players):
    """At two seats always staying is what it does itself."""
    rules = Rules.preset("pagat", num_players=num_players)
    for field, at_least in [(Random(), 0.5), (ALWAYS_PASS, 0.5), (TWO_TRUMPS, 0.02), (ALWAYS_STAY, 0.0)]:
        blocks = play_blocks(rules, HEURISTIC, field, seed=11, deal_ids=np.arange(2000))
        assert estimate(blocks.block_means, seed=0).low > at_least or (num_players == 2 and field is ALWAYS_STAY)


def test_heuristic_is_as_strong_as_rule_bots_are_known_to_be():
    """A tuned rule bot gains over an ante against random seats; always staying loses about 0.2 against it."""
    rules = Rules.preset("pagat", num_players=4)
    deals = np.arange(3000)
    against_random = estimate(play_blocks(rules, HEURISTIC, Random(), seed=11, deal_ids=deals).block_means, seed=0)
    against_stay = estimate(play_blocks(rules, HEURISTIC, ALWAYS_STAY, seed=11, deal_ids=deals).block_means, seed=0)
    stay_against = estimate(play_blocks(rules, ALWAYS_STAY, HEURISTIC, seed=11, deal_ids=deals).block_means, seed=0)
    assert against_random.low > 1.0
    assert against_stay.low > 0.2
    assert -0.35 < stay_against.low < stay_against.high < -0.1


def test_shares_of_seats_that_play_at_five_seats():
    """Sensible play: about 0.44 of non-dealers and 0.80 of dealers stay."""
    rules = Rules.preset("pagat", num_players=5)
    deals = np.arange(3000)
    results = play_line_ups(rules, [HEURISTIC], np.zeros((3000, 5), np.int64), seed=2, deal_ids=deals)
    stays = results.counts["passed"] == 0
    is_dealer = np.arange(5) == (deals % 5)[:, None]
    assert 0.38 < stays[~is_dealer].mean() < 0.50
    assert 0.70 < stays[is_dealer].mean() < 0.95
