"""One table of Bourré in the plainest Python: the oracle that the engine is compared with.

Written from the text of RULES.md and sharing no code with the engine. Cards are real ids, 13 * suit + rank (suits
clubs, diamonds, hearts, spades; rank 12 highest); hands and piles are lists. Actions are the engine's action ids. Slow
and obvious on purpose.
"""

from collections.abc import Sequence
from typing import Any

from reference_shuffle import NUM_RANKS, reshuffled

MOST_CHIPS = 2**31 - 1


def hands_dealt(deck: Sequence[int], dealer: int, num_players: int, hand_size: int) -> list[list[int]]:
    """Rule 2.1: each seat's first cards, in the order received."""
    hands: list[list[int]] = [[] for _ in range(num_players)]
    for index in range(num_players * hand_size):
        hands[(dealer + 1 + index) % num_players].append(deck[index])
    return hands


def sure_tricks_in_trumps(held: Sequence[int], outstanding: Sequence[int]) -> int:
    """Rule 5.1: trumps held, less those that the outstanding higher trumps can beat, each beating at most one."""
    standing = sorted(held)
    for enemy in sorted(outstanding):
        weaker = [trump for trump in standing if trump < enemy]
        if weaker:
            standing.remove(weaker[-1])
    return len(standing)


class ReferenceTable:
    """One deal at one table.

    Attributes:
        phase: "declare", "draw", "play" or "settled".
        seat: the seat to act; -1 when settled.
        hands: real ids by seat; empty for a seat that passed.
        stock, passed_pile, discard_pile: cards not dealt, passed hands, other cards thrown away.
        face_up: cards lying face up out of play.
        sits_out: by seat, who must pass for want of chips (6.7).
        trick: (seat, card) in the order played; empty on lead.
        pot: chips on the table; 0 when settled.
        carry: what the deal began with, and from settlement on what lies in the pot before the next antes.
        exempt: by seat, who pays no ante: in this deal, and from settlement on in the next.
        returns: chips won or lost in this deal, by seat.
    """

    def __init__(
        self,
        rules: Any,
        deck: Sequence[int],
        dealer: int,
        *,
        carry: int = 0,
        exempt: Sequence[bool] = (),
        stacks: Sequence[int] | None = None,
    ) -> None:
        """Take the antes and deal.

        Args:
            rules: any object with the fields of `Rules`.
            deck: real ids in dealing order.
            dealer: seat that deals.
            carry: chips in the pot before the antes.
            exempt: a flag for each seat; left out, nobody is exempt.
            stacks: chips each seat has, for table stakes; left out, credit is unlimited.
        """
        self.rules, self.deck, self.dealer = rules, list(deck), dealer
        self.num_players = rules.num_players
        self.seats = list(range(self.num_players))
        self.carry, self.pot = carry, carry
        self.exempt = list(exempt) or [False] * self.num_players
        self.stacks = list(stacks) if stacks is not None and rules.stacks == "table_stakes" else None
        self.returns = [0] * self.num_players
        self._collect_antes()
        self._deal_cards()
        self.stayed, self.passed = [False] * self.num_players, [False] * self.num_players
        self.num_discards, self.tricks_won = [0] * self.num_players, [0] * self.num_players
        self.passed_pile: list[int] = []
        self.discard_pile: list[int] = []
        self.num_reshuffles = 0
        self.trick: list[tuple[int, int]] = []
        self.played: list[int] = []
        self.phase, self.seat = "declare", self._clockwise_from_eldest()[0]

    # --- seats, suits and action ids ----------------------------------------------------------------------------------

    def _clockwise_from_eldest(self) -> list[int]:
        """Rule 1.1: every seat, the eldest first and the dealer last."""
        return [(self.dealer + 1 + step) % self.num_players for step in self.seats]

    def _active_clockwise(self, first: int) -> list[int]:
        """The active seats, clockwise from `first`."""
        around = [(first + step) % self.num_players for step in self.seats]
        return [seat for seat in around if self.stayed[seat]]

    @property
    def next_dealer(self) -> int:
        """Rule 1.6."""
        return (self.dealer + 1) % self.num_players

    @property
    def num_cards(self) -> int:
        """Cards in the pack (1.2)."""
        return len(self.rules.ranks) * len(self.rules.suits)

    @property
    def pass_action(self) -> int:
        """The last action id."""
        return self.num_cards + 2**self.rules.hand_size

    def action_of_card(self, card: int) -> int:
        """Action that plays a card: trumps first, then the other suits in order, ranks of the pack from the lowest."""
        suit, rank = divmod(card, NUM_RANKS)
        others = [other for other in range(len(self.rules.suits)) if other != self.trump_suit]
        position = [self.trump_suit, *others].index(suit)
        return len(self.rules.ranks) * position + rank - (NUM_RANKS - len(self.rules.ranks))

    def action_of_discards(self, seat: int, cards: Sequence[int]) -> int:
        """Action that stays (or draws) and throws `cards` away: mask bit i is the i-th lowest card of the hand."""
        hand = sorted(self.hands[seat], key=self.action_of_card)
        return self.num_cards + sum(2 ** hand.index(card) for card in cards)

    def discards_of_action(self, seat: int, action: int) -> list[int]:
        """Cards that a stay action throws away."""
        mask = action - self.num_cards
        hand = sorted(self.hands[seat], key=self.action_of_card)
        return [card for index, card in enumerate(hand) if mask >> index & 1]

    def is_trump(self, card: int) -> bool:
        """Whether a card is of the trump suit."""
        return card // NUM_RANKS == self.trump_suit

    def _rank_of_letter(self, letter: str) -> int | None:
        """Rank number of a rank letter in this pack; None when the pack lacks it."""
        index = self.rules.ranks.find(letter)
        return None if index < 0 else NUM_RANKS - len(self.rules.ranks) + index

    # --- sections 1 and 2: antes and deal -----------------------------------------------------------------------------

    def _pay(self, seat: int, chips: int) -> int:
        """Debit a seat; rule 6.7: at table stakes no more than it has left. Returns the chips paid."""
        if self.stacks is not None:
            chips = min(chips, self.stacks[seat] + self.returns[seat])
        self.returns[seat] -= chips
        return chips

    def _collect_antes(self) -> None:
        """Rules 1.3 to 1.5; rule 6.7: who owes an ante and has no chips at all sits out."""
        has_chips = [self.stacks is None or self.stacks[seat] > 0 for seat in self.seats]
        self.sits_out = [not self.exempt[seat] and not has_chips[seat] for seat in self.seats]
        for seat in self.seats:
            if not self.exempt[seat]:
                self.pot += self._pay(seat, self.rules.ante)
        if self.pot > MOST_CHIPS:
            raise OverflowError(f"a pot of {self.pot} chips is above {MOST_CHIPS}")

    def _deal_cards(self) -> None:
        """Rules 2.1 to 2.3."""
        dealt = self.num_players * self.rules.hand_size
        self.hands = hands_dealt(self.deck, self.dealer, self.num_players, self.rules.hand_size)
        self.face_up: list[int] = []
        if self.rules.turn_up_owner == "table":
            self.turn_up = self.deck[dealt]
            self.face_up.append(self.turn_up)
            dealt += 1
        else:
            self.turn_up = self.deck[dealt - 1]
        self.trump_suit = self.turn_up // NUM_RANKS
        self.stock = self.deck[dealt:]

    # --- what is legal ------------------------------------------------------------------------------------------------

    def legal_actions(self) -> set[int]:
        """Action ids that the seat to act may choose; none when settled."""
        if self.phase == "play":
            return {self.action_of_card(card) for card in self.legal_cards()}
        if self.phase == "draw":
            return self._legal_discards()
        if self.phase == "declare" and self.sits_out[self.seat]:
            return {self.pass_action}
        if self.phase == "declare":
            staying = {self.num_cards} if self.rules.declare_mode == "two_rounds" else self._legal_discards()
            return staying | {self.pass_action} if self._may_pass(self.seat) else staying
        return set()

    def _dealer_must_stay(self) -> bool:
        """Rules 3.4 and 3.5; an ace turned up on the table is not the dealer's and binds nobody."""
        ace_up = self.turn_up % NUM_RANKS == self._rank_of_letter("A") and self.turn_up not in self.face_up
        return self.rules.dealer_always_stays or (self.rules.ace_up_dealer_must_stay and ace_up)

    def _may_pass(self, seat: int) -> bool:
        """Rule 3.1; only a dealer is ever bound to stay."""
        return seat != self.dealer or not self._dealer_must_stay()

    def _legal_discards(self) -> set[int]:
        """Rules 3.3, 3.6 and 3.10: every set of cards the seat may throw away, as stay actions."""
        actions = set()
        for mask in range(2 ** len(self.hands[self.seat])):
            action = self.num_cards + mask
            cards = self.discards_of_action(self.seat, action)
            if len(cards) <= self._most_discards() and not self._holds_back_turn_up(cards):
                actions.add(action)
        return actions

    def _most_discards(self) -> int:
        """Rule 3.3; and nobody can be served more cards than there are to serve (3.10)."""
        allowed = self.rules.max_discards
        if not isinstance(allowed, int):
            allowed = allowed[self.num_players - 2]
        if self.rules.recycle == "none":
            return min(allowed, len(self.stock))
        return min(allowed, len(self.stock) + len(self.passed_pile) + len(self.discard_pile))

    def _holds_back_turn_up(self, cards: Sequence[int]) -> bool:
        """Rule 3.6: whether the turn-up is among cards that may not include it."""
        return self.turn_up in cards and not self.rules.dealer_may_discard_turn_up

    # --- section 3: declaring and drawing -----------------------------------------------------------------------------

    def step(self, action: int) -> None:
        """Rule 7.1: apply an action of the seat to act, or raise ValueError and change nothing."""
        if action not in self.legal_actions():
            raise ValueError(f"seat {self.seat}, phase {self.phase}: action {action} is illegal")
        if self.phase == "play":
            self._play_card(next(card for card in self.hands[self.seat] if self.action_of_card(card) == action))
        elif self.phase == "draw":
            self._draw(action)
            self._to_next_draw()
        else:
            self._declare(action)
            self._to_next_declaration()

    def _declare(self, action: int) -> None:
        """Rules 3.1, 3.2 and 3.9: pass, or stay and in the same visit draw."""
        if action == self.pass_action:
            self.passed[self.seat] = True
            self.passed_pile += self.hands[self.seat]
            self.hands[self.seat] = []
            return
        self.stayed[self.seat] = True
        self.pot += self._pay(self.seat, self.rules.play_fee)
        if self.rules.declare_mode == "with_draw":
            self._draw(action)

    def _draw(self, action: int) -> None:
        """Rules 3.6, 3.9 and 3.10: throw cards away, be served as many; the discards join the pile after service."""
        seat, thrown = self.seat, self.discards_of_action(self.seat, action)
        kept = [card for card in self.hands[seat] if card not in thrown]
        self.hands[seat] = kept + [self._card_from_stock() for _ in thrown]
        self.num_discards[seat] = len(thrown)
        for card in thrown:
            (self.face_up if card == self.turn_up else self.discard_pile).append(card)
        times = len(thrown) if self.rules.draw_fee_per == "card" else min(len(thrown), 1)
        self.pot += self._pay(seat, self.rules.draw_fee * times)

    def _card_from_stock(self) -> int:
        """Rule 3.10: the next card of the stock; an empty one is first made again from the pile."""
        if not self.stock:
            self.num_reshuffles += 1
            if self.rules.recycle == "passed_first" and self.passed_pile:
                pile, self.passed_pile = self.passed_pile, []
            else:
                pile = self.passed_pile + self.discard_pile
                self.passed_pile, self.discard_pile = [], []
            self.stock = self._reshuffle(pile)
        return self.stock.pop(0)

    def _reshuffle(self, pile: Sequence[int]) -> list[int]:
        """Rule 3.11."""
        return reshuffled(pile, self.deck, self.num_reshuffles)

    def _to_next_declaration(self) -> None:
        """Rules 3.1, 3.7 and 6.7: the next seat speaks; a dealer whom all others left alone may not need to."""
        order = self._clockwise_from_eldest()
        position = order.index(self.seat) + 1
        if position == self.num_players:
            self._end_declaring()
            return
        self.seat = order[position]
        dealer_alone = self.seat == self.dealer and not any(self.stayed) and not self.sits_out[self.dealer]
        if dealer_alone and (self.rules.all_pass == "dealer_collects" or self._dealer_must_stay()):
            self._settle(winner=self.dealer)

    def _end_declaring(self) -> None:
        """Rules 3.1, 3.7 and 3.8: play, draw first, or end the deal without play."""
        active = self._active_clockwise(self.dealer + 1)
        if len(active) == 1:
            self._settle(winner=active[0])
        elif not active:
            self._settle()
        else:
            self.phase = "draw" if self.rules.declare_mode == "two_rounds" else "play"
            self.seat = active[0]

    def _to_next_draw(self) -> None:
        """Rules 3.1 and 4.1: the active seats draw in turn; then the first of them leads."""
        active = self._active_clockwise(self.dealer + 1)
        position = active.index(self.seat) + 1
        if position == len(active):
            self.phase, position = "play", 0
        self.seat = active[position]

    # --- section 4: play ----------------------------------------------------------------------------------------------

    def beats(self, card: int, best: int) -> bool:
        """Rule 4.6: whether a card takes the trick from the best card so far."""
        if card // NUM_RANKS == best // NUM_RANKS:
            return card > best
        return self.is_trump(card)

    def best_of_trick(self) -> tuple[int, int]:
        """Rule 4.6: the seat winning the trick so far, and its card."""
        winner = self.trick[0]
        for seat_and_card in self.trick[1:]:
            if self.beats(seat_and_card[1], winner[1]):
                winner = seat_and_card
        return winner

    def legal_cards(self) -> list[int]:
        """Sections 4 and 5: the cards that the seat to act may play."""
        return self._cards_to_follow_with() if self.trick else self._cards_to_lead()

    def _trumps_of(self, seat: int) -> list[int]:
        """Trumps in a hand, lowest first."""
        return sorted(card for card in self.hands[seat] if self.is_trump(card))

    def _cards_to_lead(self) -> list[int]:
        """Rules 4.7, 4.8, 5.3 and 5.6."""
        trumps = self._trumps_of(self.seat)
        if trumps and self.rules.cinch != "off" and self.has_cinch(self.seat):
            return [trumps[-1]]
        honours = [card for card in trumps if card % NUM_RANKS in [self._rank_of_letter(letter) for letter in "AKQ"]]
        if self.rules.lead_rule == "free" or not honours:
            return self.hands[self.seat]
        first_trick = sum(self.tricks_won) == 0
        return honours if self.rules.lead_rule == "any_honour" and not first_trick else [trumps[-1]]

    def _cards_to_follow_with(self) -> list[int]:
        """Rules 5.4 and 5.5, on top of section 4."""
        cards = self._cards_by_ordinary_duties(self.seat)
        last_to_play = len(self.trick) == sum(self.stayed) - 1
        must_trump = all(self.is_trump(card) for card in cards)
        if self.rules.cinch == "lead_and_follow" and not last_to_play and must_trump and self.has_cinch(self.seat):
            return [self._trumps_of(self.seat)[-1]]
        return cards

    def _cards_by_ordinary_duties(self, seat: int) -> list[int]:
        """Rules 4.2 to 4.5: what may be played to the trick on the table, cinch left aside."""
        hand, trumps = self.hands[seat], self._trumps_of(seat)
        led_suit, best = self.trick[0][1] // NUM_RANKS, self.best_of_trick()[1]
        in_suit = [card for card in hand if card // NUM_RANKS == led_suit]
        if in_suit:
            heading = [card for card in in_suit if self.beats(card, best)]
            return heading if heading and self.rules.must_beat else in_suit
        if not trumps or not self.rules.must_trump:
            return hand
        over = [card for card in trumps if self.beats(card, best)]
        if not over and not self.rules.must_undertrump:
            return hand
        choice = over if over and self.rules.must_overtrump else trumps
        return [max(choice)] if self.rules.trump_with_highest else choice

    def _play_card(self, card: int) -> None:
        """Rules 4.1 and 4.6: play to the trick; a full trick goes to its winner, who leads to the next."""
        self.hands[self.seat].remove(card)
        self.trick.append((self.seat, card))
        self.played.append(card)
        if len(self.trick) < sum(self.stayed):
            self.seat = self._active_clockwise(self.seat + 1)[0]
            return
        self.seat = self.best_of_trick()[0]
        self.tricks_won[self.seat] += 1
        self.trick = []
        if sum(self.tricks_won) == self.rules.hand_size:
            self._settle_by_tricks()

    # --- section 5: cinch ---------------------------------------------------------------------------------------------

    def sure_tricks(self, seat: int) -> int:
        """Rule 5.1."""
        held = self._trumps_of(seat)
        gone = self.played + self.face_up + held
        outstanding = [card for card in self.deck if self.is_trump(card) and card not in gone]
        if self.trick and all(self.is_trump(card) for card in self._cards_by_ordinary_duties(seat)):
            best = self.best_of_trick()[1]
            if self.is_trump(best) and all(card < best for card in held):
                outstanding.append(best)
        return self.tricks_won[seat] + sure_tricks_in_trumps(held, outstanding)

    def has_cinch(self, seat: int) -> bool:
        """Rule 5.2."""
        return self.sure_tricks(seat) > self.rules.hand_size / 2

    # --- section 6: settlement ----------------------------------------------------------------------------------------

    def _within_limit(self, chips: int) -> int:
        """Rule 6.4."""
        return chips if self.rules.limit is None else min(chips, self.rules.limit)

    def _bourre_debt(self) -> int:
        """Rules 6.3 and 6.4: what each bourré owes, counted before the winner is paid."""
        penalty = self.rules.penalty_chips
        debts = {"match_pot": self.pot, "capped": min(self.pot, penalty), "fixed": penalty}
        return self._within_limit(debts[self.rules.bourre_penalty])

    def _settle_by_tricks(self) -> None:
        """Rules 6.1 and 6.2: an outright winner, or the seats that share the lead."""
        active = self._active_clockwise(self.dealer + 1)
        most = max(self.tricks_won)
        leaders = [seat for seat in active if self.tricks_won[seat] == most]
        bourres = [seat for seat in active if self.tricks_won[seat] == 0]
        if len(leaders) == 1 and (self.rules.win_condition == "most" or most > self.rules.hand_size / 2):
            self._settle(winner=leaders[0], bourres=bourres)
        else:
            self._settle(tied=leaders, bourres=bourres)

    def _settle(self, *, winner: int | None = None, tied: Sequence[int] = (), bourres: Sequence[int] = ()) -> None:
        """Rules 6.1 to 6.6: pay out, debit the bourrés, leave the rest as carry."""
        debt = self._bourre_debt()
        divided = len(tied) > 1 and self.rules.tie_rule == "divide"
        paid_each = self._within_limit(self.pot) // len(tied) if divided else self._within_limit(self.pot)
        for seat in tied if divided else [winner] if winner is not None else []:
            self.returns[seat] += paid_each
            self.pot -= paid_each
        self.carry = self.pot + sum(self._pay(seat, debt) for seat in bourres)
        self.exempt = [
            (seat in tied and not divided and self.rules.tied_skip_ante)
            or (seat in bourres and self.rules.bourre_skips_ante)
            for seat in self.seats
        ]
        self.pot, self.phase, self.seat = 0, "settled", -1

    # --- section 7: misplays ------------------------------------------------------------------------------------------

    def forfeit(self) -> None:
        """Rule 7.2: the seat to act is bourré; the other seats still in the deal share the pot, and the deal ends."""
        offender, debt = self.seat, self._bourre_debt()
        on_the_left = [(offender + step) % self.num_players for step in range(1, self.num_players)]
        sharing = [seat for seat in on_the_left if not self.passed[seat] and not self.sits_out[seat]]
        paid = self._within_limit(self.pot) if sharing else 0
        for place, seat in enumerate(sharing):
            self.returns[seat] += paid // len(sharing) + (place < paid % len(sharing))
        self.carry = self.pot - paid + self._pay(offender, debt)
        self.exempt = [seat == offender and self.rules.bourre_skips_ante for seat in self.seats]
        self.pot, self.phase, self.seat = 0, "settled", -1
