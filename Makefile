# make demo      install the base, run the main job on the embedded graph, say where the report lies
# make test      install everything, then linters, type check and all tests but the slow ones
# make test-all  the same, then the slow tests
# make docs      install everything, build the documentation into site/, warnings as errors
# make base      install the base and nothing optional, then the tests that need no more than that
# make bench     install everything, then all under benchmarks/ (an hour, 60 GB of disk), docs/scale.md
# Variables:     PYTHON=python3.12   VENV=.venv   INDEX=<one more package index, e.g. CPU-only torch>

PYTHON ?= python3
VENV ?= $(if $(filter base,$(MAKECMDGOALS)),.venv-base,.venv)
INDEX ?=
BIN := $(VENV)/bin
# --no-compile: what is imported is compiled then, and most of the extras never is
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
	$(if $(INDEX),--extra-index-url $(INDEX)) --constraint constraints.txt

BENCHMARKS = training propagate_memory propagate_disk chain loading encoding

.PHONY: demo test test-all docs base bench lint types wheel clean

demo: $(VENV)/.base
	$(BIN)/unseen demo

test: $(VENV)/.test lint types
	$(BIN)/python -m pytest -m "not slow"

test-all: test
	$(BIN)/python -m pytest -m slow

docs: $(VENV)/.test
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "$(BIN)/python -m http.server --directory site --bind 127.0.0.1 8000  shows it at http://127.0.0.1:8000"

base: $(VENV)/.base
	$(INSTALL) pytest hypothesis
	$(BIN)/python -m pytest -m "not slow" --doctest-ignore-import-errors

bench: $(VENV)/.test
	for each in $(BENCHMARKS); do $(BIN)/python benchmarks/$$each.py || exit 1; done
	$(BIN)/python benchmarks/page.py

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/mypy

wheel: $(VENV)/.test
	$(BIN)/python -m build --wheel

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || \
		{ echo "unseen needs Python 3.11 to 3.13: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml constraints.txt | $(BIN)/pip
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.test: pyproject.toml constraints.txt | $(BIN)/pip
	$(INSTALL) --editable ".[test]"
	@touch $@ $(VENV)/.base

clean:
	rm -rf $(VENV) build dist site unseen-demo
