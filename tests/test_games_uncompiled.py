"""The other games beside their oracles in plain Python, as whoever debugs a rule runs them: `NUMBA_DISABLE_JIT=1`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

FEW_DECISIONS = """
import random
from {game}_play import Comparison, preset_rules, random_rules
rng = random.Random(1)
for rules in [*preset_rules(), *(random_rules(rng) for _ in range(4))]:
    comparison = Comparison(rules, 2, rng)
    while comparison.decisions < 60:
        comparison.step()
"""


@pytest.mark.parametrize("game", ["euchre", "pinochle", "bureau"])
def test_plain_python_does_what_the_oracle_does(game: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore:overflow", "-c", FEW_DECISIONS.format(game=game)],
        cwd=TESTS,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
