"""Make the pictures of README and documentation again, with Chromium (see `make test-all`).

    python docs/pictures.py

The figures of tutorial 1 are of `examples/`; the report is the demo's; the page of `unseen serve`
shows the embedded graph without labels.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from PIL import Image

import unseen

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from serve.browser import Visitor, opened, served

HERE = Path(__file__).parent
ROOT = HERE.parent
NODE = "_thread"  # whose neighbours are of several classes


def main() -> None:
    with tempfile.TemporaryDirectory() as made, opened() as browser:
        work = Path(made)
        page = browser.new_context(viewport={"width": 800, "height": 480}).new_page()
        for name, figure in figures():
            figure.write_html(work / f"{name}.html", config={"displayModeBar": False})
            page.goto((work / f"{name}.html").as_uri())
            page.wait_for_selector(".plot-container")
            kept(page.screenshot, name)
        run(work, "demo", "--out", "demo")
        page.set_viewport_size({"width": 1280, "height": 860})
        page.goto((work / "demo" / "report.html").as_uri())
        kept(page.screenshot, "report")
        run(work, "datasets", "export", "stdlib", "graph")
        files = [f"--{kind}=graph/{kind}.csv" for kind in ("nodes", "edges", "classes")]
        run(work, "classify", *files, "--out", "stdlib")
        with served(work / "stdlib") as base:
            visitor = Visitor(browser, base, "Ada")
            for name, place, until in (
                ("serve", "", "#map[data-ready]"),
                ("serve-node", f"node/{NODE}", ".node h1"),
            ):
                page = visitor.go(place, until)
                page.wait_for_timeout(1000)  # until the map has moved there
                kept(page.screenshot, name)


def figures() -> Iterator[tuple[str, Any]]:
    """Yield the figures of tutorial 1."""
    with contextlib.chdir(ROOT / "examples"):
        prediction = unseen.classify(
            unseen.read_graph("nodes.csv", "edges.csv"), unseen.read_classes("classes.csv")
        )
        yield "map", prediction.plot_map()
        yield "confidence", prediction.plot_confidence()
        yield "confusion", prediction.plot_confusion("truth.csv")


def run(folder: Path, *words: str) -> None:
    """Run `unseen` in a folder."""
    command = [sys.executable, "-m", "unseen.cli", *words]
    subprocess.run(command, cwd=folder, check=True, env=dict(os.environ), capture_output=True)


def kept(screenshot: Callable[..., bytes], name: str) -> None:
    """Keep a screenshot, without its transparency."""
    path = HERE / "pictures" / f"{name}.png"
    screenshot(path=path)
    Image.open(path).convert("RGB").save(path, optimize=True)


if __name__ == "__main__":
    main()
