"""What the tests of the command line share: sound files, and what a mistake looks like."""

from __future__ import annotations

import re
from pathlib import Path

NODES = "id,text,label\na,a star,Astronomy\nb,a comet,\nc,a soup,Cooking\nd,an oven,\n"
EDGES = "source,target,weight\na,b,1\nc,d,2\n"
CLASSES = "name,description\nAstronomy,Stars.\nCooking,Food.\nMusic,Songs.\n"


def options(paths: dict[str, Path]) -> list[object]:
    return [word for name, path in paths.items() for word in (f"--{name}", path)]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def one_line(result: tuple[int, str, str], message: str) -> None:
    """A user's mistake: exit code 2, and one line that says what it is."""
    code, told, complaint = result
    assert code == 2, complaint
    assert told == ""
    assert complaint.startswith("unseen: ")
    assert complaint.endswith("\n")
    assert complaint.count("\n") == 1
    assert "Traceback" not in complaint
    assert re.search(message, complaint), complaint
