"""`evaluate.py benchmark`: the fixed protocol on one policy, and its card of results."""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

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
from agents.commands.options import (
    BadInputError,
    Commands,
    check_folder,
    command_line,
    folder,
    integer,
    versions,
)
from agents.entrants import Entrant, parse_entrants
from agents.exact import GAMES
from agents.executors import usable_cores
from agents.exploit import DEFAULT_CONFIG, Plan, Training, best_of, local_gains, train_responses
from agents.files import replace_file
from agents.local_best_response import Search
from agents.policy import PolicyError, PolicyFailedError, check_rules, load_policy, tells_probs
from agents.progress import Progress

FILES = ("card.md", "card.json")
RESPONSE_SIZE = 4  # seats at which best responses are looked for
RESPONSE_DEALS = 300_000
RESPONSE_SEEDS = 2
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
    add("--session-blocks", type=integer(0, None), default=SESSION_BLOCKS, metavar="N", help="sessions (%(default)s)")
    add("--seats", type=integer(2, 8), nargs="+", default=list(SIZES), metavar="N", help="table sizes (2 3 4 5 8)")
    deals = integer(0, None)
    add(
        "--response-deals",
        type=deals,
        default=RESPONSE_DEALS,
        metavar="N",
        help="training deals of each best response; 0 leaves best responses out (%(default)s)",
    )
    add("--workers", type=integer(1, None), default=usable_cores(), metavar="N", help="processes (%(default)s)")
    add("--out", type=folder, metavar="DIR", help="folder for card.md and card.json")
    benchmark.set_defaults(run=run)


def run(options: argparse.Namespace, words: Sequence[str]) -> None:
    """Measure, print the card and, when asked to, write it."""
    if options.out is not None:
        check_folder(options.out, FILES)
    subject = _subject(options.spec)
    sets = "final" if options.final else "development"
    protocol = Protocol(sets, options.blocks, options.session_blocks, tuple(dict.fromkeys(options.seats)))
    policy = load_policy(subject.spec)
    sections = _sections(subject, protocol, options.workers)
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
    print(as_markdown(card), end="")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        replace_file(options.out / "card.md", as_markdown(card).encode())
        replace_file(options.out / "card.json", (json.dumps(plain_card(card), indent=1) + "\n").encode())


def _subject(text: str) -> Entrant:
    """The one policy to measure."""
    entrants = parse_entrants([text], fewest=1)
    if len(entrants) > 1:
        raise PolicyError(f"{text} stands for {len(entrants)} policies; a card is for one, such as {entrants[0].spec}")
    if entrants[0].name in BASELINES:
        return Entrant(f"{entrants[0].name} (measured)", entrants[0].spec)
    return entrants[0]


def _sections(subject: Entrant, protocol: Protocol, workers: int) -> tuple[Section, ...]:
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
    """A local best response, and the best of several trained ones."""
    plan = Plan(subject.spec, "pagat", RESPONSE_SIZE, LOCAL_BLOCKS, protocol.seed)
    if not options.response_deals:
        return "Left out."
    try:
        check_rules(subject.load(), plan.rules())
    except PolicyError as error:
        return f"Not played: {error}"
    try:
        return _played_attacks(plan, subject, protocol, options)
    except PolicyFailedError as error:  # the tables that were played are worth a card all the same
        return f"Given up: {error}"


def _played_attacks(
    plan: Plan, subject: Entrant, protocol: Protocol, options: argparse.Namespace
) -> tuple[Attack, ...]:
    """The attacks on a policy that can play."""
    with Progress(plan.blocks * plan.seats, "deals of the local best response", sys.stderr) as progress:
        gains = local_gains(plan, Search(), workers=options.workers, report=progress.add)
    local = Attack(f"local best response, {LOCAL_BLOCKS} deals", plan.estimated(gains))
    plan = Plan(subject.spec, "pagat", RESPONSE_SIZE, protocol.blocks, protocol.seed)
    training = Training(DEFAULT_CONFIG, RESPONSE_SEEDS, options.response_deals, None)
    with tempfile.TemporaryDirectory(prefix="bourre-benchmark-") as runs:
        responses = train_responses(plan, training, Path(runs), workers=options.workers)
    effort = f"best of {RESPONSE_SEEDS} trained responses, {options.response_deals:,} deals each"
    return local, Attack(effort, best_of(responses).gain)
