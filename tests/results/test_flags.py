"""Answers are counted by flag."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def flags(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "results")
    return import_module("flags")


def test_every_answer_counts_once_with_and_once_without(flags: Any) -> None:
    told = ["close call", "", "text disagrees; close call", ""]
    found = flags.counted(told, np.array([True, True, False, False]))
    assert found["close call"] == {"answers": 2, "right": 1}
    assert found["text disagrees"] == {"answers": 1, "right": 0}
    assert found["any flag"] == {"answers": 2, "right": 1}
    assert found["no flag"] == {"answers": 2, "right": 1}
    assert found["no text"] == {"answers": 0, "right": 0}
