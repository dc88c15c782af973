"""What the documents say is what the code does."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bourre_env import PRESETS
from bourre_env.notation import parse, write

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
RULES = (ROOT / "RULES.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", README, re.S | re.M)


def test_readme_transcript_is_a_deal_by_the_rules_with_a_bourre_in_it() -> None:
    text = next(block for block in blocks("") if block.startswith("bourre record"))
    (record,) = parse(text)
    assert write(record) == text
    *_, end = record.replay()
    assert any(stayed and won == 0 for stayed, won in zip(end.stayed, end.tricks_won, strict=True))


@pytest.mark.parametrize("code", blocks("python"), ids=lambda code: code.strip().splitlines()[0])
def test_readme_python_runs(code: str) -> None:
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd=ROOT, timeout=120, capture_output=True)


def test_readme_make_commands_are_the_makefiles() -> None:
    named = set(re.findall(r"`make ([a-z-]+)`", README))
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.M))
    assert {"train", "test"} <= named <= targets


def test_makefile_runs_the_commands_the_readme_names() -> None:
    recipes = dict(re.findall(r"^([a-z-]+):.*\n\t(.*)$", MAKEFILE, re.M))
    assert recipes["train"] == "$(BIN)/python train.py"
    assert "pytest" in recipes["test"]
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("line", re.findall(r"^\.venv/bin/python (.*)$", README, re.M))
def test_readme_commands_exist(line: str) -> None:
    script, *words = line.split()
    verb = [word for word in words[:1] if not word.startswith("-")]
    shown = subprocess.run(
        [sys.executable, script, *verb, "--help"], check=True, cwd=ROOT, timeout=120, capture_output=True, text=True
    ).stdout
    options = {word for word in words if word.startswith("--")}
    assert all(option in shown for option in options)


def test_rules_presets_table_is_the_codes() -> None:
    for name, changes in PRESETS.items():
        listed = ", ".join(f"{field} = {json.dumps(value)}" for field, value in changes.items()) or "the defaults"
        if name == "pagat_limit":
            listed = "limit = 20 antes"
        assert f"| `{name}` | {listed} |" in RULES


def test_every_numbered_rule_is_named_in_the_code() -> None:
    numbers = re.findall(r"^- \*\*(\d\.\d+) ", RULES, re.M)
    source = " ".join(path.read_text(encoding="utf-8") for path in (ROOT / "bourre_env").rglob("*.py"))
    cited = set(re.findall(r"\b(\d\.\d+)\b", source))
    spans = re.findall(r"\b(\d)\.(\d+) to \1\.(\d+)\b", source)
    cited |= {f"{section}.{rule}" for section, first, last in spans for rule in range(int(first), int(last) + 1)}
    assert set(numbers) - cited == set()
