"""Networks for Bureau: every column is looked at in the same way, and every legal action by what it does.

A first layer sees one column at a time. The columns' mean and maximum and everything else on the table make one
summary; the legal actions, which name columns, are left out of it. An action is scored from its features
(`agents.bureau.features`), the columns that it takes from and lays on, and the summary. So what is learned of one
column is known of all thirteen, and of a move from one to another of all 156.

Scores are added to what the rule bot makes of the action, so that learning begins where it leaves off (residual policy
learning: Silver, Allen, Tenenbaum and Kaelbling, 2018); how far it is trusted is learned, too.

Shapes: D rows, W words of an observation, K words of hidden cards, A actions, P legal actions of all rows, F features
of an action, C units of a column, H units of the summary, M units of an action.
"""

import numpy as np
import torch
from torch import Tensor, nn

from agents.bureau.features import LARGEST, NOWHERE, NUM_FEATURES, count_legal, describe_legal
from agents.bureau.heuristic import HEURISTIC, worth_rows
from agents.layers import drawn, undefined_linear
from agents.network import NetworkSpec
from agents.packed_linear import PackedLinear, unpacked
from bourre_env.bureau import observation as at
from bourre_env.bureau.actions import COLUMN_UP, MOVE, RESIGN, WASTE_DOWN
from bourre_env.bureau.cards import NUM_CARDS
from bourre_env.bureau.rules import NUM_COLUMNS
from bourre_env.bureau.table import LEGAL_WORDS

COLUMN_UNITS = 32
ACTION_UNITS = 32
TRUST = 0.1  # at the start, in a logit for a point of the rule bot
COLUMNS_END = at.COLUMN_WORDS * NUM_COLUMNS  # the words before it tell of columns

_GAIN = 2**0.5  # of layers before a ReLU
_SMALL_GAIN = 0.01  # of the last layers: at the start all legal choices of a step are nearly equal


def _columns_of_actions() -> Tensor:
    """[A, 2] int64: the columns that each action takes cards from and lays them on; `NOWHERE` for none."""
    columns = torch.full((RESIGN + 1, 2), NOWHERE)
    for column in range(NUM_COLUMNS):
        columns[WASTE_DOWN + column, 1] = column
        columns[COLUMN_UP + column, 0] = column
        for other in range(NUM_COLUMNS):
            columns[MOVE + NUM_COLUMNS * column + other] = torch.tensor([column, other])
    return columns


