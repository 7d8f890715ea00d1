"""Software packages of Debian: what a program is for, linked by what it depends on.

Source: the package index of Debian that apt has on this machine (component "main"), read with
`apt-cache`. It is of the release of the machine, Debian 12, and changes a little with updates. The
index states no licence of its own; the descriptions are part of packages that are all free
software by Debian's guidelines.

Node: a source package, that is one project; the packages built from it (program, data, plugins)
describe it in nearly the same words and would be linked to each other for no other reason. It is
shown by its package of the same name, or else by the one with the shortest name.
Text: the short description and, only where apt has the English long ones (it has not where
`Acquire::Languages` is "none", as in images for containers), the long one, up to 150 words. Nodes,
classes and edges are the same either way.
Edge: a package of one project depends on, recommends, suggests or enhances one of the other.
Class: the section that Debian's archive puts the package in. Sections that say how a package is
built (libraries, languages, documentation) or that mix subjects (utilities, administration,
miscellaneous) are left out, and so are projects without an edge among the rest.

Weaknesses: short descriptions are a few words and often take the name of a program as known.
Sections are chosen by maintainers and overlap: text holds dictionaries and printing, an editor of
sound may be in sound or in editors, a library may stand in the section of its subject. A few hubs
(emacs, texlive-base, imagemagick) have a hundred edges. Leaving out projects without edges leaves
out most games.
"""

from __future__ import annotations

import re
import subprocess

from graphs.sources import Made

SECTIONS = {
    "database": "Databases",
    "editors": "Text editors and word processors",
    "electronics": "Electronics and circuit design",
    "games": "Games",
    "graphics": "Graphics and images",
    "hamradio": "Amateur radio",
    "mail": "Electronic mail",
    "math": "Mathematics",
    "net": "Networking",
    "science": "Science",
    "sound": "Sound and music",
    "tex": "TeX and LaTeX typesetting",
    "text": "Text processing, dictionaries and printing",
    "vcs": "Version control",
    "video": "Video",
    "web": "Web browsers, sites and tools",
}
RELATIONS = ("Pre-Depends", "Depends", "Recommends", "Suggests", "Enhances")
WORDS = 150


def _records(*arguments: str) -> list[dict[str, str]]:
    """Return the paragraphs that apt-cache prints; the lines of a field stay apart."""
    command = ["apt-cache", *arguments]
    out = subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout
    fields = re.compile(r"^(\S+?):[ \t]*(.*(?:\n[ \t].*)*)", re.MULTILINE)
    return [dict(fields.findall(paragraph)) for paragraph in out.split("\n\n") if paragraph.strip()]


def _project(record: dict[str, str]) -> str:
    # "Source: name (version)" stands only where the name is not that of the package.
    return record.get("Source", record["Package"]).split()[0]


def _named(record: dict[str, str]) -> set[str]:
    """Return the packages a package refers to, alternatives too, without versions."""
    wanted = ",".join(record.get(field, "") for field in RELATIONS)
    return set(re.findall(r"(?:^|[,|])\s*([a-z0-9][a-z0-9+.-]*)", wanted))


def _text(record: dict[str, str]) -> str:
    description = record.get("Description-en") or record["Description"]
    # In long descriptions a lone dot is an empty line, and lists have bullets.
    plain = re.sub(r"^\s+(?:\.$|[*+o-]\s+)", " ", description, flags=re.MULTILINE)
    return " ".join(plain.replace("\n", ". ", 1).split()[:WORDS])


def build() -> Made:
    """Return the graph of packages."""
    kept = {
        record["Package"]: record
        for record in _records("dumpavail")
        if record.get("Section") in SECTIONS
        # What is installed here from elsewhere has no file in Debian's archive.
        and "Filename" in record
        # Empty packages that ease an upgrade are about nothing.
        and "transitional" not in record["Description"].lower()
    }
    if not kept:
        raise SystemExit("apt knows no packages; run apt-get update first")
    shown: dict[str, str] = {}
    for name in sorted(kept, key=lambda name: (name != _project(kept[name]), len(name), name)):
        shown.setdefault(_project(kept[name]), name)
    pairs = {
        (min(ends), max(ends))
        for record in kept.values()
        for other in _named(record) & kept.keys()
        if len(ends := {shown[_project(record)], shown[_project(kept[other])]}) == 2
    }
    ids = sorted({end for pair in pairs for end in pair})
    texts = {r["Package"]: _text(r) for r in _records("show", "--no-all-versions", *ids)}
    return Made(
        ids=ids,
        texts=[texts[name] for name in ids],
        labels=[SECTIONS[kept[name]["Section"]] for name in ids],
        edges=sorted(pairs),
    )
