"""What is measured in training: every tag with its meaning, the log files, and the stopwatch.

`metrics.jsonl` has one JSON object a line; TensorBoard shows the same numbers over the deals played.
"""

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agents.files import replace_file
from bourre_env.bourre.observation import BITS
from bourre_env.bourre.rules import MAX_PLAYERS
from bourre_env.cards import EMPTY, TRUMPS

if TYPE_CHECKING:
    from torch.utils.tensorboard import SummaryWriter

    from agents.network import NetworkSpec
    from agents.rollout import Rollout

MOST_TRUMPS = 5
_SHORT_WAIT = 0.05  # seconds
_FLUSH_SECONDS = 20  # TensorBoard shows points that late at most

TAGS: dict[str, str] = {
    **{
        f"pass_rate/trumps_{trumps}": f"Share of hands with {trumps} trumps that pass, where they may. Starts "
        "near 0.5; healthy: falls from weak to strong hands, and stays far above 0 without trumps (else it died out)."
        for trumps in range(MOST_TRUMPS + 1)
    },
    "pass_rate/all": "Share of all declarations with a choice that pass. Healthy at four seats: 0.3 to 0.5.",
    "game/discards": "Cards thrown away by a seat that stays. Starts at 2.5; healthy: about 2.5 to 3.5.",
    "game/seats_in": "Seats that stay in a deal. Healthy at four seats: about 2.5.",
    "game/bourre_rate": "Share of the seats that stay and take no trick. At first 0.15 to 0.2; healthy: about 0.1.",
    "game/carry_rate": "Share of deals that leave chips in the pot. Healthy at four seats: about 0.4.",
    "game/carry_ratio": "Carry over the pot played for, mean. Healthy: about 0.4; above 1 pots grow without bound.",
    "game/decisions_per_deal": "Decisions with a choice in a deal; forced ones never reach the network.",
    "policy/entropy_declare": "Entropy of declarations, in nats. Starts at about 2.4; falls as discards get clear.",
    "policy/entropy_stay_or_pass": "Entropy of staying or passing alone. Starts at 0.69; near 0 early: died out.",
    "policy/entropy_play": "Entropy of card plays with a choice, in nats. Falls slowly, as its weight does.",
    "ppo/kl": "KL divergence from the policy that played to the one learned. Healthy: below 0.03; alarm: 0.05.",
    "ppo/clip_fraction": "Share of decisions with a clipped ratio, last epoch. 0.3 at first, then below 0.1.",
    "ppo/gradient_norm": "Length of the actor's gradient before it is clipped, mean. A sudden jump announces trouble.",
    "ppo/policy_loss": "The clipped objective, last epoch; slightly below 0.",
    "critic/value_loss": "Huber loss of the critic, in pots, last epoch. Falls, then stays: cards are luck.",
    "critic/explained_variance": "Share of the variance of results the critic foresaw. Rises fast to 0.5 and more.",
    "critic/advantage_std": "Standard deviation of the raw advantages, in pots. Falls from 0.6 to about 0.35.",
    **{
        f"credit/{size}_seats_{distance}_from_dealer": f"Share of a carried pot credited to the seat {distance} places "
        f"after the next dealer, tables of {size} (rollout.carry_credit). Starts equal; the dealer's grows."
        for size in range(2, MAX_PLAYERS + 1)
        for distance in range(size)
    },
    "schedule/learning_rate": "Step size of Adam at this point of the run.",
    "schedule/entropy": "Weight of the entropy bonus at this point of the run.",
    "schedule/progress": "Share of the run's budget that is spent.",
    "speed/deals_per_second": "Training deals a second, learning included, evaluation not.",
    "speed/decisions_per_second": "Decisions played and learned from a second.",
    "speed/share_engine": "Share of the time spent in the game engine. Healthy: below 0.05 with networks of 256 units.",
    "speed/share_inference": "Share of the time spent asking the network for actions.",
    "speed/share_learning": "Share of the time spent on gradients.",
    "evaluation/random_mean": "Antes a deal against random seats. The rule bot gets about +1.3 at four seats.",
    "evaluation/random_low": "Lower end of its 95 % interval. Healthy: above 0 within seconds.",
    "evaluation/random_high": "Upper end of its 95 % interval.",
    "evaluation/heuristic_mean": "Antes a deal against the rule bot; 0 is a draw. It decides which checkpoint is best.",
    "evaluation/heuristic_low": "Lower end of its 95 % interval.",
    "evaluation/heuristic_high": "Upper end of its 95 % interval.",
    "evaluation/target_mean": "Antes a deal against the policy that a best response is trained to (rollout.target).",
    "evaluation/target_low": "Lower end of its 95 % interval. Above 0: a weakness was found.",
    "evaluation/target_high": "Upper end of its 95 % interval.",
    **{
        f"evaluation_{size}_seats/{name}_{part}": f"{words} of antes a deal against {name}, tables of {size} alone. "
        "Where one network learns several sizes, evaluation/ has the mean over them."
        for size in range(2, MAX_PLAYERS + 1)
        for name in ("random", "heuristic", "target")
        for part, words in (("mean", "Mean"), ("low", "Lower 95 % end"), ("high", "Upper 95 % end"))
    },
}
"""Every tag that is ever logged: what it means, and what is healthy."""


