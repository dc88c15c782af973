"""What is said of the examples is so, whether or not their libraries are installed."""

import ast
import importlib
import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
ROWS = re.findall(r'^\| .* \| ([\w-]+) ([\d.]+) \| `pip install "bourre-env\[(\w+)\]"`, `python (\S+)`', GUIDE, re.M)
RUNNER = ROOT / "tests" / "adapters" / "run.py"


def test_the_guide_lists_every_library_with_an_extra() -> None:
    assert {extra for _, _, extra, _ in ROWS} == set(EXTRAS) - {"train", "dev", "render", "sweep", "ray"}
    assert len(ROWS) == 6


@pytest.mark.parametrize(("package", "version", "extra", "example"), ROWS)
def test_an_example_has_a_test_and_an_extra_that_admits_the_version_tested(
    package: str, version: str, extra: str, example: str
) -> None:
    assert (ROOT / example).is_file()
    assert (ROOT / "tests" / "adapters" / f"test_{extra}.py").is_file()
    (bounds,) = [line for line in EXTRAS[extra] if re.match(rf"{package}\b", line)]
    (lower,), (upper,) = re.findall(r">=([\d.]+)", bounds), re.findall(r"<([\d.]+)", bounds)
    assert numbers(lower) <= numbers(version) < numbers(upper)
    assert all(">=" in line and "<" in line for line in EXTRAS[extra])


def numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


@pytest.mark.parametrize("example", [example for *_, example in ROWS])
def test_an_example_takes_a_number_of_deals_and_says_how_to_install(example: str) -> None:
    source = (ROOT / example).read_text(encoding="utf-8")
    words = ast.get_docstring(ast.parse(source)) or ""
    assert 'pip install "bourre-env[' in words
    assert f"python {example}" in words
    assert '"--deals"' in source
    assert "illegal" in source or "summary()" in source  # what counting.CountingEnv counts


def test_the_runner_knows_every_library_and_refuses_others() -> None:
    done = subprocess.run([sys.executable, RUNNER, "tensorflow"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no library 'tensorflow'" in done.stderr
    assert all(extra in done.stderr for _, _, extra, _ in ROWS)


@pytest.mark.skipif(importlib.util.find_spec("pyspiel") is not None, reason="OpenSpiel is installed")
def test_without_openspiel_its_game_says_what_to_install() -> None:
    with pytest.raises(ImportError, match=re.escape('pip install "bourre-env[openspiel]"')):
        importlib.import_module("bourre_env.openspiel")
