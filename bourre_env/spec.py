"""The tables of the specification page, made from the code.

`python -m bourre_env.spec` prints them for any preset and table size; the text of `bourre_env.env` holds those of the
defaults, and a test compares the two.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction

from bourre_env.bourre.actions import num_actions
from bourre_env.bourre.observation import LIMIT_STEPS, POT_STEPS, STACK_STEPS, layout
from bourre_env.bourre.rules import PRESETS, Rules
from bourre_env.errors import RulesError
from bourre_env.streams import run_command


def _steps(numbers: Iterable[Fraction]) -> str:
    """Steps of a scale in words: "1/2, 1, 2"."""
    return ", ".join(map(str, numbers))


MEANINGS = {
    "own_hand": "cards in hand",
    "phase": "declare, draw, play: the one that goes on",
    "led_suit": "the suit led, trumps first; none on lead",
    "tricks_done": "number of tricks finished *",
    "own_dealt": "cards first dealt",
    "dealer": "the dealer, by distance",
    "last_to_play": "nobody plays after this seat in the current trick",
    "pot_over_limit": f"the pot is at least {_steps(Fraction(int(step), 2) for step in LIMIT_STEPS)} limits",
    "own_discards": "cards thrown away, or laid down by passing",
    "exempt": "who paid no ante, by distance",
    "turn_up_gone": "the turn-up is out of play",
    "turn_up": "the card turned up",
    "pot": f"the pot is at least {_steps(Fraction(int(step), 2) for step in POT_STEPS)} antes of the whole table",
    "table_cards": "cards of the current trick",
    "leader": "who leads to the current trick, by distance",
    "seat_exists": "number of seats at the table *",
    "trick_k_ago": "cards of the trick k tricks before, k = 1, 2, …",
    "seat_k_played": "cards played by the seat at distance k, k = 0, 1, …",
    "seat_k_stayed": "it has stayed",
    "seat_k_passed": "it has passed",
    "seat_k_discards": "number of cards it threw away *",
    "seat_k_tricks": "number of tricks it has won *",
    "seat_k_stack": f"it has at least {_steps(Fraction(int(step)) for step in STACK_STEPS)} antes left",
    "seat_k_sits_out": "it had no chips for the ante and must pass",
}
"""What each piece of the observation says. A starred number is a thermometer: bit i is set when it is above i."""

RANK_WORDS = {
    "2": "two",
    "3": "three",
    "4": "four",
    "5": "five",
    "6": "six",
    "7": "seven",
    "8": "eight",
    "9": "nine",
    "T": "ten",
    "J": "jack",
    "Q": "queen",
    "K": "king",
    "A": "ace",
}


def observation_table(rules: Rules) -> str:
    """The pieces of the observation as a Markdown table: name, first index, number of features, meaning."""
    rows = [f"| `{name}` | {first} | {length} | {MEANINGS[name]} |" for name, first, length in _families(rules)]
    size = f"| all | 0 | {layout(rules).size} | for {rules.num_players} seats; indices not named are always 0 |"
    return "\n".join(["| piece | first index | features | says |", "|---|---|---|---|", *rows, size])


def _families(rules: Rules) -> list[tuple[str, str, int]]:
    """Name, first index and length of each piece; those of all seats and of all earlier tricks in one row each."""
    starts: dict[str, dict[int, int]] = {}
    lengths = {}
    for name, piece in layout(rules).segments.items():
        number = re.search(r"_(\d+)_", name)
        family = re.sub(r"_\d+_", "_k_", name)
        starts.setdefault(family, {})[int(number[1]) if number else 0] = piece.start
        lengths[family] = piece.length
    by_index = sorted(starts, key=lambda family: min(starts[family].values()))
    return [(family, _first_index(family, starts[family]), lengths[family]) for family in by_index]


def _first_index(family: str, starts: dict[int, int]) -> str:
    """Where the pieces of a family begin: a number or, when there are several, a formula in k."""
    if "_k_" not in family:
        return str(starts[0])
    numbers = sorted(starts)
    if len(numbers) == 1:
        return str(starts[numbers[0]])
    stride = starts[numbers[1]] - starts[numbers[0]]
    base = starts[numbers[0]] - stride * numbers[0]
    assert all(starts[k] == base + stride * k for k in numbers), family
    return f"{base} + {stride}k"


def actions_table(rules: Rules) -> str:
    """The action ids as a Markdown table: ids, meaning."""
    ranks, cards, last = len(rules.ranks), len(rules.pack), num_actions(rules) - 1
    span = f"{RANK_WORDS[rules.ranks[0]]} to {RANK_WORDS[rules.ranks[-1]]}"
    suits = ["a trump", *(f"a card of the {word} other suit" for word in ("first", "second", "third"))]
    rows = [
        (f"{suit * ranks}-{suit * ranks + ranks - 1}", f"play {suits[suit]}, {span}")
        for suit in range(len(rules.suits))
    ]
    rows += [
        (str(cards), "stay and throw nothing away"),
        (f"{cards + 1}-{last - 1}", f"stay and throw away: bit i of the id less {cards} for the i-th lowest card held"),
        (str(last), "pass"),
    ]
    return "\n".join(["| action | means |", "|---|---|", *(f"| {ids} | {means} |" for ids, means in rows)])


def main(words: Sequence[str] | None = None) -> int:
    """Print the tables; 2 when the rules asked for do not exist."""
    parser = argparse.ArgumentParser(prog="python -m bourre_env.spec", description=__doc__)
    parser.add_argument("--rules", default="pagat", help=f"one of {', '.join(PRESETS)}")
    parser.add_argument(
        "--players", type=int, default=None, help="seats; the fewest of the preset, or four, if left out"
    )
    options = parser.parse_args(words)
    seats = {} if options.players is None else {"num_players": options.players}
    try:
        rules = Rules.preset(options.rules, **seats)
    except RulesError as error:
        print(error, file=sys.stderr)
        return 2
    print(observation_table(rules), actions_table(rules), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
