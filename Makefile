# Set-up is part of every command: a stamp per pyproject and constraints makes a second run install nothing.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

export PREFECT_SERVER_ANALYTICS_ENABLED = false
export DO_NOT_TRACK = 1

.PHONY: freeze demo test test-slow check lint types format docs wheel mutants install clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --compile -c constraints.txt -e '.[dev]'
	touch $@

demo: $(STAMP)
	$(BIN)/nilm demo

test: $(STAMP)
	$(BIN)/python -m pytest -m 'not slow'

test-slow: $(STAMP)
	$(BIN)/python -m pytest -m slow

check: lint types test

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP)
	$(BIN)/mypy

freeze: $(STAMP)
	$(BIN)/python tests/nilm/frozen.py

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

# The wheel is tried where nothing of this folder can be imported: in an empty environment, outside of it.
wheel: $(STAMP)
	rm -rf build/wheel && mkdir -p build/wheel
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps -w build/wheel .
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt build/wheel/*.whl
	cd build/wheel && venv/bin/python -I -c 'import lfm, nilm, flows; print(lfm.__version__, lfm.lattice_index([[1, 0], [1, 1]]))'
	cd build/wheel && venv/bin/nilm --help > /dev/null

mutants: $(STAMP)
	$(BIN)/python benchmarks/mutants.py

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache build *.egg-info
