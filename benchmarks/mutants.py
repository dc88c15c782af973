"""Do the tests notice when a rule is wrong? `make mutants`.

Cosmic Ray makes every small change it knows to the files of rules, one at a time, and two kinds of change are added
that it lacks: a statement left out, and `+=` turned into `=`. Each mutant stands in a copy of the repository, where the
fast tests run uncompiled until one fails; the mutant is then killed. Whatever survives must be explained: the last
column of the report, `mutants.md`, is written by hand, and kept for a survivor that was there before.

A test process is forked with the libraries loaded, which is four times as fast as starting one for each mutant.
"""

import argparse
import ast
import gc
import importlib
import os
import re
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.ast.ast_query import ASTQuery
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from parso.python.tree import Keyword
from tqdm import tqdm

ROOT = Path(__file__).parent.parent
REPORT = Path(__file__).parent / "mutants.md"
RULE_FILES = (
    "bourre_env/tricks.py",
    *(f"bourre_env/bourre/{name}.py" for name in ("cinch", "declaring", "dealing", "settling", "playing")),
)
TESTS = ("golden", "rules_play", "tricks", "rules", "oracle_uncompiled")
LEFT_OUT = (  # slow uncompiled: the first is about deck.py, what the other shows the oracle shows too
    "tests/test_rules.py::test_8_2_every_card_comes_first_equally_often",
    "tests/test_rules.py::test_1_5_chips_add_up_after_every_action",
)
SETTINGS = {"NUMBA_DISABLE_JIT": "1", "OMP_NUM_THREADS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
LIBRARIES = ("hypothesis.strategies", "numba.extending", "pettingzoo", "pytest")  # what the tests import

PASSED = 0  # pytest's exit code
COULD_NOT_START = 70
GIBIBYTE = 2**30
SHARE_TO_KILL = 0.9
UNEXPLAINED = "not explained"


# --- mutants ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mutant:
    """One changed rule file."""

    path: str
    line: int
    function: str
    was: str
    becomes: str
    source: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What an explanation belongs to, wherever the line has moved."""
        return self.path, self.function, self.was, self.becomes


class LeaveOutStatement:
    """Replaces a statement by `pass`: `table.pot = 0`, `sure += 1` or `settle(table, rules)`."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        """Where the statement stands."""
        if node.type == "simple_stmt" and self._is_worth_it(node.children[0]):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """Leave it out."""
        statement = node.children[0]
        node.children[0] = Keyword("pass", statement.start_pos, statement.get_first_leaf().prefix)
        return node

    @staticmethod
    def _is_worth_it(statement: Any) -> bool:
        """A call or an assignment; not the first assignment to a name, without which Python itself complains."""
        if statement.type == "atom_expr":
            return True
        if statement.type != "expr_stmt":
            return False
        target, sign = statement.children[:2]
        return bool(target.type == "atom_expr" or sign.get_code().strip() != "=")


class AssignInPlace:
    """Replaces `+=`, `|=` and the like by `=`."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        """Where the operator stands."""
        if node.type == "operator" and re.fullmatch(r"[-+*/%&|^<>]+=", node.value) and node.parent.type == "expr_stmt":
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """Forget what was there."""
        node.value = "="
        return node


def operators() -> list[Any]:
    """Every operator of Cosmic Ray that takes no arguments, and the two of this file.

    Left out is the removal of a decorator: uncompiled, `@njit` does nothing.
    """
    classes = [get_operator(name) for name in operator_names() if "RemoveDecorator" not in name]
    return [kind() for kind in classes if not kind.arguments()] + [LeaveOutStatement(), AssignInPlace()]


def mutants_of(path: str, source: str) -> Iterator[Mutant]:
    """Every mutant of a rule file with this text."""
    nodes = list(ast_nodes(get_ast(source)))
    for operator in operators():
        places = [(node, start) for node in nodes for start, _ in operator.mutation_positions(node)]
        for occurrence, (node, start) in enumerate(places):
            mutated = mutate_code(source, operator, occurrence)
            if not is_python(mutated):
                continue
            was, becomes = changed_lines(source, mutated)
            function = ASTQuery(node).get_definition_name() or "module"
            yield Mutant(path, start[0], function, was, becomes, mutated)


def is_python(text: str) -> bool:
    """Whether a text can be parsed; `a & not b` cannot, which Cosmic Ray does not mind."""
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def changed_lines(source: str, mutated: str) -> tuple[str, str]:
    """The lines that differ, each side as one line of text."""
    old, new = source.splitlines(), mutated.splitlines()
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    was, becomes = (re.sub(r"\s+", " ", " ".join(lines)).strip() for lines in (old, new))
    return was, becomes


# --- tests ------------------------------------------------------------------------------------------------------------


def copy_repository(folder: Path) -> None:
    """What the tests need, without compiled files."""
    for name in ("bourre_env", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    shutil.copy(ROOT / "pyproject.toml", folder)


def fork_tests(folder: Path, cpu_seconds: float) -> int:
    """Start the fast tests in a copy of the repository, in a process of their own; returns its id."""
    child = os.fork()
    if child:
        return child
    try:
        _limit(cpu_seconds)
        os.chdir(folder)
        sys.path.insert(0, str(folder))
        output = os.open("output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        files = [f"tests/test_{name}.py" for name in TESTS]
        arguments = [
            "-x",
            "--assert=plain",
            "-p",
            "no:cacheprovider",
            *(f"--deselect={test}" for test in LEFT_OUT),
            *files,
        ]
        code = int(importlib.import_module("pytest").main(arguments))
        loaded = sys.modules.get("bourre_env")
        if loaded and not str(loaded.__file__).startswith(str(folder)):
            code = COULD_NOT_START
    except BaseException:
        traceback.print_exc()
        code = COULD_NOT_START
    sys.stdout.flush()
    os._exit(code)


def _limit(cpu_seconds: float) -> None:
    """A mutant may loop for ever or grow without end; this process then ends, and the mutant is killed."""
    seconds = int(cpu_seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (4 * GIBIBYTE, 4 * GIBIBYTE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def wait_for_tests() -> tuple[int, int, float]:
    """The next test process that ends: its id, its exit code (negative for a signal), its CPU seconds."""
    child, status, usage = os.wait4(-1, 0)
    return child, os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime


def prepare(folders: list[Path]) -> float:
    """Make the copies and run the tests of each unchanged; returns the CPU seconds that takes."""
    sys.dont_write_bytecode = False  # tests that are compiled once need not be compiled for every mutant
    slowest = 0.0
    for folder in folders:
        copy_repository(folder)
        fork_tests(folder, 600)
        _, code, seconds = wait_for_tests()
        if code != PASSED:
            sys.exit(f"the tests do not pass without a mutant:\n{(folder / 'output.txt').read_text()}")
        for path in RULE_FILES:  # a mutant must never meet what was compiled from other text of the same length
            for compiled in (folder / path).parent.glob("__pycache__/*.pyc"):
                compiled.unlink()
        slowest = max(slowest, seconds)
    sys.dont_write_bytecode = True
    return slowest


def survivors_of(
    mutants: list[Mutant], sources: dict[str, str], folders: list[Path], cpu_seconds: float
) -> list[Mutant]:
    """Run the tests for every mutant, one in each copy at a time; returns those that pass."""
    tqdm.monitor_interval = 0  # no thread: processes are forked
    survivors, waiting = [], list(reversed(mutants))
    free, running = list(folders), dict[int, tuple[Path, Mutant]]()
    with tqdm(total=len(mutants), unit="mutant") as bar:
        while waiting or running:
            while waiting and free:
                folder, mutant = free.pop(), waiting.pop()
                (folder / mutant.path).write_text(mutant.source, encoding="utf-8")
                running[fork_tests(folder, cpu_seconds)] = folder, mutant
            child, code, _ = wait_for_tests()
            folder, mutant = running.pop(child)
            (folder / mutant.path).write_text(sources[mutant.path], encoding="utf-8")
            free.append(folder)
            if code == COULD_NOT_START:
                sys.exit(f"the tests of a mutant could not run ({code}):\n{(folder / 'output.txt').read_text()}")
            if code == PASSED:
                survivors.append(mutant)
                bar.write(f"survived: {mutant.path}:{mutant.line} {mutant.function}: {mutant.was} -> {mutant.becomes}")
            bar.set_postfix(survived=len(survivors), refresh=False)
            bar.update()
    return survivors


# --- report -----------------------------------------------------------------------------------------------------------


def written_explanations(report: Path) -> dict[tuple[str, str, str, str], str]:
    """The last column of a report, by `Mutant.key`."""
    found, path = {}, ""
    for line in report.read_text(encoding="utf-8").splitlines() if report.is_file() else []:
        if line.startswith("## "):
            path = line.removeprefix("## ").strip("`")
        cells = [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 5 and cells[0].isdigit() and cells[4] != UNEXPLAINED:
            function, was, becomes = (cell.strip("`") for cell in cells[1:4])
            found[path, function, was, becomes] = cells[4]
    return found


INTRODUCTION = """# Mutants

`make mutants` changes the rules in every small way and runs the fast tests on each change: the golden cases, the
numbered rule tests, the trick tests and a short comparison with the oracle, uncompiled. A mutant whose tests fail is
killed. One that changes no rule at all (an equivalent mutant) counts as a survivor too. This file is written by
`benchmarks/mutants.py`; the last column of the lists is written by hand and kept.

| file | mutants | killed | share |
|---|--:|--:|--:|
"""


def section(path: str, number: int, survivors: list[Mutant], explained: dict[tuple[str, str, str, str], str]) -> str:
    """The survivors of one file as text, its counts first."""
    own = sorted((one for one in survivors if one.path == path), key=lambda one: (one.line, one.was, one.becomes))
    lines = [f"## `{path}`", "", f"{number - len(own)} of {number} killed.", ""]
    lines += ["| line | function | was | survives as | why |", "|--:|---|---|---|---|"] if own else []
    for mutant in own:
        code = [f"`{text}`".replace("|", r"\|") for text in (mutant.function, mutant.was, mutant.becomes)]
        reason = explained.get(mutant.key, UNEXPLAINED).replace("|", r"\|")
        lines.append(f"| {mutant.line} | {' | '.join(code)} | {reason} |")
    return "\n".join(lines).rstrip() + "\n"


def sections_of(report: Path) -> dict[str, str]:
    """The sections of a report by the file they are about."""
    text = report.read_text(encoding="utf-8") if report.is_file() else ""
    parts = re.split(r"^(?=## `)", text, flags=re.M)[1:]
    return {part.split("`")[1]: part.rstrip() + "\n" for part in parts}


def whole_report(sections: dict[str, str]) -> str:
    """The report as text: the counts of all files that have been run, then their sections."""
    rows, killed_of_all, all_of_all = [], 0, 0
    for path in RULE_FILES:
        if path in sections:
            killed, number = map(int, re.findall(r"^(\d+) of (\d+) killed", sections[path], re.M)[0])
            killed_of_all, all_of_all = killed_of_all + killed, all_of_all + number
            rows.append(f"| `{path}` | {number} | {killed} | {killed / number:.1%} |")
    rows.append(f"| all | {all_of_all} | {killed_of_all} | {killed_of_all / max(all_of_all, 1):.1%} |")
    return (
        INTRODUCTION + "\n".join(rows) + "\n\n" + "\n".join(sections[path] for path in RULE_FILES if path in sections)
    )


def main() -> int:
    """Make the mutants, run the tests, write the report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--workers", type=int, default=2, help="tests that run at the same time (2)")
    parser.add_argument("--only", default="", help="only rule files with this in their name")
    arguments = parser.parse_args()
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutants-") as temporary:
        os.environ |= SETTINGS | {"BOURRE_CACHE": f"{temporary}/cache"}
        for library in LIBRARIES:
            importlib.import_module(library)
        gc.freeze()  # no test process need walk through the libraries
        folders = [Path(temporary) / str(worker) for worker in range(max(1, arguments.workers))]
        cpu_seconds = 5 + 2.5 * prepare(folders)
        sources = {path: (folders[0] / path).read_text(encoding="utf-8") for path in RULE_FILES}
        mutants = [
            mutant for path in RULE_FILES if arguments.only in path for mutant in mutants_of(path, sources[path])
        ]
        survivors = survivors_of(mutants, sources, folders, cpu_seconds)
    explained, sections = written_explanations(REPORT), sections_of(REPORT)
    for path in sources:
        if arguments.only in path:
            number = sum(mutant.path == path for mutant in mutants)
            sections[path] = section(path, number, survivors, explained)
    REPORT.write_text(whole_report(sections), encoding="utf-8")
    share = 1 - len(survivors) / max(len(mutants), 1)
    missing = sum(mutant.key not in explained for mutant in survivors)
    print(f"{share:.1%} of {len(mutants)} mutants killed in {(time.monotonic() - start) / 60:.0f} minutes; ", end="")
    print(f"{len(survivors)} survived, {missing} of them not explained")
    return int(share < SHARE_TO_KILL or missing > 0)


if __name__ == "__main__":
    sys.exit(main())
