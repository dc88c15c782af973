"""A tiny game for one seat with 198 actions, in plain arrays, to test the machinery of the family with.

Four cards are turned one by one. The seat banks the card that lies there (action 100 + card: its rank in points), or
passes it and takes the next card of the pack blind (action 197, worth that card's rank). An ace must be banked, so some
decisions are forced. Nobody wins what another loses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from agents.blocks import Blocks
from agents.games import Rate
from agents.network import FLAT, NetworkSpec
from agents.policy import Decision
from agents.rollout import Rollout
from agents.trainings import NoCredit
from bourre_env.bits import Layout, Segment, legal_words
from bourre_env.errors import RulesError
from bourre_env.family import Game

BANK, BLIND, TURNS, ACE = 100, 197, 4, 12


@dataclass(frozen=True)
class LoneRules:
    game: ClassVar[str] = "lone"
    num_players: ClassVar[int] = 1
    num_actions: ClassVar[int] = 198
    hand_size: ClassVar[int] = 1
    pack: ClassVar[tuple[int, ...]] = tuple(range(52))
    sides: ClassVar[tuple[tuple[int, ...], ...]] = ((0,),)
    max_decisions: ClassVar[int] = TURNS
    fingerprint: ClassVar[str] = "lone"
    tens: bool = False


RULES = LoneRules()
LAYOUT = Layout(2, {"card": Segment(0, 0, 52), "turn": Segment(1, 0, TURNS)})


@dataclass
class LoneTables:
    rules: LoneRules
    num_tables: int
    seats_shown: int | None = None

    layout: ClassVar[Layout] = LAYOUT

    def __post_init__(self) -> None:
        self.decks = np.zeros((self.num_tables, 52), np.int8)
        self.turn = np.full(self.num_tables, TURNS)
        self.total = np.zeros(self.num_tables, np.int32)
        self.forfeited = np.zeros(self.num_tables, np.bool_)

    def deal(self, decks: NDArray[np.int8], dealer: Any = 0) -> None:
        self.decks, self.turn = np.array(decks), np.zeros(self.num_tables, np.int64)
        self.total, self.forfeited = np.zeros(self.num_tables, np.int32), np.zeros(self.num_tables, np.bool_)

    @property
    def settled(self) -> NDArray[np.bool_]:
        return self.turn >= TURNS

    @property
    def to_act(self) -> NDArray[np.int8]:
        return np.where(self.settled, -1, 0).astype(np.int8)

    @property
    def returns(self) -> NDArray[np.int32]:
        return self.total[:, None].copy()

    @property
    def dealer(self) -> NDArray[np.int8]:
        return np.zeros(self.num_tables, np.int8)

    @property
    def card(self) -> NDArray[np.int64]:
        return self.decks[np.arange(self.num_tables), np.minimum(self.turn, TURNS - 1)].astype(np.int64)

    def observe_packed(self, out: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
        out = np.zeros((self.num_tables, 2), np.uint64) if out is None else out
        out[:, 0] = np.uint64(1) << self.card.astype(np.uint64)
        out[:, 1] = np.uint64(1) << np.minimum(self.turn, TURNS - 1).astype(np.uint64)
        out[self.settled] = 0
        return out

    def legal_action_mask(self) -> NDArray[np.bool_]:
        mask = np.zeros((self.num_tables, LoneRules.num_actions), np.bool_)
        mask[np.arange(self.num_tables), BANK + self.card] = True
        mask[:, BLIND] = self.card % 13 != ACE
        mask[self.settled] = False
        return mask

    def legal_packed(self, out: NDArray[np.uint64] | None = None) -> NDArray[np.uint64]:
        bits = np.zeros((self.num_tables, 64 * legal_words(LoneRules.num_actions)), np.bool_)
        bits[:, : LoneRules.num_actions] = self.legal_action_mask()
        packed = np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)
        if out is not None:
            out[:] = packed
        return packed if out is None else out

    def hidden_packed(self) -> NDArray[np.uint64]:
        return np.zeros((self.num_tables, 1), np.uint64)

    def step(self, actions: Any, play_forced: bool = False, *, out: Any = None, parallel: bool = False) -> None:
        live = np.flatnonzero(~self.settled)
        chosen = np.asarray(actions)[live]
        assert self.legal_action_mask()[live, chosen].all()
        blind = self.decks[live, TURNS + self.turn[live]] % 13
        self.total[live] += np.where(chosen == BLIND, blind, self.card[live] % 13)
        self.turn[live] += 1
        if play_forced:
            self.play_forced()

    def play_forced(self) -> None:
        while (forced := (self.legal_action_mask().sum(axis=1) == 1)).any():
            self.total[forced] += ACE
            self.turn[forced] += 1

    def forfeit(self, rows: Any) -> None:
        self.total[rows], self.turn[rows], self.forfeited[rows] = 0, TURNS, True

    def action_text(self, row: int, action: int) -> str:
        return "blind" if action == BLIND else f"bank {action - BANK}"

    def buffers(self) -> None:
        return None

    def take(self, rows: Any) -> "LoneTables":
        return LoneTables.of(self.decks[rows], self.turn[rows], self.total[rows], self.forfeited[rows])

    @staticmethod
    def of(*arrays: Any) -> "LoneTables":
        tables = LoneTables(RULES, len(arrays[0]))
        tables.decks, tables.turn, tables.total, tables.forfeited = (np.array(array) for array in arrays)
        return tables

    @staticmethod
    def joined(parts: Sequence["LoneTables"]) -> "LoneTables":
        names = ("decks", "turn", "total", "forfeited")
        return LoneTables.of(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def preset(name: str, /, *, num_players: int = 1, **changes: Any) -> LoneRules:
    if num_players != 1:
        raise RulesError("there is one seat")
    return LoneRules(**changes)


GAME = Game(
    name="lone",
    title="Lone",
    unit="points",
    presets=("plain",),
    table_sizes=(1,),
    usual_size=1,
    preset=preset,
    from_plain=lambda fields, fingerprint: LoneRules(**fields),
    tables=LoneTables,
    joined=LoneTables.joined,
    layout=lambda rules, seats_shown: LAYOUT,
    pad=lambda words, rules, seats: words,
    unit_of=lambda rules: 1,
)


@dataclass(frozen=True, slots=True)
class LoneBlocks(Blocks):
    """Counts [D, 1, 2]: deals of 40 points or more, points, and deals forfeited."""

    won: NDArray[np.int32]
    points: NDArray[np.int32]
    forfeited: NDArray[np.int32]


class Sensible:
    """Banks what is above the middle."""

    name = "heuristic"

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.int64]:
        cards = decision.observation[:, :52].argmax(axis=1)
        legal = decision.legal_action_mask[:, BLIND]
        return np.where(legal & (cards % 13 < 6), BLIND, BANK + cards)


class LonePart:
    blocks = LoneBlocks
    rates = (Rate("points_rate", "points", "points", "Points", percent=False), Rate("won_rate", "won", "won %", "Won"))
    baselines: Mapping[str, str] = {"heuristic": "lone_game:Sensible"}
    own_keys: tuple[str, ...] = ()
    tags: Mapping[str, str] = {}
    histograms: Mapping[str, str] = {}
    panels = ()
    healthy_play = "Above 28 points."
    has_report = False

    def begin(self, tables: LoneTables, decks: Any, dealer: Any, *, buy_in: int | None, number: int) -> None:
        tables.deal(decks)

    def check_session(self, session: int, rules: Any) -> None:
        if session != 1:
            raise ValueError("deals are measured one by one")

    def left(self, tables: LoneTables) -> NDArray[np.int64]:
        return np.zeros(tables.num_tables, np.int64)

    def counted(self, tables: LoneTables) -> dict[str, NDArray[Any]]:
        return {
            "won": tables.returns >= 40,
            "points": tables.returns,
            "forfeited": tables.forfeited[:, None],
        }

    def luck(self, blocks: Blocks, seed: int) -> None:
        return None

    def action_text(self, rules: Any, row: NDArray[np.uint64], action: int) -> str:
        return "blind" if action == BLIND else f"bank {action - BANK}"

    def table_text(self, tables: LoneTables) -> str:
        return f"card {tables.card[0]}, {tables.total[0]} points"

    def legal_texts(self, rules: Any, row: NDArray[np.uint64], legal: int) -> str:
        return ", ".join(self.action_text(rules, row, action) for action in range(198) if legal >> action & 1)


PART = LonePart()


class LoneTraining:
    rollout = Rollout

    def decisions_a_seat(self, rules: Any) -> int:
        return TURNS

    def network_spec(self, rules: Any, *, seats_shown: int, privileged: bool, **sizes: Any) -> NetworkSpec:
        return NetworkSpec(
            num_words=2, hidden_words=0, own_hand=0, cards=(), hand_size=1, actions=198, **{**sizes, "head": FLAT}
        )

    def usual_starts(self) -> "LoneTraining":
        return self

    def starts(self, config: Any) -> "LoneTraining":
        return self

    def begin(self, tables: LoneTables, decks: Any, seed: int, deal_ids: Any) -> "LoneTraining":
        tables.deal(decks)
        return self

    def results(self, tables: LoneTables, deals: Any, credit: Any) -> NDArray[np.float32]:
        return (tables.returns / 10 - 2.8).astype(np.float32)

    def columns(self, tables: LoneTables, credit: Any) -> dict[str, Any]:
        return {}

    def credits(self, config: Any) -> NoCredit:
        return NoCredit()

    def describe(self, rollout: Rollout, spec: NetworkSpec) -> dict[str, float]:
        return {"game/decisions_per_deal": len(rollout) / rollout.num_deals}

    def details(self, spec: Any, rollout: Any, rows: Any, entropies: Any) -> tuple[dict[str, Any], dict[str, float]]:
        return {}, {}


TRAINING = LoneTraining()
