"""A search for good hyper-parameters: many short runs, each with settings that Optuna proposes from ranges in a file.

`python -m agents.sweep configs/sweep/learning.toml --deals 40960 --trials 20 --dir runs/sweep`. Every trial is a run of
its own in a folder of its own; a trial counts what the lower end of its last interval against `heuristic` is. The same
command goes on with a sweep that was stopped, with the trial that was stopped too. Needs the extra `sweep`.

`--together 4` proposes four trials at once and trains them side by side, by processes or with Ray; how many workers do
that changes nothing, how many are proposed at once does.
"""

import argparse
import json
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from agents.commands.options import BadInputError, add_workers, integer, workers_of
from agents.config import CONFIG_FILE, Config, ConfigError, all_keys, read_config
from agents.executors import ClusterError, Workers, WorkersLostError, map_unordered
from agents.files import FolderInUseError, folder_lock, replace_file
from agents.runs import has_state
from agents.training_cli import DEFAULT_CONFIG, DONE, FAILED, INTERRUPTED, WRONG_INPUT, train
from bourre_env.streams import run_command

if TYPE_CHECKING:
    import optuna

JOURNAL, RESULTS = "study.journal", "results.jsonl"
GOAL = "evaluation/heuristic_low"
_RUN_FIRST = 5  # trials drawn at random before proposals begin


