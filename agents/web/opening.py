"""Setting up the tables of a server: new ones, or those that a restart left on disk."""

import contextlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.journal import ABOUT, Journal, JournalError
from agents.policy import Policy, PolicyFailedError
from agents.sitting import Seat, Sitting
from agents.web.asking import Asker
from agents.web.live import LiveTable, Tokens
from bourre_env.bourre.rules import Rules

TOKEN_BYTES = 16


@dataclass(frozen=True, slots=True)
class Terms:
    """What every table of a server has in common.

    Attributes:
        rules: the house rules.
        seats: who sits where.
        deals: in a session; None for no end.
        buy_in: antes each seat begins with at table stakes.
        pace: seconds between two actions of policies.
        hints: whom people may ask what to do.
    """

    rules: Rules
    seats: tuple[Seat, ...]
    deals: int | None
    buy_in: int | None
    pace: float
    hints: Policy | None


def warm_up(terms: Terms) -> None:
    """Play a deal that nobody sees, so that what is compiled or loaded at first use keeps no player waiting."""
    people = [Seat(f"seat {seat}") for seat in range(terms.rules.num_players)]
    policies = {id(policy): policy for policy in (*(seat.policy for seat in terms.seats), terms.hints) if policy}
    sitting = Sitting(terms.rules, people, seed=0, buy_in=terms.buy_in)
    sitting.deal()
    for policy in policies.values():
        if not sitting.is_settled:
            with contextlib.suppress(PolicyFailedError):  # whoever plays will be told
                sitting.hint(policy)
    while (seat := sitting.turn) is not None:
        sitting.take(seat, sitting.legal()[0]["id"])
        sitting.view(seat)


def new_tokens(seats: Sequence[Seat]) -> Tokens:
    """Fresh secrets: one for each person, one for watchers."""
    people = tuple("" if seat.policy is not None else secrets.token_urlsafe(TOKEN_BYTES) for seat in seats)
    return Tokens(people, secrets.token_urlsafe(TOKEN_BYTES))


def open_table(terms: Terms, asker: Asker, *, seed: int, folder: Path | None = None) -> LiveTable:
    """A table, as it was left when the folder holds one.

    Args:
        terms: what all tables have in common.
        asker: asks the policies.
        seed: of the packs of a new table.
        folder: where the session is written down; None to keep nothing.

    Raises:
        JournalError: the folder holds another session, or is damaged.
        OSError: it cannot be written.
    """
    journal = None if folder is None else Journal(folder)
    if journal is not None and journal.exists:
        sitting = journal.resume(terms.rules, terms.seats, terms.deals)
        try:
            tokens = Tokens.of_plain(journal.about()["extra"], len(terms.seats))
        except ValueError as error:
            raise JournalError(f"{folder}/{ABOUT} is no table's description ({error}); name another folder") from None
    else:
        sitting = Sitting(terms.rules, terms.seats, seed=seed, deals=terms.deals, buy_in=terms.buy_in)
        tokens = new_tokens(terms.seats)
        if journal is not None:
            journal.begin(sitting, tokens.as_plain())
    return LiveTable(sitting, tokens, asker, pace=terms.pace, hints=terms.hints, journal=journal)
