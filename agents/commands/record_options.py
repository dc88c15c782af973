"""Options of the commands that look at recorded deals."""

import argparse

from agents.analysis import WORLDS
from agents.commands.options import BadInputError, Parser, integer
from bourre_env.notation import DealRecord


def add_deal_and_seat(parser: Parser, seat_means: str) -> None:
    """The options that choose a deal of a record and a seat."""
    parser.add_argument("--deal", type=integer(1, None), metavar="N", help="only this deal of the record")
    parser.add_argument("--seat", type=integer(0, None), metavar="S", help=seat_means)


def add_judge(parser: Parser) -> None:
    """The options that say by what decisions are judged."""
    text = "how the others are taken to play, and how all play on: a policy (%(default)s)"
    parser.add_argument("--policy", default="heuristic", metavar="SPEC", help=text)
    text = "most worlds an action is tried in (%(default)s)"
    parser.add_argument("--worlds", type=integer(4, None), default=WORLDS, metavar="N", help=text)


def chosen_deals(records: list[DealRecord], options: argparse.Namespace) -> dict[int, DealRecord]:
    """The deals to look at, by number.

    Raises:
        BadInputError: the record has no such deal or seat.
    """
    seats = records[0].rules.num_players
    if options.seat is not None and options.seat >= seats:
        raise BadInputError(f"--seat {options.seat}: the record has seats 0 to {seats - 1}")
    if options.deal is not None and options.deal > len(records):
        raise BadInputError(f"--deal {options.deal}: the record has deals 1 to {len(records)}")
    numbered = dict(enumerate(records, 1))
    return numbered if options.deal is None else {options.deal: numbered[options.deal]}
