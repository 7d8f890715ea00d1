"""Kinds of weaknesses of software and hardware, linked by how they relate to each other.

Source: the Common Weakness Enumeration (CWE) 4.14 in the package cwe2 3.0.0 of PyPI. Copyright The
MITRE Corporation, whose terms (cwe-tou.LICENSE in the package) grant a royalty-free licence to use
CWE "for research, development, and commercial purposes"; the package's own code is MIT.

Node: a weakness that is not deprecated. Text: its name, description and extended description, up
to 150 words, without numbers of other weaknesses.
Edge: one entry names the other: as a relation (child of, peer of, can precede, can also be,
requires), or by number in its texts (notes, mitigations, examples).
Class: its category in the view "Comprehensive Categorization for Software Assurance Trends", which
puts every weakness in exactly one of 22. Categories under 25 weaknesses are left out.

Weaknesses: small, 750 nodes, and four classes have 35 to 38 nodes only. The view forces a single
category on each, as it says itself, and some overlap (injection and improper neutralization).
Children mostly share the category of their parent, so these edges follow the classes closely; the
other edges do so in less than half of all cases. Names of weaknesses often hold words of the name
of the category.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter

from graphs.sources import Made, pip

VIEW = "1400"
SMALLEST = 25
WORDS = 150
# Not said by the entry of another one: its history, tables of other bodies and single incidents.
SKIPPED = ("Content_History", "Observed_Examples", "References", "Taxonomy_Mappings")


def _words(element: ElementTree.Element | None) -> str:
    return "" if element is None else " ".join(" ".join(element.itertext()).split())


def _text(weakness: ElementTree.Element) -> str:
    """Return name and descriptions; a number of another weakness says nothing to a reader."""
    parts = (
        _words(weakness.find("{*}Description")),
        _words(weakness.find("{*}Extended_Description")),
    )
    text = f"{weakness.get('Name')}. {' '.join(parts)}"
    text = re.sub(r"\s*\((?:see )?CWE-\d+\)", "", text)
    text = re.sub(r"CWE-\d+", "another weakness", text)
    return " ".join(text.split()[:WORDS])


def _named(weakness: ElementTree.Element) -> set[str]:
    """Return the numbers of the weaknesses that an entry names."""
    related = weakness.findall("{*}Related_Weaknesses/{*}Related_Weakness")
    said = (_words(part) for part in weakness if not part.tag.endswith(SKIPPED))
    numbers = {number for words in said for number in re.findall(r"CWE-(\d+)", words)}
    return numbers | {relation.get("CWE_ID", "") for relation in related}


def build() -> Made:
    """Return the graph of weaknesses."""
    file = pip("cwe2==3.0.0") / "cwe2" / "database_v49" / "cwec_v4.14.xml"
    root = ElementTree.parse(file).getroot()
    category = {
        member.get("CWE_ID", ""): (entry.get("Name") or "").partition(": ")[2]
        for entry in root.iterfind("{*}Categories/{*}Category")
        for member in entry.iterfind("{*}Relationships/{*}Has_Member")
        if member.get("View_ID") == VIEW
    }
    sizes = Counter(category.values())
    weaknesses = {
        number: weakness
        for weakness in root.iterfind("{*}Weaknesses/{*}Weakness")
        if sizes[category.get(number := weakness.get("ID", ""), "")] >= SMALLEST
    }
    ids = sorted(weaknesses, key=int)
    pairs = {
        (min(number, other, key=int), max(number, other, key=int))
        for number in ids
        for other in _named(weaknesses[number])
        if other in weaknesses and other != number
    }
    return Made(
        ids=ids,
        texts=[_text(weaknesses[number]) for number in ids],
        labels=[category[number] for number in ids],
        edges=sorted(pairs, key=lambda pair: (int(pair[0]), int(pair[1]))),
    )
