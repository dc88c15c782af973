"""A session at one table: dealing, people, policies, resuming, and that no observer is told a card it may not see."""

import json
import re
from collections.abc import Iterator

import numpy as np
import pytest
from conftest import EVERY_TABLE, dealt, random_play

from agents.action_words import ActionWords
from agents.policy import PolicyError
from agents.refusals import RefusedError
from agents.sitting import Sitting, seats_of
from agents.story import ALL_HANDS, PUBLIC, Story
from bourre_env import Rules, RulesError
from bourre_env.bourre.actions import action_text
from bourre_env.bourre.snapshot import Snapshot
from bourre_env.notation import parse, write

CARD = re.compile(r"\b[2-9TJQKA][CDHS]\b")
PAGAT = Rules.preset("pagat", num_players=4)


def sitting_of(specs: list[str], *, rules: Rules = PAGAT, seed: int = 5, deals: int | None = None) -> Sitting:
    return Sitting(rules, seats_of(specs, rules), seed=seed, deals=deals)


def play(sitting: Sitting, rng: np.random.Generator) -> Iterator[int | None]:
    """Play the session to its end, people choosing at random; yields the seat to act before each action."""
    while not sitting.is_over:
        sitting.deal()
        while not sitting.is_settled:
            yield sitting.turn
            if sitting.awaits_person:
                sitting.take(sitting.turn, rng.choice(sitting.legal_ids()).item())
            else:
                sitting.answer()
        yield None


# --- dealing


def test_1_6_the_dealer_moves_on_and_pot_and_exemptions_are_carried():
    sitting = sitting_of(["heuristic", "random", "random", "heuristic"], deals=12)
    for _ in play(sitting, np.random.default_rng(1)):
        pass
    records = [finished.record for finished in sitting.finished]
    assert [(record.dealer - records[0].dealer) % 4 for record in records] == [number % 4 for number in range(12)]
    ends = [list(record.replay())[-1] for record in records]
    assert records[0].carry == 0
    for end, following in zip(ends, records[1:], strict=False):
        assert following.carry == end.carry
        assert following.exempt == tuple(seat for seat, flag in enumerate(end.exempt) if flag)
    assert any(record.carry for record in records)
    assert sitting.totals == np.sum([end.chips for end in ends], axis=0).tolist()
    assert parse(write(records)) == records


def test_6_7_at_table_stakes_stacks_are_carried_until_one_seat_has_chips():
    rules = Rules.preset("pagat", num_players=3, stacks="table_stakes")
    sitting = Sitting(rules, seats_of(["random"] * 3, rules), seed=2, buy_in=2)
    for _ in play(sitting, np.random.default_rng(1)):
        pass
    records = [finished.record for finished in sitting.finished]
    assert records[0].stacks == (2, 2, 2)
    assert records[1].stacks == list(records[0].replay())[-1].stacks
    with pytest.raises(RefusedError, match="the session is over"):
        sitting.deal()


def test_the_same_seed_is_the_same_session_and_another_seed_another():
    played = []
    for seed in (5, 5, 6):
        sitting = sitting_of(["random"] * 4, seed=seed, deals=3)
        assert len(list(play(sitting, np.random.default_rng(0)))) > 9
        played.append([finished.record for finished in sitting.finished])
    assert played[0] == played[1] != played[2]


def test_an_unfinished_deal_is_not_dealt_over():
    sitting = sitting_of(["human"] * 4)
    sitting.deal()
    with pytest.raises(RefusedError, match="not over yet"):
        sitting.deal()


def test_seats_are_named_apart_and_wrong_numbers_of_them_refused():
    seats = seats_of(["human", "human", "Ann=human", "heuristic"], PAGAT)
    assert [seat.name for seat in seats] == ["You", "You 2", "Ann", "heuristic"]
    assert [seat.policy is None for seat in seats] == [True, True, True, False]
    with pytest.raises(RulesError, match="2 seats are named; the rules are for 4"):
        seats_of(["human", "random"], PAGAT)
    with pytest.raises(PolicyError, match="did you mean 'heuristic'"):
        seats_of(["human", "heuristik", "random", "random"], PAGAT)


# --- people


def at_first_trick(seed: int) -> Sitting:
    """A table of people who all stay, before the first lead."""
    sitting = sitting_of(["human"] * 4, seed=seed)
    sitting.deal()
    while sitting.view(ALL_HANDS)["phase"] != "play":
        sitting.take(sitting.turn, "stay")
    return sitting


@pytest.mark.parametrize("words", ["stay {0} {1}", "STAY {1} {0}", "draw {0}, {1}"])
def test_a_persons_words_are_read_kindly(words: str):
    sitting = sitting_of(["human"] * 4)
    sitting.deal()
    seat = sitting.turn
    cards = sitting.view(seat)["seats"][seat]["cards"][:2]
    sitting.take(seat, words.format(*(card.lower().replace("t", "10") for card in cards)))
    assert sitting.story.steps[-1].text == f"stay {' '.join(cards)}"


