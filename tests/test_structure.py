"""What imports what, that the compiled cache follows the sources, and that importing is quiet and touches nothing."""

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from reference_shuffle import deck_of_deal

import bourre_env
from bourre_env import Rules

ROOT = Path(__file__).parent.parent
GAME, PLAYERS = ROOT / "bourre_env", ROOT / "agents"
FOUNDATION = {
    f"bourre_env.{name}"
    for name in (
        *("arrays", "bits", "cards", "deck", "draws", "env_options", "errors", "family", "jit", "rules_values"),
        *("table_batch", "table_loops", "table_rules", "table_steps", "tricks"),
    )
}
NUMPY_RANDOM = {"Generator", "BitGenerator", "SeedSequence", "PCG64", "Philox", "default_rng"}


def module_name(path: Path) -> str:
    """Dotted name of a source file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


SOURCES = {module_name(path): path for folder in (GAME, PLAYERS) for path in sorted(folder.rglob("*.py"))}
SOURCES |= {name: ROOT / f"{name}.py" for name in ("train", "evaluate")}
TREES = {name: ast.parse(path.read_text()) for name, path in SOURCES.items()}


def names_imported(node: ast.AST) -> set[str]:
    """Modules that one import statement may load, `from package import module` included."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "relative imports are not used here"
        modules = {f"{node.module}.{alias.name}" for alias in node.names} & set(SOURCES)
        return modules if len(modules) == len(node.names) else modules | {str(node.module)}
    return set()


def imports(name: str, *, when_loaded: bool = False) -> set[str]:
    """Modules that a module imports: anywhere in its text, or only those it needs to be loaded."""
    nodes = statements_run_at_import(TREES[name]) if when_loaded else ast.walk(TREES[name])
    return {found for node in nodes for found in names_imported(node)}


