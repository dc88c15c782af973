"""The part of a report that shows the deals which cost each entrant most."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agents.analysis import analyse_deal, judge
from agents.costliest import CostlyDeal, costliest_deals
from agents.frames import frames_of
from agents.frames_analysis import explained, judged_actions
from agents.policy import PolicyError
from agents.recording import NotRecordedError, Recorder
from agents.report_views import positions_at
from agents.results import Results
from agents.search import SearchPolicy
from bourre_env.notation import DealRecord, write

EXPLAINED = (
    "Each deal is compared with what the other entrants made of it in the same seat, with the same pack, against the "
    "same field; where there is nobody to compare with, the loss itself counts. Luck with the cards drawn is part of "
    "it: these are deals worth a look, not proofs of mistakes. All hands are shown."
)


@dataclass(frozen=True, slots=True)
class Judging:
    """Which deals are looked over, and by what.

    Attributes:
        deals: how many of those of each entrant, the costliest first.
        policy: spec of how the others are taken to play, and how all play on.
        worlds: most worlds an action is tried in.
    """

    deals: int
    policy: str
    worlds: int

    def judge(self) -> SearchPolicy:
        """Who looks them over.

        Raises:
            PolicyError: the spec is no policy, or one that search cannot imagine as others.
        """
        return judge(self.policy, self.worlds)

    @property
    def explained(self) -> str:
        """What the values on the page assume."""
        return explained(self.policy, self.worlds)


@dataclass(frozen=True, slots=True)
class ShownDeal:
    """A deal of the report.

    Attributes:
        title: what it cost whom.
        record: the hand record.
        number: of its frames on the page.
    """

    title: str
    record: str
    number: int


@dataclass(frozen=True, slots=True)
class PlayerDeals:
    """The costliest deals of one entrant.

    Attributes:
        name: of the entrant.
        deals: those that could be recorded, the costliest first.
        problems: why others could not.
    """

    name: str
    deals: tuple[ShownDeal, ...]
    problems: tuple[str, ...]


def shown_deals(
    tables: Sequence[Results],
    names: Sequence[str],
    number: int,
    *,
    judging: Judging | None = None,
    report: Callable[[int], None] = lambda done: None,
) -> tuple[list[PlayerDeals], list[dict[str, Any]]]:
    """For each entrant the deals that cost it most at any table size, and the frames of all of them.

    Args:
        tables: results of each table size.
        names: of the entrants.
        number: of deals for each entrant.
        judging: which of them are looked over; None for no deal.
        report: told when a deal has been recorded, and when one has been looked over.

    Raises:
        PolicyError: the policy to judge by cannot be loaded, or not play by the rules.
        PolicyFailedError: it did not answer.
    """
    recorders = [Recorder(results) for results in tables]
    judged_by = None if judging is None else judging.judge()
    frames: list[dict[str, Any]] = []
    players = []
    for name in names:
        deals, problems = [], []
        for table, deal in _costliest(tables, name, number):
            try:
                played = recorders[table].play(deal.seed, deal.line_up, deal.deal_id, deal.rotation)
            except (NotRecordedError, PolicyError) as error:
                problems.append(f"Not shown: {error}.")
                continue
            worst = min(range(len(played)), key=lambda number: played[number].chips[deal.seat])
            record = played[worst].record()
            deals.append(
                ShownDeal(_title(deal, record, worst if len(played) > 1 else None), write(record), len(frames))
            )
            frames.append(frames_of(record, _names_by_seat(deal)))
            report(1)
            if judging is not None and judged_by is not None and len(deals) <= judging.deals:
                frames[-1]["judged"] = judged_actions(analyse_deal(record, judged_by))
                report(1)
        players.append(PlayerDeals(name, tuple(deals), tuple(dict.fromkeys(problems))))
    return players, frames


def _costliest(tables: Sequence[Results], name: str, number: int) -> list[tuple[int, CostlyDeal]]:
    """The costliest deals over all table sizes, each with the number of its table size."""
    found = [(table, deal) for table, results in enumerate(tables) for deal in costliest_deals(results, name, number)]
    return sorted(found, key=lambda item: -item[1].cost)[:number]


def _names_by_seat(deal: CostlyDeal) -> list[str]:
    """Who sat where."""
    size = len(deal.line_up)
    return [deal.line_up[(seat - deal.rotation) % size] for seat in range(size)]


def _title(deal: CostlyDeal, record: DealRecord, number: int | None) -> str:
    """What a deal cost whom; `number` is that of the record in its session, None for a single deal."""
    size = len(deal.line_up)
    position = positions_at(size)[(deal.seat - record.dealer - 1) % size]
    others = ", ".join(dict.fromkeys(name for place, name in enumerate(deal.line_up) if place != deal.place))
    unit = f"deal {deal.deal_id}" if number is None else f"session {deal.deal_id}, its deal {number + 1}"
    against = "" if deal.others is None else f", others {deal.others:+.2f}"
    return (
        f"{deal.antes:+.2f} antes{against}: {unit}, seat {deal.seat} ({position}) of {size} against {others}, "
        f"seed {deal.seed}"
    )
