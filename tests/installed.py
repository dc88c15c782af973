"""Play through every front door of an installed package, in an environment with nothing else: `make test-install`.

Run it outside the repository, with the Python that has the package.
"""

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import gymnasium
import numpy as np
import pettingzoo

import bourre_env

HERE = Path(__file__).resolve().parent.parent


def main() -> int:
    """Complain and exit with 1 at the first thing that is not as it should be."""
    package = Path(bourre_env.__file__).resolve()
    assert package.parent != HERE / "bourre_env", f"{package} is the source tree, not an installed package"
    assert (package.parent / "py.typed").is_file(), "py.typed is not in the wheel"
    command = [sys.executable, "-W", "error", "-c", "import bourre_env"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), f"the import is not silent: {done}"

    has_registry = hasattr(pettingzoo, "make")  # from 1.27 on
    env = pettingzoo.make("aec", "bourre/bourre-v0", num_players=3) if has_registry else bourre_env.env(num_players=3)
    env.reset(seed=1)
    for _ in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        env.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
    one = gymnasium.make("bourre_env/Bourre-v0", opponents="heuristic")
    _, info = one.reset(seed=1)
    one.step(int(info["action_mask"].argmax()))
    many = gymnasium.make_vec("bourre_env/Bourre-v0", num_envs=8)
    _, infos = many.reset(seed=1)
    for _ in range(20):
        *_, infos = many.step(infos["action_mask"].argmax(axis=1))
    tables = bourre_env.Tables(bourre_env.Rules.preset("pagat_limit", num_players=5), 16)
    tables.deal(bourre_env.shuffled_decks(1, range(16)), 0)
    while not tables.settled.all():
        tables.step(tables.legal_action_mask().argmax(axis=1))
    chips = tables.returns.sum(axis=1) + tables.carry
    assert not np.any(chips), "chips do not add up"
    hands = bourre_env.EuchreTables(bourre_env.EuchreRules(), 16)
    hands.deal(bourre_env.shuffled_decks(1, range(16), pack=hands.rules.pack), 0)
    while not hands.settled.all():
        hands.step(hands.legal_action_mask().argmax(axis=1))
    assert not np.any(hands.returns.sum(axis=1)), "points do not add up"
    hands = bourre_env.PinochleTables(bourre_env.PinochleRules(), 16)
    hands.deal(bourre_env.shuffled_decks(1, range(16), pack=hands.rules.pack), 0)
    while not hands.settled.all():
        hands.step(hands.legal_action_mask().argmax(axis=1))
    assert not np.any(hands.returns.sum(axis=1)), "points of Pinochle do not add up"
    for game in (bourre_env.euchre_env(episode="game"), bourre_env.pinochle_env()):
        game.reset(seed=1)
        for _ in game.agent_iter():
            observation, _, terminated, truncated, _ = game.last()
            game.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
    patience = gymnasium.make("bourre_env/Bureau-v0", max_steps=50)
    _, info = patience.reset(seed=1)
    over = False
    while not over:
        _, _, terminated, truncated, info = patience.step(int(info["action_mask"].argmax()))
        over = terminated or truncated
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "numba", "gymnasium", "pettingzoo"))
    print(f"bourre-env {metadata.version('bourre-env')} works with {versions}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