@pytest.mark.parametrize("action", ["", "stay 9Z", "QX", "x" * 10_000, "♥", 400, -1, 52, True, "pass pass"])
def test_what_is_refused_changes_nothing(action: str | int):
    sitting = at_first_trick(3)
    before = sitting.view(ALL_HANDS)
    with pytest.raises(RefusedError) as caught:
        sitting.take(sitting.turn, action)
    assert 20 < len(str(caught.value)) < 400
    assert sitting.view(ALL_HANDS) == before


def test_whose_turn_it_is_is_told():
    sitting = sitting_of(["human"] * 4)
    with pytest.raises(RefusedError, match="wait for the next one"):
        sitting.take(0, "pass")
    sitting.deal()
    with pytest.raises(RefusedError, match=r"it is You.*turn, not yours"):
        sitting.take((sitting.turn + 1) % 4, "pass")


def test_4_2_the_duty_that_a_card_breaks_is_named():
    reasons: set[str] = set()
    for seed in range(30):
        sitting = at_first_trick(seed)
        while not sitting.is_settled:
            seat, legal = sitting.turn, {choice["text"] for choice in sitting.legal()}
            for card in set(sitting.view(seat)["seats"][seat]["cards"]) - legal:
                with pytest.raises(RefusedError) as caught:
                    sitting.take(seat, card)
                reasons.add(str(caught.value).partition(":")[2].partition(".")[0].partition(" and you")[0].strip())
            sitting.take(seat, min(legal))
    assert "follow suit (4" in reasons
    assert "trump it (4" in reasons
    assert any("head the trick" in reason for reason in reasons)


def test_7_2_a_person_may_give_the_deal_up():
    sitting = sitting_of(["human"] * 4)
    sitting.deal()
    seat = sitting.turn
    with pytest.raises(RefusedError, match="only when it is to act"):
        sitting.forfeit((seat + 1) % 4)
    sitting.forfeit(seat)
    view = sitting.view(seat)
    assert view["phase"] == "settled"
    assert view["seats"][seat]["bourre"]
    assert view["seats"][seat]["owes"] == 4
    assert sum(shown["takes"] for shown in view["seats"]) == 4


# --- policies


def test_7_2_a_policy_that_fails_forfeits_and_the_sitting_goes_on():
    sitting = sitting_of(["odd_bots:Raises", "odd_bots:Silent", "odd_bots:PassesInPlay", "random"], deals=6)
    assert len(list(play(sitting, np.random.default_rng(0)))) >= 12
    assert len(sitting.finished) == 6
    assert any("out of ideas" in fault for fault in sitting.faults)
    assert any(finished.record.actions[-1] == "forfeit" for finished in sitting.finished)


def test_looking_and_hints_change_nothing():
    plain, watched = (sitting_of(["random"] * 4, deals=2) for _ in range(2))
    list(play(plain, np.random.default_rng(0)))
    for turn in play(watched, np.random.default_rng(0)):
        if turn is not None:
            hint = watched.hint(watched.seats[0].policy)
            assert list(hint) == [choice["text"] for choice in watched.legal()]
            assert sum(hint.values()) == pytest.approx(1)
    assert [finished.record for finished in plain.finished] == [finished.record for finished in watched.finished]


def test_thoughts_are_the_probabilities_of_the_policy():
    sitting = sitting_of(["random"] * 4, deals=1)
    list(play(sitting, np.random.default_rng(0)))
    story = sitting.finished[0].story()
    for step, thought in story.thoughts.items():
        bars = story.view(ALL_HANDS, step + 1)["thought"]["bars"]
        assert story.steps[step].text in dict(bars)
        assert dict(bars).keys() == thought.probs.keys()
    assert len(story.thoughts) >= 4


# --- what each observer is told


def shown_cards(rules: Rules, tables: list[Snapshot], steps: list, observer: int) -> set[str]:
    """The cards an observer has seen by right: its own, those played, the turn-up; told from the rules of the game."""
    seen = {tables[-1].turn_up} | {card for step in steps if step.does == "play" for card in step.cards}
    for table in tables:
        if observer >= 0 and not (rules.blind_declaring and table.phase == "declare"):
            seen |= set(table.hands[observer])
    return seen


