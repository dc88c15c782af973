"""One table in words people use: cards, seats, points. For people, tests and logs; never for policies."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.cards import cards_in
from bourre_env.pinochle.cards import NO_CARD, NO_SUIT, SUIT_NAMES, kind_text, kind_texts, texts
from bourre_env.pinochle.melds import melds_in_words
from bourre_env.pinochle.rules import NUM_SEATS, PinochleRules
from bourre_env.pinochle.scoring import winner_of_game
from bourre_env.pinochle.table import NO_BID, NO_SEAT, PHASE_NAMES

Seats = tuple[int, ...]
Cards = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PinochleSnapshot:
    """A table at one moment, hidden cards included.

    Attributes:
        phase: "bid", "trump", "exchange", "play" or "settled".
        dealer: the dealer's seat.
        seat: the seat to act; -1 when settled.
        hands: each seat's cards, ascending by id, twins side by side.
        calls: (seat, words) of the calls so far: "pass" and bids such as "bid_25".
        high_bid: points of the high bid; 0 before one is made.
        high_bidder: whose it is, the declarer once the auction is over; -1 before one is made.
        passed: seats that have passed.
        trump_suit: C, D, H or S; empty until trumps are named.
        sent: cards that each seat gave its partner.
        melds: each seat's melds as (name, points).
        melded: the cards shown in them.
        meld_points: their points by seat.
        exposed: kinds that each seat played against the rules and took back (P7.2).
        taken_back: the one that the seat to act has just taken back; empty if none.
        leader: the seat that leads or led to the current trick; -1 before the play.
        trick: (seat, card) pairs on the table in the order played; empty on lead.
        tricks_won: tricks of each seat.
        tricks: tricks of each side.
        piles: cards that each side has won.
        trick_points: points of each side's tricks.
        points: what the hand changed in the score of each side.
        score: of each side in the game, this hand included once it is settled.
        winner: the side that has won the game with this hand; -1 while it goes on (P6.4).
        returns: of each seat: change of the own side's score less that of the other's.
        forfeited: the seat that ended the hand by a forfeit (P7.3); -1 otherwise.
        hand_index: number of the hand in its episode.
    """

    phase: str
    dealer: int
    seat: int
    hands: tuple[Cards, ...]
    calls: tuple[tuple[int, str], ...]
    high_bid: int
    high_bidder: int
    passed: Seats
    trump_suit: str
    sent: tuple[Cards, ...]
    melds: tuple[tuple[tuple[str, int], ...], ...]
    melded: tuple[Cards, ...]
    meld_points: tuple[int, ...]
    exposed: tuple[Cards, ...]
    taken_back: str
    leader: int
    trick: tuple[tuple[int, str], ...]
    tricks_won: tuple[int, ...]
    tricks: tuple[int, int]
    piles: tuple[Cards, Cards]
    trick_points: tuple[int, int]
    points: tuple[int, int]
    score: tuple[int, int]
    winner: int
    returns: tuple[int, ...]
    forfeited: int = NO_SEAT
    hand_index: int = 0


def snapshot(rules: PinochleRules, table: np.record) -> PinochleSnapshot:
    """The snapshot of a record of dtype `TABLE`."""
    won = _numbers(table.tricks_won)
    return PinochleSnapshot(
        phase=PHASE_NAMES[table.phase],
        dealer=int(table.dealer),
        seat=int(table.to_act),
        hands=_hands(table.hands),
        calls=calls(rules, table),
        high_bid=rules.bid_of(int(table.high_bid)) if table.high_bid != NO_BID else 0,
        high_bidder=int(table.high_bidder),
        passed=tuple(seat for seat in range(NUM_SEATS) if int(table.passed) >> seat & 1),
        trump_suit=SUIT_NAMES[table.trump_suit] if table.trump_suit != NO_SUIT else "",
        sent=_hands(table.sent),
        melds=tuple(_melds(rules, table, seat) for seat in range(NUM_SEATS)),
        melded=_hands(table.melded),
        meld_points=_numbers(table.meld_points),
        exposed=tuple(kind_texts(kinds) for kinds in table.exposed),
        taken_back=_card(table.taken_back),
        leader=int(table.leader),
        trick=cards_on_table(table),
        tricks_won=won,
        tricks=(won[0] + won[2], won[1] + won[3]),
        piles=(texts(table.piles[0]), texts(table.piles[1])),
        trick_points=(int(table.trick_points[0]), int(table.trick_points[1])),
        points=(int(table.points[0]), int(table.points[1])),
        score=(int(table.score[0]), int(table.score[1])),
        winner=winner_of_game(_numbers(table.score), max(0, int(table.high_bidder)) % 2, rules.target),
        returns=_numbers(table.returns),
        forfeited=int(table.forfeited),
    )


def _numbers(row: NDArray[Any]) -> tuple[int, ...]:
    """The numbers of a row as Python's."""
    return tuple(int(number) for number in row)


def _hands(row: NDArray[np.uint64]) -> tuple[Cards, ...]:
    """Sets of cards of each seat in words."""
    return tuple(texts(cards) for cards in row)


def _card(kind: int) -> str:
    """A card, or nothing."""
    return kind_text(int(kind)) if kind != NO_CARD else ""


def _melds(rules: PinochleRules, table: np.record, seat: int) -> tuple[tuple[str, int], ...]:
    """The melds a seat has shown: the cards shown have the same melds as the hand that they are from."""
    if not table.melded[seat]:
        return ()
    melds = melds_in_words(table.melded[seat], int(table.trump_suit), rules.double_royal_marriage, rules.unit)
    return tuple(melds.items())


def calls(rules: PinochleRules, table: np.record) -> tuple[tuple[int, str], ...]:
    """(seat, words) of the calls, the eldest's first: seats call in turn, and who does not bid passes for good."""
    bidders = {level: seat for seat in range(NUM_SEATS) for level in cards_in(table.bids[seat])}
    bids = sorted(bidders)
    was_stuck = len(bids) == 1 and bin(int(table.passed)).count("1") == NUM_SEATS - 1
    seat, passed, said = (int(table.dealer) + 1) % NUM_SEATS, 0, []
    while passed != int(table.passed) or bids:
        if bids and bidders[bids[0]] == seat:
            said.append((seat, f"bid_{rules.bid_of(bids.pop(0))}"))
        elif not passed >> seat & 1:
            passed |= 1 << seat
            said.append((seat, "pass"))
        seat = (seat + 1) % NUM_SEATS
    is_forced = was_stuck and rules.all_pass == "dealer_stuck" and said[-1][1] != "pass"
    return tuple(said[:-1] if is_forced else said)


def cards_on_table(table: np.record) -> tuple[tuple[int, str], ...]:
    """(seat, card) of the current trick in the order played."""
    clockwise = [(int(table.leader) + step) % NUM_SEATS for step in range(NUM_SEATS)]
    return tuple((seat, _card(table.on_table[seat])) for seat in clockwise if table.on_table[seat] != NO_CARD)
