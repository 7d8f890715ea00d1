# make demo   install, run the main job on the embedded graph, say where the report lies
# make test   install, then linters, type check and all tests that need no cluster and no browser
# make bench  install, then everything under benchmarks/ (an hour, 60 GB of disk), tables in docs/scale.md
# Variables:  PYTHON=python3.12   VENV=.venv   INDEX=<an extra package index, e.g. for CPU-only torch>

PYTHON ?= python3
VENV ?= .venv
INDEX ?=
BIN := $(VENV)/bin
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	$(if $(INDEX),--extra-index-url $(INDEX)) --constraint constraints.txt

BENCHMARKS = training propagate_memory propagate_disk blocks chain loading encoding

.PHONY: demo test slow bench lint types wheel clean

demo: $(VENV)/.base
	$(BIN)/unseen demo

test: $(VENV)/.test lint types
	$(BIN)/python -m pytest -m "not slow"

slow: $(VENV)/.test
	$(BIN)/python -m pytest

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

$(VENV)/.base: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || \
		{ echo "unseen needs Python 3.11 to 3.13: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.base
	$(INSTALL) --editable ".[test]"
	@touch $@

clean:
	rm -rf $(VENV) build dist unseen-demo