class Stopwatch:
    """Adds up the seconds spent on each kind of work."""

    def __init__(self) -> None:
        """Nothing has been spent."""
        self.seconds: dict[str, float] = {}

    @contextmanager
    def measure(self, work: str) -> Iterator[None]:
        """Count the time inside a `with` block as spent on `work`."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[work] = self.seconds.get(work, 0.0) + time.perf_counter() - start


def describe_rollout(rollout: "Rollout", spec: "NetworkSpec") -> dict[str, float]:
    """How the network played: passing by strength of hand, draws, bourrés and carries.

    Args:
        rollout: finished deals.
        spec: numbers the actions.

    Returns:
        Values by tag; what did not occur is left out.
    """
    own = rollout.self_play  # what other policies do at the table is no news
    actions, first_stay, pass_action = rollout.actions, len(spec.cards), spec.num_actions - 1
    may_pass = rollout.legal[:, pass_action // BITS] >> np.uint64(pass_action % BITS) & np.uint64(1) != EMPTY
    passes = actions == pass_action
    stays = actions[(actions >= first_stay) & ~passes]
    trumps = np.bitwise_count(rollout.words[:, 0] & TRUMPS)
    by_trumps = {
        f"pass_rate/trumps_{count}": _mean(passes[may_pass & (trumps == count)]) for count in range(MOST_TRUMPS + 1)
    }
    values = {
        **by_trumps,
        "pass_rate/all": _mean(passes[may_pass]),
        "game/discards": _mean(np.bitwise_count((stays - first_stay).astype(np.uint64))),
        "game/seats_in": _mean(rollout.stayed[own].sum(axis=1)),
        "game/bourre_rate": _mean(rollout.bourre[own][rollout.stayed[own]]),
        "game/carry_rate": _mean(rollout.carry[own] > 0),
        "game/carry_ratio": _mean(rollout.carry[own] / rollout.pot[own]),
        "game/decisions_per_deal": len(rollout) / rollout.num_deals,
    }
    return {tag: value for tag, value in values.items() if not math.isnan(value)}


def _mean(values: NDArray[Any]) -> float:
    """The mean, or NaN of nothing."""
    return float(values.mean()) if values.size else math.nan


class MetricsLog:
    """Writes numbers to `metrics.jsonl` and to TensorBoard; a disk that is full never stops the training.

    Attributes:
        path: the JSON lines file.
    """

    def __init__(self, folder: Path, *, warn: Callable[[str], None], resume_at: int | None = None) -> None:
        """Open the logs of a run.

        Args:
            folder: the run folder.
            warn: told once when writing fails, and again when it fails after having worked.
            resume_at: deals played when the run stopped; whatever was logged later is taken back.
        """
        self.path = folder / "metrics.jsonl"
        self._folder = folder
        self._warn = warn
        self._failing: set[str] = set()
        self._writer: SummaryWriter | None = None
        self._purge_step = None if resume_at is None else resume_at + 1
        if resume_at is not None:
            self._guarded("metrics.jsonl", lambda: _take_back(self.path, resume_at))
        self._good_size = self.path.stat().st_size if self.path.is_file() else 0

    def write(self, deals: int, values: Mapping[str, float], **context: float) -> None:
        """Log values at a number of deals played.

        Args:
            deals: the step of the curves; must rise from call to call.
            values: by tag; what is not finite becomes null.
            **context: further numbers for the JSON line, such as the iteration.

        Raises:
            KeyError: a tag that `TAGS` does not explain.
        """
        for tag in values:
            if tag not in TAGS:
                raise KeyError(f"tag {tag!r} is not explained in metrics.TAGS")
        finite = {tag: value if math.isfinite(value) else None for tag, value in values.items()}
        line = json.dumps({"deals": deals, **context, **finite}, allow_nan=False) + "\n"
        self._guarded("metrics.jsonl", lambda: self._append(line.encode()))
        self._guarded("TensorBoard", lambda: self._add_scalars(deals, finite))

    def add_text(self, name: str, text: str) -> None:
        """Show a text (Markdown) in TensorBoard."""
        self._guarded("TensorBoard", lambda: self._tensorboard().add_text(name, text))

    def flush(self) -> None:
        """Bring everything logged so far to the disk."""
        if self._writer is not None:
            self._guarded("TensorBoard", self._writer.flush)

    def close(self) -> None:
        """Flush and close."""
        if self._writer is not None:
            self._guarded("TensorBoard", self._writer.close)
            self._writer = None

    def _append(self, line: bytes) -> None:
        """Add one line behind the last whole one."""
        with self.path.open("ab") as file:
            if file.tell() != self._good_size:
                file.truncate(self._good_size)  # what a full disk left of an earlier line
            file.write(line)
        self._good_size += len(line)

    def _add_scalars(self, deals: int, values: Mapping[str, float | None]) -> None:
        """Add points to the curves."""
        writer = self._tensorboard()
        for tag, value in values.items():
            if value is not None:
                writer.add_scalar(tag, value, deals)

    def _tensorboard(self) -> "SummaryWriter":
        """The writer, opened when first needed; it marks where a resumed run goes on."""
        if self._writer is None:
            from torch.utils.tensorboard import SummaryWriter

            _wait_for_a_second_without_file(self._folder)
            self._writer = SummaryWriter(str(self._folder), purge_step=self._purge_step, flush_secs=_FLUSH_SECONDS)
            self._purge_step = None
        return self._writer

    def _guarded(self, log: str, action: Callable[[], None]) -> None:
        """Do something that a full disk or a lost folder may make impossible."""
        try:
            action()
        except OSError as error:
            if log not in self._failing:
                self._warn(f"{log} cannot be written ({error}); training goes on")
            self._failing.add(log)
            if log == "TensorBoard":
                self._abandon_writer()
        else:
            self._failing.discard(log)

    def _abandon_writer(self) -> None:
        """Forget a writer that failed; the next point opens a new file."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(OSError):
                writer.close()


def _wait_for_a_second_without_file(folder: Path) -> None:
    """Wait until no file of TensorBoard carries this second in its name.

    Files are read in the order of their names, and within a second that order is not the order of writing: a resumed
    run would be purged by its own past.
    """
    while any(folder.glob(f"events.out.tfevents.{int(time.time())}.*")):
        time.sleep(_SHORT_WAIT)


def _take_back(path: Path, deals: int) -> None:
    """Drop the lines logged after a number of deals, and what is left of a line cut short."""
    if not path.is_file():
        return
    kept = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True):
        try:
            if not line.endswith("\n") or json.loads(line)["deals"] > deals:
                break
        except (ValueError, KeyError, TypeError):
            break
        kept.append(line)
    replace_file(path, "".join(kept).encode())


def tags_as_table() -> str:
    """The tags and their meaning as a Markdown table."""
    return "\n".join(["| tag | meaning |", "| --- | --- |", *(f"| {tag} | {text} |" for tag, text in TAGS.items())])
