"""A session at one table between people and policies, whatever shows it: a terminal, a browser, a test.

    sitting = Sitting(rules, seats_of(["human", "heuristic"], rules), seed=1)
    sitting.deal()
    while not sitting.is_settled:
        if sitting.awaits_person:
            sitting.take(sitting.turn, input())  # RefusedError tells why, and nothing has changed
        else:
            sitting.answer()  # the policy to act decides
    sitting.view(0)  # what seat 0 sees, plain data

The pack, the first dealer and the random numbers of policies depend on the seed and the number of the deal alone. The
dealer moves on, and the pot, the exemptions and, at table stakes, the stacks are carried on (1.6, 6.5, 6.6, 6.7).
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.action_words import ActionWords
from agents.arena import ActionStreams, stream_seed
from agents.policy import Decision, Policy, PolicyFailedError, ask_probs, tells_probs
from agents.referee import strict_answer
from agents.refusals import RefusedError, read_action, refusal
from agents.seating import Seat as Seat
from agents.seating import seats_of as seats_of  # whoever sits people down needs both
from agents.story import ALL_HANDS, PUBLIC, Story, Thought, View
from bourre_env.bits import legal_bits
from bourre_env.bourre.actions import num_actions
from bourre_env.bourre.deals import can_deal_again
from bourre_env.bourre.options import stacks_bought
from bourre_env.bourre.rules import Rules
from bourre_env.bourre.tables import Tables
from bourre_env.cards import card_text
from bourre_env.deck import shuffled_decks
from bourre_env.errors import IllegalActionError, RulesError
from bourre_env.notation import FORFEIT_TEXT, DealRecord

PACK_STREAM = "sitting: packs of the deals"
DEALER_STREAM = "sitting: first dealer"


@dataclass(frozen=True, slots=True)
class Finished:
    """A deal that is over.

    Attributes:
        record: the hand record.
        thoughts: of the policies, by step.
    """

    record: DealRecord
    thoughts: dict[int, Thought] = field(default_factory=dict)

    def story(self) -> Story:
        """The deal step by step."""
        return Story.of_record(self.record, self.thoughts)


@dataclass(frozen=True, slots=True)
class Opening:
    """What a deal of a sitting begins with; enough, with the seed, to deal it again.

    Attributes:
        number: of the deal, from 0.
        carry: chips in the pot.
        exempt: whether each seat pays no ante.
        stacks: chips of the seats at table stakes; empty on credit.
        totals: chips each seat has won or lost in the deals before.
    """

    number: int
    carry: int
    exempt: tuple[bool, ...]
    stacks: tuple[int, ...]
    totals: tuple[int, ...]


class Sitting:
    """A session at one table.

    Attributes:
        rules: the house rules.
        seats: who sits where.
        seed: of the packs; nobody at the table may know it.
        deals: in the session; None for no end.
        story: of the deal in play or just settled; None before the first.
        opening: what that deal began with.
        finished: the deals that are over, in order; a resumed sitting begins anew with none.
        faults: what policies did wrong, in words that may name their cards: for nobody who plays.
    """

    def __init__(
        self,
        rules: Rules,
        seats: Sequence[Seat],
        *,
        seed: int,
        deals: int | None = None,
        dealer: int | None = None,
        buy_in: int | None = None,
        notes_thoughts: bool = True,
    ) -> None:
        """Sit down; nothing has been dealt.

        Args:
            rules: the house rules.
            seats: one for each seat of the rules.
            seed: 0 to 2^64 - 1.
            deals: how many the session has.
            dealer: the first one's seat; drawn from the seed when left out.
            buy_in: antes each seat begins with at table stakes.
            notes_thoughts: keep the probabilities of policies that tell them.

        Raises:
            RulesError: the wrong number of seats.
        """
        if len(seats) != rules.num_players:
            raise RulesError(f"{len(seats)} seats are given; the rules are for {rules.num_players}")
        self.rules, self.seats, self.seed, self.deals = rules, tuple(seats), seed, deals
        self.story: Story | None = None
        self.finished: list[Finished] = []
        self.faults: list[str] = []
        stacks = stacks_bought(buy_in, rules)
        nobody = (False,) * len(seats)
        self.opening = Opening(-1, 0, nobody, () if stacks is None else tuple(stacks[0].tolist()), (0,) * len(seats))
        self._notes_thoughts = notes_thoughts
        self._tables = Tables(rules, 1)
        self._first_dealer = stream_seed(seed, DEALER_STREAM) % len(seats) if dealer is None else dealer
        self._dealt: DealRecord | None = None
        self._streams: ActionStreams | None = None
        self._legal_ids: list[int] | None = None  # of now, once somebody has asked
        self._words = ActionWords(rules)

    # --- dealing

    @property
    def number(self) -> int:
        """The number of the deal, from 0; -1 before the first."""
        return self.opening.number

    @property
    def is_settled(self) -> bool:
        """Whether no deal is in play."""
        return bool(self._tables.settled[0])

    @property
    def is_over(self) -> bool:
        """Whether the session has ended: the last deal is settled and no other can follow."""
        if not self.is_settled or self.number < 0:
            return False
        if self.deals is not None and self.number + 1 >= self.deals:
            return True
        tables = self._tables
        return not can_deal_again(self.rules, tables.carry, tables.exempt, tables.stacks)[0]

    @property
    def totals(self) -> list[int]:
        """Chips each seat has won or lost in the session, the deal in play included."""
        if self.story is None:
            return list(self.opening.totals)
        return [before + now for before, now in zip(self.opening.totals, self._tables.returns[0].tolist(), strict=True)]

    def deal(self) -> None:
        """Begin the next deal.

        Raises:
            RefusedError: the last one is not settled, or the session is over.
        """
        if not self.is_settled:
            raise RefusedError("the deal is not over yet")
        if self.is_over:
            raise RefusedError("the session is over: no other deal follows")
        self.opening = self._next_opening()
        self._begin()

    def _next_opening(self) -> Opening:
        """What the next deal begins with."""
        if self.story is None:
            return dataclasses.replace(self.opening, number=self.number + 1)
        tables = self._tables
        stacks = tables.stacks
        return Opening(
            self.number + 1,
            int(tables.carry[0]),
            tuple(tables.exempt[0].tolist()),
            () if stacks is None else tuple(stacks[0].tolist()),
            tuple(self.totals),
        )

    def _begin(self) -> None:
        """Deal what `opening` says."""
        opening, number = self.opening, np.array([self.opening.number])
        decks = shuffled_decks(stream_seed(self.seed, PACK_STREAM), number, pack=self.rules.pack)
        dealer = (self._first_dealer + opening.number) % len(self.seats)
        stacks = [opening.stacks] if opening.stacks else None
        self._tables.deal(decks, dealer, carry=opening.carry, exempt=[opening.exempt], stacks=stacks)
        self._legal_ids = None
        names = tuple(card_text(int(card), self.rules.rank_names) for card in decks[0])
        exempt = tuple(seat for seat, flag in enumerate(opening.exempt) if flag)
        self._dealt = DealRecord(self.rules, dealer, names, (), opening.carry, exempt, opening.stacks)
        self._streams = ActionStreams(self.seed, number, len(self.seats))
        self.story = Story(self.rules, [self._tables.snapshot(0)])

    @classmethod
    def resume(
        cls,
        rules: Rules,
        seats: Sequence[Seat],
        *,
        seed: int,
        opening: Opening,
        actions: Sequence[str],
        deals: int | None = None,
    ) -> "Sitting":
        """A sitting as it was in the middle of a deal.

        Args:
            rules: the house rules, as all that follows those of the sitting that broke off.
            seats: who sits where.
            seed: of the packs.
            opening: of the deal; with a number below 0 nothing was dealt.
            actions: texts of the actions taken in it.
            deals: in the session.

        Raises:
            BourreError: the actions do not fit the deal.
        """
        sitting = cls(rules, seats, seed=seed, deals=deals)
        sitting.opening = opening
        if opening.number < 0:
            return sitting
        sitting._begin()
        for text in actions:
            if text != FORFEIT_TEXT and len(sitting.legal_ids()) > 1:
                sitting._next_key()  # as it was drawn then, so that the policies go on with the same numbers
            sitting._apply(text)
        return sitting

    # --- acting

    @property
    def turn(self) -> int | None:
        """The seat to act; None when settled."""
        seat = int(self._tables.to_act[0])
        return seat if seat >= 0 else None

    @property
    def awaits_person(self) -> bool:
        """Whether a person is to act."""
        return self.turn is not None and self.seats[self.turn].policy is None

    def legal_ids(self) -> list[int]:
        """The legal actions of the seat to act."""
        if self._legal_ids is None:
            bits = legal_bits(self._tables.legal_packed()[0])
            self._legal_ids = [action for action in range(num_actions(self.rules)) if bits >> action & 1]
        return self._legal_ids

    def legal(self) -> list[View]:
        """The legal actions of the seat to act: `id` and `text`, the words that `take` reads."""
        ids = self.legal_ids()
        texts = self._words.of(self._tables.records[0], ids)
        return [{"id": action, "text": text} for action, text in zip(ids, texts, strict=True)]

    def text_of(self, action: int) -> str:
        """An action of the seat to act in words."""
        return self._words.one(self._tables.records[0], action)

    def take(self, seat: int, action: int | str) -> None:
        """A person's action.

        Args:
            seat: who acts.
            action: its id, or words as `read_action` reads them.

        Raises:
            RefusedError: it is not this seat's turn, or the rules forbid the action; nothing has changed.
        """
        if self.turn is None:
            raise RefusedError("the deal is over; wait for the next one")
        if seat != self.turn:
            raise RefusedError(f"it is {self.seats[self.turn].name}'s turn, not yours")
        table = self._tables.records[0]
        chosen = read_action(self.rules, table, action) if isinstance(action, str) else action
        legal = self.legal_ids()
        if isinstance(chosen, bool) or chosen not in legal:
            raise refusal(self.rules, table, chosen)
        if len(legal) > 1:
            self._next_key()
        self._apply(self.text_of(chosen), chosen)

    def decision(self) -> Decision:
        """What the seat to act sees, as a policy is asked; looking changes nothing."""
        assert self._streams is not None
        packed, legal = self._tables.observe_packed(), self._tables.legal_packed()
        seats = self._tables.to_act
        return Decision.from_packed(packed, legal, seats, self.rules, self._streams.peek(np.zeros(1, np.int64), seats))

    def question(self) -> "Question":
        """What the seat to act is to decide, apart from the table: an answer that comes late is still to this."""
        texts = {choice["id"]: choice["text"] for choice in self.legal()}
        return Question(self.decision(), texts, self.seed)

    def hint(self, policy: Policy) -> dict[str, float]:
        """What a policy would do in the place of the seat to act (`Question.hint`).

        Raises:
            PolicyFailedError: it raised, or answered with anything but legal actions.
        """
        return self.question().hint(policy)

    def answer(self) -> None:
        """The policy to act decides; one that fails forfeits the deal (7.2), and `faults` says why.

        Raises:
            RefusedError: no policy is to act.
        """
        self.settle_answer(self.ask())

    def ask(self) -> "Answer":
        """Ask the policy to act; nothing changes at the table, so this may run in another thread than the rest.

        Raises:
            RefusedError: no policy is to act.
        """
        turn = self.turn
        policy = None if turn is None else self.seats[turn].policy
        if policy is None:
            raise RefusedError("no policy is to act")
        legal = self.legal_ids()
        if len(legal) == 1:
            return Answer(legal[0])
        assert self._streams is not None
        decision = self.decision()
        try:
            action = int(strict_answer(policy, decision, self._streams.generator)[0])
            return Answer(action, self._thought(policy, decision))
        except PolicyFailedError as error:
            return Answer(None, fault=str(error))

    def settle_answer(self, answer: "Answer") -> None:
        """Do what a policy has answered."""
        assert self.story is not None
        if answer.action is None:
            self.faults.append(answer.fault)
            self._apply(FORFEIT_TEXT)
            return
        if len(self.legal_ids()) > 1:
            self._next_key()
        if answer.thought is not None:
            self.story.thoughts[len(self.story.steps)] = answer.thought
        self._apply(self.text_of(answer.action), answer.action)

    def forfeit(self, seat: int) -> None:
        """A person gives the deal up, as after an illegal action at a table (7.2).

        Raises:
            RefusedError: it is not this seat's turn.
        """
        if seat != self.turn:
            raise RefusedError("a seat can give the deal up only when it is to act")
        self._apply(FORFEIT_TEXT)

    def _thought(self, policy: Policy, decision: Decision) -> Thought | None:
        """The probabilities of a policy that tells them."""
        if not self._notes_thoughts or not tells_probs(policy):
            return None
        probs = ask_probs(policy, decision)[0]
        likely = [action for action in self.legal_ids() if probs[action] > 0]
        texts = self._words.of(self._tables.records[0], likely)
        return Thought(policy.name, {text: float(probs[action]) for text, action in zip(texts, likely, strict=True)})

    def _next_key(self) -> NDArray[np.uint64]:
        """[1] uint64: the random number of this decision."""
        assert self._streams is not None
        return self._streams.next(np.zeros(1, np.int64), self._tables.to_act)

    def _apply(self, text: str, action: int | None = None) -> None:
        """Take an action at the table and tell it."""
        assert self.story is not None
        if text == FORFEIT_TEXT:
            self._tables.forfeit([0])
        else:
            chosen = read_action(self.rules, self._tables.records[0], text) if action is None else action
            try:
                self._tables.step([chosen])
            except IllegalActionError as error:
                raise RefusedError(str(error)) from None
        self._legal_ids = None
        self.story.add(text, self._tables.snapshot(0))
        if self.is_settled:
            self.finished.append(Finished(self.record(), self.story.thoughts))

    # --- looking

    def record(self) -> DealRecord:
        """The hand record of the deal in play, or just settled; it holds every card."""
        assert self._dealt is not None
        assert self.story is not None
        return dataclasses.replace(self._dealt, actions=tuple(step.text for step in self.story.steps))

    @property
    def has_people(self) -> bool:
        """Whether a person sits at the table."""
        return any(seat.policy is None for seat in self.seats)

    def view(self, observer: int | None = ALL_HANDS) -> View:
        """What an observer may see now, plain data ready for JSON.

        Args:
            observer: a seat; `PUBLIC` sees no hand; `ALL_HANDS` sees all, so it is for nobody who plays.

        Returns:
            What `Story.view` tells (when nothing is dealt: `phase` "waiting" and bare seats) and `you` (the seat, or
            None), `deal` (from 1), `deals`, `over`, `rules` (the options that a player asks about), each seat's
            `name`, `person` and `total`, and `legal`: the legal actions, for the seat to act alone.
        """
        is_seat = observer not in (ALL_HANDS, PUBLIC)
        view: dict[str, Any] = (
            {"phase": "waiting", "turn": None, "seats": [{} for _ in self.seats]}
            if self.story is None
            else self.story.view(observer)
        )
        for seat, shown, total in zip(self.seats, view["seats"], self.totals, strict=True):
            shown |= {"name": seat.name, "person": seat.policy is None, "total": total}
        may_act = self.turn is not None and (observer is ALL_HANDS or observer == self.turn)
        return view | {
            "you": observer if is_seat else None,
            "deal": self.number + 1,
            "deals": self.deals,
            "over": self.is_over,
            "legal": self.legal() if may_act else [],
        }


@dataclass(frozen=True, slots=True)
class Question:
    """One decision, for whoever is asked what to do.

    Attributes:
        decision: what the seat sees.
        texts: its legal actions in words, by id.
        seed: of the random numbers of a policy that tells no probabilities.
    """

    decision: Decision
    texts: dict[int, str]
    seed: int

    def hint(self, policy: Policy) -> dict[str, float]:
        """What a policy would do: how likely each action in words, the likeliest first.

        Raises:
            PolicyFailedError: it raised, or answered with anything but legal actions.
        """
        if tells_probs(policy):
            probs = ask_probs(policy, self.decision)[0]
        else:
            probs = np.zeros(self.decision.rules.num_actions)
            probs[strict_answer(policy, self.decision, np.random.default_rng(self.seed))[0]] = 1
        return {self.texts[action]: float(probs[action]) for action in sorted(self.texts, key=lambda one: -probs[one])}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a policy has answered.

    Attributes:
        action: its id; None when the policy failed.
        thought: its probabilities, where it tells them.
        fault: what went wrong.
    """

    action: int | None
    thought: Thought | None = None
    fault: str = ""
