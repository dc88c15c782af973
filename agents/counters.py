"""How far a run has come."""

from dataclasses import dataclass


@dataclass(slots=True)
class Counters:
    """Plain numbers, saved with the networks.

    Attributes:
        iteration: iterations done.
        deals: training deals played.
        decisions: decisions learned from.
        minutes: time spent in all, evaluations included, in every session of the run.
        evaluations: evaluations done.
        best: mean of the best evaluation in units (antes, points) a deal; None before the first.
        low: lower end of the interval of the last evaluation; None before the first.
        without_better: evaluations since the best one.
    """

    iteration: int = 0
    deals: int = 0
    decisions: int = 0
    minutes: float = 0.0
    evaluations: int = 0
    best: float | None = None
    low: float | None = None
    without_better: int = 0
