"""The command line of `train.py`.

Exit codes: 0 done, 1 the training or the machine failed, 2 the input was wrong (one line on standard error, nothing
written), 130 interrupted (the run can be resumed).

Under `torchrun` the first rank reads the settings, chooses the folder and speaks for all.
"""

import argparse
import contextlib
import itertools
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from agents.config import (
    CONFIG_FILE,
    MAY_CHANGE_ON_RESUME,
    Config,
    ConfigError,
    changed_keys,
    config_from_toml,
    read_config,
)
from agents.files import FolderInUseError, folder_lock, replace_file
from agents.policy import PolicyError, PolicyFailedError, check_rules, load_policy
from agents.ranks import ALONE, LostRankError, Ranks, joined_ranks
from agents.runs import check_folder, free_folder, has_state, to_take_up

if TYPE_CHECKING:
    from agents.trainer import Trainer

DONE, FAILED, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130
ROOT = Path(__file__).resolve().parent.parent
DEFAULT_CONFIG = ROOT / "configs" / "selfplay.toml"
AUTO = "auto"
_TOURNAMENT_STREAM = "training: tournament at the end"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the words behind the program's name; those of this process when left out.

    Returns:
        The exit code.
    """
    options = _parser().parse_args(arguments)
    try:
        with joined_ranks() as ranks:
            return _run(options, ranks)
    except PolicyFailedError as error:
        return _complain(error, FAILED)
    except LostRankError as error:
        return _complain(f"{error}; once all are stopped, --resume auto goes on from the last saved state", FAILED)
    except (ConfigError, PolicyError, FolderInUseError) as error:
        return _complain(error, WRONG_INPUT)


@dataclass(frozen=True, slots=True)
class _Start:
    """What the first rank has found out for all.

    Attributes:
        config: the settings as TOML.
        folder: the run folder.
        resume: whether to take up the run in it.
        code: the exit code, where there is nothing to train.
    """

    config: str = ""
    folder: Path = Path()
    resume: bool = False
    code: int | None = None


def _run(options: argparse.Namespace, ranks: Ranks) -> int:
    """Prepare on the first rank, then train on all; returns the exit code.

    Raises:
        ConfigError, PolicyError, FolderInUseError, PolicyFailedError, LostRankError: see `main`.
    """
    if not ranks.is_first:
        start = ranks.of_first(_Start())
        if start.code is not None:
            return start.code
        config = config_from_toml(start.config)
        _check_here(config, ranks)
        return train(config, start.folder, resume=start.resume, ranks=ranks)
    with contextlib.ExitStack() as stack:
        stack.push(lambda kind, error, trace: _dismiss(ranks, error))
        config, folder, resume = resolve(options)
        if options.dry_run:
            print(config.to_toml(), end="")
            ranks.of_first(_Start(code=DONE))
            return DONE
        _check_here(config, ranks)
        if not resume:
            _make_folder(folder, config)
        with folder_lock(folder):
            ranks.of_first(_Start(config.to_toml(), folder, resume))
            stack.pop_all()
            return train(config, folder, resume=resume, ranks=ranks)


def _dismiss(ranks: Ranks, error: BaseException | None) -> None:
    """Let the other ranks go, which wait to hear what there is to do."""
    if isinstance(error, (ConfigError, PolicyError, FolderInUseError)):
        ranks.of_first(_Start(code=WRONG_INPUT))


def _check_here(config: Config, ranks: Ranks) -> None:
    """Refuse what this machine lacks, before anything is written.

    Raises:
        PolicyError: the target cannot be loaded, or cannot play; or there is no such network to start from.
        ConfigError: there is no such device, or too little for all ranks to do.
    """
    if config.rollout.target is not None:
        for rules in config.games():
            check_rules(load_policy(config.rollout.target), rules)
    if config.run.start is not None:
        from agents.trainer import starting_network  # torch takes a while to load

        starting_network(config, config.run.start)
    if config.rollout.deals < ranks.count:
        raise ConfigError(f"rollout.deals = {config.rollout.deals}: {ranks.count} ranks need at least one deal each")
    if config.run.device == "cuda":
        from agents.device import choose_device  # torch takes a while to load

        choose_device(config.run.device, ranks)
    if config.learn.foretelling:
        from agents.pair_learner import check_foretelling
        from agents.trainer import network_spec

        check_foretelling(network_spec(config), config.learn)


def resolve(options: argparse.Namespace) -> tuple[Config, Path, bool]:
    """The settings, the run folder, and whether to take up the run in it; nothing is written.

    Raises:
        ConfigError: the options, the settings or the folder cannot be used.
    """
    assignments = list(itertools.chain.from_iterable(options.set))
    if options.resume is not None and str(options.resume) != AUTO:
        if options.config is not None:
            raise ConfigError(
                "--config and --resume exclude each other: a run keeps its settings; change a few with --set"
            )
        return _settings_of(options.resume, assignments), options.resume, True
    file = options.config or DEFAULT_CONFIG
    config = read_config(file, assignments)
    if options.resume is not None:
        found = to_take_up(config.run.dir, options.config and file.stem)
        if found is not None:  # a run that was killed before it had saved anything begins again
            return _settings_of(found, assignments), found, has_state(found)
    folder = Path(config.run.dir) if config.run.dir is not None else free_folder(file.stem)
    check_folder(folder)
    return config.model_copy(update={"run": config.run.model_copy(update={"dir": str(folder)})}), folder, False


def _settings_of(folder: Path, assignments: list[str]) -> Config:
    """The settings of the run to resume, with the few changes a run survives."""
    if not folder.is_dir():
        raise ConfigError(f"there is no run folder {folder} to resume")
    if not (folder / CONFIG_FILE).is_file():
        raise ConfigError(f"{folder} has no {CONFIG_FILE}: it is no run folder, so there is nothing to resume")
    old = read_config(folder / CONFIG_FILE)
    config = read_config(folder / CONFIG_FILE, assignments)
    fixed = [key for key in changed_keys(old, config) if not key.startswith(MAY_CHANGE_ON_RESUME)]
    if fixed:
        raise ConfigError(f"{fixed[0]} cannot change in a run that is resumed; start a new run with it")
    return config


def _make_folder(folder: Path, config: Config) -> None:
    """Make the run folder and leave the settings in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / CONFIG_FILE, config.to_toml().encode())
    except OSError as error:
        raise ConfigError(f"run.dir {folder} cannot be written: {error}") from None


