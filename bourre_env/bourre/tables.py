"""`Tables`: thousands of tables stepped at once.

Shapes: B tables, N seats, S seats shown, W words, O = 64*W features, A actions, k chosen rows, C cards of the pack.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bourre_env.bourre import batch, stepping
from bourre_env.bourre.actions import action_text, legal_texts, num_actions
from bourre_env.bourre.deals import DealQueue, checked_deals
from bourre_env.bourre.observation import layout
from bourre_env.bourre.rules import Rules
from bourre_env.bourre.snapshot import Snapshot, snapshot
from bourre_env.bourre.stepping import Buffers
from bourre_env.bourre.table import PHASE_NAMES, TABLE
from bourre_env.bourre.worlds_view import new_scratch, without_cinch
from bourre_env.errors import RulesError
from bourre_env.table_batch import TableBatch


class Tables(TableBatch):
    """B tables under the same rules, each a record of dtype `TABLE`.

    Nothing restarts by itself: a settled table stays settled until it is dealt again. Every array handed out is
    fresh unless `out=` is given. A table's row never depends on the other rows.
    """

    rules: Rules
    _phase_names = PHASE_NAMES

    def __init__(self, rules: Rules, num_tables: int, seats_shown: int | None = None) -> None:
        """Make tables at which no deal has begun (they count as settled).

        Args:
            rules: the rules of every table.
            num_tables: B, at least 1.
            seats_shown: seats in the observation; `rules.num_players` when left out, at most 8.
        """
        if not isinstance(rules, Rules):
            raise RulesError(f"rules is {rules!r}; give a Rules value, such as Rules.preset('pagat')")
        super().__init__(num_tables, TABLE, rules.record())
        self.rules = rules
        self.num_actions = num_actions(rules)
        self.seats_shown = rules.num_players if seats_shown is None else seats_shown
        self.layout = layout(rules, seats_shown)
        self._no_deals = DealQueue(rules)

    def _alike(self, num_tables: int) -> "Tables":
        """Tables under the same rules at which no deal has begun."""
        return Tables(self.rules, num_tables, self.seats_shown)

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

    def step(  # type: ignore[override] # takes a queue, too
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
        if out is None and queue is None and not parallel:
            self._step_rows(actions, play_forced, rows)
            return
        if rows is not None:
            raise ValueError("rows= cannot be combined with out=, queue= and parallel=, which step every table")
        chosen, given = self._actions(actions, self.num_tables)
        row = self._advance(given, play_forced, out, queue, parallel)
        if row >= 0:
            raise self.illegal_action(row, int(chosen[row]))

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
        self._check_out(out)
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

    def action_text(self, row: int, action: int) -> str:
        """An action of a table in words."""
        return action_text(self.rules, self._state[row], action)

    def legal_texts(self, row: int) -> str:
        """The legal actions of a table's seat to act in words, for who takes another one (7.1)."""
        return legal_texts(self.rules, self._state[row])

    def _copy_hands(self, out: NDArray[np.uint64]) -> None:
        """Every seat's hand into `out` [B, S]."""
        batch.copy_hands(self._state, self._rules, out)

    def _reshuffle(self, observers: NDArray[np.int8], keys: NDArray[np.uint64]) -> None:
        """Redraw hands of others, what they threw away, the order of the stock and of reshuffles."""
        batch.reshuffle_rows(self._state, self._rules, without_cinch(self._rules), observers, keys, *new_scratch())

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

    def snapshot(self, row: int) -> Snapshot:
        """Everything about one table in real cards, hidden cards included; frozen."""
        return snapshot(self.rules, self._state[row])
