"""The specification page: the tables in the text of `bourre_env.env` are those the code makes, and they are true."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import EVERY_TABLE, dealt
from test_env import in_mid_deal

from bourre_env import Rules, raw_env
from bourre_env.bourre.actions import num_actions
from bourre_env.bourre.observation import layout
from bourre_env.bourre.options import OPTIONS
from bourre_env.spec import MEANINGS, actions_table, main, observation_table

MODULE = sys.modules["bourre_env.env"]
PAGE = MODULE.__doc__ or ""
RULES = [*EVERY_TABLE.values(), Rules(stacks="table_stakes")]


def rows(table: str) -> list[list[str]]:
    """Cells of a Markdown table without its heading."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


@pytest.mark.parametrize("make", [observation_table, actions_table], ids=lambda make: make.__name__)
def test_tables_of_the_page_are_made_from_the_code(make: object) -> None:
    table = make(Rules())  # type: ignore[operator]
    assert table in PAGE, f"put this into the text of bourre_env/env.py (python -m bourre_env.spec):\n{table}"


def test_page_names_every_argument_option_and_mode() -> None:
    words = set(re.findall(r"[`\"](\w+)[`\"]", PAGE))
    arguments = MODULE.env.__code__
    assert set(arguments.co_varnames[: arguments.co_argcount]) <= words
    assert {*MODULE.ILLEGAL, *MODULE.RENDER_MODES} <= words
    assert set(OPTIONS) == set(re.findall(r"^\* `(\w+)`", PAGE.partition("### Options")[2].partition("###")[0], re.M))
    for heading in (
        "Rules",
        "Arguments",
        "Options",
        "Observation",
        "Actions",
        "Rewards",
        "End of the episode",
        "Version history",
    ):
        assert f"### {heading}\n" in PAGE


@pytest.mark.parametrize("rules", RULES, ids=[f"{number}" for number in range(len(RULES))])
def test_observation_table_leaves_no_piece_and_no_index_out(rules: Rules) -> None:
    found: dict[int, int] = {}
    for name, first, length, means in rows(observation_table(rules))[:-1]:
        family = name.strip("`")
        assert means == MEANINGS[family]
        numbers = [
            int(number)
            for piece in layout(rules).segments
            for number in re.findall(family.replace("_k_", r"_(\d+)_"), piece)
            if "_k_" in family
        ]
        base, stride = map(int, re.findall(r"\d+", f"{first} + 0k")[:2])
        found |= {base + stride * number: int(length) for number in numbers or [0]}
    assert found == {piece.start: piece.length for piece in layout(rules).segments.values()}
    assert rows(observation_table(rules))[-1][2] == str(layout(rules).size)


def test_every_meaning_belongs_to_a_piece() -> None:
    names = {re.sub(r"_\d+_", "_k_", piece) for rules in RULES for piece in layout(rules).segments}
    assert names == set(MEANINGS)


@pytest.mark.parametrize("rules", RULES[:-1], ids=[f"{number}" for number in range(len(RULES) - 1)])
def test_actions_table_counts_every_action_once(rules: Rules) -> None:
    ids: list[int] = []
    for span, _ in rows(actions_table(rules)):
        first, *last = map(int, span.split("-"))
        ids += range(first, (last or [first])[0] + 1)
    assert ids == list(range(num_actions(rules)))


def test_actions_mean_what_the_table_says() -> None:
    tables = dealt(Rules(), 1, seed=3)
    env = raw_env()
    env.reset(seed=3)
    trumps = env.snapshot().trump_suit
    others = [suit for suit in "CDHS" if suit != trumps]
    for action in range(52):
        assert env.action_text(action) == "23456789TJQKA"[action % 13] + [trumps, *others][action // 13]
    assert (env.action_text(52), env.action_text(84)) == ("stay", "pass")
    seat = env.snapshot().seat
    hand = sorted(env.snapshot().hands[seat], key=env.action_id)  # by relative id, lowest first
    for mask in range(1, 32):
        thrown = env.action_text(52 + mask).split()[1:]
        assert set(thrown) == {card for place, card in enumerate(hand) if mask >> place & 1}
    assert tables.num_actions == 85


def test_observation_says_what_the_table_says() -> None:
    """Every number of a mid-deal position, read by the indices that the page gives for four seats."""
    env = in_mid_deal(steps=9)
    now = env.snapshot()
    assert now.phase == "play"
    card = {text: env.action_id(text) for text in (rank + suit for suit in "CDHS" for rank in "23456789TJQKA")}
    for seat in range(4):
        seen = env.observe(f"player_{seat}")["observation"]
        assert set(np.flatnonzero(seen[:52])) == {card[text] for text in now.hands[seat]}
        assert seen[52:55].tolist() == [0, 0, 1]
        assert seen[116:124].tolist() == np.eye(8)[(now.dealer - seat) % 4].tolist()
        assert seen[180:188].tolist() == [0.0] * 8
        assert np.flatnonzero(seen[192:244]).tolist() == [card[now.turn_up]]
        assert set(np.flatnonzero(seen[256:308])) == {card[text] for _, text in now.trick}
        assert seen[372:380].sum() == 4
        for k in range(4):
            other, first = (seat + k) % 4, 64 * k
            assert (seen[628 + first], seen[629 + first]) == (now.stayed[other], now.passed[other])
            assert seen[630 + first : 635 + first].sum() == now.num_discards[other]
            assert seen[635 + first : 640 + first].sum() == now.tricks_won[other]


def test_command_prints_the_tables_of_any_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--players", "6", "--rules", "wiki"]) == 0
    rules = Rules.preset("wiki", num_players=6)
    assert capsys.readouterr().out == f"{observation_table(rules)}\n\n{actions_table(rules)}\n"
    assert main(["--rules", "wikki"]) == 2
    error = capsys.readouterr().err
    assert "did you mean 'wiki'" in error
    assert len(error.splitlines()) == 1


def test_command_runs_as_a_module() -> None:
    command = [sys.executable, "-W", "error", "-m", "bourre_env.spec"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=120, cwd=Path(__file__).parents[1]
    )
    assert done.stdout.rstrip() == f"{observation_table(Rules())}\n\n{actions_table(Rules())}"
