"""A deal, or a session of deals, as short text that a person can read, compare and attach to a report.

    bourre record 1
    rules pagat num_players=4
    fingerprint ac5d79871ce4ed01

    deal 1
    dealer 2  carry 0  exempt none
    deck 4D 5H JC TD 6C 8C AS 2H JD KD TC TH QH
    …
    turn-up 7H  trumps H
    3 stays, 4D 6C JD 8S for 7S 9S QS AC
    0 passes
    trick 1  3:7S 1:AS 2:TH  won by 2
    …
    chips -1 -5 +7 -1  carry 4  exempt 1

A deal that a seat forfeited (7.2) has the line `2 forfeits` in place of the action that was refused. At table stakes
(6.7) the line of the dealer goes on with the chips of the seats: `  stacks 100 80 0 20`.
The cards drawn, the winners and the chips follow from the rest. They are written for the reader, and checked when the
record is read: a record that breaks the rules or contradicts itself is refused with the line where it does.
"""

import dataclasses
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bourre_env.bourre.actions import PASS_TEXT, STAY_TEXT, action_id, action_text
from bourre_env.bourre.rules import Rules
from bourre_env.bourre.snapshot import Snapshot
from bourre_env.bourre.tables import Tables
from bourre_env.cards import card_id, card_text, to_real
from bourre_env.errors import BourreError, NotationError, RulesError

HEADER = "bourre record 1"
FORFEIT_TEXT = "forfeit"
FORFEIT = -1  # in a list of action ids: the seat to act forfeits the deal; no action that a policy can choose
CARDS_IN_LINE = 13


@dataclass(frozen=True)
class DealRecord:
    """One deal: what it began with and what was done, in words.

    Attributes:
        rules: the house rules.
        dealer: the dealer's seat.
        deck: card texts in dealing order.
        actions: texts of the actions in order ("pass", "stay 2C 4D", "QS"); the deal may be unfinished. "forfeit"
            at the end when the seat to act forfeited the deal (7.2).
        carry: chips that lay in the pot.
        exempt: seats that paid no ante.
        stacks: chips the seats had before the antes, at table stakes (6.7); empty on credit.
    """

    rules: Rules
    dealer: int
    deck: tuple[str, ...]
    actions: tuple[str, ...] = ()
    carry: int = 0
    exempt: tuple[int, ...] = ()
    stacks: tuple[int, ...] = ()

    @staticmethod
    def of_table(rules: Rules, opening: np.record, action_ids: Sequence[int] = ()) -> "DealRecord":
        """The record of a deal that was played by action ids.

        Args:
            rules: the house rules.
            opening: the table as it was dealt, a record of dtype `TABLE`.
            action_ids: the actions taken since, `FORFEIT` for a deal forfeited.
        """
        deck = [int(to_real(int(card), opening.trump_suit)) for card in opening.deck[: len(rules.pack)]]
        seats = range(rules.num_players)
        exempt = tuple(seat for seat in seats if int(opening.exempt) >> seat & 1)
        at_table_stakes = rules.stacks == "table_stakes"  # the antes have been paid from the stacks already
        stacks = tuple(int(opening.stacks[seat] - opening.returns[seat]) for seat in seats) if at_table_stakes else ()
        names = tuple(card_text(card, rules.rank_names) for card in deck)
        dealt = DealRecord(rules, int(opening.dealer), names, (), int(opening.carry), exempt, stacks)
        tables = dealt.begin()
        texts = []
        for action in action_ids:
            texts.append(FORFEIT_TEXT if action == FORFEIT else action_text(rules, tables.records[0], action))
            _take(tables, texts[-1])
        return dataclasses.replace(dealt, actions=tuple(texts))

    def begin(self) -> Tables:
        """A table at which this deal has just begun.

        Raises:
            BourreError: the deck, the dealer or the chips make no deal.
        """
        if not all(0 <= seat < self.rules.num_players for seat in self.exempt):
            raise NotationError(f"exempt names {self.exempt}; seats are 0..{self.rules.num_players - 1}")
        tables = Tables(self.rules, 1)
        deck = [[card_id(text, self.rules.rank_names) for text in self.deck]]
        exempt = np.isin(np.arange(self.rules.num_players), self.exempt)[None]
        stacks = [self.stacks] if self.stacks else None
        tables.deal(np.array(deck), self.dealer, carry=self.carry, exempt=exempt, stacks=stacks)
        return tables

    def replay(self) -> Iterator[Snapshot]:
        """The table before the first action and after each one.

        Raises:
            NotationError: an action the rules forbid; the message names its place.
        """
        tables = self.begin()
        yield tables.snapshot(0)
        for number, text in enumerate(self.actions, 1):
            try:
                _take(tables, text)
            except BourreError as error:
                raise NotationError(f"action {number} of the deal ({text!r}) breaks the rules: {error}") from None
            yield tables.snapshot(0)


