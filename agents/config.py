"""The settings of a training run: one frozen value, read from a TOML preset and `--set key=value`.

Unknown keys, wrong types and impossible values are refused in one line that names the key, before anything is written.
"""

import difflib
import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from agents.games import keys_of_others
from bourre_env.errors import BourreError, RulesError
from bourre_env.family import FIRST, MOST_SEATS, GameRules, game_named, sides_of

CONFIG_FILE = "config.toml"  # in the run folder: the settings as they were resolved
LARGEST_SEED = 2**63 - 1
BUY_IN = 100  # antes a seat sits down with at table stakes where nothing else is said

MAY_CHANGE_ON_RESUME = (
    *(f"run.{key}" for key in ("minutes", "deals", "target", "patience", "threads", "device", "keep")),
    "run.checkpoint_every",
    "run.pictures_every",
    "evaluation.",
)
"""Keys, or beginnings of keys, that a resumed run may be given anew."""


class ConfigError(BourreError, ValueError):
    """Settings that cannot be used. The message is one line."""


class Section(BaseModel):
    """A section of the settings: frozen, and strict about names and types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class RunConfig(Section):
    """Where the run lives and when it ends."""

    start: str | None = Field(default=None, min_length=1)
    """A checkpoint, named as for evaluate.py, whose network the run starts from instead of a drawn one. It must be of
    the same rules, observation and [network] sizes."""
    dir: str | None = Field(default=None, min_length=1)
    """The run folder; must be new or empty. Left out: runs/ and the preset's name, numbered when taken."""
    seed: int = Field(default=1, ge=0, le=LARGEST_SEED)
    """Decides weights, deals, actions and minibatches. A run that only `deals` ends is the same every time."""
    minutes: float | None = Field(default=None, gt=0)
    """Ends the run after so many minutes, evaluations included. Five beat random play by far; hours give more."""
    deals: int | None = Field(default=None, ge=1)
    """Ends the run after so many training deals. Whichever of the two comes first ends it and drives the schedules."""
    target: float | None = Field(default=None)
    """Ends the run once the lower end of the interval against the rule bot reaches so much a deal (antes, points)."""
    patience: int | None = Field(default=None, ge=1)
    """Ends the run after so many evaluations without a better one (`evaluation.times` says how often they come)."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where the networks live: "auto" takes a CUDA GPU where there is one. Runs repeat bit for bit on "cpu" only."""
    threads: int = Field(default=2, ge=1, le=256)
    """Processor cores for the networks or, with a GPU, for the engine; at most as many as there are; ranks of
    one machine share them out. One and two give the very same weights."""
    checkpoint_every: int = Field(default=10, ge=1)
    """Iterations between two checkpoints; a kill loses at most so many. Evaluations and the end write one too."""
    keep: int = Field(default=5, ge=0)
    """Snapshots of the network to keep in the run folder, one an evaluation, the newest; 0 for none."""
    pictures_every: int = Field(default=100, ge=0)
    """Iterations between two sets of histograms and pictures in TensorBoard, about half a second each; 0 for none."""


_ABOUT_OTHERS = (
    "rollout.random_share",
    "rollout.heuristic_share",
    "rollout.target",
    "league.share",
    "league.exploiter_every",
)
"""Settings that mean nothing in a game for one seat."""


class RulesConfig(Section):
    """The game that is learned."""

    preset: str = "pagat"
    """Name of a rules preset of the game (RULES.md; docs/NAME.md of the other games); left out its usual one."""
    num_players: int | list[int] = 4
    """Seats at the table; left out as many as is usual. A list, such as [3, 4, 5], trains one network for all these
    sizes; --set also takes 3-5."""
    stacks: str = "credit"
    """"credit", or "table_stakes": nobody pays more than it has (rule 6.7)."""
    game: str = FIRST
    """Name of a game of the family (`bourre_env.family.GAMES`)."""

    @model_validator(mode="before")
    @classmethod
    def _usual_preset(cls, given: Any) -> Any:
        """The usual house rules and table size of the game, where none are named."""
        name = given.get("game", FIRST) if isinstance(given, dict) else None
        if not isinstance(name, str) or name == FIRST:
            return given
        try:
            game = game_named(name)
        except RulesError as error:
            raise ValueError(f"rules.game: {error}") from None
        return {"preset": game.presets[0], "num_players": game.usual_size, **given}

    @field_validator("num_players", mode="before")
    @classmethod
    def _possible_sizes(cls, given: object) -> object:
        """A number of seats, or different ones."""
        sizes = given if isinstance(given, list) else [given]
        possible = all(type(size) is int and 1 <= size <= MOST_SEATS for size in sizes)
        if not possible or not sizes or len(set(sizes)) < len(sizes):
            raise ValueError(f"a number of seats from 1 to {MOST_SEATS}, or a list of different ones")
        return given


