"""What every rank of `test_ranks.py` runs: trouble that only the second rank has, and what either makes of it."""

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from learning import tiny_config

from agents.descent import DivergedError
from agents.ranks import Ranks, joined_ranks
from agents.trainer import Trainer


def trouble_in_play(trainer: Trainer) -> None:
    def play(*_: object, **__: object) -> None:
        raise FloatingPointError("row 0: no numbers on the second rank")

    whole = trainer._deals
    trainer._deals = type("Broken", (), {"play": play, "in_play": lambda *_: 1, "opponents": whole.opponents})()
    trainer._deals.meeting = lambda _: trainer._deals


def trouble_in_the_critics_loss(trainer: Trainer) -> None:
    update = trainer.learner.update

    def spoilt(rollout, *arguments, **options):
        rollout.rewards[0] = np.inf
        return update(rollout, *arguments, **options)

    trainer.learner.update = spoilt


def trouble_in_the_actor(trainer: Trainer) -> None:
    update = trainer.learner.update

    def spoilt(rollout, *arguments, **options):
        rollout.log_probs[0] = np.nan
        return update(rollout, *arguments, **options)

    trainer.learner.update = spoilt


def what_is_made_of(trouble: Callable[[Trainer], None], ranks: Ranks) -> str:
    """The error that ends a run, or that there is none."""
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(
            tiny_config(run={"threads": 2}, learn={"advantages": "critic"}), Path(folder), warn=print, ranks=ranks
        )
        if ranks.index == 1:
            trouble(trainer)
        try:
            trainer.run(stop=lambda: trainer.counters.iteration > 2, report=lambda _: None)
        except DivergedError as error:
            return f"{type(error).__name__}: {error}"
        finally:
            trainer.close()
    return "none"


def stopped_by_the_second(ranks: Ranks) -> int:
    """Iterations of a run that only the second rank is asked to stop."""
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(tiny_config(), Path(folder), warn=print, ranks=ranks)
        trainer.run(stop=lambda: ranks.index == 1 and trainer.counters.iteration == 3, report=lambda _: None)
        trainer.close()
    return trainer.counters.iteration


def minutes_of_the_first(ranks: Ranks) -> tuple[float, bool]:
    """Minutes and end of a run whose second rank has a clock that runs ahead."""
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(tiny_config(run={"minutes": 1.0}), Path(folder), warn=print, ranks=ranks)
        trainer.counters.minutes = 0.999 if ranks.is_first else 50.0
        trainer.run(stop=lambda: False, report=lambda _: None)
        trainer.close()
    return trainer.counters.minutes, trainer.why_over is not None


if __name__ == "__main__":
    with joined_ranks() as ranks:
        found = {
            "play": what_is_made_of(trouble_in_play, ranks),
            "critic": what_is_made_of(trouble_in_the_critics_loss, ranks),
            "actor": what_is_made_of(trouble_in_the_actor, ranks),
            "stopped": stopped_by_the_second(ranks),
            "minutes": minutes_of_the_first(ranks),
        }
    json.dump(found, sys.stdout)
