"""Deutsche Handbuchseiten: pages of the Linux manual in German, by section of the manual.

Source: the Debian packages manpages-de and manpages-de-dev (4.18.1-1 in Debian 12), GNU GPL version
3 or later for the translations; the pages themselves stand under free licences of many kinds.

Node: a page with a description. Text, in German: the line under BEZEICHNUNG and the start of the
description, up to 200 words; the synopsis is left out. Edge, directed: the page names the other
under SIEHE AUCH, with its section, or by one of the other's further names. Class: the section of
the manual, by a German name ("Systemaufrufe").

Kinds: texts in another language than English, class names in German too; texts of some
hundred words; directed edges; one class of six nodes (games); a class that is a mixed remainder
(section 7, "Verschiedenes").

Known weaknesses: only a part of the manual is translated, what volunteers took up; pages of two
projects, systemd and sane, name a page of their own that is a hub. Names of commands and functions
and some words stay English. A page may name another, or itself, with the number of its section.
Tables and lists lose their form, and examples are left out.
"""

from __future__ import annotations

import gzip
import re
from pathlib import Path

from graphs.sources import Made, debian

SECTIONS = {
    "1": "Befehle und Programme für Benutzer",
    "2": "Systemaufrufe",
    "3": "Funktionen der Programmbibliotheken",
    "4": "Gerätedateien und Treiber",
    "5": "Dateiformate und Konfigurationsdateien",
    "6": "Spiele",
    "7": "Verschiedenes: Konventionen, Protokolle und Überblicke",
    "8": "Systemverwaltung und Hintergrunddienste",
}
WORDS = 200
HEADING = re.compile(r"^\.S[Hh]\s+(.*)$")
REFERENCE = re.compile(r"([A-Za-z0-9_.:+@-]+)\s?\((\d)[a-z]*\)")
# Requests whose line holds text; the lines of other requests are left out.
INLINE = re.compile(r"^\.\s*(?:B|I|BR|RB|BI|IB|RI|IR|SM|SB|IP|SS|Nm|Nd|Xr|Fl|Ar|Em)\b\s*(.*)$")


def build() -> Made:
    """Read the pages and return those with a description."""
    pages: dict[str, str] = {}
    same: dict[str, str] = {}  # further name of a page: the page
    for package in ("manpages-de", "manpages-de-dev"):
        for path in sorted((debian(package) / "usr/share/man/de").glob("man*/*.gz")):
            name, _, section = path.name.removesuffix(".gz").rpartition(".")
            if section not in SECTIONS:
                continue
            own = f"{name}({section})"
            if path.is_symlink():
                same[own] = _called(path.readlink())
                continue
            text = gzip.decompress(path.read_bytes()).decode("utf-8", "replace")
            if alias := re.search(r"^\.so (\S+)$", text, re.MULTILINE):
                same[own] = _called(Path(alias[1]))
            else:
                pages[own] = text
    texts: dict[str, str] = {}
    named: dict[str, list[str]] = {}
    for own, text in sorted(pages.items()):
        parts = _parts(text)
        about = " ".join(_clean(parts.get("BEZEICHNUNG") or parts.get("NAME", []))).split()
        more = " ".join(_clean(parts.get("BESCHREIBUNG", []))).split()
        if about and more:
            texts[own] = " ".join([*about, *more][:WORDS])
            named[own] = _named(parts.get("SIEHE AUCH", []))
    edges = {
        (own, there)
        for own, others in named.items()
        for other in others
        if (there := same.get(other, other)) in texts and there != own
    }
    labels = [SECTIONS[own[-2]] for own in texts]
    return Made(list(texts), list(texts.values()), labels, sorted(edges), directed=True)


def _called(path: Path) -> str:
    name, _, section = path.name.removesuffix(".gz").rpartition(".")
    return f"{name}({section})"


def _parts(text: str) -> dict[str, list[str]]:
    """Return the lines of a page by the heading above them."""
    parts: dict[str, list[str]] = {}
    here: list[str] = []
    for line in text.splitlines():
        if heading := HEADING.match(line):
            here = parts.setdefault(" ".join(re.sub(r'["\\]', "", heading[1]).split()).upper(), [])
        else:
            here.append(line)
    return parts


def _clean(lines: list[str]) -> list[str]:
    """Return lines without the marks of the typesetter."""
    kept: list[str] = []
    hidden = False
    for line in lines:
        if line.startswith((".ig", ".TS", ".nf", ".EX", ".de")):
            hidden = True
        elif line.startswith(("..", ".TE", ".fi", ".EE")):
            hidden = False
        elif hidden or re.match(r"^[.']\s*\\\"", line):
            continue
        elif inline := INLINE.match(line):
            apart = re.match(r"^\.\s*(?:BR|RB|BI|IB|RI|IR)\b", line)
            kept.append(_plain(_joined(inline[1]) if apart else inline[1].replace('"', "")))
        elif not line.startswith((".", "'")):
            kept.append(_plain(line))
    return kept


def _joined(arguments: str) -> str:
    """Join arguments that are set in turning fonts, without a space between them."""
    return "".join(a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', arguments))


def _plain(line: str) -> str:
    line = re.sub(r"\\f(?:\[[^\]]*\]|\(..|.)|\\s[+-]?\d+|\\[&,/|^)%:c]|\\m\[[^\]]*\]", "", line)
    line = re.sub(r"\\\(aq|\\\[aq\]|\\\(cq", "'", line)
    line = re.sub(r"\\\(dq|\\\(lq|\\\(rq", '"', line)
    line = re.sub(r"\\\((?:en|em|mi)|\\-", "-", line)
    line = re.sub(r"\\\(bu|\\\(..|\\\[[^\]]*\]|\\\*\(..|\\\".*$|\\[hvwz]'[^']*'", " ", line)
    return line.replace("\\e", "\\").replace("\\ ", " ").replace("\\~", " ").replace("\\.", ".")


def _named(lines: list[str]) -> list[str]:
    return [f"{name}({section})" for name, section in REFERENCE.findall(" ".join(_clean(lines)))]
