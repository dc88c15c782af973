"""`EuchreTables`: thousands of tables stepped at once.

Shapes: B tables, W words, O = 64*W features, A = 33 actions, k chosen rows, C cards of the pack. Seats are four.
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
    first_wrong_deck,
    plain,
    rows_to_copy,
    spread,
)
from bourre_env.deck import stream_keys
from bourre_env.errors import DeckError, IllegalActionError, RulesError
from bourre_env.euchre import batch, stepping
from bourre_env.euchre.actions import action_text, legal_texts
from bourre_env.euchre.observation import Layout, layout, unpack
from bourre_env.euchre.rules import EuchreRules
from bourre_env.euchre.snapshot import EuchreSnapshot, snapshot
from bourre_env.euchre.stepping import Buffers
from bourre_env.euchre.table import NO_SEAT, PHASE_NAMES, RAW_TABLE, SETTLED, TABLE
from bourre_env.euchre.worlds import new_scratch

Records = np.recarray[Any, Any]


class EuchreTables:
    """B tables under the same rules, each a record of dtype `TABLE`.

    Nothing restarts by itself: a settled table stays settled until it is dealt again. Every array handed out is
    fresh unless `out=` is given. A table's row never depends on the other rows.

    Attributes:
        rules: the rules of every table.
        num_tables: B.
        num_actions: A.
        seats_shown: 4.
        layout: the named pieces of the observation.
    """

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
        self.rules = rules
        self.num_tables = num_tables = checked_number(num_tables)
        self.num_actions = rules.num_actions
        self.seats_shown = rules.num_players
        self.layout: Layout = layout(rules, seats_shown)
        # Plain arrays of records: Numba recognises their type several times faster than that of a recarray.
        self._state: NDArray[Any] = np.zeros(num_tables, TABLE).view(np.recarray).view(np.ndarray)
        self._state["phase"] = SETTLED
        self._state["to_act"] = NO_SEAT
        self._rules: NDArray[Any] = rules.record().view(np.ndarray)
        self._every_row = np.arange(num_tables)
        self._checked_out: Buffers | None = None  # the buffers of the last step, whose arrays fit

    @property
    def records(self) -> Records:
        """[B] of dtype `TABLE`, the tables themselves; read them, but change them through the methods only."""
        return self._state.view(np.recarray)

    # --- dealing ---

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
        given = self._decks(decks, len(chosen))
        dealers = spread(dealer, len(chosen), "dealer", 0, self.rules.num_players - 1, np.int8)
        batch.deal_rows(self._state, self._rules, chosen, given, dealers, self._scores(score, len(chosen)))

    def _rows(self, rows: ArrayLike | None) -> NDArray[np.int64]:
        """Indices of the chosen tables, checked."""
        return self._every_row if rows is None else checked_rows(rows, self.num_tables)

    def _decks(self, decks: ArrayLike, number: int) -> NDArray[np.int8]:
        """The decks, each checked to be a permutation of the pack."""
        given, cards = np.asarray(decks), len(self.rules.pack)
        if given.shape != (number, cards) or given.dtype.kind not in "iu":
            raise DeckError(f"decks are {given.dtype} {given.shape}; they must be integers of shape {(number, cards)}")
        if given.dtype != np.int8:
            given = np.clip(given, -1, cards)  # so that no id wraps around to a card
        wrong = first_wrong_deck(plain(given, np.int8), self.rules.pack_set)
        if wrong >= 0:
            raise DeckError(
                f"deck {wrong} is not a permutation of the {cards} cards of the pack (rule E1.2): "
                "a card is missing, doubled or unknown"
            )
        return plain(given, np.int8)

    def _scores(self, score: ArrayLike | None, number: int) -> NDArray[np.int8]:
        """[k, 2] scores of the sides, each short of the target."""
        if score is None:
            return np.zeros((number, 2), np.int8)
        given = np.asarray(score)
        if given.shape != (number, 2) or given.dtype.kind not in "iu":
            raise ValueError(f"score is {given.dtype} {given.shape}; it must be integers of shape {(number, 2)}")
        if given.size and not 0 <= given.min() <= given.max() < self.rules.target:
            raise ValueError(
                f"score reaches from {given.min()} to {given.max()}; a game to {self.rules.target} goes on "
                f"from 0 to {self.rules.target - 1}"
            )
        return plain(given, np.int8)

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
            place = batch.step_rows(self._state, self._rules, stepped, given, play_forced)
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
        return advance(self._state, self._rules, actions, play_forced, tuple(out))

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
        batch.play_forced_rows(self._state, self._rules)

    def illegal_action(self, row: int, action: object) -> IllegalActionError:
        """The error for an action that table `row` refuses, in words (E6.1)."""
        table = self._state[row]
        if table.phase == SETTLED:
            return IllegalActionError(f"table {row} is settled and takes no action ({action!r} was given); deal again")
        words = ""
        if isinstance(action, (int, np.integer)) and not isinstance(action, bool):
            words = f" ({action_text(self.rules, table, int(action))})"
        return IllegalActionError(
            f"table {row}, seat {table.to_act}, phase {PHASE_NAMES[table.phase]}: "
            f"action {action!r}{words} is not legal; legal: {legal_texts(self.rules, table)}"
        )

    # --- what a policy sees ---

    def legal_packed(self, out: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
        """[B, 2] uint64: bit a of each row's 128 bits is set when action a is legal."""
        out = buffer(out, (self.num_tables, 2), np.dtype(np.uint64))
        batch.copy_legal(self._state, out)
        return out

    def legal_action_mask(self, out: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """[B, A] bool: True for each legal action of the seat to act; no True in settled rows."""
        out = buffer(out, (self.num_tables, self.num_actions), np.dtype(np.bool_))
        batch.write_masks(self._state, out)
        return out

    def observe_packed(
        self, out: NDArray[np.uint64] | None = None, seats: ArrayLike | None = None
    ) -> NDArray[np.uint64]:
        """[B, W] uint64: what the seat to act may know; zeros in settled rows.

        Args:
            out: an array to fill.
            seats: [B] seats to observe instead of those to act; -1 for a row of zeros.
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

    def view_one(self, seat: int) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
        """One seat's observation [O] float32 and legal actions [A] int8 at the first table, as fresh arrays.

        The mask has ones only when the seat is to act.

        Raises:
            ValueError: there is no such seat.
        """
        if not 0 <= seat < self.rules.num_players:
            raise ValueError(f"seat is {seat!r}; it must be from 0 to {self.rules.num_players - 1}")
        features = np.empty(self.layout.size, np.float32)
        mask = np.empty(self.num_actions, np.int8)
        batch.view_one(self._state, self._rules, seat, features, mask)
        return features, mask

    def view_rows(self, rows: ArrayLike) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Packed observations [k, W] and legal sets [k, 2] of the seats to act at the tables `rows` [k].

        Raises:
            ValueError: an index is out of range or named twice.
        """
        chosen = self._rows(rows)
        words = np.empty((len(chosen), self.layout.num_words), np.uint64)
        legal = np.empty((len(chosen), 2), np.uint64)
        batch.view_rows(self._state, self._rules, chosen, words, legal)
        return words, legal

    def hidden_packed(self, out: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
        """[B, 4] uint64: every seat's hand, the seat to act first and the others clockwise; zeros in settled rows.

        No player may see this; it is for critics that are thrown away after training.
        """
        out = buffer(out, (self.num_tables, self.seats_shown), np.dtype(np.uint64))
        batch.copy_hands(self._state, self._rules, out)
        return out

    # --- the state of the tables ---

    @property
    def to_act(self) -> NDArray[np.int8]:
        """[B] int8: the seat to act; -1 in settled rows."""
        return np.array(self._state["to_act"])

    @property
    def settled(self) -> NDArray[np.bool_]:
        """[B] bool: whether the hand is over."""
        return np.asarray(self._state["phase"] == SETTLED)

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

    @property
    def dealer(self) -> NDArray[np.int8]:
        """[B] int8: the dealer's seat."""
        return np.array(self._state["dealer"])

    def take(self, rows: ArrayLike) -> "EuchreTables":
        """Copies of some tables, in the order given; a table may be taken several times.

        Args:
            rows: [k] indices, or [B] flags.

        Raises:
            IndexError: there is no such table.
            ValueError: no rows are given.
        """
        chosen = rows_to_copy(rows, self.num_tables)
        copies = EuchreTables(self.rules, len(chosen))
        copies._state = self._state.view(RAW_TABLE)[chosen].view(self._state.dtype)
        return copies

    @staticmethod
    def joined(parts: Sequence["EuchreTables"]) -> "EuchreTables":
        """Copies of the tables of all parts, one part after the other.

        Args:
            parts: at least one, all with the same rules.

        Raises:
            ValueError: no parts, or parts under different rules.
        """
        rules = {part.rules for part in parts}
        if len(rules) != 1:
            raise ValueError(f"tables of {len(rules)} sets of rules cannot be joined; one set is needed")
        whole = EuchreTables(parts[0].rules, sum(part.num_tables for part in parts))
        raw = np.concatenate([part._state.view(RAW_TABLE) for part in parts])
        whole._state = raw.view(whole._state.dtype)
        return whole

    def reshuffle_unseen(self, seat: ArrayLike, seed: int, streams: ArrayLike | None = None) -> "EuchreTables":
        """Copies of all tables in which everything a seat has not seen is drawn anew.

        Every world in which all actions so far were legal and the seat has seen the same is equally likely: the hands
        of others, the card another seat laid away (as if chosen blindly), the cards not used. A row depends on its
        stream, the seed and what the seat has seen: not on hidden cards, not on other rows.

        Args:
            seat: the observer, one seat or [B] of them; a row with -1 is copied unchanged. A settled table is redrawn
                like any other.
            seed: 0 to 2^64 - 1.
            streams: [B] integers from 0, which number the rows' random streams; 0 to B - 1 when left out.

        Raises:
            ValueError: a seat, the seed or a stream is out of range.
        """
        observers = self._seats(seat, "seat")
        numbers = np.arange(self.num_tables) if streams is None else streams
        keys = stream_keys(seed, spread(numbers, self.num_tables, "streams", 0, 2**63 - 1, np.int64))
        worlds = self.take(np.arange(self.num_tables))
        batch.reshuffle_rows(worlds._state, self._rules, observers, keys, new_scratch())
        return worlds

    def snapshot(self, row: int) -> EuchreSnapshot:
        """Everything about one table in words, hidden cards included; frozen."""
        return snapshot(self.rules, self.records[row])

    def forfeit(self, rows: ArrayLike) -> None:
        """End the hand at some tables: the seat to act forfeits, as after an illegal action (E6.2).

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
        batch.forfeit_rows(self._state, self._rules, chosen)
