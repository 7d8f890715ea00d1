"""Journals and the citation styles that they follow.

Source: the Debian package citation-style-language-styles 0~20230209, styles of the Citation Style
Language, under the Creative Commons licence Attribution-ShareAlike 3.0.

Node: a style that names a field of knowledge: the one of a journal, which is mostly no more than a
pointer to that of a publisher or a society, or one that others point to. Text: its title, mostly
the name of the journal. Edge: one of two styles follows the other. Class: the field, the first
where a style names several; "generic-base" is the source's own for styles of no particular field.

Kinds: texts of one to four words; hubs; stars (nearly every edge leads to one of some hundred
nodes, and those of large publishers are of no particular field, so that most edges join different
classes); very uneven class sizes; classes that contain others (science, biology, botany).

Known weaknesses: whoever added a style chose its field, and many journals of medicine or biology
are under "science". 3,100 journals without a field are left out. Fields of fewer than five styles
are left out too.
"""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree

from graphs.sources import Made, debian

NAMES = {  # field: name of the class, where it is not the field
    "generic-base": "General styles for any field",
    "math": "Mathematics",
    "political_science": "Political science",
    "science": "Science in general",
    "social_science": "Social science",
}
FEWEST = 5


def build() -> Made:
    """Read the heads of all styles and return those with a field."""
    folder = debian("citation-style-language-styles") / "usr/share/citation-style-language/styles"
    titles: dict[str, str] = {}
    fields: dict[str, str] = {}
    follows: set[tuple[str, str]] = set()
    for file in sorted(folder.rglob("*.csl")):
        info = ElementTree.parse(file).getroot().find("{*}info")
        if info is None:
            continue
        own = file.stem
        named = [found.get("field") for found in info.iterfind("{*}category")]
        for field in (field for field in named if field):
            titles[own] = " ".join(info.findtext("{*}title", "").split())
            fields[own] = NAMES.get(field, field.capitalize())
            break
        for link in info.iterfind("{*}link[@rel='independent-parent']"):
            parent = link.get("href", "").rpartition("/")[2]
            follows.add((min(own, parent), max(own, parent)))
    sizes = Counter(fields.values())
    ids = [own for own in sorted(titles) if sizes[fields[own]] >= FEWEST]
    kept = set(ids)
    return Made(
        ids=ids,
        texts=[titles[own] for own in ids],
        labels=[fields[own] for own in ids],
        edges=sorted(edge for edge in follows if kept.issuperset(edge)),
    )