def _take(tables: Tables, text: str) -> None:
    """Take the action a text names, at the first table."""
    if text == FORFEIT_TEXT:
        tables.forfeit([0])
    else:
        tables.step(np.array([action_id(tables.rules, tables.records[0], text)]))


def write(deals: DealRecord | list[DealRecord]) -> str:
    """The text of one deal or of several deals under the same rules.

    Raises:
        NotationError: no deal, deals under different rules, or a deal that breaks the rules.
    """
    records = [deals] if isinstance(deals, DealRecord) else list(deals)
    if not records or any(record.rules != records[0].rules for record in records):
        raise NotationError("a record needs at least one deal, and all its deals under the same rules")
    lines = [HEADER, _rules_line(records[0].rules), f"fingerprint {records[0].rules.fingerprint}"]
    for number, record in enumerate(records, 1):
        lines += ["", f"deal {number}", *_deal_lines(record)]
    return "\n".join(lines) + "\n"


def _rules_line(rules: Rules) -> str:
    """The rules as changes from the `pagat` preset."""
    changes = {
        field.name: getattr(rules, field.name)
        for field in dataclasses.fields(rules)
        if field.name == "num_players" or getattr(rules, field.name) != field.default
    }
    return " ".join(
        ["rules pagat", *(f"{name}={json.dumps(value, separators=(',', ':'))}" for name, value in changes.items())]
    )


def _deal_lines(record: DealRecord) -> list[str]:
    """The lines of one deal, from `dealer` to `chips`."""
    snapshots = list(record.replay())
    first, last = snapshots[0], snapshots[-1]
    stacks = "  stacks " + " ".join(map(str, record.stacks)) if record.stacks else ""
    lines = [f"dealer {record.dealer}  carry {record.carry}  exempt {_seats(record.exempt)}{stacks}"]
    for start in range(0, len(record.deck), CARDS_IN_LINE):
        lines.append(" ".join(["deck", *record.deck[start : start + CARDS_IN_LINE]]))
    lines.append(f"turn-up {first.turn_up}  trumps {first.trump_suit}")
    trick: list[str] = []
    for before, after, text in zip(snapshots, snapshots[1:], record.actions, strict=False):
        if text == FORFEIT_TEXT:
            lines += [*([_trick_line(before, trick)] if trick else []), f"{before.seat} forfeits"]
            trick = []
        elif before.phase != "play":
            lines.append(_declaration_line(before, after, text))
        else:
            trick.append(f"{before.seat}:{text}")
        if sum(after.tricks_won) > sum(before.tricks_won):
            lines.append(_trick_line(before, trick) + f"  won by {_winner(before, after)}")
            trick = []
    if trick:
        lines.append(_trick_line(last, trick))
    if last.phase == "settled":
        lines.append(_chips_line(last))
    return lines


def _declaration_line(before: Snapshot, after: Snapshot, text: str) -> str:
    """What a seat declared or drew."""
    if text == PASS_TEXT:
        return f"{before.seat} passes"
    discards = text.split()[1:]
    verb = "draws" if before.phase == "draw" else "stays"
    if not discards:
        return f"{before.seat} {verb}"
    kept = set(before.hands[before.seat]) - set(discards)
    drawn = [card for card in after.hands[before.seat] if card not in kept]
    return f"{before.seat} {verb}, {' '.join(discards)} for {' '.join(drawn)}"


def _trick_line(table: Snapshot, trick: list[str]) -> str:
    """The cards of a trick in the order played."""
    return f"trick {sum(table.tricks_won) + 1}  {' '.join(trick)}"


def _winner(before: Snapshot, after: Snapshot) -> int:
    """The seat that won the trick between two snapshots."""
    return next(seat for seat, won in enumerate(after.tricks_won) if won > before.tricks_won[seat])


def _chips_line(table: Snapshot) -> str:
    """The settlement."""
    exempt = tuple(seat for seat, flag in enumerate(table.exempt) if flag)
    return f"chips {' '.join(f'{chips:+d}' for chips in table.chips)}  carry {table.carry}  exempt {_seats(exempt)}"


def _seats(seats: tuple[int, ...]) -> str:
    """Seats as text."""
    return ",".join(map(str, seats)) or "none"


# --- reading ---

