"""`Tables`: thousands of tables stepped at once.

Shapes: B tables, N seats, S seats shown, W words, O = 64*W features, A actions, k chosen rows, C cards of the pack.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bourre_env.arrays import buffer, check_buffers, checked_rows, plain
from bourre_env.bourre import batch, stepping
from bourre_env.bourre.actions import action_text, legal_texts, num_actions
from bourre_env.bourre.deals import DealQueue, checked_deals, spread
from bourre_env.bourre.observation import Layout, layout, unpack
from bourre_env.bourre.rules import Rules
from bourre_env.bourre.snapshot import Snapshot, snapshot
from bourre_env.bourre.stepping import Buffers
from bourre_env.bourre.table import NO_SEAT, PHASE_NAMES, RAW_TABLE, SETTLED, TABLE
from bourre_env.bourre.worlds_view import new_scratch, without_cinch
from bourre_env.deck import stream_keys
from bourre_env.errors import IllegalActionError, RulesError

Records = np.recarray[Any, Any]


class Tables:
    """B tables under the same rules, each a record of dtype `TABLE`.

    Nothing restarts by itself: a settled table stays settled until it is dealt again. Every array handed out is
    fresh unless `out=` is given. A table's row never depends on the other rows.

    Attributes:
        rules: the rules of every table.
        num_tables: B.
        num_actions: A.
        layout: the named pieces of the observation.
    """

    def __init__(self, rules: Rules, num_tables: int, seats_shown: int | None = None) -> None:
        """Make tables at which no deal has begun (they count as settled).

        Args:
            rules: the rules of every table.
            num_tables: B, at least 1.
            seats_shown: seats in the observation; `rules.num_players` when left out, at most 8.
        """
        if not isinstance(rules, Rules):
            raise RulesError(f"rules is {rules!r}; give a Rules value, such as Rules.preset('pagat')")
        if isinstance(num_tables, bool) or not isinstance(num_tables, (int, np.integer)) or num_tables < 1:
            raise ValueError(f"num_tables is {num_tables!r}; it must be an integer of at least 1")
        self.rules = rules
        self.num_tables = num_tables
        self.num_actions = num_actions(rules)
        self.seats_shown = rules.num_players if seats_shown is None else seats_shown
        self.layout: Layout = layout(rules, seats_shown)
        # Plain arrays of records: Numba recognises their type several times faster than that of a recarray.
        self._state: NDArray[Any] = np.zeros(num_tables, TABLE).view(np.recarray).view(np.ndarray)
        self._state["phase"] = SETTLED
        self._state["to_act"] = NO_SEAT
        self._rules: NDArray[Any] = rules.record().view(np.ndarray)
        self._every_row = np.arange(num_tables)
        self._no_deals = DealQueue(rules)
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
        carry: ArrayLike = 0,
        exempt: ArrayLike | None = None,
        rows: ArrayLike | None = None,
        stacks: ArrayLike | None = None,
    ) -> None:
        """Begin a deal at some tables, or at all of them.

        Args:
            decks: [k, C] real card ids in dealing order, such as `shuffled_decks` gives.
            dealer: one seat, or [k] seats.
            carry: chips that lie in the pot: one number, or [k].
            exempt: [k, N] bool, True for a seat that pays no ante; nobody when left out.
            rows: [k] indices of the tables; all tables when left out.
            stacks: [k, N] chips of the seats; needed when the rules play table stakes, refused otherwise.

        Raises:
            DeckError: a deck is not a permutation of the pack.
            ChipsError: a pot could pass 2,147,483,647 chips (1.5).
            ValueError: a seat, number, shape or index is out of range. Nothing is changed.
        """
        chosen = self._rows(rows)
        deals = checked_deals(self.rules, len(chosen), decks, dealer, carry, exempt, stacks)
        batch.deal_rows(self._state, self._rules, chosen, deals)

    def _rows(self, rows: ArrayLike | None) -> NDArray[np.int64]:
        """Indices of the chosen tables, checked."""
        return self._every_row if rows is None else checked_rows(rows, self.num_tables)

    # --- stepping ---

    def step(
        self,
        actions: ArrayLike,
        play_forced: bool = False,
        *,
        rows: ArrayLike | None = None,
        out: Buffers | None = None,
        queue: DealQueue | None = None,
        parallel: bool = False,
    ) -> None:
        """Take one decision at every table that is not settled, or at some of them.

        With `out` the same call writes what can be seen afterwards, and with `queue` it deals again wherever a deal
        has ended, which is several times faster than asking for each on its own.

        Args:
            actions: [B] integers; entries of settled tables are ignored.
            play_forced: afterwards also play decisions with a single legal action, until every table waits at a choice.
            rows: [k] indices of the tables that take `actions` [k]; all tables when left out. Not with `out`.
            out: arrays to fill (`buffers`).
            queue: settled tables take its deals, in the order of the rows; they stay settled when it is empty.
            parallel: use all of Numba's threads (`numba.set_num_threads`); worth it from some thousands of tables on,
                where cores are idle. The result is the same. A forked process works on one thread.

        Raises:
            IllegalActionError: some action is illegal; it names the table, and nothing has changed.
            ValueError: wrong shape or dtype, `queue` or `parallel` without `out`, `rows` with it, or a queue of other
                rules.
        """
        stepped = self._every_row if rows is None else self._rows(rows)
        chosen = np.asarray(actions)
        if chosen.shape != stepped.shape or (chosen.size and chosen.dtype.kind not in "iu"):
            raise ValueError(
                f"actions are {chosen.dtype} {chosen.shape}; they must be integers of shape {stepped.shape}"
            )
        given = plain(chosen, np.int64)
        if out is None and queue is None and not parallel:
            place = batch.step_rows(self._state, self._rules, stepped, given, play_forced)
        elif rows is None:
            place = self._advance(given, play_forced, out, queue, parallel)
        else:
            raise ValueError("rows= cannot be combined with out=, queue= and parallel=, which step every table")
        if place >= 0:
            raise self.illegal_action(int(stepped[place]), int(chosen[place]))

    def _advance(
        self,
        actions: NDArray[np.int64],
        play_forced: bool,
        out: Buffers | None,
        queue: DealQueue | None,
        parallel: bool,
    ) -> int:
        """Step, deal and write at once; the first row with an illegal action, else -1."""
        if out is None:
            raise ValueError("queue= and parallel= need out=, the arrays that results are written to; see buffers()")
        if out is not self._checked_out:
            check_buffers(out, self.buffers(mask=True, features=True), optional=("mask", "features"))
            self._checked_out = out
        queue = self._no_deals if queue is None else queue
        if not isinstance(queue, DealQueue):
            raise ValueError(f"queue is a {type(queue).__name__}; it must be a DealQueue")
        if queue.rules is not self.rules and queue.rules != self.rules:
            raise ValueError("the queue was filled under other rules than those of the tables")
        advance: Callable[..., int] = stepping.advance_in_parallel if parallel else stepping.advance
        deals, *places = queue.waiting()
        # Plain tuples: Numba recognises their type twice as fast as that of named ones.
        number = advance(self._state, self._rules, actions, play_forced, tuple(deals), *places, tuple(out))
        if number < 0:
            return -1 - number
        queue.take(number)
        return -1

    def buffers(self, *, mask: bool = False, features: bool = False) -> Buffers:
        """Arrays for `step(out=...)`, filled with what can be seen now.

        Args:
            mask: keep boolean masks, too.
            features: keep float32 observations, too.
        """
        tables = self.num_tables
        return Buffers(
            legal=self.legal_packed(),
            observation=self.observe_packed(),
            mask=self.legal_action_mask() if mask else np.empty((0, self.num_actions), np.bool_),
            features=self.observe() if features else np.empty((0, self.layout.size), np.float32),
            settled=self.settled,
            ended=np.zeros(tables, np.bool_),
            returns=np.zeros((tables, self.rules.num_players), np.int32),
            carry=np.zeros(tables, np.int64),
            exempt=np.zeros((tables, self.rules.num_players), np.bool_),
            deal=np.full(tables, stepping.NO_DEAL, np.int64),
        )

    def play_forced(self) -> None:
        """Play decisions with a single legal action until every table waits at a choice or is settled."""
        batch.play_forced_rows(self._state, self._rules)

    def illegal_action(self, row: int, action: object) -> IllegalActionError:
        """The error for an action that table `row` refuses, in words (7.1)."""
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
            batch.encode_seats(
                self._state,
                self._rules,
                spread(seats, self.num_tables, "seats", -1, self.rules.num_players - 1, np.int8),
                out,
            )
        return out

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
        """[B, S] uint64: every seat's hand, the seat to act first and the others clockwise; zeros in settled rows.

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
        """[B] bool: whether the deal is over."""
        return np.asarray(self._state["phase"] == SETTLED)

    @property
    def returns(self) -> NDArray[np.int32]:
        """[B, N] int32: chips each seat has won or lost in this deal, ante and bourré debt included."""
        return self._state["returns"][:, : self.rules.num_players].astype(np.int32)

    @property
    def pot(self) -> NDArray[np.int64]:
        """[B] int64: chips in the pot; 0 in settled rows."""
        return np.array(self._state["pot"])

    @property
    def carry(self) -> NDArray[np.int64]:
        """[B] int64: once settled what lies in the pot before the next antes; before it what the deal began with."""
        return np.array(self._state["carry"])

    @property
    def exempt(self) -> NDArray[np.bool_]:
        """[B, N] bool: after settlement who skips the next ante; before it who skipped this one."""
        bits = np.unpackbits(self._state["exempt"][:, None], axis=1, bitorder="little")
        return bits[:, : self.rules.num_players].astype(np.bool_)

    @property
    def stacks(self) -> NDArray[np.int64] | None:
        """[B, N] int64: chips each seat can still pay, at table stakes (6.7); None on credit."""
        if self.rules.stacks == "credit":
            return None
        return np.array(self._state["stacks"][:, : self.rules.num_players])

    @property
    def dealer(self) -> NDArray[np.int8]:
        """[B] int8: the dealer's seat."""
        return np.array(self._state["dealer"])

    def take(self, rows: ArrayLike) -> "Tables":
        """Copies of some tables, in the order given; a table may be taken several times."""
        wanted = np.asarray(rows)
        chosen = np.atleast_1d(np.arange(self.num_tables)[wanted]) if wanted.size else wanted
        if len(chosen) == 0:
            raise ValueError("rows is empty; take at least one table")
        copies = Tables(self.rules, len(chosen), self.seats_shown)
        copies._state = self._state.view(RAW_TABLE)[chosen].view(self._state.dtype)
        return copies

    @staticmethod
    def joined(parts: Sequence["Tables"]) -> "Tables":
        """Copies of the tables of all parts, one part after the other.

        Args:
            parts: at least one, all with the same rules and `seats_shown`.
        """
        settings = {(part.rules, part.seats_shown) for part in parts}
        if len(settings) != 1:
            raise ValueError(f"tables of {len(settings)} kinds cannot be joined; one set of rules and seats is needed")
        whole = Tables(parts[0].rules, sum(part.num_tables for part in parts), parts[0].seats_shown)
        raw = np.concatenate([part._state.view(RAW_TABLE) for part in parts])
        whole._state = raw.view(whole._state.dtype)
        return whole

    def reshuffle_unseen(self, seat: ArrayLike, seed: int, streams: ArrayLike | None = None) -> "Tables":
        """Copies of all tables in which everything a seat has not seen is drawn anew.

        Every world in which all actions so far were legal and the seat has seen the same is equally likely: the hands
        of others, what they threw away, the order of the stock and of reshuffles; discards count as chosen blindly.
        A row depends on its stream, the seed and what the seat has seen: not on hidden cards, not on other rows.

        Args:
            seat: the observer, one seat or [B] of them; a row with -1 is copied unchanged. A settled table is redrawn
                like any other.
            seed: 0 to 2^64 - 1.
            streams: [B] integers from 0, which number the rows' random streams; 0 to B - 1 when left out.

        Raises:
            ValueError: a seat, the seed or a stream is out of range.
        """
        observers = spread(seat, self.num_tables, "seat", NO_SEAT, self.rules.num_players - 1, np.int8)
        numbers = np.arange(self.num_tables) if streams is None else streams
        keys = stream_keys(seed, spread(numbers, self.num_tables, "streams", 0, 2**63 - 1, np.int64))
        worlds = self.take(np.arange(self.num_tables))
        batch.reshuffle_rows(worlds._state, self._rules, without_cinch(self._rules), observers, keys, *new_scratch())
        return worlds

    def snapshot(self, row: int) -> Snapshot:
        """Everything about one table in real cards, hidden cards included; frozen."""
        return snapshot(self.rules, self._state[row])

    def forfeit(self, rows: ArrayLike) -> None:
        """End the deal at some tables: the seat to act forfeits, as after an illegal action (7.2).

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
