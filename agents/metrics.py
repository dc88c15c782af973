"""What is measured in training: every tag with its meaning, and the stopwatch.

`agents/logs.py` writes them.
"""

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agents.games import part_named
from bourre_env.family import GAMES, MOST_SEATS

if TYPE_CHECKING:
    from agents.rollout import Rollout

OPPONENTS = ("random", "heuristic")

UNITS = (
    "A unit is what the game is learned in: a pot in Bourré, a point in Euchre, what all tricks of a hand are worth in "
    "Pinochle, and in Bureau all 104 cards up, to which a win adds another unit."
)
"""What "units of the game" are, wherever training speaks of results; the `Ledger.results` of each game make them."""

_GENERAL_TAGS: dict[str, str] = {
    "game/decisions_per_deal": "Decisions with a choice in a deal; forced ones never reach the network.",
    "policy/entropy_play": "Entropy of card plays with a choice, in nats. Falls slowly, as its weight does.",
    "ppo/kl": "KL divergence from the policy that played to the one learned, last epoch, over what is learned from: "
    "decisions or pairs. Healthy: below 0.03; alarm: 0.05.",
    "ppo/clip_fraction": "Share of decisions, or of actions of pairs, with a clipped ratio, last epoch. 0.3 at first, "
    "then below 0.1.",
    "ppo/gradient_norm": "Length of the actor's gradient before it is clipped, mean. A sudden jump announces trouble.",
    "ppo/policy_loss": "The clipped objective, last epoch; slightly below 0.",
    "critic/value_loss": "Huber loss of the critic, in units, last epoch. Falls, then stays: cards are luck.",
    "critic/explained_variance": "Share of the variance of results the critic foresaw. Rises fast to 0.5 and more.",
    "critic/advantage_std": "Standard deviation of the raw advantages, in units. Falls from 0.6 to about 0.35.",
    "pairs/share": "Share of decisions at which two different actions were drawn (learn.advantages = pairs), of those "
    "at which two were drawn at all (learn.pair_share). Starts near 0.7, falls to about 0.1 as play gets decided.",
    "pairs/gain_std": "Root mean square of what one action of a pair brought more than the other, in units. Starts "
    "at 0.5, falls to 0.3 and less.",
    "pairs/equal": "Share of pairs whose two actions came to the same. Starts near 0.6; healthy: rises to 0.8 "
    "and more.",
    "pairs/foretelling_loss": "Huber loss of what hidden layers foretell of the deal (learn.foretelling). Falls, then "
    "stays: cards are luck.",
    "dmc/loss": "Huber loss of the values of the actions taken, in units, last epoch (learn.method = dmc). Falls, then "
    "stays: cards are luck.",
    "dmc/explained_variance": "Share of the variance of results that these values foresaw, before they were learned "
    "from. Healthy: rises to 0.3 and more; a critic that sees all hands foresees more.",
    "dmc/value": "Mean value of the actions taken, in units. Healthy: a little above 0.",
    "dmc/greedy_share": "Share of decisions whose action the network held for the best one when it came to learn from "
    "them. Healthy: nears 1 less schedule/epsilon; lower by what an iteration changes.",
    "dmc/gradient_norm": "Length of the network's gradient before it is clipped, mean. A jump announces trouble.",
    **{
        f"opponents/{name}": f"Units a deal of the bot's seat in training deals with {words} in all other seats. "
        "Healthy: rises."
        for name, words in (
            ("random", "random players"),
            ("heuristic", "rule bots"),
            ("target", "the policy of rollout.target"),
        )
    },
    "league/members": "Networks in the pool.",
    "league/self_mean": "Units a deal against former selves, mean over those met. Healthy: above 0.",
    "league/self_worst": "Units a deal against the former self that the bot does worst against.",
    "league/exploiter_mean": "Units a deal against exploiters in the pool, mean over those met.",
    "league/exploiter_worst": "Units a deal against the exploiter in the pool that the bot does worst against.",
    "league/exploiter_gain": "Units a deal that the exploiter in training gets from the present bot. Healthy: rises "
    "during a life, and to less in each.",
    "schedule/learning_rate": "Step size of Adam at this point of the run.",
    "schedule/entropy": "Weight of the entropy bonus at this point of the run; of no account with DMC.",
    "schedule/epsilon": "Share of decisions drawn evenly at this point of the run (learn.method = dmc).",
    "schedule/temperature": "Temperature of the other decisions at this point of the run, in units.",
    "schedule/progress": "Share of the run's budget that is spent.",
    "speed/deals_per_second": "Training deals a second, learning included, evaluation not.",
    "speed/decisions_per_second": "Decisions of the deals a second; those after other actions of pairs do not count.",
    "speed/share_engine": "Share of the time spent in the game engine. Healthy with networks of 256 units: about 0.1, "
    "with a critic below 0.05.",
    "speed/share_inference": "Share of the time spent asking the network for actions.",
    "speed/share_learning": "Share of the time spent on gradients.",
    "evaluation/random_mean": "Antes, points or cards a deal against random play. Bourré's rule bot gets about +1.1 at "
    "four seats.",
    "evaluation/random_low": "Lower end of its 95 % interval. Healthy: above 0 within seconds.",
    "evaluation/random_high": "Upper end of its 95 % interval.",
    "evaluation/heuristic_mean": "Antes, points or cards a deal against the rule bot; 0 is a draw. It decides "
    "which checkpoint is best.",
    "evaluation/heuristic_low": "Lower end of its 95 % interval.",
    "evaluation/heuristic_high": "Upper end of its 95 % interval.",
    "evaluation/target_mean": "Antes, points or cards a deal against the policy that a best response is trained to "
    "(rollout.target).",
    "evaluation/target_low": "Lower end of its 95 % interval. Above 0: a weakness was found.",
    "evaluation/target_high": "Upper end of its 95 % interval.",
    **{
        f"evaluation_{size}_seats/{name}_{part}": f"{words} of units a deal against {name}, tables of {size} alone. "
        "Where one network learns several sizes, evaluation/ has the mean over them."
        for size in range(2, MOST_SEATS + 1)
        for name in ("random", "heuristic", "target")
        for part, words in (("mean", "Mean"), ("low", "Lower 95 % end"), ("high", "Upper 95 % end"))
    },
}

