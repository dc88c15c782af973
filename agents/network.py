"""The actor and the critic.

The actor sees an observation and gives one masked distribution over all actions. The critic is a separate network that
is thrown away after training; it may also see the other seats' hands, which the actor never does.

Shapes: D rows, O = 64*W features of an observation, K words of hidden hands, A actions, C cards of the pack, H cards of
a hand, M = 2^H ways to discard.
"""

from dataclasses import asdict, dataclass, fields
from typing import Any

import torch
from torch import Tensor, nn

from agents.distribution import MaskedDistribution, masked_log_softmax
from bourre_env.bourre.actions import card_of_action
from bourre_env.bourre.observation import BITS, layout
from bourre_env.bourre.rules import Rules

PLAY, STAY, PASS = 0, 1, 2
"""Groups of actions: the declaration chooses between staying and passing, and only then how."""

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
            **sizes: widths, layers and `layer_norm`.
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
        """The inverse of `to_plain`.

        Raises:
            ValueError: a field is missing, unknown or of another type.
        """
        expected = {field.name for field in fields(NetworkSpec)}
        if not isinstance(plain, dict) or set(plain) != expected:
            raise ValueError(f"a network spec has the fields {sorted(expected)}")
        cards = plain["cards"]
        numbers = [plain[name] for name in expected - {"cards", "layer_norm"}]
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
    at 3 %, and die out before the discards are learned.
    """

    discard_bits: Tensor
    discard_counts: Tensor
    card_features: Tensor
    card_order: Tensor
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
        self.parts = [num_cards, num_cards, hand_size + 1, 1]  # play, discard scores, count scores, passing
        self.body = _body(BITS * spec.num_words, spec.actor_width, spec.actor_layers, spec.layer_norm, generator)
        self.head = _linear(spec.actor_width, sum(self.parts), _SMALL_GAIN, generator)
        with torch.no_grad():
            self.head.weight[-1].zero_()  # passing and staying start even, exactly
        ways = torch.arange(1 << hand_size)
        bits = ways.unsqueeze(0) >> torch.arange(hand_size).unsqueeze(1) & 1
        self._constant("discard_bits", bits.float())  # [H, M]: whether way m throws away the i-th lowest card
        self._constant("discard_counts", bits.sum(dim=0))
        self._constant("card_features", torch.tensor(spec.cards) + spec.own_hand)
        self._constant("card_order", torch.arange(num_cards, 0, -1).float())
        self._constant("groups", torch.tensor([PLAY] * num_cards + [STAY] * len(ways) + [PASS]))

    def _constant(self, name: str, value: Tensor) -> None:
        """A tensor that follows the module to its device and is no part of a checkpoint."""
        self.register_buffer(name, value, persistent=False)

    def forward(self, observation: Tensor, legal: Tensor) -> MaskedDistribution:
        """The distribution over the legal actions of each row.

        Args:
            observation: [D, O] float32.
            legal: [D, A] bool.

        Raises:
            ValueError: a row without a legal action.
            FloatingPointError: the weights have diverged.
        """
        outputs = self.head(self.body(observation))
        play, card_scores, count_scores, passing = outputs.split(self.parts, dim=1)
        discards = self._discard_scores(observation, card_scores, count_scores)
        stay_legal = legal[:, len(self.spec.cards) : -1]
        logits = torch.cat([play, masked_log_softmax(discards, stay_legal), passing], dim=1)
        return MaskedDistribution(logits, legal)

    def _discard_scores(self, observation: Tensor, card_scores: Tensor, count_scores: Tensor) -> Tensor:
        """[D, M]: the summed scores of the cards each way throws away, plus the score of their number."""
        hand = observation[:, self.card_features]
        # The H largest keys belong to the H lowest cards, lowest card first; places beyond the hand have key 0.
        keys = (hand * self.card_order).topk(self.spec.hand_size, dim=1).values
        places = (len(self.spec.cards) - keys).long().clamp_max(len(self.spec.cards) - 1)
        scores = card_scores.gather(1, places)
        return scores @ self.discard_bits + count_scores[:, self.discard_counts]


class Critic(nn.Module):
    """Observation and hidden hands -> what the deal is worth to the seat, in pots."""

    def __init__(self, spec: NetworkSpec, generator: torch.Generator) -> None:
        """Build the network and draw its weights; arguments as for `Actor`."""
        super().__init__()
        self.spec = spec
        inputs = BITS * (spec.num_words + spec.hidden_words)
        self.body = _body(inputs, spec.critic_width, spec.critic_layers, spec.layer_norm, generator)
        self.head = _linear(spec.critic_width, 1, _SMALL_GAIN, generator)

    def forward(self, observation: Tensor) -> Tensor:
        """[D] float32: the value of each row.

        Args:
            observation: [D, O + 64*K] float32: the observation, then the hands of the other seats.
        """
        value: Tensor = self.head(self.body(observation)).squeeze(1)
        return value


def _body(inputs: int, width: int, layers: int, layer_norm: bool, generator: torch.Generator) -> nn.Sequential:
    """Hidden layers, each linear, normalised if asked for, and rectified."""
    modules: list[nn.Module] = []
    for layer in range(layers):
        modules.append(_linear(inputs if layer == 0 else width, width, 2**0.5, generator))
        if layer_norm:
            modules.append(nn.LayerNorm(width))
        modules.append(nn.ReLU(inplace=True))
    return nn.Sequential(*modules)


def _linear(inputs: int, outputs: int, gain: float, generator: torch.Generator) -> nn.Linear:
    """A linear layer with orthogonal weights and no bias at the start; torch's global generator is left alone."""
    linear: nn.Linear = nn.utils.skip_init(nn.Linear, inputs, outputs)  # type: ignore[no-untyped-call]
    nn.init.orthogonal_(linear.weight, gain, generator=generator)
    nn.init.zeros_(linear.bias)
    return linear