class NetworkConfig(Section):
    """Sizes of the networks."""

    seats_shown: int | None = Field(default=None, ge=1, le=MOST_SEATS)
    """Seats the observation has room for: left out those of the largest table; 8 makes one layout for every size."""
    actor_width: int = Field(default=256, ge=1, le=8192)
    """Units of each hidden layer of the actor. Wider plays better after hours and is slower; usual 128 to 512."""
    actor_layers: int = Field(default=2, ge=1, le=16)
    """Hidden layers of the actor; usual 2 or 3."""
    critic_width: int = Field(default=256, ge=1, le=8192)
    """Units of each hidden layer of the critic, where there is one (learn.advantages); usual 128 to 512."""
    critic_layers: int = Field(default=2, ge=1, le=16)
    """Hidden layers of the critic; usual 2 or 3."""
    layer_norm: bool = True
    """Normalise hidden layers. Off is a little faster and less forgiving of large learning rates."""
    head: Literal["structured", "plain"] = "structured"
    """How ways to discard are scored: "structured" adds up scores of the cards thrown away and of their number, "plain"
    has one output for each way. Plain is there for comparison: it learns discards later."""
    privileged_critic: bool = True
    """Whether the critic, if any, sees the other seats' hands; it never plays. On: less noise in the advantages."""


class RolloutConfig(Section):
    """How training deals are played. Carries, exemptions, credits, stacks and table sizes are Bourré's alone."""

    deals: int = Field(default=1024, ge=1, le=1_000_000)
    """Deals an iteration, of all ranks, each played out. More is steadier, fewer learns sooner; usual 512 to 16,384."""
    carry_share: float = Field(default=0.25, ge=0, le=1)
    """Share of deals that begin with a drawn carry, so that pots of every size are known; usual 0.1 to 0.5."""
    largest_carry: int = Field(default=64, ge=1, le=100_000)
    """Largest drawn carry, in antes; the logarithm is uniform. Usual: 10 to 20 times the number of seats."""
    exempt_share: float = Field(default=0.4, ge=0, le=1)
    """Chance of each seat to skip its ante in a deal with a carry; usual 0.3 to 0.5, as ties and bourrés make it."""
    size_shares: list[float] | None = Field(default=None, min_length=1)
    """Shares of the deals for each size in rules.num_players, in its order; left out equal shares."""
    curriculum: float = Field(default=0.0, ge=0, le=1)
    """Share of the run in which table sizes join one after another, in the order of rules.num_players. 0: all play from
    the start; usual 0 to 0.3."""
    carry_credit: Literal["equal", "by_seat"] = "equal"
    """Whose the pot is that a deal leaves behind: everybody's alike, or by the distance from the next dealer, as pots
    went in self-play so far."""
    ante_credit: bool = False
    """Whether those who skip the next ante, after a tie or a bourré, are credited with what they save."""
    smallest_stack: int = Field(default=1, ge=1, le=100_000)
    """Fewest antes a seat has in a deal at table stakes; its chips are drawn uniformly, for each seat alone."""
    largest_stack: int = Field(default=BUY_IN, ge=1, le=100_000)
    """Most antes a seat has in a deal at table stakes. Usual: what sessions begin with, or a few times that."""

    random_share: float = Field(default=0.3, ge=0, le=1)
    """Share of deals in which all seats but one play at random: teaches what players who stay with anything are worth.
    With 0 the bot passes too often against weak players; usual 0.1 to 0.4."""
    heuristic_share: float = Field(default=0.0, ge=0, le=1)
    """The same with the rule bot. Above 0 the bot learns to beat that bot in particular; usual 0 to 0.2."""
    forced_decisions: bool = False
    """Whether decisions with a single legal action are asked and, with a critic, learned from, too. For comparison:
    they teach nothing and cost time."""
    target: str | None = Field(default=None, min_length=1)
    """A policy, named as for evaluate.py, that has all seats but one in every deal: the bot becomes a best response to
    it, and strength is measured against it alone. Wants random_share and heuristic_share of 0."""


