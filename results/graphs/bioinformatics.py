"""Concepts of bioinformatics, joined by which data, formats and topics a tool deals with.

Source: EDAM, in the Debian package emboss-data 6.6.0; EMBOSS is under the GPL, EDAM under the
Creative Commons licence Attribution-ShareAlike 4.0.

Node: a concept that is not obsolete. Text: name and definition. Edge: an operation reads or writes
data, data or an operation belong to a topic, a format is one of data, an identifier names data; the
hierarchy (is a) gives no edge. Class: the branch of EDAM.

Kinds: heterophilous by construction (nearly every relation leads from one branch to another); over
half of the nodes isolated; five classes.

Known weaknesses: an operation and the data it makes share most of their words. Definitions of
formats and of identifiers follow a pattern.
"""

from __future__ import annotations

import re

from graphs.sources import Made, debian

BRANCHES = {
    "data": "Data",
    "format": "Data format",
    "identifier": "Identifier",
    "operation": "Operation",
    "topic": "Topic",
}


def build() -> Made:
    """Read the concepts and their relations."""
    file = debian("emboss-data") / "usr/share/EMBOSS/data/EDAM.obo"
    texts: dict[str, str] = {}
    labels: dict[str, str] = {}
    every: set[tuple[str, str]] = set()
    for term in file.read_text(encoding="utf-8").split("[Term]\n")[1:]:
        said = dict(line.partition(": ")[::2] for line in term.splitlines())
        if said.get("is_obsolete") == "true" or said.get("namespace") not in BRANCHES:
            continue
        own = said["id"]
        definition = re.match(r'"(.*?)(?<!\\)"', said.get("def", ""))
        texts[own] = " ".join(f"{said['name']}: {definition[1] if definition else ''}".split())
        labels[own] = BRANCHES[said["namespace"]]
        for other in re.findall(r"^relationship: \w+ (\S+)", term, re.MULTILINE):
            every.add((min(own, other), max(own, other)))
    ids = sorted(texts)
    edges = sorted(edge for edge in every if texts.keys() >= set(edge) and edge[0] != edge[1])
    return Made(ids, [texts[own] for own in ids], [labels[own] for own in ids], edges)
