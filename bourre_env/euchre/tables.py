"""`EuchreTables`: thousands of tables stepped at once.

Shapes: B tables, k chosen rows, C cards of the pack. Seats are four.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bourre_env.arrays import spread
from bourre_env.errors import RulesError
from bourre_env.euchre import batch
from bourre_env.euchre.actions import action_id, action_text, legal_texts
from bourre_env.euchre.observation import layout
from bourre_env.euchre.rules import NUM_SEATS, EuchreRules
from bourre_env.euchre.snapshot import EuchreSnapshot, snapshot
from bourre_env.euchre.table import PHASE_NAMES, TABLE
from bourre_env.euchre.worlds import new_scratch
from bourre_env.table_batch import TableBatch, checked_decks, checked_scores


class EuchreTables(TableBatch):
    """B tables under the same rules, each a record of dtype `TABLE`.

    Nothing restarts by itself: a settled table stays settled until it is dealt again. Every array handed out is
    fresh unless `out=` is given. A table's row never depends on the other rows.
    """

    rules: EuchreRules
    _phase_names = PHASE_NAMES

    def __init__(self, rules: EuchreRules, num_tables: int, seats_shown: int | None = None) -> None:
        """Make tables at which no hand has begun (they count as settled).

        Args:
            rules: the rules of every table.
            num_tables: B, at least 1.
            seats_shown: 4, as when left out.

        Raises:
            RulesError: `rules` are no rules of Euchre.
            ValueError: a number of tables or of seats that cannot be.
        """
        if not isinstance(rules, EuchreRules):
            raise RulesError(f"rules is {rules!r}; give an EuchreRules value, such as EuchreRules.preset('cornish')")
        super().__init__(num_tables, TABLE, rules.record())
        self.rules = rules
        self.num_actions = rules.num_actions
        self.seats_shown = NUM_SEATS
        self.layout = layout(rules, seats_shown)

    def _alike(self, num_tables: int) -> "EuchreTables":
        """Tables under the same rules at which no hand has begun."""
        return EuchreTables(self.rules, num_tables)

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
            decks: [k, C] card ids in dealing order, such as `shuffled_decks(seed, ids, pack=rules.pack)` gives.
            dealer: one seat, or [k] seats.
            rows: [k] indices of the tables; all tables when left out.
            score: [k, 2] points of the sides in the game so far, each below the target; nothing when left out.

        Raises:
            DeckError: a deck is not a permutation of the pack.
            ValueError: a seat, number, shape or index is out of range. Nothing is changed.
        """
        chosen = self._rows(rows)
        given = checked_decks(decks, len(chosen), pack=self.rules.pack, pack_set=self.rules.pack_set, rule="E1.2")
        dealers = spread(dealer, len(chosen), "dealer", 0, NUM_SEATS - 1, np.int8)
        scores = checked_scores(score, len(chosen), lowest=0, target=self.rules.target, dtype=np.int8)
        batch.deal_rows(self._state, self._rules, chosen, given, dealers, scores)

    def action_text(self, row: int, action: int) -> str:
        """An action of a table in words."""
        return action_text(self.rules, self._state[row], action)

    def action_id(self, row: int, text: str) -> int:
        """The action of a table that words name; the inverse of `action_text`."""
        return action_id(self.rules, self.records[row], text)

    def legal_texts(self, row: int) -> str:
        """The legal actions of a table's seat to act in words, for who takes another one (E6.1)."""
        return legal_texts(self.rules, self._state[row])

    def _copy_hands(self, out: NDArray[np.uint64]) -> None:
        """Every seat's hand into `out` [B, 4]."""
        batch.copy_hands(self._state, self._rules, out)

    def _reshuffle(self, observers: NDArray[np.int8], keys: NDArray[np.uint64]) -> None:
        """Redraw what the seats [B] have not seen: hands, the card another seat laid away, the cards not used."""
        batch.reshuffle_rows(self._state, self._rules, observers, keys, new_scratch())

    @property
    def returns(self) -> NDArray[np.int32]:
        """[B, 4] int32: each seat's own side's points in this hand less the other side's (E5.3)."""
        return np.array(self._state["returns"])

    @property
    def points(self) -> NDArray[np.int8]:
        """[B, 2] int8: points of each side in this hand; 0 until it is settled."""
        return np.array(self._state["points"])

    @property
    def score(self) -> NDArray[np.int8]:
        """[B, 2] int8: points of each side in the game; this hand's are counted once it is settled."""
        return np.array(self._state["score"])

    def snapshot(self, row: int) -> EuchreSnapshot:
        """Everything about one table in words, hidden cards included; frozen."""
        return snapshot(self.rules, self.records[row])
