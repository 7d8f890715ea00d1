"""Pages of the manual of a database system, by part of the manual.

Source: the Debian package postgresql-doc-15 (15.20 in Debian 12; its version follows updates), the
documentation of PostgreSQL; PostgreSQL licence, which permits use, copying, modification and
distribution for any purpose without fee.

Node: a page of the manual that belongs to a part of it. Text: its title, without a number, and the
start of the page, up to 200 words, without lists of contents and navigation. Edge, directed: a
link in the text of the page to another page, but for lists of contents and the index. Class: the
part of the manual ("Server Administration"), by a plain name.

Kinds: texts of about 200 words; directed edges; a class that is a mixed remainder (the appendixes:
supplied modules, release notes, error codes, glossary).

Known weaknesses: the parts differ by reader more than by subject: replication is described for
administrators, among the commands and again in the internals. Pages that are little more than a
list of contents have a short text. Code and tables are part of the text.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from graphs.sources import Made, debian

PARTS = {  # page of a part: name of the class
    "tutorial.html": "Tutorial",
    "sql.html": "The SQL language",
    "admin.html": "Server administration",
    "client-interfaces.html": "Client interfaces",
    "server-programming.html": "Server programming",
    "reference.html": "Reference of commands and programs",
    "internals.html": "Internals of the server",
    "appendixes.html": "Appendixes: modules, release notes and other matters",
}
WORDS = 200
SKIPPED = {"navheader", "navfooter", "toc", "titlepage"}
BLOCKS = {"div", "p", "pre", "h1", "h2", "h3", "h4", "li", "dt", "dd", "tr", "td", "th", "table"}
VOID = {"br", "hr", "img", "link", "meta", "col", "input"}


class _Page(HTMLParser):
    """Title, place, text and links of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.title = ""
        self.above = ""
        self.pieces: list[str] = []
        self.links: set[str] = set()
        self._open: list[tuple[str, bool]] = []  # tag, whether what it holds is left out

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        target = (given.get("href") or "").split("#")[0]
        if tag == "a" and given.get("accesskey") == "u":
            self.above = target
        hidden = self._hidden() or given.get("class") in SKIPPED
        # The heading of a page of reference repeats its title.
        hidden |= given.get("class") == "refentrytitle" and self._open[-1][0] == "h2"
        if tag == "a" and not hidden and re.fullmatch(r"[\w.-]+\.html", target):
            self.links.add(target)
        if tag in BLOCKS:
            self.pieces.append(" ")
        if tag not in VOID:
            self._open.append((tag, hidden))

    def handle_endtag(self, tag: str) -> None:
        while tag not in VOID and self._open and self._open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        tags = [tag for tag, _ in self._open]
        if "title" in tags:
            self.title += data
        elif "body" in tags and not self._hidden():
            self.pieces.append(data)

    def _hidden(self) -> bool:
        return bool(self._open) and self._open[-1][1]


def build() -> Made:
    """Read the pages and return those of the eight parts."""
    folder = debian("postgresql-doc-15") / "usr/share/doc/postgresql-doc-15/html"
    pages = {path.name: _read(path) for path in sorted(folder.glob("*.html"))}
    ids: list[str] = []
    labels: list[str] = []
    for own in pages:
        here = own
        while here in pages and here not in PARTS and here != pages[here].above:
            here = pages[here].above
        if here in PARTS and own not in PARTS:
            ids.append(own)
            labels.append(PARTS[here])
    kept = set(ids)
    edges = sorted((own, other) for own in ids for other in pages[own].links & kept - {own})
    return Made(ids, [_text(pages[own]) for own in ids], labels, edges, directed=True)


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    page.close()
    return page


def _text(page: _Page) -> str:
    # "Chapter 5. Data Definition", "5.1. Table Basics", "F.2. amcheck"
    title = re.sub(r"^(?:Chapter|Appendix|Part)?\s*(?:[A-Z0-9]+\.)+\s+", "", page.title.strip())
    return " ".join(f"{title}. {''.join(page.pieces)}".split()[:WORDS])
