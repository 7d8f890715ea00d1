"""Where the tests find data, and that they leave the home folder alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

PAPER_DATA = Path(__file__).parents[2] / "shared" / "data"


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
