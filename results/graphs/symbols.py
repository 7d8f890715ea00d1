"""Symbols, punctuation marks and numerals of Unicode, by the block they stand in.

Source: the Debian package unicode-data (15.0.0-1 in Debian 12), the Unicode Character Database;
its licence permits to use, copy, modify and distribute the data without restriction provided that
the notice is kept.

Node: a character that is a symbol, a mark of punctuation or a number (general category S, P or N)
and has an edge. Text: its Unicode name in small letters, as "three-em dash". Edge: a cross
reference in the list of names, a decomposition of one character into a single other or into
several (with each that is no letter), or a pair that mirror each other in text from right to left.
Class: the block of the code chart, by its name in plain words; a block and its supplements and
extensions are one class. Classes of a single such character are left out.

Kinds: over fifty classes, most of them of under twenty nodes; texts of one to four words; classes
that are a mixed remainder (the blocks of miscellaneous symbols, technical signs, punctuation).

Known weaknesses: blocks were filled over thirty years and overlap: there are arrows in three
classes, and "miscellaneous" ones hold what came late. Names of the blocks of scripts stand in the
names of most of their characters. Many decompositions lead to digits and to a few signs of ASCII.
Characters without an edge, as most numerals of old scripts and most emoji, are left out.
"""

from __future__ import annotations

import re
from collections import Counter

from graphs.sources import Made, debian

JOINED = {  # name of a block, after its extensions are cut: name of the class
    "Basic Latin": "Basic Latin (ASCII)",
    "CJK Compatibility": "East Asian squared words and units",
    "CJK Compatibility Forms": "East Asian vertical forms",
    "CJK Symbols and Punctuation": "East Asian symbols and punctuation",
    "Enclosed CJK Letters and Months": "Enclosed East Asian letters and months",
    "Enclosed Ideographic": "Enclosed East Asian letters and months",
    "Enclosed Alphanumeric": "Enclosed Alphanumerics",
    "Greek": "Greek and Coptic",
    "Halfwidth and Fullwidth Forms": "Halfwidth and fullwidth forms",
    "Latin": "Extended Latin",
    "Latin-1": "Latin-1 (Western European)",
    "Superscripts and Subscripts": "Superscripts and subscripts",
    "Punctuation": "General Punctuation",
    "Pictographs": "Miscellaneous Symbols and Pictographs",
    "Symbols and Pictographs": "Miscellaneous Symbols and Pictographs",
    "Vertical Forms": "East Asian vertical forms",
}
EXTRA = re.compile(r"(?: Supplement| Extended| Extensions?)?(?:[- ][A-G])?$|^Supplemental ")
FEWEST = 2
LINK = re.compile(r"^\tx (?:\(.* - )?([0-9A-F]{4,6})\)?$")


def build() -> Made:
    """Read the list of names and return its symbols that refer to each other."""
    folder = debian("unicode-data") / "usr/share/unicode"
    names: dict[str, str] = {}
    every: set[tuple[str, str]] = set()
    for line in (folder / "UnicodeData.txt").read_text(encoding="utf-8").splitlines():
        code, name, category, _, _, whole = line.split(";")[:6]
        if category[0] in "SPN" and not name.startswith("<"):
            names[code] = name.lower()
            # "<compat> 0020 0301": the kind of the decomposition, then its characters
            every |= {(code, part) for part in re.findall(r"\b[0-9A-F]{4,6}\b", whole)}
    for line in (folder / "BidiMirroring.txt").read_text(encoding="utf-8").splitlines():
        if pair := re.match(r"([0-9A-F]+); ([0-9A-F]+)", line):
            every.add((pair[1], pair[2]))
    blocks: list[tuple[int, str]] = []  # where a block starts, and its class
    own = ""
    for line in (folder / "NamesList.txt").read_text(encoding="utf-8").splitlines():
        if block := re.match(r"@@\t([0-9A-F]+)\t(.+)\t[0-9A-F]+$", line):
            blocks.append((int(block[1], 16), _plain(block[2])))
        elif character := re.match(r"([0-9A-F]{4,6})\t", line):
            own = character[1]
        elif link := LINK.match(line):
            every.add((own, link[1]))
    blocks.sort()
    edges = sorted({(min(e), max(e)) for e in every if e[0] != e[1] and names.keys() >= set(e)})
    where = {
        code: max(block for block in blocks if block[0] <= int(code, 16))[1]
        for code in {end for edge in edges for end in edge}
    }
    sizes = Counter(where.values())
    ids = [code for code in names if code in where and sizes[where[code]] >= FEWEST]
    kept = set(ids)
    return Made(
        ids=ids,
        texts=[names[code] for code in ids],
        labels=[where[code] for code in ids],
        edges=[edge for edge in edges if kept.issuperset(edge)],
    )


def _plain(block: str) -> str:
    """Return the class of a block: "Supplemental Arrows-A" is "Arrows"."""
    title = re.sub(r" \(.*\)", "", block).replace("C0 Controls and ", "")
    title = title.replace("C1 Controls and ", "")
    while (cut := EXTRA.sub("", title)) != title:
        title = cut
    return JOINED.get(title, title)
