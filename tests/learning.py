"""Small networks, deals and runs to learn with."""

from pathlib import Path
from typing import Any

import numpy as np

from agents.bourre.starts import PotsAndStacks, StartingPots
from agents.checkpoint import Header
from agents.config import Config, LearnConfig, check_config
from agents.metrics import Stopwatch
from agents.network import Actor, NetworkSpec
from agents.pot_credit import Credit
from agents.ppo import Learner
from agents.rollout import Rollout, SelfPlay
from agents.threads import Threads
from agents.trainer import Trainer
from bourre_env import Rules
from bourre_env.bourre.observation import layout

PAGAT = Rules.preset("pagat", num_players=4)
ONE_THREAD = Threads(1)
TINY = {"actor_width": 16, "actor_layers": 1, "critic_width": 16, "critic_layers": 1}

TINY_RUN: dict[str, dict[str, Any]] = {
    "run": {"deals": 1280, "threads": 1, "checkpoint_every": 3, "pictures_every": 0},
    "network": TINY,
    "rollout": {"deals": 64},
    "learn": {"minibatch": 256, "learning_rate": 3e-3},
    "evaluation": {"times": 2, "blocks": 4, "final_blocks": 10},
}


def tiny_config(**changes: dict[str, Any]) -> Config:
    """Twenty iterations of 64 deals, with some sections' keys changed."""
    return check_config(
        {section: {**TINY_RUN.get(section, {}), **changes.get(section, {})} for section in {**TINY_RUN, **changes}}
    )


def tiny_trainer(
    folder: Path, *, resume: bool = False, warnings: list[str] | None = None, **changes: dict[str, Any]
) -> Trainer:
    """A trainer in a folder that is made if need be."""
    folder.mkdir(exist_ok=True)
    return Trainer(
        tiny_config(**changes), folder, warn=[].append if warnings is None else warnings.append, resume=resume
    )


def tiny_spec(rules: Rules = PAGAT, seats_shown: int | None = None) -> NetworkSpec:
    seats = rules.num_players if seats_shown is None else seats_shown
    return NetworkSpec.for_rules(rules, seats_shown=seats, privileged=True, layer_norm=True, **TINY)


def tiny_learner(*, seed: int = 1, spec: NetworkSpec | None = None, **learn: Any) -> Learner:
    return Learner(spec or tiny_spec(), LearnConfig(minibatch=256, **learn), seed=seed)


def header_of(actor: Actor, rules: Rules = PAGAT) -> Header:
    return Header((rules,), rules.num_players, layout(rules).hash, actor.spec, iteration=3, deals=192, decisions=1800)


def deals_of(
    actor: Actor,
    *,
    first: int = 0,
    number: int = 128,
    credit: Credit | None = None,
    pairs: bool = False,
    **settings: Any,
) -> Rollout:
    """Self-play deals on one thread."""
    setting = SelfPlay(PAGAT, 1, PAGAT.num_players, **{"starts": PotsAndStacks(StartingPots(0.5, 20, 0.5)), **settings})
    deal_ids = np.arange(first, first + number)
    return setting.play(actor, deal_ids, threads=ONE_THREAD, watch=Stopwatch(), credit=credit, pairs=pairs)
