"""Deals of any game as lines of JSON: what a tournament dealt and what was done, to be played again at its tables.

The first line says what game was played by which rules; every other one is a deal at one table: `seed`, `deal` and
`table` (which of a block's) say where it is from, `seats` who sat where, `dealer`, `deck` and `actions` what happened
(ids of cards and actions; -1 where the seat to act forfeited), `returns` what it brought each seat. Decisions with a
single legal action are among the actions, too. Bourré has hand records in words besides (`bourre_env.notation`).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena import decks_of, play_line_ups, seatings
from agents.blocks import Blocks, places_of
from agents.games import part_of
from agents.policy import Policy
from agents.referee import DEFAULT_TIME_LIMIT, NO_ACTION, Referee
from agents.results import LineUp, Terms
from bourre_env.bits import legal_bits
from bourre_env.decision import are_legal
from bourre_env.errors import BourreError
from bourre_env.family import GameRules, GameTables, game_named, game_of, plain_rules

FORMAT = 1
LINES = ".jsonl"


class DealLineError(BourreError, ValueError):
    """Lines that hold no deals of a tournament, or a deal that the rules do not allow."""


@dataclass(frozen=True, slots=True)
class DealLine:
    """One deal at one table.

    Attributes:
        seed: of the experiment.
        deal: its number in the experiment.
        table: which of the block's tables, from 0.
        seats: names by seat.
        dealer: the dealer's seat.
        deck: ids of the cards in dealing order.
        actions: ids of all actions in order; `NO_ACTION` where the seat to act forfeited.
        returns: won or lost by each seat.
    """

    seed: int
    deal: int
    table: int
    seats: tuple[str, ...]
    dealer: int
    deck: tuple[int, ...]
    actions: tuple[int, ...]
    returns: tuple[int, ...]


_FIELDS = {field.name for field in fields(DealLine)}


# --- writing down ---


def play_again(
    terms: Terms,
    policies: Mapping[str, Policy],
    line_up: LineUp,
    *,
    seed: int,
    deal_ids: Sequence[int],
    silenced: Iterable[str] = (),
    time_limit: float = DEFAULT_TIME_LIMIT,
) -> tuple[Blocks, list[DealLine]]:
    """Play some blocks of a line-up again, noting every action.

    Args:
        terms: rules and stakes, of single deals.
        policies: by name.
        line_up: names by place.
        seed: of the experiment.
        deal_ids: the deals.
        silenced: names of policies that are not asked, since they were too slow.
        time_limit: seconds a decision that a policy may take.

    Returns:
        The blocks, to compare with those of before, and their deals, table by table.

    Raises:
        ValueError: the terms are of sessions.
        PolicyError: a policy cannot play by the rules.
    """
    if terms.session != 1:
        raise ValueError(f"sessions of {terms.session} deals; only single deals are written as lines")
    rules, names = terms.rules, list(dict.fromkeys(line_up))
    places = places_of(rules)
    seating = np.tile(seatings(rules, np.array([names.index(name) for name in line_up])), (len(deal_ids), 1))
    deals = np.repeat(np.asarray(deal_ids, np.int64), places)
    answers: list[list[int]] = [[] for _ in deals]

    def note(rows: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        for row, action in zip(rows.tolist(), actions.tolist(), strict=True):
            answers[row].append(action)

    rows = play_line_ups(
        rules,
        [policies[name] for name in names],
        seating,
        seed=seed,
        deal_ids=deals,
        buy_in=terms.buy_in,
        referee=Referee(time_limit, set(silenced)),
        note=note,
    )
    decks, actions = _with_forced(terms, seed, deals, answers)
    lines = [
        DealLine(
            seed=seed,
            deal=int(deals[row]),
            table=row % places,
            seats=tuple(names[index] for index in seating[row]),
            dealer=int(deals[row]) % rules.num_players,
            deck=tuple(decks[row].tolist()),
            actions=tuple(actions[row]),
            returns=tuple(rows.returns[row].tolist()),
        )
        for row in range(len(deals))
    ]
    return Blocks.of_rows(rules, 1, rows), lines


def _with_forced(
    terms: Terms, seed: int, deals: NDArray[np.int64], answers: Sequence[Sequence[int]]
) -> tuple[NDArray[np.int8], list[list[int]]]:
    """The packs of deals [T], and all their actions, given what was answered at their choices."""
    decks = decks_of(terms.rules, seed, deals, 0, 1)
    tables = _begun(terms, decks, deals % terms.rules.num_players)
    left = [iter(of_table) for of_table in answers]
    actions: list[list[int]] = [[] for _ in deals]
    while (waiting := np.flatnonzero(tables.to_act >= 0)).size:
        legal, chosen = tables.legal_packed(), np.zeros(len(deals), np.int64)
        for row in waiting.tolist():
            bits = legal_bits(legal[row])
            chosen[row] = bits.bit_length() - 1 if bits & (bits - 1) == 0 else next(left[row])
            actions[row].append(int(chosen[row]))
        _take(tables, chosen)
    return decks, actions


def _begun(terms: Terms, decks: NDArray[np.int8], dealers: NDArray[np.int64]) -> GameTables:
    """Tables at which single deals have just begun."""
    tables = game_of(terms.rules).tables(terms.rules, len(decks), None)
    part_of(terms.rules).begin(tables, decks, dealers, buy_in=terms.buy_in, number=0)
    return tables


def _take(tables: GameTables, actions: NDArray[np.int64]) -> None:
    """Take actions [T], `NO_ACTION` where the seat to act forfeits."""
    forfeits = np.flatnonzero((actions == NO_ACTION) & (tables.to_act >= 0))
    if forfeits.size:
        tables.forfeit(forfeits)
    tables.step(np.maximum(actions, 0))


# --- files ---


def to_bytes(terms: Terms, lines: Iterable[DealLine]) -> bytes:
    """The file; equal deals give equal bytes."""
    rules = terms.rules
    about = {
        "format": FORMAT,
        "game": rules.game,
        "fingerprint": rules.fingerprint,
        "rules": plain_rules(rules),
        "buy_in": terms.buy_in,
    }
    texts = [json.dumps(about), *(json.dumps(asdict(line), separators=(",", ":")) for line in lines)]
    return "".join(f"{text}\n" for text in texts).encode()


def read(path: Path) -> tuple[Terms, list[DealLine]]:
    """Terms and deals from a file.

    Raises:
        DealLineError: it is missing, or holds no deals of this version; the message says in which line.
    """
    try:
        texts = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DealLineError(f"{path} cannot be read: {error}") from None
    terms, lines = None, list[DealLine]()
    try:
        for text in texts or [""]:
            if terms is None:
                terms = _terms(json.loads(text))
            else:
                lines.append(_line(json.loads(text), terms.rules))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        number, reason = 1 + (terms is not None) + len(lines), " ".join(str(error).split())
        raise DealLineError(f"{path}, line {number} is no deal of a tournament: {reason}") from None
    assert terms is not None, "the first line says them, or is refused"
    return terms, lines


def _terms(about: Mapping[str, Any]) -> Terms:
    """What the first line says."""
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise DealLineError(f"the first line must say format {FORMAT}")
    rules = game_named(about["game"]).from_plain(about["rules"], about["fingerprint"])
    if about["buy_in"] is not None and type(about["buy_in"]) is not int:
        raise DealLineError("the buy-in is an integer or null")
    terms = Terms(rules, buy_in=about["buy_in"])
    _begun(terms, np.array([rules.pack], np.int8), np.zeros(1, np.int64))  # refuses stakes that the game has not
    return terms


def _line(plain: Mapping[str, Any], rules: GameRules) -> DealLine:
    """A deal from its JSON form, as far as it can be checked before it is played."""
    if not isinstance(plain, dict):
        raise DealLineError("it must be an object with the fields of a deal")
    if unknown := set(plain) ^ _FIELDS:
        raise DealLineError(f"a deal has the fields {', '.join(sorted(_FIELDS))}; {', '.join(sorted(unknown))} differ")
    values: Any = {key: tuple(value) if isinstance(value, list) else value for key, value in plain.items()}
    line = DealLine(**values)
    numbers = (line.seed, line.deal, line.table, line.dealer, *line.deck, *line.actions, *line.returns)
    if not all(type(number) is int for number in numbers):
        raise DealLineError("cards, actions, seats and returns are integers")
    if not isinstance(plain["seats"], list) or not all(
        isinstance(name, str) and name.isprintable() for name in line.seats
    ):
        raise DealLineError("seats are names, which can be printed")
    seats = rules.num_players
    if not 0 <= line.dealer < seats or len(line.seats) != seats or len(line.returns) != seats:
        raise DealLineError(f"there are {seats} seats, from 0")
    if sorted(line.deck) != list(rules.pack):
        raise DealLineError("the deck is no permutation of the pack")
    return line


# --- playing again ---


def replay(terms: Terms, line: DealLine) -> Iterator[GameTables]:
    """A table before the first action of a deal and after every one; always the same table.

    Raises:
        DealLineError: an action that is not legal, too many or too few of them, or another end than the line says.
    """
    tables = _begun(terms, np.array([line.deck], np.int8), np.array([line.dealer]))
    yield tables
    where = f"deal {line.deal} at table {line.table}"
    for number, action in enumerate(line.actions, 1):
        if tables.to_act[0] < 0:
            raise DealLineError(f"{where} is over before action {number} of {len(line.actions)}")
        if action != NO_ACTION and not are_legal(np.array([action]), tables.legal_packed())[0]:
            raise DealLineError(f"{where}: action {number} is {action}, which is not legal there")
        _take(tables, np.array([action]))
        yield tables
    if tables.to_act[0] >= 0:
        raise DealLineError(f"{where} is not over after its {len(line.actions)} actions")
    if tuple(tables.returns[0].tolist()) != line.returns:
        raise DealLineError(f"{where} brings {tables.returns[0].tolist()}, not {list(line.returns)}")


def steps(terms: Terms, line: DealLine) -> Iterator[str]:
    """A deal in words: the table before the first action and after every one, with the action on top.

    Raises:
        DealLineError: as in `replay`.
    """
    shown = part_of(terms.rules).table_text
    headline = ""
    for number, tables in enumerate(replay(terms, line)):
        yield headline + shown(tables)
        if number < len(line.actions):
            headline = f"{_who(tables, line)}: {_action_text(tables, line.actions[number])}\n"


def _who(tables: GameTables, line: DealLine) -> str:
    """The seat to act and who sits there."""
    acting = int(tables.to_act[0])
    return f"seat {acting}, {line.seats[acting]}"


def _action_text(tables: GameTables, action: int) -> str:
    """An action in words."""
    return "forfeits" if action == NO_ACTION else tables.action_text(0, action)
