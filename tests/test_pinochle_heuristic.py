"""The rule bot of Pinochle, at hands where it is plain what sensible people do."""

import numpy as np
import pytest

from agents.arena import play_blocks, play_line_ups
from agents.baselines import Random
from agents.pinochle.heuristic import HEURISTIC, TRICK_POINTS, best_suit, hand_worth
from agents.policy import Decision
from bourre_env.pinochle.actions import action_id, action_text
from bourre_env.pinochle.cards import RANK_NAMES, SUIT_NAMES, card_set, deck_ids
from bourre_env.pinochle.observation import layout
from bourre_env.pinochle.rules import PinochleRules
from bourre_env.pinochle.table import PLAY
from bourre_env.pinochle.tables import PinochleTables

RUN_IN_HEARTS = "AH AH TH KH QH JH 9H AS AC AD KS QS"
WEAK = "9C 9C JC QD 9D 9D JS TS 9S KD JD QC"
EVERY_SUIT = np.uint64(15)


class Hand:
    """One hand at one table, under either way to number cards."""

    def __init__(self, hands: dict[int, str], *, dealer: int = 3, card_ids: str = "printed", **options: object) -> None:
        """Deal; what hands lack of twelve cards is what is left, in the order of the pack."""
        self.rules = PinochleRules(card_ids=card_ids, **options)  # type: ignore[arg-type]
        self.tables = PinochleTables(self.rules, 1)
        held = {seat: hands.get(seat, "").split() for seat in range(4)}
        rest = [rank + suit for suit in SUIT_NAMES for rank in RANK_NAMES for _ in range(2)]
        for text in (text for cards in held.values() for text in cards):
            rest.remove(text)
        for cards in held.values():
            cards += [rest.pop(0) for _ in range(12 - len(cards))]
        dealt = [held[(dealer + 1 + place) % 4][place // 4] for place in range(48)]
        self.tables.deal([deck_ids(dealt)], dealer)

    def say(self, *words: str) -> "Hand":
        """Take actions."""
        for word in words:
            self.tables.step([action_id(self.rules, self.tables.records[0], word)])
        return self

    @property
    def answer(self) -> str:
        """What the bot does."""
        packed, legal = self.tables.observe_packed(), self.tables.legal_packed()
        decision = Decision.from_packed(packed, legal, self.tables.to_act, self.rules, np.zeros(1, np.uint64))
        action = int(HEURISTIC.act(decision, np.random.default_rng(0))[0])
        return action_text(self.rules, self.tables.records[0], action)


@pytest.fixture(params=["printed", "relative"])
def card_ids(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_hand_is_worth_more_with_melds_trumps_and_aces() -> None:
    rules, hearts = PinochleRules().record()[0], SUIT_NAMES.index("H")
    hands = (WEAK, WEAK.replace("9S", "AS"), "AH AH TH TH KH " + WEAK[15:], RUN_IN_HEARTS)
    worth = [hand_worth(card_set(texts.split()), hearts, rules, TRICK_POINTS) for texts in hands]
    assert worth == sorted(worth)
    assert len(set(worth)) == len(worth)
    assert best_suit(card_set(RUN_IN_HEARTS.split()), EVERY_SUIT, rules, TRICK_POINTS) == hearts
    assert best_suit(card_set(RUN_IN_HEARTS.split()), np.uint64(1 << 3), rules, TRICK_POINTS) == 3


def test_it_bids_while_the_hand_is_worth_it_and_names_its_best_suit(card_ids: str) -> None:
    strong = Hand({0: RUN_IN_HEARTS}, card_ids=card_ids)
    assert strong.answer == "bid_25"
    assert strong.say("bid_25", "bid_26", "pass", "pass").answer == "bid_27"
    assert strong.say("bid_27", "bid_60").answer == "pass"
    assert Hand({0: WEAK}, card_ids=card_ids).answer == "pass"
    assert Hand({0: RUN_IN_HEARTS}, card_ids=card_ids).say("bid_25", *["pass"] * 3).answer == "name_H"


def test_what_it_bids_does_not_hang_on_the_scale() -> None:
    tenfold = Hand({0: RUN_IN_HEARTS}, scale="counters10", min_bid=250, bid_step=10)
    assert tenfold.answer == "bid_250"
    assert tenfold.say("bid_250", "bid_600", "pass", "pass").answer == "pass"


def test_the_partner_sends_trumps_and_aces_and_gets_the_worst_plain_cards_back(card_ids: str) -> None:
    hand = Hand({0: RUN_IN_HEARTS, 2: "TH AC 9C JC QD KD 9S 9S 9D 9D TD TD"}, card_ids=card_ids, exchange=3)
    hand.say("bid_25", "pass", "pass", "pass", "name_H")
    sent = []
    for _ in range(3):
        sent.append(hand.answer)
        hand.say(hand.answer)
    assert sent == ["TH", "AC", "TD"]
    returned = []
    for _ in range(3):
        returned.append(hand.answer)
        hand.say(hand.answer)
    assert returned == ["TD", "QS", "KS"]


def declared(hands: dict[int, str], card_ids: str) -> Hand:
    """Seat 0 has made hearts trumps and is to lead."""
    return Hand(hands, card_ids=card_ids).say("bid_25", "pass", "pass", "pass", "name_H")


def test_the_declarer_leads_aces_then_draws_trumps(card_ids: str) -> None:
    assert declared({0: "AH KH QH JH 9H 9H AS KS QS JC QC 9D"}, card_ids).answer == "AS"
    assert declared({0: "AH KH QH JH 9H 9H KS KS QS JC QC 9D"}, card_ids).answer == "AH"
    assert declared({0: "TH KH QH JH 9H 9H KS KS QS JC QC 9D"}, card_ids).answer == "9H"


def followed(hand: str, *others: str, card_ids: str) -> str:
    """What seat 3 plays last, after the first cards of the others; seat 1 is its partner."""
    table = declared({3: hand, **dict(enumerate(others))}, card_ids)
    return table.say(*(cards.split()[0] for cards in others)).answer


def test_it_gives_counters_to_its_partner_and_low_cards_to_the_others(card_ids: str) -> None:
    mine = "TS KS JS QC 9C 9C JC 9D JD QD 9D JD"
    assert followed(mine, "QS", "AS", "9S", card_ids=card_ids) == "KS", "the partner has the ace"
    assert followed(mine, "AS", "QS", "9S", card_ids=card_ids) == "JS", "the other side has it"
    assert followed(mine, "JS", "9S", "QS", card_ids=card_ids) == "KS", "a king wins, and brings its point home"


def test_with_nothing_to_follow_it_must_ruff_and_does_so_cheaply(card_ids: str) -> None:
    mine = "AH QH 9C JC QC 9C JC 9D JD QD 9D JD"
    assert followed(mine, "AS", "QS", "9S", card_ids=card_ids) == "QH"


def test_cards_of_both_ids_are_played_alike() -> None:
    printed, relative = (
        play_line_ups(
            PinochleRules(card_ids=ids), [HEURISTIC], np.zeros((300, 4), int), seed=4, deal_ids=np.arange(300)
        )
        for ids in ("printed", "relative")
    )
    assert (printed.returns != relative.returns).any(axis=1).mean() < 0.2  # equals are told apart by their ids


class RandomCards:
    """The bot's calls, and any legal card."""

    name = "random cards"

    def act(self, decision: Decision, rng: np.random.Generator) -> np.ndarray:
        calls, cards = HEURISTIC.act(decision, rng), Random().act(decision, rng)
        plays = layout(PinochleRules()).segments["phase"].start + PLAY
        return np.where(decision.observation[:, plays] > 0, cards, calls)


@pytest.mark.parametrize("preset", ["modern", "classic", "exchange_four", "older"])
def test_it_beats_random_play_and_random_cards(preset: str) -> None:
    rules = PinochleRules.preset(preset)
    blocks = play_blocks(rules, HEURISTIC, Random(), seed=3, deal_ids=np.arange(200))
    assert blocks.block_means.mean() > 40
    blocks = play_blocks(rules, HEURISTIC, RandomCards(), seed=3, deal_ids=np.arange(800))
    assert blocks.block_means.mean() > 3
    assert blocks.totals("forfeited").sum() == 0


def test_it_plays_without_a_memory_of_earlier_tricks() -> None:
    rules = PinochleRules(history=False)
    blocks = play_blocks(rules, HEURISTIC, RandomCards(), seed=3, deal_ids=np.arange(400))
    assert blocks.block_means.mean() > 2
