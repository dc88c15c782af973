"""What training needs of one game beyond `bourre_env.family`, and where it is found.

The package of each game here has a module `training`, whose value `TRAINING` has these members; see `agents.games`.

Shapes: B deals, N seats, C cards of the pack, D decisions.
"""

import functools
import importlib
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from agents.ranks import Ranks
from bourre_env.family import GameRules

if TYPE_CHECKING:
    from agents.config import Config
    from agents.network import NetworkSpec
    from agents.rollout import Rollout


class Ledger(Protocol):
    """What is known of B training deals from their start on, and is needed to tell what they brought."""

    def results(self, tables: Any, deals: NDArray[np.int64], credit: Any) -> NDArray[np.float32]:
        """[k, N] float32: what settled deals brought each seat, in units of the game (`agents.metrics.UNITS`).

        Args:
            tables: k tables.
            deals: [k] int64, which of the B deals each has played.
            credit: of `Credits.at`.
        """

    def columns(self, tables: Any, credit: Any) -> dict[str, Any]:
        """The arrays by deal that the rollouts of the game add, from the B tables once settled."""


class Starts(Protocol):
    """How training deals start."""

    def begin(self, tables: Any, decks: NDArray[np.int8], seed: int, deal_ids: NDArray[np.int64]) -> Ledger:
        """Deal; everything besides the packs is drawn from streams of the seed, numbered by deal.

        Args:
            tables: B tables.
            decks: [B, C] packs.
            seed: of the run.
            deal_ids: [B] numbers of the deals.
        """


class Credits(Protocol):
    """What a deal leaves for the next one, as it is credited to the seats; it may change as training goes on."""

    def at(self, num_players: int) -> Any:
        """How it is credited now at tables of one size."""

    def learn(self, rollout: Any, ranks: Ranks) -> None:
        """Take in new deals, of all ranks."""

    def describe(self) -> dict[str, float]:
        """Values by tag."""

    def state(self) -> dict[int, list[float]]:
        """Everything that changes, as plain values."""

    def load_state(self, state: dict[int, list[float]]) -> None:
        """The inverse of `state`."""


class NoCredit:
    """For games whose deals leave nothing behind: a `Credits` of nothing."""

    def at(self, num_players: int) -> None:
        """Nothing."""

    def learn(self, rollout: Any, ranks: Ranks) -> None:
        """Nothing is learned."""

    def describe(self) -> dict[str, float]:
        """Nothing to tell."""
        return {}

    def state(self) -> dict[int, list[float]]:
        """Nothing changes."""
        return {}

    def load_state(self, state: dict[int, list[float]]) -> None:
        """Nothing to take up."""


class Training(Protocol):
    """What one game adds.

    Attributes:
        rollout: the class of its rollouts.
    """

    rollout: "type[Rollout]"

    def decisions_a_seat(self, rules: Any) -> int:
        """A bound on the decisions of a seat in a deal."""

    def network_spec(self, rules: Any, *, seats_shown: int, privileged: bool, **sizes: Any) -> "NetworkSpec":
        """The networks that play by some rules; arguments as for `NetworkSpec.for_rules`."""

    def usual_starts(self) -> Starts:
        """How deals start where nothing is said."""

    def starts(self, config: "Config") -> Starts:
        """How deals start that some settings ask for."""

    def credits(self, config: "Config") -> Credits:
        """How some settings credit what deals leave."""

    def describe(self, rollout: Any, spec: "NetworkSpec") -> dict[str, float]:
        """How the network played: values by tag; what did not occur is left out."""

    def details(
        self, spec: "NetworkSpec", rollout: Any, rows: NDArray[np.int64], entropies: NDArray[np.float32] | None
    ) -> tuple[dict[str, NDArray[np.generic]], dict[str, float]]:
        """Histograms and numbers, by tag, of the decisions `rows`, whose entropies [D] are given if there are any."""


@functools.cache
def _training_named(game: str) -> Training:
    """What training needs of a game of the family."""
    training: Training = importlib.import_module(f"{__package__}.{game}.training").TRAINING
    return training


def training_of(rules: GameRules) -> Training:
    """What training needs of the game of some rules."""
    return _training_named(rules.game)
