"""The means that related-work.md shows are those of the records."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unseen.core.labels import Labels

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "understand" / "related-work.md"


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "results")
    return import_module("peers")


def test_the_page_shows_the_means_of_the_records(peers: Any) -> None:
    cells = peers.table().splitlines()[-1].removeprefix("| mean |")
    assert f"\n|{cells}\n" in PAGE.read_text("utf-8")


def test_labels_travel_along_edges_and_nowhere_else(peers: Any) -> None:
    """A path 0-1-2-3 with a label at both ends, and a node apart, which gets the commonest."""
    A = np.zeros((6, 6), np.float32)
    for a, b in ((0, 1), (1, 2), (2, 3)):
        A[a, b] = A[b, a] = 1
    labels = Labels(np.array([2, -1, -1, 1, -1, 1]))
    assert peers.label_propagation(A, labels, 3).tolist() == [2, 2, 1, 1, 1, 1]
