"""Engine equals oracle in a few seconds of plain Python: what `make mutants` asks about every mutant of a rule.

`test_oracle.py` compares far more decisions and needs compiled code for it. Run alone with `NUMBA_DISABLE_JIT=1`.
"""

import random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from random_play import Comparison, any_rules
from test_oracle import PRESETS_AND_SIZES

from bourre_env import Rules


@pytest.mark.parametrize(("preset", "num_players"), PRESETS_AND_SIZES)
def test_engine_equals_oracle_in_a_few_deals(preset: str, num_players: int) -> None:
    comparison = Comparison(Rules.preset(preset, num_players=num_players), 3, random.Random(num_players))
    while comparison.decisions < 80:
        comparison.step()


@settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(rules=any_rules(), seed=st.integers(0, 2**32))
def test_engine_equals_oracle_in_a_few_deals_under_any_rules(rules: Rules, seed: int) -> None:
    comparison = Comparison(rules, 2, random.Random(seed))
    for _ in range(30):
        comparison.step()