def train(config: Config, folder: Path, *, resume: bool, ranks: Ranks = ALONE) -> int:
    """Train in a run folder and say how it went.

    Args:
        config: the settings.
        folder: the run folder, which exists.
        resume: go on with the run that is in it.
        ranks: the processes that train together.

    Returns:
        The exit code.

    Raises:
        CheckpointError: there is nothing to resume, or it is damaged.
        LostRankError: another rank has died.
    """
    speak = _say if ranks.is_first else _keep_quiet
    with signals_held(speak) as caught:
        from agents.descent import DivergedError
        from agents.display import Display  # torch is loaded only when there is something to train
        from agents.health import ADVICE
        from agents.trainer import Trainer

        trainer = Trainer(config, folder, warn=_say, resume=resume, ranks=ranks)
        together = f" with {ranks.count} ranks" if ranks.count > 1 else ""
        how = "resuming" if resume else "training in"
        speak(f"{how} {folder}{together}; Ctrl-C stops it so that --resume {folder} goes on")
        if resume and ranks.is_first:  # the budget may be a new one
            with contextlib.suppress(OSError):
                replace_file(folder / CONFIG_FILE, config.to_toml().encode())
        try:
            trainer.warm_up()
            with Display(trainer, sys.stderr) if ranks.is_first else contextlib.nullcontext() as display:
                trainer.run(stop=lambda: bool(caught), report=display.show if display else _keep_quiet)
        except DivergedError as error:
            speak(
                f"stopped after {trainer.counters.deals:,} deals: {error}; {folder} keeps the checkpoints of before; "
                f"{ADVICE}"
            )
            return FAILED
        finally:
            trainer.close()
    if not trainer.saved:
        speak(f"the last state could not be written to {folder}; what is there is from before")
        return FAILED
    if trainer.why_over is None:
        speak(f"interrupted after {trainer.counters.deals:,} deals; go on with: python train.py --resume {folder}")
        return INTERRUPTED
    if ranks.is_first:
        _finish(config, folder, trainer)
    return DONE


