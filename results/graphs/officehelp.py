"""Pages of the German help of an office suite, joined by the links between them.

Source: the Debian package libreoffice-help-de 7.4.7, Mozilla Public License 2.0.

Node: a page of eighty words or more. Text: its title and body in German, up to 300 words, without
the list of related topics at its end. Edge: a link from one page to the other, in the body or among
the related topics. Class: the folder that the page stands in, one for each program of the suite and
one for what they share, by a plain name.

Kinds: edges from hyperlinks; long texts (median of about 200 words); texts in German, class names
in English.

Known weaknesses: pages on presentations and drawings are shared in part, and dialogs that several
programs have (borders, fonts) stand under what is common to all. Many pages name the program they
belong to, and some give the way to a command once for each program, one after the other. Pages that
list the instructions of a program link to most of them.
"""

from __future__ import annotations

import html
import re

from graphs.sources import Made, debian

FOLDERS = {
    "sbasic": "Macros and Basic programming",
    "scalc": "Spreadsheets",
    "schart": "Charts",
    "sdatabase": "Databases",
    "sdraw": "Drawings",
    "shared": "Common to all programs",
    "simpress": "Presentations",
    "smath": "Mathematical formulas",
    "swriter": "Text documents",
}
FEWEST_WORDS = 80
WORDS = 300
BODY = re.compile(r'id="DisplayArea"[^>]*>(.*?)<div id="SearchFrame">', re.DOTALL)
MAC = re.compile(r'<span hidden="true" id="MAC[^>]*>(?:<span[^>]*>[^<]*</span>|[^<])*</span>')


def build() -> Made:
    """Read the pages and return them."""
    root = debian("libreoffice-help-de") / "usr/share/libreoffice/help/de/text"
    texts: dict[str, str] = {}
    labels: dict[str, str] = {}
    links: dict[str, list[str]] = {}
    for file in sorted(root.rglob("*.html")):
        own = file.relative_to(root).as_posix()
        body = BODY.search(file.read_text(encoding="utf-8"))
        words = _words(body[1]) if body else []
        if body and len(words) >= FEWEST_WORDS:
            texts[own] = " ".join(words[:WORDS])
            labels[own] = FOLDERS[own.split("/")[0]]
            links[own] = re.findall(r'href="de/text/([^"#?]+)', body[1])
    edges = {
        (min(own, other), max(own, other))
        for own, others in links.items()
        for other in others
        if other in texts and other != own
    }
    return Made(list(texts), list(texts.values()), list(labels.values()), sorted(edges))


def _words(body: str) -> list[str]:
    """Return the words of a page, without what is shown on other systems only."""
    body = body.split('<div class="relatedtopics">')[0]
    body = MAC.sub("", body)
    body = re.sub(r"<(script|style)\b.*?</\1>", "", body, flags=re.DOTALL)
    body = re.sub(r'<span hidden="true"[^>]*>', " ", body)  # one of several wordings
    body = re.sub(r"</?(?:span|a|em|b|i|code|sub|sup)\b[^>]*>", "", body)  # may stand in a word
    return html.unescape(re.sub(r"<[^>]*>", " ", body)).split()