TAGS: dict[str, str] = {**_GENERAL_TAGS, **{tag: text for game in GAMES for tag, text in part_named(game).tags.items()}}
"""Every number that is ever logged: what it means, and what is healthy."""

_GENERAL_HISTOGRAMS: dict[str, str] = {
    "critic/values": "What the critic expects, in units, after the update. Healthy: spread out, from about -1 to 1.",
    "critic/results": "What the deals brought, in units. Cards are luck: far wider than the values.",
    "critic/advantages": "Results less values, in units. Healthy: narrow, about 0, with tails from bourrés.",
    "dmc/values": "Values of the actions taken, in units, after the update. Healthy: spread out, from about -1 to 1.",
    "pairs/gains": "What one action of a pair brought more than the other, in units. Healthy: a peak at 0, even tails.",
    "ppo/log_ratio": "Log of new over old probability of the actions played. Healthy: a narrow peak at 0.",
}

HISTOGRAMS: dict[str, str] = {
    **_GENERAL_HISTOGRAMS,
    **{tag: text for game in GAMES for tag, text in part_named(game).histograms.items()},
}
"""Every histogram, each of a sample of the decisions of one iteration."""

PICTURES: dict[str, str] = {
    "pictures/pass_rate_by_trumps": "The numbers pass_rate/trumps_*. Healthy: stairs down from left to right.",
    "pictures/pass_rate_by_position": "The numbers pass_rate/position_*, the eldest seat first and the dealer last.",
    "pictures/draws": "The numbers game/draws_*: how many cards the hands that stay draw.",
    "pictures/entropy_by_phase": "policy/entropy_declare and policy/entropy_trick_*, in nats.",
}
"""Every picture."""

TEXTS: dict[str, str] = {
    "config": "The settings of the run.",
    "tags": "This table.",
    "ended": "Why the run is over.",
    "league": "The members of the pool, and what the bot gets from each.",
}
"""Every text."""


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


def describe_opponents(rollout: "Rollout", names: Sequence[str]) -> dict[str, float]:
    """What the network got, in pots a deal, where another policy had all other seats.

    Args:
        rollout: finished deals.
        names: what tags call the policies; any that is not of `OPPONENTS` counts as the target.

    Returns:
        Values by tag; who was not met is left out.
    """
    values = {}
    for index, name in enumerate(names):
        results = results_against(rollout, index)
        if len(results):
            values[f"opponents/{name if name in OPPONENTS else 'target'}"] = float(results.mean())
    return values


def results_against(rollout: "Rollout", index: int) -> NDArray[np.float32]:
    """[k] pots the network got in each of the deals whose other seats policy `index` had."""
    deals = np.flatnonzero(rollout.opponent == index)
    results: NDArray[np.float32] = rollout.results[deals, rollout.own_seat[deals]]
    return results


def mean_or_nan(values: NDArray[Any]) -> float:
    """The mean, or NaN of nothing."""
    return float(values.mean()) if values.size else math.nan


def tags_as_table() -> str:
    """The tags and their meaning as a Markdown table."""
    rows = [*TAGS.items(), *HISTOGRAMS.items(), *PICTURES.items(), *TEXTS.items()]
    return "\n".join([UNITS, "", "| tag | meaning |", "| --- | --- |", *(f"| {tag} | {text} |" for tag, text in rows)])


def require_explained(tags: Iterable[str], explained: Mapping[str, str]) -> None:
    """Refuse tags nobody could look up.

    Raises:
        KeyError: names the first.
    """
    for tag in tags:
        if tag not in explained:
            raise KeyError(f"tag {tag!r} is not explained in metrics.py")