class LearnConfig(Section):
    """How to learn. What has a start and an end goes geometrically from one to the other over the run."""

    method: Literal["ppo", "dmc"] = "ppo"
    """"ppo" learns a policy, credited as `advantages` says. "dmc", Deep Monte Carlo, learns what each action is worth
    and plays the best one; of the keys below it heeds the learning rate, epochs, minibatch, huber, gradient_norm,
    epsilon and temperature."""
    advantages: Literal["pairs", "critic"] = "pairs"
    """What a decision is credited with: "pairs" what its action brought more than another one, drawn alike and played
    on with the same cards and random numbers; "critic" what the deal brought less what a critic, which sees all hands,
    expected."""
    pair_share: float = Field(default=1.0, gt=0, le=1)
    """With pairs. Share of decisions at which another action is drawn. Playing on after each costs as the square of the
    length of a deal: below 1 for games of a hundred decisions and more; usual 3 pairs or so a deal."""
    learning_rate: float = Field(default=2e-3, gt=0, le=1)
    """Step size of Adam at the start. Too high: KL above 0.05; usual 3e-4 to 3e-3."""
    learning_rate_end: float = Field(default=1e-4, gt=0, le=1)
    """Step size at the end; usual a tenth to a fiftieth of the start."""
    epochs: int = Field(default=2, ge=1, le=100)
    """Passes over each iteration's decisions. More use the deals better and move further from them; usual 1 to 8."""
    minibatch: int = Field(default=256, ge=1)
    """Pairs, or with a critic decisions, in a gradient step, of all ranks. Smaller ones make more steps of as many;
    usual 128 to 1,024 pairs, 512 to 8,192 decisions."""
    foretelling: float = Field(default=0.0, ge=0)
    """With pairs. Weight of a second task for the actor's hidden layers, to foretell what the deal brings the seat
    (Jaderberg et al., 2017): its error, in units of the game, is added to the loss. Usual 0 to 1."""
    gae_lambda: float = Field(default=1.0, ge=0, le=1)
    """With a critic. 1: decisions are credited with results alone. Below 1 in part with what the critic, on average
    less noisily, expected at the seat's next decisions; errors of the critic then reach the actor. Usual 0.9 to 1."""
    clip: float = Field(default=0.2, gt=0, lt=1)
    """How far a probability ratio may leave 1 before it stops counting; usual 0.1 to 0.3."""
    entropy: float = Field(default=0.1, ge=0)
    """Weight of the entropy over legal actions at the start, against advantages, or gains of pairs, of deviation 1;
    usual 0.05 to 0.4."""
    entropy_end: float = Field(default=0.005, ge=0)
    """The same at the end. Too high keeps play random, too low makes it predictable; usual 0.003 to 0.03."""
    stay_or_pass_entropy: float = Field(default=0.05, ge=0)
    """Further weight on the entropy of staying or passing (in Pinochle of bidding or passing), so that neither dies out
    early; usual 0 to 0.1, in Pinochle 0.3."""
    stay_or_pass_entropy_end: float = Field(default=0.001, ge=0)
    """The same at the end."""
    proximal_kl: float = Field(default=0.0, ge=0)
    """Weight of the divergence from the policy that played the deals; 0 leaves that to the clip; usual 0 to 0.2."""
    huber: float = Field(default=1.0, gt=0)
    """With a critic or DMC. Larger errors, in what is learned, count linearly instead of squared; usual 0.5 to 3."""
    gradient_norm: float = Field(default=0.5, gt=0)
    """Longest gradient of each network; longer ones are shortened to it; usual 0.25 to 2."""
    epsilon: float = Field(default=0.1, ge=0, le=1)
    """With DMC. Share of decisions in training deals that are drawn evenly, staying and passing alike, at the start;
    usual 0.05 to 0.3."""
    epsilon_end: float = Field(default=0.01, ge=0, le=1)
    """The same at the end. Too high: actions are valued for a game that goes on badly; usual 0.005 to 0.05."""
    temperature: float = Field(default=0.0, ge=0)
    """With DMC. Value that makes an action e times likelier in training deals, at the start; 0 takes the best
    one; usual 0 to 0.1."""
    temperature_end: float = Field(default=0.0, ge=0)
    """The same at the end."""


