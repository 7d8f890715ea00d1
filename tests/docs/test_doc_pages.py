"""The documentation cannot rot: its code runs, and prints what it shows; notebooks are its own."""

from __future__ import annotations

import json
import re
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NEEDS = {"pyg": "torch_geometric", "networkx": "networkx"}  # page -> the module that it is about
NOT_RUN = re.compile(r"<!-- not run: (.*) -->")


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Any:
    """docs/pages.py, which runs pages."""
    monkeypatch.syspath_prepend(DOCS)
    monkeypatch.setenv("COLUMNS", "80")
    return import_module("pages")


def runnable() -> list[Path]:
    return sorted(
        page for folder in ("start", "tutorials", "how-to") for page in (DOCS / folder).glob("*.md")
    )


@pytest.mark.parametrize("page", runnable(), ids=lambda page: page.stem)
def test_the_code_of_a_page_runs_and_prints_what_it_shows(page: Path, tool: Any) -> None:
    if page.stem in NEEDS and find_spec(NEEDS[page.stem]) is None:
        pytest.skip(f"needs {NEEDS[page.stem]}")
    for block, said in tool.session(page.read_text("utf-8")):
        if block.output is not None:
            assert tool.words_of(said) == tool.words_of(block.output), "run python docs/pages.py"


def test_the_code_of_the_readme_runs(tool: Any) -> None:
    done = list(tool.session((ROOT / "README.md").read_text("utf-8")))
    assert [block.kind for block, _ in done] == ["python"]


def test_every_page_is_looked_at(tool: Any) -> None:
    assert tool.pages() == runnable()
    blocks = [block for page in runnable() for block in tool.blocks(page.read_text("utf-8"))]
    assert sum(block.run for block in blocks) > 40
    fences = sum(
        len(re.findall(r"^ *```(bash|python)$", page.read_text("utf-8"), re.MULTILINE))
        for page in runnable()
    )
    assert len(blocks) == fences
    reasons = [why for page in runnable() for why in NOT_RUN.findall(page.read_text("utf-8"))]
    assert len(reasons) <= 8


def test_output_that_changed_is_noticed(tool: Any) -> None:
    page = '```python\nprint("nine lives: 9")\n```\n\n```text\nnine lives: 7\n```\n'
    ((block, said),) = tool.session(page)
    assert tool.words_of(said) == tool.words_of(block.output)  # figures may move
    assert tool.renewed(page) == page.replace("lives: 7", "lives: 9")
    ((block, said),) = tool.session(page.replace("\nnine", "\ntwo"))
    assert tool.words_of(said) != tool.words_of(block.output)


def test_a_page_may_run_no_other_command(tool: Any) -> None:
    with pytest.raises(ValueError, match="only run commands of unseen"):
        list(tool.session("```bash\nrm -r nothing\n```\n"))
    with pytest.raises(RuntimeError, match="ended with 2"):
        list(tool.session("```bash\nunseen check --nodes no.csv --classes no.csv\n```\n"))


def test_notebooks_are_the_tutorials(tool: Any) -> None:
    made = tool.notebooks()
    assert set(made) == set((ROOT / "examples").glob("*.ipynb"))
    assert len(made) == 5
    for path, content in made.items():
        assert path.read_text("utf-8") == content, "run python docs/pages.py notebooks"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["1-no-labels", "2-some-labels", "3-few-labels", "4-growing"])
def test_notebooks_run_and_show_pictures(name: str) -> None:
    nbclient = pytest.importorskip("nbclient", reason='needs pip install "unseen[notebooks]"')
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    book = nbformat.read(ROOT / "examples" / f"{name}.ipynb", as_version=4)
    nbformat.validate(book)
    with tempfile.TemporaryDirectory() as folder:
        for path in (ROOT / "examples").glob("*.csv"):
            (Path(folder) / path.name).write_bytes(path.read_bytes())
        if name == "4-growing":  # begins with what a command wrote
            import unseen

            graph = unseen.read_graph(f"{folder}/nodes.csv", f"{folder}/edges.csv")
            classes = unseen.read_classes(f"{folder}/classes.csv")
            unseen.classify(graph, classes).save(f"{folder}/monday")
        client = nbclient.NotebookClient(
            book, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}
        )
        client.execute()
    outputs = [out for cell in book.cells if cell.cell_type == "code" for out in cell.outputs]
    shown = {kind for out in outputs for kind in out.get("data", {})}
    assert not [out for out in outputs if out.output_type == "error"]
    if name != "4-growing":
        assert "application/vnd.plotly.v1+json" in shown, json.dumps(sorted(shown))
