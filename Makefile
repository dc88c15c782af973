# `make train` and `make test` are all a newcomer needs; both set up .venv first.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: venv train test test-all test-install test-adapters check format lint types fuzz mutants bench bench-solver bench-training bench-web clean help

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

venv: $(READY) ## make .venv and install the exact versions of requirements.lock

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else 1)' || \
		{ echo "Python 3.11 to 3.13 is needed, and $$($(PYTHON) --version) is '$(PYTHON)'; name another: make PYTHON=python3.12 ..." >&2; exit 2; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

train: $(READY) ## train the default preset (about five minutes), then a small tournament
	$(BIN)/python train.py

test: $(READY) ## the quick tests (about five minutes)
	$(BIN)/python -m pytest -n 2 -m "not slow"

test-all: $(READY) ## every test, the slow ones too
	$(BIN)/python -m pytest -n 2

test-install: $(READY) ## the wheel alone, with the lowest and with the locked versions of what it needs
	rm -rf build/install && mkdir -p build/install
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir build/install .
	for lock in requirements-lowest.lock requirements.lock; do \
		$(PYTHON) -m venv --clear build/install/venv && \
		build/install/venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint $$lock build/install/*.whl && \
		(cd build/install && BOURRE_CACHE=cache-$$lock venv/bin/python ../../tests/installed.py) || exit 1; \
	done

test-adapters: ## the examples with other libraries, each in an environment of its own (ADAPTERS="openspiel sb3" for some)
	$(PYTHON) tests/adapters/run.py $(ADAPTERS)

check: format lint types test test-install ## what continuous integration runs

format: $(READY) ## is the code formatted?
	$(BIN)/ruff format --check .

lint: $(READY) ## does the linter object?
	$(BIN)/ruff check .

types: $(READY) ## do the types fit?
	$(BIN)/mypy

fuzz: $(READY) ## over a million decisions beside the oracles (about five minutes)
	$(BIN)/python tests/fuzz.py
	$(BIN)/python tests/fuzz_euchre.py
	$(BIN)/python tests/fuzz_pinochle.py
	$(BIN)/python tests/fuzz_bureau.py

mutants: $(READY) ## do the tests notice a wrong rule? (under an hour)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint requirements.lock --requirement requirements-mutants.lock
	nice -n 19 $(BIN)/python -m benchmarks.mutants

bench: $(READY) ## decisions per second of the engine and the environment
	$(BIN)/python -m benchmarks.engine

bench-solver: $(READY) ## deals solved per second with all cards open
	$(BIN)/python -m benchmarks.solver

bench-training: $(READY) ## samples per second of the trainer, beside its networks alone and beside SB3-contrib
	$(BIN)/python -m benchmarks.training

bench-web: $(READY) ## how fast the web table answers, to clicks and at two hundred tables
	$(BIN)/python -m benchmarks.web

clean: ## remove .venv and caches
	rm -rf .venv .venv-adapters .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist ./*.egg-info
