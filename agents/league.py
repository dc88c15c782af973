"""A league: former selves, and exploiters trained against them, sit at some of the training tables.

A *member* of the *pool* is a network that no longer learns, a checkpoint file in the folder `pool` of the run. Each
iteration draws a few members; in a share of its deals one seat is the learner's, and one of them has all the others,
as other policies do (`agents.starts.Opponents`). Members are former selves of the learner, one every so many
iterations, and *exploiters*: a second network that starts from a former self, learns against the present learner alone,
joins the pool at the end of its life, and starts anew (after the exploiters of AlphaStar's league: Vinyals et al.,
2019). Only the learner's, and in its own iterations the exploiter's, decisions are ever learned from.

Who is met is a pure function of the seed, the number of the iteration and how the members have done.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agents.arena import stream_seed
from agents.checkpoint import CheckpointError, load_checkpoint
from agents.metrics import results_against
from agents.neural import NetworkPolicy
from agents.ranks import ALONE, Ranks
from agents.starts import Opponents

if TYPE_CHECKING:
    from agents.config import LeagueConfig
    from agents.rollout import Rollout

FOLDER = "pool"
SELF, EXPLOITER = "self", "exploiter"

_MEETING_STREAM = "league: who is met in iteration"
_DIGITS = 12  # so that names sort by deals
_MEMORY = 2000  # deals after which an old result counts a third
_HARDEST = 0.1  # units of the game: who takes so much more from the learner than another is met e times as often


@dataclass(slots=True)
class Member:
    """A network in the pool, and how the learner fares against it.

    Attributes:
        name: of its file.
        kind: `SELF` or `EXPLOITER`.
        deals: training deals of the learner when it joined.
        met: deals the learner has played against it.
        mean: pots, or points, a deal that the learner got in them, the latest counting most; 0 before the first.
    """

    name: str
    kind: str
    deals: int
    met: int = 0
    mean: float = 0.0

    def learn(self, results: NDArray[np.floating[Any]]) -> None:
        """Add the learner's results [k], in units of the game."""
        if len(results):
            weight = max(1 - float(np.exp(-len(results) / _MEMORY)), len(results) / (self.met + len(results)))
            self.mean += weight * (float(results.mean()) - self.mean)
            self.met += len(results)


