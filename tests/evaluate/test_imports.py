"""A rule of the house: nothing that fits may look at the room that knows the truth."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "unseen"
ROOM = "unseen.evaluate"
MAY_FOLDERS = {"evaluate", "report", "paper"}
MAY_FILES = {"cli/judge.py", "demo.py"}


def imported(source: str, module: str, is_package: bool) -> Iterator[str]:
    """Yield the dotted names that a module imports, relative and in functions included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = module.split(".")
            up = node.level - 1 if is_package else node.level
            base = parts[: len(parts) - up] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            yield stem
            yield from (f"{stem}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("import_module", "__import__"):
                yield str(node.args[0].value)


def breaks_the_rule(source: str, module: str, is_package: bool = False) -> bool:
    """Tell whether a module imports the evaluation room, or a part of it."""
    names = imported(source, module, is_package)
    return any(name == ROOM or name.startswith(ROOM + ".") for name in names)


def modules() -> list[Path]:
    """Return the files that must not import the evaluation room."""
    files = (path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    return sorted(
        path
        for path in files
        if path.parts[0] not in MAY_FOLDERS and path.as_posix() not in MAY_FILES
    )


@pytest.mark.parametrize("path", modules(), ids=str)
def test_nothing_that_fits_imports_evaluate(path: Path) -> None:
    is_package = path.name == "__init__.py"
    parts = path.parts[:-1] if is_package else (*path.parts[:-1], path.stem)
    source = (PACKAGE / path).read_text(encoding="utf-8")
    assert not breaks_the_rule(source, ".".join(["unseen", *parts]), is_package), (
        f"{path} imports {ROOM}, where the labels of unseen classes are known; "
        f"only {sorted(MAY_FOLDERS | MAY_FILES)} may"
    )


def test_the_check_finds_modules() -> None:
    assert Path("graph.py") in modules()
    assert Path("csd/quality.py") in modules()
    assert not any(path.parts[0] == "evaluate" for path in modules())


@pytest.mark.parametrize(
    "line",
    [
        "import unseen.evaluate",
        "import unseen.evaluate.metrics as m",
        "from unseen import evaluate",
        "from unseen.evaluate import score",
        "from unseen.evaluate.metrics import score",
        "from ..evaluate import score",
        "from .. import evaluate",
        "def f():\n    from unseen.evaluate import score",
        "import importlib\nimportlib.import_module('unseen.evaluate.metrics')",
    ],
)
def test_the_check_can_fail(line: str) -> None:
    assert breaks_the_rule(line, "unseen.models.dgpn")


@pytest.mark.parametrize(
    "line", ["import unseen.evaluation", "from unseen import graph", "from . import evaluate"]
)
def test_the_check_can_pass(line: str) -> None:
    assert not breaks_the_rule(line, "unseen.models.dgpn")


def test_the_check_knows_packages() -> None:
    assert breaks_the_rule("from .evaluate import score", "unseen", is_package=True)
    assert breaks_the_rule("from ..evaluate import score", "unseen.models", is_package=True)