class Range(BaseModel):
    """What one setting may be: from `low` to `high`, or one of `choices`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    low: int | float | None = None
    high: int | float | None = None
    log: bool = False
    """Draw the logarithm uniformly: right for step sizes and weights."""
    choices: tuple[int | float | bool | str, ...] | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _is_one_of_both(self) -> "Range":
        if (self.choices is None) == (self.low is None or self.high is None):
            raise ValueError("give low and high, or choices")
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise ValueError("low must be below high")
        if self.log and (self.low is None or self.low <= 0):
            raise ValueError("log needs a low above 0")
        return self

    def propose(self, trial: "optuna.Trial", key: str) -> Any:
        """A value for one trial."""
        if self.choices is not None:
            return trial.suggest_categorical(key, self.choices)
        if isinstance(self.low, int) and isinstance(self.high, int):
            return trial.suggest_int(key, self.low, self.high, log=self.log)
        return trial.suggest_float(key, float(self.low or 0), float(self.high or 0), log=self.log)


def read_ranges(file: Path) -> dict[str, Range]:
    """The ranges of a TOML file by the dotted name of their setting.

    Raises:
        ConfigError: the file is missing or no TOML, or names what is no setting or no range.
    """
    try:
        sections = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{file} cannot be read as TOML: {error}") from None
    ranges = {}
    for section, keys in sections.items():
        for key, plain in (keys if isinstance(keys, dict) else {"": keys}).items():
            name = f"{section}.{key}"
            if name not in all_keys():
                raise ConfigError(f"{file}: {name} is no setting of agents/config.py")
            ranges[name] = _range(file, name, plain)
    if not ranges:
        raise ConfigError(f"{file} holds no ranges")
    return ranges


def _range(file: Path, name: str, plain: Any) -> Range:
    """One range, or an error that names it."""
    try:
        return Range.model_validate(plain)
    except ValidationError as error:
        problem = error.errors()[0]
        raise ConfigError(f"{file}: {name}: {problem['msg'].removeprefix('Value error, ')}") from None


class Sweep:
    """Trials in a folder, with what Optuna knows about them.

    Attributes:
        study: Optuna's side; kept in the folder.
    """

    def __init__(self, folder: Path, ranges: Mapping[str, Range], config: Config, seed: int) -> None:
        """Take up the sweep in a folder, or begin one.

        Args:
            folder: exists.
            ranges: what the trials vary.
            config: everything else.
            seed: decides the proposals.
        """
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._folder, self._ranges, self._config = folder, ranges, config
        storage = JournalStorage(JournalFileBackend(str(folder / JOURNAL)))
        self.study = optuna.create_study(storage=storage, study_name="sweep", direction="maximize", load_if_exists=True)
        # the same proposals again after a stop would be of no use
        done = len(self.study.trials)
        self.study.sampler = optuna.samplers.TPESampler(seed=seed + done, n_startup_trials=_RUN_FIRST)

    def stopped(self) -> list[int]:
        """Numbers of the trials that were begun and not ended."""
        return [trial.number for trial in self.study.trials if not trial.state.is_finished()]

    def begin(self) -> int:
        """Number of a new trial, whose run folder is there."""
        trial = self.study.ask()
        number: int = trial.number
        proposed = {key: wanted.propose(trial, key) for key, wanted in self._ranges.items()}
        folder = self.folder_of(number)
        folder.mkdir(exist_ok=True)
        assignments = [f"{key}={value}" for key, value in proposed.items()]
        config = _with(self._config, [*assignments, f"run.dir={folder}"], self._folder)
        replace_file(folder / CONFIG_FILE, config.to_toml().encode())
        return number

    def folder_of(self, number: int) -> Path:
        """The run folder of a trial."""
        return self._folder / f"trial-{number:04d}"

    def is_ready(self, number: int) -> bool:
        """Whether a trial can be trained; one that was stopped before its settings were written is given up."""
        from optuna.trial import TrialState

        if (self.folder_of(number) / CONFIG_FILE).is_file():
            return True
        self.study.tell(number, state=TrialState.FAIL)
        return False

    def tell(self, number: int, code: int) -> None:
        """What a trial came to, by the exit code of its training."""
        from optuna.trial import TrialState

        strength = last_strength(self.folder_of(number))
        if code == DONE and strength is not None:
            self.study.tell(number, strength)
        elif code != INTERRUPTED:
            self.study.tell(number, state=TrialState.FAIL)

    def results(self) -> list[dict[str, Any]]:
        """The trials, the strongest first; those that failed have no strength."""
        trials = [trial for trial in self.study.trials if trial.state.is_finished()]
        trials.sort(key=lambda trial: (trial.value is None, -(trial.value or 0.0), trial.number))
        return [{"trial": trial.number, GOAL: trial.value, **trial.params} for trial in trials]


def _with(config: Config, assignments: Sequence[str], folder: Path) -> Config:
    """Settings with some keys set anew, checked like any others."""
    file = folder / "base.toml"
    replace_file(file, config.to_toml().encode())
    return read_config(file, assignments)


def train_trial(folder: Path) -> int:
    """Train a trial to its end; returns the exit code of its training."""
    return train(read_config(folder / CONFIG_FILE), folder, resume=has_state(folder))


def last_strength(run: Path) -> float | None:
    """Lower end of the last interval against `heuristic` in a run's log; None without one."""
    found = None
    try:
        lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    for line in lines:
        found = json.loads(line).get(GOAL, found)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code, with the meaning it has for `train.py`."""
    options = _parser().parse_args(arguments)
    try:
        return sweep(options)
    except ImportError as error:
        return _complain(f"{error}; install the extra: pip install 'bourre-env[sweep]'")
    except (ConfigError, FolderInUseError, BadInputError) as error:
        return _complain(error)
    except (WorkersLostError, ClusterError) as error:
        return _complain(error, FAILED)


def sweep(options: argparse.Namespace) -> int:
    """Train trials until there are enough.

    Raises:
        ConfigError: the ranges, the settings or the folder cannot be used.
        BadInputError: there are no such workers.
        WorkersLostError, ClusterError: they died again and again, or could not be had.
    """
    workers, ranges = workers_of(options), read_ranges(options.ranges)
    fixed = [f"run.deals={options.deals}", "run.minutes=none", "evaluation.final_blocks=0", "run.keep=0"]
    config = read_config(options.config, [*fixed, *options.set])
    try:
        options.dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--dir {options.dir} cannot be made: {error}") from None
    with folder_lock(options.dir):
        search = Sweep(options.dir, ranges, config, options.seed)
        waiting = search.stopped()
        while waiting or len(search.study.trials) < options.trials:
            numbers, waiting = waiting[: options.together], waiting[options.together :]
            while len(numbers) < options.together and len(search.study.trials) < options.trials:
                numbers.append(search.begin())
            if _train_together(search, numbers, workers) == INTERRUPTED:
                print("stopped; the same command goes on", file=sys.stderr)
                return INTERRUPTED
            _write_results(options.dir, search.results())
    _print_results(search.results())
    return DONE


def _train_together(search: Sweep, numbers: list[int], workers: Workers) -> int:
    """Train some trials side by side and tell what they came to, in their order; whether they were interrupted."""
    ready = [number for number in numbers if search.is_ready(number)]
    folders = [search.folder_of(number).resolve() for number in ready]
    try:
        codes = dict(map_unordered(train_trial, folders, workers=workers))
    except KeyboardInterrupt:
        return INTERRUPTED
    for place, number in enumerate(ready):
        search.tell(number, codes[place])
    return INTERRUPTED if INTERRUPTED in codes.values() else DONE


def _write_results(folder: Path, results: list[dict[str, Any]]) -> None:
    """The trials as lines of JSON."""
    replace_file(folder / RESULTS, "".join(json.dumps(result) + "\n" for result in results).encode())


def _print_results(results: list[dict[str, Any]]) -> None:
    """The trials as a table."""
    print("trial  antes a deal against heuristic, lower end")
    for result in results:
        value = "failed" if result[GOAL] is None else f"{result[GOAL]:+.3f}"
        settings = ", ".join(f"{key}={_short(part)}" for key, part in result.items() if key not in ("trial", GOAL))
        print(f"{result['trial']:5d}  {value:>7}  {settings}")


def _short(value: Any) -> str:
    """A value with as many digits as anybody wants to see."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _complain(error: object, code: int = WRONG_INPUT) -> int:
    """One line on standard error, and the exit code to leave with."""
    print(f"sweep: {' '.join(str(error).split())}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(prog="sweep", description="Search for good hyper-parameters.", allow_abbrev=False)
    parser.add_argument("ranges", type=Path, help="a TOML file of ranges, such as configs/sweep/learning.toml")
    parser.add_argument("--config", type=Path, default=DEFAULT_CONFIG, help="the preset that all trials share")
    parser.add_argument("--dir", type=Path, default=Path("runs/sweep"), help="folder of the trials (runs/sweep)")
    parser.add_argument("--trials", type=int, default=20, help="how many there are to be in all (20)")
    parser.add_argument("--deals", type=int, default=40_960, help="training deals of each trial (40,960)")
    parser.add_argument("--seed", type=int, default=1, help="decides the proposals (1)")
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE", help="set keys anew for all trials")
    parser.add_argument("--together", type=integer(1, None), default=1, help="trials proposed at once (1)")
    add_workers(parser)
    return parser


if __name__ == "__main__":
    sys.exit(run_command(main))