class League:
    """The pool of a run.

    Attributes:
        members: oldest first.
    """

    def __init__(self, run: Path, config: "LeagueConfig", seed: int, ranks: Ranks = ALONE) -> None:
        """An empty pool.

        Args:
            run: the run folder; the first rank alone reads and writes it.
            config: how it is filled and met.
            seed: of the run.
            ranks: the processes that train together; all meet the same members.
        """
        self.members: list[Member] = []
        self._folder, self._config, self._seed, self._ranks = run / FOLDER, config, seed, ranks
        self._loaded: dict[str, NetworkPolicy] = {}  # the latest used last
        self._in_states: list[set[str]] = []  # names in the last two states that were saved

    # --- who is in the pool

    def add(self, kind: str, deals: int, write: Callable[[Path], None]) -> None:
        """Let a network join, and let one go where there are too many.

        Args:
            kind: `SELF` or `EXPLOITER`.
            deals: training deals of the learner so far.
            write: writes its checkpoint into the file it is given.

        Raises:
            OSError: it could not be written; the pool is as it was, on all ranks.
        """
        member = Member(f"{deals:0{_DIGITS}}-{kind}.safetensors", kind, deals)
        problem = self._write(member, write) if self._ranks.is_first else None
        problem = self._ranks.of_first(problem)
        if problem is not None:
            raise OSError(problem)
        self.members = [other for other in self.members if other.name != member.name] + [member]
        while len(self.members) > self._config.size:  # files of those who go stay until no state needs them
            gone = self.members.pop(superfluous(self.members))
            self._loaded.pop(gone.name, None)

    def _write(self, member: Member, write: Callable[[Path], None]) -> str | None:
        """Write a member's file; what went wrong."""
        try:
            self._folder.mkdir(exist_ok=True)
            write(self._folder / member.name)
        except OSError as error:
            return str(error)
        return None

    def latest(self) -> NetworkPolicy | None:
        """The newest former self; None where there is none."""
        selves = [member for member in self.members if member.kind == SELF]
        return self._policy(selves[-1]) if selves else None

    # --- who is met

    def opponents(self, base: Opponents, iteration: int) -> tuple[Opponents, list[Member]]:
        """Who sits at the tables of an iteration, and which of them are members, in the order of their indices.

        Args:
            base: the policies met anyway.
            iteration: its number.
        """
        met = self._drawn(iteration)
        if not met:
            return base, []
        share = self._config.share / len(met)
        policies = tuple(self._policy(member) for member in met)
        return Opponents((*base.policies, *policies), (*base.shares, *(share for _ in met))), met

    def _drawn(self, iteration: int) -> list[Member]:
        """Different members, each alike or the harder ones more often."""
        if not self.members or not self._config.share:
            return []
        generator = np.random.default_rng(stream_seed(self._seed, f"{_MEETING_STREAM} {iteration}"))
        weights = np.ones(len(self.members))
        if self._config.sampling == "hardest":
            means = np.array([member.mean for member in self.members])
            weights = np.exp((means.min() - means) / _HARDEST)
        number = min(self._config.at_once, len(self.members))
        # a far easier member's weight may vanish, and so many must be there to draw from
        weights = np.maximum(weights, 1e-6)
        places = generator.choice(len(self.members), number, replace=False, p=weights / weights.sum())
        return [self.members[place] for place in places]

    def _policy(self, member: Member) -> NetworkPolicy:
        """The network of a member, from memory or from its file; all ranks ask for the same one at the same time.

        Raises:
            CheckpointError: its file is missing or damaged.
        """
        policy = self._loaded.pop(member.name, None)
        if policy is None:
            problem: str | None = None
            if self._ranks.is_first:
                try:
                    header, actor = load_checkpoint(self._folder / member.name)
                    policy = NetworkPolicy(actor, header, name=member.name)
                except CheckpointError as error:
                    problem = str(error)
            problem, policy = self._ranks.of_first((problem, policy))
            if policy is None:
                raise CheckpointError(f"a member of the pool cannot play: {problem}")
        self._loaded[member.name] = policy
        while len(self._loaded) > self._config.cache:
            del self._loaded[next(iter(self._loaded))]
        return policy

    # --- how it went

    def learn(self, rollout: "Rollout", met: Sequence[Member], first: int) -> None:
        """Note the results of an iteration, of all ranks.

        Args:
            rollout: this rank's deals.
            met: the members that took part.
            first: the index of the first of them among the opponents.
        """
        ours = [results_against(rollout, first + place) for place in range(len(met))]
        for place, everybodys in enumerate(zip(*self._ranks.gather(ours), strict=True)):
            met[place].learn(np.concatenate(everybodys))

    def describe(self) -> dict[str, float]:
        """Numbers by tag; what there is nothing of is left out."""
        values = {"league/members": float(len(self.members))}
        for kind in (SELF, EXPLOITER):
            means = [member.mean for member in self.members if member.kind == kind and member.met]
            if means:
                values |= {f"league/{kind}_mean": float(np.mean(means)), f"league/{kind}_worst": min(means)}
        return values

    def table(self) -> str:
        """Every member with the learner's results as a Markdown table."""
        rows = [
            f"| {member.kind} | {member.deals:,} | {member.met:,} | {member.mean:+.4f} |" for member in self.members
        ]
        heading = "| member | joined after deals | deals met | pots, or points, a deal |"
        return "\n".join([heading, "| --- | --- | --- | --- |", *rows])

    # --- saving and loading

    def state(self) -> list[dict[str, Any]]:
        """The members as plain values; their networks are in their files."""
        return [asdict(member) for member in self.members]

    def load_state(self, state: list[dict[str, Any]]) -> list[str]:
        """The inverse of `state`. Files that joined after it was saved are removed: their time comes again.

        A run is worth more than a member of its pool: one whose file is missing or damaged is left out.

        Returns:
            What was wrong with those that were left out; nothing for ranks but the first, which look at no files and
            are given the members that it has.
        """
        self.members = [Member(**plain) for plain in state]
        self._loaded.clear()
        if not self._ranks.is_first:
            return []
        complaints = {member.name: self._complaint_about(member) for member in self.members}
        self.members = [member for member in self.members if complaints[member.name] is None]
        self._in_states = []
        self.state_saved()
        return [complaint for complaint in complaints.values() if complaint is not None]

    def _complaint_about(self, member: Member) -> str | None:
        """What is wrong with a member's file; None when it can be read."""
        try:
            load_checkpoint(self._folder / member.name)
        except CheckpointError as error:
            return str(error)
        return None

    def state_saved(self) -> None:
        """Remove the files of networks that neither the state just saved nor the one before knows."""
        self._in_states = [*self._in_states[-1:], self._names()]
        for path in self._files():
            if not any(path.name in names for names in self._in_states):
                with contextlib.suppress(OSError):
                    path.unlink()

    def _names(self) -> set[str]:
        """The names of the members' files."""
        return {member.name for member in self.members}

    def _files(self) -> list[Path]:
        """The files in the pool's folder."""
        return list(self._folder.glob("*.safetensors"))


def superfluous(members: Sequence[Member]) -> int:
    """Which member a full pool does best without: the one whose neighbours in time are closest; never the newest.

    Removing it leaves the pool spread over the whole run, from its first member on.
    """
    deals = [member.deals for member in members]
    gaps = [after - before for before, after in zip(deals, deals[2:], strict=False)]
    return 1 + int(np.argmin(gaps)) if gaps else 0
