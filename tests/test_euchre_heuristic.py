"""The rule bot of Euchre, at hands where it is plain what sensible people do."""

import numpy as np
import pytest

from agents.arena import play_blocks
from agents.baselines import Random
from agents.euchre.heuristic import HEURISTIC, card_to_shed, tricks_of
from agents.policy import Decision
from bourre_env.euchre.actions import action_id, action_text
from bourre_env.euchre.cards import SUIT_NAMES, card_id, card_set
from bourre_env.euchre.rules import EuchreRules
from bourre_env.euchre.tables import EuchreTables

STRONG = "BN JH JD AH AC"  # with hearts trumps it wins every trick
WEAK = ("9C TC QD 9S TS", "KC QC TD 9D KS", "AD KD QS JS JC")


class Hand:
    """One hand at one table, under either way to number suits."""

    def __init__(self, hands: dict[int, str], up_card: str, *, dealer: int, card_ids: str = "printed") -> None:
        """Deal; what hands lack of five cards is what is left, in the order of the pack."""
        self.rules = EuchreRules(card_ids=card_ids)
        self.tables = EuchreTables(self.rules, 1)
        cards = {seat: [card_id(text) for text in texts.split()] for seat, texts in hands.items()}
        taken = [card_id(up_card), *(card for hand in cards.values() for card in hand)]
        rest = [card for card in range(25) if card not in taken]
        for seat in range(4):
            held = cards.setdefault(seat, [])
            held += [rest.pop(0) for _ in range(5 - len(held))]
        dealt = [cards[(dealer + 1 + place) % 4][place // 4] for place in range(20)]
        self.tables.deal([[*dealt, card_id(up_card), *rest]], dealer)

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


def test_a_hand_is_counted_higher_the_more_and_the_higher_its_trumps_are() -> None:
    hearts = SUIT_NAMES.index("H")
    hands = ("9C TC QD 9S TS", "9H TC QD 9S TS", "AH TC QD 9S TS", "JD TC QD 9S TS", "JD AH QD 9S TS", STRONG)
    counts = [tricks_of(card_set(texts.split()), hearts) for texts in hands]
    assert counts == sorted(counts)
    assert len(set(counts)) == len(counts)
    assert (
        tricks_of(card_set(["AC"]), hearts) > tricks_of(card_set(["KC"]), hearts) > tricks_of(card_set(["QC"]), hearts)
    )


def test_it_orders_up_with_a_strong_hand_passes_with_a_weak_one_and_goes_alone_with_the_best(card_ids: str) -> None:
    assert Hand({0: STRONG}, "9H", dealer=3, card_ids=card_ids).answer == "name_H"
    assert Hand({0: WEAK[0]}, "9H", dealer=3, card_ids=card_ids).answer == "pass"
    alone = Hand({0: STRONG}, "9H", dealer=3, card_ids=card_ids).say("name_H", "9H")
    assert alone.answer == "alone"
    weak = Hand({0: WEAK[0]}, "9H", dealer=3, card_ids=card_ids).say("name_H", "9H")
    assert weak.answer == "with_partner"


def test_the_partner_of_the_dealer_turns_down_only_to_play_alone_with_the_best(card_ids: str) -> None:
    assert Hand({1: STRONG}, "9H", dealer=3, card_ids=card_ids).say("pass").answer == "turn_down"
    assert Hand({1: WEAK[0]}, "9H", dealer=3, card_ids=card_ids).say("pass").answer == "pass"


def test_in_the_second_round_it_names_its_best_suit_if_any_is_good_enough(card_ids: str) -> None:
    passes = ["pass"] * 4
    assert Hand({0: STRONG}, "9S", dealer=3, card_ids=card_ids).say(*passes).answer == "name_H"
    assert Hand({0: WEAK[0]}, "9H", dealer=3, card_ids=card_ids).say(*passes).answer == "pass"


def test_the_dealer_lays_a_lone_plain_card_away_and_keeps_aces_and_trumps() -> None:
    hearts = SUIT_NAMES.index("H")
    assert card_to_shed(card_set(["9H", "JH", "AC", "KC", "TC", "QS"]), hearts) == card_id("QS")
    assert card_to_shed(card_set(["9H", "JH", "KH", "AS", "KC", "TC"]), hearts) == card_id("TC")
    assert card_to_shed(card_set(["9H", "JH", "KH", "AH", "JD", "BN"]), hearts) == card_id("9H")


def test_the_maker_leads_its_highest_trump_and_a_defender_an_ace(card_ids: str) -> None:
    maker = Hand({0: "JH JD 9H QC TS"}, "9S", dealer=3, card_ids=card_ids).say(*["pass"] * 4, "name_H")
    assert maker.say(*["with_partner"] * 4).answer == "JH"
    defender = Hand({0: "9H TH AC QC TS"}, "KH", dealer=3, card_ids=card_ids)
    defender.say("pass", "pass", "pass", "name_H", "KH", *["with_partner"] * 4)
    assert defender.answer == "AC"


def followed(hand: str, *others: str, card_ids: str) -> str:
    """What the dealer, who made hearts trumps, plays last after the first cards of the others, its partner second."""
    table = Hand({3: hand, **dict(enumerate(others))}, "9H", dealer=3, card_ids=card_ids)
    trick = [cards.split()[0] for cards in others]
    return table.say("pass", "pass", "pass", "name_H", "9H", *["with_partner"] * 4, *trick).answer


def test_it_wins_as_cheaply_as_it_can_and_throws_low_when_the_partner_wins_or_nothing_does(card_ids: str) -> None:
    assert followed("AH KH JH AS TS", "QH", "TH", "JD", card_ids=card_ids) == "JH"  # the left bower is the best
    assert followed("AH KH JH AS TS", "QH", "TH", "9S 9D TD QD KD", card_ids=card_ids) == "KH"
    assert followed("AH KH JH QS TS", "JS", "AS", "KS", card_ids=card_ids) == "TS"  # the partner has the ace
    assert followed("AH KH JH QS TS", "KS", "JS", "AS", card_ids=card_ids) == "TS"  # nothing beats it


def test_it_beats_random_play_by_more_than_a_point_a_hand() -> None:
    blocks = play_blocks(EuchreRules(), HEURISTIC, Random(), seed=3, deal_ids=np.arange(1500))
    assert blocks.block_means.mean() > 1.5
    assert blocks.totals("euchred").sum() < 0.2 * blocks.totals("made").sum()
