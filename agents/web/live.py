"""One table that browsers sit at and watch: whose message may do what, and the policies' own pace.

Every listener is told only what its seat may see. Watchers see all hands where no person sits at the table; where one
does, they see what lies open until the deal is over.
"""

import asyncio
import contextlib
import dataclasses
import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from agents.journal import Journal
from agents.policy import Policy, PolicyFailedError
from agents.refusals import RefusedError
from agents.sitting import Sitting
from agents.story import ALL_HANDS, PUBLIC, Story, View
from agents.web.asking import Asker
from agents.web.messages import Message, checked_name, checked_pace

FASTEST_WATCHED = 0.05  # seconds between two actions at a table of policies alone, which would never rest
RESULT_PACES = 5  # a settled deal of policies alone stays on the table for so many paces
LONGEST_RESULT = 6.0  # seconds


class Listener(Protocol):
    """Somebody at the other end of a connection.

    Attributes:
        seat: whose eyes it has; None for a watcher.
    """

    seat: int | None

    def send(self, message: Mapping[str, Any]) -> None:
        """Tell it something, without waiting."""


@dataclasses.dataclass(frozen=True, slots=True)
class Tokens:
    """The secrets that open a table.

    Attributes:
        seats: one a seat; empty for a policy.
        watch: for those who look on.
    """

    seats: tuple[str, ...]
    watch: str

    def as_plain(self) -> dict[str, Any]:
        """For `table.json`."""
        return {"seats": list(self.seats), "watch": self.watch}

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any], size: int) -> "Tokens":
        """From `table.json` of a table with so many seats.

        Raises:
            ValueError: these are no such secrets.
        """
        seats, watch = plain.get("seats"), plain.get("watch")
        if (
            not isinstance(seats, list)
            or len(seats) != size
            or not all(isinstance(one, str) for one in [*seats, watch])
        ):
            raise ValueError("no links of the seats")
        return cls(tuple(seats), str(watch))


