"""The door of all that serves Bourré alone."""

from agents.policy import PolicyError
from bourre_env.bourre.rules import Rules
from bourre_env.family import GameRules, game_of


def bourre_rules(rules: GameRules, name: str) -> Rules:
    """The rules, once they are known to be Bourré's.

    Args:
        rules: of any game.
        name: of the policy that asks.

    Raises:
        PolicyError: rules of another game.
    """
    if not isinstance(rules, Rules):
        raise PolicyError(f"{name} plays {Rules.game} only, not {game_of(rules).name}")
    return rules
