"""OpenSpiel: random deals of the full game beside the environment, then CFR+ on a game small enough to be solved.

    pip install "bourre-env[openspiel]"
    python examples/openspiel_cfr.py --deals 200 --iterations 10

Prints the illegal actions met (0) and the exploitability of the average strategy.
"""

import argparse
from collections.abc import Sequence

import numpy as np
import pyspiel

import bourre_env
import bourre_env.openspiel  # makes "python_bourre" known to OpenSpiel

SMALL_GAME = "python_bourre(rules=reduced_2p2c,play_forced=True)"


def play_beside_the_environment(deals: int, seed: int) -> int:
    """Play random deals in OpenSpiel and in the environment at once.

    Args:
        deals: how many; at most 256, since only the last digit of a pack's number is varied here.
        seed: of the packs and of the actions.

    Returns:
        Actions that OpenSpiel calls legal and the environment does not.
    """
    game = pyspiel.load_game("python_bourre", {"seed": seed})
    env = bourre_env.raw_env()
    rng = np.random.default_rng(seed)
    illegal = 0
    for number in range(deals):
        state = game.new_initial_state()
        for digit in (0, 0, 0, number):  # chance writes the number of the pack
            state.apply_action(digit)
        env.reset(seed=seed if number == 0 else None, options={"dealer": game.num_players() - 1})
        while not state.is_terminal():
            legal = state.legal_actions()
            illegal += sum(1 - env.observe(env.agent_selection)["action_mask"][legal])
            action = int(rng.choice(legal))
            state.apply_action(action)
            env.step(action)
        if state.returns() != list(env.rewards.values()):
            raise AssertionError(f"deal {number}: OpenSpiel pays {state.returns()}, the environment {env.rewards}")
    return int(illegal)


def solve(game_name: str, iterations: int) -> tuple[float, list[float]]:
    """CFR+ on a small game.

    Returns:
        The exploitability of the average strategy in chips (NashConv over the number of players), and what each
        player gets when all follow it.
    """
    # The tree is walked once in Python; from then on OpenSpiel's own copy of it is used.
    game = pyspiel.convert_to_cached_tree(pyspiel.load_game(game_name))
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    strategy = solver.average_policy()
    values = pyspiel.expected_returns(game.new_initial_state(), strategy, -1, False)
    return pyspiel.exploitability(game, strategy), values


def main(arguments: Sequence[str] | None = None) -> tuple[int, float]:
    """Run the example; returns the illegal actions and the exploitability."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=200, help="random deals of the full game (at most 256)")
    parser.add_argument("--iterations", type=int, default=10, help="iterations of CFR+; 256 give less than 0.0001")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--game", default=SMALL_GAME, help="the game that CFR+ solves")
    chosen = parser.parse_args(arguments)
    illegal = play_beside_the_environment(chosen.deals, chosen.seed)
    print(f"{chosen.deals} deals beside the environment, illegal actions: {illegal}", flush=True)
    exploitability, values = solve(chosen.game, chosen.iterations)
    print(f"{chosen.game} after {chosen.iterations} iterations of CFR+:")
    print(f"exploitability {exploitability:.5f} chips, values {' '.join(f'{value:+.4f}' for value in values)}")
    return illegal, exploitability


if __name__ == "__main__":
    main()
