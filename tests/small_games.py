"""Small games to know everything about, each enumerated once a run."""

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.game_tree import GameTree, build_tree
from bourre_env import Rules

SMALL = "reduced_2p2c"
REDUCED = ("reduced_2p2c", "reduced_2p3c", "reduced_3p2c")

TINY: dict[str, Any] = {"ranks": "KA", "max_discards": 0}
"""Changes to the smallest preset that leave four cards, six deals and 22 information sets."""


@functools.cache
def tree_of(name: str) -> GameTree:
    return build_tree(Rules.preset(name))


@functools.cache
def tiny_tree() -> GameTree:
    return build_tree(Rules.preset(SMALL, **TINY))


def random_strategy(tree: GameTree, seed: int) -> NDArray[np.float64]:
    """[I, A] probabilities, some of them zero."""
    rng = np.random.default_rng(seed)
    legal = legal_actions(tree)
    weights = np.where(legal, rng.random(legal.shape) * (rng.random(legal.shape) < 0.7), 0)
    weights[weights.sum(axis=1) == 0] = legal[weights.sum(axis=1) == 0]
    return weights / weights.sum(axis=1, keepdims=True)


def legal_actions(tree: GameTree) -> NDArray[np.bool_]:
    """[I, A] bool from the packed legal sets."""
    places = np.arange(len(tree.rules.pack) + (1 << tree.rules.hand_size) + 1)
    words = tree.legal_packed[:, places // 64]
    return (words >> (places % 64).astype(np.uint64)) & np.uint64(1) != 0