def _finish(config: Config, folder: Path, trainer: "Trainer") -> None:
    """Print where things are and how strong the best checkpoint is."""
    done = trainer.counters
    print(f"trained {done.deals:,} deals ({done.decisions:,} decisions) in {done.minutes:.1f} minutes")
    print(f"over because {trainer.why_over}")
    if config.evaluation.final_blocks:
        play_tournament(config, folder)
    print(f"checkpoints: {folder}/best.safetensors, {folder}/last.safetensors")
    print(f"curves:      {Path(sys.executable).with_name('tensorboard')} --logdir {folder}")


def play_tournament(config: Config, folder: Path) -> None:
    """Play the run's best checkpoint, else its last, against the yardsticks, or its target, and print the tables.

    The deals are none that anything was learned or chosen by.

    Raises:
        CheckpointError: there is no checkpoint, or it cannot be read.
    """
    from agents.arena import stream_seed
    from agents.blocks import places_of
    from agents.commands.options import console
    from agents.commands.tournament_tables import print_summary
    from agents.entrants import Entrant
    from agents.results import Terms
    from agents.stopping import FixedBlocks
    from agents.summary import summarise
    from agents.tournament import Plan, pairs, play_tournament

    trained = Entrant("trained", str(folder))
    if config.rollout.target is not None:
        entrants: tuple[Entrant, ...] = (trained, Entrant("target", config.rollout.target))
        of_interest = [("trained", "target")]
    else:
        entrants = (trained, Entrant("random", "random"), Entrant("heuristic", "heuristic"))
        of_interest = [("trained", "random"), ("trained", "heuristic"), ("heuristic", "random")]
    seed = stream_seed(config.run.seed, _TOURNAMENT_STREAM)
    summaries = []
    for rules in config.games():
        line_ups = tuple(pairs(names, places_of(rules))[0] for names in of_interest)
        terms = Terms(rules, buy_in=config.buy_in)
        plan = Plan(entrants, terms, line_ups, seed, FixedBlocks(config.evaluation.final_blocks))
        summaries.append(summarise(play_tournament(plan), line_ups, seed=seed))
    print_summary(console(), summaries, preset=config.rules.preset)


@contextlib.contextmanager
def signals_held(speak: Callable[[str], None] | None = None) -> Iterator[list[int]]:
    """Collect Ctrl-C and SIGTERM in a list instead of dying of them; a second one interrupts at once.

    Args:
        speak: told that a signal has come; standard error when left out.
    """
    caught: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if caught:
            raise KeyboardInterrupt
        caught.append(number)
        (speak or _say)("stopping after this iteration; once more stops at once and loses it")

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line."""

    def error(self, message: str) -> NoReturn:
        """Say what was wrong and leave with exit code 2."""
        self.exit(WRONG_INPUT, f"{self.prog}: {message}\n")


def _parser() -> argparse.ArgumentParser:
    """The options."""
    parser = _Parser(prog="train.py", description="Train a bot for a card game by self-play.", allow_abbrev=False)
    parser.add_argument("--config", type=Path, metavar="FILE", help="a TOML preset (configs/selfplay.toml)")
    parser.add_argument(
        "--set",
        nargs="+",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set keys anew, such as run.minutes=10 rules.num_players=5; agents/config.py explains them all",
    )
    parser.add_argument(
        "--resume",
        type=Path,
        metavar="RUN",
        help="go on with the run in this folder; auto: with the newest unfinished one (of the preset, when --config is "
        "given), and begin a new run when there is none",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the settings and stop")
    return parser


def _say(text: str) -> None:
    """One line on standard error, where somebody reads it."""
    with contextlib.suppress(BrokenPipeError):
        print(f"train.py: {text}", file=sys.stderr, flush=True)


def _keep_quiet(_: object) -> None:
    """Say nothing, for the first rank speaks."""


def _complain(error: object, code: int) -> int:
    """One line on standard error, and the exit code to leave with."""
    _say(" ".join(str(error).split()))
    return code
