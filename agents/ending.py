"""When a run is over, and why: a pure function of its settings and counters, so that a resumed run ends alike."""

from agents.config import RunConfig
from agents.counters import Counters


def progress(run: RunConfig, done: Counters) -> float:
    """Share of the budget that is spent, 0 to 1; whichever of deals and minutes is further counts."""
    shares = [done.deals / run.deals] if run.deals is not None else []
    if run.minutes is not None:
        shares.append(done.minutes / run.minutes)
    return min(1.0, max(shares))


def why_over(run: RunConfig, done: Counters) -> str | None:
    """In words why a run ends here; None while it goes on."""
    if run.target is not None and done.low is not None and done.low >= run.target:
        return (
            f"target reached: the lower end of the interval against heuristic is {done.low:+.3f} antes a deal, "
            f"run.target is {run.target:+g}"
        )
    if run.patience is not None and done.without_better >= run.patience:
        return f"patience spent: {done.without_better} evaluations without a better one, run.patience is {run.patience}"
    if run.deals is not None and done.deals >= run.deals:
        return f"all deals played: run.deals is {run.deals:,}"
    if run.minutes is not None and done.minutes >= run.minutes:
        return f"time is up: run.minutes is {run.minutes:g}"
    return None
