"""A deal as it unfolds, for people: what was done step by step, and how each observer sees the table at any step.

A story is told from snapshots, by a table in play (`agents.sitting`) or by a hand record. Whoever shows a table asks
`view`, which is plain data ready for JSON and holds nothing that the observer may not see.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bourre_env.bourre.actions import PASS_TEXT
from bourre_env.bourre.rules import Rules
from bourre_env.bourre.snapshot import Snapshot
from bourre_env.notation import FORFEIT_TEXT, DealRecord
from bourre_env.render import seen_by

ALL_HANDS = None  # an observer who sees every card
PUBLIC = -1  # an observer who sees what lies open on the table

View = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """One action of a deal, everything about it told.

    Attributes:
        seat: who acted.
        does: "pass", "stay", "draw", "play" or "forfeit".
        cards: what was thrown away, or the card played.
        drawn: what came for it.
        winner: the seat that won a trick by it; None when no trick ended.
        text: the action in the words of a hand record.
    """

    seat: int
    does: str
    cards: tuple[str, ...]
    drawn: tuple[str, ...]
    winner: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """How likely a policy took each of its legal actions.

    Attributes:
        policy: its name.
        probs: of each action that it takes at all, in words.
    """

    policy: str
    probs: Mapping[str, float]


@dataclass
class Story:
    """What happened in one deal.

    Attributes:
        rules: the house rules.
        tables: before the first action and after each one.
        steps: the actions.
        thoughts: of the policies, by the number of the step they led to.
    """

    rules: Rules
    tables: list[Snapshot]
    steps: list[Step] = field(default_factory=list)
    thoughts: dict[int, Thought] = field(default_factory=dict)

    @classmethod
    def of_record(cls, record: DealRecord, thoughts: Mapping[int, Thought] | None = None) -> "Story":
        """The story that a hand record tells.

        Raises:
            NotationError: the record breaks the rules.
        """
        tables = record.replay()
        story = cls(record.rules, [next(tables)], thoughts=dict(thoughts or {}))
        for text, table in zip(record.actions, tables, strict=True):
            story.add(text, table)
        return story

    def add(self, text: str, after: Snapshot) -> Step:
        """Tell on: the action in words, and the table behind it."""
        self.steps.append(_step(self.tables[-1], after, text))
        self.tables.append(after)
        return self.steps[-1]

    @property
    def is_settled(self) -> bool:
        """Whether the deal is over."""
        return self.tables[-1].phase == "settled"

    def view(self, observer: int | None, step: int = -1) -> View:
        """The table as one observer sees it.

        Args:
            observer: a seat, `PUBLIC` or `ALL_HANDS`.
            step: 0 before the first action, then after each; the last one when left out.

        Returns:
            `step`, `steps` (how many there are), `phase`, `dealer`, `turn` (the seat to act or None), `handSize`,
            `trumps`, `turnUp` (`card`, and `held`: whether it is known to lie in the dealer's hand), `pot`, `carry`,
            `seats` (see `_seat`), `trick` ([seat, card] pairs in order), `tricks` (those that are over, each `cards`
            and `winner`), `log` (see `_told`), and `thought` (None, or `seat`, `policy` and `bars`).
        """
        last = step % len(self.tables)
        table = seen_by(self.tables[last], observer, blind_declaring=self.rules.blind_declaring)
        tricks = _tricks(self.steps[:last])
        return {
            "step": last,
            "steps": len(self.steps),
            "phase": table.phase,
            "dealer": table.dealer,
            "turn": table.seat if table.seat >= 0 else None,
            "handSize": self.rules.hand_size,
            "trumps": table.trump_suit,
            "turnUp": {"card": table.turn_up, "held": table.turn_up in self.tables[last].hands[table.dealer]},
            "pot": table.pot,
            "carry": table.carry,
            "seats": [self._seat(table, last, seat) for seat in range(len(table.hands))],
            "trick": [list(played) for played in table.trick],
            "tricks": tricks,
            "log": [_told(step, observer, table.turn_up) for step in self.steps[:last]],
            "thought": self._thought(observer, last),
        }

    def _seat(self, table: Snapshot, last: int, seat: int) -> View:
        """What there is to see of one seat.

        `cards` are real or "--"; `chips` are won or lost in this deal; `owes` is what a bourré pays into the next pot;
        `exempt` tells, before settlement, who paid no ante, after it, who skips the next; `stack` is None on credit.
        """
        return {
            "cards": list(table.hands[seat]),
            "stayed": table.stayed[seat],
            "passed": table.passed[seat],
            "new": table.num_discards[seat],
            "tricks": table.tricks_won[seat],
            "chips": table.chips[seat],
            "stack": table.stacks[seat] if table.stacks else None,
            "exempt": table.exempt[seat],
            "bourre": table.bourre[seat],
            "owes": self.tables[last - 1].chips[seat] - table.chips[seat] if table.bourre[seat] else 0,
            "takes": _taken(self.tables[last - 1], table, seat),
        }

    def _thought(self, observer: int | None, last: int) -> View | None:
        """What a policy thought before the last step, as far as the observer may know it.

        During the deal only who sees all hands may; afterwards the others see sums that name no hidden card.
        """
        thought = self.thoughts.get(last - 1)
        if thought is None or not (observer is ALL_HANDS or self.is_settled):
            return None
        before = self.tables[last - 1]
        if observer is ALL_HANDS:
            bars = dict(thought.probs)
        elif before.phase != "play":
            bars = _summed_up(thought.probs)
        elif any(self.tables[-1].hands):  # the deal ended before its cards were played
            return None
        else:
            bars = dict(thought.probs)
        ranked = sorted(bars.items(), key=lambda bar: -bar[1])
        return {
            "seat": before.seat,
            "policy": thought.policy,
            "bars": [[text, round(prob, 4)] for text, prob in ranked],
        }


def _step(before: Snapshot, after: Snapshot, text: str) -> Step:
    """What an action did, from the tables around it."""
    words = text.split()
    if text == FORFEIT_TEXT:
        return Step(before.seat, "forfeit", (), (), None, text)
    if before.phase == "play":
        winners = [seat for seat, won in enumerate(after.tricks_won) if won > before.tricks_won[seat]]
        return Step(before.seat, "play", (text,), (), winners[0] if winners else None, text)
    if words == [PASS_TEXT]:
        return Step(before.seat, "pass", (), (), None, text)
    thrown = tuple(words[1:])
    kept = set(before.hands[before.seat]) - set(thrown)
    drawn = tuple(card for card in after.hands[before.seat] if card not in kept) if thrown else ()
    return Step(before.seat, "stay" if before.phase == "declare" else "draw", thrown, drawn, None, text)


def _told(step: Step, observer: int | None, turn_up: str) -> View:
    """A step as an observer sees it.

    `seat`, `does`, `new` (cards drawn), `turnUp` (whether the turn-up was thrown away, which all see, 3.6), `winner`
    of a trick, and `cards` and `drawn` where they show.
    """
    shows = step.does == "play" or observer in (ALL_HANDS, step.seat)
    return {
        "seat": step.seat,
        "does": step.does,
        "new": 0 if step.does == "play" else len(step.cards),
        "turnUp": step.does != "play" and turn_up in step.cards,
        "cards": list(step.cards) if shows else [],
        "drawn": list(step.drawn) if shows else [],
        "winner": step.winner,
    }


def _tricks(steps: Sequence[Step]) -> list[View]:
    """The tricks that are over."""
    tricks: list[View] = []
    cards: list[list[Any]] = []
    for step in steps:
        if step.does == "play":
            cards.append([step.seat, *step.cards])
        if step.winner is not None:
            tricks.append({"cards": cards, "winner": step.winner})
            cards = []
    return tricks


def _taken(before: Snapshot, table: Snapshot, seat: int) -> int:
    """Chips that the settlement paid to a seat."""
    if table.phase != "settled" or table.bourre[seat]:
        return 0
    return max(0, table.chips[seat] - before.chips[seat])


def _summed_up(probs: Mapping[str, float]) -> dict[str, float]:
    """Probabilities of passing and of each number of new cards, whichever they are."""
    sums: dict[str, float] = {}
    for text, prob in probs.items():
        words = text.split()
        name = text if words == [PASS_TEXT] else f"{words[0]}, {len(words) - 1} new"
        sums[name] = sums.get(name, 0.0) + prob
    return sums
