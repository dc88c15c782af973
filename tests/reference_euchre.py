"""Euchre in plain Python: a second reading of docs/euchre.md that shares no code with the engine.

Cards are texts ("JH", "BN"), actions are words ("pass", "name_H", "turn_down", "alone", "with_partner" or a card).
"""

from dataclasses import dataclass, field

SUITS = "CDHS"
RANKS = "9TJQKA"
SAME_COLOUR = {"C": "S", "S": "C", "D": "H", "H": "D"}
PLAIN_STRENGTH = {rank: strength for strength, rank in enumerate(RANKS)}
BENNY_STRENGTH, RIGHT_STRENGTH, LEFT_STRENGTH = 102, 101, 100


@dataclass(frozen=True)
class HouseRules:
    """The options, by the names that the rules page gives them."""

    benny: bool = True
    partner_alone_only: bool = True
    turn_down_card_to_partner: bool = False
    may_shed_upcard: bool = True
    partner_round2_alone_only: bool = False
    stick_the_dealer: bool = False
    alone_by: str = "anyone"
    allow_lone_defender: bool = True
    alone_scoring: str = "march_only"


def full_pack(benny: bool) -> list[str]:
    return [rank + suit for suit in SUITS for rank in RANKS] + ["BN"] * benny


def counts_as(card: str, trump: str) -> str:
    """The suit a card belongs to once trumps are named."""
    if card == "BN" or (card[0] == "J" and card[1] == SAME_COLOUR[trump]):
        return trump
    return card[1]


def strength(card: str, trump: str) -> int:
    """A number that orders the cards of one suit."""
    if card == "BN":
        return BENNY_STRENGTH
    if card == "J" + trump:
        return RIGHT_STRENGTH
    if card == "J" + SAME_COLOUR[trump]:
        return LEFT_STRENGTH
    return PLAIN_STRENGTH[card[0]]


def best_place(trick: list[str], trump: str) -> int:
    """The place in a trick of the card that wins it."""
    trumps = [place for place, card in enumerate(trick) if counts_as(card, trump) == trump]
    led = counts_as(trick[0], trump)
    rivals = trumps or [place for place, card in enumerate(trick) if counts_as(card, trump) == led]
    return max(rivals, key=lambda place: strength(trick[place], trump))


def playable(hand: list[str], trick: list[str], trump: str) -> list[str]:
    """The cards of a hand that may be played to a trick."""
    if not trick:
        return list(hand)
    led = counts_as(trick[0], trump)
    return [card for card in hand if counts_as(card, trump) == led] or list(hand)


def points_of_hand(makers_tricks: int, maker_alone: bool, defender_alone: bool, scoring: str) -> tuple[int, int]:
    """(makers, defenders) points."""
    if makers_tricks == 5:
        return (4 if maker_alone else 2), 0
    if makers_tricks >= 3:
        return (2 if maker_alone and scoring == "double_all" else 1), 0
    doubled = defender_alone or (scoring == "double_all" and maker_alone)
    return 0, (4 if doubled else 2)


