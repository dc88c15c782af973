"""Random rules, packs and play, and the comparison of the engine with the oracle.

Shapes: B tables. A table's state is compared as one tuple of plain Python values, its fields named in `STATE`.
"""

import random
from typing import Any

import numpy as np
from hypothesis import strategies as st
from reference import ReferenceTable

from bourre_env import Rules, Tables
from bourre_env.bourre.rules import CHOICES, MAX_HAND, MAX_PLAYERS
from bourre_env.bourre.table import PHASE_NAMES
from bourre_env.cards import NUM_RANKS, RANK_NAMES

STATE = (
    "legal",
    "phase",
    "to_act",
    "leader",
    "trick",
    "hands",
    "stayed",
    "passed",
    "num_discards",
    "tricks_won",
    "pot",
    "returns",
    "carry",
    "exempt",
    "turn_up",
    "trump_suit",
    "stock_left",
    "num_reshuffles",
)
PASSES = 0.3  # share of declarations that pass where it is legal; uniform play would hardly ever pass
HIGHEST_CARRY = 10**6


# --- random rules -----------------------------------------------------------------------------------------------------


@st.composite
def packs_and_seats(draw: st.DrawFn) -> dict[str, Any]:
    """A table size, a hand size and a pack with enough cards for them; the full pack half of the time.

    A shorter pack may have its ranks in any order, as the French game has its ace below the jack.
    """
    num_players, hand_size = draw(st.integers(2, MAX_PLAYERS)), draw(st.integers(2, MAX_HAND))
    turn_up_owner = draw(st.sampled_from(CHOICES["turn_up_owner"]))
    num_suits, ranks = 4, RANK_NAMES
    if draw(st.booleans()):
        num_suits = draw(st.integers(2, 4))
        needed = num_players * hand_size + (turn_up_owner == "table")
        fewest = -(-needed // num_suits)
        num_suits = num_suits if fewest <= NUM_RANKS else 4
        num_ranks = draw(st.integers(max(2, -(-needed // num_suits)), NUM_RANKS))
        in_order = RANK_NAMES[NUM_RANKS - num_ranks :]
        ranks = in_order if draw(st.booleans()) else "".join(draw(st.permutations(in_order)))
    return {
        "num_players": num_players,
        "hand_size": hand_size,
        "turn_up_owner": turn_up_owner,
        "suits": "CDHS"[:num_suits],
        "ranks": ranks,
    }


@st.composite
def any_rules(draw: st.DrawFn) -> Rules:
    """Any house rules that make a game."""
    flags = st.booleans()
    fields = draw(packs_and_seats())
    fields |= {name: draw(st.sampled_from(values)) for name, values in CHOICES.items() if name not in fields}
    duties = ("must_overtrump", "must_undertrump", "trump_with_highest")
    fields["must_trump"] = draw(flags)
    fields |= {name: fields["must_trump"] and draw(flags) for name in duties}
    others = (
        "must_beat",
        "dealer_may_discard_turn_up",
        "ace_up_dealer_must_stay",
        "tied_skip_ante",
        "bourre_skips_ante",
    )
    fields |= {name: draw(flags) for name in others}
    fields["dealer_always_stays"] = fields["all_pass"] == "dealer_collects" and draw(flags)
    fields["blind_declaring"] = fields["declare_mode"] == "two_rounds" and draw(flags)
    fields["penalty_chips"] = 0 if fields["bourre_penalty"] == "match_pot" else draw(st.integers(1, 9))
    fields["ante"] = draw(st.integers(1, 3))
    fields["limit"] = draw(st.none() | st.integers(1, 30))
    fields |= {"play_fee": draw(st.integers(0, 2)), "draw_fee": draw(st.integers(0, 2))}
    sizes = st.integers(0, MAX_HAND)
    fields["max_discards"] = draw(sizes | st.tuples(*[sizes] * (MAX_PLAYERS - 1)))
    return Rules(**fields)


# --- random play ------------------------------------------------------------------------------------------------------


def random_deck(rules: Rules, rng: random.Random) -> list[int]:
    """The pack in some order."""
    deck = list(rules.pack)
    rng.shuffle(deck)
    return deck


def random_action(legal: list[int], pass_action: int, rng: random.Random) -> int:
    """A legal action, any of them, except that passing is as likely as people make it."""
    if legal[-1] == pass_action and (len(legal) == 1 or rng.random() < PASSES):
        return pass_action
    return rng.choice(legal[:-1] if legal[-1] == pass_action else legal)


def actions_in(bits: int) -> list[int]:
    """Action ids in a legal set, ascending."""
    actions = []
    while bits:
        lowest = bits & -bits
        actions.append(lowest.bit_length() - 1)
        bits ^= lowest
    return actions


# --- the two states in the same form ----------------------------------------------------------------------------------


def states_of_engine(tables: Tables) -> list[tuple[Any, ...]]:
    """The state of each table, fields as in `STATE`."""
    records, seats = tables.records, tables.rules.num_players
    legal = [low | high << 64 for low, high in tables.legal_packed().tolist()]
    current = np.minimum(records["tricks_done"], MAX_HAND - 1)
    playing = records["tricks_done"] < tables.rules.hand_size
    trick = records["tricks"][np.arange(len(records)), current] * playing
    by_seat = {name: records[name][:, :seats].tolist() for name in ("hands", "num_discards", "tricks_won")}
    plain = ("stayed", "passed", "turn_up", "trump_suit", "num_reshuffles")
    fields = {name: records[name].tolist() for name in plain} | by_seat
    fields |= {"legal": legal, "trick": trick.tolist(), "to_act": tables.to_act.tolist()}
    fields["phase"] = [PHASE_NAMES[phase] for phase in records["phase"].tolist()]
    fields["leader"] = [
        leader if phase == "play" else -1
        for leader, phase in zip(records["leader"].tolist(), fields["phase"], strict=True)
    ]
    fields["stock_left"] = (records["stock_end"] - records["stock_next"]).tolist()
    fields |= {name: getattr(tables, name).tolist() for name in ("pot", "returns", "carry", "exempt")}
    return list(zip(*(fields[name] for name in STATE), strict=True))


class ReferenceState:
    """Turns the oracle's cards of one deal into the engine's sets of relative cards."""

    def __init__(self, table: ReferenceTable) -> None:
        """Name the cards of the deal relative to its trump suit."""
        self.table = table
        suits = [table.trump_suit, *(suit for suit in range(4) if suit != table.trump_suit)]
        self.card_id = {one: 13 * suits.index(one // 13) + one % 13 for one in table.deck}
        self.card_bit = {one: 1 << number for one, number in self.card_id.items()}

    def bits(self, held: list[int]) -> int:
        """A set of cards."""
        return sum(self.card_bit[one] for one in held)

    def state(self) -> tuple[Any, ...]:
        """The state, fields as in `STATE`."""
        table = self.table
        playing = table.phase == "play"
        return (
            sum(1 << action for action in table.legal_actions()),
            table.phase,
            table.seat,
            (table.trick[0][0] if table.trick else table.seat) if playing else -1,
            self.bits([one for _, one in table.trick]),
            [self.bits(hand) for hand in table.hands],
            sum(1 << seat for seat in table.seats if table.stayed[seat]),
            sum(1 << seat for seat in table.seats if table.passed[seat]),
            table.num_discards,
            table.tricks_won,
            table.pot,
            table.returns,
            table.carry,
            table.exempt,
            self.card_id[table.turn_up],
            table.trump_suit,
            len(table.stock),
            table.num_reshuffles,
        )


def assert_same_state(engine: tuple[Any, ...], reference: tuple[Any, ...], where: str) -> None:
    """The two states agree; otherwise name the first field that does not."""
    if engine == reference:
        return
    differing = [name for name, one, other in zip(STATE, engine, reference, strict=True) if one != other]
    name = differing[0]
    one, other = engine[STATE.index(name)], reference[STATE.index(name)]
    if name == "legal":
        one, other = actions_in(one), actions_in(other)
    raise AssertionError(f"{where}: {differing} differ; {name} is {one} in the engine and {other} in the oracle")


class Comparison:
    """The engine's tables beside one oracle table each: the same rules, packs and actions, compared at every decision.

    A session goes on at each table: the next dealer deals with the carry and the exemptions of the deal before.
    """

    def __init__(self, rules: Rules, num_tables: int, rng: random.Random) -> None:
        """Deal at every table."""
        self.rules, self.rng = rules, rng
        self.tables = Tables(rules, num_tables)
        self.references: dict[int, ReferenceState] = {}
        self.decisions = 0
        self.deal(list(range(num_tables)))

    def deal(self, rows: list[int]) -> None:
        """Begin a deal at some tables, on both sides."""
        begun = [self._begin(row) for row in rows]
        self.references |= {row: ReferenceState(table) for row, table in zip(rows, begun, strict=True)}
        self.tables.deal(
            [table.deck for table in begun],
            [table.dealer for table in begun],
            carry=[table.carry for table in begun],
            exempt=[table.exempt for table in begun],
            rows=rows,
            stacks=None if self.rules.stacks == "credit" else [table.stacks for table in begun],
        )

    def _begin(self, row: int) -> ReferenceTable:
        """The oracle's next deal at a table; a session begins anywhere, and anew when the pot has become too large."""
        rules, rng, seats = self.rules, self.rng, range(self.rules.num_players)
        stacks = None if rules.stacks == "credit" else [rng.randrange(13) for _ in seats]
        last = self.references[row].table if row in self.references else None
        if last is None or last.carry > HIGHEST_CARRY:
            exempt = [rng.random() < 0.2 for _ in seats]
            dealer, carry = rng.choice(seats), rng.randrange(40)
        else:
            exempt, dealer, carry = last.exempt, last.next_dealer, last.carry
        return ReferenceTable(rules, random_deck(rules, rng), dealer, carry=carry, exempt=exempt, stacks=stacks)

    def check(self) -> list[tuple[Any, ...]]:
        """Compare every table; returns the states."""
        states = [self.references[row].state() for row in range(self.tables.num_tables)]
        for row, (engine, reference) in enumerate(zip(states_of_engine(self.tables), states, strict=True)):
            assert_same_state(engine, reference, f"table {row} after {self.decisions} decisions, {self.rules}")
        return states

    def step(self) -> None:
        """Compare, then take one decision at every table; tables that are settled get a new deal instead."""
        legal_sets = [state[0] for state in self.check()]
        actions = [-1] * len(legal_sets)  # what a settled table is given does not matter
        settled = []
        for row, legal in enumerate(legal_sets):
            table = self.references[row].table
            if not legal:
                settled.append(row)
                continue
            actions[row] = random_action(actions_in(legal), table.pass_action, self.rng)
            table.step(actions[row])
            self.decisions += 1
        self.tables.step(actions)
        if settled:
            self.deal(settled)
