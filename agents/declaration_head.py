"""How an actor's outputs become logits of Bourré's actions: play a card, stay and throw some away, or pass.

Shapes: D rows, W words of an observation, A actions, C cards of the pack, H cards of a hand, M = 2^H ways to discard.
"""

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from agents.distribution import masked_log_softmax
from bourre_env.bits import BITS
from bourre_env.cards import EMPTY, NUM_CARDS, lowest_card
from bourre_env.jit import njit_entry

if TYPE_CHECKING:
    from agents.network import NetworkSpec

PLAY, STAY, PASS = 0, 1, 2
"""Groups of actions: the declaration chooses between staying and passing, and only then how."""

STRUCTURED, PLAIN = "structured", "plain"
"""Heads for discards: the cards thrown away and their number are scored, or each way to discard has an output."""

_CARDS = (1 << NUM_CARDS) - 1  # the bits of a word that are cards


class DeclarationScoring(nn.Module):
    """Outputs -> scores of actions -> logits.

    Playing: one logit a card. Declaring: one number decides between passing and staying (0 is even), then the ways
    to discard share what staying has, each scored by the cards it throws away and by how many they are. However many
    ways are legal, passing therefore starts at exactly one half: with one logit for each of 33 actions it would start
    at 3 %, and die out before the discards are learned. With the plain head each way to discard has a logit of its
    own; what is learned of a card then has to be learned again for every place in the hand.

    Attributes:
        parts: numbers of outputs: play, discards, passing.
        groups: [A] int64, the group of each action.
    """

    discard_bits: Tensor
    discard_counts: Tensor
    card_places: Tensor
    groups: Tensor

    def __init__(self, spec: "NetworkSpec") -> None:
        """Take the sizes of a spec."""
        super().__init__()
        self.spec = spec
        num_cards, hand_size = len(spec.cards), spec.hand_size
        self.parts = [num_cards, *self._discard_outputs(), 1]
        ways = torch.arange(1 << hand_size)
        bits = ways.unsqueeze(0) >> torch.arange(hand_size).unsqueeze(1) & 1
        self._constant("discard_bits", bits.float())  # [H, M]: whether way m throws away the i-th lowest card
        self._constant("discard_counts", bits.sum(dim=0))
        place_of = {card: place for place, card in enumerate(spec.cards)}
        self._constant("card_places", torch.tensor([place_of.get(card, 0) for card in range(NUM_CARDS)]))
        self._constant("groups", torch.tensor([PLAY] * num_cards + [STAY] * len(ways) + [PASS]))

    def even(self, head: nn.Linear) -> None:
        """Make passing and staying start even, exactly."""
        with torch.no_grad():
            head.weight[-1].zero_()

    def scores(self, outputs: Tensor, observation: Tensor) -> tuple[Tensor, ...]:
        """What the network makes of each card to play [D, C], each way to discard [D, M] and passing [D, 1].

        Args:
            outputs: [D, sum of `parts`].
            observation: [D, W] int64, packed.
        """
        play, *discards, passing = outputs.split(self.parts, dim=1)  # type: ignore[no-untyped-call]
        if self.spec.head == PLAIN:
            return play, discards[0], passing
        return play, self._discard_scores(observation, *discards), passing

    def forward(self, scores: tuple[Tensor, ...], legal: Tensor) -> Tensor:
        """[D, A] logits.

        Args:
            scores: of `scores`.
            legal: [D, A] bool.
        """
        play, discards, passing = scores
        stay_legal = legal[:, len(self.spec.cards) : -1]
        return torch.cat([play, masked_log_softmax(discards, stay_legal)[0], passing], dim=1)

    def _discard_outputs(self) -> list[int]:
        """Numbers of outputs that score discards: cards, then counts; or the ways themselves."""
        if self.spec.head == PLAIN:
            return [1 << self.spec.hand_size]
        return [len(self.spec.cards), self.spec.hand_size + 1]

    def _constant(self, name: str, value: Tensor) -> None:
        """A tensor that follows the module to its device and is no part of a checkpoint."""
        self.register_buffer(name, value, persistent=False)

    def _discard_scores(self, observation: Tensor, card_scores: Tensor, count_scores: Tensor) -> Tensor:
        """[D, M]: the summed scores of the cards each way throws away, plus the score of their number."""
        hands = observation[:, self.spec.own_hand // BITS] >> self.spec.own_hand % BITS & _CARDS
        places = self.card_places[cards_by_rank(hands, self.spec.hand_size)]
        scores = card_scores.gather(1, places)
        return scores @ self.discard_bits + count_scores[:, self.discard_counts]


def cards_by_rank(hands: Tensor, hand_size: int) -> Tensor:
    """[D, H] int64: the ids of the cards of each hand, the lowest first, then 0 where there are no more.

    Args:
        hands: [D] int64, sets of at most H cards.
        hand_size: H.
    """
    if hands.is_cuda:
        return _cards_by_rank_in_steps(hands, hand_size)
    cards = torch.zeros(len(hands), hand_size, dtype=torch.int64)
    _list_cards(hands.contiguous().numpy().view(np.uint64), cards.numpy())
    return cards


def _cards_by_rank_in_steps(hands: Tensor, hand_size: int) -> Tensor:
    """The same by operations on all hands at once; thirty of them, each of which costs more than the whole loop."""
    cards = []
    for _ in range(hand_size):
        lowest = hands & -hands
        # a power of two is half of two to the exponent that frexp gives; where no card is left it gives 0
        cards.append((torch.frexp(lowest.double()).exponent.long() - 1).clamp_min(0))
        hands = hands ^ lowest
    return torch.stack(cards, dim=1)


@njit_entry
def _list_cards(hands: NDArray[np.uint64], out: NDArray[np.int64]) -> None:
    """Write the cards of each of the hands [D] into its row of `out` [D, H]."""
    for row in range(len(hands)):
        hand = hands[row]
        for place in range(out.shape[1]):
            if hand == EMPTY:
                break
            out[row, place] = lowest_card(hand)
            hand &= hand - np.uint64(1)
