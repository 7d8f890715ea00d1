"""The Spanish manuals of LilyPond, a program for printing music.

Source: the Debian package lilypond-doc-html-es 2.24.1, GNU Free Documentation License 1.3 or later.

Node: a section of the manuals on notation, learning, usage or extending. Text, in Spanish: its
heading and body, up to 150 words, without music. Edge, directed: the section links to the other.
Class: the chapter, by its heading; chapters of the manuals of usage and of extending are put
together, as are the first ones of the manual of learning.

Kinds: documentation in another language than English, class names in Spanish too; texts of about
100 words; directed edges.

Known weaknesses: manuals treat the same things for beginners and for others. Some sections, mostly
with snippets of music, have not been translated in full. Lists of links to other sections are part
of a section.
"""

from __future__ import annotations

import html
import re
from pathlib import Path

from graphs.sources import Made, debian, start

CHAPTERS = {  # manual and chapter: class
    "notation 1": "Notación musical general",
    "notation 2": "Notación especializada",
    "notation 3": "Entrada y salida generales",
    "notation 4": "Problemas de espaciado",
    "notation 5": "Cambiar los valores por omisión",
    "learning 2": "Tutorial y notación corriente",
    "learning 3": "Tutorial y notación corriente",
    "learning 4": "Conceptos fundamentales",
    "learning 5": "Trucar la salida",
    "learning A": "Plantillas",
    **{f"usage {n}": "Uso del programa y programas externos" for n in range(1, 6)},
    **{f"extending {letter}": "Programación en Scheme" for letter in "AB"},
}
WORDS = 150
FEWEST = 10  # words of a section
HEADING = re.compile(  # <a name="ties"></a> <h4 class="unnumberedsubsubsec">
    r'<a name="([^"]+)"></a>\s*<h[1-4] class="(?:chapter|appendix|appendixsec|section|subsection'
    r'|unnumberedsubsec|unnumberedsubsubsec|appendixsubsec)">'
)
ASIDE = re.compile(  # navigation, music and its code
    r'<table class="nav_table">.*?</table>|<pre.*?</pre>|<div id="(?:tocframe|footer)".*',
    re.DOTALL,
)
LINK = re.compile(r'href="(?:\.\./(\w+)/)?([\w-]*)(?:\.es)?(?:\.html)?(?:#([\w-]+))?"')
LISTED = re.compile(r'<li><a [^>]*href="([\w-]+)(?:\.es)?\.html[^"]*">(\w+)\.')


def build() -> Made:
    """Read the pages of the manuals, in the order of names, and cut them at headings."""
    folder = debian("lilypond-doc-html-es") / "usr/share/doc/lilypond/html/Documentation"
    bodies: dict[str, str] = {}
    texts: dict[str, str] = {}
    labels: dict[str, str] = {}
    first: dict[str, str] = {}  # page: its first section
    for manual in ("notation", "learning", "usage", "extending"):
        chapters = _chapters(folder / manual / "index.es.html")
        for page, chapter in sorted(chapters.items()):
            file, label = folder / manual / f"{page}.es.html", CHAPTERS.get(f"{manual} {chapter}")
            if label is None or not file.exists():
                continue
            parts = HEADING.split(ASIDE.sub(" ", file.read_text(encoding="utf-8")))
            for anchor, body in zip(parts[1::2], parts[2::2], strict=True):
                said = html.unescape(re.sub(r"<[^>]+>", " ", body))
                said = re.sub(r"^[\s\dA-Z.]+(?=\s)", "", said)  # "1.2.2 "
                own = f"{manual}/{anchor}"
                first.setdefault(f"{manual}/{page}", own)
                if len(said.split()) >= FEWEST:
                    bodies[own], labels[own], texts[own] = body, label, start(said, WORDS)
    every: set[tuple[str, str]] = set()
    for own, body in bodies.items():
        for manual, page, anchor in LINK.findall(body):
            where = manual or own.partition("/")[0]
            every.add((own, f"{where}/{anchor}" if anchor else first.get(f"{where}/{page}", "")))
    edges = sorted(edge for edge in every if edge[0] != edge[1] and edge[1] in texts)
    return Made(list(texts), list(texts.values()), list(labels.values()), edges, directed=True)


def _chapters(index: Path) -> dict[str, str]:
    """Return the number or letter of the chapter that each page of a manual is in."""
    return dict(LISTED.findall(index.read_text(encoding="utf-8")))
