"""What users hand to the environment of Bourré, checked: the rules, the options of `reset`, chips to begin with."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bourre_env.bourre.rules import BUY_IN, MAX_CHIPS, Rules
from bourre_env.cards import card_id
from bourre_env.env_options import integer, named_options
from bourre_env.errors import DeckError, RulesError

OPTIONS = ("deck", "dealer", "carry", "exempt", "stacks")
DEFAULT_PLAYERS = 4


def rules_of(rules: str | Rules, num_players: int) -> Rules:
    """The rules of an environment, from a preset's name or a value that brings its own number of players."""
    if isinstance(rules, str):
        return Rules.preset(rules, num_players=num_players)
    if not isinstance(rules, Rules):
        raise RulesError(f"rules is {rules!r}; give the name of a preset or a Rules value")
    if rules.num_players != num_players and num_players != DEFAULT_PLAYERS:
        raise RulesError(f"num_players={num_players} contradicts rules.num_players={rules.num_players}")
    return rules


def checked_options(options: dict[str, Any] | None, rules: Rules) -> dict[str, Any]:
    """The options of `reset` with the deck as ids, each checked."""
    chosen = named_options(options, OPTIONS)
    if chosen.get("deck") is None:
        chosen.pop("deck", None)
    else:
        chosen["deck"] = _deck_of_texts(chosen["deck"], rules)
    if chosen.get("stacks") is not None:
        chosen["stacks"] = _chips_of_seats(chosen["stacks"], rules)
    return {name: value for name, value in chosen.items() if value is not None}


def _deck_of_texts(texts: Any, rules: Rules) -> NDArray[np.int8]:
    """[C] ids of a deck written as card texts."""
    try:
        return np.array([card_id(text, rules.rank_names) for text in texts], np.int8)
    except (ValueError, TypeError) as error:
        raise DeckError(f"options['deck']: {error}") from None


def _chips_of_seats(stacks: Any, rules: Rules) -> NDArray[np.int64]:
    """[1, N] chips of the seats at table stakes (6.7)."""
    if rules.stacks == "credit":
        raise ValueError("options['stacks'] has no meaning under rules with stacks='credit' (rule 6.7); leave it out")
    chips = [integer(stack) for stack in stacks] if isinstance(stacks, Iterable) else []
    if len(chips) != rules.num_players or any(stack is None or not 0 <= stack <= MAX_CHIPS for stack in chips):
        raise ValueError(
            f"options['stacks'] is {stacks!r}; it must be a list of chips from 0 to {MAX_CHIPS}, "
            f"one number for each of the {rules.num_players} seats"
        )
    return np.array([chips], np.int64)


def stacks_bought(buy_in: object, rules: Rules, number: int = 1) -> NDArray[np.int64] | None:
    """[k, N] chips of k deals in which each seat has `buy_in` antes (`BUY_IN` when None); None on credit."""
    if rules.stacks == "credit":
        if buy_in is not None:
            raise RulesError(f"buy_in={buy_in!r} has no meaning under rules with stacks='credit' (rule 6.7)")
        return None
    antes, most = BUY_IN if buy_in is None else integer(buy_in), MAX_CHIPS // rules.ante
    if antes is None or not 1 <= antes <= most:
        raise ValueError(f"buy_in is {buy_in!r}; it must be an integer from 1 to {most}: antes, not chips")
    return np.full((number, rules.num_players), antes * rules.ante, np.int64)


def seat_flags(seats: Any, num_players: int) -> NDArray[np.bool_]:
    """[1, N] bool, True for the seats named."""
    flags = np.zeros((1, num_players), np.bool_)
    if not isinstance(seats, Iterable) or isinstance(seats, str):
        raise ValueError(f"options['exempt'] is {seats!r}; it must be a list of seats")
    for seat in seats:
        number = integer(seat)
        if number is None or not 0 <= number < num_players:
            raise ValueError(f"options['exempt'] names seat {seat!r}; seats are 0..{num_players - 1}")
        flags[0, number] = True
    return flags
