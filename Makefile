# Each target sets up what it needs; 'make' alone lists them.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Says that $(VENV) holds everything pyproject.toml asks for.
READY := $(VENV)/.ready
DEMO_SECONDS ?= 60
HOURS ?= 1
FAULTS ?= 30

.PHONY: help setup demo test test-faults soak check format bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile

setup: $(READY) ## make .venv with everything

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is too old or missing: install Python 3.11 or newer, or say make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "$(PYTHON) cannot make virtual environments: on Debian run apt-get install python3-venv" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(READY)

demo: $(READY) ## watch three executors, one of them killed
	$(BIN)/python -m shardsched demo --seconds $(DEMO_SECONDS)

test: $(READY) ## run all tests but the long ones of faults
	$(BIN)/python -m pytest -m 'not faults'

test-faults: $(READY) ## make every fault, and a mix of FAULTS
	FAULTS=$(FAULTS) $(BIN)/python -m pytest tests/faults

soak: $(READY) ## make faults at random for HOURS
	PYTHONPATH=. $(BIN)/python -m tests.faults.soak --hours $(HOURS)

check: $(READY) ## lint, format, types, import floors
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/djlint --quiet --lint console/templates

format: $(READY) ## format the code
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

bench: $(READY) ## run the benchmarks
	@set -e; for script in benchmarks/[a-z]*.py; do \
		echo "== $$script"; PYTHONPATH=. $(BIN)/python "$$script"; done

clean: ## remove .venv and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
