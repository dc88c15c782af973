"""Pinochle in plain Python: a second reading of docs/pinochle.md that shares no code with the engine.

Cards are texts ("KH"), a hand a list with twins in it twice; actions are words ("pass", "bid_25", "name_H" or a card).
"""

from collections import Counter
from dataclasses import dataclass, field

SUITS = "CDHS"
RANKS = "9JQKTA"
POINTS = {
    "modern": {"A": 1, "T": 1, "K": 1, "last": 1},
    "counters10": {"A": 10, "T": 10, "K": 10, "last": 10},
    "classic": {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2, "last": 10},
    "simplified": {"A": 10, "T": 10, "K": 5, "Q": 5, "last": 10},
}
AROUND = {"A": ("aces", 10), "K": ("kings", 8), "Q": ("queens", 6), "J": ("jacks", 4)}
LEVELS = 40


@dataclass(frozen=True)
class HouseRules:
    """The options, by the names that the rules page gives them."""

    scale: str = "modern"
    min_bid: int = 25
    bid_step: int = 1
    all_pass: str = "dealer_stuck"
    need_marriage: bool = False
    exchange: int = 0
    double_royal_marriage: int = 8
    leader: str = "declarer"
    head: str = "always"
    head_target: str = "winner"
    save_meld: str = "one_trick"


def full_pack() -> list[str]:
    return [rank + suit for suit in SUITS for rank in RANKS for _ in range(2)]


# --- melds ---


def melds(hand: list[str], trump: str, double_royal_marriage: int = 8) -> dict[str, int]:
    """The melds of a hand by name, in points of the modern scale; made by taking sets of cards off it."""
    found: Counter[str] = Counter()
    runs = times(hand, [rank + trump for rank in "ATKQJ"])
    royals = times(hand, ["K" + trump, "Q" + trump]) - runs
    if runs:
        found["double_run" if runs == 2 else "run"] = [15, 150][runs - 1]
    if royals:
        found["royal_marriage"] = [4, double_royal_marriage][royals - 1]
    for suit in SUITS:
        if suit != trump:
            found["marriage"] += 2 * times(hand, ["K" + suit, "Q" + suit])
    found["dix"] = hand.count("9" + trump)
    pinochles = times(hand, ["QS", "JD"])
    if pinochles:
        found["double_pinochle" if pinochles == 2 else "pinochle"] = [4, 30][pinochles - 1]
    for rank, (name, points) in AROUND.items():
        sets = times(hand, [rank + suit for suit in SUITS])
        if sets:
            found[f"{'double_' * (sets == 2)}{name}_around"] = [points, 10 * points][sets - 1]
    return {name: points for name, points in found.items() if points}


def times(hand: list[str], cards: list[str]) -> int:
    """How often all of the cards can be taken off a hand."""
    left, taken = list(hand), 0
    while all(card in left for card in cards):
        for card in cards:
            left.remove(card)
        taken += 1
    return taken


def melded(hand: list[str], trump: str) -> list[str]:
    """The cards shown in melds: of each card as many copies as the class that shows most of them."""
    held = Counter(hand)
    classes = [
        [[rank + trump for rank in "ATKQJ"], *([f"K{suit}", f"Q{suit}"] for suit in SUITS), [f"9{trump}"]],
        [["QS", "JD"]],
        [[rank + suit for suit in SUITS] for rank in AROUND],
    ]
    shown: Counter[str] = Counter()
    for sets in classes:
        in_class: Counter[str] = Counter()
        for cards in sets:
            for card in cards:
                in_class[card] = max(in_class[card], times(hand, cards))
        shown |= in_class
    assert all(shown[card] <= held[card] for card in shown)
    return sorted(shown.elements())


# --- tricks ---


def beats(card: str, other: str, trump: str) -> bool:
    """Whether a card wins against one that was played before it."""
    if card[1] == other[1]:
        return RANKS.index(card[0]) > RANKS.index(other[0])
    return card[1] == trump


def best_place(trick: list[str], trump: str) -> int:
    """The place in a trick of the card that wins it."""
    place = 0
    for later, card in enumerate(trick):
        if beats(card, trick[place], trump):
            place = later
    return place


