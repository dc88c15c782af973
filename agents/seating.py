"""Who sits where: people and policies, from the words of a command line."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents.policy import Policy, check_rules, load_policy
from bourre_env.bourre.rules import Rules
from bourre_env.errors import RulesError

PERSON = "human"  # the spec of a person's seat


@dataclass(frozen=True, slots=True)
class Seat:
    """Who sits in a seat.

    Attributes:
        name: what the others call it.
        policy: what plays there; None for a person.
        spec: what `load_policy` loads, or "human".
    """

    name: str
    policy: Policy | None = None
    spec: str = PERSON


def seats_of(specs: Sequence[str], rules: Rules) -> list[Seat]:
    """Seats from words, SPEC or NAME=SPEC; "human" is a person, and each name is made unlike the others.

    Raises:
        PolicyError: a policy that cannot be loaded, or cannot play by the rules.
        RulesError: not one word a seat.
    """
    if len(specs) != rules.num_players:
        raise RulesError(f"{len(specs)} seats are named; the rules are for {rules.num_players}")
    loaded: dict[str, Policy] = {}
    seats: list[Seat] = []
    for text in specs:
        name, spec = name_and_spec(text)
        if spec != PERSON and spec not in loaded:
            loaded[spec] = load_policy(spec)
            check_rules(loaded[spec], rules)
        taken = {seat.name for seat in seats}
        seats.append(Seat(_unlike(name, taken), loaded.get(spec), spec))
    return seats


def name_and_spec(text: str) -> tuple[str, str]:
    """The two halves of NAME=SPEC; a spec alone names itself, a person is "You"."""
    name, equals, spec = text.partition("=")
    if equals and name and spec and ":" not in name and "/" not in name:
        return name, spec
    return ("You" if text == PERSON else text), text


def _unlike(name: str, taken: set[str]) -> str:
    """A name with a number behind it, where it is taken."""
    numbered = (f"{name} {number}" for number in range(2, len(taken) + 3))
    return name if name not in taken else next(other for other in numbered if other not in taken)