class LiveTable:
    """A sitting, those who listen to it, and the task that lets its policies act.

    Attributes:
        sitting: the session.
        tokens: the secrets of its seats.
        pace: seconds between two actions of policies; None while they pause.
        listeners: who is connected.
    """

    def __init__(
        self,
        sitting: Sitting,
        tokens: Tokens,
        asker: Asker,
        *,
        pace: float,
        hints: Policy | None = None,
        journal: Journal | None = None,
    ) -> None:
        """Set the table; `run` lets it go.

        Args:
            sitting: the session, begun or not.
            tokens: of its seats.
            asker: asks the policies.
            pace: seconds between two actions of policies.
            hints: whom people may ask what to do.
            journal: where the session is written down.
        """
        self.sitting, self.tokens = sitting, tokens
        self.pace: float | None = max(pace, self._fastest(sitting))
        self.listeners: set[Listener] = set()
        self._asker, self._hints, self._journal = asker, hints, journal
        self._ready: set[int] = set()
        self._steps_wanted = 0
        self._changed = asyncio.Event()
        self._not_kept = ""

    @staticmethod
    def _fastest(sitting: Sitting) -> float:
        """The least pace there may be."""
        return 0.0 if sitting.has_people else FASTEST_WATCHED

    # --- listeners

    def join(self, listener: Listener) -> None:
        """Somebody has come."""
        self.listeners.add(listener)
        self._tell_all()

    def leave(self, listener: Listener) -> None:
        """Somebody has gone; whoever is left need not wait for them."""
        self.listeners.discard(listener)
        if listener.seat is not None and listener.seat not in self._seats_here():
            self._ready.discard(listener.seat)
        self._deal_if_ready()
        self._tell_all()

    def _seats_here(self) -> set[int]:
        """Seats of people who are connected."""
        return {listener.seat for listener in self.listeners if listener.seat is not None}

    def observer(self, listener: Listener) -> int | None:
        """With whose eyes a listener sees the deal in play."""
        if listener.seat is not None:
            return listener.seat
        return PUBLIC if self.sitting.has_people else ALL_HANDS

    def _tell_all(self) -> None:
        """Show everybody the table."""
        views: dict[int | None, View] = {}
        here, size = self._seats_here(), len(self.sitting.seats)
        for listener in list(self.listeners):
            observer = self.observer(listener)
            if observer not in views:
                views[observer] = self.sitting.view(observer)
            listener.send(
                {
                    "type": "table",
                    "view": views[observer],
                    "here": [seat in here for seat in range(size)],
                    "ready": [seat in self._ready for seat in range(size)],
                    "pace": self.pace,
                    "hints": self._hints is not None,
                    "past": len(self.sitting.finished),
                    "fault": self._fault(observer),
                }
            )
        self._changed.set()

    def _fault(self, observer: int | None) -> str:
        """What a policy did wrong last; it may name cards, so it is for those alone who see all hands."""
        return self.sitting.faults[-1] if self.sitting.faults and observer is ALL_HANDS else ""

    # --- messages

    async def hear(self, listener: Listener, message: Message) -> None:
        """Do what a message asks for.

        Raises:
            RefusedError: it may not be done; nothing has changed.
        """
        await getattr(self, f"_hear_{message.do}")(listener, **message.values)

    async def _hear_act(self, listener: Listener, action: str | int, deal: int, step: int) -> None:
        """A person acts; `deal` and `step` say what was on the screen, so that a double click acts once."""
        seat, sitting = _seat(listener), self.sitting
        steps = len(sitting.story.steps) if sitting.story is not None else 0
        if (deal, step) != (sitting.number + 1, steps):
            raise RefusedError("the table has moved on since then; look again")
        sitting.take(seat, action)
        await self._moved_on()

    async def _hear_forfeit(self, listener: Listener) -> None:
        """A person gives the deal up."""
        self.sitting.forfeit(_seat(listener))
        await self._moved_on()

    async def _hear_deal(self, listener: Listener) -> None:
        """A person is ready for the next deal, which begins when all who are connected are."""
        seat = _seat(listener)
        if not self.sitting.is_settled:
            raise RefusedError("the deal is not over yet")
        if self.sitting.is_over:
            raise RefusedError("the session is over: no other deal follows")
        self._ready.add(seat)
        self._deal_if_ready()
        self._tell_all()

    async def _hear_name(self, listener: Listener, name: str) -> None:
        """A person says what to be called."""
        seat, sitting = _seat(listener), self.sitting
        called = checked_name(name)
        if any(other.name == called for place, other in enumerate(sitting.seats) if place != seat):
            raise RefusedError(f"somebody else at the table is called {called}")
        seats = list(sitting.seats)
        seats[seat] = dataclasses.replace(seats[seat], name=called)
        sitting.seats = tuple(seats)
        if (journal := self._journal) is not None:
            self._keep(lambda: journal.describe(sitting, self.tokens.as_plain()))
        self._tell_all()

    async def _hear_hint(self, listener: Listener) -> None:
        """A person asks what to do."""
        if self._hints is None:
            raise RefusedError("no hints are given at this table")
        if _seat(listener) != self.sitting.turn:
            raise RefusedError("hints are for the seat to act")
        policy, step = self._hints, len(self.sitting.story.steps) if self.sitting.story else 0
        question = self.sitting.question()  # of now: the policy may hear it after another seat's turn has come
        try:
            bars = await self._asker.ask(policy, lambda: question.hint(policy))
        except PolicyFailedError as error:
            raise RefusedError(f"no hint: {error}") from None
        listener.send({"type": "hint", "policy": policy.name, "step": step, "bars": list(bars.items())})

    async def _hear_pace(self, listener: Listener, seconds: float | None) -> None:
        """Somebody sets the pace of the policies: a person at the table, or a watcher where there is none."""
        self._check_conductor(listener)
        if seconds is None and self.sitting.has_people:
            raise RefusedError("a table with people does not pause")
        self.pace = checked_pace(seconds, self._fastest(self.sitting))
        self._tell_all()

    async def _hear_step(self, listener: Listener) -> None:
        """A watcher lets one policy act while the table pauses."""
        self._check_conductor(listener)
        if self.pace is not None:
            raise RefusedError("single steps are for a table that pauses")
        self._steps_wanted = 1
        self._changed.set()

    def _check_conductor(self, listener: Listener) -> None:
        """Refuse watchers where people sit."""
        if listener.seat is None and self.sitting.has_people:
            raise RefusedError("people sit at this table; watchers only look on")

    async def _hear_past(self, listener: Listener, deal: int) -> None:
        """Somebody wants to see a deal again that is over, by its place from 1."""
        finished = self.sitting.finished
        if not 1 <= deal <= len(finished):
            raise RefusedError(f"there is no such deal; {len(finished)} are over")
        observer = ALL_HANDS if listener.seat is None else listener.seat
        views = await self._asker.work(lambda: views_of(finished[deal - 1].story(), observer))
        names = [seat.name for seat in self.sitting.seats]
        listener.send({"type": "past", "deal": deal, "names": names, "you": listener.seat, "views": views})

    # --- the policies

    async def run(self) -> None:
        """Let the policies act and, at tables without people, deal; until cancelled."""
        while True:
            self._changed.clear()
            await (self._rest() if self.sitting.is_settled else self._act())

    async def _rest(self) -> None:
        """Between two deals: policies go on by themselves as long as somebody watches."""
        sitting = self.sitting
        if sitting.has_people or sitting.is_over or not self.listeners:
            await self._changed.wait()
        elif sitting.number < 0 or await self._pause(min(RESULT_PACES * (self.pace or 1.0), LONGEST_RESULT)):
            self._begin_deal()
            self._tell_all()

    async def _act(self) -> None:
        """Let the policy to act decide; a person is waited for."""
        sitting = self.sitting
        if sitting.awaits_person or not self.listeners:
            await self._changed.wait()
        elif await self._pause(self.pace or 0.0):
            turn = sitting.turn
            assert turn is not None
            policy = sitting.seats[turn].policy
            assert policy is not None
            answer = await self._asker.ask(policy, sitting.ask)
            sitting.settle_answer(answer)
            await self._moved_on()

    async def _pause(self, seconds: float) -> bool:
        """Wait at the table's pace; False when it pauses, or when the pace has changed meanwhile."""
        if self.pace is None:
            if not self._steps_wanted:
                await self._changed.wait()
                return False
            self._steps_wanted = 0
            return True
        pace, deadline = self.pace, asyncio.get_running_loop().time() + seconds
        while (left := deadline - asyncio.get_running_loop().time()) > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), left)
            self._changed.clear()
            if self.pace != pace or not self.listeners:
                return False
        return True

    def _deal_if_ready(self) -> None:
        """Begin the next deal once everybody who is connected wants it."""
        if self._ready and self._ready >= self._seats_here() and self.sitting.is_settled:
            self._begin_deal()

    def _begin_deal(self) -> None:
        """Deal, and write it down."""
        self._ready.clear()
        self.sitting.deal()
        if (journal := self._journal) is not None:
            self._keep(lambda: journal.note_opening(self.sitting.opening))

    async def _moved_on(self) -> None:
        """An action was taken: write it down, then show it."""
        sitting, journal = self.sitting, self._journal
        if journal is not None:
            assert sitting.story is not None
            text = sitting.story.steps[-1].text
            self._keep(lambda: journal.note_action(text))
        self._tell_all()
        if journal is not None and sitting.is_settled:
            number, finished = sitting.number, sitting.finished[-1]
            await self._asker.work(lambda: self._keep(lambda: journal.keep(number, finished)))

    def _keep(self, write: Callable[[], None]) -> None:
        """Write something down; trouble with the disk ends no game, and is told once to whoever started the server."""
        assert self._journal is not None
        try:
            write()
        except OSError as error:
            if not self._not_kept:
                self._not_kept = f"{self._journal.folder} cannot be written: {error.strerror or error}; play goes on"
                print(self._not_kept, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Write no more, but what the end of the server may have cut short."""
        if (journal := self._journal) is not None:
            self._keep(journal.close)
            if self.sitting.is_settled and self.sitting.finished:
                self._keep(lambda: journal.keep(self.sitting.number, self.sitting.finished[-1]))


def _seat(listener: Listener) -> int:
    """The seat of a listener.

    Raises:
        RefusedError: it has none.
    """
    if listener.seat is None:
        raise RefusedError("watchers have no seat; open a seat's link to play")
    return listener.seat


def views_of(story: Story, observer: int | None) -> list[View]:
    """A deal as one observer sees it, before the first action and after each."""
    return [story.view(observer, step) for step in range(len(story.tables))]
