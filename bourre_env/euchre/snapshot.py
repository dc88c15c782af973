"""One table in words people use: cards, seats, points. For people, tests and logs; never for policies."""

from dataclasses import dataclass

import numpy as np

from bourre_env.cards import cards_in
from bourre_env.euchre.cards import NO_CARD, NO_SUIT, SUIT_NAMES, card_text, card_texts
from bourre_env.euchre.dealing import UP_CARD_PLACE
from bourre_env.euchre.rules import NUM_SEATS, EuchreRules
from bourre_env.euchre.table import CALL_BITS, CALL_PASS, CALL_SUIT, CALL_TURN_DOWN, NO_SEAT, PHASE_NAMES, SETTLED


@dataclass(frozen=True, slots=True)
class EuchreSnapshot:
    """A table at one moment, hidden cards included.

    Attributes:
        phase: "blind", "bid1", "discard", "bid2", "alone", "play" or "settled".
        dealer: the dealer's seat.
        seat: the seat to act; -1 when settled.
        hands: each seat's cards, ascending by id.
        up_card: the card turned up.
        calls: (seat, words) of the calls so far: "pass", "name_H", "turn_down".
        trump_suit: C, D, H or S; empty until trumps are named.
        maker: the seat that named trumps; -1 before.
        taker: the seat that took the up-card; -1 if nobody did.
        shed: the card it laid away; empty if none.
        unused: cards nobody was dealt, the up-card left out.
        alone: seats that play alone.
        out: their partners.
        with_partner: seats that were asked and play with their partners.
        leader: the seat that leads or led to the current trick; -1 before the play.
        trick: (seat, card) pairs on the table in the order played; empty on lead.
        tricks_won: tricks of each seat.
        tricks: tricks of each side.
        points: of each side in this hand.
        score: of each side in the game, this hand included once it is settled.
        returns: of each seat: own side's points less the other's.
        forfeited: the seat that ended the hand by a forfeit (E6.2); -1 otherwise.
        hand_index: number of the hand in its episode.
    """

    phase: str
    dealer: int
    seat: int
    hands: tuple[tuple[str, ...], ...]
    up_card: str
    calls: tuple[tuple[int, str], ...]
    trump_suit: str
    maker: int
    taker: int
    shed: str
    unused: tuple[str, ...]
    alone: tuple[int, ...]
    out: tuple[int, ...]
    with_partner: tuple[int, ...]
    leader: int
    trick: tuple[tuple[int, str], ...]
    tricks_won: tuple[int, ...]
    tricks: tuple[int, int]
    points: tuple[int, int]
    score: tuple[int, int]
    returns: tuple[int, ...]
    forfeited: int = NO_SEAT
    hand_index: int = 0


def snapshot(rules: EuchreRules, table: np.record) -> EuchreSnapshot:
    """The snapshot of a record of dtype `TABLE`."""
    won = tuple(int(number) for number in table.tricks_won)
    unused = [int(card) for card in table.deck[UP_CARD_PLACE + 1 : len(rules.pack)]]
    return EuchreSnapshot(
        phase=PHASE_NAMES[table.phase],
        dealer=int(table.dealer),
        seat=int(table.to_act),
        hands=tuple(card_texts(hand) for hand in table.hands),
        up_card=card_text(int(table.up_card)),
        calls=_calls(table),
        trump_suit=SUIT_NAMES[table.trump_suit] if table.trump_suit != NO_SUIT else "",
        maker=int(table.maker),
        taker=int(table.taker),
        shed="".join(card_texts(table.shed)),
        unused=tuple(card_text(card) for card in sorted(unused) if card != NO_CARD),
        alone=_seats(table.alone),
        out=_seats(table.out),
        with_partner=_seats(table.asked & ~table.alone),
        leader=int(table.leader),
        trick=cards_on_table(table),
        tricks_won=won,
        tricks=(won[0] + won[2], won[1] + won[3]),
        points=(int(table.points[0]), int(table.points[1])),
        score=(int(table.score[0]), int(table.score[1])),
        returns=tuple(int(points) for points in table.returns),
        forfeited=int(table.forfeited),
    )


def _seats(mask: np.uint8) -> tuple[int, ...]:
    """The seats in a mask."""
    return tuple(seat for seat in range(NUM_SEATS) if int(mask) >> seat & 1)


def _calls(table: np.record) -> tuple[tuple[int, str], ...]:
    """(seat, words) of the calls, the first of the eldest."""
    said = [cards_in(int(table.calls) >> CALL_BITS * call)[0] for call in range(table.num_calls)]
    return tuple(((int(table.dealer) + 1 + place) % NUM_SEATS, _call_text(call)) for place, call in enumerate(said))


def _call_text(call: int) -> str:
    """A call in words."""
    if call in (CALL_PASS, CALL_TURN_DOWN):
        return "pass" if call == CALL_PASS else "turn_down"
    return f"name_{SUIT_NAMES[call - CALL_SUIT]}"


def cards_on_table(table: np.record) -> tuple[tuple[int, str], ...]:
    """(seat, card) of the current trick in the order played."""
    if table.phase == SETTLED or table.leader == NO_SEAT:
        return ()
    trick = int(table.tricks[table.tricks_done])
    clockwise = [(int(table.leader) + step) % NUM_SEATS for step in range(NUM_SEATS)]
    pairs = [(seat, card) for seat in clockwise for card in cards_in(trick & int(table.played[seat]))]
    return tuple((seat, card_text(card)) for seat, card in pairs)