class LeagueConfig(Section):
    """Former selves, and exploiters trained against the bot, as opponents (`agents.league`). Off by default."""

    share: float = Field(default=0.0, ge=0, le=1)
    """Share of deals in which all seats but one are a pool member's; 0 for no league. Usual 0.1 to 0.3."""
    size: int = Field(default=16, ge=2, le=1000)
    """Members the pool keeps on the disk, spread over the run. Usual 8 to 64."""
    every: int = Field(default=25, ge=1)
    """Iterations between two former selves. Usual: so that some twenty join in a run."""
    at_once: int = Field(default=2, ge=1, le=64)
    """Members met in an iteration. More is steadier and slower, for each is asked by itself; usual 1 to 4."""
    cache: int = Field(default=4, ge=1)
    """Networks of members kept in memory; at least as many as are met at once."""
    sampling: Literal["uniform", "hardest"] = "uniform"
    """Who is met: all members alike, or more often those that the bot does worst against."""
    exploiter_every: int = Field(default=0, ge=0)
    """Iterations of the bot between two of the exploiter, which learns to beat the present bot; 0 for no exploiter. The
    exploiter's deals do not count as training deals, its time does. Usual 2 to 5."""
    exploiter_life: int = Field(default=100, ge=1)
    """Iterations of an exploiter until it joins the pool and starts again from the newest former self."""


class EvaluationConfig(Section):
    """How strength is measured during the run and at its end."""

    times: int = Field(default=10, ge=1, le=100_000)
    """Evaluations against random and heuristic seats, spread evenly over the run; the last is at its end."""
    blocks: int = Field(default=2000, ge=2, le=100_000)
    """Deals of an evaluation, each played once from every seat or side. 2,000 give about
    ±0.03 antes in Bourré, ±0.05 points in Euchre, ±0.6 points in Pinochle and ±0.4 cards in Bureau, against
    heuristic play."""
    final_blocks: int = Field(default=5000, ge=0)
    """The same for the tournament at the end of the run; 0 for no tournament."""
    buy_in: int = Field(default=BUY_IN, ge=1, le=100_000)
    """Antes each seat has in these deals at table stakes. Above twice the number of seats hardly anybody runs short."""


class Config(Section):
    """All settings of a training run."""

    run: RunConfig = RunConfig()
    rules: RulesConfig = RulesConfig()
    network: NetworkConfig = NetworkConfig()
    rollout: RolloutConfig = RolloutConfig()
    learn: LearnConfig = LearnConfig()
    league: LeagueConfig = LeagueConfig()
    evaluation: EvaluationConfig = EvaluationConfig()

    @model_validator(mode="after")
    def _fits_together(self) -> "Config":
        """Settings that only make sense together."""
        if self.run.minutes is None and self.run.deals is None:
            raise ValueError("run.minutes, run.deals: set one of them, or the run has no end")
        shown = self.network.seats_shown
        if shown is not None and shown < max(self.sizes):
            raise ValueError(f"network.seats_shown = {shown}: there are {max(self.sizes)} seats (rules.num_players)")
        shares = self.rollout.size_shares
        if shares is not None and (len(shares) != len(self.sizes) or min(shares) <= 0):
            raise ValueError(
                f"rollout.size_shares = {shares}: one share above 0 is needed for each of {len(self.sizes)} table sizes"
            )
        if self.evaluation.final_blocks == 1:
            raise ValueError("evaluation.final_blocks = 1: an interval needs at least 2 blocks; 0 means no tournament")
        if self.rollout.smallest_stack > self.rollout.largest_stack:
            raise ValueError("rollout.smallest_stack, rollout.largest_stack: the smallest is larger than the largest")
        if self.rollout.random_share + self.rollout.heuristic_share + self.league.share > 1:
            raise ValueError(
                "rollout.random_share + rollout.heuristic_share + league.share: together at most 1, a share of deals"
            )
        self._check_rules()
        self._check_league()
        if self.rollout.target is not None and self.rollout.random_share + self.rollout.heuristic_share > 0:
            raise ValueError(
                "rollout.target takes every deal: set rollout.random_share and rollout.heuristic_share to 0"
            )
        return self

    def _check_league(self) -> None:
        """Refuse a league that would not work as it says.

        Raises:
            ValueError: names the keys.
        """
        if self.league.share and self.rollout.target is not None:
            raise ValueError("rollout.target takes every deal: set league.share to 0")
        if self.league.exploiter_every and not self.league.share:
            raise ValueError("league.exploiter_every: nobody would meet the exploiters; set league.share above 0")
        if self.league.cache < self.league.at_once:
            raise ValueError(
                f"league.cache = {self.league.cache}: {self.league.at_once} are met at once (league.at_once)"
            )

    def _check_rules(self) -> None:
        """Refuse rules that do not exist.

        Raises:
            ValueError: names the keys.
        """
        try:
            self.games()
        except RulesError as error:
            raise ValueError(f"rules.preset, rules.num_players, rules.stacks: {error}") from None
        self._check_keys()

    def _check_keys(self) -> None:
        """Refuse settings that mean nothing in this game."""
        values, usual = self.flat(), Config.model_construct().flat()
        for key in keys_of_others(self.rules.game):
            if values[key] != usual[key]:
                raise ValueError(f"{key} = {values[key]!r}: it means nothing in {self.rules.game}; leave it out")
        for key in _ABOUT_OTHERS if sides_of(self.game()) == 1 else ():
            if values[key] != usual[key]:
                raise ValueError(f"{key} = {values[key]!r}: {self.rules.game} is for one seat alone; leave it out")

    @property
    def sizes(self) -> list[int]:
        """Table sizes that are learned."""
        given = self.rules.num_players
        return given if isinstance(given, list) else [given]

    def games(self) -> tuple[GameRules, ...]:
        """The rules that are learned, one value for each table size.

        Raises:
            RulesError: no such preset, or one that does not go with the number of players.
        """
        game, preset, stacks = game_named(self.rules.game), self.rules.preset, self.rules.stacks
        options = {} if "rules.stacks" in keys_of_others(game.name) else {"stacks": stacks}
        return tuple(game.preset(preset, num_players=size, **options) for size in self.sizes)

    def game(self) -> GameRules:
        """The rules of the first table size.

        Raises:
            RulesError: see `games`.
        """
        return self.games()[0]

    @property
    def seats_shown(self) -> int:
        """Seats the observation has room for."""
        return self.network.seats_shown or max(self.sizes)

    @property
    def learns_from_pairs(self) -> bool:
        """Whether decisions are compared with others instead of with what a critic expects."""
        return self.learn.method == "ppo" and self.learn.advantages == "pairs"

    @property
    def has_critic(self) -> bool:
        """Whether a critic learns beside the actor."""
        return self.learn.method == "ppo" and self.learn.advantages == "critic"

    @property
    def buy_in(self) -> int | None:
        """Antes each seat has when strength is measured; None on credit."""
        return self.evaluation.buy_in if self.rules.stacks == "table_stakes" else None

    def flat(self) -> dict[str, Any]:
        """Every setting by its dotted name; None where it is left out."""
        return {
            f"{section}.{key}": value for section, values in self.model_dump().items() for key, value in values.items()
        }

    def to_toml(self) -> str:
        """The settings as a TOML document that reads back to the same value; what is not set is left out."""
        parts = []
        for section, values in self.model_dump().items():
            lines = [f"{key} = {_toml(value)}" for key, value in values.items() if value is not None]
            parts.append("\n".join([f"[{section}]", *lines]))
        return "\n\n".join(parts) + "\n"


def read_config(file: Path, assignments: Sequence[str] = ()) -> Config:
    """Settings from a TOML file, with some keys set anew.

    Args:
        file: a preset, or the `config.toml` of a run folder.
        assignments: texts "section.key=value".

    Raises:
        ConfigError: the file is missing or no TOML, or a key or value is not allowed.
    """
    settings = _read_toml(file)
    for key, text in _split(assignments):
        section, _, name = key.partition(".")
        place = settings.setdefault(section, {})
        if not isinstance(place, dict):
            raise ConfigError(f"{section} = {place!r} in {file}: it must be a section with keys, such as [{section}]")
        place[name] = _parse(key, text)
    return check_config(settings)


def check_config(settings: dict[str, Any]) -> Config:
    """Settings from plain values.

    Raises:
        ConfigError: a key or value is not allowed.
    """
    try:
        return Config.model_validate(settings)
    except ValidationError as error:
        raise ConfigError("; ".join(_explain(problem) for problem in error.errors())) from None


def config_from_toml(text: str) -> Config:
    """The inverse of `Config.to_toml`."""
    return check_config(tomllib.loads(text))


def changed_keys(old: Config, new: Config) -> list[str]:
    """The dotted names of the keys whose values differ."""
    before, after = old.model_dump(), new.model_dump()
    return [
        f"{section}.{key}"
        for section in before
        for key in before[section]
        if before[section][key] != after[section][key]
    ]


