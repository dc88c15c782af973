"""`BureauTables`: thousands of tables stepped at once.

Shapes: B tables, k chosen rows, K words of hidden cards. There is one seat, 0.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bourre_env.arrays import buffer, plain, spread
from bourre_env.bureau import batch, numbers
from bourre_env.bureau.actions import action_id, action_text, legal_texts
from bourre_env.bureau.cards import NO_CARD, NUM_TYPES
from bourre_env.bureau.observation import HIDDEN_WORDS, layout
from bourre_env.bureau.rules import BureauRules
from bourre_env.bureau.snapshot import BureauSnapshot, snapshot
from bourre_env.bureau.table import PHASE_NAMES, STOPPED, TABLE, TABLE_WITH_POSITIONS, WON
from bourre_env.bureau.worlds import new_scratch
from bourre_env.errors import DeckError, RulesError
from bourre_env.table_batch import TableBatch


class BureauTables(TableBatch):
    """B tables under the same rules, each a record of dtype `TABLE`, or `TABLE_WITH_POSITIONS` (B6.3).

    Nothing restarts by itself: a settled table stays settled until it is dealt again. Every array handed out is
    fresh unless `out=` is given. A table's row never depends on the other rows.
    """

    rules: BureauRules
    _phase_names = PHASE_NAMES

    def __init__(self, rules: BureauRules, num_tables: int, seats_shown: int | None = None) -> None:
        """Make tables at which nothing has been dealt (they count as settled).

        Args:
            rules: the rules of every table.
            num_tables: B, at least 1.
            seats_shown: 1, as when left out.

        Raises:
            RulesError: `rules` are no rules of Bureau.
            ValueError: a number of tables or of seats that cannot be.
        """
        if not isinstance(rules, BureauRules):
            raise RulesError(f"rules is {rules!r}; give a BureauRules value, such as BureauRules.preset('standard')")
        super().__init__(num_tables, TABLE_WITH_POSITIONS if rules.forbid_repeat else TABLE, rules.record())
        self.rules = rules
        self.num_actions = rules.num_actions
        self.seats_shown = rules.num_players
        self.layout = layout(rules, seats_shown)
        for name in ("columns", "line", "tops"):
            self._state[name] = NO_CARD

    def _alike(self, num_tables: int) -> "BureauTables":
        """Tables under the same rules at which nothing has been dealt."""
        return BureauTables(self.rules, num_tables)

    def deal(self, decks: ArrayLike, dealer: ArrayLike = 0, *, rows: ArrayLike | None = None) -> None:
        """Begin a deal at some tables, or at all of them.

        Args:
            decks: [k, 104] printed ids in dealing order, such as `shuffled_decks(seed, ids, pack=rules.pack)` gives.
            dealer: 0, which is the only seat, or [k] of them.
            rows: [k] indices of the tables; all tables when left out.

        Raises:
            DeckError: a deck does not hold four of each type.
            ValueError: a seat, shape or index is out of range. Nothing is changed.
        """
        chosen = self._rows(rows)
        given = self._decks(decks, len(chosen))
        spread(dealer, len(chosen), "dealer", 0, 0, np.int8)
        batch.deal_rows(self._state, self._rules, chosen, given)

    def _decks(self, decks: ArrayLike, number: int) -> NDArray[np.int8]:
        """The decks, each checked to hold the cards of two packs (B1.1)."""
        given, cards = np.asarray(decks), len(self.rules.pack)
        if given.shape != (number, cards) or given.dtype.kind not in "iu":
            raise DeckError(f"decks are {given.dtype} {given.shape}; they must be integers of shape {(number, cards)}")
        if given.dtype != np.int8:
            given = np.clip(given, -1, NUM_TYPES)  # so that no id wraps around to a card
        given = plain(given, np.int8)
        wrong = batch.first_wrong_deck(given)
        if wrong >= 0:
            raise DeckError(f"deck {wrong} does not hold each of the {NUM_TYPES} types of card four times (rule B1.1)")
        return given

    # --- words and what a policy sees ---

    def action_text(self, row: int, action: int) -> str:
        """An action in words, the same at every table."""
        return action_text(self.rules, action)

    def action_id(self, row: int, text: str) -> int:
        """The action that words name; the inverse of `action_text`."""
        return action_id(self.rules, text)

    def legal_texts(self, row: int) -> str:
        """The legal actions of a table in words."""
        return legal_texts(self.rules, self.records[row])

    def observe_numbers(self, out: NDArray[np.int8] | None = None) -> NDArray[np.int8]:
        """[B, 323] int8: what the player may know as small integers (B6.5), of settled tables, too."""
        out = buffer(out, (self.num_tables, numbers.LENGTH), np.dtype(np.int8))
        batch.write_numbers_rows(self._state, self._rules, out)
        return out

    def hidden_packed(self, out: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
        """[B, K] uint64: the cards that the player does not know; zeros in settled rows.

        No player may see this; it is for critics that are thrown away after training.
        """
        out = buffer(out, (self.num_tables, HIDDEN_WORDS), np.dtype(np.uint64))
        batch.copy_hidden(self._state, out)
        return out

    def _reshuffle(self, observers: NDArray[np.int8], keys: NDArray[np.uint64]) -> None:
        """Redraw the cards that have not been seen, every order alike."""
        batch.reshuffle_rows(self._state, observers, keys, new_scratch())

    # --- the state of the tables ---

    @property
    def returns(self) -> NDArray[np.int32]:
        """[B, 1] int32: the cards that the deal brought (B5.5); 0 until it is settled."""
        return np.array(self._state["returns"])

    @property
    def cards_up(self) -> NDArray[np.int8]:
        """[B] int8: cards on the foundations."""
        return np.array(self._state["cards_up"])

    @property
    def won(self) -> NDArray[np.bool_]:
        """[B] bool: whether every card is up (B5.1)."""
        return np.asarray(self._state["ending"] == WON)

    @property
    def stopped(self) -> NDArray[np.bool_]:
        """[B] bool: whether the deal has stopped since it has had all its decisions (B5.3)."""
        return np.asarray(self._state["ending"] == STOPPED)

    def snapshot(self, row: int) -> BureauSnapshot:
        """Everything about one table in words, hidden cards included; frozen."""
        return snapshot(self.rules, self.records[row])
