"""The actor and the critic.

The actor sees an observation and gives one masked distribution over all actions. The critic is a separate network that
is thrown away after training; it may also see the other seats' hands, which the actor never does.

Observations stay packed, 64 features a word. Shapes: D rows, W words of an observation, K words of hidden hands, A
actions, C cards of the pack.
"""

import importlib
import importlib.util
import math
from dataclasses import asdict, dataclass, fields
from typing import Any

import torch
from torch import Tensor, nn

from agents.declaration_head import PASS as PASS
from agents.declaration_head import PLAIN as PLAIN
from agents.declaration_head import PLAY as PLAY
from agents.declaration_head import STAY as STAY
from agents.declaration_head import STRUCTURED as STRUCTURED
from agents.declaration_head import DeclarationScoring
from agents.distribution import MaskedDistribution
from agents.layers import drawn, undefined_linear
from agents.packed_linear import PackedLinear
from agents.trainings import training_of
from bourre_env.family import GAMES, GameRules

FLAT = "flat"
"""The head of games whose actions have no structure: each action has an output."""

OWN = "own:"
"""Begins the heads of games with networks of their own, and the name of the game ends them. Its module
`agents.GAME.network` has the classes `ActorBody`, whose outputs are scores of the actions, and `CriticBody`, whose
`so_far` is what the critic's output is added to."""


def _own_network(head: str) -> Any:
    """The module with the bodies of a game's own networks."""
    return importlib.import_module(f"{__package__}.{head.removeprefix(OWN)}.network")


def _has_own_network(head: object) -> bool:
    """Whether a head belongs to a game of the family that has networks of its own."""
    if not isinstance(head, str) or not head.startswith(OWN) or head.removeprefix(OWN) not in GAMES:
        return False
    return importlib.util.find_spec(f"{__package__}.{head.removeprefix(OWN)}.network") is not None


_SMALL_GAIN = 0.01  # of the last layers: at the start all legal choices of a step are nearly equal


