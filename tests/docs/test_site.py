"""The site builds without a warning, offline, and loads nothing from another host."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

import pytest

import unseen

ROOT = Path(__file__).parents[2]
LOADS = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
ELSEWHERE = re.compile(r"^(https?:)?//")


class Page(HTMLParser):
    """Links, anchors and what a browser would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.ids |= {name for name in (found.get("id"), found.get("name")) if name}
        if tag == "a" and found.get("href"):
            self.links.append(str(found["href"]))
        if tag in LOADS and found.get(LOADS[tag]) and found.get("rel") != "canonical":
            self.loads.append(str(found[LOADS[tag]]))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    for module in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(module, reason='needs pip install "unseen[docs]"')
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    return {
        path.relative_to(site).as_posix(): Page(path.read_text("utf-8"))
        for path in site.rglob("*.html")
    }


@pytest.mark.slow
def test_nothing_is_loaded_from_another_host(pages: dict[str, Page]) -> None:
    found = {name: [x for x in page.loads if ELSEWHERE.match(x)] for name, page in pages.items()}
    assert {name: links for name, links in found.items() if links} == {}


def ends(name: str, page: Page) -> Iterator[tuple[str, str]]:
    """Yield file and anchor of every link within the site."""
    for link in (*page.links, *page.loads):
        if not ELSEWHERE.match(link) and not link.startswith(("mailto:", "javascript:", "data:")):
            place, anchor = urldefrag(urljoin(f"/{name}", link))
            yield unquote(place.lstrip("/")), unquote(anchor)


@pytest.mark.slow
def test_every_link_leads_somewhere(site: Path, pages: dict[str, Page]) -> None:
    broken = [
        (name, place, anchor)
        for name, page in pages.items()
        if name != "404.html"
        for place, anchor in ends(name, page)
        if not (site / place).exists()
        or (anchor and place in pages and anchor not in pages[place].ids and "__" not in anchor)
    ]
    assert broken == []


@pytest.mark.slow
def test_the_reference_has_every_public_name_and_command(site: Path) -> None:
    reference = (site / "reference" / "api.html").read_text("utf-8")
    named = {"load_dataset": "unseen.load_dataset"}
    missing = [n for n in unseen.__all__ if not re.search(rf"\b{named.get(n, n)}\b", reference)]
    assert missing == []
    commands = (site / "reference" / "commands.html").read_text("utf-8")
    for command in ("classify", "describe", "suggest", "reproduce", "datasets list"):
        assert f"unseen {command}" in commands
    assert "<code>unseen evaluate --predictions run/predictions.csv --truth truth.csv" in commands
    assert "[bold]" not in commands
    assert "unseen walk" not in commands  # gone, and only told so on the command line
    assert ">>>" not in re.sub(r"<pre.*?</pre>", "", reference, flags=re.DOTALL)


@pytest.mark.slow
def test_no_python_of_docs_is_part_of_the_site(site: Path) -> None:
    assert list(site.rglob("*.py")) == []


def test_links_out_of_docs_become_text(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mkdocs", reason='needs pip install "unseen[docs]"')
    monkeypatch.syspath_prepend(ROOT / "docs")
    hooks: Any = import_module("hooks")
    kept = hooks.without_links_out("[a](b.md) [x](../results/zoo.py) ![p](../docs/a.png)", "s/p.md")
    assert kept == "[a](b.md) [x](../results/zoo.py) ![p](../docs/a.png)"  # all within docs/
    changed = hooks.without_links_out("see [zoo.py](../results/zoo.py).", "results.md")
    assert changed == "see zoo.py."
