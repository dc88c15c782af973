"""The report of a training run: curves of everything that was logged, the settings, and how to go on or do it again.

It works on a run that has just begun as on one that has ended: what is not there yet is said to be missing.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from agents.charts import Chart, Series, lines, stacked
from agents.config import CONFIG_FILE, Config, read_config
from agents.files import replace_file
from agents.games import Panel, part_named
from agents.metrics import TAGS
from agents.pages import page
from bourre_env.family import Game, game_named

LOG, LAST = "metrics.jsonl", "last.safetensors"
MOST_POINTS = 300  # of a curve; longer ones are means over neighbouring iterations
YARDSTICKS = ("random", "heuristic")

Log = list[dict[str, Any]]
"""The lines of `metrics.jsonl`, in order."""


@dataclass(frozen=True, slots=True)
class Section:
    """Some charts under a heading.

    Attributes:
        title: the heading.
        says: what to look for.
        charts: those that there are numbers for.
    """

    title: str
    says: str
    charts: tuple[Chart, ...]


LEARNERS = {"ppo": "PPO", "dmc": "Deep Monte Carlo"}

LEARNING = (
    Panel(
        "Entropy",
        "nats",
        {
            "policy/entropy_declare": "declarations",
            "policy/entropy_stay_or_pass": "stay or pass",
            "policy/entropy_play": "cards",
        },
    ),
    Panel("KL divergence of a step", "nats", {"ppo/kl": "KL"}),
    Panel("Clipped decisions", "%", {"ppo/clip_fraction": "clipped"}, 100),
    Panel("Gradient", "length", {"ppo/gradient_norm": "actor"}),
    Panel("Pairs", "share", {"pairs/share": "of decisions", "pairs/equal": "of them that came to the same"}),
    Panel("Gains of pairs", "units of the game", {"pairs/gain_std": "root mean square"}),
    Panel("Critic: variance explained", "share", {"critic/explained_variance": "explained"}),
    Panel(
        "Critic: loss and advantages",
        "units of the game",
        {"critic/value_loss": "loss", "critic/advantage_std": "advantages"},
    ),
    Panel("Action values: variance explained", "share", {"dmc/explained_variance": "explained"}),
    Panel("Action values: loss and mean", "units of the game", {"dmc/loss": "loss", "dmc/value": "mean"}),
    Panel("Action values: decisions", "share", {"dmc/greedy_share": "best action", "schedule/epsilon": "epsilon"}),
    Panel("Step size", "learning rate", {"schedule/learning_rate": "Adam"}),
    Panel("Entropy bonus", "weight", {"schedule/entropy": "entropy"}),
)
SPEED = (
    Panel("Deals a second", "deals a second", {"speed/deals_per_second": "deals"}),
    Panel("Decisions a second", "decisions a second", {"speed/decisions_per_second": "decisions"}),
)
SHARES = {"speed/share_engine": "engine", "speed/share_inference": "inference", "speed/share_learning": "learning"}


def write_run_report(run: Path, file: Path, versions: Mapping[str, str]) -> Path:
    """Write the page about a run.

    Args:
        run: the run folder.
        file: of the page.
        versions: of what made the report.

    Returns:
        The file.

    Raises:
        ConfigError: the settings of the run cannot be read.
        OSError: the log cannot be read, or the page not be written.
    """
    html = run_page(run, versions)
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, html.encode("utf-8", "replace"))
    return file


def run_page(run: Path, versions: Mapping[str, str]) -> str:
    """The page; arguments as in `write_run_report`."""
    config = read_config(run / CONFIG_FILE)
    log = read_log(run / LOG)
    game = game_named(config.rules.game)
    return page(
        "training.html.j2",
        title=f"{game.title} training: {run.resolve().name}",
        lead=_lead(config),
        facts_told=_facts(run, config, log, versions),
        sections=sections_of(log, game),
        evaluations=_evaluations(log),
        commands=_commands(run),
        config=config.to_toml(),
        meanings=[(tag, TAGS[tag]) for tag in TAGS if any(tag in line for line in log)],
    )


def read_log(path: Path) -> Log:
    """The whole lines of a log; none when there is no log. A line that is cut short ends it.

    Raises:
        OSError: it cannot be read.
    """
    lines: Log = []
    if not path.is_file():
        return lines
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
            lines.append({**line, "deals": int(line["deals"])})
        except (ValueError, KeyError, TypeError):
            break
    return lines


def sections_of(log: Log, game: Game) -> list[Section]:
    """All charts of a run."""
    part = part_named(game.name)
    strength = f"{game.unit.capitalize()} a deal against a table of the yardstick, with 95 % bands."
    shares = [curve_of(log, tag, name, 100) for tag, name in SHARES.items()]
    stack = [stacked("Where the time goes", shares, x_label="deals", y_label="%")] if all(s.x for s in shares) else []
    return [
        Section("Strength", strength, _strength(log, game.unit)),
        Section("How it plays", part.healthy_play, _panels(log, part.panels)),
        Section("Learning", "What each curve means, and what is healthy, stands below.", _panels(log, LEARNING)),
        Section("Speed", "Evaluations are not counted.", (*_panels(log, SPEED), *stack)),
    ]


def _strength(log: Log, unit: str) -> tuple[Chart, ...]:
    """A learning curve for each yardstick."""
    charts = []
    for name in YARDSTICKS:
        points = _evaluated(log, name)
        if points:
            deals, mean, low, high = (list(column) for column in zip(*points, strict=True))
            series = [Series(f"{unit} a deal", deals, mean, low, high)]
            charts.append(lines(f"Against {name}", series, x_label="deals", y_label=f"{unit} a deal", zero=True))
    return tuple(charts)


def _evaluated(log: Log, name: str) -> list[tuple[float, float, float, float]]:
    """Deals, mean, low and high of each evaluation against a yardstick."""
    tags = [f"evaluation/{name}_{part}" for part in ("mean", "low", "high")]
    found = [line for line in log if all(line.get(tag) is not None for tag in tags)]
    return [(line["deals"], *(line[tag] for tag in tags)) for line in found]


def _panels(log: Log, panels: Sequence[Panel]) -> tuple[Chart, ...]:
    """The charts for which anything has been logged."""
    charts = []
    for panel in panels:
        series = [curve_of(log, tag, name, panel.scale) for tag, name in panel.tags.items()]
        drawn = [line for line in series if line.x]
        if drawn:
            charts.append(lines(panel.title, drawn, x_label="deals", y_label=panel.y_label))
    return tuple(charts)


def curve_of(log: Log, tag: str, name: str, scale: float) -> Series:
    """The values of a tag over deals; of a long run the means of neighbouring iterations."""
    points = [(line["deals"], scale * line[tag]) for line in log if line.get(tag) is not None]
    parts = np.array_split(np.array(points, np.float64).reshape(-1, 2), max(1, min(len(points), MOST_POINTS)))
    means = [part.mean(axis=0) for part in parts if len(part)]
    return Series(name, [float(mean[0]) for mean in means], [float(mean[1]) for mean in means])


def _lead(config: Config) -> str:
    """What is learned, in a sentence."""
    rules = config.rules
    has_stakes = "rules.stacks" in part_named(rules.game).own_keys
    stakes = f", chips on {_stacks(rules.stacks)}" if has_stakes else ""
    learner = LEARNERS[config.learn.method]
    return f"Self-play by {learner}: rules {rules.preset}, {rules.num_players} seats{stakes}."


def _stacks(stacks: str) -> str:
    """The stakes in words."""
    return {"credit": "credit", "table_stakes": "the table (table stakes)"}.get(stacks, stacks)


def _facts(run: Path, config: Config, log: Log, versions: Mapping[str, str]) -> list[tuple[str, str]]:
    """How far the run has come, with what."""
    facts = [("progress", _progress(config, log[-1]) if log else "nothing has been logged yet")]
    unit = game_named(config.rules.game).unit
    for name in YARDSTICKS:
        for _, mean, low, high in _evaluated(log, name)[-1:]:
            facts.append((f"against {name}, last", f"{mean:+.3f} {unit} a deal ({low:+.3f} to {high:+.3f})"))
    facts.append(("checkpoints", ", ".join(sorted(file.name for file in run.glob("*.safetensors"))) or "none yet"))
    facts.append(("source", f"commit {_commit(run / LAST)}"))
    facts.append(("versions", ", ".join(f"{name} {number}" for name, number in versions.items())))
    facts.append(("rules", f"fingerprint {config.game().fingerprint}"))
    return facts


def _commit(checkpoint: Path) -> str:
    """The source version that trained a checkpoint, as its header says."""
    try:
        with safe_open(checkpoint, framework="numpy") as file:
            return str(json.loads(file.metadata()["bourre"])["commit"])
    except (OSError, SafetensorError, KeyError, TypeError, ValueError):
        return "unknown"


def _progress(config: Config, last: Mapping[str, Any]) -> str:
    """Deals and minutes, done and planned."""
    done = f"{last['deals']:,} deals"
    done += f" in {last['minutes']:.1f} minutes" if "minutes" in last else ""
    planned = [f"{config.run.deals:,} deals"] if config.run.deals is not None else []
    planned += [f"{config.run.minutes:g} minutes"] if config.run.minutes is not None else []
    return f"{done}; it ends after {' or '.join(planned)}"


def _evaluations(log: Log) -> list[tuple[str, ...]]:
    """Every evaluation as text."""
    rows = []
    for line in log:
        if any(line.get(f"evaluation/{name}_mean") is not None for name in YARDSTICKS):
            strengths = (_strength_text(line, name) for name in YARDSTICKS)
            rows.append((f"{line['deals']:,}", f"{line.get('minutes', 0):.1f}", *strengths))
    return rows


def _strength_text(line: Mapping[str, Any], name: str) -> str:
    """One evaluation against one yardstick."""
    mean, low, high = (line.get(f"evaluation/{name}_{part}") for part in ("mean", "low", "high"))
    return "" if mean is None or low is None or high is None else f"{mean:+.3f} ({low:+.3f} to {high:+.3f})"


def _commands(run: Path) -> list[tuple[str, str]]:
    """What to type next."""
    where = shlex.quote(str(run))
    again = shlex.join(["python", "train.py", "--config", f"{run}/{CONFIG_FILE}", "--set", f"run.dir={run}-again"])
    return [
        ("Go on where it stopped:", f"python train.py --resume {where}"),
        ("The same run again, in a new folder:", again),
        ("Measure it:", f"python evaluate.py tournament mine={where} heuristic random"),
    ]
