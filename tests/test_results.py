"""The tables of the docs and of the README are what the records have, number for number."""

from __future__ import annotations

import importlib.util
import json
import runpy
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


def script(path: str) -> ModuleType:
    """Return a script of the repository as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("page", "maker"),
    [
        ("docs/results.md", "results/tables.py"),
        ("README.md", "results/tables.py"),
        ("docs/scale.md", "benchmarks/page.py"),
    ],
)
def test_every_table_is_what_the_records_have(page: str, maker: str) -> None:
    made, text = script(maker), (ROOT / page).read_text(encoding="utf-8")
    assert made.BLOCK.findall(text), "no table in the page"
    assert made.filled(text) == text, f"run python {maker}"


def test_a_changed_number_is_noticed() -> None:
    made, text = script("results/tables.py"), (ROOT / "docs/results.md").read_text("utf-8")
    first = made.BLOCK.search(text)
    digit = next(i for i in range(first.start(), first.end()) if text[i].isdigit())
    changed = text[:digit] + str((int(text[digit]) + 1) % 10) + text[digit + 1 :]
    assert made.filled(changed) != changed


@pytest.mark.parametrize("file", ["runs.jsonl", "elsewhere.jsonl"])
def test_no_run_is_there_twice(file: str) -> None:
    lines = script("results/tables.py").lines(file)
    runs = [json.dumps(line["run"], sort_keys=True) for line in lines]
    assert len(runs) == len(set(runs))


def test_every_graph_from_a_package_has_a_builder_and_class_texts() -> None:
    tables, folder = script("results/tables.py"), ROOT / "results/elsewhere"
    told = tomllib.loads((folder / "classes.toml").read_text("utf-8"))
    assert set(told) == {*tables.DESIGN, *tables.FRESH}
    for graph, classes in told.items():
        assert (folder / f"{graph}.py").is_file()
        asked = {
            len(line["run"]["unseen"])
            for line in tables.lines("elsewhere.jsonl")
            if line["run"]["graph"].startswith(f"{graph}/")
        }
        assert asked == {len(classes), len(classes) // 2}
        for text in classes.values():
            assert text.keys() == {"sentence", "paragraph"}
            assert len(text["sentence"]) < len(text["paragraph"])


def test_every_run_is_one_that_the_script_would_make_again() -> None:
    fitted = runpy.run_path(str(ROOT / "results/runs.py"))["FITTED"]
    methods = {"pipeline", "align", *fitted}
    assert {line["run"]["method"] for line in script("results/tables.py").lines()} <= methods