@dataclass(frozen=True, slots=True)
class NetworkSpec:
    """Everything needed to build the networks again; plain numbers, stored in the checkpoint.

    Attributes:
        num_words: W, words of a packed observation.
        hidden_words: K, words of hidden hands the critic sees; 0 for a critic that sees what the actor sees.
        own_hand: first of the 52 features that hold the own hand; for the heads of `agents.declaration_head`, like
            what follows.
        cards: [C] relative ids of the cards that the play actions 0 to C-1 play.
        hand_size: cards of a hand.
        actor_width: units of each hidden layer of the actor.
        actor_layers: hidden layers of the actor.
        critic_width: units of each hidden layer of the critic.
        critic_layers: hidden layers of the critic.
        layer_norm: normalise each hidden layer before its ReLU.
        head: `STRUCTURED` or `PLAIN`, how ways to discard are scored, or `FLAT`, or `OWN` and the name of a game.
        actions: A, for the heads `FLAT` and `OWN` alone.
        shy: actions that start out unlikely, for the head `FLAT`: each half as likely as the one before it, and all
            together as likely as another action; taking any of them is a choice of its own, as staying is in Bourré.
    """

    num_words: int
    hidden_words: int
    own_hand: int
    cards: tuple[int, ...]
    hand_size: int
    actor_width: int
    actor_layers: int
    critic_width: int
    critic_layers: int
    layer_norm: bool
    head: str = STRUCTURED
    actions: int | None = None
    shy: tuple[int, ...] = ()

    @property
    def num_actions(self) -> int:
        """A: with a head for declarations a card to play, a way to discard, or passing."""
        if self.actions is not None:
            return self.actions
        return len(self.cards) + (1 << self.hand_size) + 1

    @staticmethod
    def for_rules(rules: GameRules, *, seats_shown: int, privileged: bool, **sizes: Any) -> "NetworkSpec":
        """The networks that play by some rules.

        Args:
            rules: decide the actions and the observation.
            seats_shown: seats the observation has room for.
            privileged: whether the critic sees the other seats' hands.
            **sizes: widths, layers, `layer_norm` and `head`.
        """
        return training_of(rules).network_spec(rules, seats_shown=seats_shown, privileged=privileged, **sizes)

    @property
    def is_own(self) -> bool:
        """Whether these are networks that only their game has; they score actions without a last hidden layer."""
        return self.head.startswith(OWN)

    def to_plain(self) -> dict[str, Any]:
        """The fields as JSON can hold them."""
        plain = {**asdict(self), "cards": list(self.cards)}
        if self.actions is None:
            del plain["actions"]  # as in specs from before there was a third head
        if not self.shy:
            del plain["shy"]  # as in older ones
        return plain

    @staticmethod
    def from_plain(plain: dict[str, Any]) -> "NetworkSpec":
        """The inverse of `to_plain`; specs from before there were two heads have the structured one.

        Raises:
            ValueError: a field is missing, unknown or of another type.
        """
        expected = {field.name for field in fields(NetworkSpec)}
        if not isinstance(plain, dict) or set(plain) | {"head", "actions", "shy"} != expected:
            raise ValueError(f"a network spec has the fields {sorted(expected)}")
        head = plain.get("head", STRUCTURED)
        is_own = _has_own_network(head)
        if not is_own and head not in (STRUCTURED, PLAIN, FLAT):
            known = f"{STRUCTURED!r}, {PLAIN!r}, {FLAT!r}, or {OWN!r} and the name of a game with networks of its own"
            raise ValueError(f"head of a network spec is {head!r}; it must be {known}")
        if (is_own or head == FLAT) != ("actions" in plain):
            raise ValueError(f"actions of a network spec go with the heads {FLAT!r} and {OWN!r}")
        cards, shy = plain["cards"], plain.get("shy", [])
        numbers = [plain[name] for name in set(plain) - {"cards", "layer_norm", "head", "shy"}]
        are_lists = isinstance(cards, list) and isinstance(shy, list)
        if not are_lists or not all(type(number) is int for number in [*cards, *shy, *numbers]):
            raise ValueError("the sizes of a network spec are integers")
        if type(plain["layer_norm"]) is not bool:
            raise ValueError("layer_norm of a network spec is true or false")
        return NetworkSpec(**{**plain, "cards": tuple(cards), "shy": tuple(shy)})


class FlatScoring(nn.Module):
    """Outputs are scores, and scores logits.

    Attributes:
        parts: numbers of outputs.
        groups: [A] int64, the group of each action: all are one but for the shy ones, which are another.
    """

    groups: Tensor

    def __init__(self, spec: NetworkSpec) -> None:
        """Take the number of actions of a spec."""
        super().__init__()
        self._shy = list(spec.shy)
        self.parts = [spec.num_actions]
        groups = torch.full((spec.num_actions,), PLAY)
        groups[self._shy] = STAY
        self.register_buffer("groups", groups, persistent=False)

    def even(self, head: nn.Linear) -> None:
        """All actions start nearly even anyway, but for the shy ones."""
        with torch.no_grad():
            head.bias[self._shy] -= torch.arange(1, len(self._shy) + 1) * math.log(2)

    def scores(self, outputs: Tensor, observation: Tensor) -> tuple[Tensor, ...]:
        """The outputs [D, A] themselves."""
        return (outputs,)

    def forward(self, scores: tuple[Tensor, ...], legal: Tensor) -> Tensor:
        """[D, A] logits: the scores."""
        return scores[0]


