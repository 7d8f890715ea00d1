"""`unseen demo`; `unseen reproduce` is tested with the paper."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from topic_graph import Call
from unseen.io.atomic import check_folder


@pytest.mark.slow
def test_demo(call: Call, tmp_path: Path) -> None:
    code, told, complaint = call("demo", "--out", tmp_path / "demo", "--json")
    assert (code, complaint) == (0, "")
    rows = json.loads(told)["rows"]
    assert rows["full pipeline"]["accuracy"] > 70  # the README has the figure; the goal is 80
    floor, text = rows["majority class"]["accuracy"], rows["text only"]["accuracy"]
    assert floor < text < rows["full pipeline"]["accuracy"]
    check_folder(tmp_path / "demo")
