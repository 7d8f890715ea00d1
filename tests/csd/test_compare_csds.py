"""`unseen csd --nodes`: quality is measured on texts with labels, each node once."""

from __future__ import annotations

from pathlib import Path

import pytest

from topic_graph import Call

CLASSES = "name,description\nAstronomy,Stars.\nCooking,Food.\nMusic,Songs.\n"
NODES = "id,text,label\na,a star,Astronomy\nb,a soup,Cooking\nc,a song,Music\n"


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        (NODES.replace("a song", " "), "has texts with labels of 2 classes"),
        (NODES.replace("c,", "a,"), r"n\.csv line 4: id 'a' is already on line 2"),
        (NODES.replace("Music", "music"), r"n\.csv line 4: .*did you mean 'Music'"),
        ("id,text,label\n", "but no rows"),
    ],
)
def test_what_says_nothing_is_refused(nodes: str, message: str, call: Call, tmp_path: Path) -> None:
    import re

    (tmp_path / "c.csv").write_text(CLASSES, encoding="utf-8")
    (tmp_path / "n.csv").write_text(nodes, encoding="utf-8")
    given = ("csd", "--classes", tmp_path / "c.csv", "--nodes", tmp_path / "n.csv")
    code, told, complaint = call(*given)
    assert (code, told) == (2, "")
    assert re.search(message, complaint)
    (tmp_path / "n.csv").write_text(NODES, encoding="utf-8")
    assert call(*given)[0] == 0
