"""The card of a policy: everything the fixed protocol found, as Markdown and as plain values."""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agents.benchmark import Protocol, Section
from agents.cells import plain_cell, plain_estimate
from agents.entrants import Entrant
from agents.exact import Exploitability
from agents.statistics import Estimate


@dataclass(frozen=True, slots=True)
class Attack:
    """What one seat gains that tries to beat the policy.

    Attributes:
        method: how it tries, in words.
        gain: antes a deal; a lower bound on what a best response would gain.
        control: what the same method gains from a policy that is known to be weak.
    """

    method: str
    gain: Estimate
    control: Estimate


@dataclass(frozen=True, slots=True)
class Card:
    """All results of one policy.

    Attributes:
        subject: the policy.
        digest: of the file that decides how it plays.
        protocol: how much was measured, and on which deals.
        sections: tables of the full game.
        exact: by name of a reduced game; in words why it could not be played.
        is_exact: whether the policy tells its probabilities; otherwise they were estimated.
        attacks: best responses in the full game; a word why there are none.
        command: what to type to get the card again.
        versions: of the libraries it depends on.
    """

    subject: Entrant
    digest: str
    protocol: Protocol
    sections: tuple[Section, ...]
    exact: dict[str, Exploitability | str]
    is_exact: bool
    attacks: tuple[Attack, ...] | str
    command: str
    versions: dict[str, str]


def as_markdown(card: Card) -> str:
    """The card as a Markdown document."""
    return "\n".join(_lines(card)) + "\n"


def _lines(card: Card) -> Iterator[str]:
    """Its lines."""
    yield f"# {card.subject.name}"
    yield ""
    digest = f", digest {card.digest}" if card.digest else ""
    yield f"Policy `{card.subject.spec}`{digest}; {card.protocol.deals} deals. Antes a deal with 95 % intervals:"
    yield "bootstrap over deals that are played from every seat."
    if card.protocol.deviations:
        yield from ["", f"**Not the protocol:** {card.protocol.deviations}."]
    for section in card.sections:
        yield from ["", f"## {section.title}", ""]
        yield from _section(section, card.subject.name) if section.cells else [f"Not played: {section.obstacle}"]
        yield from ["", *(f"- {fault}" for fault in section.faults)] if section.faults else []
    how = "exact" if card.is_exact else "from sampled play, on average too high"
    yield from ["", f"## Reduced games, {how}", "", "| game | NashConv in antes |", "|---|---:|"]
    for name, result in card.exact.items():
        yield f"| {name} | {result if isinstance(result, str) else f'{result.nash_conv:.4f}'} |"
    yield from ["", "## Best responses at four seats", ""]
    if isinstance(card.attacks, str):
        yield card.attacks
    else:
        yield from ["| attack | gains, a lower bound | control: gains from always_stay |", "|---|---:|---:|"]
        for attack in card.attacks:
            yield f"| {attack.method} | {_told(attack.gain)} | {_told(attack.control)} |"
    listed = ", ".join(f"{name} {number}" for name, number in card.versions.items())
    yield from ["", f"`{card.command}`", "", f"Versions: {listed}."]


def _section(section: Section, name: str) -> Iterator[str]:
    """The table of a section: one of the policy against each field, and its field against one of each."""
    own = {cell.field: cell for cell in section.cells if cell.focal == name}
    against = {cell.focal: cell for cell in section.cells if cell.field == name}
    yield "| baseline | one of it against their table | bourré % | passed % | one of them against its table |"
    yield "|---|---:|---:|---:|---:|"
    for baseline, cell in own.items():
        rates = f"{100 * cell.rates['bourre_rate'].mean:.1f} | {100 * cell.rates['pass_rate'].mean:.1f}"
        yield f"| {baseline} | {_told(cell.earned)} | {rates} | {_told(against[baseline].earned)} |"


def _told(found: Estimate) -> str:
    """A mean with its interval."""
    return f"{found.mean:+.3f} ({found.low:+.3f} to {found.high:+.3f})"


def plain_card(card: Card) -> dict[str, Any]:
    """The card as JSON writes it."""
    attacks = card.attacks
    return {
        "subject": {**dataclasses.asdict(card.subject), "digest": card.digest},
        "protocol": {**dataclasses.asdict(card.protocol), "seed": card.protocol.seed},
        "sections": [_plain_section(section) for section in card.sections],
        "exact": {name: result if isinstance(result, str) else result.nash_conv for name, result in card.exact.items()},
        "attacks": attacks
        if isinstance(attacks, str)
        else [
            {"method": attack.method, **plain_estimate(attack.gain), "control": plain_estimate(attack.control)}
            for attack in attacks
        ],
        "command": card.command,
        "versions": card.versions,
    }


def _plain_section(section: Section) -> dict[str, Any]:
    """A section as JSON writes it."""
    cells = [plain_cell(cell) for cell in section.cells]
    return {"title": section.title, "cells": cells, "obstacle": section.obstacle or None, "faults": section.faults}
