"""Install each library of the examples into an environment of its own and run its tests; go on after a failure.

    python tests/adapters/run.py [LIBRARY ...]

The libraries contradict each other, so they cannot share an environment. All get the torch of `requirements.lock`.
Ends with one line for each library and exit code 1 when any of them failed.
"""

import argparse
import os
import subprocess
import sys
import time
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
HOME = ROOT / ".venv-adapters"

LIBRARIES = {
    "openspiel": "open_spiel",
    "torchrl": "torchrl",
    "tianshou": "tianshou",
    "rllib": "ray",
    "agilerl": "agilerl",
    "sb3": "sb3_contrib",
    "ray": "ray",
}
"""The extra that installs each library, and the name of its distribution."""

OVERRIDES = {
    "agilerl": ["pettingzoo>=1.27"],  # it asks for less, and works with it
}
"""What is installed afterwards without asking the library."""


def python_of(library: str) -> str:
    """The interpreter of a library's environment."""
    folder, name = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return str(HOME / library / folder / name)


def install(library: str) -> None:
    """Make the environment of a library, or bring it up to date.

    Raises:
        subprocess.CalledProcessError: pip could not install it.
    """
    if not Path(python_of(library)).exists():
        venv.create(HOME / library, with_pip=True)
    constraints = HOME / "constraints.txt"
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    constraints.write_text("\n".join(line for line in lock if line.startswith("torch==")) + "\n", encoding="utf-8")
    pip = [python_of(library), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    wanted = ["--constraint", str(constraints), "--editable", f".[{library}]", "pytest>=8.3"]
    subprocess.run([*pip, *wanted], check=True, cwd=ROOT)
    for requirement in OVERRIDES.get(library, []):
        subprocess.run([*pip, "--no-deps", requirement], check=True, cwd=ROOT)


def version(library: str) -> str:
    """The version that is installed."""
    script = f"import importlib.metadata as metadata; print(metadata.version({LIBRARIES[library]!r}))"
    done = subprocess.run([python_of(library), "-c", script], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def tested(library: str) -> str:
    """Install a library and run its tests; says in a word or two how it went."""
    try:
        install(library)
    except subprocess.CalledProcessError:
        return "FAILED to install"
    tests = [*map(str, sorted((ROOT / "tests" / "adapters").glob(f"test_{library}*.py"))), "-p", "no:cacheprovider"]
    done = subprocess.run([python_of(library), "-m", "pytest", *tests], check=False, cwd=ROOT)
    # A library that is missing skips its whole file, which pytest reports as no test at all.
    return "passed" if done.returncode == 0 else f"FAILED (pytest ended with {done.returncode})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the libraries named, or all; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help=f"some of: {', '.join(LIBRARIES)}")
    chosen = parser.parse_args(arguments).libraries or list(LIBRARIES)
    unknown = sorted(set(chosen) - set(LIBRARIES))
    if unknown:
        parser.error(f"there is no library {', '.join(map(repr, unknown))}; choose among {', '.join(LIBRARIES)}")
    HOME.mkdir(exist_ok=True)
    lines, failures = [], 0
    for library in chosen:
        print(f"--- {library}", flush=True)
        start = time.monotonic()
        outcome = tested(library)
        failures += outcome != "passed"
        named = version(library) if "install" not in outcome else "-"
        lines.append(f"{library:<10} {named:<10} {outcome}  {time.monotonic() - start:.0f} s")
    print("\n".join(lines))
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
