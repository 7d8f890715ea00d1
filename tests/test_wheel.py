"""What is built and handed out: the wheel holds the package, the sdist all that its tests need."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import unseen

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a wheel and an sdist, made without a network."""
    pytest.importorskip("build", reason="it builds")
    pytest.importorskip("hatchling", reason="it builds")
    folder = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--sdist"]
    subprocess.run([*command, "--outdir", folder, ROOT], check=True, capture_output=True)
    return folder


def files(*folders: str) -> set[str]:
    """Return the files under folders of the repository, by their paths in it."""
    return {
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and ".small." not in path.name
    }


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    expected = {name.removeprefix("src/") for name in files("src")}
    assert {"unseen/report/page.html", "unseen/datasets/stdlib_sections.toml"} <= expected
    assert inside == expected


def test_the_sdist_holds_what_its_tests_read(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert files("src", "tests", "results", "benchmarks", "docs", "examples", ".ci") <= inside
    assert {"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "constraints.txt"} <= inside


def test_the_version_is_the_same_in_both_places() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == unseen.__version__