class Actor(nn.Module):
    """Observation -> one distribution over all actions."""

    def __init__(self, spec: NetworkSpec, generator: torch.Generator) -> None:
        """Build the network and draw its weights.

        Args:
            spec: the sizes.
            generator: the source of the weights.
        """
        super().__init__()
        self.spec = spec
        self.scoring = FlatScoring(spec) if spec.actions is not None else DeclarationScoring(spec)
        self.body: nn.Module
        self.head: nn.Module
        if spec.is_own:
            self.body, self.head = _own_network(spec.head).ActorBody(spec, generator), nn.Identity()
            return
        self.body = _body(spec.num_words, spec.actor_width, spec.actor_layers, spec.layer_norm, generator)
        self.head = drawn(undefined_linear(spec.actor_width, sum(self.parts)), _SMALL_GAIN, generator)
        self.scoring.even(self.head)

    @property
    def parts(self) -> list[int]:
        """Numbers of outputs of each kind."""
        return self.scoring.parts

    @property
    def groups(self) -> Tensor:
        """[A] int64: the group of each action."""
        return self.scoring.groups

    def forward(self, observation: Tensor, legal: Tensor) -> MaskedDistribution:
        """The distribution over the legal actions of each row.

        Args:
            observation: [D, W] int64, packed.
            legal: [D, A] bool.

        Raises:
            ValueError: a row without a legal action.
            FloatingPointError: the weights have diverged.
        """
        return self.distribution(self.body(observation), observation, legal)

    def distribution(self, hidden: Tensor, observation: Tensor, legal: Tensor) -> MaskedDistribution:
        """The same from the last hidden layer [D, H], for who wants that for something else, too."""
        return MaskedDistribution(self.scoring(self._scores(hidden, observation), legal), legal)

    def scores(self, observation: Tensor) -> tuple[Tensor, ...]:
        """What the network makes of each action, before anything is normalised; side by side they are [D, A].

        Args:
            observation: [D, W] int64, packed.
        """
        return self._scores(self.body(observation), observation)

    def _scores(self, hidden: Tensor, observation: Tensor) -> tuple[Tensor, ...]:
        """The same from the last hidden layer [D, H]."""
        scores: tuple[Tensor, ...] = self.scoring.scores(self.head(hidden), observation)
        return scores


class Foreteller(nn.Linear):
    """The actor's last hidden layer [D, H] -> what the deal brings the seat [D]: a second use for the hidden layers."""

    def __init__(self, spec: NetworkSpec) -> None:
        """For an actor of these sizes; it starts by foretelling nothing."""
        super().__init__(spec.actor_width, 1, device="meta")
        self.to_empty(device="cpu")
        nn.init.zeros_(self.weight)
        nn.init.zeros_(self.bias)

    def forward(self, hidden: Tensor) -> Tensor:
        """[D] float32, in units of the game."""
        return super().forward(hidden).squeeze(1)


class Critic(nn.Module):
    """Observation and hidden hands -> what the deal is worth to the seat, in units of the game."""

    def __init__(self, spec: NetworkSpec, generator: torch.Generator) -> None:
        """Build the network and draw its weights; arguments as for `Actor`."""
        super().__init__()
        self.spec = spec
        if spec.is_own:
            self.body: nn.Module = _own_network(spec.head).CriticBody(spec, generator)
        else:
            self.body = _body(
                spec.num_words + spec.hidden_words, spec.critic_width, spec.critic_layers, spec.layer_norm, generator
            )
        self.head = drawn(undefined_linear(spec.critic_width, 1), _SMALL_GAIN, generator)

    def forward(self, observation: Tensor) -> Tensor:
        """[D] float32: the value of each row.

        Args:
            observation: [D, W + K] int64: the packed observation, then the hands of the other seats.
        """
        value: Tensor = self.head(self.body(observation)).squeeze(1)
        if not self.spec.is_own:
            return value
        so_far: Tensor = self.body.so_far(observation)  # type: ignore[operator]
        return value + so_far


def _body(num_words: int, width: int, layers: int, layer_norm: bool, generator: torch.Generator) -> nn.Sequential:
    """Hidden layers, each linear, normalised if asked for, and rectified."""
    modules: list[nn.Module] = []
    for layer in range(layers):
        linear = undefined_linear(width, width) if layer else PackedLinear(num_words, width)
        modules.append(drawn(linear, 2**0.5, generator))
        if layer_norm:
            modules.append(nn.LayerNorm(width))
        modules.append(nn.ReLU(inplace=True))
    return nn.Sequential(*modules)
