"""A person at the terminal as a policy.

The person sees what any policy sees; suits are named relative to trumps (`agents.wording`).
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from agents.bourre.rules import bourre_rules
from agents.policy import Decision, PolicyFailedError
from agents.wording import action_text, cards_text, legal_texts
from bourre_env.bits import Layout, Segment, legal_bits
from bourre_env.bourre.actions import num_actions
from bourre_env.bourre.observation import layout
from bourre_env.bourre.rules import Rules
from bourre_env.family import GameRules

Row = NDArray[np.uint64]


class Human:
    """Asks whoever sits at the terminal, one decision after the other."""

    name = "human"

    def __init__(self, ask: Callable[[str], str] = input, show: Callable[[str], None] = print) -> None:
        """Talk through the terminal, or through two functions.

        Args:
            ask: shows a prompt and returns the line typed.
            show: shows a text.
        """
        self.ask = ask
        self.show = show

    def check_rules(self, rules: GameRules) -> None:
        """Refuse other games.

        Raises:
            PolicyError: names both.
        """
        bourre_rules(rules, self.name)

    def act(self, decision: Decision, rng: np.random.Generator) -> NDArray[np.int64]:
        """[D] actions."""
        actions = [self._choose(decision, row) for row in range(len(decision))]
        return np.array(actions, np.int64)

    def _choose(self, decision: Decision, row: int) -> int:
        """Show one decision and ask until the answer is a legal action."""
        rules, hand = bourre_rules(decision.rules, self.name), int(decision.packed[row, 0])
        legal = legal_bits(decision.legal_packed[row])
        choices = {_as_key(text): action for action, text in _legal_actions(rules, hand, legal)}
        self.show(describe(rules, decision.packed[row], int(decision.seat[row])))
        self.show(f"You may: {legal_texts(rules, hand, legal)}")
        while True:
            try:
                answer = self.ask("> ")
            except EOFError:
                raise PolicyFailedError("the person at the terminal has left (end of input)") from None
            if _as_key(answer) in choices:
                return choices[_as_key(answer)]
            example = action_text(rules, hand, next(iter(choices.values())))
            self.show(f"{answer!r} is not among these; write for example: {example}")


def describe(rules: Rules, row: Row, seat: int) -> str:
    """What the seat to act may know, in a few lines.

    Args:
        rules: the rules of the table.
        row: [W] uint64 packed observation.
        seat: the seat to act.
    """
    pieces = layout(rules)
    words = row[: pieces.num_words]
    lines = [
        f"Seat {seat}. * is trumps; turned up: {_cards(words, pieces, 'turn_up')}; dealer: {_dealer(words, pieces)}.",
        *(_describe_seat(words, pieces, relative) for relative in range(1, rules.num_players)),
    ]
    if table := _cards(words, pieces, "table_cards"):
        lines.append(f"On the table: {table}")
    won = _count(words, pieces.segments["seat_0_tricks"])
    return "\n".join([*lines, f"Your hand: {_cards(words, pieces, 'own_hand')}; tricks won: {won}"])


def _describe_seat(words: Row, pieces: Layout, relative: int) -> str:
    """One line about another seat."""
    flags = ("stayed", "passed", "discards", "tricks")
    told = {name: _count(words, pieces.segments[f"seat_{relative}_{name}"]) for name in flags}
    if told["passed"]:
        state = "passed"
    elif told["stayed"]:
        played = _cards(words, pieces, f"seat_{relative}_played") or "nothing"
        state = f"stayed, drew {told['discards']}, won {told['tricks']}, played {played}"
    else:
        state = "has not spoken"
    return f"{relative} to your left: {state}"


def _dealer(words: Row, pieces: Layout) -> str:
    """Where the dealer sits."""
    place = _bits(words, pieces.segments["dealer"]).bit_length() - 1
    return "you" if place == 0 else f"{place} to your left"


def _bits(words: Row, piece: Segment) -> int:
    """The bits of a named piece of the observation."""
    return int(words[piece.word]) >> piece.first_bit & ((1 << piece.length) - 1)


def _count(words: Row, piece: Segment) -> int:
    """The number that a thermometer shows."""
    return _bits(words, piece).bit_count()


def _cards(words: Row, pieces: Layout, name: str) -> str:
    """The cards of a named piece of the observation."""
    return cards_text(_bits(words, pieces.segments[name]))


def _legal_actions(rules: Rules, hand: int, legal: int) -> list[tuple[int, str]]:
    """Legal actions and their texts."""
    legal_ids = [action for action in range(num_actions(rules)) if legal >> action & 1]
    return [(action, action_text(rules, hand, action)) for action in legal_ids]


def _as_key(text: str) -> tuple[str, ...]:
    """An answer with the order and the case of its cards made the same."""
    first, *cards = text.lower().split() or [""]
    return (first, *sorted(cards))
