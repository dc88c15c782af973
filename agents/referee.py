"""Asking policies for actions, and what happens to one that gives none.

A referee is either strict, and the first fault ends everything by `PolicyFailedError`, or it rules:

* A decision that a policy answers by raising, with None or with an illegal action forfeits that deal (rule 7.2). When
  the answer to several decisions at once is no list of actions, each is asked again alone, and those that fail
  alone are forfeited.
* A policy that does not answer in time is not asked again: it forfeits at each of its decisions.
"""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType

import numpy as np
from numpy.typing import NDArray

from agents.policy import Decision, Policy, PolicyFailedError, as_actions, check_actions, illegal_message, told
from bourre_env.decision import are_legal

NO_ACTION = -1  # the seat to act forfeits its deal
GRACE = 10.0  # seconds that every question may take, however few decisions: libraries load, functions compile
DEFAULT_TIME_LIMIT = 0.1  # seconds a decision, beyond the grace
REPEAT = 1.0  # seconds after which a policy that swallowed the alarm gets the next one


@dataclass(slots=True)
class Faults:
    """What went wrong with one policy.

    Attributes:
        illegal: decisions answered with an illegal action.
        failed: decisions answered by raising, or with something that is no action.
        overtime: whether it was too slow once, and so was not asked again.
        example: the first fault in words; empty when there was none.
    """

    illegal: int = 0
    failed: int = 0
    overtime: bool = False
    example: str = ""

    def note(self, example: str) -> None:
        """Keep the first example."""
        self.example = self.example or example

    def add(self, other: "Faults") -> None:
        """Count another's faults, which came later, as one's own."""
        self.illegal += other.illegal
        self.failed += other.failed
        self.overtime |= other.overtime
        self.note(other.example)


@dataclass(slots=True)
class Referee:
    """Asks policies and rules on what they answer.

    Attributes:
        time_limit: seconds a decision that a policy may take, beyond `GRACE` a question.
        silenced: names of policies that are not asked any more.
        faults: by name of the policy.
    """

    time_limit: float = DEFAULT_TIME_LIMIT
    silenced: set[str] = field(default_factory=set)
    faults: dict[str, Faults] = field(default_factory=dict)

    def ask(self, policy: Policy, decision: Decision, generator: np.random.Generator) -> NDArray[np.int64]:
        """[D] int64: legal actions, `NO_ACTION` where the seat forfeits."""
        if policy.name in self.silenced:
            return np.full(len(decision), NO_ACTION, np.int64)
        legal = decision.legal_packed.copy()  # what the policy does to its own arrays changes nothing
        try:
            actions = self._in_time(policy, decision, generator)
        except PolicyFailedError as error:
            if policy.name in self.silenced:
                return np.full(len(decision), NO_ACTION, np.int64)
            if len(decision) == 1:
                self._faults(policy).failed += 1
                self._faults(policy).note(str(error))
                return np.array([NO_ACTION])
            alone = [self.ask(policy, _row(decision, row, legal), generator) for row in range(len(decision))]
            return np.concatenate(alone)
        fits = are_legal(actions, legal)
        if not fits.all():
            row = int(np.argmin(fits))
            self._faults(policy).illegal += int((~fits).sum())
            self._faults(policy).note(illegal_message(int(actions[row]), decision, policy.name, row, legal))
        return np.where(fits, actions, NO_ACTION)

    def _in_time(self, policy: Policy, decision: Decision, generator: np.random.Generator) -> NDArray[np.int64]:
        """The policy's actions, or `PolicyFailedError`; a policy that is too slow is silenced."""
        seconds = GRACE + self.time_limit * len(decision)
        try:
            with alarm_after(seconds):
                return as_actions(_answer(policy, decision, generator), decision, policy.name)
        except OvertimeError:
            problem = f"policy {policy.name!r} took more than {GRACE:g} s and {self.time_limit:g} s a decision"
            self.silenced.add(policy.name)
            self.faults[policy.name] = Faults(overtime=True, example=problem)
            raise PolicyFailedError(problem) from None

    def _faults(self, policy: Policy) -> Faults:
        """What went wrong with a policy so far."""
        return self.faults.setdefault(policy.name, Faults())


def strict_answer(policy: Policy, decision: Decision, generator: np.random.Generator) -> NDArray[np.int64]:
    """[D] int64: the legal actions a policy answers.

    Raises:
        PolicyFailedError: it raised, or did not answer with D legal actions.
    """
    legal = decision.legal_packed.copy()
    return check_actions(_answer(policy, decision, generator), decision, policy.name, legal)


def _answer(policy: Policy, decision: Decision, generator: np.random.Generator) -> object:
    """Whatever a policy answers; all it may raise becomes `PolicyFailedError`."""
    try:
        return policy.act(decision, generator)
    except (OvertimeError, KeyboardInterrupt):
        raise
    except PolicyFailedError as error:  # of a policy that this one asks, as a search does
        raise PolicyFailedError(f"policy {policy.name!r} asked another: {error}") from error
    except BaseException as error:  # a policy may be anybody's code; some libraries panic with no `Exception`
        raise PolicyFailedError(f"policy {policy.name!r} raised {told(error)}") from error


def _row(decision: Decision, row: int, legal: NDArray[np.uint64]) -> Decision:
    """One decision of several."""
    part = slice(row, row + 1)
    return Decision.from_packed(
        decision.packed[part], legal[part], decision.seat[part], decision.rules, decision.key[part]
    )


class OvertimeError(BaseException):
    """Time is up. No `Exception`, so that a policy which survives everything does not survive this."""


@contextlib.contextmanager
def alarm_after(seconds: float) -> Iterator[None]:
    """Raise `OvertimeError` in the block when it takes longer.

    An alarm interrupts the main thread of a Unix process in the middle of Python code. Elsewhere the block is only
    found to have been too slow once it has ended.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        begun = time.monotonic()
        yield
        if time.monotonic() - begun > seconds:
            raise OvertimeError
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise OvertimeError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, REPEAT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
