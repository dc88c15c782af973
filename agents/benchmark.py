"""The fixed protocol: what is measured of every policy in the same way, so that cards can be laid side by side.

Two sets of deals: the development set, to look at as often as one likes, and the final set, which nothing else in this
project plays and which a claim should be measured on once. Neither shares a deal with training.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agents.arena import stream_seed
from agents.cells import Cell
from agents.entrants import Entrant
from agents.exact import GAMES, Exploitability, game, measure
from agents.executors import Workers
from agents.policy import Policy, PolicyError, PolicyFailedError, check_rules
from agents.results import LineUp, Results, Terms
from agents.stopping import FixedBlocks
from agents.summary import summarise
from agents.tournament import Plan, play_tournament
from bourre_env.bourre.rules import Rules

SIZES = (2, 3, 4, 5, 8)
BASELINES = ("heuristic", "random", "always_stay", "always_pass")
BLOCKS = 5000
SESSION_SIZE, SESSION_DEALS, SESSION_BLOCKS = 4, 200, 200
SETS = {"development": "benchmark: development deals", "final": "benchmark: final deals, to be played once"}


@dataclass(frozen=True, slots=True)
class Protocol:
    """How much is measured.

    Attributes:
        deals: "development" or "final".
        blocks: deals a pair, each played from every seat.
        session_blocks: sessions a pair.
        sizes: players at the table.
    """

    deals: str = "development"
    blocks: int = BLOCKS
    session_blocks: int = SESSION_BLOCKS
    sizes: tuple[int, ...] = SIZES

    @property
    def deviations(self) -> str:
        """How this is less, or other, than the protocol; empty when it is the protocol."""
        usual = Protocol(self.deals)
        listed = {"blocks": self.blocks, "session blocks": self.session_blocks, "table sizes": self.sizes}
        expected = usual.blocks, usual.session_blocks, usual.sizes
        return ", ".join(
            f"{name} {found}" for (name, found), known in zip(listed.items(), expected, strict=True) if found != known
        )

    @property
    def seed(self) -> int:
        """Of the deals; no other part of this project draws from these streams."""
        return stream_seed(0, SETS[self.deals])


@dataclass(frozen=True, slots=True)
class Section:
    """What was measured at one kind of table.

    Attributes:
        title: in words.
        cells: of the policy and the baselines; empty where it cannot play.
        obstacle: why it cannot.
        faults: who forfeited deals there, in words.
    """

    title: str
    cells: tuple[Cell, ...]
    obstacle: str = ""
    faults: tuple[str, ...] = ()


def plans(subject: Entrant, protocol: Protocol) -> list[tuple[str, Plan]]:
    """The tournaments of the protocol: single deals at every table size, and sessions under a limit."""
    single = [
        (f"{size} seats, single deals", Terms(Rules.preset("pagat", num_players=size)), protocol.blocks)
        for size in protocol.sizes
    ]
    rules = Rules.preset("pagat_limit", num_players=SESSION_SIZE)
    title = f"{SESSION_SIZE} seats, sessions of {SESSION_DEALS} deals with a limit of {rules.limit} chips"
    sessions = (
        [(title, Terms(rules, session=SESSION_DEALS), protocol.session_blocks)] if protocol.session_blocks else []
    )
    return [(title, _plan(subject, terms, blocks, protocol.seed)) for title, terms, blocks in [*single, *sessions]]


def _plan(subject: Entrant, terms: Terms, blocks: int, seed: int) -> Plan:
    """The policy against every baseline, one of it against their field and its field against one of them."""
    names = [name for name in BASELINES if name != subject.name]
    others = terms.rules.num_players - 1
    line_ups: list[LineUp] = [(subject.name,) + (name,) * others for name in names]
    line_ups += [(name,) + (subject.name,) * others for name in names]
    entrants = (subject, *(Entrant(name, name) for name in names))
    return Plan(entrants, terms, tuple(line_ups), seed, FixedBlocks(blocks))


def play_section(
    title: str,
    plan: Plan,
    *,
    workers: int | Workers = 1,
    report: Callable[[int, int], None] = lambda played, left: None,
) -> Section:
    """Play one tournament of the protocol; one that the policy cannot play is told instead.

    Args:
        title: of the section.
        plan: one of `plans`.
        workers: processes, or who else; the results do not depend on it.
        report: as in `play_tournament`.
    """
    try:
        check_rules(plan.entrants[0].load(), plan.terms.rules)
    except PolicyError as error:
        return Section(title, (), str(error))
    results = play_tournament(plan, workers=workers, report=report)
    cells = tuple(summarise(results, plan.line_ups, seed=plan.seed).cells)
    return Section(title, cells, faults=tuple(_faults(results)))


def _faults(results: Results) -> Iterator[str]:
    """Who forfeited deals (7.2), and what happened first."""
    for name in results.entrants:
        if forfeits := results.forfeits(name):
            faults = results.faults.get(name)
            yield f"{name} forfeited {forfeits:,} deals (rule 7.2); first: {faults.example if faults else 'unknown'}"


def exact_values(policy: Policy, *, report: Callable[[int], None] = lambda _: None) -> dict[str, Exploitability | str]:
    """How a policy does in each of the reduced games; in words, why it cannot play one.

    Raises:
        ControlError: a game did not pass its controls.
    """
    found: dict[str, Exploitability | str] = {}
    for name in GAMES:
        try:
            check_rules(policy, Rules.preset(name))
            game(name)
            found[name] = measure(policy, name)
        except (PolicyError, PolicyFailedError) as error:
            found[name] = str(error)
        report(1)
    return found
