"""Where all entrants of a tournament stand: every rating of `agents.ratings` and `agents.population` side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agents.lineups import OutcomesError, entrants_of, pooled
from agents.outcomes import Outcomes
from agents.plackett_luce import fit_plackett_luce
from agents.population import NotAvailable, alpha_rank, maximal_lottery
from agents.ratings import Ratings, check_connected, fit_ratings
from agents.scores import Scores

FEWEST_IN_A_CIRCLE = 3  # entrants that can beat each other in a circle


@dataclass(frozen=True, slots=True)
class Standing:
    """The ratings of all entrants.

    Attributes:
        ratings: strengths in units a deal, and how far they explain the results.
        plackett_luce: log-strengths by blocks won.
        alpha_rank: share of a population that evolves; or why there is none.
        lottery: maximal lottery over the entrants; or why there is none.
    """

    ratings: Ratings
    plackett_luce: Scores
    alpha_rank: Scores | NotAvailable
    lottery: Scores | NotAvailable

    def plain(self) -> dict[str, Any]:
        """All of it as JSON writes it."""
        return {
            "strength": self.ratings.strength.plain(),
            "fit": self.ratings.fit.plain(),
            "plackett_luce": self.plackett_luce.plain(),
            "alpha_rank": _plain(self.alpha_rank),
            "maximal_lottery": _plain(self.lottery),
        }


def standing_of(outcomes: Sequence[Outcomes], *, seed: int) -> Standing | None:
    """All ratings from all results; None when some entrants have no chain of line-ups between them.

    Args:
        outcomes: results in any order and in any number of parts.
        seed: of all bootstraps.

    Raises:
        OutcomesError: results that contradict themselves.
    """
    line_ups = pooled(outcomes)
    names = entrants_of(line_ups)
    try:
        check_connected(line_ups, names)
    except OutcomesError:
        return None
    few = NotAvailable(f"{len(names)} entrants cannot beat each other in a circle")
    goes_round = len(names) >= FEWEST_IN_A_CIRCLE
    return Standing(
        ratings=fit_ratings(outcomes, seed=seed),
        plackett_luce=fit_plackett_luce(outcomes, seed=seed),
        alpha_rank=alpha_rank(outcomes, seed=seed) if goes_round else few,
        lottery=maximal_lottery(outcomes, seed=seed) if goes_round else few,
    )


def _plain(scores: Scores | NotAvailable) -> list[dict[str, str | float]] | dict[str, str]:
    """Scores, or why there are none."""
    return {"not_available": scores.reason} if isinstance(scores, NotAvailable) else scores.plain()
