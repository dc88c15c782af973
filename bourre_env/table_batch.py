"""What the tables of every game have in common: stepping, looking, copying.

Dealing is each game's own. Shapes: B tables, N seats, W words, O = 64*W features, A actions, L words of
a packed legal set, k chosen rows.
"""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bourre_env import table_loops, table_steps
from bourre_env.arrays import buffer, check_buffers, checked_rows, first_wrong_deck, plain, spread
from bourre_env.bits import Layout, legal_words, unpack
from bourre_env.deck import stream_keys
from bourre_env.errors import DeckError, IllegalActionError
from bourre_env.table_steps import Buffers

Records = np.recarray[Any, Any]

NO_SEAT = -1


class TableBatch:
    """B tables under the same rules, each a record of one dtype.

    A game's tables are a class of their own that deals, copies hands, redraws what is hidden and speaks of actions.

    Attributes:
        rules: the rules of every table.
        num_tables: B.
        num_actions: A.
        seats_shown: seats in the observation.
        layout: the named pieces of the observation.
    """

    rules: Any
    num_actions: int
    seats_shown: int
    layout: Layout
    _phase_names: tuple[str, ...]  # the last one is that of settled tables

    def __init__(self, num_tables: int, table: np.dtype[Any], rules_record: Records) -> None:
        """Make tables at which no deal has begun (they count as settled).

        Args:
            num_tables: B, at least 1.
            table: dtype of a table.
            rules_record: [1], the rules as compiled code reads them.

        Raises:
            ValueError: a number of tables that cannot be.
        """
        if isinstance(num_tables, bool) or not isinstance(num_tables, (int, np.integer)) or num_tables < 1:
            raise ValueError(f"num_tables is {num_tables!r}; it must be an integer of at least 1")
        self.num_tables = num_tables
        # Plain arrays of records: Numba recognises their type several times faster than that of a recarray.
        self._state: NDArray[Any] = np.zeros(num_tables, table).view(np.recarray).view(np.ndarray)
        self._state["phase"] = len(self._phase_names) - 1
        self._state["to_act"] = NO_SEAT
        self._rules: NDArray[Any] = rules_record.view(np.ndarray)
        self._every_row = np.arange(num_tables)
        self._checked_out: Any = None  # the buffers of the last step, whose arrays fit

    @property
    def records(self) -> Records:
        """[B], the tables themselves; read them, but change them through the methods only."""
        return self._state.view(np.recarray)

    def _rows(self, rows: ArrayLike | None) -> NDArray[np.int64]:
        """Indices of the chosen tables, checked."""
        return self._every_row if rows is None else checked_rows(rows, self.num_tables)

    def _seats(self, seats: ArrayLike, name: str) -> NDArray[np.int8]:
        """[B] seats, -1 for none, checked."""
        return spread(seats, self.num_tables, name, NO_SEAT, self.rules.num_players - 1, np.int8)

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
        if out is None and not parallel:
            self._step_rows(actions, play_forced, rows)
            return
        if rows is not None:
            raise ValueError("rows= cannot be combined with out= and parallel=, which step every table")
        if out is None:
            raise ValueError("parallel= needs out=, the arrays that results are written to; see buffers()")
        chosen, given = self._actions(actions, self.num_tables)
        self._check_out(out)
        advance: Callable[..., int] = table_steps.advance_in_parallel if parallel else table_steps.advance
        # A plain tuple: Numba recognises its type twice as fast as that of a named one.
        row = advance(self._state, self._rules, given, play_forced, tuple(out))
        if row >= 0:
            raise self.illegal_action(row, int(chosen[row]))

    def _step_rows(self, actions: ArrayLike, play_forced: bool, rows: ArrayLike | None) -> None:
        """Take one decision at some tables, or at all of them."""
        stepped = self._rows(rows)
        chosen, given = self._actions(actions, len(stepped))
        place = table_loops.step_rows(self._state, self._rules, stepped, given, play_forced)
        if place >= 0:
            raise self.illegal_action(int(stepped[place]), int(chosen[place]))

    def _actions(self, actions: ArrayLike, number: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """The actions as they were given and [k] as compiled code knows them.

        Raises:
            ValueError: wrong shape or dtype.
        """
        chosen = np.asarray(actions)
        if chosen.shape != (number,) or (chosen.size and chosen.dtype.kind not in "iu"):
            raise ValueError(f"actions are {chosen.dtype} {chosen.shape}; they must be integers of shape {(number,)}")
        return chosen, plain(chosen, np.int64)

    def _check_out(self, out: Any) -> None:
        """Refuse arrays that do not fit these tables."""
        if out is not self._checked_out:
            check_buffers(out, self.buffers(mask=True, features=True), optional=("mask", "features"))
            self._checked_out = out

    def buffers(self, *, mask: bool = False, features: bool = False) -> Any:
        """`Buffers` for `step(out=...)`, filled with what can be seen now.

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
        table_loops.play_forced_rows(self._state, self._rules)

    def illegal_action(self, row: int, action: object) -> IllegalActionError:
        """The error for an action that table `row` refuses, in words."""
        table = self._state[row]
        if table["to_act"] == NO_SEAT:
            return IllegalActionError(f"table {row} is settled and takes no action ({action!r} was given); deal again")
        words = ""
        if isinstance(action, (int, np.integer)) and not isinstance(action, bool):
            words = f" ({self.action_text(row, int(action))})"
        return IllegalActionError(
            f"table {row}, seat {table['to_act']}, phase {self._phase_names[table['phase']]}: "
            f"action {action!r}{words} is not legal; legal: {self.legal_texts(row)}"
        )

    def action_text(self, row: int, action: int) -> str:
        """An action of a table in words."""
        raise NotImplementedError

    def legal_texts(self, row: int) -> str:
        """The legal actions of a table's seat to act in words."""
        raise NotImplementedError

    def forfeit(self, rows: ArrayLike) -> None:
        """End the deal at some tables: the seat to act forfeits, as after an illegal action.

        Args:
            rows: [k] indices of tables that are not settled.

        Raises:
            IllegalActionError: a table is settled, so that nobody is to act.
            ValueError: an index is out of range or named twice. Nothing is changed.
        """
        chosen = self._rows(rows)
        settled = chosen[self._state["to_act"][chosen] == NO_SEAT]
        if settled.size:
            raise IllegalActionError(f"table {settled[0]} is settled: nobody is to act who could forfeit; deal again")
        table_loops.forfeit_rows(self._state, self._rules, chosen)

    # --- what a policy sees ---

    def legal_packed(self, out: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
        """[B, L] uint64: bit a of each row's bits is set when action a is legal."""
        out = buffer(out, (self.num_tables, legal_words(self.num_actions)), np.dtype(np.uint64))
        table_loops.copy_legal(self._state, out)
        return out

    def legal_action_mask(self, out: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """[B, A] bool: True for each legal action of the seat to act; no True in settled rows."""
        out = buffer(out, (self.num_tables, self.num_actions), np.dtype(np.bool_))
        table_loops.write_masks(self._state, out)
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
            table_loops.encode_to_act(self._state, self._rules, out)
        else:
            table_loops.encode_seats(self._state, self._rules, self._seats(seats, "seats"), out)
        return out

    def observe(self, out: NDArray[np.float32] | None = None, seats: ArrayLike | None = None) -> NDArray[np.float32]:
        """[B, O] float32 of zeros and ones: `observe_packed`, unpacked."""
        if seats is not None:
            return unpack(self.observe_packed(seats=seats), out)
        out = buffer(out, (self.num_tables, self.layout.size), np.dtype(np.float32))
        table_loops.write_features(self._state, self._rules, np.empty(self.layout.num_words, np.uint64), out)
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
        table_loops.view_one(self._state, self._rules, seat, features, mask)
        return features, mask

    def view_rows(self, rows: ArrayLike) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """Packed observations [k, W] and legal sets [k, L] of the seats to act at the tables `rows` [k].

        Raises:
            ValueError: an index is out of range or named twice.
        """
        chosen = self._rows(rows)
        words = np.empty((len(chosen), self.layout.num_words), np.uint64)
        legal = np.empty((len(chosen), legal_words(self.num_actions)), np.uint64)
        table_loops.view_rows(self._state, self._rules, chosen, words, legal)
        return words, legal

    def hidden_packed(self, out: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
        """[B, seats shown] uint64: every seat's hand, the seat to act first and the others clockwise; zeros if settled.

        No player may see this; it is for critics that are thrown away after training.
        """
        out = buffer(out, (self.num_tables, self.seats_shown), np.dtype(np.uint64))
        self._copy_hands(out)
        return out

    def _copy_hands(self, out: NDArray[np.uint64]) -> None:
        """Every seat's hand into `out`, as `hidden_packed` gives them."""
        raise NotImplementedError

    # --- the state of the tables ---

    @property
    def to_act(self) -> NDArray[np.int8]:
        """[B] int8: the seat to act; -1 in settled rows."""
        return np.array(self._state["to_act"])

    @property
    def settled(self) -> NDArray[np.bool_]:
        """[B] bool: whether the deal is over."""
        return np.asarray(self._state["to_act"] == NO_SEAT)

    @property
    def dealer(self) -> NDArray[np.int8]:
        """[B] int8: the dealer's seat."""
        return np.array(self._state["dealer"])

    def take(self, rows: ArrayLike) -> Self:
        """Copies of some tables, in the order given; a table may be taken several times.

        Args:
            rows: [k] indices, or [B] flags.

        Raises:
            IndexError: there is no such table.
            ValueError: no rows are given.
        """
        wanted = np.asarray(rows)
        chosen = np.atleast_1d(np.arange(self.num_tables)[wanted]) if wanted.size else wanted
        if len(chosen) == 0:
            raise ValueError("rows is empty; take at least one table")
        copies = self._alike(len(chosen))
        copies._state = self._raw()[chosen].view(self._state.dtype)
        return copies

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Copies of the tables of all parts, one part after the other.

        Args:
            parts: at least one, all with the same rules and seats shown.

        Raises:
            ValueError: no parts, or parts that differ.
        """
        settings = {(part.rules, part.seats_shown) for part in parts}
        if len(settings) != 1:
            raise ValueError(f"tables of {len(settings)} kinds cannot be joined; one set of rules and seats is needed")
        whole = parts[0]._alike(sum(part.num_tables for part in parts))
        whole._state = np.concatenate([part._raw() for part in parts]).view(whole._state.dtype)
        return whole

    def _alike(self, num_tables: int) -> Self:
        """Tables under the same rules at which no deal has begun."""
        raise NotImplementedError

    def _raw(self) -> NDArray[np.void]:
        """[B], the tables as plain bytes, which NumPy copies much faster than records."""
        return self._state.view(np.dtype((np.void, self._state.dtype.itemsize)))

    def reshuffle_unseen(self, seat: ArrayLike, seed: int, streams: ArrayLike | None = None) -> Self:
        """Copies of all tables in which everything a seat has not seen is drawn anew.

        Every world in which all actions so far were legal and the seat has seen the same is equally likely; the text of
        the game's `worlds` says what a world is. A row depends on its stream, the seed and what the seat has seen: not
        on hidden cards, not on other rows.

        Args:
            seat: the observer, one seat or [B] of them; a row with -1 is copied unchanged. A settled table is redrawn
                like any other.
            seed: 0 to 2^64 - 1.
            streams: [B] integers from 0, which number the rows' random streams; 0 to B - 1 when left out.

        Raises:
            ValueError: a seat, the seed or a stream is out of range.
        """
        observers = self._seats(seat, "seat")
        numbers = self._every_row if streams is None else streams
        keys = stream_keys(seed, spread(numbers, self.num_tables, "streams", 0, 2**63 - 1, np.int64))
        worlds = self.take(self._every_row)
        worlds._reshuffle(observers, keys)
        return worlds

    def _reshuffle(self, observers: NDArray[np.int8], keys: NDArray[np.uint64]) -> None:
        """Redraw what the seats [B] have not seen, with the keys [B]."""
        raise NotImplementedError


def checked_decks(
    decks: ArrayLike, number: int, *, pack: Sequence[int], pack_set: np.uint64, rule: str
) -> NDArray[np.int8]:
    """The decks [number, C] that a caller hands in.

    Args:
        decks: what was handed in.
        number: decks that are needed.
        pack: ids of the cards, ascending.
        pack_set: the same as a set.
        rule: the numbered rule that names the pack.

    Raises:
        DeckError: a deck is not a permutation of the pack.
    """
    given, cards = np.asarray(decks), len(pack)
    if given.shape != (number, cards) or given.dtype.kind not in "iu":
        raise DeckError(f"decks are {given.dtype} {given.shape}; they must be integers of shape {(number, cards)}")
    if given.dtype != np.int8:
        given = np.clip(given, -1, cards)  # so that no id wraps around to a card
    ids: NDArray[np.int8] = plain(given, np.int8)
    wrong = first_wrong_deck(ids, pack_set)
    if wrong >= 0:
        raise DeckError(
            f"deck {wrong} is not a permutation of the {cards} cards of the pack (rule {rule}): "
            "a card is missing, doubled or unknown"
        )
    return ids


def checked_scores(score: ArrayLike | None, number: int, *, lowest: int, target: int, dtype: Any) -> NDArray[Any]:
    """[number, 2] scores of two sides, each from `lowest` to short of the target; nothing all where none is given.

    Raises:
        ValueError: another shape or dtype, or a score at which no game goes on.
    """
    if score is None:
        return np.zeros((number, 2), dtype)
    given = np.asarray(score)
    if given.shape != (number, 2) or given.dtype.kind not in "iu":
        raise ValueError(f"score is {given.dtype} {given.shape}; it must be integers of shape {(number, 2)}")
    if given.size and not lowest <= given.min() <= given.max() < target:
        raise ValueError(
            f"score reaches from {given.min()} to {given.max()}; a game to {target} goes on "
            f"from {lowest} to {target - 1}"
        )
    return plain(given, dtype)
