"""The trained bots that come with the package: every name finds a checkpoint that plays its table size well."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from agents.arena import play_blocks
from agents.entrants import Entrant
from agents.policy import PolicyError, check_rules, load_policy
from agents.shipped import BOTS, FILES, path_of
from agents.statistics import estimate
from bourre_env import Rules


@pytest.mark.parametrize("num_players", FILES)
def test_every_shipped_bot_beats_random_players_and_the_rule_bots(num_players: int) -> None:
    rules = Rules.preset("pagat", num_players=num_players)
    bot = load_policy(f"bourre:{num_players}")
    check_rules(bot, rules)
    for field, at_least in (("random", 0.8), ("heuristic", 0.0)):
        blocks = play_blocks(rules, bot, load_policy(field), seed=41, deal_ids=np.arange(3000))
        assert estimate(blocks.block_means, seed=0).low > at_least


def test_a_shipped_bot_is_the_checkpoint_behind_its_name(tmp_path: Path) -> None:
    file = BOTS / f"{FILES[4]}.safetensors"
    copy = tmp_path / "copy.safetensors"
    copy.write_bytes(file.read_bytes())
    for behind in ("", ":greedy"):
        named, copied = Entrant("a", f"bourre:4{behind}"), Entrant("b", f"{copy}{behind}")
        assert named.is_ours()
        assert named.identity() == copied.identity() != ""
    assert load_policy("bourre:4:greedy").name.endswith(":greedy")
    assert path_of("heuristic") == "heuristic"


@pytest.mark.parametrize("spec", ["bourre", "bourre:", "bourre:9", "bourre:4:fast", "bourre:four"])
def test_an_unknown_bot_is_told_which_there_are(spec: str) -> None:
    with pytest.raises(PolicyError, match=r"bourre:3, bourre:4, bourre:5|no file|module:attribute"):
        load_policy(spec)


def test_the_bots_are_small_enough_to_come_along() -> None:
    assert sum(file.stat().st_size for file in BOTS.iterdir()) < 4_000_000
    assert {f"{name}.safetensors" for name in FILES.values()} == {file.name for file in BOTS.glob("*.safetensors")}


def test_a_shipped_bot_is_found_from_anywhere(tmp_path: Path) -> None:
    code = "from agents.policy import load_policy; print(load_policy('bourre:5').name)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"bots/{FILES[5]}"