def statements_run_at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node outside functions and `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        yield node
        yield from statements_run_at_import(node)


def loaded_with(name: str) -> set[str]:
    """Every module that is loaded when a module is, packages' `__init__` included, as far as our own sources tell."""
    found: set[str] = set()
    waiting = {name}
    while waiting:
        module = waiting.pop()
        found.add(module)
        if module in SOURCES:
            parents = {module.rsplit(".", 1)[0]} if "." in module else set()
            waiting |= (imports(module, when_loaded=True) | parents) - found
    return found


def packages(modules: set[str]) -> set[str]:
    """Top-level packages of modules."""
    return {module.split(".")[0] for module in modules}


GAME_MODULES = [name for name in SOURCES if name.startswith("bourre_env")]
RULE_MODULES = [name for name in GAME_MODULES if name.startswith("bourre_env.bourre")]
OTHER_GAMES = ("bourre_env.euchre", "bourre_env.pinochle", "bourre_env.bureau")
BUREAU_ENVIRONMENTS = ("bourre_env.bureau.env", "bourre_env.bureau.vector_env")
MODULES_OF_OTHER_GAMES = [
    (game, name)
    for game in OTHER_GAMES
    for name in GAME_MODULES
    if name.startswith(game) and name not in (f"{game}.env", *BUREAU_ENVIRONMENTS)
]


def test_the_sources_that_are_read_here_exist() -> None:
    assert FOUNDATION | {"bourre_env.env", "bourre_env.bourre.tables", "agents.statistics", "agents.arena"} <= set(
        SOURCES
    )
    assert imports("bourre_env.env") >= {"pettingzoo", "bourre_env.aec", "bourre_env.bourre.tables"}


# --- imports point one way


@pytest.mark.parametrize("name", GAME_MODULES)
def test_the_game_never_imports_its_players(name: str) -> None:
    assert not packages(imports(name)) & {"agents", "train", "evaluate", "torch", "tests"}


@pytest.mark.parametrize("name", GAME_MODULES)
def test_only_the_environment_imports_pettingzoo_and_only_environments_gymnasium(name: str) -> None:
    found = packages(imports(name))
    environments = {"bourre_env.aec", "bourre_env.env", "bourre_env.euchre.env", "bourre_env.pinochle.env"}
    assert "pettingzoo" not in found or name in environments
    with_gymnasium = ("bourre_env.aec", "bourre_env.gym", "bourre_env.gym_vector", *BUREAU_ENVIRONMENTS)
    assert "gymnasium" not in found or name in with_gymnasium


@pytest.mark.parametrize("name", sorted(FOUNDATION))
def test_cards_deck_tricks_and_errors_stand_on_nothing_of_the_game(name: str) -> None:
    ours = {module for module in imports(name) if module.startswith("bourre_env")}
    assert ours <= FOUNDATION


@pytest.mark.parametrize("name", RULE_MODULES)
def test_rules_of_the_game_stand_on_the_foundation_alone(name: str) -> None:
    ours = {module for module in imports(name) if module.startswith("bourre_env")}
    assert all(module in FOUNDATION or module.startswith("bourre_env.bourre") for module in ours), ours


@pytest.mark.parametrize(("game", "name"), MODULES_OF_OTHER_GAMES)
def test_rules_of_other_games_stand_on_the_foundation_alone(game: str, name: str) -> None:
    ours = {module for module in imports(name) if module.startswith("bourre_env")}
    assert all(module in FOUNDATION or module.startswith(game) for module in ours), ours


def test_no_module_of_the_game_needs_itself() -> None:
    for name in set(GAME_MODULES) - {"bourre_env"}:
        seen: set[str] = set()
        waiting = {module for module in imports(name) if module in SOURCES}
        while waiting:
            module = waiting.pop()
            seen.add(module)
            waiting |= {found for found in imports(module) if found in SOURCES} - seen
        assert name not in seen, f"{name} imports itself by way of {sorted(seen)}"


@pytest.mark.parametrize("name", ["agents.rollout", "agents.arena"])
def test_training_and_tournaments_step_tables_and_never_the_environment(name: str) -> None:
    assert not imports(name) & {"bourre_env.env", "bourre_env.gym", "pettingzoo", "gymnasium"}
    assert not any(
        isinstance(node, ast.Attribute) and node.attr in ("env", "raw_env") for node in ast.walk(TREES[name])
    )


@pytest.mark.parametrize("name", ["agents.statistics", "agents.arena"])
def test_statistics_and_the_arena_load_no_torch(name: str) -> None:
    assert "torch" not in packages(imports(name))
    assert "torch" not in packages(loaded_with(name))


# --- shortcuts that are refused


def test_no_global_random_generator_is_used() -> None:
    """D5: generators are arguments; `random` and the functions of `numpy.random` share one hidden state."""
    for name, tree in TREES.items():
        assert "random" not in packages(imports(name)), name
        for node in ast.walk(tree):
            text = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
            if text.startswith(("np.random.", "numpy.random.")):
                assert text.split(".")[2] in NUMPY_RANDOM, f"{name}: {text} in line {node.lineno}"


def test_nothing_is_unpickled() -> None:
    """D9: files come from strangers."""
    for name, tree in TREES.items():
        assert not packages(imports(name)) & {"pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}, name
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.load":
                given = [ast.unparse(keyword.value) for keyword in node.keywords if keyword.arg == "weights_only"]
                assert given == ["True"], f"{name}: torch.load in line {node.lineno}"


# --- the package from outside


def run_python(script: str, folder: Path = ROOT, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a script in a fresh interpreter that finds the package in `folder`; warnings are errors."""
    variables = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "PYTHONPATH")}
    variables |= {"PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"} | environment
    command = [sys.executable, "-W", "error", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, env=variables, cwd=folder, timeout=120, check=False)


def test_public_names_are_sorted_exist_and_are_documented() -> None:
    constants = [name for name in bourre_env.__all__ if name.isupper()]
    classes = [name for name in bourre_env.__all__ if name[0].isupper() and not name.isupper()]
    functions = [name for name in bourre_env.__all__ if name.islower()]
    assert list(bourre_env.__all__) == sorted(constants) + sorted(classes) + sorted(functions)
    for name in classes + functions:
        assert getattr(bourre_env, name).__doc__, name
    assert {"Rules", "Tables", "env", "raw_env", "shuffled_decks"} <= set(bourre_env.__all__)
    assert (GAME / "py.typed").is_file()


FRESH_PROCESS = """
import random, sys
import numpy as np
before = random.getstate(), repr(np.random.get_state())
import bourre_env
assert (random.getstate(), repr(np.random.get_state())) == before
print(sorted({"torch", "agents", "pygame", "matplotlib", "tensorboard"} & set(sys.modules)))
print(bourre_env.Rules.preset("wiki", num_players=5).fingerprint)
print(bourre_env.shuffled_decks(12, [3]).tolist())
"""


def test_importing_is_quiet_loads_no_trainer_and_gives_the_same_rules_and_packs_in_every_process() -> None:
    done = run_python(FRESH_PROCESS, PYTHONHASHSEED="77")
    fingerprint, pack = Rules.preset("wiki", num_players=5).fingerprint, deck_of_deal(12, 3)
    assert (done.stdout, done.stderr, done.returncode) == (f"[]\n{fingerprint}\n{[pack]}\n", "", 0)


# --- the compiled cache

CHECK_A_PACK = """
import numpy as np
from bourre_env.arrays import first_wrong_deck
answer = first_wrong_deck(np.arange(52, dtype=np.int8)[None], np.uint64(2**52 - 1))
print(answer, sum(first_wrong_deck.stats.cache_hits.values()))
"""


@pytest.fixture
def copied_package(tmp_path: Path) -> Path:
    """A folder with a copy of the package's sources, its public names left out to be loaded faster."""
    shutil.copytree(GAME, tmp_path / "copy" / "bourre_env", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "copy" / "bourre_env" / "__init__.py").write_text("")
    return tmp_path / "copy"


def test_edit_of_a_callee_in_another_file_reaches_its_compiled_callers(copied_package: Path, tmp_path: Path) -> None:
    """`first_wrong_deck` (arrays.py) calls `single` (cards.py); Numba's own cache looks at arrays.py alone."""
    cache = str(tmp_path / "cache")
    answers = [run_python(CHECK_A_PACK, copied_package, BOURRE_CACHE=cache).stdout for _ in range(2)]
    assert answers == ["-1 0\n", "-1 1\n"], "the second run should have used what the first one compiled"
    callee = copied_package / "bourre_env" / "cards.py"
    sources, line = callee.read_text(), "np.uint64(1) << np.uint64(card)"
    assert sources.count(line) == 1
    callee.write_text(sources.replace(line, "np.uint64(3) << np.uint64(card)"))
    assert run_python(CHECK_A_PACK, copied_package, BOURRE_CACHE=cache).stdout == "0 0\n"


USER_OF_THE_PACKAGE = {
    "__init__.py": "",
    "points.py": """
from bourre_env.jit import njit

@njit
def points(card):
    return card + 1
""",
    "player.py": """
from bourre_env.jit import njit_entry
from players.points import points

@njit_entry
def best(card):
    return points(card)
""",
}


def test_edit_of_a_callee_in_another_package_reaches_its_compiled_callers(copied_package: Path, tmp_path: Path) -> None:
    """`best` (player.py) calls `points` (points.py), both outside the package that compiles them."""
    (copied_package / "players").mkdir()
    for name, text in USER_OF_THE_PACKAGE.items():
        (copied_package / "players" / name).write_text(text)
    asked = "from players.player import best; print(best(3), sum(best.stats.cache_hits.values()))"
    cache = str(tmp_path / "cache")
    answers = [run_python(asked, copied_package, BOURRE_CACHE=cache).stdout for _ in range(2)]
    assert answers == ["4 0\n", "4 1\n"], "the second run should have used what the first one compiled"
    (copied_package / "players" / "points.py").write_text(USER_OF_THE_PACKAGE["points.py"].replace("+ 1", "+ 2"))
    assert run_python(asked, copied_package, BOURRE_CACHE=cache).stdout == "5 0\n"


def test_cache_folder_of_the_user_loses_nothing_that_is_not_ours(copied_package: Path, tmp_path: Path) -> None:
    """Old caches are cleared away; what else lies in the folder that `BOURRE_CACHE` names is somebody's work."""
    folder = tmp_path / "shared"
    for number in range(9):
        (folder / f"thesis_{number}").mkdir(parents=True)
        (folder / f"thesis_{number}" / "text").write_text("years of work")
    done = run_python("import bourre_env.jit", copied_package, BOURRE_CACHE=str(folder))
    assert (done.returncode, done.stderr) == (0, "")
    assert [(folder / f"thesis_{number}" / "text").is_file() for number in range(9)] == [True] * 9


def test_unusable_cache_folder_does_not_stop_anybody(copied_package: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run_python(CHECK_A_PACK, copied_package, BOURRE_CACHE=str(tmp_path / "file"))
    assert (done.stdout, done.stderr) == ("-1 0\n", "")


# --- games of the family

OF_ONE_GAME = {
    f"agents.{name}"
    for name in (
        *("action_words", "analysis", "benchmark", "frames_analysis", "human", "luck", "pictures", "recording"),
        *("habits", "pot_credit"),
        *("refusals", "replay_page", "report", "story", "table_text", "wording", "journal", "seating", "sitting"),
        *("baselines", "heuristic", "thresholds", "selfcheck"),
        *("search", "likely_worlds", "lookahead", "retracing", "solver", "solver_kernel"),
        *("best_response", "exact", "exploit", "game_tree", "leaks", "local_best_response", "tabular", "tree_walk"),
        *("commands.play", "commands.web", "web.opening"),
    )
}
"""Modules that import those of one game, besides `PLAYERS_OF_ONE_GAME`. Which import these in turn is not looked at."""

GAME_PACKAGES = ("bourre_env.bourre", *OTHER_GAMES)
PLAYERS_OF_ONE_GAME = ("agents.bourre", "agents.euchre", "agents.pinochle", "agents.bureau")
NAMES_OF_A_GAME = {"Rules", "Tables", "PRESETS", "Snapshot", "Buffers", "DealQueue"}


def serves_every_game(name: str) -> bool:
    """Whether a module of `agents` must do without the modules of any game, in either package."""
    return name not in OF_ONE_GAME and not name.startswith(PLAYERS_OF_ONE_GAME)


@pytest.mark.parametrize("name", [name for name in SOURCES if name.startswith("agents") and serves_every_game(name)])
def test_players_and_measures_of_every_game_import_the_modules_of_none(name: str) -> None:
    assert not {module for module in imports(name) if module.startswith((*GAME_PACKAGES, *PLAYERS_OF_ONE_GAME))}
    taken = {
        alias.name
        for node in ast.walk(TREES[name])
        if isinstance(node, ast.ImportFrom) and node.module == "bourre_env"
        for alias in node.names
    }
    assert not taken & NAMES_OF_A_GAME


def test_the_list_of_modules_that_serve_one_game_is_no_longer_than_it_must_be() -> None:
    for name in OF_ONE_GAME:
        assert name in SOURCES
        assert {module for module in imports(name) if module.startswith((*GAME_PACKAGES, *PLAYERS_OF_ONE_GAME))} or any(
            isinstance(node, ast.ImportFrom) and node.module == "bourre_env" for node in ast.walk(TREES[name])
        ), name


def test_training_finds_a_game_by_name_alone() -> None:
    for name in (
        "agents.trainer",
        "agents.rollout",
        "agents.arena",
        "agents.games",
        "agents.trainings",
        "agents.config",
    ):
        assert not {module for module in imports(name) if module.startswith(PLAYERS_OF_ONE_GAME)}
