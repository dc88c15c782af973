"""`evaluate.py benchmark`: the fixed protocol on one policy, and its card of results."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from agents.benchmark import (
    BASELINES,
    BLOCKS,
    SESSION_BLOCKS,
    SIZES,
    Protocol,
    Section,
    exact_values,
    plans,
    play_section,
)
from agents.card import Attack, Card, as_markdown, plain_card
from agents.commands.exploit import CONTROL_BLOCKS, CONTROL_DEALS, control_target, train_with_progress
from agents.commands.options import (
    BadInputError,
    Commands,
    FailedError,
    add_workers,
    check_folder,
    command_line,
    folder,
    integer,
    versions,
    workers_of,
    write_json,
)
from agents.entrants import Entrant, parse_entrants
from agents.exact import GAMES
from agents.executors import Workers
from agents.exploit import DEFAULT_CONFIG, Plan, Training, best_of, local_gains
from agents.files import replace_file
from agents.local_best_response import Search
from agents.policy import PolicyError, PolicyFailedError, check_rules, load_policy, tells_probs
from agents.progress import Progress
from agents.statistics import Estimate

FILES = ("card.md", "card.json")
RESPONSE_SIZE = 4  # seats at which best responses are looked for
RESPONSE_DEALS = 300_000
RESPONSE_SEEDS = 3
CONTROL = control_target(RESPONSE_SIZE)
LOCAL_BLOCKS = 200


def add_to(commands: Commands) -> None:
    """Add the command."""
    benchmark = commands.add_parser(
        "benchmark",
        help="the fixed protocol: one card of results",
        description="Measure a policy by the fixed protocol: baselines at every table size, sessions, reduced games, "
        "best responses. Print the card, which is Markdown.",
        allow_abbrev=False,
    )
    benchmark.add_argument("spec", metavar="SPEC", help="a policy, as in a tournament; NAME=SPEC gives it a name")
    add = benchmark.add_argument
    add(
        "--final",
        action="store_true",
        help="play the final deals, which are for a claim to be measured on once; else the development deals",
    )
    blocks = integer(2, None, "an interval needs at least 2")
    add("--blocks", type=blocks, default=BLOCKS, metavar="N", help="deals a pair, each from every seat (%(default)s)")
    add(
        "--session-blocks",
        type=integer(0, None),
        default=SESSION_BLOCKS,
        metavar="N",
        help="sessions a pair, each from every seat; 0 leaves sessions out (%(default)s)",
    )
    add("--seats", type=integer(2, 8), nargs="+", default=list(SIZES), metavar="N", help="table sizes (2 3 4 5 8)")
    deals = integer(0, None)
    add(
        "--response-deals",
        type=deals,
        default=RESPONSE_DEALS,
        metavar="N",
        help="training deals of each best response; 0 leaves best responses out (%(default)s)",
    )
    add_workers(benchmark)
    add("--out", type=folder, metavar="DIR", help="folder for card.md and card.json")
    benchmark.set_defaults(run=run)


def run(options: argparse.Namespace, words: Sequence[str]) -> None:
    """Measure, print the card and, when asked to, write it."""
    if options.session_blocks == 1:
        raise BadInputError("--session-blocks 1: an interval needs at least 2; 0 leaves sessions out")
    if options.out is not None:
        check_folder(options.out, FILES)
    subject = _subject(options.spec)
    sets = "final" if options.final else "development"
    protocol = Protocol(sets, options.blocks, options.session_blocks, tuple(dict.fromkeys(options.seats)))
    policy = load_policy(subject.spec)
    sections = _sections(subject, protocol, workers_of(options))
    if not any(section.cells for section in sections):
        raise BadInputError(f"{options.spec} can play at none of the tables of the protocol: {sections[0].obstacle}")
    with Progress(len(GAMES), "reduced games", sys.stderr) as progress:
        exact = exact_values(policy, report=progress.add)
    card = Card(
        subject=subject,
        digest=subject.identity(),
        protocol=protocol,
        sections=sections,
        exact=exact,
        is_exact=tells_probs(policy),
        attacks=_attacks(subject, protocol, options),
        command=command_line(words),
        versions=versions(),
    )
    if options.out is not None:  # before anything is printed: perhaps nobody reads
        write_json(options.out / "card.json", plain_card(card))
        replace_file(options.out / "card.md", as_markdown(card).encode())
    print(as_markdown(card), end="")


def _subject(text: str) -> Entrant:
    """The one policy to measure."""
    entrants = parse_entrants([text], fewest=1)
    if len(entrants) > 1:
        raise PolicyError(f"{text} stands for {len(entrants)} policies; a card is for one, such as {entrants[0].spec}")
    if entrants[0].name in BASELINES:
        return Entrant(f"{entrants[0].name} (measured)", entrants[0].spec)
    return entrants[0]


def _sections(subject: Entrant, protocol: Protocol, workers: Workers) -> tuple[Section, ...]:
    """Every tournament of the protocol."""
    sections = []
    with Progress(None, "deals", sys.stderr) as progress:
        for title, plan in plans(subject, protocol):
            deals = plan.terms.session

            def report(played: int, left: int, deals: int = deals) -> None:
                progress.add(played * deals, left * deals)

            sections.append(play_section(title, plan, workers=workers, report=report))
    return tuple(sections)


def _attacks(subject: Entrant, protocol: Protocol, options: argparse.Namespace) -> tuple[Attack, ...] | str:
    """A local best response, and the best of several trained ones, each beside its control; or why there are none.

    Raises:
        FailedError: a control found no gain where there is one, or training diverged.
    """
    if not options.response_deals:
        return "Left out."
    plan = Plan(subject.spec, "pagat", RESPONSE_SIZE, LOCAL_BLOCKS, protocol.seed)
    try:
        check_rules(subject.load(), plan.rules())
        local = _look_ahead(plan, workers_of(options))
        plan = replace(plan, blocks=protocol.blocks)
        return local, _train(plan, options.response_deals, workers_of(options))
    except PolicyError as error:
        return f"Not played: {error}"
    except PolicyFailedError as error:
        return f"Not measured: {error}"


def _look_ahead(plan: Plan, workers: Workers) -> Attack:
    """A local best response to a policy."""

    def gain(plan: Plan) -> Estimate:
        with Progress(plan.blocks * plan.seats, "deals of the local best response", sys.stderr) as progress:
            return plan.estimated(local_gains(plan, Search(), workers=workers, report=progress.add))

    control = gain(replace(plan, spec=CONTROL, blocks=CONTROL_BLOCKS["local"]))
    _check_control("local best response", control)
    return Attack(f"local best response, {plan.blocks:,} deals", gain(plan), control)


def _train(plan: Plan, deals: int, workers: Workers) -> Attack:
    """The best of several trained responses to a policy."""
    weak = replace(plan, spec=CONTROL, blocks=CONTROL_BLOCKS["ppo"])
    control = train_with_progress(weak, Training(DEFAULT_CONFIG, 1, CONTROL_DEALS, None), workers)[0].gain
    _check_control("trained response", control)
    responses = train_with_progress(plan, Training(DEFAULT_CONFIG, RESPONSE_SEEDS, deals, None), workers)
    effort = f"best of {RESPONSE_SEEDS} trained responses, {deals:,} deals each"
    return Attack(effort, best_of(responses).gain, control)


def _check_control(attack: str, gain: Estimate) -> None:
    """Refuse an attack that misses a weakness everybody knows.

    Raises:
        FailedError: it does.
    """
    if gain.low <= 0:
        raise FailedError(
            f"the control of the {attack} failed: it gains {gain.mean:+.3f} ({gain.low:+.3f} to {gain.high:+.3f}) from "
            f"{CONTROL}, not clearly more than 0, so that its silence about any policy would say nothing"
        )
