"""`evaluate.py exact`: NashConv of a policy in games small enough to know everything about."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.box import SIMPLE
from rich.table import Table

from agents.best_response import Vector, values
from agents.commands.options import LARGEST_SEED, BadInputError, Commands, check_file, console, integer, write_json
from agents.exact import EQUILIBRIUM, GAMES, Exploitability, game, measure, obstacles
from agents.policy import Policy, PolicyError, load_policy, tells_probs
from agents.progress import Progress
from agents.tabular import SAMPLES, num_questions


def add_to(commands: Commands) -> None:
    """Add the command."""
    exact = commands.add_parser(
        "exact",
        help="NashConv in games small enough to know everything about",
        description="Measure exactly how much could be gained against a policy in three small games, in antes a deal.",
        allow_abbrev=False,
    )
    add = exact.add_argument
    add("spec", metavar="SPEC", help="random, heuristic, a checkpoint or run folder, or module:attribute")
    add("--games", nargs="+", choices=GAMES, default=list(GAMES), metavar="GAME", help=f"{', '.join(GAMES)} (all)")
    add("--out", type=_file, metavar="FILE", help="JSON file for the numbers")
    add(
        "--samples",
        type=integer(1, None),
        default=SAMPLES,
        metavar="N",
        help="how often a policy that cannot tell its probabilities is asked for each decision (%(default)s)",
    )
    add("--seed", type=integer(0, LARGEST_SEED), default=0, metavar="N", help="of those questions (%(default)s)")
    exact.set_defaults(run=run)


def _file(text: str) -> Path:
    """A reader of file names."""
    if not text:
        raise argparse.ArgumentTypeError("the name of the file is empty")
    return Path(text)


def run(options: argparse.Namespace, words: Sequence[str]) -> None:
    """Check the games, measure the policy, print it and, when asked to, write the file."""
    names = tuple(name for name in GAMES if name in options.games)
    if options.out is not None:
        check_file(options.out)
    if options.spec == "human":
        raise BadInputError("'human' cannot be measured exactly: that takes an answer in every position of a game")
    policy = load_policy(options.spec)
    refused = obstacles(policy, names)
    if len(refused) == len(names):
        raise PolicyError(f"{options.spec} can play none of {', '.join(names)}: {refused[names[0]]}")
    measured = _measured(policy, [name for name in names if name not in refused], options)
    if options.out is not None:
        numbers = {name: measured[name].nash_conv if name in measured else None for name in names}
        write_json(options.out, numbers)  # before anything is printed: perhaps nobody reads
    _print(policy, measured, refused, options.samples)


def _measured(policy: Policy, names: Sequence[str], options: argparse.Namespace) -> dict[str, Exploitability]:
    """The policy in each game, after the controls of all of them."""
    with Progress(len(names), "games solved", sys.stderr) as progress:
        for name in names:
            game(name)
            progress.add(1)
    questions = sum(num_questions(policy, game(name).tree, options.samples) for name in names)
    with Progress(questions, "decisions", sys.stderr) as progress:
        return {
            name: measure(policy, name, seed=options.seed, samples=options.samples, report=progress.add)
            for name in names
        }


def _print(policy: Policy, measured: Mapping[str, Exploitability], refused: Mapping[str, str], samples: int) -> None:
    """Print one line a game, what the numbers are, and which games could not be played."""
    out = console()
    table = Table(box=SIMPLE, show_edge=False, pad_edge=False)
    table.add_column("game", no_wrap=True)
    for heading in ("NashConv", "could gain, by seat", "gets, by seat", "in equilibrium"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, result in measured.items():
        known = game(name)
        in_equilibrium = values(known.tree, known.equilibrium.strategy)
        columns = (_antes(result.gains), _antes(result.values), _antes(in_equilibrium))
        table.add_row(name, f"{result.nash_conv:.6f}", *columns)
    out.print(table)
    how = "exact" if tells_probs(policy) else f"estimated from {samples} samples a decision, on average too high"
    out.print(
        f"{policy.name}: antes a deal, the dealer is the last seat; NashConv is {how}. Controls passed: NashConv of "
        f"uniform play is as known, CFR+ is below {EQUILIBRIUM:g}."
    )
    for name, why in refused.items():
        out.print(f"{name} cannot be played: {why}")


def _antes(numbers: Vector) -> str:
    """A number for each seat."""
    return " ".join(f"{number:+.4f}" for number in numbers)