@pytest.mark.parametrize("name", EVERY_TABLE)
def test_no_view_holds_a_card_that_its_observer_has_not_seen(name: str):
    rules = EVERY_TABLE[name]
    specs = ["human", "human", *["heuristic", "random"] * 3][: rules.num_players]
    sitting = sitting_of(specs, rules=rules, deals=2)
    for _ in play(sitting, np.random.default_rng(1)):
        story = sitting.story
        for observer in (PUBLIC, *range(rules.num_players)):
            told = set(CARD.findall(json.dumps(sitting.view(observer))))
            assert told <= shown_cards(rules, story.tables, story.steps, observer)
    for finished in sitting.finished:
        story = finished.story()
        for observer in (PUBLIC, *range(rules.num_players)):
            for step in range(len(story.tables)):
                told = set(CARD.findall(json.dumps(story.view(observer, step))))
                allowed = shown_cards(rules, story.tables, story.steps, observer)
                assert told <= allowed


def test_blind_declaring_3_12_hides_a_seats_own_hand():
    rules = Rules.preset("wiki", num_players=4, blind_declaring=True)
    sitting = sitting_of(["human"] * 4, rules=rules)
    sitting.deal()
    seat = sitting.turn
    assert sitting.view(seat)["seats"][seat]["cards"] == ["--"] * 5
    assert {choice["text"] for choice in sitting.view(seat)["legal"]} == {"pass", "stay"}


def test_only_the_seat_to_act_is_told_legal_actions():
    sitting = sitting_of(["human"] * 4)
    sitting.deal()
    for seat in range(4):
        assert bool(sitting.view(seat)["legal"]) == (seat == sitting.turn)
    assert sitting.view(PUBLIC)["legal"] == []
    assert sitting.view(PUBLIC)["you"] is None


def test_a_view_tells_the_tricks_the_debts_and_who_took_the_pot():
    sitting = at_first_trick(1)
    while not sitting.is_settled:
        sitting.take(sitting.turn, sitting.legal_ids()[-1])
    view = sitting.view(0)
    assert len(view["tricks"]) == 5
    assert [len(trick["cards"]) for trick in view["tricks"]] == [4] * 5
    won = [sum(trick["winner"] == seat for trick in view["tricks"]) for seat in range(4)]
    assert won == [seat["tricks"] for seat in view["seats"]]
    owed = [seat["owes"] for seat in view["seats"]]
    assert owed == [4 if tricks == 0 else 0 for tricks in won]
    assert view["carry"] == sum(owed) + 4 - sum(seat["takes"] for seat in view["seats"])


def test_a_story_of_a_record_is_the_story_that_was_played():
    sitting = at_first_trick(4)
    while not sitting.is_settled:
        sitting.take(sitting.turn, sitting.legal_ids()[0])
    retold = Story.of_record(sitting.record())
    for observer in (ALL_HANDS, PUBLIC, 0, 3):
        assert retold.view(observer) == sitting.story.view(observer)
        assert retold.view(observer, 3) == sitting.story.view(observer, 3)


def test_before_the_first_deal_a_view_names_the_seats():
    view = sitting_of(["human", "heuristic", "random", "random"]).view(0)
    assert view["phase"] == "waiting"
    assert [seat["name"] for seat in view["seats"]] == ["You", "heuristic", "random", "random 2"]


@pytest.mark.parametrize("name", EVERY_TABLE)
def test_the_words_of_actions_are_those_of_hand_records(name: str):
    tables = dealt(EVERY_TABLE[name], 40, seed=3)
    words = ActionWords(tables.rules)
    for _ in random_play(tables, seed=4):
        for row in np.flatnonzero(~tables.settled)[:10]:
            table = tables.records[row]
            legal = np.flatnonzero(tables.legal_action_mask()[row]).tolist()
            texts = [action_text(tables.rules, table, action) for action in legal]
            assert words.of(table, legal) == texts
            assert [words.one(table, action) for action in legal] == texts


# --- resuming


def test_a_sitting_resumes_in_the_middle_of_any_deal_and_goes_on_as_it_would_have():
    specs = ["human", "random", "heuristic", "random"]
    whole = sitting_of(specs, deals=3)
    list(play(whole, np.random.default_rng(3)))
    broken = sitting_of(specs, deals=3)
    rng = np.random.default_rng(3)
    resumed_at = 0
    broken.deal()
    while not broken.is_over:
        if broken.is_settled:
            broken.deal()
        texts = [step.text for step in broken.story.steps]
        again = Sitting.resume(PAGAT, broken.seats, seed=5, opening=broken.opening, actions=texts, deals=3)
        assert again.view(ALL_HANDS) | {"thought": None} == broken.view(ALL_HANDS) | {"thought": None}
        resumed_at += 1
        broken = again
        if broken.awaits_person:
            broken.take(broken.turn, rng.choice(broken.legal_ids()).item())
        else:
            broken.answer()
    assert resumed_at > 20
    assert broken.totals == whole.totals
    assert broken.record() == whole.finished[-1].record
