"""`PinochleTables`: thousands of tables stepped at once.

Shapes: B tables, k chosen rows. Seats are four, cards of the pack 48.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bourre_env.arrays import spread
from bourre_env.errors import RulesError
from bourre_env.pinochle import batch
from bourre_env.pinochle.actions import action_id, action_text, held_kind, legal_texts
from bourre_env.pinochle.cards import NO_CARD
from bourre_env.pinochle.observation import layout
from bourre_env.pinochle.rules import NUM_SEATS, PinochleRules
from bourre_env.pinochle.snapshot import PinochleSnapshot, snapshot
from bourre_env.pinochle.table import PHASE_NAMES, TABLE
from bourre_env.pinochle.worlds import new_scratch
from bourre_env.table_batch import TableBatch, checked_decks, checked_scores
from bourre_env.table_rules import is_legal

LOWEST_SCORE = -1_000_000  # of a game that goes on, far below any that is played


class PinochleTables(TableBatch):
    """B tables under the same rules, each a record of dtype `TABLE`.

    Nothing restarts by itself: a settled table stays settled until it is dealt again. Every array handed out is
    fresh unless `out=` is given. A table's row never depends on the other rows.
    """

    rules: PinochleRules
    _phase_names = PHASE_NAMES

    def __init__(self, rules: PinochleRules, num_tables: int, seats_shown: int | None = None) -> None:
        """Make tables at which no hand has begun (they count as settled).

        Args:
            rules: the rules of every table.
            num_tables: B, at least 1.
            seats_shown: 4, as when left out.

        Raises:
            RulesError: `rules` are no rules of Pinochle.
            ValueError: a number of tables or of seats that cannot be.
        """
        if not isinstance(rules, PinochleRules):
            raise RulesError(f"rules is {rules!r}; give a PinochleRules value, such as PinochleRules.preset('modern')")
        super().__init__(num_tables, TABLE, rules.record())
        self.rules = rules
        self.num_actions = rules.num_actions
        self.seats_shown = NUM_SEATS
        self.layout = layout(rules, seats_shown)

    def _alike(self, num_tables: int) -> "PinochleTables":
        """Tables under the same rules at which no hand has begun."""
        return PinochleTables(self.rules, num_tables)

    def deal(
        self,
        decks: ArrayLike,
        dealer: ArrayLike,
        *,
        rows: ArrayLike | None = None,
        score: ArrayLike | None = None,
    ) -> None:
        """Begin a hand at some tables, or at all of them.

        Args:
            decks: [k, 48] card ids in dealing order, such as `shuffled_decks(seed, ids, pack=rules.pack)` gives; the
                kind of a card is id // 2.
            dealer: one seat, or [k] seats.
            rows: [k] indices of the tables; all tables when left out.
            score: [k, 2] points of the sides in the game so far, each below the target; nothing when left out.

        Raises:
            DeckError: a deck is not a permutation of the pack.
            ValueError: a seat, number, shape or index is out of range. Nothing is changed.
        """
        chosen = self._rows(rows)
        given = checked_decks(decks, len(chosen), pack=self.rules.pack, pack_set=self.rules.pack_set, rule="P1.2")
        dealers = spread(dealer, len(chosen), "dealer", 0, NUM_SEATS - 1, np.int8)
        scores = checked_scores(score, len(chosen), lowest=LOWEST_SCORE, target=self.rules.target, dtype=np.int32)
        batch.deal_rows(self._state, self._rules, chosen, given, dealers, scores)

    def action_text(self, row: int, action: int) -> str:
        """An action of a table in words."""
        return action_text(self.rules, self._state[row], action)

    def action_id(self, row: int, text: str) -> int:
        """The action of a table that words name; the inverse of `action_text`."""
        return action_id(self.rules, self._state[row], text)

    def legal_texts(self, row: int) -> str:
        """The legal actions of a table's seat to act in words, for who takes another one (P7.1)."""
        return legal_texts(self.rules, self._state[row])

    def _copy_hands(self, out: NDArray[np.uint64]) -> None:
        """Every seat's hand into `out` [B, 4]."""
        batch.copy_hands(self._state, self._rules, out)

    def _reshuffle(self, observers: NDArray[np.int8], keys: NDArray[np.uint64]) -> None:
        """Redraw what the seats [B] have not seen: hands of others, and cards that others have sent each other."""
        batch.reshuffle_rows(self._state, self._rules, observers, keys, new_scratch())

    def take_back(self, row: int, action: int) -> bool:
        """Rule P7.2: the seat to act has tried an illegal action; a card it holds is shown to all and goes back.

        Args:
            row: the table.
            action: what was tried.

        Returns:
            Whether a card was exposed: whether the action was one the seat holds, played against the duties.

        Raises:
            ValueError: there is no such table, or the action is legal.
        """
        (chosen,) = self._rows([row])
        table = self._state[chosen]
        if is_legal(table, action):
            raise ValueError(
                f"table {row}: action {action} ({self.action_text(row, action)}) is legal; step it instead"
            )
        kind = held_kind(self.rules, table, action)
        if kind == NO_CARD:
            return False
        batch.take_back_rows(self._state, np.array([chosen]), np.array([kind]))
        return True

    @property
    def returns(self) -> NDArray[np.int32]:
        """[B, 4] int32: what the hand changed in the score of each seat's side, less that of the other's (P6.3)."""
        return np.array(self._state["returns"])

    @property
    def points(self) -> NDArray[np.int32]:
        """[B, 2] int32: what the hand changed in the score of each side; 0 until it is settled."""
        return np.array(self._state["points"])

    @property
    def score(self) -> NDArray[np.int32]:
        """[B, 2] int32: points of each side in the game; this hand's are counted once it is settled."""
        return np.array(self._state["score"])

    def snapshot(self, row: int) -> PinochleSnapshot:
        """Everything about one table in words, hidden cards included; frozen."""
        return snapshot(self.rules, self.records[row])
