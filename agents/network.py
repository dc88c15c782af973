"""The actor and the critic.

The actor sees an observation and gives one masked distribution over all actions. The critic is a separate network that
is thrown away after training; it may also see the other seats' hands, which the actor never does.

Observations stay packed, 64 features a word. Shapes: D rows, W words of an observation, K words of hidden hands, A
actions, C cards of the pack, H cards of a hand, M = 2^H ways to discard.
"""

from dataclasses import asdict, dataclass, fields
from typing import Any

import torch
from torch import Tensor, nn

from agents.distribution import MaskedDistribution, masked_log_softmax
from agents.packed_linear import PackedLinear
from bourre_env.bourre.actions import card_of_action
from bourre_env.bourre.observation import BITS, layout
from bourre_env.bourre.rules import Rules
from bourre_env.cards import NUM_CARDS

PLAY, STAY, PASS = 0, 1, 2
"""Groups of actions: the declaration chooses between staying and passing, and only then how."""

STRUCTURED, PLAIN = "structured", "plain"
"""Heads for discards: the cards thrown away and their number are scored, or each way to discard has an output."""

_CARDS = (1 << NUM_CARDS) - 1  # the bits of a word that are cards

_SMALL_GAIN = 0.01  # of the last layers: at the start all legal choices of a step are nearly equal


