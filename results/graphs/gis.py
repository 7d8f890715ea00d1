"""The manual of GRASS, a geographic information system.

Source: the Debian package grass-doc 8.2.1, GPL version 2 or later.

Node: the page of a command. Text: its one-line description and the start of its "DESCRIPTION", up
to 200 words, without the name of the command. Edge, directed: the page links to the other. Class:
the family of the command, which is the first part of its name ("r" in r.slope.aspect) and heads its
keywords, by a plain name.

Kinds: texts of up to 200 words; directed edges; a class of six nodes.

Known weaknesses: texts name other commands with the letter of their family. Commands of three
families may do the same thing for another kind of map. Imagery is raster data too.
"""

from __future__ import annotations

import html
import re

from graphs.sources import Made, debian, start

FAMILIES = {
    "d": "Display",
    "db": "Databases",
    "g": "General file and session management",
    "i": "Imagery",
    "m": "Miscellaneous",
    "r": "Raster maps",
    "r3": "3D raster maps",
    "t": "Temporal data",
    "v": "Vector maps",
}
WORDS = 200
ONE_LINE = re.compile(r"<h2>NAME</h2>.*?</b></em>\s*-\s*(.*?)<h2>", re.DOTALL)
BODY = re.compile(r"<h2>(?:<a[^>]*>)?DESCRIPTION.*?</h2>(.*?)(?=<h2>SEE ALSO|\Z)", re.DOTALL)
LINK = re.compile(r'href="([a-z]\w*\.[\w.]+)\.html')


def build() -> Made:
    """Read the pages of commands."""
    folder = debian("grass-doc") / "usr/share/doc/grass-doc/html"
    pages = {
        file.stem: file.read_text(encoding="utf-8")
        for file in sorted(folder.glob("*.*.html"))
        if file.stem.partition(".")[0] in FAMILIES
    }
    texts: dict[str, str] = {}
    for own, page in pages.items():
        if (line := ONE_LINE.search(page)) and (body := BODY.search(page)):
            said = html.unescape(re.sub(r"<[^>]+>", " ", f"{line[1]} {body[1]}"))
            texts[own] = start(said.replace(own, "the command"), WORDS)
    edges = {(own, other) for own in texts for other in LINK.findall(pages[own]) if other in texts}
    labels = [FAMILIES[own.partition(".")[0]] for own in texts]
    apart = sorted(edge for edge in edges if edge[0] != edge[1])
    return Made(list(texts), list(texts.values()), labels, apart, directed=True)
