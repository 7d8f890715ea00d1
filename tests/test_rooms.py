"""Rules of the house, counted in the source: who may import whom, how long a file may be.

A room is a folder of `src/unseen`; modules beside the folders are one room, the street. Imports in
functions and under `TYPE_CHECKING` count like any other.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "unseen"
STREET = "the street"
ABOVE = {"cli", "paper", "serve"}  # rooms that may look at the street
MAY_EVALUATE = {"evaluate", "report", "paper", "cli/evaluate.py", "demo.py"}
CEILING = 300  # lines of a file
KINDS = ("BeliefPropagation", "ClusterMatching", "DGPN", "Prototype", "Model", "ScoreModel")
NO_MODEL = ("estimator.py", "answer.py", "inference.py", "run.py", "record.py", "check.py")


def imported(source: str, module: str, is_package: bool) -> Iterator[str]:
    """Yield the dotted names that a module imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = module.split(".")
            up = node.level - 1 if is_package else node.level
            base = parts[: len(parts) - up] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{stem}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("import_module", "__import__"):
                yield str(node.args[0].value)


def room_of(name: str) -> str | None:
    """Return the room that a dotted name lies in; None for what is not of this package."""
    parts = name.split(".")
    if parts[0] != "unseen" or len(parts) < 2 or parts[1].startswith("__"):
        return None
    return parts[1] if (PACKAGE / parts[1]).is_dir() else STREET


def files() -> list[Path]:
    """Return the modules of the package, but for the front door, which names everything."""
    places = (path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    return sorted(place for place in places if place != Path("__init__.py"))


def names_in(place: Path) -> Iterator[str]:
    """Yield the dotted names that a file imports."""
    is_package = place.name == "__init__.py"
    inner = place.parts[:-1] if is_package else (*place.parts[:-1], place.stem)
    source = (PACKAGE / place).read_text(encoding="utf-8")
    yield from imported(source, ".".join(("unseen", *inner)), is_package)


@cache
def doors() -> dict[str, dict[str, list[str]]]:
    """Return which rooms each room imports, and by which files."""
    found: dict[str, dict[str, list[str]]] = {}
    for place in files():
        room = place.parts[0] if len(place.parts) > 1 else STREET
        for name in names_in(place):
            other = room_of(name)
            if other is not None and other != room:
                found.setdefault(room, {}).setdefault(other, []).append(f"{place} -> {name}")
    return found


def cycle_in(links: dict[str, set[str]]) -> list[str]:
    """Return rooms that import each other in a circle; none if there are no such rooms."""
    done: set[str] = set()

    def visit(room: str, path: list[str]) -> list[str]:
        if room in path:
            return [*path[path.index(room) :], room]
        if room in done:
            return []
        for other in sorted(links.get(room, ())):
            found = visit(other, [*path, room])
            if found:
                return found
        done.add(room)
        return []

    for room in sorted(links):
        found = visit(room, [])
        if found:
            return found
    return []


def test_no_rooms_import_each_other_in_a_circle() -> None:
    links = {room: set(others) for room, others in doors().items()}
    circle = cycle_in(links)
    steps = [f"{a} -> {b}: {', '.join(doors()[a][b][:3])}" for a, b in pairwise(circle)]
    assert not circle, "\n".join(steps)


def test_no_room_but_the_command_line_and_the_paper_looks_at_the_street() -> None:
    found = {
        room: others[STREET]
        for room, others in doors().items()
        if STREET in others and room not in ABOVE
    }
    assert found == {}


def test_nothing_but_the_command_line_imports_it() -> None:
    assert [room for room, others in doors().items() if "cli" in others] == []


def test_the_core_imports_no_other_room() -> None:
    assert doors().get("core", {}) == {}


def test_a_circle_would_be_found() -> None:
    assert cycle_in({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert cycle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert cycle_in({"x": {"a"}, "a": {"a2", "b"}, "b": {"x"}}) == ["a", "b", "x", "a"]


def fitting() -> list[Path]:
    """Return the files that must not see the labels of unseen classes."""
    return [p for p in files() if not {p.parts[0], p.as_posix()} & MAY_EVALUATE]


@pytest.mark.parametrize("place", fitting(), ids=str)
def test_nothing_that_fits_imports_evaluate(place: Path) -> None:
    assert [name for name in names_in(place) if room_of(name) == "evaluate"] == []


def test_the_walls_are_looked_at() -> None:
    assert {Path("core/graph.py"), Path("estimator.py"), Path("csd/quality.py")} <= set(fitting())
    assert all((PACKAGE / place).exists() for place in MAY_EVALUATE)
    assert any(room_of(name) == "evaluate" for name in names_in(Path("demo.py")))


@pytest.mark.parametrize(
    "line",
    [
        "from unseen.models.base import Model",
        "import unseen.models.base",
        "from unseen import models",
        "from ..models import base",
        "from .. import models",
        "def f():\n    from unseen.models.base import Model",
        "if TYPE_CHECKING:\n    from unseen.models.base import Model",
        "import importlib\nimportlib.import_module('unseen.models.base')",
    ],
)
def test_an_import_of_any_kind_counts(line: str) -> None:
    rooms = {room_of(name) for name in imported(line, "unseen.core.graph", False)}
    assert "models" in rooms


def test_packages_count_their_dots_from_themselves() -> None:
    (name,) = imported("from ..models import base", "unseen.disk", is_package=True)
    assert name == "unseen.models.base"
    (name,) = imported("from .base import Model", "unseen.models", is_package=True)
    assert name == "unseen.models.base.Model"


def test_modules_beside_the_folders_are_the_street() -> None:
    assert room_of("unseen.estimator.classify") == STREET
    assert room_of("unseen.core.graph") == "core"
    assert room_of("numpy.linalg") is None
    assert room_of("unseen.__version__") is None
    assert room_of("unseen.evaluation") == STREET  # no such folder
    assert set(doors()) >= {"models", "io", "encode", "cli", STREET}


@pytest.mark.parametrize("name", NO_MODEL)
def test_no_model_is_known_by_its_type(name: str) -> None:
    """Neither by `isinstance` nor by importing one: the contract is all that the street uses."""
    source = (PACKAGE / name).read_text(encoding="utf-8")
    asked = [
        ast.unparse(node)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") in ("isinstance", "issubclass", "type")
        and any(kind in ast.unparse(node) for kind in (*KINDS, "model_,", ".model,"))
    ]
    assert asked == []
    models = {
        found
        for found in imported(source, f"unseen.{name.removesuffix('.py')}", False)
        if found.rpartition(".")[2] in KINDS
    }
    assert models == set()


def test_no_file_is_longer_than_one_idea() -> None:
    long = {
        str(path.relative_to(PACKAGE)): count
        for path in PACKAGE.rglob("*.py")
        if (count := len(path.read_text(encoding="utf-8").splitlines())) > CEILING
    }
    assert long == {}


def test_no_python_that_is_started_imports_from_the_current_folder() -> None:
    """Where data lies, a `json.py` may lie, too."""
    started = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.List) and node.elts:
                words = [ast.unparse(each) for each in node.elts[:2]]
                if words[0] == "sys.executable":
                    started.append((path.name, words[1:]))
    assert len(started) >= 3
    assert [each for each in started if each[1] != ["'-P'"]] == []