def _read_toml(file: Path) -> dict[str, Any]:
    """A TOML document as plain values."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"there is no config file {file}; presets are in configs/") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"config file {file} cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"config file {file} is not TOML: {error}") from None


def _split(assignments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Keys and texts of assignments, each key once."""
    seen: set[str] = set()
    for assignment in assignments:
        key, equals, text = assignment.partition("=")
        key = key.strip()
        if not equals or not key:
            raise ConfigError(f"--set {assignment!r}: write section.key=value, such as run.minutes=10")
        if key in seen:
            raise ConfigError(f"--set {key}: given twice")
        seen.add(key)
        yield key, text.strip()


def _parse(key: str, text: str) -> Any:
    """The value a text stands for, by the type its key has."""
    kinds = _kinds(_field_type(key))
    lowered = text.lower()
    if type(None) in kinds and lowered in ("none", "null"):
        return None
    if bool in kinds:
        values = {"true": True, "1": True, "false": False, "0": False}
        if lowered not in values:
            raise ConfigError(f"{key} = {text!r}: write true or false")
        return values[lowered]
    for items, kind in ((list[int], int), (list[float], float)):
        if items in kinds and (kind not in kinds or not text.isdecimal()):
            return _parse_list(key, text, kind)
    for kind, named in ((int, "an integer"), (float, "a number")):
        if kind in kinds:
            try:
                return kind(text)
            except ValueError:
                raise ConfigError(f"{key} = {text!r}: it must be {named}") from None
    return text


def _parse_list(key: str, text: str, kind: type[int] | type[float]) -> list[int] | list[float]:
    """Numbers between commas, with or without brackets, or whole ones from the first to the last, such as 3-5."""
    if kind is int and (ends := re.fullmatch(r"(\d+)-(\d+)", text)):
        return list(range(int(ends[1]), int(ends[2]) + 1))
    try:
        return [kind(part) for part in text.removeprefix("[").removesuffix("]").split(",")]
    except ValueError:
        wanted = "a number, several such as 3,4,5, or a range such as 3-5" if kind is int else "numbers such as 0.5,0.5"
        raise ConfigError(f"{key} = {text!r}: it must be {wanted}") from None


def _field_type(key: str) -> Any:
    """The declared type of a dotted key.

    Raises:
        ConfigError: there is no such key; names the nearest.
    """
    section, _, name = key.partition(".")
    model = Config.model_fields.get(section)
    if model is None or not isinstance(model.annotation, type) or name not in model.annotation.model_fields:
        raise ConfigError(_unknown(key))
    return model.annotation.model_fields[name].annotation


def _kinds(annotation: Any) -> tuple[Any, ...]:
    """The types a field may have."""
    if get_origin(annotation) is Literal:
        return (str,)
    return get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)


def all_keys() -> list[str]:
    """The dotted names of all settings."""
    return [f"{section}.{key}" for section, values in _defaults().items() for key in values]


def _defaults() -> dict[str, dict[str, Any]]:
    """The default of every setting."""
    return Config.model_construct().model_dump()


def _unknown(key: str) -> str:
    """Message for a key that does not exist: names the nearest one of its section, else of any."""
    section, _, name = key.partition(".")
    defaults = _defaults()
    if section in defaults and not name:
        return f"{section} is a section; write {section}.key, with a key among {', '.join(defaults[section])}"
    leaves = {known.partition(".")[2]: known for known in all_keys()}
    nearest = (
        [f"{section}.{near}" for near in difflib.get_close_matches(name, defaults.get(section, {}), 1)]
        or [leaves[near] for near in difflib.get_close_matches(name or section, leaves, 1)]
        or [f"section {near}" for near in difflib.get_close_matches(section, set(defaults) - {section}, 1)]
    )
    hint = f"did you mean {nearest[0]}?" if nearest else f"known are {', '.join(defaults.get(section, defaults))}"
    return f"unknown key {key}; {hint}"


def _explain(problem: Any) -> str:
    """One problem pydantic found, in words."""
    key = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        return _unknown(key)
    if problem["type"] == "model_type":
        return f"{key} = {problem['input']!r}: it must be a section with keys, such as [{key}]"
    if problem["type"] == "string_too_short":
        return f"{key} = '': it must not be empty; leave it out, or give it a value"
    message = str(problem["msg"]).removeprefix("Value error, ").removeprefix("Input should be ")
    if problem["type"] == "value_error" and "." not in key:  # of a section: the message names its keys
        return message
    return f"{key} = {problem['input']!r}: it must be {message}"


def _toml(value: Any) -> str:
    """A plain value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, str) else repr(value)