@dataclass
class ReferenceEuchre:
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
    phase: str = "bid1"
    seat: int = -1
    hands: list[list[str]] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    trump: str = ""
    maker: int = -1
    taker: int = -1
    shed: str = ""
    alone: list[int] = field(default_factory=list)
    out: list[int] = field(default_factory=list)
    answers: dict[int, str] = field(default_factory=dict)
    leader: int = -1
    trick: list[tuple[int, str]] = field(default_factory=list)
    past_tricks: list[list[tuple[int, str]]] = field(default_factory=list)
    winners: list[int] = field(default_factory=list)
    points: list[int] = field(default_factory=lambda: [0, 0])

    def __post_init__(self) -> None:
        self.hands = [[], [], [], []]
        for number, card in enumerate(self.deck[:20]):
            self.hands[(self.dealer + 1 + number) % 4].append(card)
        self.up_card = self.deck[20]
        self.unused = self.deck[21:]
        self.phase = "blind" if self.up_card == "BN" else "bid1"
        self.seat = self.dealer if self.phase == "blind" else self.clockwise()[0]

    def clockwise(self) -> list[int]:
        """The seats from the dealer's left on."""
        return [(self.dealer + step) % 4 for step in (1, 2, 3, 4)]

    @property
    def returns(self) -> list[int]:
        difference = self.points[0] - self.points[1]
        return [difference, -difference, difference, -difference]

    def legal(self) -> set[str]:
        """Every legal action in words."""
        if self.phase == "blind":
            return {f"name_{suit}" for suit in SUITS}
        if self.phase == "bid1":
            only_alone = self.rules.partner_alone_only and self.seat == self.clockwise()[1]
            return {"pass", "turn_down" if only_alone else f"name_{self.up_card[1]}"}
        if self.phase == "bid2":
            names = {f"name_{suit}" for suit in SUITS if suit != self.up_card[1]}
            is_stuck = self.rules.stick_the_dealer and self.seat == self.dealer
            return names if is_stuck else names | {"pass"}
        if self.phase == "discard":
            held = set(self.hands[self.seat])
            return held if self.rules.may_shed_upcard else held - {self.up_card}
        if self.phase == "alone":
            return {"alone", "with_partner"}
        if self.phase == "play":
            return set(playable(self.hands[self.seat], [card for _, card in self.trick], self.trump))
        return set()

    def step(self, action: str) -> None:
        """Take a legal action."""
        assert action in self.legal(), (action, self.legal())
        if self.phase in ("blind", "bid1", "bid2"):
            self._call(action)
        elif self.phase == "discard":
            self.hands[self.seat].remove(action)
            self.shed = action
            self._ask()
        elif self.phase == "alone":
            self.answers[self.seat] = action
            if action == "alone":
                self._goes_alone(self.seat)
            self._ask()
        else:
            self._play(action)

    def _call(self, action: str) -> None:
        if self.phase != "blind":
            self.calls.append(action)
        if action == "pass":
            self.seat = (self.seat + 1) % 4
            if len(self.calls) == 4:
                self.phase = "bid2"
            if len(self.calls) == 8:
                self.phase, self.seat = "settled", -1
            return
        self.maker = self.seat
        self.trump = self.up_card[1] if action == "turn_down" else action[-1]
        if action == "turn_down":
            self._goes_alone(self.maker)
            if self.rules.turn_down_card_to_partner:
                self._take_up_card(self.maker)
            else:
                self._ask()
        elif self.phase == "bid2":
            if self.rules.partner_round2_alone_only and self.maker == (self.dealer + 2) % 4:
                self._goes_alone(self.maker)
            self._ask()
        else:
            self._take_up_card(self.dealer)

    def _take_up_card(self, seat: int) -> None:
        self.hands[seat].append(self.up_card)
        self.taker = self.seat = seat
        self.phase = "discard"

    def _goes_alone(self, seat: int) -> None:
        self.alone.append(seat)
        self.out.append((seat + 2) % 4)

    def _ask(self) -> None:
        """Go on to the next seat that is asked whether it plays alone, or to the play."""
        order = self.clockwise()
        if self.rules.alone_by == "maker":
            partner = (self.maker + 2) % 4
            order = [self.maker, *(seat for seat in order if seat not in (self.maker, partner))]
        if not self.rules.allow_lone_defender:
            order = [seat for seat in order if (seat - self.maker) % 2 == 0]
        waiting = [s for s in order if s not in self.answers and s not in self.alone and s not in self.out]
        if waiting:
            self.phase, self.seat = "alone", waiting[0]
            return
        self.phase = "play"
        self.leader = self.seat = next(seat for seat in self.clockwise() if seat not in self.out)

    def _play(self, card: str) -> None:
        self.hands[self.seat].remove(card)
        self.trick.append((self.seat, card))
        if len(self.trick) < 4 - len(self.out):
            self.seat = next(s for s in ((self.seat + step) % 4 for step in (1, 2, 3)) if s not in self.out)
            return
        winner = self.trick[best_place([one for _, one in self.trick], self.trump)][0]
        self.winners.append(winner)
        self.past_tricks.append(self.trick)
        self.trick = []
        self.leader = self.seat = winner
        if len(self.winners) == 5:
            self._score()

    def _score(self) -> None:
        side = self.maker % 2
        tricks = sum(winner % 2 == side for winner in self.winners)
        maker_alone = any(seat % 2 == side for seat in self.alone)
        defender_alone = any(seat % 2 != side for seat in self.alone)
        makers, defenders = points_of_hand(tricks, maker_alone, defender_alone, self.rules.alone_scoring)
        self.points[side], self.points[1 - side] = makers, defenders
        self.phase, self.seat = "settled", -1
