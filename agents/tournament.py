"""A tournament: every entrant once as the focal policy against a table full of every other entrant.

The result of an ordered pair is a cell. All cells play the same deals, and a cell depends on its two entrants, the
rules, the seed and the number of blocks alone.
"""

import io
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena import COLUMNS, BlockResults, concatenated, play_blocks, stream_seed
from agents.executors import map_unordered
from agents.policy import Decision, Policy, PolicyError, check_rules, load_policy
from agents.statistics import Estimate, estimate
from bourre_env.bourre.rules import Rules

BLOCKS_IN_A_TASK = 512  # fixed, so that no result can depend on the number of workers
BOOTSTRAP_STREAM = "tournament: bootstrap"
_NAMED_SPEC = re.compile(r"([A-Za-z0-9_.+-]+)=(.+)")


@dataclass(frozen=True, slots=True)
class Entrant:
    """A policy under the name it plays by.

    Attributes:
        name: what the tables call it.
        spec: what `load_policy` loads.
    """

    name: str
    spec: str

    def load(self) -> Policy:
        """The policy, playing under the entrant's name."""
        return _Entered(self.name, load_policy(self.spec))


@dataclass(frozen=True, slots=True)
class _Entered:
    """A policy whose messages carry the name it entered under."""

    name: str
    policy: Policy

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.integer[Any]]:
        """[D] actions."""
        return self.policy.act(decision, rng)

    def check_rules(self, rules: Rules) -> None:
        """Whatever the policy says."""
        check_rules(self.policy, rules)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a tournament is going to play.

    Attributes:
        entrants: two or more, with different names.
        rules: the rules played by.
        blocks: deals a cell, each played once from every seat.
        seed: of the experiment.
        buy_in: antes each seat begins each deal with at table stakes; None on credit.
    """

    entrants: tuple[Entrant, ...]
    rules: Rules
    blocks: int
    seed: int
    buy_in: int | None = None

    @property
    def pairs(self) -> list[tuple[Entrant, Entrant]]:
        """Focal entrant and field of each cell."""
        return list(itertools.permutations(self.entrants, 2))

    @property
    def num_deals(self) -> int:
        """Deals in all cells together."""
        return len(self.pairs) * self.blocks * self.rules.num_players

    def tasks(self) -> list["BlockTask"]:
        """The work, cut into pieces that can be played anywhere and in any order."""
        starts = range(0, self.blocks, BLOCKS_IN_A_TASK)
        spans = [(start, min(start + BLOCKS_IN_A_TASK, self.blocks)) for start in starts]
        return [
            BlockTask(self.rules, focal, field, self.seed, start, end, self.buy_in)
            for start, end in spans
            for focal, field in self.pairs
        ]


@dataclass(frozen=True, slots=True)
class BlockTask:
    """Some blocks of one cell: deals `first` up to, not including, `end`."""

    rules: Rules
    focal: Entrant
    field: Entrant
    seed: int
    first: int
    end: int
    buy_in: int | None


@dataclass(frozen=True, slots=True)
class Cell:
    """How one focal seat fares against a table of the field.

    Attributes:
        focal: name of the focal entrant.
        field: name of the entrant in all other seats.
        antes: antes a deal.
        bourre_rate: share of its deals in which it goes bourré.
        pass_rate: share of its deals in which it passes.
        pots_won: share of its deals in which it takes the pot.
    """

    focal: str
    field: str
    antes: Estimate
    bourre_rate: Estimate
    pass_rate: Estimate
    pots_won: Estimate


def parse_entrants(texts: Sequence[str]) -> tuple[Entrant, ...]:
    """Entrants from texts, each a spec or NAME=SPEC; an unnamed entrant is called by its spec.

    Raises:
        PolicyError: fewer than two, two of one name, or a person.
    """
    named = [_NAMED_SPEC.fullmatch(text) for text in texts]
    entrants = tuple(
        Entrant(match[1], match[2]) if match else Entrant(text, text) for match, text in zip(named, texts, strict=True)
    )
    if len(entrants) < 2:
        raise PolicyError(f"a tournament needs at least two entrants; {len(entrants)} was given")
    name, count = Counter(entrant.name for entrant in entrants).most_common(1)[0]
    if count > 1:
        raise PolicyError(f"{count} entrants are called {name!r}; name them apart with NAME=SPEC, such as first={name}")
    if any(entrant.spec == "human" for entrant in entrants):
        raise PolicyError("'human' cannot enter a tournament: a block shows the same deal from every seat")
    return entrants


def check_entrants(plan: Plan) -> None:
    """Load every entrant once and ask whether it can play under the rules.

    Raises:
        PolicyError: one cannot be loaded, or cannot play under these rules.
    """
    for entrant in plan.entrants:
        check_rules(entrant.load(), plan.rules)


def play_tournament(
    plan: Plan, *, workers: int = 1, report: Callable[[int], None] = lambda _: None
) -> dict[tuple[str, str], BlockResults]:
    """Play every cell.

    Args:
        plan: what to play.
        workers: processes; the results do not depend on it.
        report: called with the number of deals played since the last call.

    Returns:
        The blocks by (name of the focal entrant, name of the field), in the order of `Plan.pairs`.

    Raises:
        PolicyError: an entrant cannot be loaded, or cannot play under the rules.
        PolicyFailedError: an entrant raised, or did not answer with legal actions.
    """
    tasks = plan.tasks()
    parts: dict[tuple[str, str], list[BlockResults]] = defaultdict(list)
    for number, blocks in map_unordered(play_task, tasks, workers=workers):
        parts[tasks[number].focal.name, tasks[number].field.name].append(blocks)
        report(blocks.returns.size)
    cells = ((focal.name, field.name) for focal, field in plan.pairs)
    return {cell: concatenated(sorted(parts[cell], key=lambda part: int(part.deal_ids[0]))) for cell in cells}


def play_task(task: BlockTask) -> BlockResults:
    """Play one piece of a cell with freshly loaded policies."""
    deal_ids = np.arange(task.first, task.end)
    policies = task.focal.load(), task.field.load()
    return play_blocks(task.rules, *policies, seed=task.seed, deal_ids=deal_ids, buy_in=task.buy_in)


def cells_of(plan: Plan, results: dict[tuple[str, str], BlockResults]) -> list[Cell]:
    """Means and intervals of every cell, in the order of the results."""
    seed = stream_seed(plan.seed, BOOTSTRAP_STREAM)
    return [_cell(names, blocks, seed) for names, blocks in results.items()]


def _cell(names: tuple[str, str], blocks: BlockResults, seed: int) -> Cell:
    """One cell; every interval comes from the same resampled blocks."""
    return Cell(
        focal=names[0],
        field=names[1],
        antes=estimate(blocks.block_means, seed=seed),
        bourre_rate=estimate(blocks.bourre.mean(axis=1), seed=seed),
        pass_rate=estimate(blocks.passed.mean(axis=1), seed=seed),
        pots_won=estimate(blocks.took_pot.mean(axis=1), seed=seed),
    )


def plain_cell(cell: Cell, num_players: int) -> dict[str, Any]:
    """A cell as JSON writes it: antes a deal under plain names, every share with its interval."""
    plain: dict[str, Any] = {
        "focal": cell.focal,
        "field": cell.field,
        "seats": num_players,
        "mean": cell.antes.mean,
        "low": cell.antes.low,
        "high": cell.antes.high,
        "t_low": cell.antes.t_low,
        "t_high": cell.antes.t_high,
        "blocks": cell.antes.blocks,
        "deals": cell.antes.blocks * num_players,
    }
    for name in ("bourre_rate", "pass_rate", "pots_won"):
        share: Estimate = getattr(cell, name)
        plain |= {name: share.mean, f"{name}_low": share.low, f"{name}_high": share.high}
    return plain


def block_file(plan: Plan, results: dict[tuple[str, str], BlockResults]) -> bytes:
    """All blocks as an `.npz` file, without pickled objects.

    Arrays: focal, field [cells] names; deal_ids [blocks]; returns, carry (chips), passed, bourre, took_pot
    [cells, blocks, seats], the last axis being the seat the focal policy sat in; seed, ante; buy_in (antes, 0 on
    credit); fingerprint of the rules.
    """
    parts = list(results.values())
    arrays: dict[str, Any] = {
        "focal": np.array([focal for focal, _ in results]),
        "field": np.array([field for _, field in results]),
        "deal_ids": parts[0].deal_ids,
        "seed": np.uint64(plan.seed),
        "ante": np.int64(plan.rules.ante),
        "buy_in": np.int64(plan.buy_in or 0),
        "fingerprint": np.array(plan.rules.fingerprint),
        **{name: np.stack([getattr(part, name) for part in parts]) for name in COLUMNS if name != "deal_ids"},
    }
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()
