"""Training deals at tables of several sizes, for one network.

Which size a deal has is decided by its number, like everything else about it. Observations have room for the largest
size; which seats exist is one of their features.

Shapes: B deals, N seats of the largest table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agents.arena import stream_seed
from agents.metrics import Stopwatch
from agents.network import Actor
from agents.pairs import joined_pairs
from agents.policy import uniform_numbers
from agents.rollout import MOST_STEPS, Rollout, SelfPlay
from agents.starts import Opponents
from agents.threads import Threads
from agents.trainings import Credits
from bourre_env.deck import stream_keys

SIZE_STREAM = "training: table sizes"


@dataclass(frozen=True, slots=True)
class TrainingDeals:
    """The deals of a training run, one `SelfPlay` for each table size.

    Attributes:
        sizes: in the order in which a curriculum brings them in; at least one, all of the same seed.
        shares: for each its share of the deals, above 0; they need not sum to 1. Empty for equal shares.
    """

    sizes: tuple[SelfPlay, ...]
    shares: tuple[float, ...] = ()

    def play(
        self,
        actor: Actor,
        deal_ids: NDArray[np.int64],
        *,
        in_play: int,
        credit: Credits,
        threads: Threads,
        watch: Stopwatch,
        pairs: bool = False,
    ) -> Rollout:
        """Play deals to their ends, size by size.

        Args:
            actor: the network.
            deal_ids: [B] numbers of the deals, from 0.
            in_play: how many of the sizes take part.
            credit: how what deals leave is credited.
            threads: ask the network on.
            watch: is told where the time goes.
            pairs: play decisions on in two ways (`SelfPlay.play`).
        """
        which = self.which(deal_ids, in_play)
        sizes = np.unique(which)
        rollouts = [
            self.sizes[size].play(
                actor,
                deal_ids[which == size],
                threads=threads,
                watch=watch,
                credit=credit.at(self.sizes[size].rules.num_players),
                pairs=pairs,
            )
            for size in sizes
        ]
        return joined(rollouts, sizes)

    @property
    def opponents(self) -> Opponents:
        """Who else sits at the tables, the same at those of all sizes."""
        return self.sizes[0].opponents

    def meeting(self, opponents: Opponents) -> "TrainingDeals":
        """The same deals with other policies at the tables."""
        return replace(self, sizes=tuple(replace(size, opponents=opponents) for size in self.sizes))

    def with_seed(self, seed: int) -> "TrainingDeals":
        """Other deals of the same kind."""
        return replace(self, sizes=tuple(replace(size, seed=seed) for size in self.sizes))

    def which(self, deal_ids: NDArray[np.int64], in_play: int) -> NDArray[np.int64]:
        """[B] int64: the index of each deal's size among the first `in_play`."""
        shares = np.array(self.shares or [1.0] * len(self.sizes))[:in_play]
        keys = stream_keys(stream_seed(self.sizes[0].seed, SIZE_STREAM), deal_ids)
        ends = np.cumsum(shares / shares.sum())[:-1]
        return np.searchsorted(ends, uniform_numbers(keys), side="right")

    def in_play(self, progress: float, curriculum: float) -> int:
        """How many sizes take part after a share of the run.

        Args:
            progress: 0 to 1.
            curriculum: share of the run in which they join one after another, evenly; 0 when all do from the start.
        """
        if curriculum == 0:
            return len(self.sizes)
        return min(len(self.sizes), 1 + int(progress / curriculum * len(self.sizes)))


def joined(rollouts: Sequence[Rollout], sizes: ArrayLike) -> Rollout:
    """One rollout of several, whose tables may differ in size; the deals are numbered through.

    Args:
        rollouts: at least one.
        sizes: the index of each one's table size, rising, by which its steps are numbered.
    """
    starts = np.cumsum([0, *(rollout.num_deals for rollout in rollouts[:-1])])
    seats = max(rollout.returns.shape[1] for rollout in rollouts)

    def together(name: str) -> NDArray[np.generic]:
        """One column of all."""
        return np.concatenate([getattr(rollout, name) for rollout in rollouts])

    def padded(name: str) -> NDArray[np.generic]:
        """One column [B, seats] of all, empty where a table has no such seat."""
        columns = [getattr(rollout, name) for rollout in rollouts]
        return np.concatenate([np.pad(column, ((0, 0), (0, seats - column.shape[1]))) for column in columns])

    first = rollouts[0]
    by_decision = ("words", "legal", "actions", "log_probs", "rewards", "seat")
    rest = [name for name in first.names_of_columns() if name not in (*by_decision, "deal", "step")]
    by_seat = [name for name in rest if getattr(first, name).ndim == 2]
    by_deal = [name for name in rest if name not in by_seat]
    pairs = [
        replace(rollout.pairs, deal=rollout.pairs.deal + start, step=rollout.pairs.step + MOST_STEPS * size)
        for rollout, start, size in zip(rollouts, starts, np.asarray(sizes), strict=True)
        if rollout.pairs is not None
    ]
    return type(first)(
        deal=np.concatenate([rollout.deal + start for rollout, start in zip(rollouts, starts, strict=True)]),
        step=np.concatenate(
            [rollout.step + MOST_STEPS * size for rollout, size in zip(rollouts, np.asarray(sizes), strict=True)]
        ),
        num_words=first.num_words,
        asked=sum(rollout.asked for rollout in rollouts),
        pairs=joined_pairs(pairs) if pairs else None,
        **{name: together(name) for name in (*by_decision, *by_deal)},  # type: ignore[arg-type]
        **{name: padded(name) for name in by_seat},  # type: ignore[arg-type]
    )
