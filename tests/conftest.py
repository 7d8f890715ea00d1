"""Where the tests find data, that they leave the home folder alone, and how they call commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import settings

from topic_graph import Call, one_thread

settings.register_profile("unseen", deadline=None)  # a busy machine is no failure
settings.load_profile("unseen")

PAPER_DATA = Path(__file__).parents[2] / "shared" / "data"
NEEDED = {  # rooms that are tested only where an extra is installed -> modules of that extra
    "models/baselines": ("torch", "ot", "geoopt"),
    "models/dgpn": ("torch", "numba"),
    "paper": ("torch", "numba", "ot", "geoopt", "optuna", "matplotlib"),
    "serve": ("fastapi", "uvicorn", "prometheus_client", "httpx"),
}


class WithoutExtra(pytest.Module):
    """A test file that cannot be imported here; it is skipped, and the reason named."""

    reason = ""

    def collect(self) -> NoReturn:
        pytest.skip(self.reason)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> WithoutExtra | None:
    """Collect a test file as one that is skipped where its extra is missing."""
    for room, modules in NEEDED.items():
        missing = [module for module in modules if find_spec(module) is None]
        if missing and module_path.is_relative_to(Path(__file__).parent / room):
            found: WithoutExtra = WithoutExtra.from_parent(parent, path=module_path)
            found.reason = f"needs {', '.join(missing)}"
            return found
    return None


@pytest.fixture(scope="session", autouse=True)
def _folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNSEEN_CACHE", str(tmp_path_factory.mktemp("cache")))
        if "UNSEEN_DATA" not in os.environ and PAPER_DATA.is_dir():
            patch.setenv("UNSEEN_DATA", str(PAPER_DATA))
        yield


@pytest.fixture
def paper_data(_folders: None) -> Path:
    """The folder of the paper's data sets; where there is none, the test is skipped."""
    named = os.environ.get("UNSEEN_DATA")
    if not named or not Path(named).is_dir():
        pytest.skip("the paper's data sets are not here: set UNSEEN_DATA to their folder")
    return Path(named)


@pytest.fixture(scope="module")
def quick_map() -> Iterator[None]:
    """Runs are saved with a map of zeros, and trained on one thread: neither is the point."""
    from unseen.report import layout

    def lay_out(vectors: Any, most: int, seed: int, groups: Any) -> tuple[Any, Any]:
        chosen = np.arange(min(most, len(vectors)))
        return chosen, np.zeros((len(chosen), 2), np.float32)

    with pytest.MonkeyPatch.context() as patch, one_thread():
        patch.setattr(layout, "lay_out", lay_out)
        yield


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Run a command as a shell would; return exit code, standard output, standard error."""
    import unseen.cli
    from unseen.cli import console

    monkeypatch.setattr(console, "SILENT", float("inf"))  # however slow the machine is
    monkeypatch.setattr(console, "VOICE", console.Voice())

    def run(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["unseen", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            unseen.cli.main()
        code = ended.value.code
        out, err = capsys.readouterr()
        return (code if isinstance(code, int) else int(code is not None)), out, err

    return run