_FIRST = re.compile(r"dealer (\d+)  carry (\d+)  exempt (none|[\d,]+)(?:  stacks (\d+(?: \d+)*))?")
_DECLARED = re.compile(r"(\d+) (passes|forfeits|stays|draws)(?:, ((?:\w\w )+)for (?:\w\w ?)+)?")
_TRICK = re.compile(r"trick \d+  ((?:\d+:\w\w ?)+?)(?:  won by \d+)?")


def parse(text: str) -> list[DealRecord]:
    """The deals of a record, checked against the rules and against what the record itself says.

    Raises:
        NotationError: the text is no record, breaks the rules or contradicts itself; the message names the line.
    """
    lines = text.splitlines()
    if lines[:1] != [HEADER]:
        raise NotationError(f"line 1: a record begins with {HEADER!r}")
    rules = _parse_rules(lines)
    starts = [number for number, line in enumerate(lines) if line.startswith("deal ")]
    if not starts:
        raise NotationError("the record has no deal; a deal begins with a line such as 'deal 1'")
    records = [
        _parse_deal(rules, lines[start + 1 : end], start + 2)
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True)
    ]
    _compare(text, write(records))
    return records


def _parse_rules(lines: list[str]) -> Rules:
    """The rules of a record, from its second line."""
    words = lines[1].split() if len(lines) > 1 else []
    if words[:2] != ["rules", "pagat"]:
        raise NotationError("line 2: the rules are written as 'rules pagat' and the fields that differ")
    changes = {}
    for word in words[2:]:
        name, _, value = word.partition("=")
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            raise NotationError(f"line 2: {word!r} is not a field and its value") from None
        changes[name] = tuple(parsed) if isinstance(parsed, list) else parsed
    try:
        return Rules.preset("pagat", **changes)
    except RulesError as error:
        raise NotationError(f"line 2: {error}") from None


def _parse_deal(rules: Rules, lines: list[str], first_line: int) -> DealRecord:
    """One deal; `first_line` is the number of its first line in the text."""
    opening = _FIRST.fullmatch(lines[0]) if lines else None
    if not opening:
        expected = "dealer SEAT  carry CHIPS  exempt SEATS" + "  stacks CHIPS …" * (rules.stacks == "table_stakes")
        raise NotationError(f"line {first_line}: expected '{expected}'")
    deck: list[str] = []
    actions: list[str] = []
    for number, line in enumerate(lines[1:], first_line + 1):
        if line.startswith("deck "):
            deck += line.split()[1:]
        elif line and not line.startswith(("turn-up ", "chips ")):
            actions += _parse_actions(line, number)
    try:
        exempt = () if opening[3] == "none" else tuple(int(seat) for seat in opening[3].split(",") if seat)
        stacks = tuple(map(int, (opening[4] or "").split()))
        record = DealRecord(rules, int(opening[1]), tuple(deck), tuple(actions), int(opening[2]), exempt, stacks)
        record.begin()
    except (BourreError, ValueError) as error:
        raise NotationError(f"line {first_line}: this is no deal: {error}") from None
    return record


def _parse_actions(line: str, number: int) -> list[str]:
    """The actions that one line tells of."""
    if declared := _DECLARED.fullmatch(line):
        if declared[2] in ("passes", "forfeits"):
            return [PASS_TEXT if declared[2] == "passes" else FORFEIT_TEXT]
        return [" ".join([STAY_TEXT, *(declared[3] or "").split()])]
    if trick := _TRICK.fullmatch(line):
        return [play.split(":")[1] for play in trick[1].split()]
    raise NotationError(f"line {number}: {line!r} is neither a declaration, a draw nor a trick")


def _compare(given: str, correct: str) -> None:
    """Refuse a record that says something else than what follows from its deck and actions."""
    pairs = itertools.zip_longest(given.rstrip().splitlines(), correct.splitlines())
    is_settled = False
    for number, (line, expected) in enumerate(pairs, 1):
        if line is None or line.rstrip() != expected:
            raise NotationError(f"line {number}: {_difference(line, expected, is_settled)}")
        is_settled = line.startswith("chips ")


def _difference(line: str | None, expected: str | None, is_settled: bool) -> str:
    """What is wrong with a line; None stands for a text that has ended, `is_settled` for the line before."""
    if line is None:
        return "the record ends too early"
    if line.startswith("chips ") and not is_settled and not (expected or "").startswith("chips "):
        return "the record ends in mid-deal: a declaration, a draw or a trick is missing before the chips"
    if expected is None:
        return "the record goes on after its end"
    return f"it says {line!r}, but by the rules it is {expected!r}"