def playable(hand: list[str], trick: list[str], trump: str, rules: HouseRules) -> set[str]:
    """The cards of a hand that may be played to a trick."""
    if not trick:
        return set(hand)
    led, best = trick[0][1], trick[best_place(trick, trump)]
    following = [card for card in hand if card[1] == led]
    if following:
        if rules.head == "trump_led" and led != trump:
            return set(following)
        target = best
        if rules.head_target == "led_suit":
            target = max((card for card in trick if card[1] == led), key=lambda card: RANKS.index(card[0]))
        heading = [card for card in following if beats(card, target, trump)]
        return set(heading or following)
    trumps = [card for card in hand if card[1] == trump]
    over = [card for card in trumps if best[1] != trump or beats(card, best, trump)]
    return set(over or trumps or hand)


def duty_broken(hand: list[str], trick: list[str], card: str, trump: str, rules: HouseRules) -> str:
    """Which duty a card breaks, or "legal"."""
    if card in playable(hand, trick, trump, rules):
        return "legal"
    if any(other[1] == trick[0][1] for other in hand):
        return "must_beat" if card[1] == trick[0][1] else "must_follow"
    return "must_overtrump" if card[1] == trump else "must_trump"


# --- score ---


def card_points(cards: list[str], scale: str) -> int:
    return sum(POINTS[scale].get(card[0], 0) for card in cards)


def score_of_hand(
    side: int, bid: int, meld: list[int], tricks: list[int], points: list[int], counters: list[int], save_meld: str
) -> list[int]:
    """What a hand changes in the score of each side; `points` are those of tricks, the last one included."""
    saved = {"one_trick": tricks, "one_counter": counters, "none": [1, 1]}[save_meld]
    total = [(meld[one] if saved[one] else 0) + points[one] for one in range(2)]
    if total[side] < bid:
        total[side] = -bid
    return total