class Table(nn.Module):
    """Packed rows -> a summary [D, H] and the columns [D, 13, C]."""

    def __init__(self, num_words: int, width: int, layers: int, generator: torch.Generator) -> None:
        """Build the layers and draw their weights.

        Args:
            num_words: W, or W + K for a critic that sees hidden cards.
            width: H.
            layers: hidden layers of the summary.
            generator: the source of the weights.
        """
        super().__init__()
        self.column = drawn(PackedLinear(at.COLUMN_WORDS, COLUMN_UNITS), _GAIN, generator)
        self.column_norm = nn.LayerNorm(COLUMN_UNITS)
        self.rest = drawn(PackedLinear(num_words - COLUMNS_END - LEGAL_WORDS, width), _GAIN, generator)
        self.pooled = drawn(undefined_linear(2 * COLUMN_UNITS, width), _GAIN, generator)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.Sequential()
        for _ in range(layers - 1):
            self.layers.append(drawn(undefined_linear(width, width), _GAIN, generator))
            self.layers.append(nn.LayerNorm(width))
            self.layers.append(nn.ReLU(inplace=True))

    def forward(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """The summary and the columns of rows [D, W] or [D, W + K] int64."""
        columns = self.column(words[:, :COLUMNS_END].reshape(-1, at.COLUMN_WORDS))
        columns = self.column_norm(columns).relu().view(len(words), NUM_COLUMNS, COLUMN_UNITS)
        pooled = torch.cat([columns.mean(dim=1), columns.amax(dim=1)], dim=1)
        # legal actions are numbered by columns, and are described one by one; here they would tell columns apart
        rest = torch.cat([words[:, COLUMNS_END : at.LEGAL], words[:, at.LEGAL + LEGAL_WORDS :]], dim=1)
        summary = self.norm(self.rest(rest) + self.pooled(pooled)).relu()
        return self.layers(summary), columns


class ActorBody(nn.Module):
    """Packed rows -> a score for each action; of actions that are not legal it says nothing."""

    columns_of_actions: Tensor

    def __init__(self, spec: NetworkSpec, generator: torch.Generator) -> None:
        """Build the layers and draw their weights."""
        super().__init__()
        self.num_actions = spec.num_actions
        self.table = Table(spec.num_words, spec.actor_width, spec.actor_layers, generator)
        self.features = drawn(undefined_linear(NUM_FEATURES, ACTION_UNITS), _GAIN, generator)
        self.sides = drawn(undefined_linear(COLUMN_UNITS, 2 * ACTION_UNITS), 1.0, generator)
        self.summary = drawn(undefined_linear(spec.actor_width, ACTION_UNITS), 1.0, generator)
        self.second = drawn(undefined_linear(ACTION_UNITS, ACTION_UNITS), _GAIN, generator)
        self.score = drawn(undefined_linear(ACTION_UNITS, 1), _SMALL_GAIN, generator)
        self.trust = nn.Parameter(torch.tensor(TRUST))
        self.register_buffer("columns_of_actions", _columns_of_actions(), persistent=False)

    def forward(self, words: Tensor) -> Tensor:
        """[D, A] float32 scores of rows [D, W] int64."""
        summary, columns = self.table(words)
        rows, actions, features, worth = legal_actions(words)
        sides = nn.functional.pad(self.sides(columns), (0, 0, 0, 1)).view(-1, 2 * ACTION_UNITS)
        first = (NUM_COLUMNS + 1) * rows
        source, target = self.columns_of_actions[actions].unbind(dim=1)
        units = self.features(features) + self.summary(summary).index_select(0, rows)
        units = units + sides[:, :ACTION_UNITS].index_select(0, first + source)
        units = units + sides[:, ACTION_UNITS:].index_select(0, first + target)
        units = self.second(units.relu()).relu()
        scores = torch.zeros(len(words) * self.num_actions, dtype=units.dtype, device=units.device)
        said = self.score(units).squeeze(1) + self.trust * worth
        scores = scores.index_copy(0, self.num_actions * rows + actions, said)
        return scores.view(len(words), self.num_actions)


def legal_actions(words: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """What is legal in packed rows [D, W].

    Returns:
        Rows [P] int64, actions [P] int64, features [P, F] float32 up to 1, the rule bot's points [P] float32.
    """
    packed = words.cpu().numpy().view(np.uint64)
    number = count_legal(packed)
    rows, actions = np.empty(number, np.int64), np.empty(number, np.int64)
    features = np.empty((number, NUM_FEATURES), np.float32)
    describe_legal(packed, rows, actions, features)
    worth = np.empty(number, np.float32)
    worth_rows(features, HEURISTIC.points, worth)
    features /= LARGEST
    return tuple(torch.from_numpy(array).to(words.device) for array in (rows, actions, features, worth))  # type: ignore[return-value]


class CriticBody(nn.Module):
    """Packed rows and hidden cards -> what is to be made a value of."""

    def __init__(self, spec: NetworkSpec, generator: torch.Generator) -> None:
        """Build the layers and draw their weights."""
        super().__init__()
        self.table = Table(spec.num_words + spec.hidden_words, spec.critic_width, spec.critic_layers, generator)

    def forward(self, words: Tensor) -> Tensor:
        """[D, H] float32 of rows [D, W + K] int64."""
        summary: Tensor = self.table(words)[0]
        return summary

    def so_far(self, words: Tensor) -> Tensor:
        """[D] float32: the share of cards that are up, so that only what is still to come has to be learned."""
        bits = unpacked(words[:, at.UP : at.UP + at.SERIES])
        return bits.sum(dim=1) / NUM_CARDS