@dataclass(frozen=True, slots=True)
class NetworkSpec:
    """Everything needed to build the networks again; plain numbers, stored in the checkpoint.

    Attributes:
        num_words: W, words of a packed observation.
        hidden_words: K, words of hidden hands the critic sees; 0 for a critic that sees what the actor sees.
        own_hand: first of the 52 features that hold the own hand.
        cards: [C] relative ids of the cards that the play actions 0 to C-1 play.
        hand_size: H.
        actor_width: units of each hidden layer of the actor.
        actor_layers: hidden layers of the actor.
        critic_width: units of each hidden layer of the critic.
        critic_layers: hidden layers of the critic.
        layer_norm: normalise each hidden layer before its ReLU.
        head: how the ways to discard are scored, `STRUCTURED` or `PLAIN`.
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

    @property
    def num_actions(self) -> int:
        """A: a card to play, a way to discard, or passing."""
        return len(self.cards) + (1 << self.hand_size) + 1

    @staticmethod
    def for_rules(rules: Rules, *, seats_shown: int, privileged: bool, **sizes: Any) -> "NetworkSpec":
        """The networks that play by some rules.

        Args:
            rules: decide the actions and the observation.
            seats_shown: seats the observation has room for.
            privileged: whether the critic sees the other seats' hands.
            **sizes: widths, layers, `layer_norm` and `head`.
        """
        observation = layout(rules, seats_shown)
        record = rules.record()[0]
        return NetworkSpec(
            num_words=observation.num_words,
            hidden_words=seats_shown - 1 if privileged else 0,
            own_hand=observation.segments["own_hand"].start,
            cards=tuple(int(card_of_action(record, action)) for action in range(len(rules.pack))),
            hand_size=rules.hand_size,
            **sizes,
        )

    def to_plain(self) -> dict[str, Any]:
        """The fields as JSON can hold them."""
        return {**asdict(self), "cards": list(self.cards)}

    @staticmethod
    def from_plain(plain: dict[str, Any]) -> "NetworkSpec":
        """The inverse of `to_plain`; specs from before there were two heads have the structured one.

        Raises:
            ValueError: a field is missing, unknown or of another type.
        """
        expected = {field.name for field in fields(NetworkSpec)}
        if not isinstance(plain, dict) or set(plain) | {"head"} != expected:
            raise ValueError(f"a network spec has the fields {sorted(expected)}")
        if plain.get("head", STRUCTURED) not in (STRUCTURED, PLAIN):
            raise ValueError(f"head of a network spec is {STRUCTURED!r} or {PLAIN!r}, not {plain['head']!r}")
        cards = plain["cards"]
        numbers = [plain[name] for name in expected - {"cards", "layer_norm", "head"}]
        if not isinstance(cards, list) or not all(type(number) is int for number in [*cards, *numbers]):
            raise ValueError("the sizes of a network spec are integers")
        if type(plain["layer_norm"]) is not bool:
            raise ValueError("layer_norm of a network spec is true or false")
        return NetworkSpec(**{**plain, "cards": tuple(cards)})


class Actor(nn.Module):
    """Observation -> one distribution over all actions.

    Playing: one logit a card. Declaring: one number decides between passing and staying (0 is even), then the ways
    to discard share what staying has, each scored by the cards it throws away and by how many they are. However many
    ways are legal, passing therefore starts at exactly one half: with one logit for each of 33 actions it would start
    at 3 %, and die out before the discards are learned. With the plain head each way to discard has a logit of its
    own; what is learned of a card then has to be learned again for every place in the hand.
    """

    discard_bits: Tensor
    discard_counts: Tensor
    card_places: Tensor
    groups: Tensor

    def __init__(self, spec: NetworkSpec, generator: torch.Generator) -> None:
        """Build the network and draw its weights.

        Args:
            spec: the sizes.
            generator: the source of the weights.
        """
        super().__init__()
        self.spec = spec
        num_cards, hand_size = len(spec.cards), spec.hand_size
        self.parts = [num_cards, *self._discard_outputs(), 1]  # play, discards, passing
        self.body = _body(spec.num_words, spec.actor_width, spec.actor_layers, spec.layer_norm, generator)
        self.head = _drawn(_undefined_linear(spec.actor_width, sum(self.parts)), _SMALL_GAIN, generator)
        with torch.no_grad():
            self.head.weight[-1].zero_()  # passing and staying start even, exactly
        ways = torch.arange(1 << hand_size)
        bits = ways.unsqueeze(0) >> torch.arange(hand_size).unsqueeze(1) & 1
        self._constant("discard_bits", bits.float())  # [H, M]: whether way m throws away the i-th lowest card
        self._constant("discard_counts", bits.sum(dim=0))
        place_of = {card: place for place, card in enumerate(spec.cards)}
        self._constant("card_places", torch.tensor([place_of.get(card, 0) for card in range(NUM_CARDS)]))
        self._constant("groups", torch.tensor([PLAY] * num_cards + [STAY] * len(ways) + [PASS]))

    def _discard_outputs(self) -> list[int]:
        """Numbers of outputs that score discards: cards, then counts; or the ways themselves."""
        if self.spec.head == PLAIN:
            return [1 << self.spec.hand_size]
        return [len(self.spec.cards), self.spec.hand_size + 1]

    def _constant(self, name: str, value: Tensor) -> None:
        """A tensor that follows the module to its device and is no part of a checkpoint."""
        self.register_buffer(name, value, persistent=False)

    def forward(self, observation: Tensor, legal: Tensor) -> MaskedDistribution:
        """The distribution over the legal actions of each row.

        Args:
            observation: [D, W] int64, packed.
            legal: [D, A] bool.

        Raises:
            ValueError: a row without a legal action.
            FloatingPointError: the weights have diverged.
        """
        play, discards, passing = self.scores(observation)
        stay_legal = legal[:, len(self.spec.cards) : -1]
        logits = torch.cat([play, masked_log_softmax(discards, stay_legal)[0], passing], dim=1)
        return MaskedDistribution(logits, legal)

    def scores(self, observation: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What the network makes of each card to play [D, C], each way to discard [D, M] and passing [D, 1]."""
        play, *discards, passing = self.head(self.body(observation)).split(self.parts, dim=1)
        if self.spec.head == PLAIN:
            return play, discards[0], passing
        return play, self._discard_scores(observation, *discards), passing

    def _discard_scores(self, observation: Tensor, card_scores: Tensor, count_scores: Tensor) -> Tensor:
        """[D, M]: the summed scores of the cards each way throws away, plus the score of their number."""
        hand = observation[:, self.spec.own_hand // BITS] >> self.spec.own_hand % BITS & _CARDS
        places = []
        for _ in range(self.spec.hand_size):
            lowest = hand & -hand
            # a power of two is half of two to the exponent that frexp gives; where no card is left it gives 0
            bit = torch.frexp(lowest.double()).exponent.long() - 1
            places.append(self.card_places[bit.clamp_min(0)])
            hand = hand ^ lowest
        scores = card_scores.gather(1, torch.stack(places, dim=1))
        return scores @ self.discard_bits + count_scores[:, self.discard_counts]


class Critic(nn.Module):
    """Observation and hidden hands -> what the deal is worth to the seat, in pots."""

    def __init__(self, spec: NetworkSpec, generator: torch.Generator) -> None:
        """Build the network and draw its weights; arguments as for `Actor`."""
        super().__init__()
        self.spec = spec
        self.body = _body(
            spec.num_words + spec.hidden_words, spec.critic_width, spec.critic_layers, spec.layer_norm, generator
        )
        self.head = _drawn(_undefined_linear(spec.critic_width, 1), _SMALL_GAIN, generator)

    def forward(self, observation: Tensor) -> Tensor:
        """[D] float32: the value of each row.

        Args:
            observation: [D, W + K] int64: the packed observation, then the hands of the other seats.
        """
        value: Tensor = self.head(self.body(observation)).squeeze(1)
        return value


def _body(num_words: int, width: int, layers: int, layer_norm: bool, generator: torch.Generator) -> nn.Sequential:
    """Hidden layers, each linear, normalised if asked for, and rectified."""
    modules: list[nn.Module] = []
    for layer in range(layers):
        linear = _undefined_linear(width, width) if layer else PackedLinear(num_words, width)
        modules.append(_drawn(linear, 2**0.5, generator))
        if layer_norm:
            modules.append(nn.LayerNorm(width))
        modules.append(nn.ReLU(inplace=True))
    return nn.Sequential(*modules)


def _undefined_linear(inputs: int, outputs: int) -> nn.Linear:
    """A linear layer without values; torch's global generator is left alone."""
    linear: nn.Linear = nn.utils.skip_init(nn.Linear, inputs, outputs)  # type: ignore[no-untyped-call]
    return linear


def _drawn(linear: nn.Linear, gain: float, generator: torch.Generator) -> nn.Linear:
    """The layer with orthogonal weights and no bias."""
    nn.init.orthogonal_(linear.weight, gain, generator=generator)
    nn.init.zeros_(linear.bias)
    return linear
