"""The public names: there at run time, there for a type checker, and nothing else."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import unseen

ROOT = Path(__file__).parents[1]
SOURCE = (ROOT / "src" / "unseen" / "__init__.py").read_text(encoding="utf-8")


def listed(name: str) -> dict[str, str]:
    """Return a constant dictionary of the file."""
    for node in ast.parse(SOURCE).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            found: dict[str, str] = ast.literal_eval(node.value)
            return found
    raise AssertionError(f"no {name}")


def typed() -> dict[str, tuple[str, str]]:
    """Return the names that a type checker sees, with module and name at their home."""
    for node in ast.parse(SOURCE).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return {
                alias.asname or alias.name: (str(line.module), alias.name)
                for line in node.body
                if isinstance(line, ast.ImportFrom)
                for alias in line.names
            }
    raise AssertionError("no names for type checkers")


def test_dir_shows_public_names_only() -> None:
    assert sorted(dir(unseen)) == sorted(unseen.__all__)
    assert len(set(unseen.__all__)) == len(unseen.__all__)


@pytest.mark.parametrize("name", unseen.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    found = getattr(unseen, name)
    assert found.__doc__


def test_all_lists_agree() -> None:
    homes = listed("_HOMES")
    assert sorted(homes) == sorted(typed()) == sorted(unseen.__all__)
    assert {name: home for name, (home, _) in typed().items()} == homes


@pytest.mark.parametrize("name", sorted(typed()))
def test_a_type_checker_sees_the_same_object(name: str) -> None:
    home, inner = typed()[name]
    __import__(home)
    assert getattr(sys.modules[home], inner) is getattr(unseen, name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Refine", r"^unseen\.Refine is unseen\.BeliefPropagation, .* since 0\.9$"),
        ("predict", r"^unseen\.predict is unseen\.ZeroShotNodeClassifier\.explain\(.* since 0\.9$"),
        ("nothing", r"^module 'unseen' has no attribute 'nothing'$"),
    ],
)
def test_names_that_are_not_there(name: str, message: str) -> None:
    with pytest.raises(AttributeError, match=message):
        getattr(unseen, name)


RIGHT = """
import unseen

graph = unseen.read_graph("nodes.csv", "edges.csv")
found: unseen.Prediction = unseen.classify(graph, ["a", "b"], among="unseen", seed=1)
fitted = unseen.ZeroShotNodeClassifier(abstain=0.5).fit(graph, {"a": "A.", "b": "B."})
shape: tuple[int, ...] = fitted.predict_proba().shape
more: unseen.Prediction = fitted.add_nodes(None)
model: unseen.Model = unseen.BeliefPropagation(rounds=3)
"""
WRONG = {
    "unseen.classify(1, 2, nonsense=3)": "call-arg",
    'unseen.classify(1, 2, among="some")': "arg-type",
    "unseen.nonsense": "attr-defined",
    "unseen.ZeroShotNodeClassifier(5)": "call-arg|misc",
    "unseen.classify(1, 2).labell": "attr-defined",
}


def test_a_users_script_is_type_checked(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "right.py").write_text(RIGHT, encoding="utf-8")
    lines = "\n".join(WRONG)
    (tmp_path / "wrong.py").write_text(f"import unseen\n{lines}\n", encoding="utf-8")
    command = ["mypy", "--config-file", ROOT / "pyproject.toml", "--no-error-summary"]
    scripts = [tmp_path / "right.py", tmp_path / "wrong.py"]
    done = subprocess.run(
        [sys.executable, "-m", *map(str, command), *map(str, scripts)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    complaints = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert [line for line in complaints if "right.py" in line] == [], done.stdout
    for row, (line, code) in enumerate(WRONG.items(), start=2):
        found = [each for each in complaints if f"wrong.py:{row}:" in each]
        assert any(f"[{one}]" in each for each in found for one in code.split("|")), (line, found)


def test_importing_the_package_imports_nothing_heavy() -> None:
    script = (
        "import sys, unseen\n"
        "dir(unseen)\n"
        "print([m for m in ('numpy', 'polars', 'scipy', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr
