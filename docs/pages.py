"""Run the code of a page, and compare or renew the output that it shows.

A page is one session, in a folder of its own that begins as a copy of examples/. Blocks marked
`bash` hold commands of `unseen`, blocks marked `python` share one set of names. A `text` block
right after one of them is its output: compared without digits, lines of tables and spaces, so that
a figure may move and a word may not. `<!-- not run: why -->` before a block leaves it out.

    python docs/pages.py            renew the output shown by all pages
    python docs/pages.py notebooks  write examples/*.ipynb from the tutorials
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

DOCS = Path(__file__).parent
EXAMPLES = DOCS.parent / "examples"
FOLDERS = ("start", "tutorials", "how-to")
BLOCK = re.compile(
    r"(?P<before>(?:<!-- not run: [^>]*-->\n)?)```(?P<kind>bash|python)\n(?P<code>.*?)```\n"
    r"(?:\n```text\n(?P<output>.*?)```\n)?",
    re.DOTALL,
)
IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)(\{[^}]*\})?\n?")
LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")
NOT_WORDS = re.compile(r"[\d.,%\s\u2500-\u257f…-]+")


@dataclass(frozen=True)
class Block:
    """Code of a page, and the output that stands below it."""

    kind: str
    code: str
    output: str | None
    run: bool


def pages() -> list[Path]:
    """Return the pages whose code is run."""
    return sorted(page for folder in FOLDERS for page in (DOCS / folder).glob("*.md"))


def blocks(text: str) -> list[Block]:
    """Return the code of a page, in order."""
    return [
        Block(found["kind"], found["code"], found["output"], not found["before"])
        for found in BLOCK.finditer(text)
    ]


def session(text: str) -> Iterator[tuple[Block, str]]:
    """Run the blocks of a page one after the other; yield each with what it printed."""
    names: dict[str, Any] = {"__name__": "page"}
    with tempfile.TemporaryDirectory() as folder:
        for path in EXAMPLES.glob("*.csv"):
            shutil.copy(path, folder)
        for block in blocks(text):
            if block.run:
                said = io.StringIO()
                with contextlib.chdir(folder), contextlib.redirect_stdout(said):
                    if block.kind == "python":
                        exec(compile(block.code, "<page>", "exec"), names)
                    else:
                        _commands(block.code)
                yield block, said.getvalue()


def _commands(code: str) -> None:
    """Run lines of a shell, which may hold nothing but commands of `unseen`."""
    from unseen.cli import main

    for line in code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        if words[0] != "unseen":
            raise ValueError(f"a page may only run commands of unseen, found {line!r}")
        with patch.object(sys, "argv", words), patch.dict(os.environ, {"COLUMNS": "80"}):
            try:
                main()
            except SystemExit as ended:
                if ended.code not in (0, None):
                    raise RuntimeError(f"{line!r} ended with {ended.code}") from ended


def words_of(output: str) -> str:
    """Return what is compared of an output: its words."""
    return NOT_WORDS.sub(" ", output).strip()


def renewed(text: str) -> str:
    """Return a page with the output that its code prints now."""
    printed = iter([said for block, said in session(text) if block.output is not None])

    def new(found: re.Match[str]) -> str:
        if found["output"] is None or found["before"]:
            return found[0]
        lines = "\n".join(line.rstrip() for line in next(printed).rstrip().splitlines())
        start, end = (at - found.start() for at in found.span("output"))
        return found[0][:start] + lines + "\n" + found[0][end:]

    return BLOCK.sub(new, text)


def notebook(text: str) -> dict[str, Any]:
    """Return a tutorial as a notebook: its Python as cells of code, the rest as text."""
    cells: list[dict[str, Any]] = []

    def add(kind: str, source: str) -> None:
        if source.strip():
            more: dict[str, Any] = (
                {"execution_count": None, "outputs": []} if kind == "code" else {}
            )
            lines = source.strip("\n").splitlines(keepends=True)
            cell: dict[str, Any] = {
                "id": f"cell-{len(cells)}",
                "cell_type": kind,
                "metadata": {},
                **more,
            }
            cells.append({**cell, "source": lines})

    end = 0
    prose: list[str] = []
    for found in BLOCK.finditer(text):
        prose.append(text[end : found.start()])
        end = found.end()
        if found["kind"] == "python" and not found["before"]:
            add("markdown", _plain("".join(prose)))
            add("code", found["code"])
            prose = []
        else:
            prose.append(found[0])
    add("markdown", _plain("".join(prose) + text[end:]))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _plain(text: str) -> str:
    """Return text without pictures and links, which lead nowhere from a notebook."""
    return LINK.sub(r"\1", IMAGE.sub("", text))


def notebooks() -> dict[Path, str]:
    """Return the notebooks of the tutorials that hold Python, by their places."""
    made = {page: notebook(page.read_text("utf-8")) for page in (DOCS / "tutorials").glob("*.md")}
    return {
        EXAMPLES / f"{page.stem}.ipynb": json.dumps(book, indent=1, ensure_ascii=False) + "\n"
        for page, book in made.items()
        if any(cell["cell_type"] == "code" for cell in book["cells"])
    }


if __name__ == "__main__":
    if sys.argv[1:] == ["notebooks"]:
        for path, content in notebooks().items():
            path.write_text(content, "utf-8")
    else:
        for path in pages():
            path.write_text(renewed(path.read_text("utf-8")), "utf-8")
