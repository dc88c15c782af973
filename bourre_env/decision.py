"""What a policy is asked: decisions as observations and legal actions, never the tables.

Shapes: D decisions, O observation size, W words of a packed observation, A actions, L words of a packed legal set
(`bourre_env.bits.legal_words`).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.bits import BITS as WORD_BITS
from bourre_env.bits import legal_words, pack, unpack, unpack_actions
from bourre_env.cards import EMPTY
from bourre_env.family import GameRules, game_of


class Decision:
    """D decisions of seats that play by the same rules, each with its own legal actions.

    Rows are kept as they were given, floats or packed words; the other form is made when first asked for.

    Attributes:
        seat: [D] int8, the seat that decides.
        rules: the rules of every table in the batch.
        key: [D] uint64, one random stream for each decision; a policy that samples draws from it row by row, so
            that its choices do not depend on which decisions are asked together.
    """

    __slots__ = ("_legal_action_mask", "_legal_packed", "_observation", "_packed", "key", "rules", "seat")

    def __init__(
        self,
        observation: NDArray[np.float32],
        legal_action_mask: NDArray[np.bool_],
        seat: NDArray[np.int8],
        rules: GameRules,
        key: NDArray[np.uint64],
    ) -> None:
        """Decisions from plain rows.

        Args:
            observation: [D, O] float32.
            legal_action_mask: [D, A] bool, True where an action is legal.
            seat: [D] int8.
            rules: the rules played by.
            key: [D] uint64.

        Raises:
            ValueError: a shape that does not fit the others.
        """
        _check_rows("observation", observation, len(seat))
        _check_rows("legal_action_mask", legal_action_mask, len(seat), columns=rules.num_actions)
        self._observation: NDArray[np.float32] | None = observation
        self._legal_action_mask: NDArray[np.bool_] | None = legal_action_mask
        self._packed: NDArray[np.uint64] | None = None
        self._legal_packed: NDArray[np.uint64] | None = None
        self.seat, self.rules, self.key = seat, rules, key

    @classmethod
    def from_packed(
        cls,
        packed: NDArray[np.uint64],
        legal_packed: NDArray[np.uint64],
        seat: NDArray[np.int8],
        rules: GameRules,
        key: NDArray[np.uint64],
    ) -> "Decision":
        """Decisions from packed rows.

        Args:
            packed: [D, W] uint64, as `Tables.observe_packed` writes them.
            legal_packed: [D, L] uint64, as `Tables.legal_packed` writes them.
            seat: [D] int8.
            rules: the rules played by.
            key: [D] uint64.

        Raises:
            ValueError: a shape that does not fit the others.
        """
        _check_rows("packed", packed, len(seat))
        _check_rows("legal_packed", legal_packed, len(seat), columns=legal_words(rules.num_actions))
        decision = object.__new__(cls)
        decision._observation = decision._legal_action_mask = None
        decision._packed, decision._legal_packed = packed, legal_packed
        decision.seat, decision.rules, decision.key = seat, rules, key
        return decision

    def __len__(self) -> int:
        """Number of decisions."""
        return len(self.seat)

    @property
    def observation(self) -> NDArray[np.float32]:
        """[D, O] float32 in {0, 1}: what each seat may know."""
        if self._observation is None:
            self._observation = unpack(self.packed)
        return self._observation

    @property
    def packed(self) -> NDArray[np.uint64]:
        """[D, W] uint64: the observation, one bit a feature."""
        if self._packed is None:
            self._packed = pack(self.observation)
        return self._packed

    @property
    def legal_action_mask(self) -> NDArray[np.bool_]:
        """[D, A] bool: True where an action is legal."""
        if self._legal_action_mask is None:
            self._legal_action_mask = unpack_actions(self.legal_packed, self.rules.num_actions)
        return self._legal_action_mask

    @property
    def legal_packed(self) -> NDArray[np.uint64]:
        """[D, L] uint64: bit a of the row's bits is set when action a is legal."""
        if self._legal_packed is None:
            self._legal_packed = _pack_actions(self.legal_action_mask)
        return self._legal_packed

    @property
    def seats_shown(self) -> int:
        """Number of seats the observations have room for: the table's, or more when rows are padded."""
        words = self._packed.shape[1] if self._packed is not None else self.observation.shape[1] // WORD_BITS
        return int(words - game_of(self.rules).layout(self.rules, None).num_words + self.rules.num_players)

    def showing(self, seats: int) -> "Decision":
        """The same decisions with room for another number of seats; those beyond the table's are empty.

        Args:
            seats: from the number of players to as many as the game may have.

        Raises:
            ValueError: a number outside that range.
        """
        if seats == self.seats_shown:
            return self
        words = game_of(self.rules).pad(self.packed, self.rules, seats)
        return Decision.from_packed(words, self.legal_packed, self.seat, self.rules, self.key)


def _check_rows(name: str, rows: NDArray[Any], count: int, *, columns: int | None = None) -> None:
    """An array has two axes, one row a decision and the columns expected."""
    if rows.ndim != 2 or len(rows) != count or (columns is not None and rows.shape[1] != columns):
        expected = f"({count}, {'any' if columns is None else columns})"
        raise ValueError(f"{name} has shape {rows.shape}; {expected} fits the other arguments")


def _pack_actions(legal_action_mask: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """[D, A] bool to [D, L] uint64."""
    count, num_actions = legal_action_mask.shape
    bits = np.zeros((count, legal_words(num_actions) * WORD_BITS), np.bool_)
    bits[:, :num_actions] = legal_action_mask
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def are_legal(actions: NDArray[np.integer[Any]], legal_packed: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """[D] bool: whether each action [D] is in its row of the legal sets [D, L]; any integers may be asked about."""
    inside = (actions >= 0) & (actions < legal_packed.shape[1] * WORD_BITS)
    places = np.where(inside, actions, 0).astype(np.uint64)
    words = legal_packed[np.arange(len(actions)), places // np.uint64(WORD_BITS)]
    return inside & ((words >> (places % np.uint64(WORD_BITS))) & np.uint64(1) != EMPTY)
