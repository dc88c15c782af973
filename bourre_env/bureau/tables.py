"""`BureauTables`: thousands of tables stepped at once.

Shapes: B tables, W words, O = 64*W features, A actions, k chosen rows, K words of hidden cards. There is one seat, 0.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bourre_env.arrays import (
    buffer,
    check_buffers,
    checked_actions,
    checked_number,
    checked_rows,
    plain,
    rows_to_copy,
    spread,
)
from bourre_env.bits import unpack
from bourre_env.bureau import batch, numbers, stepping
from bourre_env.bureau.actions import action_text, legal_texts
from bourre_env.bureau.cards import NO_CARD, NUM_TYPES
from bourre_env.bureau.observation import HIDDEN_WORDS, Layout, layout
from bourre_env.bureau.rules import BureauRules
from bourre_env.bureau.snapshot import BureauSnapshot, snapshot
from bourre_env.bureau.stepping import Buffers
from bourre_env.bureau.table import LEGAL_WORDS, NO_SEAT, RAW_TABLE, SETTLED, STOPPED, TABLE, WON
from bourre_env.bureau.worlds import new_scratch
from bourre_env.deck import stream_keys
from bourre_env.errors import DeckError, IllegalActionError, RulesError

Records = np.recarray[Any, Any]


class BureauTables:
    """B tables under the same rules, each a record of dtype `TABLE`.

    Nothing restarts by itself: a settled table stays settled until it is dealt again. Every array handed out is
    fresh unless `out=` is given. A table's row never depends on the other rows.

    Attributes:
        rules: the rules of every table.
        num_tables: B.
        num_actions: A.
        seats_shown: 1.
        layout: the named pieces of the observation.
    """

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
        self.rules = rules
        self.num_tables = num_tables = checked_number(num_tables)
        self.num_actions = rules.num_actions
        self.seats_shown = rules.num_players
        self.layout: Layout = layout(rules, seats_shown)
        # Plain arrays of records: Numba recognises their type several times faster than that of a recarray.
        self._state: NDArray[Any] = np.zeros(num_tables, TABLE).view(np.recarray).view(np.ndarray)
        self._state["phase"] = SETTLED
        self._state["to_act"] = NO_SEAT
        for name in ("columns", "line", "tops"):
            self._state[name] = NO_CARD
        # Positions since the last move that cannot be taken back (B6.3): too many for the record of every table.
        self._seen = np.zeros((num_tables, rules.max_steps + 1 if rules.forbid_repeat else 1), np.uint64)
        self._rules: NDArray[Any] = rules.record().view(np.ndarray)
        self._every_row = np.arange(num_tables)
        self._checked_out: Buffers | None = None  # the buffers of the last step, whose arrays fit

    @property
    def records(self) -> Records:
        """[B] of dtype `TABLE`, the tables themselves; read them, but change them through the methods only."""
        return self._state.view(np.recarray)

    # --- dealing ---

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
        batch.deal_rows(self._state, self._rules, self._seen, chosen, given)

    def _rows(self, rows: ArrayLike | None) -> NDArray[np.int64]:
        """Indices of the chosen tables, checked."""
        return self._every_row if rows is None else checked_rows(rows, self.num_tables)

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

    # --- stepping ---

    def step(
        self,
        actions: ArrayLike,
        play_forced: bool = False,
        *,
        rows: ArrayLike | None = None,
        out: Buffers | None = None,
        parallel: bool = False,
    ) -> None:
        """Take one decision at every table that is not settled, or at some of them.

        Args:
            actions: [B] integers; entries of settled tables are ignored.
            play_forced: afterwards also play decisions with a single legal action, until every table waits at a choice.
            rows: [k] indices of the tables that take `actions` [k]; all tables when left out. Not with `out`.
            out: arrays to fill (`buffers`) with what can be seen afterwards, in the same call.
            parallel: use all of Numba's threads; worth it from some thousands of tables on. The result is the same.

        Raises:
            IllegalActionError: some action is illegal; it names the table, and nothing has changed.
            ValueError: wrong shape or dtype, `parallel` without `out`, or `rows` with it.
        """
        stepped = self._rows(rows)
        given = checked_actions(actions, stepped.shape)
        if out is None and not parallel:
            place = batch.step_rows(self._state, self._rules, self._seen, stepped, given, play_forced)
        elif rows is None:
            place = self._advance(given, play_forced, out, parallel)
        else:
            raise ValueError("rows= cannot be combined with out= and parallel=, which step every table")
        if place >= 0:
            raise self.illegal_action(int(stepped[place]), int(given[place]))

    def _advance(self, actions: NDArray[np.int64], play_forced: bool, out: Buffers | None, parallel: bool) -> int:
        """Step and write at once; the first row with an illegal action, else -1."""
        if out is None:
            raise ValueError("parallel= needs out=, the arrays that results are written to; see buffers()")
        if out is not self._checked_out:
            check_buffers(out, self.buffers(mask=True, features=True), optional=("mask", "features"))
            self._checked_out = out
        advance: Callable[..., int] = stepping.advance_in_parallel if parallel else stepping.advance
        # A plain tuple: Numba recognises its type twice as fast as that of a named one.
        return advance(self._state, self._rules, self._seen, actions, play_forced, tuple(out))

    def buffers(self, *, mask: bool = False, features: bool = False) -> Buffers:
        """Arrays for `step(out=...)`, filled with what can be seen now.

        Args:
            mask: keep boolean masks, too.
            features: keep float32 observations, too.
        """
        return Buffers(
            legal=self.legal_packed(),
            observation=self.observe_packed(),
            mask=self.legal_action_mask() if mask else np.empty((0, self.num_actions), np.bool_),
            features=self.observe() if features else np.empty((0, self.layout.size), np.float32),
            settled=self.settled,
            ended=np.zeros(self.num_tables, np.bool_),
            returns=np.zeros((self.num_tables, self.rules.num_players), np.int32),
        )

    def play_forced(self) -> None:
        """Play decisions with a single legal action until every table waits at a choice or is settled."""
        batch.play_forced_rows(self._state, self._rules, self._seen)

    def illegal_action(self, row: int, action: object) -> IllegalActionError:
        """The error for an action that table `row` refuses, in words (B6.1)."""
        table = self._state[row]
        if table["phase"] == SETTLED:
            return IllegalActionError(f"table {row} is settled and takes no action ({action!r} was given); deal again")
        words = ""
        if isinstance(action, (int, np.integer)) and not isinstance(action, bool):
            words = f" ({action_text(self.rules, int(action))})"
        return IllegalActionError(
            f"table {row}, decision {table['steps'] + 1}: action {action!r}{words} is not legal; "
            f"legal: {legal_texts(self.rules, self.records[row])}"
        )

    # --- what a policy sees ---

    def legal_packed(self, out: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
        """[B, 4] uint64: bit a of each row's 256 bits is set when action a is legal."""
        out = buffer(out, (self.num_tables, LEGAL_WORDS), np.dtype(np.uint64))
        batch.copy_legal(self._state, out)
        return out

    def legal_action_mask(self, out: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """[B, A] bool: True for each legal action; no True in settled rows."""
        out = buffer(out, (self.num_tables, self.num_actions), np.dtype(np.bool_))
        batch.write_masks(self._state, out)
        return out

    def observe_packed(
        self, out: NDArray[np.uint64] | None = None, seats: ArrayLike | None = None
    ) -> NDArray[np.uint64]:
        """[B, W] uint64: what the player may know; zeros in settled rows.

        Args:
            out: an array to fill.
            seats: [B], 0 to observe settled tables, too; -1 for a row of zeros.
        """
        out = buffer(out, (self.num_tables, self.layout.num_words), np.dtype(np.uint64))
        if seats is None:
            batch.encode_to_act(self._state, self._rules, out)
        else:
            batch.encode_seats(self._state, self._rules, self._seats(seats, "seats"), out)
        return out

    def _seats(self, seats: ArrayLike, name: str) -> NDArray[np.int8]:
        """[B] seats, -1 for none, checked."""
        return spread(seats, self.num_tables, name, NO_SEAT, self.rules.num_players - 1, np.int8)

    def observe(self, out: NDArray[np.float32] | None = None, seats: ArrayLike | None = None) -> NDArray[np.float32]:
        """[B, O] float32 of zeros and ones: `observe_packed`, unpacked."""
        if seats is not None:
            return unpack(self.observe_packed(seats=seats), out)
        out = buffer(out, (self.num_tables, self.layout.size), np.dtype(np.float32))
        batch.write_features(self._state, self._rules, np.empty(self.layout.num_words, np.uint64), out)
        return out

    def observe_numbers(self, out: NDArray[np.int8] | None = None) -> NDArray[np.int8]:
        """[B, 323] int8: what the player may know as small integers (B6.5), of settled tables, too."""
        out = buffer(out, (self.num_tables, numbers.LENGTH), np.dtype(np.int8))
        batch.write_numbers_rows(self._state, self._rules, out)
        return out

    def view_rows(self, rows: ArrayLike) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Packed observations [k, W] and legal sets [k, 4] at the tables `rows` [k].

        Raises:
            ValueError: an index is out of range or named twice.
        """
        chosen = self._rows(rows)
        words = np.empty((len(chosen), self.layout.num_words), np.uint64)
        legal = np.empty((len(chosen), LEGAL_WORDS), np.uint64)
        batch.view_rows(self._state, self._rules, chosen, words, legal)
        return words, legal

    def hidden_packed(self, out: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
        """[B, K] uint64: the cards that the player does not know; zeros in settled rows.

        No player may see this; it is for critics that are thrown away after training.
        """
        out = buffer(out, (self.num_tables, HIDDEN_WORDS), np.dtype(np.uint64))
        batch.copy_hidden(self._state, out)
        return out

    # --- the state of the tables ---

    @property
    def to_act(self) -> NDArray[np.int8]:
        """[B] int8: 0 where a decision is to be taken; -1 in settled rows."""
        return np.array(self._state["to_act"])

    @property
    def settled(self) -> NDArray[np.bool_]:
        """[B] bool: whether the deal is over."""
        return np.asarray(self._state["phase"] == SETTLED)

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

    @property
    def dealer(self) -> NDArray[np.int8]:
        """[B] int8: 0, the only seat."""
        return np.zeros(self.num_tables, np.int8)

    def take(self, rows: ArrayLike) -> "BureauTables":
        """Copies of some tables, in the order given; a table may be taken several times.

        Args:
            rows: [k] indices, or [B] flags.

        Raises:
            IndexError: there is no such table.
            ValueError: no rows are given.
        """
        chosen = rows_to_copy(rows, self.num_tables)
        copies = BureauTables(self.rules, len(chosen))
        copies._state = self._state.view(RAW_TABLE)[chosen].view(self._state.dtype)
        copies._seen = self._seen[chosen]
        return copies

    @staticmethod
    def joined(parts: Sequence["BureauTables"]) -> "BureauTables":
        """Copies of the tables of all parts, one part after the other.

        Args:
            parts: at least one, all with the same rules.

        Raises:
            ValueError: no parts, or parts under different rules.
        """
        rules = {part.rules for part in parts}
        if len(rules) != 1:
            raise ValueError(f"tables of {len(rules)} sets of rules cannot be joined; one set is needed")
        whole = BureauTables(parts[0].rules, sum(part.num_tables for part in parts))
        raw = np.concatenate([part._state.view(RAW_TABLE) for part in parts])
        whole._state = raw.view(whole._state.dtype)
        whole._seen = np.concatenate([part._seen for part in parts])
        return whole

    def reshuffle_unseen(self, seat: ArrayLike, seed: int, streams: ArrayLike | None = None) -> "BureauTables":
        """Copies of all tables in which every card that the player has not seen is drawn anew.

        Every order of those cards is equally likely. A row depends on its stream, the seed and what has been seen: not
        on hidden cards, not on other rows.

        Args:
            seat: 0, or [B] of them; a row with -1 is copied unchanged.
            seed: 0 to 2^64 - 1.
            streams: [B] integers from 0, which number the rows' random streams; 0 to B - 1 when left out.

        Raises:
            ValueError: a seat, the seed or a stream is out of range.
        """
        observers = self._seats(seat, "seat")
        streams = np.arange(self.num_tables) if streams is None else streams
        keys = stream_keys(seed, spread(streams, self.num_tables, "streams", 0, 2**63 - 1, np.int64))
        worlds = self.take(np.arange(self.num_tables))
        batch.reshuffle_rows(worlds._state, observers, keys, new_scratch())
        return worlds

    def snapshot(self, row: int) -> BureauSnapshot:
        """Everything about one table in words, hidden cards included; frozen."""
        return snapshot(self.rules, self.records[row])

    def forfeit(self, rows: ArrayLike) -> None:
        """End the deal at some tables with nothing, as after an illegal action (B6.2).

        Args:
            rows: [k] indices of tables that are not settled.

        Raises:
            IllegalActionError: a table is settled, so that nobody is to act.
            ValueError: an index is out of range or named twice. Nothing is changed.
        """
        chosen = self._rows(rows)
        settled = chosen[self._state["phase"][chosen] == SETTLED]
        if settled.size:
            raise IllegalActionError(f"table {settled[0]} is settled: nobody is to act who could forfeit; deal again")
        batch.forfeit_rows(self._state, chosen)