@dataclass
class ReferencePinochle:
    """One hand at one table.

    Attributes:
        rules: the options.
        deck: card texts in dealing order.
        dealer: the dealer's seat.
    """

    rules: HouseRules
    deck: list[str]
    dealer: int
    score: tuple[int, int] = (0, 0)
    phase: str = "bid"
    seat: int = -1
    hands: list[list[str]] = field(default_factory=list)
    calls: list[tuple[int, str]] = field(default_factory=list)
    passed: list[int] = field(default_factory=list)
    bid: int = -1
    bidder: int = -1
    trump: str = ""
    sent: list[list[str]] = field(default_factory=lambda: [[], [], [], []])
    melds: list[dict[str, int]] = field(default_factory=lambda: [{}, {}, {}, {}])
    shown: list[list[str]] = field(default_factory=lambda: [[], [], [], []])
    exposed: list[set[str]] = field(default_factory=lambda: [set(), set(), set(), set()])
    taken_back: str = ""
    leader: int = -1
    trick: list[tuple[int, str]] = field(default_factory=list)
    past_tricks: list[list[tuple[int, str]]] = field(default_factory=list)
    winners: list[int] = field(default_factory=list)
    points: list[int] = field(default_factory=lambda: [0, 0])

    def __post_init__(self) -> None:
        self.hands = [[], [], [], []]
        for number, card in enumerate(self.deck):
            self.hands[(self.dealer + 1 + number) % 4].append(card)
        self.seat = (self.dealer + 1) % 4

    @property
    def unit(self) -> int:
        return 1 if self.rules.scale == "modern" else 10

    @property
    def returns(self) -> list[int]:
        difference = self.points[0] - self.points[1]
        return [difference, -difference, difference, -difference]

    @property
    def bid_points(self) -> int:
        return self.rules.min_bid + self.bid * self.rules.bid_step

    @property
    def piles(self) -> list[list[str]]:
        """The cards each side has won."""
        won = list(zip(self.winners, self.past_tricks, strict=True))
        return [[card for winner, trick in won if winner % 2 == side for _, card in trick] for side in range(2)]

    @property
    def trick_points(self) -> list[int]:
        """Points of each side's tricks."""
        points = [card_points(pile, self.rules.scale) for pile in self.piles]
        if len(self.winners) == 12:
            points[self.winners[-1] % 2] += POINTS[self.rules.scale]["last"]
        return points

    @property
    def meld_points(self) -> list[int]:
        """Points of each seat's melds."""
        return [self.unit * sum(shown.values()) for shown in self.melds]

    def legal(self) -> set[str]:
        """Every legal action in words."""
        if self.phase == "bid":
            bids = range(self.bid + 1, LEVELS)
            return {"pass"} | {f"bid_{self.rules.min_bid + level * self.rules.bid_step}" for level in bids}
        if self.phase == "trump":
            hand = self.hands[self.seat]
            married = [suit for suit in SUITS if "K" + suit in hand and "Q" + suit in hand]
            free = not self.rules.need_marriage or not married
            return {f"name_{suit}" for suit in (SUITS if free else married)}
        if self.phase == "exchange":
            return set(self.hands[self.seat])
        if self.phase == "play":
            return playable(self.hands[self.seat], [card for _, card in self.trick], self.trump, self.rules)
        return set()

    def step(self, action: str) -> None:
        """Take a legal action."""
        assert action in self.legal(), (action, self.legal())
        if self.phase == "bid":
            self._call(action)
        elif self.phase == "trump":
            self.trump = action[-1]
            if self.rules.exchange:
                self.phase, self.seat = "exchange", (self.bidder + 2) % 4
            else:
                self._begin_play()
        elif self.phase == "exchange":
            self._send(action)
        else:
            self._play(action)

    def take_back(self, card: str) -> None:
        """A card that is held is played against the duties and goes back."""
        assert card in self.hands[self.seat]
        assert card not in self.legal()
        self.exposed[self.seat].add(card)
        self.taken_back = card

    def _call(self, action: str) -> None:
        self.calls.append((self.seat, action))
        if action == "pass":
            self.passed.append(self.seat)
        else:
            self.bid = (int(action[4:]) - self.rules.min_bid) // self.rules.bid_step
            self.bidder = self.seat
        if len(self.passed) == 4:
            self.phase, self.seat = "settled", -1
            return
        if len(self.passed) == 3 and self.bidder == -1 and self.rules.all_pass == "dealer_stuck":
            self.bid, self.bidder = 0, self.dealer
        if len(self.passed) == 3 and self.bidder != -1:
            self.phase, self.seat = "trump", self.bidder
            return
        waiting = [(self.seat + step) % 4 for step in (1, 2, 3, 4)]
        self.seat = next(seat for seat in waiting if seat not in self.passed)

    def _send(self, card: str) -> None:
        partner = (self.seat + 2) % 4
        self.hands[self.seat].remove(card)
        self.hands[partner].append(card)
        self.sent[self.seat].append(card)
        if len(self.sent[self.seat]) == self.rules.exchange:
            if self.seat == self.bidder:
                self._begin_play()
            else:
                self.seat = partner

    def _begin_play(self) -> None:
        for seat in range(4):
            self.melds[seat] = melds(self.hands[seat], self.trump, self.rules.double_royal_marriage)
            self.shown[seat] = melded(self.hands[seat], self.trump)
        self.phase = "play"
        self.leader = self.seat = self.bidder if self.rules.leader == "declarer" else (self.dealer + 1) % 4

    def _play(self, card: str) -> None:
        self.taken_back = ""
        self.hands[self.seat].remove(card)
        self.trick.append((self.seat, card))
        self.seat = (self.seat + 1) % 4
        if len(self.trick) < 4:
            return
        winner = self.trick[best_place([one for _, one in self.trick], self.trump)][0]
        self.winners.append(winner)
        self.past_tricks.append(self.trick)
        self.trick = []
        self.leader = self.seat = winner
        if len(self.winners) == 12:
            self._score()

    def _score(self) -> None:
        meld = [self.meld_points[side] + self.meld_points[side + 2] for side in range(2)]
        tricks = [sum(winner % 2 == side for winner in self.winners) for side in range(2)]
        counters = [card_points(pile, self.rules.scale) for pile in self.piles]
        self.points = score_of_hand(
            self.bidder % 2, self.bid_points, meld, tricks, self.trick_points, counters, self.rules.save_meld
        )
        self.phase, self.seat = "settled", -1
