"""One table in words people use: real cards, seats, chips. For people, tests and logs; never for policies."""

from dataclasses import dataclass

import numpy as np

from bourre_env.bourre.rules import Rules
from bourre_env.bourre.table import NO_SEAT, NO_SUIT, PHASE_NAMES, SETTLED, in_mask
from bourre_env.cards import SUIT_NAMES, card_text, cards_in, to_real


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A table at one moment, hidden cards included.

    Attributes:
        phase: "declare", "draw", "play" or "settled".
        dealer: the dealer's seat.
        seat: the seat to act; -1 when settled.
        hands: each seat's cards, ascending by real id; empty for a seat that has passed.
        trump_suit: C, D, H or S.
        turn_up: the card turned up.
        trick: (seat, card) pairs on the table in the order played; empty on lead.
        tricks_won: tricks of each seat.
        stayed: whether each seat has stayed.
        passed: whether each seat has passed.
        num_discards: cards each seat has thrown away.
        pot: chips in the pot; 0 when settled.
        carry: before settlement what the deal began with, after it what lies in the pot before the next antes.
        exempt: before settlement who paid no ante, after it who skips the next.
        chips: chips each seat has won or lost, in this deal or, in an environment, in the episode so far.
        deal_index: number of the deal in its episode.
        stacks: chips each seat can still pay, at table stakes (6.7); empty on credit.
        bourre: after settlement who went bourré (6.3), or forfeited the deal (7.2); nobody before it.
    """

    phase: str
    dealer: int
    seat: int
    hands: tuple[tuple[str, ...], ...]
    trump_suit: str
    turn_up: str
    trick: tuple[tuple[int, str], ...]
    tricks_won: tuple[int, ...]
    stayed: tuple[bool, ...]
    passed: tuple[bool, ...]
    num_discards: tuple[int, ...]
    pot: int
    carry: int
    exempt: tuple[bool, ...]
    chips: tuple[int, ...]
    deal_index: int = 0
    stacks: tuple[int, ...] = ()
    bourre: tuple[bool, ...] = ()


def snapshot(rules: Rules, table: np.record) -> Snapshot:
    """The snapshot of a record of dtype `TABLE`."""
    seats = range(rules.num_players)
    return Snapshot(
        phase=PHASE_NAMES[table.phase],
        dealer=int(table.dealer),
        seat=int(table.to_act),
        hands=tuple(real_cards(rules, table, table.hands[seat]) for seat in seats),
        trump_suit=SUIT_NAMES[table.trump_suit],
        turn_up=_text(rules, table, int(table.turn_up)),
        trick=cards_on_table(rules, table),
        tricks_won=tuple(int(table.tricks_won[seat]) for seat in seats),
        stayed=_flags(table.stayed, rules),
        passed=_flags(table.passed, rules),
        num_discards=tuple(int(table.num_discards[seat]) for seat in seats),
        pot=int(table.pot),
        carry=int(table.carry),
        exempt=_flags(table.exempt, rules),
        chips=tuple(int(table.returns[seat]) for seat in seats),
        stacks=tuple(int(table.stacks[seat]) for seat in seats) if rules.stacks == "table_stakes" else (),
        bourre=tuple(_is_bourre(rules, table, seat) for seat in seats),
    )


def _is_bourre(rules: Rules, table: np.record, seat: int) -> bool:
    """Whether a seat ended the deal as a bourré."""
    if table.phase != SETTLED:
        return False
    if table.forfeited != NO_SEAT:
        return bool(seat == table.forfeited)
    was_played = table.tricks_done == rules.hand_size
    return bool(was_played and in_mask(table.stayed, seat) and table.tricks_won[seat] == 0)


def real_cards(rules: Rules, table: np.record, cards: int | np.uint64) -> tuple[str, ...]:
    """Texts of a set of relative cards, ascending by real id."""
    real = sorted(int(to_real(card, table.trump_suit)) for card in cards_in(cards))
    return tuple(card_text(card, rules.rank_names) for card in real)


def cards_on_table(rules: Rules, table: np.record) -> tuple[tuple[int, str], ...]:
    """(seat, card) of the current trick in the order played."""
    if table.phase == SETTLED or table.led_suit == NO_SUIT or table.leader == NO_SEAT:
        return ()
    trick = int(table.tricks[table.tricks_done])
    clockwise = [(int(table.leader) + step) % rules.num_players for step in range(rules.num_players)]
    pairs = [(seat, card) for seat in clockwise for card in cards_in(trick & int(table.played[seat]))]
    return tuple((seat, _text(rules, table, card)) for seat, card in pairs)


def _text(rules: Rules, table: np.record, card: int) -> str:
    """Text of one relative card."""
    return card_text(int(to_real(card, table.trump_suit)), rules.rank_names)


def _flags(mask: np.uint8, rules: Rules) -> tuple[bool, ...]:
    """A mask of seats, one flag a seat."""
    return tuple(bool(int(mask) >> seat & 1) for seat in range(rules.num_players))
